// Rules as programs, built op by op from their patterns.
#include "verify/internal/rule_program.h"

#include <bit>

#include "base/check.h"
#include "ir/builder.h"

namespace frazil::verify {
namespace {

using ir::ConditionKind;
using ir::Pattern;
using ir::PatternNode;
using ir::ValueId;

ir::Type TypeAt(ir::PatternType pattern, ir::Type t) {
  return pattern.is_t ? t : ir::Type::Of(pattern.scalar);
}

ValueId Build(ir::FunctionBuilder& b, const Pattern& pattern, ir::Type t) {
  std::vector<ValueId> values;
  for (const PatternNode& node : pattern.nodes) {
    const ir::Type type = TypeAt(node.type, t);
    switch (node.kind) {
      case PatternNode::Kind::Hole:
      case PatternNode::Kind::ConstantHole: values.push_back(b.Param(node.hole)); break;
      case PatternNode::Kind::Number:
      case PatternNode::Kind::Special: {
        const auto words = ir::PatternConstant(node, type);
        CHECK(words.has_value());
        values.push_back(b.Const(type, *words));
        break;
      }
      case PatternNode::Kind::Computed: values.push_back(values[node.children[0]]); break;
      case PatternNode::Kind::Apply: {
        std::vector<ValueId> operands;
        for (uint32_t child : node.children) operands.push_back(values[child]);
        values.push_back(
            b.Emit(node.op, TypeAt(node.op_type, t), operands, std::span(&type, 1))[0]);
        break;
      }
    }
  }
  return values.back();
}

std::vector<ir::Type> HoleTypes(const ir::Rule& rule, ir::Type type) {
  std::vector<ir::Type> types;
  for (ir::PatternType hole : rule.hole_types) types.push_back(TypeAt(hole, type));
  return types;
}

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
};
FloatFormat FormatOf(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::F16: return {5, 10};
    case ir::Scalar::BF16: return {8, 7};
    case ir::Scalar::F32: return {8, 23};
    default: return {11, 52};
  }
}

bool Holds(const ir::RuleCondition& condition, ir::Type t, std::span<const uint64_t> holes,
           std::span<const uint64_t>& values) {
  if (condition.kind == ConditionKind::Signed) return ir::IsSigned(t.scalar);
  if (condition.kind == ConditionKind::Unsigned) return ir::Contains(ir::sets::UInt, t.scalar);
  if (condition.kind == ConditionKind::Arithmetic) {
    return !ir::IsFloat(t.scalar) || !IsPayloadNan(holes[condition.hole], t.scalar);
  }
  const ir::Type type = TypeAt(condition.left.root().type, t);
  const uint64_t left = values[0];
  values = values.subspan(1);
  switch (condition.kind) {
    case ConditionKind::Power: return IsPowerOfTwo(left, type.scalar);
    case ConditionKind::NonZero: return left != 0;
    case ConditionKind::InWidth: return left < static_cast<uint64_t>(ir::BitsOf(type));
    case ConditionKind::Holds: return left == 1;
    default: break;
  }
  const uint64_t right = values[0];
  values = values.subspan(1);
  return left == right;
}

}  // namespace

bool IsPayloadNan(uint64_t bits, ir::Scalar scalar) {
  const FloatFormat format = FormatOf(scalar);
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  const uint64_t sign = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint64_t quiet = infinity | uint64_t{1} << (format.mantissa_bits - 1);
  return (bits & ~sign) > infinity && bits != quiet;
}

bool IsPowerOfTwo(uint64_t bits, ir::Scalar scalar) {
  if (!ir::IsFloat(scalar)) {
    const bool negative = ir::IsSigned(scalar) && static_cast<int64_t>(bits) < 0;
    return !negative && std::has_single_bit(bits);
  }
  const FloatFormat format = FormatOf(scalar);
  const uint64_t exponent =
      (bits >> format.mantissa_bits) & ((uint64_t{1} << format.exponent_bits) - 1);
  const uint64_t mantissa = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  // The reciprocal of 2^e is 2^-e: normal if its exponent field, 2 bias - e, is neither 0 nor all ones.
  const uint64_t twice_bias = (uint64_t{1} << format.exponent_bits) - 2;
  return mantissa == 0 && exponent >= 1 && exponent < twice_bias;
}

ir::Program SidesOf(const ir::Rule& rule, ir::Type type) {
  ir::Program program;
  ir::FunctionBuilder b(program, "main", HoleTypes(rule, type), {});
  const ValueId left = Build(b, rule.left, type);
  const ValueId right = Build(b, rule.right, type);
  b.SetResults({b.TypeOf(left), b.TypeOf(right)});
  b.Return({left, right});
  b.Finish();
  return program;
}

ir::Program ConditionsOf(const ir::Rule& rule, ir::Type type) {
  ir::Program program;
  ir::FunctionBuilder b(program, "main", HoleTypes(rule, type), {});
  std::vector<ValueId> values;
  for (const ir::RuleCondition& condition : rule.conditions) {
    const bool is_expression = condition.kind != ConditionKind::Arithmetic &&
                               condition.kind != ConditionKind::Signed &&
                               condition.kind != ConditionKind::Unsigned;
    if (is_expression) values.push_back(Build(b, condition.left, type));
    if (condition.kind == ConditionKind::Equals) values.push_back(Build(b, condition.right, type));
  }
  std::vector<ir::Type> results;
  for (ValueId value : values) results.push_back(b.TypeOf(value));
  b.SetResults(results);
  b.Return(values);
  b.Finish();
  return program;
}

bool ConditionsHold(const ir::Rule& rule, ir::Type type, std::span<const uint64_t> holes,
                    std::span<const uint64_t> values) {
  for (const ir::RuleCondition& condition : rule.conditions) {
    if (!Holds(condition, type, holes, values)) return false;
  }
  return true;
}

}  // namespace frazil::verify
