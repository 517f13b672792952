// Memory in lanes. Elements are packed and may stand at any address. Accesses at "iteration + fixed" were tested
// before the loop and need no masks for branches: what no lane asked for is there all the same.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>

#include "base/check.h"
#include "targets/native/vectors/vector_index.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

using ir::Function;
using ir::Inst;
using Shape = LoopAccess::Shape;

}  // namespace

llvm::Type* LaneEmitter::MemoryType(ir::Type type) const {
  return type.scalar == ir::Scalar::Bool ? builder_.getInt8Ty() : ops_.TypeOf(type);
}

llvm::Value* LaneEmitter::FromMemory(ir::Type type, llvm::Value* elements) {
  if (type.scalar != ir::Scalar::Bool) return elements;
  return builder_.CreateICmpNE(elements, llvm::Constant::getNullValue(elements->getType()));
}

llvm::Value* LaneEmitter::ToMemory(ir::Type type, llvm::Value* vector) {
  if (type.scalar != ir::Scalar::Bool) return vector;
  return builder_.CreateZExt(vector, LanesOf(builder_.getInt8Ty()));
}

llvm::Value* LaneEmitter::LoadVector(ir::Type type, llvm::Value* address) {
  llvm::VectorType* elements = LanesOf(MemoryType(type));
  llvm::Value* loaded =
      tail_mask_ == nullptr
          ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(elements, address, llvm::Align(1)))
          : builder_.CreateMaskedLoad(elements, address, llvm::Align(1), tail_mask_,
                                      llvm::Constant::getNullValue(elements));
  return FromMemory(type, loaded);
}

// Where neighbors from here on must end: a first index from there on would reach beyond the buffer.
llvm::Value* LaneEmitter::UnitBound(ir::ValueId buffer) {
  llvm::Value*& bound = unit_bounds_[buffer.index];
  if (bound != nullptr) return bound;
  llvm::Value* lanes = block_.rest != nullptr ? block_.rest : builder_.getInt64(block_.lanes);
  llvm::Value* room = builder_.CreateSub(emitter_.LengthOf(buffer), lanes);
  llvm::Value* none = builder_.CreateICmpSLT(room, builder_.getInt64(0));
  return bound = builder_.CreateSelect(none, builder_.getInt64(0),
                                       builder_.CreateAdd(room, builder_.getInt64(1)));
}

void LaneEmitter::EmitLoad(ir::InstId id) {
  const Inst& inst = function().inst(id);
  const LoopAccess* access = block_.plan.AccessOf(id);
  CHECK(access != nullptr);
  const HoistedAccess& hoisted =
      block_.hoisted[static_cast<size_t>(access - block_.plan.accesses.data())];
  const ir::ValueId result = Function::result_of(inst);
  llvm::Value* base = emitter_.Get(access->buffer);
  const Lane index = GetLane(function().operand(inst, 1));
  switch (access->shape) {
    case Shape::Uniform:
      if (hoisted.value != nullptr) return SetLane(result, {hoisted.value});
      if (access->ranged)
        return SetLane(result,
                       {emitter_.LoadElement(
                           inst.type, emitter_.ElementAddress(inst.type, base, LaneZero(index)))});
      return SetLane(result,
                     LoadOne(inst.type, base, LaneZero(index), emitter_.LengthOf(access->buffer)));
    case Shape::Unit: {
      llvm::Value* address = nullptr;
      if (hoisted.address != nullptr) {
        address = emitter_.ElementAddress(inst.type, hoisted.address, block_.trip);
      } else {
        llvm::Value* first = LaneZero(index);
        if (!access->ranged) BailIfAny(builder_.CreateICmpUGE(first, UnitBound(access->buffer)));
        address = emitter_.ElementAddress(inst.type, base, first);
      }
      return SetVector(inst, LoadVector(inst.type, address));
    }
    case Shape::Strided: return EmitStridedLoad(*access);
    case Shape::Row: {
      llvm::Type* elements = LanesOf(MemoryType(inst.type));
      return SetVector(inst,
                       builder_.CreateAlignedLoad(elements, TilePlace(*access), llvm::Align(4)));
    }
    case Shape::Gather:
      // What branches say holds in the lanes that count.
      return SetVector(inst, Gather(inst.type, base, AsVector(index),
                                    access->ranged ? nullptr : emitter_.LengthOf(access->buffer),
                                    IsInsideAt(function(), facts(), id, ir::InstId())));
  }
}

Lane LaneEmitter::LoadOne(ir::Type type, llvm::Value* base, llvm::Value* index,
                          llvm::Value* length) {
  BailIfAny(builder_.CreateICmpUGE(index, length));
  return {emitter_.LoadElement(type, emitter_.ElementAddress(type, base, index))};
}

// Lanes that do not count read the first element: there is one, or nothing is read. Without a length every index that
// counts is known to be inside; `is_inside` says so too, but only AVX-512 reads under masks at once.
llvm::Value* LaneEmitter::Gather(ir::Type type, llvm::Value* base, llvm::Value* index,
                                 llvm::Value* length, bool is_inside) {
  llvm::Type* element = MemoryType(type);
  const bool reads_masked = emitter_.level() == exec::CpuLevel::Avx512 && ir::BytesOf(type) >= 4;
  // Of a rest the first lane counts, and so the others may read what it reads: lanes one by one would each be tested.
  const bool first_counts = mask_ != nullptr && mask_ == tail_mask_ && block_.has_lane;
  llvm::Value* all = llvm::ConstantInt::getTrue(LanesOf(builder_.getInt1Ty()));
  if (length == nullptr || (is_inside && (mask_ == nullptr || first_counts || reads_masked))) {
    llvm::Value* counts = mask_ != nullptr ? mask_ : all;
    if (first_counts && !reads_masked) {
      llvm::Value* first = builder_.CreateExtractElement(index, uint64_t{0});
      index = builder_.CreateSelect(mask_, index, builder_.CreateVectorSplat(block_.lanes, first));
      counts = all;
    }
    return FromMemory(
        type, builder_.CreateMaskedGather(LanesOf(element),
                                          builder_.CreateGEP(element, base, index), llvm::Align(1),
                                          counts, llvm::Constant::getNullValue(LanesOf(element))));
  }
  llvm::Value* outside =
      builder_.CreateICmpUGE(index, builder_.CreateVectorSplat(block_.lanes, length));
  if (!is_inside) BailIfAny(outside);
  if (mask_ != nullptr) {
    // A lane that counts has found an element.
    if (!first_counts) BailIfAny(builder_.CreateICmpEQ(length, builder_.getInt64(0)));
    index = builder_.CreateSelect(outside, llvm::Constant::getNullValue(index->getType()), index);
  }
  llvm::Value* addresses = builder_.CreateGEP(element, base, index);
  llvm::Value* loaded =
      builder_.CreateMaskedGather(LanesOf(element), addresses, llvm::Align(1), all);
  return FromMemory(type, loaded);
}

void LaneEmitter::EmitLookup(const Inst& inst) {
  const ir::DataId id(static_cast<uint32_t>(function().word(inst, 0)));
  llvm::Value* table = emitter_.shared().Table(id);
  llvm::Value* length = builder_.getInt64(emitter_.program().data[id.index].length());
  const Lane index = GetLane(function().operand(inst, 0));
  if (index.is_uniform())
    return SetLane(Function::result_of(inst), LoadOne(inst.type, table, index.scalar, length));
  SetVector(inst, Gather(inst.type, table, AsVector(index), length, /*is_inside=*/false));
}

void LaneEmitter::EmitStore(ir::InstId id) {
  const Inst& inst = function().inst(id);
  const LoopAccess* access = block_.plan.AccessOf(id);
  CHECK(access != nullptr);
  if (access->shape == Shape::Row) return EmitRowStore(inst, *access);
  const HoistedAccess& hoisted =
      block_.hoisted[static_cast<size_t>(access - block_.plan.accesses.data())];
  const bool is_one = access->shape == Shape::Uniform;
  llvm::Value* address =
      is_one ? hoisted.address : emitter_.ElementAddress(inst.type, hoisted.address, block_.trip);
  const ir::ValueId value = function().operand(inst, 2);
  stores_.push_back({inst.type, address, Vector(value), mask_,
                     facts().canonical[value.index] && IsOnlyStored(value), is_one});
}

void LaneEmitter::EmitStore(Builder& builder, const LaneStore& store) {
  if (store.mask == nullptr)
    builder.CreateAlignedStore(store.value, store.address, llvm::Align(1));
  else
    builder.CreateMaskedStore(store.value, store.address, llvm::Align(1), store.mask);
}

// Of the lanes that count the last one. If there is none, it goes to a place of no meaning: a branch might be one that no
// input takes, and such code cannot be judged.
void LaneEmitter::StoreLast(const LaneStore& store, llvm::Value* elements) {
  llvm::Value* last = builder_.getInt64(block_.lanes - 1);
  llvm::Value* address = store.address;
  if (store.mask != nullptr) {
    llvm::Type* const bits = builder_.getIntNTy(block_.lanes);
    llvm::Value* const counting = builder_.CreateBitCast(store.mask, bits);
    llvm::Value* const none = builder_.CreateICmpEQ(counting, llvm::ConstantInt::get(bits, 0));
    llvm::Value* const behind = builder_.CreateZExtOrTrunc(
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz,
                                       builder_.CreateOr(counting, llvm::ConstantInt::get(bits, 1)),
                                       builder_.getTrue()),
        builder_.getInt64Ty());
    last = builder_.CreateSub(last, behind);
    address = builder_.CreateSelect(none, StackRoom(builder_, MemoryType(store.type)), address);
  }
  builder_.CreateAlignedStore(builder_.CreateExtractElement(elements, last), address,
                              llvm::Align(1));
}

// A mask of a branch, where the machine has no masked stores: write back what stood there. Nobody else writes there.
void LaneEmitter::FlushStores() {
  for (const LaneStore& store : stores_) {
    llvm::Value* elements = ToMemory(store.type, store.value);
    if (store.is_one) {
      StoreLast(store, elements);
      continue;
    }
    const bool has_masks =
        emitter_.level() == exec::CpuLevel::Avx512 ||
        (emitter_.level() == exec::CpuLevel::Avx2 && ir::BytesOf(store.type) >= 4);
    if (store.mask != nullptr && (has_masks || tail_mask_ != nullptr)) {
      builder_.CreateMaskedStore(elements, store.address, llvm::Align(1), store.mask);
      continue;
    }
    if (store.mask != nullptr) {
      llvm::Value* old =
          builder_.CreateAlignedLoad(elements->getType(), store.address, llvm::Align(1));
      elements = builder_.CreateSelect(store.mask, elements, old);
    }
    if (!block_.streams || store.mask != nullptr) {
      builder_.CreateAlignedStore(elements, store.address, llvm::Align(1));
      continue;
    }
    const uint64_t bytes = uint64_t{block_.lanes} * ir::BytesOf(store.type);
    llvm::StoreInst* written = builder_.CreateAlignedStore(
        elements, store.address, llvm::Align(std::min<uint64_t>(bytes, StreamAlignment)));
    llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    written->setMetadata(llvm::LLVMContext::MD_nontemporal,
                         llvm::MDNode::get(builder_.getContext(), one));
  }
  stores_.clear();
}

}  // namespace frazil::targets::native
