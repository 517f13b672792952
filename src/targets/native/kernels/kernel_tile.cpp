// One broadcast of a for each row and k, shared by the vectors of that row. Rows are addressed in groups of three
// from one pointer (+0, +s, +2s are all in x86 addresses): eight row pointers would cost the registers of the loop.
#include "targets/native/kernels/kernel_tile.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace frazil::targets::native {
namespace {

constexpr uint64_t MaxStraight = 16;  // a known depth up to this has no loop

class Tile {
 public:
  Tile(Builder& builder, OpEmitter& ops, llvm::Type* element, const TileShape& shape,
       const TileOperands& in)
      : builder_(builder),
        ops_(ops),
        element_(element),
        from_(ops.TypeOf(in.from)),
        is_half_(Contains(ir::sets::Half, in.from.scalar)),
        shape_(shape),
        in_(in),
        known_row_(llvm::dyn_cast<llvm::ConstantInt>(in.a_row)),
        group_(known_row_ != nullptr ? shape.rows : 3) {}

  void Emit() {
    for (const TileVector& vector : shape_.vectors) {
      types_.push_back(llvm::FixedVectorType::get(element_, vector.lanes));
      starts_.push_back(width_);
      masks_.push_back(MaskOf(vector, width_));
      width_ += vector.lanes;
    }
    Values acc = Start();
    if (in_.prefetches) Prefetch();
    acc = Chain(std::move(acc));
    if (in_.tail) return EmitTail(acc);
    MakeOneNan(builder_, ops_, acc);
    StoreSums(acc);
  }

 private:
  using Values = std::vector<llvm::Value*>;

  void EmitTail(const Values& acc) {
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(in_.is_last);
    if (known != nullptr && known->isOne()) return in_.tail(acc, masks_);
    llvm::BasicBlock* last = NewBlock("last");
    llvm::BasicBlock* wait = NewBlock("wait");
    llvm::BasicBlock* done = NewBlock("tile.end");
    builder_.CreateCondBr(in_.is_last, last, wait);
    builder_.SetInsertPoint(last);
    in_.tail(acc, masks_);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(wait);
    StoreSums(acc);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  void StoreSums(const Values& acc) {
    for (unsigned r = 0; r < shape_.rows; ++r)
      for (size_t v = 0; v < types_.size(); ++v) {
        llvm::Value* value = acc[r * types_.size() + v];
        llvm::Value* address = AtSum(r, starts_[v]);
        if (masks_[v] == nullptr)
          builder_.CreateAlignedStore(value, address, llvm::Align(1));
        else
          builder_.CreateMaskedStore(value, address, llvm::Align(1), masks_[v]);
      }
  }

  llvm::Value* MaskOf(const TileVector& vector, unsigned start) {
    llvm::Value* count = builder_.getInt64(vector.used);
    if (in_.columns != nullptr) {
      llvm::Value* left = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, in_.columns,
                                                         builder_.getInt64(start));
      count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left,
                                             builder_.getInt64(vector.lanes));
    }
    return FirstLanes(builder_, vector.lanes, count);
  }

  // base + row * stride + column, in elements of a and b; and of c.
  llvm::Value* At(llvm::Value* base, uint64_t row, llvm::Value* stride, uint64_t column) {
    return At(from_, base, row, stride, column);
  }
  llvm::Value* AtSum(uint64_t row, uint64_t column) {
    return At(element_, in_.c, row, in_.c_row, column);
  }
  llvm::Value* At(llvm::Type* element, llvm::Value* base, uint64_t row, llvm::Value* stride,
                  uint64_t column) {
    llvm::Value* index = builder_.CreateMul(stride, builder_.getInt64(row));
    return builder_.CreateGEP(element, base, builder_.CreateAdd(index, builder_.getInt64(column)));
  }

  llvm::Value* LoadRow(size_t v, llvm::Type* element, llvm::Value* address) {
    llvm::Type* type = llvm::FixedVectorType::get(element, shape_.vectors[v].lanes);
    if (masks_[v] == nullptr) return builder_.CreateAlignedLoad(type, address, llvm::Align(1));
    return builder_.CreateMaskedLoad(type, address, llvm::Align(1), masks_[v],
                                     llvm::Constant::getNullValue(type));
  }

  // A row of b as the chains take it.
  llvm::Value* LoadFactors(size_t v, llvm::Value* address) {
    llvm::Value* row = LoadRow(v, from_, address);
    return is_half_ ? ops_.WidenHalf(in_.from.scalar, row) : row;
  }

  // An element of a in all lanes. Of bf16, two in each lane of 32 bits, one of which is shifted out: two instructions.
  llvm::Value* Splat(llvm::Value* factor, unsigned lanes) {
    if (!is_half_) return builder_.CreateVectorSplat(lanes, factor);
    if (in_.from.scalar != ir::Scalar::BF16)
      return ops_.WidenHalf(in_.from.scalar, builder_.CreateVectorSplat(lanes, factor));
    llvm::Type* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes);
    llvm::Value* pairs =
        builder_.CreateBitCast(builder_.CreateVectorSplat(2 * lanes, factor), words);
    return builder_.CreateBitCast(builder_.CreateShl(pairs, 16),
                                  llvm::FixedVectorType::get(element_, lanes));
  }

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name,
                                    builder_.GetInsertBlock()->getParent());
  }

  Values Start() {
    Values zeros;
    for (unsigned r = 0; r < shape_.rows; ++r)
      for (llvm::Type* type : types_) zeros.push_back(llvm::Constant::getNullValue(type));
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(in_.is_first);
    if (known != nullptr && known->isOne()) return zeros;
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* reload = NewBlock("reload");
    llvm::BasicBlock* chain = NewBlock("chain");
    builder_.CreateCondBr(in_.is_first, chain, reload);
    builder_.SetInsertPoint(reload);
    Values loaded;
    for (unsigned r = 0; r < shape_.rows; ++r)
      for (size_t v = 0; v < types_.size(); ++v)
        loaded.push_back(LoadRow(v, element_, AtSum(r, starts_[v])));
    Join(chain, zeros, before, loaded, reload);
    return zeros;
  }

  // From here, where they are `others`, to `block`: there they are one or the other.
  void Join(llvm::BasicBlock* block, Values& values, llvm::BasicBlock* before, const Values& others,
            llvm::BasicBlock* here) {
    builder_.CreateBr(block);
    builder_.SetInsertPoint(block);
    for (size_t i = 0; i < values.size(); ++i) {
      llvm::PHINode* phi = builder_.CreatePHI(values[i]->getType(), 2);
      phi->addIncoming(values[i], before);
      phi->addIncoming(others[i], here);
      values[i] = phi;
    }
  }

  void Prefetch() {
    constexpr unsigned LineBytes = 64;
    const unsigned line = LineBytes / (element_->getScalarSizeInBits() / 8);
    for (unsigned r = 0; r < shape_.rows; ++r)
      for (unsigned start = 0; start < width_; start += line)
        builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                                 {AtSum(r, width_ + start), builder_.getInt32(0),
                                  builder_.getInt32(2), builder_.getInt32(1)});
  }

  // Step u from these places.
  void Step(Values& acc, const Values& a, llvm::Value* b, unsigned u) {
    Values row;
    for (size_t v = 0; v < types_.size(); ++v)
      row.push_back(LoadFactors(v, At(b, u, in_.b_depth, starts_[v])));
    for (unsigned r = 0; r < shape_.rows; ++r) {
      llvm::Value* place = At(a[r / group_], r % group_, in_.a_row, 0);
      place = At(place, u, in_.a_depth, 0);
      llvm::Value* factor = builder_.CreateAlignedLoad(from_, place, llvm::Align(1));
      llvm::Value* splat = nullptr;
      for (size_t v = 0; v < types_.size(); ++v) {
        if (v == 0 || types_[v] != types_[v - 1]) splat = Splat(factor, shape_.vectors[v].lanes);
        llvm::Value*& sum = acc[r * types_.size() + v];
        sum = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {types_[v]}, {splat, row[v], sum});
      }
    }
  }

  Values Places() {
    Values a;
    for (unsigned r = 0; r < shape_.rows; r += group_) a.push_back(At(in_.a, r, in_.a_row, 0));
    return a;
  }

  Values Chain(Values acc) {
    Values places = Places();
    llvm::Value* b = in_.b;
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(in_.depth);
    if (known != nullptr && known->getZExtValue() * acc.size() <= 96 &&
        known->getZExtValue() <= MaxStraight) {
      for (unsigned k = 0; k < known->getZExtValue(); ++k) Step(acc, places, b, k);
      return acc;
    }
    llvm::Value* whole = builder_.CreateUDiv(in_.depth, builder_.getInt64(in_.unroll));
    Loop(whole, UINT64_MAX, in_.unroll, acc, places, b);
    if (in_.unroll > 1)
      Loop(builder_.CreateURem(in_.depth, builder_.getInt64(in_.unroll)), in_.unroll - 1, 1, acc,
           places, b);
    return acc;
  }

  // `count` turns, at most `most`, of `steps` steps; moves the places along.
  void Loop(llvm::Value* count, uint64_t most, unsigned steps, Values& acc, Values& a,
            llvm::Value*& b) {
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
    if (known != nullptr && known->isZero()) return;
    if (known != nullptr) most = known->getZExtValue();
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = NewBlock("k");
    llvm::BasicBlock* after = NewBlock("k.end");
    const bool always = known != nullptr;
    if (always)
      builder_.CreateBr(body);
    else
      builder_.CreateCondBr(builder_.CreateICmpEQ(count, builder_.getInt64(0)), after, body);
    builder_.SetInsertPoint(body);
    std::vector<llvm::PHINode*> phis;
    Values starts = acc;
    starts.insert(starts.end(), a.begin(), a.end());
    starts.push_back(b);
    starts.push_back(count);
    for (llvm::Value* start : starts) {
      phis.push_back(builder_.CreatePHI(start->getType(), 2));
      phis.back()->addIncoming(start, before);
    }
    Values inner(phis.begin(), phis.begin() + static_cast<ptrdiff_t>(acc.size()));
    Values at(phis.begin() + static_cast<ptrdiff_t>(acc.size()),
              phis.begin() + static_cast<ptrdiff_t>(acc.size() + a.size()));
    llvm::Value* b_at = phis[acc.size() + a.size()];
    for (unsigned u = 0; u < steps; ++u) Step(inner, at, b_at, u);
    Values ends = inner;
    for (llvm::Value* place : at) ends.push_back(At(place, steps, in_.a_depth, 0));
    ends.push_back(At(b_at, steps, in_.b_depth, 0));
    ends.push_back(builder_.CreateSub(phis.back(), builder_.getInt64(1)));
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    if (most == 1) {
      builder_.CreateBr(after);
    } else {
      builder_.CreateCondBr(builder_.CreateICmpNE(ends.back(), builder_.getInt64(0)), body, after);
      for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(ends[i], end);
    }
    builder_.SetInsertPoint(after);
    auto leave = [&](llvm::Value* start, llvm::Value* value) -> llvm::Value* {
      if (always) return value;
      llvm::PHINode* phi = builder_.CreatePHI(start->getType(), 2);
      phi->addIncoming(start, before);
      phi->addIncoming(value, end);
      return phi;
    };
    for (size_t i = 0; i < acc.size(); ++i) acc[i] = leave(starts[i], ends[i]);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = leave(starts[acc.size() + i], ends[acc.size() + i]);
    b = leave(b, ends[acc.size() + a.size()]);
  }

  Builder& builder_;
  OpEmitter& ops_;
  llvm::Type* element_;  // of the chains
  llvm::Type* from_;     // of a and b
  const bool is_half_;
  const TileShape& shape_;
  const TileOperands& in_;
  const llvm::ConstantInt* known_row_;
  const unsigned group_;  // rows that share a pointer
  std::vector<llvm::Type*> types_;
  std::vector<unsigned> starts_;
  Values masks_;
  unsigned width_ = 0;
};

}  // namespace

// The sum of all outputs is a NaN if one of them is; additions have pipes of their own beside fma. Where it is one,
// lanes are chosen.
void MakeOneNan(Builder& builder, OpEmitter& ops, std::vector<llvm::Value*>& values) {
  if (values.empty()) return;
  llvm::Value* any = nullptr;
  std::vector<llvm::Type*> types;
  for (llvm::Value* value : values)
    if (std::ranges::find(types, value->getType()) == types.end())
      types.push_back(value->getType());
  for (llvm::Type* type : types) {
    std::vector<llvm::Value*> sums;
    for (llvm::Value* value : values)
      if (value->getType() == type) sums.push_back(value);
    for (; sums.size() > 1; sums.resize((sums.size() + 1) / 2))
      for (size_t i = 0; i + (sums.size() + 1) / 2 < sums.size(); ++i)
        sums[i] = builder.CreateFAdd(sums[i], sums[i + (sums.size() + 1) / 2]);
    llvm::Value* lanes = builder.CreateFCmpUNO(sums[0], sums[0]);
    llvm::Type* bits = builder.getIntNTy(llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
    llvm::Value* found =
        builder.CreateICmpNE(builder.CreateBitCast(lanes, bits), llvm::ConstantInt::get(bits, 0));
    any = any == nullptr ? found : builder.CreateOr(any, found);
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* rare = llvm::BasicBlock::Create(builder.getContext(), "nan", function);
  llvm::BasicBlock* store = llvm::BasicBlock::Create(builder.getContext(), "store", function);
  llvm::MDNode* weights = llvm::MDBuilder(builder.getContext()).createBranchWeights(1, 2000);
  builder.CreateCondBr(any, rare, store, weights);
  builder.SetInsertPoint(rare);
  std::vector<llvm::Value*> fixed;
  for (llvm::Value* value : values) fixed.push_back(ops.Canonical(value));
  builder.CreateBr(store);
  builder.SetInsertPoint(store);
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::PHINode* phi = builder.CreatePHI(values[i]->getType(), 2);
    phi->addIncoming(values[i], before);
    phi->addIncoming(fixed[i], rare);
    values[i] = phi;
  }
}

llvm::Value* FirstLanes(Builder& builder, unsigned lanes, llvm::Value* count) {
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (known != nullptr && known->getZExtValue() >= lanes) return nullptr;
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned i = 0; i < lanes; ++i) numbers.push_back(builder.getInt32(i));
  llvm::Value* limit =
      builder.CreateVectorSplat(lanes, builder.CreateTrunc(count, builder.getInt32Ty()));
  return builder.CreateICmpULT(llvm::ConstantVector::get(numbers), limit);
}

void EmitTile(Builder& builder, OpEmitter& ops, llvm::Type* element, const TileShape& shape,
              const TileOperands& in) {
  Tile(builder, ops, element, shape, in).Emit();
}

}  // namespace frazil::targets::native
