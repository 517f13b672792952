// The types of Trident, interned: equal types have equal ids. Every type is known down to its scalars, because values
// of the IR are scalars: `leaves` lists them in the order of the text, `components` groups those that differ only
// in array indices, for arrays that live in memory (one buffer for each component).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/trident/syntax/ast.h"
#include "ir/type.h"

namespace frazil::frontends::trident {

using TypeId = uint32_t;

// Words of one value; more is refused in words, long before memory runs out.
constexpr uint64_t MaxValueWords = 65'536;

enum class TypeKind : uint8_t {
  Error,
  Unit,
  Field,
  Bool,
  U32,
  Digest,
  XField,
  Array,
  Tuple,
  Struct
};

struct Component {
  ir::Type scalar;
  uint64_t count = 1;  // elements: the product of the array sizes around it
};

struct TypeInfo {
  TypeKind kind = TypeKind::Error;
  std::vector<TypeId> parts;  // Array: its element; Tuple, Struct: the members
  uint64_t size = 0;          // Array
  const StructDecl* decl = nullptr;
  const Module* module = nullptr;  // of the struct
  std::vector<ir::Type> leaves;
  std::vector<Component> components;
  uint64_t words = 0;
  bool has_array = false;
};

class TypeTable {
 public:
  // The fixed ids, in the order of TypeKind.
  static constexpr TypeId Error = 0, Unit = 1, Field = 2, Bool = 3, U32 = 4, Digest = 5, XField = 6;

  TypeTable();
  // Error where the value would have more than MaxValueWords words; the caller says so.
  TypeId Array(TypeId element, uint64_t size);
  TypeId Tuple(std::vector<TypeId> members);
  TypeId Struct(const StructDecl* decl, const Module* module, std::vector<TypeId> members);

  const TypeInfo& operator[](TypeId id) const { return types_[id]; }
  TypeKind kind(TypeId id) const { return types_[id].kind; }
  std::string Name(TypeId id) const;  // as written
  bool IsScalar(TypeId id) const { return id >= Field && id <= XField; }

 private:
  TypeId Intern(TypeInfo info);
  TypeId Product(TypeInfo info, std::vector<TypeId> members);

  std::vector<TypeInfo> types_;
  std::map<std::pair<std::vector<TypeId>, std::pair<uint64_t, const void*>>, TypeId> known_;
};

}  // namespace frazil::frontends::trident
