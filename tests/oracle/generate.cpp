// A typed model of the stack goes along with the code: which elements are known to be 32-bit numbers, which are
// constants. A body may read every element but changes only those that it made itself, so a call or an iteration
// never surprises what surrounds it, and programs run long instead of crashing at their third instruction.
#include "generate.h"

#include <array>
#include <optional>
#include <random>

namespace frazil::tests {

namespace tasm = machines::tasm;
using tasm::Opcode;

namespace {

constexpr uint64_t P = 0xffffffff00000001;
constexpr uint64_t Edges[] = {0,
                              1,
                              2,
                              3,
                              7,
                              255,
                              256,
                              65535,
                              65536,
                              0x7fffffff,
                              0x80000000,
                              0xfffffffe,
                              0xffffffff,
                              0x100000000,
                              0x100000001,
                              0x7fffffff80000000,
                              P - 0x100000000,
                              P - 0xffffffff,
                              0x8000000000000000,
                              P - 2,
                              P - 1};
constexpr uint64_t MaxDepthOfCode = 3;
constexpr uint64_t CycleBudget = 3000;

struct Value {
  bool is_u32 = false;
  std::optional<uint64_t> constant;
};

// One body of code: main, a function, a loop.
struct Body {
  std::vector<tasm::Instruction> code;
  std::vector<Value> stack = std::vector<Value>(16);  // what is visible at least; top last
  size_t base = 16;                                   // elements below are others'
  uint64_t times = 1;                                 // how often it runs, at most
  uint64_t nesting = 0;
  bool sponge = false;  // certainly initialized
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  oracle::Job Make() {
    Body main;
    main.base = 0;  // nobody else needs the sixteen elements
    const uint64_t length = 5 + Below(Chance(3) ? 150 : 40);
    for (uint64_t i = 0; i < length; ++i) Statement(main);
    while (main.stack.size() > 20 && Chance(2))
      Emit(main, Opcode::WriteIo, Take(main, 1 + Below(4)));
    Emit(main, Opcode::Halt);
    return Assemble(std::move(main));
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(uint64_t one_in) { return Below(one_in) == 0; }
  uint64_t Element() {
    if (Chance(2)) return Edges[Below(std::size(Edges))];
    return Chance(2) ? random_() % P : Below(1000);
  }
  uint64_t Word() { return Chance(3) ? Below(40) : (Element() & 0xffffffff) >> Below(20); }

  void Emit(Body& body, Opcode op, uint64_t argument = 0) {
    tasm::Instruction instruction;
    instruction.op = op;
    instruction.argument = argument;
    // Function numbers stand in for addresses until all code is there.
    if ((op == Opcode::Assert || op == Opcode::AssertVector) && Chance(4))
      instruction.error_id = static_cast<int64_t>(Below(1000));
    body.code.push_back(instruction);
    spent_ += body.times;
  }

  // The model's stack may not shrink below what must remain.
  uint64_t Own(const Body& body) const {
    return body.stack.size() - std::max<size_t>(body.base, 16);
  }
  uint64_t Take(Body& body, uint64_t count) {
    body.stack.resize(body.stack.size() - count);
    return count;
  }
  void Give(Body& body, uint64_t count, bool is_u32 = false) {
    body.stack.insert(body.stack.end(), count, Value{is_u32, std::nullopt});
  }
  void Push(Body& body, uint64_t element) {
    Emit(body, Opcode::Push, element);
    body.stack.push_back({element <= 0xffffffff, element});
  }
  const Value& At(const Body& body, uint64_t place) const {
    return body.stack[body.stack.size() - 1 - place];
  }

  // Operands on top: a copy of something visible, or a constant.
  void Any(Body& body, uint64_t count = 1) {
    for (; count > 0; --count) {
      if (Chance(3)) {
        Push(body, Element());
      } else {
        const uint64_t place = Below(16);
        Emit(body, Opcode::Dup, place);
        body.stack.push_back(At(body, place));
      }
    }
  }
  void U32(Body& body) {
    for (int tries = 0; tries < 4; ++tries) {
      const uint64_t place = Below(16);
      if (!At(body, place).is_u32) continue;
      Emit(body, Opcode::Dup, place);
      body.stack.push_back(At(body, place));
      return;
    }
    Push(body, Word());
  }
  void Address(Body& body) {
    if (Chance(6)) return Any(body);
    Push(body, Chance(8) ? P - 1 - Below(5) : Below(60));
  }

  void Statement(Body& body) {
    if (spent_ > CycleBudget * 2) return;
    if (Own(body) > 24) return Shrink(body);
    switch (Below(12)) {
      case 0:
      case 1: return Shuffle(body);
      case 2:
      case 3: return Field(body);
      case 4:
      case 5: return Integers(body);
      case 6: return Extension(body);
      case 7: return Memory(body);
      case 8: return Hashing(body);
      case 9: return InputOutput(body);
      case 10: return Control(body);
      default: return Own(body) > 8 ? Shrink(body) : Shuffle(body);
    }
  }

  void Shrink(Body& body) {
    const uint64_t count = 1 + Below(std::min<uint64_t>(5, Own(body)));
    if (Own(body) == 0) return;
    if (Own(body) >= 10 && body.sponge && Chance(3)) {
      Emit(body, Opcode::SpongeAbsorb);
      Take(body, 10);
    } else if (Own(body) >= 10 && Chance(3)) {
      Emit(body, Opcode::Hash);
      Take(body, 10);
      Give(body, 5);
    } else {
      Emit(body, Chance(2) ? Opcode::WriteIo : Opcode::Pop, count);
      Take(body, count);
    }
  }

  void Shuffle(Body& body) {
    const uint64_t reach = std::min<uint64_t>(16, body.stack.size() - body.base);
    const uint64_t kind = Below(6);
    if (kind <= 1 || reach == 0) return Any(body, 1 + Below(2));
    const uint64_t place = Below(reach);
    const size_t at = body.stack.size() - 1 - place;
    const Value moved = body.stack[at];
    if (kind == 2) {
      Emit(body, Opcode::Swap, place);
      std::swap(body.stack[at], body.stack.back());
    } else if (kind == 3) {
      Emit(body, Opcode::Pick, place);
      body.stack.erase(body.stack.begin() + static_cast<long>(at));
      body.stack.push_back(moved);
    } else if (kind == 4) {
      Emit(body, Opcode::Place, place);
      const Value top = body.stack.back();
      body.stack.pop_back();
      body.stack.insert(body.stack.begin() + static_cast<long>(at), top);
    } else {
      Emit(body, Opcode::AddI, Element());
      body.stack.back() = {};
    }
  }

  void Field(Body& body) {
    switch (Below(5)) {
      case 0:
        Any(body, 2);
        Emit(body, Opcode::Add);
        Take(body, 2);
        return Give(body, 1);
      case 1:
        Any(body, 2);
        Emit(body, Opcode::Mul);
        Take(body, 2);
        return Give(body, 1);
      case 2: {
        if (Chance(3)) {
          Any(body);
          Emit(body, Opcode::Dup, 0);
          Give(body, 1);
        } else {
          Any(body, 2);
        }
        Emit(body, Opcode::Eq);
        Take(body, 2);
        return Give(body, 1, true);
      }
      case 3: {
        Push(body, 1 + Element() % (P - 1));
        Emit(body, Opcode::Invert);
        Take(body, 1);
        return Give(body, 1);
      }
      default: {
        if (Chance(2)) {
          Push(body, 1);
          Emit(body, Opcode::Assert);
          Take(body, 1);
        } else {
          Any(body, 5);
          for (int i = 0; i < 5; ++i) Emit(body, Opcode::Dup, 4);
          Emit(body, Opcode::AssertVector);
        }
      }
    }
  }

  void Integers(Body& body) {
    switch (Below(9)) {
      case 0:
        Any(body);
        Emit(body, Opcode::Split);
        Take(body, 1);
        return Give(body, 2, true);
      case 1:
        U32(body);
        U32(body);
        Emit(body, Opcode::Lt);
        Take(body, 2);
        return Give(body, 1, true);
      case 2:
        U32(body);
        U32(body);
        Emit(body, Opcode::And);
        Take(body, 2);
        return Give(body, 1, true);
      case 3:
        U32(body);
        U32(body);
        Emit(body, Opcode::Xor);
        Take(body, 2);
        return Give(body, 1, true);
      case 4: {
        U32(body);
        // 2x+1 of a number below 2^31 is never 0; a constant may serve as it is.
        if (!At(body, 0).constant || *At(body, 0).constant == 0) {
          Take(body, 1);
          Emit(body, Opcode::Pop, 1);
          Push(body, 1 + (Word() & 0x7fffffff));
        }
        Emit(body, Opcode::Log2Floor);
        Take(body, 1);
        return Give(body, 1, true);
      }
      case 5:
        U32(body);
        Any(body);
        Emit(body, Opcode::Pow);
        Take(body, 2);
        return Give(body, 1);
      case 6: {
        Push(body, 1 + Word() % 0xffffffff);
        U32(body);
        Emit(body, Opcode::DivMod);
        Take(body, 2);
        return Give(body, 2, true);
      }
      default:
        U32(body);
        Emit(body, Opcode::PopCount);
        Take(body, 1);
        return Give(body, 1, true);
    }
  }

  void Extension(Body& body) {
    switch (Below(4)) {
      case 0:
        Any(body, 6);
        Emit(body, Opcode::XxAdd);
        Take(body, 6);
        return Give(body, 3);
      case 1:
        Any(body, 6);
        Emit(body, Opcode::XxMul);
        Take(body, 6);
        return Give(body, 3);
      case 2:
        Any(body, 4);
        Emit(body, Opcode::XbMul);
        Take(body, 4);
        return Give(body, 3);
      default: {
        Any(body, 2);
        Push(body, 1 + Element() % (P - 1));
        Emit(body, Opcode::XInvert);
        Take(body, 3);
        return Give(body, 3);
      }
    }
  }

  void Memory(Body& body) {
    const uint64_t count = 1 + Below(5);
    switch (Below(5)) {
      case 0:
      case 1: {
        Any(body, count);
        Address(body);
        Emit(body, Opcode::WriteMem, count);
        Take(body, count + 1);
        return Give(body, 1);
      }
      case 2:
      case 3: {
        Address(body);
        Emit(body, Opcode::ReadMem, count);
        Take(body, 1);
        return Give(body, count + 1);
      }
      default: {
        Any(body, 3);
        Address(body);
        Address(body);
        for (uint64_t steps = 1 + Below(3); steps > 0; --steps)
          Emit(body, Chance(2) ? Opcode::XxDotStep : Opcode::XbDotStep);
        Take(body, 5);
        return Give(body, 5);
      }
    }
  }

  void Hashing(Body& body) {
    switch (Below(7)) {
      case 0:
        Any(body, 3 + Below(3));
        while (Own(body) < 10) Any(body);
        Emit(body, Opcode::Hash);
        Take(body, 10);
        return Give(body, 5);
      case 1:
        Emit(body, Opcode::SpongeInit);
        body.sponge = true;
        return;
      case 2: {
        NeedSponge(body);
        Emit(body, Opcode::SpongeSqueeze);
        return Give(body, 10);
      }
      case 3: {
        NeedSponge(body);
        while (Own(body) < 10) Any(body);
        Emit(body, Opcode::SpongeAbsorb);
        Take(body, 10);
        return;
      }
      case 4: {
        NeedSponge(body);
        Any(body, 4);
        Address(body);
        Emit(body, Opcode::SpongeAbsorbMem);
        Take(body, 5);
        return Give(body, 5);
      }
      case 5: {
        U32(body);
        Any(body, 5);
        for (uint64_t steps = 1 + Below(3); steps > 0; --steps) {
          Emit(body, Opcode::MerkleStep);
          digests_ += body.times;
        }
        Take(body, 6);
        Give(body, 1, true);
        return Give(body, 5);
      }
      default: {
        Address(body);
        Any(body);
        U32(body);
        Any(body, 5);
        for (uint64_t steps = 1 + Below(3); steps > 0; --steps) Emit(body, Opcode::MerkleStepMem);
        Take(body, 8);
        Give(body, 2);
        Give(body, 1, true);
        return Give(body, 5);
      }
    }
  }
  void NeedSponge(Body& body) {
    if (!body.sponge) Emit(body, Opcode::SpongeInit);
    body.sponge = true;
  }

  void InputOutput(Body& body) {
    const uint64_t count = 1 + Below(5);
    switch (Below(3)) {
      case 0:
        Emit(body, Opcode::ReadIo, count);
        inputs_ += count * body.times;
        return Give(body, count);
      case 1:
        Emit(body, Opcode::Divine, count);
        secrets_ += count * body.times;
        return Give(body, count);
      default:
        Any(body, count);
        Emit(body, Opcode::WriteIo, count);
        Take(body, count);
    }
  }

  void Control(Body& body) {
    const bool may_nest = body.nesting < MaxDepthOfCode && spent_ + 20 * body.times < CycleBudget;
    const uint64_t kind = Below(may_nest ? 7 : 2);
    switch (kind) {
      case 0: Emit(body, Opcode::Nop); return;
      case 1: return Skip(body);
      case 2: return Call(body);
      case 3: return Recursion(body);
      case 4: return LoopDown(body);
      default: return LoopUp(body);
    }
  }

  // One instruction that may be skipped changes no depth; what it changes is known no more.
  void Skip(Body& body) {
    if (Chance(3)) {
      U32(body);
      Push(body, 1);
      Emit(body, Opcode::And);
      Take(body, 1);
    } else {
      Any(body);
    }
    Emit(body, Opcode::Skiz);
    Take(body, 1);
    const uint64_t reach = std::min<uint64_t>(16, body.stack.size() - body.base);
    switch (Below(4)) {
      case 0: Emit(body, Opcode::Nop); return;
      case 1:
        if (body.nesting < MaxDepthOfCode) return Call(body);
        Emit(body, Opcode::Nop);
        return;
      case 2: {
        if (reach == 0) {
          Emit(body, Opcode::Nop);
          return;
        }
        const uint64_t place = Below(reach);
        Emit(body, Chance(2) ? Opcode::Swap : Opcode::Pick, place);
        for (uint64_t i = 0; i <= place; ++i) body.stack[body.stack.size() - 1 - i] = {};
        return;
      }
      default: {
        if (reach == 0) {
          Emit(body, Opcode::Nop);
          return;
        }
        Emit(body, Opcode::AddI, Element());
        body.stack.back() = {};
      }
    }
  }

  Body Inner(const Body& outer, uint64_t iterations) {
    Body body;
    body.times = outer.times * std::max<uint64_t>(1, iterations);
    body.nesting = outer.nesting + 1;
    body.sponge = outer.sponge;
    return body;
  }
  void Fill(Body& body) {
    const uint64_t length = 1 + Below(10);
    for (uint64_t i = 0; i < length && spent_ < CycleBudget; ++i) Statement(body);
    while (Own(body) > 0) {
      const uint64_t count = std::min<uint64_t>(5, Own(body));
      Emit(body, Chance(3) ? Opcode::WriteIo : Opcode::Pop, count);
      Take(body, count);
    }
  }
  uint64_t Add(Body body) {
    functions_.push_back(std::move(body.code));
    return functions_.size() - 1;
  }
  uint64_t Iterations(const Body& body) {
    const uint64_t most =
        std::max<uint64_t>(1, (CycleBudget - std::min(CycleBudget, spent_)) / (20 * body.times));
    return Below(std::min<uint64_t>(most, Chance(4) ? 60 : 8) + 1);
  }

  void Call(Body& body) {
    if (!callable_.empty() && Chance(2) && callable_.size() > 1) {
      // An old one again: what it spends is counted once more.
      const auto& [function, cycles, inputs, secrets, digests, sponge] =
          callable_[Below(callable_.size())];
      if (spent_ + cycles * body.times < CycleBudget && (body.sponge || !sponge)) {
        Emit(body, Opcode::Call, function);
        spent_ += cycles * body.times;
        inputs_ += inputs * body.times;
        secrets_ += secrets * body.times;
        digests_ += digests * body.times;
        return;
      }
    }
    Body inner = Inner(body, 1);
    const std::array before = {spent_, inputs_, secrets_, digests_};
    Fill(inner);
    Emit(inner, Opcode::Return);
    const uint64_t t = body.times;
    const uint64_t function = Add(std::move(inner));
    callable_.push_back({function, (spent_ - before[0]) / t, (inputs_ - before[1]) / t,
                         (secrets_ - before[2]) / t, (digests_ - before[3]) / t, body.sponge});
    Emit(body, Opcode::Call, function);
  }

  // f: if st0 = 0 return; body; push st0 - 1; call f; pop; return.
  void Recursion(Body& body) {
    const uint64_t depth = Iterations(body);
    Body inner = Inner(body, depth);
    Emit(inner, Opcode::Dup, 0);
    Emit(inner, Opcode::Push, 0);
    Emit(inner, Opcode::Eq);
    Emit(inner, Opcode::Skiz);
    Emit(inner, Opcode::Return);
    inner.stack.back() = {true, std::nullopt};
    Fill(inner);
    Emit(inner, Opcode::Dup, 0);
    Emit(inner, Opcode::AddI, P - 1);
    functions_.emplace_back();
    const uint64_t self = functions_.size() - 1;
    Emit(inner, Opcode::Call, self);
    Emit(inner, Opcode::Pop, 1);
    Emit(inner, Opcode::Return);
    functions_[self] = std::move(inner.code);
    Counted(body, depth, self);
  }
  void LoopDown(Body& body) {
    const uint64_t count = Iterations(body);
    Body inner = Inner(body, count);
    Emit(inner, Opcode::Dup, 0);
    Emit(inner, Opcode::Push, 0);
    Emit(inner, Opcode::Eq);
    Emit(inner, Opcode::Skiz);
    Emit(inner, Opcode::Return);
    inner.stack.back() = {true, std::nullopt};
    Fill(inner);
    Emit(inner, Opcode::AddI, P - 1);
    Emit(inner, Opcode::Recurse);
    Counted(body, count, Add(std::move(inner)));
  }
  void Counted(Body& body, uint64_t count, uint64_t function) {
    Push(body, count);
    Emit(body, Opcode::Call, function);
    Emit(body, Opcode::Pop, 1);
    Take(body, 1);
  }
  // Counter at st5, end at st6, five elements above them.
  void LoopUp(Body& body) {
    const uint64_t count = 1 + Iterations(body);
    const uint64_t start = Chance(5) ? P - Below(5) - 1 : Below(5);
    Push(body, (start + count) % P);
    Push(body, start);
    Any(body, 5);
    Body inner = Inner(body, count);
    Fill(inner);
    Emit(inner, Opcode::Pick, 5);
    Emit(inner, Opcode::AddI, 1);
    Emit(inner, Opcode::Place, 5);
    Emit(inner, Opcode::RecurseOrReturn);
    Emit(body, Opcode::Call, Add(std::move(inner)));
    for (size_t i = 0; i < 7; ++i) body.stack[body.stack.size() - 1 - i] = {};
  }

  oracle::Job Assemble(Body main) {
    oracle::Job job;
    job.cycles = 200'000;
    tasm::Program& program = job.program;
    program.code = std::move(main.code);
    std::vector<uint64_t> starts;
    for (size_t i = 0; i < functions_.size(); ++i) {
      starts.push_back(program.code.size());
      program.labels.push_back(
          {"f" + std::to_string(i), static_cast<uint32_t>(program.code.size())});
      program.code.insert(program.code.end(), functions_[i].begin(), functions_[i].end());
    }
    for (tasm::Instruction& instruction : program.code)
      if (instruction.op == Opcode::Call) instruction.argument = starts[instruction.argument];
    for (uint64_t i = 0; i < inputs_; ++i) job.inputs.input.push_back(Element());
    for (uint64_t i = 0; i < secrets_; ++i) job.inputs.secret.push_back(Element());
    for (uint64_t i = 0; i < digests_; ++i)
      job.inputs.digests.push_back({Element(), Element(), Element(), Element(), Element()});
    for (uint64_t i = Below(20); i > 0; --i)
      job.inputs.ram[Chance(3) ? P - 1 - Below(20) : Below(80)] = Element();
    return job;
  }

  struct Callable {
    uint64_t function, cycles, inputs, secrets, digests;
    bool sponge;
  };
  std::mt19937_64 random_;
  std::vector<std::vector<tasm::Instruction>> functions_;
  std::vector<Callable> callable_;
  uint64_t spent_ = 0, inputs_ = 0, secrets_ = 0, digests_ = 0;
};

}  // namespace

oracle::Job GenerateJob(uint64_t seed) { return Generator(seed).Make(); }

}  // namespace frazil::tests
