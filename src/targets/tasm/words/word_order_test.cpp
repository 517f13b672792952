// Words are made before they are used, in the order of the nodes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/generator.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {
namespace {

// Empty: in order.
std::string Disorder(const WordFunction& f, uint32_t region, std::set<Word> made) {
  const WordRegion& r = f.regions[region];
  made.insert(r.params.begin(), r.params.end());
  auto missing = [&](const std::vector<Word>& words) -> std::string {
    for (Word w : words)
      if (!f.is_const(w) && !made.contains(w)) return fmt::format("word {} of {}", w, f.name);
    return "";
  };
  for (uint32_t id : r.nodes) {
    const WordNode& node = f.nodes[id];
    if (std::string why = missing(node.inputs); !why.empty()) return why;
    if (node.op != WordOp::While)
      for (uint32_t inner : node.regions)
        if (std::string why = Disorder(f, inner, made); !why.empty()) return why;
    if (node.op == WordOp::While) {
      if (std::string why = Disorder(f, node.regions[0], made); !why.empty()) return why;
      // The body sees the carried words, which are the test's parameters.
      std::set<Word> inside = made;
      inside.insert(f.regions[node.regions[0]].params.begin(),
                    f.regions[node.regions[0]].params.end());
      if (std::string why = Disorder(f, node.regions[1], inside); !why.empty()) return why;
    }
    made.insert(node.results.begin(), node.results.end());
  }
  return missing(r.yields);
}

std::string Disorder(const ir::Program& program) {
  const auto lowered = ir::LowerTensors(program);
  if (!lowered) return lowered.error().ToString();
  const auto split = ir::SplitBarriers(*lowered);
  if (!split) return split.error().ToString();
  for (bool check_raw : {false, true}) {
    const auto words = SelectWords(*split, {.check_raw = check_raw});
    if (!words) return words.error().ToString();
    for (const WordFunction& f : words->functions)
      if (std::string why = Disorder(f, 0, {}); !why.empty()) return why + "\n" + Print(f);
  }
  return "";
}

TEST(WordOrder, OfRandomPrograms) {
  int seen = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed;
    options.size = 4 + seed % 16;
    options.allow_math = false;
    options.allow_buffers = seed % 4 != 0;
    options.types =
        ir::Only(ir::Scalar::Field) | ir::Only(ir::Scalar::U32) | ir::Only(ir::Scalar::XField);
    const ir::Program program = generator::Generate(options);
    if (!WhyNot(program).empty()) continue;
    ASSERT_EQ(Disorder(program), "") << seed;
    ++seen;
  }
  EXPECT_GT(seen, 200);
}

// Elements of a small buffer that are stored and loaded by constants, after one by a computed index: the loads are joined.
TEST(WordOrder, OfLoadsThatAreJoined) {
  std::string text =
      "frz 1\nfunc @main(%ram: buffer<field>) {\n  %a = input : field\n  %b = input : field\n  %u "
      "= cast %b : u64\n"
      "  %k = cast %u : u32\n  %q = cast %k : index\n  %old = load %ram, %q : field\n  %four = "
      "const 4 : index\n"
      "  %m = alloc %four : field\n";
  const char* values[] = {"%a", "%b", "%old", "%a"};
  for (int i = 0; i < 4; ++i)
    text += fmt::format("  %i{} = const {} : index\n  store %m, %i{}, {} : field\n", i, i, i,
                        values[i]);
  text +=
      "  %three = const 3 : u32\n  %low = and %k, %three : u32\n  %at = cast %low : index\n  %x = "
      "load %m, %at : field\n";
  text += "  %y = add %x, %a : field\n  output %a : field\n";
  for (int i = 0; i < 3; ++i)
    text += fmt::format(
        "  %j{} = const {} : index\n  %l{} = load %m, %j{} : field\n  output %l{} : field\n", i, i,
        i, i, i);
  const auto program = ir::ParseText(text + "  output %y : field\n  return\n}\n");
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  EXPECT_EQ(Disorder(*program), "");
}

}  // namespace
}  // namespace frazil::targets::tasm
