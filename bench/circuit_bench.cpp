// Circuits: reading them, normalizing them, and what the normal form saves, counted in the programs themselves.
#include <fmt/format.h>

#include "base/check.h"
#include "exec/meaning/interpreter.h"
#include "frontends/circuits/circuits.h"
#include "harness.h"
#include "optimize/normalize/normalize.h"

namespace frazil::bench {
namespace {

namespace circuits = frontends::circuits;

constexpr const char* Hadamards = "copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21";
constexpr const char* Chain =
    "merge.mul@c00[c01,c03] . mark@c03 . mark@c03 . swap@c02<->c04 . merge.add@c03[c04,c03] . "
    "swap@c02<->c04 . "
    "merge.max@c03[0,c03]";

std::string LongCircuit(size_t ops) {
  constexpr const char* Words[] = {"merge.add@c{:02}[c{:02},c{:02}]",
                                   "split.sub@c{:02}[c{:02},c{:02}]",
                                   "merge.max@c{:02}[c{:02},c{:02}]"};
  std::string text;
  for (size_t i = 0; i < ops; ++i) {
    if (i != 0) text += " . ";
    text += fmt::format(fmt::runtime(Words[i % 3]), i * 7 % 90, i * 5 % 90, i * 11 % 90);
  }
  return text;
}

double MicrosecondsOf(const std::function<void()>& work, int repeats) {
  const std::vector<Times> times = Interleave({[&] {
                                                for (int i = 0; i < repeats; ++i) work();
                                              }},
                                              15);
  return times[0].min_s / repeats * 1e6;
}

}  // namespace

FRAZIL_FIGURE(circuits) {
  const double read =
      MicrosecondsOf([] { Keep(circuits::ParsePhrase(Hadamards)->branches.size()); }, 200);
  Report({"circuits", "read 4 operations", read, "us", "original (its documents)", 1, "<= 1 us",
          read <= 1});

  const ir::Program hadamards = *circuits::ParseCircuit(Hadamards);
  const double canonical =
      MicrosecondsOf([&] { Keep(optimize::Normalize(hadamards)->rewrites); }, 50);
  Report({"circuits", "4 operations to their normal form, as a program", canonical, "us",
          "original (its documents; rewrites 6 patterns)", 5, "-", std::nullopt,
          "no goal: the original builds no program"});

  const std::string text = LongCircuit(10'000);
  const circuits::Phrase phrase = *circuits::ParsePhrase(text);
  const ir::Program program = *circuits::ToProgram(phrase);
  const double per_read =
      MicrosecondsOf([&] { Keep(circuits::ParsePhrase(text)->branches.size()); }, 1) / 10'000 *
      1000;
  const double per_normal =
      MicrosecondsOf([&] { Keep(optimize::Normalize(program)->rewrites); }, 1) / 10'000 * 1000;
  Report({"circuits", "read a circuit of 10,000 operations, each", per_read, "ns", "", 0, "-",
          std::nullopt, "no goal"});
  Report({"circuits", "normalize a circuit of 10,000 operations, each", per_normal, "ns", "", 0,
          "-", std::nullopt, "no goal"});

  for (const auto& [name, circuit] :
       {std::pair("copy . mark . copy . mark", Hadamards), std::pair("a chain of seven", Chain)}) {
    const optimize::NormalForm form = *optimize::Normalize(*circuits::ParseCircuit(circuit));
    const auto ratio = [](uint64_t before, uint64_t after) {
      return static_cast<double>(before) / static_cast<double>(after);
    };
    Report({"circuits",
            fmt::format("{}: {} passes to {}, {} instructions to {}, {} bytes to {}, each element",
                        name, form.before.passes, form.after.passes, form.before.instructions,
                        form.after.instructions, form.before.bytes, form.after.bytes),
            ratio(form.before.bytes, form.after.bytes), "x fewer bytes", "", 0, "-", std::nullopt,
            "counted, not timed"});
  }
}

}  // namespace frazil::bench
