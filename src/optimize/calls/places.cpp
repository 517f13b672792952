#include "optimize/calls/places.h"

#include <iterator>

namespace frazil::optimize {

void ArenaPlaces::Insert(uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  gaps_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void ArenaPlaces::Erase(std::map<uint64_t, uint64_t>::iterator gap) {
  by_size_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

uint64_t ArenaPlaces::Take(uint64_t bytes) {
  bytes = Rounded(bytes);
  if (bytes == 0) return 0;
  const auto fit = by_size_.lower_bound({bytes, 0});
  if (fit != by_size_.end()) {
    const auto [room, offset] = *fit;
    Erase(gaps_.find(offset));
    Insert(offset + bytes, room - bytes);
    return offset;
  }
  // A gap at the end grows.
  uint64_t offset = size_;
  if (!gaps_.empty()) {
    const auto last = std::prev(gaps_.end());
    if (last->first + last->second == size_) {
      offset = last->first;
      Erase(last);
    }
  }
  size_ = offset + bytes;
  return offset;
}

void ArenaPlaces::GiveBack(uint64_t offset, uint64_t bytes) {
  bytes = Rounded(bytes);
  if (bytes == 0) return;
  const auto after = gaps_.lower_bound(offset);
  if (after != gaps_.end() && after->first == offset + bytes) {
    bytes += after->second;
    Erase(after);
  }
  const auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      Erase(before);
    }
  }
  Insert(offset, bytes);
}

}  // namespace frazil::optimize
