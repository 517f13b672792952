// As loops, every row would load and store the row it is added to: three quarters of the time goes there.
#include "targets/native/kernels/kernel_rows.h"

#include <llvm/IR/Constants.h>

#include <bit>

#include "ir/facts/inst_facts.h"
#include "targets/native/kernels/kernel_loops.h"
#include "targets/native/vectors/vector_index.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

constexpr unsigned MaxRegisters = 16;
// Rows in a turn, of ops that are one instruction.
constexpr unsigned Unroll = 4;

bool IsSeveralInstructions(Op op, ir::Type type) {
  const bool is_compare = op == Op::Min || op == Op::Max || op == Op::Minimum || op == Op::Maximum;
  return is_compare && ir::IsFloat(type.scalar);
}

class RowsLoop {
 public:
  RowsLoop(FunctionEmitter& emitter, const Inst& loop, const RowsNest& nest)
      : emitter_(emitter), builder_(emitter.builder()), loop_(loop), nest_(nest) {}

  void Emit() {
    lo_ = emitter_.Get(emitter_.function().operand(loop_, 0));
    hi_ = emitter_.Get(emitter_.function().operand(loop_, 1));
    llvm::BasicBlock* kernel = emitter_.NewBlock("rows");
    llvm::BasicBlock* loops = emitter_.NewBlock("loops");
    llvm::BasicBlock* done = emitter_.NewBlock("done");
    // Rows that are whole: all of them, or all but a last one that is cut off.
    llvm::Value* distance = builder_.CreateSub(hi_, lo_);
    llvm::Value* width = Int(static_cast<uint64_t>(nest_.width));
    llvm::Value* rows = builder_.CreateUDiv(distance, width);
    if (nest_.is_whole)
      rows = builder_.CreateAdd(builder_.CreateUDiv(builder_.CreateSub(distance, Int(1)), width),
                                Int(1));
    // Where nothing can be wrong, there is no second way.
    const bool is_sure = nest_.is_whole && IsInside() && emitter_.NeverSame(nest_.row, nest_.from);
    llvm::Value* fits = is_sure ? builder_.CreateICmpSLT(lo_, hi_) : Fits(rows);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    builder_.CreateCondBr(fits, kernel, is_sure ? done : loops);
    builder_.SetInsertPoint(kernel);
    EmitWhole(rows);
    if (is_sure) {
      builder_.CreateBr(done);
      loops->eraseFromParent();
      builder_.SetInsertPoint(done);
      return;
    }
    llvm::Value* next = builder_.CreateAdd(lo_, builder_.CreateMul(rows, width));
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, hi_), loops, done);
    builder_.SetInsertPoint(loops);
    llvm::PHINode* start = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    start->addIncoming(lo_, before);
    start->addIncoming(next, end);
    const ScalarInside scalar(emitter_);
    emitter_.EmitScalarLoop(loop_, start, {});
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

 private:
  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }

  // Is there a whole row, is every element of all whole rows inside, and is the row not among them? Bounds below 2^62
  // keep the sums from wrapping.
  llvm::Value* Fits(llvm::Value* rows) {
    const uint64_t width = static_cast<uint64_t>(nest_.width);
    llvm::Value* all = builder_.CreateICmpSLT(lo_, hi_);
    for (uint32_t i : {0u, 1u}) {
      llvm::Value* bound = i == 0 ? lo_ : hi_;
      if (!IsShortBound(emitter_.function(), emitter_.facts(), loop_, i))
        all = And(all, builder_.CreateICmpULT(bound, Int(uint64_t{1} << 62)));
    }
    all = And(all, builder_.CreateICmpNE(rows, Int(0)));
    if (!IsInside()) {
      all = And(all, Inside(nest_.row, RowStart(), Int(width)));
      all = And(all, Inside(nest_.from, FromStart(), builder_.CreateMul(rows, Int(width))));
    }
    if (emitter_.NeverSame(nest_.row, nest_.from)) return all;
    return And(all, builder_.CreateICmpNE(emitter_.Get(nest_.row), emitter_.Get(nest_.from)));
  }

  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return BothHold(builder_, a, b); }

  bool IsInside() const { return IsAllInside(emitter_, loop_); }

  llvm::Value* RowStart() { return EvaluateForm(emitter_, nest_.row_offset); }
  llvm::Value* FromStart() {
    return builder_.CreateAdd(EvaluateForm(emitter_, nest_.from_offset), lo_);
  }

  llvm::Value* Inside(ir::ValueId buffer, llvm::Value* first, llvm::Value* count) {
    llvm::Value* length = emitter_.LengthOf(buffer);
    return builder_.CreateICmpULE(count, RoomFrom(builder_, first, length));
  }

  llvm::Value* Load(llvm::Value* address) {
    return builder_.CreateAlignedLoad(vector_, address, llvm::Align(1));
  }

  llvm::Value* Step(llvm::Value* row, llvm::Value* other) {
    llvm::Value* in[] = {row, other};
    if (!nest_.row_is_first_operand) std::swap(in[0], in[1]);
    return emitter_.ops().Compute(nest_.op, nest_.type, nest_.type, in);
  }

  void EmitWhole(llvm::Value* rows) {
    const uint64_t width = static_cast<uint64_t>(nest_.width);
    vector_ =
        llvm::FixedVectorType::get(emitter_.ops().TypeOf(nest_.type), static_cast<unsigned>(width));
    llvm::Value* row = emitter_.ElementAddress(nest_.type, emitter_.Get(nest_.row), RowStart());
    llvm::Value* from = emitter_.ElementAddress(nest_.type, emitter_.Get(nest_.from), FromStart());
    llvm::Value* acc = Load(row);
    if (IsSeveralInstructions(nest_.op, nest_.type)) {
      Turns(rows, 1, acc, from, /*has_one=*/true);  // Emit has tested that
    } else {
      Turns(builder_.CreateUDiv(rows, Int(Unroll)), Unroll, acc, from);
      Turns(builder_.CreateURem(rows, Int(Unroll)), 1, acc, from);
    }
    if (Contains(ir::sets::Wide, nest_.type.scalar)) acc = emitter_.ops().Canonical(acc);
    builder_.CreateAlignedStore(acc, row, llvm::Align(1));
  }

  // `count` times `rows` rows.
  void Turns(llvm::Value* count, unsigned rows, llvm::Value*& acc, llvm::Value*& from,
             bool has_one = false) {
    const uint64_t width = static_cast<uint64_t>(nest_.width);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* turn = emitter_.NewBlock("turn");
    llvm::BasicBlock* after = emitter_.NewBlock("after");
    if (has_one)
      builder_.CreateBr(turn);
    else
      builder_.CreateCondBr(builder_.CreateICmpEQ(count, Int(0)), after, turn);
    builder_.SetInsertPoint(turn);
    llvm::PHINode* sum = builder_.CreatePHI(vector_, 2);
    llvm::PHINode* place = builder_.CreatePHI(builder_.getPtrTy(), 2);
    llvm::PHINode* left = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    sum->addIncoming(acc, before);
    place->addIncoming(from, before);
    left->addIncoming(count, before);
    llvm::Value* next = sum;
    for (unsigned r = 0; r < rows; ++r)
      next = Step(next, Load(emitter_.ElementAddress(nest_.type, place, Int(r * width))));
    llvm::Value* next_place = emitter_.ElementAddress(nest_.type, place, Int(rows * width));
    llvm::Value* next_left = builder_.CreateSub(left, Int(1));
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpNE(next_left, Int(0)), turn, after);
    sum->addIncoming(next, end);
    place->addIncoming(next_place, end);
    left->addIncoming(next_left, end);
    builder_.SetInsertPoint(after);
    llvm::PHINode* final_sum = builder_.CreatePHI(vector_, 2);
    if (!has_one) final_sum->addIncoming(acc, before);
    final_sum->addIncoming(next, end);
    llvm::PHINode* final_place = builder_.CreatePHI(builder_.getPtrTy(), 2);
    if (!has_one) final_place->addIncoming(from, before);
    final_place->addIncoming(next_place, end);
    acc = final_sum;
    from = final_place;
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const RowsNest& nest_;
  llvm::Value* lo_ = nullptr;
  llvm::Value* hi_ = nullptr;
  llvm::Type* vector_ = nullptr;
};

}  // namespace

bool EmitRows(FunctionEmitter& emitter, const Inst& loop, const RowsNest& nest) {
  const uint64_t bytes = static_cast<uint64_t>(nest.width) * ir::BytesOf(nest.type);
  if (!ir::IsCombiner(nest.op) || !std::has_single_bit(bytes) || bytes < 16) return false;
  if (!emitter.ops().ComputesVector(nest.op, nest.type, nest.type)) return false;
  if (bytes > uint64_t{MaxRegisters} * VectorBytes(emitter.level())) return false;
  RowsLoop(emitter, loop, nest).Emit();
  return true;
}

}  // namespace frazil::targets::native
