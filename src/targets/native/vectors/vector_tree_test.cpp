// Folds as native code of every level against the interpreter: every kind, lengths around rows and blocks, special numbers.
#include <fmt/format.h>

#include "targets/native/vectors/test_vectors.h"

namespace frazil::targets::native {
namespace {

using namespace testing;

std::string FoldText(std::string_view kind, std::string_view type, std::string_view element,
                     std::string_view count = "%n") {
  return fmt::format(
      "frz 1\nfunc @main(%n: index, %x: in buffer<{1}>, %y: in buffer<{1}>) -> ({1}) {{\n"
      "  %k = const 100 : index\n"
      "  %s = fold {0} %i to {3} chains 64 block 4096 -> {1} {{\n    %a = load %x, %i : {1}\n{2}"
      "    yield %e\n  }}\n  return %s\n}}\n",
      kind, type, element, count);
}
constexpr std::string_view AsItIs = "";

std::string TextOf(std::string_view kind, std::string_view type, std::string_view element) {
  std::string text = FoldText(kind, type, element);
  if (element.empty()) text.replace(text.find("yield %e"), 8, "yield %a");
  return text;
}

std::string LoopsOf(const std::string& text) {
  NativeOptions options;
  options.level = exec::CpuLevel::Avx512;
  const Result<std::string> llvm = EmitLlvm(Parse(text), options);
  EXPECT_TRUE(llvm) << llvm.error().ToString();
  return llvm ? *llvm : "";
}

constexpr std::string_view Tree = "in the tree of a fold";
constexpr int64_t Lengths[] = {
    -3,  0,   1,    2,    15,   16,   31,   63,   64,           65,           127,          128,
    200, 640, 4095, 4096, 4097, 4160, 8192, 8193, 3 * 4096 + 7, 5 * 4096 - 1, 7 * 4096 + 64};

TEST(VectorTree, EveryKindAtEveryLength) {
  for (std::string_view type : {"f32", "f64"}) {
    for (std::string_view kind : {"sum", "product", "min", "max", "minimum", "maximum"}) {
      const std::string text = TextOf(kind, type, AsItIs);
      EXPECT_NE(LoopsOf(text).find(Tree), std::string::npos) << text;
      const Differential test(text);
      uint64_t seed = 0;
      for (const int64_t length : Lengths) {
        const int64_t room = std::max<int64_t>(length, 0);
        test.Check({{room, 0}, {Index(length)}, {}, ++seed, true});
        test.Check({{room + 5, 0}, {Index(length)}, {}, ++seed, false});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Each of the special numbers alone in a row, at each place of it: what is joined must be joined once, and in order.
TEST(VectorTree, OneOddNumber) {
  const Differential test(TextOf("sum", "f32", AsItIs));
  for (uint64_t seed = 1; seed < 150; ++seed)
    test.Check({{static_cast<int64_t>(seed % 90 + 1), 0},
                {Index(static_cast<int64_t>(seed % 90 + 1))},
                {},
                seed,
                seed % 5 != 0});
}

TEST(VectorTree, ElementsThatAreComputed) {
  const std::string_view elements[] = {
      "    %b = load %y, %i : f32\n    %e = mul %a, %b : f32\n",
      "    %b = load %y, %i : f32\n    %d = sub %a, %b : f32\n    %q = exp.fast %d : f32\n"
      "    %e = add %q, %a : f32\n",
      "    %b = load %y, %k : f32\n    %e = sub %a, %b : f32\n",
      "    %j = cast %i : f32\n    %e = mul %a, %j : f32\n",
      "    %c = lt %a, %a : f32\n    %e = select %c, %a, %a : f32\n"};
  for (const std::string_view element : elements) {
    const Differential test(TextOf("sum", "f32", element));
    uint64_t seed = 0;
    for (const int64_t length : {0, 1, 5, 64, 100, 130, 4100, 9000})
      test.Check(
          {{length, std::max<int64_t>(length, 101)}, {Index(length)}, {}, ++seed, seed % 2 == 0});
    // The trap of the first element that is outside of either.
    for (const int64_t length : {1, 64, 130, 4100}) {
      test.Check({{length - 1, std::max<int64_t>(length, 101)}, {Index(length)}, {}, ++seed, true});
      test.Check({{length, length / 2}, {Index(length)}, {}, ++seed, true});
    }
  }
}

// Narrow floats are folded as f32; few and many elements; integers in any order; other trees as loops.
TEST(VectorTree, OtherTypesAndTrees) {
  for (std::string_view type : {"f16", "bf16", "i32", "u8", "i64"}) {
    for (std::string_view kind : {"sum", "max"}) {
      const Differential test(TextOf(kind, type, AsItIs));
      for (const int64_t length : {0, 1, 3, 64, 131, 4097})
        test.Check({{length, 0}, {Index(length)}, {}, static_cast<uint64_t>(length + 1), true});
    }
  }
  std::string text = TextOf("sum", "f32", AsItIs);
  text.replace(text.find("chains 64 block 4096"), 20, "chains 16 block 64");
  EXPECT_EQ(LoopsOf(text).find(Tree), std::string::npos);
  const Differential test(text);
  for (const int64_t length : {0, 1, 15, 64, 65, 200, 700})
    test.Check({{length, 0}, {Index(length)}, {}, static_cast<uint64_t>(length + 1), false});
}

TEST(VectorTree, KnownLengths) {
  for (const int64_t length : {1, 2, 17, 64, 100, 128, 4096, 4097, 9000}) {
    std::string text = FoldText("sum", "f32", "", "%known");
    text.replace(text.find("yield %e"), 8, "yield %a");
    text.replace(text.find("  %s ="), 6,
                 fmt::format("  %known = const {} : index\n  %s =", length));
    const Differential test(text);
    for (uint64_t seed = 1; seed < 6; ++seed)
      test.Check({{length, 0}, {Index(length)}, {}, seed, seed % 2 == 0});
    test.Check({{length - 1, 0}, {Index(length)}, {}, 9, true});
  }
}

}  // namespace
}  // namespace frazil::targets::native
