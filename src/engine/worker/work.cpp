// The work of a worker: the improve loop (engine/loop.h) on one hot program, in a workshop that makes native code and times it
// against the interpreter, or against the form in use, on a call like those that come. What wins is sealed and sent back.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "engine/loop.h"
#include "engine/worker/wire.h"
#include "engine/worker/worker_compare.h"
#include "engine/worker/worker_price.h"
#include "engine/worker/worker_serve.h"
#include "exec/guard_eval.h"
#include "exec/native/native_callable.h"
#include "ir/text/text.h"

namespace frazil::engine {
namespace {

// Of the time that a request has, for judging; the rest is for compiling and pricing.
constexpr double VerifyShare = 0.6;
constexpr uint64_t QuickExhaustiveCases = 1 << 20;

bool TakesTheSame(const ir::Function& one, const ir::Function& other) {
  if (one.param_count() != other.param_count() || one.results != other.results) return false;
  for (uint32_t i = 0; i < one.param_count(); ++i)
    if (one.param_type(i) != other.param_type(i)) return false;
  return true;
}

using Form = verify::Verified<exec::CompiledForm>;

// Native code for this machine, timed. The second way is code without lanes.
class NativeWorkshop final : public Workshop {
 public:
  NativeWorkshop(const WorkRequest& request, const exec::Target& native, const ir::Program& source)
      : request_(request), native_(native), source_(source) {}

  Result<void> UseInstead(std::optional<Form> in_use) {
    in_use_ = std::move(in_use);
    if (in_use_) in_use_image_ = TRY(exec::ParseImage((*in_use_)->payload));
    return {};
  }

  std::string_view target() const override { return "native"; }
  bool measures() const override { return true; }
  int ways() const override { return 2; }
  // None where calls are no longer those that it answers.
  const Form* in_use() const override { return in_use_ ? &*in_use_ : nullptr; }
  Result<LoweredForm> Lower(const Gate& gate, int way) override;
  Result<std::vector<Quote>> Price(std::span<const Offer> offers) override;

 private:
  Result<Pricer> MakePricer();
  Quote QuoteOf(const engine::Price& price, const engine::Price& reference) const;

  const WorkRequest& request_;
  const exec::Target& native_;
  const ir::Program& source_;
  std::optional<Form> in_use_;
  exec::NativeImage in_use_image_;
  std::optional<Pricer> pricer_;
};

Result<LoweredForm> NativeWorkshop::Lower(const Gate& gate, int way) {
  exec::EmitOptions options;
  options.level = request_.level;
  options.style = way > 0          ? exec::CodeStyle::Scalar
                  : request_.tuned ? exec::CodeStyle::Tuned
                                   : exec::CodeStyle::Quick;
  exec::Artifact artifact = TRY(native_.Emit(gate.program(), options));
  const exec::NativeImage image = TRY(exec::ParseImage(artifact.bytes));
  if (in_use_ && image.code == in_use_image_.code)
    return Fail(Diag::NotAdmitted, "it is the code in use");
  LoweredForm lowered{
      gate.Form("native"),
      fmt::format("{}{}", request_.tuned ? "tuned " : "", exec::CpuLevelName(request_.level)),
      image.code.size()};
  exec::PutImage(lowered.form, image);
  return lowered;
}

Result<Pricer> NativeWorkshop::MakePricer() {
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

Quote NativeWorkshop::QuoteOf(const engine::Price& price, const engine::Price& reference) const {
  exec::CallTime cost{price.min_ns, reference.min_ns};
  if (in_use_) {
    // What the interpreter would take for this call, by how the form in use compared with it: so that the shares
    // that are compared at admission differ by just the factor that was measured here.
    const auto& used = std::get<exec::CallTime>((*in_use_)->cost);
    cost.reference_ns *= used.reference_ns / used.ns_per_call;
  }
  Quote quote{cost, price.min_ns};
  quote.numbers = {{Quantity::ReferenceNs, reference.min_ns},
                   {Quantity::Ns, price.min_ns},
                   {Quantity::ReferenceMedianNs, reference.median_ns},
                   {Quantity::MedianNs, price.median_ns}};
  if (in_use_ && !(price.min_ns < reference.min_ns * (1.0 - AdmissionMargin)))
    quote.refusal = "not faster than the form in use";
  return quote;
}

Result<std::vector<Quote>> NativeWorkshop::Price(std::span<const Offer> offers) {
  if (!pricer_) pricer_ = TRY(MakePricer());
  std::vector<Quote> quotes;
  std::vector<size_t> timed;
  std::vector<std::shared_ptr<const exec::NativeCode>> codes;
  for (const Offer& offer : offers) {
    Quote& quote = quotes.emplace_back();
    if (!pricer_->Applies(offer.candidate.guard)) {
      quote.refusal = "no typical call is under its guard";
      continue;
    }
    auto code = exec::NativeCode::Map(TRY(exec::ParseImage(offer.form.payload)));
    if (!code) {
      quote.refusal = code.error().message;
      continue;
    }
    if (const std::string wrong = TRY(pricer_->Wrong(*code)); !wrong.empty()) {
      quote.is_wrong = true;
      quote.refusal = fmt::format("its code is wrong: {}", wrong);
      return quotes;
    }
    timed.push_back(quotes.size() - 1);
    codes.push_back(std::move(*code));
  }
  if (timed.empty()) return quotes;
  const std::vector<engine::Price> prices = TRY(pricer_->Compare(codes));
  for (size_t i = 0; i < timed.size(); ++i) quotes[timed[i]] = QuoteOf(prices[i], prices.back());
  return quotes;
}

// A program that somebody else's store had for this source.
void ProposeForeign(const WorkRequest& request, Loop& loop) {
  if (request.foreign_candidate.empty()) return;
  ir::Candidate candidate;
  candidate.origin = "store";
  Result<ir::Program> program = ir::ParseText(request.foreign_candidate);
  if (!program) return loop.Refuse("store", program.error().message);
  // It is about to be run on words that were made for the source.
  if (!TakesTheSame(loop.source().entry_function(), program->entry_function()))
    return loop.Refuse("store", "its parameters or results are other ones");
  candidate.program = std::move(*program);
  Result<ir::Guard> guard = ir::ParseGuard(request.foreign_guard, loop.source());
  if (!guard) return loop.Refuse("store", guard.error().message);
  candidate.guard = std::move(*guard);
  if (Proposal* proposal = loop.Propose("store", std::move(candidate))) proposal->is_foreign = true;
}

// A tuned form is wanted of one candidate. It is proposed again, for the sake of its certificate.
void KeepOnlyInUse(const exec::CompiledForm& form, Loop& loop) {
  std::erase_if(loop.proposals(), [&](const Proposal& proposal) {
    return proposal.gate.candidate_exact() != form.candidate_exact ||
           proposal.gate.guard() != form.guard;
  });
  if (!loop.proposals().empty()) return;
  const Result<ir::Program> program = ir::ParseText(form.candidate);
  const Result<ir::Guard> guard = ir::ParseGuard(form.guard, loop.source());
  if (program && guard) loop.Propose("in use", {*program, *guard, {}, "in use"});
}

LoopOptions OptionsOf(const WorkRequest& request) {
  LoopOptions options{request.policy, request.observed, request.specialize};
  options.is_banned = [&](const std::string& exact) {
    return std::ranges::find(request.banned, exact) != request.banned.end();
  };
  const auto share = VerifyShare * static_cast<double>(request.timeout_ms);
  options.gate.exhaustive_cases = QuickExhaustiveCases;
  options.gate.first_rung = QuickRung;
  options.gate.search_ms = verify::VerifyOptions().search_ms;
  options.gate.form_ms = share;
  options.gate.until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<int64_t>(share));
  return options;
}

}  // namespace

std::string WorkReply::log() const {
  std::string text;
  for (const Event& event : events)
    text += fmt::format("{}: {}\n", VerbName(event.verb), Sentence(event));
  return text;
}

Result<WorkReply> ImproveHere(const WorkRequest& request, const exec::Target& native) {
  Loop loop(TRY(ir::ParseText(request.program)), OptionsOf(request));
  NativeWorkshop workshop(request, native, loop.source());
  if (!request.in_use.empty())
    TRY_VOID(
        workshop.UseInstead(TRY(OpenSealed(request.in_use, request.key, loop.source_exact()))));
  loop.ProposeAll();
  // Behind our own: one of the same program has a certificate.
  ProposeForeign(request, loop);
  if (workshop.in_use() != nullptr && request.same_candidate)
    KeepOnlyInUse(**workshop.in_use(), loop);
  const std::optional<Loop::Won> won = TRY(loop.Run(workshop));
  WorkReply reply;
  if (won) reply.sealed = verify::Seal(won->admitted.form(), request.key);
  reply.events = loop.events();
  reply.attempts = loop.attempts();
  reply.refuted = loop.refuted();
  reply.compile_ms = loop.compile_ms();
  reply.price_ms = loop.price_ms();
  reply.verify_ms = loop.verify_ms();
  return reply;
}

}  // namespace frazil::engine
