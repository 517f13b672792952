// Which instructions of a program have run, and which ways its branches have gone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machines/tasm/fragment.h"
#include "machines/tasm/program.h"

namespace frazil::verify::tasm {

namespace mt = machines::tasm;

class Coverage {
 public:
  // Only what can be reached counts: from the first instruction on, over all calls, not behind an assertion of a constant
  // that fails.
  explicit Coverage(const mt::Program& program);

  // The notes of one run (mt::FragmentStart::ran). True: it brought something new. Of a run that trapped nothing was compared
  // but the trap: it vouches only for code from which no end can be reached.
  bool Add(const std::vector<uint8_t>& ran, bool trapped = false);

  // All instructions have run. A branch that went one way only is counted: behind it the code is the same, and conditions
  // that always hold are no mistake.
  bool IsComplete() const { return ran_ == instructions_; }
  size_t ran() const { return ran_; }
  // "412 of 412 instructions, 38 of 38 ways of branches"
  std::string Describe() const;
  // "instruction 17 (mul) in `f` never ran (411 of 412 did)"
  std::string DescribeMissing() const;

 private:
  static bool IsBranch(mt::Opcode op) {
    return op == mt::Opcode::Skiz || op == mt::Opcode::RecurseOrReturn;
  }
  void Count();
  void FindEnds();

  const mt::Program& program_;
  std::vector<bool> reachable_;
  std::vector<bool> may_end_;  // from there on a run can come to a halt or a return
  std::vector<uint8_t> notes_;
  size_t instructions_ = 0, branches_ = 0;  // that can be reached
  size_t ran_ = 0, ways_ = 0;               // of these
};

}  // namespace frazil::verify::tasm
