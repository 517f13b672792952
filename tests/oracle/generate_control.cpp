// Calls, recursion, loops, and the program that they make together.
#include "generator.h"

#include <array>

namespace frazil::tests {

using tasm::Opcode;

void Generator::Control(Body& body) {
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

void Generator::Skip(Body& body) {
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
      Emit(body, Opcode::AddI, RandomElement());
      body.stack.back() = {};
    }
  }
}

Body Generator::Inner(const Body& outer, uint64_t iterations) {
  Body body;
  body.times = outer.times * std::max<uint64_t>(1, iterations);
  body.nesting = outer.nesting + 1;
  body.sponge = outer.sponge;
  return body;
}

void Generator::Fill(Body& body) {
  const uint64_t length = 1 + Below(10);
  for (uint64_t i = 0; i < length && spent_ < CycleBudget; ++i) Statement(body);
  while (Own(body) > 0) {
    const uint64_t count = std::min<uint64_t>(5, Own(body));
    Emit(body, Chance(3) ? Opcode::WriteIo : Opcode::Pop, count);
    Take(body, count);
  }
}

uint64_t Generator::Add(Body body) {
  functions_.push_back(std::move(body.code));
  return functions_.size() - 1;
}

uint64_t Generator::Iterations(const Body& body) {
  const uint64_t most =
      std::max<uint64_t>(1, (CycleBudget - std::min(CycleBudget, spent_)) / (20 * body.times));
  return Below(std::min<uint64_t>(most, Chance(4) ? 60 : 8) + 1);
}

void Generator::Call(Body& body) {
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

void Generator::Recursion(Body& body) {
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

void Generator::LoopDown(Body& body) {
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

void Generator::Counted(Body& body, uint64_t count, uint64_t function) {
  Push(body, count);
  Emit(body, Opcode::Call, function);
  Emit(body, Opcode::Pop, 1);
  Take(body, 1);
}

void Generator::LoopUp(Body& body) {
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

oracle::Job Generator::Assemble(Body main) {
  oracle::Job job;
  job.cycles = 200'000;
  tasm::Program& program = job.program;
  program.code = std::move(main.code);
  std::vector<uint64_t> starts;
  for (size_t i = 0; i < functions_.size(); ++i) {
    starts.push_back(program.code.size());
    program.labels.push_back({"f" + std::to_string(i), static_cast<uint32_t>(program.code.size())});
    program.code.insert(program.code.end(), functions_[i].begin(), functions_[i].end());
  }
  for (tasm::Instruction& instruction : program.code)
    if (instruction.op == Opcode::Call) instruction.argument = starts[instruction.argument];
  for (uint64_t i = 0; i < inputs_; ++i) job.inputs.input.push_back(RandomElement());
  for (uint64_t i = 0; i < secrets_; ++i) job.inputs.secret.push_back(RandomElement());
  for (uint64_t i = 0; i < digests_; ++i)
    job.inputs.digests.push_back(
        {RandomElement(), RandomElement(), RandomElement(), RandomElement(), RandomElement()});
  for (uint64_t i = Below(20); i > 0; --i)
    job.inputs.ram[Chance(3) ? P - 1 - Below(20) : Below(80)] = RandomElement();
  return job;
}

}  // namespace frazil::tests
