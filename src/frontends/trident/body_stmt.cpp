// Statements and the ways through them. The IR has no jumps, so an early return is made structured: where all but one arm
// of a branch return, the rest of the block moves into that arm; anything else carries a flag and the results, and
// what follows stands under `if not returned`. Loops carry them too and do nothing once the flag is set.
#include <fmt/format.h>

#include "frontends/trident/body.h"
#include "frontends/trident/walk.h"

namespace frazil::frontends::trident {

ir::Values Body::Region(const std::function<ir::Values()>& make) {
  const size_t undo = undo_.size();
  const std::vector<uint32_t> bound = bound_;
  ++regions_;
  ir::Values values = make();
  --regions_;
  UndoTo(undo);
  // A block whose rest moved into this region was closed in it; for the next region it is open again.
  CloseScope(bound.size());
  for (size_t i = bound_.size(); i < bound.size(); ++i) {
    bound_.push_back(bound[i]);
    const std::string& name = variables_[bound[i]].name;
    if (name != "_") by_name_[name].push_back(bound[i]);
  }
  return values;
}

ir::Values Body::EmitIf(ir::ValueId condition, const std::vector<ir::Type>& types,
                        const After& then_body, const After& else_body) {
  return builder_.If(
      condition, types, [&] { return Region(then_body); }, [&] { return Region(else_body); });
}

ir::Values Body::Current(const std::vector<uint32_t>& variables) {
  ir::Values values;
  for (uint32_t id : variables)
    values.insert(values.end(), variables_[id].leaves.begin(), variables_[id].leaves.end());
  return values;
}

Body::Exit Body::PlainExit(const std::vector<std::string>& assigned, TypeId value) {
  Exit exit;
  exit.value = value;
  for (const std::string& name : assigned) {
    Variable* variable = Find(name);
    if (variable == nullptr || variable->in_memory || !variable->is_mut) continue;
    exit.carried.push_back(by_name_[name].back());
    const std::vector<ir::Type>& leaves = all_.types[variable->type].leaves;
    exit.types.insert(exit.types.end(), leaves.begin(), leaves.end());
  }
  const std::vector<ir::Type>& leaves = all_.types[value].leaves;
  exit.types.insert(exit.types.end(), leaves.begin(), leaves.end());
  return exit;
}

Body::Exit Body::FlaggedExit(const std::vector<std::string>& assigned) {
  Exit exit = PlainExit(assigned, TypeTable::Unit);
  exit.kind = Exit::Kind::Flagged;
  exit.types.insert(exit.types.begin(), result_types_.begin(), result_types_.end());
  exit.types.insert(exit.types.begin(), ir::types::Bool);
  return exit;
}

void Body::TakeCarried(const Exit& exit, std::span<const ir::ValueId> values) {
  size_t next = 0;
  for (uint32_t id : exit.carried) {
    const size_t count = variables_[id].leaves.size();
    Set(id, ir::Values(values.begin() + static_cast<ptrdiff_t>(next),
                       values.begin() + static_cast<ptrdiff_t>(next + count)));
    next += count;
  }
}

ir::Values Body::Fall(const Exit& exit, const Value& value) {
  if (exit.kind == Exit::Kind::Function)
    return instance_.result_in_memory ? ir::Values{} : value.leaves;
  ir::Values values;
  if (exit.kind == Exit::Kind::Flagged) {
    values.push_back(ConstWord(ir::types::Bool, 0));
    if (!instance_.result_in_memory) {
      const ir::Values zeros = Zero(instance_.result).leaves;
      values.insert(values.end(), zeros.begin(), zeros.end());
    }
  }
  const ir::Values carried = Current(exit.carried);
  values.insert(values.end(), carried.begin(), carried.end());
  values.insert(values.end(), value.leaves.begin(), value.leaves.end());
  return values;
}

ir::Values Body::Return(const Exit& exit, const Value& value) {
  if (exit.kind == Exit::Kind::Function) return Fall(exit, value);
  // Only after an error: a block inside an expression does not return.
  if (exit.kind == Exit::Kind::Plain) return Fall(exit, Zero(exit.value));
  ir::Values values = {ConstWord(ir::types::Bool, 1)};
  if (!instance_.result_in_memory)
    values.insert(values.end(), value.leaves.begin(), value.leaves.end());
  const ir::Values carried = Current(exit.carried);
  values.insert(values.end(), carried.begin(), carried.end());
  return values;
}

ir::Values Body::RunBlock(const Block& block, const Exit& exit, const After& after) {
  const size_t scope = OpenScope();
  ir::Values values = RunFrom(block, 0, scope, exit, after);
  CloseScope(scope);
  return values;
}

namespace {

bool IsHalt(const Stmt& stmt) {
  return stmt.kind == Stmt::Kind::Expr && stmt.value->kind == Expr::Kind::Call &&
         stmt.value->path.parts.size() == 1 && stmt.value->path.parts[0] == "assert" &&
         stmt.value->operands.size() == 1 && stmt.value->operands[0]->kind == Expr::Kind::Bool &&
         stmt.value->operands[0]->number == 0;
}

}  // namespace

ir::Values Body::RunFrom(const Block& block, size_t i, size_t scope, const Exit& exit,
                         const After& after) {
  for (; i < block.stmts.size(); ++i) {
    const Stmt& stmt = block.stmts[i];
    const bool last = i + 1 == block.stmts.size() && !block.tail;
    At(stmt.location);
    const bool halts = IsHalt(stmt);
    if ((AlwaysReturns(stmt) || halts) && !last)
      Complain(Diag::DeadCode,
               i + 1 < block.stmts.size() ? block.stmts[i + 1].location : block.tail->location,
               fmt::format("this is never reached: the {}",
                           halts ? "program has ended" : "function has returned"),
               halts ? "code after assert(false) never runs"
                     : "remove it, or move it before the return");
    if (stmt.kind == Stmt::Kind::Return) {
      Value value{TypeTable::Unit, {}};
      if (stmt.value && instance_.result_in_memory) {
        Deliver(*stmt.value);
        return Return(exit, value);
      }
      if (stmt.value) value = Gen(*stmt.value, instance_.result);
      return Return(exit, Expect(std::move(value), instance_.result, stmt.location,
                                 fmt::format("result of '{}'", instance_.decl->name)));
    }
    const bool branches = stmt.kind == Stmt::Kind::If || stmt.kind == Stmt::Kind::Match;
    const bool whole = stmt.kind == Stmt::Kind::Match || stmt.else_block;
    const bool gives = exit.value != TypeTable::Unit && !after;
    if (last && !after && branches && ((gives && whole) || (!gives && ContainsReturn(stmt))))
      return Branch(stmt, exit, after);
    if (last && gives && stmt.kind == Stmt::Kind::Asm) {
      Value value = AsmValue(stmt, exit.value);
      if (exit.kind == Exit::Kind::Function && instance_.result_in_memory)
        StoreAll(exit.value, result_buffers_, value.leaves);
      CloseScope(scope);
      return Fall(exit, value);
    }
    if (!ContainsReturn(stmt) || (!branches && stmt.kind != Stmt::Kind::For)) {
      GenStmt(stmt);
      continue;
    }
    size_t falling = 0;
    if (stmt.kind == Stmt::Kind::If)
      falling =
          !AlwaysReturns(*stmt.then_block) + (!stmt.else_block || !AlwaysReturns(*stmt.else_block));
    for (const MatchArm& arm : stmt.arms) falling += !AlwaysReturns(*arm.body);
    if (branches && falling <= 1)
      return Branch(stmt, exit, [&, i] { return RunFrom(block, i + 1, scope, exit, after); });
    return Flagged(stmt, block, i, scope, exit, after);
  }
  Value value{TypeTable::Unit, {}};
  if (exit.value == TypeTable::Unit || after) {
    if (block.tail) GenExprStmt(*block.tail);
  } else if (block.tail && exit.kind == Exit::Kind::Function && instance_.result_in_memory) {
    Deliver(*block.tail);
  } else if (block.tail) {
    value = Gen(*block.tail, exit.value);
    const std::string what = exit.kind == Exit::Kind::Function
                                 ? fmt::format("result of '{}'", instance_.decl->name)
                                 : "value of the block";
    value = Expect(std::move(value), exit.value, block.tail->location, what);
  } else {
    Complain(Diag::BadReturn, block.end,
             exit.kind == Exit::Kind::Function
                 ? fmt::format("'{}' must give a {}, but its body can end without one",
                               instance_.decl->name, Name(exit.value))
                 : fmt::format("this block must end in a {}", Name(exit.value)),
             "end it in an expression, or return");
    value = Zero(exit.value);
  }
  CloseScope(scope);
  return after ? after() : Fall(exit, value);
}

ir::Values Body::Flagged(const Stmt& stmt, const Block& block, size_t i, size_t scope,
                         const Exit& exit, const After& after) {
  Exit inner = FlaggedExit(AssignedOutside(stmt));
  ir::Values values = stmt.kind == Stmt::Kind::For ? GenFor(stmt, inner) : Branch(stmt, inner, {});
  if (values.empty()) return Return(exit, Zero(instance_.result));
  const size_t results = result_types_.size();
  TakeCarried(inner, std::span(values).subspan(1 + results));
  const Value result{
      instance_.result,
      ir::Values(values.begin() + 1, values.begin() + 1 + static_cast<ptrdiff_t>(results))};
  return EmitIf(
      values[0], exit.types, [&] { return Return(exit, result); },
      [&] { return RunFrom(block, i + 1, scope, exit, after); });
}

ir::Values Body::Branch(const Stmt& stmt, const Exit& exit, const After& after) {
  if (stmt.kind == Stmt::Kind::Match) return GenMatch(stmt, exit, after);
  ir::ValueId condition = Truth(*stmt.value);
  At(stmt.location);
  return EmitIf(
      condition, exit.types, [&] { return RunBlock(*stmt.then_block, exit, after); },
      [&] {
        if (stmt.else_block) return RunBlock(*stmt.else_block, exit, after);
        return after ? after() : Fall(exit, Zero(exit.value));
      });
}

ir::ValueId Body::Truth(const Expr& expr) {
  Value value = Gen(expr);
  if (value.type == TypeTable::Bool) return value.leaves[0];
  if (value.type == TypeTable::Field)
    return builder_.Binary(ir::Op::Ne, value.leaves[0], ConstWord(ir::types::Field, 0));
  if (!value.is_error())
    Complain(Diag::WrongTypes, expr.location,
             fmt::format("a condition must be Bool or Field, got {}", Name(value.type)));
  return ConstWord(ir::types::Bool, 0);
}

void Body::GenStmt(const Stmt& stmt) {
  At(stmt.location);
  if (all_.stopped()) return;
  switch (stmt.kind) {
    case Stmt::Kind::Let: GenLet(stmt); break;
    case Stmt::Kind::Assign: {
      if (AssignBuffers(stmt)) break;
      const TypeId type = PlaceType(*stmt.places[0]);
      Value value = Gen(*stmt.value, type);
      // An error of the value has been told; the place is still looked at.
      if (value.is_error()) value = Zero(type);
      Assign(*stmt.places[0], value);
      break;
    }
    case Stmt::Kind::TupleAssign: GenTupleAssign(stmt); break;
    case Stmt::Kind::If:
    case Stmt::Kind::Match: {
      Exit exit = PlainExit(AssignedOutside(stmt), TypeTable::Unit);
      ir::Values values = Branch(stmt, exit, {});
      if (values.size() == exit.types.size()) TakeCarried(exit, values);
      break;
    }
    case Stmt::Kind::For: {
      Exit exit = PlainExit(AssignedOutside(stmt), TypeTable::Unit);
      ir::Values values = GenFor(stmt, exit);
      if (values.size() == exit.types.size()) TakeCarried(exit, values);
      break;
    }
    case Stmt::Kind::Reveal:
    case Stmt::Kind::Seal: GenEvent(stmt); break;
    case Stmt::Kind::Asm: GenAsm(stmt); break;
    case Stmt::Kind::ProofBlock: {
      Value hash = Gen(*stmt.value, TypeTable::Digest);
      Expect(std::move(hash), TypeTable::Digest, stmt.value->location,
             "the program of a proof block");
      if (ContainsReturn(*stmt.then_block))
        Complain(Diag::BadReturn, stmt.location, "a proof block cannot return", "return after it");
      Exit exit = PlainExit({}, TypeTable::Unit);
      RunBlock(*stmt.then_block, exit);
      break;
    }
    case Stmt::Kind::Return:
      if (stmt.value) Gen(*stmt.value, instance_.result);
      break;
    case Stmt::Kind::Expr: GenExprStmt(*stmt.value); break;
  }
}

void Body::GenExprStmt(const Expr& expr) {
  Value value = expr.kind == Expr::Kind::Block ? Gen(expr, TypeTable::Unit) : Gen(expr);
  if (value.is_error() || value.type == TypeTable::Unit) return;
  Complain(Diag::UnusedValue, expr.location,
           fmt::format("a value of type {} is not used", Name(value.type)),
           "name it, or drop it: let _ = ...");
}

void Body::GenLet(const Stmt& stmt) {
  TypeId type = TypeTable::Error;
  if (stmt.type) type = all_.Resolve(module_, *stmt.type, sizes_);
  // A whole array goes from memory to memory; without a type it has that of what it is made from.
  if (!stmt.is_tuple && all_.facts(instance_.decl).in_memory.contains(stmt.names[0].name)) {
    TypeId whole = type;
    if (!stmt.type)
      if (const Variable* source = MemoryVariable(*stmt.value)) whole = source->type;
    ir::Values buffers;
    const LetName& name = stmt.names[0];
    if (all_.types[whole].has_array &&
        GenToBuffers(*stmt.value, whole, fmt::format("'{}'", name.name), &buffers)) {
      Bind(name.name, whole, name.is_mut, name.location, std::move(buffers)).in_memory = true;
      return;
    }
  }
  Value value = Gen(*stmt.value, type);
  if (stmt.type && type != TypeTable::Error)
    value = Expect(std::move(value), type, stmt.value->location,
                   stmt.names.size() == 1 ? fmt::format("'{}'", stmt.names[0].name) : "let");
  auto bind = [&](const LetName& name, Value part) {
    if (part.type == TypeTable::Unit)
      Complain(Diag::WrongTypes, stmt.value->location,
               fmt::format("'{}' would have no value", name.name), "call it without `let`");
    const bool in_memory =
        all_.types[part.type].has_array && all_.facts(instance_.decl).in_memory.contains(name.name);
    if (in_memory) {
      ir::Values buffers = NewBuffers(part.type);
      StoreAll(part.type, buffers, part.leaves);
      part.leaves = std::move(buffers);
    }
    Bind(name.name, part.type, name.is_mut, name.location, std::move(part.leaves)).in_memory =
        in_memory;
  };
  if (!stmt.is_tuple) {
    bind(stmt.names[0], std::move(value));
    return;
  }
  auto parts = Parts(value, stmt.names.size(), stmt.location, "names");
  for (size_t i = 0; i < stmt.names.size(); ++i) bind(stmt.names[i], parts ? (*parts)[i] : Value{});
}

std::optional<std::vector<Value>> Body::Parts(const Value& value, size_t count, Location location,
                                              std::string_view what) {
  const TypeInfo& info = all_.types[value.type];
  if (info.kind == TypeKind::Error) return std::nullopt;
  std::vector<Value> parts;
  if (info.kind == TypeKind::Digest || info.kind == TypeKind::XField) {
    const uint32_t width = info.kind == TypeKind::Digest ? 5 : 3;
    for (uint32_t i = 0; i < width && count == width; ++i)
      parts.push_back({TypeTable::Field, {Part(value.leaves[0], i)}});
    if (count == width) return parts;
    Complain(Diag::WrongTypes, location,
             fmt::format("{} has {} elements, but there are {} {}", Name(value.type), width, count,
                         what));
    return std::nullopt;
  }
  if (info.kind != TypeKind::Tuple) {
    Complain(Diag::WrongTypes, location,
             fmt::format("{} cannot be taken apart like a tuple", Name(value.type)));
    return std::nullopt;
  }
  if (info.parts.size() != count) {
    Complain(Diag::WrongTypes, location,
             fmt::format("{} has {} members, but there are {} {}", Name(value.type),
                         info.parts.size(), count, what));
    return std::nullopt;
  }
  auto next = value.leaves.begin();
  for (TypeId part : info.parts) {
    const auto end = next + static_cast<ptrdiff_t>(all_.types[part].leaves.size());
    parts.push_back({part, ir::Values(next, end)});
    next = end;
  }
  return parts;
}

void Body::GenTupleAssign(const Stmt& stmt) {
  std::vector<TypeId> wanted;
  for (const ExprPtr& place : stmt.places) wanted.push_back(PlaceType(*place));
  Value value = Gen(*stmt.value, all_.types.Tuple(wanted));
  auto parts = Parts(value, stmt.places.size(), stmt.location, "places");
  for (size_t i = 0; i < stmt.places.size(); ++i) {
    const Expr& place = *stmt.places[i];
    if (place.kind == Expr::Kind::Name && place.path.ToString() == "_") continue;
    Assign(place, parts ? (*parts)[i] : Zero(wanted[i]));
  }
}

bool Body::Range(const Stmt& stmt, ir::ValueId* lo, ir::ValueId* hi,
                 std::optional<uint64_t>* limit) {
  const auto first = Constant(*stmt.first), last = Constant(*stmt.last);
  constexpr uint64_t End = uint64_t{1} << 32;
  auto in_range = [&](const std::optional<uint64_t>& bound, Location location) {
    if (!bound || *bound <= End) return true;
    Complain(Diag::UnboundedLoop, location,
             fmt::format("{} is no bound of a loop: its variable is a U32", *bound));
    return false;
  };
  if (!in_range(first, stmt.first->location) || !in_range(last, stmt.last->location)) return false;
  if (!last && !stmt.bound) {
    Complain(Diag::UnboundedLoop, stmt.last->location,
             "the end of a loop must be a constant or have a bound",
             "for i in 0..10 { }, or: for i in 0..n bounded 100 { }");
    Gen(*stmt.last, TypeTable::U32);
    return false;
  }
  if (stmt.bound && !in_range(stmt.bound, stmt.location)) return false;
  if (first && last && stmt.bound && *last > *first && *last - *first > *stmt.bound) {
    Complain(Diag::UnboundedLoop, stmt.location,
             fmt::format("{} iterations are more than its bound {}", *last - *first, *stmt.bound));
    return false;
  }
  bool fine = true;
  auto make = [&](const Expr& expr, const std::optional<uint64_t>& constant, ir::ValueId* u32) {
    if (constant) return ConstWord(ir::types::Index, *constant);
    Value value = Gen(expr, TypeTable::U32);
    if (value.type == TypeTable::Field) value = {TypeTable::U32, {AsU32(value.leaves[0])}};
    if (value.type != TypeTable::U32) {
      if (!value.is_error())
        Complain(Diag::WrongTypes, expr.location,
                 fmt::format("a loop runs over U32, not {}", Name(value.type)));
      fine = false;
      return ConstWord(ir::types::Index, 0);
    }
    *u32 = value.leaves[0];
    return builder_.Cast(ir::Op::Cast, value.leaves[0], ir::types::Index);
  };
  ir::ValueId lo32, hi32;
  *lo = make(*stmt.first, first, &lo32);
  *hi = make(*stmt.last, last, &hi32);
  *limit = last                                   ? last
           : first && *first + *stmt.bound <= End ? std::optional(*first + *stmt.bound)
                                                  : std::nullopt;
  if (!fine || !stmt.bound || (first && last) || (last && *last <= *stmt.bound)) return fine;
  if (first && *first == 0 && hi32.valid()) {
    if (*stmt.bound + 1 < End)
      Assert(builder_.Binary(ir::Op::Lt, hi32, ConstWord(ir::types::U32, *stmt.bound + 1)));
  } else {
    Assert(builder_.Binary(ir::Op::Le, builder_.Binary(ir::Op::Sub, *hi, *lo),
                           ConstWord(ir::types::Index, *stmt.bound)));
  }
  return fine;
}

ir::Values Body::GenFor(const Stmt& stmt, const Exit& exit) {
  ir::ValueId lo, hi;
  std::optional<uint64_t> limit;
  if (!Range(stmt, &lo, &hi, &limit)) {
    // The body is checked all the same.
    lo = hi = ConstWord(ir::types::Index, 0);
    limit = std::nullopt;
  }
  At(stmt.location);
  const LetName& name = stmt.names[0];
  const size_t before = exit.kind == Exit::Kind::Flagged ? 1 + result_types_.size() : 0;
  const ir::Values inits = Fall(exit, {TypeTable::Unit, {}});
  return builder_.For(lo, hi, 1, inits, [&](ir::ValueId i, std::span<const ir::ValueId> params) {
    return Region([&]() -> ir::Values {
      const ir::Values carried(params.begin(), params.end());
      TakeCarried(exit, std::span(carried).subspan(before));
      auto iteration = [&]() -> ir::Values {
        const size_t scope = OpenScope();
        ir::ValueId u32 = builder_.Cast(ir::Op::Cast, i, ir::types::U32);
        if (limit) below_[u32.index] = *limit;
        Bind(name.name, TypeTable::U32, false, name.location, {u32}, "a loop variable");
        ir::Values values = RunBlock(*stmt.then_block, exit);
        CloseScope(scope);
        return values;
      };
      if (exit.kind != Exit::Kind::Flagged) return iteration();
      return EmitIf(carried[0], exit.types, [&] { return carried; }, iteration);
    });
  });
}

}  // namespace frazil::frontends::trident
