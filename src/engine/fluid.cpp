// An interpreter as the fluid path. Tiles take the words of a call as they are; the reference interpreter takes values, and
// a call that the launch rules may refuse becomes values too, because those rules say what is wrong with it. Buffers are
// borrowed from the caller, so that all paths write the same memory.
#include "engine/fluid.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "exec/launch.h"
#include "exec/native/native_run.h"
#include "ir/lower/lower.h"
#include "targets/isa/isa.h"

namespace frazil::engine {
namespace {

thread_local std::string last_launch_error;

std::shared_ptr<exec::Memory> CopyOf(const exec::Memory& memory) {
  auto copy = std::make_shared<exec::Memory>(memory.element(), memory.length());
  std::copy_n(memory.data(), memory.size_bytes(), copy->data());
  return copy;
}

// Tier 1 needs no compiler and no test: the module, lifted back, must be the program, and the plan is made of what was
// lifted. Also without lanes: making it takes 8 to 17 us longer than making the reference interpreter ready, and a call a
// half to a fifth of the time (measured). Null where it is not to be had (types that the machine lacks, lanes that depend
// on each other).
std::shared_ptr<const targets::tiles::TilePlan> PlanTiles(
    const std::shared_ptr<const ir::SignedProgram>& program) {
  const Result<targets::isa::ProvedModule> module = targets::isa::ProvedModule::OfProgram(program);
  if (!module) return nullptr;
  Result<std::shared_ptr<const targets::tiles::TilePlan>> plan = targets::tiles::Prepare(*module);
  return plan && targets::tiles::LaneByLane(**plan).empty() ? *plan : nullptr;
}

bool HasTensors(const ir::Function& entry) {
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    if (entry.param_type(i).is_tensor()) return true;
  return std::ranges::any_of(entry.results, [](ir::Type type) { return type.is_tensor(); });
}

}  // namespace

bool UsesStreams(const ir::Program& program) {
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (ir::Info(inst.op).effect == ir::Effect::Io) return true;
    }
  }
  return false;
}

CallLayout::CallLayout(const ir::Function& entry) : results_(entry.results) {
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    params_.push_back(type);
    first_word_.push_back(argument_words_);
    argument_words_ += type.is_buffer() ? 2 : ir::WordsOf(type);
  }
  for (const ir::Type type : results_) result_words_ += ir::WordsOf(type);
}

std::vector<exec::Value> CallLayout::Values(const uint64_t* words, bool copy) const {
  std::vector<exec::Value> values;
  values.reserve(params_.size());
  // Identical buffers stay identical in a copy.
  std::vector<std::pair<uint64_t, std::shared_ptr<exec::Memory>>> seen;
  for (size_t i = 0; i < params_.size(); ++i) {
    const uint64_t* at = words + first_word_[i];
    if (!params_[i].is_buffer()) {
      values.push_back(exec::Value::Scalar(params_[i], {at, ir::WordsOf(params_[i])}));
      continue;
    }
    const auto length = static_cast<int64_t>(at[1]);
    auto same = std::ranges::find_if(seen, [&](const auto& entry) {
      return entry.first == at[0] && entry.second->length() == length &&
             entry.second->element() == params_[i].element();
    });
    if (same == seen.end() || length == 0) {
      auto memory = std::make_shared<exec::Memory>(params_[i].element(), length,
                                                   reinterpret_cast<void*>(at[0]));
      seen.emplace_back(at[0], copy ? CopyOf(*memory) : memory);
      same = std::prev(seen.end());
    }
    exec::Value value = exec::Value::Buffer(same->second);
    value.type = params_[i];
    values.push_back(std::move(value));
  }
  return values;
}

bool CallLayout::MayBeginAgain(const uint64_t* words) const {
  struct Piece {
    uint64_t begin, end;
    bool is_written;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < params_.size(); ++i) {
    const uint64_t* at = words + first_word_[i];
    if (!params_[i].is_buffer() || at[1] == 0) continue;
    if (params_[i].access == ir::Access::InOut) return false;
    pieces.push_back({at[0], at[0] + at[1] * ir::BytesOf(params_[i].element()),
                      params_[i].access == ir::Access::Out});
  }
  // In the order of their beginnings: one overlaps an earlier one if that ends behind its beginning.
  std::ranges::sort(pieces, {}, &Piece::begin);
  uint64_t end_of_written = 0, end_of_read = 0;
  for (const Piece& piece : pieces) {
    if (piece.begin < (piece.is_written ? end_of_read : end_of_written)) return false;
    uint64_t& end = piece.is_written ? end_of_written : end_of_read;
    end = std::max(end, piece.end);
  }
  return true;
}

uint64_t CallLayout::BufferBytes(const uint64_t* words) const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].is_buffer())
      bytes += words[first_word_[i] + 1] * ir::BytesOf(params_[i].element());
  }
  return bytes;
}

std::vector<uint64_t> CallLayout::Words(std::span<const exec::Value> values) const {
  std::vector<uint64_t> words;
  words.reserve(argument_words_);
  for (const exec::Value& value : values) {
    if (value.memory != nullptr) {
      words.push_back(reinterpret_cast<uint64_t>(value.memory->data()));
      words.push_back(static_cast<uint64_t>(value.memory->length()));
    } else {
      std::ranges::copy(value.scalar_words(), std::back_inserter(words));
    }
  }
  return words;
}

Result<std::unique_ptr<InterpreterFluid>> InterpreterFluid::Create(
    std::shared_ptr<const ir::SignedProgram> source, const Limits& limits) {
  std::shared_ptr<const ir::SignedProgram> lowered = source;
  if (ir::HasTensors(source->program()))
    lowered = ir::SignedProgram::Of(TRY(ir::LowerTensors(source->program())));
  std::unique_ptr<InterpreterFluid> fluid(
      new InterpreterFluid(std::move(source), lowered->shared(), limits));
  if (limits.fuel >= targets::tiles::LeastFuel) fluid->tiles_ = PlanTiles(lowered);
  if (fluid->tiles_ != nullptr) {
    fluid->call_depth_ = targets::isa::CallDepth(lowered->program());
    return fluid;
  }
  fluid->interpreter_once_.Call([] {});
  fluid->interpreter_ = TRY(exec::InterpreterProgram::Create(lowered->program()));
  return fluid;
}

InterpreterFluid::InterpreterFluid(std::shared_ptr<const ir::SignedProgram> source,
                                   std::shared_ptr<const ir::Program> lowered, const Limits& limits)
    : source_(std::move(source)),
      lowered_(std::move(lowered)),
      has_tensors_(HasTensors(source_->program().entry_function())),
      layout_(lowered_->entry_function()),
      limits_(limits),
      launch_(*lowered_) {
  if (has_tensors_) source_launch_.emplace(source_->program());
  // Compiled code has no clock, and the two paths must not differ in what they answer.
  limits_.run_ms = UINT64_MAX;
}

// A program that has tiles is one that can be interpreted.
const exec::InterpreterProgram& InterpreterFluid::interpreter() const {
  interpreter_once_.Call([&] {
    Result<exec::InterpreterProgram> made = exec::InterpreterProgram::Create(*lowered_);
    CHECK(made.has_value());
    interpreter_ = std::move(*made);
  });
  return *interpreter_;
}

void InterpreterFluid::SetRestart(
    std::function<int32_t(const uint64_t*, uint64_t*, exec::NativeRun*)> again) {
  again_ = std::move(again);
}

exec::RunContext InterpreterFluid::ContextOf(const uint64_t* arguments,
                                             const exec::NativeRun* run) const {
  exec::RunContext context;
  context.limits = limits_;
  if (run != nullptr) {
    // The caller's own limits, as compiled code obeys them. Fuel is not counted in a call site.
    static_assert(sizeof(std::atomic<bool>) == 1);
    context.stop = reinterpret_cast<const std::atomic<bool>*>(run->stop);
    context.limits.depth = run->depth_left;
    context.limits.memory_bytes = run->memory_left;
  } else if (again_ && !interrupt_.load(std::memory_order_relaxed) &&
             layout_.MayBeginAgain(arguments)) {
    context.stop = &interrupt_;
  }
  return context;
}

// Where calls may reach the limit of depth, they are made: tiles have them inlined.
bool InterpreterFluid::MayUseTiles(const exec::NativeRun* run) const {
  return tiles_ != nullptr && (run != nullptr ? run->depth_left : limits_.depth) >= call_depth_;
}

int32_t InterpreterFluid::Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
  if (!MayUseTiles(run) || !launch_.Holds(arguments) ||
      (source_launch_ && !source_launch_->Holds(arguments)))
    return CallWithValues(arguments, results, run);
  if (targets::tiles::RunAtOnce(*tiles_, arguments, results)) return 0;
  const exec::RunContext context = ContextOf(arguments, run);
  targets::tiles::TileRun tile_run{.context = &context};
  if (targets::tiles::RunWords(*tiles_, arguments, results, tile_run) == 0) return 0;
  return Trapped(tile_run.trap, context, arguments, results, run);
}

int32_t InterpreterFluid::CallWithValues(const uint64_t* arguments, uint64_t* results,
                                         exec::NativeRun* run) {
  const exec::RunContext context = ContextOf(arguments, run);
  const std::vector<exec::Value> values = layout_.Values(arguments, /*copy=*/false);
  const Result<void> launch =
      has_tensors_ ? exec::CheckLoweredLaunch(source_->program(), values) : Result<void>();
  if (!launch) {
    last_launch_error = launch.error().ToString();
    return LaunchFailed;
  }
  Result<exec::Outcome> outcome = MayUseTiles(run) ? targets::tiles::Run(*tiles_, values, context)
                                                   : interpreter().Run(values, context);
  if (!outcome) {
    last_launch_error = outcome.error().ToString();
    return LaunchFailed;
  }
  if (outcome->trap) return Trapped(*outcome->trap, context, arguments, results, run);
  for (const exec::Value& result : outcome->results) {
    for (const uint64_t word : result.scalar_words()) *results++ = word;
  }
  return 0;
}

int32_t InterpreterFluid::Trapped(const exec::TrapInfo& trap, const exec::RunContext& context,
                                  const uint64_t* arguments, uint64_t* results,
                                  exec::NativeRun* run) {
  // Begun before the compiled form was there: nothing that the run has done is visible to a second one.
  if (trap.kind == ir::Trap::Fuel && context.stop == &interrupt_ && interrupt_.load())
    return again_(arguments, results, run);
  if (run != nullptr) {
    run->trap_op = static_cast<uint32_t>(trap.op);
    run->trap_index = trap.index;
  }
  return 1 + static_cast<int32_t>(trap.kind);
}

const std::string& InterpreterFluid::LastLaunchError() { return last_launch_error; }

}  // namespace frazil::engine
