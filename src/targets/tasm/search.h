// The choices that only the finished program can judge, as proposals: calls that are written out or not, loops that are or
// that end by recurse_or_return, instructions that several places share. Each is proposed on top of what was found
// cheaper before, whoever asks says what it costs, and at the end the programs are there from the cheapest to the source's own
// lowering. Nothing here decides what is given out.
//
//   LowerSearch search = TRY(LowerSearch::Start(program, options));
//   while (const mt::Program* next = search.Next()) search.Tell(PriceOf(*next, options));
#pragma once

#include <optional>

#include "exec/cost.h"
#include "targets/tasm/assembly/outline.h"
#include "targets/tasm/stack/schedule.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {

// Less is better: the heights on the typical inputs, added up, or what holds for every input where there are none. Of a
// callable function only words and cycles: the heights of a program that calls one are its own.
exec::TableHeights PriceOf(const mt::Program& program, const TasmOptions& options);

// One proposal, and what became of it in the search.
struct Tried {
  std::string proposer;                      // "source", "inline", "unroll", "recurse", "outline"
  std::string name;                          // "inline f", "unroll loop 3 of main"
  size_t words = 0;                          // of the program; 0: it was not lowered
  std::optional<exec::TableHeights> cost;    // absent: it was not priced
  std::optional<exec::TableHeights> before;  // of what it had to beat; absent: nothing
  std::string refusal;                       // why it was not lowered
};

class LowerSearch {
 public:
  static Result<LowerSearch> Start(const ir::Program& program, const TasmOptions& options);

  // What is to be priced next, by Tell; null: nothing more.
  const mt::Program* Next();
  void Tell(const exec::TableHeights& cost);

  // A program that the search came to the end of, and the proposals that it consists of.
  struct Found {
    Lowered lowered;
    std::optional<exec::TableHeights> cost;  // absent: too large, nothing was tried
    std::vector<size_t> trail;  // of `tried`, in order; the last is what it is named for
  };
  const std::vector<Tried>& tried() const { return tried_; }
  // The cheapest first; the last is the source's own lowering. Ends the search.
  std::vector<Found> TakeFound();

 private:
  struct Candidate {
    Lowered lowered;
    std::vector<EmittedSite> sites;
    SelectChoices open;  // what could be chosen otherwise
  };
  struct Branch {
    Candidate candidate;
    SelectChoices chosen;
    std::optional<exec::TableHeights> cost;
    size_t choice = 0;  // what it was begun with, and all that it consists of, by number in `tried`
    std::vector<size_t> trail;
  };
  struct Choice {
    SelectChoices choices;
    std::string proposer, name;
  };
  enum class At : uint8_t { Source, Branch, Outline, End };  // what is told about next

  LowerSearch(ir::Program prepared, TasmOptions options)
      : prepared_(std::move(prepared)), options_(std::move(options)) {}
  Result<Candidate> LowerOnce(const SelectChoices& choices) const;
  std::vector<Choice> Others() const;
  bool BeginBranch();
  bool NextOutline();
  void EndBranch();
  size_t Note(std::string proposer, std::string name);
  static Found Finish(Branch branch);

  ir::Program prepared_;
  TasmOptions options_;
  std::vector<Tried> tried_;
  At at_ = At::Source;
  SelectChoices open_;
  size_t others_ = 0;   // choices of one pass
  size_t choices_ = 0;  // that were proposed

  std::optional<Branch> now_;       // what is worked on
  std::vector<Repeated> repeated_;  // in it, from the most worthwhile on
  size_t next_repeated_ = 0, blocks_ = 0;
  std::optional<mt::Program> outlined_;

  std::optional<Branch> plain_;   // the source's own lowering
  std::vector<Branch> finished_;  // in the order in which they were found
  std::optional<size_t> best_;    // of these
};

}  // namespace frazil::targets::tasm
