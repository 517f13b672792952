// What ir::IndependenceOf and ir::MakeRanged promise, seen in execution: the pieces of a kernel whose iterations are
// called independent are run in a shuffled order, and everything must be as if it had run in one piece. Kernels are
// random: most of their indices are of the kinds that real kernels have, some collide.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "exec/after_trap.h"
#include "exec/interpreter.h"
#include "ir/check.h"
#include "ir/independence.h"
#include "ir/text.h"

namespace frazil::exec {
namespace {

class KernelWriter {
 public:
  explicit KernelWriter(uint64_t seed) : random_(seed) {}

  std::string Write() {
    text_ =
        "frz 1\nfunc @kernel(%x: buffer<i32>, %y: buffer<i32>, %z: buffer<i32>, %n: u32, %m: u32, "
        "%s: index) {\n"
        "  %c0 = const 0 : index\n  %c1 = const 1 : index\n  %c2 = const 2 : index\n  %c3 = const "
        "3 : index\n"
        "  %ni = cast %n : index\n  %mi = cast %m : index\n  %nm = mul %ni, %mi : index\n  %one = "
        "const 1 : i32\n";
    const bool is_nested = Pick(3) == 0;
    const bool is_flat = !is_nested && Pick(2) == 0;
    indices_ = {"%c0", "%c1", "%c2", "%ni", "%mi", "%s"};
    text_ += fmt::format("  parallel %i = {} to {} {{\n", Pick(4) == 0 ? "%c1" : "%c0",
                         is_flat ? "%nm" : "%ni");
    own_ = {"%i"};
    if (is_nested) {
      text_ += "    parallel %j = %c0 to %mi {\n";
      own_.push_back("%j");
    }
    if (is_flat) {
      text_ +=
          fmt::format("    %q = div.floor %i, {0} : index\n    %r = rem.floor %i, {0} : index\n",
                      Pick(2) == 0 ? "%mi" : "%ni");
      own_.push_back("%q");
      own_.push_back("%r");
    }
    Statements(3);
    if (is_nested) text_ += "    yield\n    }\n";
    text_ += "    yield\n  }\n  return\n}\n";
    return text_;
  }

 private:
  uint64_t Pick(uint64_t count) { return random_() % count; }
  std::string Fresh() { return fmt::format("%t{}", next_++); }
  template <typename T>
  const T& OneOf(const std::vector<T>& list) {
    return list[Pick(list.size())];
  }

  std::string Make(std::string_view op, const std::string& a, const std::string& b) {
    std::string name = Fresh();
    text_ += fmt::format("    {} = {} {}, {} : index\n", name, op, a, b);
    return name;
  }

  // Mostly a * stride + b, as matrices are written, of what the iteration has.
  std::string Index() {
    std::string index;
    switch (Pick(8)) {
      case 0: index = own_[0]; break;
      case 1: index = Make("add", OneOf(own_), OneOf(indices_)); break;
      case 2: index = Make("sub", "%ni", OneOf(own_)); break;
      default:
        index = Make("add", Make("mul", OneOf(own_), OneOf(indices_)), OneOf(own_));
        if (Pick(4) == 0) index = Make("add", index, OneOf(indices_));
    }
    return index;
  }

  std::string Value() {
    std::string name = Fresh();
    if (Pick(3) == 0) {
      std::string a = Index();
      text_ += fmt::format("    {} = cast {} : i32\n", name, a);
      return name;
    }
    const char* buffers[] = {"%x", "%y", "%z"};
    std::string index = Pick(2) == 0 && !last_index_.empty() ? last_index_ : Index();
    text_ += fmt::format("    {} = load {}, {} : i32\n", name, buffers[Pick(3)], index);
    return name;
  }

  void Store() {
    std::string index = Pick(3) == 0 && !last_index_.empty() ? last_index_ : Index();
    last_index_ = index;
    std::string a = Value(), b = Value(), sum = Fresh();
    text_ += fmt::format("    {} = add {}, {} : i32\n", sum, a, b);
    const char* buffer = Pick(3) == 0 ? "%z" : "%y";
    if (Pick(5) == 0)
      text_ += fmt::format("    {} = atomic {}, {}, {} {{kind = {}}} : i32\n", Fresh(), buffer,
                           index, sum, Pick(2) == 0 ? "add" : "max");
    else
      text_ += fmt::format("    store {}, {}, {} : i32\n", buffer, index, sum);
  }

  void Statements(int most) {
    for (uint64_t left = 1 + Pick(static_cast<uint64_t>(most)); left > 0; --left) {
      const std::string before = last_index_;
      switch (Pick(6)) {
        case 0: {
          std::string k = Fresh();
          text_ +=
              fmt::format("    for {} = %c0 to {} step 1 {{\n", k, Pick(2) == 0 ? "%mi" : "%c3");
          own_.push_back(k);
          Store();
          own_.pop_back();
          text_ += "    yield\n    }\n";
          last_index_ = before;
          break;
        }
        case 1: {
          std::string bound = Fresh(), index = OneOf(own_);
          text_ += fmt::format("    {} = lt {}, {} : index\n    if {} {{\n", bound, index,
                               OneOf(indices_), bound);
          Store();
          text_ += "    yield\n    } else {\n    yield\n    }\n";
          last_index_ = before;
          break;
        }
        default: Store();
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  std::vector<std::string> own_, indices_;
  std::string last_index_;
  int next_ = 0;
};

// One access at i * stride + j * slope (+ offset), of sizes that wrap when they are multiplied, behind conditions that
// compare such numbers.
class WrappingKernelWriter {
 public:
  explicit WrappingKernelWriter(uint64_t seed) : random_(seed) {}

  std::string Write() {
    Line("%ni = cast %n : index");
    Line("%mi = cast %m : index");
    for (int64_t n : {0, 1, 2, 400}) Line("%c{0} = const {0} : index", n);
    const std::string stride = Size(), slope = Pick(2) == 0 ? "%c1" : Size(), offset = OneOf(Sizes);
    const int64_t low = OneOf(std::vector<int64_t>{0, 0, 0, 1, -8, -64, (int64_t{1} << 40) - 4});
    Line("%low = const {} : index", low);
    Line("%high = const {} : index", low + OneOf(std::vector<int64_t>{4, 9, 40}));
    Line("parallel %i = %low to %high {{");
    if (Pick(2) == 0) If("ge", OneOf(std::vector<std::string>{stride, slope, offset}), "%c1");
    const int64_t first = OneOf(std::vector<int64_t>{0, 0, 1, (int64_t{1} << 40) - 3});
    Line("%first = const {} : index", first);
    Line("%end = const {} : index", first + OneOf(std::vector<int64_t>{1, 2, 5}));
    Line("for %t = %first to %end step 1 {{");
    open_ += 'f';
    Line("%j = sub %t, %first : index");
    Line("%js = mul %j, {} : index", slope);
    Line("%jo = add %js, {} : index", offset);
    if (Pick(4) != 0) If("lt", Pick(2) == 0 ? "%jo" : "%js", stride);
    if (Pick(4) == 0) If("ge", "%js", "%c0");
    Line("%row = mul %i, {} : index", stride);
    Line("%in = add %row, %js : index");
    Line("%at = add %in, {} : index", Pick(2) == 0 ? "%c0" : offset);
    If("ge", "%at", "%c0");
    If("lt", "%at", "%c400");
    Line("%a = load %y, %at : i32");
    Line("%b = load %y, %at : i32");
    Line("%3a = add %a, %b : i32");
    Line("%number = cast %i : i32");
    Line("%sum = add %3a, %number : i32");
    Line("store %y, %at, %sum : i32");
    for (; !open_.empty(); open_.pop_back())
      text_ += open_.back() == 'f' ? "yield\n}\n" : "yield\n} else {\nyield\n}\n";
    Line("yield\n}}\nreturn\n}}");
    return text_;
  }

 private:
  inline static const std::vector<std::string> Sizes = {"%ni", "%mi", "%s"};
  uint64_t Pick(uint64_t count) { return random_() % count; }
  template <typename T>
  const T& OneOf(const std::vector<T>& list) {
    return list[Pick(list.size())];
  }
  template <typename... T>
  void Line(fmt::format_string<T...> line, T&&... values) {
    text_ += fmt::format(line, std::forward<T>(values)...) + "\n";
  }
  std::string Size() {
    std::string size = OneOf(Sizes);
    for (int factors = 0; factors < 2 && Pick(3) == 0; ++factors) {
      const std::string name = fmt::format("%size{}", next_++);
      Line("{} = mul {}, {} : index", name, size, OneOf(Sizes));
      size = name;
    }
    return size;
  }
  void If(std::string_view op, const std::string& a, const std::string& b) {
    const int number = next_++;
    Line("%if{} = {} {}, {} : index\nif %if{} {{", number, op, a, b, number);
    open_ += 'i';
  }

  std::mt19937_64 random_;
  std::string text_ =
      "frz 1\nfunc @kernel(%x: buffer<i32>, %y: buffer<i32>, %z: buffer<i32>, %n: u32, %m: u32, "
      "%s: index) {\n";
  std::string open_;
  int next_ = 0;
};

constexpr int64_t Elements = 400;

// `far`: numbers that wrap when they are multiplied or added.
std::vector<Value> Arguments(uint64_t seed, int aliases, bool far = false) {
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<Memory>> memories;
  for (int i = 0; i < 3; ++i) {
    auto memory = std::make_shared<Memory>(ir::types::I32, Elements);
    for (int64_t e = 0; e < Elements; ++e) {
      uint64_t word = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(random())));
      memory->Set(e, std::span(&word, 1));
    }
    memories.push_back(memory);
  }
  if (aliases & 1) memories[1] = memories[0];
  if (aliases & 2) memories[2] = memories[1];
  std::vector<Value> arguments;
  for (auto& memory : memories) arguments.push_back(Value::Buffer(memory));
  auto number = [&](uint64_t near, std::initializer_list<int64_t> list) {
    const uint64_t pick = random();
    return far && pick % 3 != 0 ? list.begin()[pick / 3 % list.size()]
                                : static_cast<int64_t>(pick / 3 % near);
  };
  constexpr int64_t One = 1, Most = INT64_MAX;
  for (int i = 0; i < 2; ++i)
    arguments.push_back(Value::Int(
        ir::types::U32, 1 + number(9, {One << 16, One << 31, (One << 32) - 2, 640, 6700416})));
  arguments.push_back(
      Value::Int(ir::types::Index, number(12, {One << 33, One << 40, One << 60, One << 61,
                                               One << 62, Most, Most - 1, -Most - 1, -1, -2})));
  return arguments;
}

bool Hold(const ir::Independence& conditions, const std::vector<Value>& arguments) {
  for (auto [a, b] : conditions.disjoint)
    if (arguments[a].memory == arguments[b].memory) return false;
  for (auto [a, b] : conditions.at_most)
    if (static_cast<int64_t>(arguments[a].word) > static_cast<int64_t>(arguments[b].word))
      return false;
  return true;
}

int64_t TripsOf(const ir::RangedKernel& kernel, const std::vector<Value>& arguments) {
  std::vector<Value> scalars = arguments;
  for (int i = 0; i < 3; ++i)
    scalars[static_cast<size_t>(i)] = Value::Int(ir::types::Index, Elements);
  Result<Outcome> outcome = Interpret(kernel.trips, scalars);
  EXPECT_TRUE(outcome && !outcome->trap);
  return outcome && !outcome->trap ? static_cast<int64_t>(outcome->results[0].word) : 0;
}

// The pieces in any order; the trap is the lowest iteration's.
Outcome RunPieces(const ir::RangedKernel& kernel, const std::vector<Value>& arguments,
                  std::mt19937_64& random) {
  const int64_t trips = TripsOf(kernel, arguments);
  std::vector<int64_t> cuts = {0, trips};
  for (int i = 0; i < 6 && trips > 0; ++i)
    cuts.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(trips)));
  std::ranges::sort(cuts);
  std::vector<std::pair<int64_t, int64_t>> pieces;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) pieces.emplace_back(cuts[i], cuts[i + 1]);
  std::ranges::shuffle(pieces, random);
  Outcome all;
  for (auto [from, to] : pieces) {
    std::vector<Value> piece = arguments;
    piece.push_back(Value::Int(ir::types::Index, from));
    piece.push_back(Value::Int(ir::types::Index, to));
    Result<Outcome> outcome = Interpret(kernel.program, piece);
    EXPECT_TRUE(outcome) << outcome.error().ToString();
    if (outcome && outcome->trap && (!all.trap || outcome->trap->index < all.trap->index))
      all.trap = outcome->trap;
  }
  return all;
}

struct Counts {
  int independent = 0, bound = 0, compared = 0, trapped = 0, refused_aliases = 0;
};

void CompareInShuffledPieces(const std::string& text, uint64_t seed, bool far, Counts& counts) {
  Result<ir::Program> program = ir::ParseText(text);
  ASSERT_TRUE(program) << program.error().ToString() << "\n" << text;
  Result<ir::RangedKernel> kernel = ir::MakeRanged(*program);
  if (!kernel) {
    EXPECT_EQ(kernel.error().diag, Diag::NotIndependent) << kernel.error().ToString();
    EXPECT_NE(kernel.error().location.line, 0u);
    ++counts.bound;
    return;
  }
  ++counts.independent;
  ASSERT_TRUE(ir::Check(kernel->program)) << ir::PrintText(kernel->program);
  for (int run = 0; run < 6; ++run) {
    const uint64_t data = seed * 16 + static_cast<uint64_t>(run);
    std::vector<Value> whole = Arguments(data, run % 4, far),
                       pieces = Arguments(data, run % 4, far);
    if (!Hold(kernel->conditions, whole)) {
      ++counts.refused_aliases;
      continue;
    }
    std::mt19937_64 random(data);
    Result<Outcome> expected = Interpret(*program, whole);
    ASSERT_TRUE(expected) << expected.error().ToString();
    Outcome got = RunPieces(*kernel, pieces, random);
    ASSERT_EQ(expected->trap, got.trap) << text;
    if (expected->trap) {
      const auto wrong = WrongAfterTrap(*InterpreterProgram::Create(*program),
                                        Arguments(data, run % 4, far), whole, pieces, {});
      ASSERT_FALSE(wrong) << "argument " << wrong->argument << ", element " << wrong->element
                          << " after " << got.trap->ToString() << "\n"
                          << text;
      ++counts.trapped;
      continue;
    }
    ++counts.compared;
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_TRUE(whole[i] == pieces[i]) << "argument " << i << "\n" << text;
  }
}

TEST(IndependenceOrder, RandomKernelsInShuffledPieces) {
  Counts counts;
  for (uint64_t seed = 0; seed < 4000 && !HasFatalFailure(); ++seed)
    CompareInShuffledPieces(KernelWriter(seed).Write(), seed, false, counts);
  EXPECT_GT(counts.independent, 400) << "of " << counts.independent + counts.bound;
  EXPECT_GT(counts.bound, 400);
  EXPECT_GT(counts.compared, 1000);
  EXPECT_GT(counts.trapped, 100);
  EXPECT_GT(counts.refused_aliases, 100);
}

TEST(IndependenceOrder, IndicesThatWrap) {
  Counts counts;
  for (uint64_t seed = 0; seed < 1200 && !HasFatalFailure(); ++seed)
    CompareInShuffledPieces(WrappingKernelWriter(seed).Write(), seed, true, counts);
  EXPECT_GT(counts.independent, 60) << "of " << counts.independent + counts.bound;
  EXPECT_GT(counts.bound, 60);
  EXPECT_GT(counts.compared, 1000);
}

}  // namespace
}  // namespace frazil::exec
