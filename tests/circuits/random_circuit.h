// Circuits for tests, as text: an alphabet of generators over a few slots, and random memory for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "frontends/circuits/circuits.h"
#include "optimize/normalize/normalize.h"

namespace frazil::test_circuits {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint64_t Next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1dull;
  }
  uint64_t Below(uint64_t n) { return (Next() >> 20) % n; }

 private:
  uint64_t state_;
};

// Every generator on every choice of `slots` slots: of merge and split only the variants named.
inline std::vector<std::string> Alphabet(int slots, const std::vector<std::string>& binary,
                                         const std::vector<std::string>& unary,
                                         const std::vector<std::string>& pairs) {
  std::vector<std::string> words;
  for (int a = 0; a < slots; ++a) {
    words.push_back(fmt::format("mark@c{:02}", a));
    for (int b = 0; b < slots; ++b) {
      if (a != b) words.push_back(fmt::format("copy@c{:02}->c{:02}", a, b));
      if (a < b) words.push_back(fmt::format("swap@c{:02}<->c{:02}", a, b));
      for (const std::string& word : unary)
        words.push_back(fmt::format("{}@c{:02}[c{:02},c{:02}]", word, a, a, b));
      for (const std::string& word : pairs)
        words.push_back(fmt::format("{}@c{:02}->c{:02}", word, a, b));
      for (int c = 0; c < slots; ++c)
        for (const std::string& word : binary)
          words.push_back(fmt::format("{}@c{:02}[c{:02},c{:02}]", word, a, b, c));
    }
  }
  return words;
}

// Memory for a program: each slot `length` elements, edge values among them; the extent is `n`.
inline std::vector<exec::Value> Memory(const ir::Program& program, int64_t length, int64_t n,
                                       uint64_t seed) {
  std::vector<exec::Value> arguments;
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (!type.is_buffer()) {
      arguments.push_back(exec::Value::Int(type, n));
      continue;
    }
    auto memory = std::make_shared<exec::Memory>(type.element(), length);
    Random random(seed * 131 + i);
    for (int64_t k = 0; k < length; ++k) {
      const exec::Value value = exec::RandomScalar(type.element(), random.Next());
      memory->Set(k, value.scalar_words());
    }
    arguments.push_back(exec::Value::Buffer(std::move(memory)));
  }
  return arguments;
}

// What is in memory afterwards, or nothing if the run failed or trapped.
inline std::vector<exec::Value> After(const ir::Program& program, int64_t length, int64_t n,
                                      uint64_t seed) {
  std::vector<exec::Value> arguments = Memory(program, length, n, seed);
  const Result<exec::Outcome> outcome = exec::Interpret(program, arguments);
  if (!outcome || outcome->trap) return {};
  return arguments;
}

}  // namespace frazil::test_circuits
