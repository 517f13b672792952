// Recorded Z3 proofs, proved again: a part of the table each day, all of it in two months. Wrong rules are refuted
// on wide types, where no enumeration reaches.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "verify/smt/smt.h"

namespace frazil::verify::smt {
namespace {

using Status = RuleProof::Status;

TEST(RuleProver, RecordedProofsHoldAgain) {
  constexpr int Parts = 60;
  const auto days = std::chrono::duration_cast<std::chrono::hours>(
                        std::chrono::system_clock::now().time_since_epoch()) /
                    24;
  const int part = static_cast<int>(days.count() % Parts);
  fmt::print("part {} of {}\n", part, Parts);
  int number = 0, again = 0;
  for (const ir::Rule& rule : ir::ParsedRules()) {
    for (int i = 0; i < ir::ScalarCount; ++i) {
      const auto type = static_cast<ir::Scalar>(i);
      if (ir::RecordedProof(*rule.row, type) != "z3" || number++ % Parts != part) continue;
      const RuleProof proof = ProveRule(rule, type, 5'000);
      EXPECT_NE(proof.status, Status::Refuted)
          << rule.row->name << " " << ir::ScalarName(type) << ": " << proof.detail;
      again += proof.status == Status::Proved ? 1 : 0;
    }
  }
  EXPECT_GE(again, 5);
}

TEST(RuleProver, WrongRulesAreRefuted) {
  const ir::RuleRow wrong[] = {
      {"w", "(div.trunc a 4)", "(shr a 2)", ir::Only(ir::Scalar::I64), ""},
      {"w", "(lt (add a 1) (add b 1))", "(lt a b)", ir::Only(ir::Scalar::U32), ""},
      {"w", "(div.trunc a b)", "(div.trunc a b)", ir::Only(ir::Scalar::I32), ""},
      {"w", "(shl (shl a $c) $d)", "(shl a {(add $c $d)})", ir::Only(ir::Scalar::U32),
       "inwidth $c, inwidth $d"},
      {"w", "(add a 0)", "a", ir::Only(ir::Scalar::F32), "arith a"},
      {"w", "(neg (neg a))", "a", ir::Only(ir::Scalar::F64), ""},
      {"w", "(select (lt a b) a b)", "(min a b)", ir::Only(ir::Scalar::F32), ""},
      {"w", "(not (lt a b))", "(ge a b)", ir::Only(ir::Scalar::F64), ""},
      {"w", "(cast:T (cast:f32 a:T))", "a", ir::Only(ir::Scalar::I32), ""},
      {"w", "(abs a)", "(max a (neg a))", ir::Only(ir::Scalar::F32), ""},
      {"w", "(mul.hi a 2)", "(shr a 31)", ir::Only(ir::Scalar::I32), ""},
  };
  for (const ir::RuleRow& row : wrong) {
    const Result<ir::Rule> rule = ir::ParseRule(row);
    ASSERT_TRUE(rule) << row.left;
    for (int i = 0; i < ir::ScalarCount; ++i) {
      const auto type = static_cast<ir::Scalar>(i);
      if (!ir::Contains(row.types, type)) continue;
      const RuleProof proof = ProveRule(*rule, type, 20'000);
      if (row.left == "(mul.hi a 2)" ||
          row.left == "(abs a)") {  // true ones: the test can tell them apart
        EXPECT_EQ(proof.status, Status::Proved) << row.left << ": " << proof.detail;
      } else {
        EXPECT_EQ(proof.status, Status::Refuted) << row.left << ": " << proof.detail;
      }
    }
  }
}

}  // namespace
}  // namespace frazil::verify::smt
