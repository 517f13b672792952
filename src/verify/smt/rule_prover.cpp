// Rules as SMT queries: is there a binding of the holes, conditions included, for which the sides differ or one traps?
// A constant that must be a power of two, or an amount within the width, has few values: they are tried one by one,
// because division by a known constant is easy and by an unknown one is not.
#include <fmt/format.h>

#include "verify/internal/rule_program.h"
#include "verify/smt/encoder.h"
#include "verify/smt/smt.h"

namespace frazil::verify::smt {
namespace {

using ir::ConditionKind;
using ir::Pattern;
using ir::PatternNode;

class RuleQuery {
 public:
  RuleQuery(const Z3Api& api, const ir::Rule& rule, ir::Type type)
      : context_(api), encoder_(context_), rule_(rule), type_(type), traps_(encoder_.False()) {}

  // `fixed`: for each hole a constant, or nothing.
  RuleProof Run(std::span<const std::optional<uint64_t>> fixed, unsigned ms) {
    for (size_t h = 0; h < rule_.holes.size(); ++h) {
      const ir::Type type = At(rule_.hole_types[h]);
      if (!Encoder::Knows(type)) return Unknown("the type is not encoded");
      holes_.push_back(fixed[h] ? encoder_.Constant(type, std::span(&*fixed[h], 1))
                                : encoder_.Variable(type, rule_.holes[h]));
    }
    const Z3_ast left = Encode(rule_.left), right = Encode(rule_.right);
    if (left == nullptr || right == nullptr) return Unknown("an op is not encoded");
    Z3_ast claim = encoder_.Or(encoder_.Not(encoder_.Equal(left, right)), traps_);
    for (const ir::RuleCondition& condition : rule_.conditions) {
      const Z3_ast holds = Condition(condition);
      if (holds == nullptr) return Unknown("a condition is not encoded");
      claim = encoder_.And(claim, holds);
    }
    return Solve(claim, ms);
  }

 private:
  static RuleProof Unknown(std::string why) {
    return {RuleProof::Status::Unknown, "z3", std::move(why)};
  }
  ir::Type At(ir::PatternType pattern) const {
    return pattern.is_t ? type_ : ir::Type::Of(pattern.scalar);
  }

  Z3_ast Encode(const Pattern& pattern) {
    std::vector<Z3_ast> values;
    for (const PatternNode& node : pattern.nodes) {
      Z3_ast value = nullptr;
      switch (node.kind) {
        case PatternNode::Kind::Hole:
        case PatternNode::Kind::ConstantHole: value = holes_[node.hole]; break;
        case PatternNode::Kind::Number:
        case PatternNode::Kind::Special: {
          const auto words = ir::PatternConstant(node, At(node.type));
          if (words && Encoder::Knows(At(node.type)))
            value = encoder_.Constant(At(node.type), *words);
          break;
        }
        case PatternNode::Kind::Computed: value = values[node.children[0]]; break;
        case PatternNode::Kind::Apply: {
          std::vector<Z3_ast> operands;
          for (uint32_t child : node.children) operands.push_back(values[child]);
          Encoder::Trapping trap;
          value = encoder_.Apply(node.op, At(node.op_type),
                                 At(pattern.nodes[node.children[0]].type), operands, trap);
          if (trap.division != nullptr) traps_ = encoder_.Or(traps_, trap.division);
          if (trap.overflow != nullptr) traps_ = encoder_.Or(traps_, trap.overflow);
          break;
        }
      }
      if (value == nullptr) return nullptr;
      values.push_back(value);
    }
    return values.back();
  }

  Z3_ast Condition(const ir::RuleCondition& condition) {
    switch (condition.kind) {
      case ConditionKind::Signed:
        return ir::IsSigned(type_.scalar) ? encoder_.True() : encoder_.False();
      case ConditionKind::Unsigned:
        return ir::Contains(ir::sets::UInt, type_.scalar) ? encoder_.True() : encoder_.False();
      case ConditionKind::Arithmetic:
        return ir::IsFloat(type_.scalar) ? encoder_.NotPayload(type_, holes_[condition.hole])
                                         : encoder_.True();
      default: break;
    }
    // A trap inside a condition makes it fail, so that assuming more is only harder to prove.
    const Z3_ast left = Encode(condition.left);
    if (left == nullptr) return nullptr;
    const ir::Type type = At(condition.left.root().type);
    auto number = [&](uint64_t n) { return encoder_.Constant(type, std::span(&n, 1)); };
    auto apply = [&](ir::Op op, Z3_ast a, Z3_ast b) {
      const Z3_ast operands[] = {a, b};
      Encoder::Trapping trap;
      return encoder_.Apply(op, type, type, operands, trap);
    };
    switch (condition.kind) {
      case ConditionKind::Holds: return left;
      case ConditionKind::Equals: {
        const Z3_ast right = Encode(condition.right);
        return right == nullptr ? nullptr : encoder_.Equal(left, right);
      }
      case ConditionKind::NonZero: return encoder_.Not(encoder_.Equal(left, number(0)));
      case ConditionKind::InWidth: {
        const auto width = static_cast<uint64_t>(ir::BitsOf(type));
        const Z3_ast low =
            ir::IsSigned(type.scalar) ? apply(ir::Op::Ge, left, number(0)) : encoder_.True();
        return encoder_.And(low, apply(ir::Op::Lt, left, number(width)));
      }
      case ConditionKind::Power: {
        if (ir::IsFloat(type.scalar)) return encoder_.True();  // all its values are tried
        const Z3_ast lower = apply(ir::Op::And, left, apply(ir::Op::Sub, left, number(1)));
        return encoder_.And(apply(ir::Op::Gt, left, number(0)), encoder_.Equal(lower, number(0)));
      }
      default: return nullptr;
    }
  }

  RuleProof Solve(Z3_ast claim, unsigned ms) {
    const Z3Api& z = context_.api();
    Z3_context c = context_.get();
    Z3_solver solver = z.mk_solver(c);
    z.solver_inc_ref(c, solver);
    Z3_params params = z.mk_params(c);
    z.params_inc_ref(c, params);
    z.params_set_uint(c, params, z.mk_string_symbol(c, "timeout"), ms);
    z.solver_set_params(c, solver, params);
    z.params_dec_ref(c, params);
    z.solver_assert(c, solver, claim);
    const Z3_lbool answer = z.solver_check(c, solver);
    RuleProof proof;
    if (answer == Z3_L_FALSE) {
      proof = {RuleProof::Status::Proved, "z3", "unsatisfiable"};
    } else if (answer == Z3_L_TRUE) {
      proof = {RuleProof::Status::Refuted, "z3", Model(z.solver_get_model(c, solver))};
    } else {
      proof = Unknown(fmt::format("z3: time-out after {} ms", ms));
    }
    z.solver_dec_ref(c, solver);
    return proof;
  }

  std::string Model(Z3_model model) {
    const Z3Api& z = context_.api();
    z.model_inc_ref(context_.get(), model);
    std::string text;
    for (size_t h = 0; h < holes_.size(); ++h) {
      Z3_ast value = nullptr;
      const bool known = z.model_eval(context_.get(), model, holes_[h], true, &value);
      const bool is_bool = At(rule_.hole_types[h]).scalar == ir::Scalar::Bool;
      const char* number =
          !known    ? "?"
          : is_bool ? (z.get_bool_value(context_.get(), value) == Z3_L_TRUE ? "true" : "false")
                    : z.get_numeral_string(context_.get(), value);
      text += fmt::format("{}{} = {}", h == 0 ? "" : ", ", rule_.holes[h], number);
    }
    z.model_dec_ref(context_.get(), model);
    return text;
  }

  Context context_;
  Encoder encoder_;
  const ir::Rule& rule_;
  ir::Type type_;
  std::vector<Z3_ast> holes_;
  Z3_ast traps_;
};

// The values that a condition leaves to a constant hole, if they are few.
std::vector<uint64_t> FewValues(const ir::RuleCondition& condition, ir::Type type) {
  std::vector<uint64_t> values;
  if (condition.left.nodes.empty() || condition.left.root().kind != PatternNode::Kind::ConstantHole)
    return values;
  if (condition.kind == ConditionKind::InWidth) {
    for (int i = 0; i < ir::BitsOf(type); ++i) values.push_back(static_cast<uint64_t>(i));
    return values;
  }
  if (condition.kind != ConditionKind::Power) return values;
  if (ir::IsFloat(type.scalar)) {
    const int mantissa = type.scalar == ir::Scalar::F16    ? 10
                         : type.scalar == ir::Scalar::BF16 ? 7
                         : type.scalar == ir::Scalar::F32  ? 23
                                                           : 52;
    const uint64_t top = uint64_t{1} << (ir::BitsOf(type) - 1);
    for (uint64_t bits = uint64_t{1} << mantissa; bits < top; bits += uint64_t{1} << mantissa) {
      if (!IsPowerOfTwo(bits, type.scalar)) continue;
      values.push_back(bits);
      values.push_back(bits | top);
    }
  } else {
    for (int i = 0; i < ir::BitsOf(type) - (ir::IsSigned(type.scalar) ? 1 : 0); ++i)
      values.push_back(uint64_t{1} << i);
  }
  return values;
}

}  // namespace

RuleProof ProveRule(const ir::Rule& rule, ir::Scalar scalar, unsigned ms) {
  const Result<const Z3Api*> api = LoadZ3();
  if (!api) return {RuleProof::Status::Unknown, "z3", api.error().message};
  const ir::Type type = ir::Type::Of(scalar);
  if (scalar == ir::Scalar::Int)
    return {RuleProof::Status::Unknown, "z3", "int<k> has no fixed width"};
  std::vector<std::optional<uint64_t>> fixed(rule.holes.size());
  for (const ir::RuleCondition& condition : rule.conditions) {
    const std::vector<uint64_t> values = FewValues(condition, type);
    if (values.empty()) continue;
    RuleProof proof{RuleProof::Status::Unknown, "z3", "no value"};
    for (uint64_t value : values) {
      fixed[condition.hole] = value;
      proof = RuleQuery(**api, rule, type).Run(fixed, ms);
      if (proof.status != RuleProof::Status::Proved) return proof;
    }
    proof.detail = fmt::format("{} constants, one by one", values.size());
    return proof;
  }
  return RuleQuery(**api, rule, type).Run(fixed, ms);
}

}  // namespace frazil::verify::smt
