#include "ir/rules/rules.h"

#include <set>

#include <gtest/gtest.h>

namespace frazil::ir {
namespace {

TEST(Rules, EveryRowParses) {
  EXPECT_GE(AllRules().size(), 80u);
  std::set<std::string_view> names;
  for (const RuleRow& row : AllRules()) {
    const Result<Rule> rule = ParseRule(row);
    EXPECT_TRUE(rule) << row.name << ": " << (rule ? "" : rule.error().ToString());
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_NE(row.types, 0u) << row.name;
    EXPECT_EQ(RuleNamed(row.name), &row);
  }
  EXPECT_EQ(RuleNamed("no_such_rule"), nullptr);
}

TEST(Rules, TypesAreInferred) {
  const Rule rule = *ParseRule(RuleRow{"t", "(not (lt a b))", "(ge a b)", sets::Fixed, ""});
  const PatternNode& negation = rule.left.root();
  EXPECT_EQ(negation.op, Op::Not);
  EXPECT_EQ(negation.op_type, (PatternType{false, Scalar::Bool}));
  const PatternNode& less = rule.left.nodes[negation.children[0]];
  EXPECT_TRUE(less.op_type.is_t);
  EXPECT_EQ(less.type, (PatternType{false, Scalar::Bool}));
  EXPECT_TRUE(rule.hole_types[0].is_t);

  const Rule cast = *ParseRule(
      RuleRow{"c", "(cast:T (add (cast:i64 a) (cast:i64 b)))", "(add a b)", sets::Fixed, ""});
  const PatternNode& sum = cast.left.nodes[cast.left.root().children[0]];
  EXPECT_EQ(sum.op_type, (PatternType{false, Scalar::I64}));
  EXPECT_TRUE(cast.hole_types[0].is_t);
}

TEST(Rules, BadRowsAreRefused) {
  const std::pair<const char*, const char*> bad[] = {
      {"(add a", "a"},
      {"(add a b) c", "a"},
      {"(frobnicate a)", "a"},
      {"(add a)", "a"},
      {"(add a b c)", "a"},
      {"a", "a"},
      {"(lt a b)", "(cast:i32 a)"},
      {"(load a b)", "a"},
      {"(add a {b})", "a"},
      {"(cast:i65 a)", "a"},
      {"(add a 1x)", "a"},
      {"(lt a:bool b:i8)", "0"},
      {"(add a {{1}})", "a"},
      {"", "a"},
      {"(add a b)", ""},
  };
  for (const auto& [left, right] : bad) {
    const Result<Rule> rule = ParseRule(RuleRow{"bad", left, right, sets::Fixed, ""});
    EXPECT_FALSE(rule) << left;
  }
  for (const char* conditions :
       {"power", "sunny $c", "power $d", "arith $c", "equals $c", "holds $c $c", "power a"}) {
    EXPECT_FALSE(ParseRule(RuleRow{"bad", "(add a $c)", "a", sets::Fixed, conditions}))
        << conditions;
  }
}

TEST(Rules, ConstantsOfPatterns) {
  using Special = PatternNode::Special;
  auto number = [](int64_t n, Type type) {
    return PatternConstant({.kind = PatternNode::Kind::Number, .number = n}, type);
  };
  auto special = [](Special s, Type type) {
    return PatternConstant({.kind = PatternNode::Kind::Special, .special = s}, type);
  };
  using Words = std::vector<uint64_t>;
  EXPECT_EQ(number(-1, types::U8), Words{0xff});
  EXPECT_EQ(number(-1, types::I8), Words{~uint64_t{0}});
  EXPECT_EQ(number(2, types::Bool), std::nullopt);
  EXPECT_EQ(number(2, types::F32), Words{0x40000000});
  EXPECT_EQ(number(2, types::BF16), Words{0x4000});
  EXPECT_EQ(number(-1, types::Field), Words{0xffffffff00000000});
  EXPECT_EQ(number(-2, Type::Int(2)), (Words{~uint64_t{1}, ~uint64_t{0}}));
  EXPECT_EQ(number(3, types::XField), (Words{3, 0, 0}));
  EXPECT_EQ(special(Special::Min, types::I16), Words{0xffffffffffff8000});
  EXPECT_EQ(special(Special::Max, types::I16), Words{0x7fff});
  EXPECT_EQ(special(Special::Ones, types::Bool), Words{1});
  EXPECT_EQ(special(Special::Width, types::Index), Words{64});
  EXPECT_EQ(special(Special::NegativeZero, types::F64), Words{0x8000000000000000});
  EXPECT_EQ(special(Special::Nan, types::F16), Words{0x7e00});
  EXPECT_EQ(special(Special::Min, types::F32), std::nullopt);
  EXPECT_EQ(special(Special::Nan, types::I32), std::nullopt);
}

TEST(Rules, TheDigestCoversTheWholeRow) {
  const RuleRow row{"r", "(add a 0)", "a", sets::Fixed, ""};
  const std::string digest = RuleDigest(row);
  EXPECT_EQ(digest.size(), 64u);
  for (const RuleRow& other : {RuleRow{"s", "(add a 0)", "a", sets::Fixed, ""},
                               RuleRow{"r", "(add a 1)", "a", sets::Fixed, ""},
                               RuleRow{"r", "(add a 0)", "0", sets::Fixed, ""},
                               RuleRow{"r", "(add a 0)", "a", sets::SInt, ""},
                               RuleRow{"r", "(add a 0)", "a", sets::Fixed, "signed"}}) {
    EXPECT_NE(RuleDigest(other), digest);
    EXPECT_EQ(RecordedProof(other, Scalar::I32), "");
  }
}

}  // namespace
}  // namespace frazil::ir
