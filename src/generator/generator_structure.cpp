// Ops with regions, calls and memory. Trip counts are small and known; `weight_` multiplies them, so that
// no program runs for long however its loops and calls nest.

#include <algorithm>
#include <limits>

#include "generator/generator_internal.h"
#include "ir/check/call_types.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Contains;
using ir::Values;
namespace sets = ir::sets;
namespace types = ir::types;

namespace {
constexpr uint32_t MaxNesting = 3;
constexpr uint64_t MaxCost = 20'000;
}  // namespace

bool FunctionGenerator::EmitCustom(const ir::OpInfo& info) {
  bool in_map =
      info.op == Op::If || info.op == Op::For || info.op == Op::While || info.op == Op::Switch;
  if (scalar_only_ && !in_map) return false;
  switch (info.op) {
    case Op::If:
      if (nesting_ >= MaxNesting) return false;
      EmitIf();
      return true;
    case Op::For: return EmitFor();
    case Op::While:
      if (nesting_ >= MaxNesting) return false;
      EmitWhile();
      return true;
    case Op::Switch:
      if (nesting_ >= MaxNesting) return false;
      EmitSwitch();
      return true;
    case Op::Parallel: return EmitParallel();
    case Op::Call: return EmitCall();
    case Op::Length: return EmitLength();
    case Op::Alloc: return EmitAlloc();
    case Op::AtomicRmw: return EmitAtomic();
    case Op::AtomicCas: return EmitCas();
    case Op::SpongeSqueeze:
    case Op::MerkleStep: return EmitProver(info);
    default: return EmitTensor(info);
  }
}

std::vector<Type> FunctionGenerator::YieldTypes() {
  std::vector<Type> result;
  for (uint64_t i = 0, n = state_.random.Below(4); i < n; ++i) {
    result.push_back(state_.random.Pick(state_.pool));
    if (!state_.options.allow_tensors || !state_.random.Chance(15)) continue;
    if (auto tensor = ExistingTensor(sets::Any, 0)) result.back() = b_.TypeOf(*tensor);
  }
  return result;
}

Values FunctionGenerator::YieldValues(const std::vector<Type>& yields) {
  Values values;
  for (Type type : yields)
    values.push_back(type.is_tensor() ? TensorOf(type.element(), b_.function().shape(type))
                                      : Any(type));
  return values;
}

// Statements in a region of their own; what they define is gone afterwards.
Values FunctionGenerator::InRegion(uint32_t statements, const std::vector<Type>& yields,
                                   uint64_t trips) {
  size_t mark = scope_.size();
  uint64_t outer = weight_;
  weight_ *= trips;
  ++nesting_;
  Statements(statements);
  Values values = YieldValues(yields);
  --nesting_;
  weight_ = outer;
  scope_.resize(mark);
  return values;
}

void FunctionGenerator::EmitIf() {
  std::vector<Type> results = YieldTypes();
  ValueId condition = Any(types::Bool);
  auto region = [&] { return InRegion(static_cast<uint32_t>(state_.random.Below(4)), results); };
  for (ValueId value : b_.If(condition, results, region, region)) AddToScope(value);
}

// Bounds with at most 11 iterations, some at the far end of the type.
std::pair<ValueId, ValueId> FunctionGenerator::Bounds(Type type, int64_t* step, uint64_t* trips) {
  Random& random = state_.random;
  *step = random.Chance(60) ? 1 : random.Between(1, 5);
  *trips = 11;
  bool is_signed = ir::IsSigned(type.scalar);
  int bits = ir::BitsOf(type);
  if (random.Chance(15)) {
    // The last value of the type must not make the loop wrap.
    uint64_t max = bits == 64 ? std::numeric_limits<uint64_t>::max() >> is_signed
                              : (1ull << (bits - is_signed)) - 1;
    uint64_t low = max - random.Below(9), high = max - random.Below(3);
    return {b_.Const(type, std::span(&low, 1)), b_.Const(type, std::span(&high, 1))};
  }
  int64_t low = is_signed ? random.Between(-3, 3) : random.Between(0, 3);
  if (random.Chance(50)) return {Int(type, low), SmallCount(type)};
  if (random.Chance(50)) return {SmallCount(type), Int(type, random.Between(0, 9))};
  return {Int(type, low), Int(type, low + random.Between(0, 6))};
}

bool FunctionGenerator::EmitFor() {
  bool found = false;
  Type type = PoolType(sets::Fixed, &found);
  if (!found || nesting_ >= MaxNesting || weight_ > 200) return false;
  int64_t step = 1;
  uint64_t trips = 1;
  auto [low, high] = Bounds(type, &step, &trips);
  std::vector<Type> carried_types = YieldTypes();
  Values inits = YieldValues(carried_types);
  Values results = b_.For(low, high, step, inits, [&](ValueId i, std::span<const ValueId> carried) {
    size_t mark = scope_.size();
    AddToScope(i);
    scope_.insert(scope_.end(), carried.begin(), carried.end());
    Values values =
        InRegion(1 + static_cast<uint32_t>(state_.random.Below(4)), carried_types, trips);
    scope_.resize(mark);
    return values;
  });
  for (ValueId value : results) AddToScope(value);
  return true;
}

void FunctionGenerator::EmitWhile() {
  bool found = false;
  Type type = PoolType(sets::Fixed, &found);
  std::vector<Type> carried_types = YieldTypes();
  Values inits = YieldValues(carried_types);
  // The counter is carried first and only ever goes down.
  inits.insert(inits.begin(), SmallCount(type));
  size_t mark = scope_.size();
  uint64_t outer = weight_;
  Values results = b_.While(
      inits,
      [&](std::span<const ValueId> carried) {
        weight_ *= 8;
        ++nesting_;
        scope_.insert(scope_.end(), carried.begin(), carried.end());
        Statements(static_cast<uint32_t>(state_.random.Below(3)));
        ValueId more = b_.Binary(Op::Gt, carried[0], Int(type, 0));
        if (state_.random.Chance(30)) more = b_.Binary(Op::And, more, Any(types::Bool));
        return more;
      },
      [&](std::span<const ValueId> carried) {
        Statements(static_cast<uint32_t>(state_.random.Below(3)));
        Values values = YieldValues(carried_types);
        values.insert(values.begin(), b_.Binary(Op::Sub, carried[0], Int(type, 1)));
        return values;
      });
  --nesting_;
  weight_ = outer;
  scope_.resize(mark);
  for (ValueId value : results) AddToScope(value);
}

void FunctionGenerator::EmitSwitch() {
  Random& random = state_.random;
  bool found = false;
  Type type = PoolType(sets::Fixed, &found);
  bool is_signed = ir::IsSigned(type.scalar);
  std::vector<int64_t> cases;
  for (uint64_t i = 0, n = random.Below(5); i < n; ++i) {
    int64_t value = is_signed ? random.Between(-3, 4) : random.Between(0, 7);
    if (random.Chance(10)) value = static_cast<int64_t>(RandomWords(type, random)[0]);
    if (std::find(cases.begin(), cases.end(), value) == cases.end()) cases.push_back(value);
  }
  ValueId selector = random.Chance(70) ? SmallCount(type) : Any(type);
  std::vector<Type> results = YieldTypes();
  auto region = [&](uint32_t) { return InRegion(static_cast<uint32_t>(random.Below(3)), results); };
  for (ValueId value : b_.Switch(selector, cases, results, region)) AddToScope(value);
}

// Phases between barriers, some of them inside of a `for` or `if` that all iterations go through alike.
void FunctionGenerator::EmitPhases(const Uniform& uniform) {
  Random& random = state_.random;
  auto some_statements = [&] { Statements(static_cast<uint32_t>(random.Below(2))); };
  auto phase = [&] {
    some_statements();
    b_.Emit(Op::Barrier, Type{}, {}, {});
    some_statements();
  };
  auto in_structure = [&](uint64_t trips) {
    size_t mark = scope_.size();
    uint64_t outer = weight_;
    weight_ *= trips;
    ++nesting_;
    phase();
    --nesting_;
    weight_ = outer;
    scope_.resize(mark);
  };
  for (uint64_t i = 0, n = 1 + random.Below(2); i < n; ++i) {
    uint64_t kind = random.Below(4);
    if (kind == 0 && nesting_ < MaxNesting) {
      Type type = random.Pick(state_.pool);
      Values init = {Any(type)};
      Values results = b_.For(uniform.low, uniform.high, 1, init,
                              [&](ValueId j, std::span<const ValueId> carried) {
                                size_t mark = scope_.size();
                                AddToScope(j);
                                AddToScope(carried[0]);
                                in_structure(11);
                                Values next = {Any(type)};
                                scope_.resize(mark);
                                return next;
                              });
      AddToScope(results[0]);
    } else if (kind == 1 && nesting_ < MaxNesting) {
      b_.If(
          uniform.condition, {},
          [&] {
            in_structure(1);
            return Values{};
          },
          [&] {
            if (random.Chance(30)) in_structure(1);
            return Values{};
          });
    } else {
      phase();
    }
  }
  Statements(1);
}

bool FunctionGenerator::EmitParallel() {
  Random& random = state_.random;
  if (!state_.options.allow_parallel || scalar_only_ || nesting_ >= MaxNesting || weight_ > 200)
    return false;
  int64_t step = 1;
  uint64_t trips = 1;
  auto [low, high] = Bounds(types::Index, &step, &trips);
  bool outer = in_parallel_;
  bool phases = !in_parallel_ && random.Chance(50);
  Uniform uniform;
  if (phases) uniform = {Any(types::Bool), Int(types::Index, 0), SmallCount(types::Index)};
  in_parallel_ = true;
  size_t mark = scope_.size();
  uint64_t outer_weight = weight_;
  ++nesting_;
  weight_ *= trips;
  b_.Parallel(low, high, [&](ValueId i) {
    AddToScope(i);
    if (phases)
      EmitPhases(uniform);
    else
      Statements(1 + static_cast<uint32_t>(random.Below(4)));
  });
  --nesting_;
  weight_ = outer_weight;
  scope_.resize(mark);
  in_parallel_ = outer;
  return true;
}

bool FunctionGenerator::EmitCall() {
  auto& functions = state_.program.functions;
  if (functions.empty()) return false;
  auto callee = static_cast<uint32_t>(state_.random.Below(functions.size()));
  if (weight_ * state_.costs[callee] > MaxCost) return false;
  const ir::Function& function = functions[callee];
  auto& recursive = state_.recursive;
  bool counts_down = std::find(recursive.begin(), recursive.end(), callee) != recursive.end();
  std::vector<bool> sizes_tensor(function.param_count(), false);
  for (const ir::Shape& shape : function.shapes)
    for (ir::Dim dim : shape)
      if (dim.is_symbol()) sizes_tensor[dim.param()] = true;

  Values arguments(function.param_count());
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    Type type = function.param_type(i);
    if (type.is_buffer()) {
      auto access = static_cast<uint32_t>(type.access);
      auto buffer = BufferOf(type.element(), access & 1, access & 2);
      if (!buffer) return false;
      arguments[i] = *buffer;
    } else if (sizes_tensor[i]) {
      // What sizes a tensor must be a parameter or a constant, so that shapes are known here.
      bool constant = symbols_.empty() || state_.random.Chance(50);
      arguments[i] = constant ? Int(types::Index, state_.random.Between(0, 4))
                              : b_.Param(state_.random.Pick(symbols_));
    } else if (counts_down && i == 0) {
      arguments[i] = SmallCount(type);
    } else if (type.is_scalar()) {
      arguments[i] = Any(type);
    }
  }
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    Type type = function.param_type(i);
    if (!type.is_tensor()) continue;
    auto shape = ir::CallShape(function, b_.function(), arguments, type);
    if (!shape) return false;
    arguments[i] = TensorOf(type.element(), *shape);
  }
  auto results = ir::CallResultTypes(function, b_.function(), arguments);
  if (!results) return false;
  cost_ += weight_ * state_.costs[callee];
  uint64_t word = callee;
  for (ValueId value : b_.Emit(Op::Call, Type{}, arguments, *results, std::span(&word, 1)))
    AddToScope(value);
  return true;
}

bool FunctionGenerator::EmitLength() {
  for (Type element : state_.pool) {
    auto buffer = BufferOf(element, false, false);
    if (!buffer) continue;
    AddToScope(b_.Length(*buffer));
    return true;
  }
  return false;
}

bool FunctionGenerator::EmitAlloc() {
  bool found = false;
  Type element = PoolType(sets::Any, &found);
  ValueId length = Unguarded() ? b_.Binary(Op::Sub, SmallCount(types::Index), Int(types::Index, 1))
                               : SmallCount(types::Index);
  if (state_.random.Chance(40)) length = Int(types::Index, state_.random.Between(0, 20));
  AddToScope(b_.Alloc(element, length));
  return true;
}

bool FunctionGenerator::EmitAtomic() {
  bool found = false;
  Type type = PoolType(sets::Fixed | sets::Wide, &found);
  auto buffer = BufferOf(type, true, true);
  if (!found || !buffer) return false;
  constexpr ir::AtomicKind FloatKinds[] = {ir::AtomicKind::Add, ir::AtomicKind::Min,
                                           ir::AtomicKind::Max, ir::AtomicKind::Exchange};
  bool is_float = ir::IsFloat(type.scalar);
  uint64_t kind =
      is_float ? static_cast<uint64_t>(FloatKinds[state_.random.Below(4)]) : state_.random.Below(7);
  uint64_t unordered = is_float || state_.random.Chance(20);
  ValueId index = SafeIndex(b_.Length(*buffer));
  AddToScope(b_.Emit1(Op::AtomicRmw, type, {*buffer, index, Any(type)}, type, {kind, unordered}));
  return true;
}

bool FunctionGenerator::EmitCas() {
  bool found = false;
  Type type = PoolType(sets::Fixed, &found);
  auto buffer = BufferOf(type, true, true);
  if (!found || !buffer) return false;
  ValueId index = SafeIndex(b_.Length(*buffer));
  ValueId expected = state_.random.Chance(50) ? b_.Load(*buffer, index) : Any(type);
  AddToScope(b_.Emit1(Op::AtomicCas, type, {*buffer, index, expected, Any(type)}, type));
  return true;
}

// The sponge and Merkle steps. Without traps a sponge is made before it is used.
bool FunctionGenerator::EmitProver(const ir::OpInfo& info) {
  if (scalar_only_ || !state_.random.Chance(8)) return false;
  if (info.op == Op::MerkleStep) {
    if (state_.hint_type != types::Digest) return false;
    if (!state_.unguarded && (weight_ > 1 || !is_entry_ || ++stream_reads_ > 30)) return false;
    const ValueId operands[] = {Any(types::U32), Any(types::Digest)};
    const Type results[] = {types::U32, types::Digest};
    for (ValueId value : b_.Emit(Op::MerkleStep, Type{}, operands, results)) AddToScope(value);
    return true;
  }
  if (info.op == Op::SpongeInit || !state_.unguarded) b_.Emit(Op::SpongeInit, Type{}, {}, {});
  Values elements;
  if (info.op == Op::SpongeAbsorb)
    for (int i = 0; i < 10; ++i) elements.push_back(Any(types::Field));
  if (info.op == Op::SpongeAbsorb) b_.Emit(Op::SpongeAbsorb, Type{}, elements, {});
  if (info.op != Op::SpongeSqueeze && !state_.random.Chance(50)) return true;
  const std::vector<Type> results(10, types::Field);
  for (ValueId value : b_.Emit(Op::SpongeSqueeze, Type{}, {}, results)) AddToScope(value);
  return true;
}

}  // namespace frazil::generator
