// What types and op alone say of an instruction, for whoever emits code for it.
#pragma once

#include "ir/program.h"

namespace frazil::ir {

// Its f32 or f64 result may be a NaN of unknown bits where a machine's own instruction makes it: it has to be made the
// one quiet NaN before its bits are seen.
bool MakesAnyNan(const Function& function, const Inst& inst);

// Is it how a reduction combines two values, of any kind?
bool IsCombiner(Op op);

// Does every value of the one type fit the other? Both are integers, int<k> or bool.
bool AlwaysFits(Type from, Type to);

}  // namespace frazil::ir
