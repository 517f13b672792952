// The frame of a vector loop: tests before it, blocks of several vectors while there are enough iterations, blocks of one masked vector
// for the rest (where the machine has masks), and the scalar loop for the rest without masks, a test that fails, a lane that traps.
#include "targets/native/vectors/vector_loop.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <bit>

#include "targets/native/function_emitter.h"
#include "targets/native/kernels/kernel_loops.h"
#include "targets/native/vectors/loop_plan.h"
#include "targets/native/vectors/vector_bounds.h"
#include "targets/native/vectors/vector_folds.h"
#include "targets/native/vectors/vector_index.h"
#include "targets/native/vectors/vector_lanes.h"
#include "targets/native/vectors/vector_sizes.h"
#include "targets/native/vectors/vector_tree.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Shape = LoopAccess::Shape;

// A longer body waits for its arithmetic, not for memory.
constexpr uint32_t MaxStreamWork = 48;
constexpr uint64_t MinStreamCount = 4096;

class VectorLoop {
 public:
  VectorLoop(FunctionEmitter& emitter, const Inst& loop, const LoopPlan& plan)
      : emitter_(emitter),
        builder_(emitter.builder()),
        loop_(loop),
        plan_(plan),
        folds_(emitter, plan),
        sizes_(ChooseSizes(plan, IsRow(emitter, loop), emitter.level(), emitter.shared().tuned,
                           MostTrips(emitter, loop))) {}

  void Emit() {
    lo_ = emitter_.Get(emitter_.function().operand(loop_, 0));
    llvm::Value* hi = emitter_.Get(emitter_.function().operand(loop_, 1));
    count_ = builder_.CreateSub(hi, lo_);
    for (uint32_t k = 0; k < loop_.results.count; ++k)
      inits_.push_back(emitter_.IsLive(Function::result_of(loop_, k))
                           ? emitter_.Get(emitter_.function().operand(loop_, FirstInit(loop_) + k))
                           : nullptr);
    scalar_ = emitter_.NewBlock("scalar");
    done_ = emitter_.NewBlock("done");
    for (const LoopRow& row : plan_.rows) tiles_.push_back(TileOf(row));
    llvm::Value* fits = TestAccesses(emitter_, loop_, plan_, lo_, count_, hoisted_);
    for (const LoopMeeting& meeting : plan_.meetings) fits = And(fits, NeverMeet(meeting));
    for (auto [a, b] : plan_.at_most)
      fits = And(fits, builder_.CreateICmpSLE(Extended(a), Extended(b)));
    for (auto [a, b] : plan_.disjoint)
      if (!IsTestedOutside(a, b))
        fits = And(fits, builder_.CreateICmpNE(emitter_.Get(a), emitter_.Get(b)));
    const bool surely = SurelyRuns(emitter_.function(), emitter_.facts(), loop_);
    llvm::Value* runs = surely ? builder_.getTrue() : builder_.CreateICmpSLT(lo_, hi);
    if (IsTrue(fits)) {
      // Nothing can be wrong but that there is nothing to do.
      BranchToVector(runs, done_, to_done_);
    } else {
      BranchToVector(And(runs, fits), scalar_, to_scalar_);
    }
    LoadUniform();
    EmitBlocks();
    EmitScalar();
    Finish();
  }

  // Does the loop write what it does not read, and may that be more than the caches hold? After Emit.
  bool MayStream() {
    if (sizes_.tail == 0 || !plan_.folds.empty() || plan_.has_inner_loop ||
        plan_.work > MaxStreamWork || GathersOneByOne(plan_, emitter_.level()))
      return false;
    // Before AVX-512 lanes of a masked gather are read one by one, each behind a test; the last one is never among those
    // that stand before the first line.
    if (emitter_.level() != exec::CpuLevel::Avx512 && HasGather(plan_)) return false;
    if (MostTrips(emitter_, loop_) < MinStreamCount) return false;
    bool has_store = false;
    for (const LoopAccess& access : plan_.accesses) {
      if (!access.is_store) continue;
      // What a run keeps for itself is read again soon.
      if (access.shape != Shape::Unit || emitter_.IsScratch(access.buffer)) return false;
      has_store = true;
      const bool is_read = std::ranges::any_of(plan_.accesses, [&](const LoopAccess& other) {
        return !other.is_store && other.buffer == access.buffer;
      });
      const ir::Type element = emitter_.function().type(access.buffer).element();
      if (is_read || !access.always || ir::BytesOf(element) != plan_.element_bytes) return false;
    }
    return has_store;
  }

 private:
  // A way into a block: from where, after how many iterations, with which carried values.
  struct Way {
    llvm::BasicBlock* from;
    llvm::Value* trip;
    LlvmValues carried;
  };

  void BranchToVector(llvm::Value* condition, llvm::BasicBlock* otherwise,
                      std::vector<Way>& to_otherwise) {
    if (IsTrue(condition)) return;
    llvm::BasicBlock* vector = emitter_.NewBlock("vector");
    to_otherwise.push_back({builder_.GetInsertBlock(), builder_.getInt64(0), inits_});
    builder_.CreateCondBr(condition, vector, otherwise);
    builder_.SetInsertPoint(vector);
  }

  // Reads ahead of what is written, or where nothing is; of one element, before the last iteration writes it. The indices
  // are inside of the buffer, or the loop is not taken: their difference does not wrap.
  llvm::Value* NeverMeet(const LoopMeeting& meeting) {
    const LoopAccess& store = plan_.accesses[meeting.store];
    const LoopAccess& load = plan_.accesses[meeting.load];
    llvm::Value* ahead = EvaluateForm(emitter_, load.offset - store.offset);
    if (load.shape == Shape::Uniform) {
      llvm::Value* writes =
          meeting.is_later ? count_ : builder_.CreateSub(count_, builder_.getInt64(1));
      return builder_.CreateICmpUGE(builder_.CreateSub(ahead, lo_), writes);
    }
    llvm::Value* is_ahead =
        builder_.CreateICmpSGE(ahead, builder_.getInt64(meeting.is_later ? 1 : 0));
    return builder_.CreateOr(is_ahead, builder_.CreateICmpSLE(ahead, builder_.CreateNeg(count_)));
  }

  bool IsTestedOutside(ir::ValueId a, ir::ValueId b) const {
    if (emitter_.NeverSame(a, b)) return true;
    if (emitter_.IsDistinct(emitter_.facts().region[InstIdOf(loop_).index], a, b)) return true;
    const LoopPlan* const outer = emitter_.outer_plan();
    return outer != nullptr && std::ranges::any_of(outer->disjoint, [&](auto pair) {
             return pair == std::pair(a, b) || pair == std::pair(b, a);
           });
  }

  ir::InstId InstIdOf(const Inst& inst) const {
    return ir::InstId(static_cast<uint32_t>(&inst - emitter_.function().insts.data()));
  }

  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return BothHold(builder_, a, b); }

  llvm::Value* Extended(ir::ValueId param) {
    llvm::Value* value = emitter_.Get(param);
    const bool is_signed = IsSigned(emitter_.function().type(param).scalar);
    return is_signed ? builder_.CreateSExtOrTrunc(value, builder_.getInt64Ty())
                     : builder_.CreateZExtOrTrunc(value, builder_.getInt64Ty());
  }

  // Room for a tile, on the stack of the function.
  llvm::Value* TileOf(const LoopRow& row) {
    const ir::Type element = emitter_.function().type(plan_.accesses[row.access].buffer).element();
    const uint64_t lanes = sizes_.main;
    return StackRoom(
        builder_, llvm::ArrayType::get(builder_.getInt8Ty(), lanes * lanes * ir::BytesOf(element)));
  }

  // Elements that no iteration changes are read once, after the tests.
  void LoadUniform() {
    for (size_t i = 0; i < plan_.accesses.size(); ++i) {
      const LoopAccess& access = plan_.accesses[i];
      if (access.shape != Shape::Uniform || !access.hoisted || access.is_store) continue;
      const ir::Type element = emitter_.function().type(access.buffer).element();
      hoisted_[i].value = emitter_.LoadElement(element, hoisted_[i].address);
    }
  }

  // --- blocks ---
  void EmitBlocks() {
    llvm::BasicBlock* after = emitter_.NewBlock("after");
    std::vector<Way> to_after;
    if (emitter_.shared().tuned && MayStream()) {
      llvm::BasicBlock* stream = emitter_.NewBlock("stream");
      llvm::BasicBlock* plain = emitter_.NewBlock("plain");
      builder_.CreateCondBr(PaysToStream(), stream, plain);
      builder_.SetInsertPoint(stream);
      EmitStream(after, to_after);
      builder_.SetInsertPoint(plain);
    }
    if (sizes_.main != 0) {
      EmitMain(after, to_after);
    } else {
      to_after.push_back({builder_.GetInsertBlock(), builder_.getInt64(0), inits_});
      builder_.CreateBr(after);
    }
    builder_.SetInsertPoint(after);
    Way rest = Merge(to_after);
    llvm::Value* is_done = builder_.CreateICmpEQ(rest.trip, count_);
    rest.from = builder_.GetInsertBlock();
    to_done_.push_back(rest);
    if (IsTrue(is_done) || HasNoRest()) {
      builder_.CreateBr(done_);
      return;
    }
    if (sizes_.tail == 0) {
      to_scalar_.push_back(rest);
      builder_.CreateCondBr(is_done, done_, scalar_);
      return;
    }
    llvm::BasicBlock* tail = emitter_.NewBlock("tail");
    builder_.CreateCondBr(is_done, done_, tail);
    EmitTail(tail, rest);
  }

  // --- stores past the caches: where more is written than they hold, reading every line before it is overwritten would
  // be a third stream beside the two that an addition needs ---
  llvm::Value* PaysToStream() {
    uint64_t bytes = 0;
    llvm::Value* first = nullptr;
    llvm::Value* pays = builder_.getTrue();
    for (size_t i = 0; i < plan_.accesses.size(); ++i) {
      const LoopAccess& access = plan_.accesses[i];
      bytes += access.shape == Shape::Uniform
                   ? 0
                   : ir::BytesOf(emitter_.function().type(access.buffer).element());
      if (!access.is_store) continue;
      llvm::Value* address = builder_.CreatePtrToInt(hoisted_[i].address, builder_.getInt64Ty());
      // Lines of all stores begin in the same iteration.
      const uint64_t least = first == nullptr ? plan_.element_bytes - 1 : StreamAlignment - 1;
      llvm::Value* off = first == nullptr ? address : builder_.CreateSub(address, first);
      pays = And(pays, builder_.CreateICmpEQ(builder_.CreateAnd(off, builder_.getInt64(least)),
                                             builder_.getInt64(0)));
      if (first == nullptr) first = address;
      for (const LoopAccess& other : plan_.accesses)
        if (!other.is_store)
          pays = And(
              pays, builder_.CreateICmpNE(emitter_.Get(access.buffer), emitter_.Get(other.buffer)));
    }
    to_line_ = builder_.CreateUDiv(
        builder_.CreateAnd(builder_.CreateNeg(first), builder_.getInt64(StreamAlignment - 1)),
        builder_.getInt64(plan_.element_bytes));
    const uint64_t least =
        std::max<uint64_t>(emitter_.shared().stream_bytes / bytes, MinStreamCount);
    pays = And(pays, builder_.CreateICmpUGE(WholeCount(), Threshold(least, 0)));
    const uint64_t line = StreamAlignment / plan_.element_bytes;
    const uint64_t fewest = line + std::max<uint64_t>({sizes_.main, sizes_.tail, line});
    return And(pays, builder_.CreateICmpUGE(count_, Threshold(MinStreamCount, fewest)));
  }

  llvm::Value* Threshold(uint64_t usual, uint64_t least) {
    return emitter_.Threshold(usual, least);
  }

  // Of a piece of a kernel (ir::MakeRanged), the iterations of all pieces: hi is lo + max(min(to, trips), 0).
  llvm::Value* WholeCount() {
    const Function& function = emitter_.function();
    auto operand_of = [&](ir::ValueId value, Op op, uint32_t i) {
      ir::InstId def = value.valid() ? function.values[value.index].def : ir::InstId();
      if (!def.valid() || function.inst(def).op != op) return ir::ValueId();
      return function.operand(function.inst(def), i);
    };
    ir::ValueId to = operand_of(function.operand(loop_, 1), Op::Add, 1);
    ir::ValueId trips = operand_of(operand_of(to, Op::Max, 0), Op::Min, 1);
    return trips.valid() ? emitter_.Get(trips) : count_;
  }

  // Under a mask to the first line, then whole lines.
  void EmitStream(llvm::BasicBlock* after, std::vector<Way>& to_after) {
    llvm::BasicBlock* head_bail = emitter_.NewBlock("head.bail");
    const unsigned line = static_cast<unsigned>(StreamAlignment) / plan_.element_bytes;
    LaneBlock head{
        plan_,    loop_,     hoisted_, std::max(sizes_.tail, line), builder_.getInt64(0), lo_,
        to_line_, head_bail, tiles_};
    LlvmValues none;
    LaneEmitter(emitter_, head).Run(none);
    const unsigned lanes = std::max(sizes_.main, line);
    llvm::Value* step = builder_.getInt64(lanes);
    llvm::Value* left = builder_.CreateSub(count_, to_line_);
    llvm::Value* whole = builder_.CreateSub(count_, builder_.CreateURem(left, step));
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = emitter_.NewBlock("stream.main");
    llvm::BasicBlock* end = emitter_.NewBlock("stream.end");
    llvm::BasicBlock* bail = emitter_.NewBlock("stream.bail");
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    llvm::PHINode* trip = builder_.CreatePHI(builder_.getInt64Ty(), 2, "trip");
    trip->addIncoming(to_line_, before);
    LaneBlock block{plan_,   loop_, hoisted_, lanes, trip, builder_.CreateAdd(lo_, trip),
                    nullptr, bail,  tiles_,   true};
    LaneEmitter(emitter_, block).Run(none);
    llvm::Value* next = builder_.CreateAdd(trip, step, "", /*HasNUW=*/true);
    trip->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpULT(next, whole), body, end);
    builder_.SetInsertPoint(end);
    // Such stores wait for no other: whoever is told that the loop is done must find them.
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    to_after.push_back({end, next, inits_});
    builder_.CreateBr(after);
    Bail(head_bail, builder_.getInt64(0), inits_, {});
    Bail(bail, trip, inits_, {});
  }

  void EmitMain(llvm::BasicBlock* after, std::vector<Way>& to_after) {
    const unsigned lanes = MainLanes();
    const unsigned blocks = lanes == sizes_.main ? sizes_.blocks : 1;
    llvm::Value* step = builder_.getInt64(MainStep());
    llvm::Value* whole = builder_.CreateSub(count_, builder_.CreateURem(count_, step));
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = emitter_.NewBlock("main");
    llvm::BasicBlock* end = emitter_.NewBlock("main.end");
    llvm::Value* has_block = builder_.CreateICmpUGE(count_, step);
    if (IsTrue(has_block)) {
      builder_.CreateBr(body);
    } else {
      to_after.push_back({before, builder_.getInt64(0), inits_});
      builder_.CreateCondBr(has_block, body, after);
    }
    builder_.SetInsertPoint(body);
    if (llvm::Value* last = OneBlock(lanes, end); last != nullptr) {
      to_after.push_back({end, last, inits_});
      builder_.CreateBr(after);
      return;
    }
    llvm::PHINode* trip = builder_.CreatePHI(builder_.getInt64Ty(), 2, "trip");
    trip->addIncoming(builder_.getInt64(0), before);
    LlvmValues folds = folds_.Identities(lanes);
    std::vector<llvm::PHINode*> phis = Phis(folds, before);
    LlvmValues at_start(phis.begin(), phis.end());
    folds = at_start;
    std::vector<std::pair<llvm::BasicBlock*, llvm::Value*>> bails;
    for (unsigned b = 0; b < blocks; ++b) {
      llvm::Value* first = b == 0
                               ? static_cast<llvm::Value*>(trip)
                               : builder_.CreateAdd(trip, builder_.getInt64(uint64_t{lanes} * b));
      bails.emplace_back(emitter_.NewBlock("main.bail"), first);
      LaneBlock block{plan_,    loop_,
                      hoisted_, lanes,
                      first,    builder_.CreateAdd(lo_, first),
                      nullptr,  bails.back().first,
                      tiles_};
      LaneEmitter(emitter_, block).Run(folds);
    }
    llvm::Value* next = builder_.CreateAdd(trip, step, "", /*HasNUW=*/true);
    llvm::BasicBlock* last = builder_.GetInsertBlock();
    if (MostTrips(emitter_, loop_) / 2 < MainStep()) {
      builder_.CreateBr(end);
    } else {
      trip->addIncoming(next, last);
      for (size_t f = 0; f < phis.size(); ++f) phis[f]->addIncoming(folds[f], last);
      builder_.CreateCondBr(builder_.CreateICmpULT(next, whole), body, end);
    }

    builder_.SetInsertPoint(end);
    to_after.push_back({end, next, folds_.Collect(inits_, folds)});
    builder_.CreateBr(after);
    for (auto [bail, first] : bails) Bail(bail, first, inits_, at_start);
  }

  // A known number of iterations that whole blocks take.
  bool HasNoRest() {
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_);
    if (known == nullptr || sizes_.main == 0) return false;
    // Stores past the caches begin at a line.
    return known->getZExtValue() != 0 && known->getZExtValue() % MainStep() == 0 &&
           to_line_ == nullptr;
  }

  // As many iterations as a block has lanes, and nothing to collect: no loop. Gives their number.
  llvm::Value* OneBlock(unsigned lanes, llvm::BasicBlock* end) {
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_);
    if (known == nullptr || known->getZExtValue() != lanes || !plan_.folds.empty()) return nullptr;
    llvm::BasicBlock* bail = emitter_.NewBlock("main.bail");
    LaneBlock block{plan_, loop_,   hoisted_, lanes, builder_.getInt64(0),
                    lo_,   nullptr, bail,     tiles_};
    LlvmValues none;
    LaneEmitter(emitter_, block).Run(none);
    builder_.CreateBr(end);
    Bail(bail, builder_.getInt64(0), inits_, {});
    builder_.SetInsertPoint(end);
    return count_;
  }

  // A known number of iterations that fits one block takes exactly one.
  unsigned MainLanes() {
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_)) {
      const uint64_t count = known->getZExtValue();
      if (plan_.rows.empty() && std::has_single_bit(count) && count <= sizes_.main)
        return static_cast<unsigned>(count);
    }
    return sizes_.main;
  }

  // Iterations in one turn of the main loop.
  uint64_t MainStep() {
    const unsigned lanes = MainLanes();
    return uint64_t{lanes} * (lanes == sizes_.main ? sizes_.blocks : 1);
  }

  std::vector<llvm::PHINode*> Phis(const LlvmValues& starts, llvm::BasicBlock* from) {
    std::vector<llvm::PHINode*> phis;
    for (llvm::Value* start : starts) {
      if (start == nullptr) {
        phis.push_back(nullptr);
        continue;
      }
      phis.push_back(builder_.CreatePHI(start->getType(), 2));
      phis.back()->addIncoming(start, from);
    }
    return phis;
  }

  // The scalar loop takes over from the start of the block; nothing of it has been stored.
  void Bail(llvm::BasicBlock* bail, llvm::Value* trip, const LlvmValues& carried,
            const LlvmValues& folds) {
    if (bail->use_empty()) {
      bail->eraseFromParent();
      return;
    }
    builder_.SetInsertPoint(bail);
    LlvmValues collected = folds.empty() ? carried : folds_.Collect(carried, folds);
    to_scalar_.push_back({builder_.GetInsertBlock(), trip, collected});
    builder_.CreateBr(scalar_);
  }

  // Iterations for the tail, at most: what the blocks of the loops before it do not fill.
  uint64_t MostLeft() {
    const uint64_t most = MostTrips(emitter_, loop_);
    if (sizes_.main == 0) return most;
    uint64_t block = MainStep();
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_);
        known != nullptr && to_line_ == nullptr)
      return known->getZExtValue() % block;
    if (to_line_ != nullptr)
      block = std::max<uint64_t>({block, sizes_.main, StreamAlignment / plan_.element_bytes});
    return std::min(most, block - 1);
  }

  void EmitTail(llvm::BasicBlock* tail, const Way& start) {
    const unsigned lanes = sizes_.tail;
    llvm::BasicBlock* bail = emitter_.NewBlock("tail.bail");
    builder_.SetInsertPoint(tail);
    llvm::PHINode* trip = builder_.CreatePHI(builder_.getInt64Ty(), 2, "trip");
    trip->addIncoming(start.trip, start.from);
    std::vector<llvm::PHINode*> carried = Phis(start.carried, start.from);
    LlvmValues at_start(carried.begin(), carried.end());
    llvm::Value* left = builder_.CreateSub(count_, trip);
    llvm::Value* rest =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder_.getInt64(lanes));
    LlvmValues folds = folds_.Identities(lanes);
    LaneBlock block{plan_,
                    loop_,
                    hoisted_,
                    lanes,
                    trip,
                    builder_.CreateAdd(lo_, trip),
                    rest,
                    bail,
                    tiles_,
                    /*streams=*/false,
                    /*has_lane=*/true};
    LaneEmitter(emitter_, block).Run(folds);
    LlvmValues collected = folds_.Collect(at_start, folds);
    llvm::Value* next = builder_.CreateAdd(trip, rest);
    llvm::BasicBlock* last = builder_.GetInsertBlock();
    to_done_.push_back({last, next, collected});
    if (MostLeft() <= lanes) {
      builder_.CreateBr(done_);
    } else {
      trip->addIncoming(next, last);
      for (size_t k = 0; k < carried.size(); ++k)
        if (carried[k] != nullptr) carried[k]->addIncoming(collected[k], last);
      builder_.CreateCondBr(builder_.CreateICmpULT(next, count_), tail, done_);
    }
    Bail(bail, trip, at_start, {});
  }

  // At the start of a block that is reached on these ways.
  Way Merge(const std::vector<Way>& ways) {
    Way merged{nullptr, nullptr, {}};
    auto merge = [&](auto get) -> llvm::Value* {
      if (ways.size() == 1) return get(ways[0]);
      llvm::PHINode* phi =
          builder_.CreatePHI(get(ways[0])->getType(), static_cast<unsigned>(ways.size()));
      for (const Way& way : ways) phi->addIncoming(get(way), way.from);
      return phi;
    };
    merged.trip = merge([](const Way& way) { return way.trip; });
    for (size_t k = 0; k < inits_.size(); ++k)
      merged.carried.push_back(inits_[k] == nullptr
                                   ? static_cast<llvm::Value*>(nullptr)
                                   : merge([k](const Way& way) { return way.carried[k]; }));
    return merged;
  }

  void EmitScalar() {
    if (to_scalar_.empty()) {
      scalar_->eraseFromParent();
      return;
    }
    builder_.SetInsertPoint(scalar_);
    Way start = Merge(to_scalar_);
    const ScalarInside scalar(emitter_);
    LlvmValues results =
        emitter_.EmitScalarLoop(loop_, builder_.CreateAdd(lo_, start.trip), start.carried);
    to_done_.push_back({builder_.GetInsertBlock(), count_, results});
    builder_.CreateBr(done_);
  }

  void Finish() {
    builder_.SetInsertPoint(done_);
    if (inits_.empty()) return;
    Way end = Merge(to_done_);
    for (uint32_t k = 0; k < loop_.results.count; ++k) {
      if (end.carried[k] == nullptr) continue;
      const ir::ValueId result = Function::result_of(loop_, k);
      const bool is_any = emitter_.facts().canonical[result.index];
      emitter_.Set(result, is_any ? emitter_.ops().Canonical(end.carried[k]) : end.carried[k]);
    }
  }

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const LoopPlan& plan_;
  LaneFolds folds_;
  const BlockSizes sizes_;
  llvm::Value* lo_ = nullptr;
  llvm::Value* count_ = nullptr;    // iterations, if there is one
  llvm::Value* to_line_ = nullptr;  // iterations before the first line of what is stored
  LlvmValues inits_;
  std::vector<HoistedAccess> hoisted_;
  LlvmValues tiles_;
  llvm::BasicBlock* scalar_ = nullptr;
  llvm::BasicBlock* done_ = nullptr;
  std::vector<Way> to_scalar_;
  std::vector<Way> to_done_;
};

// Shown by `emit --to llvm`: what became of each loop, and why.
void Remember(FunctionEmitter& emitter, const Inst& loop, const std::string& what) {
  llvm::LLVMContext& context = emitter.context();
  std::string text = fmt::format("@{} line {}, {}: {}", emitter.function().name, loop.location.line,
                                 ir::Info(loop.op).mnemonic, what);
  llvm::NamedMDNode* node = emitter.shared().module.getOrInsertNamedMetadata("frazil.loops");
  node->addOperand(llvm::MDNode::get(context, llvm::MDString::get(context, text)));
}

}  // namespace

PlanQuestion QuestionOf(FunctionEmitter& emitter) {
  const ir::FuncId id(
      static_cast<uint32_t>(&emitter.function() - emitter.program().functions.data()));
  return {emitter.program(),
          emitter.shared().facts,
          id,
          emitter.shared().metered,
          [&emitter](Op op, ir::Type type, ir::Type from) {
            return emitter.ops().ComputesVector(op, type, from) || op == Op::MulHi;
          },
          emitter.level() != exec::CpuLevel::Baseline};
}

bool FitsVectors(FunctionEmitter& emitter, const ir::Inst& loop) {
  const LoopPlan plan = PlanLoop(QuestionOf(emitter), loop);
  return plan.refusal.empty() && plan.rows.empty();
}

bool TryEmitVectorLoop(FunctionEmitter& emitter, const ir::Inst& loop) {
  if (!emitter.shared().vectorize) return false;
  if (IsTree(loop))
    return Remember(emitter, loop, "64 elements at a time, in the tree of a fold"),
           EmitTree(emitter, loop, PlanLoop(QuestionOf(emitter), loop));
  if (TryEmitKernelLoop(emitter, loop)) return Remember(emitter, loop, "a nest in registers"), true;
  if (emitter.IsBorder(CounterOf(emitter.function(), loop))) {
    Remember(emitter, loop, "one iteration at a time: it is a border");
    const ScalarInside scalar(emitter);
    emitter.EmitScalarLoop(loop, emitter.Get(emitter.function().operand(loop, 0)), {});
    return true;
  }
  const LoopPlan plan = PlanLoop(QuestionOf(emitter), loop);
  if (!plan.refusal.empty())
    return Remember(emitter, loop, "one iteration at a time: " + plan.refusal), false;
  const uint64_t most_trips = MostTrips(emitter, loop);
  const auto sizes_of = [&](bool tuned) {
    return ChooseSizes(plan, IsRow(emitter, loop), emitter.level(), tuned, most_trips);
  };
  const BlockSizes sizes = sizes_of(emitter.shared().tuned);
  if (sizes.tail == 0 && most_trips < sizes.main)
    return Remember(emitter, loop, "one iteration at a time: it has few"), false;
  Remember(emitter, loop,
           sizes.main == 0 ? fmt::format("{} iterations at a time, under masks", sizes.tail)
                           : fmt::format("{} iterations at a time, the rest {}", sizes.main,
                                         sizes.tail == 0 ? "one by one" : "under masks"));
  VectorLoop vector(emitter, loop, plan);
  vector.Emit();
  if (!emitter.shared().tuned && (sizes != sizes_of(true) || vector.MayStream()))
    emitter.shared().could_tune = true;
  return true;
}

}  // namespace frazil::targets::native
