#include "verify/wasm/watched_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace frazil::verify::wasm {

WatchedModule::WatchedModule(Flow flow)
    : flow_(std::move(flow)), layout_(flow_), marks_(layout_.bytes()) {
  blocks_ = flow_.parts.blocks;
  branches_ = flow_.parts.branches;
  has_run_.resize(blocks_.size());
  was_taken_.resize(branches_.size());
}

Result<std::unique_ptr<WatchedModule>> WatchedModule::Load(const exec::Target& target,
                                                           const exec::Artifact& artifact) {
  const Module module = TRY(ReadModule(artifact.bytes));
  std::unique_ptr<WatchedModule> watched(new WatchedModule(ReadFlow(module)));
  // Not what the module says: one that should count fuel and forgets it has no place for it either.
  watched->metered_ = artifact.metered;
  exec::Artifact marked = artifact;
  marked.bytes = TRY(MakeMarked(artifact.bytes, module, watched->flow_));
  watched->callable_.callable = TRY(target.Load(marked));
  return watched;
}

Result<exec::Outcome> WatchedModule::Marked::Run(std::span<const exec::Value> arguments,
                                                 const exec::RunContext& context) {
  exec::RunContext own = context;
  own.marks = owner.marks_;
  // Some inputs so, some so, but each of them always alike.
  uint64_t sum = 0;
  for (const exec::Value& value : arguments)
    sum += value.memory != nullptr ? static_cast<uint64_t>(value.memory->length()) : value.word;
  own.squeezes_heap = sum % 2 == 0;
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
