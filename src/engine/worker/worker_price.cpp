// Timing in turns: in every round each form answers the same call a few times, so that all of them share the machine's
// moods; the smallest time of the rounds is what a form costs, the median is told beside it. The interpreter stands in
// every comparison, because a cost alone says nothing on another day.
#include "engine/worker/worker_price.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "engine/worker/worker_compare.h"
#include "exec/guard_eval.h"
#include "exec/native/native_callable.h"
#include "exec/word_call.h"

namespace frazil::engine {
namespace {

using exec::Value;
using SteadyClock = std::chrono::steady_clock;

constexpr int MaxRounds = 9;
constexpr double AllRoundsNs = 5e6;
constexpr double SlowCallNs = AllRoundsNs / 3;  // the attempts are samples enough
constexpr double VerySlowNs = 50e6;             // and one attempt is
// A sample is repeated until it takes this long: the clock itself takes 30 ns.
constexpr double SampleNs = 10'000;
constexpr uint64_t MaxRepeats = 1000;

double NanosecondsOf(const std::function<void()>& action, uint64_t repeats) {
  const auto start = SteadyClock::now();
  for (uint64_t i = 0; i < repeats; ++i) action();
  const std::chrono::duration<double, std::nano> taken = SteadyClock::now() - start;
  return taken.count() / static_cast<double>(repeats);
}

Limits RunLimits() {
  Limits limits;
  limits.fuel = 50'000'000;
  limits.memory_bytes = 256 << 20;
  limits.run_ms = 1'000;
  return limits;
}

// One way to answer the call, with memory of its own that is put back before each sample.
struct Subject {
  std::vector<Value> arguments;
  exec::LoweredCall call;
  std::vector<uint64_t> words;
  std::vector<uint64_t> results;
  std::function<int32_t(const uint64_t* words, uint64_t* results)> answer;
  int32_t status = 0;  // of the last answer
  uint64_t repeats = 1;
  std::vector<double> samples;

  static Result<Subject> Make(const ir::Program& source, std::span<const Value> pristine) {
    std::vector<Value> copy = CopyArguments(pristine);
    exec::LoweredCall call = TRY(exec::LoweredCall::Create(source, copy, RunLimits()));
    std::vector<uint64_t> words = exec::ArgumentWords(call);
    std::vector<uint64_t> results(exec::WordCount(call.scalar_results()) + 1);
    return Subject{
        std::move(copy), std::move(call), std::move(words), std::move(results), {}, 0, 1, {}};
  }
  void Restore(std::span<const Value> pristine) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].memory)
        std::copy_n(pristine[i].memory->data(), pristine[i].memory->size_bytes(),
                    arguments[i].memory->data());
    }
  }
  double Time(uint64_t times) {
    return NanosecondsOf([this] { status = answer(words.data(), results.data()); }, times);
  }
};

int32_t StatusOf(const exec::Outcome& outcome) {
  return outcome.trap ? 1 + static_cast<int32_t>(outcome.trap->kind) : 0;
}

std::string Tell(int32_t status) {
  if (status == 0) return "an answer";
  if (status < 1 || status > ir::TrapCount) return fmt::format("status {}", status);
  return fmt::format("'{}'", ir::TrapName(static_cast<ir::Trap>(status - 1)));
}

Price PriceOf(std::vector<double> samples) {
  std::ranges::sort(samples);
  return {samples.front(), samples[samples.size() / 2]};
}

}  // namespace

Result<Pricer> Pricer::Make(const ir::Program& source, std::vector<Value> arguments) {
  Pricer pricer;
  pricer.source_ = std::make_shared<const ir::Program>(source);
  pricer.arguments_ = std::move(arguments);
  pricer.arguments_after_ = CopyArguments(pricer.arguments_);
  pricer.interpreter_ = std::make_shared<const exec::InterpreterProgram>(
      TRY(exec::InterpreterProgram::Create(source)));
  exec::RunContext context;
  context.limits = RunLimits();
  pricer.outcome_ = TRY(pricer.interpreter_->Run(pricer.arguments_after_, context));
  // A run that was cut off is short, whatever the whole of it costs.
  if (const auto& trap = pricer.outcome_.trap; trap && ir::IsLimit(trap->kind))
    return Fail(Diag::LimitReached,
                fmt::format("the call to price with does not end: {}", trap->ToString()));
  // What is in use is the tile interpreter where it can be, and that counts no fuel: for arguments that are known to end.
  const Limits limits = pricer.outcome_.trap ? RunLimits() : Limits();
  pricer.fluid_ = TRY(InterpreterFluid::Create(ir::SignedProgram::Of(source), limits));
  return pricer;
}

Result<Pricer> Pricer::MakeAgainst(std::shared_ptr<const exec::NativeCode> in_use,
                                   const ir::Program& source, std::vector<Value> arguments) {
  Pricer pricer;
  pricer.source_ = std::make_shared<const ir::Program>(source);
  pricer.in_use_ = std::move(in_use);
  pricer.arguments_ = std::move(arguments);
  pricer.arguments_after_ = CopyArguments(pricer.arguments_);
  // Runs only where a call traps, to say which part of memory is specified then.
  pricer.interpreter_ = std::make_shared<const exec::InterpreterProgram>(
      TRY(exec::InterpreterProgram::Create(source)));
  const auto callable = TRY(exec::MakeNativeCallable(pricer.in_use_, pricer.source_));
  exec::RunContext context;
  context.limits = RunLimits();
  pricer.outcome_ = TRY(callable->Run(pricer.arguments_after_, context));
  return pricer;
}

bool Pricer::Applies(const ir::Guard& guard) const {
  // The copies that are timed lie at multiples of 64, as these do.
  const std::vector<Value> copy = CopyArguments(arguments_);
  return exec::Holds(guard, copy);
}

Result<std::string> Pricer::Wrong(const std::shared_ptr<const exec::NativeCode>& code) const {
  const std::unique_ptr<exec::Callable> callable = TRY(exec::MakeNativeCallable(code, source_));
  const std::vector<Value> copy = CopyArguments(arguments_);
  exec::RunContext context;
  context.limits = RunLimits();
  const exec::Outcome outcome = TRY(callable->Run(copy, context));
  if (!MarginsAreWhole(copy)) return "it writes beside its buffers";
  return Difference({*interpreter_, arguments_, context}, outcome_, arguments_after_, outcome,
                    copy);
}

Result<std::vector<Price>> Pricer::Compare(
    std::span<const std::shared_ptr<const exec::NativeCode>> forms) const {
  std::vector<Subject> subjects;
  for (const auto& code : forms) {
    Subject& subject = subjects.emplace_back(TRY(Subject::Make(*source_, arguments_)));
    subject.answer = [&code](const uint64_t* words, uint64_t* results) {
      return exec::CallNative(*code, words, results, nullptr);
    };
  }
  Subject& reference = subjects.emplace_back(TRY(Subject::Make(*source_, arguments_)));
  reference.answer = [this](const uint64_t* words, uint64_t* results) {
    return in_use_ != nullptr ? exec::CallNative(*in_use_, words, results, nullptr)
                              : fluid_->Call(words, results, nullptr);
  };

  double round_ns = 0;
  for (Subject& subject : subjects) {
    // The first call finds cold caches, and either may be interrupted.
    double call_ns = subject.Time(1);
    for (int more = 0; more < 2 && call_ns < VerySlowNs; ++more) {
      subject.Restore(arguments_);
      call_ns = std::min(call_ns, subject.Time(1));
    }
    if (call_ns >= SlowCallNs) subject.samples.push_back(call_ns);
    subject.repeats = static_cast<uint64_t>(
        std::clamp(SampleNs / std::max(call_ns, 1.0), 1.0, static_cast<double>(MaxRepeats)));
    round_ns += std::max(call_ns, SampleNs);
  }
  const int rounds =
      static_cast<int>(std::clamp(AllRoundsNs / round_ns, 1.0, static_cast<double>(MaxRounds)));
  for (int round = 0; round < rounds; ++round) {
    for (Subject& subject : subjects) {
      if (rounds == 1 && !subject.samples.empty()) continue;
      subject.Restore(arguments_);
      subject.samples.push_back(subject.Time(subject.repeats));
    }
  }
  std::vector<Price> prices;
  for (const Subject& subject : subjects) {
    if (subject.status != StatusOf(outcome_))
      return Fail(Diag::EngineFailed,
                  fmt::format("no price: a timed call ended with {}, the interpreter with {}",
                              Tell(subject.status), Tell(StatusOf(outcome_))));
  }
  for (Subject& subject : subjects) prices.push_back(PriceOf(std::move(subject.samples)));
  return prices;
}

}  // namespace frazil::engine
