// The C signature of a function of the IR.
//   may trap:    bool f(parameters..., results..., frz_run* run)   true: trapped
//   one result:  R f(parameters...)
//   others:      void f(parameters..., results...)
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "targets/c/names.h"
#include "targets/c/support.h"

namespace frazil::targets::c {

struct CParameter {
  std::string type;  // "const float*"
  std::string name;
};

struct Signature {
  std::vector<CParameter> inputs;   // a buffer gives two
  std::vector<CParameter> outputs;  // pointers to results; empty if the result is returned
  std::string returned;             // type of a single result that is returned, else empty
  bool fallible = false;
  std::vector<std::string> param_names;   // by parameter of the IR
  std::vector<std::string> length_names;  // by parameter of the IR; empty for scalars
};

Signature MakeSignature(const ir::Function& function, bool fallible, NameScope& scope,
                        Support& support);
// The same function in its outer form, f_run: every result by pointer, and a run.
Signature OuterSignature(const Signature& signature);

// `head` and the parameters in parentheses, broken into lines of a readable width.
std::string WithParameters(const std::string& head, const Signature& signature,
                           std::string_view run_type = "frz_run*");
std::string Declaration(const Signature& signature, const std::string& name);

}  // namespace frazil::targets::c
