// The program that tells the host what it must know before a launch: trip counts and lengths of scratch buffers.
#pragma once

#include <map>
#include <memory>

#include "ir/builder.h"
#include "targets/llvm/facts.h"

namespace frazil::targets::cuda {

class SizesBuilder {
 public:
  SizesBuilder(const ir::Program& lowered, const ProgramFacts& facts);

  // The ordinal of the result that gives this index or bool of the entry, or Unknown where it depends on memory or on a
  // loop.
  int32_t Add(ir::ValueId value);
  ir::Program Finish();

 private:
  ir::ValueId Copy(ir::ValueId value);

  const ir::Program& lowered_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  ir::Program program_;
  std::unique_ptr<ir::FunctionBuilder> builder_;
  std::map<uint32_t, ir::ValueId> copies_;   // invalid: cannot be copied
  std::map<uint32_t, ir::ValueId> numbers_;  // of bools
  std::map<uint32_t, int32_t> ordinals_;
  std::vector<ir::ValueId> results_;
};

}  // namespace frazil::targets::cuda
