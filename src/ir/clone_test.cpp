#include "ir/clone.h"

#include <gtest/gtest.h>

#include "ir/text/text.h"

namespace frazil::ir {
namespace {

constexpr std::string_view Everything = R"(frz 1

data @table : f64 [1, 2]

func @later(%n: index, %t: tensor<f32, [%n, 2]>) -> (tensor<f32, [%n, 2]>) {
  return %t
}

func @main(%n: index, %t: tensor<f32, [%n, 2]>, %b: buffer<f64>, %k: i32) -> (tensor<f32, [%n, 2]>, i32) {
  %u = call @later(%n, %t)
  %v = map (%a = %u, %c = %t) -> tensor<f32, [%n, 2]> {
    %d = add %a, %c : f32
    yield %d
  }
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %x = lookup @table, %i : f64
    store %b, %i, %x : f64
    barrier
    yield
  }
  %r = while (%p = %k) {
    %q = const 10 : i32
    %more = lt %p, %q : i32
    condition %more
  } do {
    %s = add %p, %q : i32
    yield %s
  }
  %w = switch %r -> (i32) {
  case 3 {
    yield %k
  }
  default {
    yield %r
  }
  }
  return %v, %w
}
)";

template <typename SomeCloner>
Result<Program> CopyBy(const Program& program) {
  return CopyProgram(program, [](const Function& function, FunctionBuilder& builder) {
    SomeCloner cloner(function, builder);
    cloner.DeclareParams();
    return cloner.CopyBody();
  });
}

TEST(Clone, ACopyPrintsTheSame) {
  Result<Program> program = ParseText(Everything);
  ASSERT_TRUE(program) << program.error().ToString();
  Result<Program> copy = CopyBy<Cloner>(*program);
  ASSERT_TRUE(copy) << copy.error().ToString();
  EXPECT_EQ(PrintText(*copy), Everything);
  const Function& before = program->entry_function();
  const Function& after = copy->entry_function();
  ASSERT_EQ(before.insts.size(), after.insts.size());
  for (size_t i = 0; i < before.insts.size(); ++i)
    EXPECT_EQ(before.insts[i].location.line, after.insts[i].location.line);
}

// A visitor may stand in for instructions, and those that follow see what it bound.
class Doubling : public Cloner {
 public:
  using Cloner::Cloner;

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::Add) return CopyInst(inst);
    ValueId operand = Get(source_.operand(inst, 0));
    BindNamed(Function::result_of(inst), builder_.Binary(Op::Mul, operand, operand));
    return {};
  }
};

TEST(Clone, AVisitorReplacesInstructions) {
  Result<Program> program = ParseText(
      "frz 1\nfunc @main(%a: i32, %c: bool) -> (i32) {\n%r = if %c -> (i32) {\n%s = add %a, %a : "
      "i32\n"
      "%t = neg %s : i32\nyield %t\n} else {\nyield %a\n}\nreturn %r\n}\n");
  ASSERT_TRUE(program) << program.error().ToString();
  Result<Program> copy = CopyBy<Doubling>(*program);
  ASSERT_TRUE(copy);
  std::string text = PrintText(*copy);
  EXPECT_NE(text.find("%s = mul %a, %a : i32"), std::string::npos) << text;
  EXPECT_NE(text.find("%t = neg %s : i32"), std::string::npos) << text;
}

}  // namespace
}  // namespace frazil::ir
