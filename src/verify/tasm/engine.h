// Two programs run together: one leads, the other follows under what is known of the leader's path.
//
// Shown is: on every path on which the leader ends without a crash, the follower ends without a crash and all that can be
// observed is equal. Both ways round, this is: they end for the same inputs and then agree.
//
// Where loops do not end by themselves both programs are cut at loop heads. A pair of heads holds a description of all
// pairs of states that arrive there: terms for all words, new symbols where the arrivals differ, words whose difference or
// sum did not change expressed by one symbol. Whatever arrives must fit the description, or it is made more general
// and its way is gone again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "verify/tasm/sides/side.h"

namespace frazil::verify::tasm {

struct Budget {
  uint64_t steps = 0;
  uint64_t max_steps = 1'000'000;
  uint64_t max_paths = 1024;
  uint64_t max_forks = 64;  // along one path
  uint64_t max_terms = 600'000;
  Deadline deadline = Deadline::Never();
};

struct Failure {
  std::string reason;
  // Whether the program text alone is the obstacle (no counterexample can be expected from it).
  bool resources = false;
  // Facts of the path, and what would make a difference, if that is known.
  std::optional<Facts> facts;
  std::optional<Literal> difference;
};

class Engine {
 public:
  Engine(Terms& terms, Budget& budget, bool fragment)
      : terms_(terms), budget_(budget), fragment_(fragment) {}

  // The stack of fragments is deep enough for both.
  bool deep_stack = false;
  // Ways that come together again go on as one, with choices as words.
  bool join = false;
  // What holds at the start.
  std::vector<Literal> assumed;

  // `source_leads`: a follower that is the candidate may not reach deeper into the stack than the source.
  std::optional<Failure> Run(std::unique_ptr<Side> leader, std::unique_ptr<Side> follower,
                             bool source_leads);

 private:
  struct Pair {
    std::unique_ptr<Side> leader, follower;
    Facts facts;
    bool leader_ended = false, follower_ended = false;  // else at a cut, or running
    bool leader_stopped = false;
    uint64_t forks = 0;
    uint64_t passes = 0;
  };
  // How a word of a description is made: of symbol `group` (or of none), with that sign, plus `offset`.
  struct Word {
    int group = -1;
    bool negative = false;
    Term offset = 0;
  };
  struct Cut {
    Pair state;
    std::vector<Word> words;
    std::vector<Term> symbols;
    bool memory_changes = false;
    uint64_t rounds = 0;
    explicit Cut(Pair pair) : state(std::move(pair)) {}
  };
  enum class Verdict : uint8_t { Equal, Undecided, Different };

  Pair Copy(const Pair& pair) const;
  bool Exhausted();
  // Runs one side until it ends, is cut or crashes; forks go to the work list. False: the path is done.
  bool Drive(Pair& pair, bool follower);
  // Goes both ways from what is undecided to where they come together. False: as it was, or failed.
  bool Bridge(std::unique_ptr<Side>& side, Facts& facts, Literal literal, bool follower, int depth);
  enum class Went : uint8_t { There, Nowhere, Astray };  // Nowhere: it crashes
  Went GoTo(std::unique_ptr<Side>& side, Facts& facts, const std::vector<uint64_t>& key,
            bool follower, int depth);
  bool BridgeOnce(std::unique_ptr<Side>& side, Facts& facts, Literal literal, bool follower,
                  const std::vector<uint64_t>& key, int depth);
  void Fork(const Pair& pair, Literal literal, bool follower);
  void Process(Pair pair);
  void Meet(Pair pair);
  void CompareEnds(Pair& pair);
  Verdict CompareMemory(Pair& pair, Literal& literal);
  bool Distinct(Facts& facts, const Memory& memory, std::vector<std::pair<Term, Term>>& cells,
                Literal& literal);
  bool ComparePassed(Pair& pair);  // streams and outputs since the last cut
  void Arrive(Pair pair);
  void StartCut(Cut& cut);
  bool Fits(Cut& cut, Pair& arrival);
  void Generalize(Cut& cut, Pair& arrival);
  std::vector<Term*> Words(Pair& pair);
  void Fail(std::string reason, Pair* pair, std::optional<Literal> difference = {},
            bool resources = false);

  Terms& terms_;
  Budget& budget_;
  bool fragment_;
  bool source_leads_ = true;
  std::vector<Pair> work_;
  std::map<std::pair<std::vector<uint64_t>, std::vector<uint64_t>>, std::unique_ptr<Cut>> cuts_;
  std::set<std::pair<bool, std::vector<uint64_t>>> astray_;  // places where bridging failed
  std::optional<Failure> failure_;
  uint64_t paths_ = 0;
  uint32_t next_token_ = 1;
};

}  // namespace frazil::verify::tasm
