// The gate of assembly: what was lowered here is judged (verify/tasm), compared with the source's own lowering by the one
// rule (engine/admit.h) and kept in the store. Nothing else makes assembly that Build gives out.
#pragma once

#include <memory>

#include "engine/admit.h"
#include "engine/attempt.h"
#include "frazil/tri/internal/program.h"
#include "store/store.h"
#include "targets/tasm/search.h"

namespace frazil::tri {

class Gate {
 public:
  // `program`: what the assembly is to do. `stack_code`: what it is lowered from, where that is not `program`. All but that
  // must outlive this.
  Gate(const ir::Program& program, const targets::tasm::TasmOptions& how, const Options& options,
       const machines::tir::Program* stack_code = nullptr);

  // Inputs for the judge to try besides those that the lowering was measured on.
  std::vector<mt::Inputs> more_inputs = {};
  uint64_t verify_ms;  // of one judgment

  // The lowering, if it was admitted before, by this very compiler and measured on the same inputs.
  std::optional<Assembly> Find();

  struct Answer {
    std::optional<engine::Admitted> admitted;
    verify::Verdict lowering = verify::Unknown{"not judged"};
    std::string refusal;  // one sentence where it was not admitted
    bool is_refuted() const { return std::holds_alternative<verify::Refuted>(lowering); }
  };
  // `other`: what it has to beat; null: it is the source's own lowering.
  Result<Answer> Ask(const mt::Program& assembly, const exec::TableHeights& cost,
                     const exec::TableHeights* other);
  // Of the lowering alone: whoever finds it here lowers no more.
  void Keep(const engine::Admitted& admitted);
  void Record(const std::vector<engine::Attempt>& attempts);

  const std::string& exact() const { return key_.source_exact; }
  const verify::Policy& policy() const { return policy_; }

 private:
  const ir::Program& program_;
  const targets::tasm::TasmOptions& how_;
  const Options& options_;
  verify::Policy policy_;
  store::StoreKey key_;
  std::unique_ptr<store::Store> store_;  // null: none is wanted
};

// The whole way of `tri build`: the store; else propose, lower, price, judge from the cheapest on, admit, keep, record.
// The cheapest is the program's lowering, which runs and proofs take whatever the judge says; one that is admitted in its
// place is given out with a warning, and not kept. Fails with Diag::NotProved and a sentence where nothing is admitted.
// `given`: what this build was told that the program reads; the judge tries it, too.
Result<Assembly> AdmitAssembly(const Source& source, Program& program, const mt::Inputs& given,
                               const Options& options);

}  // namespace frazil::tri
