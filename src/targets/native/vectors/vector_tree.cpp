// Chains begin with what changes nothing, -0 for a sum: then every lane may be joined, also those that have no element. Only
// bits of NaNs come out otherwise, and a result of two or more elements that is none is made the one NaN; the only one of a
// fold is given as it is.
#include "targets/native/vectors/vector_tree.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "targets/native/vectors/vector_bounds.h"
#include "targets/native/vectors/vector_index.h"
#include "targets/native/vectors/vector_lanes.h"
#include "targets/native/vectors/vector_sizes.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

class TreeFold {
 public:
  TreeFold(FunctionEmitter& emitter, const Inst& loop, const LoopPlan& plan)
      : emitter_(emitter),
        builder_(emitter.builder()),
        loop_(loop),
        plan_(plan),
        step_(emitter.function().inst(plan.folds[0].step)),
        most_(MostTrips(emitter, loop)) {
    // As many registers side by side as keep the pipes busy and leave room for what an element needs.
    const unsigned bytes = std::max(ir::BytesOf(step_.type), plan.compute_bytes);
    const unsigned registers = emitter.level() == exec::CpuLevel::Avx512 ? 4 : 2;
    lanes_ = std::min(static_cast<unsigned>(TreeChains),
                      registers * VectorBytes(emitter.level()) / bytes);
  }

  void Emit() {
    lo_ = emitter_.Get(emitter_.function().operand(loop_, 0));
    count_ = emitter_.Get(emitter_.function().operand(loop_, 1));
    llvm::Value* const init = emitter_.Get(emitter_.function().operand(loop_, 2));
    const bool surely = SurelyRuns(emitter_.function(), emitter_.facts(), loop_);
    llvm::BasicBlock* const done = emitter_.NewBlock("fold.done");
    std::vector<std::pair<llvm::BasicBlock*, llvm::Value*>> ways;
    if (!surely) {
      llvm::BasicBlock* const some = emitter_.NewBlock("fold.some");
      ways.emplace_back(builder_.GetInsertBlock(), init);
      builder_.CreateCondBr(builder_.CreateICmpSGT(count_, builder_.getInt64(0)), some, done);
      builder_.SetInsertPoint(some);
    }
    TrapOutside(init);
    llvm::Value* result = most_ <= TreeBlock ? Block(builder_.getInt64(0), count_) : Blocks();
    result = OnlyOneAsItIs(result);
    ways.emplace_back(builder_.GetInsertBlock(), result);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    llvm::PHINode* const phi =
        builder_.CreatePHI(result->getType(), static_cast<unsigned>(ways.size()));
    for (auto [from, value] : ways) phi->addIncoming(value, from);
    emitter_.Set(Function::result_of(loop_), phi);
  }

 private:
  llvm::Value* Int(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* Combine(llvm::Value* a, llvm::Value* b) {
    llvm::Value* in[] = {a, b};
    return emitter_.ops().Compute(step_.op, step_.type, step_.type, in);
  }

  // An element that traps: the scalar loop finds the first, and never comes to its end.
  void TrapOutside(llvm::Value* init) {
    llvm::Value* const fits = TestAccesses(emitter_, loop_, plan_, lo_, count_, hoisted_);
    if (!IsTrue(fits)) {
      llvm::BasicBlock* const inside = emitter_.NewBlock("fold.inside");
      llvm::BasicBlock* const outside = emitter_.NewBlock("fold.outside");
      emitter_.BranchUnlikely(builder_.CreateNot(fits), outside, inside);
      builder_.SetInsertPoint(outside);
      emitter_.EmitScalarLoop(loop_, lo_, std::span(&init, 1));
      const Inst& access = emitter_.function().inst(plan_.accesses[0].inst);
      builder_.CreateBr(emitter_.TrapBlock(ir::Trap::OutOfBounds, access.trap_op()));
      builder_.SetInsertPoint(inside);
    }
    for (size_t i = 0; i < plan_.accesses.size(); ++i)
      if (plan_.accesses[i].shape == LoopAccess::Shape::Uniform)
        hoisted_[i].value = emitter_.LoadElement(
            emitter_.function().type(plan_.accesses[i].buffer).element(), hoisted_[i].address);
  }

  // --- a block of elements ---

  llvm::Constant* Identity() {
    llvm::Type* const type = emitter_.ops().TypeOf(step_.type);
    switch (step_.op) {
      case Op::Add: return llvm::ConstantFP::getNegativeZero(type);
      case Op::Mul: return llvm::ConstantFP::get(type, 1.0);
      case Op::Min:
      case Op::Max: return llvm::ConstantFP::getQNaN(type);
      default: return llvm::ConstantFP::getInfinity(type, /*Negative=*/step_.op == Op::Maximum);
    }
  }

  // Elements from `first` on joined to the chains; `rest`: how many they are, if not all 64.
  void JoinRow(LlvmValues& chains, llvm::Value* first, llvm::Value* rest) {
    for (unsigned part = 0; part < chains.size(); ++part) {
      const uint64_t before = uint64_t{part} * lanes_;
      llvm::Value* const trip = builder_.CreateAdd(first, Int(before));
      llvm::Value* part_rest = nullptr;
      if (rest != nullptr)
        part_rest = builder_.CreateBinaryIntrinsic(
            llvm::Intrinsic::umin, Int(lanes_),
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, rest, Int(before)));
      llvm::BasicBlock* const bail = emitter_.NewBlock("fold.bail");
      const LaneBlock block{plan_,     loop_, hoisted_, lanes_, trip, builder_.CreateAdd(lo_, trip),
                            part_rest, bail};
      LlvmValues folds = {chains[part]};
      LaneEmitter(emitter_, block).Run(folds);
      chains[part] = folds[0];
      bail->eraseFromParent();  // nothing in an element traps
    }
  }

  llvm::Value* Block(llvm::Value* start, llvm::Value* count) {
    const unsigned parts = static_cast<unsigned>(TreeChains) / lanes_;
    llvm::Constant* const none =
        llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), Identity());
    LlvmValues chains(parts, none);
    llvm::Value* const whole = builder_.CreateAnd(count, Int(~uint64_t{TreeChains - 1}));
    llvm::Value* const rest = builder_.CreateAnd(count, Int(TreeChains - 1));
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
    const uint64_t known_rest = known != nullptr ? known->getZExtValue() % TreeChains : 1;
    if (most_ >= TreeChains) WholeRows(chains, start, whole);
    if (known_rest != 0) CutRow(chains, builder_.CreateAdd(start, whole), rest, known != nullptr);
    return Halves(std::move(chains));
  }

  void WholeRows(LlvmValues& chains, llvm::Value* start, llvm::Value* whole) {
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const row = emitter_.NewBlock("fold.row");
    llvm::BasicBlock* const after = emitter_.NewBlock("fold.rows");
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(whole);
    const bool surely = known != nullptr && !known->isZero();
    if (surely)
      builder_.CreateBr(row);
    else
      builder_.CreateCondBr(builder_.CreateICmpNE(whole, Int(0)), row, after);
    builder_.SetInsertPoint(row);
    llvm::PHINode* const at = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    at->addIncoming(Int(0), before);
    std::vector<llvm::PHINode*> phis;
    LlvmValues joined;
    for (llvm::Value* chain : chains) {
      phis.push_back(builder_.CreatePHI(chain->getType(), 2));
      phis.back()->addIncoming(chain, before);
      joined.push_back(phis.back());
    }
    JoinRow(joined, builder_.CreateAdd(start, at), nullptr);
    llvm::Value* const next = builder_.CreateAdd(at, Int(TreeChains), "", /*HasNUW=*/true);
    llvm::BasicBlock* const end = builder_.GetInsertBlock();
    at->addIncoming(next, end);
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(joined[i], end);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, whole), row, after);
    builder_.SetInsertPoint(after);
    for (size_t i = 0; i < chains.size(); ++i) {
      if (surely) {
        chains[i] = joined[i];
        continue;
      }
      llvm::PHINode* const phi = builder_.CreatePHI(chains[i]->getType(), 2);
      phi->addIncoming(chains[i], before);
      phi->addIncoming(joined[i], end);
      chains[i] = phi;
    }
  }

  void CutRow(LlvmValues& chains, llvm::Value* first, llvm::Value* rest, bool surely) {
    if (surely) return JoinRow(chains, first, rest);
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const cut = emitter_.NewBlock("fold.cut");
    llvm::BasicBlock* const after = emitter_.NewBlock("fold.halves");
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, Int(0)), cut, after);
    builder_.SetInsertPoint(cut);
    LlvmValues joined = chains;
    JoinRow(joined, first, rest);
    llvm::BasicBlock* const end = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    for (size_t i = 0; i < chains.size(); ++i) {
      llvm::PHINode* const phi = builder_.CreatePHI(chains[i]->getType(), 2);
      phi->addIncoming(chains[i], before);
      phi->addIncoming(joined[i], end);
      chains[i] = phi;
    }
  }

  bool IsExtreme() const { return step_.op != Op::Add && step_.op != Op::Mul; }
  // Floats as integers of the same order, and back: of negative ones all bits but the sign are turned.
  llvm::Value* Turned(llvm::Value* bits) {
    const unsigned width = bits->getType()->getScalarSizeInBits();
    llvm::Value* const sign = builder_.CreateAShr(bits, width - 1);
    return builder_.CreateXor(
        bits,
        builder_.CreateAnd(
            sign, llvm::ConstantInt::get(bits->getType(), llvm::APInt::getSignedMaxValue(width))));
  }
  // A NaN stands where no number does, on the side that loses, or wins where it is to be kept; turned back it is one again.
  llvm::Value* Ordered(llvm::Value* chain) {
    const unsigned width = chain->getType()->getScalarSizeInBits();
    llvm::Type* const type = chain->getType()->getWithNewType(builder_.getIntNTy(width));
    const bool is_least = step_.op == Op::Max || step_.op == Op::Minimum;
    llvm::Constant* const nan =
        llvm::ConstantInt::get(type, is_least ? llvm::APInt::getSignedMinValue(width)
                                              : llvm::APInt::getSignedMaxValue(width));
    return builder_.CreateSelect(builder_.CreateFCmpUNO(chain, chain), nan,
                                 Turned(builder_.CreateBitCast(chain, type)));
  }
  llvm::Value* JoinHalves(llvm::Value* a, llvm::Value* b) {
    if (!IsExtreme()) return Combine(a, b);
    const bool is_max = step_.op == Op::Max || step_.op == Op::Maximum;
    return builder_.CreateBinaryIntrinsic(is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, a,
                                          b);
  }

  // Chain c with chain c + 32, + 16, ... + 1. As integers the greatest of two is one instruction and a cycle, as floats with
  // their NaNs and zeros some six (softmax of rows of 64: 83 and 81 ns a row).
  llvm::Value* Halves(LlvmValues chains) {
    if (IsExtreme())
      for (llvm::Value*& chain : chains) chain = Ordered(chain);
    for (size_t half = chains.size() / 2; half >= 1; half /= 2)
      for (size_t i = 0; i < half; ++i) chains[i] = JoinHalves(chains[i], chains[i + half]);
    llvm::Value* vector = chains[0];
    for (unsigned lanes = lanes_; lanes > 1; lanes /= 2) {
      llvm::SmallVector<int, 64> low, high;
      for (unsigned i = 0; i < lanes / 2; ++i) {
        low.push_back(static_cast<int>(i));
        high.push_back(static_cast<int>(lanes / 2 + i));
      }
      vector = JoinHalves(builder_.CreateShuffleVector(vector, low),
                          builder_.CreateShuffleVector(vector, high));
    }
    llvm::Value* const last = builder_.CreateExtractElement(vector, uint64_t{0});
    if (!IsExtreme()) return last;
    return builder_.CreateBitCast(Turned(last), emitter_.ops().TypeOf(step_.type));
  }

  // --- many blocks ---

  // Adjacent pairs, level by level: as a counter in base two, whose places hold what waits for its neighbor.
  llvm::Value* Blocks() {
    llvm::Type* const type = emitter_.ops().TypeOf(step_.type);
    llvm::Value* const places = emitter_.StackWords(FirstPlace, MostLevels);
    const auto place = [&](llvm::Value* level) {
      return builder_.CreateGEP(builder_.getInt64Ty(), places, level);
    };
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const block = emitter_.NewBlock("fold.block");
    llvm::BasicBlock* const carry = emitter_.NewBlock("fold.carry");
    llvm::BasicBlock* const carried = emitter_.NewBlock("fold.carried");
    llvm::BasicBlock* const keep = emitter_.NewBlock("fold.keep");
    llvm::BasicBlock* const collect = emitter_.NewBlock("fold.collect");
    llvm::BasicBlock* const after = emitter_.NewBlock("fold.all");
    builder_.CreateBr(block);
    builder_.SetInsertPoint(block);
    llvm::PHINode* const number = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    number->addIncoming(Int(0), before);
    llvm::Value* const start = builder_.CreateMul(number, Int(TreeBlock));
    llvm::Value* const left = builder_.CreateSub(count_, start);
    llvm::Value* const value =
        Block(start, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, Int(TreeBlock)));
    llvm::BasicBlock* const block_end = builder_.GetInsertBlock();
    builder_.CreateBr(carry);
    // While there is a neighbor it is joined, one level up each time.
    builder_.SetInsertPoint(carry);
    llvm::PHINode* const level = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    llvm::PHINode* const sum = builder_.CreatePHI(type, 2);
    level->addIncoming(Int(0), block_end);
    sum->addIncoming(value, block_end);
    llvm::Value* const bit = builder_.CreateAnd(builder_.CreateLShr(number, level), Int(1));
    builder_.CreateCondBr(builder_.CreateICmpNE(bit, Int(0)), carried, keep);
    builder_.SetInsertPoint(carried);
    sum->addIncoming(Combine(builder_.CreateLoad(type, place(level)), sum), carried);
    level->addIncoming(builder_.CreateAdd(level, Int(1)), carried);
    builder_.CreateBr(carry);
    builder_.SetInsertPoint(keep);
    builder_.CreateStore(sum, place(level));
    llvm::Value* const next = builder_.CreateAdd(number, Int(1));
    number->addIncoming(next, keep);
    builder_.CreateCondBr(builder_.CreateICmpUGT(left, Int(TreeBlock)), block, collect);
    // What still waits, from the last to the first.
    builder_.SetInsertPoint(collect);
    llvm::PHINode* const at = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    llvm::PHINode* const rest = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    llvm::PHINode* const total = builder_.CreatePHI(type, 2);
    llvm::PHINode* const has = builder_.CreatePHI(builder_.getInt1Ty(), 2);
    at->addIncoming(Int(0), keep);
    rest->addIncoming(next, keep);
    total->addIncoming(Identity(), keep);
    has->addIncoming(builder_.getFalse(), keep);
    llvm::Value* const waits = builder_.CreateICmpNE(builder_.CreateAnd(rest, Int(1)), Int(0));
    llvm::Value* const waiting = builder_.CreateLoad(type, place(at));
    llvm::Value* const joined = builder_.CreateSelect(has, Combine(waiting, total), waiting);
    llvm::Value* const next_total = builder_.CreateSelect(waits, joined, total);
    llvm::Value* const next_rest = builder_.CreateLShr(rest, Int(1));
    at->addIncoming(builder_.CreateAdd(at, Int(1)), collect);
    rest->addIncoming(next_rest, collect);
    total->addIncoming(next_total, collect);
    has->addIncoming(builder_.CreateOr(has, waits), collect);
    builder_.CreateCondBr(builder_.CreateICmpNE(next_rest, Int(0)), collect, after);
    builder_.SetInsertPoint(after);
    return next_total;
  }

  // --- the result ---

  llvm::Value* OnlyOneAsItIs(llvm::Value* result) {
    llvm::Value* const number = emitter_.ops().Canonical(result);
    const ir::ValueId element = TreeElement(emitter_.function(), loop_);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count_);
    if (!MayBeAnyNan(emitter_.facts(), element) || (known != nullptr && !known->isOne()))
      return number;
    // It is loaded as it is (CheckTree).
    const ir::InstId load = emitter_.function().values[element.index].def;
    const auto access = std::ranges::find(plan_.accesses, load, &LoopAccess::inst);
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const one = emitter_.NewBlock("fold.one");
    llvm::BasicBlock* const after = emitter_.NewBlock("fold.result");
    builder_.CreateCondBr(builder_.CreateICmpEQ(count_, Int(1)), one, after);
    builder_.SetInsertPoint(one);
    llvm::Value* const as_it_is = emitter_.LoadElement(
        step_.type, hoisted_[static_cast<size_t>(access - plan_.accesses.begin())].address);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    llvm::PHINode* const phi = builder_.CreatePHI(result->getType(), 2);
    phi->addIncoming(number, before);
    phi->addIncoming(as_it_is, one);
    return phi;
  }

  // Of the function's words on the stack: no other user has so many.
  static constexpr uint32_t FirstPlace = 7;
  static constexpr uint32_t MostLevels = 64;

  FunctionEmitter& emitter_;
  Builder& builder_;
  const Inst& loop_;
  const LoopPlan& plan_;
  const Inst& step_;
  const uint64_t most_;  // elements
  unsigned lanes_;       // in a part of a row
  llvm::Value* lo_ = nullptr;
  llvm::Value* count_ = nullptr;
  std::vector<HoistedAccess> hoisted_;
};

}  // namespace

bool HasTreeMasks(const LoopPlan& plan, exec::CpuLevel level) {
  return level == exec::CpuLevel::Avx512 ||
         (level == exec::CpuLevel::Avx2 && (plan.accesses.empty() || plan.narrowest_bytes >= 4));
}

bool EmitTree(FunctionEmitter& emitter, const ir::Inst& loop, const LoopPlan& plan) {
  if (!plan.refusal.empty()) {
    emitter.shared().lost_fold = true;
    return false;
  }
  TreeFold(emitter, loop, plan).Emit();
  return true;
}

}  // namespace frazil::targets::native
