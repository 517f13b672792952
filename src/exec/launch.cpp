// What must hold of arguments before any target runs: each target may then read them without
// looking again. Contents of bool and field memory are looked at here, once, because a byte 2 in a
// bool buffer would mean something else on each target.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/goldilocks.h"
#include "exec/target.h"
#include "ir/literal.h"
#include "ir/text.h"

namespace frazil::exec {
namespace {

std::unexpected<Error> Refuse(uint32_t i, std::string_view why) {
  return Fail(Diag::WrongArgument, fmt::format("argument {}: {}", i + 1, why));
}

std::string Describe(const Value& value) {
  const std::string element = ir::ScalarOrBufferName(value.type.element());
  if (value.type.is_scalar()) return element;
  if (value.type.is_buffer()) return fmt::format("buffer<{}>", element);
  return fmt::format("tensor<{}, [{}]>", element, fmt::join(value.dims, ", "));
}

// Only these have byte patterns that are no value.
bool ContentsAreCanonical(const Memory& memory) {
  const uint64_t bytes = memory.size_bytes();
  if (memory.element().scalar == ir::Scalar::Bool) {
    return std::all_of(memory.data(), memory.data() + bytes,
                       [](std::byte b) { return std::to_integer<int>(b) <= 1; });
  }
  using ir::Only;
  if (!ir::Contains(ir::sets::Fields | Only(ir::Scalar::Digest), memory.element().scalar))
    return true;
  // Without a way out of the loop, and in halves, which every processor compares in vectors: at least p is an upper
  // half of all ones over a lower one that is not 0.
  uint32_t wrong = 0;
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint32_t halves[2];
    std::memcpy(halves, memory.data() + at, sizeof halves);
    wrong |= static_cast<uint32_t>(halves[1] == UINT32_MAX) & static_cast<uint32_t>(halves[0] != 0);
  }
  return wrong == 0;
}

Result<void> CheckScalar(uint32_t i, ir::Type type, const Value& argument) {
  if (argument.scalar_words().size() != ir::WordsOf(type) ||
      !ir::IsCanonicalLiteral(type, argument.scalar_words())) {
    return Refuse(i,
                  fmt::format("its words are no value of type {}", ir::ScalarOrBufferName(type)));
  }
  return {};
}

Result<void> CheckMemory(uint32_t i, bool is_read, const Value& argument) {
  const Memory* memory = argument.memory.get();
  if (memory == nullptr || memory->element() != argument.type.element())
    return Refuse(i, "it has no memory of its element type");
  if (memory->length() < 0 || (memory->length() > 0 && memory->data() == nullptr))
    return Refuse(i, "its memory is missing");
  if (is_read && !ContentsAreCanonical(*memory))
    return Refuse(i, "an element is no value of its type (bool: 0 or 1; field: less than p)");
  return {};
}

Result<void> CheckDims(uint32_t i, const ir::Function& function, std::span<const Value> arguments) {
  const Value& argument = arguments[i];
  const ir::Shape& shape = function.shape(function.param_type(i));
  if (argument.dims.size() != shape.size()) {
    return Refuse(i, fmt::format("its rank is {}, the parameter's is {}", argument.dims.size(),
                                 shape.size()));
  }
  __extension__ __int128 count = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const ir::Dim dim = shape[axis];
    const int64_t expected =
        dim.is_symbol() ? static_cast<int64_t>(arguments[dim.param()].word) : dim.value;
    const int64_t size = argument.dims[axis];
    if (size < 0 || size != expected)
      return Refuse(
          i, fmt::format("axis {} has size {}, but the parameter says {}", axis, size, expected));
    count *= size;
    if (count > std::numeric_limits<int64_t>::max()) return Refuse(i, "it has too many elements");
  }
  if (count != argument.memory->length())
    return Refuse(i, "its memory does not hold its dimensions");
  return {};
}

struct MemoryUse {
  uint32_t argument;
  const Memory* memory;
  bool written;
  bool is_tensor;
};

bool Overlap(const Memory& a, const Memory& b) {
  if (a.size_bytes() == 0 || b.size_bytes() == 0) return false;
  return a.data() < b.data() + b.size_bytes() && b.data() < a.data() + a.size_bytes();
}

bool Identical(const Memory& a, const Memory& b) {
  return a.data() == b.data() && a.size_bytes() == b.size_bytes() && a.element() == b.element();
}

// Two buffers may be one; a tensor is a value, which no buffer may change.
Result<void> CheckOverlap(const std::vector<MemoryUse>& uses) {
  for (size_t i = 0; i < uses.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const MemoryUse& a = uses[i];
      const MemoryUse& b = uses[j];
      if (!(a.written || b.written) || !Overlap(*a.memory, *b.memory)) continue;
      if (Identical(*a.memory, *b.memory) && !a.is_tensor && !b.is_tensor) continue;
      return Fail(Diag::OverlappingBuffers,
                  fmt::format("arguments {} and {} overlap, and one of them is written",
                              b.argument + 1, a.argument + 1));
    }
  }
  return {};
}

}  // namespace

Result<void> CheckLaunch(const ir::Program& program, std::span<const Value> arguments) {
  const ir::Function& function = program.entry_function();
  if (arguments.size() != function.param_count()) {
    return Fail(Diag::WrongArgumentCount,
                fmt::format("@{} takes {} arguments, {} were given", function.name,
                            function.param_count(), arguments.size()));
  }
  std::vector<MemoryUse> uses;
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const ir::Type type = function.param_type(i);
    const Value& argument = arguments[i];
    if (argument.type.form != type.form || argument.type.element() != type.element()) {
      return Refuse(i, fmt::format("it is {}, the parameter is {}", Describe(argument),
                                   ir::PrintType(function, type)));
    }
    if (type.is_scalar()) {
      TRY_VOID(CheckScalar(i, type, argument));
      continue;
    }
    const bool is_read = type.is_tensor() || type.access != ir::Access::Out;
    TRY_VOID(CheckMemory(i, is_read, argument));
    const bool written = type.is_buffer() && type.access != ir::Access::In;
    uses.push_back({i, argument.memory.get(), written, type.is_tensor()});
  }
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (function.param_type(i).is_tensor()) TRY_VOID(CheckDims(i, function, arguments));
  }
  return CheckOverlap(uses);
}

}  // namespace frazil::exec
