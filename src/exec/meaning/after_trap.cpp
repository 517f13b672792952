// The specified part of memory after a trap, found by running the iterations behind it.
#include "exec/meaning/after_trap.h"

#include <algorithm>

#include "exec/meaning/interpreter_machine.h"

namespace frazil::exec {
namespace {

std::optional<int64_t> FirstDifference(const Memory& a, const Memory& b, int64_t from) {
  const auto bytes = static_cast<int64_t>(ir::BytesOf(a.element()));
  const auto end = a.data() + a.size_bytes();
  const auto [at, other] = std::mismatch(a.data() + from * bytes, end, b.data() + from * bytes);
  if (at == end) return std::nullopt;
  return (at - a.data()) / bytes;
}

}  // namespace

std::optional<ElementPlace> WrongAfterTrap(const InterpreterProgram& program,
                                           std::span<const Value> before,
                                           std::span<const Value> expected,
                                           std::span<const Value> found,
                                           const RunContext& context) {
  std::vector<Value> copy;
  std::optional<LaterStores> later;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].memory == nullptr) continue;
    const Memory& a = *expected[i].memory;
    const Memory& b = *found[i].memory;
    std::optional<int64_t> at = FirstDifference(a, b, 0);
    if (at && !later) {
      later.emplace();
      copy = CopyValues(before);
      if (!Machine(program, context, &*later).Run(copy)) later->all = true;
    }
    for (; at; at = FirstDifference(a, b, *at + 1))
      if (!later->all && !later->Has(copy[i].memory.get(), *at)) return ElementPlace{i, *at};
  }
  return std::nullopt;
}

}  // namespace frazil::exec
