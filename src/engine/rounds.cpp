#include "engine/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <regex>

#include "engine/fluid.h"
#include "exec/meaning/interpreter.h"
#include "ir/lower/lower.h"

namespace frazil::engine {

void TrapCounts::Add(int32_t status) {
  traps_[static_cast<size_t>(status - 1)].fetch_add(1, std::memory_order_relaxed);
}

uint64_t TrapCounts::total() const {
  uint64_t sum = 0;
  for (const auto& count : traps_) sum += count.load(std::memory_order_relaxed);
  return sum;
}

std::string TrapCounts::Print(uint64_t calls) const {
  std::string kinds;
  for (size_t kind = 0; kind < traps_.size(); ++kind) {
    if (traps_[kind] == 0) continue;
    kinds +=
        fmt::format("{}{}", kinds.empty() ? "" : ", ", ir::TrapName(static_cast<ir::Trap>(kind)));
  }
  return fmt::format("{} of {} calls: {}", total(), calls, kinds);
}

Result<void> CallInRounds(Site& site, const exec::LoweredCall& call, uint64_t calls,
                          TrapCounts& counts,
                          const std::function<void(uint64_t done, double ns_per_call)>& on_round) {
  using Clock = std::chrono::steady_clock;
  const CallLayout layout(site.entry());
  const std::vector<uint64_t> words = layout.Words(call.arguments());
  std::vector<uint64_t> results(layout.result_words() + 1);
  uint64_t done = 0;
  for (uint64_t round = 1; done < calls; round *= 2) {
    const uint64_t count = std::min(round, calls - done);
    const auto begin = Clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      const int32_t status = site.Call(words.data(), results.data());
      if (status == 0) continue;
      if (status == LaunchFailed)
        return Fail(Diag::WrongArgument, InterpreterFluid::LastLaunchError());
      counts.Add(status);
    }
    done += count;
    on_round(done, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() /
                       static_cast<double>(count));
  }
  return {};
}

std::string WithoutSpeed(const std::string& sentence) {
  static const std::regex speed("[0-9.]+ times as fast");
  return std::regex_replace(sentence, speed, "its calls trap");
}

Result<Comparison> CompareWithInterpreter(Site& site, std::vector<exec::Value> for_site,
                                          std::vector<exec::Value> for_interpreter,
                                          const Limits& limits) {
  const CallLayout layout(site.entry());
  const exec::LoweredCall ours =
      TRY(exec::LoweredCall::Create(site.program(), std::move(for_site), limits));
  const exec::LoweredCall theirs =
      TRY(exec::LoweredCall::Create(site.program(), std::move(for_interpreter), limits));
  std::vector<uint64_t> results(layout.result_words() + 1);
  const int32_t status = site.Call(layout.Words(ours.arguments()).data(), results.data());
  exec::RunContext context;
  context.limits = limits;
  const exec::Outcome outcome =
      TRY(exec::Interpret(TRY(ir::LowerTensors(site.program())), theirs.arguments(), context));
  if (outcome.trap) {
    const std::string trap = outcome.trap->ToString();
    if (status == 1 + static_cast<int32_t>(outcome.trap->kind))
      return Comparison{true, true, fmt::format("none: the interpreter traps too, {}", trap)};
    // Compiled code has neither fuel nor a clock: there is nothing to compare with.
    if (outcome.trap->kind == ir::Trap::Fuel)
      return Comparison{true, false,
                        "not compared: the interpreter takes longer than --timeout-ms"};
    return Comparison{false, true, fmt::format("NOT the interpreter's, which traps: {}", trap)};
  }
  bool same = status == 0 && std::ranges::equal(ours.arguments(), theirs.arguments());
  size_t at = 0;
  for (const exec::Value& result : outcome.results) {
    for (const uint64_t word : result.scalar_words()) same &= results[at++] == word;
  }
  return Comparison{same, status != 0,
                    same ? "the interpreter's, bit for bit" : "NOT the interpreter's"};
}

}  // namespace frazil::engine
