// Results to text, and the steps of a chain. The program computes; this only prints.
#include <fmt/format.h>

#include "base/check.h"
#include "base/names.h"
#include "frontends/words/words.h"

namespace frazil::frontends::words {

std::string_view AnswerKindName(AnswerKind kind) {
  static constexpr Named<AnswerKind> names[] = {{"integer", AnswerKind::Integer},
                                                {"fraction", AnswerKind::Fraction},
                                                {"truth", AnswerKind::Truth}};
  return NameOf(names, kind);
}

namespace {

Big BigOf(const exec::Value& value) {
  const std::span<const uint64_t> words = value.scalar_words();
  return Big::FromWords({words.begin(), words.end()});
}

std::string TrapSentence(const exec::TrapInfo& trap) {
  switch (trap.kind) {
    case ir::Trap::DivisionByZero: return "there is no answer: it divides by zero";
    case ir::Trap::Overflow: return "there is no answer: a number grew beyond 64 bits";
    case ir::Trap::Fuel:
      if (trap.timeout_ms)
        return fmt::format("there is no answer yet: the run took longer than {} ms",
                           *trap.timeout_ms);
      return "there is no answer yet: the run took all the loop iterations it may take";
    default: return fmt::format("there is no answer: {}", trap.ToString());
  }
}

}  // namespace

Result<std::string> PrintAnswer(AnswerKind kind, const exec::Outcome& outcome) {
  if (outcome.trap) {
    const bool limit = outcome.trap->kind == ir::Trap::Fuel;
    return Fail(limit ? Diag::LimitReached : Diag::Trapped, TrapSentence(*outcome.trap));
  }
  const bool fraction = kind == AnswerKind::Fraction;
  CHECK(outcome.results.size() == (fraction ? 2u : 1u));
  const Big first = BigOf(outcome.results[0]);
  return PrintRational({first, fraction ? BigOf(outcome.results[1]) : Big(1)});
}

Result<std::string> PrintAnswer(const Reading& reading, const exec::Outcome& outcome) {
  return PrintAnswer(reading.answer_kind, outcome);
}

Result<std::vector<Step>> Trace(const Reading& reading, size_t most) {
  std::vector<Step> steps;
  for (ExprId id : reading.tree.PostOrder(reading.tree.root)) {
    if (!reading.tree.at(id).a.valid()) continue;
    if (steps.size() == most)
      return Fail(Diag::LimitReached, fmt::format("the text has more than {} steps", most));
    Lowered lowered = TRY(Lower(reading.tree, id));
    steps.push_back({id, lowered.kind, std::move(lowered.program)});
  }
  return steps;
}

std::string PrintStep(const Reading& reading, std::span<const Step> steps, size_t index,
                      std::span<const std::string> answers) {
  const Tree& tree = reading.tree;
  auto operand = [&](ExprId id) -> Written {
    if (!id.valid()) return {};
    if (!tree.at(id).a.valid()) return WriteNumber(tree.at(id));
    for (size_t i = 0; i < index; ++i)
      if (steps[i].node == id) return WriteAnswer(answers[i]);
    CHECK(false);
  };
  const Node& node = tree.at(steps[index].node);
  Written a = operand(node.a);
  return WriteOperation(node, std::move(a), operand(node.b)).text;
}

}  // namespace frazil::frontends::words
