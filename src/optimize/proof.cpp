// Hash-consing of certificate terms, so that a certificate stays as small as what it says.
#include "optimize/proof.h"

#include <functional>
#include <string_view>

namespace frazil::optimize {
namespace {

uint64_t TypeWord(ir::Type type) {
  return static_cast<uint64_t>(type.scalar) | static_cast<uint64_t>(type.form) << 8 |
         static_cast<uint64_t>(type.access) << 16 | static_cast<uint64_t>(type.limbs) << 24 |
         static_cast<uint64_t>(type.shape) << 32;
}

}  // namespace

uint32_t Proof::Term(ir::CertTerm term) {
  std::vector<uint64_t> key = {static_cast<uint64_t>(term.kind),
                               term.function,
                               term.value,
                               static_cast<uint64_t>(term.op),
                               TypeWord(term.type),
                               TypeWord(term.result),
                               term.words.size()};
  key.insert(key.end(), term.words.begin(), term.words.end());
  key.insert(key.end(), term.children.begin(), term.children.end());
  auto [found, is_new] =
      terms_.emplace(std::move(key), static_cast<uint32_t>(certificate_.terms.size()));
  if (is_new) certificate_.terms.push_back(std::move(term));
  return found->second;
}

uint32_t Proof::SourceValue(uint32_t function, uint32_t value, ir::Type type) {
  ir::CertTerm term;
  term.kind = ir::CertTerm::Kind::SourceValue;
  term.function = function;
  term.value = value;
  term.type = term.result = type;
  return Term(std::move(term));
}

uint32_t Proof::Constant(ir::Type type, std::span<const uint64_t> words) {
  ir::CertTerm term;
  term.kind = ir::CertTerm::Kind::Constant;
  term.type = term.result = type;
  term.words.assign(words.begin(), words.end());
  return Term(std::move(term));
}

uint32_t Proof::Apply(ir::Op op, ir::Type type, ir::Type result, std::span<const uint64_t> words,
                      std::span<const uint32_t> children) {
  ir::CertTerm term;
  term.kind = ir::CertTerm::Kind::Apply;
  term.op = op;
  term.type = type;
  term.result = result;
  term.words.assign(words.begin(), words.end());
  term.children.assign(children.begin(), children.end());
  return Term(std::move(term));
}

void Proof::Equal(std::string_view rule, uint32_t left, uint32_t right) {
  if (left == right || !lines_.insert({std::hash<std::string_view>()(rule), left, right}).second)
    return;
  certificate_.equalities.push_back({std::string(rule), false, left, right});
}

void Proof::ClosedForm(uint32_t function, uint32_t inst, uint32_t result, uint32_t closed) {
  certificate_.closed_forms.push_back({function, inst, result, closed});
}

}  // namespace frazil::optimize
