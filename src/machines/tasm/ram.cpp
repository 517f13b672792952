// Pages behind the recent ones: open addressing, at most half full.
#include "machines/tasm/ram.h"

#include "base/number/goldilocks.h"

namespace frazil::machines::tasm {

uint64_t Ram::ReadElsewhere(uint64_t address) {
  const uint64_t key = address >> PageBits;
  if (found_ == nullptr) {
    const Page* page = Find(key);
    return page == nullptr ? 0 : page->words[address % PageWords];
  }
  Page* page = FindOrMake(key);
  if (((page->written | page->preset) >> (address % PageWords) & 1) == 0)
    Preset(address, goldilocks::FromUint64((*found_)(address)));
  return page->words[address % PageWords];
}

Ram::Page* Ram::Find(uint64_t key) {
  const size_t mask = table_.size() - 1;
  for (size_t slot = Slot(key);; slot = (slot + 1) & mask) {
    Page* page = table_[slot];
    if (page == nullptr) return nullptr;
    if (page->key != key) continue;
    Remember(page);
    return page;
  }
}

Ram::Page* Ram::FindOrMake(uint64_t key) {
  if (Page* page = Find(key)) return page;
  if (2 * (pages_.size() + 1) > table_.size()) Grow();
  pages_.push_back(std::make_unique<Page>());
  Page* page = pages_.back().get();
  page->key = key;
  const size_t mask = table_.size() - 1;
  size_t slot = Slot(key);
  while (table_[slot] != nullptr) slot = (slot + 1) & mask;
  table_[slot] = page;
  Remember(page);
  return page;
}

void Ram::Grow() {
  table_.assign(2 * table_.size(), nullptr);
  --shift_;
  const size_t mask = table_.size() - 1;
  for (const auto& page : pages_) {
    size_t slot = Slot(page->key);
    while (table_[slot] != nullptr) slot = (slot + 1) & mask;
    table_[slot] = page.get();
  }
}

std::unordered_map<uint64_t, uint64_t> Ram::Written() const {
  std::unordered_map<uint64_t, uint64_t> written;
  for (const auto& page : pages_)
    for (uint64_t i = 0; i < PageWords; ++i)
      if ((page->written >> i & 1) != 0)
        written.emplace((page->key << PageBits) + i, page->words[i]);
  return written;
}

}  // namespace frazil::machines::tasm
