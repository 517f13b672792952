// Copies and comparisons of the worker: bit for bit, with margins around buffers because the code that runs on them is
// not trusted yet.
#include "engine/worker/worker_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "exec/meaning/after_trap.h"

namespace frazil::engine {
namespace {

using exec::Memory;
using exec::Outcome;
using exec::Value;

constexpr size_t MarginBytes = 64;
constexpr auto MarginByte = std::byte{0xA5};

struct Block {
  std::vector<std::byte> storage;
  Memory memory;

  Block(ir::Type element, int64_t length)
      : storage(static_cast<uint64_t>(length) * ir::BytesOf(element.element()) + 3 * MarginBytes,
                MarginByte),
        memory(element, length, Inside()) {
    std::memset(memory.data(), 0, memory.size_bytes());
  }
  std::byte* Inside() {
    const auto address = reinterpret_cast<uintptr_t>(storage.data());
    return storage.data() + (MarginBytes - address % MarginBytes) % MarginBytes + MarginBytes;
  }
};

bool IsMargin(const std::byte* bytes) {
  return std::all_of(bytes, bytes + MarginBytes, [](std::byte b) { return b == MarginByte; });
}

std::string Short(const Value& value) {
  constexpr size_t Most = 60;
  std::string text = exec::PrintValue(value);
  return text.size() > Most ? text.substr(0, Most) + "..." : text;
}

std::string ElementDifference(std::string_view what, size_t number, int64_t index, const Value& a,
                              const Value& b) {
  std::vector<uint64_t> left(ir::WordsOf(a.memory->element()));
  std::vector<uint64_t> right(left.size());
  a.memory->Get(index, left);
  b.memory->Get(index, right);
  return fmt::format("{} {}, element {}: {} against {}", what, number, index,
                     Short(Value::Scalar(a.memory->element(), left)),
                     Short(Value::Scalar(a.memory->element(), right)));
}

// The first element that differs, as a one-element value of each side.
std::string MemoryDifference(std::string_view what, size_t number, const Value& a, const Value& b) {
  const uint64_t bytes = ir::BytesOf(a.memory->element());
  const auto [at, other] =
      std::mismatch(a.memory->data(), a.memory->data() + a.memory->size_bytes(), b.memory->data());
  const int64_t index = (at - a.memory->data()) / static_cast<int64_t>(bytes);
  return ElementDifference(what, number, index, a, b);
}

std::string ListDifference(std::string_view what, std::span<const Value> a,
                           std::span<const Value> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    const bool alike = a[i].memory && b[i].memory &&
                       a[i].memory->element() == b[i].memory->element() &&
                       a[i].memory->length() == b[i].memory->length() && a[i].dims == b[i].dims;
    if (alike) return MemoryDifference(what, i, a[i], b[i]);
    return fmt::format("{} {}: {} against {}", what, i, Short(a[i]), Short(b[i]));
  }
  if (a.size() != b.size()) return fmt::format("{} {}s against {}", a.size(), what, b.size());
  return {};
}

}  // namespace

std::shared_ptr<Memory> MarginMemory(ir::Type element, int64_t length) {
  auto block = std::make_shared<Block>(element, length);
  Memory* memory = &block->memory;
  return {std::move(block), memory};
}

bool MarginsAreWhole(std::span<const Value> values) {
  return std::ranges::all_of(values, [](const Value& value) {
    const Memory* memory = value.memory.get();
    return memory == nullptr || (IsMargin(memory->data() - MarginBytes) &&
                                 IsMargin(memory->data() + memory->size_bytes()));
  });
}

std::vector<Value> CopyArguments(std::span<const Value> arguments) {
  std::vector<Value> copies(arguments.begin(), arguments.end());
  for (size_t i = 0; i < copies.size(); ++i) {
    const Memory* from = arguments[i].memory.get();
    if (from == nullptr) continue;
    const auto is_same = [&](const Value& other) {
      return other.memory && (other.memory.get() == from ||
                              (from->size_bytes() > 0 && other.memory->data() == from->data() &&
                               other.memory->size_bytes() == from->size_bytes()));
    };
    const auto first =
        static_cast<size_t>(std::ranges::find_if(arguments, is_same) - arguments.begin());
    if (first < i && copies[first].memory->element() == from->element()) {
      copies[i].memory = copies[first].memory;
      continue;
    }
    copies[i].memory = MarginMemory(from->element(), from->length());
    std::copy_n(from->data(), from->size_bytes(), copies[i].memory->data());
  }
  return copies;
}

std::string Difference(const AnsweredCall& call, const Outcome& expected,
                       std::span<const Value> expected_arguments, const Outcome& found,
                       std::span<const Value> found_arguments) {
  const auto tell = [](const Outcome& outcome) {
    return outcome.trap ? outcome.trap->ToString() : "no trap";
  };
  if (expected.trap != found.trap)
    return fmt::format("trap: {} against {}", tell(expected), tell(found));
  if (std::string text = ListDifference("output", expected.output, found.output); !text.empty())
    return text;
  if (expected.trap) {
    const auto wrong = exec::WrongAfterTrap(call.program, call.arguments, expected_arguments,
                                            found_arguments, call.context);
    if (!wrong) return {};
    return ElementDifference("argument", wrong->argument, wrong->element,
                             expected_arguments[wrong->argument], found_arguments[wrong->argument]);
  }
  if (std::string text = ListDifference("result", expected.results, found.results); !text.empty())
    return text;
  return ListDifference("argument", expected_arguments, found_arguments);
}

}  // namespace frazil::engine
