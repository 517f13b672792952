// An interpreter as the fluid path: words to values, a run, values to words. Buffers are borrowed from the
// caller, so that both paths write the same memory.
#include "engine/fluid.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "exec/launch.h"
#include "exec/native_run.h"
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
// lifted. Null where it is not worth it (no
// lanes) or not to be had (types that the machine lacks, lanes that depend on each other).
std::shared_ptr<const targets::isa::TilePlan> PlanTiles(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  if (std::ranges::none_of(entry.insts,
                           [](const ir::Inst& inst) { return inst.op == ir::Op::Parallel; }))
    return nullptr;
  const Result<targets::isa::ProvedModule> module = targets::isa::ProvedModule::OfProgram(program);
  if (!module) return nullptr;
  Result<std::shared_ptr<const targets::isa::TilePlan>> plan = targets::isa::Prepare(*module);
  return plan && targets::isa::LaneByLane(**plan).empty() ? *plan : nullptr;
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
  auto range_of = [&](size_t i) {
    const uint64_t* at = words + first_word_[i];
    return std::pair(at[0], at[0] + at[1] * ir::BytesOf(params_[i].element()));
  };
  for (size_t i = 0; i < params_.size(); ++i) {
    if (!params_[i].is_buffer() || params_[i].access == ir::Access::In) continue;
    const auto [written, written_end] = range_of(i);
    for (size_t j = 0; j < params_.size(); ++j) {
      if (!params_[j].is_buffer() || params_[j].access == ir::Access::Out) continue;
      const auto [read, read_end] = range_of(j);
      if (std::max(written, read) < std::min(written_end, read_end)) return false;
    }
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

Result<std::unique_ptr<InterpreterFluid>> InterpreterFluid::Create(const ir::Program& source,
                                                                   const ir::Program& lowered,
                                                                   const Limits& limits) {
  std::unique_ptr<InterpreterFluid> fluid(
      new InterpreterFluid(TRY(exec::InterpreterProgram::Create(lowered)),
                           CallLayout(lowered.entry_function()), limits));
  if (HasTensors(source.entry_function())) fluid->source_ = source;
  fluid->tiles_ = PlanTiles(lowered);
  return fluid;
}

InterpreterFluid::InterpreterFluid(exec::InterpreterProgram program, CallLayout layout,
                                   const Limits& limits)
    : program_(std::move(program)), layout_(std::move(layout)), limits_(limits) {
  // Compiled code has no clock, and the two paths must not differ in what they answer.
  limits_.run_ms = UINT64_MAX;
}

void InterpreterFluid::SetRestart(
    std::function<int32_t(const uint64_t*, uint64_t*, exec::NativeRun*)> again) {
  again_ = std::move(again);
}

int32_t InterpreterFluid::Call(const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
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
  const std::vector<exec::Value> values = layout_.Values(arguments, /*copy=*/false);
  const Result<void> launch = source_ ? exec::CheckLoweredLaunch(*source_, values) : Result<void>();
  if (!launch) {
    last_launch_error = launch.error().ToString();
    return LaunchFailed;
  }
  Result<exec::Outcome> outcome =
      tiles_ ? targets::isa::Run(*tiles_, values, context) : program_.Run(values, context);
  if (!outcome) {
    last_launch_error = outcome.error().ToString();
    return LaunchFailed;
  }
  if (outcome->trap) {
    // Begun before the compiled form was there: nothing that the run has done is visible to a second one.
    if (outcome->trap->kind == ir::Trap::Fuel && context.stop == &interrupt_ && interrupt_.load()) {
      return again_(arguments, results, run);
    }
    if (run != nullptr) {
      run->trap_op = static_cast<uint32_t>(outcome->trap->op);
      run->trap_index = outcome->trap->index;
    }
    return 1 + static_cast<int32_t>(outcome->trap->kind);
  }
  for (const exec::Value& result : outcome->results) {
    for (const uint64_t word : result.scalar_words()) *results++ = word;
  }
  return 0;
}

const std::string& InterpreterFluid::LastLaunchError() { return last_launch_error; }

}  // namespace frazil::engine
