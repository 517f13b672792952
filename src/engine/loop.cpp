// Pricing comes before judging: it is the quicker of the two (a millisecond against ten), and the cost is part of what is
// sealed. Code that answers a call wrongly ends the work at once: it may have written anywhere, and the process may hold
// the installation's key.
#include "engine/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/grouped.h"
#include "ir/digest.h"

namespace frazil::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A proposal that is that much cheaper on paper is not compared with the source itself, which is then lowered only if
// nothing else was verified.
constexpr double ClearlyCheaper = 0.9;
// What a form must be cheaper by if it needs a guard (one more thing that can fail) or comes from a store (without a
// certificate, and so harder to judge).
constexpr double Handicap = 1.05;

double MillisecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

// Adds the time of a scope to a total.
class Timed {
 public:
  explicit Timed(double& total_ms) : total_ms_(total_ms) {}
  ~Timed() { total_ms_ += MillisecondsSince(start_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& total_ms_;
  SteadyClock::time_point start_ = SteadyClock::now();
};

std::string Tell(std::string_view half, const verify::Evidence& evidence) {
  const std::string cases =
      evidence.cases > 0 ? fmt::format(" {}", PrintGrouped(evidence.cases)) : "";
  return fmt::format("{} {}{} ({})", half, verify::GradeName(evidence.grade), cases,
                     evidence.judge);
}

}  // namespace

Result<std::vector<Quote>> Workshop::Price(std::span<const Offer> offers) {
  std::vector<Quote> quotes;
  for (const Offer& offer : offers)
    quotes.push_back({exec::Bytes{offer.form.payload.size()}, offer.static_cost});
  return quotes;
}

Loop::Loop(ir::Program source, LoopOptions options)
    : source_(std::make_shared<const ir::Program>(std::move(source))),
      source_exact_(ir::ExactDigest(*source_)),
      source_cost_(optimize::StaticCost(*source_)),
      options_(std::move(options)) {}

void Loop::Say(Verb verb, std::string who, std::string detail,
               std::vector<std::pair<Quantity, double>> numbers) {
  events_.push_back({0, {}, verb, std::move(who), std::move(detail), std::move(numbers)});
}

void Loop::Refuse(std::string who, std::string why) {
  Say(Verb::Refuse, std::move(who), std::move(why));
}

void Loop::Refuse(Proposal& proposal, std::string why) {
  proposal.out = true;
  proposal.fate = Fate::Refused;
  proposal.reason = why;
  Refuse(proposal.gate.candidate().origin, std::move(why));
}

Proposal* Loop::Propose(std::string_view proposer, ir::Candidate candidate) {
  const double cost = optimize::StaticCost(candidate.program);
  Gate gate(source_, std::move(candidate), options_.policy, options_.gate);
  const std::string& origin = gate.candidate().origin;
  if (options_.is_banned && options_.is_banned(gate.candidate_exact())) {
    Refuse(origin, fmt::format("{} is banned", ir::ShortDigest(gate.candidate_exact())));
    return nullptr;
  }
  const bool known = std::ranges::any_of(proposals_, [&](const Proposal& other) {
    return other.gate.candidate_exact() == gate.candidate_exact() &&
           other.gate.guard() == gate.guard();
  });
  if (known) return nullptr;
  Say(Verb::Propose, origin, gate.candidate().guard.atoms.empty() ? "" : gate.guard(),
      {{Quantity::SourceCost, source_cost_}, {Quantity::StaticCost, cost}});
  Proposal& proposal = proposals_.emplace_back(std::string(proposer), std::move(gate), cost);
  proposal.number = proposals_.size();
  return &proposal;
}

void Loop::ProposeAll() {
  for (const std::shared_ptr<const optimize::Proposer>& proposer : optimize::Proposers()) {
    // Constants are believed only where the site says so.
    if (proposer->name() == "specialize" && !options_.specialize) continue;
    Result<std::vector<ir::Candidate>> candidates =
        proposer->Propose(*source_, options_.observed, options_.limits);
    if (!candidates) {
      Refuse(std::string(proposer->name()), candidates.error().message);
      continue;
    }
    for (ir::Candidate& candidate : *candidates) Propose(proposer->name(), std::move(candidate));
  }
  Propose("source", {*source_, {}, {}, "source"});
}

void Loop::Lower(Proposal& proposal, Workshop& workshop, int way) {
  const Timed timed(compile_ms_);
  const auto start = SteadyClock::now();
  proposal.out = proposal.is_priced = proposal.is_lowered = false;
  Result<LoweredForm> lowered = workshop.Lower(proposal.gate, way);
  if (!lowered) return Refuse(proposal, lowered.error().message);
  proposal.form = std::move(lowered->form);
  proposal.is_lowered = true;
  Say(Verb::Lower, proposal.gate.candidate().origin, std::move(lowered->kind),
      {{Quantity::Bytes, static_cast<double>(lowered->code_bytes)},
       {Quantity::Ms, MillisecondsSince(start)}});
}

void Loop::LowerAll(Workshop& workshop) {
  bool cheaper = false;
  for (Proposal& proposal : proposals_) {
    if (proposal.gate.is_source() && cheaper) continue;
    Lower(proposal, workshop);
    cheaper |= proposal.is_lowered && proposal.gate.candidate().guard.atoms.empty() &&
               proposal.static_cost < ClearlyCheaper * source_cost_;
  }
}

Result<void> Loop::PriceLowered(Workshop& workshop) {
  const Timed timed(price_ms_);
  std::vector<Proposal*> offered;
  std::vector<Offer> offers;
  for (Proposal& proposal : proposals_) {
    if (!proposal.is_lowered || proposal.out) continue;
    offered.push_back(&proposal);
    offers.push_back({proposal.gate.candidate(), proposal.form, proposal.static_cost});
  }
  if (offers.empty()) return {};
  std::vector<Quote> quotes = TRY(workshop.Price(offers));
  for (size_t i = 0; i < quotes.size(); ++i) {
    Proposal& proposal = *offered[i];
    Quote& quote = quotes[i];
    if (quote.is_wrong) refuted_.push_back(proposal.form.candidate_exact);
    if (!quote.numbers.empty())
      Say(Verb::Price, proposal.gate.candidate().origin, "", std::move(quote.numbers));
    if (!quote.refusal.empty()) {
      Refuse(proposal, std::move(quote.refusal));
      continue;
    }
    proposal.is_priced = true;
    proposal.form.cost = quote.cost;
    const bool plain = proposal.gate.candidate().guard.atoms.empty() && !proposal.is_foreign;
    proposal.rank = plain ? quote.rank : quote.rank * Handicap;
  }
  return {};
}

std::optional<Loop::Won> Loop::Judge(Proposal& proposal, Workshop& workshop) {
  const Timed timed(verify_ms_);
  Judged judged = proposal.gate.Admit(proposal.form, workshop.callable(), workshop.in_use());
  // Code that was refuted by running it may have done anything.
  if (std::holds_alternative<verify::Refuted>(judged.verdict))
    refuted_.push_back(proposal.form.candidate_exact);
  proposal.has_unrun = judged.has_unrun;
  if (!judged.admitted) {
    Refuse(proposal, std::move(judged.reason));
    return std::nullopt;
  }
  const verify::EvidencePair& evidence = judged.admitted->form().evidence();
  Say(Verb::Verify, proposal.gate.candidate().origin,
      fmt::format("{}, {}", Tell("meaning", evidence.meaning),
                  Tell("lowering", evidence.lowering)));
  proposal.fate = Fate::Won;
  return Won{&proposal, std::move(*judged.admitted)};
}

// In order of cost; the first that is verified and cheaper is it.
std::optional<Loop::Won> Loop::JudgeInOrder(Workshop& workshop) {
  std::vector<Proposal*> order;
  for (Proposal& proposal : proposals_)
    if (proposal.is_priced && !proposal.out) order.push_back(&proposal);
  std::ranges::sort(order, {}, [](const Proposal* proposal) {
    return std::pair(proposal->rank, proposal->number);
  });
  for (Proposal* proposal : order) {
    if (!refuted_.empty()) break;
    if (std::optional<Won> won = Judge(*proposal, workshop)) return won;
  }
  return std::nullopt;
}

Result<std::optional<Loop::Won>> Loop::PriceAndJudge(Workshop& workshop) {
  TRY_VOID(PriceLowered(workshop));
  if (!refuted_.empty()) return std::nullopt;
  return JudgeInOrder(workshop);
}

// All are lowered and timed together; the fastest is judged first.
Result<std::optional<Loop::Won>> Loop::Measured(Workshop& workshop) {
  LowerAll(workshop);
  std::optional<Won> won = TRY(PriceAndJudge(workshop));
  if (workshop.in_use() != nullptr) return won;
  for (int way = 1; way < workshop.ways() && !won && refuted_.empty(); ++way) {
    for (Proposal& proposal : proposals_)
      if (proposal.has_unrun) Lower(proposal, workshop, way);
    won = TRY(PriceAndJudge(workshop));
  }
  if (won || !refuted_.empty()) return won;
  // Whatever was proposed fell through; the source itself remains, if it was put off.
  for (Proposal& proposal : proposals_) {
    if (!proposal.gate.is_source() || proposal.is_lowered || proposal.out) continue;
    Lower(proposal, workshop);
    return PriceAndJudge(workshop);
  }
  return std::nullopt;
}

std::vector<Proposal*> Loop::InPaperOrder() {
  std::vector<Proposal*> order;
  for (Proposal& proposal : proposals_) order.push_back(&proposal);
  std::ranges::sort(order, {}, [](const Proposal* proposal) {
    return std::pair(proposal->static_cost, proposal->number);
  });
  return order;
}

Proposal* Loop::BestOnPaper() {
  for (Proposal* proposal : InPaperOrder())
    if (proposal->gate.Meaning().reason.empty()) return proposal;
  return nullptr;
}

void Loop::KeepOnly(const Proposal& proposal) {
  std::erase_if(proposals_, [&](const Proposal& each) { return &each != &proposal; });
}

// One after the other, the cheapest by the static cost first.
Result<std::optional<Loop::Won>> Loop::OnPaper(Workshop& workshop) {
  for (Proposal* proposal : InPaperOrder()) {
    // Code is made only of what may be used.
    if (Judged meaning = proposal->gate.Meaning(); !meaning.reason.empty()) {
      Refuse(*proposal, std::move(meaning.reason));
      continue;
    }
    for (int way = 0; way < workshop.ways() && (way == 0 || proposal->has_unrun); ++way) {
      Lower(*proposal, workshop, way);
      if (std::optional<Won> won = TRY(PriceAndJudge(workshop)); won || !refuted_.empty())
        return won;
    }
  }
  return std::nullopt;
}

Result<std::optional<Loop::Won>> Loop::Run(Workshop& workshop) {
  // Whoever asks again must not get what a process says in which wrong code has run.
  if (!refuted_.empty()) return std::nullopt;
  for (Proposal& proposal : proposals_) {
    proposal.form = {};
    proposal.is_lowered = proposal.is_priced = proposal.out = proposal.has_unrun = false;
    proposal.fate = Fate::Lost;
    proposal.reason.clear();
  }
  Result<std::optional<Won>> won = workshop.measures() ? Measured(workshop) : OnPaper(workshop);
  WriteAttempts(workshop.target());
  return won;
}

// What became of each of them, for the proposers' accounts.
void Loop::WriteAttempts(std::string_view target) {
  for (const Proposal& proposal : proposals_) {
    Attempt attempt{proposal.proposer,     std::string(target),
                    source_exact_,         proposal.gate.candidate_exact(),
                    proposal.gate.guard(), proposal.fate,
                    proposal.reason,       source_cost_,
                    proposal.static_cost};
    if (const auto* time = std::get_if<exec::CallTime>(&proposal.form.cost);
        time != nullptr && proposal.is_priced) {
      attempt.cost_before = time->reference_ns;
      attempt.cost_after = time->ns_per_call;
    }
    if (std::ranges::find(refuted_, proposal.gate.candidate_exact()) != refuted_.end())
      attempt.fate = Fate::Refuted;
    attempts_.push_back(std::move(attempt));
  }
}

}  // namespace frazil::engine
