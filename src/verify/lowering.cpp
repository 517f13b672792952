// Does code do what its program says? The interpreter runs first, and the code only where that ended by itself: code
// that does not count fuel would not come back from an endless loop.
#include <fmt/format.h>

#include <algorithm>

#include "exec/guard_eval.h"
#include "ir/check.h"
#include "ir/digest.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using exec::Value;

// Lowering turns tensor ops into loops, which may trap in another op.
bool TrapsKeepTheirOp(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    for (const ir::ValueInfo& value : function.values) {
      if (value.type.is_tensor()) return false;
    }
  }
  return true;
}

class LoweringJudge {
 public:
  LoweringJudge(const Pair& pair, const Comparer& comparer, const VerifyOptions& options)
      : pair_(pair),
        comparer_(comparer),
        options_(options),
        deadline_(options.limits.verify_ms),
        random_("lowering " + pair.seed),
        maker_(pair.space, pair.source, pair.source, random_) {}

  Verdict Run() {
    const std::optional<uint64_t> cases = pair_.space.Count();
    // Code is called case by case: a count that takes longer than the samples is not worth it here.
    const uint64_t few = std::min(options_.exhaustive_cases, 2 * options_.sample_lanes);
    if (options_.exhaustive && cases && *cases <= few) return RunAll(*cases);
    if (pair_.space.scalars_only) return RunScalars();
    return RunBuffers();
  }

 private:
  bool Differs(const Input& input) {
    const Comparison comparison = comparer_.Compare(input, deadline_.LeftMs());
    switch (comparison.kind) {
      case Comparison::Kind::Same:
        inputs_ += 1;
        lanes_ += comparison.source.trap ? 1 : input.lanes;
        return false;
      case Comparison::Kind::Undecided:
        undecided_ += 1;
        if (limit_.empty()) limit_ = comparison.limit;
        return false;
      case Comparison::Kind::Different: break;
    }
    auto refuted = MakeRefuted(pair_.space, comparer_, input, options_.limits, deadline_.LeftMs());
    if (refuted) {
      difference_ = std::move(*refuted);
    } else {
      difference_ = Unknown{"the code gave two answers for one input: " + comparison.difference};
    }
    return true;
  }

  bool Over() const {
    return deadline_.Passed() || inputs_ + undecided_ >= options_.sample_lanes * 8 + 1024;
  }

  Input FromWords(const std::vector<std::vector<uint64_t>>& tuple) const {
    Input input;
    for (uint32_t i = 0; i < tuple.size(); ++i)
      input.arguments.push_back(Value::Scalar(pair_.space.entry->param_type(i), tuple[i]));
    return input;
  }

  Verdict RunAll(uint64_t cases) {
    for (uint64_t number = 0; number < cases && !deadline_.Passed(); ++number) {
      Input input;
      uint64_t rest = number;
      for (const Domain& domain : pair_.space.domains) {
        const uint64_t count = *domain.Count();
        input.arguments.push_back(domain.one()
                                      ? Value::Scalar(domain.type(), *domain.one())
                                      : Value::Word(domain.type(), domain.At(rest % count)));
        rest /= count;
      }
      if (Differs(input)) return std::move(difference_);
    }
    if (inputs_ < cases) return Conclude();
    return Proved{{Grade::Exhaustive, "interpreter", AllInputs(cases), cases}};
  }

  Verdict RunScalars() {
    const size_t half = static_cast<size_t>(options_.sample_lanes / 2 + 1);
    for (const auto& tuple : maker_.EdgeTuples(half)) {
      if (Over()) break;
      if (Differs(FromWords(tuple))) return std::move(difference_);
    }
    for (uint64_t i = 0; (i < half || lanes_ < options_.sample_lanes) && !Over(); ++i) {
      if (Differs(FromWords(maker_.RandomTuple()))) return std::move(difference_);
    }
    return Conclude();
  }

  Verdict RunBuffers() {
    uint64_t missing = 0;
    for (uint64_t number = 0;
         (number < maker_.Rounds() || lanes_ < options_.sample_lanes) && !Over(); ++number) {
      const std::optional<Input> input = maker_.Make(number);
      if (!input) {
        if (++missing > 64 + options_.sample_lanes) break;
        continue;
      }
      if (Differs(*input)) return std::move(difference_);
    }
    if (inputs_ + undecided_ == 0)
      return Unknown{"no input could be made that satisfies the guard"};
    return Conclude();
  }

  Verdict Conclude() const {
    if (lanes_ < options_.sample_lanes) {
      if (undecided_ > 0)
        return Unknown{fmt::format("limit reached: {} of {} inputs ended at {}",
                                   Grouped(undecided_), Grouped(undecided_ + inputs_), limit_)};
      return Unknown{fmt::format("only {} inputs were compared in the time allowed (--verify-ms)",
                                 Grouped(inputs_))};
    }
    return Tested{{Grade::Sampled, "interpreter",
                   fmt::format("{} inputs, {} lanes, seed {}", Grouped(inputs_), Grouped(lanes_),
                               pair_.seed.substr(0, 12)),
                   inputs_}};
  }

  const Pair& pair_;
  const Comparer& comparer_;
  const VerifyOptions& options_;
  Deadline deadline_;
  Random random_;
  InputMaker maker_;
  uint64_t inputs_ = 0;
  uint64_t lanes_ = 0;
  uint64_t undecided_ = 0;
  std::string limit_;
  Verdict difference_;
};

}  // namespace

Result<Verdict> VerifyLowering(const ir::Program& program, exec::Callable& code,
                               const ir::Guard& guard, const VerifyOptions& options) {
  TRY_VOID(ir::Check(program));
  TRY_VOID(ir::CheckGuard(guard, program));
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind == ir::GuardKind::Cpu && !exec::HostHas(atom.feature))
      return Unknown{fmt::format("this machine has no {}", ir::CpuFeatureName(atom.feature))};
  }
  const Pair pair = TRY(MakePair(program, program, guard));
  if (!pair.space.empty.empty()) return Unknown{pair.space.empty};
  const Limits limits = LimitsOfOneRun(options.limits, SampleFuel, options.limits.verify_ms);
  // The code has the limits of a user's run: what it takes for scratch and depth is its own.
  const Runner run_code = [&](std::span<const Value> arguments, const exec::RunContext& context) {
    exec::RunContext own = context;
    own.limits.fuel = options.limits.fuel;
    own.limits.memory_bytes = options.limits.memory_bytes;
    return code.Run(arguments, own);
  };
  const Comparer comparer(pair.prepared_source, run_code, limits,
                          TrapsKeepTheirOp(program) ? TrapDetail::All : TrapDetail::KindAndIndex);
  return LoweringJudge(pair, comparer, options).Run();
}

}  // namespace frazil::verify
