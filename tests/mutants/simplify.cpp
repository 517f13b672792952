// One change at a time, kept where the mutant still answers wrongly and the original rightly.
#include "simplify.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "process.h"

namespace frazil::mutants {
namespace {

constexpr int SilentMs = 3'000;
// A witness that takes longer is not simpler: with other numbers a loop may take billions of turns.
constexpr auto MostTime = std::chrono::milliseconds(500);

using Change = void (*)(Recipe& recipe);
constexpr Change Changes[] = {
    [](Recipe& recipe) { recipe.set.clear(); },
    [](Recipe& recipe) { recipe.offset = 0; },
    [](Recipe& recipe) { recipe.seed = 1; },
    [](Recipe& recipe) {
      if (recipe.fill != "zeros") recipe.fill = "plain";
    },
};

// Of the original and the mutant, the second in a process of its own.
bool IsWitness(const std::shared_ptr<const ir::Program>& program, const Witness& witness,
               const Code& original, int number) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Answer> right = RightAnswer(*program, witness, original);
  if (!right || std::chrono::steady_clock::now() - start > MostTime) return false;
  const Result<std::string> wrong = WrongAnswer(program, witness, original, *right);
  if (!wrong || !wrong->empty()) return false;
  const ChildEnd end = RunChild(
      [&](const Tell& tell) {
        const Result<Code> image = Emit(*program, witness.form, number);
        if (!image) return;
        tell("run");
        const Result<std::string> answer = WrongAnswer(program, witness, *image, *right);
        tell(answer && answer->empty() ? "right" : "wrong");
      },
      SilentMs);
  if (end.lines.empty() || end.fault.starts_with("no end")) return false;
  return end.lines.back() != "right";
}

}  // namespace

int Simplify(const std::vector<Mutation>& mutations, const Programs& programs, size_t processes) {
  RunAll(mutations.size(), processes, [&](size_t i, const Tell&) {
    const Mutation& mutation = mutations[i];
    Result<Witness> parsed = ParseWitness(mutation.witness);
    if (!parsed || mutation.witness.empty()) return;
    Witness witness = std::move(*parsed);
    const auto program = programs.Find(witness.form.program);
    if (!program || !witness.form.CanRunHere()) return;
    const Result<Code> original = Emit(**program, witness.form, 0);
    if (!original) return;
    for (size_t a = 0; a < witness.arguments.size(); ++a) {
      if (!witness.arguments[a].words.empty() || witness.arguments[a].same >= 0) continue;
      for (const Change change : Changes) {
        Witness simpler = witness;
        change(simpler.arguments[a]);
        if (PrintWitness(simpler) != PrintWitness(witness) &&
            IsWitness(*program, simpler, *original, mutation.number))
          witness = std::move(simpler);
      }
    }
    if (PrintWitness(witness) == mutation.witness) return;
    fmt::print("{} simpler | {} | \n", mutation.number, PrintWitness(witness));
    std::fflush(stdout);
  });
  return 0;
}

}  // namespace frazil::mutants
