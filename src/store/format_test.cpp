#include "store/format.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "store/test_store.h"

namespace frazil::store {
namespace {

TEST(Format, FrameRoundTrips) {
  for (size_t size : {0, 1, 55, 56, 57, 1000}) {
    const std::string payload(size, 'x');
    const std::string file = Frame(Kind::Content, payload);
    EXPECT_EQ(file.size(), FrameBytes + size);
    ASSERT_TRUE(Unframe(Kind::Content, file));
    EXPECT_EQ(*Unframe(Kind::Content, file), payload);
    EXPECT_EQ(FrameDigest(file), Sha256Hex(payload));
  }
}

TEST(Format, EveryByteOfAFrameCounts) {
  const std::string file = Frame(Kind::Record, "some payload");
  std::set<Reason> seen;
  for (size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const auto payload = Unframe(Kind::Record, damaged);
      ASSERT_FALSE(payload) << "byte " << i << " bit " << bit;
      seen.insert(payload.error());
    }
  }
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(Unframe(Kind::Record, file.substr(0, size)));
  EXPECT_FALSE(Unframe(Kind::Record, file + "x"));
  EXPECT_EQ(Unframe(Kind::Content, file).error(), Reason::Kind);
  EXPECT_EQ(seen, (std::set{Reason::Truncated, Reason::Magic, Reason::Version, Reason::Kind,
                            Reason::Digest}));
}

TEST(Format, KeysHaveOneText) {
  StoreKey a, b;
  a.guard = "x\ntarget 1:y";
  b.guard = "x";
  EXPECT_NE(a.Text(), b.Text());
  a.guard = "1", a.target = "23";
  b.guard = "12", b.target = "3";
  EXPECT_NE(a.Digest(), b.Digest());
  std::set<std::string> digests;
  for (uint64_t i = 0; i < 1000; ++i) digests.insert(KeyOf(i).Digest());
  EXPECT_EQ(digests.size(), 1000u);
}

TEST(Format, KeysRoundTrip) {
  for (uint64_t i = 0; i < 20; ++i) {
    StoreKey key = KeyOf(i);
    key.toolchain = std::string("a\nb\0c: 7", 9);
    const auto again = ParseKey(key.Text());
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, key);
  }
  const std::string text = KeyOf(1).Text();
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(ParseKey(text.substr(0, size)));
  EXPECT_FALSE(ParseKey(text + "\n"));
  std::string other = text;
  other.replace(other.find(" ir "), 5, " ir 9");
  EXPECT_EQ(ParseKey(other).error(), Reason::Version);
}

TEST(Format, RecordsRoundTrip) {
  const Record record{Sha256Hex("x"), 12345, KeyOf(7).Text()};
  const auto again = ParseRecord(PrintRecord(record));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->content, record.content);
  EXPECT_EQ(again->bytes, record.bytes);
  EXPECT_EQ(again->key, record.key);
  const std::string digest = Sha256Hex("x");
  for (const std::string& bad :
       {std::string(), std::string("content"), "content " + digest + "\n",
        "content " + digest + " \n", "content " + digest + " -1\n", "content " + digest + " 1x\n",
        "content " + digest + " 99999999999999999999\n",
        "content ../../../../etc/passwd" + std::string(40, 'a') + " 1\n",
        "content " + digest + " 1"})
    EXPECT_FALSE(ParseRecord(bad)) << bad;
}

}  // namespace
}  // namespace frazil::store
