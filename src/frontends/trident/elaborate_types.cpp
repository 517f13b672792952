// Types as written, and constant expressions. Sizes are exact: what does not fit 64 bits is no constant, and a value
// wider than MaxValueWords is refused where its type is written.
#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "frontends/trident/elaborate.h"

namespace frazil::frontends::trident {

namespace {

std::optional<TypeId> Primitive(const std::string& name) {
  if (name == "Field") return TypeTable::Field;
  if (name == "Bool") return TypeTable::Bool;
  if (name == "U32") return TypeTable::U32;
  if (name == "Digest") return TypeTable::Digest;
  if (name == "XField") return TypeTable::XField;
  return std::nullopt;
}

}  // namespace

bool Elaborator::IsPrimitive(const std::string& name) { return Primitive(name).has_value(); }

TypeId Elaborator::Resolve(const Module* from, const TypeExpr& type, const Sizes& sizes) {
  auto too_wide = [&](TypeId id) {
    if (id == TypeTable::Error)
      Complain(from, Diag::TooWide, type.location,
               fmt::format("a value of this type has more than {} words", MaxValueWords),
               "make the array smaller, or keep the data in RAM");
    return id;
  };
  switch (type.kind) {
    case TypeExpr::Kind::Named: {
      if (type.name.parts.size() == 1)
        if (auto primitive = Primitive(type.name.parts[0])) return *primitive;
      Found<StructDecl> found = FindStruct(from, type.name);
      return found ? StructType(found) : TypeTable::Error;
    }
    case TypeExpr::Kind::Array: {
      const TypeId element = Resolve(from, type.parts[0], sizes);
      auto size = Constant(from, *type.size, sizes);
      if (!size) {
        Complain(from, Diag::NotConstant, type.size->location, "an array's size must be a constant",
                 "a number, a constant, a size parameter, or sums and products of those");
        return TypeTable::Error;
      }
      if (element == TypeTable::Error) return element;
      return too_wide(types.Array(element, *size));
    }
    case TypeExpr::Kind::Tuple: {
      std::vector<TypeId> members;
      bool wrong = false;
      for (const TypeExpr& part : type.parts) {
        members.push_back(Resolve(from, part, sizes));
        wrong = wrong || members.back() == TypeTable::Error;
      }
      return wrong ? TypeTable::Error : too_wide(types.Tuple(std::move(members)));
    }
  }
  return TypeTable::Error;
}

TypeId Elaborator::StructType(Found<StructDecl> found) {
  auto known = structs_.find(found.decl);
  if (known != structs_.end()) return known->second;
  if (!open_structs_.insert(found.decl).second || open_structs_.size() > options.limits.nesting) {
    Complain(
        found.module, Diag::BadDeclaration, found.decl->location,
        open_structs_.size() > options.limits.nesting
            ? fmt::format("structs are nested deeper than --max-nesting {}", options.limits.nesting)
            : fmt::format("struct '{}' contains itself", found.decl->name),
        "a value has a fixed width: no struct can hold one of its own kind");
    return TypeTable::Error;
  }
  std::vector<TypeId> members;
  bool wrong = false;
  for (const MemberDecl& member : found.decl->members) {
    members.push_back(Resolve(found.module, member.type, {}));
    wrong = wrong || members.back() == TypeTable::Error;
  }
  open_structs_.erase(found.decl);
  TypeId type =
      wrong ? TypeTable::Error : types.Struct(found.decl, found.module, std::move(members));
  if (type == TypeTable::Error && !wrong)
    Complain(found.module, Diag::TooWide, found.decl->location,
             fmt::format("a value of struct '{}' has more than {} words", found.decl->name,
                         MaxValueWords));
  structs_[found.decl] = type;
  return type;
}

std::optional<uint64_t> Elaborator::Constant(
    const Module* from, const Expr& expr, const Sizes& sizes,
    const std::function<bool(const std::string&)>& is_local) {
  switch (expr.kind) {
    case Expr::Kind::Integer: return expr.number;
    case Expr::Kind::Name: {
      if (expr.path.parts.empty() || (is_local && is_local(expr.path.parts[0])))
        return std::nullopt;
      if (expr.path.parts.size() == 1)
        if (auto it = sizes.find(expr.path.parts[0]); it != sizes.end()) return it->second;
      Found<ConstDecl> found = FindConst(from, expr.path, expr.path.parts.size());
      return found ? ScalarConst(found) : std::nullopt;
    }
    case Expr::Kind::Binary: {
      if (expr.op != BinaryOp::Add && expr.op != BinaryOp::Mul) return std::nullopt;
      auto a = Constant(from, *expr.operands[0], sizes, is_local);
      auto b = a ? Constant(from, *expr.operands[1], sizes, is_local) : std::nullopt;
      if (!a || !b) return std::nullopt;
      uint64_t result = 0;
      const bool overflow = expr.op == BinaryOp::Add ? __builtin_add_overflow(*a, *b, &result)
                                                     : __builtin_mul_overflow(*a, *b, &result);
      return overflow ? std::nullopt : std::optional(result);
    }
    default: return std::nullopt;
  }
}

std::optional<uint64_t> Elaborator::ScalarConst(Found<ConstDecl> constant) {
  auto known = const_values_.find(constant.decl);
  if (known != const_values_.end()) return known->second;
  // A constant that is asked for while it is worked out names itself; CheckConstants says so.
  if (open_constants_.size() > options.limits.nesting ||
      !open_constants_.insert(constant.decl).second)
    return std::nullopt;
  auto value = FoldConst(constant.module, *constant.decl->value, ConstType(constant));
  open_constants_.erase(constant.decl);
  const_values_[constant.decl] = value;
  return value;
}

std::optional<uint64_t> Elaborator::FoldConst(const Module* from, const Expr& expr, TypeId type) {
  const bool is_field = type == TypeTable::Field;
  if (!is_field && type != TypeTable::U32 && type != TypeTable::Bool) return std::nullopt;
  const uint64_t end = is_field ? goldilocks::P : uint64_t{1} << 32;
  if (expr.kind == Expr::Kind::Bool)
    return type == TypeTable::Bool ? std::optional(expr.number) : std::nullopt;
  if (expr.kind == Expr::Kind::Name) {
    Found<ConstDecl> found = FindConst(from, expr.path, expr.path.parts.size());
    return found && ConstType(found) == type ? ScalarConst(found) : std::nullopt;
  }
  if (type == TypeTable::Bool) return std::nullopt;
  if (expr.kind == Expr::Kind::Integer)
    return expr.number < end ? std::optional(expr.number) : std::nullopt;
  const bool is_sum = expr.kind == Expr::Kind::Binary && expr.op == BinaryOp::Add;
  const bool is_product = expr.kind == Expr::Kind::Binary && expr.op == BinaryOp::Mul;
  const bool is_call = is_field && expr.kind == Expr::Kind::Call && expr.path.parts.size() == 1;
  const bool is_neg = is_call && expr.path.parts[0] == "neg" && expr.operands.size() == 1;
  const bool is_sub = is_call && expr.path.parts[0] == "sub" && expr.operands.size() == 2;
  if (!is_sum && !is_product && !is_neg && !is_sub) return std::nullopt;
  auto a = FoldConst(from, *expr.operands[0], type);
  if (!a || is_neg) return a ? std::optional(goldilocks::Neg(*a)) : std::nullopt;
  auto b = FoldConst(from, *expr.operands[1], type);
  if (!b) return std::nullopt;
  if (is_field)
    return is_sum   ? goldilocks::Add(*a, *b)
           : is_sub ? goldilocks::Sub(*a, *b)
                    : goldilocks::Mul(*a, *b);
  const uint64_t result = is_sum ? *a + *b : *a * *b;
  return result < end ? std::optional(result) : std::nullopt;
}

TypeId Elaborator::ConstType(Found<ConstDecl> constant) {
  return Resolve(constant.module, constant.decl->type, {});
}

void Elaborator::Infer(const Module* from, const TypeExpr& type, TypeId argument,
                       const std::vector<std::string>& names, Sizes* sizes) {
  const TypeInfo& info = types[argument];
  if (type.kind == TypeExpr::Kind::Array && info.kind == TypeKind::Array) {
    const Expr& size = *type.size;
    if (size.kind == Expr::Kind::Name && size.path.parts.size() == 1)
      for (const std::string& name : names)
        if (name == size.path.parts[0]) sizes->try_emplace(name, info.size);
    const TypeId element = info.parts[0];
    Infer(from, type.parts[0], element, names, sizes);
  } else if (type.kind == TypeExpr::Kind::Tuple && info.kind == TypeKind::Tuple &&
             info.parts.size() == type.parts.size()) {
    const std::vector<TypeId> parts = info.parts;
    for (size_t i = 0; i < parts.size(); ++i) Infer(from, type.parts[i], parts[i], names, sizes);
  }
}

}  // namespace frazil::frontends::trident
