#include "verify/wasm/watched_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "ir/lower/lower.h"
#include "verify/wasm/data.h"

namespace frazil::verify::wasm {
namespace {

StreamReads ReadsOf(const ir::Program& program) {
  StreamReads reads;
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      reads.input = reads.input || inst.op == ir::Op::Input;
      reads.hints = reads.hints || inst.op == ir::Op::Hint;
    }
  }
  return reads;
}

// Buffers that are one stay one.
std::vector<exec::Value> CopyOf(std::span<const exec::Value> arguments) {
  std::vector<exec::Value> copy(arguments.begin(), arguments.end());
  std::map<const exec::Memory*, std::shared_ptr<exec::Memory>> copies;
  for (exec::Value& value : copy) {
    if (value.memory == nullptr) continue;
    std::shared_ptr<exec::Memory>& memory = copies[value.memory.get()];
    if (memory == nullptr) {
      memory = std::make_shared<exec::Memory>(value.memory->element(), value.memory->length());
      std::ranges::copy_n(value.memory->data(), static_cast<int64_t>(memory->size_bytes()),
                          memory->data());
    }
    value.memory = memory;
  }
  return copy;
}

// How much memory is left may depend on where things lie. Fuel does not, where it is counted.
bool EndedAtLimit(const exec::Outcome& outcome) {
  if (!outcome.trap || !ir::IsLimit(outcome.trap->kind)) return false;
  return outcome.trap->kind != ir::Trap::Fuel || outcome.trap->timeout_ms;
}

}  // namespace

WatchedModule::WatchedModule(Flow flow)
    : flow_(std::move(flow)), layout_(flow_), marks_(layout_.bytes()) {
  blocks_ = flow_.parts.blocks;
  branches_ = flow_.parts.branches;
  has_run_.resize(blocks_.size());
  was_taken_.resize(branches_.size());
}

Result<std::unique_ptr<WatchedModule>> WatchedModule::Load(const ir::Program& program,
                                                           const exec::Target& target,
                                                           const exec::Artifact& artifact) {
  const Module module = TRY(ReadModule(artifact.bytes));
  // The copy may be a module where the bytes themselves are none.
  TRY(target.Load(artifact));
  const ir::Program lowered = TRY(ir::LowerForTarget(program));
  TRY_VOID(CheckData(module, lowered));
  std::unique_ptr<WatchedModule> watched(new WatchedModule(ReadFlow(module, ReadsOf(lowered))));
  // Not what the module says: one that should count fuel and forgets it has no place for it either.
  watched->metered_ = artifact.metered;
  exec::Artifact marked = artifact;
  marked.bytes = TRY(MakeMarked(artifact.bytes, module, watched->flow_));
  watched->callable_.callable = TRY(target.Load(marked));
  watched->callable_.has_layouts =
      std::ranges::any_of(module.global_names,
                          [](std::string_view name) { return name == "heap" || name == "output"; });
  return watched;
}

// Where scratch and output lie is the host's choice, and no answer may depend on it: as usual, and without room for the one
// or both. Each input meets all of them, so that a difference shows again.
Result<exec::Outcome> WatchedModule::Marked::Run(std::span<const exec::Value> arguments,
                                                 const exec::RunContext& context) {
  // Some inputs so, some so, but each of them always alike.
  uint64_t sum = 0;
  for (const exec::Value& value : arguments)
    sum += value.memory != nullptr ? static_cast<uint64_t>(value.memory->length()) : value.word;
  if (!has_layouts) return RunOnce(arguments, context, sum % 2 == 0);
  struct Answer {
    std::vector<exec::Value> after;
    exec::Outcome outcome;
  };
  std::vector<Answer> answers;
  for (int i = 0; i < 2; ++i) {  // two in a row have different layouts
    Answer answer{CopyOf(arguments), {}};
    answer.outcome = TRY(RunOnce(answer.after, context, /*squeezes_heap=*/false));
    if (EndedAtLimit(answer.outcome)) return std::move(answer.outcome);
    answers.push_back(std::move(answer));
  }
  exec::Outcome last = TRY(RunOnce(arguments, context, /*squeezes_heap=*/true));
  if (EndedAtLimit(last)) return last;
  for (const Answer& answer : answers)
    if (answer.outcome.trap != last.trap || answer.outcome.results != last.results ||
        answer.outcome.output != last.output || !std::ranges::equal(answer.after, arguments))
      return Fail(Diag::BadArtifact, "its answer depends on where scratch and output lie");
  return last;
}

Result<exec::Outcome> WatchedModule::Marked::RunOnce(std::span<const exec::Value> arguments,
                                                     const exec::RunContext& context,
                                                     bool squeezes_heap) {
  exec::RunContext own = context;
  own.marks = owner.marks_;
  own.squeezes_heap = squeezes_heap;
  std::ranges::fill(owner.marks_, std::byte{0});
  Result<exec::Outcome> outcome = callable->Run(arguments, own);
  if (outcome) owner.ReadMarks();
  return outcome;
}

void WatchedModule::ReadMarks() {
  const auto is_set = [&](size_t at) { return marks_[at] != std::byte{0}; };
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (is_set(layout_.BlockAt(i))) has_run_[i] = true;
  for (size_t i = 0; i < branches_.size(); ++i)
    if (is_set(layout_.WayAt(i))) was_taken_[i] = true;
  for (size_t i = 0; i < aims_.size(); ++i) {
    const size_t branch = aims_[i].branch;
    if (!is_set(layout_.WayAt(branch)) && !is_set(layout_.WayAt(branch) + 1)) continue;
    uint64_t distance = Far - 1;
    uint64_t numbers[3] = {};
    std::memcpy(numbers, marks_.data() + layout_.CompareAt(branch), sizeof numbers);
    if (const std::optional<Compare>& compare = flow_.compares[branch]; compare && numbers[2] != 0)
      distance =
          DistanceOf(branches_[branch], aims_[i].is_taken, compare->bits, numbers[0], numbers[1]);
    distances_[i] = std::min(distances_[i], distance);
  }
}

void WatchedModule::AimAt(std::vector<Aim> aims) {
  aims_ = std::move(aims);
  distances_.assign(aims_.size(), Far);
}

void WatchedModule::BackTo(const Mark& mark) {
  has_run_ = mark.has_run;
  was_taken_ = mark.was_taken;
}

std::string WatchedModule::PlaceText(uint32_t place) const {
  const auto block = std::ranges::lower_bound(blocks_, place, {}, &CodeBlock::begin);
  if (block == blocks_.end() || block->begin != place) return WatchedCode::PlaceText(place);
  return fmt::format("+{:#x} of function {}", place,
                     flow_.function_of_block[static_cast<size_t>(block - blocks_.begin())]);
}

}  // namespace frazil::verify::wasm
