// Does code do what its program says? The interpreter runs first, and the code only where that ended by itself: code
// that does not count fuel would not come back from an endless loop.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/guard_eval.h"
#include "ir/check.h"
#include "ir/digest.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using exec::Value;

// Made-up loop bounds and lengths are mostly too large to be run at all, and small limits find that out at once;
// programs that need more for every input get more.
struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
};
constexpr Effort Efforts[] = {{1 << 12, 1 << 20}, {SampleFuel, 16 << 20}, {SampleFuel, 256 << 20}};
// An effort is good if half of so many inputs end by themselves, or of those that fit its share of the time.
constexpr uint64_t TrialInputs = 32;
constexpr uint64_t TrialShare = 40;
// Where none is, the one that ends most has so much of the time: no input that runs on forever tells anything.
constexpr uint64_t PoorShare = 10;
constexpr uint64_t MostAnswerBytes = 64 << 20;
// Code takes microseconds where the interpreter ends within its fuel. Each input on which it does not costs so much.
constexpr uint64_t CodeRunMs = 100;
constexpr uint64_t MostLate = 4;

// The interpreter, asked once for each sample where there are notes to keep its answers in.
class Meaning {
 public:
  Meaning(const Pair& pair, SampleNotes* notes)
      : run_(InterpreterRunner(pair.prepared_source)), notes_(notes) {
    if (notes_ != nullptr && notes_->seed != pair.seed) *notes_ = {pair.seed};
  }

  // Of the samples that follow; none: an input that is no sample.
  void SetNumber(std::optional<uint64_t> number) { number_ = number; }

  Result<exec::Outcome> Run(std::span<const Value> arguments, const exec::RunContext& context) {
    if (notes_ == nullptr || !number_) return run_(arguments, context);
    if (const auto known = notes_->answers.find(*number_); known != notes_->answers.end()) {
      for (size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].memory != nullptr)
          std::memcpy(arguments[i].memory->data(), known->second.memory[i].data(),
                      known->second.memory[i].size());
      return known->second.outcome;
    }
    Result<exec::Outcome> outcome = run_(arguments, context);
    if (outcome && !(outcome->trap && IsLimit(outcome->trap->kind))) Keep(arguments, *outcome);
    return outcome;
  }

 private:
  void Keep(std::span<const Value> arguments, const exec::Outcome& outcome) {
    SampleNotes::Answer answer{outcome, {}};
    uint64_t bytes = 0;
    for (const Value& value : arguments) {
      const exec::Memory* const memory = value.memory.get();
      answer.memory.emplace_back(
          memory == nullptr
              ? std::string()
              : std::string(reinterpret_cast<const char*>(memory->data()), memory->size_bytes()));
      bytes += answer.memory.back().size();
    }
    if (notes_->answer_bytes + bytes > MostAnswerBytes) return;
    notes_->answer_bytes += bytes;
    notes_->answers.emplace(*number_, std::move(answer));
  }

  Runner run_;
  SampleNotes* notes_;
  std::optional<uint64_t> number_;
};

class LoweringJudge {
 public:
  LoweringJudge(const Pair& pair, Meaning& meaning, std::vector<Comparer> comparers,
                const VerifyOptions& options)
      : pair_(pair),
        meaning_(meaning),
        comparers_(std::move(comparers)),
        options_(options),
        deadline_(Deadline::After(options.limits.verify_ms)),
        random_(Seed()),
        maker_(pair.space, pair.source, pair.source, random_) {
    if (pair_.space.scalars_only) edges_ = maker_.EdgeTuples(Half());
    start_ = random_;
  }

  Verdict Run() {
    const std::optional<uint64_t> cases = pair_.space.Count();
    // Code is called case by case: a count that takes longer than the samples is not worth it here.
    const uint64_t few = std::min(options_.exhaustive_cases, 2 * options_.sample_lanes);
    if (options_.exhaustive && cases && *cases <= few) return RunAll(*cases);
    return RunSamples();
  }

 private:
  enum class End : uint8_t { Enough, Different, OutOfTime, Poor };

  struct Trial {
    uint64_t inputs = 0;
    uint64_t ended = 0;
    uint64_t lanes = 0;
    double ms = 0;
    double LanesPerMs() const { return static_cast<double>(lanes) / std::max(ms, 0.01); }
  };

  std::string Seed() const { return "lowering " + pair_.seed; }
  size_t Half() const { return static_cast<size_t>(options_.sample_lanes / 2 + 1); }

  bool Differs(const Input& input, const Comparer& comparer) {
    const Comparison comparison = comparer.Compare(input, deadline_.LeftMs());
    switch (comparison.kind) {
      case Comparison::Kind::Same:
        inputs_ += 1;
        lanes_ += comparison.source.trap ? 1 : input.lanes;
        return false;
      case Comparison::Kind::Undecided:
        undecided_ += 1;
        is_endless_ = !comparison.source_ended;
        late_ += comparison.source_ended ? 1 : 0;
        if (limit_.empty()) limit_ = comparison.limit;
        return false;
      case Comparison::Kind::Different: break;
    }
    meaning_.SetNumber(std::nullopt);
    auto refuted = MakeRefuted(pair_.space, comparer, input, options_.limits, deadline_.LeftMs());
    if (refuted) {
      difference_ = std::move(*refuted);
    } else {
      difference_ = Unknown{"the code gave two answers for one input: " + comparison.difference};
    }
    return true;
  }

  bool Over() const {
    return deadline_.Passed() || late_ > MostLate ||
           inputs_ + undecided_ >= options_.sample_lanes * 8 + 1024;
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
      if (Differs(input, comparers_.back())) return std::move(difference_);
    }
    if (inputs_ < cases) return Conclude();
    return Proved{{Grade::Exhaustive, "interpreter", AllInputs(cases), cases}};
  }

  // --- samples: input number n is the same in every pass ---
  uint64_t Rounds() const {
    return pair_.space.scalars_only ? edges_.size() + Half() : maker_.Rounds();
  }

  std::optional<Input> MakeInput(uint64_t number) {
    if (!pair_.space.scalars_only) return maker_.Make(number);
    return FromWords(number < edges_.size() ? edges_[number] : maker_.RandomTuple());
  }

  Verdict RunSamples() {
    SampleNotes* const notes = options_.notes;
    if (notes != nullptr && !notes->endless.empty() && notes->effort < comparers_.size()) {
      if (!notes->reason.empty()) return Unknown{notes->reason};
      endless_ = notes->endless;
      if (notes->poor) deadline_ = deadline_.Within(options_.limits.verify_ms / PoorShare);
      return Finish(Pass(notes->effort, /*is_trial=*/false));
    }
    for (size_t effort = 0; effort < comparers_.size(); ++effort) {
      const End end = Pass(effort, /*is_trial=*/true);
      if (end != End::Poor) return Finish(end);
    }
    size_t best = 0;
    for (size_t i = 1; i < trials_.size(); ++i)
      if (trials_[i].LanesPerMs() > trials_[best].LanesPerMs()) best = i;
    const double missing = static_cast<double>(options_.sample_lanes - lanes_);
    is_poor_ = true;
    deadline_ = deadline_.Within(options_.limits.verify_ms / PoorShare);
    if (missing > trials_[best].LanesPerMs() * static_cast<double>(deadline_.LeftMs()))
      return Conclude();
    return Finish(Pass(best, /*is_trial=*/false));
  }

  Verdict Finish(End end) {
    if (end == End::Different) return std::move(difference_);
    if (inputs_ + undecided_ == 0)
      return Unknown{"no input could be made that satisfies the guard"};
    return Conclude();
  }

  // From the first input on, but for those that ended in an earlier pass. A trial is left if most do not end.
  End Pass(size_t effort, bool is_trial) {
    random_ = start_;
    Trial trial;
    const Clock::time_point start = Clock::now();
    const double most_ms = static_cast<double>(options_.limits.verify_ms) / TrialShare;
    uint64_t missing = 0;
    for (uint64_t number = 0; number < Rounds() || lanes_ < options_.sample_lanes; ++number) {
      if (Over()) return End::OutOfTime;
      const std::optional<Input> input = MakeInput(number);
      if (!input) {
        if (++missing > 64 + options_.sample_lanes) return End::Enough;
        continue;
      }
      if (done_.size() <= number) done_.resize(2 * number + 64);
      if (done_[number]) continue;
      if (!is_trial && number < endless_.size() && endless_[number]) {
        undecided_ += 1;
        continue;
      }
      const uint64_t inputs = inputs_;
      const uint64_t lanes = lanes_;
      is_endless_ = false;
      meaning_.SetNumber(number);
      if (Differs(*input, comparers_[effort])) return End::Different;
      const bool ended = inputs_ > inputs;
      Note(effort, number, is_endless_);
      done_[number] = ended;
      trial.inputs += 1;
      trial.ended += ended ? 1 : 0;
      trial.lanes += lanes_ - lanes;
      trial.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      const bool is_long = trial.inputs >= TrialInputs || trial.ms > most_ms;
      if (is_trial && is_long && 2 * trial.ended < trial.inputs) {
        trials_.push_back(trial);
        undecided_ -= trial.inputs - trial.ended;
        return End::Poor;
      }
    }
    return End::Enough;
  }

  void Note(size_t effort, uint64_t number, bool is_endless) {
    SampleNotes* const notes = options_.notes;
    if (notes == nullptr) return;
    if (notes->effort != effort) notes->endless.clear();
    notes->effort = effort;
    notes->poor = is_poor_ || notes->poor;
    if (notes->endless.size() <= number) notes->endless.resize(2 * number + 64);
    notes->endless[number] = is_endless;
  }

  Verdict Conclude() {
    if (late_ > MostLate)
      return Unknown{fmt::format(
          "limit reached: the code did not end in {} ms on {} inputs on which its program ends",
          CodeRunMs, late_)};
    if (lanes_ < options_.sample_lanes) {
      if (undecided_ > 0 || !trials_.empty()) {
        uint64_t undecided = undecided_;
        for (const Trial& trial : trials_) undecided += trial.inputs - trial.ended;
        Unknown unknown{fmt::format("limit reached: {} of {} inputs ended at {}",
                                    Grouped(undecided), Grouped(undecided + inputs_), limit_)};
        if (options_.notes != nullptr) options_.notes->reason = unknown.reason;
        return unknown;
      }
      return Unknown{fmt::format("only {} inputs were compared in the time allowed (--verify-ms)",
                                 Grouped(inputs_))};
    }
    const std::string share =
        2 * undecided_ < inputs_ ? "" : fmt::format(" of {} ended", Grouped(inputs_ + undecided_));
    return Tested{{Grade::Sampled, "interpreter",
                   fmt::format("{}{} inputs, {} lanes, seed {}", Grouped(inputs_), share,
                               Grouped(lanes_), pair_.seed.substr(0, 12)),
                   inputs_}};
  }

  const Pair& pair_;
  Meaning& meaning_;
  const std::vector<Comparer> comparers_;  // one for each effort
  const VerifyOptions& options_;
  Deadline deadline_;
  Random random_;
  Random start_ = random_;
  InputMaker maker_;
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // scalars only
  std::vector<bool> done_;
  std::vector<bool> endless_;  // known before
  std::vector<Trial> trials_;  // those that were left
  uint64_t inputs_ = 0;
  uint64_t lanes_ = 0;
  uint64_t undecided_ = 0;
  uint64_t late_ = 0;  // of these: the interpreter came to its end
  bool is_endless_ =
      false;  // the input that was compared last: the interpreter did not come to its end
  bool is_poor_ = false;
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
  // The code has the limits of a user's run: what it takes for scratch and depth is its own.
  const Runner run_code = [&](std::span<const Value> arguments, const exec::RunContext& context) {
    exec::RunContext own = context;
    own.limits.fuel = options.limits.fuel;
    own.limits.memory_bytes = options.limits.memory_bytes;
    own.limits.run_ms = std::min(context.limits.run_ms, CodeRunMs);
    return code.Run(arguments, own);
  };
  Meaning meaning(pair, options.notes);
  const Runner run_program = [&](std::span<const Value> arguments,
                                 const exec::RunContext& context) {
    return meaning.Run(arguments, context);
  };
  std::vector<Comparer> comparers;
  Limits before;
  for (const Effort& effort : Efforts) {
    Limits limits = LimitsOfOneRun(options.limits, effort.fuel, options.limits.verify_ms);
    limits.memory_bytes = std::min(limits.memory_bytes, effort.memory_bytes);
    const bool is_same = limits.fuel == before.fuel && limits.memory_bytes == before.memory_bytes;
    if (!comparers.empty() && is_same) continue;
    comparers.emplace_back(pair.prepared_source, run_code, limits, run_program);
    before = limits;
  }
  return LoweringJudge(pair, meaning, std::move(comparers), options).Run();
}

}  // namespace frazil::verify
