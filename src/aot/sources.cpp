// Every language has its own reader; here is only which one, and what a kernel is called where its file does not say.
#include "aot/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontends/circuits/circuits.h"
#include "frontends/kernels/kernels.h"
#include "ir/text.h"

namespace frazil::aot {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string NameFromFile(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::ranges::replace_if(name, [](char c) { return !IsWordCharacter(c); }, '_');
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "k");
  return name;
}

std::string_view Trim(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// The comment right above the entry function.
std::string DocOfText(std::string_view text, const std::string& entry) {
  const std::string head = fmt::format("func @{}(", entry);
  std::string doc;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("//")) {
      doc += fmt::format("{}{}", doc.empty() ? "" : "\n", Trim(line.substr(2)));
    } else if (line.starts_with(head)) {
      return doc;
    } else {
      doc.clear();
    }
  }
  return {};
}

SourceKernel FromProgram(const std::string& path, ir::Program program, std::string doc) {
  SourceKernel kernel;
  const std::string& entry = program.entry_function().name;
  kernel.name = entry == "main" ? NameFromFile(path) : entry;
  kernel.doc = std::move(doc);
  kernel.program = std::move(program);
  return kernel;
}

Result<std::vector<SourceKernel>> Read(const std::string& path, SourceKind kind,
                                       std::string_view text, const Limits& limits) {
  std::vector<SourceKernel> kernels;
  switch (kind) {
    case SourceKind::Text: {
      ir::Program program = TRY(ir::ParseText(text, limits));
      std::string doc = DocOfText(text, program.entry_function().name);
      kernels.push_back(FromProgram(path, std::move(program), std::move(doc)));
      break;
    }
    case SourceKind::Circuit: {
      frontends::circuits::CircuitOptions options;
      options.limits = limits;
      kernels.push_back(FromProgram(path, TRY(frontends::circuits::ParseCircuit(text, options)),
                                    std::string(Trim(text))));
      break;
    }
    case SourceKind::Python:
    case SourceKind::Json:
      for (auto& kernel : TRY(frontends::kernels::ParseJson(text, path, limits)))
        kernels.push_back(
            {std::move(kernel.name), std::move(kernel.doc), std::move(kernel.program)});
  }
  return kernels;
}

}  // namespace

Result<SourceKind> KindOf(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".py") return SourceKind::Python;
  if (ending == ".json") return SourceKind::Json;
  if (ending == ".cir") return SourceKind::Circuit;
  if (ending == ".frz") return SourceKind::Text;
  return Fail(Diag::BadUsage,
              fmt::format("{}: kernels are read from .py, .json, .cir and .frz files", path));
}

Result<std::vector<SourceKernel>> ReadKernels(const std::string& path, SourceKind kind,
                                              std::string_view text, const Limits& limits) {
  Result<std::vector<SourceKernel>> kernels = Read(path, kind, text, limits);
  if (!kernels && kernels.error().file.empty()) kernels.error().file = path;
  if (kernels && kernels->empty()) {
    Error error{Diag::BadKernel, "there is no kernel in this file"};
    error.file = path;
    return std::unexpected(std::move(error));
  }
  return kernels;
}

}  // namespace frazil::aot
