// Statements. Variables are values here: a structure gives back those that are set inside and read behind it.
#include <algorithm>

#include "base/check.h"
#include "frontends/python/emit.h"

namespace frazil::frontends::python {

using ir::Op;

void Emitter::Emit(const Block& block) {
  for (Stmt* stmt : block) {
    if (errors_.any()) return;
    Emit(*stmt);
  }
}

void Emitter::Emit(Stmt& stmt) {
  builder_.SetLocation(stmt.location);
  switch (stmt.kind) {
    case StmtKind::Assign: return EmitAssign(stmt);
    case StmtKind::Store:
    case StmtKind::Update: return EmitStore(stmt);
    case StmtKind::If: return EmitIf(stmt);
    case StmtKind::For: return EmitFor(stmt);
    case StmtKind::While: return EmitWhile(stmt);
    case StmtKind::Expr:
      if (stmt.value->kind == ExprKind::Inline)
        Inline(stmt.value);
      else
        Own(stmt.value);
      return;
    case StmtKind::Assert: {
      ValueId condition = Condition(stmt.value);
      builder_.SetLocation(stmt.location);
      builder_.Emit(Op::Assert, {}, std::span(&condition, 1), {});
      return;
    }
    case StmtKind::Barrier: builder_.Emit(Op::Barrier, {}, {}, {}); return;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Return: CHECK(!"jumps were flattened");
  }
}

void Emitter::EmitAssign(Stmt& stmt) {
  const Local& local = tree_.locals[stmt.local];
  if (local.is_constant) return;
  if (uniform_[stmt.local].valid()) {
    values_[stmt.local] = uniform_[stmt.local];
    return;
  }
  ValueId value = As(stmt.value, local.type.scalar);
  values_[stmt.local] = value;
  NameOnce(value, local.name);
}

void Emitter::NameOnce(ValueId value, const std::string& name) {
  bool is_plain = std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  const std::vector<std::string>& names = builder_.function().value_names;
  bool is_named = value.index < names.size() && !names[value.index].empty();
  if (is_plain && !is_named && names_.insert(name).second) builder_.Name(value, name);
}

void Emitter::EmitStore(Stmt& stmt) {
  Scalar element = tree_.arrays[stmt.array].element;
  if (stmt.kind == StmtKind::Store) {
    ValueId value = As(stmt.value, element);
    ValueId address = Address(stmt.array, stmt.args);
    builder_.SetLocation(stmt.location);
    return builder_.Store(arrays_[stmt.array], address, value);
  }
  ValueId address = Address(stmt.array, stmt.args);
  builder_.SetLocation(stmt.location);
  ValueId old = builder_.Load(arrays_[stmt.array], address);
  // As if the element were a variable: a[i] = a[i] op value.
  uint32_t temporary = tree_.NewLocal("$", stmt.location);
  tree_.locals[temporary].type = ValueType::Of(element);
  values_.push_back(old);
  uniform_.push_back({});
  Expr read, sum;
  read.kind = ExprKind::Var;
  read.id = temporary;
  read.type = ValueType::Of(element);
  read.location = stmt.location;
  sum.kind = ExprKind::Binary;
  sum.binary = stmt.op;
  sum.location = stmt.location;
  sum.args = {&read, stmt.value};
  sum.type = ValueType::Of(element);
  ValueId value = As(&sum, element);
  builder_.SetLocation(stmt.location);
  builder_.Store(arrays_[stmt.array], address, value);
}

ir::ValueId Emitter::Zero(ir::Type type) {
  uint64_t word = 0;
  return builder_.Const(type, std::span(&word, 1));
}

std::vector<uint32_t> Emitter::Carried(const Stmt& stmt) const {
  std::vector<uint32_t> list;
  bool is_loop = stmt.kind != StmtKind::If;
  for (size_t w = 0; w < stmt.assigned.size(); ++w) {
    uint64_t bits = stmt.assigned[w] & (stmt.live_out[w] | (is_loop ? stmt.gen[w] : 0));
    for (; bits != 0; bits &= bits - 1) {
      uint32_t local = static_cast<uint32_t>(w * 64 + static_cast<size_t>(__builtin_ctzll(bits)));
      if (!tree_.locals[local].is_constant && !uniform_[local].valid()) list.push_back(local);
    }
  }
  return list;
}

// A variable without a value here is not read behind this way: CheckAssigned has seen to that.
ir::Values Emitter::CurrentValues(const std::vector<uint32_t>& locals) {
  Values values;
  for (uint32_t local : locals)
    values.push_back(values_[local].valid() ? values_[local] : Zero(TypeOf(local)));
  return values;
}

void Emitter::SetValues(const std::vector<uint32_t>& locals, std::span<const ValueId> values) {
  for (size_t i = 0; i < locals.size(); ++i) values_[locals[i]] = values[i];
}

ir::Values Emitter::InBranch(const std::function<Values()>& body) {
  std::vector<ValueId> saved = values_;
  Values result = body();
  saved.resize(values_.size());
  values_ = std::move(saved);
  return result;
}

ir::Values Emitter::BlockValues(const Block& block, const Stmt& stmt,
                                const std::vector<uint32_t>& locals) {
  Emit(block);
  builder_.SetLocation(stmt.location);
  return CurrentValues(locals);
}

void Emitter::EmitIf(Stmt& stmt) {
  auto hoisted = hoisted_.find(stmt.value);
  ValueId condition = hoisted != hoisted_.end() ? hoisted->second : Condition(stmt.value);
  std::vector<uint32_t> merged = Carried(stmt);
  std::vector<ir::Type> types;
  for (uint32_t local : merged) types.push_back(TypeOf(local));
  auto branch = [&](const Block& block) {
    return InBranch([&] { return BlockValues(block, stmt, merged); });
  };
  builder_.SetLocation(stmt.location);
  Values results = builder_.If(
      condition, types, [&] { return branch(stmt.body); }, [&] { return branch(stmt.other); });
  SetValues(merged, results);
}

void Emitter::EmitWhile(Stmt& stmt) {
  std::vector<uint32_t> carried = Carried(stmt);
  Values inits = CurrentValues(carried);
  auto test = [&](std::span<const ValueId> now) {
    SetValues(carried, now);
    ValueId condition = Condition(stmt.value);
    builder_.SetLocation(stmt.location);
    return condition;
  };
  auto body = [&](std::span<const ValueId>) { return BlockValues(stmt.body, stmt, carried); };
  SetValues(carried, InBranch([&] { return builder_.While(inits, test, body); }));
}

}  // namespace frazil::frontends::python
