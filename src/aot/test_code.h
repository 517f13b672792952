// Forms to play with: as if they had been judged and admitted.
#pragma once

#include "aot/code.h"
#include "exec/native/native_toolchain.h"
#include "verify/judge.h"

namespace frazil::aot {

inline Code TestCode(exec::CompiledForm form) {
  form.guard = "true";
  form.toolchain = exec::NativeToolchain();
  form.cost = exec::Bytes{form.payload.size()};
  return Code(*engine::Admit(
      verify::Judge::Vouch(std::move(form), {{verify::Grade::Proved, "test", "by decree", 0},
                                             {verify::Grade::Sampled, "test", "by decree", 1}}),
      nullptr, {}));
}

inline Code TestCode(const std::string& source_exact, const exec::NativeImage& image) {
  exec::CompiledForm form;
  form.source_exact = source_exact;
  exec::PutImage(form, image);
  return TestCode(std::move(form));
}

}  // namespace frazil::aot
