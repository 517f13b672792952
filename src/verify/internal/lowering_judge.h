// Code and its program on the same inputs, while there is code that has not run. In two files: lowering_judge.cpp has the samples and
// the verdict, lowering_search.cpp the inputs that follow what is missing.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verify/internal/meaning.h"
#include "verify/internal/pair.h"
#include "verify/internal/watched_code.h"
#include "verify/internal/ways.h"

namespace frazil::verify {

// Code takes microseconds where the interpreter ends within its fuel. Each input on which it does not costs so much.
constexpr uint64_t CodeRunMs = 100;
constexpr uint64_t MostLate = 4;

// Limits of inputs that are made to reach code: few, and not to be cut off where a caller tries little first.
Limits StretchedLimits(Limits limits, uint64_t left_ms);

// A comparer that lets both run with so much fuel; none where the code does not count it.
using FueledComparer = std::function<Comparer(uint64_t)>;

class LoweringJudge {
 public:
  // `comparers`: one for each effort. `little_memory`: set for runs of the code that are to have none.
  LoweringJudge(const Pair& pair, Meaning& meaning, std::vector<Comparer> comparers,
                const Comparer& for_stretched, const Comparer& for_far, FueledComparer make_fueled,
                const VerifyOptions& options, WatchedCode& watched, bool* little_memory);

  Verdict Run();

 private:
  enum class End : uint8_t { Enough, Different, OutOfTime, Poor };

  struct Trial {
    uint64_t inputs = 0;
    uint64_t ended = 0;
  };

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

  std::string Seed() const { return "lowering " + pair_.seed; }
  size_t Half() const { return static_cast<size_t>(options_.sample_lanes / 2 + 1); }
  bool Differs(const Input& input, const Comparer& comparer);
  // The code took its time where its program came to an end.
  static bool IsLate(const Comparison& comparison);
  bool Over() const;

  // --- samples: input number n is the same in every pass ---
  uint64_t Rounds() const {
    return pair_.space.scalars_only ? edges_.size() + Half() : maker_.Rounds();
  }
  Input FromWords(const std::vector<std::vector<uint64_t>>& tuple) const;
  Verdict RunAll(uint64_t cases);
  std::optional<Input> MakeInput(uint64_t number);
  Verdict RunSamples();
  // From the first input on, but for those that ended in an earlier pass. A trial is left if most do not end.
  End Pass(size_t effort, bool is_trial);
  void Note(size_t effort, uint64_t number, bool is_endless);
  Verdict Finish(End end);
  Verdict Conclude();
  std::string Places(std::string_view what, const std::vector<uint32_t>& places) const;
  // What ran only on inputs that trapped was compared up to there: it is watched again, and evidence tells of what stays so.
  void NoteTrapped(const WatchedCode::Mark& before);
  bool HasRun(size_t block) const;
  size_t CountRun() const;
  // ", 48 of 48 blocks", or what is missing.
  std::string DescribeBlocks() const;

  // --- the search ---
  // More inputs, while there is code that has not run.
  End Stretch();
  // Both ways of a threshold, and of several each by itself: what one lets in, another may make harmless (a product is
  // packed from few elements on, but in panels so shallow that any scratch is large enough).
  bool OtherwiseDiffers(const Input& input, bool was_lowered);
  // About how long it takes: loops are seldom nested deeper than three. A clock would make each verdict another one.
  uint64_t CostOf(const Input& input) const;
  // Too few that came to their end.
  bool IsFew() const;
  // Of four, one is new, one a neighbor of what was worth its while, and two are to turn a branch that decides about
  // what is missing.
  Stretched NextStretched(uint64_t number, uint64_t& fresh, std::span<const WatchedCode::Aim> aims);
  // Branches that decide about what is missing, and the way that they should go.
  std::vector<WatchedCode::Aim> Aims() const;
  // Numbers among the arguments that a buffer may have to be as long as.
  std::vector<int64_t> SizesOf(const Input& input) const;
  // Buffers as short as they may be, and one element shorter: what is tested once for a whole loop is wrong there first.
  bool CutDiffers();
  bool Completes(const Input& input);
  // An input that its program got through: the one that is most work is kept and the longest, of those that are not too much.
  void KeepBase(const Input& input);
  // Values that would come by luck, in those.
  bool FlavorDiffers();
  // Code that counts fuel runs out of it where its program does.
  bool FuelDiffers();
  // Blocks that have not run, but for those that are plain to see.
  std::vector<uint32_t> MissingBlocks() const;
  // Loops that never had a second turn.
  std::vector<uint32_t> MissingTurns() const;
  // What must have been seen, and what should: some loops never turn, whatever the arguments are.
  size_t CountMust() const { return MissingBlocks().size() + ways_.CountMissing(seen_); }
  size_t CountMissing() const { return CountMust() + MissingTurns().size(); }
  size_t CountTurns() const;
  // It says nothing but a trap that the program has.
  bool IsPlainTrap(const CodeBlock& block) const;

  const Pair& pair_;
  Meaning& meaning_;
  const std::vector<Comparer> comparers_;  // one for each effort
  const Comparer& for_stretched_;
  const Comparer& for_far_;  // sizes that no fuel is enough for, where the program traps soon
  const FueledComparer make_fueled_;
  const VerifyOptions& options_;
  WatchedCode& watched_;
  bool* const little_memory_;  // for the code's next run
  const Deadline deadline_;
  Random random_;
  Random start_ = random_;
  InputMaker maker_;
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // scalars only
  const std::set<std::pair<uint32_t, uint32_t>> traps_;    // kinds and ops that code may tell
  const Ways ways_{pair_.prepared_source->program()};
  exec::Choices seen_;
  std::vector<bool> before_traps_;  // blocks that ran on inputs that trapped
  std::vector<bool> done_;
  std::vector<bool> endless_;                           // known before
  std::map<std::pair<size_t, bool>, Nearest> nearest_;  // by branch and wanted way
  std::vector<Input> fruitful_;                         // some block ran for the first time
  struct Base {
    uint64_t size = 0;
    std::optional<Input> input;
  };
  std::array<Base, 3> bases_;
  std::vector<Trial> trials_;  // those that were left
  uint64_t inputs_ = 0;
  uint64_t trapped_ = 0;  // of these
  uint64_t lanes_ = 0;    // of the others
  uint64_t longest_ = 0;  // of these
  uint64_t undecided_ = 0;
  size_t excepted_ = 0;        // thresholds, in turns
  uint64_t endless_runs_ = 0;  // of the code, where its program ended
  uint64_t late_ = 0;          // of these: the interpreter came to its end
  bool is_endless_ = false;    // the input that was compared last: its program did not end
  std::string limit_;
  Verdict difference_;
};

}  // namespace frazil::verify
