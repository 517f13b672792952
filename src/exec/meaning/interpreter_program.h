// A program made ready for the interpreter: math ops expanded, and a place for every value. Made
// once, run any number of times; nothing here changes while it runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/batch/batch_code.h"
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::exec {

// Where the values of a function live in its frame: scalars among its words, buffers and tensors
// among its objects, both in the order of their ids.
struct FrameLayout {
  explicit FrameLayout(const ir::Function& function);

  std::vector<uint32_t> slot;
  uint32_t word_count = 0;
  uint32_t object_count = 0;
};

class InterpreterProgram {
 public:
  static Result<InterpreterProgram> Create(const ir::Program& source);

  const ir::Program& program() const { return program_; }
  const FrameLayout& layout(ir::FuncId id) const { return layouts_[id.index]; }
  // The function that is the meaning of one element of tensor.uniform or tensor.normal.
  ir::FuncId RandomFunction(ir::Op tensor_op, ir::Type element) const;
  // The body of a `parallel` for blocks of its iterations, made when it is first wanted; null if they run one by one.
  const ParallelCode* BlocksOf(const ir::Function& function, const ir::Inst& parallel) const;

  // CheckLaunch, then the entry function.
  Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) const;

 private:
  struct Blocks {
    std::once_flag once;
    std::unique_ptr<const ParallelCode> code;
  };
  struct Room {
    std::mutex mutex;
    BlockRoom left;
  };

  ir::Program program_;
  std::vector<FrameLayout> layouts_;
  std::map<const ir::Inst*, std::unique_ptr<Blocks>> blocks_;  // of every `parallel`
  std::unique_ptr<Room> room_ = std::make_unique<Room>();
};

}  // namespace frazil::exec
