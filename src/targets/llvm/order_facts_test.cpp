// What follows from orders must hold: of random sums of bytes, for all values of them.
#include "targets/llvm/order_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/builder.h"
#include "ir/text/text.h"
#include "targets/llvm/facts.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

// Whether each load of the entry function is inside, as the code around it says.
std::vector<bool> Inside(const std::string& body) {
  const std::string text =
      "frz 1\nfunc @main(%n: index, %m: index, %x: in buffer<f32>) {\n"
      "  %zero = const 0 : index\n  %one = const 1 : index\n  %eight = const 8 : index\n"
      "  %block = const 64 : index\n" +
      body + "  return\n}\n";
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString() << text;
  if (!program) return {};
  const ProgramFacts facts = FindFacts(*program, false);
  const ir::Function& main = program->entry_function();
  std::vector<bool> answers;
  for (uint32_t i = 0; i < main.insts.size(); ++i)
    if (main.insts[i].op == Op::Load)
      answers.push_back(
          IsInsideAt(main, facts.functions[program->entry.index], ir::InstId(i), ir::InstId()));
  return answers;
}

constexpr bool In = true, Out = false;

// Lanes below `count` that load %t behind %at, and the element after.
std::string LoadBehind(std::string_view count) {
  return fmt::format(R"(parallel %c = %zero to {} {{
    %i = add %at, %c : index
    %v = load %t, %i : f32
    %j = add %i, %one : index
    %w = load %t, %j : f32
    yield
  }}
)",
                     count);
}

TEST(OrderFacts, BlocksAndTheRestOfThem) {
  // A reduction: whole blocks in steps, then what is left, also in steps.
  EXPECT_EQ(Inside(R"(  %t = alloc %n : f32
  %blocks = div.floor %n, %block : index
  for %b = %zero to %blocks step 1 {
    %start = mul %b, %block : index
    for %s = %eight to %block step 8 {
      %at = add %start, %s : index
)" + LoadBehind("%eight") +
                   R"(
      yield
    }
    yield
  }
  %done = mul %blocks, %block : index
  %left = sub %n, %done : index
  for %s = %eight to %left step 8 {
    %more = sub %left, %s : index
    %width = min %more, %eight : index
    %at = add %done, %s : index
)" + LoadBehind("%width") +
                   R"(
    yield
  }
)"),
            (std::vector{In, Out, In, Out}));
}

TEST(OrderFacts, OfAParameterNothingIsKnown) {
  // %m may be negative, and %n - %m may wrap.
  const std::string lanes = R"(  parallel %c = %zero to %rest {
    %i = add %m, %c : index
    %v = load %t, %i : f32
    yield
  }
)";
  EXPECT_EQ(Inside("  %t = alloc %n : f32\n  %rest = sub %n, %m : index\n" + lanes + R"(
  %u = alloc %m : f32
)" + lanes),
            (std::vector{Out, In}));
}

// A loop that loads element %k of the row, then does `more`.
std::string LoadRow(std::string_view range, std::string_view more = "") {
  return fmt::format(R"(  for %k = {} step 1 {{
    %at = add %row, %k : index
    %v = load %x, %at : f32
{}
    yield
  }}
)",
                     range, more);
}

TEST(OrderFacts, WhatALoopHasTouchedIsThere) {
  EXPECT_EQ(Inside("  parallel %i = %zero to %n {\n    %row = mul %i, %m : index\n" +
                   LoadRow("%zero to %m") + LoadRow("%zero to %m", R"(
    %next = add %at, %one : index
    %w = load %x, %next : f32
    for %q = %zero to %m step 1 {
      %inner = add %row, %q : index
      %u = load %x, %inner : f32
      yield
    }
)") + LoadRow("%zero to %n") +
                   LoadRow("%one to %m") + "    yield\n  }\n"),
            (std::vector{Out, In, Out, In, Out, Out}));
}

TEST(OrderFacts, ALoopInAnArmMayNotHaveRun) {
  const auto each = [](std::string_view body) {
    return fmt::format("  for %k = %zero to %n step 1 {{\n{}    yield\n  }}\n", body);
  };
  const auto under = [](std::string_view name, std::string_view condition, std::string_view body) {
    return fmt::format("  {0} = {1} : index\n  if {0} {{\n{2}    yield\n  }}\n", name, condition,
                       body);
  };
  const std::string near = "    %v = load %x, %k : f32\n";
  const std::string far = "    %j = add %k, %m : index\n    %v = load %x, %j : f32\n";
  EXPECT_EQ(Inside(under("%more", "gt %m, %n", each(near)) + each(near) +
                   each(under("%low", "lt %k, %eight", far)) + each(far)),
            (std::vector{Out, Out, Out, Out}));
}

TEST(OrderFacts, DivisorsThatAreNotZero) {
  const Result<ir::Program> program = ir::ParseText(R"(frz 1
func @main(%a: i32, %b: i32, %c: i32) -> (i32, i32, i32, i32, i32) {
  %zero = const 0 : i32
  %one = const 1 : i32
  %odd = or %a, %one : i32
  %q0 = div.trunc %b, %odd : i32
  %some = ne %b, %zero : i32
  %q1, %q2 = if %some -> (i32, i32) {
    %x = rem.floor %a, %b : i32
    %y = rem.floor %a, %c : i32
    yield %x, %y
  } else {
    %x = div.floor %a, %b : i32
    %y = div.floor %a, %x : i32
    yield %x, %y
  }
  %q3 = div.trunc %a, %c : i32
  %q4 = rem.trunc %a, %c : i32
  return %q0, %q1, %q2, %q3, %q4
}
)");
  ASSERT_TRUE(program.has_value()) << program.error().ToString();
  const ProgramFacts facts = FindFacts(*program, false);
  const ir::Function& main = program->entry_function();
  std::vector<bool> may_be;
  for (const Inst& inst : main.insts)
    if (inst.operands.count == 2 && ir::Info(inst.op).traps != 0 && inst.results.count == 1)
      may_be.push_back(DivisorMayBeZero(main, facts.functions[program->entry.index], inst));
  // What an arm has divided by says nothing behind it; what stood before in the same place does.
  EXPECT_EQ(may_be, (std::vector{false, false, true, true, true, true, false}));
}

// --- random sums ---

class Sums {
 public:
  Sums(uint32_t seed, ir::Type type) : random_(seed), type_(type) {
    ir::FunctionBuilder builder(program_, "main", {type, type}, {});
    std::vector<ValueId> values = {builder.Param(0), builder.Param(1)};
    auto any = [&] { return values[random_() % values.size()]; };
    for (int i = 0; i < 9; ++i) {
      const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Add, Op::Sub, Op::Min};
      const uint32_t kind = random_() % 12;
      if (kind < 8) {
        values.push_back(builder.Binary(ops[kind], any(), any()));
      } else {
        const Op op = kind == 8 ? Op::Mul : kind == 9 ? Op::Shr : Op::DivFloor;
        const ValueId number = builder.ConstInt(type, random_() % 6 + 1);
        values.push_back(builder.Binary(op, any(), number));
      }
    }
    builder.Return({});
    (void)builder.Finish();
    for (int i = 0; i < 5; ++i) orders_.push_back({any(), any(), random_() % 2 == 0});
  }

  const ir::Function& function() const { return program_.functions[0]; }

  // Where the orders hold, every claim must; gives how many claims the ranges do not make.
  uint64_t Check() {
    const ProgramFacts facts = FindFacts(program_, false);
    ValueRanges& ranges = *facts.functions[0].ranges;
    OrderFacts known(function(), ranges);
    for (const Order& order : orders_) known.Add(order.low, order.high, order.strict);
    std::vector<Order> claims;
    uint64_t telling = 0;
    for (uint32_t a = 0; a < function().values.size(); ++a)
      for (uint32_t b = 0; b < function().values.size(); ++b)
        if (a != b && known.IsLess(ValueId(a), ValueId(b), true)) {
          claims.push_back({ValueId(a), ValueId(b), true});
          telling += ranges.Int(ValueId(a)).high >= ranges.Int(ValueId(b)).low;
        }
    for (int x = 0; x < 256; ++x)
      for (int y = 0; y < 256; ++y) {
        const std::vector<int> values = Evaluate(x, y);
        auto holds = [&](const Order& order) {
          const int low = values[order.low.index], high = values[order.high.index];
          return order.strict ? low < high : low <= high;
        };
        if (!std::ranges::all_of(orders_, holds)) continue;
        for (const Order& claim : claims)
          if (!holds(claim)) {
            ADD_FAILURE() << "v" << claim.low.index << " < v" << claim.high.index << " at " << x
                          << ", " << y << " of\n"
                          << ir::PrintText(program_);
            return 0;
          }
      }
    return telling;
  }

 private:
  struct Order {
    ValueId low, high;
    bool strict;
  };

  int Wrapped(int number) const {
    return ir::IsSigned(type_.scalar) ? static_cast<int8_t>(number) : static_cast<uint8_t>(number);
  }

  std::vector<int> Evaluate(int x, int y) const {
    std::vector<int> values(function().values.size());
    values[0] = Wrapped(x);
    values[1] = Wrapped(y);
    for (ir::InstId id : function().region(function().body).insts) {
      const Inst& inst = function().inst(id);
      if (inst.results.count == 0) continue;
      auto operand = [&](uint32_t i) { return values[function().operand(inst, i).index]; };
      int value = 0;
      switch (inst.op) {
        case Op::Const: value = static_cast<int>(function().word(inst, 0)); break;
        case Op::Add: value = operand(0) + operand(1); break;
        case Op::Sub: value = operand(0) - operand(1); break;
        case Op::Mul: value = operand(0) * operand(1); break;
        case Op::Min: value = std::min(operand(0), operand(1)); break;
        case Op::Max: value = std::max(operand(0), operand(1)); break;
        case Op::Shr: value = operand(0) >> operand(1); break;
        case Op::DivFloor:
          value = operand(0) / operand(1) - (operand(0) % operand(1) < 0 ? 1 : 0);
          break;
        default: ADD_FAILURE();
      }
      values[ir::Function::result_of(inst).index] = Wrapped(value);
    }
    return values;
  }

  std::mt19937 random_;
  ir::Type type_;
  ir::Program program_;
  std::vector<Order> orders_;
};

TEST(OrderFacts, WhatFollowsHoldsForAllBytes) {
  uint64_t telling = 0;
  for (uint32_t seed = 0; seed < 120; ++seed)
    telling += Sums(seed, seed % 2 == 0 ? ir::types::I8 : ir::types::U8).Check();
  EXPECT_GT(telling, 100u);
}

}  // namespace
}  // namespace frazil::targets
