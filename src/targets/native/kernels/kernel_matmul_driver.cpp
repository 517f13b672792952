// Blocks of columns, in them panels of depth in ascending order (a later panel starts its chains from what the one
// before stored), in them blocks of rows, in them tiles. That a panel of b stays in the second-level cache while rows
// stream past it is worth more than anything else here; packing it pays only where it would not fit as it stands.
#include "targets/native/kernels/kernel_matmul_driver.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "targets/native/kernels/kernel_tail.h"
#include "targets/native/kernels/kernel_tile.h"
#include "targets/native/vectors/transpose.h"

namespace frazil::targets::native {
namespace {

using exec::CpuLevel;

constexpr uint64_t PanelDepth = 1024;
constexpr uint64_t LeastPanelDepth = 16;

struct Blocking {
  unsigned lanes;    // of a whole vector
  unsigned vectors;  // of a whole tile
  unsigned rows;     // of a whole tile
  unsigned width() const { return lanes * vectors; }
};

// Enough accumulators to hide the latency of fma, few enough rows to keep their streams apart in the first-level cache.
Blocking Choose(CpuLevel level, unsigned element_bytes, llvm::Value* columns) {
  const bool is_wide = level == CpuLevel::Avx512;
  Blocking blocking{(is_wide ? 64 : 32) / element_bytes, is_wide ? 3u : 2u, is_wide ? 8u : 6u};
  // Sizes that are not known are more often multiples of 64 than of 48.
  if (Known(columns) == nullptr) return is_wide ? Blocking{blocking.lanes, 4, 6} : blocking;
  const uint64_t count = Known(columns)->getZExtValue();
  const uint64_t vectors = (count + blocking.lanes - 1) / blocking.lanes;
  if (vectors == 1)
    blocking = {blocking.lanes, 1, is_wide ? 16u : 12u};
  else if (is_wide && vectors == 2)
    blocking = {blocking.lanes, 2, 12};
  else if (is_wide && count % (4 * blocking.lanes) == 0)
    blocking = {blocking.lanes, 4, 6};
  return blocking;
}

class Driver {
 public:
  Driver(FunctionEmitter& caller, const MatmulNest& nest, const MatmulSizes& outside,
         Packing packing, bool is_turned, const LlvmValues& tail_arguments)
      : shared_(caller.shared()),
        nest_(nest),
        tail_arguments_(tail_arguments),
        packing_(packing),
        is_turned_(is_turned),
        id_(static_cast<uint32_t>(&caller.function() - caller.program().functions.data())),
        function_(NewFunction(outside, tail_arguments)),
        emitter_(shared_, id_, function_, false),
        builder_(emitter_.builder()),
        ops_(emitter_.ops()),
        element_(ops_.TypeOf(nest.type)),
        from_(ops_.TypeOf(nest.from)),
        bytes_(ir::BytesOf(nest.type)),
        sizes_(outside),
        blocking_(Choose(shared_.level, bytes_, outside.columns)) {}

  llvm::Function* Emit() {
    a_ = function_->getArg(0);
    b_ = function_->getArg(1);
    c_ = function_->getArg(2);
    scratch_ = function_->getArg(3);
    unsigned next = OwnArguments;
    for (llvm::Value** size : sizes_.All()) {
      if (Known(*size) == nullptr) *size = function_->getArg(next);
      ++next;
    }
    if (nest_.tail) BeginTail(next);
    EmitBlocks();
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  using Body = std::function<void(llvm::Value*)>;
  static constexpr unsigned OwnArguments = 4;  // a, b, c, scratch

  llvm::Function* NewFunction(MatmulSizes sizes, const LlvmValues& tail_arguments) {
    llvm::LLVMContext& context = shared_.module.getContext();
    std::vector<llvm::Type*> parameters(OwnArguments, llvm::PointerType::get(context, 0));
    parameters.resize(OwnArguments + sizes.All().size(), llvm::Type::getInt64Ty(context));
    for (llvm::Value* argument : tail_arguments) parameters.push_back(argument->getType());
    return shared_.AddFunction(
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false), "matmul");
  }

  void BeginTail(unsigned first) {
    if (!TailEmitter::WantsFunction(*nest_.tail)) {
      tail_.emplace(emitter_, *nest_.tail, tail_arguments_, first);
      return;
    }
    tail_function_ = TailEmitter::EmitFunction(shared_, id_, *nest_.tail, tail_arguments_,
                                               blocking_.width(), blocking_.lanes);
    for (unsigned i = 0; i < tail_arguments_.size(); ++i)
      passed_on_.push_back(function_->getArg(first + i));
    sums_ = builder_.CreateAlloca(
        llvm::ArrayType::get(element_, uint64_t{blocking_.rows} * blocking_.width()));
    llvm::cast<llvm::AllocaInst>(sums_)->setAlignment(llvm::Align(64));
  }

  // `columns`: of the tile, where its shape does not say it.
  void EmitTail(llvm::Value* row, llvm::Value* column, const TileShape& shape, llvm::Value* columns,
                std::span<llvm::Value* const> sums, std::span<llvm::Value* const> masks) {
    if (tail_) return tail_->EmitInRegisters(row, column, shape, sums, masks);
    size_t next = 0;
    uint64_t used = 0;
    for (unsigned r = 0; r < shape.rows; ++r) {
      used = 0;
      uint64_t start = uint64_t{r} * blocking_.width();
      for (const TileVector& vector : shape.vectors) {
        builder_.CreateAlignedStore(sums[next++], AtSum(sums_, Int(start)), llvm::Align(4));
        start += vector.lanes;
        used += vector.used;
      }
    }
    LlvmValues arguments = {sums_, row, column, Int(shape.rows),
                            columns != nullptr ? columns : Int(used)};
    arguments.insert(arguments.end(), passed_on_.begin(), passed_on_.end());
    builder_.CreateCall(tail_function_, arguments);
  }

  llvm::ConstantInt* Int(uint64_t n) { return builder_.getInt64(n); }
  // The builder folds no intrinsics.
  llvm::Value* Min(llvm::Value* a, llvm::Value* b) {
    if (Known(a) != nullptr && Known(b) != nullptr)
      return Known(a)->getZExtValue() <= Known(b)->getZExtValue() ? a : b;
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  }
  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
  }
  // Of a and b, and of sums.
  llvm::Value* At(llvm::Value* base, llvm::Value* index) {
    return builder_.CreateGEP(from_, base, index);
  }
  llvm::Value* AtSum(llvm::Value* base, llvm::Value* index) {
    return builder_.CreateGEP(element_, base, index);
  }

  // i = lo, lo + step ... while i < hi; known to be none or one: without a loop. Gives the first i that is not below hi.
  enum class Times : uint8_t { Any, AtLeastOnce, AtMostOnce };
  llvm::Value* Loop(llvm::Value* lo, llvm::Value* hi, llvm::Value* step, const Body& body,
                    Times times = Times::Any) {
    if (Known(lo) != nullptr && Known(hi) != nullptr) {
      const uint64_t first = Known(lo)->getZExtValue();
      const uint64_t end = Known(hi)->getZExtValue();
      if (first >= end) return lo;
      if (Known(step) != nullptr && end - first <= Known(step)->getZExtValue()) {
        body(lo);
        return builder_.CreateAdd(lo, step);
      }
    }
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* turn = NewBlock("turn");
    llvm::BasicBlock* after = NewBlock("after");
    if (times == Times::AtLeastOnce)
      builder_.CreateBr(turn);
    else
      builder_.CreateCondBr(builder_.CreateICmpULT(lo, hi), turn, after);
    builder_.SetInsertPoint(turn);
    llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    i->addIncoming(lo, before);
    body(i);
    llvm::Value* next = builder_.CreateAdd(i, step);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    if (times == Times::AtMostOnce) {
      builder_.CreateBr(after);
    } else {
      i->addIncoming(next, end);
      builder_.CreateCondBr(builder_.CreateICmpULT(next, hi), turn, after);
    }
    builder_.SetInsertPoint(after);
    if (times == Times::AtLeastOnce) return next;
    llvm::PHINode* last = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    last->addIncoming(lo, before);
    last->addIncoming(next, end);
    return last;
  }

  void EmitBlocks() {
    const uint64_t tiles = std::max<uint64_t>(PanelBytes / bytes_ / blocking_.width(), 1);
    const uint64_t width = StaysWhole() ? uint64_t{1} << 31 : tiles * blocking_.width();
    llvm::Value* step = Int(width);
    // Without a place for sums a panel has all of the depth: fewer columns of it fit the cache.
    if (nest_.tail && !StaysWhole())
      step = builder_.CreateSelect(
          builder_.CreateICmpUGT(sizes_.depth, builder_.CreateMul(sizes_.panels, Int(PanelDepth))),
          Int(blocking_.width()), step);
    // Panels of about equal depth: a thin last one would cost as much as a whole one.
    llvm::Value* panels = sizes_.panels;
    llvm::Value* share = builder_.CreateUDiv(
        builder_.CreateSub(builder_.CreateAdd(sizes_.depth, panels), Int(1)), panels);
    llvm::Value* depth_step =
        builder_.CreateAnd(builder_.CreateAdd(share, Int(15)), Int(~uint64_t{15}));
    Loop(
        Int(0), sizes_.columns, step,
        [&](llvm::Value* n0) {
          llvm::Value* columns = Min(builder_.CreateSub(sizes_.columns, n0), step);
          Loop(
              Int(0), sizes_.depth, depth_step,
              [&](llvm::Value* k0) {
                llvm::Value* depth = Min(builder_.CreateSub(sizes_.depth, k0), depth_step);
                EmitPanel(n0, columns, k0, depth);
              },
              Times::AtLeastOnce);
        },
        Times::AtLeastOnce);
  }

  // All of b fits the second-level cache: one block of columns, so that a is read once.
  bool StaysWhole() const {
    if (Known(sizes_.columns) == nullptr || Known(sizes_.depth) == nullptr) return false;
    const uint64_t count =
        Known(sizes_.columns)->getZExtValue() * Known(sizes_.depth)->getZExtValue();
    return packing_ == Packing::Never && count * bytes_ <= SecondLevelBytes;
  }

  void EmitPanel(llvm::Value* n0, llvm::Value* columns, llvm::Value* k0, llvm::Value* depth) {
    llvm::Value* b = At(b_, builder_.CreateAdd(builder_.CreateMul(k0, sizes_.b_depth),
                                               builder_.CreateMul(n0, sizes_.b_column)));
    panel_ = {b, sizes_.b_depth, Int(1)};
    if (packing_ == Packing::Always) {
      EmitPack(b, columns, depth);
      panel_ = {scratch_, Int(blocking_.width()), depth};
    } else if (packing_ == Packing::Either) {
      PackIfAsked(b, columns, depth);
    }
    llvm::Value* a = At(a_, builder_.CreateMul(k0, sizes_.a_depth));
    llvm::Value* is_first = builder_.CreateICmpEQ(k0, Int(0));
    llvm::Value* is_last = builder_.CreateICmpEQ(builder_.CreateAdd(k0, depth), sizes_.depth);
    if (Known(sizes_.panels) != nullptr && Known(sizes_.panels)->isOne())
      is_first = is_last = builder_.getTrue();
    auto block = [&](unsigned height, llvm::Value* i) {
      row_ = i;
      column_ = n0;
      TileOperands in{At(a, builder_.CreateMul(i, sizes_.a_row)),
                      sizes_.a_row,
                      sizes_.a_depth,
                      nullptr,
                      nullptr,
                      AtSum(c_, builder_.CreateAdd(builder_.CreateMul(i, sizes_.c_row), n0)),
                      sizes_.c_row,
                      depth,
                      is_first};
      in.is_last = is_last;
      in.from = nest_.from;
      EmitRowBlock(height, columns, in);
    };
    EmitRows(block);
  }

  void PackIfAsked(llvm::Value* b, llvm::Value* columns, llvm::Value* depth) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* pack = NewBlock("pack");
    llvm::BasicBlock* rows = NewBlock("rows");
    builder_.CreateCondBr(builder_.CreateIsNotNull(scratch_), pack, rows);
    builder_.SetInsertPoint(pack);
    EmitPack(b, columns, depth);
    llvm::BasicBlock* pack_end = builder_.GetInsertBlock();
    builder_.CreateBr(rows);
    builder_.SetInsertPoint(rows);
    auto either = [&](llvm::Value* in_place, llvm::Value* packed) {
      llvm::PHINode* phi = builder_.CreatePHI(in_place->getType(), 2);
      phi->addIncoming(in_place, before);
      phi->addIncoming(packed, pack_end);
      return phi;
    };
    panel_ = {either(b, scratch_), either(sizes_.b_depth, Int(blocking_.width())),
              either(Int(1), depth)};
  }

  // Blocks of even height where the number of rows is known; else whole ones, then thinner and thinner ones.
  void EmitRows(const std::function<void(unsigned, llvm::Value*)>& block) {
    const unsigned whole = blocking_.rows;
    if (const llvm::ConstantInt* known = Known(sizes_.rows)) {
      const uint64_t rows = known->getZExtValue();
      const uint64_t blocks = (rows + whole - 1) / whole;
      const unsigned height = static_cast<unsigned>((rows + blocks - 1) / blocks);
      const uint64_t high = rows - blocks * (height - 1);
      Loop(Int(0), Int(high * height), Int(height), [&](llvm::Value* i) { block(height, i); });
      if (height > 1)
        Loop(Int(high * height), Int(rows), Int(height - 1),
             [&](llvm::Value* i) { block(height - 1, i); });
      return;
    }
    llvm::Value* i = Int(0);
    uint64_t most = UINT64_MAX;  // rows that are left
    for (unsigned height : {whole, 4u, 2u, 1u}) {
      if (height > most) continue;
      // The end of the last whole block of this height.
      llvm::Value* left = builder_.CreateSub(sizes_.rows, i);
      llvm::Value* end = builder_.CreateAdd(
          i, builder_.CreateMul(builder_.CreateUDiv(left, Int(height)), Int(height)));
      i = Loop(
          i, end, Int(height), [&](llvm::Value* row) { block(height, row); },
          most / height < 2 ? Times::AtMostOnce : Times::Any);
      most = height - 1;
    }
  }

  // All tiles of a block of rows.
  void EmitRowBlock(unsigned height, llvm::Value* columns, const TileOperands& row) {
    const unsigned width = blocking_.width();
    auto tile = [&](const TileShape& shape, llvm::Value* j, llvm::Value* count) {
      TileOperands in = row;
      in.b = At(panel_.b, builder_.CreateMul(j, panel_.step));
      in.b_depth = panel_.depth_stride;
      in.c = AtSum(row.c, j);
      in.columns = count;
      in.prefetches = packing_ == Packing::Always && (!nest_.tail || nest_.tail->carrier);
      if (nest_.tail)
        in.tail = [this, &shape, count, column = builder_.CreateAdd(column_, j)](
                      auto sums, auto masks) { EmitTail(row_, column, shape, count, sums, masks); };
      // Rare shapes of tiles are kept short.
      const bool is_usual = Known(sizes_.columns) != nullptr && Known(sizes_.rows) != nullptr;
      in.unroll =
          is_usual || (height == blocking_.rows && count == nullptr) ? UnrollOf(row.depth) : 2;
      EmitTile(builder_, ops_, element_, shape, in);
    };
    const TileShape whole{
        height, std::vector<TileVector>(blocking_.vectors, {blocking_.lanes, blocking_.lanes})};
    llvm::Value* rest = builder_.CreateURem(columns, Int(width));
    llvm::Value* end = builder_.CreateSub(columns, rest);
    Loop(Int(0), end, Int(width), [&](llvm::Value* j) { tile(whole, j, nullptr); });
    if (Known(sizes_.columns) != nullptr) {
      // Only the last block of columns can have a rest, and it is known.
      const uint64_t count = Known(sizes_.columns)->getZExtValue() % width;
      if (count != 0)
        Loop(
            end, columns, Int(width),
            [&](llvm::Value* j) { tile({height, RestVectors(count)}, j, nullptr); },
            Times::AtMostOnce);
      return;
    }
    Loop(
        end, columns, Int(width), [&](llvm::Value* j) { tile(whole, j, rest); }, Times::AtMostOnce);
  }

  // Short chains feel the end of the loop.
  static unsigned UnrollOf(llvm::Value* depth) {
    const uint64_t known = Known(depth) != nullptr ? Known(depth)->getZExtValue() : 0;
    return known != 0 && known < 64 && known % 8 == 0 ? 8 : 4;
  }

  // A half or quarter vector costs less than a whole one under a mask.
  std::vector<TileVector> RestVectors(uint64_t count) const {
    std::vector<TileVector> vectors;
    for (; count >= blocking_.lanes; count -= blocking_.lanes)
      vectors.push_back({blocking_.lanes, blocking_.lanes});
    if (count == 0) return vectors;
    unsigned lanes = blocking_.lanes;
    while (lanes / 2 >= count && lanes / 2 * bytes_ >= 16) lanes /= 2;
    vectors.push_back({lanes, static_cast<unsigned>(count)});
    return vectors;
  }

  void EmitPack(llvm::Value* b, llvm::Value* columns, llvm::Value* depth) {
    const bool is_plain = Known(sizes_.b_column) != nullptr && Known(sizes_.b_column)->isOne();
    if (is_plain) return EmitPlainPack(b, columns, depth);
    if (is_turned_) return EmitTurnedPack(b, columns, depth);
    llvm::BasicBlock* plain = NewBlock("pack.plain");
    llvm::BasicBlock* turned = NewBlock("pack.turned");
    llvm::BasicBlock* packed = NewBlock("packed");
    builder_.CreateCondBr(builder_.CreateICmpEQ(sizes_.b_column, Int(1)), plain, turned);
    builder_.SetInsertPoint(plain);
    EmitPlainPack(b, columns, depth);
    builder_.CreateBr(packed);
    builder_.SetInsertPoint(turned);
    EmitTurnedPack(b, columns, depth);
    builder_.CreateBr(packed);
    builder_.SetInsertPoint(packed);
  }

  // The same panels of a matrix whose columns lie side by side. Squares may reach beyond the depth of a panel: what they
  // write there is overwritten by the next one, or lies in the room that is left behind the last.
  void EmitTurnedPack(llvm::Value* b, llvm::Value* columns, llvm::Value* depth) {
    const unsigned lanes = blocking_.lanes;
    llvm::Type* vector = llvm::FixedVectorType::get(from_, lanes);
    llvm::Value* none = llvm::Constant::getNullValue(vector);
    Loop(
        Int(0), columns, Int(lanes),
        [&](llvm::Value* j) {
          llvm::Value* number = builder_.CreateUDiv(j, Int(blocking_.width()));
          llvm::Value* start = builder_.CreateMul(number, Int(blocking_.width()));
          llvm::Value* panel = At(scratch_, builder_.CreateAdd(builder_.CreateMul(start, depth),
                                                               builder_.CreateSub(j, start)));
          llvm::Value* from = At(b, builder_.CreateMul(j, sizes_.b_column));
          llvm::Value* count = Min(builder_.CreateSub(columns, j), Int(lanes));
          Loop(
              Int(0), depth, Int(lanes),
              [&](llvm::Value* k) {
                llvm::Value* left = Min(builder_.CreateSub(depth, k), Int(lanes));
                llvm::Value* turns = FirstLanes(builder_, lanes, left);
                LlvmValues rows;
                llvm::Value* address = At(from, k);
                for (unsigned c = 0; c < lanes; ++c) {
                  llvm::Value* is_there = builder_.CreateICmpULT(Int(c), count);
                  llvm::Value* mask = builder_.CreateVectorSplat(lanes, is_there);
                  if (turns != nullptr) mask = builder_.CreateAnd(turns, mask);
                  rows.push_back(
                      builder_.CreateMaskedLoad(vector, address, llvm::Align(1), mask, none));
                  address = At(address, sizes_.b_column);
                }
                rows = Transposed(builder_, std::move(rows));
                llvm::Value* target = At(panel, builder_.CreateMul(k, Int(blocking_.width())));
                for (unsigned t = 0; t < lanes; ++t) {
                  // Rows beyond the depth belong to the next panel only where it is written later.
                  builder_.CreateAlignedStore(
                      rows[t], At(target, Int(uint64_t{t} * blocking_.width())), llvm::Align(1));
                }
              },
              Times::AtLeastOnce);
        },
        Times::AtLeastOnce);
  }

  // Panels of a tile's width, row after row of depth; the last one is filled up with zeros.
  void EmitPlainPack(llvm::Value* b, llvm::Value* columns, llvm::Value* depth) {
    const unsigned width = blocking_.width();
    llvm::Type* vector = llvm::FixedVectorType::get(from_, blocking_.lanes);
    Loop(
        Int(0), columns, Int(width),
        [&](llvm::Value* j) {
          llvm::Value* panel = At(scratch_, builder_.CreateMul(j, depth));
          llvm::Value* from = At(b, j);
          llvm::Value* left = builder_.CreateSub(columns, j);
          std::vector<llvm::Value*> masks;
          for (unsigned v = 0; v < blocking_.vectors; ++v) {
            llvm::Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, left,
                                                                Int(v * blocking_.lanes));
            masks.push_back(
                FirstLanes(builder_, blocking_.lanes, Min(count, Int(blocking_.lanes))));
          }
          Loop(
              Int(0), depth, Int(1),
              [&](llvm::Value* k) {
                llvm::Value* source = At(from, builder_.CreateMul(k, sizes_.b_depth));
                llvm::Value* target = At(panel, builder_.CreateMul(k, Int(width)));
                for (unsigned v = 0; v < blocking_.vectors; ++v) {
                  llvm::Value* place = At(source, Int(v * blocking_.lanes));
                  llvm::Value* row =
                      masks[v] == nullptr
                          ? static_cast<llvm::Value*>(
                                builder_.CreateAlignedLoad(vector, place, llvm::Align(1)))
                          : builder_.CreateMaskedLoad(vector, place, llvm::Align(1), masks[v],
                                                      llvm::Constant::getNullValue(vector));
                  builder_.CreateAlignedStore(row, At(target, Int(v * blocking_.lanes)),
                                              llvm::Align(1));
                }
              },
              Times::AtLeastOnce);
        },
        Times::AtLeastOnce);
  }

  // Where a panel of b stands: its start, the stride of depth, and how far apart neighboring columns' tiles are.
  struct Panel {
    llvm::Value* b = nullptr;
    llvm::Value* depth_stride = nullptr;
    llvm::Value* step = nullptr;
  };

  ModuleEmitter& shared_;
  const MatmulNest& nest_;
  const LlvmValues& tail_arguments_;
  const Packing packing_;
  const bool is_turned_;  // b: a column's elements lie side by side, whatever its sizes are
  const ir::FuncId id_;
  llvm::Function* const function_;
  FunctionEmitter emitter_;
  Builder& builder_;
  OpEmitter& ops_;
  llvm::Type* element_;  // of the chains
  llvm::Type* from_;     // of a and b
  const unsigned bytes_;
  MatmulSizes sizes_;
  const Blocking blocking_;
  llvm::Value* a_ = nullptr;
  llvm::Value* b_ = nullptr;
  llvm::Value* c_ = nullptr;
  llvm::Value* scratch_ = nullptr;
  Panel panel_;
  // The first row and column of what is being emitted.
  llvm::Value* row_ = nullptr;
  llvm::Value* column_ = nullptr;
  std::optional<TailEmitter> tail_;
  llvm::Function* tail_function_ = nullptr;
  LlvmValues passed_on_;
  llvm::Value* sums_ = nullptr;  // of a tile, for that function
};

}  // namespace

llvm::Value* PanelCount(ModuleEmitter& shared, Builder& builder, llvm::Value* depth) {
  llvm::Value* most = builder.getInt64(PanelDepth);
  if (Known(depth) == nullptr) most = shared.Threshold(builder, PanelDepth, LeastPanelDepth);
  // No depth is one panel, too: its sums are stored.
  llvm::Value* least = builder.CreateSelect(builder.CreateICmpEQ(depth, builder.getInt64(0)),
                                            builder.getInt64(1), depth);
  llvm::Value* up = builder.CreateSub(builder.CreateAdd(least, most), builder.getInt64(1));
  return builder.CreateUDiv(up, most);
}

llvm::Function* EmitMatmulDriver(FunctionEmitter& caller, const MatmulNest& nest,
                                 const MatmulSizes& sizes, Packing packing, bool is_turned,
                                 const LlvmValues& tail_arguments) {
  return Driver(caller, nest, sizes, packing, is_turned, tail_arguments).Emit();
}

}  // namespace frazil::targets::native
