// What the recorded table says.
#include "verify/rules/rule_proof.h"

namespace frazil::verify {

bool RuleIsProved(const ir::RuleRow& row, ir::Scalar type) {
  return ir::RuleRecordedAsProved(row, type);
}

}  // namespace frazil::verify
