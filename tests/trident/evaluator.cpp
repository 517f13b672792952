// Statements, places and operators of the evaluator.
#include "evaluator.h"

namespace frazil::tests::trident {

using tri::BinaryOp;
using tri::Expr;

Evaluator::Evaluator(const tri::Module& module, std::vector<uint64_t> input,
                     std::vector<uint64_t> secret, size_t ram)
    : module_(module), input_(std::move(input)), secret_(std::move(secret)), ram_(ram, 0) {}

EvalResult Evaluator::Run() {
  EvalResult result;
  try {
    for (const tri::FunctionDecl& f : module_.functions)
      if (f.name == "main") CallFunction(f, {}, {});
  } catch (const Crash&) {
    result.crashed = true;
  }
  result.output = output_;
  return result;
}

Val* Evaluator::Variable(const std::string& name) {
  auto& variables = calls_.back().variables;
  for (size_t i = variables.size(); i-- > 0;)
    if (variables[i].first == name) return &variables[i].second;
  return nullptr;
}

const tri::StructDecl* Evaluator::Struct(const std::string& name) const {
  for (const tri::StructDecl& s : module_.structs)
    if (s.name == name) return &s;
  return nullptr;
}

const tri::ConstDecl* Evaluator::Const(const std::string& name) const {
  for (const tri::ConstDecl& c : module_.constants)
    if (c.name == name) return &c;
  return nullptr;
}

uint64_t Evaluator::Size(const Expr& e) {
  if (e.kind == Expr::Kind::Integer) return e.number;
  if (e.kind == Expr::Kind::Name) {
    auto it = calls_.back().sizes.find(e.path.parts[0]);
    return it != calls_.back().sizes.end() ? it->second : Size(*Const(e.path.parts[0])->value);
  }
  const uint64_t a = Size(*e.operands[0]), b = Size(*e.operands[1]);
  return e.op == BinaryOp::Add ? a + b : a * b;
}

Val Evaluator::As(Val value, const tri::TypeExpr& type) {
  if (type.kind == tri::TypeExpr::Kind::Array) {
    for (Val& part : value.parts) part = As(std::move(part), type.parts[0]);
    return value;
  }
  if (type.kind == tri::TypeExpr::Kind::Tuple) {
    for (size_t i = 0; i < value.parts.size(); ++i)
      value.parts[i] = As(std::move(value.parts[i]), type.parts[i]);
    return value;
  }
  const std::string& name = type.name.parts[0];
  if (name == "Digest" && value.kind == Val::Group) {
    value.kind = Val::Digest;
    for (Val& part : value.parts) part.kind = Val::Field;
  }
  if (value.kind != Val::Literal) return value;
  if (name == "U32") return MakeU32(value.n);
  if (name == "XField")
    return {Val::XField, 0, {MakeField(value.n), MakeField(0), MakeField(0)}, {}};
  return MakeField(value.n);
}

Val Evaluator::Like(Val value, const Val& other) {
  if (value.kind != Val::Literal || other.kind == Val::Literal) return value;
  if (other.kind == Val::U32) return MakeU32(value.n);
  if (other.kind == Val::XField)
    return {Val::XField, 0, {MakeField(value.n), MakeField(0), MakeField(0)}, {}};
  return MakeField(value.n);
}

Val Evaluator::Eval(const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::Integer: return {Val::Literal, e.number, {}, {}};
    case Expr::Kind::Bool: return MakeBool(e.number != 0);
    case Expr::Kind::Binary: return Binary(e);
    case Expr::Kind::Call: return Call(e);
    case Expr::Kind::Block: return Block(*e.block);
    case Expr::Kind::Name: {
      if (Variable(e.path.parts[0]) != nullptr) return *Locate(e);
      auto it = calls_.back().sizes.find(e.path.parts[0]);
      if (it != calls_.back().sizes.end()) return {Val::Literal, it->second, {}, {}};
      const tri::ConstDecl* constant = Const(e.path.parts[0]);
      return As(Eval(*constant->value), constant->type);
    }
    case Expr::Kind::Member:
    case Expr::Kind::Index: {
      const Expr* root = &e;
      while (root->kind == Expr::Kind::Member || root->kind == Expr::Kind::Index)
        root = root->operands[0].get();
      if (root->kind == Expr::Kind::Name && Variable(root->path.parts[0]) != nullptr)
        return *Locate(e);
      Val base = Eval(*e.operands[0]);
      if (e.kind == Expr::Kind::Member) return *Member(&base, e.path.parts[0]);
      const uint64_t index = Eval(*e.operands[1]).n;
      if (index >= base.parts.size()) throw Crash();
      return base.parts[index];
    }
    case Expr::Kind::Struct: {
      const tri::StructDecl* decl = Struct(e.path.parts[0]);
      Val value{Val::Group, 0, std::vector<Val>(decl->members.size()), decl->name};
      for (const tri::FieldInit& init : e.fields)
        for (size_t i = 0; i < decl->members.size(); ++i)
          if (decl->members[i].name == init.name)
            value.parts[i] =
                As(init.value ? Eval(*init.value) : *Variable(init.name), decl->members[i].type);
      return value;
    }
    case Expr::Kind::Array:
    case Expr::Kind::Tuple: {
      Val value;
      for (const tri::ExprPtr& operand : e.operands) value.parts.push_back(Eval(*operand));
      if (!e.sizes.empty()) value.parts.resize(Size(*e.sizes[0]), Val(value.parts[0]));
      return value;
    }
  }
  return {};
}

Val Evaluator::Binary(const Expr& e) {
  Val a = Eval(*e.operands[0]);
  Val b = Eval(*e.operands[1]);
  a = Like(a, b);
  b = Like(b, a);
  const bool u32 = a.kind == Val::U32;
  switch (e.op) {
    case BinaryOp::Add:
      if (a.kind == Val::XField) {
        for (size_t i = 0; i < 3; ++i) a.parts[i].n = AddP(a.parts[i].n, b.parts[i].n);
        return a;
      }
      return u32 ? MakeU32(a.n + b.n) : MakeField(AddP(a.n, b.n));
    case BinaryOp::Mul: {
      if (a.kind != Val::XField) return u32 ? MakeU32(a.n * b.n) : MakeField(MulP(a.n, b.n));
      uint64_t c[5] = {};
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j) c[i + j] = AddP(c[i + j], MulP(a.parts[i].n, b.parts[j].n));
      // x^3 = x - 1, x^4 = x^2 - x
      for (size_t i = 4; i >= 3; --i) {
        c[i - 2] = AddP(c[i - 2], c[i]);
        c[i - 3] = AddP(c[i - 3], c[i] == 0 ? 0 : P - c[i]);
      }
      return {Val::XField, 0, {MakeField(c[0]), MakeField(c[1]), MakeField(c[2])}, {}};
    }
    case BinaryOp::Scale:
      for (Val& part : a.parts) part.n = MulP(part.n, b.n);
      return a;
    case BinaryOp::Eq: return MakeBool(SameValue(a, b));
    case BinaryOp::Lt: return MakeBool(a.n < b.n);
    case BinaryOp::And: return MakeU32(a.n & b.n);
    case BinaryOp::Xor: return MakeU32(a.n ^ b.n);
    case BinaryOp::DivMod:
      if (b.n == 0) throw Crash();
      return {Val::Group, 0, {MakeU32(a.n / b.n), MakeU32(a.n % b.n)}, {}};
  }
  return {};
}

Val* Evaluator::Member(Val* value, const std::string& name) {
  const tri::StructDecl* decl = Struct(value->name);
  for (size_t i = 0; i < decl->members.size(); ++i)
    if (decl->members[i].name == name) return &value->parts[i];
  return nullptr;
}

Val* Evaluator::Locate(const Expr& e) {
  if (e.kind == Expr::Kind::Name) {
    Val* value = Variable(e.path.parts[0]);
    for (size_t i = 1; i < e.path.parts.size(); ++i) value = Member(value, e.path.parts[i]);
    return value;
  }
  if (e.kind == Expr::Kind::Member) return Member(Locate(*e.operands[0]), e.path.parts[0]);
  // The index may run code that moves variables, but never changes which one this is.
  Locate(*e.operands[0]);
  const uint64_t index = Eval(*e.operands[1]).n;
  Val* base = Locate(*e.operands[0]);
  if (index >= base->parts.size()) throw Crash();
  return &base->parts[index];
}

void Evaluator::Assign(const Expr& place, const Val& value) {
  if (place.kind == Expr::Kind::Name && place.path.parts[0] == "_") return;
  Val* target = Locate(place);
  Val typed = Like(value, *target);
  if (target->kind == Val::Group && value.kind == Val::Group) {
    for (size_t i = 0; i < typed.parts.size(); ++i)
      typed.parts[i] = Like(typed.parts[i], target->parts[i]);
  }
  *target = std::move(typed);
}

Val Evaluator::Block(const tri::Block& block) {
  const size_t scope = calls_.back().variables.size();
  Val last;
  for (const tri::Stmt& stmt : block.stmts) {
    last = Stmt(stmt);
    if (calls_.back().returned) return last;
  }
  if (block.tail) last = Eval(*block.tail);
  calls_.back().variables.resize(scope);
  return last;
}

void Evaluator::Let(const tri::Stmt& stmt) {
  Val value = Eval(*stmt.value);
  if (stmt.type) value = As(std::move(value), *stmt.type);
  auto& variables = calls_.back().variables;
  if (!stmt.is_tuple) {
    variables.emplace_back(stmt.names[0].name, Like(std::move(value), MakeField(0)));
    return;
  }
  for (size_t i = 0; i < stmt.names.size(); ++i)
    variables.emplace_back(stmt.names[i].name, Like(value.parts[i], MakeField(0)));
}

Val Evaluator::Stmt(const tri::Stmt& stmt) {
  using Kind = tri::Stmt::Kind;
  switch (stmt.kind) {
    case Kind::Let: Let(stmt); return {};
    case Kind::Assign: {
      const Val value = Eval(*stmt.value);
      Assign(*stmt.places[0], value);
      return {};
    }
    case Kind::TupleAssign: {
      const Val value = Eval(*stmt.value);
      for (size_t i = 0; i < stmt.places.size(); ++i) Assign(*stmt.places[i], value.parts[i]);
      return {};
    }
    case Kind::If: {
      if (Eval(*stmt.value).n != 0) return Block(*stmt.then_block);
      return stmt.else_block ? Block(*stmt.else_block) : Val{};
    }
    case Kind::For: return For(stmt);
    case Kind::Match: return Match(stmt);
    case Kind::Return: {
      Scope& scope = calls_.back();
      Val value = stmt.value ? Eval(*stmt.value) : Val{};
      calls_.back().result =
          scope.function->result ? As(std::move(value), *scope.function->result) : value;
      calls_.back().returned = true;
      return {};
    }
    case Kind::Reveal: {
      for (size_t tag = 0; tag < module_.events.size(); ++tag) {
        const tri::EventDecl& event = module_.events[tag];
        if (event.name != stmt.event.parts[0]) continue;
        std::vector<Val> values(event.members.size());
        for (const tri::FieldInit& init : stmt.fields)
          for (size_t i = 0; i < values.size(); ++i)
            if (event.members[i].name == init.name)
              values[i] = init.value ? Eval(*init.value) : *Variable(init.name);
        output_.push_back(tag);
        for (const Val& value : values) Emit(value);
      }
      return {};
    }
    case Kind::Expr: Eval(*stmt.value); return {};
    default: return {};
  }
}

uint64_t Evaluator::Number(const Val& v) {
  if (v.n >> 32 != 0) throw Crash();
  return v.n;
}

Val Evaluator::For(const tri::Stmt& stmt) {
  const uint64_t lo = Number(Eval(*stmt.first));
  const uint64_t hi = Number(Eval(*stmt.last));
  if (stmt.bound && hi > lo && hi - lo > *stmt.bound) throw Crash();
  for (uint64_t i = lo; i < hi; ++i) {
    const size_t scope = calls_.back().variables.size();
    calls_.back().variables.emplace_back(stmt.names[0].name, MakeU32(i));
    Block(*stmt.then_block);
    if (calls_.back().returned) return {};
    calls_.back().variables.resize(scope);
  }
  return {};
}

bool Evaluator::Matches(const tri::Pattern& pattern, const Val& value,
                        std::vector<std::pair<std::string, Val>>* bound) {
  switch (pattern.kind) {
    case tri::Pattern::Kind::Integer:
    case tri::Pattern::Kind::Bool: return value.n == pattern.number;
    case tri::Pattern::Kind::Wildcard: return true;
    case tri::Pattern::Kind::Bind: bound->emplace_back(pattern.name, value); return true;
    case tri::Pattern::Kind::Struct: break;
  }
  const tri::StructDecl* decl = Struct(value.name);
  for (const tri::FieldPattern& field : pattern.fields)
    for (size_t i = 0; i < decl->members.size(); ++i)
      if (decl->members[i].name == field.name && !Matches(field.pattern, value.parts[i], bound))
        return false;
  return true;
}

Val Evaluator::Match(const tri::Stmt& stmt) {
  const Val value = Eval(*stmt.value);
  for (const tri::MatchArm& arm : stmt.arms) {
    std::vector<std::pair<std::string, Val>> bound;
    if (!Matches(arm.pattern, value, &bound)) continue;
    const size_t scope = calls_.back().variables.size();
    for (auto& binding : bound) calls_.back().variables.push_back(binding);
    Val result = Block(*arm.body);
    if (!calls_.back().returned) calls_.back().variables.resize(scope);
    return result;
  }
  return {};
}

}  // namespace frazil::tests::trident
