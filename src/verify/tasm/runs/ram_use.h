// Which accesses of a program may be of the machine's own RAM. Off the machine that has an end, and a trap there says nothing.
#pragma once

#include <vector>

#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::verify::tasm {

class RamUse {
 public:
  // `ram`: the entry's parameter. `program` must outlive this.
  RamUse(const ir::Program& program, uint32_t ram);

  // A copy of the program each of whose ops has a location of its own, so that a trap tells which one it was.
  static ir::Program WithPlaces(const ir::Program& program);

  // Of a run of such a copy: whether what trapped may have been out of RAM's bounds. What does not tell, may.
  bool MayTrapThere(const exec::Outcome& outcome) const;

 private:
  bool MayBeRam(uint32_t function, ir::ValueId value) const;

  const ir::Program& program_;
  std::vector<std::vector<bool>> may_be_ram_;  // by function and parameter
};

}  // namespace frazil::verify::tasm
