// Structure of what LowerTensors gives; that it means the same is for exec/meaning/lowering_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "ir/lower/test_count.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

Program Lowered(std::string_view text) {
  Result<Program> program = ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  Result<Program> lowered = LowerTensors(*program);
  EXPECT_TRUE(lowered) << lowered.error().ToString();
  std::string printed = PrintText(*lowered);
  Result<void> checked = Check(*lowered);
  EXPECT_TRUE(checked) << checked.error().ToString() << "\n" << printed;
  for (const Function& function : lowered->functions) {
    for (const ValueInfo& value : function.values) EXPECT_FALSE(value.type.is_tensor()) << printed;
  }
  Result<Program> read = ParseText(printed);
  EXPECT_TRUE(read) << read.error().ToString() << "\n" << printed;
  return *lowered;
}

TEST(LowerTensors, SignatureKeepsParametersAndAppendsOutBuffers) {
  Program lowered = Lowered(R"(frz 1
func @main(%t: tensor<f32, [%n, 3]>, %n: index, %s: i32) -> (tensor<f32, [3, %n]>, i32, tensor<f32, [%n, 3]>) {
  %u = transpose %t {perm = [1, 0]} : tensor<f32, [3, %n]>
  return %u, %s, %t
}
)");
  const Function& main = lowered.entry_function();
  ASSERT_EQ(main.param_count(), 5u);
  EXPECT_EQ(main.param_type(0), Type::Buffer(types::F32, Access::In));
  EXPECT_EQ(main.param_type(1), types::Index);
  EXPECT_EQ(main.param_type(2), types::I32);
  EXPECT_EQ(main.param_type(3), Type::Buffer(types::F32, Access::Out));
  EXPECT_EQ(main.param_type(4), Type::Buffer(types::F32, Access::Out));
  ASSERT_EQ(main.results.size(), 1u);
  EXPECT_EQ(main.results[0], types::I32);
  EXPECT_EQ(Count(lowered, Op::Alloc),
            0);  // the transposition is only returned, and written in place
}

TEST(LowerTensors, ProgramsWithoutTensorsStayAsTheyAre) {
  std::string_view text = R"(frz 1

func @main(%a: i32) -> (i32) {
  %b = add %a, %a : i32
  return %b
}
)";
  Result<Program> program = ParseText(text);
  ASSERT_TRUE(program);
  EXPECT_EQ(PrintText(*LowerTensors(*program)), text);
}

// A parallel would put its iteration into the outcome of a trap.
TEST(LowerTensors, MapThatCanTrapIsAFor) {
  auto map = [](std::string_view body) {
    return Lowered(std::string("frz 1\nfunc @main(%t: tensor<i32, [7]>) -> (tensor<i32, [7]>) {\n"
                               "%u = map (%a = %t) -> tensor<i32, [7]> {\n") +
                   std::string(body) + "yield %b\n}\nreturn %u\n}\n");
  };
  Program safe = map("%b = add %a, %a : i32\n");
  EXPECT_EQ(Count(safe, Op::Parallel), 1);
  EXPECT_EQ(Count(safe, Op::For), 0);
  Program trapping = map("%b = div.trunc %a, %a : i32\n");
  EXPECT_EQ(Count(trapping, Op::Parallel), 0);
  EXPECT_EQ(Count(trapping, Op::For), 1);
  Program nested =
      map("%c = eq %a, %a : i32\n%b = if %c -> (i32) {\n%d = neg.checked %a : i32\nyield %d\n} "
          "else {\nyield %a\n}\n");
  EXPECT_EQ(Count(nested, Op::Parallel), 0);
}

TEST(LowerTensors, StaticReduceNeedsNoScratch) {
  Program columns = Lowered(R"(frz 1
func @main(%t: tensor<f32, [100, 7]>) -> (tensor<f32, [7]>) {
  %u = reduce %t {kind = sum, axis = 0, chains = 1, block = 4096} : tensor<f32, [7]>
  return %u
}
)");
  EXPECT_EQ(Count(columns, Op::Alloc), 0);
  EXPECT_EQ(Count(columns, Op::While), 0);
  EXPECT_EQ(Count(columns, Op::Parallel), 1);
  Program blocks = Lowered(R"(frz 1
func @main(%t: tensor<f32, [10000]>) -> (tensor<f32, []>) {
  %u = reduce %t {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  return %u
}
)");
  EXPECT_EQ(Count(blocks, Op::Alloc), 2);
  EXPECT_EQ(Count(blocks, Op::While), 1);
}

TEST(LowerTensors, ReshapeOfKnownSizesIsFree) {
  Program fixed = Lowered(R"(frz 1
func @main(%n: index, %t: tensor<f32, [%n, 6]>) -> (f32) {
  %u = reshape %t : tensor<f32, [6, 1, %n]>
  %z = const 0 : index
  %r = extract %u, %z, %z, %z : f32
  return %r
}
)");
  EXPECT_EQ(Count(fixed, Op::Alloc), 0);
  EXPECT_EQ(Count(fixed, Op::Assert), 0);
  Program open = Lowered(R"(frz 1
func @main(%n: index, %m: index, %t: tensor<f32, [%n, 6]>) -> (f32) {
  %u = reshape %t : tensor<f32, [%m]>
  %z = const 0 : index
  %r = extract %u, %z : f32
  return %r
}
)");
  EXPECT_EQ(Count(open, Op::Assert), 1);
}

TEST(LowerTensors, CallsPassBuffers) {
  Program lowered = Lowered(R"(frz 1
func @twice(%n: index, %t: tensor<i32, [%n]>) -> (tensor<i32, [%n]>, i32) {
  %u = map (%a = %t) -> tensor<i32, [%n]> {
    %b = add %a, %a : i32
    yield %b
  }
  %c = const 7 : i32
  return %u, %c
}
func @main(%t: tensor<i32, [5]>) -> (tensor<i32, [5]>, i32) {
  %five = const 5 : index
  %u, %c = call @twice(%five, %t)
  %v, %d = call @twice(%five, %u)
  return %v, %d
}
)");
  const Function& main = lowered.functions[1];
  int calls = 0;
  for (const Inst& inst : main.insts) {
    if (inst.op != Op::Call) continue;
    ++calls;
    EXPECT_EQ(inst.operands.count, 3u);
    EXPECT_EQ(inst.results.count, 1u);
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Count(lowered, Op::Alloc), 1);
}

TEST(LowerTensors, TensorsThroughStructure) {
  Lowered(R"(frz 1
func @main(%c: bool, %n: index, %k: i32, %t: tensor<f32, [%n]>, %s: tensor<f32, [%n]>)
    -> (tensor<f32, [%n]>, tensor<f32, [%n]>, tensor<f32, [%n]>, i32) {
  %lo = const 0 : i32
  %one = const 1 : i32
  %a, %b, %count = for %i = %lo to %k step 1 carry (%p = %t, %q = %s, %e = %lo) {
    %f = add %e, %one : i32
    yield %q, %p, %f
  }
  %w, %x = while (%g = %a, %h = %lo) {
    %more = lt %h, %k : i32
    condition %more
  } do {
    %u = map (%v = %g) -> tensor<f32, [%n]> {
      %y = add %v, %v : f32
      yield %y
    }
    %h2 = add %h, %one : i32
    yield %u, %h2
  }
  %r, %z = if %c -> (tensor<f32, [%n]>, i32) {
    yield %w, %count
  } else {
    yield %b, %x
  }
  %sw = switch %k -> (tensor<f32, [%n]>) {
  case 0 {
    yield %r
  }
  default {
    yield %t
  }
  }
  return %r, %sw, %t, %z
}
)");
}

// What is made of the elements of a product, in one nest with its chains; `after` may read it once more.
Program OfProduct(std::string_view region, std::string_view after = "return %o") {
  return Lowered(fmt::format(R"(frz 1
func @main(%m: index, %k: index, %a: tensor<f32, [%m, %k]>, %b: tensor<f32, [%k, %m]>, %v: tensor<f32, [%m]>, %d: tensor<f32, [%m, %m]>)
    -> (tensor<f32, [%m, %m]>) {{
  %c = matmul %a, %b : tensor<f32, [%m, %m]>
  %e = matmul %b, %a : tensor<f32, [%k, %k]>
  %o = generate (%i, %j) -> (tensor<f32, [%m, %m]>) {{
    {}
    yield %r
  }}
  {}
}}
)",
                             region, after));
}

TEST(LowerTensors, AProductStandsWhereItIsRead) {
  // The other product is scratch.
  const Program bias = OfProduct(
      "%s = extract %c, %i, %j : f32\n%x = extract %v, %j : f32\n%y = extract %d, %i, %j : f32\n"
      "%t = add %s, %x : f32\n%r = add %t, %y : f32");
  EXPECT_EQ(Count(bias, Op::Alloc), 1);
  EXPECT_EQ(Count(bias, Op::Parallel), 4);
  EXPECT_EQ(Count(bias, Op::For), 2);
  EXPECT_EQ(Count(bias, Op::Store), 2);
  const Program twice = OfProduct(
      "%s = extract %c, %i, %j : f32\n%t = extract %c, %i, %j : f32\n%r = add %s, %t : f32");
  EXPECT_EQ(Count(twice, Op::Alloc), 1);
  EXPECT_EQ(Count(twice, Op::For), 2);
}

TEST(LowerTensors, AProductThatIsReadElsewhereIsStored) {
  const auto stored = [](std::string_view region, std::string_view after = "return %o") {
    return Count(OfProduct(region, after), Op::Alloc) >= 2;
  };
  EXPECT_TRUE(stored("%s = extract %c, %j, %i : f32\n%r = neg %s : f32"));
  EXPECT_TRUE(stored(
      "%s = extract %c, %i, %j : f32\n%x = extract %d, %j, %i : f32\n%r = add %s, %x : f32"));
  EXPECT_TRUE(stored("%s = extract %c, %i, %j : f32\n%r = neg %s : f32", "return %c"));
  EXPECT_TRUE(stored(
      "%s = extract %c, %i, %j : f32\n%x = extract %c, %i, %i : f32\n%r = add %s, %x : f32"));
  // A trap comes where it came; a loop beside the chain is none of a product.
  EXPECT_TRUE(
      stored("%s = extract %c, %i, %j : f32\n%q = div.trunc %i, %j : index\n%x = cast %q : f32\n"
             "%r = add %s, %x : f32"));
  EXPECT_TRUE(
      stored("%s = extract %c, %i, %j : f32\n%x = fold sum %l to %m chains 64 block 4096 -> f32 {\n"
             "%y = extract %v, %l : f32\nyield %y\n}\n%r = add %s, %x : f32"));
}

TEST(LowerTensors, OneProductToAGenerate) {
  const Program lowered = Lowered(R"(frz 1
func @main(%m: index, %a: tensor<f32, [%m, %m]>, %b: tensor<f32, [%m, %m]>) -> (tensor<f32, [%m, %m]>) {
  %c = matmul %a, %b : tensor<f32, [%m, %m]>
  %d = matmul %b, %a : tensor<f32, [%m, %m]>
  %o = map (%x = %c, %y = %d) -> tensor<f32, [%m, %m]> {
    %r = mul %x, %y : f32
    yield %r
  }
  return %o
}
)");
  EXPECT_EQ(Count(lowered, Op::Alloc), 1);
  EXPECT_EQ(Count(lowered, Op::For), 2);
}

}  // namespace
}  // namespace frazil::ir
