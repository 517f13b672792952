// What the files of the generator share; nobody else includes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "ir/builder.h"

namespace frazil::generator {

using exec::Random;
using exec::RandomWords;

struct ProgramState {
  explicit ProgramState(const GeneratorOptions& o) : options(o), random(o.seed) {}

  const GeneratorOptions& options;
  Random random;
  ir::Program program;
  std::vector<ir::Type> pool;  // the scalar types that this program is about
  bool unguarded = false;      // some divisors, indices ... are not made safe
  ir::Type input_type;         // one type for each stream: the order of reads may depend on data
  ir::Type hint_type;
  std::vector<uint64_t> costs;      // of each finished function: instructions of one call, about
  std::vector<uint32_t> recursive;  // functions whose first parameter counts the calls down
};

// Makes one function: a scope of values, statements that add to it.
class FunctionGenerator {
 public:
  FunctionGenerator(ProgramState& state, std::string name, bool is_entry);
  ir::FuncId Run(uint32_t statements);
  // A function that calls itself, its first parameter counting down.
  ir::FuncId RunRecursive(uint32_t statements);

 private:
  using Type = ir::Type;
  using ValueId = ir::ValueId;
  using Op = ir::Op;

  // generator.cpp: scope and choice
  void AddParams();
  void Statements(uint32_t count);
  void Statement();
  void Finish(const std::vector<Type>& results);
  std::vector<Type> ChooseResults();
  void AddToScope(ValueId value) { scope_.push_back(value); }
  std::optional<ValueId> Existing(Type type);
  ValueId Any(Type type);
  ValueId Constant(Type type);
  ValueId Int(Type type, int64_t value) { return b_.ConstInt(type, value); }
  ValueId SmallCount(Type type);  // 0 to 7, from a value
  Type PoolType(ir::ScalarSet set, bool* found);
  bool Unguarded() { return state_.unguarded && state_.random.Chance(12); }

  // generator_scalar.cpp: rows with a signature
  bool EmitRow(const ir::OpInfo& info);
  bool ChooseSource(Op op, Type to, Type* from);
  void GuardOperands(const ir::OpInfo& info, Type type, ir::Values& operands);
  ValueId Clamp(ValueId value, int64_t low_bits, bool negative);
  std::optional<ValueId> BufferOf(Type element, bool read, bool write);
  ValueId SafeIndex(ValueId length);
  ir::DataId Table(Type element);

  // generator_structure.cpp: regions, calls, memory
  bool EmitCustom(const ir::OpInfo& info);
  void EmitIf();
  bool EmitFor();
  void EmitWhile();
  void EmitSwitch();
  bool EmitParallel();
  // Made before a parallel, so the same for all its iterations.
  struct Uniform {
    ValueId condition, low, high;
  };
  void EmitPhases(const Uniform& uniform);
  bool EmitCall();
  bool EmitLength();
  bool EmitAlloc();
  bool EmitAtomic();
  bool EmitCas();
  bool EmitProver(const ir::OpInfo& info);
  std::vector<Type> YieldTypes();
  ir::Values YieldValues(const std::vector<Type>& types);
  ir::Values InRegion(uint32_t statements, const std::vector<Type>& yields, uint64_t trips = 1);
  std::pair<ValueId, ValueId> Bounds(Type type, int64_t* step, uint64_t* trips);

  // generator_tensor.cpp
  bool EmitTensor(const ir::OpInfo& info);
  ir::Dim RandomDim();
  ir::Shape RandomShape(uint32_t min_rank, uint32_t max_rank);
  Type TensorType(Type element, const ir::Shape& shape);
  std::optional<ValueId> ExistingTensor(ir::ScalarSet elements, uint32_t min_rank);
  ValueId TensorOf(Type element, const ir::Shape& shape);
  std::optional<ValueId> SomeTensor(ir::ScalarSet elements, uint32_t min_rank);
  bool EmitMap();
  bool EmitReduce();
  bool EmitMatmul(Op op);
  bool EmitReshape();
  bool EmitTranspose();
  bool EmitBroadcast();
  // One op that gives a tensor; always true.
  bool EmitTensor(Op op, Type element, const ir::Shape& shape, const ir::Values& operands,
                  const std::vector<uint64_t>& words);
  bool EmitSlice();
  bool EmitConcat();
  bool EmitGather();
  bool EmitIota();
  bool EmitTensorRandom(Op op);
  bool EmitExtract();
  bool EmitTensorLoad();
  bool EmitTensorStore();
  std::optional<ValueId> Picks(ir::Dim dim);
  static std::vector<ir::ReduceKind> KindsOf(Type type);

  // generator_kernels.cpp
  bool EmitConv();
  bool EmitScan();
  bool EmitSort();
  bool EmitScatter();
  bool EmitMatmulQ();

  // generator_elements.cpp
  bool EmitGenerate();
  bool EmitFold();
  bool EmitFoldOf(const std::vector<ValueId>& around, std::span<const ValueId> indices,
                  const ir::Shape& sizes);
  template <typename Body>
  ir::Values InElements(std::span<const ValueId> indices, const ir::Shape& sizes, const Body& body);
  void ReadElement(const std::vector<ValueId>& around, std::span<const ValueId> indices,
                   const ir::Shape& sizes);
  ir::Values YieldElements(const std::vector<Type>& yields, const std::vector<ValueId>& around,
                           std::span<const ValueId> indices, const ir::Shape& sizes);

  ProgramState& state_;
  ir::FunctionBuilder b_;
  bool is_entry_;
  std::vector<ValueId> scope_;
  std::vector<uint32_t> symbols_;  // ordinals of `index` parameters that shapes may name
  uint32_t nesting_ = 0;
  uint64_t weight_ = 1;  // how often the current place runs for one call, at most
  uint64_t cost_ = 1;
  bool scalar_only_ = false;  // inside a `map`, `generate` or `fold`
  bool in_parallel_ = false;
  uint32_t stream_reads_ = 0;
};

}  // namespace frazil::generator
