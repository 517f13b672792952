// The fluid path of a call site, behind the words of a native call: the tile interpreter (tier 1) where the program's
// lowering to the portable machine is proved and its lanes, if it has any, are independent, the reference interpreter
// (tier 0) else.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/fork.h"
#include "dispatch/slot.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/value.h"
#include "exec/word_launch.h"
#include "ir/signed_program.h"
#include "targets/tiles/tile.h"

namespace frazil::engine {

// The status of a call that could not be made at all (arguments that do not fit); LastLaunchError says why.
constexpr int32_t LaunchFailed = -1;

// A call in words has no streams.
bool UsesStreams(const ir::Program& program);

// How the words of a call are laid out, for the entry function of a program without tensors.
class CallLayout {
 public:
  explicit CallLayout(const ir::Function& entry);

  uint32_t argument_words() const { return argument_words_; }
  uint32_t result_words() const { return result_words_; }
  uint32_t first_word(uint32_t param) const { return first_word_[param]; }
  const std::vector<ir::Type>& params() const { return params_; }
  const std::vector<ir::Type>& results() const { return results_; }
  // No buffer of this call that is written overlaps one that is read (`inout` does so by itself): what a run has done so
  // far is then invisible to a second one.
  bool MayBeginAgain(const uint64_t* words) const;

  // Values that borrow the caller's memory, or own a copy of it.
  std::vector<exec::Value> Values(const uint64_t* words, bool copy) const;
  uint64_t BufferBytes(const uint64_t* words) const;
  // The other way round; the values must outlive the words.
  std::vector<uint64_t> Words(std::span<const exec::Value> values) const;

 private:
  std::vector<ir::Type> params_, results_;
  std::vector<uint32_t> first_word_;
  uint32_t argument_words_ = 0, result_words_ = 0;
};

class InterpreterFluid final : public dispatch::Fluid {
 public:
  static Result<std::unique_ptr<InterpreterFluid>> Create(
      std::shared_ptr<const ir::SignedProgram> source, const Limits& limits);

  int32_t Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) override;

  const CallLayout& layout() const { return layout_; }
  // A running call stops at its next back-edge and is begun again by `again`, where that is sound
  // (CallLayout::MayBeginAgain). For a call that started long before its compiled form was there.
  void SetRestart(std::function<int32_t(const uint64_t*, uint64_t*, exec::NativeRun*)> again);
  void InterruptRunning() { interrupt_.store(true, std::memory_order_relaxed); }

  static const std::string& LastLaunchError();  // of this thread

  bool has_tiles() const { return tiles_ != nullptr; }
  // The source without its tensors: its entry has the words of a call.
  const ir::Program& lowered() const { return *lowered_; }

 private:
  InterpreterFluid(std::shared_ptr<const ir::SignedProgram> source,
                   std::shared_ptr<const ir::Program> lowered, const Limits& limits);
  exec::RunContext ContextOf(const uint64_t* arguments, const exec::NativeRun* run) const;
  bool MayUseTiles(const exec::NativeRun* run) const;
  int32_t CallWithValues(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  int32_t Trapped(const exec::TrapInfo& trap, const exec::RunContext& context,
                  const uint64_t* arguments, uint64_t* results, exec::NativeRun* run);
  const exec::InterpreterProgram& interpreter() const;

  std::shared_ptr<const ir::SignedProgram> source_;
  std::shared_ptr<const ir::Program> lowered_;
  bool has_tensors_;  // among what a call takes and gives: their dimensions are looked at
  CallLayout layout_;
  Limits limits_;
  std::shared_ptr<const targets::tiles::TilePlan> tiles_;  // null: tier 0
  uint64_t call_depth_ = 0;                                // of the calls that tiles have inlined
  exec::WordLaunch launch_;  // what both programs want of a call in words
  std::optional<exec::WordLaunch> source_launch_;
  // Made at once without tiles, else for a call that they cannot answer.
  mutable ForkOnce interpreter_once_;
  mutable std::optional<exec::InterpreterProgram> interpreter_;
  std::atomic<bool> interrupt_{false};
  std::function<int32_t(const uint64_t*, uint64_t*, exec::NativeRun*)> again_;
};

}  // namespace frazil::engine
