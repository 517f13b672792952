// Which elements may hold anything after a trap: those that later iterations of the parallels around it store.
#include "exec/meaning/after_trap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::exec {
namespace {

// For each buffer and element `.` if it must be what the interpreter left, `?` if it may be anything; buffers apart by
// blanks. The trap comes first.
std::string Free(const std::string& text, const std::vector<std::vector<int64_t>>& buffers,
                 const RunContext& context = {}) {
  const auto program = ir::ParseText("frz 1\n" + text);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().ToString());
  const InterpreterProgram prepared = *InterpreterProgram::Create(*program);
  std::vector<Value> before;
  for (const auto& elements : buffers) {
    auto memory = std::make_shared<Memory>(ir::types::I64, static_cast<int64_t>(elements.size()));
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto word = static_cast<uint64_t>(elements[i]);
      memory->Set(static_cast<int64_t>(i), std::span(&word, 1));
    }
    before.push_back(Value::Buffer(memory));
  }
  const std::vector<Value> after = CopyValues(before);
  const Outcome outcome = *prepared.Run(after, context);
  EXPECT_TRUE(outcome.trap.has_value());
  EXPECT_FALSE(WrongAfterTrap(prepared, before, after, CopyValues(after), context));
  std::string result = outcome.trap ? outcome.trap->ToString() : "no trap";
  for (size_t i = 0; i < before.size(); ++i) {
    result += " ";
    for (int64_t k = 0; k < before[i].memory->length(); ++k) {
      const std::vector<Value> found = CopyValues(after);
      const uint64_t other = 12345;
      found[i].memory->Set(k, std::span(&other, 1));
      const auto wrong = WrongAfterTrap(prepared, before, after, found, context);
      if (wrong) {
        EXPECT_EQ(wrong->argument, i);
        EXPECT_EQ(wrong->element, k);
      }
      result += wrong ? '.' : '?';
    }
  }
  return result;
}

// An iteration for each element of %x; %lo is 0 : index, %one is 1 : i64.
std::string Each(std::string_view params, std::string_view body) {
  return fmt::format(
      "func @main({}) {{\n  %lo = const 0 : index\n  %hi = length %x : i64\n  %one = const 1 : "
      "i64\n  parallel %i = %lo to %hi {{{}    yield\n  }}\n  return\n}}\n",
      params, body);
}

TEST(AfterTrap, OutsideOfAParallelAllIsExact) {
  EXPECT_EQ(Free(R"(
func @main(%x: buffer<i64>) {
  %lo = const 0 : index
  %hi = const 4 : index
  %one = const 1 : i64
  for %i = %lo to %hi step 1 {
    %v = load %x, %i : i64
    %q = div.trunc %one, %v : i64
    store %x, %i, %q : i64
    yield
  }
  return
})",
                 {{1, 2, 0, 3}}),
            "division by zero in div.trunc ....");
}

// What is stored before the trap and by lower iterations is there, what the trapping one would have stored later is not;
// a later iteration that traps too stores only what precedes its trap.
TEST(AfterTrap, LaterIterationsMayHaveStored) {
  EXPECT_EQ(Free(Each("%x: in buffer<i64>, %y: buffer<i64>, %z: buffer<i64>", R"(
    %v = load %x, %i : i64
    store %y, %i, %one : i64
    %q = div.trunc %one, %v : i64
    store %z, %i, %q : i64
)"),
                 {{1, 2, 0, 3, 0}, {7, 7, 7, 7, 7}, {7, 7, 7, 7, 7}}),
            "division by zero in div.trunc (parallel iteration 2) ..... ...?? ...?.");
}

// Later iterations of each parallel around the trap, but not what follows the inner one in the same outer iteration, nor
// what follows the outer one. The trap is inside of a call.
TEST(AfterTrap, NestedParallels) {
  EXPECT_EQ(Free(R"(
func @check(%x: in buffer<i64>, %at: index) -> (i64) {
  %one = const 1 : i64
  %v = load %x, %at : i64
  %zero = const 0 : i64
  %lo = const 0 : index
  %hi = const 1 : index
  %q = for %k = %lo to %hi step 1 carry (%a = %zero) {
    %d = div.trunc %one, %v : i64
    yield %d
  }
  return %q
}
func @main(%x: in buffer<i64>, %y: buffer<i64>, %z: buffer<i64>) {
  %lo = const 0 : index
  %three = const 3 : index
  %one = const 1 : i64
  parallel %i = %lo to %three {
    parallel %j = %lo to %three {
      %row = mul %i, %three : index
      %at = add %row, %j : index
      %q = call @check(%x, %at)
      store %y, %at, %q : i64
      yield
    }
    store %z, %i, %one : i64
    yield
  }
  store %z, %three, %one : i64
  return
})",
                 {{1, 1, 1, 1, 0, 1, 1, 0, 1}, {7, 7, 7, 7, 7, 7, 7, 7, 7}, {7, 7, 7, 7}}),
            "division by zero in div.trunc (parallel iteration 1) ......... .....??.? ....");
}

// A phase after the one of the trap does not begin.
TEST(AfterTrap, Barriers) {
  EXPECT_EQ(Free(R"(
func @main(%x: in buffer<i64>, %y: buffer<i64>, %z: buffer<i64>) {
  %lo = const 0 : index
  %hi = const 3 : index
  %one = const 1 : i64
  parallel %i = %lo to %hi {
    store %y, %i, %one : i64
    barrier
    %v = load %x, %i : i64
    %q = div.trunc %one, %v : i64
    store %z, %i, %q : i64
    barrier
    %two = add %q, %q : i64
    store %y, %i, %two : i64
    yield
  }
  return
})",
                 {{1, 0, 1}, {7, 7, 7}, {7, 7, 7}}),
            "division by zero in div.trunc (parallel iteration 1) ... ... ..?");
}

TEST(AfterTrap, AtomicsCollectAnywhere) {
  EXPECT_EQ(Free(Each("%x: in buffer<i64>, %y: buffer<i64>", R"(
    %v = load %x, %i : i64
    %at = cast %v : index
    %old = atomic %y, %at, %one {kind = add} : i64
)"),
                 {{0, 1, 9, 1, 2}, {7, 7, 7, 7}}),
            "out of bounds in atomic (parallel iteration 2) ..... .??.");
}

// A later iteration that does not end may store anywhere.
TEST(AfterTrap, LimitsLeaveAllOpen) {
  RunContext context;
  context.limits.fuel = 100;
  EXPECT_EQ(Free(Each("%x: in buffer<i64>, %y: buffer<i64>", R"(
    %v = load %x, %i : i64
    %n = cast %v : index
    for %k = %lo to %n step 1 {
      yield
    }
    %q = div.trunc %one, %v : i64
    store %y, %i, %q : i64
)"),
                 {{1, 0, 1000}, {7, 7, 7}}, context),
            "division by zero in div.trunc (parallel iteration 1) ??? ???");
}

}  // namespace
}  // namespace frazil::exec
