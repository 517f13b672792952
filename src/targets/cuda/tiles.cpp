// The product of matrices in tiles: both factors come through shared memory, some stages ahead, and each element's chain
// stays in a register over all of k. Outside of the matrices a tile has -0 in a and +0 in b: one step of the chain more
// with their product, -0, changes nothing, while +0 would turn a sum of -0.
//
// A thread has rows ty + i * (threads along rows) and columns tx * 4 + g * (half of the tile): a warp reads 8 x 16
// neighboring bytes of b, and 4 rows of a, whose padding puts them into different banks.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "targets/cuda/kernel_emitter.h"
#include "targets/llvm/form_values.h"

namespace frazil::targets::cuda {

using namespace ir::names;

namespace {

constexpr uint32_t Quad = 4;     // elements of 16 bytes
constexpr uint32_t Padding = 4;  // of a row of a
constexpr uint32_t WarpRows = 4, WarpColumns = 8;
constexpr llvm::Align QuadAlign = llvm::Align::Constant<16>();
constexpr llvm::Align OneAlign = llvm::Align::Constant<4>();

}  // namespace

uint32_t TileShape::threads() const { return rows / thread_rows * (columns / thread_columns); }

uint32_t TileShape::stage_elements() const { return rows * (depth + Padding) + depth * columns; }

uint32_t TileShape::shared_bytes() const { return stages * stage_elements() * 4; }

// One kernel's tile.
class TileEmitter {
 public:
  TileEmitter(KernelEmitter& emitter, const MatmulChain& chain, const TileShape& shape,
              llvm::Value* shared)
      : emitter_(emitter),
        builder_(emitter.builder()),
        chain_(chain),
        shape_(shape),
        shared_(shared),
        quad_(llvm::FixedVectorType::get(builder_.getFloatTy(), Quad)) {}

  struct Sizes {
    llvm::Value *rows, *columns, *depth, *a_offset, *a_row, *a_depth, *b_offset, *b_depth,
        *b_column, *c_offset, *c_row;
  };

  // Before anything else: sizes of the nest.
  void SetSizes(llvm::Value* rows, llvm::Value* columns) {
    auto value = [&](const IndexForm& form) { return EvaluateForm(emitter_, form); };
    sizes_ = {rows,
              columns,
              value(chain_.depth),
              value(chain_.a_offset),
              value(chain_.a_row),
              value(chain_.a_depth),
              value(chain_.b_offset),
              value(chain_.b_depth),
              value(chain_.b_column),
              nullptr,
              nullptr};
    if (!chain_.store) return;
    sizes_.c_offset = value(chain_.store->offset);
    sizes_.c_row = value(chain_.store->row);
  }

  // Sizes and strides below 2^31, so that no product of two wraps; then every element is there.
  llvm::Value* Fits() {
    llvm::Value* all = builder_.getTrue();
    for (llvm::Value* size : {sizes_.rows, sizes_.columns, sizes_.depth, sizes_.a_row,
                              sizes_.a_depth, sizes_.b_depth, sizes_.b_column})
      all = And(all, builder_.CreateICmpULT(size, Long(uint64_t{1} << 31)));
    all = And(all, Inside(chain_.a, sizes_.a_offset, sizes_.rows, sizes_.a_row, sizes_.depth,
                          sizes_.a_depth));
    return And(all, Inside(chain_.b, sizes_.b_offset, sizes_.depth, sizes_.b_depth, sizes_.columns,
                           sizes_.b_column));
  }

  // Both factors in whole 16 bytes.
  llvm::Value* IsWide() {
    llvm::Value* rest = builder_.CreateOr(sizes_.a_offset, sizes_.b_offset);
    for (llvm::Value* size : {sizes_.a_row, sizes_.b_depth, sizes_.depth, sizes_.columns})
      rest = builder_.CreateOr(rest, size);
    llvm::Value* const is_whole =
        builder_.CreateICmpEQ(builder_.CreateAnd(rest, Long(Quad - 1)), Long(0));
    return And(is_whole, And(builder_.CreateICmpEQ(sizes_.a_depth, Long(1)),
                             builder_.CreateICmpEQ(sizes_.b_column, Long(1))));
  }

  // The element stands alone, its row in whole 16 bytes, all of them inside.
  llvm::Value* StoresWide() {
    if (!chain_.store) return builder_.getFalse();
    llvm::Value* rest = builder_.CreateOr(sizes_.c_offset, sizes_.c_row);
    rest = builder_.CreateAnd(builder_.CreateOr(rest, sizes_.columns), Long(Quad - 1));
    llvm::Value* const is_whole = builder_.CreateICmpEQ(rest, Long(0));
    llvm::Value* const is_small = builder_.CreateICmpULT(sizes_.c_row, Long(uint64_t{1} << 31));
    return And(And(is_whole, is_small), Inside(chain_.store->c, sizes_.c_offset, sizes_.rows,
                                               sizes_.c_row, sizes_.columns, Long(1)));
  }

  // Accumulators of this thread, row by row.
  LlvmValues Product(llvm::Value* tile_row, llvm::Value* tile_column, bool is_wide) {
    first_row_ = tile_row;
    first_column_ = tile_column;
    is_wide_ = is_wide;
    FindPlace();
    llvm::Value* const turns = builder_.CreateUDiv(
        builder_.CreateAdd(sizes_.depth, Long(shape_.depth - 1)), Long(shape_.depth));
    // Nobody reads the last tile any more.
    emitter_.Barrier();
    for (uint32_t s = 0; s + 1 < shape_.stages; ++s) {
      Fetch(Long(uint64_t{s} * shape_.depth), builder_.getInt32(s * StageBytes()));
      Commit();
    }
    llvm::Type* const real = builder_.getFloatTy();
    const uint32_t count = shape_.thread_rows * shape_.thread_columns;
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const turn = emitter_.NewBlock("depth");
    llvm::BasicBlock* const body = emitter_.NewBlock("multiply");
    llvm::BasicBlock* const after = emitter_.NewBlock("multiplied");
    builder_.CreateBr(turn);
    builder_.SetInsertPoint(turn);
    llvm::PHINode* const t = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    llvm::PHINode* const stage = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    llvm::PHINode* const ahead = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    t->addIncoming(Long(0), before);
    stage->addIncoming(builder_.getInt32(0), before);
    ahead->addIncoming(builder_.getInt32((shape_.stages - 1) * StageBytes()), before);
    std::vector<llvm::PHINode*> sums(count);
    for (llvm::PHINode*& sum : sums) {
      sum = builder_.CreatePHI(real, 2);
      sum->addIncoming(llvm::ConstantFP::get(real, 0.0), before);
    }
    builder_.CreateCondBr(builder_.CreateICmpULT(t, turns), body, after);
    builder_.SetInsertPoint(body);
    builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_wait_group,
                             {builder_.getInt32(shape_.stages - 2)});
    emitter_.Barrier();
    Fetch(builder_.CreateMul(builder_.CreateAdd(t, Long(shape_.stages - 1)), Long(shape_.depth)),
          ahead);
    Commit();
    LlvmValues next(sums.begin(), sums.end());
    Multiply(stage, next);
    llvm::BasicBlock* const end = builder_.GetInsertBlock();
    t->addIncoming(builder_.CreateAdd(t, Long(1)), end);
    stage->addIncoming(NextStage(stage), end);
    ahead->addIncoming(NextStage(ahead), end);
    for (uint32_t i = 0; i < count; ++i) sums[i]->addIncoming(next[i], end);
    builder_.CreateBr(turn);
    builder_.SetInsertPoint(after);
    return {sums.begin(), sums.end()};
  }

  // Of element `k` of this thread.
  llvm::Value* RowOf(uint32_t k) {
    return builder_.CreateAdd(
        builder_.CreateAdd(first_row_, thread_row_),
        Long(uint64_t{k / shape_.thread_columns} * (shape_.rows / shape_.thread_rows)));
  }
  llvm::Value* ColumnOf(uint32_t k) {
    const uint32_t j = k % shape_.thread_columns;
    llvm::Value* const group =
        builder_.CreateAdd(builder_.CreateMul(thread_column_, Long(Quad)), first_column_);
    return builder_.CreateAdd(group, Long(uint64_t{j / Quad} * GroupColumns() + j % Quad));
  }

  const Sizes& sizes() const { return sizes_; }

  void StoreQuad(llvm::Value* row, llvm::Value* column, std::span<llvm::Value* const> values) {
    llvm::Value* quad = llvm::PoisonValue::get(quad_);
    for (uint32_t v = 0; v < Quad; ++v) quad = builder_.CreateInsertElement(quad, values[v], v);
    llvm::Value* const index = builder_.CreateAdd(
        builder_.CreateAdd(sizes_.c_offset, builder_.CreateMul(row, sizes_.c_row)), column);
    builder_.CreateAlignedStore(
        quad,
        builder_.CreateInBoundsGEP(builder_.getFloatTy(), emitter_.Get(chain_.store->c), index),
        QuadAlign);
  }

 private:
  llvm::ConstantInt* Long(uint64_t n) { return builder_.getInt64(n); }
  llvm::Value* And(llvm::Value* a, llvm::Value* b) { return builder_.CreateAnd(a, b); }
  uint32_t StageBytes() const { return shape_.stage_elements() * 4; }
  uint32_t GroupColumns() const { return shape_.columns / (shape_.thread_columns / Quad); }
  uint32_t PitchOfA() const { return shape_.depth + Padding; }

  llvm::Value* Inside(ValueId buffer, llvm::Value* offset, llvm::Value* n, llvm::Value* n_stride,
                      llvm::Value* m, llvm::Value* m_stride) {
    auto less = [&](llvm::Value* size) {
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, Long(1));
    };
    llvm::Value* const reach = builder_.CreateAdd(builder_.CreateMul(less(n), n_stride),
                                                  builder_.CreateMul(less(m), m_stride));
    llvm::Value* const room = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat,
                                                             emitter_.LengthOf(buffer), offset);
    return builder_.CreateICmpULT(reach, room);
  }

  void FindPlace() {
    llvm::Value* const thread = emitter_.Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    thread_ = thread;
    llvm::Value* const lane = builder_.CreateAnd(thread, Long(31));
    llvm::Value* const warp = builder_.CreateLShr(thread, 5);
    const uint32_t warps_along = shape_.columns / shape_.thread_columns / WarpColumns;
    thread_row_ = builder_.CreateAdd(
        builder_.CreateMul(builder_.CreateUDiv(warp, Long(warps_along)), Long(WarpRows)),
        builder_.CreateLShr(lane, 3));
    thread_column_ = builder_.CreateAdd(
        builder_.CreateMul(builder_.CreateURem(warp, Long(warps_along)), Long(WarpColumns)),
        builder_.CreateAnd(lane, Long(7)));
  }

  void Commit() {
    builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_commit_group, {});
  }
  llvm::Value* NextStage(llvm::Value* stage) {
    llvm::Value* const next = builder_.CreateAdd(stage, builder_.getInt32(StageBytes()));
    llvm::Value* const last = builder_.getInt32(shape_.stages * StageBytes());
    return builder_.CreateSelect(builder_.CreateICmpEQ(next, last), builder_.getInt32(0), next);
  }

  llvm::Value* Shared(llvm::Value* stage, llvm::Value* element) {
    llvm::Value* const base = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), shared_, stage);
    return builder_.CreateInBoundsGEP(builder_.getFloatTy(), base, element);
  }

  // The tile at k0 into a stage, each thread its share in 16 bytes.
  void Fetch(llvm::Value* k0, llvm::Value* stage) {
    auto part = [&](uint32_t lines, uint32_t width, uint32_t pitch, uint32_t first, bool is_a) {
      const uint32_t quads = lines * (width / Quad);
      for (uint32_t c = 0; c < quads; c += shape_.threads()) {
        llvm::Value* const q = builder_.CreateAdd(thread_, Long(c));
        llvm::Value* const line = builder_.CreateUDiv(q, Long(width / Quad));
        llvm::Value* const along =
            builder_.CreateMul(builder_.CreateURem(q, Long(width / Quad)), Long(Quad));
        llvm::Value* const to =
            Shared(stage, builder_.CreateAdd(builder_.CreateMul(line, Long(pitch)),
                                             builder_.CreateAdd(along, Long(first))));
        if (quads % shape_.threads() == 0 || c + shape_.threads() <= quads) {
          FetchQuad(is_a, k0, line, along, to);
          continue;
        }
        If(builder_.CreateICmpULT(q, Long(quads)), [&] { FetchQuad(is_a, k0, line, along, to); });
      }
    };
    part(shape_.rows, shape_.depth, PitchOfA(), 0, true);
    part(shape_.depth, shape_.columns, shape_.columns, shape_.rows * PitchOfA(), false);
  }

  void FetchQuad(bool is_a, llvm::Value* k0, llvm::Value* line, llvm::Value* along,
                 llvm::Value* to) {
    llvm::Value* const i =
        is_a ? builder_.CreateAdd(first_row_, line) : builder_.CreateAdd(k0, line);
    llvm::Value* const j =
        is_a ? builder_.CreateAdd(k0, along) : builder_.CreateAdd(first_column_, along);
    llvm::Value* const lines = is_a ? sizes_.rows : sizes_.depth;
    llvm::Value* const width = is_a ? sizes_.depth : sizes_.columns;
    llvm::Constant* const none = llvm::ConstantFP::get(builder_.getFloatTy(), is_a ? -0.0 : 0.0);
    llvm::Value* const from = emitter_.Get(is_a ? chain_.a : chain_.b);
    llvm::Value* const offset = is_a ? sizes_.a_offset : sizes_.b_offset;
    llvm::Value* const line_stride = is_a ? sizes_.a_row : sizes_.b_depth;
    llvm::Value* const stride = is_a ? sizes_.a_depth : sizes_.b_column;
    auto address = [&](llvm::Value* row, llvm::Value* column) {
      llvm::Value* const index =
          builder_.CreateAdd(builder_.CreateAdd(offset, builder_.CreateMul(row, line_stride)),
                             is_wide_ ? column : builder_.CreateMul(column, stride));
      return builder_.CreateInBoundsGEP(builder_.getFloatTy(), from, index);
    };
    llvm::Value* const has_line = builder_.CreateICmpULT(i, lines);
    if (is_wide_) {
      If(
          builder_.CreateAnd(has_line, builder_.CreateICmpULT(j, width)),
          [&] {
            builder_.CreateIntrinsic(builder_.getVoidTy(),
                                     llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                                     {to, address(i, j)});
          },
          [&] {
            builder_.CreateAlignedStore(
                llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(Quad), none), to,
                QuadAlign);
          });
      return;
    }
    llvm::Value* quad = llvm::PoisonValue::get(quad_);
    for (uint32_t v = 0; v < Quad; ++v) {
      llvm::Value* const column = builder_.CreateAdd(j, Long(v));
      llvm::Value* const is_there =
          builder_.CreateAnd(has_line, builder_.CreateICmpULT(column, width));
      // Without depth there is no turn, so that the first element of each is there.
      auto known = [&](llvm::Value* index) {
        return builder_.CreateSelect(is_there, index, Long(0));
      };
      llvm::Value* const loaded = builder_.CreateAlignedLoad(
          builder_.getFloatTy(), address(known(i), known(column)), OneAlign);
      quad = builder_.CreateInsertElement(quad, builder_.CreateSelect(is_there, loaded, none), v);
    }
    builder_.CreateAlignedStore(quad, to, QuadAlign);
  }

  void If(llvm::Value* condition, const std::function<void()>& then,
          const std::function<void()>& otherwise = {}) {
    llvm::BasicBlock* const yes = emitter_.NewBlock("yes");
    llvm::BasicBlock* const done = emitter_.NewBlock("done");
    llvm::BasicBlock* const no = otherwise ? emitter_.NewBlock("no") : done;
    builder_.CreateCondBr(condition, yes, no);
    builder_.SetInsertPoint(yes);
    then();
    builder_.CreateBr(done);
    if (otherwise) {
      builder_.SetInsertPoint(no);
      otherwise();
      builder_.CreateBr(done);
    }
    builder_.SetInsertPoint(done);
  }

  void Multiply(llvm::Value* stage, LlvmValues& sums) {
    llvm::Value* const a_first = Shared(stage, builder_.CreateMul(thread_row_, Long(PitchOfA())));
    llvm::Value* const b_first =
        Shared(stage, builder_.CreateAdd(builder_.CreateMul(thread_column_, Long(Quad)),
                                         Long(shape_.rows * PitchOfA())));
    auto quad = [&](llvm::Value* first, uint64_t element) {
      return builder_.CreateAlignedLoad(
          quad_, builder_.CreateConstInBoundsGEP1_64(builder_.getFloatTy(), first, element),
          QuadAlign);
    };
    for (uint32_t k = 0; k < shape_.depth; k += Quad) {
      LlvmValues a;
      for (uint32_t i = 0; i < shape_.thread_rows; ++i)
        a.push_back(
            quad(a_first, uint64_t{i} * (shape_.rows / shape_.thread_rows) * PitchOfA() + k));
      for (uint32_t v = 0; v < Quad; ++v) {
        LlvmValues b;
        for (uint32_t g = 0; g < shape_.thread_columns / Quad; ++g) {
          llvm::Value* const four =
              quad(b_first, uint64_t{k + v} * shape_.columns + g * GroupColumns());
          for (uint32_t e = 0; e < Quad; ++e) b.push_back(builder_.CreateExtractElement(four, e));
        }
        for (uint32_t i = 0; i < shape_.thread_rows; ++i) {
          llvm::Value* const factor = builder_.CreateExtractElement(a[i], v);
          for (uint32_t j = 0; j < shape_.thread_columns; ++j) {
            llvm::Value*& sum = sums[i * shape_.thread_columns + j];
            sum = builder_.CreateIntrinsic(builder_.getFloatTy(), llvm::Intrinsic::fma,
                                           {factor, b[j], sum});
          }
        }
      }
    }
  }

  KernelEmitter& emitter_;
  Builder& builder_;
  const MatmulChain& chain_;
  const TileShape shape_;
  llvm::Value* const shared_;
  llvm::Type* const quad_;
  Sizes sizes_{};
  llvm::Value *thread_ = nullptr, *thread_row_ = nullptr, *thread_column_ = nullptr;
  llvm::Value *first_row_ = nullptr, *first_column_ = nullptr;
  bool is_wide_ = false;
};

void KernelEmitter::EmitTiles(const Step& step) {
  const Inst& outer = function_.inst(step.insts[0]);
  const Inst& inner = function_.inst(step.inner);
  const TileShape& shape = shared_.tile;
  llvm::Value* const zero = builder_.getInt64(0);
  llvm::Value* const rows = Trips(zero, Get(function_.operand(outer, 1)));
  llvm::Value* const columns = Trips(zero, Invariant(function_.operand(inner, 1)));
  TileEmitter tile(*this, *step.chain, shape, shared_.Dynamic());
  tile.SetSizes(rows, columns);
  llvm::BasicBlock* const tiles = NewBlock("tiles");
  llvm::BasicBlock* const nest = NewBlock("nest");
  llvm::BasicBlock* const wide = NewBlock("wide");
  llvm::BasicBlock* const any = NewBlock("any");
  llvm::BasicBlock* const done = NewBlock("done");
  BranchUnlikely(builder_.CreateNot(tile.Fits()), nest, tiles);
  builder_.SetInsertPoint(tiles);
  llvm::Value* const stores_wide = tile.StoresWide();
  place_ = {nullptr, zero, columns, builder_.getTrue()};
  builder_.CreateCondBr(tile.IsWide(), wide, any);
  for (const bool is_wide : {true, false}) {
    builder_.SetInsertPoint(is_wide ? wide : any);
    EmitTilesOf(step, tile, stores_wide, is_wide);
    builder_.CreateBr(done);
  }
  // What is not all there traps as the loops say.
  builder_.SetInsertPoint(nest);
  EmitNest(step);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void KernelEmitter::EmitTilesOf(const Step& step, TileEmitter& tile, llvm::Value* stores_wide,
                                bool is_wide) {
  const TileShape& shape = shared_.tile;
  auto up = [&](llvm::Value* size, uint64_t unit) {
    return builder_.CreateUDiv(builder_.CreateAdd(size, builder_.getInt64(unit - 1)),
                               builder_.getInt64(unit));
  };
  llvm::Value* const across = up(tile.sizes().columns, shape.columns);
  llvm::Value* const count = builder_.CreateMul(up(tile.sizes().rows, shape.rows), across);
  Stride(Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), count,
         Sreg(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), [&](llvm::Value* t) {
           llvm::Value* const row =
               builder_.CreateMul(builder_.CreateUDiv(t, across), builder_.getInt64(shape.rows));
           llvm::Value* const column =
               builder_.CreateMul(builder_.CreateURem(t, across), builder_.getInt64(shape.columns));
           StoreTile(step, tile, tile.Product(row, column, is_wide), stores_wide);
         });
}

void KernelEmitter::StoreTile(const Step& step, TileEmitter& tile, const LlvmValues& sums,
                              llvm::Value* stores_wide) {
  const Inst& chain = function_.inst(step.chain->chain);
  const ValueId result = Function::result_of(chain);
  auto final = [&](uint32_t k) {
    return facts_.canonical[result.index] ? ops_.Canonical(sums[k]) : sums[k];
  };
  const auto count = static_cast<uint32_t>(sums.size());
  auto guarded = [&](llvm::Value* condition, const auto& body) {
    llvm::BasicBlock* const yes = NewBlock("yes");
    llvm::BasicBlock* const next = NewBlock("next");
    builder_.CreateCondBr(condition, yes, next);
    builder_.SetInsertPoint(yes);
    body();
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
  };
  auto is_inside = [&](uint32_t k) {
    return builder_.CreateAnd(builder_.CreateICmpULT(tile.RowOf(k), tile.sizes().rows),
                              builder_.CreateICmpULT(tile.ColumnOf(k), tile.sizes().columns));
  };
  llvm::BasicBlock* const singly = NewBlock("singly");
  llvm::BasicBlock* const done = NewBlock("stored");
  if (step.chain->store) {
    llvm::BasicBlock* const quads = NewBlock("quads");
    builder_.CreateCondBr(stores_wide, quads, singly);
    builder_.SetInsertPoint(quads);
    for (uint32_t k = 0; k < count; k += Quad)
      guarded(is_inside(k), [&] {
        llvm::Value* four[Quad];
        for (uint32_t v = 0; v < Quad; ++v) four[v] = final(k + v);
        tile.StoreQuad(tile.RowOf(k), tile.ColumnOf(k), four);
      });
    builder_.CreateBr(done);
  } else {
    builder_.CreateBr(singly);
  }
  builder_.SetInsertPoint(singly);
  const Inst& outer = function_.inst(step.insts[0]);
  const ir::RegionId rows = Function::region_of(outer, 0);
  const ir::RegionId columns = Function::region_of(function_.inst(step.inner), 0);
  for (uint32_t k = 0; k < count; ++k)
    guarded(is_inside(k), [&] {
      llvm::Value* const i = tile.RowOf(k);
      llvm::Value* const j = tile.ColumnOf(k);
      Set(Function::param_of(function_.region(rows), 0), i);
      place_.t = builder_.CreateAdd(builder_.CreateMul(i, tile.sizes().columns), j);
      for (ir::InstId id : function_.region(rows).insts)
        if (id != step.inner && facts_.needed[id.index]) EmitInst(function_.inst(id));
      Set(Function::param_of(function_.region(columns), 0), j);
      Set(result, final(k));
      for (ir::InstId id : function_.region(columns).insts)
        if (id != step.chain->chain && facts_.needed[id.index]) EmitInst(function_.inst(id));
    });
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

}  // namespace frazil::targets::cuda
