// Calls and built-in functions of the evaluator, and its own arithmetic.
#include <bit>

#include "evaluator.h"

namespace frazil::tests::trident {

__extension__ using Wide = unsigned __int128;

uint64_t MulP(uint64_t a, uint64_t b) { return static_cast<uint64_t>(Wide{a} * b % P); }
uint64_t AddP(uint64_t a, uint64_t b) { return static_cast<uint64_t>((Wide{a} + b) % P); }
uint64_t PowP(uint64_t a, uint64_t e) {
  uint64_t result = 1;
  for (; e != 0; e /= 2, a = MulP(a, a))
    if (e % 2 == 1) result = MulP(result, a);
  return result;
}

Val MakeField(uint64_t n) { return {Val::Field, n, {}, {}}; }
Val MakeU32(uint64_t n) {
  if (n >> 32 != 0) throw Crash();
  return {Val::U32, n, {}, {}};
}
Val MakeBool(bool b) { return {Val::Bool, b ? 1u : 0u, {}, {}}; }

bool SameValue(const Val& a, const Val& b) {
  if (a.n != b.n || a.parts.size() != b.parts.size()) return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (!SameValue(a.parts[i], b.parts[i])) return false;
  return true;
}

void Evaluator::Emit(const Val& v) {
  if (v.parts.empty() && v.kind != Val::Group) output_.push_back(v.n);
  for (const Val& part : v.parts) Emit(part);
}

Val Evaluator::Call(const tri::Expr& e) {
  std::vector<Val> args;
  for (const tri::ExprPtr& operand : e.operands) args.push_back(Eval(*operand));
  const std::string& name = e.path.parts[0];
  for (const tri::FunctionDecl& f : module_.functions)
    if (f.name == name) return CallFunction(f, std::move(args), e);
  return Builtin(name, args);
}

Val Evaluator::CallFunction(const tri::FunctionDecl& f, std::vector<Val> args,
                            const tri::Expr& call) {
  Scope scope;
  scope.function = &f;
  for (size_t i = 0; i < f.sizes.size(); ++i) {
    if (i < call.sizes.size()) scope.sizes[f.sizes[i]] = Size(*call.sizes[i]);
    for (size_t k = 0; k < f.params.size() && call.sizes.empty(); ++k) {
      const tri::TypeExpr& type = f.params[k].type;
      if (type.kind == tri::TypeExpr::Kind::Array && type.size->kind == tri::Expr::Kind::Name &&
          type.size->path.parts[0] == f.sizes[i])
        scope.sizes[f.sizes[i]] = args[k].parts.size();
    }
  }
  for (size_t i = 0; i < args.size(); ++i)
    scope.variables.emplace_back(f.params[i].name, As(std::move(args[i]), f.params[i].type));
  calls_.push_back(std::move(scope));
  Val value = Block(*f.body);
  if (calls_.back().returned)
    value = calls_.back().result;
  else if (f.result)
    value = As(std::move(value), *f.result);
  calls_.pop_back();
  return value;
}

Val Evaluator::Builtin(const std::string& name, std::vector<Val>& a) {
  auto read = [](std::vector<uint64_t>& stream, size_t& next) {
    if (next >= stream.size()) throw Crash();
    return MakeField(stream[next++]);
  };
  auto group = [&](std::vector<uint64_t>& stream, size_t& next, size_t count, bool digest) {
    Val value;
    for (size_t i = 0; i < count; ++i)
      value.parts.insert(digest ? value.parts.begin() : value.parts.end(), read(stream, next));
    if (digest) value.kind = Val::Digest;
    return value;
  };
  if (name == "pub_read") return read(input_, next_input_);
  if (name == "pub_read2") return group(input_, next_input_, 2, false);
  if (name == "pub_read3") return group(input_, next_input_, 3, false);
  if (name == "pub_read5") return group(input_, next_input_, 5, true);
  if (name == "divine") return read(secret_, next_secret_);
  if (name == "divine3") return group(secret_, next_secret_, 3, false);
  if (name == "divine5") return group(secret_, next_secret_, 5, true);
  if (name.starts_with("pub_write")) {
    for (const Val& v : a) output_.push_back(v.n);
    return {};
  }
  if (name == "sub") return MakeField(AddP(a[0].n, P - a[1].n));
  if (name == "neg") return MakeField(a[0].n == 0 ? 0 : P - a[0].n);
  if (name == "inv") {
    if (a[0].n == 0) throw Crash();
    return MakeField(PowP(a[0].n, P - 2));
  }
  if (name == "split")
    return {Val::Group, 0, {MakeU32(a[0].n >> 32), MakeU32(a[0].n & 0xffff'ffffu)}, {}};
  if (name == "as_u32") return MakeU32(a[0].n);
  if (name == "as_field") return MakeField(a[0].n);
  if (name == "log2") {
    if (a[0].n == 0) throw Crash();
    return MakeU32(63 - static_cast<uint64_t>(std::countl_zero(a[0].n)));
  }
  if (name == "popcount") return MakeU32(static_cast<uint64_t>(std::popcount(a[0].n)));
  if (name == "pow") {
    Val power = MakeU32(1);
    if (a[0].n < 2) return MakeU32(a[1].n == 0 ? 1 : a[0].n);
    for (uint64_t i = 0; i < a[1].n; ++i) power = MakeU32(power.n * a[0].n);
    return power;
  }
  if (name == "assert" && a[0].n == 0) throw Crash();
  if ((name == "assert_eq" || name == "assert_digest") && !SameValue(a[0], a[1])) throw Crash();
  if (name == "xfield")
    return {Val::XField, 0, {MakeField(a[0].n), MakeField(a[1].n), MakeField(a[2].n)}, {}};
  if (name.starts_with("ram_") && a[0].n >= ram_.size()) throw Crash();
  if (name == "ram_read") return MakeField(ram_[a[0].n]);
  if (name == "ram_write") ram_[a[0].n] = a[1].n;
  return {};
}

}  // namespace frazil::tests::trident
