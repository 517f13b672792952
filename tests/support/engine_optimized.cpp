// A candidate may take less fuel than its source; where runs have a fuel limit the optimizer is asked to keep it.
#include "support/engine_optimized.h"

#include "exec/meaning/interpreter.h"
#include "ir/check/check.h"
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
  std::string_view name() const override { return "optimized"; }
  std::vector<Prepared> Prepare(std::span<const ir::Program* const> programs,
                                bool metered) override {
    std::vector<Prepared> result;
    for (const ir::Program* program : programs) result.push_back(PrepareOne(*program, metered));
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
};

}  // namespace

std::unique_ptr<Engine> MakeOptimizedEngine() { return std::make_unique<OptimizedEngine>(); }

}  // namespace frazil::tests
