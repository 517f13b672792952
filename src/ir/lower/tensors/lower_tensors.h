// The inside of LowerTensors (ir/lower/lower.h), shared by the files lower_tensors*.cpp. A tensor value
// of the old function is bound to a buffer of the new one that holds its elements in logical order;
// its sizes are those of its type, symbols being the `index` parameters, which keep their places.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ir/clone.h"
#include "ir/conv.h"
#include "ir/lanes/index_math.h"
#include "ir/lower/lower.h"
#include "ir/program.h"

namespace frazil::ir {

class TensorLowering : public Cloner {
 public:
  TensorLowering(const Program& program, const Function& source, FunctionBuilder& builder,
                 Folds folds);
  // The whole function, its new signature included.
  Result<void> Run();

 protected:
  Result<void> Visit(const Inst& inst) override;

 private:
  using Order = IndexMath::Order;
  // Where a tensor op writes, and how many elements that are.
  struct Target {
    ValueId buffer;
    IndexExpr count;
  };

  // Where a tensor's elements are.
  struct Place {
    ValueId buffer;
    IndexExpr first;
  };

  // Signature and structure: lower_tensors.cpp, lower_tensors_structure.cpp.
  void DeclareSignature();
  void FindDirectResults();
  bool HasTensor(const Inst& inst) const;
  Result<void> LowerTensorInst(const Inst& inst);
  Result<void> LowerBranches(const Inst& inst);
  Result<void> LowerFor(const Inst& inst);
  Result<void> LowerWhile(const Inst& inst);
  // The body of a loop that was begun as `id`, and its results.
  Result<void> FinishLoop(const Inst& inst, InstId id, std::span<const ValueId> carried);
  void LowerCall(const Inst& inst);
  void LowerReturn(const Inst& inst);
  // All of a region but its terminator, whose operands are given back.
  Result<std::span<const ValueId>> CopyUntilYield(RegionId id);
  Values CarriedBuffers(std::span<const ValueId> inits);
  // Ends a loop body: tensors are copied to `carried` (invalid for scalars), scalars are yielded.
  void YieldCarried(std::span<const ValueId> yielded, std::span<const ValueId> carried);

  // Ops: lower_tensors_ops.cpp, lower_tensors_moves.cpp, lower_tensors_reduce.cpp.
  Result<void> LowerMap(const Inst& inst);
  // Products with operands that are read in place: lower_tensors_matvec.cpp.
  struct Factor {
    ValueId buffer;
    Type element;
    IndexExpr row, column;  // strides
  };
  void FindReadInPlace();
  bool IsReadInPlace(ValueId old_value) const { return read_in_place_.contains(old_value.index); }
  Factor FactorOf(ValueId old_matrix);
  ValueId ProductInPlaceAt(const Inst& inst, IndexExpr row, IndexExpr column);
  void LowerReduce(const Inst& inst);
  void ReduceColumns(const Inst& inst, const Target& target);
  void LowerIota(const Inst& inst);
  void LowerRandom(const Inst& inst);
  void LowerReshape(const Inst& inst);
  void CopyElements(const IndexExprs& sizes, ValueId from, IndexExpr first, const IndexExprs& steps,
                    const Target& target, const IndexExprs& strides);
  void LowerTranspose(const Inst& inst);
  void CopyTiles(const IndexExprs& sizes, size_t axis, ValueId from, const IndexExprs& steps,
                 const Target& target, const IndexExprs& strides);
  void LowerBroadcast(const Inst& inst);
  void LowerSlice(const Inst& inst);
  void LowerConcat(const Inst& inst);
  void LowerGather(const Inst& inst);
  void LowerTensorLoad(const Inst& inst);
  void LowerTensorStore(const Inst& inst);

  // A chain of products that ends in one element: matmul, conv.
  class Chain {
   public:
    Chain(TensorLowering& lowering, Type element, bool is_fused = true);
    ValueId Zero() const;
    ValueId Loop(IndexExpr count, ValueId acc,
                 const std::function<ValueId(IndexExpr, ValueId)>& body) const;
    ValueId Load(ValueId buffer, IndexExpr index) const;
    ValueId Step(ValueId a, ValueId b, ValueId acc) const;
    ValueId Rounded(ValueId sum) const;

   private:
    TensorLowering& lowering_;
    Type element_, wide_;
    bool is_half_ = false, has_fma_ = false;
  };

  // Kernels: lower_tensors_conv.cpp, lower_tensors_lines.cpp, lower_tensors_sort.cpp, lower_tensors_quantized.cpp.
  void LowerConv(const Inst& inst);
  void AssertConvFits(const ConvSpec& spec, const IndexExprs& image, const IndexExprs& kernel,
                      const IndexExprs& result);
  ValueId ZerosAround(const ConvSpec& spec, ValueId image, Type element, IndexExprs& sizes);
  struct Sized {
    ValueId buffer;
    IndexExprs sizes;
  };
  void ConvByColumns(const ConvSpec& spec, const Sized& image, const Sized& kernel,
                     IndexExpr outputs, Type type, const Target& target);
  void ConvAsProduct(const Sized& image, const Sized& kernel, Type type, const Target& target);
  void ConvNest(const ConvSpec& spec, const Sized& image, const Sized& kernel, IndexExpr outputs,
                Type type, const Target& target);
  struct ScanLines {
    ValueId from, to;
    Type element, wide;
    Op op;
    IndexExpr length;
    IndexExpr apart;  // elements of a line, which is how many lines lie side by side
  };
  void LowerScan(const Inst& inst);
  ValueId ScanLoad(const ScanLines& lines, IndexExpr at);
  void ScanStore(const ScanLines& lines, IndexExpr at, ValueId sum);
  void ScanLine(const ScanLines& lines, IndexExpr start);
  void ScanLane(const ScanLines& lines, IndexExpr start);
  void ScanRows(const ScanLines& lines, IndexExpr outer);
  void LowerScatter(const Inst& inst);
  void LowerSort(const Inst& inst);
  void WhereAny(IndexExpr count, const std::function<void()>& lines);
  void LowerMatmulQ(const Inst& inst);

  // Products: lower_tensors_matmul.cpp.
  void DeferProducts();
  bool TakesElements(const Inst& maker, const Inst& user, const Inst& product) const;
  bool IsMadeOfColumns(const Inst& maker);
  Result<void> LowerMapOfProduct(const Inst& inst);
  void LowerMatmul(const Inst& inst);
  ValueId ProductAt(const Inst& inst, std::span<const IndexExpr> at);

  // Elements by index: lower_tensors_generate.cpp.
  Result<void> LowerGenerate(const Inst& inst);
  std::optional<ValueId> HasSomeRest(const Inst& generate);
  Result<void> MakeElement(const Inst& inst, std::span<const Target> targets, IndexExpr element);
  void LowerExtract(const Inst& inst);
  Place PlaceOf(ValueId old_tensor) const;
  void PlaceRows(const Inst& generate);
  void PlaceBefore(const Inst& generate, const Inst& last, uint32_t k);
  bool IsReadBefore(ValueId old_tensor, const Inst& last, RegionId region) const;
  bool IsFlat(const Inst& generate) const;
  bool TakesIndices(const Inst& extract, const Region& region) const;
  // Registers the bounds of the indices that it meets.
  bool CannotTrap(RegionId region);
  void NoteBounds(const Inst& inst);
  bool IsWithin(ValueId old_index, Dim size) const;
  bool IsWithin(const Inst& extract) const;
  // The least and the greatest that an index can be, where constants say so.
  std::optional<std::pair<int64_t, int64_t>> RangeOf(ValueId old_index, int depth = 0) const;

  // Scratch: lower_tensors_memory.cpp.
  struct Made {
    uint32_t memory;  // same_memory_ of what is in it
    ValueId buffer;
    Type type;  // of the tensor that it was made for
  };
  static bool MakesItsBuffer(Op op);
  void FindLifetimes();
  void NoteUse(ValueId old_value, uint32_t position);
  void FreeUnused(uint32_t position);
  bool Fits(const Made& made, Type type) const;
  ValueId Reuse(const Inst& inst, ValueId old_value);
  void NoteMade(const Inst& inst, ValueId old_value, ValueId buffer);
  void HoistScratch(RegionId region, IndexExpr indices);

  // Folds down columns: lower_tensors_columns.cpp.
  bool IsDownColumns(const Inst& fold, ValueId last) const;
  bool IsColumns(const Inst& generate);
  std::vector<std::vector<InstId>> ColumnPhases(const Region& region) const;
  Result<void> CopyColumn(const Region& region, const std::map<uint32_t, ValueId>& results);
  Result<void> LowerColumns(const Inst& generate, std::span<const Target> targets);
  ValueId ColumnElement(const Inst& fold, IndexExpr row, Result<void>& status);
  IndexExpr FoldLength(ValueId old_count);

  // What the ops share. What may trap stands for the op that is being lowered.
  ValueId Alloc(Type element, IndexExpr count);
  ValueId CheckedLoad(ValueId buffer, ValueId index);
  void Assert(ValueId condition);
  IndexExprs SizesOf(Type tensor);
  IndexExprs SizesOf(ValueId old_tensor) { return SizesOf(source_.type(old_tensor)); }
  Target Allocate(Type tensor);
  // The same sizes in any order, so that one has as many elements as the other, whatever the
  // symbols are.
  bool SameFactors(Type a, Type b) const;
  // The target of an op's result, which is bound to it.
  Target Start(const Inst& inst, uint32_t result = 0);
  ValueId Load(ValueId buffer, IndexExpr index);
  void Store(ValueId buffer, IndexExpr index, ValueId value);
  void CopyElements(ValueId from, ValueId to, IndexExpr count);
  ValueId Zero(Type scalar);
  void AssertEqual(IndexExpr a, IndexExpr b);
  // Traps `out of bounds` if the condition holds. `buffer` is one that may be read.
  void TrapIf(ValueId condition, ValueId buffer);
  // 0 <= index < size for each pair; invalid if it is known to hold.
  ValueId AllWithin(std::span<const IndexExpr> indices, std::span<const IndexExpr> sizes);
  ValueId Both(ValueId a, ValueId b);  // either may be invalid, for true

  const Program& program_;
  const Folds folds_;
  IndexMath math_;
  Op source_op_ = Op::Return;        // of the source, the innermost that is being lowered
  std::vector<ValueId> out_params_;  // one for each result; invalid for scalars
  const bool reads_results_;         // parameters of results can be read
  std::vector<ValueId> direct_;  // by old value: the `out` parameter it is computed into, if any
  std::map<uint32_t, uint32_t>
      placed_;  // by old value: a row of that result of the `generate` around it
  std::map<uint32_t, Place> rows_;  // the same, in the element that is being made
  std::map<uint32_t, Dim> below_;   // by old index: from 0 to below that
  std::map<uint32_t, IndexExpr>
      flat_;                     // by the first index of a `generate`: the number of its element
  std::set<uint32_t> deferred_;  // products, by old value: their chains stand where they are read
  std::map<uint32_t, ValueId> sums_;   // theirs, in the element that is being made
  std::vector<uint32_t> positions_;    // by instruction: of the body, from 1
  std::vector<uint32_t> same_memory_;  // by old value: the value whose memory it is
  std::vector<uint32_t> last_use_;     // by that: position
  std::vector<Made> made_, free_;
  std::map<uint32_t, ValueId> hoisted_;  // by old value: scratch of a row
  bool is_in_generate_ = false;          // an element of one is being made
  std::set<uint32_t> read_in_place_;     // by old value: never made
  std::vector<Type> scalar_results_;
};

}  // namespace frazil::ir
