// Rule instances that were never searched for: the holes of random rules are bound to random terms, left and right sides
// become terms of the pool from which later instances take theirs, and two terms that the lines connect (or do not) are
// the source and the candidate. Some bindings, constants and lines are forged.
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "exec/meaning/scalar_ops.h"
#include "exec/random_arguments.h"
#include "ir/builder.h"
#include "ir/check/check.h"
#include "ir/rules/rules.h"
#include "judges/attacks.h"
#include "judges/forge.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

using ir::CertTerm;
using ir::Pattern;
using ir::PatternNode;
using ir::Type;
using Words = std::vector<uint64_t>;

constexpr uint32_t Params = 4;  // three of the type, and a bool

class Forger {
 public:
  Forger(Choices& choices, Type type) : choices_(choices), type_(type) {
    for (uint32_t i = 0; i < Params; ++i) {
      CertTerm term;
      term.kind = CertTerm::Kind::SourceValue;
      term.value = i;
      Add(std::move(term), i + 1 < Params ? type : ir::types::Bool);
    }
    if (choices.Chance(30)) {
      pinned_ = static_cast<uint32_t>(choices.Below(Params - 1));
      pinned_words_ = Some(type);
    }
  }

  // Left and right of an instance of some rule; false if there is none for the type.
  bool AddInstance() {
    const size_t number = choices_.Below(ir::ParsedRules().size());
    const ir::Rule& rule = ir::ParsedRules()[number];
    if (!ir::Contains(rule.row->types, type_.scalar)) return false;
    if (!ir::RuleRecordedAsProved(*rule.row, type_.scalar) && !choices_.Chance(20)) return false;
    bound_.assign(rule.holes.size(), 0);
    for (size_t hole = 0; hole < bound_.size(); ++hole) {
      const Type type = TypeAt(rule.hole_types[hole]);
      const bool constant = rule.holes[hole].starts_with("$");
      bound_[hole] = constant ? Constant(type) : Pick(type);
    }
    const std::optional<uint32_t> left = Build(rule.left, Root(rule.left)),
                                  right = Build(rule.right, Root(rule.right));
    if (!left || !right || types_[*left] != types_[*right]) return false;
    certificate_.equalities.push_back(
        {.rule = std::string(rule.row->name), .reversed = false, .left = *left, .right = *right});
    return true;
  }

  // An op on two terms of the pool, for congruence to find.
  void AddContext() {
    const auto& line = choices_.OneOf(certificate_.equalities);
    const uint32_t other = Pick(types_[line.left]);
    constexpr ir::Op Ops[] = {ir::Op::Add, ir::Op::Mul, ir::Op::Sub, ir::Op::Xor, ir::Op::Min};
    const ir::Op op = choices_.OneOf(Ops);
    const Type type = types_[line.left];
    if (!ir::Contains(ir::Info(op).types, type.scalar)) return;
    const uint32_t a = Apply(op, type, type, {line.left, other}),
                   b = Apply(op, type, type, {line.right, other});
    contexts_.emplace_back(a, b);
  }

  std::optional<std::pair<ir::Program, ir::Candidate>> Finish() {
    if (certificate_.equalities.empty()) return std::nullopt;
    const auto [a, b] = PickEnds();
    if (types_[a] != types_[b]) return std::nullopt;
    std::optional<ir::Program> source = ProgramOf(a), candidate = ProgramOf(b);
    if (!source || !candidate) return std::nullopt;
    ir::Candidate made{.program = std::move(*candidate),
                       .guard = {},
                       .certificate = certificate_,
                       .origin = "forged"};
    if (pinned_) {
      ir::GuardAtom atom;
      atom.kind = ir::GuardKind::Equals;
      atom.arg = *pinned_;
      atom.type = type_;
      atom.low = pinned_words_;
      made.guard.atoms.push_back(atom);
    }
    return std::pair(std::move(*source), std::move(made));
  }

 private:
  static uint32_t Root(const Pattern& pattern) {
    return static_cast<uint32_t>(pattern.nodes.size() - 1);
  }

  Type TypeAt(ir::PatternType type) const { return type.is_t ? type_ : ir::Type::Of(type.scalar); }

  uint32_t Add(CertTerm term, Type type) {
    certificate_.terms.push_back(std::move(term));
    types_.push_back(type);
    return static_cast<uint32_t>(types_.size() - 1);
  }

  uint32_t Apply(ir::Op op, Type type, Type result, std::vector<uint32_t> children) {
    CertTerm term;
    term.kind = CertTerm::Kind::Apply;
    term.op = op;
    term.type = type;
    term.result = result;
    term.children = std::move(children);
    return Add(std::move(term), result);
  }

  Words Some(Type type) {
    if (choices_.Chance(40) && ir::IsFixedInt(type.scalar)) {
      const exec::Value small = exec::Value::Int(type, choices_.Between(-2, 9));
      return {small.word};
    }
    const exec::Value any = exec::RandomScalar(type, choices_.Next());
    return {any.scalar_words().begin(), any.scalar_words().end()};
  }

  uint32_t ConstantOf(Type type, Words words) {
    CertTerm term;
    term.kind = CertTerm::Kind::Constant;
    term.type = type;
    term.words = std::move(words);
    return Add(std::move(term), type);
  }

  // A constant; now and then a parameter that the guard fixes.
  uint32_t Constant(Type type) {
    if (pinned_ && type == type_ && choices_.Chance(50)) return *pinned_;
    return ConstantOf(type, Some(type));
  }

  uint32_t Pick(Type type) {
    for (int tries = 0; tries < 6; ++tries) {
      const auto at = static_cast<uint32_t>(choices_.Below(types_.size()));
      if (types_[at] == type && SizeOf(at) < 40) return at;
    }
    if (type == ir::types::Bool) return Params - 1;
    if (type == type_) return static_cast<uint32_t>(choices_.Below(Params - 1));
    // Of another type: made from a parameter.
    const uint32_t from = static_cast<uint32_t>(choices_.Below(Params));
    return Apply(ir::Op::Cast, type, type, {from});
  }

  uint64_t SizeOf(uint32_t term) const {
    uint64_t size = 1;
    for (uint32_t child : certificate_.terms[term].children) size += SizeOf(child);
    return size;
  }

  std::optional<uint32_t> Build(const Pattern& pattern, uint32_t index) {
    const PatternNode& node = pattern.nodes[index];
    const Type type = TypeAt(node.type);
    switch (node.kind) {
      case PatternNode::Kind::Hole:
      case PatternNode::Kind::ConstantHole:
        // One occurrence of a hole that is another term.
        if (choices_.Below(64) == 0) return Pick(types_[bound_[node.hole]]);
        return bound_[node.hole];
      case PatternNode::Kind::Number:
      case PatternNode::Kind::Special: {
        std::optional<Words> words = ir::PatternConstant(node, type);
        if (!words) return std::nullopt;
        return ConstantOf(type, choices_.Below(64) == 0 ? Some(type) : *words);
      }
      case PatternNode::Kind::Computed: {
        std::optional<Words> words = Evaluate(pattern, node.children[0]);
        if (!words) return std::nullopt;
        return ConstantOf(type, choices_.Below(32) == 0 ? Some(type) : *words);
      }
      case PatternNode::Kind::Apply: {
        std::vector<uint32_t> children;
        for (uint32_t child : node.children) {
          const std::optional<uint32_t> built = Build(pattern, child);
          if (!built) return std::nullopt;
          children.push_back(*built);
        }
        return Apply(node.op, TypeAt(node.op_type), type, std::move(children));
      }
    }
    return std::nullopt;
  }

  std::optional<Words> WordsOf(uint32_t term) const {
    if (pinned_ && term == *pinned_) return pinned_words_;
    if (certificate_.terms[term].kind != CertTerm::Kind::Constant) return std::nullopt;
    return certificate_.terms[term].words;
  }

  std::optional<Words> Evaluate(const Pattern& pattern, uint32_t index) const {
    const PatternNode& node = pattern.nodes[index];
    const Type type = TypeAt(node.type);
    if (node.kind == PatternNode::Kind::ConstantHole) return WordsOf(bound_[node.hole]);
    if (node.kind != PatternNode::Kind::Apply) return ir::PatternConstant(node, type);
    std::array<Words, 5> values;
    std::array<exec::Words, 5> operands;
    for (size_t i = 0; i < node.children.size(); ++i) {
      std::optional<Words> value = Evaluate(pattern, node.children[i]);
      if (!value) return std::nullopt;
      values[i] = std::move(*value);
      operands[i] = values[i];
    }
    Words result(ir::WordsOf(type));
    const exec::ScalarCall call{node.op, TypeAt(node.op_type),
                                TypeAt(pattern.nodes[node.children[0]].type)};
    if (exec::EvalScalar(call, std::span(operands).first(node.children.size()), result))
      return std::nullopt;
    return result;
  }

  // Mostly two terms that the lines connect.
  std::pair<uint32_t, uint32_t> PickEnds() {
    if (!contexts_.empty() && choices_.Chance(40)) return choices_.OneOf(contexts_);
    std::vector<uint32_t> root(types_.size());
    std::iota(root.begin(), root.end(), 0u);
    auto find = [&](uint32_t at) {
      while (root[at] != at) at = root[at];
      return at;
    };
    for (const ir::CertEquality& line : certificate_.equalities)
      root[find(line.left)] = find(line.right);
    const ir::CertEquality& line = choices_.OneOf(certificate_.equalities);
    if (choices_.Chance(10)) return {line.left, Pick(types_[line.left])};
    std::vector<uint32_t> connected;
    for (uint32_t i = 0; i < root.size(); ++i) {
      if (find(i) == find(line.left)) connected.push_back(i);
    }
    return {line.left, choices_.OneOf(connected)};
  }

  std::optional<ir::Program> ProgramOf(uint32_t term) const {
    ir::Program program;
    std::vector<Type> params(Params - 1, type_);
    params.push_back(ir::types::Bool);
    ir::FunctionBuilder b(program, "main", params, {types_[term]});
    std::map<uint32_t, ir::ValueId> made;
    b.Return({Emit(b, term, made)});
    b.Finish();
    if (!ir::Check(program)) return std::nullopt;
    return program;
  }

  ir::ValueId Emit(ir::FunctionBuilder& b, uint32_t number,
                   std::map<uint32_t, ir::ValueId>& made) const {
    if (const auto found = made.find(number); found != made.end()) return found->second;
    const CertTerm& term = certificate_.terms[number];
    ir::ValueId value;
    if (term.kind == CertTerm::Kind::SourceValue) {
      value = b.Param(term.value);
    } else if (term.kind == CertTerm::Kind::Constant) {
      value = b.Const(term.type, term.words);
    } else {
      std::vector<ir::ValueId> operands;
      for (uint32_t child : term.children) operands.push_back(Emit(b, child, made));
      value = b.Emit(term.op, term.type, operands, std::span(&term.result, 1))[0];
    }
    made[number] = value;
    return value;
  }

  Choices& choices_;
  Type type_;
  ir::Certificate certificate_;
  std::vector<Type> types_;  // by term
  std::vector<uint32_t> bound_;
  std::vector<std::pair<uint32_t, uint32_t>> contexts_;
  std::optional<uint32_t> pinned_;
  Words pinned_words_;
};

void Forge(Choices& choices, uint64_t lines, Tally& tally) {
  constexpr ir::Scalar Scalars[] = {
      ir::Scalar::I8,  ir::Scalar::U8,    ir::Scalar::I16,   ir::Scalar::U16,   ir::Scalar::I32,
      ir::Scalar::U32, ir::Scalar::I64,   ir::Scalar::U64,   ir::Scalar::Index, ir::Scalar::F16,
      ir::Scalar::F32, ir::Scalar::F64,   ir::Scalar::F32,   ir::Scalar::BF16,  ir::Scalar::Bool,
      ir::Scalar::U8,  ir::Scalar::Field, ir::Scalar::XField};
  Forger forger(choices, choices.Chance(6)
                             ? ir::Type::Int(static_cast<uint16_t>(choices.Between(1, 3)))
                             : ir::Type::Of(choices.OneOf(Scalars)));
  for (uint64_t made = 0, tries = 0; made < lines && tries < 20 * lines; ++tries) {
    if (forger.AddInstance()) {
      ++made;
      if (choices.Chance(30)) forger.AddContext();
    }
  }
  auto forged = forger.Finish();
  if (!forged) return;
  auto& [source, candidate] = *forged;
  if (choices.Chance(15)) MutateCertificate(candidate.certificate, choices);
  if (choices.Chance(15)) (void)MutateProgram(candidate.program, choices);
  if (!ir::CheckGuard(candidate.guard, source)) return;
  CountVerdict(source, candidate, verify::CheckCertificate(source, candidate), choices, tally);
}

}  // namespace

void AttackRules(Choices& choices, uint64_t mutants, Tally& tally) {
  for (uint64_t i = 0; i < mutants; ++i) Forge(choices, 1 + choices.Below(2), tally);
}

void AttackClosure(Choices& choices, uint64_t mutants, Tally& tally) {
  for (uint64_t i = 0; i < mutants; ++i) Forge(choices, 3 + choices.Below(10), tally);
}

}  // namespace frazil::tests
