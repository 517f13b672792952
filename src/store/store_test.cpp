// One store at a time: what is kept is found, what is wrong is a miss with its reason, and a directory in any state
// gives a store.
#include "store/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "store/format.h"
#include "store/test_store.h"

namespace frazil::store {
namespace {

namespace fs = std::filesystem;

constexpr verify::Policy Any = {verify::Grade::None, verify::Grade::None};

uint64_t Refused(const Store& store, const std::string& reason) {
  const StoreStats stats = store.stats();
  auto found = stats.refused.find(reason);
  return found == stats.refused.end() ? 0 : found->second;
}

void SetAge(const std::string& path, int64_t days) {
  timespec times[2] = {{time(nullptr) - days * 24 * 3600, 0},
                       {time(nullptr) - days * 24 * 3600, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
}

// Runs a body as another user where we are root; false: we are not, or the body failed.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(Store, ReproducersGoWhereNobodyLeadsThem) {
  TempFolder folder;
  const std::string victim = folder / "victim";
  fs::create_directory(victim);
  WriteAll(victim + "/file", "precious");
  auto store = OpenQuickly(folder / "store");
  const std::string home = folder / "store/reproducers";

  // A folder that is a symlink, or that others may write to.
  fs::create_symlink(victim, home);
  EXPECT_EQ(store->WriteReproducer("name", "text"), std::nullopt);
  EXPECT_EQ(Refused(*store, "symlink"), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(victim), {}), 1);
  fs::remove(home);
  fs::create_directory(home);
  fs::permissions(home, fs::perms::all);
  EXPECT_EQ(store->WriteReproducer("name", "text"), std::nullopt);
  fs::remove(home);

  // Names that are taken: by a file, by a symlink to one, by a symlink to nothing.
  EXPECT_EQ(store->WriteReproducer("name", "first"), home + "/name.txt");
  struct stat status;
  ASSERT_EQ(stat(home.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((home + "/name.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  fs::create_symlink(victim + "/file", home + "/name-2.txt");
  fs::create_symlink(victim + "/new", home + "/name-3.txt");
  EXPECT_EQ(store->WriteReproducer("name", "second"), home + "/name-4.txt");
  EXPECT_EQ(ReadAll(home + "/name.txt"), "first");
  EXPECT_EQ(ReadAll(home + "/name-4.txt"), "second");
  EXPECT_EQ(ReadAll(victim + "/file"), "precious");
  EXPECT_FALSE(fs::exists(victim + "/new"));

  // The same for a folder of one's choice.
  EXPECT_EQ(WriteReproducerIn(folder / "mine", "name", "text"), folder / "mine/name.txt");
  fs::create_symlink(victim, folder / "link");
  EXPECT_EQ(WriteReproducerIn(folder / "link", "name", "text"), std::nullopt);
  fs::permissions(folder / "mine", fs::perms::all);
  EXPECT_EQ(WriteReproducerIn(folder / "mine", "name", "text"), std::nullopt);
}

// Guards are noted where forms are kept: newest first, each once, and of this key alone.
TEST(Store, TellsUnderWhichGuardsItHasForms) {
  TempFolder folder;
  auto store = OpenQuickly(folder / "store");
  StoreKey key = KeyOf(1);
  EXPECT_TRUE(store->Guards(key).empty());
  const auto put = [&](const std::string& guard) {
    StoreKey under = key;
    under.guard = guard;
    ASSERT_TRUE(store->Put(under, "sealed under " + guard));
  };
  put("true");
  EXPECT_TRUE(store->Guards(key).empty());
  for (const char* guard : {"arg0 == 1", "arg0 == 2", "arg0 == 1"}) put(guard);
  EXPECT_EQ(store->Guards(key), (std::vector<std::string>{"arg0 == 1", "arg0 == 2"}));
  EXPECT_EQ(OpenQuickly(folder / "store")->Guards(key).size(), 2u) << "in the next process, too";
  StoreKey other = key;
  other.toolchain += " of tomorrow";
  EXPECT_TRUE(store->Guards(other).empty());
  EXPECT_EQ(store->List().size(), 3u) << "the list is no form";
  EXPECT_TRUE(store->Audit().empty());
  for (int i = 0; i < 100; ++i) put("arg1 == " + std::to_string(i));
  EXPECT_LE(store->Guards(key).size(), 16u);
  EXPECT_EQ(store->Guards(key)[0], "arg1 == 99");
}

TEST(Store, WhatACaughtMakerSealedIsBannedByItsBytes) {
  TempFolder folder;
  auto store = OpenQuickly(folder / "store");
  const std::string sealed = SealedOf(FormOf(1), store->key());
  ASSERT_TRUE(store->Put(KeyOf(1), sealed));
  ASSERT_TRUE(store->FindVerified(KeyOf(1), Any));
  store->Ban(Sha256Hex(sealed), "its maker was caught");
  EXPECT_FALSE(store->FindVerified(KeyOf(1), Any));
  ASSERT_TRUE(store->Put(KeyOf(1), sealed));
  EXPECT_FALSE(OpenQuickly(folder / "store")->FindVerified(KeyOf(1), Any)) << "nor later";
}

TEST(Store, KeepsAndFinds) {
  TempFolder folder;
  auto store = OpenQuickly(folder / "a/b/store");
  EXPECT_EQ(store->reason(), "");
  EXPECT_TRUE(store->writable());
  EXPECT_FALSE(store->Find(KeyOf(1)));
  EXPECT_TRUE(store->Put(KeyOf(1), "one"));
  EXPECT_TRUE(store->Put(KeyOf(2), ""));
  EXPECT_EQ(store->Find(KeyOf(1)), "one");
  EXPECT_EQ(store->Find(KeyOf(2)), "");
  EXPECT_TRUE(store->Put(KeyOf(1), "another one"));
  EXPECT_EQ(OpenQuickly(folder / "a/b/store")->Find(KeyOf(1)), "another one");
  EXPECT_EQ(store->stats().hits, 2u);
  EXPECT_EQ(store->stats().misses, 1u);
  EXPECT_EQ(store->stats().writes, 3u);
  EXPECT_TRUE(store->stats().refused.empty());
  EXPECT_EQ(store->List().size(), 2u);
  EXPECT_TRUE(store->Audit().empty());
  store->Remove(KeyOf(1));
  EXPECT_FALSE(store->Find(KeyOf(1)));
  EXPECT_EQ(fs::status(folder / "a/b/store").permissions(), fs::perms::owner_all);
}

TEST(Store, VerifiedFormsComeBack) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  const exec::CompiledForm form = FormOf(5);
  EXPECT_TRUE(store->Put(KeyOf(5), SealedOf(form, store->key())));
  auto again = OpenQuickly(folder.path());
  auto found = again->FindVerified(KeyOf(5), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(**found, form);
  EXPECT_FALSE(again->FindVerified(KeyOf(5), {verify::Grade::Proved, verify::Grade::Proved}));
  EXPECT_EQ(Refused(*again, "policy"), 1u);
  EXPECT_TRUE(again->FindVerified(KeyOf(5), {}));
}

TEST(Store, ForeignFormsAreProposals) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  verify::InstallKey other = store->key();
  other[0] ^= 1;
  store->Put(KeyOf(5), SealedOf(FormOf(5), other));
  EXPECT_FALSE(store->FindVerified(KeyOf(5), Any));
  EXPECT_EQ(Refused(*store, "mac"), 1u);
  auto foreign = store->FindForeign(KeyOf(5));
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->candidate, FormOf(5).candidate);
  EXPECT_TRUE(foreign->payload.empty());
  // Of another program: not even a proposal.
  store->Put(KeyOf(6), SealedOf(FormOf(5), other));
  EXPECT_FALSE(store->FindForeign(KeyOf(6)));
}

TEST(Store, ReplayedAndBannedFormsAreDropped) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  store->Put(KeyOf(6), SealedOf(FormOf(5), store->key()));
  EXPECT_FALSE(store->FindVerified(KeyOf(6), Any));
  EXPECT_EQ(Refused(*store, "replayed"), 1u);
  EXPECT_FALSE(store->Find(KeyOf(6)));

  store->Put(KeyOf(5), SealedOf(FormOf(5), store->key()));
  EXPECT_FALSE(store->IsBanned(FormOf(5).candidate_exact));
  store->Ban(FormOf(5).candidate_exact, "it was wrong");
  auto again = OpenQuickly(folder.path());
  EXPECT_TRUE(again->IsBanned(FormOf(5).candidate_exact));
  EXPECT_FALSE(again->FindVerified(KeyOf(5), Any));
  EXPECT_EQ(Refused(*again, "banned"), 1u);
  // Damage does not lift a ban, and a name that is no digest stays in the folder.
  WriteAll(folder / "ban/" + FormOf(5).candidate_exact, "");
  EXPECT_TRUE(again->IsBanned(FormOf(5).candidate_exact));
  again->Ban("../../x", "");
  EXPECT_TRUE(again->IsBanned("../../x"));
  EXPECT_FALSE(fs::exists(folder / "../x"));
}

TEST(Store, SwappedRecordsAreMisses) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  store->Put(KeyOf(1), "one");
  store->Put(KeyOf(2), "two");
  const std::string one = ReadAll(RecordPath(folder.path(), KeyOf(1)));
  WriteAll(RecordPath(folder.path(), KeyOf(2)), one);
  EXPECT_EQ(store->Audit().size(), 1u);
  EXPECT_FALSE(store->Find(KeyOf(2)));
  EXPECT_EQ(Refused(*store, "key"), 1u);
  EXPECT_EQ(store->Find(KeyOf(1)), "one");
  EXPECT_TRUE(store->Audit().empty());  // it was dropped
}

TEST(Store, SwappedContentIsAMiss) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  store->Put(KeyOf(1), "one");
  store->Put(KeyOf(2), "two");
  WriteAll(ContentPath(folder.path(), "two"), ReadAll(ContentPath(folder.path(), "one")));
  EXPECT_FALSE(store->Find(KeyOf(2)));
  EXPECT_EQ(Refused(*store, "digest"), 1u);
  fs::remove(ContentPath(folder.path(), "one"));
  EXPECT_FALSE(store->Find(KeyOf(1)));
  EXPECT_EQ(Refused(*store, "content"), 1u);
}

TEST(Store, OddFilesAreMisses) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  const std::string content = ContentPath(folder.path(), "one");
  auto spoil = [&](const std::string& reason, auto body) {
    ASSERT_TRUE(store->Put(KeyOf(1), "one")) << reason;
    const uint64_t before = Refused(*store, reason);
    body();
    EXPECT_FALSE(store->Find(KeyOf(1))) << reason;
    EXPECT_EQ(Refused(*store, reason), before + 1) << reason;
  };
  spoil("symlink", [&] {
    fs::rename(content, folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", content);
  });
  spoil("not a file", [&] {
    fs::remove(content);
    ASSERT_EQ(mkfifo(content.c_str(), 0600), 0);
  });
  spoil("truncated", [&] { WriteAll(content, ""); });
  spoil("magic", [&] { WriteAll(content, std::string(1000, 'x')); });
  spoil("kind", [&] { WriteAll(content, Frame(Kind::Record, "one")); });
  spoil("size", [&] {
    fs::resize_file(content, uint64_t{1} << 40);  // sparse
  });
  spoil("not a file", [&] {
    fs::remove(content);
    fs::create_directory(content);
  });
  // A directory in the way cannot be replaced by a file: said, and nothing else breaks.
  EXPECT_FALSE(store->Put(KeyOf(1), "one"));
  EXPECT_TRUE(store->Put(KeyOf(2), "two"));
  EXPECT_EQ(store->Find(KeyOf(2)), "two");
}

TEST(Store, UnknownVersionsAreMisses) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  store->Put(KeyOf(1), "one");
  std::string file = ReadAll(RecordPath(folder.path(), KeyOf(1)));
  file[8] = 2;
  WriteAll(RecordPath(folder.path(), KeyOf(1)), file);
  EXPECT_FALSE(store->Find(KeyOf(1)));
  EXPECT_EQ(Refused(*store, "version"), 1u);
}

TEST(Store, ReadOnly) {
  TempFolder folder;
  EXPECT_FALSE(OpenQuickly(folder / "none", true)->Find(KeyOf(1)));
  EXPECT_FALSE(fs::exists(folder / "none"));
  auto writer = OpenQuickly(folder / "store");
  writer->Put(KeyOf(1), SealedOf(FormOf(1), writer->key()));
  auto reader = OpenQuickly(folder / "store", true);
  EXPECT_EQ(reader->reason(), "");
  EXPECT_FALSE(reader->writable());
  EXPECT_TRUE(reader->FindVerified(KeyOf(1), Any));
  EXPECT_FALSE(reader->Put(KeyOf(2), "two"));
  EXPECT_EQ(Refused(*reader, "read-only"), 1u);
  reader->Remove(KeyOf(1));
  reader->Ban(FormOf(1).candidate_exact, "");
  EXPECT_TRUE(reader->IsBanned(FormOf(1).candidate_exact));
  EXPECT_FALSE(writer->IsBanned(FormOf(1).candidate_exact));
  EXPECT_EQ(reader->CollectGarbage(0, 0).files, 0u);
  EXPECT_TRUE(writer->Find(KeyOf(1)));
}

TEST(Store, DirectoriesOfEveryKindOpen) {
  TempFolder folder;
  fs::create_directory(folder / "real");
  fs::create_symlink(folder / "real", folder / "link");
  WriteAll(folder / "file", "x");
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {
      {folder / "link", "is a symlink"},        {folder / "link/", "is a symlink"},
      {folder / "file", "is not a directory"},  {folder / "file/store", "is not a directory"},
      {folder / "fifo", "is not a directory"},  {"/proc/nowhere/store", "cannot be made"},
      {std::string("a\0b", 3), "no directory"}, {std::string(5000, 'x'), "cannot be"}};
  for (const auto& [path, sentence] : cases) {
    auto store = OpenQuickly(path);
    EXPECT_NE(store->reason().find(sentence), std::string::npos) << path << ": " << store->reason();
    EXPECT_FALSE(store->writable());
    EXPECT_FALSE(store->Find(KeyOf(1)));
    EXPECT_FALSE(store->Put(KeyOf(1), "x"));
    EXPECT_TRUE(store->List().empty());
    EXPECT_TRUE(store->Audit().empty());
    store->CollectGarbage(0, 0);
  }
}

TEST(Store, SubFoldersInTheWay) {
  TempFolder folder;
  fs::create_directory(folder / "real");
  for (const char* name : {"cas", "ac"}) {
    const std::string directory = folder / name;
    fs::create_directory(directory);
    fs::permissions(directory, fs::perms::owner_all);
    fs::create_symlink(folder / "real", directory + "/" + name);
    auto store = OpenQuickly(directory);
    EXPECT_NE(store->reason().find("symlink"), std::string::npos) << store->reason();
    EXPECT_FALSE(store->Put(KeyOf(1), "x"));
    EXPECT_FALSE(store->Find(KeyOf(1)));
  }
  EXPECT_TRUE(fs::is_empty(folder / "real"));
}

TEST(Store, OthersMayWriteSoItIsOnlyRead) {
  TempFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::string directory = folder / "shared";
  auto writer = OpenQuickly(directory);
  writer->Put(KeyOf(1), SealedOf(FormOf(1), writer->key()));
  fs::permissions(directory, fs::perms::all);
  auto store = OpenQuickly(directory);
  EXPECT_NE(store->reason().find("others may write"), std::string::npos) << store->reason();
  EXPECT_FALSE(store->writable());
  EXPECT_FALSE(store->Put(KeyOf(2), "x"));
  // Whoever can write there could have put the key there too: another one is used, so the entry is foreign.
  EXPECT_FALSE(store->FindVerified(KeyOf(1), Any));
  EXPECT_TRUE(store->FindForeign(KeyOf(1)));
  EXPECT_NE(store->key(), writer->key());
  EXPECT_TRUE(fs::exists(folder / "frazil/key"));
  unsetenv("XDG_CACHE_HOME");
}

TEST(Store, SomeoneElsesIsOnlyRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  TempFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  const std::string directory = folder / "theirs";
  auto writer = OpenQuickly(directory);
  const std::string sealed = SealedOf(FormOf(1), writer->key());
  writer->Put(KeyOf(1), sealed);
  ASSERT_EQ(chown(directory.c_str(), 65534, 65534), 0);
  auto store = OpenQuickly(directory);
  EXPECT_NE(store->reason().find("another user"), std::string::npos) << store->reason();
  EXPECT_FALSE(store->writable());
  EXPECT_FALSE(store->FindVerified(KeyOf(1), Any));
  // A file of a third party in it is not even read.
  ASSERT_EQ(chown(ContentPath(directory, sealed).c_str(), 12345, 12345), 0);
  EXPECT_FALSE(store->Find(KeyOf(1)));
  EXPECT_EQ(Refused(*store, "owner"), 1u);
  unsetenv("XDG_CACHE_HOME");
}

TEST(Store, ReadOnlyForThisUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody without rights";
  TempFolder folder;
  const std::string directory = folder / "store";
  OpenQuickly(directory)->Put(KeyOf(1), "one");
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    ASSERT_EQ(lchown(entry.path().c_str(), 65534, 65534), 0);
  ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
  fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec);
  const auto become_nobody = [] { return setgid(65534) == 0 && setuid(65534) == 0; };
  if (InChild([&] { return become_nobody() && access(directory.c_str(), R_OK) != 0 ? 1 : 0; }) == 1)
    GTEST_SKIP() << "nobody else gets to " << folder.path();
  EXPECT_EQ(InChild([&] {
              if (!become_nobody()) return 10;
              auto store = OpenQuickly(directory);
              if (store->reason().find("read-only") == std::string::npos) return 1;
              if (store->Find(KeyOf(1)) != "one" || store->writable()) return 2;
              if (store->Put(KeyOf(2), "two") || Refused(*store, "read-only") != 1) return 3;
              return 0;
            }),
            0);
}

TEST(Store, FullDisk) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  ASSERT_TRUE(store->Put(KeyOf(1), "one"));
  // A file size limit fails a write in the middle, as a full disk does.
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              rlimit limit = {4096, 4096};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 10;
              auto small = OpenQuickly(folder.path());
              if (small->Put(KeyOf(2), std::string(100'000, 'x'))) return 1;
              if (Refused(*small, "full") != 1) return 2;
              if (!small->Put(KeyOf(3), "three")) return 3;
              return 0;
            }),
            0);
  EXPECT_FALSE(store->Find(KeyOf(2)));
  EXPECT_EQ(store->Find(KeyOf(3)), "three");
  EXPECT_TRUE(store->Audit().empty());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp-")) << entry.path();
}

TEST(Store, ReallyFullDisk) {
  TempFolder folder;
  const std::string disk = folder / "disk";
  fs::create_directory(disk);
  constexpr int NoMounts = 77;
  const int code = InChild([&] {
    const int spaces = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(spaces) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k,mode=700") != 0)
      return NoMounts;
    auto store = OpenQuickly(disk);
    uint64_t kept = 0;
    while (kept < 1000 && store->Put(KeyOf(kept), std::string(20'000, static_cast<char>(kept))))
      ++kept;
    if (kept == 0 || kept == 1000 || Refused(*store, "full") != 1) return 1;
    for (uint64_t i = 0; i < kept; ++i)
      if (store->Find(KeyOf(i)) != std::string(20'000, static_cast<char>(i))) return 2;
    if (store->Find(KeyOf(kept)) || !store->Audit().empty()) return 3;
    if (OpenQuickly(disk)->reason() != "") return 4;
    // Collecting makes room again.
    store->CollectGarbage(100'000, 90);
    return store->Put(KeyOf(kept), std::string(20'000, 'x')) ? 0 : 5;
  });
  if (code == NoMounts) GTEST_SKIP() << "this process may not mount anything";
  EXPECT_EQ(code, 0);
}

TEST(Store, EntriesAboveTheLimitAreNotKept) {
  TempFolder folder;
  StoreOptions options;
  options.directory = folder.path();
  options.sync = false;
  options.max_entry_bytes = 1000;
  auto store = Store::Open(options);
  EXPECT_FALSE(store->Put(KeyOf(1), std::string(1001, 'x')));
  EXPECT_TRUE(store->Put(KeyOf(1), std::string(1000, 'x')));
  EXPECT_TRUE(store->Find(KeyOf(1)));
  OpenQuickly(folder.path())->Put(KeyOf(2), std::string(1001, 'x'));
  EXPECT_FALSE(store->Find(KeyOf(2)));
  EXPECT_EQ(Refused(*store, "size"), 2u);
}

TEST(Store, CollectsByAgeAndSize) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  for (uint64_t i = 0; i < 10; ++i) {
    store->Put(KeyOf(i), std::string(10'000, static_cast<char>('a' + i)));
    SetAge(RecordPath(folder.path(), KeyOf(i)), static_cast<int64_t>(20 - i));
  }
  EXPECT_EQ(store->CollectGarbage(1 << 30, 90).files, 0u);
  EXPECT_EQ(store->CollectGarbage(1 << 30, 17).files, 6u);  // three records, three contents
  EXPECT_FALSE(store->Find(KeyOf(2)));
  EXPECT_TRUE(store->Find(KeyOf(3)));  // used now, so it is young again
  store->CollectGarbage(25'000, 90);
  const std::vector<Store::Entry> left = store->List();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].key, KeyOf(9));
  EXPECT_EQ(left[1].key, KeyOf(3));
  EXPECT_TRUE(store->Audit().empty());
  store->CollectGarbage(0, 0);
  EXPECT_TRUE(store->List().empty());
}

TEST(Store, SharedContentGoesWithItsLastRecord) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  for (uint64_t i = 0; i < 3; ++i) store->Put(KeyOf(i), "shared");
  SetAge(RecordPath(folder.path(), KeyOf(0)), 100);
  EXPECT_EQ(store->CollectGarbage(1 << 30, 90).files, 1u);
  EXPECT_TRUE(store->Find(KeyOf(1)));
  for (uint64_t i = 1; i < 3; ++i) SetAge(RecordPath(folder.path(), KeyOf(i)), 100);
  EXPECT_EQ(store->CollectGarbage(1 << 30, 90).files, 3u);
}

TEST(Store, LeftoversGoAfterAnHour) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path());
  store->Put(KeyOf(1), "one");
  const std::string shard = folder / "cas/00";
  for (const char* name : {".tmp-1-old", ".tmp-1-new"}) WriteAll(shard + "/" + name, "x");
  WriteAll(folder / "ac/00/garbage", "x");
  fs::remove(RecordPath(folder.path(), KeyOf(1)));
  SetAge(shard + "/.tmp-1-old", 1);
  EXPECT_EQ(store->Audit().size(), 2u);
  EXPECT_EQ(store->CollectGarbage(1 << 30, 90).files, 2u);  // the old one and the garbage
  EXPECT_TRUE(fs::exists(shard + "/.tmp-1-new"));
  EXPECT_TRUE(fs::exists(ContentPath(folder.path(), "one")));
  SetAge(ContentPath(folder.path(), "one"), 1);
  EXPECT_EQ(store->CollectGarbage(1 << 30, 90).files, 1u);
}

TEST(Store, AProcessThatWritesALotCollects) {
  TempFolder folder;
  StoreOptions options;
  options.directory = folder.path();
  options.sync = false;
  options.max_bytes = 100'000;
  auto store = Store::Open(options);
  for (uint64_t i = 0; i < 100; ++i) store->Put(KeyOf(i), std::string(5'000, static_cast<char>(i)));
  uint64_t bytes = 0;
  for (const Store::Entry& entry : store->List()) bytes += entry.bytes;
  EXPECT_LE(bytes, 130'000u);
  EXPECT_TRUE(store->Find(KeyOf(99)));
}

TEST(Store, AttemptsAreKeptByLines) {
  const TempFolder folder;
  const auto store = OpenQuickly(folder.path());
  store->AppendAttempt("optimize\tnative\twon");
  store->AppendAttempt("two\nlines");
  OpenQuickly(folder.path())->AppendAttempt("specialize\tnative\tlost");
  WriteAll(folder / "attempts/1.log", "01234567 forged\n\nshort\n");
  EXPECT_EQ(store->Attempts(),
            (std::vector<std::string>{"optimize\tnative\twon", "specialize\tnative\tlost"}));
}

TEST(Store, ProfilesAreMerged) {
  TempFolder folder;
  const std::string a = Sha256Hex("a"), b = Sha256Hex("b");
  auto store = OpenQuickly(folder.path());
  store->AppendProfile(a, {10, 100});
  store->AppendProfile(b, {1, 7});
  store->AppendProfile("no digest", {1, 7});
  EXPECT_EQ(InChild([&] {
              OpenQuickly(folder.path())->AppendProfile(a, {5, 50});
              return 0;
            }),
            0);
  // A torn line, garbage, and a line whose figures were changed.
  const std::string log = fmt::format("{}/profile/{}.log", folder.path(), getpid());
  std::string text = ReadAll(log);
  std::string forged = text;
  forged.replace(forged.find(" 10 100"), 7, " 99 100");
  WriteAll(folder / "profile/1.log",
           forged.substr(0, forged.find('\n', 1) + 1) + text.substr(1, 40));
  WriteAll(folder / "profile/2.log", std::string("\0\xff garbage\n\n 1 2 3\n", 19));
  ASSERT_EQ(mkfifo((folder / "profile/3.log").c_str(), 0600), 0);
  const std::map<std::string, Store::Observed> expected = {{a, {15, 150}}, {b, {1, 7}}};
  EXPECT_EQ(store->MergedProfiles(), expected);
  WriteAll(log, ReadAll(log) + "0123 torn");
  store->AppendProfile(b, {1, 1});
  EXPECT_EQ(store->MergedProfiles().at(b).calls, 2u);
}

TEST(Store, TheDefaultDirectoryIsTheUsers) {
  TempFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  unsetenv("FRAZIL_STORE");
  EXPECT_EQ(OpenQuickly("")->directory(), folder / "frazil");
  setenv("FRAZIL_STORE", (folder / "other").c_str(), 1);
  EXPECT_EQ(OpenQuickly("")->directory(), folder / "other");
  unsetenv("FRAZIL_STORE");
  setenv("XDG_CACHE_HOME", "relative", 1);
  const char* home = getenv("HOME");
  const std::string saved = home == nullptr ? "" : home;
  setenv("HOME", folder.path().c_str(), 1);
  EXPECT_EQ(OpenQuickly("")->directory(), folder / ".cache/frazil");
  unsetenv("HOME");
  EXPECT_NE(OpenQuickly("")->reason(), "");
  setenv("HOME", saved.c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace frazil::store
