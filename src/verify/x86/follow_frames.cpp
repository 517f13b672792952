// All ways through the code, until nothing more is learned.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "verify/x86/frame.h"

namespace frazil::verify::x86 {
namespace {

class Follower {
 public:
  Follower(const Decoder& decoder, const Instructions& instructions,
           const std::set<uint32_t>& leaders, const exec::NativeImage& image)
      : decoder_(decoder), instructions_(instructions), leaders_(leaders), image_(image) {
    for (const auto& [place, instruction] : instructions)
      if (instruction.flow == Flow::Call && instruction.target)
        functions_.insert(*instruction.target);
  }

  Result<Frames> Run() {
    TRY_VOID(CheckReadings());
    TRY_VOID(Come(image_.entry_offset, Frame(image_.entry_offset, image_.uses_run)));
    while (!open_.empty()) {
      const uint32_t leader = open_.back();
      open_.pop_back();
      TRY_VOID(FollowBlock(leader));
    }
    uint64_t needed = 0;
    for (const auto& [function, depth] : depths_) needed += depth;
    if (needed > image_.stack.frame_bytes + SmallStackBytes)
      return Fail(Diag::Unsupported, fmt::format("it takes {} bytes of stack and says {}", needed,
                                                 image_.stack.frame_bytes));
    return std::move(frames_);
  }

 private:
  // Return addresses, the red zone, and what is rounded down.
  static constexpr uint64_t SmallStackBytes = 1024;

  // Data are read, code is not: it could tell whether it is watched.
  Result<void> CheckReadings() const {
    for (const auto& [place, instruction] : instructions_) {
      Decoded decoded;
      if (!decoder_.Decode(place, decoded)) continue;
      for (size_t i = 0; i < decoded.instruction.operand_count; ++i) {
        const ZydisDecodedOperand& operand = decoded.operands[i];
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RIP)
          continue;
        const int64_t begin = int64_t{instruction.next} + operand.mem.disp.value;
        const int64_t end =
            begin + (IsMemory(operand) ? std::max<int64_t>(BytesOf(operand), 1) : 1);
        if (begin < 0 || end > static_cast<int64_t>(image_.code.size()))
          return Refuse(place, "reads outside of its image");
        const auto behind = instructions_.lower_bound(static_cast<uint32_t>(end));
        if (behind != instructions_.begin() && std::prev(behind)->second.next > begin)
          return Refuse(place, "reads its own code");
      }
    }
    return {};
  }

  Result<void> Come(uint32_t place, Frame frame) {
    if (functions_.contains(place) && frame.function() != place) {
      // A jump at the end of one function to the beginning of another.
      TRY_VOID(frame.CheckReturn(place));
      frame = frame.Called(place);
    }
    const auto [found, is_new] = frames_.try_emplace(place, frame);
    bool changed = is_new;
    if (!is_new && !found->second.Join(frame, changed))
      return Refuse(place, "is reached with stacks of several depths");
    if (changed) open_.push_back(place);
    return {};
  }

  Result<void> FollowBlock(uint32_t leader) {
    Frame frame = frames_.at(leader);
    uint32_t place = leader;
    while (true) {
      const Instruction& instruction = instructions_.at(place);
      Decoded decoded;
      if (!decoder_.Decode(place, decoded)) return Refuse(place, "cannot be read");
      switch (instruction.flow) {
        case Flow::End:
          return decoded.instruction.meta.category == ZYDIS_CATEGORY_RET ? frame.CheckReturn(place)
                                                                         : Result<void>();
        case Flow::Jump: return Come(*instruction.target, frame);
        case Flow::Branch: TRY_VOID(Come(*instruction.target, frame)); break;
        case Flow::Call:
          TRY_VOID(frame.CheckCall(place, decoded, instruction.target.has_value()));
          if (instruction.target)
            TRY_VOID(Come(*instruction.target, frame.Called(*instruction.target)));
          frame.AfterCall();
          break;
        case Flow::On: TRY_VOID(frame.Step(place, decoded)); break;
      }
      uint64_t& depth = depths_[frame.function()];
      depth = std::max(depth, frame.depth());
      place = instruction.next;
      if (leaders_.contains(place)) return Come(place, frame);
    }
  }

  const Decoder& decoder_;
  const Instructions& instructions_;
  const std::set<uint32_t>& leaders_;
  const exec::NativeImage& image_;
  std::set<uint32_t> functions_;
  Frames frames_;
  std::vector<uint32_t> open_;
  std::map<uint32_t, uint64_t> depths_;  // of each function
};

}  // namespace

Result<Frames> FollowFrames(const Decoder& decoder, const Instructions& instructions,
                            const std::set<uint32_t>& leaders, const exec::NativeImage& image) {
  return Follower(decoder, instructions, leaders, image).Run();
}

}  // namespace frazil::verify::x86
