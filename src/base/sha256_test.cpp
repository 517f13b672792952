#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/sha256_blocks.h"

namespace frazil {
namespace {

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::string text(300, 'x');
  for (size_t cut = 0; cut <= text.size(); cut += 7) {
    Sha256 hash;
    hash.Update(std::string_view(text).substr(0, cut));
    hash.Update(std::string_view(text).substr(cut));
    auto digest = hash.Finish();
    EXPECT_EQ(Hex({reinterpret_cast<const char*>(digest.data()), 32}), Sha256Hex(text)) << cut;
  }
}

TEST(Sha256, BothFormsOfTheBlocksAgree) {
  if (!HostHasSha()) GTEST_SKIP() << "this CPU has no SHA instructions";
  std::string text(64 * 9, '\0');
  uint64_t state = 1;
  for (size_t round = 0; round < 500; ++round) {
    for (char& c : text)
      c = static_cast<char>((state = state * 6364136223846793005ull + 1442695040888963407ull) >>
                            56);
    Sha256State plain;
    for (size_t i = 0; i < 8; ++i) plain[i] = static_cast<uint32_t>(state >> (i * 3));
    Sha256State fast = plain;
    const size_t blocks = round % 10;
    Sha256BlocksPlain(plain, reinterpret_cast<const uint8_t*>(text.data()), blocks);
    Sha256BlocksX86(fast, reinterpret_cast<const uint8_t*>(text.data()), blocks);
    ASSERT_EQ(plain, fast) << round;
  }
}

}  // namespace
}  // namespace frazil
