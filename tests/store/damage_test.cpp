// 1,000 random damages to a store of sealed forms: bits, lengths, whole files. Whatever is served afterwards is
// exactly what was kept; the rest is a miss.
#include <gtest/gtest.h>

#include <algorithm>

#include "store/test_store.h"

namespace frazil::store {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t Entries = 60;
constexpr int Rounds = 1000;

using Files = std::map<std::string, std::string>;

Files Snapshot(const std::string& directory) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) files[entry.path()] = ReadAll(entry.path());
  return files;
}

std::string Damaged(const std::string& bytes, const std::string& other, std::minstd_rand& random) {
  std::string damaged = bytes;
  const size_t at = bytes.empty() ? 0 : random() % bytes.size();
  switch (random() % 8) {
    case 0: damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8)); break;
    case 1: damaged.resize(at); break;
    case 2: damaged.clear(); break;
    case 3: damaged.append(1 + random() % 100, static_cast<char>(random())); break;
    case 4: std::fill(damaged.begin() + static_cast<ptrdiff_t>(at), damaged.end(), '\0'); break;
    case 5: damaged = other; break;
    case 6: damaged.erase(at, 1 + random() % 8); break;
    default: damaged = bytes.substr(0, at) + other.substr(std::min(at, other.size())); break;
  }
  return damaged;
}

TEST(StoreDamaged, ServesOnlyWhatWasKept) {
  TempFolder folder;
  auto writer = OpenQuickly(folder.path());
  for (uint64_t i = 0; i < Entries; ++i)
    ASSERT_TRUE(writer->Put(KeyOf(i), SealedOf(FormOf(i), writer->key())));
  const Files good = Snapshot(folder.path());
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : good) paths.push_back(path);
  std::minstd_rand random(7);
  std::map<std::string, uint64_t> refused;
  int changed = 0, served = 0;
  for (int round = 0; round < Rounds; ++round) {
    // The key file is damaged now and then: everything is foreign then.
    const bool key_too = round % 50 == 0;
    std::vector<std::string> touched;
    for (int i = 0; i < 1 + round % 5; ++i) {
      const std::string path = key_too ? folder / "key" : paths[random() % paths.size()];
      const std::string bytes =
          Damaged(good.at(path), good.at(paths[random() % paths.size()]), random);
      changed += bytes != good.at(path);
      WriteAll(path, bytes);
      touched.push_back(path);
    }
    auto store = OpenQuickly(folder.path());
    EXPECT_EQ(store->reason(), "");
    for (uint64_t i = 0; i < Entries; ++i) {
      auto found = store->FindVerified(KeyOf(i), {});
      if (!found) continue;
      ++served;
      ASSERT_EQ(**found, FormOf(i)) << "round " << round;
    }
    for (const auto& [reason, count] : store->stats().refused) refused[reason] += count;
    if (round % 100 == 0) {
      store->Audit();
      store->List();
    }
    for (const auto& [path, bytes] : good)
      if (!fs::exists(path) || std::find(touched.begin(), touched.end(), path) != touched.end()) {
        WriteAll(path, bytes);
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
      }
  }
  EXPECT_GT(changed, Rounds);
  EXPECT_GT(served, Rounds * static_cast<int>(Entries) / 2);
  for (const char* reason : {"truncated", "magic", "digest", "key", "kind", "mac"})
    EXPECT_GT(refused[reason], 0u) << reason;
}

}  // namespace
}  // namespace frazil::store
