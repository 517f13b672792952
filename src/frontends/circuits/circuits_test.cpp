// The language: what is read, what is refused and where, and that printing is reading backwards.
#include "frontends/circuits/circuits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/digest.h"
#include "ir/kernel.h"
#include "ir/text/text.h"

namespace frazil::frontends::circuits {
namespace {

std::string Canonical(std::string_view text) {
  const Result<Phrase> phrase = ParsePhrase(text);
  return phrase ? PrintPhrase(*phrase) : phrase.error().ToString();
}

void ExpectError(std::string_view text, uint32_t line, uint32_t column, std::string_view part) {
  const Result<ir::Program> program = ParseCircuit(text);
  ASSERT_FALSE(program) << text;
  EXPECT_EQ(ClassOf(program.error().diag), ErrorClass::User) << text;
  EXPECT_EQ(program.error().location.line, line) << text << ": " << program.error().message;
  EXPECT_EQ(program.error().location.column, column) << text << ": " << program.error().message;
  EXPECT_NE(program.error().message.find(part), std::string::npos)
      << text << ": " << program.error().message;
}

std::vector<CallKind> Kinds(std::string_view text) {
  std::vector<CallKind> kinds;
  for (const Call& call : CallsOf(*ParsePhrase(text))) kinds.push_back(call.kind);
  return kinds;
}

TEST(CircuitSyntax, AllFifteenKindsOfCall) {
  const std::string text =
      "mark@c00 . copy@c00->c01 . swap@c00<->c01 . merge.mul@c00[c01,c02] . split.div@c00[c01,c02] "
      ". quote@c03 . "
      "evaluate@c03 . reduce.sum@c00->c01 . reduce.min@c00->c01 . reduce.max@c00->c01 . "
      "softmax@c00->c01 . "
      "mark@c[0..2] . quote@c[4..6] . evaluate@c[4..6] . merge.add@c[0..2]";
  std::vector<CallKind> expected;
  for (int i = 0; i < CallKindCount; ++i) expected.push_back(static_cast<CallKind>(i));
  EXPECT_EQ(Kinds(text), expected);
  EXPECT_EQ(Canonical(text), text);
  EXPECT_TRUE(ParseCircuit(text));
}

TEST(CircuitSyntax, PrintsCanonicalText) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"mark@c5", "mark@c05"},
      {"  mark @ c05 // a comment\n . mark@c06", "mark@c05 . mark@c06"},
      {"merge@c00[c01,c02]", "merge.add@c00[c01,c02]"},
      {"split@c00[c01,c02]", "split.sub@c00[c01,c02]"},
      {"reduce_sum@c00->c01", "reduce.sum@c00->c01"},
      {"R-1T9~@ mark@c00", "R+3T+1~@ mark@c00"},
      {"R4@ mark@c00", "mark@c00"},
      {"mark@c42^-5~@17", "mark@c42^+3~@17"},
      {"mark@c[5..14]^4", "mark@c[5..14]^+4"},
      {"((mark@c00)) . ((mark@c01 . mark@c02))", "mark@c00 . mark@c01 . mark@c02"},
      {"(mark@c00 || mark@c01) || mark@c02", "mark@c00 || mark@c01 || mark@c02"},
      {"mark@c03 . (mark@c00 || mark@c01)", "mark@c03 . (mark@c00 || mark@c01)"},
      {"merge.max@c00[0,c01]", "merge.max@c00[0,c01]"},
      {"merge.mul@c00[-0.0,c01] . split@c00[2.50,c01] . merge@c00[1e3,c01] . "
       "merge@c00[-inf,c01]",
       "merge.mul@c00[-0,c01] . split.sub@c00[2.5,c01] . merge.add@c00[1000,c01] . "
       "merge.add@c00[-inf,c01]"},
  };
  for (const auto& [text, canonical] : cases) EXPECT_EQ(Canonical(text), canonical) << text;
}

TEST(CircuitSyntax, ScratchIsNoParameter) {
  EXPECT_EQ(Canonical("scratch c03 , c01 : mark@c01 . copy@c01->c00"),
            "scratch c01, c03: mark@c01 . copy@c01->c00");
  EXPECT_EQ(
      ParseCircuit("scratch c01, c03: mark@c01 . copy@c01->c00")->entry_function().param_count(),
      2u);
  ExpectError("scratch c01, c01: mark@c01", 1, 14, "twice");
  ExpectError("scratch c01^+1: mark@c01", 1, 9, "after transforms");
  ExpectError("scratch c01 mark@c01", 1, 13, "':'");
  ExpectError("scratch: mark@c01", 1, 8, "a class");
}

TEST(CircuitSyntax, VariantsWithoutSyntaxComeFromTheOptions) {
  CircuitOptions options;
  ASSERT_TRUE(SetVariant(options, "mul"));
  ASSERT_TRUE(SetVariant(options, "div"));
  EXPECT_FALSE(SetVariant(options, "unknown"));
  EXPECT_EQ(ir::ExactDigest(*ParseCircuit("merge@c00[c01,c02]", options)),
            ir::ExactDigest(*ParseCircuit("merge.mul@c00[c01,c02]")));
  EXPECT_EQ(ir::ExactDigest(*ParseCircuit("split@c00[c01,c02]", options)),
            ir::ExactDigest(*ParseCircuit("split.div@c00[c01,c02]")));
  EXPECT_NE(ir::ExactDigest(*ParseCircuit("merge@c00[c01,c02]")),
            ir::ExactDigest(*ParseCircuit("merge.mul@c00[c01,c02]")));
}

// Random text of the whole grammar, groups in groups included.
class TextMaker {
 public:
  explicit TextMaker(uint64_t seed) : state_(seed * 2654435761u + 12345) {}

  std::string Circuit() {
    std::string text = Below(4) == 0 ? "scratch c90, c91@3: " : "";
    if (Below(3) == 0) text += fmt::format("R{}T+{}~ @", static_cast<int>(Below(9)) - 4, Below(20));
    return text + Branches(0);
  }

 private:
  uint64_t Below(uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }
  std::string Sigil() {
    std::string text = fmt::format("c{}", Below(96));
    if (Below(4) == 0) text += fmt::format("^{}", static_cast<int>(Below(30)) - 15);
    if (Below(4) == 0) text += "~";
    return Below(4) == 0 ? text + fmt::format(" @{}", Below(48)) : text;
  }
  std::string Operand() {
    constexpr const char* Numbers[] = {
        "0", "-0", "1.25", "-3e-7", "inf", "-inf", "nan", "12345678901234567", "0.1"};
    return Below(3) == 0 ? Numbers[Below(std::size(Numbers))] : Sigil();
  }
  std::string Operation() {
    const uint64_t first = Below(90);
    const std::string range =
        fmt::format("c[{} .. {}]^+{}", first, first + 1 + Below(95 - first), Below(9));
    switch (Below(9)) {
      case 0: return "mark@" + (Below(2) == 0 ? range : Sigil());
      case 1: return "copy@" + Sigil() + "->" + Sigil();
      case 2: return "swap @ " + Sigil() + " <-> " + Sigil();
      case 3: return "merge.mul@" + Sigil() + "[" + Operand() + " , " + Sigil() + "]";
      case 4: return "split@" + Sigil() + "[" + Operand() + "," + Sigil() + "]";
      case 5: return "reduce_max@" + Sigil() + "->" + Sigil();
      case 6: return "softmax@" + Sigil() + "->" + Sigil();
      case 7: return "merge . tanh@" + (Below(2) == 0 ? range : Sigil() + "[c00,c01]");
      default: return (Below(2) == 0 ? "quote@" : "evaluate@") + Sigil();
    }
  }
  std::string Sequence(int depth) {
    std::string text;
    for (uint64_t i = 0, count = 1 + Below(3); i < count; ++i) {
      if (i != 0) text += "\n. // next\n";
      text += depth < 3 && Below(3) == 0 ? "(" + Branches(depth + 1) + ")" : Operation();
    }
    return text;
  }
  std::string Branches(int depth) {
    std::string text = Sequence(depth);
    for (uint64_t i = 0, count = Below(3); i < count; ++i) text += " || " + Sequence(depth);
    return text;
  }
  uint64_t state_;
};

TEST(CircuitSyntax, PrintingIsReadingBackwards) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const std::string text = TextMaker(seed).Circuit();
    const Result<Phrase> phrase = ParsePhrase(text);
    ASSERT_TRUE(phrase) << text << ": " << phrase.error().ToString();
    const std::string printed = PrintPhrase(*phrase);
    const Result<Phrase> again = ParsePhrase(printed);
    ASSERT_TRUE(again) << printed << ": " << again.error().ToString();
    ASSERT_TRUE(*again == *phrase) << printed;
    ASSERT_EQ(PrintPhrase(*again), printed);
    ASSERT_EQ(CallsOf(*again).size(), CountOps(*phrase));
  }
}

TEST(CircuitSyntax, EveryVariantIsReadAndPrinted) {
  for (Generator generator : {Generator::Merge, Generator::Split, Generator::Reduce}) {
    for (uint8_t v = 0; !VariantName(generator, v).empty(); ++v) {
      const bool reduce = generator == Generator::Reduce;
      const std::string text = std::string(GeneratorName(generator)) + "." +
                               std::string(VariantName(generator, v)) +
                               (reduce ? "@c00->c01" : "@c00[c01,c02]");
      EXPECT_EQ(Canonical(text), text);
      EXPECT_TRUE(ParseCircuit(text)) << text;
    }
  }
}

TEST(CircuitSyntax, RefusesWithAPlace) {
  ExpectError("mark@c00 mark@c01", 1, 10, "does not belong here");
  ExpectError("mark@c00 .", 1, 11, "expected a generator");
  ExpectError("", 1, 1, "expected a generator");
  ExpectError("mark@c00 ; mark@c01", 1, 10, "';'");
  ExpectError("mark@c00 \xc3\x97 mark@c01", 1, 10, "byte 0xc3");
  ExpectError("mark@c00 | mark@c01", 1, 10, "single '|'");
  ExpectError("mark@c96", 1, 7, "out of range");
  ExpectError("mark@c99999999999999999999", 1, 7, "out of range");
  ExpectError("mark@c00@48", 1, 10, "out of range");
  ExpectError("\n\n  mark@c[5..5]", 3, 8, "does not ascend");
  ExpectError("mark@c[7..5]", 1, 6, "does not ascend");
  ExpectError("mark@c[7..96]", 1, 11, "out of range");
  ExpectError("copy@c[0..3]", 1, 6, "takes no range");
  ExpectError("swap@c[0..3]", 1, 6, "takes no range");
  ExpectError("split@c[0..3]", 1, 7, "takes no range");
  ExpectError("reduce.sum@c[0..3]", 1, 12, "takes no range");
  ExpectError("softmax@c[0..3]", 1, 9, "takes no range");
  ExpectError("mark@c[0..3]@4", 1, 13, "no page");
  ExpectError("copy@c00->c[0..3]", 1, 12, "stands alone");
  ExpectError("copy@c00", 1, 9, "'->'");
  ExpectError("copy@c00<->c01", 1, 9, "'->'");
  ExpectError("swap@c00->c01", 1, 9, "'<->'");
  ExpectError("merge@c00", 1, 10, "'['");
  ExpectError("merge@c00[c01]", 1, 14, "','");
  ExpectError("merge.pow@c00[c01,c02]", 1, 7, "no variant of merge");
  ExpectError("mark.add@c00", 1, 6, "no variants");
  ExpectError("reduce@c00->c01", 1, 1, "needs its variant");
  ExpectError("reduce.mean@c00->c01", 1, 8, "no variant of reduce");
  ExpectError("hadamard@c00", 1, 1, "no generator");
  ExpectError("R+1 mark@c00", 1, 5, "'@'");
  ExpectError("T+1R+1@ mark@c00", 1, 4, "in the order R T ~");
  ExpectError("R@ mark@c00", 1, 2, "a rotation");
  ExpectError("(mark@c00", 1, 10, "')'");
  ExpectError("mark@c00)", 1, 9, "does not belong");
  ExpectError("mark@x00", 1, 6, "a class");
  ExpectError("c21", 1, 1, "no generator");
  ExpectError("merge.exp@c00[1,c01]", 1, 15, "ignores its context");
  ExpectError("merge@c00[1e999,c01]", 1, 11, "no double");
  ExpectError("mark@c00 // || mark@c01\n. quoth@c01", 2, 3, "no generator");
  std::string deep(300, '(');
  const Result<ir::Program> nested = ParseCircuit(deep + "mark@c00" + std::string(300, ')'));
  ASSERT_FALSE(nested);
  EXPECT_EQ(nested.error().diag, Diag::LimitReached);
}

TEST(CircuitSyntax, BranchesMustNotDependOnTheirOrder) {
  EXPECT_TRUE(ParseCircuit("mark@c00 || mark@c01 || copy@c02->c03"));
  EXPECT_TRUE(ParseCircuit("copy@c00->c01 || copy@c00->c02"));
  ExpectError("mark@c00 || copy@c00->c01", 1, 13, "reads c00, another writes it");
  ExpectError("copy@c00->c01 || mark@c00", 1, 18, "writes c00, another reads it");
  ExpectError("mark@c02 . (mark@c00 || mark@c00)", 1, 25, "writes c00");
  ExpectError("quote@c00 . mark@c00 . (evaluate@c00 || copy@c00->c01)", 1, 41, "reads c00");
  ExpectError("quote@c00 . copy@c05->c00 . (evaluate@c00 || mark@c05)", 1, 46, "writes c05");
}

TEST(CircuitSyntax, TransformsReachEveryClassOfARange) {
  const auto slots = [](std::string_view text) { return CallsOf(*ParsePhrase(text))[0].slots; };
  // l goes round within its eight: c05 .. c07 and c00 .. c01, never an end before a start.
  EXPECT_EQ(slots("mark@c[5..7]^+4"), (std::vector<SlotId>{SlotOf(1), SlotOf(2), SlotOf(3)}));
  EXPECT_EQ(slots("mark@c[5..14]^+4").size(), 10u);
  EXPECT_EQ(slots("mark@c[5..14]^+4")[2], SlotOf(3));
  EXPECT_EQ(slots("mark@c[5..14]^+4")[3], SlotOf(12));
  EXPECT_EQ(slots("R+1@ mark@c[0..1]~"), (std::vector<SlotId>{SlotOf(24), SlotOf(25)}));
  EXPECT_EQ(slots("R+2T+3@ mark@c07"), (std::vector<SlotId>{SlotOf(50)}));
  EXPECT_EQ(slots("mark@c42^+3~@17"), (std::vector<SlotId>{SlotOf(37, 17)}));
  EXPECT_EQ(slots("T-1@ copy@c00^+1->c01~"), (std::vector<SlotId>{SlotOf(0), SlotOf(0)}));
}

TEST(CircuitSyntax, QuotationsHoldBackUntilEvaluated) {
  const auto same = [](std::string_view a, std::string_view b) {
    EXPECT_EQ(ir::ExactDigest(*ParseCircuit(a)), ir::ExactDigest(*ParseCircuit(b)))
        << a << " and " << b;
  };
  same("quote@c00 . mark@c00 . copy@c00->c01 . evaluate@c00", "copy@c00->c01 . mark@c00");
  same("quote@c01 . copy@c00->c01 . mark@c00 . evaluate@c01", "mark@c00 . copy@c00->c01");
  same("quote@c00 . quote@c00 . mark@c00 . evaluate@c00 . evaluate@c00", "mark@c00");
  same("evaluate@c00 . mark@c00", "mark@c00");
  same("quote@c00 . swap@c00<->c01 . quote@c01 . evaluate@c00 . mark@c02 . evaluate@c01",
       "mark@c02 . swap@c00<->c01");
  EXPECT_EQ(StepsOf(*ParsePhrase("quote@c00 . mark@c00"))->size(),
            0u);  // never evaluated, never run
}

TEST(CircuitSyntax, RangesIncludeTheirEnd) {
  const std::vector<Step> marks = *StepsOf(*ParsePhrase("mark@c[3..5]"));
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[2].destination, SlotOf(5));
  const std::vector<Step> merges = *StepsOf(*ParsePhrase("merge.add@c[3..5]"));
  ASSERT_EQ(merges.size(), 2u);  // c03 and c04 into c05
  EXPECT_EQ(merges[0].source, SlotOf(3));
  EXPECT_EQ(merges[1].source, SlotOf(4));
  EXPECT_EQ(merges[1].destination, SlotOf(5));
  EXPECT_EQ(StepsOf(*ParsePhrase("merge.exp@c[3..5]"))->size(), 3u);
}

TEST(CircuitSyntax, CountsEveryOperationOfAGroup) {
  EXPECT_EQ(CountOps(*ParsePhrase("mark@c05 . (mark@c00 . mark@c00 || mark@c01) . mark@c02")), 5u);
}

TEST(CircuitProgram, OneParameterForEachSlotThenTheExtent) {
  const ir::Program program = *ParseCircuit("merge.add@c10[c02,c00] . mark@c02@3");
  const ir::KernelSignature signature = ir::SignatureOf(program);
  ASSERT_EQ(signature.params.size(), 5u);
  EXPECT_EQ(signature.params[0].name, "c00");
  EXPECT_EQ(signature.params[1].name, "c02");
  EXPECT_EQ(signature.params[2].name, "c02_p3");
  EXPECT_EQ(signature.params[3].name, "c10");
  EXPECT_EQ(signature.params[4].name, "n");
  EXPECT_EQ(signature.params[4].role, ir::ParamRole::Extent);
  EXPECT_EQ(signature.params[1].type, ir::Type::Buffer(ir::types::F32, ir::Access::In));
  EXPECT_EQ(signature.params[0].type, ir::Type::Buffer(ir::types::F32, ir::Access::InOut));
}

TEST(CircuitProgram, AReductionAloneHasAnExtentToo) {
  const ir::KernelSignature signature = ir::SignatureOf(*ParseCircuit("reduce.sum@c00->c01"));
  ASSERT_EQ(signature.params.size(), 3u);
  EXPECT_EQ(signature.params[2].role, ir::ParamRole::Extent);
  EXPECT_EQ(signature.params[2].buffers,
            std::vector<uint32_t>{0});  // one element is enough for the result
}

TEST(CircuitProgram, ElementTypes) {
  CircuitOptions options;
  options.element = ir::types::I32;
  EXPECT_TRUE(ParseCircuit(
      "merge.add@c00[c01,c02] . mark@c00 . merge.abs@c00[c00,c00] . reduce.sum@c00->c01", options));
  EXPECT_FALSE(ParseCircuit("merge.exp@c00[c01,c02]", options));
  EXPECT_FALSE(ParseCircuit("split.div@c00[c01,c02]", options));
  EXPECT_FALSE(ParseCircuit("softmax@c00->c01", options));
  EXPECT_TRUE(ParseCircuit("merge@c00[-5,c02]", options));
  EXPECT_FALSE(ParseCircuit("merge@c00[0.5,c02]", options));
  EXPECT_FALSE(ParseCircuit("merge@c00[3000000000,c02]", options));
  options.element = ir::types::U8;
  EXPECT_FALSE(ParseCircuit("merge@c00[256,c02]", options));
  EXPECT_FALSE(ParseCircuit("merge@c00[-1,c02]", options));
  EXPECT_FALSE(ParseCircuit("merge.abs@c00[c00,c02]", options));
  EXPECT_TRUE(ParseCircuit("merge@c00[255,c02] . mark@c00", options));
  options.element = ir::types::U64;
  EXPECT_TRUE(ParseCircuit("merge@c00[9223372036854775807,c02] . mark@c00", options));
  options.element = ir::types::Field;
  EXPECT_FALSE(ParseCircuit("mark@c00", options));
}

TEST(CircuitProgram, SlotNames) {
  for (SlotId slot = 0; slot < SlotCount; ++slot) ASSERT_EQ(SlotNamed(SlotName(slot)), slot);
  for (const char* name : {"c96", "c5", "c005", "c05_p48", "c05_p", "c05_p03", "x05", "c05p3", ""})
    EXPECT_FALSE(SlotNamed(name)) << name;
}

}  // namespace
}  // namespace frazil::frontends::circuits
