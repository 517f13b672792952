// The recorded proofs that need no solver, proved again; and wrong rules, none of which may pass.
#include "verify/rules/rule_proof.h"

#include <gtest/gtest.h>

namespace frazil::verify {
namespace {

using Status = RuleProof::Status;

// How many proofs of this kind are on record, and are proved again; `prove` gives nothing for those it leaves out.
template <typename Prove>
int ProvedAgain(std::string_view kind, const Prove& prove) {
  int again = 0;
  for (const ir::Rule& rule : ir::ParsedRules()) {
    for (int i = 0; i < ir::ScalarCount; ++i) {
      const auto type = static_cast<ir::Scalar>(i);
      if (ir::RecordedProof(*rule.row, type) != kind) continue;
      const std::optional<RuleProof> proof = prove(rule, type);
      if (!proof) continue;
      EXPECT_EQ(proof->status, Status::Proved)
          << rule.row->name << " " << ir::ScalarName(type) << ": " << proof->detail;
      ++again;
    }
  }
  return again;
}

TEST(RuleProofs, RecordedNormalFormsHoldAgain) {
  const auto prove = [](const ir::Rule& rule, ir::Scalar type) {
    return std::optional(ProveByNormalForm(rule, type));
  };
  EXPECT_GE(ProvedAgain("normal form", prove), 400);
}

TEST(RuleProofs, RecordedExhaustiveProofsHoldAgain) {
  const auto prove = [](const ir::Rule& rule, ir::Scalar type) -> std::optional<RuleProof> {
    const RuleProof proof = ProveExhaustively(rule, type, 1 << 16);
    if (proof.status == Status::Unknown && proof.detail.contains("too many")) return std::nullopt;
    return proof;
  };
  EXPECT_GE(ProvedAgain("exhaustive", prove), 200);
}

// What holds by a cheap argument for one type also stands the test of every 8-bit value: two judges, one answer.
TEST(RuleProofs, JudgesAgreeOnSmallTypes) {
  for (const ir::Rule& rule : ir::ParsedRules()) {
    for (ir::Scalar type : {ir::Scalar::I8, ir::Scalar::U8, ir::Scalar::Bool}) {
      if (!ir::Contains(rule.row->types, type)) continue;
      const RuleProof proof = ProveExhaustively(rule, type, 1 << 16);
      EXPECT_NE(proof.status, Status::Refuted)
          << rule.row->name << " " << ir::ScalarName(type) << ": " << proof.detail;
    }
  }
}

struct WrongRule {
  const char* left;
  const char* right;
  ir::ScalarSet types;
  const char* conditions = "";
};
const WrongRule WrongRules[] = {
    {"(add a 0)", "0", ir::sets::Fixed},
    {"(sub a b)", "(sub b a)", ir::sets::Fixed | ir::sets::Fields},
    {"(mul a (add b c))", "(add (mul a b) c)", ir::sets::Fixed | ir::sets::Fields},
    {"(div.trunc a 2)", "(shr a 1)", ir::sets::SInt},
    {"(div.trunc a $c)", "(shr a {(ctz $c)})", ir::sets::UInt},
    {"(div.trunc a b)", "(div.trunc a b)", ir::sets::Fixed},  // may trap
    {"(rem.trunc a $c)", "(and a {(sub $c 1)})", ir::sets::SInt, "power $c"},
    {"(shl (shl a $c) $d)", "(shl a {(add $c $d)})", ir::sets::Fixed},  // sums beyond the width
    {"(shr (shl a $c) $c)", "a", ir::sets::Fixed},
    {"(not (lt a b))", "(gt a b)", ir::sets::Fixed},
    {"(lt (add a 1) (add b 1))", "(lt a b)", ir::sets::Fixed},  // wraps
    {"(abs (sub a b))", "(sub (max a b) (min a b))", ir::sets::Float},
    {"(min a (max b c))", "(max (min a b) c)", ir::sets::Fixed},
    {"(select p a b)", "(select p b a)", ir::sets::Any & ~ir::sets::Bool},
    {"(add a 0)", "a", ir::sets::Half, "arith a"},  // -0 + 0
    {"(add a -0)", "a", ir::sets::Half},            // payloads
    {"(neg (neg a))", "a", ir::sets::Half},         // payloads
    {"(eq a a)", "1", ir::sets::Half},              // NaN
    {"(min a a)", "a", ir::sets::Half},
    {"(mul a 0)", "0", ir::sets::Half, "arith a"},
    {"(cast:T (cast:i8 a:T))", "a", ir::Only(ir::Scalar::I16) | ir::Only(ir::Scalar::U32)},
    {"(cast:T (cast:u8 a:T))", "a", ir::Only(ir::Scalar::I16)},
    {"(add.checked a 1)", "(add a 1)", ir::sets::Fixed},
    {"(field.div a $c)", "(mul a {(invert $c)})", ir::sets::Fields},  // without `nonzero`
    {"(max a b)", "a", ir::sets::BigInt},
    {"(lt a b)", "(le a b)", ir::sets::BigInt},
};

TEST(RuleProofs, NoWrongRulePasses) {
  for (const WrongRule& wrong : WrongRules) {
    const ir::RuleRow row{"wrong", wrong.left, wrong.right, wrong.types, wrong.conditions};
    const Result<ir::Rule> rule = ir::ParseRule(row);
    ASSERT_TRUE(rule) << wrong.left << ": " << rule.error().ToString();
    for (int i = 0; i < ir::ScalarCount; ++i) {
      const auto type = static_cast<ir::Scalar>(i);
      if (!ir::Contains(row.types, type)) continue;
      EXPECT_FALSE(RuleIsProved(row, type)) << wrong.left;
      EXPECT_NE(ProveByNormalForm(*rule, type).status, Status::Proved)
          << wrong.left << " " << ir::ScalarName(type);
      const RuleProof proof = ProveExhaustively(*rule, type, 1 << 24);
      EXPECT_NE(proof.status, Status::Proved)
          << wrong.left << " " << ir::ScalarName(type) << ": " << proof.detail;
    }
  }
}

TEST(RuleProofs, ACounterexampleIsSaid) {
  const ir::RuleRow row{"wrong", "(div.trunc a 2)", "(shr a 1)", ir::Only(ir::Scalar::I8), ""};
  const RuleProof proof = ProveExhaustively(*ir::ParseRule(row), ir::Scalar::I8, 1 << 16);
  ASSERT_EQ(proof.status, Status::Refuted) << proof.detail;
  EXPECT_EQ(proof.detail, "a = -127: -63 against -64");
}

TEST(RuleProofs, ARowThatChangedIsNotProved) {
  const ir::RuleRow* row = ir::RuleNamed("add_zero");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(RuleIsProved(*row, ir::Scalar::I32));
  EXPECT_FALSE(RuleIsProved(*row, ir::Scalar::F32));
  ir::RuleRow changed = *row;
  changed.right = "0";
  EXPECT_FALSE(RuleIsProved(changed, ir::Scalar::I32));
  changed = *row;
  changed.types |= ir::sets::Float;
  EXPECT_FALSE(RuleIsProved(changed, ir::Scalar::I32));
}

TEST(RuleProofs, MostRulesAreInUse) {
  int used = 0, disabled = 0;
  for (const ir::RuleRow& row : ir::AllRules()) {
    for (int i = 0; i < ir::ScalarCount; ++i) {
      if (!ir::Contains(row.types, static_cast<ir::Scalar>(i))) continue;
      (RuleIsProved(row, static_cast<ir::Scalar>(i)) ? used : disabled) += 1;
    }
  }
  EXPECT_GE(used, 2000);
  EXPECT_LE(disabled, used / 10);
}

}  // namespace
}  // namespace frazil::verify
