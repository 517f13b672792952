// The order of hints: the IR has one stream, the machine one of words and one of digests. Random programs read both in
// loops, branches, calls and in the arguments of one call; a model of the same tree makes up hints as it reads them and says
// what comes out, with all of them and with the last one missing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/number/goldilocks.h"
#include "base/test_counts.h"
#include "everywhere.h"
#include "machines/tasm/tip5/tip5.h"

namespace frazil::tests::trident {
namespace {

namespace mt = machines::tasm;
using goldilocks::Add;
using goldilocks::Mul;

struct Node {
  enum Kind {
    Word,
    Three,
    Five,
    Step,
    StepOfHints,
    Refill,
    Write,
    Call,
    If,
    For,
    ForTo,
    Match,
    Leave
  };
  Kind kind = Word;
  uint64_t number = 0;                    // Call: which function; For: how often
  std::vector<std::vector<Node>> blocks;  // If: two; For: one; Match: three
};
using Nodes = std::vector<Node>;

// What every function takes and gives.
struct State {
  uint64_t acc = 0;
  uint32_t index = 0;
  mt::Digest node = {};
};

class Model {
 public:
  Model(const std::vector<Nodes>& functions, uint64_t seed)
      : functions_(functions), random_(seed) {}

  // False: too long a run to be worth it.
  bool Run() {
    State state;
    Block(functions_.back(), &state);
    output.push_back(state.acc);
    output.push_back(state.index);
    output.insert(output.end(), state.node.begin(), state.node.end());
    return steps_ < MostSteps;
  }
  std::vector<uint64_t> output;
  size_t before_last_hint = 0;  // words of output that were written before the last hint was read
  Streams streams;

 private:
  static constexpr int MostSteps = 150;

  uint64_t TakeWord(uint64_t below = goldilocks::P) {
    const uint64_t word = random_() % below;
    AddWord(word, &streams);
    before_last_hint = output.size();
    return word;
  }
  void MerkleStep(State* state) {
    mt::Digest sibling;
    for (uint64_t& element : sibling) element = random_() % goldilocks::P;
    AddDigest(sibling, &streams);
    before_last_hint = output.size();
    state->node = state->index % 2 == 0 ? mt::HashPair(state->node, sibling)
                                        : mt::HashPair(sibling, state->node);
    state->index /= 2;
  }
  mt::Digest TakeFive() {
    mt::Digest digest;
    for (size_t i = 5; i-- > 0;) digest[i] = TakeWord();
    return digest;
  }
  static uint32_t Low(const State& state) { return static_cast<uint32_t>(state.acc); }

  // True: the function has returned.
  bool Block(const Nodes& nodes, State* state) {
    for (const Node& node : nodes)
      if (One(node, state)) return true;
    return false;
  }
  bool One(const Node& node, State* state) {
    if (++steps_ >= MostSteps) return true;
    switch (node.kind) {
      case Node::Word: state->acc = Add(Mul(state->acc, 5), TakeWord()); return false;
      case Node::Three:
        for (const uint64_t factor : {2, 3, 7})
          state->acc = Add(state->acc, Mul(factor, TakeWord()));
        return false;
      case Node::Five: {
        const mt::Digest digest = TakeFive();
        for (size_t i = 0; i < 5; ++i) state->acc = Add(state->acc, Mul(i + 1, digest[i]));
        return false;
      }
      case Node::Step: MerkleStep(state); return false;
      case Node::StepOfHints:
        state->index = static_cast<uint32_t>(TakeWord(uint64_t{1} << 32));
        state->node = TakeFive();
        MerkleStep(state);
        return false;
      case Node::Refill: state->index = Low(*state); return false;
      case Node::Write: output.push_back(state->acc); return false;
      case Node::Call: Block(functions_[node.number], state); return false;
      case Node::If: return Block(node.blocks[Low(*state) % 2], state);
      case Node::For:
      case Node::ForTo: {
        const uint64_t count = node.kind == Node::For ? node.number : Low(*state) % 4;
        for (uint64_t i = 0; i < count; ++i) {
          state->acc = Add(state->acc, i);
          if (Block(node.blocks[0], state)) return true;
        }
        return false;
      }
      case Node::Match: return Block(node.blocks[std::min(Low(*state) % 4, 2u)], state);
      case Node::Leave: return Low(*state) % 8 == 0;
    }
    return false;
  }

  const std::vector<Nodes>& functions_;
  std::mt19937_64 random_;
  int steps_ = 0;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {
    for (size_t i = 0; i < 3; ++i) functions.push_back(Block(4, 2, i));
  }
  std::string Text() {
    text_ = "program hints\n";
    for (size_t i = 0; i < functions.size(); ++i) {
      text_ += fmt::format(
          "fn f{}(a: Field, i: U32, n: Digest) -> (Field, U32, Digest) {{\n"
          "let mut acc: Field = a\nlet mut index: U32 = i\nlet mut node: Digest = n\n",
          i);
      Print(functions[i]);
      text_ += "(acc, index, node)\n}\n";
    }
    text_ +=
        "fn main() {\nlet zero: Digest = (0, 0, 0, 0, 0)\n"
        "let (acc, index, node) = f2(0, 0, zero)\n"
        "pub_write(acc)\npub_write(as_field(index))\n"
        "let (a, b, c, d, e) = node\npub_write5(a, b, c, d, e)\n}\n";
    return std::move(text_);
  }
  std::vector<Nodes> functions;

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }

  Nodes Block(int count, int depth, size_t callable) {
    Nodes nodes;
    for (int i = 1 + static_cast<int>(Below(static_cast<uint64_t>(count))); i > 0; --i)
      nodes.push_back(Make(depth, callable));
    return nodes;
  }
  Node Make(int depth, size_t callable) {
    Node node;
    node.kind = static_cast<Node::Kind>(Below(depth > 0 ? Node::Leave + 1 : Node::Call));
    if (node.kind == Node::Call && callable == 0) node.kind = Node::Step;
    if (node.kind == Node::Call) node.number = Below(callable);
    if (node.kind == Node::For) node.number = Below(4);
    const size_t blocks = node.kind == Node::If                                ? 2
                          : node.kind == Node::Match                           ? 3
                          : node.kind == Node::For || node.kind == Node::ForTo ? 1
                                                                               : 0;
    for (size_t i = 0; i < blocks; ++i) node.blocks.push_back(Block(3, depth - 1, callable));
    return node;
  }

  void Line(const std::string& text) { text_ += text + "\n"; }
  void Print(const Nodes& nodes) {
    for (const Node& node : nodes) Print(node);
  }
  // The low 32 bits of acc under a fresh name.
  std::string Low() {
    const std::string name = fmt::format("low{}", next_++);
    Line(fmt::format("let (_, {}) = split(acc)", name));
    return name;
  }
  void Print(const Node& node) {
    const size_t id = next_++;
    switch (node.kind) {
      case Node::Word: return Line("acc = acc * 5 + divine()");
      case Node::Three:
        Line(fmt::format("let (a{0}, b{0}, c{0}) = divine3()", id));
        return Line(fmt::format("acc = acc + a{0} * 2 + b{0} * 3 + c{0} * 7", id));
      case Node::Five:
        Line(fmt::format("let (a{0}, b{0}, c{0}, d{0}, e{0}) = divine5()", id));
        return Line(
            fmt::format("acc = acc + a{0} + b{0} * 2 + c{0} * 3 + d{0} * 4 + e{0} * 5", id));
      case Node::Step: return Line("(index, node) = merkle_step(index, node)");
      case Node::StepOfHints:
        return Line("(index, node) = merkle_step(as_u32(divine()), divine5())");
      case Node::Refill: return Line(fmt::format("index = {}", Low()));
      case Node::Write: return Line("pub_write(acc)");
      case Node::Call:
        return Line(fmt::format("(acc, index, node) = f{}(acc, index, node)", node.number));
      case Node::If:
        Line(fmt::format("if ({} & 1) == 0 {{", Low()));
        Print(node.blocks[0]);
        Line("} else {");
        Print(node.blocks[1]);
        return Line("}");
      case Node::For:
      case Node::ForTo:
        Line(node.kind == Node::For ? fmt::format("for k{} in 0..{} {{", id, node.number)
                                    : fmt::format("for k{} in 0..{} & 3 bounded 3 {{", id, Low()));
        Line(fmt::format("acc = acc + as_field(k{})", id));
        Print(node.blocks[0]);
        return Line("}");
      case Node::Match:
        Line(fmt::format("match {} & 3 {{", Low()));
        for (size_t i = 0; i < 3; ++i) {
          Line(i == 2 ? "_ => {" : fmt::format("{} => {{", i));
          Print(node.blocks[i]);
          Line("}");
        }
        return Line("}");
      case Node::Leave:
        Line(fmt::format("if ({} & 7) == 0 {{", Low()));
        return Line("return (acc, index, node)\n}");
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  size_t next_ = 0;
};

TEST(Hints, WordsAndDigestsKeepTheirOrder) {
  const uint64_t count = 300 * TestScale(), begin = TestSeed(1);
  size_t mixed = 0;
  for (uint64_t seed = begin; seed < begin + count && !testing::Test::HasFailure(); ++seed) {
    Writer writer(seed);
    const std::string text = writer.Text();
    std::optional<ir::Program> program;
    std::optional<Everywhere> everywhere;
    const Where where{.native = seed % 8 == 0, .horner = seed % 4 == 1};
    for (uint64_t round = 0; round < 3; ++round) {
      Model model(writer.functions, seed * 10 + round);
      if (!model.Run()) continue;
      if (!program) program = BuildText(text);
      ASSERT_TRUE(program) << "seed " << seed;
      if (!everywhere) everywhere.emplace(*program, where);
      SCOPED_TRACE(fmt::format("seed {} round {}\n{}", seed, round, text));
      everywhere->Expect(model.streams, {model.output, false});
      const auto is_digest = [](const exec::Value& v) { return v.type == ir::types::Digest; };
      const size_t digests = static_cast<size_t>(
          std::count_if(model.streams.hints.begin(), model.streams.hints.end(), is_digest));
      mixed += digests != 0 && digests != model.streams.hints.size();
      if (model.streams.hints.empty()) continue;
      model.streams.hints.pop_back();
      model.output.resize(model.before_last_hint);
      everywhere->Expect(model.streams, {model.output, true});
    }
  }
  EXPECT_GT(mixed, count / 2);
}

}  // namespace
}  // namespace frazil::tests::trident
