// A writer is killed (SIGKILL) at 1,000 random moments. After each the store opens, and what it serves is whole and
// right. Syncing is on, as it is for users.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/test_store.h"

namespace frazil::store {
namespace {

constexpr uint64_t Keys = 6;
constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};

std::unique_ptr<Store> OpenSafely(const std::string& directory) {
  StoreOptions options;
  options.directory = directory;
  return Store::Open(options);
}

// Of 300 bytes to 200 KB, so that some need several writes.
size_t SizeOf(uint64_t number) { return 300 + (number % 3 == 0 ? 200'000 : number * 1000); }

// What the child does until it is killed; the kind says what it does besides writing entries.
[[noreturn]] void WriteForever(const std::string& directory, int kind, uint32_t seed, int started) {
  std::minstd_rand random(seed);
  auto store = OpenSafely(directory);
  if (write(started, "x", 1) != 1) _exit(1);
  for (;;) {
    const uint64_t number = random() % Keys;
    store->Put(KeyOf(number), SealedOf(FormOf(number, SizeOf(number)), store->key()));
    if (kind == 1) store->CollectGarbage(300'000, 90);
    if (kind == 2) store->AppendProfile(KeyOf(number).source_exact, {1, 10});
    if (kind == 3) store->Ban(Sha256Hex(fmt::format("{}", random() % 100)), "no reason");
    if (kind == 4) store->Remove(KeyOf(random() % Keys));
  }
}

struct Tally {
  int served = 0;      // entries that came back
  int unfinished = 0;  // kills in the middle of a write: a temporary file was left
};

void KillOnce(const std::string& directory, int round, uint32_t window_us, std::minstd_rand& random,
              Tally& tally) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) WriteForever(directory, round % 5, random(), ends[1]);
  close(ends[1]);
  char byte;
  // Every tenth is killed while it opens the store and makes the key.
  if (round % 10 != 9) {
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
  }
  usleep(random() % window_us);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);

  auto store = OpenSafely(directory);
  ASSERT_EQ(store->reason(), "");
  for (uint64_t number = 0; number < Keys; ++number) {
    auto found = store->FindVerified(KeyOf(number), Any);
    if (!found) continue;
    ++tally.served;
    ASSERT_EQ(**found, FormOf(number, SizeOf(number)));
  }
  // No refusal at all: a killed writer leaves old or new, never half. (A record whose content the collector took
  // just before it died is a plain miss too.)
  for (const auto& [reason, count] : store->stats().refused)
    EXPECT_EQ(reason, "content") << "round " << round;
  for (const auto& [exact, observed] : store->MergedProfiles())
    ASSERT_EQ(observed.ns, 10 * observed.calls);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.path().filename().string().starts_with(".tmp-")) {
      ++tally.unfinished;
      std::filesystem::remove(entry.path());
    }
}

// The window is the time in which a writer finishes a few entries.
void KillMany(const std::filesystem::path& parent, int rounds, uint32_t window_us, uint32_t seed) {
  std::minstd_rand random(seed);
  Tally tally;
  for (int fresh = 0; fresh < 10; ++fresh) {
    TempFolder folder(parent);
    for (int round = 0; round < rounds / 10; ++round) {
      KillOnce(folder.path(), round, window_us, random, tally);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(std::filesystem::file_size(folder / "key"), 32u);
  }
  EXPECT_GT(tally.served, rounds / 2);
  EXPECT_GT(tally.unfinished, rounds / 100);  // otherwise the kills missed what they were aimed at
}

TEST(StoreKilled, OnDisk) { KillMany(std::filesystem::temp_directory_path(), 300, 60'000, 1); }

TEST(StoreKilled, InMemory) {
  KillMany(std::filesystem::path(TempFolder().path()).parent_path(), 700, 3'000, 2);
}

}  // namespace
}  // namespace frazil::store
