// Proves rules by running both sides on every value of every hole, judged by the batch interpreter. For int<k>,
// whose rules only compare, every order of the holes is every case: an order of n values is one of n small numbers.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "exec/batch/batch.h"
#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "verify/internal/rule_program.h"
#include "verify/rules/rule_proof.h"

namespace frazil::verify {
namespace {

using ir::Scalar;

constexpr size_t BlockLanes = 1 << 14;

class Exhaustive {
 public:
  Exhaustive(const ir::Rule& rule, Scalar scalar) : rule_(rule), type_(ir::Type::Of(scalar)) {
    for (ir::PatternType hole : rule.hole_types) {
      types_.push_back(ir::Type::Of(hole.At(scalar)));
      bits_ += static_cast<uint32_t>(ir::BitsOf(types_.back()));
    }
  }

  Result<RuleProof> Prove(uint64_t limit) {
    if (bits_ > 40 || uint64_t{1} << bits_ > limit) {
      return RuleProof{RuleProof::Status::Unknown, "exhaustive",
                       fmt::format("2^{} cases are too many", bits_)};
    }
    const ir::Program sides_program = SidesOf(rule_, type_);
    const ir::Program conditions_program = ConditionsOf(rule_, type_);
    exec::BatchProgram sides = TRY(exec::BatchProgram::Create(sides_program));
    exec::BatchProgram conditions = TRY(exec::BatchProgram::Create(conditions_program));
    side_type_ = sides_program.entry_function().results[0];
    condition_types_ = conditions_program.entry_function().results;
    Allocate();
    for (uint64_t first = 0; first < uint64_t{1} << bits_; first += BlockLanes) {
      const size_t lanes = std::min<uint64_t>(BlockLanes, (uint64_t{1} << bits_) - first);
      Fill(first, lanes);
      TRY_VOID(sides.Run(lanes, inputs_, side_outputs_, std::span(side_traps_).first(lanes)));
      TRY_VOID(conditions.Run(lanes, inputs_, condition_outputs_,
                              std::span(condition_traps_).first(lanes)));
      for (size_t lane = 0; lane < lanes; ++lane) {
        if (!Differs(lane) || !Applies(lane)) continue;
        return RuleProof{RuleProof::Status::Refuted, "exhaustive", Describe(lane)};
      }
    }
    return RuleProof{RuleProof::Status::Proved, "exhaustive",
                     fmt::format("{} cases", uint64_t{1} << bits_)};
  }

 private:
  using Bytes = std::vector<uint64_t>;  // aligned for every type; viewed as bytes

  void Allocate() {
    auto add = [](std::vector<Bytes>& storage, ir::Type type) {
      storage.emplace_back(BlockLanes * ir::BytesOf(type) / 8 + 1);
    };
    for (ir::Type type : types_) add(input_storage_, type);
    add(side_storage_, side_type_);
    add(side_storage_, side_type_);
    for (ir::Type type : condition_types_) add(condition_storage_, type);
    for (Bytes& bytes : input_storage_) inputs_.push_back(bytes.data());
    for (Bytes& bytes : side_storage_) side_outputs_.push_back(bytes.data());
    for (Bytes& bytes : condition_storage_) condition_outputs_.push_back(bytes.data());
    side_traps_.resize(BlockLanes);
    condition_traps_.resize(BlockLanes);
  }

  // Lane number n gives the first hole its low bits, and so on.
  void Fill(uint64_t first, size_t lanes) {
    uint32_t shift = 0;
    for (size_t h = 0; h < types_.size(); ++h) {
      const uint32_t bytes = ir::BytesOf(types_[h]);
      const auto width = static_cast<uint32_t>(ir::BitsOf(types_[h]));
      char* out = reinterpret_cast<char*>(input_storage_[h].data());
      for (size_t lane = 0; lane < lanes; ++lane) {
        const uint64_t value = (first + lane) >> shift & (~uint64_t{0} >> (64 - width));
        std::memcpy(out + lane * bytes, &value, bytes);
      }
      shift += width;
    }
  }

  static uint64_t Raw(const Bytes& bytes, ir::Type type, size_t lane) {
    uint64_t value = 0;
    const uint32_t size = ir::BytesOf(type);
    std::memcpy(&value, reinterpret_cast<const char*>(bytes.data()) + lane * size, size);
    return value;
  }
  // The word of a value: sign- or zero-extended.
  static uint64_t Word(const Bytes& bytes, ir::Type type, size_t lane) {
    const uint64_t raw = Raw(bytes, type, lane);
    const int width = ir::BitsOf(type);
    const bool negative = ir::IsSigned(type.scalar) && width < 64 && (raw >> (width - 1) & 1) != 0;
    return negative ? raw | ~uint64_t{0} << width : raw;
  }

  bool Differs(size_t lane) const {
    if (side_traps_[lane] != 0) return true;
    return Raw(side_storage_[0], side_type_, lane) != Raw(side_storage_[1], side_type_, lane);
  }

  bool Applies(size_t lane) const {
    if (condition_traps_[lane] != 0) return false;
    std::vector<uint64_t> holes, values;
    for (size_t h = 0; h < types_.size(); ++h)
      holes.push_back(Word(input_storage_[h], types_[h], lane));
    for (size_t i = 0; i < condition_types_.size(); ++i) {
      values.push_back(Word(condition_storage_[i], condition_types_[i], lane));
    }
    return ConditionsHold(rule_, type_, holes, values);
  }

  std::string Describe(size_t lane) const {
    std::string text;
    for (size_t h = 0; h < types_.size(); ++h) {
      const uint64_t word = Word(input_storage_[h], types_[h], lane);
      text += fmt::format("{}{} = {}", h == 0 ? "" : ", ", rule_.holes[h],
                          ir::PrintLiteral(types_[h], std::span(&word, 1)));
    }
    if (side_traps_[lane] != 0) return text + ": a side traps";
    const uint64_t left = Word(side_storage_[0], side_type_, lane),
                   right = Word(side_storage_[1], side_type_, lane);
    return fmt::format("{}: {} against {}", text, ir::PrintLiteral(side_type_, std::span(&left, 1)),
                       ir::PrintLiteral(side_type_, std::span(&right, 1)));
  }

  const ir::Rule& rule_;
  ir::Type type_;
  std::vector<ir::Type> types_;
  uint32_t bits_ = 0;
  ir::Type side_type_;
  std::vector<ir::Type> condition_types_;
  std::vector<Bytes> input_storage_, side_storage_, condition_storage_;
  std::vector<const void*> inputs_;
  std::vector<void*> side_outputs_, condition_outputs_;
  std::vector<uint8_t> side_traps_, condition_traps_;
};

// Ops that look at int<k> only by comparing.
bool OnlyCompares(const ir::Pattern& pattern) {
  using ir::Op;
  static constexpr Op ops[] = {Op::Min, Op::Max,    Op::Eq,  Op::Ne, Op::Lt,  Op::Le, Op::Gt,
                               Op::Ge,  Op::Select, Op::And, Op::Or, Op::Xor, Op::Not};
  return std::ranges::all_of(pattern.nodes, [](const ir::PatternNode& node) {
    if (node.kind == ir::PatternNode::Kind::Apply)
      return std::ranges::find(ops, node.op) != std::end(ops);
    // Constants of bool have no place in the order; numbers of int<k> would.
    return node.kind == ir::PatternNode::Kind::Hole || !node.type.is_t;
  });
}

Result<RuleProof> ProveByOrders(const ir::Rule& rule) {
  if (!OnlyCompares(rule.left) || !OnlyCompares(rule.right) || !rule.conditions.empty()) {
    return RuleProof{RuleProof::Status::Unknown, "exhaustive", "the rule does more than compare"};
  }
  const ir::Type type = ir::Type::Int(1);
  const ir::Program program = SidesOf(rule, type);
  const size_t holes = rule.holes.size();
  std::vector<uint64_t> values(holes, 0);
  uint64_t cases = 0;
  for (;; ++cases) {
    std::vector<exec::Value> arguments;
    for (size_t h = 0; h < holes; ++h) {
      const bool is_bool = !rule.hole_types[h].is_t;
      arguments.push_back(
          exec::Value::Int(is_bool ? ir::types::Bool : type, static_cast<int64_t>(values[h])));
    }
    const exec::Outcome outcome = TRY(exec::Interpret(program, arguments));
    if (outcome.trap || !(outcome.results[0] == outcome.results[1])) {
      return RuleProof{RuleProof::Status::Refuted, "exhaustive", "an order of the holes"};
    }
    size_t h = 0;
    for (; h < holes; ++h) {
      const uint64_t most = rule.hole_types[h].is_t ? holes - 1 : 1;
      if (values[h]++ < most) break;
      values[h] = 0;
    }
    if (h == holes) break;
  }
  return RuleProof{RuleProof::Status::Proved, "exhaustive", fmt::format("{} orders", cases + 1)};
}

}  // namespace

RuleProof ProveExhaustively(const ir::Rule& rule, Scalar type, uint64_t limit) {
  Result<RuleProof> proof =
      RuleProof{RuleProof::Status::Unknown, "exhaustive", "the type has too many values"};
  if (type == Scalar::Int) {
    proof = ProveByOrders(rule);
  } else if (type != Scalar::XField && type != Scalar::Digest && type != Scalar::Field) {
    proof = Exhaustive(rule, type).Prove(limit);
  }
  if (!proof) return {RuleProof::Status::Unknown, "exhaustive", proof.error().message};
  return std::move(*proof);
}

}  // namespace frazil::verify
