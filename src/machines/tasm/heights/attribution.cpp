// Chains are a tree whose nodes are found by (parent, label); the last one found is remembered, since a line rarely
// leaves its label.
#include "machines/tasm/heights/attribution.h"

#include "machines/tasm/machine.h"

namespace frazil::machines::tasm {

Attribution::Attribution(const Program& program, const StaticRows* rows)
    : program_(program), static_rows_(rows) {
  const auto size = static_cast<uint32_t>(program.code.size());
  region_start_.push_back(0);
  for (const Label& label : program.labels)
    if (label.instruction > region_start_.back() && label.instruction < size)
      region_start_.push_back(label.instruction);
  calls_.resize(region_start_.size());
  region_of_.resize(size + 1);
  uint32_t region = 0;
  for (uint32_t i = 0; i <= size; ++i) {
    if (region + 1 < region_start_.size() && region_start_[region + 1] == i) ++region;
    region_of_[i] = region;
  }
  region_start_.push_back(size);
}

uint32_t Attribution::ChainOf(uint32_t region) {
  if (region == last_region_ && parent_ == last_parent_) return last_chain_;
  uint32_t parent = parent_;
  if (chains_.size() >= MaxChains && !index_.contains(uint64_t{parent} << 32 | region))
    parent = None;
  const uint64_t key = uint64_t{parent} << 32 | region;
  const auto [found, fresh] = index_.try_emplace(key, static_cast<uint32_t>(chains_.size()));
  if (fresh)
    chains_.push_back({parent, region, parent == None ? 0 : chains_[parent].depth + 1, {}});
  last_region_ = region;
  last_parent_ = parent_;
  last_chain_ = found->second;
  return last_chain_;
}

void Attribution::Call(uint32_t instruction, uint32_t target) {
  parents_.push_back(parent_);
  const uint32_t caller = ChainOf(region_of_[instruction]);
  if (chains_[caller].depth < MaxDepth) parent_ = caller;
  const uint32_t region = region_of_[target];
  if (target == region_start_[region]) ++calls_[region];
}

void Attribution::Return() {
  if (parents_.empty()) return;
  parent_ = parents_.back();
  parents_.pop_back();
}

void Attribution::Line(uint32_t first, uint32_t end) {
  while (first < end) {
    const uint32_t region = region_of_[first];
    const uint32_t piece_end = std::min(end, region_start_[region + 1]);
    const StaticRows& before = static_rows_[first];
    const StaticRows& after = static_rows_[piece_end];
    Rows& rows = RowsOf(region);
    rows[Table::Processor] += piece_end - first;
    rows[Table::JumpStack] += piece_end - first;
    rows[Table::OpStack] += after.op_stack - before.op_stack;
    rows[Table::Ram] += after.ram - before.ram;
    rows[Table::Hash] += after.hash - before.hash;
    first = piece_end;
  }
}

void Attribution::Finish(TraceResult& result) const {
  const size_t regions = calls_.size();
  std::vector<uint32_t> function_of(regions, None);
  const auto make = [&](uint32_t region) {
    if (function_of[region] != None) return;
    function_of[region] = static_cast<uint32_t>(result.functions.size());
    FunctionRows function;
    function.label = program_.LabelAt(region_start_[region]);
    function.calls = calls_[region];
    for (uint32_t i = region_start_[region]; i < region_start_[region + 1]; ++i)
      function.words += static_cast<uint64_t>(Info(program_.code[i].op).words());
    result.functions.push_back(std::move(function));
  };
  for (const Chain& chain : chains_) make(chain.region);
  for (uint32_t region = 0; region < regions; ++region)
    if (region_start_[region] < region_start_[region + 1]) make(region);

  for (const Chain& chain : chains_) {
    TraceResult::Frame frame{.chain = {}, .rows = chain.rows.profile};
    for (const Chain* at = &chain;; at = &chains_[at->parent]) {
      frame.chain.insert(frame.chain.begin(), function_of[at->region]);
      if (at->parent == None) break;
    }
    TableProfile& sum = result.functions[function_of[chain.region]].rows;
    for (size_t table = 0; table < TableCount; ++table)
      sum.heights[table] += chain.rows.profile.heights[table];
    result.frames.push_back(std::move(frame));
  }
}

}  // namespace frazil::machines::tasm
