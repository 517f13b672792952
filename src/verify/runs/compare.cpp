// Runs and compares. The first difference is told in one sentence, the one a reader would look for first: traps, then
// results, then output, then memory.
#include "verify/internal/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/meaning/after_trap.h"
#include "ir/text/text.h"

namespace frazil::verify {
namespace {

using exec::Outcome;
using exec::Value;

std::string Tell(const std::optional<exec::TrapInfo>& trap) {
  return trap ? trap->ToString() : "no trap";
}

std::string Short(const Value& value) {
  constexpr size_t Most = 60;
  std::string text = exec::PrintValue(value);
  if (text.size() > Most) text = text.substr(0, Most) + "...";
  return text;
}

std::string ElementText(const exec::Memory& memory, int64_t i) {
  std::vector<uint64_t> words(ir::WordsOf(memory.element()));
  memory.Get(i, words);
  return ir::PrintLiteral(memory.element(), words);
}

std::string ValueDifference(std::string_view what, size_t number, const Value& a, const Value& b) {
  if (a.memory != nullptr && b.memory != nullptr && a.memory->length() == b.memory->length() &&
      a.dims == b.dims && a.memory->element() == b.memory->element()) {
    const uint32_t bytes = ir::BytesOf(a.memory->element());
    for (int64_t i = 0; i < a.memory->length(); ++i) {
      const auto at = static_cast<uint64_t>(i) * bytes;
      if (!std::equal(a.memory->data() + at, a.memory->data() + at + bytes, b.memory->data() + at))
        return fmt::format("{} {}, element {}: {} against {}", what, number, i,
                           ElementText(*a.memory, i), ElementText(*b.memory, i));
    }
  }
  return fmt::format("{} {}: {} against {}", what, number, Short(a), Short(b));
}

std::string ListDifference(std::string_view what, std::span<const Value> a,
                           std::span<const Value> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!(a[i] == b[i])) return ValueDifference(what, i + 1, a[i], b[i]);
  }
  if (a.size() != b.size()) return fmt::format("{} {}s against {}", a.size(), what, b.size());
  return {};
}

bool AnyCanaryBroken(std::span<const Value> arguments) {
  return std::ranges::any_of(arguments, [](const Value& value) {
    return value.memory != nullptr && !CanariesIntact(*value.memory);
  });
}

}  // namespace

std::string_view LimitFlag(ir::Trap trap, bool timed_out) {
  if (timed_out) return "time (--timeout-ms, --verify-ms)";
  if (trap == ir::Trap::Depth) return "depth (--depth)";
  if (trap == ir::Trap::Memory) return "memory (--memory)";
  return "fuel (--fuel, --verify-ms)";
}

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string AllInputs(uint64_t number) {
  return number == 1 ? "the only input" : fmt::format("all {} inputs", Grouped(number));
}

std::string Comparer::Difference(const Input& input, const Comparison& comparison,
                                 const Input& source_after, const Input& candidate_after,
                                 const exec::RunContext& context) const {
  const Outcome& a = comparison.source;
  const Outcome& b = comparison.candidate;
  if (a.trap != b.trap) return fmt::format("trap: {} against {}", Tell(a.trap), Tell(b.trap));
  if (std::string text = ListDifference("output", a.output, b.output); !text.empty()) return text;
  if (!a.trap) {
    if (std::string text = ListDifference("result", a.results, b.results); !text.empty())
      return text;
    return ListDifference("argument", source_after.arguments, candidate_after.arguments);
  }
  const auto wrong = exec::WrongAfterTrap(*source_, input.arguments, source_after.arguments,
                                          candidate_after.arguments, context);
  if (!wrong) return {};
  return fmt::format(
      "argument {}, element {}, after {}: {} against {}", wrong->argument, wrong->element,
      Tell(a.trap), ElementText(*source_after.arguments[wrong->argument].memory, wrong->element),
      ElementText(*candidate_after.arguments[wrong->argument].memory, wrong->element));
}

bool Comparer::IsLimitReached(const exec::Outcome& outcome) const {
  if (!outcome.trap || !IsLimit(outcome.trap->kind)) return false;
  return !counts_fuel_ || outcome.trap->kind != ir::Trap::Fuel || outcome.trap->timeout_ms;
}

Comparison Comparer::Compare(const Input& input, uint64_t left_ms) const {
  Comparison result;
  exec::RunContext context;
  context.input = input.input;
  context.hints = input.hints;
  context.limits = limits_;
  context.limits.run_ms = std::min(limits_.run_ms, std::max<uint64_t>(left_ms, 1));
  const Input a = CopyOf(input);
  Result<Outcome> source = run_source_(a.arguments, context);
  if (!source || IsLimitReached(*source)) {
    result.kind = Comparison::Kind::Undecided;
    result.limit = source ? LimitFlag(source->trap->kind, source->trap->timeout_ms.has_value())
                          : source.error().message;
    return result;
  }
  const Input b = CopyOf(input);
  Result<Outcome> candidate = candidate_(b.arguments, context);
  result.source = std::move(*source);
  if (!candidate && ClassOf(candidate.error().diag) != ErrorClass::User) {
    result.kind = Comparison::Kind::Undecided;
    result.limit = candidate.error().message;
    return result;
  }
  if (!candidate) {
    result.kind = Comparison::Kind::Different;
    result.difference = "the second cannot be run: " + candidate.error().message;
    return result;
  }
  result.candidate = std::move(*candidate);
  if (AnyCanaryBroken(b.arguments)) {
    result.kind = Comparison::Kind::Different;
    result.difference = "bytes outside of a buffer were written";
    return result;
  }
  if (counts_fuel_ && result.candidate.trap && result.candidate.trap->timeout_ms) {
    result.kind = Comparison::Kind::Different;
    result.difference = "the second does not run out of fuel";
    return result;
  }
  if (IsLimitReached(result.candidate)) {
    result.kind = Comparison::Kind::Undecided;
    result.source_ended = true;
    result.limit =
        LimitFlag(result.candidate.trap->kind, result.candidate.trap->timeout_ms.has_value());
    return result;
  }
  result.difference = Difference(input, result, a, b, context);
  if (!result.difference.empty()) result.kind = Comparison::Kind::Different;
  return result;
}

Runner InterpreterRunner(std::shared_ptr<const exec::InterpreterProgram> program) {
  return [program = std::move(program)](std::span<const Value> arguments,
                                        const exec::RunContext& context) {
    return program->Run(arguments, context);
  };
}

}  // namespace frazil::verify
