// The state of the walk for static bounds: what is known of stack and memory, and the rows so far. Private to bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "machines/tasm/program.h"

namespace frazil::machines::tasm::bounds {

using Value = std::optional<uint64_t>;

// A range of rows; `most` at its maximum means unbounded.
struct Range {
  uint64_t least = 0, most = 0;
  void Add(uint64_t rows) { Add(rows, rows); }
  void Add(uint64_t low, uint64_t high) {
    least += low;
    if (__builtin_add_overflow(most, high, &most)) most = UINT64_MAX;
  }
  void Join(const Range& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

struct Rows {
  Range cycles, op_stack, ram, hash, permutations, u32;

  static constexpr std::array<Range Rows::*, 6> All = {
      &Rows::cycles, &Rows::op_stack, &Rows::ram, &Rows::hash, &Rows::permutations, &Rows::u32};
  void Join(const Rows& other) {
    for (const auto member : All) (this->*member).Join(other.*member);
  }
};

struct State {
  // Every branch copies its state, so what is known of stack and memory is kept small.
  static constexpr ptrdiff_t MostKnown = 256;

  // The known part of the stack, top last; below it everything is unknown. `depth` counts from where the walk began.
  std::vector<Value> stack;
  int64_t depth = 0;
  std::map<uint64_t, uint64_t> ram;  // known contents
  Rows rows;

  Value Peek(size_t place) const {
    return place < stack.size() ? stack[stack.size() - 1 - place] : Value();
  }
  void Poke(size_t place, Value value) {
    Reach(place);
    stack[stack.size() - 1 - place] = value;
  }
  Value Pop() {
    --depth;
    if (stack.empty()) return {};
    const Value value = stack.back();
    stack.pop_back();
    return value;
  }
  void Push(Value value) {
    ++depth;
    if (std::ssize(stack) == MostKnown) stack.erase(stack.begin(), stack.begin() + MostKnown / 2);
    stack.push_back(value);
  }
  void Write(uint64_t address, Value value) {
    if (value && (std::ssize(ram) < MostKnown || ram.contains(address)))
      ram[address] = *value;
    else
      ram.erase(address);
  }
  void Reach(size_t place) {
    if (stack.size() <= place) stack.insert(stack.begin(), place + 1 - stack.size(), Value());
  }
  void Forget() {
    stack.clear();
    ram.clear();
  }
  // Keeps what both know.
  void Join(const State& other) {
    const size_t size = depth == other.depth ? std::min(stack.size(), other.stack.size()) : 0;
    stack.erase(stack.begin(), stack.end() - static_cast<ptrdiff_t>(size));
    for (size_t i = 0; i < size; ++i)
      if (stack[i] != other.stack[other.stack.size() - size + i]) stack[i].reset();
    std::erase_if(ram, [&](const auto& cell) {
      const auto found = other.ram.find(cell.first);
      return found == other.ram.end() || found->second != cell.second;
    });
    rows.Join(other.rows);
  }
};

// What an instruction that is no transfer of control does to what is known; rows that depend on values included.
// `certain`: every run comes here, so a u32 entry with known operands is in the table for sure.
class Effects {
 public:
  void Apply(const Instruction& instruction, State& state, bool certain);

 private:
  void AddU32(State& state, int op, Value left, Value right, bool certain);
  std::set<std::array<uint64_t, 3>> entries_;
};

}  // namespace frazil::machines::tasm::bounds
