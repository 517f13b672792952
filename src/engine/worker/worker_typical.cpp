// Arguments to price with, where no real call's are at hand. They need not be likely, only harmless: a loop bound of
// 2^63 or a divisor of 0 prices nothing. Lengths grow until the interpreter takes a fraction of a millisecond, so that
// the cost of a call itself does not hide what is inside.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/number/goldilocks.h"
#include "engine/worker/worker_compare.h"
#include "engine/worker/worker_price.h"
#include "exec/meaning/interpreter_program.h"
#include "exec/target.h"
#include "ir/text/literal.h"

namespace frazil::engine {
namespace {

using exec::Value;

constexpr int64_t Lengths[] = {4, 16, 64, 256, 1024};
constexpr double LongEnoughNs = 60'000;  // no need to go on
constexpr double TooLongNs = 1'000'000;  // one length less will do
constexpr uint64_t Attempts = 4;         // of other values, where a run traps
constexpr int64_t MostObserved =
    1 << 18;  // elements, for the sake of an extent that was always the same
// A call is large beyond what a caller copies as a sample; four copies of the larger number fit a worker.
constexpr uint64_t LargeBytes = 64 << 10;
constexpr uint64_t MostLargeBytes = 64 << 20;
constexpr uint64_t QuickMs = 20;
constexpr uint64_t SlowMs = 500;

struct Sequence {
  uint64_t state;
  uint64_t Next() {  // SplitMix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
};

std::vector<uint64_t> TypicalScalar(ir::Type type, int64_t length, Sequence& sequence) {
  switch (type.scalar) {
    case ir::Scalar::F16:
    case ir::Scalar::BF16:
    case ir::Scalar::F32:
    case ir::Scalar::F64: return {ir::LiteralFromDouble(type, 0.25 + 1.5 * sequence.Unit())};
    case ir::Scalar::Index: return {static_cast<uint64_t>(length)};
    case ir::Scalar::Bool: return {sequence.Next() & 1};
    case ir::Scalar::Field:
    case ir::Scalar::XField:
    case ir::Scalar::Digest: {
      std::vector<uint64_t> words(ir::WordsOf(type));
      for (uint64_t& word : words) word = sequence.Next() % goldilocks::P;
      return words;
    }
    default: {
      const int64_t most = ir::BytesOf(type) == 1 ? std::min<int64_t>(length, 100) : length;
      return ir::LiteralFromInt(
          type, 1 + static_cast<int64_t>(sequence.Next() % static_cast<uint64_t>(most)));
    }
  }
}

void Fill(exec::Memory& memory, int64_t length, Sequence& sequence) {
  for (int64_t i = 0; i < memory.length(); ++i)
    memory.Set(i, TypicalScalar(memory.element(), length, sequence));
}

// A beginning that is made up, again and again: of much memory it matters where it lies, not what it holds.
void FillByCopies(exec::Memory& memory, Sequence& sequence) {
  constexpr int64_t Begin = 4096;
  const int64_t begin = std::min(memory.length(), Begin);
  for (int64_t i = 0; i < begin; ++i)
    memory.Set(i, TypicalScalar(memory.element(), begin, sequence));
  const size_t bytes = memory.size_bytes();
  for (size_t done = static_cast<size_t>(begin) * ir::BytesOf(memory.element()); done < bytes;) {
    const size_t more = std::min(done, bytes - done);
    std::memcpy(memory.data() + done, memory.data(), more);
    done += more;
  }
}

std::vector<Value> MakeUp(const ir::Program& source, const optimize::Observed& observed,
                          int64_t length, uint64_t seed) {
  const ir::Function& entry = source.entry_function();
  Sequence sequence{seed};
  std::vector<Value> values(entry.param_count());
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (!type.is_scalar()) continue;
    std::vector<uint64_t> words = TypicalScalar(type, length, sequence);
    if (i < observed.constant_arguments.size() &&
        observed.constant_arguments[i].size() == words.size())
      words = observed.constant_arguments[i];
    values[i] = Value::Scalar(type, words);
  }
  // Dimensions name scalars, wherever those stand.
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_scalar()) continue;
    std::vector<int64_t> dims;
    __extension__ __int128 count = type.is_buffer() ? length : 1;
    if (type.is_tensor()) {
      for (const ir::Dim dim : entry.shape(type)) {
        dims.push_back(dim.is_symbol() ? static_cast<int64_t>(values[dim.param()].word)
                                       : dim.value);
        count = std::min<__int128>(count * std::max<int64_t>(dims.back(), 0), int64_t{1} << 40);
      }
    }
    // Too much to fill; the launch refuses it and a smaller length is taken.
    const auto elements = static_cast<int64_t>(count > (int64_t{1} << 24) ? 0 : count);
    auto memory = MarginMemory(type.element(), elements);
    Fill(*memory, length, sequence);
    values[i] = type.is_buffer() ? Value::Buffer(memory) : Value::Tensor(memory, std::move(dims));
  }
  return values;
}

struct Trial {
  double ns = 0;
  bool ended = false;  // by itself: neither a limit nor a refused launch
  bool trapped = false;
};

Trial TryOut(const exec::InterpreterProgram& program, std::span<const Value> arguments,
             uint64_t most_ms) {
  exec::RunContext context;
  context.limits.memory_bytes = 256 << 20;
  context.limits.run_ms = most_ms;
  const std::vector<Value> copy = CopyArguments(arguments);
  const auto start = std::chrono::steady_clock::now();
  const Result<exec::Outcome> outcome = program.Run(copy, context);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  if (!outcome) return {};
  const bool limit = outcome->trap && ir::IsLimit(outcome->trap->kind);
  return {taken.count(), !limit, outcome->trap.has_value()};
}

// The largest index that was the same in all calls: often the length of buffers too large to be copied as a sample.
int64_t ObservedExtent(const ir::Function& entry, const optimize::Observed& observed) {
  int64_t extent = 0;
  for (uint32_t i = 0; i < entry.param_count() && i < observed.constant_arguments.size(); ++i) {
    const std::vector<uint64_t>& words = observed.constant_arguments[i];
    if (entry.param_type(i) == ir::types::Index && words.size() == 1)
      extent = std::max(extent, static_cast<int64_t>(words[0]));
  }
  return extent;
}

}  // namespace

std::optional<std::vector<Value>> LargeArguments(const ir::Program& source,
                                                 std::span<const std::vector<uint64_t>> call) {
  const ir::Function& entry = source.entry_function();
  for (const ir::Function& function : source.functions)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::While) return std::nullopt;
  if (call.size() != entry.param_count()) return std::nullopt;
  uint64_t bytes = 0;
  std::vector<uint64_t> lengths;
  for (uint32_t i = 0; i < call.size(); ++i) {
    const ir::Type type = entry.param_type(i);
    const uint64_t words = type.is_buffer() ? 1 : ir::WordsOf(type);
    if (type.is_tensor() || call[i].size() != words) return std::nullopt;
    if (!type.is_buffer()) continue;
    if (call[i][0] > (uint64_t{1} << 40)) return std::nullopt;
    lengths.push_back(call[i][0]);
    bytes += call[i][0] * ir::BytesOf(type.element());
  }
  if (bytes <= LargeBytes) return std::nullopt;
  // A scalar that is the length of a buffer shrinks as the buffer does.
  unsigned shift = 0;
  while (bytes >> shift > MostLargeBytes) ++shift;
  Sequence sequence{0};
  std::vector<Value> values(call.size());
  for (uint32_t i = 0; i < call.size(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_buffer()) {
      const auto length = static_cast<int64_t>(call[i][0] >> shift);
      auto memory = MarginMemory(type.element(), length);
      FillByCopies(*memory, sequence);
      values[i] = Value::Buffer(memory);
    } else if (IsFixedInt(type.scalar) && std::ranges::count(lengths, call[i][0]) > 0) {
      values[i] = Value::Word(type, call[i][0] >> shift);
    } else {
      values[i] = Value::Scalar(type, call[i]);
    }
  }
  return values;
}

Result<std::vector<Value>> TypicalArguments(const ir::Program& source,
                                            const optimize::Observed& observed,
                                            std::span<const Value> sample) {
  const auto program = TRY(exec::InterpreterProgram::Create(source));
  if (!sample.empty() && TryOut(program, sample, SlowMs).ended) return CopyArguments(sample);

  const bool grows = source.entry_function().param_count() > 0;
  std::vector<Value> best;
  bool best_traps = true;
  for (const int64_t length : Lengths) {
    Trial trial;
    for (uint64_t seed = 0; seed < Attempts; ++seed) {
      std::vector<Value> values = MakeUp(source, observed, length, seed);
      trial = TryOut(program, values, QuickMs);
      if (!trial.ended || trial.ns > TooLongNs) break;
      if (best.empty() || !trial.trapped || best_traps) {
        best = std::move(values);
        best_traps = trial.trapped;
      }
      if (!trial.trapped) break;
    }
    if ((!best.empty() && (!trial.ended || trial.ns > LongEnoughNs)) || !grows) break;
  }
  // Buffers shorter than an extent that never changes only price a trap.
  const int64_t extent = ObservedExtent(source.entry_function(), observed);
  if (best_traps && extent > 0 && extent <= MostObserved) {
    std::vector<Value> values = MakeUp(source, observed, extent, 0);
    const Trial trial = TryOut(program, values, SlowMs);
    if (trial.ended && !trial.trapped) return values;
  }
  if (best.empty()) {
    // A program that takes its time whatever it is given.
    best = MakeUp(source, observed, 1, 0);
    if (!TryOut(program, best, SlowMs).ended) {
      return Fail(
          Diag::LimitReached,
          fmt::format("no call was found that the interpreter ends within {} ms to price with",
                      SlowMs));
    }
  }
  return best;
}

}  // namespace frazil::engine
