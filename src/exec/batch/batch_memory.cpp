// See the header. An iteration and the order within it are one number, so that "stored by then" is one comparison.
#include "exec/batch/batch_memory.h"

#include <algorithm>
#include <cstring>

#include "exec/meaning/scalar_types.h"

namespace frazil::exec {
namespace {

// A block that writes down more than this, or spreads over more elements, runs lane by lane instead.
constexpr size_t MostElements = size_t{1} << 20;
constexpr uint64_t WidestSpread = 64 * BlockLanes;
constexpr uint32_t MostRecords = 65535;

uint32_t MomentOf(LaneIndex lane, uint32_t order) { return uint32_t{lane} << 16 | order; }

bool ShareBytes(const Memory& a, const Memory& b) {
  return a.data() < b.data() + b.size_bytes() && b.data() < a.data() + a.size_bytes();
}

}  // namespace

bool BlockMemory::Bind(const ParallelCode& code, std::vector<Memory*> memories) {
  memories_ = std::move(memories);
  same_.clear();
  is_watched_.assign(memories_.size(), false);
  for (uint32_t loaded = 0; loaded < memories_.size(); ++loaded) {
    for (uint32_t stored = 0; stored < memories_.size(); ++stored) {
      if (!code.memories[loaded].is_loaded || !code.memories[stored].is_stored) continue;
      const Memory& from = *memories_[loaded];
      const Memory& to = *memories_[stored];
      if (!ShareBytes(from, to)) continue;
      if (from.data() != to.data() || from.element() != to.element()) return false;
      same_.push_back({loaded, stored});
      is_watched_[loaded] = true;
    }
  }
  Drop();
  return true;
}

void BlockMemory::Drop() {
  loads_.clear();
  stores_.clear();
  lanes_.clear();
  elements_.clear();
  values_.clear();
  order_ = 0;
  is_too_much_ = false;
}

// Where the record is; null if there is no room, and then the lanes need not go on.
BlockMemory::Record* BlockMemory::Note(uint32_t memory, const uint64_t* index, Lanes& lanes,
                                       std::vector<Record>& records) {
  if (order_ >= MostRecords || elements_.size() + lanes.count > MostElements) {
    is_too_much_ = true;
    for (size_t i = 0; i < lanes.count; ++i) {
      if (lanes.traps[i] == 0) lanes.traps[i] = meaning::CodeOf(ir::Trap::Fuel);
    }
    return nullptr;
  }
  const size_t begin = elements_.size();
  elements_.insert(elements_.end(), index, index + lanes.count);
  lanes_.insert(lanes_.end(), lanes.ids, lanes.ids + lanes.count);
  values_.resize(elements_.size());
  return &records.emplace_back(memory, order_++, begin, elements_.size());
}

void BlockMemory::Load(uint32_t memory, const uint64_t* index, std::byte* result, Lanes& lanes) {
  const uint64_t length = Length(memory);
  const std::byte* data = memories_[memory]->data();
  bool are_neighbors = true;
  for (size_t i = 0; i < lanes.count; ++i) {
    if (index[i] >= length && lanes.traps[i] == 0)
      lanes.traps[i] = meaning::CodeOf(ir::Trap::OutOfBounds);
    are_neighbors &= index[i] == index[0] + i && index[i] < length;
  }
  WithWidth(ir::BytesOf(memories_[memory]->element()), [&](auto width) {
    using T = decltype(width);
    T* to = reinterpret_cast<T*>(result);
    if (are_neighbors) {
      std::memcpy(to, data + index[0] * sizeof(T), lanes.count * sizeof(T));
      return;
    }
    for (size_t i = 0; i < lanes.count; ++i) {
      to[i] = T{0};
      // The caller's memory need not be aligned.
      if (index[i] < length) std::memcpy(&to[i], data + index[i] * sizeof(T), sizeof(T));
    }
  });
  if (is_watched_[memory]) Note(memory, index, lanes, loads_);
}

void BlockMemory::Store(uint32_t memory, const uint64_t* index, const std::byte* values,
                        Lanes& lanes) {
  const uint64_t length = Length(memory);
  for (size_t i = 0; i < lanes.count; ++i) {
    if (index[i] >= length && lanes.traps[i] == 0)
      lanes.traps[i] = meaning::CodeOf(ir::Trap::OutOfBounds);
  }
  const Record* record = Note(memory, index, lanes, stores_);
  if (record == nullptr) return;
  WithWidth(ir::BytesOf(memories_[memory]->element()), [&](auto width) {
    using T = decltype(width);
    const T* from = reinterpret_cast<const T*>(values);
    for (size_t i = 0; i < lanes.count; ++i) values_[record->begin + i] = from[i];
  });
}

// For each element the first moment in which it is stored, then every load against it.
bool BlockMemory::SawOwnStores() {
  for (uint32_t stored = 0; stored < memories_.size(); ++stored) {
    if (std::ranges::find(same_, stored, &SameMemory::stored) == same_.end()) continue;
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    for (const Record& store : stores_) {
      if (store.memory != stored) continue;
      for (size_t i = store.begin; i < store.end; ++i) {
        least = std::min(least, elements_[i]);
        most = std::max(most, elements_[i]);
      }
    }
    if (least > most) continue;
    if (most - least >= WidestSpread) return true;
    first_.assign(most - least + 1, UINT32_MAX);
    for (const Record& store : stores_) {
      if (store.memory != stored) continue;
      for (size_t i = store.begin; i < store.end; ++i) {
        uint32_t& first = first_[elements_[i] - least];
        first = std::min(first, MomentOf(lanes_[i], store.order));
      }
    }
    for (const SameMemory& same : same_) {
      if (same.stored != stored) continue;
      for (const Record& load : loads_) {
        if (load.memory != same.loaded) continue;
        for (size_t i = load.begin; i < load.end; ++i) {
          // Outside of what was stored it is a huge number.
          const uint64_t place = elements_[i] - least;
          if (place < first_.size() && first_[place] < MomentOf(lanes_[i], load.order)) return true;
        }
      }
    }
  }
  return false;
}

// No two runs of stores meet, so each can be made by itself: its lanes ascend.
bool BlockMemory::AreApart() const {
  for (size_t a = 0; a < stores_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (a >= 4 || ShareBytes(*memories_[stores_[a].memory], *memories_[stores_[b].memory]))
        return false;
    }
  }
  return true;
}

void BlockMemory::Make(const Record& record) {
  Memory& memory = *memories_[record.memory];
  WithWidth(ir::BytesOf(memory.element()), [&](auto width) {
    using T = decltype(width);
    for (size_t i = record.begin; i < record.end; ++i) {
      const T value = static_cast<T>(values_[i]);
      std::memcpy(memory.data() + elements_[i] * sizeof(T), &value, sizeof(T));
    }
  });
}

void BlockMemory::MakeInOrder() {
  struct Place {
    uint32_t moment;
    const Record* record;
    size_t at;
  };
  std::vector<Place> places;
  places.reserve(elements_.size());
  for (const Record& record : stores_) {
    for (size_t i = record.begin; i < record.end; ++i)
      places.push_back({MomentOf(lanes_[i], record.order), &record, i});
  }
  std::ranges::sort(places, {}, &Place::moment);
  for (const Place& place : places)
    memories_[place.record->memory]->Set(static_cast<int64_t>(elements_[place.at]),
                                         std::span(&values_[place.at], 1));
}

bool BlockMemory::Finish() {
  const bool counts = !is_too_much_ && !SawOwnStores();
  if (counts && AreApart()) {
    for (const Record& record : stores_) Make(record);
  } else if (counts) {
    MakeInOrder();
  }
  Drop();
  return counts;
}

}  // namespace frazil::exec
