// Two walks over the same decoded instructions: the first finds them and every place that control may come to other than
// by falling through, the second cuts there.
#include <set>

#include "verify/x86/compare.h"
#include "verify/x86/frame.h"
#include "verify/x86/instruction.h"
#include "verify/x86/trap_exit.h"
#include "verify/x86/x86.h"

namespace frazil::verify::x86 {
namespace {

// Does every way from the entry to `to` lead through `through`? Then a jump from the one to the other closes a loop.
bool LeadsThrough(const Instructions& instructions, uint32_t entry, uint32_t through, uint32_t to) {
  std::set<uint32_t> seen = {through};
  std::vector<uint32_t> open = {entry};
  while (!open.empty()) {
    const uint32_t place = open.back();
    open.pop_back();
    if (place == to && place != through) return false;
    if (!seen.insert(place).second) continue;
    const Instruction& instruction = instructions.at(place);
    if (instruction.target) open.push_back(*instruction.target);
    if (instruction.flow != Flow::Jump && instruction.flow != Flow::End)
      open.push_back(instruction.next);
  }
  return true;
}

Result<void> CheckOverlap(const Instructions& instructions) {
  uint32_t behind = 0;
  for (const auto& [place, instruction] : instructions) {
    if (place < behind) return Refuse(place, "is inside of another instruction");
    behind = instruction.next;
  }
  return {};
}

class Reader final : public CodeReader {
 public:
  Result<CodeParts> Read(const exec::NativeImage& image) const override {
    const Decoder decoder(image.code);
    ReadCode code{decoder, image.entry_offset, {}, {}, {}};
    Instructions& instructions = code.instructions;
    std::set<uint32_t> leaders = {image.entry_offset};
    std::vector<uint32_t> open = {image.entry_offset};
    while (!open.empty()) {
      const uint32_t place = open.back();
      open.pop_back();
      if (instructions.contains(place)) continue;
      const Instruction instruction = TRY(decoder.At(place));
      instructions.emplace(place, instruction);
      if (instruction.target) {
        code.before.emplace(*instruction.target, place);
        leaders.insert(*instruction.target);
        open.push_back(*instruction.target);
        // A function of its own may not come back, or not to here.
        leaders.insert(instruction.next);
      }
      if (instruction.flow != Flow::Jump && instruction.flow != Flow::End) {
        code.before.emplace(instruction.next, place);
        open.push_back(instruction.next);
      }
    }
    TRY_VOID(CheckOverlap(instructions));
    code.frames = TRY(FollowFrames(decoder, instructions, leaders, image));
    CodeParts parts;
    std::vector<CodeBlock>& blocks = parts.blocks;
    uint32_t behind = 0;
    std::optional<uint32_t> before;  // the instruction before, if it is of the same block
    for (const auto& [place, instruction] : instructions) {
      if (blocks.empty() || leaders.contains(place) || place != behind)
        blocks.push_back({place, place, true, FollowTrapExit(code, place)});
      CodeBlock& block = blocks.back();
      block.is_jump = block.is_jump && (instruction.flow == Flow::Jump || decoder.IsNop(place));
      block.end = behind = instruction.next;
      if (instruction.flow == Flow::Branch) {
        if (!instruction.condition) return Refuse(place, "branches by the value of a register");
        const bool is_turn =
            *instruction.target <= place &&
            LeadsThrough(instructions, image.entry_offset, *instruction.target, place);
        parts.branches.push_back(
            {place, instruction.next, *instruction.target, *instruction.condition, is_turn,
             before && block.begin <= *before ? ReadCompare(decoder, *before) : std::nullopt});
      }
      before = place;
    }
    return parts;
  }
};

}  // namespace

std::shared_ptr<const CodeReader> MakeReader() { return std::make_shared<Reader>(); }
void RegisterReader() { RegisterCodeReader(MakeReader()); }

}  // namespace frazil::verify::x86
