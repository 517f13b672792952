// The rows of ops.def as constants, the way back from a mnemonic, and when two ops are the same.
#include <array>

#include "base/names.h"
#include "machines/tir/tir.h"

namespace frazil::machines::tir {
namespace {

constexpr int8_t N = -1;

constexpr std::array Rows = {
#define FRAZIL_TIR(name, group, mnemonic, id, tier, operand, pops, pushes, meaning) \
  KindInfo{Group::group, mnemonic, id, tier, Operand::operand, pops, pushes, meaning},
#include "machines/tir/ops.def"
#undef FRAZIL_TIR
};

}  // namespace

const KindInfo& Info(Kind kind) { return Rows[static_cast<size_t>(kind)]; }

std::optional<Kind> FindMnemonic(std::string_view mnemonic) {
  static const NameIndex<Kind> index(Rows, &KindInfo::mnemonic);
  return index.Find(mnemonic);
}

bool operator==(const Op& a, const Op& b) {
  return a.kind == b.kind && a.number == b.number && a.tag == b.tag && a.effect == b.effect &&
         a.error_id == b.error_id && a.text == b.text && a.body == b.body && a.other == b.other;
}

}  // namespace frazil::machines::tir
