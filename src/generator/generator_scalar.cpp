// Rows of ops.def whose signature says everything: operands are drawn by the signature's letters and
// attributes by their kinds. Ops that can trap get operands that cannot make them trap, most of the time.

#include <algorithm>
#include <bit>

#include "generator/generator_internal.h"
#include "ir/check/attributes.h"
#include "ir/text/literal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Contains;
namespace sets = ir::sets;
namespace types = ir::types;

namespace {

bool IsInteger(Type type) { return Contains(sets::Fixed | sets::BigInt, type.scalar); }

// The conversions that the row of `cast` names.
bool CastExists(Scalar from, Scalar to) {
  bool from_int = Contains(sets::Fixed | sets::Bool, from);
  if (Contains(sets::Fixed, to))
    return from_int || ir::IsFloat(from) || (from == Scalar::Field && to == Scalar::U64);
  if (ir::IsFloat(to)) return from_int || ir::IsFloat(from);
  if (to == Scalar::Field) return from_int;
  return to == Scalar::XField && from == Scalar::Field;
}

bool SourceExists(Op op, Type from, Type to) {
  switch (op) {
    case Op::Cast: return CastExists(from.scalar, to.scalar);
    case Op::CastChecked: return Contains(sets::Fixed | sets::BigInt | sets::Bool, from.scalar);
    case Op::Bitcast:
      return Contains(sets::Fixed | sets::Float, from.scalar) && ir::BitsOf(from) == ir::BitsOf(to);
    default: return false;
  }
}

}  // namespace

bool FunctionGenerator::ChooseSource(Op op, Type to, Type* from) {
  std::vector<Type> fitting;
  for (Type type : state_.pool)
    if (SourceExists(op, type, to)) fitting.push_back(type);
  if (fitting.empty() || state_.random.Chance(20)) {
    for (int i = 0; i < ir::ScalarCount; ++i) {
      Type type = Type::Of(static_cast<Scalar>(i));
      if (type.scalar == Scalar::Int) type = Type::Int(2);
      if (Contains(state_.options.types, type.scalar) && SourceExists(op, type, to))
        fitting.push_back(type);
    }
  }
  if (fitting.empty()) return false;
  *from = state_.random.Pick(fitting);
  return true;
}

std::optional<ValueId> FunctionGenerator::BufferOf(Type element, bool read, bool write) {
  std::vector<ValueId> found;
  for (ValueId value : scope_) {
    Type type = b_.TypeOf(value);
    auto access = static_cast<uint32_t>(type.access);
    if (type.is_buffer() && type.element() == element && (!read || (access & 1)) &&
        (!write || (access & 2)))
      found.push_back(value);
  }
  if (found.empty()) return std::nullopt;
  return state_.random.Pick(found);
}

ValueId FunctionGenerator::SafeIndex(ValueId length) {
  if (Unguarded()) return Any(types::Index);
  ValueId divisor = b_.Binary(Op::Max, length, Int(types::Index, 1));
  return b_.Binary(Op::RemFloor, Any(types::Index), divisor);
}

ir::DataId FunctionGenerator::Table(Type element) {
  auto& tables = state_.program.data;
  for (uint32_t i = 0; i < tables.size(); ++i)
    if (tables[i].element == element && state_.random.Chance(70)) return ir::DataId(i);
  ir::Data table{"t" + std::to_string(tables.size()), element, {}};
  for (uint64_t i = 0, n = 1 + state_.random.Below(9); i < n; ++i)
    for (uint64_t word : RandomWords(element, state_.random)) table.words.push_back(word);
  tables.push_back(std::move(table));
  return ir::DataId(static_cast<uint32_t>(tables.size() - 1));
}

// value limited to [-2^bits, 2^bits - 1], or [0, 2^bits - 1] if it must not be negative.
ValueId FunctionGenerator::Clamp(ValueId value, int64_t bits, bool negative) {
  Type type = b_.TypeOf(value);
  uint32_t words = ir::WordsOf(type);
  std::vector<uint64_t> high(words, 0), low(words, 0);
  for (int64_t bit = 0; bit < bits; ++bit) high[bit / 64] |= 1ull << (bit % 64);
  if (negative && ir::IsSigned(type.scalar))
    for (uint32_t i = 0; i < words; ++i) low[i] = ~high[i];
  ValueId upper = b_.Binary(Op::Min, value, b_.Const(type, high));
  return b_.Binary(Op::Max, upper, b_.Const(type, low));
}

void FunctionGenerator::GuardOperands(const ir::OpInfo& info, Type type, ir::Values& operands) {
  if (info.traps == 0 || Unguarded()) return;
  int64_t width = IsInteger(type) ? ir::WordsOf(type) > 1 || type.scalar == Scalar::Int
                                        ? int64_t{64} * type.limbs
                                        : ir::BitsOf(type)
                                  : 0;
  bool is_signed = ir::IsSigned(type.scalar);
  switch (info.op) {
    case Op::AddChecked:
      for (ValueId& operand : operands) operand = Clamp(operand, width - 2, true);
      break;
    case Op::SubChecked: {
      for (ValueId& operand : operands) operand = Clamp(operand, width - 2, true);
      if (is_signed) break;
      ValueId lesser = b_.Binary(Op::Min, operands[0], operands[1]);
      operands[0] = b_.Binary(Op::Max, operands[0], operands[1]);
      operands[1] = lesser;
      break;
    }
    case Op::MulChecked:
      for (ValueId& operand : operands) operand = Clamp(operand, width / 2 - 1, true);
      break;
    case Op::NegChecked: operands[0] = Clamp(operands[0], is_signed ? width - 2 : 0, true); break;
    case Op::AbsChecked: operands[0] = Clamp(operands[0], width - 2, true); break;
    case Op::DivChecked: operands[0] = Clamp(operands[0], width - 2, true); [[fallthrough]];
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor:
    case Op::RemChecked: {
      ValueId one = Int(type, 1);
      ValueId is_zero = b_.Binary(Op::Eq, operands[1], Int(type, 0));
      operands[1] = b_.Select(is_zero, one, operands[1]);
      break;
    }
    case Op::FieldDiv:
    case Op::Invert: {
      ValueId zero = b_.Const(type, std::vector<uint64_t>(ir::WordsOf(type), 0));
      std::vector<uint64_t> unit(ir::WordsOf(type), 0);
      unit[0] = 1;
      ValueId is_zero = b_.Binary(Op::Eq, operands.back(), zero);
      operands.back() = b_.Select(is_zero, b_.Const(type, unit), operands.back());
      break;
    }
    case Op::CastChecked: {
      Type from = b_.TypeOf(operands[0]);
      if (from.scalar == Scalar::Bool) break;
      int64_t from_width = from.scalar == Scalar::Int ? 64 * from.limbs : ir::BitsOf(from);
      operands[0] = Clamp(operands[0], std::min(from_width, width) - 1, is_signed);
      break;
    }
    case Op::Assert: operands[0] = b_.Binary(Op::Or, operands[0], Int(types::Bool, 1)); break;
    default: break;
  }
}

bool FunctionGenerator::EmitRow(const ir::OpInfo& info) {
  Random& random = state_.random;
  if (info.op == Op::Barrier) return EmitParallel();
  if (info.op == Op::Unreachable) {
    // Behind a condition that seldom holds, or never if traps are not wanted.
    if (nesting_ > 2) return false;
    bool found = false;
    Type type = PoolType(sets::Any, &found);
    ValueId rare = b_.Binary(Op::Eq, Any(type), Constant(type));
    if (!state_.unguarded) rare = b_.Binary(Op::And, rare, Int(types::Bool, 0));
    b_.If(
        rare, {},
        [&] {
          b_.Emit(Op::Unreachable, Type{}, {}, {});
          return ir::Values{};
        },
        [] { return ir::Values{}; });
    return true;
  }
  if (scalar_only_ && info.effect != ir::Effect::Pure && info.op != Op::Assert) return false;

  // One permutation is thousands of instructions in every target: seldom, then.
  if (info.op == Op::Hash && !random.Chance(20)) return false;
  if (info.op == Op::SpongeInit || info.op == Op::SpongeAbsorb) return EmitProver(info);
  bool found = info.types == sets::None;
  Type type = found ? Type{} : PoolType(info.types, &found);
  if (!found) return false;
  if (info.op == Op::Input || info.op == Op::Hint) {
    type = info.op == Op::Input ? state_.input_type : state_.hint_type;
    // RandomContext gives 64 values of each stream.
    if (!state_.unguarded && (weight_ > 1 || !is_entry_ || ++stream_reads_ > 30)) return false;
  }

  std::string_view signature = info.signature;
  size_t arrow = signature.find("->");
  ir::Values operands;
  std::vector<uint64_t> words;
  ValueId buffer;
  for (char letter : signature.substr(0, arrow)) {
    switch (letter) {
      case 'T': operands.push_back(Any(type)); break;
      case 'B': operands.push_back(Any(types::Bool)); break;
      case 'F': operands.push_back(Any(types::Field)); break;
      case 'M':
      case 'N': {
        auto candidate = BufferOf(type, letter == 'M', letter == 'N');
        if (!candidate) return false;
        buffer = *candidate;
        operands.push_back(buffer);
        break;
      }
      case 'X':
        if (info.op == Op::Lookup) {
          ir::DataId table = Table(type);
          words.push_back(table.index);
          auto length = static_cast<int64_t>(state_.program.data[table.index].length());
          operands.push_back(SafeIndex(Int(types::Index, length)));
        } else {
          operands.push_back(SafeIndex(b_.Length(buffer)));
        }
        break;
      case 'S': {
        Type from = info.op == Op::FieldPow ? types::U32 : types::U64;
        if (info.law != ir::Law::Prelude && !ChooseSource(info.op, type, &from)) return false;
        operands.push_back(Any(from));
        break;
      }
      default: break;
    }
  }
  for (const ir::AttributeSpec& spec : ir::AttributesOf(info.op)) {
    if (spec.kind == ir::AttributeKind::Value) words = RandomWords(type, random);
    if (spec.kind == ir::AttributeKind::Int) words.push_back(random.Below(ir::WordsOf(type)));
  }
  GuardOperands(info, type, operands);

  std::vector<Type> results;
  std::string_view result = signature.substr(arrow + 2);
  if (result == "T") results.push_back(type);
  if (result == "B") results.push_back(types::Bool);
  if (result == "F") results.push_back(types::Field);
  for (ValueId value : b_.Emit(info.op, type, operands, results, words)) AddToScope(value);
  return true;
}

}  // namespace frazil::generator
