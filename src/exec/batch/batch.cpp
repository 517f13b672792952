// The two ways of a batch: blocks of lanes through batch code, or lane by lane through the
// interpreter.
#include "exec/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "exec/batch/batch_run.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/meaning/scalar_meaning.h"

namespace frazil::exec {

struct BatchProgram::Impl {
  InterpreterProgram program;
  Limits limits;
  std::optional<BatchCode> code;
  std::string lane_by_lane;

  Result<void> RunBlocks(size_t lanes, std::span<const void* const> inputs,
                         std::span<void* const> outputs, std::span<uint8_t> traps,
                         std::span<uint8_t> ops) const;
  Result<void> RunLanes(size_t lanes, std::span<const void* const> inputs,
                        std::span<void* const> outputs, std::span<uint8_t> traps,
                        std::span<uint8_t> ops) const;
};

BatchProgram::BatchProgram(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BatchProgram::BatchProgram(BatchProgram&&) noexcept = default;
BatchProgram& BatchProgram::operator=(BatchProgram&&) noexcept = default;
BatchProgram::~BatchProgram() = default;

const std::string& BatchProgram::lane_by_lane() const { return impl_->lane_by_lane; }

Result<BatchProgram> BatchProgram::Create(const ir::Program& program, const Limits& limits) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (!entry.param_type(i).is_scalar())
      return Fail(Diag::Unsupported,
                  fmt::format("a batch takes scalars, but parameter {} is not one", i + 1));
  }
  for (ir::Type type : entry.results) {
    if (!type.is_scalar())
      return Fail(Diag::Unsupported, "a batch gives scalars, but a result is not one");
  }
  auto impl =
      std::make_unique<Impl>(Impl{TRY(InterpreterProgram::Create(program)), limits, {}, {}});
  Result<BatchCode> code = CompileBatch(impl->program.program());
  if (code) {
    impl->code = std::move(*code);
  } else {
    impl->lane_by_lane = code.error().message;
  }
  return BatchProgram(std::move(impl));
}

Result<void> BatchProgram::Run(size_t lanes, std::span<const void* const> inputs,
                               std::span<void* const> outputs, std::span<uint8_t> traps,
                               std::span<uint8_t> ops) const {
  const ir::Function& entry = impl_->program.program().entry_function();
  if (inputs.size() != entry.param_count() || outputs.size() != entry.results.size() ||
      traps.size() != lanes || (!ops.empty() && ops.size() != lanes))
    return Fail(Diag::WrongArgumentCount,
                fmt::format("@{} takes {} arrays and gives {}", entry.name, entry.param_count(),
                            entry.results.size()));
  return impl_->code ? impl_->RunBlocks(lanes, inputs, outputs, traps, ops)
                     : impl_->RunLanes(lanes, inputs, outputs, traps, ops);
}

Result<void> BatchProgram::Impl::RunBlocks(size_t lanes, std::span<const void* const> inputs,
                                           std::span<void* const> outputs, std::span<uint8_t> traps,
                                           std::span<uint8_t> ops) const {
  const ir::Function& entry = program.program().entry_function();
  BatchRunner runner(*code, limits);
  std::vector<const std::byte*> from(inputs.size());
  std::vector<std::byte*> to(outputs.size());
  for (size_t start = 0; start < lanes; start += BlockLanes) {
    for (uint32_t i = 0; i < inputs.size(); ++i)
      from[i] = static_cast<const std::byte*>(inputs[i]) + start * ir::BytesOf(entry.param_type(i));
    for (uint32_t i = 0; i < outputs.size(); ++i)
      to[i] = static_cast<std::byte*>(outputs[i]) + start * ir::BytesOf(entry.results[i]);
    runner.Run(std::min(BlockLanes, lanes - start), from, to, traps.data() + start,
               ops.empty() ? nullptr : ops.data() + start);
  }
  return {};
}

Result<void> BatchProgram::Impl::RunLanes(size_t lanes, std::span<const void* const> inputs,
                                          std::span<void* const> outputs, std::span<uint8_t> traps,
                                          std::span<uint8_t> ops) const {
  const ir::Function& entry = program.program().entry_function();
  const int64_t length = static_cast<int64_t>(lanes);
  std::vector<Memory> from;
  std::vector<Memory> to;
  // Inputs are only read.
  for (uint32_t i = 0; i < inputs.size(); ++i)
    from.emplace_back(entry.param_type(i), length, const_cast<void*>(inputs[i]));
  for (uint32_t i = 0; i < outputs.size(); ++i)
    to.emplace_back(entry.results[i], length, outputs[i]);
  RunContext context;
  context.limits = limits;
  std::vector<uint64_t> words(ir::MaxLimbs);
  std::vector<Value> arguments(inputs.size());
  for (int64_t lane = 0; lane < length; ++lane) {
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const ir::Type type = entry.param_type(i);
      from[i].Get(lane, words);
      arguments[i] = Value::Scalar(type, std::span(words).first(ir::WordsOf(type)));
    }
    const Outcome outcome = TRY(program.Run(arguments, context));
    traps[static_cast<size_t>(lane)] = outcome.trap ? meaning::CodeOf(outcome.trap->kind) : 0;
    if (!ops.empty() && outcome.trap)
      ops[static_cast<size_t>(lane)] = static_cast<uint8_t>(outcome.trap->op);
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      std::ranges::fill(words, 0);
      if (!outcome.trap) std::ranges::copy(outcome.results[i].scalar_words(), words.begin());
      to[i].Set(lane, words);
    }
  }
  return {};
}

}  // namespace frazil::exec
