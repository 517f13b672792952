// Signatures and bodies. A body tests everything at once, without branches between the tests, and goes the short way only
// if all is plainly well; embed::Launch, which reads the tables, decides about everything else. So a test here may be too
// strict (an empty buffer inside of another) and must never be too lax.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aot/generate.h"
#include "embed/launch.h"

namespace frazil::aot {
namespace {

using embed::ParamRole;

constexpr std::string_view Launched[] = {"config.lanes().value_or(0)",
                                         "config.grid.y * config.block.y",
                                         "config.grid.z * config.block.z",
                                         "config.grid.x",
                                         "config.grid.y",
                                         "config.grid.z",
                                         "config.block.x",
                                         "config.block.y",
                                         "config.block.z"};

bool NeedsConfig(const BuiltKernel& kernel) {
  return std::ranges::any_of(kernel.params, &Param::is_launch);
}

bool IsShown(const Param& param, const FunctionForm& form) {
  return !param.is_launch() && !(form.derived && param.role == ParamRole::Extent);
}

// Parameters may be called alike once they are identifiers.
std::vector<std::string> Names(const BuiltKernel& kernel) {
  std::vector<std::string> names;
  for (const Param& param : kernel.params) {
    std::string name = Identifier(param.name);
    while (std::ranges::find(names, name) != names.end() || name == FunctionName(kernel))
      name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

std::string ResultType(const BuiltKernel& kernel) {
  if (kernel.results.empty()) return "frazil::embed::Status";
  if (kernel.results.size() == 1)
    return fmt::format("frazil::embed::Answer<{}>", CppType(kernel.results[0]));
  std::vector<std::string_view> types;
  for (const Kind kind : kernel.results) types.push_back(CppType(kind));
  return fmt::format("frazil::embed::Answer<std::tuple<{}>>", fmt::join(types, ", "));
}

// The first buffer that gives an extent its value.
size_t LengthOf(const BuiltKernel& kernel, size_t extent) {
  return std::ranges::find(kernel.lengths, extent, &embed::PairData::first)->second;
}

std::vector<std::string> Words(const BuiltKernel& kernel, const FunctionForm& form) {
  const std::vector<std::string> names = Names(kernel);
  std::vector<std::string> words;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& param = kernel.params[i];
    if (param.is_buffer()) {
      words.push_back(fmt::format("frazil::embed::AddressOf({})", names[i]));
      words.push_back(fmt::format("{}.size()", names[i]));
    } else if (param.is_launch()) {
      const size_t role = static_cast<size_t>(param.role) - static_cast<size_t>(ParamRole::LanesX);
      words.push_back(fmt::format("static_cast<uint64_t>({})", Launched[role]));
    } else if (form.derived && param.role == ParamRole::Extent) {
      words.push_back(fmt::format("{}.size()", names[LengthOf(kernel, i)]));
    } else {
      words.push_back(fmt::format("frazil::WordOf({})", names[i]));
    }
  }
  return words;
}

// What a function tests: numbers that are 0 where all is well, and numbers that are negative where it is not, which cost
// an instruction less each. No address and no length has the sign bit.
struct TestList {
  std::vector<std::string> zeros;
  std::vector<std::string> signs;
};

// The number of iterations from which on threads may share a launch, where one word says it; 0: it takes a sum.
uint64_t ForkTrips(const BuiltKernel& of) {
  const BuiltKernel& kernel = of.usual();
  if (!kernel.report.in_pieces || kernel.work.size() != 1 ||
      kernel.work[0].factors[1] != embed::NoFactor)
    return 0;
  return std::max<uint64_t>(1, embed::ForkPicoseconds / std::max(1u, kernel.work[0].picoseconds));
}

// Launches above this many iterations, or picoseconds, may be shared by threads.
void AddForkTest(const BuiltKernel& of, TestList& tests) {
  const BuiltKernel& kernel = of.usual();
  if (!kernel.report.in_pieces) return;
  const auto& work = kernel.work;
  if (work.empty()) return;
  if (const uint64_t trips = ForkTrips(kernel); trips != 0)
    return tests.signs.push_back(fmt::format("({}u - frz_w{})", trips - 1, work[0].factors[0]));
  std::vector<std::string> terms;
  for (const embed::WorkTerm& term : work) {
    std::string text = fmt::format("{}.0", term.picoseconds);
    for (const uint8_t factor : term.factors)
      if (factor != embed::NoFactor)
        text += fmt::format(" * static_cast<double>(static_cast<int64_t>(frz_w{}))", factor);
    terms.push_back(std::move(text));
  }
  tests.zeros.push_back(
      fmt::format("frazil::embed::Is({} >= static_cast<double>(frazil::embed::ForkPicoseconds))",
                  fmt::join(terms, " + ")));
}

// Buffers whose lengths are the same wherever the other tests hold: those of one extent, in the form that derives it.
// The first of them stands for all; a shorter expression, too.
size_t LengthLeader(const BuiltKernel& kernel, const FunctionForm& form, size_t buffer) {
  if (!form.derived) return buffer;
  for (const embed::PairData& pair : kernel.lengths)
    if (pair.second == buffer) return LengthOf(kernel, pair.first);
  return buffer;
}

std::string BytesText(const BuiltKernel& kernel, const FunctionForm& form, size_t buffer) {
  const size_t leader = LengthLeader(kernel, form, buffer);
  const uint32_t bytes = BytesOf(kernel.params[buffer].scalar);
  return fmt::format("frz_w{} * {}", WordOfParam(kernel, leader) + 1, bytes);
}

// For the form that is called where all is plainly well.
bool MustBeApart(const BuiltKernel& kernel, size_t a, size_t b) {
  return std::ranges::any_of(kernel.usual().guard_apart, [&](const embed::PairData& pair) {
    return pair.first == a && pair.second == b;
  });
}

void AddBufferTests(const BuiltKernel& kernel, const FunctionForm& form, TestList& tests) {
  std::map<uint32_t, std::vector<std::string>> addresses;  // by element size
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& param = kernel.params[i];
    if (!param.is_buffer()) continue;
    const uint32_t word = WordOfParam(kernel, i);
    addresses[BytesOf(param.scalar)].push_back(fmt::format("frz_w{}", word));
    tests.signs.push_back(fmt::format("(frz_w{} - 1)", word));
    for (size_t j = 0; j < i; ++j) {
      const Param& other = kernel.params[j];
      const bool both_read = param.access == embed::Access::In && other.access == embed::Access::In;
      const bool is_apart = MustBeApart(kernel, j, i);
      if (!other.is_buffer() || (both_read && !is_apart)) continue;
      const bool may_be_same = param.scalar == other.scalar && !is_apart;
      tests.zeros.push_back(fmt::format("frazil::embed::IsNear(frz_w{}, {}, frz_w{}, {}, {})",
                                        WordOfParam(kernel, j), BytesText(kernel, form, j), word,
                                        BytesText(kernel, form, i), may_be_same));
    }
  }
  for (const auto& [bytes, words] : addresses)
    if (bytes > 1)
      tests.zeros.push_back(fmt::format("(({}) & {}u)", fmt::join(words, " | "), bytes - 1));
}

void AddExtentTests(const BuiltKernel& kernel, const FunctionForm& form, TestList& tests) {
  const auto length = [&](size_t buffer) {
    return fmt::format("frz_w{}", WordOfParam(kernel, buffer) + 1);
  };
  if (form.derived) {
    for (const embed::PairData& pair : kernel.lengths) {
      const size_t first = LengthOf(kernel, pair.first);
      if (first != pair.second)
        tests.zeros.push_back(fmt::format("({} ^ {})", length(first), length(pair.second)));
      const uint64_t most = MostOf(kernel.params[pair.first].scalar);
      const uint64_t fork = ForkTrips(kernel);
      const bool forks_before =
          fork != 0 && fork <= most &&
          kernel.usual().work[0].factors[0] == WordOfParam(kernel, pair.first);
      if (first == pair.second && most < INT64_MAX && !forks_before)
        tests.signs.push_back(fmt::format("({}u - {})", most, length(first)));
    }
  }
  for (const embed::PairData& pair : kernel.covers) {
    const bool same =
        form.derived && std::ranges::any_of(kernel.lengths, [&](const embed::PairData& each) {
          return each.first == pair.first && each.second == pair.second;
        });
    if (same) continue;
    const std::string extent = fmt::format("frz_w{}", WordOfParam(kernel, pair.first));
    // Only an unsigned word of 64 bits can be so large that the difference looks positive.
    if (kernel.params[pair.first].scalar == Kind::U64) {
      tests.zeros.push_back(fmt::format("frazil::embed::Is({} > {})", extent, length(pair.second)));
    } else {
      tests.signs.push_back(fmt::format("({} - {})", length(pair.second), extent));
    }
  }
}

// What is left of a guard: that buffers are apart is tested with the other pairs, and most of its extents are covered
// anyway.
void AddGuardTests(const BuiltKernel& kernel, TestList& tests) {
  const BuiltKernel& guarded = kernel.usual();
  for (const embed::PairData& pair : guarded.guard_cover) {
    const bool is_tested = std::ranges::any_of(kernel.covers, [&](const embed::PairData& each) {
      return each.first == pair.first && each.second == pair.second;
    });
    if (!is_tested)
      tests.signs.push_back(fmt::format("(frz_w{} - frz_w{})", WordOfParam(kernel, pair.second) + 1,
                                        WordOfParam(kernel, pair.first)));
  }
  for (const embed::PairData& pair : guarded.guard_least) {
    const bool is_buffer = kernel.params[pair.first].is_buffer();
    // The least number less than that is a large one.
    tests.signs.push_back(fmt::format("(frz_w{0} | (frz_w{0} - {1}))",
                                      WordOfParam(kernel, pair.first) + (is_buffer ? 1 : 0),
                                      pair.second));
  }
}

std::string Tests(const BuiltKernel& kernel, const FunctionForm& form, bool uses_run) {
  TestList tests;
  tests.signs.emplace_back("(reinterpret_cast<uint64_t>(frz_entry) - 1)");
  if (uses_run) tests.signs.emplace_back("(reinterpret_cast<uint64_t>(frz_run) - 1)");
  AddBufferTests(kernel, form, tests);
  AddExtentTests(kernel, form, tests);
  AddGuardTests(kernel, tests);
  AddForkTest(kernel, tests);
  tests.zeros.push_back(fmt::format("(({}) >> 63)", fmt::join(tests.signs, " | ")));
  return fmt::to_string(fmt::join(tests.zeros, " |\n      "));
}

std::string Answered(const BuiltKernel& kernel, std::string_view status) {
  if (kernel.results.empty()) return fmt::format("return {};", status);
  std::vector<std::string> values;
  for (size_t i = 0; i < kernel.results.size(); ++i)
    values.push_back(
        fmt::format("frazil::FromWord<{}>(frz_results[{}])", CppType(kernel.results[i]), i));
  const std::string value =
      values.size() == 1 ? values[0] : fmt::format("{{{}}}", fmt::join(values, ", "));
  return fmt::format("return {{{}, {}}};", status, value);
}

std::string LaunchBody(const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string name = FunctionName(kernel);
  const bool uses_run = std::ranges::any_of(
      kernel.usual().plain_forms(), [](const Code& c) { return !c.empty() && c.image().uses_run; });
  const std::string_view results = kernel.results.empty() ? "nullptr" : "frz_results";
  const std::string_view run = uses_run ? "frz_run" : "nullptr";
  std::string text = fmt::format(
      "  const frazil::embed::NativeEntry frz_entry = "
      "frz_detail::{}_entry.load(std::memory_order_relaxed);\n",
      name);
  if (uses_run) text += "  frazil::embed::NativeRun* const frz_run = frazil::embed::thread_run;\n";
  text += fmt::format("  const uint64_t frz_unusual =\n      {};\n", Tests(kernel, form, uses_run));
  text += fmt::format(
      "  if (frz_unusual != 0) [[unlikely]] {{\n    const frazil::embed::Status frz_status =\n"
      "        frz_detail::{}_unusual(frz_words, {}, frazil::embed::Extents::{});\n    {}\n  }}\n",
      name, results, form.derived ? "Derived" : "Given", Answered(kernel, "frz_status"));
  text += fmt::format("  const int32_t frz_trap = frz_entry(frz_words, {}, {});\n", results, run);
  text +=
      fmt::format("  if (frz_trap != 0) [[unlikely]] {}\n",
                  Answered(kernel, fmt::format("frz_detail::{}_trapped(frz_trap, {})", name, run)));
  return text + fmt::format("  {}\n", Answered(kernel, "frazil::embed::Status()"));
}

std::string BindBody(std::string_view symbol, const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string bind =
      fmt::format("frazil::embed::Bind({}, frz_words, frazil::embed::Extents::{})", symbol,
                  form.derived ? "Derived" : "Given");
  if (kernel.results.empty()) return fmt::format("  return {};\n", bind);
  std::string text = fmt::format("  frazil::embed::Bound frz_bound = {};\n", bind);
  for (size_t i = 0; i < kernel.results.size(); ++i)
    text += fmt::format("  frz_bound.results[{0}] = frz_result{0};\n", i);
  return text + "  return frz_bound;\n";
}

std::string ConfigTest(const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string refused = fmt::format("frz_detail::{}_misfit()", FunctionName(kernel));
  const std::string_view begin = "  if (!config.is_valid()) [[unlikely]] ";
  if (form.bind)
    return fmt::format(
        "{}{{\n    frazil::embed::Bound frz_bound;\n    frz_bound.status = {};\n    return "
        "frz_bound;\n  }}\n",
        begin, refused);
  return kernel.results.empty() ? fmt::format("{}return {};\n", begin, refused)
                                : fmt::format("{}return {{{}, {{}}}};\n", begin, refused);
}

}  // namespace

bool HasExtents(const BuiltKernel& kernel) {
  return std::ranges::any_of(kernel.params,
                             [](const Param& param) { return param.role == ParamRole::Extent; });
}

std::string Declaration(const BuiltKernel& kernel, const FunctionForm& form) {
  const std::vector<std::string> names = Names(kernel);
  std::vector<std::string> params;
  if (NeedsConfig(kernel)) params.emplace_back("const frazil::LaunchConfig& config");
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& param = kernel.params[i];
    if (!IsShown(param, form)) continue;
    const std::string_view type = CppType(param.scalar);
    if (param.is_buffer()) {
      const bool is_read = param.access == embed::Access::In;
      params.push_back(fmt::format("std::span<{}{}> {}", is_read ? "const " : "", type, names[i]));
    } else {
      params.push_back(fmt::format("{} {}", type, names[i]));
    }
  }
  if (form.bind)
    for (size_t i = 0; i < kernel.results.size(); ++i)
      params.push_back(fmt::format("{}* frz_result{}", CppType(kernel.results[i]), i));
  return fmt::format("{} {}{}({}) noexcept",
                     form.bind ? "frazil::embed::Bound" : ResultType(kernel), FunctionName(kernel),
                     form.bind ? BindEnding : "", fmt::join(params, ", "));
}

std::string DetailDeclarations(const BuiltKernel& kernel) {
  std::string text = fmt::format(
      "extern constinit std::atomic<frazil::embed::NativeEntry> {0}_entry;\n"
      "frazil::embed::Status {0}_unusual(const uint64_t* words, uint64_t* results, "
      "frazil::embed::Extents extents) noexcept;\n"
      "frazil::embed::Status {0}_trapped(int32_t trap, frazil::embed::NativeRun* run) noexcept;\n",
      FunctionName(kernel));
  if (NeedsConfig(kernel))
    text += fmt::format("frazil::embed::Status {}_misfit() noexcept;\n", FunctionName(kernel));
  return text;
}

std::string DetailDefinitions(std::string_view module, const BuiltKernel& kernel) {
  std::string text = fmt::format(
      "constinit std::atomic<frazil::embed::NativeEntry> {0}_entry = nullptr;\n"
      "frazil::embed::Status {0}_unusual(const uint64_t* words, uint64_t* results, "
      "frazil::embed::Extents extents) noexcept {{\n"
      "  {0}_entry.store(frazil::embed::FindEntry({1}), std::memory_order_relaxed);\n"
      "  return frazil::embed::Launch({1}, words, results, extents);\n}}\n"
      "frazil::embed::Status {0}_trapped(int32_t trap, frazil::embed::NativeRun* run) noexcept {{\n"
      "  return frazil::embed::Trapped({1}, trap, run);\n}}\n",
      FunctionName(kernel), DataSymbol(module, kernel.report.name));
  if (NeedsConfig(kernel))
    text += fmt::format(
        "frazil::embed::Status {}_misfit() noexcept {{\n"
        "  return frazil::embed::Refused({}, frazil::embed::LaunchError::EmptyLaunch);\n}}\n",
        FunctionName(kernel), DataSymbol(module, kernel.report.name));
  return text;
}

std::string Definition(std::string_view module, const BuiltKernel& kernel,
                       const FunctionForm& form) {
  const std::string symbol = DataSymbol(module, kernel.report.name);
  std::string text = fmt::format("{}{} {{\n", form.bind ? "" : "[[gnu::always_inline]] inline ",
                                 Declaration(kernel, form));
  if (NeedsConfig(kernel)) text += ConfigTest(kernel, form);
  std::vector<std::string> words = Words(kernel, form);
  if (words.empty()) words.emplace_back("0");
  if (kernel.usual().plain_is_ranged && !form.bind)
    words.insert(words.end(), {"frazil::embed::AllBegin", "frazil::embed::AllEnd"});
  for (size_t i = 0; i < words.size(); ++i) {
    text += fmt::format("  const uint64_t frz_w{} = {};\n", i, words[i]);
    words[i] = fmt::format("frz_w{}", i);
  }
  text += fmt::format("  const uint64_t frz_words[] = {{{}}};\n", fmt::join(words, ", "));
  if (!kernel.results.empty() && !form.bind)
    text += fmt::format("  uint64_t frz_results[{}] = {{}};\n", kernel.results.size());
  text += form.bind ? BindBody(symbol, kernel, form) : LaunchBody(kernel, form);
  return text + "}\n\n";
}

}  // namespace frazil::aot
