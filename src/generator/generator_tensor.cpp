// Tensor ops: shapes first, operands to fit them. Dimensions are small constants (0 included) or
// symbols of the function; sizes that a run could find not to fit are made only where traps are wanted.

#include <algorithm>
#include <numeric>

#include "generator/generator_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::Contains;
using ir::Dim;
using ir::Shape;
using ir::Values;
namespace sets = ir::sets;
namespace types = ir::types;

namespace {
bool IsConstant(const Shape& shape) {
  return std::none_of(shape.begin(), shape.end(), [](Dim dim) { return dim.is_symbol(); });
}
int64_t CountOf(const Shape& shape) {
  int64_t count = 1;
  for (Dim dim : shape) count *= dim.value;
  return count;
}
}  // namespace

bool FunctionGenerator::EmitTensor(const ir::OpInfo& info) {
  switch (info.op) {
    case Op::Map: return EmitMap();
    case Op::Reduce: return EmitReduce();
    case Op::Matmul:
    case Op::MatmulFast: return EmitMatmul(info.op);
    case Op::Reshape: return EmitReshape();
    case Op::Transpose: return EmitTranspose();
    case Op::Broadcast: return EmitBroadcast();
    case Op::Slice: return EmitSlice();
    case Op::Concat: return EmitConcat();
    case Op::Gather: return EmitGather();
    case Op::Iota: return EmitIota();
    case Op::TensorUniform:
    case Op::TensorNormal: return EmitTensorRandom(info.op);
    case Op::Extract: return EmitExtract();
    case Op::TensorLoad: return EmitTensorLoad();
    case Op::TensorStore: return EmitTensorStore();
    case Op::Generate: return EmitGenerate();
    case Op::Fold: return EmitFold();
    case Op::Conv: return EmitConv();
    case Op::Scan: return EmitScan();
    case Op::Sort: return EmitSort();
    case Op::Scatter: return EmitScatter();
    case Op::MatmulQ: return EmitMatmulQ();
    default: return false;
  }
}

Dim FunctionGenerator::RandomDim() {
  if (!symbols_.empty() && state_.random.Chance(30))
    return Dim::Symbol(state_.random.Pick(symbols_));
  if (state_.random.Chance(4)) return Dim::Constant(0);
  if (state_.random.Chance(2)) return Dim::Constant(state_.random.Between(60, 70));
  return Dim::Constant(state_.random.Between(1, 4));
}

Shape FunctionGenerator::RandomShape(uint32_t min_rank, uint32_t max_rank) {
  Shape shape;
  auto rank = static_cast<uint32_t>(state_.random.Between(min_rank, max_rank));
  for (uint32_t i = 0; i < rank; ++i) shape.push_back(RandomDim());
  return shape;
}

Type FunctionGenerator::TensorType(Type element, const Shape& shape) {
  return Type::Tensor(element, b_.AddShape(shape));
}

std::optional<ValueId> FunctionGenerator::ExistingTensor(ir::ScalarSet elements,
                                                         uint32_t min_rank) {
  std::vector<ValueId> found;
  for (ValueId value : scope_) {
    Type type = b_.TypeOf(value);
    if (type.is_tensor() && Contains(elements, type.scalar) &&
        b_.function().shape(type).size() >= min_rank)
      found.push_back(value);
  }
  if (found.empty()) return std::nullopt;
  return state_.random.Pick(found);
}

// A tensor of exactly this type: one in scope, or one made for the purpose.
ValueId FunctionGenerator::TensorOf(Type element, const Shape& shape) {
  Type type = TensorType(element, shape);
  if (auto value = Existing(type)) return *value;
  if (IsConstant(shape) && CountOf(shape) <= 6 && CountOf(shape) > 0 && state_.random.Chance(40)) {
    // Different elements, through a table of scalars.
    ValueId buffer = b_.Alloc(element, Int(types::Index, CountOf(shape)));
    for (int64_t i = 0; i < CountOf(shape); ++i)
      b_.Store(buffer, Int(types::Index, i), Any(element));
    return b_.Emit1(Op::TensorLoad, type, {buffer}, type);
  }
  return b_.Emit1(Op::Broadcast, type, {Any(element)}, type);
}

std::optional<ValueId> FunctionGenerator::SomeTensor(ir::ScalarSet elements, uint32_t min_rank) {
  if (state_.random.Chance(85))
    if (auto value = ExistingTensor(elements, min_rank)) return value;
  bool found = false;
  Type element = PoolType(elements, &found);
  if (!found) return std::nullopt;
  return TensorOf(element, RandomShape(min_rank, 3));
}

bool FunctionGenerator::EmitMap() {
  auto first = SomeTensor(sets::Any, 0);
  if (!first || weight_ > 200) return false;
  const Shape shape = b_.function().shape(b_.TypeOf(*first));
  Values tensors = {*first};
  for (uint64_t i = 0, n = state_.random.Below(3); i < n; ++i)
    tensors.push_back(TensorOf(state_.random.Pick(state_.pool), shape));
  Type element = state_.random.Pick(state_.pool);
  std::vector<ValueId> outer = scope_;
  ValueId result =
      b_.Map(tensors, TensorType(element, shape), [&](std::span<const ValueId> elements) {
        std::erase_if(scope_, [&](ValueId value) { return !b_.TypeOf(value).is_scalar(); });
        scope_.insert(scope_.end(), elements.begin(), elements.end());
        scalar_only_ = true;
        ++nesting_;
        Statements(1 + static_cast<uint32_t>(state_.random.Below(4)));
        --nesting_;
        scalar_only_ = false;
        return Values{Any(element)};
      });
  scope_ = std::move(outer);
  AddToScope(result);
  return true;
}

std::vector<ir::ReduceKind> FunctionGenerator::KindsOf(Type type) {
  using enum ir::ReduceKind;
  if (ir::IsFixedInt(type.scalar)) return {Sum, Product, Min, Max, And, Or, Xor};
  if (ir::IsFloat(type.scalar)) return {Sum, Product, Min, Max, Minimum, Maximum};
  if (type.scalar == ir::Scalar::Bool) return {And, Or, Xor};
  return {Sum, Product};
}

bool FunctionGenerator::EmitReduce() {
  constexpr auto ReduceTypes = sets::Fixed | sets::Float | sets::Fields | sets::Bool;
  auto tensor = SomeTensor(ReduceTypes, 1);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  Shape shape = b_.function().shape(type);
  uint64_t axis = state_.random.Below(shape.size());
  bool innermost = axis + 1 == shape.size();
  uint64_t chains = innermost ? 64 : 1, block = 4096;
  if (state_.random.Chance(30)) chains = 1ull << state_.random.Below(4);
  if (state_.random.Chance(30)) block = chains * (1 + state_.random.Below(3));
  shape.erase(shape.begin() + static_cast<int64_t>(axis));
  Type result = TensorType(type.element(), shape);
  auto kind = static_cast<uint64_t>(state_.random.Pick(KindsOf(type)));
  AddToScope(b_.Emit1(Op::Reduce, result, {*tensor}, result, {kind, axis, chains, block}));
  return true;
}

bool FunctionGenerator::EmitMatmul(Op op) {
  auto left = SomeTensor(ir::Info(op).types, 2);
  if (!left) return false;
  Type type = b_.TypeOf(*left);
  Shape shape = b_.function().shape(type);
  Dim columns = RandomDim();
  Shape right_shape = shape, result_shape = shape;
  size_t rank = shape.size();
  right_shape[rank - 2] = shape[rank - 1];
  right_shape[rank - 1] = columns;
  result_shape[rank - 1] = columns;
  ValueId right = TensorOf(type.element(), right_shape);
  Type result = TensorType(type.element(), result_shape);
  AddToScope(b_.Emit1(op, result, {*left, right}, result));
  return true;
}

bool FunctionGenerator::EmitReshape() {
  auto tensor = SomeTensor(sets::Any, 0);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  Shape shape = b_.function().shape(type), result;
  if (state_.unguarded && !symbols_.empty() && state_.random.Chance(20)) {
    result = {Dim::Symbol(state_.random.Pick(symbols_)), RandomDim()};
    if (IsConstant(shape) && state_.random.Chance(50)) result = {result[0]};
  } else if (IsConstant(shape) && state_.random.Chance(60)) {
    int64_t count = CountOf(shape);
    for (int64_t divisor = 2; divisor <= 4 && count > 0; ++divisor)
      if (count % divisor == 0) {
        result = {Dim::Constant(divisor), Dim::Constant(count / divisor)};
        break;
      }
    if (result.empty()) result = {Dim::Constant(count)};
  } else {
    // The same dimensions in another order, with a 1 somewhere: always as many elements.
    result = shape;
    std::reverse(result.begin(), result.end());
    if (result.size() < 4)
      result.insert(result.begin() + state_.random.Below(result.size() + 1), Dim::Constant(1));
  }
  return EmitTensor(Op::Reshape, type.element(), result, {*tensor}, {});
}

bool FunctionGenerator::EmitTensor(Op op, Type element, const Shape& shape, const Values& operands,
                                   const std::vector<uint64_t>& words) {
  Type to = TensorType(element, shape);
  AddToScope(b_.Emit(op, to, operands, std::span(&to, 1), words)[0]);
  return true;
}

bool FunctionGenerator::EmitTranspose() {
  auto tensor = SomeTensor(sets::Any, 1);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  const Shape shape = b_.function().shape(type);
  std::vector<uint64_t> perm(shape.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[state_.random.Below(i + 1)]);
  Shape result;
  for (uint64_t axis : perm) result.push_back(shape[axis]);
  return EmitTensor(Op::Transpose, type.element(), result, {*tensor}, perm);
}

bool FunctionGenerator::EmitBroadcast() {
  Random& random = state_.random;
  if (random.Chance(30)) {
    Type element = random.Pick(state_.pool);
    Type to = TensorType(element, RandomShape(0, 3));
    AddToScope(b_.Emit1(Op::Broadcast, to, {Any(element)}, to));
    return true;
  }
  auto tensor = SomeTensor(sets::Any, 0);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  const Shape shape = b_.function().shape(type);
  if (shape.size() > 3) return false;
  // Operand axes keep their order; new axes go between them; sizes of 1 may grow.
  Shape result;
  std::vector<uint64_t> axes;
  for (Dim dim : shape) {
    if (random.Chance(35)) result.push_back(RandomDim());
    axes.push_back(result.size());
    result.push_back(dim == Dim::Constant(1) && random.Chance(60) ? RandomDim() : dim);
  }
  if (random.Chance(35)) result.push_back(RandomDim());
  return EmitTensor(Op::Broadcast, type.element(), result, {*tensor}, axes);
}

bool FunctionGenerator::EmitSlice() {
  auto tensor = SomeTensor(sets::Any, 1);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  const Shape shape = b_.function().shape(type);
  std::vector<uint64_t> starts, steps;
  Shape result;
  for (Dim dim : shape) {
    // Of a symbolic axis everything is taken: a part might not be there.
    bool whole = dim.is_symbol() || dim.value == 0 || state_.random.Chance(30);
    if (whole && !(dim.is_symbol() && Unguarded())) {
      starts.push_back(0);
      steps.push_back(1);
      result.push_back(dim);
      continue;
    }
    int64_t size = dim.is_symbol() ? 4 : dim.value;
    int64_t start = state_.random.Between(0, size - 1), step = state_.random.Between(1, 2);
    int64_t most = (size - 1 - start) / step + 1;
    starts.push_back(static_cast<uint64_t>(start));
    steps.push_back(static_cast<uint64_t>(step));
    result.push_back(Dim::Constant(state_.random.Between(1, most)));
  }
  starts.insert(starts.end(), steps.begin(), steps.end());
  return EmitTensor(Op::Slice, type.element(), result, {*tensor}, starts);
}

bool FunctionGenerator::EmitConcat() {
  auto first = SomeTensor(sets::Any, 1);
  if (!first) return false;
  Type type = b_.TypeOf(*first);
  Shape shape = b_.function().shape(type);
  std::vector<uint64_t> constant_axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!shape[i].is_symbol()) constant_axes.push_back(i);
  if (constant_axes.empty()) return false;
  uint64_t axis = state_.random.Pick(constant_axes);
  Values operands = {*first};
  int64_t total = shape[axis].value;
  for (uint64_t i = 0, n = 1 + state_.random.Below(2); i < n; ++i) {
    Shape other = shape;
    if (state_.random.Chance(60)) other[axis] = Dim::Constant(state_.random.Between(0, 3));
    total += other[axis].value;
    operands.push_back(TensorOf(type.element(), other));
  }
  shape[axis] = Dim::Constant(total);
  return EmitTensor(Op::Concat, type.element(), shape, operands, {axis});
}

bool FunctionGenerator::EmitGather() {
  auto tensor = SomeTensor(sets::Any, 1);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  Shape shape = b_.function().shape(type);
  uint64_t axis = state_.random.Below(shape.size());
  auto indices = Picks(shape[axis]);
  if (!indices) return false;
  shape[axis] = b_.function().shape(b_.TypeOf(*indices))[0];
  return EmitTensor(Op::Gather, type.element(), shape, {*tensor, *indices}, {axis});
}

// A line of indices of an axis of this size. Nothing where they could not be within it.
std::optional<ValueId> FunctionGenerator::Picks(Dim dim) {
  if ((dim.is_symbol() || dim.value == 0) && !state_.unguarded) return std::nullopt;
  int64_t size = dim.is_symbol() ? 3 : std::max<int64_t>(dim.value, 1);
  Shape picked = RandomShape(1, 1);
  ValueId indices = TensorOf(types::Index, picked);
  if (Unguarded()) return indices;
  Type index_type = TensorType(types::Index, picked);
  return b_.Map(std::span(&indices, 1), index_type, [&](std::span<const ValueId> elements) {
    return Values{b_.Binary(Op::RemFloor, elements[0], Int(types::Index, size))};
  });
}

bool FunctionGenerator::EmitIota() {
  bool found = false;
  Type element = PoolType(sets::Fixed, &found);
  Shape shape = RandomShape(1, 3);
  Type to = TensorType(element, shape);
  AddToScope(b_.Emit1(Op::Iota, to, {}, to, {state_.random.Below(shape.size())}));
  return found;
}

bool FunctionGenerator::EmitTensorRandom(Op op) {
  bool found = false;
  Type element = PoolType(sets::Wide, &found);
  if (!found || !state_.options.allow_math) return false;
  Type to = TensorType(element, RandomShape(0, 3));
  AddToScope(b_.Emit1(op, to, {Any(types::U64), Any(types::U64)}, to));
  return true;
}

bool FunctionGenerator::EmitExtract() {
  auto tensor = SomeTensor(sets::Any, 0);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  const Shape shape = b_.function().shape(type);
  Values operands = {*tensor};
  for (Dim dim : shape) {
    if ((dim.is_symbol() || dim.value == 0) && !state_.unguarded) return false;
    int64_t size = dim.is_symbol() ? 2 : std::max<int64_t>(dim.value, 1);
    operands.push_back(SafeIndex(Int(types::Index, size)));
  }
  Type element = type.element();
  AddToScope(b_.Emit(Op::Extract, element, operands, std::span(&element, 1))[0]);
  return true;
}

bool FunctionGenerator::EmitTensorLoad() {
  bool found = false;
  Type element = PoolType(sets::Any, &found);
  Shape shape = RandomShape(0, 2);
  Type to = TensorType(element, shape);
  auto buffer = BufferOf(element, true, false);
  if (!buffer || !Unguarded()) {
    if (!IsConstant(shape)) return false;
    ValueId scratch =
        b_.Alloc(element, Int(types::Index, CountOf(shape) + state_.random.Between(0, 2)));
    if (CountOf(shape) > 0) b_.Store(scratch, Int(types::Index, 0), Any(element));
    buffer = scratch;
  }
  AddToScope(b_.Emit1(Op::TensorLoad, to, {*buffer}, to));
  return true;
}

bool FunctionGenerator::EmitTensorStore() {
  auto tensor = SomeTensor(sets::Any, 0);
  if (!tensor) return false;
  Type type = b_.TypeOf(*tensor);
  const Shape shape = b_.function().shape(type);
  auto buffer = BufferOf(type.element(), false, true);
  if (!buffer || !Unguarded()) {
    if (!IsConstant(shape)) return false;
    buffer =
        b_.Alloc(type.element(), Int(types::Index, CountOf(shape) + state_.random.Between(0, 2)));
    AddToScope(*buffer);
  }
  ValueId operands[] = {*buffer, *tensor};
  b_.Emit(Op::TensorStore, type, operands, {});
  return true;
}

}  // namespace frazil::generator
