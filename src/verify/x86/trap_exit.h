// Code that only says "trapped" is read, not run: some traps no input can cause (two buffers that always have one length),
// and what such code does is plain to see.
#pragma once

#include "verify/runs/code_reader.h"
#include "verify/x86/frame.h"
#include "verify/x86/instruction.h"

namespace frazil::verify::x86 {

struct ReadCode {
  const Decoder& decoder;
  uint32_t entry;
  Instructions instructions;
  std::multimap<uint32_t, uint32_t> before;  // by place: the places that control comes from
  Frames frames;
};

// What happens from `place` on, if that is nothing but setting the trap's op and index in the run, and returning a status:
// no branch, no call, no other memory but the stack's. The numbers may have been set before, on each way another: then they are
// the greatest.
std::optional<TrapExit> FollowTrapExit(const ReadCode& code, uint32_t place);

}  // namespace frazil::verify::x86
