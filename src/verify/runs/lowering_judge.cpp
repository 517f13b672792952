// Samples: edge values, lengths, alignments and alias classes, with as little fuel as will do; then what the search brings; then the
// words of the evidence.
#include <fmt/format.h>

#include "ir/lower/lower.h"
#include "verify/internal/lowering_judge.h"

namespace frazil::verify {
namespace {

using exec::Value;

// An effort is good if half of so many inputs end by themselves, or of those that fit its share of the time.
constexpr uint64_t TrialInputs = 32;
constexpr uint64_t TrialShare = 40;
constexpr size_t HeavySize = 100;  // instructions

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
      if (std::ranges::any_of(function.values, [](const auto& value) {
            return value.type.scalar == ir::Scalar::Int && value.type.limbs > 1;
          }))
        no_room(ir::Op::Call);
    }
  }
  return traps;
}

}  // namespace

LoweringJudge::LoweringJudge(const Pair& pair, Meaning& meaning, std::vector<Comparer> comparers,
                             const Comparer& for_stretched, const Comparer& for_far,
                             FueledComparer make_fueled, const VerifyOptions& options,
                             WatchedCode& watched, bool* little_memory)
    : pair_(pair),
      meaning_(meaning),
      comparers_(std::move(comparers)),
      for_stretched_(for_stretched),
      for_far_(for_far),
      make_fueled_(std::move(make_fueled)),
      options_(options),
      watched_(watched),
      little_memory_(little_memory),
      deadline_(Deadline::After(options.limits.verify_ms)),
      random_(Seed()),
      maker_(pair.space, pair.source, pair.source, random_),
      traps_(TrapsOf(pair.source)) {
  size_t size = 0;  // of math functions, each of which may be called for each element
  for (const ir::Function& function : pair.prepared_source->program().functions)
    if (function.is_prelude) size += function.insts.size();
  maker_.SetHeavy(size > HeavySize);
  if (pair_.space.scalars_only) edges_ = maker_.EdgeTuples(Half());
  start_ = random_;
}

Verdict LoweringJudge::Run() {
  const std::optional<uint64_t> cases = pair_.space.Count();
  // Code is called case by case: a count that takes longer than the samples is not worth it here.
  const uint64_t few = std::min(options_.exhaustive_cases, 2 * options_.sample_lanes);
  if (options_.exhaustive && cases && *cases <= few) return RunAll(*cases);
  return RunSamples();
}

bool LoweringJudge::Differs(const Input& input, const Comparer& comparer) {
  const WatchedCode::Mark mark = watched_.MarkRun();
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
        NoteTrapped(mark);
      } else {
        lanes_ += input.lanes;
        longest_ = std::max(longest_, input.lanes);
        KeepBase(input);
        seen_.Add(meaning_.choices());
      }
      return false;
    case Comparison::Kind::Undecided:
      undecided_ += 1;
      is_endless_ = !comparison.source_ended;
      late_ += comparison.source_ended ? 1 : 0;
      // What ran without an answer was not compared.
      watched_.BackTo(mark);
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

bool LoweringJudge::IsLate(const Comparison& comparison) {
  return comparison.kind == Comparison::Kind::Undecided && comparison.source_ended &&
         comparison.candidate.trap && comparison.candidate.trap->timeout_ms;
}

bool LoweringJudge::Over() const {
  return deadline_.Passed() || late_ > MostLate ||
         inputs_ + undecided_ >= options_.sample_lanes * 8 + 1024;
}

Input LoweringJudge::FromWords(const std::vector<std::vector<uint64_t>>& tuple) const {
  Input input;
  for (uint32_t i = 0; i < tuple.size(); ++i)
    input.arguments.push_back(Value::Scalar(pair_.space.entry->param_type(i), tuple[i]));
  return input;
}

Verdict LoweringJudge::RunAll(uint64_t cases) {
  for (uint64_t number = 0; number < cases && !deadline_.Passed(); ++number) {
    Input input;
    uint64_t rest = number;
    for (const Domain& domain : pair_.space.domains) {
      const uint64_t count = *domain.Count();
      input.arguments.push_back(domain.one() ? Value::Scalar(domain.type(), *domain.one())
                                             : Value::Word(domain.type(), domain.At(rest % count)));
      rest /= count;
    }
    if (Differs(input, comparers_.back())) return std::move(difference_);
  }
  if (inputs_ < cases) return Conclude();
  if (FuelDiffers()) return std::move(difference_);
  return Proved{{Grade::Exhaustive, "interpreter", AllInputs(cases), cases}};
}

std::optional<Input> LoweringJudge::MakeInput(uint64_t number) {
  if (!pair_.space.scalars_only) return maker_.Make(number);
  return FromWords(number < edges_.size() ? edges_[number] : maker_.RandomTuple());
}

Verdict LoweringJudge::RunSamples() {
  SampleNotes* const notes = options_.notes;
  if (notes != nullptr && !notes->endless.empty() && notes->effort < comparers_.size()) {
    if (!notes->reason.empty()) return Unknown{notes->reason};
    endless_ = notes->endless;
    return Finish(Pass(notes->effort, /*is_trial=*/false));
  }
  for (size_t effort = 0; effort < comparers_.size(); ++effort) {
    const End end = Pass(effort, /*is_trial=*/true);
    if (end != End::Poor) return Finish(end);
  }
  // Hardly any of them ends: inputs made to fit the code may.
  return Finish(End::Enough);
}

Verdict LoweringJudge::Finish(End end) {
  if (end == End::Enough) end = Stretch();
  if (end == End::Different) return std::move(difference_);
  if (inputs_ + undecided_ == 0) return Unknown{"no input could be made that satisfies the guard"};
  return Conclude();
}

LoweringJudge::End LoweringJudge::Pass(size_t effort, bool is_trial) {
  random_ = start_;
  Trial trial;
  const Clock::time_point start = Clock::now();
  const std::chrono::milliseconds share(options_.limits.verify_ms / TrialShare);
  uint64_t missing = 0;
  size_t run = 0;
  // What is missing then, inputs made to fit the code bring.
  const uint64_t most = 2 * Rounds();
  for (uint64_t number = 0; number < Rounds() || (lanes_ < options_.sample_lanes && number < most);
       ++number) {
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
    is_endless_ = false;
    meaning_.SetNumber(number);
    if (Differs(*input, comparers_[effort])) return End::Different;
    if (CountRun() > run) {
      run = CountRun();
      fruitful_.push_back(*input);
    }
    const bool ended = inputs_ > inputs;
    Note(effort, number, is_endless_);
    done_[number] = ended;
    trial.inputs += 1;
    trial.ended += ended ? 1 : 0;
    const bool is_long = trial.inputs >= TrialInputs || Clock::now() - start > share;
    if (is_trial && is_long && 2 * trial.ended < trial.inputs) {
      trials_.push_back(trial);
      undecided_ -= trial.inputs - trial.ended;
      return End::Poor;
    }
  }
  return End::Enough;
}

void LoweringJudge::Note(size_t effort, uint64_t number, bool is_endless) {
  SampleNotes* const notes = options_.notes;
  if (notes == nullptr) return;
  if (notes->effort != effort) notes->endless.clear();
  notes->effort = effort;
  if (notes->endless.size() <= number) notes->endless.resize(2 * number + 64);
  notes->endless[number] = is_endless;
}

std::string LoweringJudge::Places(std::string_view what,
                                  const std::vector<uint32_t>& places) const {
  constexpr size_t Most = 6;
  std::string text = fmt::format("{}{} at", what, places.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(places.size(), Most); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", watched_.PlaceText(places[i]));
  if (places.size() > Most) text += fmt::format(" and {} more", places.size() - Most);
  return text;
}

void LoweringJudge::NoteTrapped(const WatchedCode::Mark& before) {
  constexpr uint64_t MostForgotten = 16;  // each costs a signal for each of its blocks
  if (trapped_ > MostForgotten) return;
  const WatchedCode::Mark after = watched_.MarkRun();
  before_traps_.resize(after.has_run.size());
  bool is_new = false;
  for (size_t i = 0; i < after.has_run.size(); ++i) {
    if (!after.has_run[i] || before.has_run[i]) continue;
    before_traps_[i] = is_new = true;
  }
  if (is_new) watched_.BackTo(before);
}

bool LoweringJudge::HasRun(size_t block) const {
  return watched_.HasRun(block) || (block < before_traps_.size() && before_traps_[block]);
}

size_t LoweringJudge::CountRun() const {
  size_t count = 0;
  for (size_t i = 0; i < watched_.blocks().size(); ++i) count += HasRun(i) ? 1 : 0;
  return count;
}

std::string LoweringJudge::DescribeBlocks() const {
  if (watched_.blocks().empty()) return {};
  const size_t run = CountRun();
  const size_t read = watched_.blocks().size() - run;
  const size_t before_traps = run - watched_.CountRun();
  const size_t turns = CountTurns();
  return fmt::format(
      ", {} of {} blocks{}{}{}{}", run, watched_.blocks().size(), watched_.What(),
      before_traps == 0 ? "" : fmt::format(", {} of them only before a trap", before_traps),
      read == 0 ? "" : ", the others only jump or trap",
      turns == 0 ? ""
                 : fmt::format(", {} of {} loops again", turns - MissingTurns().size(), turns));
}

Verdict LoweringJudge::Conclude() {
  if (late_ > MostLate || endless_runs_ > 0)
    return Unknown{fmt::format(
        "limit reached: the code did not end in {} ms on {} inputs on which its program ends",
        CodeRunMs, std::max(late_, endless_runs_))};
  if (lanes_ < options_.sample_lanes) {
    if (undecided_ > 0 || !trials_.empty()) {
      uint64_t undecided = undecided_;
      for (const Trial& trial : trials_) undecided += trial.inputs - trial.ended;
      Unknown unknown{fmt::format("limit reached: {} of {} inputs ended at {}", Grouped(undecided),
                                  Grouped(undecided + inputs_), limit_)};
      if (options_.notes != nullptr) options_.notes->reason = unknown.reason;
      return unknown;
    }
    return Unknown{fmt::format("only {} inputs were compared in the time allowed (--verify-ms)",
                               Grouped(inputs_))};
  }
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
  const auto evidence = [&](const std::string& blocks) {
    return Evidence{Grade::Sampled, "interpreter",
                    fmt::format("{}{} inputs{}, {} lanes{}{}{}{}, seed {}", Grouped(inputs_), share,
                                traps, Grouped(lanes_), longest, shared, blocks,
                                make_fueled_ ? ", fuel counted" : "", pair_.seed.substr(0, 12)),
                    inputs_};
  };
  if (const std::vector<uint32_t> missing = MissingBlocks(); !missing.empty())
    return Unknown{fmt::format("{} never ran ({} of {} did)", Places("block", missing), CountRun(),
                               watched_.blocks().size()),
                   /*has_unrun=*/true, evidence("")};
  if (ways_.CountMissing(seen_) > 0)
    return Unknown{ways_.DescribeMissing(seen_), /*has_unrun=*/true, evidence("")};
  return Tested{evidence(DescribeBlocks())};
}

}  // namespace frazil::verify
