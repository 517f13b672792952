// The pipeline as one call: what the search finds cheapest.
#include "ir/lower/lower.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/search.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {

// The prelude stays: what is left of it after floats are refused are the machine's own instructions.
Result<ir::Program> Prepare(const ir::Program& program) {
  if (std::string why = WhyNot(program); !why.empty()) return Fail(Diag::Unsupported, why);
  ir::Program lowered = TRY(ir::LowerTensors(program));
  return ir::SplitBarriers(lowered);
}

Result<Lowered> Lower(const ir::Program& program, const TasmOptions& options) {
  LowerSearch search = TRY(LowerSearch::Start(program, options));
  while (const mt::Program* next = search.Next()) search.Tell(PriceOf(*next, options));
  return std::move(search.TakeFound().front().lowered);
}

Result<tir::Program> LowerToTir(const ir::Program& program, const TasmOptions& options) {
  Lowered lowered = TRY(Lower(program, options));
  return std::move(lowered.tir);
}

}  // namespace frazil::targets::tasm
