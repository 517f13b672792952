// Checking the evidence of a 32-op integer rewrite chain: what admission costs where a proposer can say why.
#include <fmt/format.h>

#include "base/check.h"
#include "harness.h"
#include "ir/builder.h"
#include "ir/candidate.h"
#include "verify/verify.h"

namespace frazil::bench {
namespace {

struct Chain {
  ir::Program source;
  ir::Candidate candidate;
};

// x -> x * 8 + 0, thirty-two ops; the candidate shifts. Each step of the chain is two rule instances.
Chain MakeChain(uint32_t ops) {
  using namespace ir;
  Chain chain;
  Certificate& certificate = chain.candidate.certificate;
  FunctionBuilder s(chain.source, "main", {types::U32, types::U32}, {types::U32});
  FunctionBuilder c(chain.candidate.program, "main", {types::U32, types::U32}, {types::U32});
  ValueId x = s.Param(0), y = c.Param(0);
  for (uint32_t i = 0; i < ops / 2; ++i) {
    const uint32_t shift = 1 + i % 7;
    const ValueId product = s.Binary(Op::Mul, x, s.ConstInt(types::U32, int64_t{1} << shift));
    const ValueId minus = s.Binary(Op::Sub, product, s.Unary(Op::Neg, s.Param(1)));
    const ValueId shifted = c.Binary(Op::Shl, y, c.ConstInt(types::U32, shift));
    const ValueId sum = c.Binary(Op::Add, shifted, c.Param(1));
    auto term = [&](CertTerm::Kind kind, ValueId value) {
      certificate.terms.push_back(
          {.kind = kind, .value = value.index, .words = {}, .children = {}});
      return static_cast<uint32_t>(certificate.terms.size() - 1);
    };
    certificate.equalities.push_back({.rule = "mul_power",
                                      .left = term(CertTerm::Kind::SourceValue, product),
                                      .right = term(CertTerm::Kind::CandidateValue, shifted)});
    certificate.equalities.push_back({.rule = "sub_neg",
                                      .left = term(CertTerm::Kind::SourceValue, minus),
                                      .right = term(CertTerm::Kind::CandidateValue, sum)});
    x = minus;
    y = sum;
  }
  s.Return({x});
  c.Return({y});
  s.Finish();
  c.Finish();
  return chain;
}

}  // namespace

FRAZIL_FIGURE(certificate) {
  const Chain chain = MakeChain(32);
  const std::vector<Times> times = Interleave(
      {[&] {
        const verify::Verdict verdict = verify::CheckCertificate(chain.source, chain.candidate);
        CHECK(std::holds_alternative<verify::Proved>(verdict));
      }},
      51);
  Report({.area = "verify",
          .figure = "check the evidence of a 32-op integer rewrite chain",
          .ours = times[0].median_s * 1e6,
          .unit = "us",
          .goal = "<= 1000 us",
          .met = times[0].median_s <= 1e-3,
          .reason = fmt::format("min {:.0f} us", times[0].min_s * 1e6)});
}

}  // namespace frazil::bench
