// Every function that Trident has without a declaration, everywhere it runs. Expected words come from the field's and the
// hash's own arithmetic, never from a run. A built-in without a row here fails the test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/number/goldilocks.h"
#include "everywhere.h"
#include "frontends/trident/builtins.h"
#include "machines/tasm/tip5/tip5.h"

namespace frazil::tests::trident {
namespace {

namespace mt = machines::tasm;
using goldilocks::Add;
using goldilocks::Mul;
using goldilocks::P;
using Words = std::vector<uint64_t>;

struct Row {
  std::string name;
  std::string body;  // of main
  Streams streams;
  Expected expected;
};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Words Of(const mt::Digest& digest) { return {digest.begin(), digest.end()}; }
mt::Digest HashOf(const Words& ten) {
  std::array<uint64_t, 10> words;
  std::ranges::copy(ten, words.begin());
  return mt::HashTen(words);
}

class Rows {
 public:
  Row& Say(std::string name, std::string body, Words input, Words output) {
    rows.push_back({std::move(name), std::move(body), {}, {std::move(output), false}});
    rows.back().streams.input = std::move(input);
    return rows.back();
  }
  Row& Traps(std::string name, std::string body, Words input, Words before = {}) {
    Row& row = Say(std::move(name), std::move(body), std::move(input), std::move(before));
    row.expected.traps = true;
    return row;
  }
  std::vector<Row> rows;
};

constexpr std::string_view WriteDigest =
    "let (a, b, c, d, e) = digest\npub_write5(a, b, c, d, e)\n";
constexpr std::string_view WriteX = "let (a, b, c) = x\npub_write3(a, b, c)\n";

// Element i of a product in F[x] / (x^3 - x + 1).
Words XMul(const Words& a, const Words& b) {
  Words c(5);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) c[i + j] = Add(c[i + j], Mul(a[i], b[j]));
  for (size_t i = 4; i >= 3; --i) {
    c[i - 2] = Add(c[i - 2], c[i]);
    c[i - 3] = Add(c[i - 3], goldilocks::Neg(c[i]));
  }
  return {c[0], c[1], c[2]};
}
Words XAdd(const Words& a, const Words& b) {
  return {Add(a[0], b[0]), Add(a[1], b[1]), Add(a[2], b[2])};
}

void AddStreams(Rows& r) {
  r.Say("pub_read", "pub_write(pub_read() + pub_read() * 3)", {P - 1, 5}, {14});
  r.Traps("pub_read", "pub_write(7)\npub_write(pub_read())", {}, {7});
  r.Say("pub_read2", "let (a, b) = pub_read2()\npub_write(a)\npub_write(b)", {1, 2}, {1, 2});
  r.Say("pub_read3", "let (a, b, c) = pub_read3()\npub_write3(a, b, c)", {1, 2, 3}, {1, 2, 3});
  r.Traps("pub_read3", "let (a, b, c) = pub_read3()\npub_write3(a, b, c)", {1, 2});
  r.Say("pub_read4", "let (a, b, c, d) = pub_read4()\npub_write4(d, c, b, a)", {1, 2, 3, 4},
        {4, 3, 2, 1});
  r.Say("pub_read5", fmt::format("let digest: Digest = pub_read5()\n{}", WriteDigest),
        {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1});
  r.Say("pub_write", "pub_write(18446744069414584320)", {}, {P - 1});
  r.Say("pub_write2", "pub_write2(1, 2)", {}, {1, 2});
  r.Say("pub_write3", "pub_write3(pub_read(), 2, pub_read())", {7, 9}, {7, 2, 9});
  r.Say("pub_write4", "pub_write4(1, 2, 3, 4)", {}, {1, 2, 3, 4});
  r.Say("pub_write5", "pub_write5(1, 2, 3, 4, 5)", {}, {1, 2, 3, 4, 5});
  const auto secrets = [](Row& row, const Words& words) {
    for (const uint64_t word : words) AddWord(word, &row.streams);
  };
  secrets(r.Say("divine", "pub_write(divine())\npub_write(divine())", {}, {8, P - 1}), {8, P - 1});
  secrets(r.Traps("divine", "pub_write(divine())\npub_write(divine())", {}, {8}), {8});
  secrets(r.Say("divine3", "let (a, b, c) = divine3()\npub_write3(a, b, c)", {}, {1, 2, 3}),
          {1, 2, 3});
  secrets(r.Say("divine5", fmt::format("let digest: Digest = divine5()\n{}", WriteDigest), {},
                {5, 4, 3, 2, 1}),
          {1, 2, 3, 4, 5});
}

void AddArithmetic(Rows& r) {
  r.Say("field_add", "pub_write(field.add(pub_read(), 3))", {P - 1}, {2});
  r.Say("field_mul", "pub_write(field.mul(pub_read(), pub_read()))", {P - 1, P - 1}, {1});
  r.Say("field_pow", "pub_write(field.pow(pub_read(), as_u32(pub_read())))", {P - 1, 4294967295},
        {P - 1});
  r.Say("field_pow", "pub_write(field.pow(pub_read(), as_u32(pub_read())))", {0, 0}, {1});
  r.Say("sub", "pub_write(sub(pub_read(), pub_read()))", {3, 5}, {P - 2});
  r.Say("neg", "pub_write(neg(pub_read()))\npub_write(neg(pub_read()))", {0, 1}, {0, P - 1});
  r.Say("inv", "pub_write(inv(pub_read()) * 7)", {7}, {1});
  r.Traps("inv", "pub_write(inv(pub_read()))", {0});
  r.Say("split", "let (h, l) = split(pub_read())\npub_write2(as_field(h), as_field(l))", {P - 1},
        {0xffffffff, 0});
  r.Say("split", "let (h, l) = split(pub_read())\npub_write2(as_field(h), as_field(l))",
        {0x123456789abcdef0}, {0x12345678, 0x9abcdef0});
  r.Say("as_u32", "pub_write(as_field(as_u32(pub_read())))", {0xffffffff}, {0xffffffff});
  r.Traps("as_u32", "pub_write(as_field(as_u32(pub_read())))", {0x100000000});
  r.Say("as_field", "pub_write(as_field(as_u32(pub_read())) + 1)", {0xffffffff}, {0x100000000});
  for (const uint64_t n : {1ull, 2ull, 3ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull})
    r.Say("log2", "pub_write(as_field(log2(as_u32(pub_read()))))", {n},
          {static_cast<uint64_t>(std::bit_width(n)) - 1});
  r.Traps("log2", "pub_write(as_field(log2(as_u32(pub_read()))))", {0});
  const std::string pow = "pub_write(as_field(pow(as_u32(pub_read()), as_u32(pub_read()))))";
  r.Say("pow", pow, {2, 31}, {0x80000000});
  r.Say("pow", pow, {0, 0}, {1});
  r.Say("pow", pow, {1, 0xffffffff}, {1});
  r.Say("pow", pow, {65535, 2}, {0xfffe0001});
  r.Traps("pow", pow, {2, 32});
  r.Traps("pow", pow, {65536, 2});
  r.Traps("pow", pow, {0xffffffff, 0xffffffff});
  for (const uint64_t n : {0ull, 1ull, 0xffffffffull, 0xa5a5a5a5ull})
    r.Say("popcount", "pub_write(as_field(popcount(as_u32(pub_read()))))", {n},
          {static_cast<uint64_t>(std::popcount(n))});
  r.Say("assert", "assert(pub_read() == 4)\npub_write(1)", {4}, {1});
  r.Traps("assert", "pub_write(1)\nassert(pub_read() == 4)\npub_write(2)", {5}, {1});
  r.Say("assert_eq", "assert_eq(pub_read(), pub_read())\npub_write(1)", {4, 4}, {1});
  r.Traps("assert_eq", "assert_eq(pub_read(), pub_read())\npub_write(1)", {4, 5});
  r.Say("assert_digest", "assert_digest(pub_read5(), pub_read5())\npub_write(1)",
        {1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, {1});
  for (size_t i = 5; i < 10; ++i) {
    Words input = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5};
    input[i] = 0;
    r.Traps("assert_digest", "assert_digest(pub_read5(), pub_read5())\npub_write(1)", input);
  }
}

void AddRam(Rows& r) {
  r.Say("ram_read", "pub_write(ram_read(17))\npub_write(ram_read(pub_read()))", {18}, {5, 6})
      .streams.ram = {{17, 5}, {18, 6}};
  r.Say("ram_write", "ram_write(3, pub_read())\nram_write(4, 9)\npub_write(ram_read(3))", {8}, {8});
  r.Say("ram_write", "ram_write(3, 1)\nram_write(3, ram_read(3) + 1)\npub_write(ram_read(3))", {},
        {2});
  r.Say("ram_read_block",
        "let a: [Field; 5] = ram_read_block(pub_read())\npub_write5(a[0], a[1], a[2], a[3], a[4])",
        {20}, {1, 2, 3, 4, 5})
      .streams.ram = {{20, 1}, {21, 2}, {22, 3}, {23, 4}, {24, 5}};
  r.Say("ram_write_block",
        "ram_write_block(10, [1, 2, 3, 4, pub_read()])\npub_write2(ram_read(10), ram_read(14))",
        {9}, {1, 9});
  r.Say("ram_write_block",
        "let digest: Digest = pub_read5()\nram_write_block(10, digest)\n"
        "pub_write2(ram_read(10), ram_read(14))",
        {1, 2, 3, 4, 5}, {5, 1});
}

void AddHashing(Rows& r) {
  const Words ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, P - 1};
  for (const char* name : {"hash", "tip5"})
    r.Say(name,
          fmt::format("let digest: Digest = {}(1, 2, 3, 4, 5, 6, 7, 8, 9, pub_read())\n{}", name,
                      WriteDigest),
          {P - 1}, Of(HashOf(ten)));
  mt::Tip5State state;
  std::ranges::copy(ten, state.elements.begin());
  mt::Permute(state);
  const Words first(state.elements.begin(), state.elements.begin() + 10);
  mt::Permute(state);
  const Words second(state.elements.begin(), state.elements.begin() + 10);
  const std::string absorb = "sponge_absorb(1, 2, 3, 4, 5, 6, 7, 8, 9, pub_read())\n";
  const std::string squeeze =
      "for i in 0..2 {\nlet a: [Field; 10] = sponge_squeeze()\n"
      "for j in 0..10 {\npub_write(a[j])\n}\n}\n";
  r.Say("sponge_init", "sponge_init()\n" + absorb + "sponge_init()\n" + squeeze, {3}, [] {
    mt::Tip5State zero;
    Words words(10);
    mt::Permute(zero);
    words.insert(words.end(), zero.elements.begin(), zero.elements.begin() + 10);
    return words;
  }());
  r.Say("sponge_absorb", "sponge_init()\n" + absorb + squeeze, {P - 1}, first + second);
  r.Traps("sponge_absorb", absorb, {1});
  Row& mem = r.Say("sponge_absorb_mem", "sponge_init()\nsponge_absorb_mem(pub_read())\n" + squeeze,
                   {30}, first + second);
  for (uint64_t i = 0; i < 10; ++i) mem.streams.ram.emplace_back(30 + i, ten[i]);
  r.Say("sponge_squeeze", "sponge_init()\n" + absorb + squeeze, {P - 1}, first + second);
  r.Traps("sponge_squeeze", "pub_write(1)\n" + squeeze, {}, {1});

  const mt::Digest node = {5, 4, 3, 2, 1}, sibling = {10, 20, 30, 40, P - 1};
  const std::string step =
      "let i: U32 = as_u32(pub_read())\nlet (j, digest) = merkle_step(i, pub_read5())\n"
      "pub_write(as_field(j))\n";
  const std::string all = step + std::string(WriteDigest);
  AddDigest(sibling, &r.Say("merkle_step", all, {6, 1, 2, 3, 4, 5},
                            Words{3} + Of(mt::HashPair(node, sibling)))
                          .streams);
  AddDigest(sibling, &r.Say("merkle_step", all, {0xffffffff, 1, 2, 3, 4, 5},
                            Words{0x7fffffff} + Of(mt::HashPair(sibling, node)))
                          .streams);
  r.Traps("merkle_step", all, {6, 1, 2, 3, 4, 5});
  const std::string from_ram =
      "let i: U32 = as_u32(pub_read())\n"
      "let (at, j, digest) = merkle_step_mem(pub_read(), i, pub_read5())\n"
      "pub_write2(at, as_field(j))\n" +
      std::string(WriteDigest);
  for (const uint64_t index : {8, 9}) {
    Row& row = r.Say("merkle_step_mem", from_ram, {index, 40, 1, 2, 3, 4, 5},
                     Words{45, index / 2} + Of(index % 2 == 0 ? mt::HashPair(node, sibling)
                                                              : mt::HashPair(sibling, node)));
    for (uint64_t i = 0; i < 5; ++i) row.streams.ram.emplace_back(40 + i, sibling[i]);
  }
}

void AddExtension(Rows& r) {
  const Words a = {3, P - 2, 5}, b = {P - 1, 7, 11}, acc = {100, 200, P - 1};
  r.Say("xfield",
        fmt::format(
            "let x: XField = xfield(pub_read(), pub_read(), pub_read()) * xfield(3, 4, 5)\n{}",
            WriteX),
        a, XMul(a, {3, 4, 5}));
  r.Say("xinvert",
        fmt::format("let y: XField = xfield(pub_read(), pub_read(), pub_read())\n"
                    "let x: XField = xinvert(y) * y\n{}",
                    WriteX),
        b, {1, 0, 0});
  r.Traps("xinvert", fmt::format("let x: XField = xinvert(xfield(pub_read(), 0, 0))\n{}", WriteX),
          {0});
  for (const bool xx : {true, false}) {
    const std::string name = xx ? "xx_dot_step" : "xb_dot_step";
    const std::string body = fmt::format(
        "let (x, p, q) = {}(xfield(pub_read(), pub_read(), pub_read()), pub_read(), pub_read())\n"
        "pub_write2(p, q)\n{}",
        name, WriteX);
    // Which address the extension element of xb_dot_step lies at: the second, as on the machine's stack.
    const Words product = xx ? XMul(a, b) : XMul(a, {b[0], 0, 0});
    Row& row =
        r.Say(name, body, acc + Words{20, 30}, Words{23, xx ? 33u : 31u} + XAdd(acc, product));
    for (uint64_t i = 0; i < 3; ++i) row.streams.ram.emplace_back(20 + i, a[i]);
    for (uint64_t i = 0; i < (xx ? 3u : 1u); ++i) row.streams.ram.emplace_back(30 + i, b[i]);
  }
}

Rows AllRows() {
  Rows rows;
  AddStreams(rows);
  AddArithmetic(rows);
  AddRam(rows);
  AddHashing(rows);
  AddExtension(rows);
  return rows;
}

std::string ProgramOf(const Row& row) {
  std::string uses;
  if (row.body.find("field.") != std::string::npos)
    uses = row.name == "field_pow" ? "use std.field\n" : "use vm.core.field\n";
  return fmt::format("program builtin\n{}fn main() {{\n{}\n}}\n", uses, row.body);
}

TEST(Builtins, EveryOneRunsEverywhere) {
  for (const Row& row : AllRows().rows) {
    const std::string text = ProgramOf(row);
    SCOPED_TRACE(row.name + "\n" + text);
    const std::optional<ir::Program> program = BuildText(text, true);
    if (!program) continue;
    Everywhere(*program).Expect(row.streams, row.expected);
  }
}

TEST(Builtins, NoneIsWithoutARow) {
  const Rows rows = AllRows();
  for (const frontends::trident::BuiltinInfo& builtin : frontends::trident::AllBuiltins()) {
    const auto tests = [&](const Row& row) {
      return row.name == builtin.name &&
             (builtin.intrinsic_only ||
              row.body.find(fmt::format("{}(", builtin.name)) != std::string::npos);
    };
    EXPECT_TRUE(std::ranges::any_of(rows.rows, tests))
        << builtin.name << ": " << builtin.meaning << " has no row in builtins_test.cpp";
  }
}

}  // namespace
}  // namespace frazil::tests::trident
