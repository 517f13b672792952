// Who caused which rows: by label, and by chain of calls. Private to this folder.
//
// An instruction belongs to the label above it. A chain is the labels from which the calls on the jump stack were
// made, and the label that is running; code that falls through into the next label changes only the last one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

struct StaticRows;

class Attribution {
 public:
  Attribution(const Program& program, const StaticRows* rows);

  void Call(uint32_t instruction, uint32_t target);
  void Return();
  void Line(uint32_t first, uint32_t end);  // these instructions ran
  void Add(uint32_t instruction, Table table, uint64_t rows) {
    RowsOf(region_of_[instruction])[table] += rows;
  }
  void Finish(TraceResult& result) const;

 private:
  static constexpr uint32_t None = UINT32_MAX;
  // Deeper calls are counted where they were made, so that a deep recursion has few chains.
  static constexpr uint32_t MaxDepth = 64;
  // With more chains than this, new ones lose their callers: what is left is one for each label.
  static constexpr size_t MaxChains = 100'000;

  struct Rows {
    TableProfile profile;
    uint64_t& operator[](Table table) { return profile.heights[static_cast<size_t>(table)]; }
  };
  struct Chain {
    uint32_t parent;
    uint32_t region;
    uint32_t depth;
    Rows rows;
  };

  uint32_t ChainOf(uint32_t region);
  Rows& RowsOf(uint32_t region) { return chains_[ChainOf(region)].rows; }

  const Program& program_;
  const StaticRows* static_rows_;
  std::vector<uint32_t> region_of_;     // of each instruction, and of the end
  std::vector<uint32_t> region_start_;  // first instruction of each region, and of the end
  std::vector<uint64_t> calls_;         // of each region
  std::vector<Chain> chains_;
  std::unordered_map<uint64_t, uint32_t> index_;
  std::vector<uint32_t> parents_;  // of the callers
  uint32_t parent_ = None;
  uint32_t last_region_ = None, last_parent_ = None, last_chain_ = None;
};

}  // namespace frazil::machines::tasm
