// The door of the C target: emission, loading by the machine's compiler, and batches for tests.
#include "targets/c/c.h"

#include <fmt/format.h>

#include "ir/lower/lower.h"
#include "targets/c/callable.h"
#include "targets/c/header.h"
#include "targets/c/toolchain.h"

namespace frazil::targets::c {
namespace {

// Nesting deeper than clang's default, as programs may have it.
bool IsClang(const std::string& compiler) { return compiler.find("clang") != std::string::npos; }

std::vector<std::string> FlagsFor(const std::string& compiler, std::span<const std::string> flags) {
  std::vector<std::string> all(flags.begin(), flags.end());
  if (IsClang(compiler)) all.push_back("-fbracket-depth=4096");
  return all;
}

// Optimizers take more than linear time; a huge program is better compiled soon than well.
std::vector<std::string> LevelFor(const ir::Program& program) {
  size_t insts = 0;
  for (const ir::Function& function : program.functions) insts += function.insts.size();
  return {insts < 20'000 ? "-O2" : insts < 100'000 ? "-O1" : "-O0"};
}

bool Polls(const std::string& text) { return text.find("frz_stopped(run, ") != std::string::npos; }

class CTarget : public exec::Target {
 public:
  explicit CTarget(std::string compiler) : compiler_(std::move(compiler)) {}

  std::string_view name() const override { return "c"; }

  std::string Refuses(const ir::Program& program) const override {
    return ir::WhyNotLowered(program);
  }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    exec::Artifact artifact;
    artifact.target = "c";
    artifact.program = std::make_shared<ir::Program>(TRY(ir::LowerForTarget(program)));
    artifact.source = std::make_shared<ir::Program>(program);
    artifact.entry_symbol = LegalSymbol(options.symbol);
    artifact.bytes = WriteHeader(program, *artifact.program, options);
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    if (artifact.target != "c" || artifact.program == nullptr || artifact.source == nullptr)
      return Fail(Diag::BadArtifact, "the artifact is not one of the C target");
    const std::string compiler = TRY(FindCompiler(compiler_));
    const std::string unit =
        WriteSingleUnit(artifact.bytes, *artifact.program, artifact.entry_symbol);
    auto object =
        TRY(CompileAndLoad(unit, compiler, FlagsFor(compiler, LevelFor(*artifact.program))));
    return MakeCallable(
        {artifact.source, artifact.program, std::move(object), 0, Polls(artifact.bytes)});
  }

 private:
  std::string compiler_;
};

Result<std::vector<ir::Program>> LowerAll(std::span<const ir::Program> programs) {
  std::vector<ir::Program> lowered;
  for (const ir::Program& program : programs) lowered.push_back(TRY(ir::LowerForTarget(program)));
  return lowered;
}

}  // namespace

std::unique_ptr<exec::Target> MakeCTarget(std::string compiler) {
  return std::make_unique<CTarget>(std::move(compiler));
}

Result<std::string> EmitHeader(const ir::Program& program, const exec::EmitOptions& options) {
  return WriteHeader(program, TRY(ir::LowerForTarget(program)), options);
}

Result<std::string> EmitUnit(std::span<const ir::Program> programs, bool metered) {
  return WriteUnit(TRY(LowerAll(programs)), metered).text;
}

struct CBatch::State {
  std::vector<std::shared_ptr<const ir::Program>> sources;
  std::vector<std::shared_ptr<const ir::Program>> lowered;
  std::shared_ptr<SharedObject> object;
  std::vector<bool> polls;
};

Result<CBatch> CBatch::Compile(std::span<const ir::Program> programs, const std::string& compiler,
                               std::span<const std::string> flags, bool metered) {
  const std::vector<ir::Program> lowered = TRY(LowerAll(programs));
  const std::string path = TRY(FindCompiler(compiler));
  auto state = std::make_shared<State>();
  UnitText unit = WriteUnit(lowered, metered);
  state->object = TRY(CompileAndLoad(unit.text, path, FlagsFor(path, flags)));
  state->polls = std::move(unit.polls);
  for (size_t i = 0; i < programs.size(); ++i) {
    state->sources.push_back(std::make_shared<ir::Program>(programs[i]));
    state->lowered.push_back(std::make_shared<ir::Program>(lowered[i]));
  }
  CBatch batch;
  batch.state_ = std::move(state);
  return batch;
}

Result<std::unique_ptr<exec::Callable>> CBatch::Get(size_t i) const {
  return MakeCallable(
      {state_->sources[i], state_->lowered[i], state_->object, i, state_->polls[i]});
}

size_t CBatch::size() const { return state_->sources.size(); }

}  // namespace frazil::targets::c
