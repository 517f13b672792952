// Places: `p.a[i].x` as a value and as what is assigned. A variable's scalars are values of the IR as long as every index
// is a constant. An array that is indexed by anything else lives in memory: one buffer for each component of its type,
// whose element number is made from all indices on the way. Buffers are of one variable alone, so copies are copies.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/trident/body.h"
#include "frontends/trident/suggest.h"

namespace frazil::frontends::trident {

Body::Place Body::Locate(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Name: return LocateName(expr);
    case Expr::Kind::Member: {
      Place place = Locate(*expr.operands[0]);
      return place.is_error() ? place : Member(std::move(place), expr.path.parts[0], expr.location);
    }
    case Expr::Kind::Index: {
      if (auto table = TableLookup(expr)) return *table;
      Place place = Locate(*expr.operands[0]);
      if (place.is_error()) {
        Gen(*expr.operands[1], TypeTable::U32);
        return place;
      }
      return Index(std::move(place), *expr.operands[1]);
    }
    default: {
      Place place;
      if (Found<FunctionDecl> found = GivesMemory(expr)) {
        Value value = CallFunction(expr, found, &place.leaves);
        place.type = value.type;
        place.in_memory = !place.leaves.empty();
        if (!place.in_memory) place.leaves = std::move(value.leaves);
        return place;
      }
      Value value = Gen(expr);
      place.type = value.type;
      place.leaves = std::move(value.leaves);
      return place;
    }
  }
}

Body::Place Body::LocateName(const Expr& expr) {
  const Path& path = expr.path;
  Place place;
  size_t used = 1;
  if (Variable* variable = Find(path.parts[0])) {
    place.type = variable->type;
    place.variable = by_name_[path.parts[0]].back();
    place.in_memory = variable->in_memory;
    if (variable->in_memory) place.leaves = variable->leaves;
  } else {
    Found<ConstDecl> constant;
    for (used = path.parts.size(); used > 0; --used)
      if ((constant = all_.FindConst(module_, path, used))) break;
    if (!constant) {
      Unknown(path);
      return {};
    }
    Value value = GenConst(constant, TypeTable::Error);
    place.type = value.type;
    place.leaves = std::move(value.leaves);
  }
  for (; used < path.parts.size() && !place.is_error(); ++used)
    place = Member(std::move(place), path.parts[used], expr.location);
  return place;
}

TypeId Body::PlaceType(const Expr& expr) {
  auto member = [&](TypeId type, const std::string& name) {
    const TypeInfo& info = all_.types[type];
    for (size_t i = 0; info.kind == TypeKind::Struct && i < info.parts.size(); ++i)
      if (info.decl->members[i].name == name) return info.parts[i];
    return TypeTable::Error;
  };
  TypeId type = TypeTable::Error;
  if (expr.kind == Expr::Kind::Name) {
    Variable* variable = expr.path.parts.empty() ? nullptr : Find(expr.path.parts[0]);
    type = variable == nullptr ? TypeTable::Error : variable->type;
    for (size_t i = 1; i < expr.path.parts.size(); ++i) type = member(type, expr.path.parts[i]);
  } else if (expr.kind == Expr::Kind::Member) {
    type = member(PlaceType(*expr.operands[0]), expr.path.parts[0]);
  } else if (expr.kind == Expr::Kind::Index) {
    const TypeInfo& info = all_.types[PlaceType(*expr.operands[0])];
    if (info.kind == TypeKind::Array) type = info.parts[0];
  }
  return type;
}

Body::Place Body::Member(Place place, const std::string& name, Location location) {
  const TypeInfo& info = all_.types[place.type];
  if (info.kind != TypeKind::Struct) {
    Complain(Diag::WrongTypes, location,
             fmt::format("{} has no fields, so no '{}'", Name(place.type), name),
             info.kind == TypeKind::Tuple || info.kind == TypeKind::Digest
                 ? "take it apart: let (a, b) = x"
                 : "");
    return {};
  }
  for (size_t i = 0; i < info.parts.size(); ++i) {
    const MemberDecl& member = info.decl->members[i];
    if (member.name == name) {
      if (info.module != module_ && !member.is_pub)
        Complain(Diag::PrivateItem, location,
                 fmt::format("field '{}' of struct '{}' is private", name, info.decl->name),
                 "mark the field `pub`, or ask by a function of its module");
      place.type = info.parts[i];
      return place;
    }
    place.leaf += all_.types[info.parts[i]].leaves.size();
    place.component += all_.types[info.parts[i]].components.size();
  }
  std::vector<std::string_view> known;
  for (const MemberDecl& member : info.decl->members) known.push_back(member.name);
  Complain(Diag::UnknownName, location,
           fmt::format("struct '{}' has no field '{}'", info.decl->name, name),
           Suggest(name, known));
  return {};
}

Body::Place Body::IndexConstant(Place place, uint64_t index, Location location) {
  const TypeInfo& info = all_.types[place.type];
  if (index >= info.size) {
    Complain(Diag::OutsideArray, location,
             fmt::format("index {} is outside of {}", index, Name(place.type)),
             info.size == 0 ? "" : fmt::format("the last index is {}", info.size - 1));
    return {};
  }
  const uint64_t size = info.size;
  place.type = info.parts[0];
  place.indexed = true;
  if (!place.in_memory) {
    place.leaf += index * all_.types[place.type].leaves.size();
    return place;
  }
  if (place.index.valid() && size != 1)
    place.index = builder_.Binary(ir::Op::Mul, place.index, ConstWord(ir::types::Index, size));
  place.offset = place.offset * size + index;
  return place;
}

Body::Place Body::Index(Place place, const Expr& index) {
  const TypeInfo& info = all_.types[place.type];
  if (info.kind != TypeKind::Array) {
    Complain(Diag::WrongTypes, index.location,
             fmt::format("{} is no array and has no index", Name(place.type)));
    Gen(index, TypeTable::U32);
    return {};
  }
  if (auto constant = Constant(index))
    return IndexConstant(std::move(place), *constant, index.location);
  const uint64_t size = info.size;
  const TypeId element = info.parts[0];
  Value value = Gen(index, TypeTable::U32);
  if (value.is_error()) return {};
  if (value.type != TypeTable::U32) {
    Complain(Diag::WrongTypes, index.location,
             fmt::format("an index must be U32 or a constant, got {}", Name(value.type)),
             value.type == TypeTable::Field ? "use as_u32(x)" : "");
    return {};
  }
  if (!place.in_memory) Spill(&place);
  auto below = below_.find(value.leaves[0].index);
  // The outermost index of a buffer is checked by the buffer itself.
  if (place.indexed && (below == below_.end() || below->second > size))
    Assert(builder_.Binary(ir::Op::Lt, value.leaves[0], ConstWord(ir::types::U32, size)));
  ir::ValueId at = builder_.Cast(ir::Op::Cast, value.leaves[0], ir::types::Index);
  if (place.index.valid()) {
    if (size != 1)
      place.index = builder_.Binary(ir::Op::Mul, place.index, ConstWord(ir::types::Index, size));
    at = builder_.Binary(ir::Op::Add, place.index, at);
  }
  place.index = at;
  place.offset *= size;
  place.type = element;
  place.indexed = true;
  return place;
}

std::optional<Body::Place> Body::TableLookup(const Expr& expr) {
  const Expr& base = *expr.operands[0];
  if (base.kind != Expr::Kind::Name || base.path.parts.empty() ||
      Find(base.path.parts[0]) != nullptr)
    return std::nullopt;
  if (Constant(*expr.operands[1])) return std::nullopt;
  Found<ConstDecl> constant = all_.FindConst(module_, base.path, base.path.parts.size());
  auto table = constant ? all_.Table(constant) : std::nullopt;
  if (!table) return std::nullopt;
  Place place;
  place.type = all_.types[all_.ConstType(constant)].parts[0];
  Value index = Gen(*expr.operands[1], TypeTable::U32);
  index = Expect(std::move(index), TypeTable::U32, expr.operands[1]->location, "an index");
  const ir::Type scalar = all_.types[place.type].leaves[0];
  ir::ValueId at = builder_.Cast(ir::Op::Cast, index.leaves[0], ir::types::Index);
  place.leaves = {builder_.Emit1(ir::Op::Lookup, scalar, {at}, scalar, {table->index})};
  return place;
}

void Body::Spill(Place* place) {
  Value value = Load(*place);
  Place spilled;
  spilled.type = place->type;
  spilled.in_memory = true;
  spilled.spilled = true;
  spilled.variable = place->variable;
  spilled.leaves = NewBuffers(place->type);
  StoreAll(place->type, spilled.leaves, value.leaves);
  *place = std::move(spilled);
}

ir::Values Body::NewBuffers(TypeId type) {
  ir::Values buffers;
  for (const Component& component : all_.types[type].components)
    buffers.push_back(
        builder_.Alloc(component.scalar, ConstWord(ir::types::Index, component.count)));
  return buffers;
}

// Into fresh buffers, which are zeros already.
void Body::StoreAll(TypeId type, const ir::Values& buffers, const ir::Values& leaves) {
  Place place;
  place.type = type;
  place.in_memory = true;
  place.fresh = true;
  place.leaves = buffers;
  size_t next = 0;
  StoreFrom(place, type, 0, 1, 0, leaves, &next);
}

bool Body::IsZero(ir::ValueId value) {
  const ir::Function& f = builder_.function();
  const ir::InstId def = f.values[value.index].def;
  if (!def.valid() || f.inst(def).op != ir::Op::Const) return false;
  for (uint64_t word : f.words_of(f.inst(def)))
    if (word != 0) return false;
  return true;
}

// One value into many elements in a row, as `[x; N]` has it: code does not grow with N.
void Body::Fill(ir::ValueId buffer, uint64_t begin, uint64_t count, ir::ValueId value) {
  builder_.For(ConstWord(ir::types::Index, begin), ConstWord(ir::types::Index, begin + count), 1,
               {}, [&](ir::ValueId i, std::span<const ir::ValueId>) -> ir::Values {
                 builder_.Store(buffer, i, value);
                 return {};
               });
}

void Body::CopyBuffers(TypeId type, const ir::Values& from, const ir::Values& to) {
  const std::vector<Component> components = all_.types[type].components;
  for (size_t i = 0; i < from.size(); ++i)
    builder_.For(ConstWord(ir::types::Index, 0), ConstWord(ir::types::Index, components[i].count),
                 1, {}, [&](ir::ValueId k, std::span<const ir::ValueId>) -> ir::Values {
                   builder_.Store(to[i], k, builder_.Load(from[i], k));
                   return {};
                 });
}

const Variable* Body::MemoryVariable(const Expr& expr) {
  if (expr.kind != Expr::Kind::Name || expr.path.parts.size() != 1) return nullptr;
  const Variable* variable = Find(expr.path.parts[0]);
  return variable != nullptr && variable->in_memory ? variable : nullptr;
}

bool Body::GenToBuffers(const Expr& expr, TypeId type, const std::string& what,
                        ir::Values* buffers) {
  if (const Variable* source = MemoryVariable(expr); source != nullptr && source->type == type) {
    const ir::Values from = source->leaves;
    *buffers = NewBuffers(type);
    CopyBuffers(type, from, *buffers);
    return true;
  }
  Found<FunctionDecl> found = GivesMemory(expr);
  if (!found) return false;
  Value value = CallFunction(expr, found, buffers);
  if (!buffers->empty() && value.type == type) return true;
  value = Expect(std::move(value), type, expr.location, what);
  *buffers = NewBuffers(type);
  StoreAll(type, *buffers, value.leaves);
  return true;
}

void Body::Deliver(const Expr& expr) {
  const TypeId type = instance_.result;
  if (const Variable* source = MemoryVariable(expr); source != nullptr && source->type == type) {
    CopyBuffers(type, ir::Values(source->leaves), result_buffers_);
    return;
  }
  const std::string what = fmt::format("result of '{}'", instance_.decl->name);
  if (Found<FunctionDecl> found = GivesMemory(expr)) {
    ir::Values into = result_buffers_;
    Value value = CallFunction(expr, found, &into);
    if (value.type != type) Expect(std::move(value), type, expr.location, what);
    return;
  }
  StoreAll(type, result_buffers_, Expect(Gen(expr, type), type, expr.location, what).leaves);
}

bool Body::AssignBuffers(const Stmt& stmt) {
  const Variable* target = MemoryVariable(*stmt.places[0]);
  if (target == nullptr || !target->is_mut) return false;
  const ir::Values to = target->leaves;
  const TypeId type = target->type;
  const Variable* source = MemoryVariable(*stmt.value);
  if (source != nullptr && source->type == type) {
    CopyBuffers(type, ir::Values(source->leaves), to);
    return true;
  }
  Found<FunctionDecl> found = GivesMemory(*stmt.value);
  if (!found) return false;
  const std::string what = fmt::format("assignment to '{}'", target->name);
  ir::Values fresh;
  Value value = CallFunction(*stmt.value, found, &fresh);
  if (!fresh.empty() && value.type == type) {
    CopyBuffers(type, fresh, to);
    return true;
  }
  Place place;
  place.type = type;
  place.in_memory = true;
  place.leaves = to;
  Store(place, Expect(std::move(value), type, stmt.places[0]->location, what));
  return true;
}

ir::ValueId Body::ElementIndex(const Place& place, uint64_t inner, uint64_t k) {
  const uint64_t constant = place.offset * inner + k;
  if (!place.index.valid()) return ConstWord(ir::types::Index, constant);
  ir::ValueId at = place.index;
  if (inner != 1) at = builder_.Binary(ir::Op::Mul, at, ConstWord(ir::types::Index, inner));
  return constant == 0 ? at
                       : builder_.Binary(ir::Op::Add, at, ConstWord(ir::types::Index, constant));
}

void Body::LoadInto(const Place& place, TypeId type, size_t component, uint64_t inner, uint64_t k,
                    ir::Values* leaves) {
  const TypeInfo& info = all_.types[type];
  if (all_.types.IsScalar(type)) {
    leaves->push_back(builder_.Load(place.leaves[component], ElementIndex(place, inner, k)));
  } else if (info.kind == TypeKind::Array) {
    for (uint64_t i = 0; i < info.size; ++i)
      LoadInto(place, info.parts[0], component, inner * info.size, k * info.size + i, leaves);
  } else {
    for (TypeId part : info.parts) {
      LoadInto(place, part, component, inner, k, leaves);
      component += all_.types[part].components.size();
    }
  }
}

void Body::StoreFrom(const Place& place, TypeId type, size_t component, uint64_t inner, uint64_t k,
                     const ir::Values& leaves, size_t* next) {
  const TypeInfo& info = all_.types[type];
  if (all_.types.IsScalar(type)) {
    const ir::ValueId value = leaves[(*next)++];
    if (!place.fresh || !IsZero(value))
      builder_.Store(place.leaves[component], ElementIndex(place, inner, k), value);
  } else if (info.kind == TypeKind::Array) {
    constexpr uint64_t Long = 8;
    const auto begin = leaves.begin() + static_cast<ptrdiff_t>(*next);
    if (info.size >= Long && all_.types.IsScalar(info.parts[0]) && !place.index.valid() &&
        std::all_of(begin, begin + static_cast<ptrdiff_t>(info.size),
                    [&](ir::ValueId leaf) { return leaf == *begin; })) {
      if (!place.fresh || !IsZero(*begin))
        Fill(place.leaves[component], (place.offset * inner + k) * info.size, info.size, *begin);
      *next += info.size;
      return;
    }
    for (uint64_t i = 0; i < info.size; ++i)
      StoreFrom(place, info.parts[0], component, inner * info.size, k * info.size + i, leaves,
                next);
  } else {
    for (TypeId part : info.parts) {
      StoreFrom(place, part, component, inner, k, leaves, next);
      component += all_.types[part].components.size();
    }
  }
}

Value Body::Load(const Place& place) {
  Value value{place.type, {}};
  if (place.in_memory) {
    LoadInto(place, place.type, place.component, 1, 0, &value.leaves);
    return value;
  }
  const ir::Values& leaves = LeavesOf(place);
  const size_t count = all_.types[place.type].leaves.size();
  value.leaves.assign(leaves.begin() + static_cast<ptrdiff_t>(place.leaf),
                      leaves.begin() + static_cast<ptrdiff_t>(place.leaf + count));
  return value;
}

void Body::Store(const Place& place, const Value& value) {
  if (place.in_memory) {
    size_t next = 0;
    StoreFrom(place, place.type, place.component, 1, 0, value.leaves, &next);
    return;
  }
  ir::Values leaves = LeavesOf(place);
  std::copy(value.leaves.begin(), value.leaves.end(),
            leaves.begin() + static_cast<ptrdiff_t>(place.leaf));
  Set(static_cast<uint32_t>(place.variable), std::move(leaves));
}

void Body::Assign(const Expr& expr, const Value& value) {
  At(expr.location);
  Place place = Locate(expr);
  if (place.is_error()) return;
  if (place.variable < 0 || place.spilled) {
    Complain(Diag::NotMutable, expr.location, "only a variable or a part of one can be assigned",
             place.spilled ? "its index must be U32 or a constant" : "");
    return;
  }
  const Variable& variable = variables_[place.variable];
  if (!variable.is_mut) {
    const bool is_let = variable.why.empty();
    Complain(Diag::NotMutable, expr.location,
             is_let ? fmt::format("'{}' is not mutable", variable.name)
                    : fmt::format("'{}' is {} and not mutable", variable.name, variable.why),
             is_let
                 ? fmt::format("declare it with `let mut {}`", variable.name)
                 : fmt::format("copy it first: let mut my_{} = {}", variable.name, variable.name));
    return;
  }
  Value fits =
      Expect(value, place.type, expr.location, fmt::format("assignment to '{}'", variable.name));
  Store(place, fits);
}

}  // namespace frazil::frontends::trident
