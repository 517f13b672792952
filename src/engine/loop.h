// The improve loop for one program, whatever it is compiled for:
//
//   propose -> lower -> price -> verify -> admit
//
// Hot sites run it in the worker, builds run it in theirs. What differs between targets is a Workshop: how code is made of a
// candidate, and what it costs. Who proposes, how much effort a verdict gets, what is admitted and what is written down
// about those that were not is the same for all of them.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/attempt.h"
#include "engine/event.h"
#include "engine/gate.h"
#include "optimize/optimize.h"

namespace frazil::engine {

struct LoweredForm {
  exec::CompiledForm form;
  std::string kind = {};    // for people: "tuned avx2"
  uint64_t code_bytes = 0;  // of it; the payload may hold more
};

// A form on offer, before anybody has judged it.
struct Offer {
  const ir::Candidate& candidate;
  const exec::CompiledForm& form;
  double static_cost = 0;
};

// What an offer costs, by whoever made it.
struct Quote {
  exec::Cost cost;
  double rank = 0;  // the least is judged first
  std::string refusal = {};
  bool is_wrong = false;  // the code was run and answered wrongly: it may have written anywhere
  std::vector<std::pair<Quantity, double>> numbers = {};  // for the event
};

class Workshop {
 public:
  virtual ~Workshop() = default;
  virtual std::string_view target() const = 0;
  // Code for the gate's candidate, in one of several ways, the best first. The next is tried where some of the code ran under
  // no sample: that is mostly code of vectors, and later ways have less of it.
  virtual Result<LoweredForm> Lower(const Gate& gate, int way) = 0;
  virtual int ways() const { return 1; }
  // Whether offers are compared by running them. If not, the static cost decides who is lowered and judged first, and nobody
  // is lowered who is not judged.
  virtual bool measures() const { return false; }
  // One for each offer; fewer where the last of them is wrong. By default: the bytes, in the order of the static cost.
  virtual Result<std::vector<Quote>> Price(std::span<const Offer> offers);
  // The form that answers now, and is to be beaten; null: there is none.
  virtual const verify::Verified<exec::CompiledForm>* in_use() const { return nullptr; }
  // How it is called, where that is not as a whole program.
  virtual verify::CallableMaker callable() const { return {}; }
};

struct LoopOptions {
  verify::Policy policy;
  optimize::Observed observed = {};
  bool specialize = false;  // constants that were observed may be believed
  // Candidates not to be proposed, by their exact digests; nothing: none.
  std::function<bool(const std::string& exact)> is_banned = {};
  Limits limits = {};  // of the proposers
  GateOptions gate = {};
};

struct Proposal {
  Proposal(std::string who, Gate its_gate, double cost)
      : proposer(std::move(who)), gate(std::move(its_gate)), static_cost(cost) {}
  std::string proposer;
  size_t number = 0;  // the order of proposing decides where the rank does not
  Gate gate;
  double static_cost = 0;
  bool is_foreign = false;  // without a certificate, and so harder to judge
  // Of one round:
  exec::CompiledForm form;
  bool is_lowered = false, is_priced = false;
  double rank = 0;
  bool out = false;
  bool has_unrun = false;  // some of its code ran under no sample
  Fate fate = Fate::Lost;
  std::string reason;
};

class Loop {
 public:
  Loop(ir::Program source, LoopOptions options);

  const ir::Program& source() const { return *source_; }
  const std::string& source_exact() const { return source_exact_; }

  // Asks every registered proposer, and puts the source itself last.
  void ProposeAll();
  // From elsewhere; nothing where it is banned or known.
  Proposal* Propose(std::string_view proposer, ir::Candidate candidate);
  // Of what never became a proposal.
  void Refuse(std::string who, std::string why);
  // At places that stay.
  std::list<Proposal>& proposals() { return proposals_; }
  // The cheapest on paper that means what the source means: what code is made of where nobody compares any. Null: all are
  // banned, the source too.
  Proposal* BestOnPaper();
  // Further rounds are about this one alone.
  void KeepOnly(const Proposal& proposal);

  // One round: the cheapest offer that is verified and cheaper than what is in use. Nothing: there is none, or code was
  // wrong (refuted) and nothing more may be run in this process.
  struct Won {
    Proposal* proposal;
    Admitted admitted;
  };
  Result<std::optional<Won>> Run(Workshop& workshop);

  const std::vector<Event>& events() const { return events_; }
  void Say(Verb verb, std::string who, std::string detail,
           std::vector<std::pair<Quantity, double>> numbers = {});
  // Exact digests of candidates whose code was run and was wrong.
  const std::vector<std::string>& refuted() const { return refuted_; }
  // What became of each proposal in the rounds so far.
  const std::vector<Attempt>& attempts() const { return attempts_; }
  double compile_ms() const { return compile_ms_; }
  double price_ms() const { return price_ms_; }
  double verify_ms() const { return verify_ms_; }

 private:
  void Refuse(Proposal& proposal, std::string why);
  void Lower(Proposal& proposal, Workshop& workshop, int way = 0);
  void LowerAll(Workshop& workshop);
  Result<void> PriceLowered(Workshop& workshop);
  std::optional<Won> Judge(Proposal& proposal, Workshop& workshop);
  std::optional<Won> JudgeInOrder(Workshop& workshop);
  Result<std::optional<Won>> PriceAndJudge(Workshop& workshop);
  Result<std::optional<Won>> Measured(Workshop& workshop);
  Result<std::optional<Won>> OnPaper(Workshop& workshop);
  std::vector<Proposal*> InPaperOrder();
  void WriteAttempts(std::string_view target);

  std::shared_ptr<const ir::Program> source_;
  std::string source_exact_;
  double source_cost_;
  LoopOptions options_;
  std::list<Proposal> proposals_;
  std::vector<Event> events_;
  std::vector<std::string> refuted_;
  std::vector<Attempt> attempts_;
  double compile_ms_ = 0, price_ms_ = 0, verify_ms_ = 0;
};

}  // namespace frazil::engine
