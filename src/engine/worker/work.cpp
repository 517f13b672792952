// The work of a worker, top to bottom: read the program, collect proposals, lower them, price them against the
// interpreter, and let verify/ judge them, the cheapest first; the first that is verified is sealed and sent back.
//
// Pricing comes before judging: it is the quicker of the two (a millisecond against ten), and the cost is part of
// what is sealed. Code that answers a call wrongly ends the work at once, without a seal: it may have written anywhere,
// and this process holds the installation's key.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "base/duration.h"
#include "engine/admit.h"
#include "engine/worker/wire.h"
#include "engine/worker/worker_compare.h"
#include "engine/worker/worker_price.h"
#include "engine/worker/worker_serve.h"
#include "exec/guard_eval.h"
#include "exec/native/native_callable.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A proposal that is that much cheaper on paper is not compared with the source itself, which is then lowered only if
// nothing else was verified.
constexpr double ClearlyCheaper = 0.9;
// What a form must be cheaper by if it needs a guard (one more thing that can fail) or comes from a store (without a
// certificate, and so harder to judge).
constexpr double Handicap = 1.05;
// Of the time that a request has, for judging; the rest is for compiling and pricing.
constexpr double VerifyShare = 0.6;
constexpr uint64_t QuickExhaustiveCases = 1 << 20;
constexpr uint64_t SmtMs = 1'000;
// Made-up loop bounds and lengths are mostly too large to be run at all, and small limits find that out at once;
// programs that need more for every input get more.
struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
  double most_ms;
};
constexpr Effort Efforts[] = {{1 << 12, 1 << 20, 1'500},
                              {1 << 16, 16 << 20, 1'500},
                              {1 << 22, 64 << 20, 2'000},
                              {1 << 26, 256 << 20, 1e9}};

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

bool TakesTheSame(const ir::Function& one, const ir::Function& other) {
  if (one.param_count() != other.param_count() || one.results != other.results) return false;
  for (uint32_t i = 0; i < one.param_count(); ++i)
    if (one.param_type(i) != other.param_type(i)) return false;
  return true;
}

struct Proposal {
  ir::Candidate candidate;
  exec::CompiledForm form;
  std::shared_ptr<const exec::NativeCode> code;
  bool priced = false;
  Price price;
  double static_cost = 0;
  bool is_source = false;
  bool is_foreign = false;
  bool out = false;
  bool has_unrun = false;  // some of its code ran under no sample
  bool is_scalar = false;
  std::string proposer;
  Fate fate = Fate::Lost;
  std::string reason;

  // What proposals are ordered by; those without a price come last.
  double Rank() const {
    const double ns = priced ? price.min_ns : 1e30;
    return candidate.guard.atoms.empty() && !is_foreign ? ns : ns * Handicap;
  }
};

class Improvement {
 public:
  Improvement(const WorkRequest& request, Compiler& compiler)
      : request_(request), compiler_(compiler) {}

  Result<WorkReply> Run();

 private:
  Result<void> Work();
  bool tainted() const { return !reply_.refuted.empty(); }
  void ProposeAll();
  void Propose(std::string_view proposer, ir::Candidate candidate);
  void ProposeForeign();
  void KeepOnlyInUse();
  void Lower(Proposal& proposal);
  void LowerAll();
  Result<Pricer> MakePricer();
  Result<void> PriceAll();
  Result<verify::Examined> Examine(const Proposal& proposal);
  bool Judge(Proposal& proposal);
  bool JudgeInOrder();
  void Say(Event event) { reply_.events.push_back(std::move(event)); }
  void Say(Verb verb, std::string who, std::string detail,
           std::vector<std::pair<Quantity, double>> numbers = {}) {
    Say(Event{0, {}, verb, std::move(who), std::move(detail), std::move(numbers)});
  }
  void Refuse(Proposal& proposal, std::string why) {
    proposal.out = true;
    proposal.fate = Fate::Refused;
    proposal.reason = why;
    Say(Verb::Refuse, proposal.candidate.origin, std::move(why));
  }
  // Of what never became a proposal.
  void RefuseAtOnce(std::string who, std::string why) {
    Say(Verb::Refuse, std::move(who), std::move(why));
  }
  void WriteAttempts();
  // Nothing is done in this process after it but to say so.
  void Taint(Proposal& proposal) { reply_.refuted.push_back(proposal.form.candidate_exact); }

  const WorkRequest& request_;
  Compiler& compiler_;
  WorkReply reply_;
  SteadyClock::time_point start_ = SteadyClock::now();
  ir::Program source_;
  std::string source_exact_;
  double source_cost_ = 0;
  std::vector<Proposal> proposals_;
  std::optional<verify::Verified<exec::CompiledForm>> in_use_;
  exec::NativeImage in_use_image_;
  std::optional<Pricer> pricer_;
};

void Improvement::Propose(std::string_view proposer, ir::Candidate candidate) {
  const std::string exact = ir::ExactDigest(candidate.program);
  const std::string guard = ir::PrintGuard(candidate.guard);
  if (std::ranges::find(request_.banned, exact) != request_.banned.end())
    return RefuseAtOnce(candidate.origin, fmt::format("{} is banned", ir::ShortDigest(exact)));
  const bool known = std::ranges::any_of(proposals_, [&](const Proposal& other) {
    return other.form.candidate_exact == exact && other.form.guard == guard;
  });
  if (known) return;
  const double cost = optimize::StaticCost(candidate.program);
  Say(Verb::Propose, candidate.origin, candidate.guard.atoms.empty() ? "" : guard,
      {{Quantity::SourceCost, source_cost_}, {Quantity::StaticCost, cost}});
  Proposal& proposal = proposals_.emplace_back();
  proposal.proposer = proposer;
  proposal.is_source = exact == source_exact_ && candidate.guard.atoms.empty();
  proposal.static_cost = cost;
  proposal.form.source_exact = source_exact_;
  proposal.form.guard = guard;
  proposal.form.candidate = ir::PrintText(ir::Canonicalize(candidate.program));
  proposal.form.candidate_exact = exact;
  if (exact != source_exact_) {
    proposal.form.source = ir::PrintText(source_);
    proposal.form.certificate = ir::PrintCertificate(candidate.certificate);
  }
  proposal.form.toolchain = compiler_.toolchain();
  proposal.candidate = std::move(candidate);
}

void Improvement::ProposeForeign() {
  if (request_.foreign_candidate.empty()) return;
  ir::Candidate candidate;
  candidate.origin = "store";
  Result<ir::Program> program = ir::ParseText(request_.foreign_candidate);
  if (!program) return RefuseAtOnce("store", program.error().message);
  // It is about to be run on words that were made for the source.
  if (!TakesTheSame(source_.entry_function(), program->entry_function()))
    return RefuseAtOnce("store", "its parameters or results are other ones");
  candidate.program = std::move(*program);
  Result<ir::Guard> guard = ir::ParseGuard(request_.foreign_guard, source_);
  if (!guard) return RefuseAtOnce("store", guard.error().message);
  candidate.guard = std::move(*guard);
  const size_t before = proposals_.size();
  Propose("store", std::move(candidate));
  if (proposals_.size() > before) proposals_.back().is_foreign = true;
}

void Improvement::ProposeAll() {
  for (const std::shared_ptr<const optimize::Proposer>& proposer : optimize::Proposers()) {
    // Constants are believed only where the site says so.
    if (proposer->name() == "specialize" && !request_.specialize) continue;
    Result<std::vector<ir::Candidate>> candidates =
        proposer->Propose(source_, request_.observed, {});
    if (!candidates) {
      RefuseAtOnce(std::string(proposer->name()), candidates.error().message);
      continue;
    }
    for (ir::Candidate& candidate : *candidates) Propose(proposer->name(), std::move(candidate));
  }
  ProposeForeign();
  ir::Candidate itself;
  itself.program = source_;
  itself.origin = "source";
  Propose("source", std::move(itself));
}

// What became of each of them, for the proposers' accounts.
void Improvement::WriteAttempts() {
  for (const Proposal& proposal : proposals_) {
    const exec::CompiledForm& form = proposal.form;
    Attempt attempt{proposal.proposer,    "native",     form.source_exact,
                    form.candidate_exact, form.guard,   proposal.fate,
                    proposal.reason,      source_cost_, proposal.static_cost};
    if (const auto* time = std::get_if<exec::CallTime>(&form.cost); time && proposal.priced) {
      attempt.cost_before = time->reference_ns;
      attempt.cost_after = time->ns_per_call;
    }
    if (std::ranges::find(reply_.refuted, form.candidate_exact) != reply_.refuted.end())
      attempt.fate = Fate::Refuted;
    reply_.attempts.push_back(std::move(attempt));
  }
}

// A tuned form is wanted of one candidate. It is made again here, for the sake of its certificate.
void Improvement::KeepOnlyInUse() {
  const exec::CompiledForm& form = **in_use_;
  std::erase_if(proposals_, [&](const Proposal& proposal) {
    return proposal.form.candidate_exact != form.candidate_exact ||
           proposal.form.guard != form.guard;
  });
  if (!proposals_.empty()) return;
  const Result<ir::Program> program = ir::ParseText(form.candidate);
  const Result<ir::Guard> guard = ir::ParseGuard(form.guard, source_);
  if (program && guard) Propose("in use", {*program, *guard, {}, "in use"});
}

void Improvement::Lower(Proposal& proposal) {
  const Timed timed(reply_.compile_ms);
  const auto start = SteadyClock::now();
  const ir::Program& program = proposal.candidate.program;
  Result<exec::NativeImage> image =
      proposal.is_scalar ? compiler_.CompileScalar(program, request_.level)
      : request_.tuned   ? compiler_.CompileTuned(program, request_.level)
                         : compiler_.Compile(program, request_.level);
  if (!image) return Refuse(proposal, image.error().message);
  if (in_use_ && image->code == in_use_image_.code)
    return Refuse(proposal, "it is the code in use");
  auto code = exec::NativeCode::Map(*image);
  if (!code) return Refuse(proposal, code.error().message);
  proposal.code = std::move(*code);
  exec::PutImage(proposal.form, *image);
  Say(Verb::Lower, proposal.candidate.origin,
      fmt::format("{}{}", request_.tuned ? "tuned " : "", exec::CpuLevelName(request_.level)),
      {{Quantity::Bytes, static_cast<double>(image->code.size())},
       {Quantity::Ms, MillisecondsSince(start)}});
}

void Improvement::LowerAll() {
  bool cheaper = false;
  for (Proposal& proposal : proposals_) {
    if (proposal.is_source && cheaper) continue;
    Lower(proposal);
    cheaper |= proposal.code != nullptr && proposal.candidate.guard.atoms.empty() &&
               proposal.static_cost < ClearlyCheaper * source_cost_;
  }
}

Result<Pricer> Improvement::MakePricer() {
  std::vector<exec::Value> sample;
  if (!request_.sample_arguments.empty())
    sample = TRY(wire::DecodeValues(request_.sample_arguments));
  std::vector<exec::Value> typical = TRY(TypicalArguments(source_, request_.observed, sample));
  if (!in_use_) return Pricer::Make(source_, std::move(typical));
  const auto code = TRY(exec::NativeCode::Map(in_use_image_));
  const ir::Guard guard = TRY(ir::ParseGuard((*in_use_)->guard, source_));
  const auto answered = [&](std::span<const exec::Value> arguments) {
    return exec::Holds(guard, CopyArguments(arguments));
  };
  if (auto large = LargeArguments(source_, request_.recent_call); large && answered(*large)) {
    Pricer pricer = TRY(Pricer::MakeAgainst(code, source_, std::move(*large)));
    if (!pricer.traps()) return pricer;
  }
  if (answered(typical)) return Pricer::MakeAgainst(code, source_, std::move(typical));
  // Calls are not what they were: the form in use does not answer them, the interpreter does.
  in_use_.reset();
  return Pricer::Make(source_, std::move(typical));
}

Result<void> Improvement::PriceAll() {
  const Timed timed(reply_.price_ms);
  if (!pricer_) pricer_ = TRY(MakePricer());
  std::vector<Proposal*> priced;
  std::vector<std::shared_ptr<const exec::NativeCode>> codes;
  for (Proposal& proposal : proposals_) {
    if (proposal.code == nullptr || proposal.out) continue;
    if (!pricer_->Applies(proposal.candidate.guard)) {
      Refuse(proposal, "no typical call is under its guard");
      continue;
    }
    const std::string wrong = TRY(pricer_->Wrong(proposal.code));
    if (!wrong.empty()) {
      Taint(proposal);
      Refuse(proposal, fmt::format("its code is wrong: {}", wrong));
      return {};
    }
    priced.push_back(&proposal);
    codes.push_back(proposal.code);
  }
  if (priced.empty()) return {};
  const std::vector<Price> prices = TRY(pricer_->Compare(codes));
  const Price& reference = prices.back();
  for (size_t i = 0; i < priced.size(); ++i) {
    Proposal& proposal = *priced[i];
    proposal.priced = true;
    proposal.price = prices[i];
    exec::CallTime cost{prices[i].min_ns, reference.min_ns};
    if (in_use_) {
      // What the interpreter would take for this call, by how the form in use compared with it: so that the shares
      // that are compared at admission differ by just the factor that was measured here.
      const auto& used = std::get<exec::CallTime>((*in_use_)->cost);
      cost.reference_ns *= used.reference_ns / used.ns_per_call;
    }
    proposal.form.cost = cost;
    Say(Verb::Price, proposal.candidate.origin, "",
        {{Quantity::ReferenceNs, reference.min_ns},
         {Quantity::Ns, prices[i].min_ns},
         {Quantity::ReferenceMedianNs, reference.median_ns},
         {Quantity::MedianNs, prices[i].median_ns}});
    if (in_use_ && !(prices[i].min_ns < reference.min_ns * (1.0 - AdmissionMargin)))
      Refuse(proposal, "not faster than the form in use");
  }
  return {};
}

std::string Tell(std::string_view half, const verify::Evidence& evidence) {
  const std::string cases =
      evidence.cases > 0 ? fmt::format(" {}", PrintGrouped(evidence.cases)) : "";
  return fmt::format("{} {}{} ({})", half, verify::GradeName(evidence.grade), cases,
                     evidence.judge);
}

// Code that was refuted by running it may have done anything.
bool RanWrong(const verify::Examined& examined) {
  return std::holds_alternative<verify::Refuted>(examined.lowering);
}

bool HasUnrun(const verify::Examined& examined) {
  const auto* unknown = std::get_if<verify::Unknown>(&examined.lowering);
  return unknown != nullptr && unknown->has_unrun;
}

// As much effort as it takes to decide, within the time that is left.
Result<verify::Examined> Improvement::Examine(const Proposal& proposal) {
  verify::VerifyOptions options;
  options.limits.smt_ms = SmtMs;
  options.exhaustive_cases = QuickExhaustiveCases;
  Result<verify::Examined> examined = verify::Examined();
  examined->refusal = "no time was left to judge it";
  const double share_ms = VerifyShare * static_cast<double>(request_.timeout_ms);
  for (const Effort& effort : Efforts) {
    const double left_ms = share_ms - MillisecondsSince(start_);
    if (left_ms <= 0) break;
    options.limits.fuel = effort.fuel;
    options.limits.memory_bytes = effort.memory_bytes;
    options.limits.verify_ms = static_cast<uint64_t>(std::ceil(std::min(left_ms, effort.most_ms)));
    examined =
        verify::Examine(source_, proposal.candidate, proposal.form, request_.policy, options);
    if (!examined || examined->form ||
        !std::holds_alternative<verify::Unknown>(examined->lowering) ||
        std::holds_alternative<verify::Unknown>(examined->meaning) || HasUnrun(*examined))
      break;
  }
  return examined;
}

bool Improvement::Judge(Proposal& proposal) {
  const Timed timed(reply_.verify_ms);
  Result<verify::Examined> examined = Examine(proposal);
  if (!examined) {
    Refuse(proposal, examined.error().message);
    return false;
  }
  if (RanWrong(*examined)) Taint(proposal);
  proposal.has_unrun = HasUnrun(*examined);
  if (!examined->form) {
    Refuse(proposal, examined->refusal);
    return false;
  }
  const verify::EvidencePair& evidence = examined->form->evidence();
  Say(Verb::Verify, proposal.candidate.origin,
      fmt::format("{}, {}", Tell("meaning", evidence.meaning),
                  Tell("lowering", evidence.lowering)));
  proposal.fate = Fate::Won;
  reply_.sealed = verify::Seal(*examined->form, request_.key);
  return true;
}

bool Improvement::JudgeInOrder() {
  std::vector<Proposal*> order;
  for (Proposal& proposal : proposals_)
    if (proposal.priced && !proposal.out) order.push_back(&proposal);
  std::ranges::sort(order, {},
                    [](const Proposal* proposal) { return std::pair(proposal->Rank(), proposal); });
  return std::ranges::any_of(order,
                             [this](Proposal* proposal) { return !tainted() && Judge(*proposal); });
}

// In order of cost; the first that is verified is sealed.
Result<void> Improvement::Work() {
  source_ = TRY(ir::ParseText(request_.program));
  source_exact_ = ir::ExactDigest(source_);
  source_cost_ = optimize::StaticCost(source_);
  if (!request_.in_use.empty()) {
    in_use_ = TRY(OpenSealed(request_.in_use, request_.key, source_exact_));
    in_use_image_ = TRY(exec::ParseImage((*in_use_)->payload));
  }
  ProposeAll();
  if (in_use_ && request_.same_candidate) KeepOnlyInUse();
  LowerAll();
  TRY_VOID(PriceAll());
  if (tainted() || JudgeInOrder() || tainted()) return {};
  if (in_use_) return {};
  // Code that no input reaches is mostly that of vectors.
  bool again = false;
  for (Proposal& proposal : proposals_) {
    if (!proposal.has_unrun) continue;
    proposal.is_scalar = again = true;
    proposal.out = proposal.priced = false;
    Lower(proposal);
  }
  if (again) {
    TRY_VOID(PriceAll());
    if (tainted() || JudgeInOrder() || tainted()) return {};
  }
  // Whatever was proposed fell through; the source itself remains, if it was put off.
  for (Proposal& proposal : proposals_) {
    if (!proposal.is_source || proposal.code != nullptr || proposal.out) continue;
    Lower(proposal);
    TRY_VOID(PriceAll());
    if (!tainted()) JudgeInOrder();
    break;
  }
  return {};
}

Result<WorkReply> Improvement::Run() {
  TRY_VOID(Work());
  WriteAttempts();
  return std::move(reply_);
}

}  // namespace

std::string WorkReply::log() const {
  std::string text;
  for (const Event& event : events)
    text += fmt::format("{}: {}\n", VerbName(event.verb), Sentence(event));
  return text;
}

Result<WorkReply> ImproveHere(const WorkRequest& request, Compiler& compiler) {
  return Improvement(request, compiler).Run();
}

}  // namespace frazil::engine
