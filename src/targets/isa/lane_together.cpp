// What lanes do together, once all of a PAR or block have come: every lane gets its answer from what all of them hold.
#include "base/check.h"
#include "exec/meaning/scalar_ops.h"
#include "targets/isa/lane_machine.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using ir::Op;
using ir::ReduceKind;
using namespace simt_names;

namespace {

// The lane that a shuffle asks; its own number where there is none.
uint64_t AskedLane(ShuffleKind kind, uint64_t own, uint64_t operand, uint64_t lanes) {
  uint64_t asked = kind == ShuffleKind::Idx    ? operand
                   : kind == ShuffleKind::Up   ? own - operand  // below 0 is a huge number
                   : kind == ShuffleKind::Down ? own + operand
                                               : own ^ operand;
  return asked < lanes ? asked : own;
}

}  // namespace

void LaneMachine::Together(std::vector<Lane>& lanes, const Instruction& i) {
  std::vector<uint64_t> held;
  if (i.op != Opcode::BarSync) {
    Type type = i.op == Opcode::Ballot ? Type::Bool : i.type;
    for (const Lane& lane : lanes) held.push_back(Get(lane, type, i.a));
  }
  switch (i.op) {
    case Opcode::Shfl:
      for (Lane& lane : lanes) {
        uint64_t asked = AskedLane(static_cast<ShuffleKind>(i.aux), lane.number,
                                   lane.registers[i.b], lanes.size());
        Set(lane, i.type, i.dst, held[asked]);
      }
      return;
    case Opcode::Vote: {
      bool any = false, all = true;
      for (uint64_t vote : held) any |= vote != 0, all &= vote != 0;
      for (Lane& lane : lanes) lane.predicates[i.dst] = i.aux == 0 ? any : all;
      return;
    }
    case Opcode::Ballot: {
      std::vector<uint64_t> masks(lanes.size() / 64 + 1);
      for (size_t l = 0; l < held.size(); ++l) masks[l / 64] |= held[l] << (l % 64);
      for (Lane& lane : lanes) lane.registers[i.dst] = masks[lane.number / 64];
      return;
    }
    case Opcode::LaneReduce: {
      uint64_t result = Fold(static_cast<ReduceKind>(i.aux), i.type, held);
      for (Lane& lane : lanes) lane.registers[i.dst] = result;
      return;
    }
    case Opcode::LaneScan: {
      ReduceKind kind = static_cast<ReduceKind>(i.aux & 15);
      bool exclusive = (i.aux & 16) != 0;
      uint64_t sum = Fold(kind, i.type, {});
      for (size_t l = 0; l < lanes.size(); ++l) {
        uint64_t next =
            l == 0 ? held[0] : *exec::EvalWord(CombinerOf(kind), i.type, i.type, sum, held[l]);
        lanes[l].registers[i.dst] = exclusive ? sum : next;
        sum = next;
      }
      return;
    }
    default: CHECK(i.op == Opcode::BarSync);
  }
}

}  // namespace frazil::targets::isa
