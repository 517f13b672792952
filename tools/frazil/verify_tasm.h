// frazil verify for Triton VM assembly.
#pragma once

#include <string>

#include "cli.h"

namespace frazil::cli {

struct TasmVerification {
  std::string first,
      second;  // `second` is a .tasm file; `first` may be anything that `frazil tri` takes
  bool fragments = false;
  bool horner = false;
};
Result<int> VerifyTasm(Session& session, const TasmVerification& files);

}  // namespace frazil::cli
