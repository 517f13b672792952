// Changes of certificates that stay well-formed enough to be read: lines dropped, redirected or under another rule, terms
// that say something else, closed forms of another loop.
#include <algorithm>

#include "exec/random_arguments.h"
#include "ir/rules/rules.h"
#include "judges/forge.h"

namespace frazil::tests {
namespace {

void MutateTerm(ir::Certificate& certificate, Choices& choices) {
  if (certificate.terms.empty()) return;
  ir::CertTerm& term = certificate.terms[choices.Below(certificate.terms.size())];
  switch (term.kind) {
    case ir::CertTerm::Kind::Constant:
      if (choices.Chance(40))
        std::ranges::copy(exec::RandomScalar(term.type, choices.Next()).scalar_words(),
                          term.words.begin());
      else if (!term.words.empty())
        term.words[0] += choices.Chance(50) ? 1 : UINT64_MAX;
      return;
    case ir::CertTerm::Kind::SourceValue:
    case ir::CertTerm::Kind::CandidateValue:
      if (choices.Chance(30))
        term.kind = term.kind == ir::CertTerm::Kind::SourceValue
                        ? ir::CertTerm::Kind::CandidateValue
                        : ir::CertTerm::Kind::SourceValue;
      else
        term.value = static_cast<uint32_t>(choices.Below(term.value + 3));
      return;
    case ir::CertTerm::Kind::Apply:
      if (term.children.size() > 1 && choices.Chance(40))
        std::swap(term.children[0], term.children[1]);
      else if (!term.children.empty() && choices.Chance(60))
        term.children[choices.Below(term.children.size())] =
            static_cast<uint32_t>(choices.Below(certificate.terms.size()));
      else
        term.op = AnotherLike(term.op, choices);
      return;
  }
}

void MutateLine(ir::Certificate& certificate, Choices& choices) {
  if (certificate.equalities.empty()) return;
  const size_t at = choices.Below(certificate.equalities.size());
  ir::CertEquality& line = certificate.equalities[at];
  const auto some = [&] { return static_cast<uint32_t>(choices.Below(certificate.terms.size())); };
  switch (choices.Below(6)) {
    case 0:
      certificate.equalities.erase(certificate.equalities.begin() + static_cast<ptrdiff_t>(at));
      return;
    case 1: line.left = some(); return;
    case 2: line.right = some(); return;
    case 3: line.reversed = !line.reversed; return;
    case 4: line.rule = choices.Chance(20) ? "fold" : choices.OneOf(ir::AllRules()).name; return;
    default: {
      ir::CertEquality more = line;
      more.left = some();
      certificate.equalities.push_back(std::move(more));
    }
  }
}

}  // namespace

ir::Op AnotherLike(ir::Op op, Choices& choices) {
  using ir::Op;
  static const std::vector<std::vector<Op>> alike = {
      {Op::Add, Op::Sub, Op::Mul},     {Op::And, Op::Or, Op::Xor},
      {Op::Shl, Op::Shr, Op::Rotl},    {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne},
      {Op::Neg, Op::Not, Op::Abs},     {Op::Min, Op::Max},
      {Op::Floor, Op::Ceil, Op::Trunc}};
  for (const auto& family : alike) {
    if (std::ranges::find(family, op) != family.end()) return choices.OneOf(family);
  }
  return op;
}

void MutateCertificate(ir::Certificate& certificate, Choices& choices) {
  const uint64_t kind = choices.Below(certificate.closed_forms.empty() ? 4 : 6);
  if (kind < 2) return MutateTerm(certificate, choices);
  if (kind < 4) return MutateLine(certificate, choices);
  ir::CertClosedForm& form =
      certificate.closed_forms[choices.Below(certificate.closed_forms.size())];
  switch (choices.Below(3)) {
    case 0: form.closed = static_cast<uint32_t>(choices.Below(certificate.terms.size())); return;
    case 1: form.inst = static_cast<uint32_t>(choices.Below(form.inst + 4)); return;
    default: form.result = static_cast<uint32_t>(choices.Below(form.result + 2)); return;
  }
}

}  // namespace frazil::tests
