// Overwrites fields of instructions and keeps what is still well formed: attributes at odd values, operands from
// elsewhere, one op for another.

#include "support/damage.h"

#include "ir/check/check.h"

namespace frazil::tests {
namespace {

constexpr int Attempts = 12;

uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 32);
}

void DamageOnce(ir::Function& function, uint64_t random) {
  ir::Inst& inst = function.insts[random % function.insts.size()];
  uint64_t value = Mixed(random);
  switch (Mixed(random + 1) % 4) {
    case 0: inst.op = static_cast<ir::Op>(value % ir::OpCount); break;
    case 1:
      if (inst.operands.count > 0)
        function.operands[inst.operands.begin + value % inst.operands.count] =
            ir::ValueId(static_cast<uint32_t>((value >> 32) % function.values.size()));
      break;
    case 2: {
      constexpr uint64_t Odd[] = {
          0, 1, 2, 3, 5, 8, 64, 4096, 1ull << 32, (1ull << 63) - 1, 1ull << 63, ~0ull, ~1ull};
      if (inst.attributes.count > 0)
        function.words[inst.attributes.begin + value % inst.attributes.count] =
            Odd[(value >> 20) % std::size(Odd)];
      break;
    }
    default:
      if (inst.operands.count > 1)
        std::swap(function.operands[inst.operands.begin],
                  function.operands[inst.operands.begin + 1]);
      break;
  }
}

}  // namespace

ir::Program Damaged(const ir::Program& program, uint64_t seed) {
  ir::Program result = program;
  for (int i = 0; i < Attempts; ++i) {
    ir::Program candidate = result;
    uint64_t random = Mixed(seed * Attempts + static_cast<uint64_t>(i));
    DamageOnce(candidate.functions[random % candidate.functions.size()], Mixed(random));
    if (ir::Check(candidate)) result = std::move(candidate);
  }
  return result;
}

}  // namespace frazil::tests
