// Kernels: ISA modules that are proved by lifting them back, verdicts on independence, and moves of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/sha256.h"
#include "exec/meaning/after_trap.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "exec/test_parallel_kernels.h"
#include "generator/generator.h"
#include "ir/check/check.h"
#include "ir/lanes/independence.h"
#include "ir/text/text.h"
#include "judges/attacks.h"
#include "machines/simt/frzb.h"
#include "machines/simt/text.h"
#include "targets/isa/isa.h"
#include "targets/isa/lane_exact.h"
#include "verify/verify.h"

namespace frazil::tests {
namespace {

using exec::Value;
using machines::simt::FileHeader;
using machines::simt::Instruction;

std::string Mended(std::string bytes) {
  Sha256 sha;
  sha.Update(std::string_view(bytes).substr(0, offsetof(FileHeader, checksum)));
  sha.Update(std::string_view(bytes).substr(sizeof(FileHeader)));
  const std::array<uint8_t, 32> checksum = sha.Finish();
  std::memcpy(bytes.data() + offsetof(FileHeader, checksum), checksum.data(), checksum.size());
  return bytes;
}

// Bytes of one instruction, two instructions in the other order, or bytes of the tables and rows.
std::string MutatedModule(const machines::simt::Module& module, Choices& choices) {
  std::string bytes(module.bytes);
  const size_t code =
      static_cast<size_t>(reinterpret_cast<const char*>(module.code.data()) - module.bytes.data());
  const size_t size = sizeof(Instruction), count = module.code.size();
  if (choices.Chance(15) && count > 1) {
    const size_t at = code + choices.Below(count - 1) * size;
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(at),
                     bytes.begin() + static_cast<ptrdiff_t>(at + size),
                     bytes.begin() + static_cast<ptrdiff_t>(at + size));
    return Mended(std::move(bytes));
  }
  if (choices.Chance(15) && count > 1) {  // one copied over another
    bytes.replace(code + choices.Below(count) * size, size,
                  bytes.substr(code + choices.Below(count) * size, size));
    return Mended(std::move(bytes));
  }
  const bool in_code = choices.Chance(85);
  const size_t begin = in_code ? code : sizeof(FileHeader);
  const size_t length = in_code ? count * size : bytes.size() - begin;
  for (int changes = 0; changes == 0 || (changes < 3 && choices.Chance(30)); ++changes) {
    char& byte = bytes[begin + choices.Below(length)];
    switch (choices.Below(4)) {
      case 0: byte = static_cast<char>(byte + 1); break;
      case 1: byte = static_cast<char>(byte - 1); break;
      case 2: byte = static_cast<char>(byte ^ (1 << choices.Below(8))); break;
      default: byte = static_cast<char>(choices.Below(16)); break;
    }
  }
  return Mended(std::move(bytes));
}

std::string ModuleDifference(const ir::Program& program, const machines::simt::Module& module,
                             uint64_t seed) {
  const std::vector<Value> a = exec::RandomArguments(program, seed),
                           b = exec::RandomArguments(program, seed);
  exec::RunContext context = exec::RandomContext(program, seed);
  context.limits.fuel = 20'000;
  const Result<exec::Outcome> x = exec::Interpret(program, a, context);
  if (!x || (x->trap && ir::IsLimit(x->trap->kind))) return {};
  const Result<exec::Outcome> y = targets::isa::RunLaneExact(module, b, context);
  if (y && y->trap && ir::IsLimit(y->trap->kind)) return {};
  if (!y) return "it cannot be run: " + y.error().message;
  if (x->trap != y->trap) return "the traps differ";
  if (x->results != y->results) return "the results differ";
  return a == b ? "" : "the buffers differ";
}

// --- independence

constexpr int64_t Elements = 400;

std::vector<Value> KernelArguments(Choices& choices, bool far) {
  std::vector<Value> arguments;
  const uint64_t aliases = choices.Below(4), seed = choices.Next();
  for (uint64_t i = 0; i < 3; ++i) {
    auto memory = std::make_shared<exec::Memory>(ir::types::I32, Elements);
    for (int64_t e = 0; e < Elements; ++e) {
      const uint64_t word = static_cast<uint64_t>(
          static_cast<int64_t>(static_cast<int32_t>((seed + i) * 2654435761u * (e + 1))));
      memory->Set(e, {&word, 1});
    }
    arguments.push_back(Value::Buffer(std::move(memory)));
  }
  if ((aliases & 1) != 0) arguments[1] = arguments[0];
  if ((aliases & 2) != 0) arguments[2] = arguments[1];
  constexpr int64_t Far[] = {1 << 16, int64_t{1} << 31, (int64_t{1} << 32) - 1, 640, 6700416};
  constexpr int64_t Farther[] = {
      int64_t{1} << 33, int64_t{1} << 40, int64_t{1} << 61, INT64_MAX, INT64_MIN, -1, -2};
  for (int i = 0; i < 2; ++i)
    arguments.push_back(Value::Int(
        ir::types::U32, far && choices.Chance(60) ? choices.OneOf(Far) : choices.Between(0, 9)));
  arguments.push_back(Value::Int(ir::types::Index, far && choices.Chance(60)
                                                       ? choices.OneOf(Farther)
                                                       : choices.Between(-3, 12)));
  return arguments;
}

bool Hold(const ir::Independence& conditions, const std::vector<Value>& arguments) {
  for (auto [a, b] : conditions.disjoint)
    if (arguments[a].memory == arguments[b].memory) return false;
  for (auto [a, b] : conditions.at_most)
    if (static_cast<int64_t>(arguments[a].word) > static_cast<int64_t>(arguments[b].word))
      return false;
  return true;
}

// One iteration after the other from the last to the first, or every other one first.
std::optional<exec::Outcome> RunApart(const ir::RangedKernel& kernel,
                                      const std::vector<Value>& arguments, bool backward) {
  std::vector<Value> scalars = arguments;
  for (size_t i = 0; i < 3; ++i) scalars[i] = Value::Int(ir::types::Index, Elements);
  const Result<exec::Outcome> trips = exec::Interpret(kernel.trips, scalars);
  if (!trips || trips->trap) return std::nullopt;
  const auto count = static_cast<int64_t>(trips->results[0].word);
  if (count > 200) return std::nullopt;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < std::max<int64_t>(count, 1); ++i) order.push_back(i);
  if (backward)
    std::ranges::reverse(order);
  else
    std::ranges::sort(order, {}, [](int64_t i) { return std::pair(i % 2 == 0, i); });
  exec::Outcome all;
  exec::RunContext context;
  context.limits.fuel = 20'000;
  for (int64_t i : order) {
    std::vector<Value> piece = arguments;
    piece.push_back(Value::Int(ir::types::Index, i));
    piece.push_back(Value::Int(ir::types::Index, count == 0 ? i : i + 1));
    const Result<exec::Outcome> outcome = exec::Interpret(kernel.program, piece, context);
    if (!outcome || (outcome->trap && ir::IsLimit(outcome->trap->kind))) return std::nullopt;
    if (outcome->trap && (!all.trap || outcome->trap->index < all.trap->index))
      all.trap = outcome->trap;
  }
  return all;
}

std::string OrderDifference(const ir::Program& program, const ir::RangedKernel& kernel,
                            Choices& choices, bool far, bool blind) {
  const std::vector<Value> before = KernelArguments(choices, far);
  if (!blind && !Hold(kernel.conditions, before)) return {};
  const std::vector<Value> whole = exec::CopyValues(before), apart = exec::CopyValues(before);
  exec::RunContext context;
  context.limits.fuel = 20'000;
  const Result<exec::Outcome> x = exec::Interpret(program, whole, context);
  if (!x || (x->trap && ir::IsLimit(x->trap->kind))) return {};
  const auto y = RunApart(kernel, apart, choices.Chance(50));
  if (!y) return {};
  if (x->trap != y->trap) return "the traps differ";
  if (!x->trap) return whole == apart ? "" : "the buffers differ";
  const auto wrong = exec::WrongAfterTrap(*exec::InterpreterProgram::Create(program), before, whole,
                                          apart, context);
  return wrong ? "the buffers differ after a trap" : "";
}

// --- tensors

// A chain of moves of one tensor.
ir::Program Moves(Choices& choices) {
  generator::GeneratorOptions options;
  options.seed = choices.Next();
  options.size = 4 + static_cast<uint32_t>(choices.Below(10));
  options.allow_buffers = options.allow_streams = options.allow_math = options.allow_calls = false;
  options.allow_parallel = false;
  options.types = choices.Chance(50) ? ir::Only(ir::Scalar::I32) : ir::Only(ir::Scalar::F32);
  return generator::Generate(options);
}

bool MovesElements(ir::Op op) { return op >= ir::Op::Map; }

// Attributes of moves and shapes of their results.
bool MutateMove(ir::Program& program, Choices& choices) {
  ir::Function& function = program.functions[choices.Below(program.functions.size())];
  for (int tries = 0; tries < 20; ++tries) {
    ir::Program copy = program;
    ir::Function& changed =
        copy.functions[static_cast<size_t>(&function - program.functions.data())];
    ir::Inst& inst = changed.insts[choices.Below(changed.insts.size())];
    if (!MovesElements(inst.op)) continue;
    if (inst.attributes.count > 0 && choices.Chance(70)) {
      uint64_t& word = changed.words[inst.attributes.begin + choices.Below(inst.attributes.count)];
      const uint64_t before = word;
      if (inst.attributes.count > 1 && choices.Chance(50))
        std::swap(word,
                  changed.words[inst.attributes.begin + choices.Below(inst.attributes.count)]);
      else
        word = choices.Chance(50) ? word + 1 : choices.Below(4);
      if (word == before) continue;
    } else if (inst.operands.count > 0) {
      ir::ValueId& operand =
          changed.operands[inst.operands.begin + choices.Below(inst.operands.count)];
      const ir::ValueId before = operand;
      operand = ir::ValueId(static_cast<uint32_t>(choices.Below(changed.values.size())));
      if (operand == before) continue;
    }
    if (!ir::Check(copy)) continue;
    program = std::move(copy);
    return true;
  }
  return false;
}

}  // namespace

void AttackLifting(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program drawn = DrawProgram(choices, 14, false);
  const Result<ir::Program> prepared = targets::isa::PrepareProgram(drawn);
  if (!prepared) return;
  const Result<machines::simt::Module> module = targets::isa::LowerPrepared(*prepared);
  if (!module) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    const std::string bytes = MutatedModule(*module, choices);
    if (bytes == module->bytes) continue;
    const Result<machines::simt::Module> mutant = machines::simt::LoadModule(bytes);
    if (!mutant || (!tally.blind && !targets::isa::ProvedModule::Prove(drawn, *mutant))) {
      tally.Judged(&Tally::refuted);
      continue;
    }
    std::string difference;
    for (int run = 0; run < 40 && difference.empty(); ++run)
      difference = ModuleDifference(*prepared, *mutant, choices.Next());
    if (difference.empty())
      tally.Judged(&Tally::equal);
    else
      tally.Wrong(fmt::format("{}\n{}against\n{}", difference, ir::PrintText(*prepared),
                              machines::simt::Print(*mutant)));
  }
}

void AttackIndependence(Choices& choices, uint64_t mutants, Tally& tally) {
  const bool far = choices.Chance(50);
  const uint64_t seed = choices.Next();
  const Result<ir::Program> drawn = ir::ParseText(far ? exec::WrappingKernelWriter(seed).Write()
                                                      : exec::KernelWriter(seed).Write());
  if (!drawn) return;
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Program program = *drawn;
    if (!MutateProgram(program, choices)) continue;
    const Result<ir::RangedKernel> kernel = ir::MakeRanged(program);
    if (!kernel) {
      tally.Judged(&Tally::refuted);
      continue;
    }
    std::string difference;
    for (int run = 0; run < 8 && difference.empty(); ++run)
      difference = OrderDifference(program, *kernel, choices, far, tally.blind);
    if (difference.empty())
      tally.Judged(&Tally::equal);
    else
      tally.Wrong(difference + "\n" + ir::PrintText(program));
  }
}

void AttackTensors(Choices& choices, uint64_t mutants, Tally& tally) {
  const ir::Program source = Moves(choices);
  for (uint64_t i = 0; i < mutants; ++i) {
    ir::Candidate candidate;
    candidate.program = source;
    if (!(choices.Chance(80) ? MutateMove(candidate.program, choices)
                             : MutateProgram(candidate.program, choices)))
      continue;
    verify::VerifyOptions options;
    options.sample_lanes = 16;
    options.exhaustive = options.smt = false;
    options.limits.verify_ms = 200;
    const Result<verify::Verdict> verdict = verify::Verify(source, candidate, options);
    if (!verdict)
      tally.Judged(&Tally::refuted);
    else
      CountVerdict(source, candidate, *verdict, choices, tally);
  }
}

}  // namespace frazil::tests
