// A map from numbers to terms in one array: facts are copied at every branch, which must not cost an allocation for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frazil::verify::tasm {

class FlatMap {
 public:
  struct Entry {
    uint64_t key = Free;
    uint32_t value = 0;
  };
  static constexpr uint64_t Free = ~uint64_t{0} - 1;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(uint64_t key) const { return find(key) != nullptr; }
  const uint32_t* find(uint64_t key) const {
    if (size_ == 0) return nullptr;
    const Entry& entry = entries_[Place(key)];
    return entry.key == key ? &entry.value : nullptr;
  }
  // False: the key is there already, and keeps its value.
  bool insert(uint64_t key, uint32_t value = 0) {
    if (contains(key)) return false;
    Put(key, value);
    return true;
  }
  void Put(uint64_t key, uint32_t value) {
    if ((size_ + 1) * 2 > entries_.size()) Grow();
    Entry& entry = entries_[Place(key)];
    if (entry.key != key) ++size_;
    entry = {key, value};
  }
  void clear() {
    entries_.clear();
    size_ = 0;
  }
  // All of them, in no order that means anything.
  std::vector<Entry> All() const {
    std::vector<Entry> all;
    all.reserve(size_);
    for (const Entry& entry : entries_) {
      if (entry.key != Free) all.push_back(entry);
    }
    return all;
  }
  template <class Test>
  void Keep(const Test& test) {
    bool whole = true;
    for (const Entry& entry : entries_) {
      if (entry.key != Free && !test(entry)) {
        whole = false;
        break;
      }
    }
    if (whole) return;
    const std::vector<Entry> all = All();
    const size_t room = entries_.size();
    entries_.assign(room, {});
    size_ = 0;
    for (const Entry& entry : all) {
      if (test(entry)) Put(entry.key, entry.value);
    }
  }

 private:
  size_t Place(uint64_t key) const {
    const size_t mask = entries_.size() - 1;
    size_t at = static_cast<size_t>((key * 0x9e37'79b9'7f4a'7c15u) >> 20) & mask;
    while (entries_[at].key != Free && entries_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void Grow() {
    const std::vector<Entry> all = All();
    const size_t room = entries_.empty() ? 16 : entries_.size() * 2;
    entries_.assign(room, {});
    for (const Entry& entry : all) entries_[Place(entry.key)] = entry;
  }

  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace frazil::verify::tasm
