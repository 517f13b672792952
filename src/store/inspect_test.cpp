#include "store/inspect.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "store/test_store.h"

namespace frazil::store {
namespace {

StoreOptions OptionsOf(const std::string& directory, bool read_only = false) {
  StoreOptions options;
  options.directory = directory;
  options.read_only = read_only;
  options.sync = false;
  return options;
}

TEST(Inspect, OnlyAStoreIsOpened) {
  TempFolder folder;
  EXPECT_FALSE(OpenExisting(OptionsOf(folder / "missing")));
  EXPECT_FALSE(std::filesystem::exists(folder / "missing")) << "looking makes nothing";
  const std::string other = folder / "other";
  std::filesystem::create_directory(other);
  std::ofstream(other + "/letter") << "Dear";
  const auto refused = OpenExisting(OptionsOf(other));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diag, Diag::StoreUnusable);
  EXPECT_FALSE(std::filesystem::exists(other + "/cas"));
  OpenQuickly(folder / "store");
  const auto read = OpenExisting(OptionsOf(folder / "store", true));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_FALSE((*read)->writable());
  const auto written = OpenExisting(OptionsOf(folder / "store"));
  ASSERT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE((*written)->writable());
}

TEST(Inspect, AnEntryIsFoundByTheFirstDigitsOfItsKey) {
  TempFolder folder;
  auto store = OpenQuickly(folder / "store");
  const verify::InstallKey other = {};
  for (uint64_t i = 0; i < 40; ++i)
    ASSERT_TRUE(store->Put(KeyOf(i), SealedOf(FormOf(i), i < 10 ? store->key() : other)));
  const std::string digest = KeyOf(7).Digest();
  const auto entry = FindEntry(*store, digest.substr(0, 16));
  ASSERT_TRUE(entry) << entry.error().ToString();
  EXPECT_EQ(entry->key, KeyOf(7));
  const auto all = FindEntry(*store, "");
  ASSERT_FALSE(all);
  EXPECT_TRUE(all.error().message.starts_with("40 entries of ")) << all.error().message;
  EXPECT_FALSE(FindEntry(*store, "none"));
  const SealCounts seals = CountSeals(*store);
  EXPECT_EQ(seals.here, 10u);
  EXPECT_EQ(seals.elsewhere, 30u);
}

TEST(Inspect, TheConditionOfAStoreAndItsKey) {
  TempFolder folder;
  const StoreCondition missing = InspectStore(OptionsOf(folder / "store"));
  EXPECT_TRUE(missing.store.good);
  EXPECT_FALSE(missing.exists);
  EXPECT_EQ(missing.store.text, folder / "store" + ", made on first use");
  auto store = OpenQuickly(folder / "store");
  StoreCondition found = InspectStore(OptionsOf(folder / "store"));
  EXPECT_TRUE(found.exists && found.store.good && found.key.good) << found.store.text;
  EXPECT_EQ(found.key.text, "none yet, it is made on first use");
  store->key();
  found = InspectStore(OptionsOf(folder / "store"));
  EXPECT_TRUE(found.key.good);
  EXPECT_EQ(found.key.text, folder / "store/key, mode 0600");
  ASSERT_EQ(::chmod((folder / "store/key").c_str(), 0644), 0);
  found = InspectStore(OptionsOf(folder / "store"));
  EXPECT_FALSE(found.key.good);
  EXPECT_TRUE(found.key.text.ends_with("that nobody else can read")) << found.key.text;
  ASSERT_EQ(::chmod((folder / "store").c_str(), 0777), 0);
  EXPECT_FALSE(InspectStore(OptionsOf(folder / "store")).store.good) << "others can write there";
}

TEST(Inspect, AFormIsBelievedAsFarAsItsSealGoes) {
  TempFolder folder;
  auto store = OpenQuickly(folder / "store");
  ASSERT_TRUE(store->Put(KeyOf(1), SealedOf(FormOf(1), store->key())));
  ASSERT_TRUE(store->Put(KeyOf(2), SealedOf(FormOf(2), verify::InstallKey{})));
  const EntryForm here = InspectForm(*store, KeyOf(1));
  EXPECT_EQ(SealName(here.seal), "here");
  EXPECT_EQ(here.candidate, FormOf(1).candidate_exact);
  EXPECT_EQ(here.payload_bytes, FormOf(1).payload.size());
  EXPECT_TRUE(here.ns_per_call);
  EXPECT_NE(here.evidence.meaning.grade, verify::Grade::None);
  const EntryForm elsewhere = InspectForm(*store, KeyOf(2));
  EXPECT_EQ(elsewhere.seal, EntryForm::Seal::Elsewhere);
  EXPECT_EQ(elsewhere.candidate, FormOf(2).candidate_exact);
  EXPECT_EQ(elsewhere.evidence, verify::EvidencePair()) << "what others claim is not shown";
  const EntryForm missing = InspectForm(*store, KeyOf(3));
  EXPECT_EQ(SealName(missing.seal), "not usable");
  EXPECT_TRUE(missing.candidate.empty());
}

}  // namespace
}  // namespace frazil::store
