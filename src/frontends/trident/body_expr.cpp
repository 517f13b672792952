// Expressions. What is expected comes from outside and only literals ask for it: there are no conversions. Operands are
// made from left to right; a literal beside a value takes the value's type and has no effect, so its order is free.
#include <algorithm>

#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "frontends/trident/body.h"
#include "frontends/trident/suggest.h"
#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {

namespace {

constexpr TypeId None = TypeTable::Error;

bool IsNumber(TypeId type) {
  return type == TypeTable::Field || type == TypeTable::U32 || type == TypeTable::XField;
}

const char* Sign(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return "+";
    case BinaryOp::Mul: return "*";
    case BinaryOp::Eq: return "==";
    case BinaryOp::Lt: return "<";
    case BinaryOp::And: return "&";
    case BinaryOp::Xor: return "^";
    case BinaryOp::DivMod: return "/%";
    case BinaryOp::Scale: return "*.";
  }
  return "?";
}

}  // namespace

Value Body::Gen(const Expr& expr, TypeId expected) {
  if (!all_.Step(module_, expr.location)) return expected == None ? Value{} : Zero(expected);
  At(expr.location);
  switch (expr.kind) {
    case Expr::Kind::Integer: return GenInteger(expr, expected);
    case Expr::Kind::Bool: return {TypeTable::Bool, {ConstWord(ir::types::Bool, expr.number)}};
    case Expr::Kind::Name: return GenName(expr, expected);
    case Expr::Kind::Member:
    case Expr::Kind::Index: {
      Place place = Locate(expr);
      return place.is_error() ? Value{} : Load(place);
    }
    case Expr::Kind::Binary: return GenBinary(expr, expected);
    case Expr::Kind::Call: return GenCall(expr, expected);
    case Expr::Kind::Struct: return GenStruct(expr);
    case Expr::Kind::Array: return GenArray(expr, expected);
    case Expr::Kind::Tuple: return GenTuple(expr, expected);
    case Expr::Kind::Block: return GenBlockValue(expr, expected);
  }
  return {};
}

Value Body::GenInteger(const Expr& expr, TypeId expected) {
  const TypeId type = IsNumber(expected) ? expected : TypeTable::Field;
  if (type == TypeTable::U32 && expr.number >> 32 != 0) {
    Complain(Diag::WrongTypes, expr.location, fmt::format("{} does not fit U32", expr.number),
             "U32 ends at 4294967295");
    return Zero(type);
  }
  if (expr.number >= goldilocks::P) {
    Complain(Diag::WrongTypes, expr.location, fmt::format("{} does not fit Field", expr.number),
             fmt::format("the field ends at {}", goldilocks::P - 1));
    return Zero(type);
  }
  if (type == TypeTable::XField) {
    const uint64_t words[] = {expr.number, 0, 0};
    return {type, {builder_.Const(ir::types::XField, words)}};
  }
  return {type,
          {ConstWord(type == TypeTable::U32 ? ir::types::U32 : ir::types::Field, expr.number)}};
}

void Body::Unknown(const Path& path) {
  std::vector<std::string_view> known;
  for (const auto& [name, ids] : by_name_)
    if (!ids.empty()) known.push_back(name);
  for (const auto& [name, decl] : all_.names(module_).constants) known.push_back(name);
  std::sort(known.begin(), known.end());
  const std::string& name = path.parts[0];
  std::string hint = Suggest(name, known);
  if (path.parts.size() > 1 && all_.FindUse(module_, name) != nullptr) {
    Complain(Diag::UnknownName, path.location,
             fmt::format("module '{}' has no constant '{}' that is public", name, path.parts[1]));
    return;
  }
  if (hint.empty()) hint = "variables are declared with `let` before they are used";
  Complain(Diag::UnknownName, path.location, fmt::format("no variable or constant '{}'", name),
           hint);
}

Value Body::GenName(const Expr& expr, TypeId expected) {
  const Path& path = expr.path;
  if (path.parts.empty()) return {};
  if (Find(path.parts[0]) == nullptr && path.parts.size() == 1) {
    if (auto size = sizes_.find(path.parts[0]); size != sizes_.end() && !in_constant_) {
      Expr literal;
      literal.location = expr.location;
      literal.number = size->second;
      return GenInteger(literal, expected);
    }
    if (Found<ConstDecl> constant = all_.FindConst(module_, path, 1))
      return GenConst(constant, expected);
  }
  Place place = LocateName(expr);
  return place.is_error() ? Value{} : Load(place);
}

Value Body::GenConst(Found<ConstDecl> constant, TypeId expected) {
  const TypeId type = all_.ConstType(constant);
  if (type == None) return {};
  if (auto word = all_.ScalarConst(constant))
    return {type, {ConstWord(all_.types[type].leaves[0], *word)}};
  if (std::find(open_constants_.begin(), open_constants_.end(), constant.decl) !=
          open_constants_.end() ||
      open_constants_.size() > all_.options.limits.nesting) {
    Complain(Diag::NotConstant, constant.decl->location,
             fmt::format("constant '{}' is defined by itself", constant.decl->name));
    return expected == None ? Value{} : Zero(expected);
  }
  open_constants_.push_back(constant.decl);
  const Module* module = module_;
  const bool was = in_constant_;
  in_constant_ = true;
  module_ = constant.module;
  Value value = Gen(*constant.decl->value, type);
  // Its own mistake is told where it stands.
  if (value.type != type) value = Zero(type);
  module_ = module;
  in_constant_ = was;
  open_constants_.pop_back();
  return value;
}

bool Body::IsLiteral(const Expr& expr) {
  if (expr.kind == Expr::Kind::Integer) return true;
  if (expr.kind == Expr::Kind::Name && expr.path.parts.size() == 1)
    return Find(expr.path.parts[0]) == nullptr && !in_constant_ &&
           sizes_.contains(expr.path.parts[0]);
  return expr.kind == Expr::Kind::Binary &&
         (expr.op == BinaryOp::Add || expr.op == BinaryOp::Mul) && IsLiteral(*expr.operands[0]) &&
         IsLiteral(*expr.operands[1]);
}

std::optional<uint64_t> Body::Constant(const Expr& expr) {
  return all_.Constant(module_, expr, in_constant_ ? Sizes{} : sizes_,
                       [this](const std::string& name) { return Find(name) != nullptr; });
}

Value Body::GenBinary(const Expr& expr, TypeId expected) {
  const Expr& left = *expr.operands[0];
  const Expr& right = *expr.operands[1];
  TypeId wanted = None;
  if (expr.op == BinaryOp::Add || expr.op == BinaryOp::Mul)
    wanted = IsNumber(expected) ? expected : None;
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Xor || expr.op == BinaryOp::DivMod ||
      (expr.op == BinaryOp::Lt && !in_predicate_))
    wanted = TypeTable::U32;
  Value a, b;
  if (expr.op == BinaryOp::Scale) {
    a = Gen(left, TypeTable::XField);
    b = Gen(right, TypeTable::Field);
  } else if (IsLiteral(left) && !IsLiteral(right)) {
    b = Gen(right, wanted);
    a = Gen(left, IsNumber(b.type) ? b.type : wanted);
  } else {
    a = Gen(left, wanted);
    // A tuple literal beside a Digest, a literal beside a number: the left one says what the right one is.
    b = Gen(right, a.is_error() ? wanted : a.type);
  }
  At(expr.location);
  if (a.is_error() || b.is_error()) return {};
  return Combine(expr, a, b);
}

Value Body::Combine(const Expr& expr, const Value& a, const Value& b) {
  const bool same = a.type == b.type;
  const bool u32 = same && a.type == TypeTable::U32;
  const bool ring = same && (a.type == TypeTable::Field || a.type == TypeTable::XField);
  std::string needs = "two U32";
  std::string hint;
  switch (expr.op) {
    case BinaryOp::Add:
    case BinaryOp::Mul: {
      const bool add = expr.op == BinaryOp::Add;
      if (u32)
        return {a.type,
                {builder_.Binary(add ? ir::Op::AddChecked : ir::Op::MulChecked, a.leaves[0],
                                 b.leaves[0])}};
      if (ring)
        return {a.type,
                {builder_.Binary(add ? ir::Op::Add : ir::Op::Mul, a.leaves[0], b.leaves[0])}};
      needs = "two Field, two U32 or two XField";
      if (a.type == TypeTable::XField && b.type == TypeTable::Field && !add)
        hint = "XField by Field is `*.`";
      break;
    }
    case BinaryOp::Eq:
      if (same && a.type != TypeTable::Unit) return Equal(a, b);
      needs = "two values of one type";
      break;
    case BinaryOp::Lt:
      if (u32) return {TypeTable::Bool, {builder_.Binary(ir::Op::Lt, a.leaves[0], b.leaves[0])}};
      if (in_predicate_ && same && a.type == TypeTable::Field)
        return {
            TypeTable::Bool,
            {builder_.Binary(ir::Op::Lt, builder_.Cast(ir::Op::Cast, a.leaves[0], ir::types::U64),
                             builder_.Cast(ir::Op::Cast, b.leaves[0], ir::types::U64))}};
      if (same && a.type == TypeTable::Field)
        hint = "Field has no order; use as_u32(x), or split(x)";
      break;
    case BinaryOp::And:
    case BinaryOp::Xor:
      if (u32)
        return {a.type,
                {builder_.Binary(expr.op == BinaryOp::And ? ir::Op::And : ir::Op::Xor, a.leaves[0],
                                 b.leaves[0])}};
      break;
    case BinaryOp::DivMod:
      if (u32)
        return {all_.types.Tuple({TypeTable::U32, TypeTable::U32}),
                {builder_.Binary(ir::Op::DivTrunc, a.leaves[0], b.leaves[0]),
                 builder_.Binary(ir::Op::RemTrunc, a.leaves[0], b.leaves[0])}};
      break;
    case BinaryOp::Scale:
      if (a.type == TypeTable::XField && b.type == TypeTable::Field)
        return {a.type,
                {builder_.Binary(ir::Op::Mul, a.leaves[0],
                                 builder_.Cast(ir::Op::Cast, b.leaves[0], ir::types::XField))}};
      needs = "an XField and a Field";
      break;
  }
  if (hint.empty() && !same &&
      ((a.type == TypeTable::U32 && b.type == TypeTable::Field) ||
       (a.type == TypeTable::Field && b.type == TypeTable::U32)))
    hint = "nothing converts by itself: use as_field(x) or as_u32(x)";
  Complain(Diag::WrongTypes, expr.location,
           fmt::format("operator '{}' needs {}, got {} and {}", Sign(expr.op), needs, Name(a.type),
                       Name(b.type)),
           hint);
  if (expr.op == BinaryOp::Eq || expr.op == BinaryOp::Lt) return Zero(TypeTable::Bool);
  return {};
}

Value Body::Equal(const Value& a, const Value& b) {
  ir::ValueId all;
  for (size_t i = 0; i < a.leaves.size(); ++i) {
    ir::ValueId one = builder_.Binary(ir::Op::Eq, a.leaves[i], b.leaves[i]);
    all = i == 0 ? one : builder_.Binary(ir::Op::And, all, one);
  }
  return {TypeTable::Bool, {a.leaves.empty() ? ConstWord(ir::types::Bool, 1) : all}};
}

Value Body::GenStruct(const Expr& expr) {
  Found<StructDecl> found = all_.FindStruct(module_, expr.path);
  const TypeId type = found ? all_.StructType(found) : None;
  if (type == None) {
    for (const FieldInit& init : expr.fields)
      if (init.value) Gen(*init.value);
    return {};
  }
  if (found.module != module_)
    for (const FieldInit& init : expr.fields)
      for (const MemberDecl& member : found.decl->members)
        if (member.name == init.name && !member.is_pub)
          Complain(Diag::PrivateItem, init.location,
                   fmt::format("field '{}' of struct '{}' is private", init.name, found.decl->name),
                   "mark the field `pub`, or make the value by a function of its module");
  const std::vector<TypeId> parts = all_.types[type].parts;
  Value result{type, {}};
  for (const Value& value : GenFields(fmt::format("struct '{}'", found.decl->name),
                                      found.decl->members, parts, expr.fields, expr.location))
    result.leaves.insert(result.leaves.end(), value.leaves.begin(), value.leaves.end());
  return result;
}

std::vector<Value> Body::GenFields(const std::string& owner, const std::vector<MemberDecl>& members,
                                   const std::vector<TypeId>& types, const List<FieldInit>& inits,
                                   Location location) {
  std::vector<std::optional<Value>> given(members.size());
  for (const FieldInit& init : inits) {
    size_t i = 0;
    while (i < members.size() && members[i].name != init.name) ++i;
    if (i == members.size()) {
      std::vector<std::string_view> known;
      for (const MemberDecl& member : members) known.push_back(member.name);
      Complain(Diag::UnknownName, init.location,
               fmt::format("{} has no field '{}'", owner, init.name), Suggest(init.name, known));
      if (init.value) Gen(*init.value);
      continue;
    }
    if (given[i])
      Complain(Diag::BadDeclaration, init.location,
               fmt::format("field '{}' is given twice", init.name));
    Expr name;
    name.kind = Expr::Kind::Name;
    name.location = name.path.location = init.location;
    name.path.parts = {init.name};
    Value value = Gen(init.value ? *init.value : name, types[i]);
    given[i] =
        Expect(std::move(value), types[i], init.location, fmt::format("field '{}'", init.name));
  }
  std::vector<Value> values;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!given[i])
      Complain(Diag::BadDeclaration, location,
               fmt::format("field '{}' of {} is missing", members[i].name, owner));
    values.push_back(given[i] ? std::move(*given[i]) : Zero(types[i]));
  }
  return values;
}

Value Body::GenArray(const Expr& expr, TypeId expected) {
  TypeId element =
      all_.types.kind(expected) == TypeKind::Array ? all_.types[expected].parts[0] : None;
  if (expr.operands.empty() && element == None) {
    Complain(Diag::WrongTypes, expr.location, "the type of an empty array is not known",
             "write it: let a: [Field; 0] = []");
    return {};
  }
  if (!expr.sizes.empty()) return GenRepeat(expr, element);
  ir::Values leaves;
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    Value value = Gen(*expr.operands[i], element);
    if (element == None) element = value.type;
    value = Expect(std::move(value), element, expr.operands[i]->location,
                   fmt::format("element {} of the array", i));
    leaves.insert(leaves.end(), value.leaves.begin(), value.leaves.end());
    if (all_.stopped()) return {};
  }
  if (element == None) return {};
  return Whole(expr, "array", all_.types.Array(element, expr.operands.size()), std::move(leaves));
}

// A value of all its words, unless they are too many for a type.
Value Body::Whole(const Expr& expr, std::string_view what, TypeId type, ir::Values leaves) {
  if (type != None) return {type, std::move(leaves)};
  Complain(Diag::TooWide, expr.location,
           fmt::format("this {} has more than {} words", what, MaxValueWords));
  return {};
}

// [x; N]: x is made once.
Value Body::GenRepeat(const Expr& expr, TypeId element) {
  Value value = Gen(*expr.operands[0], element);
  auto count = Constant(*expr.sizes[0]);
  if (!count) {
    Complain(Diag::NotConstant, expr.sizes[0]->location, "an array's size must be a constant");
    return {};
  }
  if (value.is_error() || value.type == TypeTable::Unit) return {};
  Value array = Whole(expr, "array", all_.types.Array(value.type, *count), {});
  if (array.is_error()) return {};
  for (uint64_t i = 0; i < *count; ++i)
    array.leaves.insert(array.leaves.end(), value.leaves.begin(), value.leaves.end());
  return array;
}

Value Body::GenTuple(const Expr& expr, TypeId expected) {
  if (expr.operands.size() > 16)
    Complain(Diag::TooWide, expr.location,
             fmt::format("a tuple has at most 16 members, this one has {}", expr.operands.size()),
             "use a struct");
  const bool as_digest = expected == TypeTable::Digest && expr.operands.size() == 5;
  std::vector<TypeId> wanted(expr.operands.size(), as_digest ? TypeTable::Field : None);
  if (all_.types.kind(expected) == TypeKind::Tuple &&
      all_.types[expected].parts.size() == wanted.size())
    wanted = all_.types[expected].parts;
  std::vector<TypeId> parts;
  ir::Values leaves;
  bool wrong = false;
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    Value value = Gen(*expr.operands[i], wanted[i]);
    if (as_digest)
      value = Expect(std::move(value), TypeTable::Field, expr.operands[i]->location,
                     fmt::format("element {} of the Digest", i));
    wrong = wrong || value.is_error() || value.type == TypeTable::Unit;
    if (value.type == TypeTable::Unit)
      Complain(Diag::WrongTypes, expr.operands[i]->location,
               fmt::format("member {} of the tuple has no value", i));
    parts.push_back(value.type);
    leaves.insert(leaves.end(), value.leaves.begin(), value.leaves.end());
  }
  if (wrong) return {};
  if (as_digest) return {TypeTable::Digest, {MakeDigest(leaves)}};
  return Whole(expr, "tuple", all_.types.Tuple(parts), std::move(leaves));
}

Value Body::GenBlockValue(const Expr& expr, TypeId expected) {
  const Block& block = *expr.block;
  if (in_constant_ || in_predicate_) {
    Complain(Diag::NotConstant, expr.location, "no block can stand here");
    return {};
  }
  if (ContainsReturn(block))
    Complain(Diag::BadReturn, expr.location, "a block that is part of an expression cannot return",
             "put the return into an `if` statement of its own");
  if (block.tail) {
    const size_t scope = OpenScope();
    for (const Stmt& stmt : block.stmts) GenStmt(stmt);
    Value value = Gen(*block.tail, expected);
    CloseScope(scope);
    return value;
  }
  if (expected == None || expected == TypeTable::Unit) {
    const Stmt* last = block.stmts.empty() ? nullptr : &block.stmts.back();
    const bool gives =
        last != nullptr && (last->kind == Stmt::Kind::If || last->kind == Stmt::Kind::Match);
    if (gives && expected == None)
      Complain(Diag::WrongTypes, expr.location, "the type of this block is not known here",
               "write it: let x: Field = { ... }");
    const size_t scope = OpenScope();
    for (const Stmt& stmt : block.stmts)
      if (!gives || expected != None || &stmt != last) GenStmt(stmt);
    CloseScope(scope);
    return {gives && expected == None ? None : TypeTable::Unit, {}};
  }
  Exit exit = PlainExit({}, expected);
  return {expected, RunBlock(block, exit)};
}

Value Body::Predicate(const Expr& expr) {
  const std::string& name = expr.path.parts[0];
  auto truth = [&](size_t i) {
    return Expect(Gen(*expr.operands[i], TypeTable::Bool), TypeTable::Bool,
                  expr.operands[i]->location, "part of the condition")
        .leaves[0];
  };
  if (name == "not" && expr.operands.size() == 1)
    return {TypeTable::Bool, {builder_.Unary(ir::Op::Not, truth(0))}};
  if (expr.operands.size() != 2) return {};
  if (name == "and" || name == "or") {
    ir::ValueId a = truth(0);
    ir::ValueId b = truth(1);
    return {TypeTable::Bool, {builder_.Binary(name == "and" ? ir::Op::And : ir::Op::Or, a, b)}};
  }
  Value a, b;
  if (IsLiteral(*expr.operands[0])) {
    b = Gen(*expr.operands[1]);
    a = Gen(*expr.operands[0], b.type);
  } else {
    a = Gen(*expr.operands[0]);
    b = Gen(*expr.operands[1], a.type);
  }
  if (a.is_error() || b.is_error()) return Zero(TypeTable::Bool);
  if (name == "ne") {
    if (a.type == b.type)
      return {TypeTable::Bool, {builder_.Unary(ir::Op::Not, Equal(a, b).leaves[0])}};
  } else if (a.type == b.type && (a.type == TypeTable::Field || a.type == TypeTable::U32)) {
    ir::ValueId x = builder_.Cast(ir::Op::Cast, a.leaves[0], ir::types::U64);
    ir::ValueId y = builder_.Cast(ir::Op::Cast, b.leaves[0], ir::types::U64);
    return {TypeTable::Bool,
            {builder_.Binary(name == "gt"   ? ir::Op::Gt
                             : name == "ge" ? ir::Op::Ge
                                            : ir::Op::Le,
                             x, y)}};
  }
  Complain(Diag::WrongTypes, expr.location,
           fmt::format("{} and {} cannot be compared like this", Name(a.type), Name(b.type)));
  return Zero(TypeTable::Bool);
}

}  // namespace frazil::frontends::trident
