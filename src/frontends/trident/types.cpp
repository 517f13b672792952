// Interning and flattening of types. A type whose value would be too wide is the error type: nothing of its size is
// ever built.
#include "frontends/trident/types.h"

#include <fmt/format.h>

namespace frazil::frontends::trident {

TypeTable::TypeTable() {
  auto add = [&](TypeKind kind, std::vector<ir::Type> leaves) {
    TypeInfo info;
    info.kind = kind;
    for (ir::Type leaf : leaves) {
      info.words += ir::WordsOf(leaf);
      info.components.push_back({leaf, 1});
    }
    info.leaves = std::move(leaves);
    types_.push_back(std::move(info));
  };
  add(TypeKind::Error, {});
  add(TypeKind::Unit, {});
  add(TypeKind::Field, {ir::types::Field});
  add(TypeKind::Bool, {ir::types::Bool});
  add(TypeKind::U32, {ir::types::U32});
  add(TypeKind::Digest, {ir::types::Digest});
  add(TypeKind::XField, {ir::types::XField});
}

TypeId TypeTable::Intern(TypeInfo info) {
  // Arrays, tuples and structs cannot share a key: a tuple has size 0 and no declaration, an array a size + 1.
  const uint64_t size = info.kind == TypeKind::Array ? info.size + 1 : 0;
  auto [it, fresh] =
      known_.try_emplace({info.parts, {size, info.decl}}, static_cast<TypeId>(types_.size()));
  if (!fresh) return it->second;
  for (TypeId part : info.parts) {
    const TypeInfo& member = types_[part];
    info.has_array = info.has_array || member.has_array;
    const uint64_t times = info.kind == TypeKind::Array ? info.size : 1;
    for (uint64_t i = 0; i < times; ++i)
      info.leaves.insert(info.leaves.end(), member.leaves.begin(), member.leaves.end());
    for (Component component : member.components) {
      component.count *= times;
      info.components.push_back(component);
    }
    info.words += member.words * times;
  }
  if (info.kind == TypeKind::Array) info.has_array = true;
  types_.push_back(std::move(info));
  return it->second;
}

TypeId TypeTable::Array(TypeId element, uint64_t size) {
  if (element == Error) return Error;
  const uint64_t words = types_[element].words;
  if (size > MaxValueWords || (words != 0 && size > MaxValueWords / words)) return Error;
  TypeInfo info;
  info.kind = TypeKind::Array;
  info.parts = {element};
  info.size = size;
  return Intern(std::move(info));
}

TypeId TypeTable::Tuple(std::vector<TypeId> members) {
  if (members.empty()) return Unit;
  TypeInfo info;
  info.kind = TypeKind::Tuple;
  return Product(std::move(info), std::move(members));
}

TypeId TypeTable::Struct(const StructDecl* decl, const Module* module,
                         std::vector<TypeId> members) {
  TypeInfo info;
  info.kind = TypeKind::Struct;
  info.decl = decl;
  info.module = module;
  return Product(std::move(info), std::move(members));
}

TypeId TypeTable::Product(TypeInfo info, std::vector<TypeId> members) {
  uint64_t words = 0;
  for (TypeId member : members) {
    if (member == Error) return Error;
    words += types_[member].words;
  }
  if (words > MaxValueWords) return Error;
  info.parts = std::move(members);
  return Intern(std::move(info));
}

std::string TypeTable::Name(TypeId id) const {
  const TypeInfo& info = types_[id];
  switch (info.kind) {
    case TypeKind::Error: return "?";
    case TypeKind::Unit: return "()";
    case TypeKind::Field: return "Field";
    case TypeKind::Bool: return "Bool";
    case TypeKind::U32: return "U32";
    case TypeKind::Digest: return "Digest";
    case TypeKind::XField: return "XField";
    case TypeKind::Array: return fmt::format("[{}; {}]", Name(info.parts[0]), info.size);
    case TypeKind::Struct: return info.decl->name;
    case TypeKind::Tuple: {
      std::string text = "(";
      for (size_t i = 0; i < info.parts.size(); ++i)
        text += (i == 0 ? "" : ", ") + Name(info.parts[i]);
      return text + ")";
    }
  }
  return "?";
}

}  // namespace frazil::frontends::trident
