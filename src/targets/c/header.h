// A whole program as C text: the parts of a header, and the adapters by which compiled code is called.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "targets/c/support.h"

namespace frazil::targets::c {

// A legal name for the exported function: "main" becomes "main_".
std::string LegalSymbol(const std::string& symbol);

struct ProgramText {
  std::string tables_and_functions;
  std::string natural;  // declaration of f, or empty
  std::string outer;    // declaration of f_run
  std::string adapter;  // definition of f_entry
  bool polls = false;   // looks at the stop flag
};

// Math functions that several programs of one unit share.
struct SharedPrelude {
  std::set<std::string> emitted;
};

// `lowered` has passed ir::LowerForTarget. What the adapter alone needs is asked of `adapter_support`. With
// `shared` the natural function is left out.
ProgramText WriteProgram(const ir::Program& lowered, const std::string& symbol, bool metered,
                         Support& support, Support& adapter_support,
                         SharedPrelude* shared = nullptr);

// The header of one program; `source` is what its comment names.
std::string WriteHeader(const ir::Program& source, const ir::Program& lowered,
                        const exec::EmitOptions& options);

// The translation unit that makes a header callable: the header, its adapter and the table of one.
std::string WriteSingleUnit(const std::string& header, const ir::Program& lowered,
                            const std::string& symbol);

struct UnitText {
  std::string text;
  std::vector<bool> polls;  // by program
};
UnitText WriteUnit(const std::vector<ir::Program>& lowered, bool metered);

}  // namespace frazil::targets::c
