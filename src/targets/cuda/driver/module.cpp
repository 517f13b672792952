// The text form of a module: one line for each fact, then the programs and the PTX, each behind its length.
#include "targets/cuda/driver/module.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "ir/text/text.h"

namespace frazil::targets::cuda {
namespace {

constexpr std::string_view Magic = "frazil ptx 2\n";
constexpr std::string_view KindNames[] = {"alloc",  "flat",  "blocks", "single",
                                          "serial", "tiles", "rows"};
// More steps than any program can have after its own limits; a guard against garbage.
constexpr uint32_t MostSteps = 100'000;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::string_view> Line() {
    const size_t end = text_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return line;
  }

  std::optional<std::string_view> Bytes(uint64_t count) {
    if (count > text_.size()) return std::nullopt;
    const std::string_view bytes = text_.substr(0, count);
    text_.remove_prefix(count);
    return bytes;
  }

  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

// Words of a line, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) : line_(line) {}

  std::string_view Word() {
    while (!line_.empty() && line_[0] == ' ') line_.remove_prefix(1);
    const size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view word = line_.substr(0, end);
    line_.remove_prefix(end);
    return word;
  }

  template <typename T>
  bool Number(T& value) {
    const std::string_view word = Word();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && !word.empty();
  }

  bool Key(std::string_view key) { return Word() == key; }
  bool at_end() { return Word().empty(); }

 private:
  std::string_view line_;
};

std::unexpected<Error> Bad(std::string_view what) {
  return Fail(Diag::BadArtifact, fmt::format("the PTX module is damaged: {}", what));
}

bool ReadStep(std::string_view line, int32_t size_count, PtxStep& step) {
  Fields fields(line);
  if (!fields.Key("step")) return false;
  const std::string_view kind = fields.Word();
  size_t k = 0;
  while (k < std::size(KindNames) && KindNames[k] != kind) ++k;
  if (k == std::size(KindNames)) return false;
  step.kind = static_cast<StepKind>(k);
  step.entry = fields.Word();
  uint32_t shared_count = 0;
  if (!fields.Number(step.threads) || !fields.Number(step.items)) return false;
  for (int32_t* size :
       {&step.lo, &step.hi, &step.inner_lo, &step.inner_hi, &step.lanes_lo, &step.lanes_hi})
    if (!fields.Number(*size) || *size < Unknown || *size >= size_count) return false;
  if (!fields.Number(step.tile_rows) || !fields.Number(step.tile_columns) ||
      !fields.Number(step.shared_bytes) || step.tile_rows == 0 || step.tile_columns == 0)
    return false;
  if (!fields.Number(shared_count) || shared_count > MostSteps) return false;
  for (uint32_t i = 0; i < shared_count; ++i) {
    PtxStep::Scratch scratch{};
    if (!fields.Number(scratch.length) || !fields.Number(scratch.bytes)) return false;
    if (scratch.length < 0 || scratch.length >= size_count || scratch.bytes > 64) return false;
    step.shared.push_back(scratch);
  }
  uint32_t guard_count = 0;
  if (!fields.Number(guard_count) || guard_count > MostSteps) return false;
  for (uint32_t i = 0; i < guard_count; ++i) {
    std::pair<int32_t, int32_t> guard;
    if (!fields.Number(guard.first) || !fields.Number(guard.second)) return false;
    if (guard.first < 0 || guard.first >= size_count) return false;
    step.guards.push_back(guard);
  }
  if (step.kind == StepKind::Alloc && step.shared.size() != 1) return false;
  if (step.kind == StepKind::Rows && (step.hi == Unknown || step.lanes_hi == Unknown)) return false;
  if (step.kind == StepKind::Tiles && (step.hi == Unknown || step.inner_hi == Unknown))
    return false;
  return fields.at_end() && !step.entry.empty() && step.threads >= 1 && step.threads <= 1024 &&
         step.items >= 1 && step.items <= 4096;
}

bool ReadPairs(std::string_view line, std::string_view key, uint32_t params,
               std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
  Fields fields(line);
  uint32_t count = 0;
  if (!fields.Key(key) || !fields.Number(count) || count > MostSteps) return false;
  for (uint32_t i = 0; i < count; ++i) {
    std::pair<uint32_t, uint32_t> pair;
    if (!fields.Number(pair.first) || !fields.Number(pair.second)) return false;
    if (pair.first >= params || pair.second >= params) return false;
    pairs.push_back(pair);
  }
  return fields.at_end();
}

}  // namespace

std::string SerializeModule(const PtxModule& module) {
  std::string text(Magic);
  auto out = std::back_inserter(text);
  const std::string source = ir::PrintText(module.source);
  const std::string sizes = ir::PrintText(module.sizes);
  fmt::format_to(out, "program {}\n{}sizes {}\n{}", source.size(), source, sizes.size(), sizes);
  fmt::format_to(out, "arch {}\nwords {} {} depth {} local {} while {}\n", module.arch,
                 module.frame_words, module.result_words, module.call_depth, module.local_bytes,
                 module.has_while ? 1 : 0);
  auto pairs = [&](std::string_view key, const auto& list) {
    fmt::format_to(out, "{} {}", key, list.size());
    for (const auto& [a, b] : list) fmt::format_to(out, " {} {}", a, b);
    text += '\n';
  };
  pairs("disjoint", module.disjoint);
  pairs("at_most", module.at_most);
  fmt::format_to(out, "steps {}\n", module.steps.size());
  for (const PtxStep& step : module.steps) {
    fmt::format_to(out, "step {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                   KindNames[static_cast<size_t>(step.kind)], step.entry, step.threads, step.items,
                   step.lo, step.hi, step.inner_lo, step.inner_hi, step.lanes_lo, step.lanes_hi,
                   step.tile_rows, step.tile_columns, step.shared_bytes, step.shared.size());
    for (const PtxStep::Scratch& scratch : step.shared)
      fmt::format_to(out, " {} {}", scratch.length, scratch.bytes);
    fmt::format_to(out, " {}", step.guards.size());
    for (const auto& [size, value] : step.guards) fmt::format_to(out, " {} {}", size, value);
    text += '\n';
  }
  fmt::format_to(out, "ptx {}\n{}", module.text.size(), module.text);
  return text;
}

Result<PtxModule> ParseModule(std::string_view bytes) {
  if (!bytes.starts_with(Magic)) return Bad("it does not begin as one");
  Reader reader(bytes.substr(Magic.size()));
  PtxModule module;
  auto section = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto line = reader.Line();
    uint64_t size = 0;
    if (!line) return std::nullopt;
    Fields fields(*line);
    if (!fields.Key(key) || !fields.Number(size) || !fields.at_end()) return std::nullopt;
    return reader.Bytes(size);
  };
  const auto source = section("program");
  if (!source) return Bad("its program is missing");
  module.source = TRY(ir::ParseText(*source));
  const auto sizes = section("sizes");
  if (!sizes) return Bad("its sizes are missing");
  module.sizes = TRY(ir::ParseText(*sizes));
  const ir::Function& size_function = module.sizes.entry_function();
  const auto arch = reader.Line();
  if (!arch || !arch->starts_with("arch sm_")) return Bad("its architecture is missing");
  module.arch = arch->substr(5);
  const auto words = reader.Line();
  Fields fields(words.value_or(""));
  int has_while = 0;
  if (!fields.Key("words") || !fields.Number(module.frame_words) ||
      !fields.Number(module.result_words) || !fields.Key("depth") ||
      !fields.Number(module.call_depth) || !fields.Key("local") ||
      !fields.Number(module.local_bytes) || !fields.Key("while") || !fields.Number(has_while) ||
      !fields.at_end() || module.frame_words > (1u << 20) || module.result_words > (1u << 20))
    return Bad("its sizes are wrong");
  module.has_while = has_while != 0;
  const uint32_t params = size_function.param_count();
  if (!ReadPairs(reader.Line().value_or(""), "disjoint", params, module.disjoint) ||
      !ReadPairs(reader.Line().value_or(""), "at_most", params, module.at_most))
    return Bad("its conditions are wrong");
  uint32_t step_count = 0;
  Fields steps(reader.Line().value_or(""));
  if (!steps.Key("steps") || !steps.Number(step_count) || step_count > MostSteps)
    return Bad("its steps are missing");
  for (uint32_t i = 0; i < step_count; ++i) {
    PtxStep step;
    if (!ReadStep(reader.Line().value_or(""), static_cast<int32_t>(size_function.results.size()),
                  step))
      return Bad(fmt::format("step {} is wrong", i));
    module.steps.push_back(std::move(step));
  }
  const auto text = section("ptx");
  if (!text || !reader.at_end()) return Bad("its PTX is missing");
  module.text = *text;
  return module;
}

}  // namespace frazil::targets::cuda
