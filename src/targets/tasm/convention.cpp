// Arguments as public input, public output as results. Nothing in the streams says what a word is: the program's own
// types do, so that outputs of several types must come in an order that does not depend on the input.
#include "targets/tasm/convention.h"

#include <fmt/format.h>

#include <functional>

#include "exec/marshal.h"
#include "targets/tasm/words/select.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

using ir::Scalar;

namespace {

bool IsFieldLike(Scalar s) {
  return s == Scalar::Field || s == Scalar::XField || s == Scalar::Digest;
}

void AppendWords(ir::Type type, std::span<const uint64_t> words, std::vector<uint64_t>& out) {
  if (IsFieldLike(type.scalar)) {
    out.insert(out.end(), words.begin(), words.end());
    return;
  }
  const int bits = type.scalar == Scalar::Bool  ? 1
                   : type.scalar == Scalar::Int ? 64
                                                : ir::BitsOf(type);
  for (uint64_t word : words) {
    if (bits < 64) {
      out.push_back(word & ((uint64_t{1} << bits) - 1));
    } else {
      out.push_back(word & 0xffff'ffffu);
      out.push_back(word >> 32);
    }
  }
}

// The machine's words of one element, as the IR's.
std::vector<uint64_t> IrWords(ir::Type type, std::span<const uint64_t> words) {
  if (IsFieldLike(type.scalar)) return {words.begin(), words.end()};
  if (words.size() == 1) {
    uint64_t word = words[0];
    const int bits = type.scalar == Scalar::Bool ? 1 : ir::BitsOf(type);
    if (ir::IsSigned(type.scalar) && (word >> (bits - 1) & 1) != 0)
      word |= ~uint64_t{0} << (bits - 1);
    return {word};
  }
  std::vector<uint64_t> out;
  for (size_t i = 0; i + 1 < words.size(); i += 2) out.push_back(words[i] | words[i + 1] << 32);
  return out;
}

}  // namespace

std::vector<uint64_t> ToWords(const exec::Value& scalar) {
  std::vector<uint64_t> words;
  AppendWords(scalar.type, scalar.scalar_words(), words);
  return words;
}

exec::Value FromWords(ir::Type type, std::span<const uint64_t> words) {
  return exec::Value::Scalar(type, IrWords(type, words));
}

OutputTypes OutputsOf(const ir::Program& program) {
  OutputTypes out;
  bool nested = false;
  std::vector<ir::Type> sequence;
  std::function<void(uint32_t, bool, int)> visit = [&](uint32_t id, bool inside, int depth) {
    const ir::Function& f = program.functions[id];
    if (depth > 64 || sequence.size() > 100'000) {
      nested = true;
      return;
    }
    std::function<void(ir::RegionId, bool)> region = [&](ir::RegionId r, bool in) {
      for (ir::InstId i : f.region(r).insts) {
        const ir::Inst& inst = f.inst(i);
        if (inst.op == ir::Op::Output) {
          nested |= in;
          sequence.push_back(inst.type);
        }
        if (inst.op == ir::Op::Call) visit(static_cast<uint32_t>(f.word(inst, 0)), in, depth + 1);
        for (uint32_t k = 0; k < inst.regions.count; ++k)
          region(ir::Function::region_of(inst, k), true);
      }
    };
    region(f.body, inside);
  };
  visit(program.entry.index, false, 0);
  bool same = true;
  for (ir::Type type : sequence) same &= type == sequence[0];
  if (same) {
    if (!sequence.empty()) out.types = {sequence[0]};
    return out;
  }
  out.one = false;
  out.types = sequence;
  if (nested)
    out.why_not =
        "outputs of several types in loops or branches cannot be told apart in Triton VM's public "
        "output";
  return out;
}

Result<mt::Inputs> ToInputs(const ir::Program& program, std::span<const exec::Value> arguments,
                            const exec::RunContext& context) {
  exec::LoweredCall call = TRY(exec::LoweredCall::Create(program, arguments, context.limits));
  mt::Inputs inputs;
  const std::span<const exec::Value> values = call.arguments();
  std::vector<bool> seen(call.regions().size(), false);
  for (size_t i = 0; i < values.size(); ++i) {
    const exec::Value& value = values[i];
    if (!value.memory) {
      AppendWords(value.type, value.scalar_words(), inputs.input);
      continue;
    }
    const int32_t region = call.region_of_argument()[i];
    if (seen[region] && call.regions()[region].writable)
      return Fail(Diag::Unsupported,
                  fmt::format("argument {} is the same buffer as another one that is written; on "
                              "Triton VM each is copied",
                              i + 1));
    seen[region] = true;
    const exec::Memory& memory = *value.memory;
    const bool raw =
        i < program.entry_function().param_count() && IsRawRam(program.entry_function(), i);
    std::vector<uint64_t> words(ir::WordsOf(memory.element()));
    if (!raw) inputs.input.push_back(static_cast<uint64_t>(memory.length()));
    for (int64_t k = 0; k < memory.length(); ++k) {
      memory.Get(k, words);
      if (raw) {
        inputs.ram[static_cast<uint64_t>(k)] = words[0];
      } else {
        AppendWords(memory.element(), words, inputs.input);
      }
    }
  }
  for (const exec::Value& value : context.input)
    AppendWords(value.type, value.scalar_words(), inputs.input);
  for (const exec::Value& value : context.hints) {
    if (value.type.scalar == Scalar::Digest) {
      mt::Digest digest;
      std::copy_n(value.scalar_words().begin(), 5, digest.begin());
      inputs.digests.push_back(digest);
    } else {
      AppendWords(value.type, value.scalar_words(), inputs.secret);
    }
  }
  return inputs;
}

namespace {

Result<exec::TrapInfo> TrapOf(const Lowered& lowered, const mt::RunResult& run) {
  const mt::Crash& crash = *run.crash;
  if (crash.kind == mt::CrashKind::Cycles) return exec::TrapInfo{ir::Trap::Fuel, ir::Op::While, -1};
  if (crash.kind == mt::CrashKind::Memory)
    return exec::TrapInfo{ir::Trap::Memory, ir::Op::Alloc, -1};
  auto site = lowered.traps.find(crash.instruction);
  if (site == lowered.traps.end())
    return Fail(Diag::Internal, "a crash that is no trap of the program: " + crash.sentence);
  exec::TrapInfo trap{site->second.kind, site->second.op, -1};
  uint64_t index = 0;
  for (size_t i = 0; i < site->second.iteration.size(); ++i) {
    const uint32_t place = site->second.iteration[i];
    const uint64_t limb =
        place == TrapSite::Nowhere || place + 16 >= run.stack.size() ? 0 : run.stack[place + 16];
    index |= limb << (32 * i);
  }
  if (!site->second.iteration.empty()) trap.index = static_cast<int64_t>(index);
  return trap;
}

}  // namespace

Result<exec::Outcome> ToOutcome(const ir::Program& program, const Lowered& lowered,
                                const mt::RunResult& run, std::span<const exec::Value> arguments) {
  exec::LoweredCall call = TRY(exec::LoweredCall::Create(program, arguments, {}));
  std::optional<exec::TrapInfo> trap;
  if (run.crash) trap = TRY(TrapOf(lowered, run));
  size_t tail = 0;
  const std::span<const exec::Value> values = call.arguments();
  auto comes_back = [&](size_t i) {
    if (!values[i].memory) return false;
    if (i < program.entry_function().param_count() && IsRawRam(program.entry_function(), i))
      return false;
    return call.regions()[call.region_of_argument()[i]].writable;
  };
  if (!trap) {
    for (ir::Type type : call.scalar_results()) tail += WordsOnMachine(type);
    for (size_t i = 0; i < values.size(); ++i)
      if (comes_back(i))
        tail += WordsOnMachine(values[i].memory->element()) *
                static_cast<size_t>(values[i].memory->length());
  }
  if (run.output.size() < tail)
    return Fail(Diag::Internal, "the program wrote less than its results");
  const OutputTypes types = OutputsOf(program);
  std::vector<exec::Value> output;
  size_t at = 0;
  const size_t end = run.output.size() - tail;
  for (size_t k = 0; at < end; ++k) {
    if (types.types.empty() || (!types.one && k >= types.types.size()))
      return Fail(Diag::Internal, "the program wrote more than its outputs");
    const ir::Type type = types.one ? types.types[0] : types.types[k];
    const uint32_t words = WordsOnMachine(type);
    if (at + words > end) return Fail(Diag::Internal, "an output is cut off");
    output.push_back(FromWords(type, std::span(run.output).subspan(at, words)));
    at += words;
  }
  std::vector<exec::Value> results;
  if (!trap) {
    for (ir::Type type : call.scalar_results()) {
      const uint32_t words = WordsOnMachine(type);
      results.push_back(FromWords(type, std::span(run.output).subspan(at, words)));
      at += words;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!comes_back(i)) continue;
      exec::Memory& memory = *values[i].memory;
      const uint32_t words = WordsOnMachine(memory.element());
      for (int64_t k = 0; k < memory.length(); ++k, at += words)
        memory.Set(k, IrWords(memory.element(), std::span(run.output).subspan(at, words)));
    }
  }
  return std::move(call).Finish(trap, std::move(results), std::move(output));
}

}  // namespace frazil::targets::tasm
