// The claim's side of a program: values as words of the streams, and back.
#pragma once

#include "exec/value.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {

std::vector<uint64_t> ToWords(const exec::Value& scalar);
exec::Value FromWords(ir::Type type, std::span<const uint64_t> words);

// The types of the program's outputs, if their order is known or there is only one.
struct OutputTypes {
  bool one = true;
  std::vector<ir::Type> types;  // one: at most one entry; else all, in order
  std::string why_not;          // neither
};
OutputTypes OutputsOf(const ir::Program& program);

}  // namespace frazil::targets::tasm
