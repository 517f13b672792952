// Pieces run from the last to the first, with a length that changes from call to call: what depends on the order of
// iterations, or on where a piece begins, shows. The trap of the lowest piece is the launch's.
#include "aot/pieces.h"

#include <algorithm>

#include "embed/kernel.h"
#include "exec/native/judged_call.h"
#include "exec/word_call.h"

namespace frazil::aot {
namespace {

using exec::NativeRun;
using exec::Outcome;
using exec::Value;

class PiecesCallable : public exec::Callable {
 public:
  PiecesCallable(PiecesCode code, bool whole, std::shared_ptr<const ir::Program> program)
      : code_(std::move(code)), whole_(whole), program_(std::move(program)) {}

  Result<Outcome> Run(std::span<const Value> arguments, const exec::RunContext& context) override {
    exec::LoweredCall call = TRY(exec::LoweredCall::Create(*program_, arguments, context.limits));
    std::vector<uint64_t> words = exec::ArgumentWords(call);
    NativeRun run;
    run.memory_left = context.limits.memory_bytes;
    run.depth_left = context.limits.depth;
    const exec::Watchdog watchdog(context);
    run.stop = watchdog.flag();
    const bool in_pieces = !whole_ && Holds(arguments);
    const int32_t status = TRY(in_pieces ? RunPieces(arguments, words, run) : RunWhole(words, run));
    const auto op =
        run.trap_op < ir::OpCount ? std::optional(static_cast<ir::Op>(run.trap_op)) : std::nullopt;
    const auto trap = TRY(exec::TrapOfStatus(status, op, run.trap_index));
    return std::move(call).Finish(trap, {}, {});
  }

 private:
  bool Holds(std::span<const Value> arguments) const {
    const auto same = [&](const auto& pair) {
      return arguments[pair.first].memory->data() == arguments[pair.second].memory->data();
    };
    const auto above = [&](const auto& pair) {
      return static_cast<int64_t>(arguments[pair.first].word) >
             static_cast<int64_t>(arguments[pair.second].word);
    };
    return std::ranges::none_of(code_.conditions.disjoint, same) &&
           std::ranges::none_of(code_.conditions.at_most, above);
  }

  // The number of iterations, or a status.
  Result<int32_t> Trips(std::span<const Value> arguments, const std::vector<uint64_t>& words,
                        NativeRun& run, int64_t& trips) {
    uint64_t word = 0;
    int32_t status = 0;
    if (code_.trips == nullptr) {
      word = words[code_.trips_word];
    } else {
      std::vector<uint64_t> scalars;
      for (const Value& argument : arguments)
        scalars.push_back(argument.type.is_scalar()
                              ? argument.word
                              : static_cast<uint64_t>(argument.memory->length()));
      status = TRY(exec::CallJudged(*code_.trips, scalars, std::span(&word, 1), run));
    }
    trips = std::max<int64_t>(0, static_cast<int64_t>(word));
    return status;
  }

  Result<int32_t> RunWhole(std::vector<uint64_t> words, NativeRun& run) {
    words.insert(words.end(), {embed::AllBegin, embed::AllEnd});
    return exec::CallJudged(*code_.ranged, words, {}, run);
  }

  Result<int32_t> RunPieces(std::span<const Value> arguments, std::vector<uint64_t> words,
                            NativeRun& run) {
    int64_t trips = 0;
    // As a launch does: one that has no length, or whose length cannot be told, runs in one piece.
    if (TRY(Trips(arguments, words, run, trips)) != 0 || trips <= 1)
      return RunWhole(std::move(words), run);
    const int64_t grain = 1 + static_cast<int64_t>(calls_++ % 13) + trips / 5;
    words.resize(words.size() + 2);
    int32_t status = 0;
    uint32_t op = 0;
    int64_t index = -1;
    for (int64_t begin = (trips - 1) / grain * grain; begin >= 0; begin -= grain) {
      words[words.size() - 2] = static_cast<uint64_t>(begin);
      words[words.size() - 1] = static_cast<uint64_t>(std::min(begin + grain, trips));
      run.trap_index = -1;
      const int32_t piece = TRY(exec::CallJudged(*code_.ranged, words, {}, run));
      if (piece == 0) continue;
      status = piece;
      op = run.trap_op;
      index = run.trap_index;
    }
    run.trap_op = op;
    run.trap_index = index;
    return status;
  }

  PiecesCode code_;
  bool whole_;
  std::shared_ptr<const ir::Program> program_;
  uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<exec::Callable> MakePiecesCallable(PiecesCode code,
                                                   std::shared_ptr<const ir::Program> program) {
  return std::make_unique<PiecesCallable>(std::move(code), false, std::move(program));
}

std::unique_ptr<exec::Callable> MakeWholeCallable(std::shared_ptr<const exec::NativeCode> ranged,
                                                  std::shared_ptr<const ir::Program> program) {
  PiecesCode code;
  code.ranged = std::move(ranged);
  return std::make_unique<PiecesCallable>(std::move(code), true, std::move(program));
}

}  // namespace frazil::aot
