// Signatures and bodies. A body tests everything at once, without branches between the tests, and goes the short way only
// if all is plainly well; embed::Launch, which reads the tables, decides about everything else. So a test here may be too
// strict (an empty buffer inside of another) and must never be too lax.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/generate.h"
#include "embed/launch.h"

namespace frazil::aot {
namespace {

using embed::ParamRole;

constexpr std::string_view Launched[] = {"config.grid.x * config.block.x", "config.grid.y * config.block.y",
                                         "config.grid.z * config.block.z", "config.grid.x",  "config.grid.y",
                                         "config.grid.z",                  "config.block.x", "config.block.y",
                                         "config.block.z"};
constexpr uint64_t MostOf[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX,
                               0, 0, 0, 0, 0, INT64_MAX};

bool IsSigned(embed::ScalarKind scalar) {
  return scalar <= embed::ScalarKind::I64 || scalar == embed::ScalarKind::Index;
}

bool NeedsConfig(const BuiltKernel& kernel) { return std::ranges::any_of(kernel.params, &Param::is_launch); }

bool IsShown(const Param& param, const FunctionForm& form) {
  return !param.is_launch() && !(form.derived && param.role == ParamRole::Extent);
}

// Parameters may be called alike once they are identifiers.
std::vector<std::string> Names(const BuiltKernel& kernel) {
  std::vector<std::string> names;
  for (const Param& param : kernel.params) {
    std::string name = Identifier(param.name);
    while (std::ranges::find(names, name) != names.end() || name == Identifier(kernel.report.name)) name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

std::string ResultType(const BuiltKernel& kernel) {
  if (kernel.results.empty()) return "frazil::embed::Status";
  if (kernel.results.size() == 1) return fmt::format("frazil::embed::Answer<{}>", CppType(kernel.results[0]));
  std::vector<std::string_view> types;
  for (const embed::ScalarKind kind : kernel.results) types.push_back(CppType(kind));
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
      words.push_back(fmt::format("frazil::embed::WordOf({})", names[i]));
    }
  }
  return words;
}

// Launches above this many iterations, or picoseconds, may be shared by threads.
std::string ForkTest(const BuiltKernel& kernel) {
  if (!kernel.report.in_pieces) return {};
  const auto& work = kernel.work;
  const auto factors = [](const embed::WorkTerm& term) {
    return std::ranges::count_if(term.factors, [](uint8_t f) { return f != embed::NoFactor; });
  };
  if (work.empty()) return {};
  if (work.size() == 1 && factors(work[0]) == 1)
    return fmt::format("frz_words[{}] >= {}u", work[0].factors[0],
                       std::max<uint64_t>(1, embed::ForkPicoseconds / std::max(1u, work[0].picoseconds)));
  std::vector<std::string> terms;
  for (const embed::WorkTerm& term : work) {
    std::string text = fmt::format("{}.0", term.picoseconds);
    for (const uint8_t factor : term.factors)
      if (factor != embed::NoFactor)
        text += fmt::format(" * static_cast<double>(static_cast<int64_t>(frz_words[{}]))", factor);
    terms.push_back(std::move(text));
  }
  return fmt::format("{} >= static_cast<double>(frazil::embed::ForkPicoseconds)", fmt::join(terms, " + "));
}

std::vector<std::string> BufferTests(const BuiltKernel& kernel) {
  const std::vector<std::string> names = Names(kernel);
  std::vector<std::string> tests;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!kernel.params[i].is_buffer()) continue;
    tests.push_back(fmt::format("frazil::embed::IsUnfit({})", names[i]));
    for (size_t j = 0; j < i; ++j) {
      const bool both_read =
          kernel.params[i].access == embed::Access::In && kernel.params[j].access == embed::Access::In;
      if (kernel.params[j].is_buffer() && !both_read)
        tests.push_back(fmt::format("frazil::embed::MayOverlap({}, {})", names[j], names[i]));
    }
  }
  return tests;
}

std::vector<std::string> ExtentTests(const BuiltKernel& kernel, const FunctionForm& form) {
  const std::vector<std::string> names = Names(kernel);
  std::vector<std::string> tests;
  if (form.derived) {
    for (const embed::PairData& pair : kernel.lengths) {
      const size_t first = LengthOf(kernel, pair.first);
      if (first != pair.second) tests.push_back(fmt::format("{}.size() != {}.size()", names[first], names[pair.second]));
      const uint64_t most = MostOf[static_cast<size_t>(kernel.params[pair.first].scalar)];
      if (first == pair.second && most < INT64_MAX) tests.push_back(fmt::format("{}.size() > {}u", names[first], most));
    }
  }
  for (const embed::PairData& pair : kernel.covers) {
    const bool same = form.derived && std::ranges::any_of(kernel.lengths, [&](const embed::PairData& length) {
      return length.first == pair.first && length.second == pair.second;
    });
    const uint32_t word = WordOfParam(kernel, pair.first);
    if (same) continue;
    if (IsSigned(kernel.params[pair.first].scalar)) {
      tests.push_back(fmt::format("static_cast<int64_t>(frz_words[{}]) > static_cast<int64_t>({}.size())", word,
                                  names[pair.second]));
    } else {
      tests.push_back(fmt::format("frz_words[{}] > {}.size()", word, names[pair.second]));
    }
  }
  return tests;
}

std::vector<std::string> Tests(const BuiltKernel& kernel, const FunctionForm& form, bool uses_run) {
  std::vector<std::string> tests = {"frz_level == 0"};
  if (uses_run) tests.emplace_back("frz_run == nullptr");
  for (auto& test : BufferTests(kernel)) tests.push_back(std::move(test));
  for (auto& test : ExtentTests(kernel, form)) tests.push_back(std::move(test));
  if (std::string fork = ForkTest(kernel); !fork.empty()) tests.push_back(std::move(fork));
  return tests;
}

std::string Answered(const BuiltKernel& kernel, std::string_view status) {
  if (kernel.results.empty()) return fmt::format("return {};", status);
  std::vector<std::string> values;
  for (size_t i = 0; i < kernel.results.size(); ++i)
    values.push_back(fmt::format("frazil::embed::FromWord<{}>(frz_results[{}])", CppType(kernel.results[i]), i));
  const std::string value = values.size() == 1 ? values[0] : fmt::format("{{{}}}", fmt::join(values, ", "));
  return fmt::format("return {{{}, {}}};", status, value);
}

std::string LaunchBody(std::string_view symbol, const BuiltKernel& kernel, const FunctionForm& form) {
  const bool uses_run = std::ranges::any_of(kernel.plain, [](const Code& c) { return !c.bytes.empty() && c.uses_run; });
  const bool complete = std::ranges::all_of(kernel.plain, [](const Code& code) { return !code.bytes.empty(); }) ||
                        !kernel.plain[0].bytes.empty();
  const std::string_view results = kernel.results.empty() ? "nullptr" : "frz_results";
  std::string text = "  const uint32_t frz_level = frazil::embed::used_level_plus_one;\n";
  if (uses_run) text += "  frazil::embed::NativeRun* const frz_run = frazil::embed::thread_run;\n";
  std::vector<std::string> tests = Tests(kernel, form, uses_run);
  if (!complete) tests = {"true"};  // the level decides whether there is code at all
  text += fmt::format("  const bool frz_unusual = frazil::embed::Any({});\n", fmt::join(tests, ",\n      "));
  const std::string launch = fmt::format("frazil::embed::Launch({}, frz_words, {}, frazil::embed::Extents::{})", symbol,
                                         results, form.derived ? "Derived" : "Given");
  if (kernel.results.empty()) {
    text += fmt::format("  if (frz_unusual) [[unlikely]] return {};\n", launch);
  } else {
    text += fmt::format("  if (frz_unusual) [[unlikely]] {{\n    const frazil::embed::Status frz_status = {};\n    {}\n  }}\n",
                        launch, Answered(kernel, "frz_status"));
  }
  text += fmt::format("  const int32_t frz_trap = frazil::embed::EntryOf({}.plain[frz_level - 1])(frz_words, {}, {});\n",
                      symbol, results, uses_run ? "frz_run" : "nullptr");
  text += fmt::format("  if (frz_trap != 0) [[unlikely]] {}\n",
                      Answered(kernel, fmt::format("frazil::embed::Trapped({}, frz_trap, {})", symbol,
                                                   uses_run ? "frz_run" : "nullptr")));
  return text + fmt::format("  {}\n", Answered(kernel, "frazil::embed::Status()"));
}

std::string BindBody(std::string_view symbol, const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string bind = fmt::format("frazil::embed::Bind({}, frz_words, frazil::embed::Extents::{})", symbol,
                                       form.derived ? "Derived" : "Given");
  if (kernel.results.empty()) return fmt::format("  return {};\n", bind);
  std::string text = fmt::format("  frazil::embed::Bound frz_bound = {};\n", bind);
  for (size_t i = 0; i < kernel.results.size(); ++i)
    text += fmt::format("  frz_bound.results[{0}] = frz_result{0};\n", i);
  return text + "  return frz_bound;\n";
}

std::string ConfigTest(std::string_view symbol, const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string refused =
      fmt::format("frazil::embed::Refused({}, frazil::embed::LaunchError::EmptyLaunch)", symbol);
  std::string text = "  if (!config.is_valid()) [[unlikely]] ";
  if (!form.bind) return text + fmt::format("return {}{}{};\n", kernel.results.empty() ? "" : "{", refused,
                                            kernel.results.empty() ? "" : ", {}}");
  return text + fmt::format("{{\n    frazil::embed::Bound frz_bound;\n    frz_bound.status = {};\n    return frz_bound;\n  }}\n",
                            refused);
}

}  // namespace

bool HasExtents(const BuiltKernel& kernel) {
  return std::ranges::any_of(kernel.params, [](const Param& param) { return param.role == ParamRole::Extent; });
}

std::string Declaration(const BuiltKernel& kernel, const FunctionForm& form, std::string_view scope) {
  const std::vector<std::string> names = Names(kernel);
  std::vector<std::string> params;
  if (NeedsConfig(kernel)) params.emplace_back("const frazil::embed::LaunchConfig& config");
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
  return fmt::format("{} {}{}{}({}) noexcept", form.bind ? "frazil::embed::Bound" : ResultType(kernel), scope,
                     Identifier(kernel.report.name), form.bind ? "_bind" : "", fmt::join(params, ", "));
}

std::string Definition(std::string_view module, const BuiltKernel& kernel, const FunctionForm& form) {
  const std::string symbol = DataSymbol(module, kernel.report.name);
  std::string text = Declaration(kernel, form) + " {\n";
  if (NeedsConfig(kernel)) text += ConfigTest(symbol, kernel, form);
  std::vector<std::string> words = Words(kernel, form);
  if (words.empty()) words.emplace_back("0");
  text += fmt::format("  const uint64_t frz_words[] = {{{}}};\n", fmt::join(words, ", "));
  if (!kernel.results.empty() && !form.bind)
    text += fmt::format("  uint64_t frz_results[{}] = {{}};\n", kernel.results.size());
  text += form.bind ? BindBody(symbol, kernel, form) : LaunchBody(symbol, kernel, form);
  return text + "}\n\n";
}

}  // namespace frazil::aot
