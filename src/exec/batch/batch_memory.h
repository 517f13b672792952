// What a block of a parallel's iterations loads and stores. The block runs op by op, the iterations one after the other:
// loads read what was there before the block, stores are written down. At the end it is known whether an iteration loaded
// what it or an earlier one had stored by then. If none did, the stores are made in the order of the iterations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/batch/batch_run.h"
#include "exec/value.h"

namespace frazil::exec {

class BlockMemory {
 public:
  // `memories`: where the code's buffers lie now. False where two of them, one loaded and one stored, share bytes and are not
  // the same, which launches refuse.
  bool Bind(const ParallelCode& code, std::vector<Memory*> memories);

  uint64_t Length(uint32_t memory) const {
    return static_cast<uint64_t>(memories_[memory]->length());
  }
  // Lanes that are outside of the memory trap.
  void Load(uint32_t memory, const uint64_t* index, std::byte* result, Lanes& lanes);
  void Store(uint32_t memory, const uint64_t* index, const std::byte* values, Lanes& lanes);

  // Makes the stores and returns true, or drops them and returns false. Every lane got to the end.
  bool Finish();
  void Drop();

 private:
  // One run of a load or of a store, by its lanes.
  struct Record {
    uint32_t memory;
    uint32_t order;
    size_t begin, end;  // in the lists below
  };
  // What is loaded by one name and stored by another, or by the same.
  struct SameMemory {
    uint32_t loaded, stored;
  };

  Record* Note(uint32_t memory, const uint64_t* index, Lanes& lanes, std::vector<Record>& records);
  bool SawOwnStores();
  bool AreApart() const;
  void Make(const Record& record);
  void MakeInOrder();

  std::vector<Memory*> memories_;
  std::vector<SameMemory> same_;
  std::vector<bool> is_watched_;  // loads of it are written down

  std::vector<Record> loads_, stores_;
  std::vector<LaneIndex> lanes_;
  std::vector<uint64_t> elements_;
  std::vector<uint64_t> values_;  // of stores, at the same places
  std::vector<uint32_t> first_;   // SawOwnStores
  uint32_t order_ = 0;
  bool is_too_much_ = false;
};

}  // namespace frazil::exec
