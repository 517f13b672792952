// The profile horner against a second model. No release runs it, so there is no published machine to ask: the model below is
// written from the rules alone, shares nothing with the machine (numbers by division, a stack that is a vector, memory that
// is a map) and counts rows by the written rules. Random programs, most of them around loops of steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {
namespace {

using Number = unsigned __int128;
constexpr Number P = (Number{1} << 64) - (Number{1} << 32) + 1;

uint64_t Mod(Number n) { return static_cast<uint64_t>(n % P); }

using Cubic = std::array<uint64_t, 3>;

// x^3 = x - 1, x^4 = x^2 - x.
Cubic Times(const Cubic& a, const Cubic& b) {
  Number c[5] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) c[i + j] = (c[i + j] + Number{a[i]} * b[j] % P) % P;
  return {Mod(c[0] + P - c[3]), Mod(c[1] + c[3] + P - c[4]), Mod(c[2] + c[4])};
}
Cubic Plus(const Cubic& a, const Cubic& b) {
  return {Mod(Number{a[0]} + b[0]), Mod(Number{a[1]} + b[1]), Mod(Number{a[2]} + b[2])};
}

struct Line {
  std::string name;
  uint64_t argument = 0;
  bool has_argument = false;
};

// One function `f` after the main part; `call` means it.
struct Code {
  std::vector<Line> lines;
  size_t function = 0;

  std::string Text() const {
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i == function) text += "f:\n";
      text += lines[i].name;
      if (lines[i].name == "call") text += " f";
      if (lines[i].has_argument) text += fmt::format(" {}", lines[i].argument);
      text += "\n";
    }
    return text;
  }
  // Opcodes and arguments: a call's is the address.
  uint64_t Words() const {
    uint64_t words = 0;
    for (const Line& line : lines) words += 1 + (line.has_argument || line.name == "call");
    return words;
  }
};

class Model {
 public:
  Model(const Code& code, const Inputs& inputs, const Digest& digest)
      : code_(code), memory(inputs.ram.begin(), inputs.ram.end()) {
    stack.assign(16, 0);
    for (size_t i = 0; i < 5; ++i) stack[i] = digest[4 - i];
  }

  // False: it crashed.
  bool Run() {
    for (size_t at = 0;;) {
      if (cycles == 100'000) return false;
      const Line& line = code_.lines[at];
      if (line.name == "halt") return ++cycles, true;
      const size_t depth = stack.size();
      if (!Step(line, &at)) return false;
      ++cycles;
      op_stack_rows += depth > stack.size() ? depth - stack.size() : stack.size() - depth;
    }
  }

  std::vector<uint64_t> stack, output;
  uint64_t cycles = 0, op_stack_rows = 0, ram_rows = 0;

 private:
  uint64_t& At(size_t place) { return stack[stack.size() - 1 - place]; }
  Cubic CubicAt(size_t place) { return {At(place), At(place + 1), At(place + 2)}; }
  void Put(size_t place, const Cubic& value) {
    for (size_t i = 0; i < 3; ++i) At(place + i) = value[i];
  }
  bool Drop(size_t count) {
    if (stack.size() < 16 + count) return false;
    stack.resize(stack.size() - count);
    return true;
  }
  uint64_t Read(uint64_t address) {
    ++ram_rows;
    const auto found = memory.find(address);
    return found == memory.end() ? 0 : found->second;
  }

  bool Step(const Line& line, size_t* at) {
    const std::string& name = line.name;
    const uint64_t n = line.argument;
    const size_t next = *at + 1;
    *at = next;
    if (name == "call") {
      returns_.push_back(next);
      *at = code_.function;
    } else if (name == "recurse_or_return") {
      if (At(5) == At(6)) {
        *at = returns_.back();
        returns_.pop_back();
      } else {
        *at = code_.function;
      }
    } else if (name == "push") {
      stack.push_back(n);
    } else if (name == "pop") {
      return Drop(n);
    } else if (name == "dup") {
      stack.push_back(At(n));
    } else if (name == "swap") {
      std::swap(At(0), At(n));
    } else if (name == "pick") {
      const uint64_t value = At(n);
      stack.erase(stack.end() - 1 - static_cast<ptrdiff_t>(n));
      stack.push_back(value);
    } else if (name == "place") {
      const uint64_t value = At(0);
      stack.pop_back();
      stack.insert(stack.end() - static_cast<ptrdiff_t>(n), value);
    } else if (name == "write_io") {
      if (stack.size() < 16 + n) return false;
      for (uint64_t i = 0; i < n; ++i) {
        output.push_back(stack.back());
        stack.pop_back();
      }
    } else {
      return Arithmetic(name, n);
    }
    return true;
  }

  bool Arithmetic(const std::string& name, uint64_t n) {
    if (name == "addi") {
      At(0) = Mod(Number{At(0)} + n);
    } else if (name == "add" || name == "mul") {
      const Number a = At(0), b = At(1);
      if (!Drop(1)) return false;
      At(0) = Mod(name == "add" ? a + b : a * b);
    } else if (name == "xx_add" || name == "xx_mul") {
      const Cubic a = CubicAt(0), b = CubicAt(3);
      if (!Drop(3)) return false;
      Put(0, name == "xx_add" ? Plus(a, b) : Times(a, b));
    } else if (name == "xb_mul") {
      const Cubic factor = {At(0), 0, 0};
      const Cubic b = CubicAt(1);
      if (!Drop(1)) return false;
      Put(0, Times(factor, b));
    } else if (name == "read_mem") {
      uint64_t pointer = At(0);
      stack.pop_back();
      for (uint64_t i = 0; i < n; ++i) {
        stack.push_back(Read(pointer));
        pointer = Mod(Number{pointer} + P - 1);
      }
      stack.push_back(pointer);
    } else if (name == "write_mem") {
      uint64_t pointer = At(0);
      if (stack.size() < 16 + n) return false;
      stack.pop_back();
      for (uint64_t i = 0; i < n; ++i) {
        memory[pointer] = stack.back();
        ++ram_rows;
        stack.pop_back();
        pointer = Mod(Number{pointer} + 1);
      }
      stack.push_back(pointer);
    } else if (name == "b_horner_step") {
      const Cubic coefficient = {Read(At(5)), 0, 0};
      Put(7, Plus(Times(CubicAt(7), CubicAt(0)), coefficient));
      At(5) = Mod(Number{At(5)} + P - 1);
    } else {
      EXPECT_EQ(name, "x_horner_step");
      Cubic coefficient;
      for (uint64_t i = 0; i < 3; ++i) coefficient[2 - i] = Read(Mod(Number{At(5)} + P - i));
      Put(7, Plus(Times(CubicAt(7), CubicAt(0)), coefficient));
      At(5) = Mod(Number{At(5)} + P - 3);
    }
    return true;
  }

  const Code& code_;
  std::vector<size_t> returns_;

 public:
  std::map<uint64_t, uint64_t> memory;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Code Make(Inputs* inputs) {
    for (uint64_t i = Below(40); i > 0; --i) inputs->ram[Address()] = Element();
    Code code;
    for (uint64_t i = Below(25); i > 0; --i) Say("push", Element(), &code.lines);
    Many(Below(12), &code.lines);
    // Where a loop of steps finds what it needs: e2 e1 e0, the last pointer, the first, two words, x2 x1 x0.
    const bool extension = Chance(2);
    const uint64_t width = extension ? 3 : 1, rounds = 1 + Below(30), end = Address();
    for (int i = 0; i < 3; ++i) Say("push", Element(), &code.lines);
    Say("push", end, &code.lines);
    Say("push", Mod(Number{end} + rounds * width), &code.lines);
    for (int i = 0; i < 5; ++i) Say("push", Element(), &code.lines);
    code.lines.push_back({"call"});
    Many(Below(12), &code.lines);
    for (uint64_t i = Below(3); i > 0; --i) Say("write_io", 1 + Below(5), &code.lines);
    code.lines.push_back({"halt"});
    code.function = code.lines.size();
    code.lines.push_back({extension ? "x_horner_step" : "b_horner_step"});
    // Work that leaves the loop's words alone.
    if (Chance(3)) {
      Say("dup", Below(16), &code.lines);
      Say("addi", Element(), &code.lines);
      Say("pop", 1, &code.lines);
    }
    code.lines.push_back({"recurse_or_return"});
    return code;
  }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(uint64_t n) { return Below(n) == 0; }
  uint64_t Element() {
    return Chance(3) ? Below(5) : Chance(3) ? Mod(P - 1 - Below(5)) : random_() % Mod(P - 1);
  }
  // Near 0 from both sides, so that pointers wrap and meet.
  uint64_t Address() { return Mod(P + Below(80) - 40); }
  static void Say(const char* name, uint64_t argument, std::vector<Line>* lines) {
    lines->push_back({name, argument, true});
  }

  void Many(uint64_t count, std::vector<Line>* lines) {
    for (; count > 0; --count) One(lines);
  }
  void One(std::vector<Line>* lines) {
    constexpr const char* Plain[] = {"add",    "mul",           "xx_add",       "xx_mul",
                                     "xb_mul", "b_horner_step", "x_horner_step"};
    constexpr const char* Places[] = {"dup", "swap", "pick", "place"};
    switch (Below(8)) {
      case 0:
      case 1: return Say("push", Element(), lines);
      case 2: return Say(Places[Below(4)], Below(16), lines);
      case 3: return Say("addi", Element(), lines);
      case 4:
        Say("push", Address(), lines);
        return Say(Chance(2) ? "read_mem" : "write_mem", 1 + Below(5), lines);
      case 5:
        if (Chance(4)) return Say("pop", 1 + Below(5), lines);
        [[fallthrough]];
      default: lines->push_back({Plain[Below(std::size(Plain))]});
    }
  }

  std::mt19937_64 random_;
};

TEST(Horner, RandomProgramsAgreeWithTheRules) {
  size_t ended = 0;
  uint64_t steps = 0;
  for (uint64_t seed = 1; seed <= 4000; ++seed) {
    Inputs inputs;
    const Code code = Maker(seed).Make(&inputs);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, code.Text()));
    const Result<Program> program = Parse(code.Text(), Profile::Horner);
    ASSERT_TRUE(program) << program.error().ToString();
    Model model(code, inputs, ProgramDigest(*program));
    const bool fine = model.Run();
    const TraceResult trace = tasm::Trace(*program, inputs, {.cycles = 200'000});
    const RunResult run = tasm::Run(*program, inputs, {.cycles = 200'000});
    ASSERT_EQ(run.crash.has_value(), !fine) << (run.crash ? run.crash->sentence : "");
    ASSERT_EQ(trace.run.crash.has_value(), !fine);
    if (!fine) {
      ASSERT_EQ(run.crash->kind, CrashKind::OpStackTooShallow);
    }
    ASSERT_EQ(run.output, model.output);
    ASSERT_EQ(trace.run.output, model.output);
    ASSERT_EQ(run.cycles, model.cycles);
    if (fine) {
      ASSERT_EQ(run.stack, model.stack);
    }
    const uint64_t chunks = code.Words() / 10 + 1;
    ASSERT_EQ(trace.profile[Table::Program], 10 * chunks);
    ASSERT_EQ(trace.profile[Table::Processor], model.cycles);
    ASSERT_EQ(trace.profile[Table::JumpStack], model.cycles);
    ASSERT_EQ(trace.profile[Table::OpStack], model.op_stack_rows);
    ASSERT_EQ(trace.profile[Table::Ram], model.ram_rows);
    ASSERT_EQ(trace.profile[Table::Hash], 6 * chunks);
    ASSERT_EQ(trace.profile[Table::U32], 0u);
    ASSERT_EQ(trace.profile[Table::Lookup], 256u);
    ended += fine;
    steps += model.ram_rows;
  }
  EXPECT_GT(ended, 2000u);
  EXPECT_GT(steps, 50'000u);
}

}  // namespace
}  // namespace frazil::machines::tasm
