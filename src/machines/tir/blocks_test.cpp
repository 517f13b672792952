// Blocks and their encoding: where they begin and end, known words, and the way back on random programs.
#include "machines/tir/blocks.h"

#include <gtest/gtest.h>

#include "machines/tir/test_random.h"

namespace frazil::machines::tir {
namespace {

std::vector<Block> Blocks(std::string_view text) {
  const Result<Program> program = Parse(text);
  EXPECT_TRUE(program) << program.error().ToString();
  Result<std::vector<Block>> blocks = ExtractBlocks(*program);
  EXPECT_TRUE(blocks) << blocks.error().ToString();
  return blocks ? std::move(*blocks) : std::vector<Block>{};
}

TEST(Blocks, EndAtStructure) {
  const std::vector<Block> blocks = Blocks(R"(entry main
fn main
  push 7
  // not a node
  push 5000000000
  if {
    push 2
    mul
  } else {
    push 3
    add
  }
  call f
  loop {
    push 1
    pop 1
  }
  write_io 1
end
fn f
  push 1
  while {
    dup 0
  } do {
    addi -1
  }
  pop 1
end
)");
  std::vector<std::pair<std::string, size_t>> sizes;
  for (const Block& block : blocks) sizes.emplace_back(block.function, block.ops.size());
  EXPECT_EQ(sizes, (std::vector<std::pair<std::string, size_t>>{{"main", 2},
                                                                {"main", 2},
                                                                {"main", 2},
                                                                {"main", 2},
                                                                {"main", 1},
                                                                {"f", 1},
                                                                {"f", 1},
                                                                {"f", 1},
                                                                {"f", 1}}));
  EXPECT_EQ(blocks[1].context[0], ValueType::U32);
  EXPECT_EQ(blocks[1].context[1], ValueType::Unknown);
  EXPECT_EQ(blocks[0].location.line, 3u);
}

TEST(Blocks, LongOnesAreSplit) {
  std::string text = "entry main\nfn main\n";
  for (int i = 0; i < 70; ++i) text += "push 3\n";
  const std::vector<Block> blocks = Blocks(text + "pop 70\nend\n");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].ops.size(), 32u);
  EXPECT_EQ(blocks[2].ops.size(), 7u);
  EXPECT_EQ(blocks[1].context[15], ValueType::U32);
}

TEST(Encode, KnownWords) {
  const std::vector<Block> blocks =
      Blocks("entry main\nfn main\npush 9\ndup 1\nswap 1\nadd\nreveal Paid 77 1\nend\n");
  ASSERT_EQ(blocks.size(), 1u);
  const EncodedBlock encoded = Encode(blocks[0]);
  const auto word = [](uint64_t id, ValueType type, InputKind kind0, uint64_t in0, InputKind kind1,
                       uint64_t in1, uint64_t count = 0) {
    return id | static_cast<uint64_t>(type) << 6 | in0 << 9 | in1 << 14 |
           static_cast<uint64_t>(kind0) << 19 | static_cast<uint64_t>(kind1) << 21 | count << 23;
  };
  using enum InputKind;
  const std::array<uint64_t, 24> expected = {word(11, ValueType::U32, None, 0, None, 0),
                                             0,
                                             3,
                                             9,  // push 9, last used by add
                                             word(13, ValueType::Unknown, Context, 0, None, 0),
                                             1,
                                             3,
                                             1,  // dup 1: the first place of the context
                                             word(14, ValueType::Unknown, Node, 1, Node, 0),
                                             2,
                                             2,
                                             1,  // swap 1
                                             word(15, ValueType::Element, Node, 0, Node, 1),
                                             3,
                                             4,
                                             0,  // add: 9 is on top now
                                             word(38, ValueType::Unknown, Node, 3, None, 0, 1),
                                             4,
                                             4,
                                             77,  // reveal
                                             0,
                                             0,
                                             0,
                                             0};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(encoded.nodes[i], expected[i]) << i;
  EXPECT_EQ(encoded.context[0], 33u << 3);
  EXPECT_EQ(encoded.context[1], 0u);
}

TEST(Encode, ComesBack) {
  std::mt19937_64 random(3);
  size_t count = 0;
  for (int i = 0; i < 500; ++i) {
    const Program program = RandomProgram(random, {});
    const Result<std::vector<Block>> blocks = ExtractBlocks(program);
    ASSERT_TRUE(blocks) << blocks.error().ToString() << Print(program);
    for (const Block& block : *blocks) {
      ASSERT_LE(block.ops.size(), BlockNodes);
      const EncodedBlock encoded = Encode(block);
      const Result<Block> decoded = Decode(encoded);
      ASSERT_TRUE(decoded) << decoded.error().ToString();
      ASSERT_EQ(*decoded, block);
      for (uint64_t word : encoded.nodes) ASSERT_LT(word, goldilocks::P);
      ++count;
    }
  }
  EXPECT_GT(count, 2000u);
}

TEST(Encode, WhatIsNoBlockIsRefused) {
  const std::vector<Block> blocks =
      Blocks("entry main\nfn main\npush 9\npush 4\nadd\nwrite_io 1\nend\n");
  const EncodedBlock good = Encode(blocks[0]);
  ASSERT_TRUE(Decode(good));
  for (size_t at : {0u, 2u, 8u, 10u, 15u, 31u}) {
    EncodedBlock bad = good;
    bad.nodes[at] ^= 1;
    EXPECT_FALSE(Decode(bad)) << at;
  }
  EncodedBlock bad = good;
  bad.context[3] = 7;
  EXPECT_FALSE(Decode(bad));
}

}  // namespace
}  // namespace frazil::machines::tir
