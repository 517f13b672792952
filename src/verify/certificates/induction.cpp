// Closed forms of a certificate, and loops with constant bounds that the walk finds gone.
#include "verify/internal/induction.h"

#include <fmt/format.h>

#include "verify/internal/certificate_checker.h"

namespace frazil::verify {

using namespace ir::names;

// What the loop gives, if its bounds and initial values are constants and no turn has an effect or traps. The results
// become those constants.
bool CertificateChecker::FoldLoop(ir::FuncId function_id, ir::InstId inst_id, std::string& why) {
  const std::pair key{function_id.index, inst_id.index};
  if (harmless_loops_.contains(key)) return true;
  const Function& function = source_side_.function(function_id);
  const Inst& inst = function.inst(inst_id);
  const std::vector<TermId>& values = source_side_.terms(function_id).values;
  const ConstantLoop loop{&function, &inst,
                          [&](ir::ValueId value) -> std::optional<std::vector<uint64_t>> {
                            const auto constant = terms_.ConstantOf(values[value.index]);
                            if (!constant) return std::nullopt;
                            return std::vector(constant->begin(), constant->end());
                          }};
  const std::optional<LoopFinals> finals = FinalsOf(loop, why);
  if (!finals) return false;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ir::ValueId result = Function::result_of(inst, k);
    terms_.Merge(values[result.index], terms_.Constant(function.type(result), finals->results[k]));
  }
  harmless_loops_.insert(key);
  return true;
}

bool CertificateChecker::CheckSymbolicForm(const ir::CertClosedForm& form, std::string& why) {
  const ir::FuncId function_id(form.function);
  const Function& function = source_side_.function(function_id);
  const Inst& inst = function.inst(ir::InstId(form.inst));
  const std::vector<TermId>& values = source_side_.terms(function_id).values;
  const ir::Region& body = function.region(Function::region_of(inst, 0));
  if (inst.results.count != 1 || function.word(inst, 0) != 1) {
    why = "a symbolic sum has step 1 and carries one value";
    return false;
  }
  for (size_t i = 0; i + 1 < body.insts.size(); ++i) {
    const Inst& inner = function.inst(body.insts[i]);
    if (inner.regions.count != 0 || !ir::IsRemovable(ir::Info(inner.op))) {
      why = "the body has an effect or may trap";
      return false;
    }
  }
  auto term = [&](ir::ValueId value) { return values[value.index]; };
  const Inst& yield = function.inst(body.insts.back());
  const SymbolicLoop loop{.terms = &terms_,
                          .ranges = &ranges_,
                          .index_type = function.type(function.operand(inst, 0)),
                          .low = term(function.operand(inst, 0)),
                          .high = term(function.operand(inst, 1)),
                          .index = term(Function::param_of(body, 0)),
                          .init = term(function.operand(inst, 2)),
                          .carried = term(Function::param_of(body, 1)),
                          .yield = term(function.operand(yield, 0)),
                          .closed = cert_terms_[form.closed]};
  if (!ClosedFormHolds(loop, why)) return false;
  terms_.Merge(values[inst.results.begin], cert_terms_[form.closed]);
  harmless_loops_.insert({form.function, form.inst});
  return true;
}

bool CertificateChecker::CheckClosedForms() {
  const std::vector<ir::CertClosedForm>& forms = candidate_.certificate.closed_forms;
  for (size_t i = 0; i < forms.size(); ++i) {
    const ir::CertClosedForm& form = forms[i];
    const ir::Program& program = source_side_.program();
    const bool there = form.function < program.functions.size() &&
                       form.inst < program.functions[form.function].insts.size() &&
                       form.closed < cert_terms_.size();
    if (!there) return Fail(fmt::format("closed form {} names something that is not there", i));
    const Function& function = program.functions[form.function];
    const Inst& inst = function.inst(ir::InstId(form.inst));
    if (inst.op != Op::For || form.result >= inst.results.count) {
      return Fail(fmt::format("closed form {} is not about a result of a 'for'", i));
    }
    std::string why;
    const TermId result =
        source_side_.terms(ir::FuncId(form.function)).values[inst.results.begin + form.result];
    bool holds = false;
    if (terms_.ConstantOf(cert_terms_[form.closed])) {
      holds = FoldLoop(ir::FuncId(form.function), ir::InstId(form.inst), why);
      if (holds && !terms_.Equal(result, cert_terms_[form.closed])) {
        holds = false;
        why = "the loop gives another constant";
      }
    }
    std::string symbolic_why;
    if (!holds && why != "the loop gives another constant")
      holds = CheckSymbolicForm(form, symbolic_why);
    if (!holds) return Fail(fmt::format("closed form {}: {}", i, why.empty() ? symbolic_why : why));
  }
  return true;
}

}  // namespace frazil::verify
