#include "store/install_key.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "store/test_store.h"

namespace frazil::store {
namespace {

namespace fs = std::filesystem;

TEST(InstallKey, IsMadeOnceAndKept) {
  TempFolder folder;
  const verify::InstallKey key = OpenQuickly(folder.path())->key();
  EXPECT_EQ(OpenQuickly(folder.path())->key(), key);
  EXPECT_EQ(OpenQuickly(folder.path(), true)->key(), key);
  EXPECT_EQ(fs::status(folder / "key").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::file_size(folder / "key"), 32u);
  TempFolder other;
  EXPECT_NE(OpenQuickly(other.path())->key(), key);
}

TEST(InstallKey, ManyAtOnceAgree) {
  for (int round = 0; round < 20; ++round) {
    TempFolder folder;
    std::vector<verify::InstallKey> keys(8);
    std::vector<std::thread> threads;
    for (verify::InstallKey& key : keys)
      threads.emplace_back([&] { key = OpenQuickly(folder.path())->key(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), 1u);
  }
}

TEST(InstallKey, ALooseFileIsRefused) {
  for (fs::perms loose : {fs::perms::group_read, fs::perms::others_read, fs::perms::others_write}) {
    TempFolder folder;
    const verify::InstallKey key = OpenQuickly(folder.path())->key();
    fs::permissions(folder / "key", loose, fs::perm_options::add);
    const Folder opened = OpenDirectory(folder.path(), true);
    const LoadedKey loaded = LoadInstallKey(&opened, true, false);
    EXPECT_NE(loaded.key, key);
    EXPECT_NE(loaded.reason.find("not ours alone"), std::string::npos) << loaded.reason;
    EXPECT_EQ(fs::file_size(folder / "key"), 32u);
    EXPECT_EQ(OpenQuickly(folder.path())->Audit().size(), 1u);
  }
}

TEST(InstallKey, SymlinksAreNotFollowed) {
  TempFolder folder;
  const verify::InstallKey key = OpenQuickly(folder.path())->key();
  fs::rename(folder / "key", folder / "elsewhere");
  fs::create_symlink("elsewhere", folder / "key");
  const Folder opened = OpenDirectory(folder.path(), true);
  const LoadedKey loaded = LoadInstallKey(&opened, true, false);
  EXPECT_NE(loaded.key, key);
  EXPECT_NE(loaded.reason, "");
  EXPECT_EQ(ReadAll(folder / "elsewhere").size(), 32u);
}

TEST(InstallKey, ACutFileIsReplaced) {
  TempFolder folder;
  OpenQuickly(folder.path())->key();
  fs::resize_file(folder / "key", 10);
  const verify::InstallKey key = OpenQuickly(folder.path())->key();
  EXPECT_EQ(OpenQuickly(folder.path())->key(), key);
  EXPECT_EQ(fs::file_size(folder / "key"), 32u);
}

TEST(InstallKey, ReadOnlyMakesNone) {
  TempFolder folder;
  auto store = OpenQuickly(folder.path(), true);
  const verify::InstallKey key = store->key();
  EXPECT_EQ(store->key(), key);
  EXPECT_NE(OpenQuickly(folder.path(), true)->key(), key);
  EXPECT_FALSE(fs::exists(folder / "key"));
}

}  // namespace
}  // namespace frazil::store
