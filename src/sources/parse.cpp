// Every language has its own reader; here is only which one, and what a program is called where its file does not say.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontends/circuits/circuits.h"
#include "frontends/python/python.h"
#include "frontends/tir/tir.h"
#include "ir/text/text.h"
#include "machines/simt/module.h"
#include "sources/sources.h"
#include "sources/trident.h"
#include "targets/isa/isa.h"

namespace frazil::sources {
namespace {

constexpr struct {
  std::string_view ending;
  Language language;
} Endings[] = {{".frz", Language::Text},    {".py", Language::Python},
               {".json", Language::Json},   {".cir", Language::Circuit},
               {".frzb", Language::Module}, {".tri", Language::Trident},
               {".tir", Language::Tir}};

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
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

Result<ir::Program> ParseCircuitFile(const std::string& path, std::string_view text,
                                     const Limits& limits) {
  frontends::circuits::CircuitOptions options;
  options.name = NameFromFile(path);
  options.limits = limits;
  return frontends::circuits::ParseCircuit(text, options);
}

// A module of the portable machine is verified before it is looked at, and lifts to the program that it came from.
Result<ir::Program> LiftModule(std::string_view bytes) {
  return targets::isa::Lift(TRY(machines::simt::LoadModule(bytes)));
}

// Who shows one error only shows the first.
Result<ir::Program> ParseTridentFile(const std::string& path, std::string_view text,
                                     const Limits& limits) {
  TridentOptions options;
  options.build.limits = limits;
  TridentNotes notes;
  Result<ir::Program> program = ParseTrident(path, text, options, notes);
  if (!program && !notes.errors.empty()) return std::unexpected(std::move(notes.errors.front()));
  return program;
}

Result<ir::Program> ParseProgram(const std::string& path, Language language, std::string_view text,
                                 const Limits& limits) {
  switch (language) {
    case Language::Circuit: return ParseCircuitFile(path, text, limits);
    case Language::Module: return LiftModule(text);
    case Language::Trident: return ParseTridentFile(path, text, limits);
    case Language::Tir: return frontends::tir::FromTir(TRY(machines::tir::Parse(text, path)));
    default: return ir::ParseText(text, limits);
  }
}

std::string DocOf(const ir::Program& program, Language language, std::string_view text) {
  if (language == Language::Text) return DocOfText(text, program.entry_function().name);
  return language == Language::Circuit ? std::string(Trim(text)) : "";
}

Result<std::vector<Source>> Parse(const std::string& path, Language language, std::string_view text,
                                  const Limits& limits) {
  std::vector<Source> sources;
  if (language == Language::Python || language == Language::Json) {
    for (auto& kernel : TRY(frontends::python::ParseJson(text, path, limits)))
      sources.push_back({std::move(kernel.name), std::move(kernel.doc), std::move(kernel.program)});
    return sources;
  }
  ir::Program program = TRY(ParseProgram(path, language, text, limits));
  std::string name = program.entry_function().name, doc = DocOf(program, language, text);
  sources.push_back({std::move(name), std::move(doc), std::move(program)});
  return sources;
}

}  // namespace

std::optional<Language> LanguageOf(std::string_view path) {
  for (const auto& [ending, language] : Endings)
    if (path.ends_with(ending)) return language;
  return std::nullopt;
}

std::string NameFromFile(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string();
  std::ranges::replace_if(name, [](char c) { return !IsWordCharacter(c); }, '_');
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "k");
  return name;
}

Result<std::vector<Source>> ParseSources(const std::string& path, Language language,
                                         std::string_view text, const Limits& limits) {
  Result<std::vector<Source>> sources = Parse(path, language, text, limits);
  if (!sources && sources.error().file.empty()) sources.error().file = path;
  return sources;
}

}  // namespace frazil::sources
