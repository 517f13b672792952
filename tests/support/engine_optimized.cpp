// A candidate may take less fuel than its source; where runs have a fuel limit the optimizer is asked to keep it. One of fused
// tensor ops takes some for its folds: it is run where nobody counts.
#include "support/engine_optimized.h"

#include "exec/meaning/interpreter.h"
#include "ir/check/check.h"
#include "optimize/fusion/fusion.h"
#include "optimize/optimize.h"

namespace frazil::tests {
namespace {

class OptimizedCall : public exec::Callable {
 public:
  explicit OptimizedCall(ir::Program program) : program_(std::move(program)) {}
  Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                            const exec::RunContext& context) override {
    return exec::Interpret(program_, arguments, context);
  }

 private:
  ir::Program program_;
};

class OptimizedEngine : public Engine {
 public:
  explicit OptimizedEngine(bool fuses) : fuses_(fuses) {}
  std::string_view name() const override { return fuses_ ? "fused" : "optimized"; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs,
                                bool metered) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs)
      result.push_back(fuses_ ? Fuse(*program, metered) : PrepareOne(*program, metered));
    return result;
  }

 private:
  static Prepared PrepareOne(const ir::Program& program, bool metered) {
    optimize::OptimizeOptions options;
    options.keep_fuel = metered;
    ir::Candidate candidate = TRY(optimize::Optimize(program, {}, options));
    TRY_VOID(ir::Check(candidate.program));
    return std::make_unique<OptimizedCall>(std::move(candidate.program));
  }
  static Prepared Fuse(const ir::Program& program, bool metered) {
    optimize::Unit unit = optimize::MakeUnit(program);
    if (!metered) TRY(optimize::FuseTensors(unit));
    TRY_VOID(ir::Check(unit.program));
    return std::make_unique<OptimizedCall>(std::move(unit.program));
  }

  const bool fuses_;
};

}  // namespace

Result<ir::Program> OfferedProgram(const ir::Program& program) {
  std::optional<ir::Candidate> offered = TRY(optimize::FusedCandidate(program));
  return offered ? std::move(offered->program) : program;
}

std::unique_ptr<Engine> MakeOptimizedEngine() { return std::make_unique<OptimizedEngine>(false); }
std::unique_ptr<Engine> MakeFusedEngine() { return std::make_unique<OptimizedEngine>(true); }

}  // namespace frazil::tests
