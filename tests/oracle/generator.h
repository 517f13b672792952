// A typed model of the stack goes along with the code: which elements are known to be 32-bit numbers, which are
// constants. A body may read every element but changes only those that it made itself, so a call or an iteration
// never surprises what surrounds it, and programs run long instead of crashing at their third instruction.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "generate.h"

namespace frazil::tests {

namespace tasm = machines::tasm;

constexpr uint64_t P = 0xffffffff00000001;
constexpr uint64_t MaxDepthOfCode = 3;
constexpr uint64_t CycleBudget = 3000;

// What is known of an element.
struct Element {
  bool is_u32 = false;
  std::optional<uint64_t> constant;
};

// One body of code: main, a function, a loop.
struct Body {
  std::vector<tasm::Instruction> code;
  std::vector<Element> stack = std::vector<Element>(16);  // what is visible at least; top last
  size_t base = 16;                                       // elements below are others'
  uint64_t times = 1;                                     // how often it runs, at most
  uint64_t nesting = 0;
  bool sponge = false;  // certainly initialized
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  oracle::Job Make();

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(uint64_t one_in) { return Below(one_in) == 0; }
  uint64_t RandomElement();
  uint64_t Word() { return Chance(3) ? Below(40) : (RandomElement() & 0xffffffff) >> Below(20); }

  void Emit(Body& body, tasm::Opcode op, uint64_t argument = 0);

  // The model's stack may not shrink below what must remain.
  uint64_t Own(const Body& body) const;
  uint64_t Take(Body& body, uint64_t count);
  void Give(Body& body, uint64_t count, bool is_u32 = false);
  void Push(Body& body, uint64_t element);
  const Element& At(const Body& body, uint64_t place) const;

  // Operands on top: a copy of something visible, or a constant.
  void Any(Body& body, uint64_t count = 1);
  void U32(Body& body);
  void Address(Body& body);
  void Statement(Body& body);
  void Shrink(Body& body);
  void Shuffle(Body& body);
  void Field(Body& body);
  void Integers(Body& body);
  void Extension(Body& body);
  void Memory(Body& body);
  void Hashing(Body& body);
  void NeedSponge(Body& body);
  void InputOutput(Body& body);
  void Control(Body& body);

  // One instruction that may be skipped changes no depth; what it changes is known no more.
  void Skip(Body& body);
  Body Inner(const Body& outer, uint64_t iterations);
  void Fill(Body& body);
  uint64_t Add(Body body);
  uint64_t Iterations(const Body& body);
  void Call(Body& body);

  // f: if st0 = 0 return; body; push st0 - 1; call f; pop; return.
  void Recursion(Body& body);
  void LoopDown(Body& body);
  void Counted(Body& body, uint64_t count, uint64_t function);
  // Counter at st5, end at st6, five elements above them.
  void LoopUp(Body& body);
  oracle::Job Assemble(Body main);

  struct Callable {
    uint64_t function, cycles, inputs, secrets, digests;
    bool sponge;
  };
  std::mt19937_64 random_;
  std::vector<std::vector<tasm::Instruction>> functions_;
  std::vector<Callable> callable_;
  uint64_t spent_ = 0, inputs_ = 0, secrets_ = 0, digests_ = 0;
};

}  // namespace frazil::tests
