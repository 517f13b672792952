// Walks every function once with the types of what is on the stack, as far as straight code tells them: after structure
// and calls a touched place is an element of the field, and nothing more is known.
#include "machines/tir/blocks.h"

#include <algorithm>
#include <unordered_map>

namespace frazil::machines::tir {
namespace {

using Types = std::vector<ValueType>;  // top last; below it everything is Unknown

ValueType TypeAt(const Types& types, size_t depth) {
  return depth < types.size() ? types[types.size() - 1 - depth] : ValueType::Unknown;
}

class Extractor {
 public:
  explicit Extractor(const std::vector<FunctionShape>& shapes) {
    for (const FunctionShape& shape : shapes) shapes_[shape.name] = shape;
  }

  std::vector<Block> Run(const Program& program) {
    Types types;
    for (size_t i = 0; i < program.ops.size(); ++i) {
      if (program.ops[i].kind != Kind::FnStart) continue;
      function_ = program.ops[i].text;
      types.clear();
      for (++i; program.ops[i].kind != Kind::FnEnd; ++i) One(program.ops[i], types);
      Close();
    }
    return std::move(blocks_);
  }

 private:
  void Close() {
    if (!open_.ops.empty()) blocks_.push_back(std::move(open_));
    open_ = {};
  }

  void Body(const std::vector<Op>& ops, Types& types) {
    Close();
    for (const Op& op : ops) One(op, types);
    Close();
  }

  // The words that an op with bodies or a callee may have changed.
  static void Forget(Types& types, int64_t touched, int64_t left) {
    types.resize(
        static_cast<size_t>(std::max<int64_t>(0, static_cast<int64_t>(types.size()) - touched)));
    types.insert(types.end(), static_cast<size_t>(std::max<int64_t>(0, left)), ValueType::Unknown);
  }

  void One(const Op& op, Types& types) {
    switch (op.kind) {
      case Kind::Comment: return;
      case Kind::Call: {
        Close();
        const FunctionShape& callee = shapes_.at(op.text);
        return Forget(types, callee.reach, static_cast<int64_t>(callee.reach) + callee.net);
      }
      case Kind::Return: return Close();
      case Kind::Asm: Close(); return types.clear();
      case Kind::ProofBlock: return Body(op.body, types);
      case Kind::IfElse:
      case Kind::IfOnly: {
        Forget(types, 1, 0);
        Types other = types;
        Body(op.body, types);
        Body(op.other, other);
        if (other.size() != types.size()) return types.clear();  // one arm does not come here
        for (size_t i = 0; i < types.size(); ++i) {
          if (types[i] != other[i]) types[i] = ValueType::Unknown;
        }
        return;
      }
      case Kind::Loop:
      case Kind::While:
      case Kind::Repeat:
        types.clear();
        Body(op.body, types);
        types.clear();
        Body(op.other, types);
        return types.clear();
      default: Straight(op, types);
    }
  }

  void Straight(const Op& op, Types& types) {
    if (open_.ops.size() == BlockNodes) Close();
    if (open_.ops.empty()) {
      open_.function = function_;
      open_.location = op.location;
      for (size_t i = 0; i < ContextPlaces; ++i) open_.context[i] = TypeAt(types, i);
    }
    Op node = op;
    node.location = {};
    node.text.clear();
    open_.ops.push_back(std::move(node));
    Apply(op, types);
  }

  static void Apply(const Op& op, Types& types) {
    const size_t d = op.number;
    if (types.size() < ContextPlaces)
      types.insert(types.begin(), ContextPlaces - types.size(), ValueType::Unknown);
    const auto top = types.end() - 1;
    switch (op.kind) {
      case Kind::Dup: return types.push_back(TypeAt(types, d));
      case Kind::Swap: return std::swap(*top, *(top - static_cast<ptrdiff_t>(d)));
      case Kind::Pick: {
        std::rotate(top - static_cast<ptrdiff_t>(d), top - static_cast<ptrdiff_t>(d) + 1,
                    types.end());
        return;
      }
      case Kind::Place: {
        std::rotate(top - static_cast<ptrdiff_t>(d), top, types.end());
        return;
      }
      default: break;
    }
    Types inputs(types.rbegin(),
                 types.rbegin() + static_cast<ptrdiff_t>(std::min<size_t>(types.size(), 2)));
    const ValueType result = ResultType(op, inputs);
    const int64_t touched = Touches(op);
    const int64_t left = touched + NetEffect(op);
    if (op.kind == Kind::Assert || op.kind == Kind::WriteMem) {
      // What stays below is as it was; the pointer of write_mem moves.
      types.resize(types.size() - std::min<size_t>(types.size(), op.number));
      if (op.kind == Kind::WriteMem && !types.empty()) types.back() = ValueType::Element;
      return;
    }
    types.resize(types.size() - std::min(types.size(), static_cast<size_t>(touched)));
    types.insert(types.end(), static_cast<size_t>(left), result);
  }

  std::unordered_map<std::string, FunctionShape> shapes_;
  std::string function_;
  Block open_;
  std::vector<Block> blocks_;
};

}  // namespace

ValueType ResultType(const Op& op, const std::vector<ValueType>& stack) {
  switch (op.kind) {
    case Kind::Push:
      return op.number < 2          ? ValueType::Bool
             : op.number >> 32 == 0 ? ValueType::U32
                                    : ValueType::Element;
    case Kind::Eq:
    case Kind::Lt: return ValueType::Bool;
    case Kind::Hash:
    case Kind::SpongeSqueeze: return ValueType::DigestElement;
    case Kind::Mul:  // of two bools: their conjunction
      return stack.size() == 2 && stack[0] == ValueType::Bool && stack[1] == ValueType::Bool
                 ? ValueType::Bool
                 : ValueType::Element;
    case Kind::Pow:
    case Kind::ReadIo:
    case Kind::Hint:
    case Kind::SpongeLoad: return ValueType::Element;
    case Kind::RamWrite: return ValueType::Unknown;
    default: break;
  }
  switch (Info(op.kind).group) {
    case Group::Field:
    case Group::Memory: return ValueType::Element;
    case Group::Words:
    case Group::Shift:
    case Group::Word: return ValueType::U32;
    case Group::Merkle: return ValueType::DigestElement;
    case Group::Extension:
    case Group::Horner: return ValueType::Coefficient;
    case Group::Structure:
    case Group::Stack:
    case Group::Streams:
    case Group::Hash: break;
  }
  return ValueType::Unknown;
}

Result<std::vector<Block>> ExtractBlocks(const Program& program) {
  const std::vector<FunctionShape> shapes = TRY(Check(program));
  return Extractor(shapes).Run(program);
}

}  // namespace frazil::machines::tir
