// frazil tri: programs over the Goldilocks field for Triton VM. This file has what its commands share.
#include "tri.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/goldilocks.h"
#include "ir/text.h"

namespace frazil::cli {
namespace {

namespace field = frontends::field;
namespace lowering = targets::tasm;

// A field element: a number below p, or a negative one above -p.
Result<uint64_t> ParseElement(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      value >= goldilocks::P)
    return Fail(Diag::WrongArgument,
                fmt::format("'{}' is no field element: a number from -(p-1) to p-1, p = {}", text,
                            goldilocks::P));
  return negative ? goldilocks::Neg(value) : value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<std::vector<uint64_t>> ParseElements(std::string_view text) {
  std::vector<uint64_t> elements;
  if (text.find_first_not_of(' ') == std::string_view::npos) return elements;
  for (std::string_view part : Split(text, ',')) elements.push_back(TRY(ParseElement(part)));
  return elements;
}

namespace {

Result<void> AddSecrets(std::string_view text, TriInputs& inputs) {
  if (text.find_first_not_of(' ') == std::string_view::npos) return {};
  for (std::string_view part : Split(text, ',')) {
    if (!part.contains(':')) {
      inputs.machine.secret.push_back(TRY(ParseElement(part)));
      inputs.hints.push_back(exec::Value::Word(ir::types::Field, inputs.machine.secret.back()));
      continue;
    }
    const std::vector<std::string_view> words = Split(part, ':');
    if (words.size() != 5)
      return Fail(
          Diag::WrongArgument,
          fmt::format("'{}': a digest is five elements, first to last, as in 1:2:3:4:5", part));
    mt::Digest digest;
    for (size_t i = 0; i < 5; ++i) digest[i] = TRY(ParseElement(words[i]));
    inputs.machine.digests.push_back(digest);
    inputs.hints.push_back(exec::Value::Scalar(ir::types::Digest, digest));
  }
  return {};
}

Result<void> AddRam(std::string_view text, TriInputs& inputs) {
  for (std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return Fail(Diag::WrongArgument,
                  fmt::format("'{}': a word of RAM is written address=value", part));
    inputs.machine.ram[TRY(ParseElement(part.substr(0, equals)))] =
        TRY(ParseElement(part.substr(equals + 1)));
  }
  return {};
}

// "// run: --input 1,2 --secret 3 -> 7": the words after a flag, up to the next blank.
Result<bool> ReadRunLine(std::string_view source, TriInputs& inputs) {
  constexpr std::string_view Mark = "// run:";
  const size_t start = source.find(Mark);
  if (start == std::string_view::npos) return false;
  std::string_view line = source.substr(start + Mark.size());
  line = line.substr(0, line.find('\n'));
  const size_t arrow = line.find("->");
  if (arrow != std::string_view::npos) inputs.expected = TRY(ParseElements(line.substr(arrow + 2)));
  std::string_view flag;
  for (std::string_view word : Split(line.substr(0, arrow), ' ')) {
    if (word.empty()) continue;
    if (word.starts_with("--")) {
      flag = word;
    } else if (flag == "--input") {
      for (uint64_t element : TRY(ParseElements(word))) inputs.machine.input.push_back(element);
    } else if (flag == "--secret") {
      TRY_VOID(AddSecrets(word, inputs));
    } else if (flag == "--ram") {
      TRY_VOID(AddRam(word, inputs));
    } else {
      return Fail(Diag::WrongArgument,
                  fmt::format("the file's run line has '{}', which is no flag", word));
    }
  }
  return true;
}

Result<mt::Profile> ProfileNamed(const std::string& name) {
  if (name == "dot") return mt::Profile::Dot;
  if (name == "horner") return mt::Profile::Horner;
  return Fail(Diag::BadUsage, fmt::format("there is no profile '{}'; there are dot, horner", name));
}

Result<ir::Program> BuildTrident(const TriOptions& options, std::string_view text,
                                 const Limits& limits, TriNotes& notes) {
  Result<field::Package> package =
      field::Load(text, options.file, field::DefaultLoader(options.file, options.search),
                  &notes.errors, limits);
  if (!package || !notes.errors.empty())
    return std::unexpected(notes.errors.empty() ? package.error() : notes.errors.back());
  field::Options build;
  build.function = options.function;
  build.sizes = options.sizes;
  build.contracts = options.contracts;
  build.cfg = options.cfg;
  build.limits = limits;
  Result<field::Built> built = field::Build(*package, build, &notes.errors);
  if (!built || !notes.errors.empty())
    return std::unexpected(notes.errors.empty() ? built.error() : notes.errors.back());
  notes.warnings = std::move(built->warnings);
  notes.files = std::move(built->files);
  return std::move(built->program);
}

template <typename T>
Result<T> InFile(Result<T> result, const std::string& file) {
  if (!result && result.error().file.empty()) result.error().file = file;
  return result;
}

}  // namespace

Error TakeLast(Session& session, std::vector<Error> errors) {
  Error last = std::move(errors.back());
  errors.pop_back();
  if (session.json) {
    if (!errors.empty()) {
      std::swap(last, errors.front());
      last.message += fmt::format(" (and {} more)", errors.size());
    }
    return last;
  }
  for (const Error& error : errors) Report(session, error);
  return last;
}

void AddProgramOptions(CLI::App* command, TriOptions& options) {
  command->add_option("file", options.file, "a .tri, .tir, .tasm or .frz file")->required();
  command->add_option("--fn", options.function, "a library function instead of main");
  command->add_option("--sizes", options.sizes, "its size arguments, as in 8,8")->delimiter(',');
  command->add_option("--path", options.search, "a folder with more modules")
      ->allow_extra_args(false);
  command->add_option("--cfg", options.cfg, "a flag that holds for #[cfg(...)]")
      ->allow_extra_args(false);
  OneOf(command->add_option("--profile", options.profile, "instruction set; dot: the releases"),
        {"dot", "horner"})
      ->capture_default_str();
  command->add_flag("--contracts", options.contracts, "requires and ensures become assertions");
  command->add_flag("--templates", options.templates,
                    "lower by fixed templates: the yardstick, not for use");
}

void AddInputOptions(CLI::App* command, TriOptions& options) {
  command->add_option("--input", options.input, "public input, as in 1,2,3")
      ->allow_extra_args(false);
  command
      ->add_option("--secret", options.secret,
                   "secret input in the order of reading, as in 4,5; a digest as 1:2:3:4:5")
      ->allow_extra_args(false);
  command->add_option("--ram", options.ram, "the prover's RAM, as in 17=5,18=6")
      ->allow_extra_args(false);
  command->add_option("--cycles", options.cycles, "stop Triton VM after so many cycles")
      ->capture_default_str();
}

Result<ir::Program> BuildTriIr(const TriOptions& options, std::string_view text,
                               const Limits& limits, TriNotes& notes) {
  if (options.file.ends_with(".tri")) return BuildTrident(options, text, limits, notes);
  return InFile(field::FromTir(TRY(machines::tir::Parse(text, options.file))), options.file);
}

Result<ir::Program> LoadTriIr(Session& session, const TriOptions& options, std::string* source,
                              std::vector<std::string>* files) {
  if (options.file.ends_with(".tasm"))
    return Fail(Diag::Unsupported, "assembly is no program of the IR: it runs on Triton VM only");
  if (!options.file.ends_with(".tri") && !options.file.ends_with(".tir"))
    return ReadProgram(options.file, session.limits);
  const std::string text = TRY(ReadFile(options.file, session.limits));
  if (source) *source = text;
  TriNotes notes;
  Result<ir::Program> program = BuildTriIr(options, text, session.limits, notes);
  if (!program) {
    if (notes.errors.empty()) return program;
    return std::unexpected(TakeLast(session, std::move(notes.errors)));
  }
  if (files) *files = std::move(notes.files);
  if (!session.json)
    for (const Error& warning : notes.warnings) Say("frazil: warning: {}\n", warning.ToString());
  return program;
}

Result<TriProgram> LoadTri(Session& session, const TriOptions& options) {
  TriProgram program;
  program.file = options.file;
  lowering::TasmOptions lower;
  lower.profile = TRY(ProfileNamed(options.profile));
  lower.templates = options.templates;
  lower.limits = session.limits;
  lower.callable = options.callable;
  lower.first_on_top = options.first_on_top;
  if (options.first_on_top && !options.callable)
    return Fail(Diag::BadUsage, "--first-on-top is for --callable");
  if (options.callable && (!options.file.ends_with(".tri") || options.function.empty()))
    return Fail(Diag::BadUsage, "--callable is for a function of a .tri file: name it with --fn");
  if (options.file.ends_with(".tasm")) {
    program.source = TRY(ReadFile(options.file, session.limits));
    program.assembly = TRY(mt::Parse(program.source, lower.profile, options.file));
    return program;
  }
  if (options.file.ends_with(".tir")) {
    program.source = TRY(ReadFile(options.file, session.limits));
    lowering::Lowered lowered;
    lowered.tir = TRY(machines::tir::Parse(program.source, options.file));
    lowered.program = TRY(InFile(lowering::LowerTir(lowered.tir, lower), options.file));
    program.assembly = lowered.program;
    program.lowered = std::move(lowered);
    return program;
  }
  program.ir = TRY(LoadTriIr(session, options, &program.source, &program.files));
  if (options.function.empty()) lower.typical = TypicalInputs(program.source);
  program.lowered = TRY(InFile(lowering::Lower(*program.ir, lower), options.file));
  program.assembly = program.lowered->program;
  return program;
}

std::vector<mt::Inputs> TypicalInputs(std::string_view source) {
  TriInputs inputs;
  const Result<bool> found = ReadRunLine(source, inputs);
  if (!found || !*found) return {};
  return {std::move(inputs.machine)};
}

Result<TriInputs> ReadTriInputs(const TriOptions& options, std::string_view source) {
  TriInputs inputs;
  if (options.input.empty() && options.secret.empty() && options.ram.empty()) {
    inputs.from_file = TRY(ReadRunLine(source, inputs));
    return inputs;
  }
  for (const std::string& text : options.input)
    for (uint64_t element : TRY(ParseElements(text))) inputs.machine.input.push_back(element);
  for (const std::string& text : options.secret) TRY_VOID(AddSecrets(text, inputs));
  for (const std::string& text : options.ram) TRY_VOID(AddRam(text, inputs));
  return inputs;
}

std::string UnreadInput(uint64_t given, uint64_t unread) {
  return fmt::format(
      "{} of {} words of public input are never read; only a claim without them can be proved",
      unread, given);
}

std::string PrintElements(const std::vector<uint64_t>& elements) {
  return fmt::format("{}", fmt::join(elements, ", "));
}

void AddTri(CLI::App& app, Session& session) {
  CLI::App* tri =
      app.add_subcommand("tri", "programs over the Goldilocks field: build, run, prove, profile");
  tri->footer(
      "Examples:\n"
      "  frazil tri run examples/trident/fibonacci.tri --input 10\n"
      "  frazil tri build examples/trident/fibonacci.tri --explain-cliff\n"
      "  frazil tri prove examples/trident/fibonacci.tri --input 10 -o fib.proof");
  tri->require_subcommand(1);
  tri->fallthrough();
  AddTriBuild(*tri, session);
  AddTriRun(*tri, session);
  AddTriProve(*tri, session);
  AddTriProfile(*tri, session);
  AddTriSource(*tri, session);
}

}  // namespace frazil::cli
