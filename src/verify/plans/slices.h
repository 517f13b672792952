// The part of a program that leads from some of its values to others, as a program of its own.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::verify::plans {

struct Slice {
  ir::Program program;  // from the given values, in order, to the wanted ones
  std::set<uint32_t>
      may_trap;  // of its instructions those whose op may, by where they stand in the body
};

class Slicer {
 public:
  explicit Slicer(const ir::Program& program);

  // Fails where something else than the given values would be needed.
  Result<Slice> Of(std::span<const ir::ValueId> given, std::span<const ir::ValueId> wanted) const;
  // One instruction of the body, from all that it needs.
  Result<ir::Program> Alone(uint32_t place) const;
  // Of the whole body those whose op may trap.
  const std::set<uint32_t>& may_trap() const { return may_trap_; }

 private:
  bool MayTrap(const ir::Inst& inst) const;
  void Need(const ir::Inst& inst, std::vector<ir::ValueId>& values) const;

  const ir::Program& program_;
  const ir::Function& function_;
  std::vector<uint32_t> place_of_;  // by value: where in the body it is made; else none
  std::set<uint32_t> may_trap_;
};

}  // namespace frazil::verify::plans
