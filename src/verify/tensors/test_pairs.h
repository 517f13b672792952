// Programs of tensor ops, and what a fusion makes of them. Each pair is equal; mutants_test.cpp makes wrong candidates of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/text/text.h"
#include "verify/tensors/judge.h"

namespace frazil::verify::tensors {

struct TestPair {
  std::string name;
  std::string head;  // the signature, of both
  std::string source, candidate;
};

inline ir::Program TestProgram(const std::string& head, const std::string& body) {
  const std::string text = "frz 1\nfunc @main" + head + " {\n" + body + "}\n";
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString() + "\n" + text);
  return program ? std::move(*program) : ir::Program();
}

// "proved", or why not.
inline std::string Judged(const ir::Program& source, const ir::Program& candidate,
                          const ir::Guard& guard = {}) {
  const Verdict verdict = TensorFormJudge(source, candidate, guard);
  if (const auto* unknown = std::get_if<Unknown>(&verdict)) return unknown->reason;
  return std::string(VerdictName(verdict));
}

inline const std::vector<TestPair>& TestPairs() {
  static const std::vector<TestPair> pairs = {
#include "verify/tensors/test_pairs_folds.inc"
#include "verify/tensors/test_pairs_kernels.inc"
#include "verify/tensors/test_pairs_moves.inc"
  };
  return pairs;
}

}  // namespace frazil::verify::tensors
