// The machine with terms in place of words, and one step of it. A step that cannot be taken without knowing more says
// what it must know (`Undecided`) and leaves the state as it was.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machines/tasm/program.h"
#include "verify/tasm/terms/facts.h"

namespace frazil::verify::tasm {

struct Step {
  enum class Kind : uint8_t {
    Continue,
    End,          // halted, or fell off the end of a fragment
    Crash,        // for sure, on this path
    Undecided,    // `literal` must be known first
    Cut,          // stands at a point where two programs are compared
    Stuck,        // `reason`; with `literal` if that could not be shown
    Unspecified,  // whatever the other does is right from here on
  } kind = Kind::Continue;
  Literal literal = Zero(0);
  std::string reason;
};

// Reading a stream: the words since the point that `token` names.
struct Stream {
  uint32_t token = 0;
  uint64_t count = 0;
};

// Contents at the point that `token` names, and what was written since, oldest first.
struct Memory {
  uint32_t token = 0;
  std::vector<std::pair<Term, Term>> writes;
  bool numbered = true;  // all addresses are numbers, no two of them the same
};

struct State {
  std::vector<Term> stack;  // top last
  bool fragment = false;
  uint64_t below = 0;  // of a fragment: words of the initial stack that are in `stack` or were
  int64_t lowest = 0;  // of a fragment: the least change of height so far
  Memory memory;
  bool sponge_ready = false;
  std::array<Term, 16> sponge{};
  Stream input, secret, digests;
  std::vector<Term> output;

  int64_t Height() const {
    return static_cast<int64_t>(stack.size()) - static_cast<int64_t>(below);
  }
};

// What a step works with. Conditions of not crashing are assumed of the program that leads, and must be shown
// of the one that follows.
class Exec {
 public:
  Exec(Facts& facts, bool follows) : facts_(facts), follows_(follows) {}

  Facts& facts() { return facts_; }
  Terms& terms() { return facts_.terms(); }
  bool follows() const { return follows_; }

  // The state of a fragment on any stack, or of a program whose digest's words are those of `side`.
  void Begin(State& state, bool fragment, uint32_t side);

  // One instruction that is not control flow.
  Step Execute(State& state, machines::tasm::Opcode op, uint64_t argument);

  // False: the step ends with `result()`.
  bool Require(Literal literal);
  bool Know(Literal literal, bool& value);
  Step Take() {
    Step step = std::move(result_);
    result_ = {};
    return step;
  }

  void Put(Step step) { result_ = std::move(step); }

  // The stack. Words of a fragment's initial stack come up as they are needed.
  Term Top(State& state, uint64_t depth);
  void Set(State& state, uint64_t depth, Term value);
  void Push(State& state, Term value) { state.stack.push_back(value); }
  bool Drop(State& state, uint64_t count);
  bool Need(State& state, uint64_t depth);  // at least so many words are in `stack`

  bool Read(State& state, Term address, Term& value);
  void Write(State& state, Term address, Term value);
  // Cell `low + i` of `cells` at an address that is one of theirs, and the cells after a write there.
  Term PickCell(Term address, uint64_t low, std::span<const Term> cells);
  void PutCell(Term address, uint64_t low, std::span<Term* const> cells, Term value);
  // The numbers that an address can be; false: too many.
  bool Window(Term address, uint64_t& low, uint64_t& high);
  Term Next(Stream& stream, Base kind) { return terms().Atom(kind, stream.token, stream.count++); }
  void Permute(std::array<Term, 16>& words);
  std::array<Term, 5> Hash(const std::array<Term, 10>& words);
  std::array<Term, 5> Parent(Term index, const std::array<Term, 5>& node,
                             const std::array<Term, 5>& sibling);
  bool SpongeReady(State& state);
  using X = std::array<Term, 3>;
  X MulX(const X& a, const X& b);
  bool InverseX(const X& a, X& result);

 private:
  // All cells that the address can be are in the memory and known by number.
  bool CellsOf(State& state, Term address, uint64_t& low, std::vector<Term*>& cells);
  bool ExecuteStack(State& state, machines::tasm::Opcode op, uint64_t argument);
  bool ExecuteMemory(State& state, machines::tasm::Opcode op, uint64_t argument);
  bool ExecuteHash(State& state, machines::tasm::Opcode op);
  bool ExecuteInteger(State& state, machines::tasm::Opcode op);
  bool ExecuteExtension(State& state, machines::tasm::Opcode op);
  bool Absorb(State& state);
  bool Merkle(State& state, bool from_memory);
  bool Dot(State& state, bool extension);
  bool Horner(State& state, bool extension);
  X TopX(State& state, uint64_t depth);
  void SetX(State& state, uint64_t depth, const X& value);

  Facts& facts_;
  bool follows_;
  Step result_;
};

}  // namespace frazil::verify::tasm
