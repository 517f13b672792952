// Plans of calls, linked to judged code: what is called without ever having been judged as a whole is a sequence of forms that
// were, in an order that was proved.
#pragma once

#include <memory>
#include <span>

#include "exec/plan/plan_code.h"
#include "ir/signed_program.h"
#include "verify/verified.h"

namespace frazil::dispatch {

// Native code of a verified form, mapped once for all plans that call it.
class JudgedCode {
 public:
  static Result<JudgedCode> Map(const verify::Verified<exec::CompiledForm>& form);
  const verify::Verified<exec::CompiledForm>& form() const { return form_; }
  const std::shared_ptr<const exec::NativeCode>& code() const { return code_; }

 private:
  JudgedCode(const verify::Verified<exec::CompiledForm>& form,
             std::shared_ptr<const exec::NativeCode> code)
      : form_(form), code_(std::move(code)) {}
  verify::Verified<exec::CompiledForm> form_;
  std::shared_ptr<const exec::NativeCode> code_;
};

// `form`: a verified plan for `source`; `parts`: code for all forms that it calls, in any order. Any code of the same programs
// will do: a plan is judged by programs.
Result<std::shared_ptr<const exec::PlanCode>> LinkCalls(
    const verify::Verified<exec::CompiledForm>& form, std::span<const JudgedCode> parts,
    const ir::SignedProgram& source);

}  // namespace frazil::dispatch
