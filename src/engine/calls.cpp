#include "engine/calls.h"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "ir/digest.h"
#include "ir/text/text.h"
#include "optimize/calls/cut.h"
#include "verify/plans/plans.h"

namespace frazil::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The time since the last lap.
class Laps {
 public:
  double Next() {
    const auto now = SteadyClock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  SteadyClock::time_point last_ = SteadyClock::now();
};

// Without a store a seal holds for this process.
verify::InstallKey OwnKey() {
  verify::InstallKey key;
  std::random_device random;
  for (uint8_t& byte : key) byte = static_cast<uint8_t>(random());
  return key;
}

std::string Level() { return std::string(exec::CpuLevelName(exec::HostLevel())); }

// Each form was compared with the interpreter on a call of its own, and a sequence of calls takes the sum of their times.
exec::CallTime CostOf(const exec::Plan& plan, std::span<const FormBook::Form> forms) {
  exec::CallTime total;
  for (const exec::PlanStep& step : plan.steps) {
    const auto* cost = std::get_if<exec::CallTime>(&forms[step.form]->cost);
    if (cost == nullptr) continue;
    total.ns_per_call += cost->ns_per_call;
    total.reference_ns += cost->reference_ns;
  }
  return total;
}

struct Linked {
  std::vector<FormBook::Form> forms;
  std::vector<std::shared_ptr<const exec::NativeCode>> codes;
};

Result<Linked> FormsOf(const exec::Plan& plan, FormBook& book) {
  Linked linked;
  for (const exec::PlanForm& form : plan.forms) {
    FormBook::Entry entry = TRY(book.Get(form));
    linked.forms.push_back(std::move(entry.form));
    linked.codes.push_back(std::move(entry.code));
  }
  return linked;
}

exec::CompiledForm FormOf(const ir::SignedProgram& source, const optimize::Cut& cut) {
  exec::CompiledForm form;
  form.source_exact = source.exact();
  form.guard = "true";
  form.candidate = ir::PrintText(cut.program);
  form.candidate_exact = ir::ExactDigest(cut.program);
  if (form.candidate_exact != form.source_exact) form.source = source.text();
  form.target = verify::CallsTarget;
  form.profile = Level();
  form.payload = exec::SerializePlan(cut.plan);
  return form;
}

Result<Admitted> AdmitOrSay(const FormBook::Form& form, const verify::Policy& policy) {
  std::expected<Admitted, std::string> admitted = Admit(form, nullptr, policy);
  if (!admitted) return Fail(Diag::NotAdmitted, admitted.error());
  return std::move(*admitted);
}

// What was judged here before is linked again: its forms may have become other code of the same programs.
std::optional<CallsForm> FromStore(const ir::SignedProgram& source, FormBook& book,
                                   const verify::Policy& policy) {
  if (book.store() == nullptr) return std::nullopt;
  Laps laps;
  const auto form =
      book.store()->FindVerified(book.KeyOf(source.exact(), verify::CallsTarget), policy);
  if (!form) return std::nullopt;
  const Result<exec::Plan> plan = exec::ParsePlan((*form)->payload);
  if (!plan) return std::nullopt;
  Result<Linked> linked = FormsOf(*plan, book);
  Result<Admitted> admitted = AdmitOrSay(*form, policy);
  if (!linked || !admitted) return std::nullopt;
  auto code = exec::PlanCode::Link(source.program(), *plan, std::move(linked->codes));
  if (!code) return std::nullopt;
  CallsForm calls{std::move(*admitted), std::move(*code), true};
  calls.link_ms = laps.Next();
  return calls;
}

}  // namespace

FormBook::FormBook(store::Store* store, std::string toolchain, Work work)
    : store_(store),
      toolchain_(std::move(toolchain)),
      work_(std::move(work)),
      key_(store != nullptr ? store->key() : OwnKey()) {}

store::StoreKey FormBook::KeyOf(const std::string& exact, std::string_view target) const {
  store::StoreKey key;
  key.source_exact = exact;
  key.target = target;
  key.toolchain = toolchain_;
  key.profile = Level();
  return key;
}

FormBook::Counts FormBook::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::optional<FormBook::Form> FormBook::FromStore(const exec::PlanForm& form,
                                                  const verify::Policy& policy) const {
  if (store_ == nullptr) return std::nullopt;
  auto found = store_->FindVerified(KeyOf(form.exact, "native"), policy);
  if (found && store_->IsBanned((*found)->candidate_exact)) return std::nullopt;
  return found;
}

Result<FormBook::Form> FormBook::Make(const exec::PlanForm& form,
                                      const verify::Policy& policy) const {
  if (!work_) return Fail(Diag::NotAdmitted, "a form is not known, and nobody here makes any");
  WorkRequest request;
  request.program = ir::PrintText(*form.program);
  request.policy = policy;
  request.key = key_;
  const WorkReply reply = TRY(work_(request));
  if (reply.sealed.empty())
    return Fail(Diag::NotAdmitted, fmt::format("no code was verified for {}:\n{}",
                                               ir::ShortDigest(form.exact), reply.log()));
  verify::Expected expected;
  expected.source_exact = form.exact;
  // A plan asks nothing of a call but what launches must fulfill.
  expected.guard = "true";
  expected.target = "native";
  expected.profile = Level();
  expected.policy = policy;
  Form made = TRY(verify::Readmit(reply.sealed, key_, expected));
  if (store_ != nullptr) store_->Put(KeyOf(form.exact, "native"), reply.sealed);
  return made;
}

Result<FormBook::Entry> FormBook::Get(const exec::PlanForm& form) {
  const std::lock_guard lock(mutex_);
  if (const auto known = entries_.find(form.exact); known != entries_.end()) {
    ++counts_.known;
    return known->second;
  }
  const verify::Policy policy = verify::Policy::Default(*form.program);
  std::optional<Form> found = FromStore(form, policy);
  ++(found ? counts_.stored : counts_.made);
  if (!found) found = TRY(Make(form, policy));
  auto code = TRY(exec::NativeCode::Map(TRY(exec::ParseImage((*found)->payload))));
  return entries_.emplace(form.exact, Entry{std::move(*found), std::move(code)}).first->second;
}

Result<CallsForm> MakeCalls(const ir::SignedProgram& source, FormBook& book, bool fuse) {
  const verify::Policy policy = verify::Policy::Default(source.program());
  if (std::optional<CallsForm> stored = FromStore(source, book, policy)) return std::move(*stored);
  Laps laps;
  optimize::Cut cut = TRY(optimize::CutIntoCalls(source.program(), fuse));
  const double cut_ms = laps.Next();
  Linked linked = TRY(FormsOf(cut.plan, book));
  const double forms_ms = laps.Next();
  exec::CompiledForm form = FormOf(source, cut);
  form.toolchain = book.KeyOf(form.source_exact, verify::CallsTarget).toolchain;
  form.cost = CostOf(cut.plan, linked.forms);
  const ir::Candidate candidate{cut.program, {}, {}, "calls"};
  const verify::Examined examined =
      TRY(verify::ExaminePlan(source.program(), candidate, std::move(form), linked.forms, policy));
  if (!examined.form) return Fail(Diag::NotAdmitted, examined.refusal);
  Admitted admitted = TRY(AdmitOrSay(*examined.form, policy));
  const double judge_ms = laps.Next();
  auto code = TRY(exec::PlanCode::Link(source.program(), cut.plan, std::move(linked.codes)));
  const double link_ms = laps.Next();
  if (book.store() != nullptr)
    book.store()->Put(book.KeyOf(source.exact(), verify::CallsTarget),
                      verify::Seal(*examined.form, book.key()));
  return CallsForm{
      std::move(admitted), std::move(code), false, cut_ms, forms_ms, judge_ms, link_ms};
}

}  // namespace frazil::engine
