#include "engine/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "base/sha256.h"
#include "ir/digest.h"
#include "ir/text/text.h"
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
exec::CallTime CostOf(const exec::Plan& plan, std::span<const dispatch::JudgedCode> parts) {
  exec::CallTime total;
  for (const exec::PlanStep& step : plan.steps) {
    const auto* cost = std::get_if<exec::CallTime>(&parts[step.form].form()->cost);
    if (cost == nullptr) continue;
    total.ns_per_call += cost->ns_per_call;
    total.reference_ns += cost->reference_ns;
  }
  return total;
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

// Its forms may have become other code of the same programs in the meantime.
std::optional<CallsForm> FromStore(const ir::SignedProgram& source, FormBook& book,
                                   const verify::Policy& policy) {
  if (book.store() == nullptr) return std::nullopt;
  Laps laps;
  auto form = book.store()->FindVerified(book.KeyOf(source.exact(), verify::CallsTarget), policy);
  if (!form) return std::nullopt;
  const Result<exec::Plan> plan = exec::ParsePlan((*form)->payload);
  if (!plan) return std::nullopt;
  Result<std::vector<dispatch::JudgedCode>> parts = book.GetAll(*plan);
  if (!parts) return std::nullopt;
  return CallsForm{std::move(*form), std::move(*parts), true, 0, laps.Next(), 0};
}

Result<CallsForm> CutAndProve(const ir::SignedProgram& source, FormBook& book,
                              const verify::Policy& policy, optimize::CutWay way) {
  Laps laps;
  const optimize::Cut cut = TRY(optimize::CutIntoCalls(source.program(), way));
  const double cut_ms = laps.Next();
  std::vector<dispatch::JudgedCode> parts = TRY(book.GetAll(cut.plan));
  const double forms_ms = laps.Next();
  exec::CompiledForm form = FormOf(source, cut);
  form.toolchain = book.KeyOf(form.source_exact, verify::CallsTarget).toolchain;
  form.cost = CostOf(cut.plan, parts);
  std::vector<FormBook::Form> forms;
  for (const dispatch::JudgedCode& part : parts) forms.push_back(part.form());
  verify::Examined examined = TRY(verify::ExaminePlan(
      source.program(), {cut.program, {}, {}, "calls"}, std::move(form), forms, policy));
  if (!examined.form) return Fail(Diag::NotAdmitted, examined.refusal);
  return CallsForm{
      std::move(*examined.form), std::move(parts), false, cut_ms, forms_ms, laps.Next()};
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

Result<FormBook::Form> FormBook::Make(const exec::PlanForm& form, const verify::Policy& policy,
                                      Origin& origin) const {
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
  origin.worker = reply.worker;
  if (store_ != nullptr) {
    origin.key = KeyOf(form.exact, "native");
    origin.content = Sha256Hex(reply.sealed);
    store_->Put(*origin.key, reply.sealed);
  }
  return made;
}

Result<dispatch::JudgedCode> FormBook::Get(const exec::PlanForm& form) {
  const std::lock_guard lock(mutex_);
  if (const auto known = entries_.find(form.exact); known != entries_.end()) {
    ++counts_.known;
    return known->second.code;
  }
  const verify::Policy policy = verify::Policy::Default(*form.program);
  Origin origin;
  std::optional<Form> found = FromStore(form, policy);
  ++(found ? counts_.stored : counts_.made);
  if (!found) found = TRY(Make(form, policy, origin));
  Entry entry{TRY(dispatch::JudgedCode::Map(*found)), std::move(origin)};
  return entries_.emplace(form.exact, std::move(entry)).first->second.code;
}

FormBook::Origin FormBook::OriginOf(const std::string& exact) const {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(exact);
  return known == entries_.end() ? Origin() : known->second.origin;
}

void FormBook::Forget(uint64_t worker) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.origin.worker == worker; });
}

Result<std::vector<dispatch::JudgedCode>> FormBook::GetAll(const exec::Plan& plan) {
  std::vector<dispatch::JudgedCode> codes;
  for (const exec::PlanForm& form : plan.forms) codes.push_back(TRY(Get(form)));
  return codes;
}

Result<CallsForm> MakeCalls(const ir::SignedProgram& source, FormBook& book,
                            std::span<const optimize::CutWay> ways) {
  const verify::Policy policy = verify::Policy::Default(source.program());
  if (std::optional<CallsForm> stored = FromStore(source, book, policy)) return std::move(*stored);
  Result<CallsForm> first = Fail(Diag::NotAdmitted, "there is no way to cut it");
  for (const optimize::CutWay way : ways) {
    Result<CallsForm> calls = CutAndProve(source, book, policy, way);
    if (calls || way == ways.front()) first = std::move(calls);
    if (first) break;
  }
  if (first && book.store() != nullptr)
    book.store()->Put(book.KeyOf(source.exact(), verify::CallsTarget),
                      verify::Seal(first->form, book.key()));
  return first;
}

bool WantsCalls(const ir::Program& source) {
  // An element op takes the interpreter 19 ns, and a judge runs it on a hundred inputs.
  constexpr double LeastWork = 1 << 17;
  const ir::Function& f = source.entry_function();
  double work = 0;
  for (const ir::InstId id : f.region(f.body).insts) {
    const ir::Inst& inst = f.inst(id);
    double most = 0;
    const auto count = [&](ir::ValueId value) {
      if (!f.type(value).is_tensor()) return;
      double elements = 1;
      for (const ir::Dim dim : f.shape(f.type(value))) {
        if (dim.is_symbol()) return;
        elements *= static_cast<double>(dim.value);
      }
      most = std::max(most, elements);
    };
    for (const ir::ValueId operand : f.operands_of(inst)) count(operand);
    for (uint32_t i = 0; i < inst.results.count; ++i) count(ir::Function::result_of(inst, i));
    if (inst.op == ir::Op::Matmul || inst.op == ir::Op::MatmulFast)
      if (const ir::Dim depth = f.shape(f.type(f.operand(inst, 0))).back(); !depth.is_symbol())
        most *= static_cast<double>(depth.value);
    work += most;
  }
  return work >= LeastWork;
}

}  // namespace frazil::engine
