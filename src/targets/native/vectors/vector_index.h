// Tests of indices before loops. Internal to this folder.
#pragma once

#include "targets/llvm/form_values.h"
#include "targets/native/function_emitter.h"

namespace frazil::targets::native {

// On the stack of the function, at a line.
llvm::Value* StackRoom(Builder& builder, llvm::Type* type);

// Tests before loops. The builder leaves an `and` with a constant, and the code generator would branch on that.
bool IsTrue(llvm::Value* bit);
llvm::Value* BothHold(Builder& builder, llvm::Value* a, llvm::Value* b);
// Elements of a buffer from this index on; none where it is outside. One test of it says what two would: fewer ways that
// somebody must have gone.
llvm::Value* RoomFrom(Builder& builder, llvm::Value* first, llvm::Value* length);

// While it lives, loops are emitted as scalar code: what is there for rare cases should be short.
class ScalarInside {
 public:
  explicit ScalarInside(FunctionEmitter& emitter)
      : shared_(emitter.shared()), before_(shared_.vectorize) {
    shared_.vectorize = false;
  }
  ~ScalarInside() { shared_.vectorize = before_; }
  ScalarInside(const ScalarInside&) = delete;
  ScalarInside& operator=(const ScalarInside&) = delete;

 private:
  ModuleEmitter& shared_;
  const bool before_;
};

}  // namespace frazil::targets::native
