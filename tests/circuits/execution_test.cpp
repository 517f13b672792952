// execute(c) == execute(normalize(c)), bit for bit, by the reference interpreter: all short circuits over three slots,
// then random ones. The same judge finds planted wrong rules.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/test_counts.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "random_circuit.h"

namespace frazil {
namespace {

namespace circuits = frontends::circuits;
using namespace test_circuits;

// An empty answer: same memory. Otherwise what differs.
std::string Differs(const std::string& text, const circuits::CircuitOptions& options,
                    uint64_t seed) {
  const Result<ir::Program> program = circuits::ParseCircuit(text, options);
  if (!program) return program.error().ToString();
  const Result<optimize::NormalForm> form = optimize::Normalize(*program);
  if (!form) return form.error().ToString();
  const bool reduces =
      text.find("reduce") != std::string::npos || text.find("softmax") != std::string::npos;
  if (!reduces && (form->after.bytes > form->before.bytes ||
                   form->after.instructions > form->before.instructions ||
                   form->after.passes > form->before.passes))
    return fmt::format("{} moves more: {} bytes, were {}", text, form->after.bytes,
                       form->before.bytes);
  const std::vector<exec::Value> expected = After(*program, 4, 3, seed),
                                 got = After(form->program, 4, 3, seed);
  if (expected.empty()) return text + " did not run";
  if (expected == got) return "";
  return fmt::format("{}\n{}\n{}", text, ir::PrintText(*program), ir::PrintText(form->program));
}

// `make nightly`: ten times the counts, and the whole alphabet.
bool LongRun() { return TestScale() > 1; }

uint64_t AllCircuits(const std::vector<std::string>& alphabet, int length,
                     const circuits::CircuitOptions& options) {
  uint64_t count = 0;
  std::vector<size_t> at(static_cast<size_t>(length), 0);
  for (;;) {
    std::string text;
    for (size_t i : at) text += (text.empty() ? "" : " . ") + alphabet[i];
    ++count;
    const std::string difference = Differs(text, options, count);
    EXPECT_EQ(difference, "");
    if (!difference.empty()) return count;
    size_t k = 0;
    while (k < at.size() && ++at[k] == alphabet.size()) at[k++] = 0;
    if (k == at.size()) return count;
  }
}

TEST(CircuitExecution, EveryCircuitOfFourOpsOverThreeSlots) {
  // mark, copy and swap on all slots, one addition and one difference: what copy propagation, dead stores, exchange and
  // cancellation have to get right.
  std::vector<std::string> alphabet = Alphabet(3, {}, {}, {});
  for (const char* word :
       {"merge.add@c00[c01,c02]", "merge.add@c02[c00,c00]", "split.sub@c02[c01,c00]",
        "split.sub@c01[c01,c02]", "reduce.sum@c00->c01", "merge.abs@c02[c02,c02]"})
    alphabet.push_back(word);
  const int most = 4;
  uint64_t count = 0;
  for (int length = 1; length <= most; ++length) count += AllCircuits(alphabet, length, {});
  if (LongRun())
    count += AllCircuits(Alphabet(3, {"merge.add", "split.sub"}, {"merge.abs"}, {}), 3, {});
  RecordProperty("circuits", std::to_string(count));
  printf("%llu circuits of up to %d ops from %zu generators\n",
         static_cast<unsigned long long>(count), most, alphabet.size());
}

TEST(CircuitExecution, EveryCircuitOfTwoOpsWithAllGenerators) {
  const std::vector<std::string> alphabet =
      Alphabet(3, {"merge.add", "merge.mul", "merge.min", "merge.max", "split.sub", "split.div"},
               {"merge.abs", "merge.sqrt"}, {"reduce.sum", "reduce.min", "reduce.max"});
  uint64_t count = AllCircuits(alphabet, 1, {}) + AllCircuits(alphabet, 2, {});
  printf("%llu circuits of up to 2 ops from %zu generators\n",
         static_cast<unsigned long long>(count), alphabet.size());
  circuits::CircuitOptions options;
  options.element = ir::types::U8;
  const std::vector<std::string> integers =
      Alphabet(3, {"merge.add", "merge.mul", "merge.min", "split.sub"}, {}, {"reduce.sum"});
  count = AllCircuits(integers, 1, options) + AllCircuits(integers, 2, options);
  printf("%llu circuits of u8\n", static_cast<unsigned long long>(count));
}

TEST(CircuitExecution, Examples) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FRAZIL_EXAMPLES)) {
    if (entry.path().extension() != ".cir") continue;
    ++count;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(Differs(text, {}, seed), "") << entry.path();
  }
  EXPECT_GE(count, 3);
}

std::string RandomCircuit(Random& random, const std::vector<std::string>& alphabet, size_t most) {
  std::string text;
  const size_t ops = 1 + random.Below(most);
  for (size_t i = 0; i < ops; ++i) {
    if (i != 0) text += " . ";
    text +=
        random.Below(12) == 0
            ? fmt::format("{}@c{:02}", random.Below(2) == 0 ? "quote" : "evaluate", random.Below(4))
            : alphabet[random.Below(alphabet.size())];
  }
  return text;
}

TEST(CircuitExecution, RandomCircuits) {
  const std::vector<std::string> all =
      Alphabet(4, {"merge.add", "merge.mul", "merge.min", "merge.max", "split.sub", "split.div"},
               {"merge.abs", "merge.sqrt"}, {"reduce.sum", "reduce.min", "reduce.max"});
  std::vector<std::string> math = Alphabet(
      2, {}, {"merge.exp", "merge.log", "merge.sigmoid", "merge.tanh", "merge.gelu"}, {"softmax"});
  math.insert(math.end(), {"mark@c[0..3]", "merge.add@c[0..3]", "merge.abs@c[0..2]",
                           "merge.max@c00[0,c01]", "split.sub@c01[1.5,c02]"});
  const std::vector<std::string> integers =
      Alphabet(4, {"merge.add", "merge.mul", "merge.min", "merge.max", "split.sub"}, {},
               {"reduce.sum", "reduce.max"});
  constexpr ir::Type Floats[] = {ir::types::F32, ir::types::F64, ir::types::F16, ir::types::BF16};
  constexpr ir::Type Integers[] = {ir::types::I32, ir::types::U8, ir::types::I64, ir::types::U16,
                                   ir::types::I8};
  Random random(2024);
  const int count = static_cast<int>(100'000 * TestScale());
  for (int i = 0; i < count; ++i) {
    circuits::CircuitOptions options;
    const bool is_integer = i % 4 == 3;
    options.element = is_integer   ? Integers[random.Below(5)]
                      : i % 4 == 2 ? Floats[random.Below(4)]
                                   : ir::types::F32;
    const std::string text = i % 50 == 0 ? RandomCircuit(random, math, 6)
                                         : RandomCircuit(random, is_integer ? integers : all, 10);
    circuits::CircuitOptions scalar = options;
    if (i % 50 == 0) scalar.element = ir::types::F32;
    const std::string difference = Differs(text, scalar, static_cast<uint64_t>(i));
    ASSERT_EQ(difference, "") << ir::ScalarName(scalar.element.scalar);
  }
}

}  // namespace
}  // namespace frazil
