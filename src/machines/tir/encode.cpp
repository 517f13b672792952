// A block as numbers and back. Encoding runs the block on a stack of "who made this", which gives input references and the
// last use of every value; decoding needs only the op, its type bits being redundant, and checks that they are right.
#include "machines/tir/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number/goldilocks.h"

namespace frazil::machines::tir {
namespace {

constexpr uint64_t CountShift = 23;
constexpr uint64_t CountMask = 0x7ff;

struct Maker {
  InputKind kind = InputKind::Below;
  uint32_t index = 0;
  ValueType type = ValueType::Unknown;
};

class Encoding {
 public:
  explicit Encoding(const Block& block) : block_(block) {
    for (size_t i = ContextPlaces; i > 0; --i) {
      stack_.push_back({InputKind::Context, static_cast<uint32_t>(i - 1), block.context[i - 1]});
    }
  }

  EncodedBlock Run() {
    for (uint32_t i = 0; i < block_.ops.size(); ++i) Node(i);
    // What is still there at the end lives on.
    for (const Maker& maker : stack_) {
      if (maker.kind == InputKind::Node) last_[maker.index] = BlockNodes;
      if (maker.kind == InputKind::Context && touched_[maker.index] != 0)
        touched_[maker.index] = BlockNodes + 1;
    }
    for (size_t i = 0; i < block_.ops.size(); ++i) out_.nodes[4 * i + 2] = last_[i];
    for (size_t i = 0; i < ContextPlaces; ++i) {
      out_.context[i] = static_cast<uint64_t>(block_.context[i]) | touched_[i] << 3;
    }
    return out_;
  }

 private:
  void Deepen(size_t words) {
    if (stack_.size() < words) stack_.insert(stack_.begin(), words, Maker{});
  }
  Maker& At(size_t depth) { return stack_[stack_.size() - 1 - depth]; }

  void Use(const Maker& maker, uint32_t node) {
    if (maker.kind == InputKind::Node) last_[maker.index] = node;
    if (maker.kind == InputKind::Context) touched_[maker.index] = node + 1;
  }

  void Node(uint32_t i) {
    const Op& op = block_.ops[i];
    const size_t d = op.number;
    const bool move = op.kind == Kind::Swap || op.kind == Kind::Pick || op.kind == Kind::Place;
    const uint32_t touches = Touches(op);
    Deepen(std::max<size_t>(touches, ContextPlaces) + 1);
    Maker inputs[2] = {{InputKind::None}, {InputKind::None}};
    if (op.kind == Kind::Dup) {
      inputs[0] = At(d);
    } else if (move) {
      inputs[0] = At(0);
      if (d > 0) inputs[1] = At(d);
    } else {
      for (size_t k = 0; k < std::min<size_t>(touches, 2); ++k) inputs[k] = At(k);
    }
    last_[i] = i;
    if (op.kind == Kind::Dup || move) {
      for (const Maker& maker : inputs) Use(maker, i);
    } else {
      for (uint32_t k = 0; k < touches; ++k) Use(At(k), i);
    }
    const ValueType type = Apply(op, i, inputs);
    uint64_t word = Info(op.kind).id | static_cast<uint64_t>(type) << 6;
    for (int k = 0; k < 2; ++k) {
      word |= static_cast<uint64_t>(inputs[k].kind) << (19 + 2 * k);
      if (inputs[k].kind != InputKind::Below)
        word |= static_cast<uint64_t>(inputs[k].index) << (9 + 5 * k);
    }
    uint64_t immediate = d;
    const Operand operand = Info(op.kind).operand;
    if (op.kind == Kind::Assert) immediate = static_cast<uint64_t>(op.error_id + 1);
    if (operand == Operand::Event) immediate = op.tag;
    if (op.kind == Kind::Assert || operand == Operand::Event) word |= d << CountShift;
    out_.nodes[4 * i] = word;
    out_.nodes[4 * i + 1] = i;
    out_.nodes[4 * i + 3] = immediate;
  }

  // The stack afterwards; the type of what the op hands on.
  ValueType Apply(const Op& op, uint32_t i, const Maker (&inputs)[2]) {
    const auto d = static_cast<ptrdiff_t>(op.number);
    const auto top = stack_.end() - 1;
    switch (op.kind) {
      case Kind::Dup: {
        const ValueType type = inputs[0].type;
        stack_.push_back({InputKind::Node, i, type});
        return type;
      }
      case Kind::Swap: std::swap(*top, *(top - d)); return ValueType::Unknown;
      case Kind::Pick: std::rotate(top - d, top - d + 1, stack_.end()); return ValueType::Unknown;
      case Kind::Place: std::rotate(top - d, top, stack_.end()); return ValueType::Unknown;
      case Kind::Assert: stack_.resize(stack_.size() - op.number); return ValueType::Unknown;
      default: break;
    }
    const ValueType type = ResultType(op, {inputs[0].type, inputs[1].type});
    const int64_t touched = Touches(op), left = touched + NetEffect(op);
    stack_.resize(stack_.size() - static_cast<size_t>(touched));
    for (int64_t k = 0; k < left; ++k) stack_.push_back({InputKind::Node, i, type});
    return type;
  }

  const Block& block_;
  EncodedBlock out_;
  std::vector<Maker> stack_;
  std::array<uint64_t, BlockNodes> last_ = {};
  std::array<uint64_t, ContextPlaces> touched_ = {};
};

std::optional<Kind> KindOf(uint64_t id) {
  for (int k = 0; k <= static_cast<int>(Kind::HornerExt); ++k) {
    if (Info(static_cast<Kind>(k)).id == id) return static_cast<Kind>(k);
  }
  return std::nullopt;
}

bool IsNode(Kind kind) {
  switch (kind) {
    case Kind::Call:
    case Kind::Return:
    case Kind::IfElse:
    case Kind::IfOnly:
    case Kind::Loop:
    case Kind::While:
    case Kind::Repeat:
    case Kind::ProofBlock:
    case Kind::Asm:
    case Kind::FnStart:
    case Kind::FnEnd:
    case Kind::Entry:
    case Kind::Comment: return false;
    default: return true;
  }
}

Result<Op> DecodeNode(const EncodedBlock& encoded, size_t i) {
  const uint64_t word = encoded.nodes[4 * i], immediate = encoded.nodes[4 * i + 3];
  const std::optional<Kind> kind = KindOf(word & 63);
  if (!kind || !IsNode(*kind))
    return Fail(Diag::BadTir, fmt::format("node {} has no op of a block", i));
  Op op{*kind};
  const uint64_t count = word >> CountShift & CountMask;
  switch (Info(*kind).operand) {
    case Operand::Element:
      if (immediate >= goldilocks::P)
        return Fail(Diag::BadTir, fmt::format("node {}: its element is not canonical", i));
      op.number = immediate;
      break;
    case Operand::Event:
      op.tag = immediate;
      op.number = count;
      if (count > (*kind == Kind::Seal ? 9 : MaxCount))
        return Fail(Diag::BadTir, fmt::format("node {}: too many fields", i));
      break;
    case Operand::Count:
      op.number = *kind == Kind::Assert ? count : immediate;
      if (*kind == Kind::Assert) op.error_id = static_cast<int64_t>(immediate) - 1;
      if (op.number < 1 || op.number > MaxCount ||
          (*kind == Kind::Assert && op.number != 1 && op.number != 5) ||
          (*kind == Kind::RamWrite && op.number > MaxDepth)) {
        return Fail(Diag::BadTir, fmt::format("node {}: its count is out of range", i));
      }
      break;
    case Operand::Depth:
      op.number = immediate;
      if (immediate > MaxDepth)
        return Fail(Diag::BadTir, fmt::format("node {}: its depth is out of range", i));
      break;
    default: break;
  }
  return op;
}

}  // namespace

EncodedBlock Encode(const Block& block) { return Encoding(block).Run(); }

Result<Block> Decode(const EncodedBlock& encoded) {
  Block block;
  for (size_t i = 0; i < ContextPlaces; ++i) {
    const uint64_t type = encoded.context[i] & 7;
    if (type > static_cast<uint64_t>(ValueType::Coefficient))
      return Fail(Diag::BadTir, fmt::format("st{} has no type", i));
    block.context[i] = static_cast<ValueType>(type);
  }
  for (size_t i = 0; i < BlockNodes && encoded.nodes[4 * i] != 0; ++i)
    block.ops.push_back(TRY(DecodeNode(encoded, i)));
  if (!(Encode(block) == encoded)) {
    return Fail(Diag::BadTir, "references, types or liveness do not fit the block's ops");
  }
  return block;
}

}  // namespace frazil::machines::tir
