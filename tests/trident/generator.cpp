// The generator. Numbers stay small so that most programs run to their end, but not all: traps are compared too.
#include "generator.h"

#include <algorithm>

namespace frazil::tests::trident {

Generator::Type Generator::RandomType(int depth) {
  const uint64_t pick = Below(depth > 0 ? 12 : 7);
  if (pick < 3) return {Type::Field, {}, 0};
  if (pick < 5) return {Type::U32, {}, 0};
  if (pick == 5) return {Type::Bool, {}, 0};
  if (pick == 6) return {Chance(50) ? Type::XField : Type::Digest, {}, 0};
  if (pick < 9)
    return {Type::Array, {RandomType(depth - 1)}, Chance(85) ? 1 + Below(4) : 8 + Below(3)};
  if (pick == 9 || structs_.empty()) {
    Type tuple{Type::Tuple, {}, 0};
    for (uint64_t i = 0, n = 2 + Below(2); i < n; ++i) tuple.parts.push_back(RandomType(depth - 1));
    return tuple;
  }
  return structs_[Below(structs_.size())];
}

std::string Generator::TypeText(const Type& type) {
  switch (type.kind) {
    case Type::Field: return "Field";
    case Type::U32: return "U32";
    case Type::Bool: return "Bool";
    case Type::XField: return "XField";
    case Type::Digest: return "Digest";
    case Type::Array: return "[" + TypeText(type.parts[0]) + "; " + std::to_string(type.size) + "]";
    case Type::Struct: return "S" + std::to_string(type.size);
    case Type::Tuple: break;
  }
  std::string text = "(";
  for (size_t i = 0; i < type.parts.size(); ++i)
    text += (i == 0 ? "" : ", ") + TypeText(type.parts[i]);
  return text + ")";
}

std::string Generator::Literal(const Type& type) {
  if (type.kind == Type::Bool) return Chance(50) ? "true" : "false";
  if (type.kind == Type::Field && Chance(5)) return "18446744069414584320";
  return std::to_string(Below(Chance(80) ? 9 : 70000));
}

std::string Generator::Index(size_t size) {
  std::vector<std::string> small;
  for (const Var& var : vars_)
    if (var.type.kind == Type::U32) small.push_back(var.name);
  // Sometimes out of bounds, so that it traps.
  if (!small.empty() && Chance(45)) {
    const std::string& name = small[Below(small.size())];
    if (Chance(30)) return name;
    return name + " & " + std::to_string(size >= 4 ? 3 : size >= 2 ? 1 : 0);
  }
  return std::to_string(Below(size));
}

void Generator::Places(const std::string& text, const Type& at, const Type& wanted, int depth,
                       std::vector<std::string>* found) {
  if (at == wanted) found->push_back(text);
  if (depth == 0) return;
  if (at.kind == Type::Array)
    Places(text + "[" + Index(at.size) + "]", at.parts[0], wanted, depth - 1, found);
  if (at.kind == Type::Struct)
    for (size_t i = 0; i < at.parts.size(); ++i)
      Places(text + ".m" + std::to_string(i), at.parts[i], wanted, depth - 1, found);
}

std::string Generator::PlaceOf(const Type& type, bool must_mut) {
  std::vector<std::string> found;
  for (const Var& var : vars_)
    if (var.is_mut || !must_mut) Places(var.name, var.type, type, 3, &found);
  return found.empty() ? "" : found[Below(found.size())];
}

std::string Generator::Make(const Type& type, int depth) {
  switch (type.kind) {
    case Type::Array: {
      if (Chance(15))
        return "[" + Expr(type.parts[0], depth - 1) + "; " + std::to_string(type.size) + "]";
      std::string text = "[";
      for (size_t i = 0; i < type.size; ++i)
        text += (i == 0 ? "" : ", ") + Expr(type.parts[0], depth - 1);
      return text + "]";
    }
    case Type::Tuple: {
      std::string text = "(";
      for (size_t i = 0; i < type.parts.size(); ++i)
        text += (i == 0 ? "" : ", ") + Expr(type.parts[i], depth - 1);
      return text + ")";
    }
    case Type::Struct: {
      std::string text = TypeText(type) + " { ";
      const bool turned = Chance(30);
      for (size_t k = 0; k < type.parts.size(); ++k) {
        const size_t i = turned ? type.parts.size() - 1 - k : k;
        text += (k == 0 ? "m" : ", m") + std::to_string(i) + ": " + Expr(type.parts[i], depth - 1);
      }
      return text + " }";
    }
    case Type::XField:
      return "xfield(" + FieldExpr(depth - 1) + ", " + FieldExpr(depth - 1) + ", " + FieldExpr(0) +
             ")";
    case Type::Digest:
      if (Chance(40)) return "divine5()";
      return "(" + FieldExpr(depth - 1) + ", " + FieldExpr(0) + ", " + FieldExpr(0) + ", " +
             FieldExpr(0) + ", " + FieldExpr(0) + ")";
    default: return Literal(type);
  }
}

std::string Generator::FieldExpr(int depth) {
  const Type type{Type::Field, {}, 0};
  if (depth <= 0 || Chance(20)) {
    std::string place = PlaceOf(type, false);
    return place.empty() || Chance(25) ? Literal(type) : place;
  }
  switch (Below(9)) {
    case 0: return "(" + Solid(type, depth - 1) + " + " + FieldExpr(depth - 1) + ")";
    case 1: return "(" + FieldExpr(depth - 1) + " * " + Solid(type, depth - 1) + ")";
    case 2: return "sub(" + FieldExpr(depth - 1) + ", " + FieldExpr(depth - 1) + ")";
    case 3: return "neg(" + FieldExpr(depth - 1) + ")";
    case 4: return "as_field(" + U32Expr(depth - 1) + ")";
    case 5:
      return Chance(30)   ? "inv(" + FieldExpr(depth - 1) + ")"
             : Chance(50) ? "pub_read()"
                          : "divine()";
    case 6: return Chance(50) ? "ram_read(" + std::to_string(Below(8)) + ")" : FieldExpr(depth - 1);
    case 7: {
      std::string call = CallOf(type, depth - 1);
      return call.empty() ? FieldExpr(depth - 1) : call;
    }
    default: {
      // A block, which may assign what stands around it.
      const std::string name = Fresh("b");
      const std::string place = Chance(40) ? PlaceOf(type, true) : "";
      const std::string change = place.empty() ? "" : place + " = " + FieldExpr(0) + "\n ";
      return "{ let " + name + ": Field = " + FieldExpr(depth - 1) + "\n " + change + name +
             " + 1 }";
    }
  }
}

std::string Generator::U32Expr(int depth) {
  const Type type{Type::U32, {}, 0};
  if (depth <= 0 || Chance(20)) {
    std::string place = PlaceOf(type, false);
    return place.empty() || Chance(25) ? Literal(type) : place;
  }
  switch (Below(9)) {
    case 0: return "(" + Solid(type, depth - 1) + " + " + U32Expr(depth - 1) + ")";
    case 1: return "((" + Solid(type, depth - 1) + " & 1023) * (" + Solid(type, 0) + " & 1023))";
    case 2: return "(" + Solid(type, depth - 1) + " & " + U32Expr(depth - 1) + ")";
    case 3: return "(" + U32Expr(depth - 1) + " ^ " + Solid(type, depth - 1) + ")";
    case 4:
      return Chance(40) ? "log2(" + U32Expr(depth - 1) + ")"
                        : "popcount(" + U32Expr(depth - 1) + ")";
    case 5: return Chance(30) ? "as_u32(" + FieldExpr(depth - 1) + ")" : "as_u32(pub_read())";
    case 6: return "pow(" + Solid(type, 0) + " & 7, " + std::to_string(Below(8)) + ")";
    default: {
      std::string call = CallOf(type, depth - 1);
      return call.empty() ? U32Expr(depth - 1) : call;
    }
  }
}

std::string Generator::BoolExpr(int depth) {
  const Type type{Type::Bool, {}, 0};
  if (depth <= 0 || Chance(20)) {
    std::string place = PlaceOf(type, false);
    return place.empty() || Chance(25) ? Literal(type) : place;
  }
  if (Chance(40))
    return "(" + Solid({Type::U32, {}, 0}, depth - 1) + " < " + U32Expr(depth - 1) + ")";
  const Type compared = RandomType(1);
  return "(" + Solid(compared, depth - 1) + " == " + Solid(compared, depth - 1) + ")";
}

std::string Generator::Solid(const Type& type, int depth) {
  std::string place = PlaceOf(type, false);
  if (!place.empty() && Chance(80)) return place;
  switch (type.kind) {
    case Type::Field: return Chance(50) ? "pub_read()" : "neg(" + FieldExpr(depth - 1) + ")";
    case Type::U32:
      return Chance(50) ? "as_u32(pub_read())" : "popcount(" + U32Expr(depth - 1) + ")";
    case Type::Digest: return "divine5()";
    case Type::Bool: return Literal(type);
    case Type::XField: return Make(type, depth);
    default: {
      // A literal of a composite would be of Fields: give it its type.
      const std::string name = Fresh("t");
      return "{ let " + name + ": " + TypeText(type) + " = " + Make(type, depth) + "\n " + name +
             " }";
    }
  }
}

std::string Generator::Expr(const Type& type, int depth) {
  if (type.kind == Type::Field) return FieldExpr(depth);
  if (type.kind == Type::U32) return U32Expr(depth);
  if (type.kind == Type::Bool) return BoolExpr(depth);
  std::string place = PlaceOf(type, false);
  if (!place.empty() && Chance(40)) return place;
  if (depth > 0 && Chance(30)) {
    std::string call = CallOf(type, depth - 1);
    if (!call.empty()) return call;
  }
  if (type.kind == Type::XField && depth > 0 && Chance(60)) {
    const std::string a = Solid(type, depth - 1);
    const uint64_t pick = Below(3);
    if (pick == 2) return "(" + a + " *. " + Solid({Type::Field, {}, 0}, 0) + ")";
    return "(" + a + (pick == 0 ? " + " : " * ") + Expr(type, depth - 1) + ")";
  }
  return Make(type, depth);
}

std::string Generator::Call(const Function& f, int depth) {
  std::string text = f.name;
  size_t n = 1 + Below(4);
  if (f.generic && Chance(40)) text += "<" + std::to_string(n) + ">";
  text += "(";
  for (size_t i = 0; i < f.params.size(); ++i) {
    Type type = f.params[i];
    if (f.generic && i == 0) type.size = n;
    text += (i == 0 ? "" : ", ") + Expr(type, depth);
  }
  return text + ")";
}

std::string Generator::CallOf(const Type& type, int depth) {
  std::vector<const Function*> fitting;
  for (const Function& f : functions_)
    if (&f != current_ && f.has_result && f.result == type) fitting.push_back(&f);
  // Calls in loops multiply; a few are enough.
  if (fitting.empty() || loops_ > 1) return "";
  return Call(*fitting[Below(fitting.size())], std::min(depth, 1));
}

void Generator::Write(const std::string& value, const Type& type) {
  switch (type.kind) {
    case Type::Field: Line("pub_write(" + value + ")"); break;
    case Type::U32: Line("pub_write(as_field(" + value + "))"); break;
    case Type::Bool: Line("if " + value + " { pub_write(1) } else { pub_write(0) }"); break;
    case Type::XField:
    case Type::Digest:
    case Type::Tuple: {
      const size_t count = type.kind == Type::XField   ? 3
                           : type.kind == Type::Digest ? 5
                                                       : type.parts.size();
      std::string names;
      std::vector<std::string> parts;
      for (size_t i = 0; i < count; ++i) {
        parts.push_back(Fresh("w"));
        names += (i == 0 ? "" : ", ") + parts.back();
      }
      // XField comes apart by what it is multiplied with elsewhere; here its parts are named like a tuple's.
      Line("let (" + names + ") = " + value);
      for (size_t i = 0; i < count; ++i)
        Write(parts[i], type.kind == Type::Tuple ? type.parts[i] : Type{Type::Field, {}, 0});
      break;
    }
    case Type::Array:
      for (size_t i = 0; i < type.size; ++i)
        Write(value + "[" + std::to_string(i) + "]", type.parts[0]);
      break;
    case Type::Struct:
      for (size_t i = 0; i < type.parts.size(); ++i)
        Write(value + ".m" + std::to_string(i), type.parts[i]);
      break;
  }
}

void Generator::Scoped(int count, int depth, bool may_return) {
  const std::vector<Var> saved = vars_;
  ++indent_;
  Stmts(count, depth);
  if (may_return && current_ != nullptr && Chance(35)) {
    if (current_->has_result)
      Line("return " + Expr(current_->result, 1));
    else
      Line("return");
  }
  --indent_;
  vars_ = saved;
}

void Generator::IfStmt(int depth) {
  Line("if " + (Chance(70) ? BoolExpr(2) : Solid({Type::Field, {}, 0}, 1)) + " {");
  Scoped(1 + static_cast<int>(Below(3)), depth - 1, true);
  if (Chance(50)) {
    Line("} else {");
    // One way always goes on: what follows would be refused as never reached.
    Scoped(1 + static_cast<int>(Below(2)), depth - 1, false);
  }
  Line("}");
}

void Generator::ForStmt(int depth) {
  if (loops_ >= 2) return;
  const std::string name = Fresh("i");
  const uint64_t lo = Below(3);
  std::string range = std::to_string(lo) + ".." + std::to_string(lo + Below(5));
  if (Chance(30))
    range = std::to_string(Below(2)) + ".." +
            Solid({Chance(50) ? Type::U32 : Type::Field, {}, 0}, 0) + " bounded 9";
  Line("for " + name + " in " + range + " {");
  const std::vector<Var> saved = vars_;
  vars_.push_back({name, {Type::U32, {}, 0}, false});
  ++loops_;
  Scoped(1 + static_cast<int>(Below(3)), depth - 1, true);
  --loops_;
  vars_ = saved;
  Line("}");
}

void Generator::MatchStmt(int depth) {
  const Type type = Chance(30) && !structs_.empty() ? structs_[Below(structs_.size())]
                                                    : Type{Chance(50)   ? Type::Field
                                                           : Chance(50) ? Type::U32
                                                                        : Type::Bool,
                                                           {},
                                                           0};
  Line("match " + Solid(type, 1) + " {");
  ++indent_;
  auto arm = [&](const std::string& pattern, bool last) {
    Line(pattern + " => {");
    Scoped(1, depth - 1, !last);
    Line("}");
  };
  if (type.kind == Type::Bool) {
    arm("true", false);
    arm(Chance(50) ? "false" : "_", true);
  } else if (type.kind == Type::Struct) {
    std::string pattern = TypeText(type) + " { ";
    const std::vector<Var> saved = vars_;
    std::vector<Var> bound;
    bool tested = false;
    for (size_t i = 0; i < type.parts.size(); ++i) {
      pattern += (i == 0 ? "m" : ", m") + std::to_string(i);
      const Type::Kind kind = type.parts[i].kind;
      if (kind <= Type::Bool && Chance(50)) {
        pattern += ": " + (kind == Type::Bool ? std::string("true") : std::to_string(Below(4)));
        tested = true;
      } else if (Chance(50)) {
        pattern += ": " + Fresh("p");
        bound.push_back({"p" + std::to_string(next_ - 1), type.parts[i], false});
      } else {
        pattern += ": _";
      }
    }
    vars_.insert(vars_.end(), bound.begin(), bound.end());
    arm(pattern + " }", !tested);
    vars_ = saved;
    if (tested) arm("_", true);
  } else {
    const uint64_t first = Below(3);
    for (uint64_t i = 0, n = 1 + Below(4); i < n; ++i) arm(std::to_string(first + i), false);
    arm("_", true);
  }
  --indent_;
  Line("}");
}

void Generator::Stmt(int depth) {
  const uint64_t pick = Below(depth > 0 ? 20 : 13);
  if (pick < 5) {
    const Type type = RandomType(2);
    const bool is_mut = Chance(60);
    const std::string value = Expr(type, 3);
    // Sometimes a name again: it hides the old one.
    const std::string name =
        !vars_.empty() && Chance(10) ? vars_[Below(vars_.size())].name : Fresh("v");
    Line(std::string("let ") + (is_mut ? "mut " : "") + name + ": " + TypeText(type) + " = " +
         value);
    for (Var& var : vars_)
      if (var.name == name) var.name = "";
    std::erase_if(vars_, [](const Var& var) { return var.name.empty(); });
    vars_.push_back({name, type, is_mut});
  } else if (pick < 9) {
    const Type type = RandomType(Chance(30) ? 1 : 0);
    std::string value = Expr(type, 2);
    std::string place = PlaceOf(type, true);
    if (!place.empty()) Line(place + " = " + value);
  } else if (pick == 9) {
    const Type u32{Type::U32, {}, 0};
    std::string value = Chance(50) ? "split(" + FieldExpr(1) + ")"
                                   : "(" + Solid(u32, 1) + " /% " + U32Expr(1) + ")";
    std::string a = PlaceOf(u32, true), b = PlaceOf(u32, true);
    if (!a.empty() && Chance(50)) {
      Line("(" + a + ", " + b + ") = " + value);
    } else {
      const std::string x = Fresh("q"), y = Fresh("q");
      Line("let (" + x + ", " + y + ") = " + value);
      vars_.push_back({x, u32, false});
      vars_.push_back({y, u32, false});
    }
  } else if (pick == 10) {
    const Type type = RandomType(1);
    if (std::string place = PlaceOf(type, false); !place.empty()) Write(place, type);
  } else if (pick == 11) {
    Line("ram_write(" + std::to_string(Below(8)) + ", " + FieldExpr(1) + ")");
  } else if (pick == 12) {
    Line("reveal E { b: " + FieldExpr(1) + ", a: " + FieldExpr(1) + " }");
  } else if (pick < 15) {
    IfStmt(depth);
  } else if (pick < 18) {
    ForStmt(depth);
  } else {
    MatchStmt(depth);
  }
}

void Generator::Stmts(int count, int depth) {
  for (int i = 0; i < count; ++i) Stmt(depth);
}

void Generator::FunctionText(size_t number) {
  Function f;
  f.name = "f" + std::to_string(number);
  f.generic = Chance(25);
  f.has_result = Chance(80);
  if (f.has_result) f.result = RandomType(2);
  for (uint64_t i = 0, n = Below(3) + (f.generic ? 1 : 0); i < n; ++i)
    f.params.push_back(RandomType(2));
  if (f.generic) f.params[0] = {Type::Array, {{Type::Field, {}, 0}}, 1};
  vars_.clear();
  std::string params;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const std::string name = "a" + std::to_string(i);
    const bool sized = f.generic && i == 0;
    params += (i == 0 ? "" : ", ") + name + ": " + (sized ? "[Field; N]" : TypeText(f.params[i]));
    // Inside, only element 0 of the sized array is sure to be there: it is read by a loop below.
    if (!sized) vars_.push_back({name, f.params[i], false});
  }
  Line("fn " + f.name + (f.generic ? "<N>" : "") + "(" + params + ")" +
       (f.has_result ? " -> " + TypeText(f.result) : "") + " {");
  functions_.push_back(f);
  const Function own = f;
  current_ = &own;
  ++indent_;
  if (f.generic) {
    Line("let mut total: Field = 0");
    Line("for i in 0..N { total = total * 3 + a0[i] }");
    vars_.push_back({"total", {Type::Field, {}, 0}, true});
  }
  // Itself is not called: it stands last and is left out by number.
  const Function kept = functions_.back();
  functions_.pop_back();
  Stmts(2 + static_cast<int>(Below(4)), 3);
  if (f.has_result) {
    if (Chance(30)) {
      Line("if " + BoolExpr(1) + " {");
      Line("    " + Expr(f.result, 2));
      Line("} else {");
      Line("    " + Expr(f.result, 2));
      Line("}");
    } else {
      Line(Expr(f.result, 2));
    }
  }
  functions_.push_back(kept);
  --indent_;
  current_ = nullptr;
  Line("}");
}

std::string Generator::Program() {
  text_ = "program random\n\nevent E { a: Field, b: Field }\n\n";
  for (size_t i = 0, n = Below(3); i < n; ++i) {
    Type type{Type::Struct, {}, i};
    text_ += "struct S" + std::to_string(i) + " { ";
    for (size_t k = 0, members = 1 + Below(3); k < members; ++k) {
      type.parts.push_back(RandomType(1));
      text_ += (k == 0 ? "m" : ", m") + std::to_string(k) + ": " + TypeText(type.parts[k]);
    }
    text_ += " }\n";
    structs_.push_back(type);
  }
  for (size_t i = 0, n = Below(4); i < n; ++i) FunctionText(i);
  vars_.clear();
  Line("fn main() {");
  ++indent_;
  Stmts(6 + static_cast<int>(Below(8)), 3);
  for (const Var& var : std::vector<Var>(vars_)) Write(var.name, var.type);
  --indent_;
  Line("}");
  return text_;
}

}  // namespace frazil::tests::trident
