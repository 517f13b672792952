// Builds functions from C++. Structured ops take lambdas for their regions; types of results follow
// from the ops' rows, so a caller names a type only where the row cannot know it. Misuse is a CHECK in
// the builder; what it builds still goes through ir::Check.
//
//   Program program;
//   FunctionBuilder b(program, "main", {types::I32, types::I32}, {types::I32});
//   b.Return({b.Binary(Op::Add, b.Param(0), b.Param(1))});
//   b.Finish();
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ir/conv.h"
#include "ir/program.h"

namespace frazil::ir {

using Values = std::vector<ValueId>;

class FunctionBuilder {
 public:
  // Parameter types may name shapes only after AddShape: pass tensors through AddParam.
  FunctionBuilder(Program& program, std::string name, std::span<const Type> params,
                  std::vector<Type> results);
  FunctionBuilder(Program& program, std::string name, std::initializer_list<Type> params,
                  std::vector<Type> results);

  ValueId Param(uint32_t i) const { return function_.param(i); }
  ValueId AddParam(Type type);  // only before the first instruction
  void SetResults(std::vector<Type> results) { function_.results = std::move(results); }
  uint32_t AddShape(const Shape& shape) { return function_.AddShape(shape); }
  Type TypeOf(ValueId value) const { return function_.type(value); }
  void Name(ValueId value, std::string name);
  void SetLocation(Location location) { location_ = location; }
  // The instruction that was begun last is what a lowering writes for this op of the source.
  void StandFor(std::optional<Op> source_op) { function_.insts.back().source_op = source_op; }

  // Constants. Const takes raw words (WordsOf(type)); the others convert.
  ValueId Const(Type type, std::span<const uint64_t> words);
  ValueId ConstInt(Type type, int64_t value);   // any integer, bool, field (mod p), int<k>
  ValueId ConstFloat(Type type, double value);  // rounds once to the type

  // Ops with a signature in their row. T is taken from the operands where the signature has a T there.
  ValueId Unary(Op op, ValueId a);
  ValueId Binary(Op op, ValueId a, ValueId b);
  ValueId Select(ValueId condition, ValueId a, ValueId b);
  ValueId Cast(Op op, ValueId a, Type to);  // cast, cast.checked, bitcast
  ValueId Load(ValueId buffer, ValueId index);
  void Store(ValueId buffer, ValueId index, ValueId value);
  ValueId Length(ValueId buffer);
  ValueId Alloc(Type element, ValueId length);

  // Anything else: all parts spelled out. Returns the results.
  Values Emit(Op op, Type type, std::span<const ValueId> operands, std::span<const Type> results,
              std::span<const uint64_t> words = {});
  ValueId Emit1(Op op, Type type, std::initializer_list<ValueId> operands, Type result,
                std::initializer_list<uint64_t> words = {});

  // Structure. A lambda builds a region and returns what it yields.
  using Body = std::function<Values()>;
  using LoopBody = std::function<Values(ValueId i, std::span<const ValueId> carried)>;
  using CarriedBody = std::function<Values(std::span<const ValueId> carried)>;
  Values If(ValueId condition, std::span<const Type> results, const Body& then_body,
            const Body& else_body);
  Values For(ValueId lo, ValueId hi, int64_t step, std::span<const ValueId> inits,
             const LoopBody& body);
  // The test returns the condition; values it makes are visible in the body.
  Values While(std::span<const ValueId> inits,
               const std::function<ValueId(std::span<const ValueId>)>& test,
               const CarriedBody& body);
  Values Switch(ValueId selector, std::span<const int64_t> cases, std::span<const Type> results,
                const std::function<Values(uint32_t case_or_default)>& body);
  void Parallel(ValueId lo, ValueId hi, const std::function<void(ValueId i)>& body);
  ValueId Map(std::span<const ValueId> tensors, Type result, const CarriedBody& body);
  // Results whose first `rank` axes are the region's indices.
  Values Generate(uint32_t rank, std::span<const Type> results, const CarriedBody& body);
  ValueId Fold(ReduceKind kind, Type type, ValueId count, uint64_t chains, uint64_t block,
               const std::function<ValueId(ValueId i)>& element);
  ValueId Conv(ValueId image, ValueId weights, Type result, const ConvSpec& spec);
  ValueId Scan(ReduceKind kind, ValueId tensor, uint64_t axis);
  // The sorted tensor and the positions.
  Values Sort(ValueId tensor, uint64_t axis, bool is_descending = false);
  ValueId Scatter(ScatterKind kind, ValueId base, ValueId indices, ValueId updates, uint64_t axis);
  Values Call(FuncId callee, std::span<const ValueId> arguments);
  void Return(std::span<const ValueId> values);
  void Return(std::initializer_list<ValueId> values) {
    Return(std::span(values.begin(), values.size()));
  }

  // Appends the function to the program. The entry is `main`, or the last function while there is none.
  FuncId Finish();

  // For passes that copy: direct access while building.
  Function& function() { return function_; }
  // Starts an instruction whose regions are then filled in order with BeginRegion/EndRegion.
  InstId Begin(Op op, Type type, std::span<const ValueId> operands, std::span<const Type> results,
               std::span<const uint64_t> words, uint32_t region_count);
  Values BeginRegion(InstId inst, uint32_t index, std::span<const Type> params);
  void EndRegion();
  void Terminate(Op op, std::span<const ValueId> operands);

 private:
  Program& program_;
  Function function_;
  std::vector<RegionId> open_;
  Location location_;
};

}  // namespace frazil::ir
