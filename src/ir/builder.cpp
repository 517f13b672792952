#include "ir/builder.h"

#include <algorithm>

#include "base/check.h"
#include "ir/text/literal.h"

namespace frazil::ir {

FunctionBuilder::FunctionBuilder(Program& program, std::string name, std::span<const Type> params,
                                 std::vector<Type> results)
    : program_(program) {
  function_.name = std::move(name);
  function_.results = std::move(results);
  function_.regions.emplace_back();
  open_.push_back(RegionId(0));
  for (Type type : params) AddParam(type);
}

FunctionBuilder::FunctionBuilder(Program& program, std::string name,
                                 std::initializer_list<Type> params, std::vector<Type> results)
    : FunctionBuilder(program, std::move(name), std::span(params.begin(), params.size()),
                      std::move(results)) {}

ValueId FunctionBuilder::AddParam(Type type) {
  Range& params = function_.regions[0].params;
  CHECK(function_.insts.empty() && function_.values.size() == params.count);
  function_.values.push_back({type});
  return ValueId(params.count++);
}

void FunctionBuilder::Name(ValueId value, std::string name) {
  auto& names = function_.value_names;
  if (names.size() <= value.index) names.resize(value.index + 1);
  names[value.index] = std::move(name);
}

InstId FunctionBuilder::Begin(Op op, Type type, std::span<const ValueId> operands,
                              std::span<const Type> results, std::span<const uint64_t> words,
                              uint32_t region_count) {
  Function& f = function_;
  Inst inst{op, type, {}, {}, {}, {}, location_};
  inst.operands = {static_cast<uint32_t>(f.operands.size()),
                   static_cast<uint32_t>(operands.size())};
  f.operands.insert(f.operands.end(), operands.begin(), operands.end());
  inst.attributes = {static_cast<uint32_t>(f.words.size()), static_cast<uint32_t>(words.size())};
  f.words.insert(f.words.end(), words.begin(), words.end());
  inst.results = {static_cast<uint32_t>(f.values.size()), static_cast<uint32_t>(results.size())};
  InstId id(static_cast<uint32_t>(f.insts.size()));
  for (Type result : results) f.values.push_back({result, id});
  inst.regions = {static_cast<uint32_t>(f.regions.size()), region_count};
  f.regions.resize(f.regions.size() + region_count);
  f.insts.push_back(inst);
  f.regions[open_.back().index].insts.push_back(id);
  return id;
}

Values FunctionBuilder::BeginRegion(InstId inst, uint32_t index, std::span<const Type> params) {
  RegionId id = Function::region_of(function_.inst(inst), index);
  Region& region = function_.regions[id.index];
  region.params = {static_cast<uint32_t>(function_.values.size()),
                   static_cast<uint32_t>(params.size())};
  Values values;
  for (Type param : params) {
    values.push_back(ValueId(static_cast<uint32_t>(function_.values.size())));
    function_.values.push_back({param});
  }
  open_.push_back(id);
  return values;
}

void FunctionBuilder::EndRegion() {
  CHECK(open_.size() > 1);
  open_.pop_back();
}

void FunctionBuilder::Terminate(Op op, std::span<const ValueId> operands) {
  Begin(op, Type{}, operands, {}, {}, 0);
}

Values FunctionBuilder::Emit(Op op, Type type, std::span<const ValueId> operands,
                             std::span<const Type> results, std::span<const uint64_t> words) {
  InstId id = Begin(op, type, operands, results, words, 0);
  Values values;
  for (uint32_t i = 0; i < results.size(); ++i)
    values.push_back(Function::result_of(function_.inst(id), i));
  return values;
}

ValueId FunctionBuilder::Emit1(Op op, Type type, std::initializer_list<ValueId> operands,
                               Type result, std::initializer_list<uint64_t> words) {
  InstId id = Begin(op, type, std::span(operands.begin(), operands.size()), std::span(&result, 1),
                    std::span(words.begin(), words.size()), 0);
  return Function::result_of(function_.inst(id));
}

ValueId FunctionBuilder::Const(Type type, std::span<const uint64_t> words) {
  CHECK(words.size() == WordsOf(type));
  InstId id = Begin(Op::Const, type, {}, std::span(&type, 1), words, 0);
  return Function::result_of(function_.inst(id));
}

ValueId FunctionBuilder::ConstInt(Type type, int64_t value) {
  return Const(type, LiteralFromInt(type, value));
}

ValueId FunctionBuilder::ConstFloat(Type type, double value) {
  uint64_t bits = LiteralFromDouble(type, value);
  return Const(type, std::span(&bits, 1));
}

namespace {
// The result of a row whose signature ends in "->T", "->B", "->F" or "->".
bool ResultIsT(Op op) { return Info(op).signature.ends_with("->T"); }
}  // namespace

ValueId FunctionBuilder::Unary(Op op, ValueId a) {
  Type type = TypeOf(a);
  CHECK(ResultIsT(op));
  return Emit1(op, type, {a}, type);
}

ValueId FunctionBuilder::Binary(Op op, ValueId a, ValueId b) {
  Type type = TypeOf(a);
  return Emit1(op, type, {a, b}, ResultIsT(op) ? type : types::Bool);
}

ValueId FunctionBuilder::Select(ValueId condition, ValueId a, ValueId b) {
  return Emit1(Op::Select, TypeOf(a), {condition, a, b}, TypeOf(a));
}

ValueId FunctionBuilder::Cast(Op op, ValueId a, Type to) { return Emit1(op, to, {a}, to); }

ValueId FunctionBuilder::Load(ValueId buffer, ValueId index) {
  Type element = TypeOf(buffer).element();
  return Emit1(Op::Load, element, {buffer, index}, element);
}

void FunctionBuilder::Store(ValueId buffer, ValueId index, ValueId value) {
  ValueId operands[] = {buffer, index, value};
  Emit(Op::Store, TypeOf(buffer).element(), operands, {});
}

ValueId FunctionBuilder::Length(ValueId buffer) {
  return Emit1(Op::Length, TypeOf(buffer).element(), {buffer}, types::Index);
}

ValueId FunctionBuilder::Alloc(Type element, ValueId length) {
  return Emit1(Op::Alloc, element, {length}, Type::Buffer(element));
}

Values FunctionBuilder::If(ValueId condition, std::span<const Type> results, const Body& then_body,
                           const Body& else_body) {
  InstId id = Begin(Op::If, Type{}, std::span(&condition, 1), results, {}, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    BeginRegion(id, i, {});
    Terminate(Op::Yield, i == 0 ? then_body() : else_body());
    EndRegion();
  }
  Values values;
  for (uint32_t i = 0; i < results.size(); ++i)
    values.push_back(Function::result_of(function_.inst(id), i));
  return values;
}

namespace {
Values ResultsOf(const Function& function, InstId id) {
  Values values;
  for (uint32_t i = 0; i < function.inst(id).results.count; ++i)
    values.push_back(Function::result_of(function.inst(id), i));
  return values;
}
}  // namespace

Values FunctionBuilder::For(ValueId lo, ValueId hi, int64_t step, std::span<const ValueId> inits,
                            const LoopBody& body) {
  Values operands = {lo, hi};
  operands.insert(operands.end(), inits.begin(), inits.end());
  std::vector<Type> carried;
  for (ValueId init : inits) carried.push_back(TypeOf(init));
  uint64_t word = static_cast<uint64_t>(step);
  InstId id = Begin(Op::For, Type{}, operands, carried, std::span(&word, 1), 1);
  std::vector<Type> params = {TypeOf(lo)};
  params.insert(params.end(), carried.begin(), carried.end());
  Values values = BeginRegion(id, 0, params);
  Terminate(Op::Yield, body(values[0], std::span(values).subspan(1)));
  EndRegion();
  return ResultsOf(function_, id);
}

Values FunctionBuilder::While(std::span<const ValueId> inits,
                              const std::function<ValueId(std::span<const ValueId>)>& test,
                              const CarriedBody& body) {
  std::vector<Type> carried;
  for (ValueId init : inits) carried.push_back(TypeOf(init));
  InstId id = Begin(Op::While, Type{}, inits, carried, {}, 2);
  Values values = BeginRegion(id, 0, carried);
  ValueId condition = test(values);
  Terminate(Op::Condition, std::span(&condition, 1));
  EndRegion();
  BeginRegion(id, 1, {});
  Terminate(Op::Yield, body(values));
  EndRegion();
  return ResultsOf(function_, id);
}

Values FunctionBuilder::Switch(ValueId selector, std::span<const int64_t> cases,
                               std::span<const Type> results,
                               const std::function<Values(uint32_t)>& body) {
  std::vector<uint64_t> words(cases.begin(), cases.end());
  uint32_t regions = static_cast<uint32_t>(cases.size()) + 1;
  InstId id = Begin(Op::Switch, Type{}, std::span(&selector, 1), results, words, regions);
  for (uint32_t i = 0; i < regions; ++i) {
    BeginRegion(id, i, {});
    Terminate(Op::Yield, body(i));
    EndRegion();
  }
  return ResultsOf(function_, id);
}

void FunctionBuilder::Parallel(ValueId lo, ValueId hi, const std::function<void(ValueId)>& body) {
  ValueId operands[] = {lo, hi};
  InstId id = Begin(Op::Parallel, Type{}, operands, {}, {}, 1);
  Type index = types::Index;
  body(BeginRegion(id, 0, std::span(&index, 1))[0]);
  Terminate(Op::Yield, {});
  EndRegion();
}

ValueId FunctionBuilder::Map(std::span<const ValueId> tensors, Type result,
                             const CarriedBody& body) {
  InstId id = Begin(Op::Map, result, tensors, std::span(&result, 1), {}, 1);
  std::vector<Type> params;
  for (ValueId tensor : tensors) params.push_back(TypeOf(tensor).element());
  Values values = BeginRegion(id, 0, params);
  Terminate(Op::Yield, body(values));
  EndRegion();
  return Function::result_of(function_.inst(id));
}

Values FunctionBuilder::Generate(uint32_t rank, std::span<const Type> results,
                                 const CarriedBody& body) {
  InstId id = Begin(Op::Generate, results[0], {}, results, {}, 1);
  Terminate(Op::Yield, body(BeginRegion(id, 0, std::vector<Type>(rank, types::Index))));
  EndRegion();
  return ResultsOf(function_, id);
}

ValueId FunctionBuilder::Fold(ReduceKind kind, Type type, ValueId count, uint64_t chains,
                              uint64_t block, const std::function<ValueId(ValueId)>& element) {
  const uint64_t words[] = {static_cast<uint64_t>(kind), chains, block};
  InstId id = Begin(Op::Fold, type, std::span(&count, 1), std::span(&type, 1), words, 1);
  const Type index = types::Index;
  const ValueId value = element(BeginRegion(id, 0, std::span(&index, 1))[0]);
  Terminate(Op::Yield, std::span(&value, 1));
  EndRegion();
  return Function::result_of(function_.inst(id));
}

ValueId FunctionBuilder::Conv(ValueId image, ValueId weights, Type result, const ConvSpec& spec) {
  const ValueId operands[] = {image, weights};
  return Emit(Op::Conv, result, operands, std::span(&result, 1), spec.Words())[0];
}

ValueId FunctionBuilder::Scan(ReduceKind kind, ValueId tensor, uint64_t axis) {
  const Type type = TypeOf(tensor);
  return Emit1(Op::Scan, type, {tensor}, type, {static_cast<uint64_t>(kind), axis});
}

Values FunctionBuilder::Sort(ValueId tensor, uint64_t axis, bool is_descending) {
  const Type type = TypeOf(tensor);
  const Type results[] = {type, Type::Tensor(types::Index, type.shape)};
  const uint64_t words[] = {axis, is_descending ? 1u : 0u};
  return Emit(Op::Sort, type, std::span(&tensor, 1), results, words);
}

ValueId FunctionBuilder::Scatter(ScatterKind kind, ValueId base, ValueId indices, ValueId updates,
                                 uint64_t axis) {
  const Type type = TypeOf(base);
  return Emit1(Op::Scatter, type, {base, indices, updates}, type,
               {static_cast<uint64_t>(kind), axis});
}

Values FunctionBuilder::Call(FuncId callee, std::span<const ValueId> arguments) {
  uint64_t word = callee.index;
  // Result types are the callee's; tensors with symbolic dimensions go through Emit.
  std::vector<Type> results = program_.functions[callee.index].results;
  for (Type& type : results) CHECK(!type.is_tensor());
  return Emit(Op::Call, Type{}, arguments, results, std::span(&word, 1));
}

void FunctionBuilder::Return(std::span<const ValueId> values) { Terminate(Op::Return, values); }

FuncId FunctionBuilder::Finish() {
  CHECK(open_.size() == 1);
  FuncId id(static_cast<uint32_t>(program_.functions.size()));
  // The entry is `main`, or the last function while there is none.
  bool is_entry = function_.name == "main" || !program_.FindFunction("main").valid();
  program_.functions.push_back(std::move(function_));
  if (is_entry) program_.entry = id;
  return id;
}

}  // namespace frazil::ir
