// Buffers that are one, and zeros that are left out. The machine starts with RAM full of what a prover might put there, so a
// zero that is missing shows.
#include "targets/tasm/words/buffer_plans.h"
#include "base/sanitized.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {
namespace {

// Cycles of the program; its output is the interpreter's.
uint64_t Same(const std::string& text) {
  const auto program = ir::ParseText(text);
  if (!program) {
    ADD_FAILURE() << program.error().ToString() << "\n" << text;
    return 0;
  }
  const auto lowered = Lower(*program);
  EXPECT_TRUE(lowered.has_value()) << text;
  const auto expected = exec::Interpret(*program, {});
  EXPECT_TRUE(expected.has_value());
  if (!lowered || !expected) return 0;
  auto inputs = ToInputs(*program, {}, {});
  EXPECT_TRUE(inputs.has_value());
  for (uint64_t i = 0; i < 400; ++i) inputs->ram[ScratchBase + i] = 1'000'000 + i;
  const mt::RunResult run = mt::Run(lowered->program, *inputs);
  const auto actual = ToOutcome(*program, *lowered, run, {});
  EXPECT_TRUE(actual.has_value());
  if (actual) {
    EXPECT_EQ(expected->trap.has_value(), actual->trap.has_value()) << text;
    EXPECT_EQ(expected->output, actual->output) << text;
  }
  return run.cycles;
}

std::string Loop(const std::string& hi, const std::string& body) {
  return fmt::format("  for %i = %zero to {} step 1 {{\n{}    yield\n  }}\n", hi, body);
}

constexpr std::string_view Constants =
    "  %zero = const 0 : index\n  %one = const 1 : index\n  %n = const 8 : index\n  %m = const 5 : "
    "index\n  %x = const 7 : field\n  %none = const 0 : field\n";

// A library's array that is read, and comes back by a copy: one buffer, and no zeros.
TEST(BufferPlans, ArraysThatComeBack) {
  const std::string show = Loop("%n", "    %v = load %a, %i : field\n    output %v : field\n");
  const std::string main = fmt::format(
      "frz 1\nfunc @main() {{\n{}  %a = alloc %n : field\n  call @make(%a)\n{}  call "
      "@make(%a)\n{}  return\n}}\n",
      Constants, show, show);
  const std::string make = fmt::format(
      "func @make(%r: buffer<field>) {{\n{}  %t = alloc %n : field\n{}{}  return\n}}\n", Constants,
      Loop("%n",
           "    %f = cast %i : u32\n    %g = cast %f : field\n    %v = add %g, %x "
           ": field\n    store %t, %i, %v : field\n"),
      Loop("%n", "    %v = load %t, %i : field\n    store %r, %i, %v : field\n"));
  // Twice eight rounds that write and eight that read, ten instructions each.
  EXPECT_LT(Same(main + make), 2 * 8 * 22 + 40);
  // With fewer elements written the zeros have to be there.
  std::string fewer = make;
  fewer.replace(fewer.find("to %n"), 5, "to %m");
  Same(main + fewer);
}

// Random programs of a few buffers: fills, copies, single elements, loops over a part, calls.
class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}

  std::string Program() {
    std::string text = "frz 1\nfunc @main() {\n" + std::string(Constants);
    for (int i = 0; i < 2; ++i) Alloc(text);
    text += Block(12);
    for (const std::string& buffer : std::vector(buffers_)) text += Show(buffer);
    text += "  return\n}\n";
    buffers_ = {"%p", "%q"};
    text += "func @f(%p: buffer<field>, %q: buffer<field>) {\n" + std::string(Constants);
    Alloc(text);
    in_function_ = true;
    text += Block(6);
    return text + "  return\n}\n";
  }

 private:
  uint32_t Pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  std::string Buffer() { return buffers_[Pick(static_cast<uint32_t>(buffers_.size()))]; }
  std::string Name() { return fmt::format("%t{}", next_++); }

  void Alloc(std::string& text) {
    buffers_.push_back(Name());
    text += fmt::format("  {} = alloc %n : field\n", buffers_.back());
  }

  std::string Show(const std::string& buffer) {
    const std::string i = Name(), v = Name();
    return fmt::format(
        "  for {} = %zero to %n step 1 {{\n    {} = load {}, {} : field\n    output {} : field\n   "
        " yield\n  }}\n",
        i, v, buffer, i, v);
  }

  std::string Whole(const std::string& end, bool reads) {
    const std::string i = Name(), v = Name(), to = Buffer(), from = Buffer();
    std::string text = fmt::format("  for {} = %zero to {} step 1 {{\n", i, end);
    if (reads) text += fmt::format("    {} = load {}, {} : field\n", v, from, i);
    text += fmt::format("    store {}, {}, {} : field\n    yield\n  }}\n", to, i,
                        reads          ? v
                        : Pick(2) != 0 ? "%x"
                                       : "%none");
    return text;
  }

  std::string Block(int length) {
    std::string text;
    for (int k = 0; k < length; ++k) {
      switch (Pick(in_function_ ? 6 : 8)) {
        case 0: Alloc(text); break;
        case 1:
        case 2: text += Whole("%n", true); break;
        case 3: text += Whole(Pick(2) != 0 ? "%n" : "%m", Pick(2) != 0); break;
        case 4: {
          const std::string i = Name();
          text += fmt::format("  {} = const {} : index\n  store {}, {}, %x : field\n", i, Pick(8),
                              Buffer(), i);
          break;
        }
        case 5: {
          const std::string v = Name();
          text +=
              fmt::format("  {} = load {}, %one : field\n  output {} : field\n", v, Buffer(), v);
          break;
        }
        case 6: {
          const std::string a = Buffer(), b = Buffer();
          text += fmt::format("  call @f({}, {})\n", a, b);
          break;
        }
        default: {
          const std::string i = Name();
          const std::vector<std::string> outside = buffers_;
          const bool in_function = std::exchange(in_function_, true);
          text += fmt::format("  for {} = %zero to %m step 1 {{\n{}    yield\n  }}\n", i, Block(4));
          in_function_ = in_function;
          buffers_ = outside;
        }
      }
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> buffers_;
  int next_ = 0;
  bool in_function_ = false;
};

TEST(BufferPlans, RandomBuffers) {
  for (uint32_t seed = 0; seed < (Sanitized ? 20 : 120) && !HasFailure(); ++seed)
    Same(Random(seed).Program());
}

}  // namespace
}  // namespace frazil::targets::tasm
