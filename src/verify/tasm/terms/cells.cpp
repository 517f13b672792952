// Memory of the symbolic machine. A cell at an address that can be one of few numbers is a sum over zero tests of the address,
// so that arrays with computed indices need no cases.
#include <algorithm>

#include "verify/tasm/sides/state.h"

namespace frazil::verify::tasm {

namespace {

constexpr uint64_t MaxWindow = 128;

}  // namespace

bool Exec::Window(Term address, uint64_t& low, uint64_t& high) {
  const Interval range = facts_.RangeOf(address);
  low = range.low;
  high = range.high;
  return range.high - range.low < MaxWindow;
}

// The address is one of the numbers, so if it is none of the others it is the last.
Term Exec::PickCell(Term address, uint64_t low, std::span<const Term> cells) {
  Terms& t = terms();
  const Term last = cells.back();
  Term sum = last;
  for (size_t i = 0; i + 1 < cells.size(); ++i) {
    const Term here = t.IsZero(t.Sub(address, t.Constant(low + i)));
    sum = t.Add(sum, t.Mul(here, t.Sub(cells[i], last)));
  }
  Interval all{goldilocks::P - 1, 0};
  for (const Term cell : cells) {
    const Interval range = facts_.RangeOf(cell);
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
  }
  // Of this path: elsewhere the address may be another number.
  if (!t.IsConstant(sum)) facts_.Bound(sum, all);
  return sum;
}

void Exec::PutCell(Term address, uint64_t low, std::span<Term* const> cells, Term value) {
  Terms& t = terms();
  for (size_t i = 0; i < cells.size(); ++i) {
    const Term here = t.IsZero(t.Sub(address, t.Constant(low + i)));
    *cells[i] = t.Choice(here, value, *cells[i]);
  }
}

bool Exec::CellsOf(State& state, Term address, uint64_t& low, std::vector<Term*>& cells) {
  uint64_t high;
  if (!state.memory.numbered || !Window(address, low, high)) return false;
  cells.assign(high - low + 1, nullptr);
  for (auto& [written, value] : state.memory.writes) {
    const uint64_t number = terms().ConstantOf(written);
    if (number >= low && number <= high) cells[number - low] = &value;
  }
  return std::ranges::find(cells, nullptr) == cells.end();
}

bool Exec::Read(State& state, Term address, Term& value) {
  Terms& t = terms();
  address = facts_.Simplify(address);
  const bool number = t.IsConstant(address);
  uint64_t low;
  std::vector<Term*> cells;
  if (!number && CellsOf(state, address, low, cells)) {
    std::vector<Term> contents;
    for (const Term* cell : cells) contents.push_back(*cell);
    value = PickCell(address, low, contents);
    return true;
  }
  for (size_t i = state.memory.writes.size(); i-- > 0;) {
    const auto [written, what] = state.memory.writes[i];
    if (written == address) {
      value = what;
      return true;
    }
    if (number && t.IsConstant(written)) continue;
    bool same;
    if (!Know(Zero(t.Sub(written, address)), same)) return false;
    if (same) {
      value = what;
      return true;
    }
  }
  value = t.Apply(Base::Ram, {&address, 1}, 0, state.memory.token);
  return true;
}

void Exec::Write(State& state, Term address, Term value) {
  Memory& memory = state.memory;
  address = facts_.Simplify(address);
  if (terms().IsConstant(address)) {
    if (memory.numbered) {
      for (auto& [written, what] : memory.writes) {
        if (written == address) return void(what = value);
      }
    }
    memory.writes.emplace_back(address, value);
    return;
  }
  uint64_t low;
  std::vector<Term*> cells;
  if (CellsOf(state, address, low, cells)) return PutCell(address, low, cells, value);
  memory.writes.emplace_back(address, value);
  memory.numbered = false;
}

}  // namespace frazil::verify::tasm
