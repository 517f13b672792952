// Who can read machine code. Evidence of samples must tell which code they ran, so somebody other than the emitter has to
// find its blocks. Registered from above (verify/x86): the core links no decoder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "exec/native/native_code.h"

namespace frazil::verify {

// What a block does that only says "trapped": every path from it sets these two and returns.
struct TrapExit {
  uint32_t status = 0;  // 1 + the kind
  uint32_t op = 0;
};

struct CodeBlock {
  uint32_t begin = 0, end = 0;  // bytes of the image
  // A jump and nothing else: it runs or not with what it joins.
  bool is_jump = false;
  std::optional<TrapExit> exit;  // nothing: it does more than that, or it cannot be told
};

// A number that code compares: a register or what stands in memory at base + index * scale + number; without a base, the
// number itself. Registers as the instruction set numbers them.
struct CodeOperand {
  std::optional<uint8_t> base, index;
  uint8_t scale = 0;
  bool is_memory = false;
  int64_t number = 0;
};
struct CodeCompare {
  CodeOperand left, right;
  uint8_t bits = 64;
};

struct CodeBranch {
  uint32_t place = 0, next = 0, target = 0;
  uint8_t condition = 0;  // as the instruction set numbers them
  // It leads back to the head of a loop: all blocks have run when the loop ran once, but what its second turn does with
  // the first's numbers has been seen only when this was taken.
  bool is_turn = false;
  std::optional<CodeCompare> compare;  // what it depends on, where the instruction before tells
};

struct CodeParts {
  std::vector<CodeBlock>
      blocks;  // that can be reached from the entry, in the order of their places
  std::vector<CodeBranch> branches;  // in the order of theirs
};

class CodeReader {
 public:
  virtual ~CodeReader() = default;
  // Fails (Unsupported) on what cannot be followed: jumps to a computed place, bytes that are no instruction, jumps into
  // the middle of one.
  virtual Result<CodeParts> Read(const exec::NativeImage& image) const = 0;
};
void RegisterCodeReader(std::shared_ptr<const CodeReader> reader);
std::shared_ptr<const CodeReader> RegisteredCodeReader();  // null if there is none

}  // namespace frazil::verify
