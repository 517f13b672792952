// Programs from files of every door, chosen by the name's ending; words where there is no such file.
#include <fmt/format.h>

#include <filesystem>

#include "cli.h"
#include "frontends/circuits/circuits.h"
#include "frontends/kernels/kernels.h"
#include "frontends/words/words.h"
#include "ir/text.h"
#include "machines/simt/module.h"
#include "targets/isa/isa.h"
#include "tri.h"

namespace frazil::cli {
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
  size_t colon = input.rfind(':');
  if (colon == std::string::npos || colon == 0 || Exists(input)) return {input, ""};
  Place place{input.substr(0, colon), input.substr(colon + 1)};
  return Exists(place.path) ? place : Place{input, ""};
}

Result<std::vector<NamedProgram>> FromKernels(
    Result<std::vector<frontends::kernels::Kernel>> kernels) {
  std::vector<NamedProgram> programs;
  for (frontends::kernels::Kernel& kernel : TRY(std::move(kernels)))
    programs.push_back({std::move(kernel.name), std::move(kernel.program)});
  return programs;
}

Result<std::vector<NamedProgram>> ReadKernelFile(const std::string& path, const Limits& limits) {
  if (path.ends_with(".py")) {
    frontends::kernels::PythonOptions options;
    options.limits = limits;
    return FromKernels(frontends::kernels::ParsePython(path, options));
  }
  return FromKernels(frontends::kernels::ParseJson(TRY(ReadFile(path, limits)), path, limits));
}

Result<ir::Program> ParseCircuitFile(const std::string& path, std::string_view text,
                                     const Limits& limits) {
  frontends::circuits::CircuitOptions options;
  options.name = std::filesystem::path(path).stem().string();
  options.limits = limits;
  return frontends::circuits::ParseCircuit(text, options);
}

Result<ir::Program> LiftFile(std::string_view bytes) {
  return targets::isa::Lift(TRY(machines::simt::LoadModule(bytes)));
}

// The first error is the one that a command without a list of them shows.
Result<ir::Program> BuildFieldProgram(const std::string& path, std::string_view text,
                                      const Limits& limits) {
  TriOptions options;
  options.file = path;
  TriNotes notes;
  Result<ir::Program> program = BuildTriIr(options, text, limits, notes);
  if (!program && !notes.errors.empty()) return std::unexpected(std::move(notes.errors.front()));
  return program;
}

std::string NamesOf(const std::vector<NamedProgram>& programs) {
  std::vector<std::string> names;
  for (const NamedProgram& program : programs) names.push_back(program.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string PathOf(const std::string& input) { return PlaceOf(input).path; }

Result<std::vector<NamedProgram>> ReadPrograms(const std::string& path, const Limits& limits) {
  if (path.ends_with(".py") || path.ends_with(".json")) return ReadKernelFile(path, limits);
  std::string text = TRY(ReadFile(path, limits));
  const bool is_field = path.ends_with(".tri") || path.ends_with(".tir");
  Result<ir::Program> program = path.ends_with(".cir")    ? ParseCircuitFile(path, text, limits)
                                : path.ends_with(".frzb") ? LiftFile(text)
                                : is_field                ? BuildFieldProgram(path, text, limits)
                                                          : ir::ParseText(text, limits);
  if (!program && !is_field) {
    program.error().file = path == "-" ? "standard input" : path;
    return std::unexpected(std::move(program.error()));
  }
  if (!program) return std::unexpected(std::move(program.error()));
  std::vector<NamedProgram> programs;
  programs.push_back({program->entry_function().name, std::move(*program)});
  return programs;
}

Result<std::vector<NamedProgram>> ReadNamedPrograms(const std::string& input,
                                                    const Limits& limits) {
  const Place place = PlaceOf(input);
  std::vector<NamedProgram> programs = TRY(ReadPrograms(place.path, limits));
  if (programs.empty()) return Fail(Diag::BadKernel, fmt::format("{} has no kernel", place.path));
  if (place.name.empty()) return programs;
  const std::string names = NamesOf(programs);
  std::erase_if(programs, [&](const NamedProgram& p) { return p.name != place.name; });
  if (programs.empty())
    return Fail(Diag::BadUsage,
                fmt::format("{} has no kernel '{}'; it has {}", place.path, place.name, names));
  return programs;
}

Result<ir::Program> ReadProgramFile(const std::string& input, const Limits& limits) {
  std::vector<NamedProgram> programs = TRY(ReadNamedPrograms(input, limits));
  if (programs.size() == 1) return std::move(programs[0].program);
  return Fail(Diag::BadUsage, fmt::format("{} has {} kernels: write {}:NAME with one of {}", input,
                                          programs.size(), input, NamesOf(programs)));
}

Result<ir::Program> ReadProgram(const std::string& input, const Limits& limits) {
  constexpr std::string_view Endings[] = {".frz", ".py", ".json", ".cir", ".frzb", ".tri", ".tir"};
  bool is_file = input == "-" || Exists(PlaceOf(input).path);
  for (std::string_view ending : Endings) is_file |= input.ends_with(ending);
  if (is_file) return ReadProgramFile(input, limits);
  return TRY(frontends::words::Parse(input, limits)).program;
}

}  // namespace frazil::cli
