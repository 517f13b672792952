// Lookups are by a table sorted once; hints by edit distance, only on the way to an error.
#include "frontends/python/functions.h"

#include <algorithm>
#include <vector>

#include "base/names.h"
#include "ir/type.h"

namespace frazil::frontends::python {
namespace {

using ir::Scalar;

constexpr FunctionRow Rows[] = {
#define FRAZIL_FUNCTION(name, kind, op, arity, detail) {name, FunctionKind::kind, ir::Op::op, arity, detail},
#include "frontends/python/functions.def"
#undef FRAZIL_FUNCTION
};

constexpr Named<Scalar> Types[] = {
    {"int", Scalar::I32},     {"float", Scalar::F32},   {"bool", Scalar::Bool},
    {"usize", Scalar::Index}, {"index", Scalar::Index}, {"i8", Scalar::I8},
    {"i16", Scalar::I16},     {"i32", Scalar::I32},     {"i64", Scalar::I64},
    {"u8", Scalar::U8},       {"u16", Scalar::U16},     {"u32", Scalar::U32},
    {"u64", Scalar::U64},     {"f16", Scalar::F16},     {"bf16", Scalar::BF16},
    {"f32", Scalar::F32},     {"f64", Scalar::F64},
};

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t old = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = old;
    }
  }
  return row[b.size()];
}

int Width(Scalar s) { return ir::BitsOf(ir::Type::Of(s)); }

Scalar SignedOf(int bits) {
  return bits == 8 ? Scalar::I8 : bits == 16 ? Scalar::I16 : bits == 32 ? Scalar::I32 : Scalar::I64;
}

ValueType JoinInts(Scalar a, Scalar b) {
  if (a == Scalar::Index || b == Scalar::Index) return ValueType::Of(Scalar::Index);
  if (ir::IsSigned(a) == ir::IsSigned(b)) return ValueType::Of(Width(a) >= Width(b) ? a : b);
  Scalar with_sign = ir::IsSigned(a) ? a : b;
  Scalar without = ir::IsSigned(a) ? b : a;
  if (Width(with_sign) > Width(without)) return ValueType::Of(with_sign);
  if (Width(without) == 64) return {ValueType::Nothing};
  return ValueType::Of(SignedOf(2 * Width(without)));
}

ValueType JoinFloats(Scalar a, Scalar b) {
  if (Width(a) != Width(b)) return ValueType::Of(Width(a) > Width(b) ? a : b);
  return ValueType::Of(Scalar::F32);  // f16 and bf16
}

}  // namespace

const FunctionRow* FindFunction(std::string_view name) {
  static const NameIndex<size_t> index(Rows, &FunctionRow::name);
  const std::optional<size_t> found = index.Find(name);
  return found ? &Rows[*found] : nullptr;
}

std::string_view NearestFunction(std::string_view name) {
  std::string_view best;
  size_t least = std::max<size_t>(name.size() / 3, 1);
  auto consider = [&](std::string_view other) {
    size_t distance = EditDistance(name, other);
    if (distance <= least && (best.empty() || distance < least)) {
      best = other;
      least = distance;
    }
  };
  if (name.size() > 40) return {};
  for (const FunctionRow& row : Rows) consider(row.name);
  for (const Named<Scalar>& row : Types) consider(row.name);
  return best;
}

std::optional<Scalar> ScalarNamed(std::string_view name) { return FindNamed(Types, name); }

ValueType Join(ValueType a, ValueType b) {
  if (a.kind == ValueType::Unknown) return b;
  if (b.kind == ValueType::Unknown || a == b) return a;
  if (a.kind == ValueType::Nothing || b.kind == ValueType::Nothing) return {ValueType::Nothing};
  if (a.is_weak() && b.is_weak()) return {ValueType::WeakFloat};
  if (a.is_weak()) std::swap(a, b);
  if (b.is_weak()) {
    if (b.kind == ValueType::WeakInt) return a.is_bool() ? b : a;
    return a.is_float()
               ? a
               : b;  // an integer or bool meets a float literal: f32 unless something decides
  }
  if (a.is_bool()) std::swap(a, b);
  if (b.is_bool()) return a;
  if (a.is_float() && b.is_float()) return JoinFloats(a.scalar, b.scalar);
  if (a.is_float()) return a;
  if (b.is_float()) return b;
  return JoinInts(a.scalar, b.scalar);
}

bool MayAssign(ValueType from, Scalar to) {
  if (from.kind == ValueType::WeakInt) return to != Scalar::Bool;
  if (from.kind == ValueType::WeakFloat) return ir::IsFloat(to);
  if (from.kind != ValueType::Typed) return false;
  if (from.scalar == to) return true;
  bool both_signed_64 = (from.is(Scalar::Index) && to == Scalar::I64) ||
                        (from.is(Scalar::I64) && to == Scalar::Index);
  if (both_signed_64) return true;
  if (from.is(Scalar::U64) && to == Scalar::Index) return false;
  return Join(from, ValueType::Of(to)) == ValueType::Of(to);
}

ValueType AsFloat(ValueType type) {
  if (type.kind == ValueType::WeakInt) return {ValueType::WeakFloat};
  if (type.kind != ValueType::Typed || type.is_float()) return type;
  return ValueType::Of(!type.is_bool() && Width(type.scalar) == 64 ? Scalar::F64 : Scalar::F32);
}

Scalar Settle(ValueType type) {
  if (type.kind == ValueType::Typed) return type.scalar;
  return type.kind == ValueType::WeakFloat ? Scalar::F32 : Scalar::I32;
}

bool Fits(const Literal& literal, Scalar to) {
  if (ir::IsFloat(to)) return true;
  if (literal.kind == Literal::Float) return false;
  if (to == Scalar::Bool) return literal.kind == Literal::Bool;
  int bits = Width(to);
  __int128 one = 1;
  if (!ir::IsSigned(to)) return literal.integer >= 0 && literal.integer < (one << bits);
  return literal.integer >= -(one << (bits - 1)) && literal.integer < (one << (bits - 1));
}

std::string TypeName(ValueType type) {
  switch (type.kind) {
    case ValueType::Unknown: return "unknown";
    case ValueType::WeakInt: return "an integer literal";
    case ValueType::WeakFloat: return "a float literal";
    case ValueType::Nothing: return "nothing";
    case ValueType::Typed: break;
  }
  return type.is(Scalar::Index) ? "usize" : std::string(ir::ScalarName(type.scalar));
}

}  // namespace frazil::frontends::python
