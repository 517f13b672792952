// Inside normalize: what a program did, in terms.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "optimize/normalize/normal_terms.h"

namespace frazil::optimize {

struct NormalState {
  NormalTerms terms;
  // By ordinal of a buffer parameter: what its elements hold at the end.
  std::map<uint32_t, TermId> buffers = {};
  std::set<uint32_t> used = {};     // buffer parameters that the source loads from or stores to
  std::set<uint32_t> written = {};  // those that it stores to
  std::set<uint32_t> covered =
      {};  // those with a pass over them: all but those that only element 0 is touched of
  TermId extent = NoTerm;
  std::optional<uint32_t> extent_param = {};  // where a tensor's dimension names it
  bool nonempty = false;
  bool touches_zero = false;  // element 0 by itself, of any buffer
  bool has_rows = false;      // scratch or tensors of the extent's length
};

// With terms of other rules: for tests, which plant wrong ones.
Result<NormalState> ReadState(const ir::Program& program, NormalTerms terms = NormalTerms());
ir::Program WriteState(const ir::Program& source, NormalState& state);

// The uniform value and the rest where a term is (own number == 0 ? value : rest).
struct Headed {
  TermId head, rest;
};
std::optional<Headed> HeadOf(const NormalTerms& terms, TermId term);

}  // namespace frazil::optimize
