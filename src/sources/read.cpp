// Files, one program of several in a file, and words where there is no file.
#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "base/system/file.h"
#include "frontends/python/python.h"
#include "frontends/words/words.h"
#include "sources/sources.h"

namespace frazil::sources {
namespace {

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// "kernels.py:saxpy" as a file and the name of one program in it.
struct Place {
  std::string path;
  std::string name;
};
Place PlaceOf(const std::string& input) {
  const size_t colon = input.rfind(':');
  if (colon == std::string::npos || colon == 0 || Exists(input)) return {input, ""};
  Place place{input.substr(0, colon), input.substr(colon + 1)};
  return Exists(place.path) ? place : Place{input, ""};
}

std::string NamesOf(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(source.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// "/missing", "./a", "kernels/saxpy", "saxpy.tasm": one word, with a folder's name or an ending. Asked only of what is no
// sentence: "10/2" is one.
bool LooksLikePath(std::string_view input) {
  if (input.empty() || input.find_first_of(" \t\n") != std::string_view::npos) return false;
  for (const std::string_view start : {"/", "./", "../", "~/"})
    if (input.starts_with(start)) return true;
  const size_t mark = input.find_last_of("/.");
  return mark != std::string_view::npos && mark > 0 && mark + 1 < input.size() &&
         IsLetter(input[mark + 1]);
}

// Read as .frz text it would be called wrong, although it is right elsewhere.
Result<void> RefuseAssembly(const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> Takers[] = {
      {".tasm", "assembly of Triton VM: `frazil tri` and `frazil verify` take it"},
      {".isa",
       "text of the portable machine: `frazil kernel run` and `frazil kernel assemble` take "
       "it"}};
  for (const auto& [ending, taken] : Takers)
    if (path.ends_with(ending) && Exists(path))
      return Fail(Diag::BadUsage, fmt::format("{} is {}, this command does not", path, taken));
  return {};
}

}  // namespace

std::string PathOf(const std::string& input) { return PlaceOf(input).path; }

Result<std::vector<Source>> ReadSources(const std::string& path, const ReadOptions& options) {
  const Limits& limits = options.limits;
  if (path == "-" && options.standard_input)
    return ParseSources("standard input", Language::Text, TRY(ReadStreamBytes(stdin, path, limits)),
                        limits);
  TRY_VOID(RefuseAssembly(path));
  const Language language = LanguageOf(path).value_or(Language::Text);
  if (language != Language::Python)
    return ParseSources(path, language, TRY(ReadFileBytes(path, limits)), limits);
  frontends::python::PythonOptions python;
  python.limits = limits;
  return ParseSources(path, language, TRY(frontends::python::PythonToJson(path, python)), limits);
}

Result<std::vector<Source>> ReadNamed(const std::string& input, const ReadOptions& options) {
  const Place place = PlaceOf(input);
  std::vector<Source> sources = TRY(ReadSources(place.path, options));
  if (sources.empty()) return Fail(Diag::BadKernel, fmt::format("{} has no kernel", place.path));
  if (place.name.empty()) return sources;
  const std::string names = NamesOf(sources);
  std::erase_if(sources, [&](const Source& source) { return source.name != place.name; });
  if (sources.empty())
    return Fail(Diag::BadUsage,
                fmt::format("{} has no kernel '{}'; it has {}", place.path, place.name, names));
  return sources;
}

Result<ir::Program> ReadProgram(const std::string& input, const ReadOptions& options) {
  std::vector<Source> sources = TRY(ReadNamed(input, options));
  if (sources.size() == 1) return std::move(sources[0].program);
  return Fail(Diag::BadUsage, fmt::format("{} has {} kernels: write {}:NAME with one of {}", input,
                                          sources.size(), input, NamesOf(sources)));
}

Result<ir::Program> ReadProgramOrWords(const std::string& input, const ReadOptions& options) {
  const bool is_file =
      (input == "-" && options.standard_input) || LanguageOf(input) || Exists(PlaceOf(input).path);
  if (is_file) return ReadProgram(input, options);
  Result<frontends::words::Reading> reading = frontends::words::Parse(input, options.limits);
  if (reading) return std::move(reading->program);
  if (LooksLikePath(input)) return ReadProgram(input, options);
  return std::unexpected(std::move(reading.error()));
}

}  // namespace frazil::sources
