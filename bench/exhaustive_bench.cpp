// Every input of a unary f32 function, judged by the batch interpreter on two threads. 2^28 of the 2^32 inputs are
// run here, under a guard that makes them a range, and the time is scaled by 16: the whole sweep is not run. The
// range is the one in which exp is neither 0 nor infinite.
#include <fmt/format.h>

#include "base/check.h"
#include "harness.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::bench {
namespace {

ir::Program Parse(const std::string& body) {
  return *ir::ParseText("frz 1\nfunc @main(%x: f32) -> (f32) {\n" + body + "\n}\n");
}

// Seconds for all 2^32 inputs.
double SecondsForAll(const ir::Program& source, const ir::Program& rewritten,
                     const std::string& guard) {
  ir::Candidate candidate;
  candidate.program = rewritten;
  candidate.guard = *ir::ParseGuard(guard, source);
  verify::VerifyOptions options;
  options.exhaustive_cases = 1ull << 32;
  options.limits.verify_ms = 600'000;
  options.smt = false;
  options.threads = 2;
  uint64_t cases = 0;
  const double seconds = Seconds([&] {
    const Result<verify::Verdict> verdict = verify::Verify(source, candidate, options);
    CHECK(verdict.has_value() && std::holds_alternative<verify::Proved>(*verdict));
    cases = std::get<verify::Proved>(*verdict).evidence.cases;
  });
  return seconds * 0x1p32 / static_cast<double>(cases);
}

}  // namespace

FRAZIL_FIGURE(exhaustive) {
  // max(x, 0) against a form with a comparison; NaN and both zeros included.
  const ir::Program relu = Parse("%z = const 0 : f32\n%r = max %x, %z : f32\nreturn %r");
  const ir::Program chosen =
      Parse("%z = const 0 : f32\n%t = gt %x, %z : f32\n%r = select %t, %x, %z : f32\nreturn %r");
  // e^x against e^-(-x): one more operation, the same bits.
  const ir::Program exp = Parse("%r = exp %x : f32\nreturn %r");
  const ir::Program negated =
      Parse("%m = neg %x : f32\n%n = neg %m : f32\n%r = exp %n : f32\nreturn %r");
  // 32 exponents are 2^28 values.
  const double simple = SecondsForAll(relu, chosen, "0x1p-26 <= arg0 <= 0x1p6");
  const double function = SecondsForAll(exp, negated, "0x1p-26 <= arg0 <= 0x1p6");
  Report({"verify", "exhaustive check over 2^32 inputs, 2 threads: max(x, 0)", simple, "s", "", 0,
          "<= 300 s", simple <= 300});
  Report({"verify", "exhaustive check over 2^32 inputs, 2 threads: exp on f32", function, "s", "",
          0, "<= 300 s", function <= 300});
}

}  // namespace frazil::bench
