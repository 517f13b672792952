#include "ir/check/attributes.h"

#include <array>

#include "base/check.h"

namespace frazil::ir {
namespace {

std::string_view TakeUntil(std::string_view& rest, char stop) {
  size_t end = rest.find(stop);
  std::string_view head = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return head;
}

std::vector<AttributeSpec> ParseSpecs(std::string_view list) {
  std::vector<AttributeSpec> specs;
  while (!list.empty()) {
    std::string_view item = TakeUntil(list, ',');
    AttributeSpec spec{TakeUntil(item, ':'), AttributeKind::Int, {}};
    std::string_view kind = TakeUntil(item, ':');
    if (kind == "value")
      spec.kind = AttributeKind::Value;
    else if (kind == "int")
      spec.kind = AttributeKind::Int;
    else if (kind == "ints")
      spec.kind = AttributeKind::Ints;
    else if (kind == "func")
      spec.kind = AttributeKind::Function;
    else if (kind == "data")
      spec.kind = AttributeKind::Table;
    else if (kind == "flag")
      spec.kind = AttributeKind::Flag;
    else {
      CHECK(kind == "word");
      spec.kind = AttributeKind::Word;
      while (!item.empty()) spec.choices.push_back(TakeUntil(item, '|'));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace

std::span<const AttributeSpec> AttributesOf(Op op) {
  static const auto* table = [] {
    auto* all = new std::array<std::vector<AttributeSpec>, OpCount>;
    for (const OpInfo& info : AllOps())
      (*all)[static_cast<size_t>(info.op)] = ParseSpecs(info.attributes);
    return all;
  }();
  return (*table)[static_cast<size_t>(op)];
}

bool HasTypeParameter(Op op) { return Info(op).types != sets::None; }

bool HasRowResult(Op op) {
  const OpInfo& info = Info(op);
  if (info.signature != "custom") return !info.signature.ends_with("->");
  return op != Op::TensorStore && HasTypeParameter(op);
}

std::vector<Type> PlainResultTypes(Op op, Type t, size_t named) {
  switch (op) {
    case Op::SpongeSqueeze: return std::vector<Type>(10, types::Field);
    case Op::MerkleStep: return {types::U32, types::Digest};
    case Op::Tasm: return std::vector<Type>(named, types::Field);
    case Op::Sort: return {t, t.is_tensor() ? Type::Tensor(types::Index, t.shape) : types::Index};
    default: break;
  }
  if (!HasRowResult(op)) return {};
  return {ResultTypeOf(op, t)};
}

Type ResultTypeOf(Op op, Type t) {
  std::string_view signature = Info(op).signature;
  if (signature.ends_with("->B")) return types::Bool;
  if (signature.ends_with("->F")) return types::Field;
  if (op == Op::Length) return types::Index;
  if (op == Op::Alloc) return Type::Buffer(t);
  return t;
}

}  // namespace frazil::ir
