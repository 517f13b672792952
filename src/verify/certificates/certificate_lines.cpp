// The lines of a certificate: its terms, its equalities (each an instance of a proved rule), and what the guard says
// of the parameters. A line that needs what the walk shows later stays open and is tried again; a certificate with
// an open line at the end is refused.
#include <fmt/format.h>

#include "ir/check/check.h"
#include "verify/internal/certificate_checker.h"
#include "verify/internal/rule_match.h"

namespace frazil::verify {

using ir::CertTerm;

CertificateChecker::CertificateChecker(const ir::Program& source, const ir::Candidate& candidate)
    : candidate_(candidate),
      ranges_(terms_),
      source_side_(source, terms_, interned_),
      candidate_side_(candidate.program, terms_, interned_) {
  ranges_.TellRuns([this](const Terms::Node& node) {
    return HasRun(node.op, node.type, node.words, node.children);
  });
}

bool CertificateChecker::Fail(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  return false;
}

namespace {

// The type that the op's row gives for a letter of its signature; nothing for S, which may be any scalar.
std::optional<ir::Type> LetterType(char letter, ir::Type t) {
  switch (letter) {
    case 'T': return t;
    case 'B': return ir::types::Bool;
    case 'X': return ir::types::Index;
    case 'F': return ir::types::Field;
    default: return std::nullopt;
  }
}

bool CanonicalConstant(const CertTerm& term) {
  if (!term.type.is_scalar() || term.words.size() != ir::WordsOf(term.type)) return false;
  const uint64_t word = term.words[0];
  switch (term.type.scalar) {
    case ir::Scalar::Bool: return word <= 1;
    case ir::Scalar::Field:
    case ir::Scalar::XField:
    case ir::Scalar::Digest:
      for (uint64_t part : term.words) {
        if (part >= 0xffff'ffff'0000'0001u) return false;
      }
      return true;
    case ir::Scalar::Int: return true;
    default: break;
  }
  const int width = ir::BitsOf(term.type);
  if (width == 64) return true;
  if (ir::IsSigned(term.type.scalar)) {
    const auto value = static_cast<int64_t>(word);
    return value >= -(int64_t{1} << (width - 1)) && value < (int64_t{1} << (width - 1));
  }
  return word >> width == 0;
}

}  // namespace

bool CertificateChecker::BuildCertTerms() {
  for (const CertTerm& term : candidate_.certificate.terms) {
    if (!BuildCertTerm(term))
      return Fail(fmt::format("term {} of the certificate is malformed", cert_terms_.size()));
  }
  return true;
}

bool CertificateChecker::BuildCertTerm(const CertTerm& term) {
  if (term.kind == CertTerm::Kind::Constant) {
    if (!CanonicalConstant(term)) return false;
    cert_terms_.push_back(terms_.Constant(term.type, term.words));
    return true;
  }
  if (term.kind != CertTerm::Kind::Apply) {
    const Side& side = term.kind == CertTerm::Kind::SourceValue ? source_side_ : candidate_side_;
    if (term.function >= side.program().functions.size()) return false;
    const auto& values = side.terms(ir::FuncId(term.function)).values;
    if (term.value >= values.size()) return false;
    cert_terms_.push_back(values[term.value]);
    return true;
  }
  // A math function is a term like any other; what is custom, or a table, would need checks of its own.
  const ir::OpInfo& info = ir::Info(term.op);
  const bool plain = info.effect == ir::Effect::Pure && info.signature != "custom" &&
                     term.op != ir::Op::Const && term.op != ir::Op::Lookup && term.type.is_scalar();
  if (!plain || !ir::Contains(info.types, term.type.scalar)) return false;
  const size_t attributes = info.attributes.empty() ? 0 : 1;
  if (term.words.size() != attributes ||
      (attributes == 1 && term.words[0] >= ir::WordsOf(term.type)))
    return false;
  std::vector<TermId> children;
  size_t next = 0;
  const size_t arrow = info.signature.find("->");
  for (char letter : info.signature.substr(0, arrow)) {
    if (letter == ',') continue;
    if (next == term.children.size() || term.children[next] >= cert_terms_.size()) return false;
    const TermId child = cert_terms_[term.children[next++]];
    const std::optional<ir::Type> type = LetterType(letter, term.type);
    const ir::Type found = terms_.TypeOf(child);
    if (type ? found != *type : !found.is_scalar() || !ir::TakesOperand(term.op, term.type, found))
      return false;
    children.push_back(child);
  }
  const std::optional<ir::Type> result = LetterType(info.signature.back(), term.type);
  if (next != term.children.size() || !result || *result != term.result) return false;
  cert_terms_.push_back(terms_.Apply(term.op, term.type, term.result, term.words, children));
  return true;
}

bool CertificateChecker::LineHolds(const ir::CertEquality& line) const {
  const TermId left = cert_terms_[line.left], right = cert_terms_[line.right];
  if (line.rule == "fold") return terms_.Equal(left, right) && terms_.ConstantOf(left).has_value();
  const ir::RuleRow* row = ir::RuleNamed(line.rule);
  if (row == nullptr) return false;
  const ir::Rule& rule = ir::ParsedRules()[static_cast<size_t>(row - ir::AllRules().data())];
  return line.reversed ? IsInstance(terms_, rule, right, left)
                       : IsInstance(terms_, rule, left, right);
}

void CertificateChecker::Settle() {
  while (!open_lines_.empty() && settled_at_ != terms_.merges()) {
    settled_at_ = terms_.merges();
    std::vector<size_t> still_open;
    for (size_t index : open_lines_) {
      const ir::CertEquality& line = candidate_.certificate.equalities[index];
      if (LineHolds(line)) {
        terms_.Merge(cert_terms_[line.left], cert_terms_[line.right]);
      } else {
        still_open.push_back(index);
      }
    }
    open_lines_ = std::move(still_open);
  }
}

bool CertificateChecker::AssumedEqual(TermId a, TermId b) {
  if (terms_.Equal(a, b)) return true;
  Settle();
  return terms_.Equal(a, b);
}

// What the guard says holds for the entry's parameters, and only there: a program that calls its own entry is
// left alone.
bool CertificateChecker::ApplyGuard() {
  if (candidate_.guard.atoms.empty()) return true;
  for (const Side* side : {&source_side_, &candidate_side_}) {
    for (const ir::Function& function : side->program().functions) {
      for (const ir::Inst& inst : function.insts) {
        if (inst.op == ir::Op::Call && function.word(inst, 0) == side->program().entry.index) {
          return Fail("a guard with a program that calls its entry is not understood");
        }
      }
    }
  }
  const ir::FuncId entry = source_side_.program().entry;
  const ir::Function& function = source_side_.function(entry);
  const std::vector<TermId>& values = source_side_.terms(entry).values;
  for (const ir::GuardAtom& atom : candidate_.guard.atoms) {
    if (atom.kind == ir::GuardKind::Cpu) continue;
    if (atom.arg >= function.param_count())
      return Fail("the guard names an argument that is not there");
    const TermId param = values[function.param(atom.arg).index];
    const ir::Type type = function.param_type(atom.arg);
    switch (atom.kind) {
      case ir::GuardKind::Equals:
        if (atom.type != type || atom.low.size() != ir::WordsOf(type))
          return Fail("the guard does not fit");
        terms_.Merge(param, terms_.Constant(type, atom.low));
        break;
      case ir::GuardKind::Between:
        if (IntervalOf(type) && atom.type == type) {
          const bool is_signed = ir::IsSigned(type.scalar);
          ranges_.Know(param, {BigInt::FromWords(atom.low, is_signed),
                               BigInt::FromWords(atom.high, is_signed)});
        }
        break;
      case ir::GuardKind::LengthIs: {
        const uint64_t word = static_cast<uint64_t>(atom.number);
        const TermId length = terms_.Apply(ir::Op::Length, type.element(), ir::types::Index, {},
                                           std::span(&param, 1));
        terms_.Merge(length, terms_.Constant(ir::types::Index, std::span(&word, 1)));
        break;
      }
      default: break;  // the others say nothing that a term could use
    }
  }
  return true;
}

Verdict CertificateChecker::Check() {
  const ir::Certificate& certificate = candidate_.certificate;
  const bool fits = BuildCertTerms() && [&] {
    for (size_t i = 0; i < certificate.equalities.size(); ++i) {
      const ir::CertEquality& line = certificate.equalities[i];
      if (line.left >= cert_terms_.size() || line.right >= cert_terms_.size()) {
        return Fail(fmt::format("equality {} names a term that is not there", i));
      }
      if (line.rule != "fold" && ir::RuleNamed(line.rule) == nullptr) {
        return Fail(fmt::format("equality {}: there is no rule \"{}\"", i, line.rule));
      }
      open_lines_.push_back(i);
    }
    return true;
  }();
  if (!fits || !ApplyGuard()) return Unknown{reason_};
  // Formulas first as they are stated: once a rule has merged the number of turns with another term, a polynomial may
  // be read in other unknowns than the sum is. What needs the rules is tried again with them.
  LearnBounds(source_side_);
  const bool closed = CheckClosedForms();
  reason_.clear();
  Settle();
  LearnBounds(source_side_);
  LearnBounds(candidate_side_);
  if (!closed && !CheckClosedForms()) return Unknown{reason_};
  if (!MatchFunctions(source_side_.program().entry, candidate_side_.program().entry))
    return Unknown{reason_};
  Settle();
  if (!open_lines_.empty()) {
    const ir::CertEquality& line = certificate.equalities[open_lines_[0]];
    return Unknown{
        fmt::format("equality {} is not an instance of rule {}", open_lines_[0], line.rule)};
  }
  // Assumptions that contradict each other would prove anything.
  if (terms_.conflict()) return Unknown{"the certificate contradicts itself"};
  std::string detail = fmt::format("{} rule instances", certificate.equalities.size());
  if (!certificate.closed_forms.empty())
    detail += fmt::format(", {} inductions", certificate.closed_forms.size());
  return Proved{Evidence{.grade = Grade::Proved, .judge = "replay", .detail = std::move(detail)}};
}

}  // namespace frazil::verify
