// Bit-equal on many inputs: edge values in all combinations first, then random ones. Scalars go through the batch
// interpreter in one block; everything else runs input by input.
#include <fmt/format.h>

#include <algorithm>

#include "exec/random_arguments.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using exec::Value;
using Words = std::vector<uint64_t>;
using Tuple = std::vector<Words>;

constexpr size_t BlockLanes = 4096;
// Inputs that end at a limit do not count; so many times the wanted lanes are tried before giving up.
constexpr uint64_t MostEffort = 8;

struct Tally {
  uint64_t wanted = 0;
  uint64_t inputs = 0;  // decided
  uint64_t lanes = 0;   // of those
  uint64_t undecided = 0;
  std::string limit;

  bool Enough() const { return lanes >= wanted; }
  bool TooMuch() const { return inputs + undecided >= wanted * MostEffort; }
};

Input ToInput(const ir::Function& entry, const Tuple& tuple) {
  Input input;
  for (size_t i = 0; i < tuple.size(); ++i)
    input.arguments.push_back(Value::Scalar(entry.param_type(static_cast<uint32_t>(i)), tuple[i]));
  return input;
}

Verdict Conclude(const Pair& pair, const Tally& tally, std::string_view judge) {
  std::string left_out;
  if (tally.undecided > 0)
    left_out =
        fmt::format("; {} more ended at the limit {}", Grouped(tally.undecided), tally.limit);
  if (!tally.Enough()) {
    if (tally.undecided == 0)
      return Unknown::Limited(fmt::format(
          "only {} inputs were compared in the time allowed (--verify-ms)", Grouped(tally.inputs)));
    return Unknown::Limited(fmt::format("limit reached: {} of {} inputs ended at {}",
                                        Grouped(tally.undecided),
                                        Grouped(tally.undecided + tally.inputs), tally.limit));
  }
  Evidence evidence{Grade::Sampled, std::string(judge),
                    fmt::format("{} inputs, {} lanes, seed {}{}", Grouped(tally.inputs),
                                Grouped(tally.lanes), pair.seed.substr(0, 12), left_out),
                    tally.inputs};
  return Tested{std::move(evidence)};
}

class Sampler {
 public:
  Sampler(const Pair& pair, const VerifyOptions& options, const Deadline& deadline)
      : pair_(pair),
        limits_(LimitsOfOneRun(options.limits, SampleFuel, deadline.LeftMs())),
        user_limits_(options.limits),
        deadline_(deadline),
        random_(pair.seed),
        maker_(pair.space, pair.source, pair.candidate, random_) {
    tally_.wanted = std::max<uint64_t>(options.sample_lanes, 1);
  }

  Verdict Run() {
    if (!pair_.space.scalars_only) return RunAny();
    const std::vector<Tuple> edges = maker_.EdgeTuples(std::max<size_t>(tally_.wanted, 1024));
    // The time of a batch holds for each piece of its block, of which there are a few.
    constexpr uint64_t Pieces = 16;
    std::optional<BatchPair> batch =
        MakeBatchPair(pair_, LimitsOfOneRun(limits_, limits_.fuel, deadline_.LeftMs() / Pieces));
    return batch ? RunBatch(*batch, edges) : RunScalars(edges);
  }

 private:
  Verdict RunBatch(const BatchPair& batch, const std::vector<Tuple>& edges) {
    BatchBlock block(batch, BlockLanes);
    std::vector<Tuple> tuples;
    // At least half as many random inputs as are wanted, however many edge values there are.
    uint64_t random_left = tally_.wanted / 2;
    size_t at = 0;
    while (at < edges.size() || random_left > 0 || !tally_.Enough()) {
      if (deadline_.Passed() || tally_.TooMuch()) break;
      tuples.clear();
      while (at < edges.size() && tuples.size() < BlockLanes) tuples.push_back(edges[at++]);
      while (tuples.size() < BlockLanes &&
             (random_left > 0 || tally_.inputs + tuples.size() < tally_.wanted)) {
        tuples.push_back(maker_.RandomTuple());
        if (random_left > 0) --random_left;
      }
      if (tuples.empty()) break;
      for (size_t lane = 0; lane < tuples.size(); ++lane) {
        for (size_t i = 0; i < batch.params.size(); ++i)
          PutElement(batch.params[i], tuples[lane][i][0],
                     block.input(i) + lane * ir::BytesOf(batch.params[i]));
      }
      const BatchBlock::Report report = block.Run(tuples.size());
      if (!report.failure.empty()) return Unknown{report.failure};
      if (report.different) {
        const Input input = ToInput(*pair_.space.entry, tuples[*report.different]);
        return RefutedOr(pair_, user_limits_, input, deadline_.LeftMs(), "batch interpreter");
      }
      if (report.only_second &&
          !EndsWithMore(ToInput(*pair_.space.entry, tuples[*report.only_second])))
        return std::move(difference_);
      tally_.undecided += report.undecided;
      tally_.inputs += tuples.size() - report.undecided;
      tally_.lanes = tally_.inputs;
      if (tally_.limit.empty()) tally_.limit = report.limit;
    }
    return Conclude(pair_, tally_, "batch interpreter");
  }

  // Given many times as much, does the candidate end where its source did? If not, `difference_` says so.
  bool EndsWithMore(const Input& input) {
    Limits more = limits_;
    more.fuel = std::min(user_limits_.fuel, limits_.fuel * 16);
    more.memory_bytes = user_limits_.memory_bytes;
    const Comparison comparison = pair_.MakeComparer(more).Compare(input, deadline_.LeftMs());
    if (comparison.kind == Comparison::Kind::Same) return true;
    if (comparison.kind == Comparison::Kind::Different) {
      difference_ = RefutedOr(pair_, user_limits_, input, deadline_.LeftMs(), "interpreter");
    } else {
      difference_ = Unknown::Limited(fmt::format(
          "limit reached: the second ended at {} on an input on which the first ends by itself",
          comparison.limit));
    }
    return false;
  }

  // True if there is nothing more to try: `difference_` has the answer.
  bool Differs(const Comparer& comparer, const Input& input) {
    const Comparison comparison = comparer.Compare(input, deadline_.LeftMs());
    if (comparison.kind == Comparison::Kind::Undecided && comparison.source_ended &&
        !deadline_.Passed() && !EndsWithMore(input))
      return true;
    if (comparison.kind == Comparison::Kind::Undecided) {
      tally_.undecided += 1;
      if (tally_.limit.empty()) tally_.limit = comparison.limit;
      return false;
    }
    if (comparison.kind == Comparison::Kind::Same) {
      tally_.inputs += 1;
      tally_.lanes += comparison.source.trap ? 1 : input.lanes;
      return false;
    }
    difference_ = RefutedOr(pair_, user_limits_, input, deadline_.LeftMs(), "interpreter");
    return true;
  }

  Verdict RunScalars(const std::vector<Tuple>& edges) {
    const Comparer comparer = pair_.MakeComparer(limits_);
    for (const Tuple& tuple : edges) {
      if (deadline_.Passed() || tally_.TooMuch()) break;
      if (Differs(comparer, ToInput(*pair_.space.entry, tuple))) return std::move(difference_);
    }
    for (uint64_t i = 0;
         (i < tally_.wanted / 2 || !tally_.Enough()) && !deadline_.Passed() && !tally_.TooMuch();
         ++i) {
      if (Differs(comparer, ToInput(*pair_.space.entry, maker_.RandomTuple())))
        return std::move(difference_);
    }
    return Conclude(pair_, tally_, "interpreter");
  }

  Verdict RunAny() {
    const Comparer comparer = pair_.MakeComparer(limits_);
    const bool mixed_streams =
        pair_.space.input_types.size() > 1 || pair_.space.hint_types.size() > 1;
    uint64_t missing = 0;
    for (uint64_t number = 0; number < maker_.Rounds() || !tally_.Enough(); ++number) {
      if (deadline_.Passed() || tally_.TooMuch()) break;
      std::optional<Input> input = maker_.Make(number);
      if (!input) {
        if (++missing > 64 && tally_.inputs == 0)
          return Unknown{"no input could be made that satisfies the guard"};
        if (missing > tally_.wanted) break;
        continue;
      }
      if (mixed_streams) FitStreams(*input, number);
      if (Differs(comparer, *input)) return std::move(difference_);
    }
    return Conclude(pair_, tally_, "interpreter");
  }

  // Streams that carry several types: elements are appended as the source asks for them.
  void FitStreams(Input& input, uint64_t number) {
    const size_t length = number % 5 == 0 ? 2 : 24;
    input.input.clear();
    input.hints.clear();
    exec::RunContext context;
    context.limits = limits_;
    while (input.input.size() + input.hints.size() < length && !deadline_.Passed()) {
      context.input = input.input;
      context.hints = input.hints;
      Result<exec::Outcome> outcome = pair_.prepared_source->Run(CopyOf(input).arguments, context);
      if (!outcome || !outcome->trap || outcome->trap->kind != ir::Trap::OutOfBounds) return;
      const bool is_input = outcome->trap->op == ir::Op::Input;
      if (!is_input && outcome->trap->op != ir::Op::Hint) return;
      auto& own = is_input ? input.input : input.hints;
      auto& given = is_input ? context.input : context.hints;
      bool fits = false;
      for (ir::Type type : is_input ? pair_.space.input_types : pair_.space.hint_types) {
        given = own;
        given.push_back(exec::RandomScalar(type, random_.Next()));
        if (!pair_.prepared_source->Run(CopyOf(input).arguments, context)) continue;
        own = given;
        fits = true;
        break;
      }
      if (!fits) return;
    }
  }

  const Pair& pair_;
  Limits limits_;
  Limits user_limits_;
  Deadline deadline_;
  Random random_;
  InputMaker maker_;
  Tally tally_;
  Verdict difference_;
};

}  // namespace

Verdict SampleJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline) {
  if (!pair.space.empty.empty()) return Unknown{pair.space.empty};
  return Sampler(pair, options, deadline).Run();
}

}  // namespace frazil::verify
