// Elements at a small known distance: the vectors that hold them are read whole and sorted out by shuffles. Accesses that
// differ by less than the distance (the channels of a picture) share what is read.
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <bit>

#include "targets/native/vectors/vector_index.h"
#include "targets/native/vectors/vector_lanes.h"

namespace frazil::targets::native {
namespace {

using Shape = LoopAccess::Shape;
using llvm::FixedVectorType;

bool ReadsSameRow(const LoopAccess& a, const LoopAccess& b) {
  return a.shape == Shape::Strided && b.shape == Shape::Strided && a.buffer == b.buffer &&
         a.slope == b.slope && a.always && b.always;
}

// Every third byte is an idiom of loads that the code generator knows. Of two or four narrow elements that are one integer
// of the machine the others are shifted and cut off.
bool HasIdiom(const StridedRead& read) {
  const unsigned bytes = read.element->getScalarSizeInBits() / 8;
  if (!std::has_single_bit(read.stride)) return bytes == 1 && read.stride == 3;
  return bytes < 4 && bytes * read.stride <= 8;
}

// Lane i is element `stride * i + place`: shuffles of two, one fewer than there are parts.
llvm::Value* Pick(Builder& builder, const StridedRead& read, const LlvmValues& parts,
                  unsigned place) {
  const unsigned last = read.stride - 1;
  llvm::Value* picked = parts[0];
  for (unsigned part = 1; part <= last; ++part) {
    llvm::SmallVector<int, 64> mask;
    for (unsigned i = 0; i < read.lanes; ++i) {
      const unsigned at = read.stride * i + place;
      const unsigned holder = std::min(at / read.lanes, last);
      const unsigned inside = at - read.Start(holder);
      if (holder > part)
        mask.push_back(-1);
      else if (holder == part)
        mask.push_back(static_cast<int>(read.lanes + inside));
      else
        mask.push_back(static_cast<int>(part == 1 ? inside : i));
    }
    picked = builder.CreateShuffleVector(picked, parts[part], mask);
  }
  return picked;
}

llvm::Value* PickWide(Builder& builder, const StridedRead& read, llvm::Value* wide,
                      unsigned place) {
  if (!std::has_single_bit(read.stride)) {
    llvm::SmallVector<int, 64> mask;
    for (unsigned i = 0; i < read.lanes; ++i)
      mask.push_back(static_cast<int>(read.stride * i + place));
    return builder.CreateShuffleVector(wide, mask);
  }
  const unsigned bits = read.element->getScalarSizeInBits();
  llvm::Value* const groups = builder.CreateBitCast(
      wide, FixedVectorType::get(builder.getIntNTy(bits * read.stride), read.lanes));
  llvm::Value* const cut =
      builder.CreateTrunc(builder.CreateLShr(groups, uint64_t{bits} * place),
                          FixedVectorType::get(builder.getIntNTy(bits), read.lanes));
  return builder.CreateBitCast(cut, FixedVectorType::get(read.element, read.lanes));
}

llvm::Value* Joined(Builder& builder, LlvmValues pieces) {
  for (; pieces.size() > 1; pieces.resize(pieces.size() / 2)) {
    llvm::SmallVector<int, 64> all(
        2 * llvm::cast<FixedVectorType>(pieces[0]->getType())->getNumElements());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    for (size_t i = 0; i < pieces.size() / 2; ++i)
      pieces[i] = builder.CreateShuffleVector(pieces[2 * i], pieces[2 * i + 1], all);
  }
  return pieces[0];
}

}  // namespace

// The last part ends with what the lanes need: there may be nothing behind it. Under masks that is not read.
unsigned StridedRead::Start(unsigned part) const {
  const unsigned size = valid == nullptr ? stride * (lanes - 1) + span : stride * lanes;
  return std::min(part * lanes, size - lanes);
}

LlvmValues LaneEmitter::StridedParts(const StridedRead& read) {
  LlvmValues parts;
  llvm::VectorType* const type = FixedVectorType::get(read.element, read.lanes);
  for (unsigned part = 0; part < read.stride; ++part) {
    llvm::Value* const from =
        builder_.CreateConstGEP1_64(read.element, read.address, read.Start(part));
    if (read.valid == nullptr) {
      parts.push_back(builder_.CreateAlignedLoad(type, from, llvm::Align(1)));
      continue;
    }
    llvm::Value* const mask =
        FirstLanes(read.lanes, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, read.valid,
                                                              builder_.getInt64(read.Start(part))));
    parts.push_back(builder_.CreateMaskedLoad(type, from, llvm::Align(1), mask,
                                              llvm::Constant::getNullValue(type)));
  }
  return parts;
}

// One vector for each place.
LlvmValues LaneEmitter::ReadStrided(const StridedRead& read, std::span<const unsigned> places) {
  LlvmValues picked;
  FixedVectorType* const type = FixedVectorType::get(read.element, read.lanes * read.stride);
  llvm::Value* wide = nullptr;
  LlvmValues parts;
  if (HasIdiom(read) && read.valid == nullptr && read.span == read.stride) {
    wide = builder_.CreateAlignedLoad(type, read.address, llvm::Align(1));
  } else {
    parts = StridedParts(read);
  }
  if (HasIdiom(read) && read.valid != nullptr) {
    // By way of the stack: shuffles of what was read under masks would be much code.
    llvm::Value* const room = StackRoom(builder_, type);
    for (unsigned part = 0; part < read.stride; ++part)
      builder_.CreateAlignedStore(parts[part],
                                  builder_.CreateConstGEP1_64(read.element, room, read.Start(part)),
                                  llvm::Align(1));
    wide = builder_.CreateAlignedLoad(type, room, llvm::Align(1));
  }
  for (const unsigned place : places)
    picked.push_back(wide != nullptr ? PickWide(builder_, read, wide, place)
                                     : Pick(builder_, read, parts, place));
  return picked;
}

void LaneEmitter::EmitStridedLoad(const LoopAccess& access) {
  const ir::Inst& inst = function().inst(access.inst);
  if (const auto found = strided_.find(access.inst.index); found != strided_.end())
    return SetVector(inst, found->second);
  // Of accesses that every iteration makes the first one reads for all; what a block stores comes behind its reads.
  std::vector<std::pair<int64_t, ir::InstId>> members = {{0, access.inst}};
  const int64_t stride = access.stride;
  const bool shares = access.always && !block_.plan.has_inner_loop;
  for (const LoopAccess& other : block_.plan.accesses) {
    if (!shares || other.inst == access.inst || !ReadsSameRow(access, other)) continue;
    const std::optional<int64_t> ahead = (other.offset - access.offset).constant();
    if (ahead && *ahead > -stride && *ahead < stride && !strided_.contains(other.inst.index))
      members.emplace_back(*ahead, other.inst);
  }
  const auto by_place = &std::pair<int64_t, ir::InstId>::first;
  const int64_t least = std::ranges::min(members, {}, by_place).first;
  std::erase_if(members, [&](const auto& member) { return member.first - least >= stride; });
  const auto span =
      static_cast<unsigned>(std::ranges::max(members, {}, by_place).first - least + 1);
  std::vector<unsigned> places;
  for (const auto& member : members) places.push_back(static_cast<unsigned>(member.first - least));

  llvm::Value* const first = builder_.CreateAdd(LaneZero(GetLane(function().operand(inst, 1))),
                                                builder_.getInt64(static_cast<uint64_t>(least)));
  llvm::Value* const address =
      emitter_.ElementAddress(inst.type, emitter_.Get(access.buffer), first);
  llvm::Value* valid = nullptr;
  if (tail_mask_ != nullptr)
    valid = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::usub_sat,
        builder_.CreateMul(block_.rest, builder_.getInt64(access.stride)),
        builder_.getInt64(access.stride - span));
  // A register of lanes at a time.
  llvm::Type* const element = MemoryType(inst.type);
  const unsigned lanes =
      std::min(block_.lanes, VectorBytes(emitter_.level()) / ir::BytesOf(inst.type));
  std::vector<LlvmValues> picked(members.size());
  for (unsigned start = 0; start < block_.lanes; start += lanes) {
    llvm::Value* const before = builder_.getInt64(uint64_t{start} * access.stride);
    const bool is_last = start + lanes == block_.lanes;
    const StridedRead read{element,
                           builder_.CreateGEP(element, address, before),
                           lanes,
                           access.stride,
                           is_last ? span : access.stride,
                           valid == nullptr ? nullptr
                                            : builder_.CreateBinaryIntrinsic(
                                                  llvm::Intrinsic::usub_sat, valid, before)};
    const LlvmValues vectors = ReadStrided(read, places);
    for (size_t m = 0; m < members.size(); ++m) picked[m].push_back(vectors[m]);
  }
  for (size_t m = 0; m < members.size(); ++m) {
    llvm::Value* const vector = FromMemory(inst.type, Joined(builder_, picked[m]));
    if (shares) strided_[members[m].second.index] = vector;
    if (members[m].second == access.inst) SetVector(inst, vector);
  }
}

}  // namespace frazil::targets::native
