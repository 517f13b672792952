// Measured reasons: an arena that is kept between calls stays in cache and costs no page faults; one exchange of a pointer is all
// that threads share.
#include "exec/plan/plan_code.h"

#include <algorithm>
#include <cstdlib>

#include "exec/call_words.h"
#include "exec/native/native_callable.h"
#include "exec/native/native_run.h"
#include "exec/word_call.h"

namespace frazil::exec {

struct PlanCode::Instance {
  explicit Instance(const PlanCode& code)
      : arena(static_cast<std::byte*>(std::aligned_alloc(
            PlanAlignment, (code.arena_bytes_ / PlanAlignment + 1) * PlanAlignment))),
        words(code.words_),
        results(code.result_count_ + 1) {
    if (arena == nullptr) return;
    for (size_t i = 0; i < code.arena_words_.size(); ++i)
      words[code.arena_words_[i].to] =
          reinterpret_cast<uint64_t>(arena + code.arena_offsets_[code.arena_words_[i].from]);
  }
  ~Instance() { std::free(arena); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  std::byte* arena;
  std::vector<uint64_t> words, results;
  NativeRun run;
};

PlanCode::~PlanCode() { delete ready_.load(std::memory_order_acquire); }

Result<void> PlanCode::AddScalar(const PlanScalar& scalar, ir::Type type) {
  const uint32_t count = ir::WordsOf(type);
  const auto at = static_cast<uint32_t>(words_.size());
  words_.resize(at + count);
  switch (scalar.kind) {
    case PlanScalar::Kind::Constant:
      if (scalar.words.size() != count)
        return Fail(Diag::BadArtifact, "a constant has other words");
      std::copy(scalar.words.begin(), scalar.words.end(), words_.begin() + at);
      return {};
    case PlanScalar::Kind::Param:
      if (scalar.param >= param_words_.size()) break;
      for (uint32_t i = 0; i < count; ++i)
        patches_.push_back({param_words_[scalar.param] + i, at + i, 0});
      return {};
    case PlanScalar::Kind::Result: {
      if (scalar.step >= result_words_.size() || scalar.result >= result_words_[scalar.step].size())
        break;
      // Filled in when that step has given it; steps are linked in order, so those in between are none of its copies.
      const uint32_t from = result_words_[scalar.step][scalar.result];
      for (uint32_t i = 0; i < count; ++i) copies_.push_back({from + i, at + i});
      return {};
    }
  }
  return Fail(Diag::BadArtifact, "a scalar of a step comes from nowhere");
}

Result<void> PlanCode::AddPlace(const PlanPlace& place, ir::Type element) {
  const auto at = static_cast<uint32_t>(words_.size());
  const uint64_t length = place.bytes / ir::BytesOf(element);
  words_.push_back(0);
  words_.push_back(length);
  const auto& rooms = place.room == PlanPlace::Room::Param ? param_words_ : tensor_words_;
  switch (place.room) {
    case PlanPlace::Room::Arena:
      if (place.offset > arena_bytes_ || place.bytes > arena_bytes_ - place.offset) break;
      arena_words_.push_back({static_cast<uint32_t>(arena_offsets_.size()), at});
      arena_offsets_.push_back(place.offset);
      return {};
    case PlanPlace::Room::Param:
    case PlanPlace::Room::Result:
      if (place.ordinal >= rooms.size() || rooms[place.ordinal] == UINT32_MAX) break;
      patches_.push_back({rooms[place.ordinal], at, place.offset});
      return {};
  }
  return Fail(Diag::BadArtifact, "a tensor of a step has no place");
}

Result<void> PlanCode::AddStep(const ir::Program&, const Plan& plan, size_t number) {
  const PlanStep& step = plan.steps[number];
  const ir::Function& form = plan.forms[step.form].program->entry_function();
  if (step.arguments.size() != form.param_count() || step.results.size() != form.results.size())
    return Fail(Diag::BadArtifact, "a step has other arguments than its form");
  StepCall call;
  call.function = codes_[step.form]->function();
  call.words = static_cast<uint32_t>(words_.size());
  call.results = result_count_;
  for (uint32_t i = 0; i < form.param_count(); ++i) {
    const ir::Type type = form.param_type(i);
    const auto* place = std::get_if<PlanPlace>(&step.arguments[i]);
    if (type.is_tensor() != (place != nullptr) || type.is_buffer())
      return Fail(Diag::BadArtifact, "an argument of a step is of another kind than its form's");
    if (place != nullptr)
      TRY_VOID(AddPlace(*place, type.element()));
    else
      TRY_VOID(AddScalar(std::get<PlanScalar>(step.arguments[i]), type));
  }
  std::vector<uint32_t>& own = result_words_.emplace_back();
  for (size_t i = 0; i < form.results.size(); ++i) {
    const ir::Type type = form.results[i];
    own.push_back(result_count_);
    if (type.is_tensor())
      TRY_VOID(AddPlace(step.results[i].place, type.element()));
    else
      result_count_ += ir::WordsOf(type);
  }
  calls_.push_back(call);
  return {};
}

// The program's own scalar results, in order.
Result<void> PlanCode::AddResults(const ir::Program& program, const Plan& plan) {
  size_t number = 0;
  for (const ir::Type type : program.entry_function().results) {
    if (type.is_tensor()) continue;
    if (number >= plan.scalar_results.size())
      return Fail(Diag::BadArtifact, "the plan gives too few results");
    const PlanScalar& scalar = plan.scalar_results[number++];
    for (uint32_t i = 0; i < ir::WordsOf(type); ++i) {
      switch (scalar.kind) {
        case PlanScalar::Kind::Constant:
          if (i >= scalar.words.size())
            return Fail(Diag::BadArtifact, "a result has too few words");
          given_.push_back({Given::From::Constant, scalar.words[i]});
          break;
        case PlanScalar::Kind::Param:
          if (scalar.param >= param_words_.size())
            return Fail(Diag::BadArtifact, "a result comes from nowhere");
          given_.push_back({Given::From::Argument, param_words_[scalar.param] + i});
          break;
        case PlanScalar::Kind::Result:
          if (scalar.step >= result_words_.size() ||
              scalar.result >= result_words_[scalar.step].size())
            return Fail(Diag::BadArtifact, "a result comes from nowhere");
          given_.push_back({Given::From::Result, result_words_[scalar.step][scalar.result] + i});
          break;
      }
    }
  }
  return {};
}

Result<std::shared_ptr<const PlanCode>> PlanCode::Link(
    const ir::Program& program, const Plan& plan,
    std::vector<std::shared_ptr<const NativeCode>> codes) {
  if (codes.size() != plan.forms.size())
    return Fail(Diag::BadArtifact, "there is not one code for each form of the plan");
  std::shared_ptr<PlanCode> code(new PlanCode());
  code->codes_ = std::move(codes);
  code->arena_bytes_ = plan.arena_bytes;
  const ir::Function& entry = program.entry_function();
  const CallWords words(entry);
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    code->param_words_.push_back(words.params[i].word);
  uint32_t tensor = entry.param_count();
  for (const ir::Type type : entry.results)
    code->tensor_words_.push_back(type.is_tensor() ? words.params[tensor++].word : UINT32_MAX);
  for (size_t i = 0; i < plan.steps.size(); ++i) TRY_VOID(code->AddStep(program, plan, i));
  TRY_VOID(code->AddResults(program, plan));
  // Copies follow the step whose results they are of.
  std::ranges::sort(code->copies_, {}, &Copy::from);
  size_t next = 0;
  for (size_t i = 0; i < code->calls_.size(); ++i) {
    StepCall& call = code->calls_[i];
    const uint32_t end =
        i + 1 < code->calls_.size() ? code->calls_[i + 1].results : code->result_count_;
    call.first_copy = static_cast<uint32_t>(next);
    while (next < code->copies_.size() && code->copies_[next].from < end) ++next;
    call.copies = static_cast<uint32_t>(next) - call.first_copy;
  }
  return code;
}

PlanCode::Instance* PlanCode::Take() const {
  if (Instance* last = ready_.exchange(nullptr, std::memory_order_acq_rel)) return last;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      Instance* spare = spare_.back().release();
      spare_.pop_back();
      return spare;
    }
  }
  auto made = std::make_unique<Instance>(*this);
  return made->arena == nullptr ? nullptr : made.release();
}

void PlanCode::Return(Instance* instance) const {
  Instance* before = ready_.exchange(instance, std::memory_order_acq_rel);
  if (before == nullptr) return;
  const std::lock_guard lock(mutex_);
  spare_.emplace_back(before);
}

int32_t PlanCode::Run(Instance& instance, NativeRun* run) const {
  const uint64_t* words = instance.words.data();
  uint64_t* results = instance.results.data();
  for (const StepCall& call : calls_) {
    int32_t status;
    if (call.function.stack.is_small()) [[likely]]
      status = call.function.entry(words + call.words, results + call.results, run);
    else
      status = CallNative(call.function, words + call.words, results + call.results, run)
                   .value_or(1 + static_cast<int32_t>(ir::Trap::Depth));
    if (status != 0) [[unlikely]] {
      run->ReleaseScratch();
      return status;
    }
    for (uint32_t i = 0; i < call.copies; ++i) {
      const Copy& copy = copies_[call.first_copy + i];
      instance.words[copy.to] = results[copy.from];
    }
  }
  return 0;
}

int32_t PlanCode::Call(const uint64_t* arguments, uint64_t* results, NativeRun* run) const {
  Instance* instance = Take();
  if (instance == nullptr) return 1 + static_cast<int32_t>(ir::Trap::Memory);
  for (const Patch& patch : patches_) instance->words[patch.to] = arguments[patch.from] + patch.add;
  const int32_t status = Run(*instance, run == nullptr ? &instance->run : run);
  if (status == 0) {
    for (size_t i = 0; i < given_.size(); ++i)
      results[i] = given_[i].from == Given::From::Constant   ? given_[i].word
                   : given_[i].from == Given::From::Argument ? arguments[given_[i].word]
                                                             : instance->results[given_[i].word];
  }
  Return(instance);
  return status;
}

namespace {

class PlanCallable final : public Callable {
 public:
  PlanCallable(std::shared_ptr<const PlanCode> code, std::shared_ptr<const ir::Program> program)
      : code_(std::move(code)), program_(std::move(program)) {}

  Result<Outcome> Run(std::span<const Value> arguments, const RunContext& context) override {
    LoweredCall call = TRY(LoweredCall::Create(*program_, arguments, context.limits));
    const std::vector<uint64_t> words = ArgumentWords(call);
    std::vector<uint64_t> results(WordCount(call.scalar_results()) + 1);
    NativeRun run;
    run.depth_left = context.limits.depth;
    run.memory_left = context.limits.memory_bytes;
    const std::optional<TrapInfo> trap =
        TRY(TrapOf(code_->Call(words.data(), results.data(), &run), run));
    return std::move(call).Finish(trap, ValuesFromWords(call.scalar_results(), results), {});
  }
  bool is_concurrent() const override { return true; }
  bool takes_words() const override { return true; }
  std::optional<TrapInfo> RunWords(const uint64_t* arguments, uint64_t* results) override {
    NativeRun run;
    const Result<std::optional<TrapInfo>> trap = TrapOf(code_->Call(arguments, results, &run), run);
    return trap ? *trap : std::nullopt;
  }

 private:
  static Result<std::optional<TrapInfo>> TrapOf(int32_t status, const NativeRun& run) {
    const auto op =
        run.trap_op < ir::OpCount ? std::optional(static_cast<ir::Op>(run.trap_op)) : std::nullopt;
    return TrapOfStatus(status, op, run.trap_index);
  }

  std::shared_ptr<const PlanCode> code_;
  std::shared_ptr<const ir::Program> program_;
};

}  // namespace

Result<std::unique_ptr<Callable>> MakePlanCallable(std::shared_ptr<const PlanCode> code,
                                                   std::shared_ptr<const ir::Program> program) {
  return std::make_unique<PlanCallable>(std::move(code), std::move(program));
}

}  // namespace frazil::exec
