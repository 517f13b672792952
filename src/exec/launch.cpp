// What must hold of arguments before any target runs: each target may then read them without
// looking again. Contents of bool and field memory are looked at here, once, because a byte 2 in a
// bool buffer would mean something else on each target.
#include "exec/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/apart.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

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
  if (memory->length() > 0 && memory->data() == nullptr) return Refuse(i, "its memory is missing");
  if (memory->length() < 0 || memory->length() > MostElements(ir::BytesOf(memory->element())))
    return Refuse(i, fmt::format("no memory has {} elements", memory->length()));
  if (is_read && !ContentsAreCanonical(memory->element(), memory->data(), memory->size_bytes()))
    return Refuse(i, "an element is no value of its type (bool: 0 or 1; field: less than p)");
  return {};
}

Result<void> CheckElements(uint32_t i, std::span<const int64_t> dims, const Memory& memory) {
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count) return Refuse(i, fmt::format("no tensor has the sizes [{}]", fmt::join(dims, ", ")));
  if (*count != memory.length())
    return Refuse(i, fmt::format("a tensor of sizes [{}] has {} elements, its memory has {}",
                                 fmt::join(dims, ", "), *count, memory.length()));
  return {};
}

Result<void> CheckDims(uint32_t i, const ir::Function& function, std::span<const Value> arguments) {
  const Value& argument = arguments[i];
  const std::vector<int64_t> dims = DimsOf(function, function.param_type(i), arguments);
  if (argument.dims.size() != dims.size()) {
    return Refuse(
        i, fmt::format("its rank is {}, the parameter's is {}", argument.dims.size(), dims.size()));
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (argument.dims[axis] != dims[axis])
      return Refuse(i, fmt::format("axis {} has size {}, but the parameter says {}", axis,
                                   argument.dims[axis], dims[axis]));
  }
  return CheckElements(i, dims, *argument.memory);
}

struct Use {
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

bool AllAreApart(const std::vector<Use>& uses) {
  std::vector<MemoryUse> sorted;
  sorted.reserve(uses.size());
  for (const Use& use : uses) {
    sorted.push_back({reinterpret_cast<uint64_t>(use.memory->data()), use.memory->size_bytes(),
                      ElementCode(use.memory->element()), use.written, use.is_tensor});
  }
  return AreApart(sorted);
}

// Two buffers may be one; a tensor is a value, which no buffer may change. Pair by pair only where there are few, or where
// two have to be named.
Result<void> CheckOverlap(const std::vector<Use>& uses) {
  constexpr size_t Few = 8;
  if (uses.size() > Few && AllAreApart(uses)) return {};
  for (size_t i = 0; i < uses.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Use& a = uses[i];
      const Use& b = uses[j];
      if (!(a.written || b.written) || !Overlap(*a.memory, *b.memory)) continue;
      if (Identical(*a.memory, *b.memory) && !a.is_tensor && !b.is_tensor) continue;
      return Fail(Diag::OverlappingBuffers,
                  fmt::format("arguments {} and {} overlap, and one of them is written",
                              b.argument + 1, a.argument + 1));
    }
  }
  return {};
}

// `results`: memory of results that are tensors, where the caller brings it.
Result<void> CheckAll(const ir::Program& program, std::span<const Value> arguments,
                      std::span<const Value> results) {
  const ir::Function& function = program.entry_function();
  if (arguments.size() != function.param_count()) {
    return Fail(Diag::WrongArgumentCount,
                fmt::format("@{} takes {} arguments, {} were given", function.name,
                            function.param_count(), arguments.size()));
  }
  std::vector<Use> uses;
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
  auto i = static_cast<uint32_t>(arguments.size());
  size_t next = 0;
  for (const ir::Type type : function.results) {
    if (!type.is_tensor() || next == results.size()) continue;
    const Value& result = results[next++];
    TRY_VOID(CheckMemory(i, /*is_read=*/false, result));
    TRY_VOID(CheckElements(i, ResultDims(function, type, arguments), *result.memory));
    uses.push_back({i++, result.memory.get(), true, true});
  }
  return CheckOverlap(uses);
}

}  // namespace

bool HasOtherBytes(ir::Type element) {
  using ir::Only;
  return ir::Contains(ir::sets::Bool | ir::sets::Fields | Only(ir::Scalar::Digest), element.scalar);
}

bool ContentsAreCanonical(ir::Type element, const std::byte* data, uint64_t bytes) {
  if (!HasOtherBytes(element)) return true;
  if (element.scalar == ir::Scalar::Bool)
    return std::all_of(data, data + bytes,
                       [](std::byte b) { return std::to_integer<int>(b) <= 1; });
  // Without a way out of the loop, and in halves, which every processor compares in vectors: at least p is an upper
  // half of all ones over a lower one that is not 0.
  uint32_t wrong = 0;
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint32_t halves[2];
    std::memcpy(halves, data + at, sizeof halves);
    wrong |= static_cast<uint32_t>(halves[1] == UINT32_MAX) & static_cast<uint32_t>(halves[0] != 0);
  }
  return wrong == 0;
}

std::vector<int64_t> DimsOf(const ir::Function& function, ir::Type type,
                            std::span<const Value> arguments) {
  std::vector<int64_t> dims;
  for (const ir::Dim dim : function.shape(type))
    dims.push_back(dim.is_symbol() ? static_cast<int64_t>(arguments[dim.param()].word) : dim.value);
  return dims;
}

std::vector<int64_t> ResultDims(const ir::Function& function, ir::Type type,
                                std::span<const Value> arguments) {
  std::vector<int64_t> dims = DimsOf(function, type, arguments);
  for (int64_t& dim : dims) dim = std::max<int64_t>(dim, 0);
  return dims;
}

std::optional<int64_t> ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool is_empty = false, is_too_many = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    is_empty |= dim == 0;
    is_too_many |= __builtin_mul_overflow(count, dim, &count);
  }
  if (is_empty) return 0;  // whatever the other sizes are
  return is_too_many ? std::nullopt : std::optional(count);
}

Result<void> CheckLaunch(const ir::Program& program, std::span<const Value> arguments) {
  return CheckAll(program, arguments, {});
}

Result<void> CheckLoweredLaunch(const ir::Program& source, std::span<const Value> arguments) {
  const ir::Function& entry = source.entry_function();
  const size_t params = entry.param_count();
  if (arguments.size() != params + static_cast<size_t>(std::ranges::count_if(
                                       entry.results, [](ir::Type t) { return t.is_tensor(); })))
    return CheckAll(source, arguments, {});  // which says so
  std::vector<Value> values(arguments.begin(), arguments.begin() + static_cast<ptrdiff_t>(params));
  for (uint32_t i = 0; i < params; ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_tensor())
      values[i] = Value::Tensor(arguments[i].memory, DimsOf(entry, type, arguments));
  }
  return CheckAll(source, values, arguments.subspan(params));
}

}  // namespace frazil::exec
