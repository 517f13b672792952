// The machine's memory: any of p addresses, most of them never touched. Pages of 64 words in a hash table, with a
// small direct-mapped table of recent pages in front, because programs walk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace frazil::machines::tasm {

class Ram {
 public:
  static constexpr int PageBits = 6;
  static constexpr uint64_t PageWords = uint64_t{1} << PageBits;

  uint64_t Read(uint64_t address) {
    const uint64_t key = address >> PageBits;
    const Recent& recent = recent_[key % recent_.size()];
    if (recent.key == key) [[likely]]
      return recent.page->words[address % PageWords];
    return ReadElsewhere(address);
  }

  void Write(uint64_t address, uint64_t value) {
    const uint64_t key = address >> PageBits;
    const Recent& recent = recent_[key % recent_.size()];
    Page* page = recent.key == key ? recent.page : FindOrMake(key);
    page->words[address % PageWords] = value;
    page->written |= uint64_t{1} << (address % PageWords);
  }

  // What the prover put there: not counted as written.
  void Preset(uint64_t address, uint64_t value) {
    Page* page = FindOrMake(address >> PageBits);
    page->words[address % PageWords] = value;
    page->preset |= uint64_t{1} << (address % PageWords);
  }

  // From now on a word that is read before it was preset or written is asked for, once; without this it is 0. Pages are
  // then never recent, so that every read comes by where the question is asked. Outlives the memory.
  void AskFor(const std::function<uint64_t(uint64_t address)>* found) { found_ = found; }

  uint64_t words() const { return pages_.size() * (PageWords + 4); }
  std::unordered_map<uint64_t, uint64_t> Written() const;

 private:
  struct Page {
    std::array<uint64_t, PageWords> words{};
    uint64_t written = 0, preset = 0;
    uint64_t key = 0;
  };
  struct Recent {
    uint64_t key = ~uint64_t{0};  // no page: keys have 58 bits
    Page* page = nullptr;
  };

  size_t Slot(uint64_t key) const { return (key * 0x9e37'79b9'7f4a'7c15u) >> shift_; }
  uint64_t ReadElsewhere(uint64_t address);
  void Remember(Page* page) {
    if (found_ == nullptr) recent_[page->key % recent_.size()] = {page->key, page};
  }
  Page* Find(uint64_t key);
  Page* FindOrMake(uint64_t key);
  void Grow();

  std::array<Recent, 64> recent_{};
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Page*> table_ = std::vector<Page*>(64);
  int shift_ = 64 - 6;
  const std::function<uint64_t(uint64_t)>* found_ = nullptr;
};

}  // namespace frazil::machines::tasm
