// The target: Emit lowers and proves; Load takes the bytes alone, proves them and runs them, on tiles or lane by lane.
#include "exec/marshal.h"
#include "exec/meaning/interpreter.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"
#include "targets/tiles/tile.h"

namespace frazil::targets::tiles {
namespace {

class IsaCallable final : public exec::Callable {
 public:
  // Without a plan everything runs lane by lane.
  IsaCallable(isa::ProvedModule module, std::shared_ptr<const TilePlan> plan,
              std::shared_ptr<const ir::Program> source)
      : module_(std::move(module)),
        plan_(std::move(plan)),
        source_(std::move(source)),
        call_depth_(isa::CallDepth(*source_)),
        takes_words_(plan_ != nullptr && LaneByLane(*plan_).empty() && !HasTensors(*source_)) {}

  Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                            const exec::RunContext& context) override {
    // A call takes fuel and depth, and calls are inlined: where a limit may be reached there, the program itself runs.
    bool limited = context.limits.fuel < Limits{}.fuel || context.limits.depth < call_depth_;
    if (call_depth_ > 0 && limited) return exec::Interpret(*source_, arguments, context);
    exec::LoweredCall call = TRY(exec::LoweredCall::Create(*source_, arguments, context.limits));
    exec::Outcome outcome =
        plan_ ? TRY(tiles::Run(*plan_, call.arguments(), context))
              : TRY(isa::RunLaneExact(module_.module(), call.arguments(), context));
    exec::Outcome finished =
        std::move(call).Finish(outcome.trap, std::move(outcome.results), std::move(outcome.output));
    finished.trap_at = outcome.trap_at;
    return finished;
  }
  // Plans and modules do not change while they run.
  bool is_concurrent() const override { return true; }
  bool takes_words() const override { return takes_words_; }
  std::optional<exec::TrapInfo> RunWords(const uint64_t* arguments, uint64_t* results) override {
    TileRun run;
    if (tiles::RunWords(*plan_, arguments, results, run) == 0) [[likely]]
      return std::nullopt;
    return run.trap;
  }

 private:
  // Whose words would be those of buffers.
  static bool HasTensors(const ir::Program& program) {
    const ir::Function& entry = program.entry_function();
    bool has = std::ranges::any_of(entry.results, &ir::Type::is_tensor);
    for (uint32_t i = 0; i < entry.param_count(); ++i) has |= entry.param_type(i).is_tensor();
    return has;
  }

  isa::ProvedModule module_;
  std::shared_ptr<const TilePlan> plan_;
  std::shared_ptr<const ir::Program> source_;
  uint64_t call_depth_;
  bool takes_words_;
};

class IsaTarget final : public exec::Target {
 public:
  explicit IsaTarget(bool tiles) : tiles_(tiles) {}
  std::string_view name() const override { return tiles_ ? "isa" : "isa-lanes"; }

  std::string Refuses(const ir::Program& program) const override { return isa::WhyNot(program); }

  Result<exec::Artifact> Emit(const ir::Program& program,
                              const exec::EmitOptions& options) const override {
    const isa::ProvedModule proved = TRY(isa::ProvedModule::OfProgram(program));
    exec::Artifact artifact;
    artifact.target = name();
    artifact.bytes = std::string(proved.module().bytes);
    artifact.program = proved.program();
    artifact.source = std::make_shared<const ir::Program>(program);
    artifact.entry_symbol = options.symbol;
    return artifact;
  }

  Result<std::unique_ptr<exec::Callable>> Load(const exec::Artifact& artifact) const override {
    // The bytes may be others than Emit gave: they are proved again, and what is proved is what runs.
    isa::ProvedModule module = TRY(isa::ProvedModule::Prove(
        *artifact.source, TRY(machines::simt::LoadModule(artifact.bytes))));
    std::shared_ptr<const TilePlan> plan;
    if (tiles_) plan = TRY(Prepare(module));
    return std::make_unique<IsaCallable>(std::move(module), std::move(plan), artifact.source);
  }

  Result<Lifted> Lift(const exec::Artifact& artifact) const override {
    const machines::simt::Module module = TRY(machines::simt::LoadModule(artifact.bytes));
    Lifted lifted{TRY(isa::Lift(module)), TRY(isa::PrepareProgram(*artifact.source))};
    // What a launch makes of its arguments stands beside the code.
    const auto same = [](const ir::KernelParam& a, const ir::KernelParam& b) {
      return a.role == b.role && a.buffers == b.buffers;
    };
    if (!std::ranges::equal(module.Signature().params, ir::SignatureOf(lifted.wanted).params, same))
      return Fail(Diag::NotProved, "the module has other parameters than the program");
    return lifted;
  }

 private:
  bool tiles_;
};

}  // namespace

std::unique_ptr<exec::Target> MakeIsaTarget() { return std::make_unique<IsaTarget>(true); }
std::unique_ptr<exec::Target> MakeLaneExactTarget() { return std::make_unique<IsaTarget>(false); }

}  // namespace frazil::targets::tiles
