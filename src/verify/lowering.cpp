// Does code do what its program says? The interpreter runs first, and the code only where that ended by itself: code
// that does not count fuel would not come back from an endless loop.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "exec/guard_eval.h"
#include "exec/native_callable.h"
#include "ir/check.h"
#include "ir/digest.h"
#include "ir/lower.h"
#include "verify/internal/meaning.h"
#include "verify/internal/pair.h"
#include "verify/internal/watched_code.h"
#include "verify/internal/ways.h"
#include "verify/wasm/watched_module.h"

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
// Code takes microseconds where the interpreter ends within its fuel. Each input on which it does not costs so much.
constexpr uint64_t CodeRunMs = 100;
constexpr uint64_t MostLate = 4;
// Inputs for code that has not run: so many at least (the thresholds lowered), and so many without a new block at most.
constexpr uint64_t FewestStretched = 56;
constexpr uint64_t FewestCompleted = 32;  // of all that have been compared
constexpr uint64_t MostFruitless = 600;
constexpr uint64_t MostFruitlessTurns = 100;  // where only loops have had no second turn
// Buffers of so many inputs that need no more than this are cut to where the program traps, and so many run with little fuel.
constexpr size_t MostCut = 4;
constexpr uint64_t CutFuel = 1 << 13;
constexpr size_t MostFuelInputs = 12;
constexpr uint64_t StretchedFuel = 1 << 17;  // a tile of a product of squares
constexpr size_t HeavySize = 100;            // instructions
constexpr uint64_t StretchedBytes = 16 << 20;
constexpr uint64_t StretchedNumbers = uint64_t{1} << 32;  // apart from those of samples

// Long inputs are few, and must not be cut off where a caller tries little first.
Limits StretchedLimits(Limits limits, uint64_t left_ms) {
  limits.fuel = StretchedFuel;
  limits.memory_bytes = std::max(limits.memory_bytes, StretchedBytes);
  return LimitsOfOneRun(limits, StretchedFuel, left_ms);
}

// The kinds and ops of the traps that a program may end with, as targets see it.
std::set<std::pair<uint32_t, uint32_t>> TrapsOf(const ir::Program& program) {
  std::set<std::pair<uint32_t, uint32_t>> traps;
  const auto no_room = [&](ir::Op op) {
    traps.emplace(static_cast<uint32_t>(ir::Trap::Memory), static_cast<uint32_t>(op));
  };
  const Result<ir::Program> lowered = ir::LowerForTarget(program);
  for (const ir::Program* form : {&program, lowered ? &*lowered : &program}) {
    for (const ir::Function& function : form->functions) {
      for (const ir::Inst& inst : function.insts) {
        for (uint32_t kind = 0; kind < ir::TrapCount; ++kind)
          if ((ir::Info(inst.op).traps & ir::Only(static_cast<ir::Trap>(kind))) != 0)
            traps.emplace(kind, static_cast<uint32_t>(inst.trap_op()));
        if (inst.op == ir::Op::Output) no_room(inst.op);
      }
      // What does not fit into registers lies in a frame, for which there may be no room.
      if (std::ranges::any_of(function.values,
                              [](const auto& value) { return value.type.limbs > 0; }))
        no_room(ir::Op::Call);
    }
  }
  return traps;
}

// A comparer that lets both run with so much fuel; none where the code does not count it.
using FueledComparer = std::function<Comparer(uint64_t)>;

class LoweringJudge {
 public:
  LoweringJudge(const Pair& pair, Meaning& meaning, std::vector<Comparer> comparers,
                const Comparer& for_stretched, FueledComparer make_fueled,
                const VerifyOptions& options, WatchedCode* watched, bool* little_memory)
      : pair_(pair),
        meaning_(meaning),
        comparers_(std::move(comparers)),
        for_stretched_(for_stretched),
        make_fueled_(std::move(make_fueled)),
        options_(options),
        watched_(watched),
        little_memory_(little_memory),
        deadline_(Deadline::After(options.limits.verify_ms)),
        random_(Seed()),
        maker_(pair.space, pair.source, pair.source, random_),
        traps_(watched == nullptr ? std::set<std::pair<uint32_t, uint32_t>>()
                                  : TrapsOf(pair.source)) {
    size_t size = 0;  // of math functions, each of which may be called for each element
    for (const ir::Function& function : pair.prepared_source->program().functions)
      if (function.is_prelude) size += function.insts.size();
    maker_.SetHeavy(size > HeavySize);
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
    const WatchedCode::Mark mark = watched_ != nullptr ? watched_->MarkRun() : WatchedCode::Mark{};
    Comparison comparison = comparer.Compare(input, deadline_.LeftMs());
    // A busy machine is late once, code that does not end always.
    if (IsLate(comparison)) comparison = comparer.Compare(input, deadline_.LeftMs());
    endless_runs_ += IsLate(comparison) ? 1 : 0;
    switch (comparison.kind) {
      case Comparison::Kind::Same:
        inputs_ += 1;
        // A lane that trapped is no lane that was compared.
        if (comparison.source.trap) {
          trapped_ += 1;
        } else {
          lanes_ += input.lanes;
          longest_ = std::max(longest_, input.lanes);
          seen_.Add(meaning_.choices());
        }
        return false;
      case Comparison::Kind::Undecided:
        undecided_ += 1;
        is_endless_ = !comparison.source_ended;
        late_ += comparison.source_ended ? 1 : 0;
        // What ran without an answer was not compared.
        if (watched_ != nullptr) watched_->BackTo(mark);
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

  // The code took its time where its program came to an end.
  static bool IsLate(const Comparison& comparison) {
    return comparison.kind == Comparison::Kind::Undecided && comparison.source_ended &&
           comparison.candidate.trap && comparison.candidate.trap->timeout_ms;
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
    if (watched_ != nullptr) return Finish(End::Enough);
    const double missing = static_cast<double>(options_.sample_lanes - lanes_);
    is_poor_ = true;
    deadline_ = deadline_.Within(options_.limits.verify_ms / PoorShare);
    if (missing > trials_[best].LanesPerMs() * static_cast<double>(deadline_.LeftMs()))
      return Conclude();
    return Finish(Pass(best, /*is_trial=*/false));
  }

  Verdict Finish(End end) {
    if (end == End::Enough && watched_ != nullptr) end = Stretch();
    if (end == End::Different) return std::move(difference_);
    if (inputs_ + undecided_ == 0)
      return Unknown{"no input could be made that satisfies the guard"};
    return Conclude();
  }

  // More inputs, while there is code that has not run.
  End Stretch() {
    deadline_ = whole_deadline_;  // also where few samples end
    size_t missing = CountMissing();
    // Much code takes long to get to.
    const auto search =
        std::chrono::milliseconds(options_.search_ms * (64 + watched_->blocks().size()) / 64);
    uint64_t fruitless = 0, fresh = 0, ended = 0;
    Clock::time_point last = Clock::now();
    for (uint64_t number = 0; number < FewestStretched || missing > 0 || IsFew(); ++number) {
      if (deadline_.Passed() || late_ > MostLate) return End::OutOfTime;
      // Where hardly an input ends, nothing will be found.
      if (number >= FewestStretched && ended * 8 < number) break;
      const bool is_whole = CountMust() == 0 && !IsFew();
      if (fruitless++ > (is_whole ? MostFruitlessTurns : MostFruitless) &&
          (is_whole || Clock::now() - last > search))
        break;
      const std::vector<WatchedCode::Aim> aims = Aims();
      watched_->AimAt(aims);
      Stretched next = NextStretched(number, fresh, aims);
      if (!next.input) continue;
      watched_->Lower(next.is_lowered);
      *little_memory_ = next.has_little_memory;
      // What is made from others depends on the code: nobody else will ask for it.
      meaning_.SetNumber(next.number);
      const uint64_t undecided = undecided_, completed = inputs_ - trapped_, late = late_;
      const uint64_t inputs = inputs_;
      if (Differs(*next.input, for_stretched_)) return End::Different;
      if (inputs_ - trapped_ > completed && next.number &&
          OtherwiseDiffers(*next.input, next.is_lowered))
        return End::Different;
      ended += inputs_ > inputs ? 1 : 0;
      undecided_ = undecided;  // they are no samples: too long ones say nothing
      if (std::exchange(*little_memory_, false)) late_ = late;
      const size_t left = CountMissing();
      if (left < missing) fruitful_.push_back(*next.input);
      if (left < missing || (completed < inputs_ - trapped_ && IsFew())) {
        fruitless = 0;
        last = Clock::now();
      }
      missing = left;
      for (size_t i = 0; i < aims.size(); ++i) {
        Nearest& nearest = nearest_[{aims[i].branch, aims[i].is_taken}];
        const uint64_t distance = watched_->Distance(i);
        const uint64_t cost = CostOf(*next.input);
        // Of two that are equally near, one that costs less leaves time for more.
        if (distance < nearest.distance ||
            (distance == nearest.distance && 4 * cost < 3 * nearest.cost))
          nearest = {distance, cost, next};
      }
    }
    watched_->AimAt({});
    if (CutDiffers() || FuelDiffers()) return End::Different;
    watched_->Lower(false);
    return End::Enough;
  }

  // Both ways of a threshold, and of several each by itself: what one lets in, another may make harmless (a product is
  // packed from few elements on, but in panels so shallow that any scratch is large enough).
  bool OtherwiseDiffers(const Input& input, bool was_lowered) {
    const size_t count = watched_->threshold_count();
    if (count == 0) return false;
    watched_->Lower(!was_lowered);
    if (Differs(input, for_stretched_)) return true;
    if (count == 1 || !was_lowered) return false;
    watched_->Lower(true, excepted_++ % count);
    return Differs(input, for_stretched_);
  }

  // About how long it takes: loops are seldom nested deeper than three. A clock would make each verdict another one.
  uint64_t CostOf(const Input& input) const {
    std::vector<uint64_t> sizes = {input.lanes, 1, 1};
    for (size_t i = 0; i < input.arguments.size(); ++i) {
      const ir::Type type = pair_.space.entry->param_type(static_cast<uint32_t>(i));
      if (type.is_scalar() && ir::WordsOf(type) == 1 && ir::IsFixedInt(type.scalar) &&
          input.arguments[i].word < 1 << 20)
        sizes.push_back(input.arguments[i].word + 1);
    }
    // More than one number: what buffers have in excess costs little.
    if (sizes.size() > 4) sizes[0] = 1;
    std::ranges::sort(sizes, std::greater());
    return sizes[0] * sizes[1] * sizes[2];
  }

  // Too few that came to their end.
  bool IsFew() const {
    return lanes_ < options_.sample_lanes || inputs_ - trapped_ < FewestCompleted;
  }

  struct Stretched {
    std::optional<Input> input;
    bool is_lowered = false;
    bool has_little_memory = false;
    std::optional<uint64_t> number;  // of the interpreter's answer, if others may ask for it
  };
  // The input that came nearest to turning a branch.
  struct Nearest {
    uint64_t distance = WatchedCode::Far;
    uint64_t cost = 0;
    Stretched from;
  };

  // Of four, one is new, one a neighbor of what was worth its while, and two are to turn a branch that decides about
  // what is missing.
  Stretched NextStretched(uint64_t number, uint64_t& fresh,
                          std::span<const WatchedCode::Aim> aims) {
    const bool is_new = number < FewestStretched || fruitful_.empty() || number % 4 == 0;
    random_ = Random(
        fmt::format("{} {} {}", Seed(), is_new ? "stretched" : "changed", is_new ? fresh : number));
    if (!is_new && number % 4 != 1 && !aims.empty()) {
      const WatchedCode::Aim& aim = aims[number / 2 % aims.size()];
      const Nearest& nearest = nearest_[{aim.branch, aim.is_taken}];
      if (nearest.distance < WatchedCode::Far) {
        Stretched next = nearest.from;
        // What compares no integers compares values.
        next.input = nearest.distance == WatchedCode::Far - 1 && random_.Chance(80)
                         ? maker_.Season(*next.input)
                         : maker_.Nudge(*next.input, nearest.distance);
        next.number = std::nullopt;
        return next;
      }
    }
    // Primes: each meets all kinds of inputs, which go by fours and eights. Where there is no room for scratch, code may
    // have another way.
    Stretched next{{}, number % 7 < 5, number % 11 == 5, {}};
    if (is_new) {
      next.input = maker_.Stretch(fresh++);
      next.number = StretchedNumbers + fresh;
      return next;
    }
    const Input& from =
        random_.Chance(40) ? fruitful_.back() : fruitful_[random_.Below(fruitful_.size())];
    next.input = number % 4 == 1   ? maker_.Change(from)
                 : number % 4 == 2 ? maker_.Nudge(from, 1)
                                   : maker_.Season(from);
    return next;
  }

  // Branches that decide about what is missing, and the way that they should go.
  std::vector<WatchedCode::Aim> Aims() const {
    std::vector<WatchedCode::Aim> aims;
    const std::vector<uint32_t> blocks = MissingBlocks();
    for (size_t i = 0; i < watched_->branches().size(); ++i) {
      const CodeBranch& branch = watched_->branches()[i];
      if ((branch.is_turn && !watched_->WasTaken(i)) ||
          std::ranges::binary_search(blocks, branch.target))
        aims.push_back({i, true});
      else if (std::ranges::binary_search(blocks, branch.next))
        aims.push_back({i, false});
    }
    return aims;
  }

  // Buffers as short as they may be, and one element shorter: what is tested once for a whole loop is wrong there first.
  bool CutDiffers() {
    watched_->Lower(true);
    meaning_.SetNumber(std::nullopt);
    size_t cut = 0;
    for (size_t n = 0; n < fruitful_.size() && cut < MostCut; ++n) {
      const Input input = fruitful_[fruitful_.size() - 1 - n];
      if (!Completes(input)) continue;
      ++cut;
      // What was new then has hardly run where two buffers are one.
      for (const Input& united : maker_.Unite(input))
        if (!deadline_.Passed() && Differs(united, for_stretched_)) return true;
      for (uint32_t param = 0; param < input.arguments.size(); ++param) {
        if (!pair_.space.entry->param_type(param).is_buffer()) continue;
        int64_t enough = input.arguments[param].memory->length(), less = -1;
        while (enough - less > 1 && !deadline_.Passed()) {
          const int64_t middle = less + (enough - less) / 2;
          const std::optional<Input> cut = maker_.Cut(input, param, middle);
          (cut && Completes(*cut) ? enough : less) = middle;
        }
        if (deadline_.Passed()) return false;
        for (const int64_t length : {less, enough, enough * 3 / 4, enough / 2, enough / 16}) {
          const std::optional<Input> cut =
              length < 0 ? std::nullopt : maker_.Cut(input, param, length);
          if (cut && Differs(*cut, for_stretched_)) return true;
        }
      }
    }
    return false;
  }

  bool Completes(const Input& input) {
    exec::RunContext context;
    context.input = input.input;
    context.hints = input.hints;
    context.limits = StretchedLimits(options_.limits, deadline_.LeftMs());
    context.limits.fuel = CutFuel;
    const Input copy = CopyOf(input);
    const Result<exec::Outcome> outcome = meaning_.Run(copy.arguments, context);
    return outcome && !outcome->trap;
  }

  // Code that counts fuel runs out of it where its program does.
  bool FuelDiffers() {
    constexpr uint64_t Fuels[] = {0, 1, 2, 3, 5, 8, 13, 29, 64, 300};
    if (!make_fueled_) return false;
    meaning_.SetNumber(std::nullopt);
    watched_->Lower(false);
    std::vector<Input> inputs;
    for (size_t n = 0; n < std::min(MostFuelInputs, fruitful_.size()); ++n)
      inputs.push_back(fruitful_[fruitful_.size() - 1 - n]);
    random_ = Random(Seed() + " fuel");
    for (size_t n = 0; n < 2 * MostFuelInputs; ++n)
      if (std::optional<Input> input = maker_.Stretch(n)) inputs.push_back(std::move(*input));
    for (const Input& input : inputs)
      for (const uint64_t fuel : Fuels)
        if (!deadline_.Passed() && Differs(input, make_fueled_(fuel))) return true;
    return false;
  }

  // Blocks that have not run, but for those that are plain to see.
  std::vector<uint32_t> MissingBlocks() const {
    std::vector<uint32_t> missing;
    for (size_t i = 0; i < watched_->blocks().size(); ++i) {
      const CodeBlock& block = watched_->blocks()[i];
      if (!watched_->HasRun(i) && !block.is_jump && !IsPlainTrap(block))
        missing.push_back(block.begin);
    }
    return missing;
  }

  // Loops that never had a second turn.
  std::vector<uint32_t> MissingTurns() const {
    std::vector<uint32_t> missing;
    for (size_t i = 0; i < watched_->branches().size(); ++i)
      if (watched_->branches()[i].is_turn && !watched_->WasTaken(i))
        missing.push_back(watched_->branches()[i].place);
    return missing;
  }
  // What must have been seen, and what should: some loops never turn, whatever the arguments are.
  size_t CountMust() const { return MissingBlocks().size() + ways_.CountMissing(seen_); }
  size_t CountMissing() const { return CountMust() + MissingTurns().size(); }
  size_t CountTurns() const {
    return static_cast<size_t>(std::ranges::count_if(watched_->branches(), &CodeBranch::is_turn));
  }

  // It says nothing but a trap that the program has.
  bool IsPlainTrap(const CodeBlock& block) const {
    if (!block.exit || block.exit->status < 1 || block.exit->status > ir::TrapCount) return false;
    return traps_.contains({block.exit->status - 1, block.exit->op});
  }

  std::string Places(std::string_view what, const std::vector<uint32_t>& places) const {
    constexpr size_t Most = 6;
    std::string text = fmt::format("{}{} at", what, places.size() == 1 ? "" : "s");
    for (size_t i = 0; i < std::min(places.size(), Most); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", watched_->PlaceText(places[i]));
    if (places.size() > Most) text += fmt::format(" and {} more", places.size() - Most);
    return text;
  }

  // ", 48 of 48 blocks", or what is missing.
  std::string DescribeBlocks() const {
    if (watched_ == nullptr) return {};
    const size_t run = watched_->CountRun();
    const size_t read = watched_->blocks().size() - run;
    const size_t turns = CountTurns();
    return fmt::format(
        ", {} of {} blocks{}{}{}", run, watched_->blocks().size(), watched_->What(),
        read == 0 ? "" : ", the others only jump or trap",
        turns == 0 ? ""
                   : fmt::format(", {} of {} loops again", turns - MissingTurns().size(), turns));
  }

  // From the first input on, but for those that ended in an earlier pass. A trial is left if most do not end.
  End Pass(size_t effort, bool is_trial) {
    random_ = start_;
    Trial trial;
    const Clock::time_point start = Clock::now();
    const double most_ms = static_cast<double>(options_.limits.verify_ms) / TrialShare;
    uint64_t missing = 0;
    size_t run = 0;
    // Of watched code, inputs made to fit it bring what is missing.
    const uint64_t most = watched_ == nullptr ? UINT64_MAX : 2 * Rounds();
    for (uint64_t number = 0;
         number < Rounds() || (lanes_ < options_.sample_lanes && number < most); ++number) {
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
      if (watched_ != nullptr && watched_->CountRun() > run) {
        run = watched_->CountRun();
        fruitful_.push_back(*input);
      }
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
    if (late_ > MostLate || endless_runs_ > 0)
      return Unknown{fmt::format(
          "limit reached: the code did not end in {} ms on {} inputs on which its program ends",
          CodeRunMs, std::max(late_, endless_runs_))};
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
    if (watched_ != nullptr) {
      const std::vector<uint32_t> missing = MissingBlocks();
      if (!missing.empty())
        return Unknown{fmt::format("{} never ran ({} of {} did)", Places("block", missing),
                                   watched_->CountRun(), watched_->blocks().size()),
                       /*has_unrun=*/true};
    }
    if (ways_.CountMissing(seen_) > 0)
      return Unknown{ways_.DescribeMissing(seen_), /*has_unrun=*/true};
    const std::string traps =
        trapped_ == 0 ? "" : fmt::format(", {} that trapped", Grouped(trapped_));
    const std::string share =
        2 * undecided_ < inputs_ ? "" : fmt::format(" of {} ended", Grouped(inputs_ + undecided_));
    // What is longer than any of them has not been seen.
    const std::string longest =
        longest_ <= 1 ? "" : fmt::format(", up to {} at a time", Grouped(longest_));
    const size_t pairs = maker_.CountPairs();
    const std::string shared = pairs == 0 ? ""
                                          : fmt::format(", {} pair{} of buffers as one",
                                                        Grouped(pairs), pairs == 1 ? "" : "s");
    return Tested{{Grade::Sampled, "interpreter",
                   fmt::format("{}{} inputs{}, {} lanes{}{}{}{}, seed {}", Grouped(inputs_), share,
                               traps, Grouped(lanes_), longest, shared, DescribeBlocks(),
                               make_fueled_ ? ", fuel counted" : "", pair_.seed.substr(0, 12)),
                   inputs_}};
  }

  const Pair& pair_;
  Meaning& meaning_;
  const std::vector<Comparer> comparers_;  // one for each effort
  const Comparer& for_stretched_;
  const FueledComparer make_fueled_;
  const VerifyOptions& options_;
  WatchedCode* const watched_;
  bool* const little_memory_;  // for the code's next run
  Deadline deadline_;
  const Deadline whole_deadline_ = deadline_;
  Random random_;
  Random start_ = random_;
  InputMaker maker_;
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // scalars only
  const std::set<std::pair<uint32_t, uint32_t>> traps_;    // kinds and ops that code may tell
  const Ways ways_{pair_.prepared_source->program()};
  exec::Choices seen_;
  std::vector<bool> done_;
  std::vector<bool> endless_;                           // known before
  std::map<std::pair<size_t, bool>, Nearest> nearest_;  // by branch and wanted way
  std::vector<Input> fruitful_;                         // some block ran for the first time
  std::vector<Trial> trials_;                           // those that were left
  uint64_t inputs_ = 0;
  uint64_t trapped_ = 0;  // of these
  uint64_t lanes_ = 0;    // of the others
  uint64_t longest_ = 0;  // of these
  uint64_t undecided_ = 0;
  size_t excepted_ = 0;        // thresholds, in turns
  uint64_t endless_runs_ = 0;  // of the code, where its program ended
  uint64_t late_ = 0;          // of these: the interpreter came to its end
  bool is_endless_ =
      false;  // the input that was compared last: the interpreter did not come to its end
  bool is_poor_ = false;
  std::string limit_;
  Verdict difference_;
};

// What no parameter lets be written may be constants of the caller, which fault even if they are written as they are.
void ProtectIn(const ir::Function& entry, std::span<const Value> arguments) {
  const auto is_in = [&](size_t i) {
    const ir::Type type = entry.param_type(static_cast<uint32_t>(i));
    return type.is_tensor() || type.access == ir::Access::In;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& memory = arguments[i].memory;
    if (memory == nullptr) continue;
    bool is_all_in = true;
    for (size_t k = 0; k < arguments.size(); ++k)
      is_all_in = is_all_in && (arguments[k].memory != memory || is_in(k));
    if (is_all_in) MakeReadOnly(*memory);
  }
}

Result<Verdict> JudgeLowering(const ir::Program& program, exec::Callable& code,
                              const ir::Guard& guard, const VerifyOptions& options,
                              WatchedCode* watched) {
  TRY_VOID(ir::Check(program));
  TRY_VOID(ir::CheckGuard(guard, program));
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind == ir::GuardKind::Cpu && !exec::HostHas(atom.feature))
      return Unknown{fmt::format("this machine has no {}", ir::CpuFeatureName(atom.feature))};
  }
  const Pair pair = TRY(MakePair(program, program, guard));
  if (!pair.space.empty.empty()) return Unknown{pair.space.empty};
  bool little_memory = false;
  // The code has the limits of a user's run: what it takes for scratch and depth is its own.
  const Runner run_code = [&](std::span<const Value> arguments, const exec::RunContext& context) {
    exec::RunContext own = context;
    own.limits.fuel = options.limits.fuel;
    own.limits.memory_bytes = little_memory ? 0 : options.limits.memory_bytes;
    own.limits.run_ms = std::min(context.limits.run_ms, CodeRunMs);
    if (watched != nullptr) ProtectIn(*pair.space.entry, arguments);
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
  const Limits stretched = StretchedLimits(options.limits, options.limits.verify_ms);
  const Comparer for_stretched(pair.prepared_source, run_code, stretched, run_program);
  FueledComparer make_fueled;
  if (watched != nullptr && watched->metered())
    make_fueled = [&](uint64_t fuel) {
      Limits limits = stretched;
      limits.fuel = fuel;
      const Runner run_metered = [&](std::span<const Value> arguments,
                                     const exec::RunContext& context) {
        exec::RunContext own = context;
        own.limits.memory_bytes = options.limits.memory_bytes;
        own.limits.run_ms = std::min(context.limits.run_ms, CodeRunMs);
        return code.Run(arguments, own);
      };
      return Comparer(pair.prepared_source, run_metered, limits, run_program,
                      /*counts_fuel=*/true);
    };
  return LoweringJudge(pair, meaning, std::move(comparers), for_stretched, std::move(make_fueled),
                       options, watched, &little_memory)
      .Run();
}

}  // namespace

Result<Verdict> VerifyLowering(const ir::Program& program, exec::Callable& code,
                               const ir::Guard& guard, const VerifyOptions& options) {
  return JudgeLowering(program, code, guard, options, nullptr);
}

Result<Verdict> VerifyCode(const ir::Program& program, const exec::NativeImage& image,
                           const ir::Guard& guard, const VerifyOptions& options,
                           const CallableMaker& make_callable) {
  const std::shared_ptr<const CodeReader> reader = RegisteredCodeReader();
  if (reader == nullptr) return Unknown{"nobody here can read machine code"};
  Result<CodeParts> parts = reader->Read(image);
  if (!parts) return Unknown{"the code cannot be followed: " + parts.error().message};
  Result<std::unique_ptr<WatchedImage>> watched = WatchedImage::Map(image, std::move(*parts));
  if (!watched) return Unknown{"the code cannot be mapped: " + watched.error().message};
  Result<std::unique_ptr<exec::Callable>> callable =
      make_callable ? make_callable((*watched)->code())
                    : exec::MakeNativeCallable((*watched)->code(),
                                               std::make_shared<const ir::Program>(program));
  if (!callable) return Unknown{"the code cannot be called: " + callable.error().message};
  return JudgeLowering(program, **callable, guard, options, watched->get());
}

Result<Verdict> VerifyModule(const ir::Program& program, const exec::Target& target,
                             const exec::Artifact& artifact, const ir::Guard& guard,
                             const VerifyOptions& options) {
  Result<std::unique_ptr<wasm::WatchedModule>> watched =
      wasm::WatchedModule::Load(target, artifact);
  if (!watched) return Unknown{"the module cannot be followed: " + watched.error().message};
  return JudgeLowering(program, (*watched)->code(), guard, options, watched->get());
}

}  // namespace frazil::verify
