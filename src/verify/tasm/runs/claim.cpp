#include "verify/tasm/runs/claim.h"

#include <algorithm>

#include "base/number/goldilocks.h"
#include "exec/marshal.h"

namespace frazil::verify::tasm {
namespace {

using exec::Value;
using ir::Scalar;

// A buffer longer than this is none that a made-up input should have.
constexpr uint64_t MostElements = 4096;
constexpr uint64_t Low32 = 0xffff'ffffu;

bool IsField(ir::Type type) {
  return type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
         type.scalar == Scalar::Digest;
}

int BitsOnMachine(ir::Type type) {
  return type.scalar == Scalar::Bool ? 1 : type.scalar == Scalar::Int ? 64 : ir::BitsOf(type);
}

void Append(ir::Type type, std::span<const uint64_t> words, std::vector<uint64_t>& out) {
  for (const uint64_t word : words) {
    if (IsField(type)) {
      out.push_back(word);
    } else if (const int bits = BitsOnMachine(type); bits < 64) {
      out.push_back(word & ((uint64_t{1} << bits) - 1));
    } else {
      out.push_back(word & Low32);
      out.push_back(word >> 32);
    }
  }
}

void AppendMemory(const exec::Memory& memory, std::vector<uint64_t>& out) {
  std::vector<uint64_t> words(ir::WordsOf(memory.element()));
  for (int64_t i = 0; i < memory.length(); ++i) {
    memory.Get(i, words);
    Append(memory.element(), words, out);
  }
}

bool IsWritten(ir::Type type) { return type.is_buffer() && type.access != ir::Access::In; }

}  // namespace

std::vector<uint64_t> WordsOf(const Value& scalar) {
  std::vector<uint64_t> words;
  if (WordCount(scalar.type) != 0) Append(scalar.type, scalar.scalar_words(), words);
  return words;
}

size_t WordCount(ir::Type type) {
  if (ir::IsFloat(type.scalar)) return 0;
  const size_t words = ir::WordsOf(type.element());
  return IsField(type) || BitsOnMachine(type) < 64 ? words : 2 * words;
}

uint64_t EndOf(ir::Type type) {
  return IsField(type) ? 0 : uint64_t{1} << std::min(BitsOnMachine(type), 32);
}

std::optional<Value> WordStream::Take(ir::Type type) {
  const size_t count = WordCount(type);
  if (count == 0 || left() < count) return std::nullopt;
  std::vector<uint64_t> machine(words_.begin() + static_cast<ptrdiff_t>(at_),
                                words_.begin() + static_cast<ptrdiff_t>(at_ + count));
  at_ += count;
  if (IsField(type)) {
    for (uint64_t& word : machine) {
      if (word >= goldilocks::P && !fit_) return std::nullopt;
      word %= goldilocks::P;
    }
    return Value::Scalar(type, machine);
  }
  const int bits = BitsOnMachine(type);
  const uint64_t most = bits >= 32 ? Low32 : (uint64_t{1} << bits) - 1;
  for (uint64_t& word : machine) {
    if (word > most && !fit_) return std::nullopt;
    word &= most;
  }
  if (bits < 64) {
    uint64_t& word = machine[0];
    // As the IR has them: extended by their sign.
    if (ir::IsSigned(type.scalar) && type.scalar != Scalar::Bool && (word >> (bits - 1) & 1) != 0)
      word |= ~uint64_t{0} << (bits - 1);
    return Value::Scalar(type, machine);
  }
  std::vector<uint64_t> words;
  for (size_t i = 0; i < machine.size(); i += 2) words.push_back(machine[i] | machine[i + 1] << 32);
  return Value::Scalar(type, words);
}

Claim::Claim(const ir::Program& program) : program_(program) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::ValueId value = entry.param(i);
    const bool is_ram =
        value.index < entry.value_names.size() && entry.value_names[value.index] == "ram" &&
        entry.param_type(i).is_buffer() && entry.param_type(i).scalar == Scalar::Field;
    if (is_ram) ram_ = i;
  }
}

std::optional<Start> Claim::StartOf(const Input& call) const {
  // Each buffer is copied: what is one for the caller is two there.
  if (HasShared(call)) return std::nullopt;
  // Tensors are buffers on the machine, those of results too.
  const Result<exec::LoweredCall> lowered = exec::LoweredCall::Create(program_, call.arguments, {});
  if (!lowered) return std::nullopt;
  Start start;
  mt::Inputs& inputs = start.inputs;
  std::vector<uint64_t>& ends = start.input_ends;
  for (size_t i = 0; i < lowered->arguments().size(); ++i) {
    const Value& value = lowered->arguments()[i];
    if (WordCount(value.type) == 0) return std::nullopt;
    if (ram_ && *ram_ == i) continue;
    if (!value.memory) {
      Append(value.type, value.scalar_words(), inputs.input);
    } else {
      inputs.input.push_back(static_cast<uint64_t>(value.memory->length()));
      ends.resize(inputs.input.size(), EndOf(ir::types::U32));
      AppendMemory(*value.memory, inputs.input);
    }
    ends.resize(inputs.input.size(), EndOf(value.type));
  }
  for (const Value& value : call.input) {
    Append(value.type, value.scalar_words(), inputs.input);
    ends.resize(inputs.input.size(), EndOf(value.type));
  }
  for (const Value& value : call.hints) {
    if (value.type.scalar != Scalar::Digest) {
      Append(value.type, value.scalar_words(), inputs.secret);
      start.secret_ends.resize(inputs.secret.size(), EndOf(value.type));
      continue;
    }
    std::ranges::copy(value.scalar_words(), inputs.digests.emplace_back().begin());
  }
  return start;
}

std::optional<uint64_t> Claim::RamOf(const Input& call, uint64_t address) const {
  if (!ram_) return std::nullopt;
  const exec::Memory& memory = *call.arguments[*ram_].memory;
  if (address >= static_cast<uint64_t>(memory.length())) return std::nullopt;
  uint64_t word = 0;
  memory.Get(static_cast<int64_t>(address), std::span(&word, 1));
  return word;
}

std::optional<std::vector<uint64_t>> Claim::Output(const exec::Outcome& outcome,
                                                   std::span<const Value> after) const {
  std::vector<uint64_t> words;
  const auto append = [&](const Value& value) {
    if (WordCount(value.type) == 0) return false;
    Append(value.type, value.scalar_words(), words);
    return true;
  };
  for (const Value& value : outcome.output)
    if (!append(value)) return std::nullopt;
  for (const Value& value : outcome.results)
    if (!value.memory && !append(value)) return std::nullopt;
  const ir::Function& entry = program_.entry_function();
  for (uint32_t i = 0; i < after.size(); ++i)
    if (IsWritten(entry.param_type(i)) && ram_ != i) AppendMemory(*after[i].memory, words);
  for (const Value& value : outcome.results)
    if (value.memory) AppendMemory(*value.memory, words);
  return words;
}

std::optional<std::vector<Value>> Claim::Arguments(const mt::Inputs& inputs, bool fit,
                                                   size_t& words_taken) const {
  const ir::Function& entry = program_.entry_function();
  WordStream stream(inputs.input, fit);
  std::vector<Value> arguments;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_tensor()) return std::nullopt;  // its shape is not in the stream
    if (!type.is_buffer()) {
      std::optional<Value> value = stream.Take(type);
      if (!value) return std::nullopt;
      arguments.push_back(std::move(*value));
      continue;
    }
    if (ram_ && *ram_ == i) {
      auto memory = std::make_shared<exec::Memory>(ir::types::Field, RamWords);
      for (const auto& [address, value] : inputs.ram) {
        const uint64_t word = value % goldilocks::P;
        if (address < static_cast<uint64_t>(RamWords))
          memory->Set(static_cast<int64_t>(address), std::span(&word, 1));
      }
      arguments.push_back(Value::Buffer(std::move(memory)));
      continue;
    }
    const std::optional<Value> length = stream.Take(ir::types::Field);
    if (!length || length->word > MostElements) return std::nullopt;
    auto memory =
        std::make_shared<exec::Memory>(type.element(), static_cast<int64_t>(length->word));
    for (int64_t k = 0; k < memory->length(); ++k) {
      const std::optional<Value> element = stream.Take(type.element());
      if (!element) return std::nullopt;
      memory->Set(k, element->scalar_words());
    }
    arguments.push_back(Value::Buffer(std::move(memory)));
  }
  words_taken = inputs.input.size() - stream.left();
  return arguments;
}

}  // namespace frazil::verify::tasm
