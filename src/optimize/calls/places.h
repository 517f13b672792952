// Where tensors lie that live from one step to another: best fit in one arena.
#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace frazil::optimize {

class ArenaPlaces {
 public:
  explicit ArenaPlaces(uint64_t alignment) : alignment_(alignment) {}

  // The smallest gap that is large enough, else behind all others.
  uint64_t Take(uint64_t bytes);
  void GiveBack(uint64_t offset, uint64_t bytes);
  uint64_t size() const { return size_; }  // the most that was ever in use

 private:
  uint64_t Rounded(uint64_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  void Insert(uint64_t offset, uint64_t bytes);
  void Erase(std::map<uint64_t, uint64_t>::iterator gap);

  uint64_t alignment_;
  uint64_t size_ = 0;
  std::map<uint64_t, uint64_t> gaps_;                // by offset: bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  // the same
};

}  // namespace frazil::optimize
