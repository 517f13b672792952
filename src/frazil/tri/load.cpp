// From a file to assembly.
#include <fmt/format.h>

#include "base/system/file.h"
#include "frazil/tri/internal/gate.h"
#include "frontends/tir/tir.h"
#include "frontends/trident/trident.h"
#include "sources/sources.h"
#include "sources/trident.h"

namespace frazil::tri {
namespace {

namespace lowering = targets::tasm;

template <typename T>
Result<T> InFile(Result<T> result, const std::string& file) {
  if (!result && result.error().file.empty()) result.error().file = file;
  return result;
}

Result<ir::Program> BuildTrident(const Source& source, Program& program, const Options& options) {
  sources::TridentOptions build;
  build.build.function = source.function;
  build.build.sizes = source.sizes;
  build.build.contracts = source.contracts;
  build.build.cfg = source.cfg;
  build.build.limits = options.limits;
  build.search = source.search;
  sources::TridentNotes notes;
  Result<ir::Program> built = sources::ParseTrident(source.file, program.text, build, notes);
  if (!built && !notes.errors.empty())
    return std::unexpected(TakeErrors(options, std::move(notes.errors)));
  if (options.notes != nullptr) options.notes->warnings = std::move(notes.warnings);
  program.files = std::move(notes.files);
  return built;
}

lowering::TasmOptions HowToLower(const Source& source, const Options& options) {
  lowering::TasmOptions how;
  how.profile = source.profile;
  how.limits = options.limits;
  how.callable = source.callable;
  how.first_on_top = source.first_on_top;
  return how;
}

Result<void> CheckCallable(const Source& source) {
  if (source.first_on_top && !source.callable)
    return Fail(Diag::BadUsage, "--first-on-top is for --callable");
  if (source.callable && (!source.file.ends_with(".tri") || source.function.empty()))
    return Fail(Diag::BadUsage, "--callable is for a function of a .tri file: name it with --fn");
  return {};
}

}  // namespace

Result<mt::Profile> ProfileNamed(std::string_view name) {
  if (name == "dot") return mt::Profile::Dot;
  if (name == "horner") return mt::Profile::Horner;
  return Fail(Diag::BadUsage, fmt::format("there is no profile '{}'; there are dot, horner", name));
}

Result<std::string> ReadText(const std::string& file, const Options& options) {
  return file == "-" && options.standard_input ? ReadStreamBytes(stdin, file, options.limits)
                                               : ReadFileBytes(file, options.limits);
}

Error TakeErrors(const Options& options, std::vector<Error> errors) {
  Error last = errors.back();
  if (options.notes != nullptr) options.notes->errors = std::move(errors);
  return last;
}

Result<Program> LoadIr(const Source& source, const Options& options) {
  Program program;
  program.file = source.file;
  if (source.file.ends_with(".tasm"))
    return Fail(Diag::Unsupported, "assembly is no program of the IR: it runs on Triton VM only");
  const bool is_tir = source.file.ends_with(".tir");
  if (!is_tir && !source.file.ends_with(".tri")) {
    program.ir =
        TRY(sources::ReadProgramOrWords(source.file, {options.limits, options.standard_input}));
    return program;
  }
  program.text = TRY(ReadText(source.file, options));
  program.ir =
      is_tir ? TRY(InFile(
                   frontends::tir::FromTir(TRY(machines::tir::Parse(program.text, source.file))),
                   source.file))
             : TRY(BuildTrident(source, program, options));
  return program;
}

Result<Program> Read(const Source& source, const Options& options) {
  TRY_VOID(CheckCallable(source));
  lowering::TasmOptions how = HowToLower(source, options);
  Program program;
  program.file = source.file;
  if (source.file.ends_with(".tasm")) {
    program.text = TRY(ReadText(source.file, options));
    program.assembly = TRY(mt::Parse(program.text, how.profile, source.file));
  } else if (source.file.ends_with(".tir")) {
    program.text = TRY(ReadText(source.file, options));
    lowering::Lowered lowered;
    lowered.tir = TRY(machines::tir::Parse(program.text, source.file));
    lowered.program = TRY(InFile(lowering::LowerTir(lowered.tir, how), source.file));
    program.assembly = lowered.program;
    program.lowered = std::move(lowered);
  } else {
    program = TRY(LoadIr(source, options));
    if (source.function.empty()) how.typical = TypicalInputs(program.text);
  }
  program.how = std::move(how);
  return program;
}

Result<Program> Load(const Source& source, const Options& options) {
  Program program = TRY(Read(source, options));
  if (program.lowered) {
    // Stack code is lowered at once; the store only says whether that was judged. What the IR cannot say never was.
    if (const Result<ir::Program> meant = frontends::tir::FromTir(program.lowered->tir))
      program.admitted = Gate(*meant, program.how, options, &program.lowered->tir).Find();
    return program;
  }
  if (!program.ir) return program;
  program.admitted = Gate(*program.ir, program.how, options).Find();
  if (program.admitted) {
    program.assembly = program.admitted->program();
    return program;
  }
  program.lowered = TRY(InFile(lowering::Lower(*program.ir, program.how), source.file));
  program.assembly = program.lowered->program;
  return program;
}

}  // namespace frazil::tri
