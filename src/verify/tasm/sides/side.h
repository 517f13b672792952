// One of the two programs that are compared, at some point of its execution: a symbolic machine with a place in code.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "machines/tasm/program.h"
#include "machines/tir/tir.h"
#include "verify/tasm/sides/state.h"

namespace frazil::verify::tasm {

// Loops of one program by the place where they begin, as numbers that only the side understands.
struct Heads {
  std::set<uint64_t> entered;   // loops that were begun
  std::set<uint64_t> branched;  // what was being executed when something was undecided
  std::set<uint64_t> cut;       // stop there
};

enum class Exit : uint8_t { None, FellOff, Halt, Return, Recurse, RecurseOrReturn };

class Side {
 public:
  virtual ~Side() = default;
  virtual std::unique_ptr<Side> Clone() const = 0;
  // One instruction. At a cut that was not passed: Step::Kind::Cut.
  virtual Step Advance(Exec& exec) = 0;
  // Where it stands, and what it returns to.
  virtual std::vector<uint64_t> Key() const = 0;
  // The loops that enclose the current place.
  virtual void NoteBranch() = 0;
  // Words outside of the stack that the code ahead may read.
  virtual void CollectWords(std::vector<Term*>& words) { (void)words; }

  // The key of the place at which the two ways of an undecided instruction come together again; empty: none is known.
  virtual std::vector<uint64_t> Rejoin() const { return {}; }
  // Makes `CollectWords` of both give the same words in the same order; false: they have different shapes.
  virtual bool Align(Side& other) {
    (void)other;
    return true;
  }

  void Pass() { passed_ = true; }

  State state;
  Exit exit = Exit::None;

 protected:
  bool passed_ = false;
};

// `elements`: terms in place of some instructions' elements, by instruction; NoTerm: as written.
std::unique_ptr<Side> MakeTasmSide(const machines::tasm::Program& program, bool fragment,
                                   Heads* heads, const std::vector<Term>* elements = nullptr);
std::unique_ptr<Side> MakeTirSide(const machines::tir::Program& program, Heads* heads);

}  // namespace frazil::verify::tasm
