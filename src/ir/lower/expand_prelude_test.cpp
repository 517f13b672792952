#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "ir/check/check.h"
#include "ir/lower/lower.h"
#include "ir/lower/prelude.h"
#include "ir/lower/prelude_library.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

// Stands in for the prelude where a test is about the mechanism.
constexpr std::string_view Small = R"(frz 1

// see @exp.f32
data @table : f64 [1, 2]

func @helper(%x: f32) -> (f32) {
  %i = const 1 : index
  %t = lookup @table, %i : f64
  %u = cast %t : f32
  %y = mul %x, %u : f32
  return %y
}

func @exp.f32(%x: f32) -> (f32) {
  // call @nothing
  %y = call @helper(%x)
  return %y
}
frz 1
func @tanh.f32(%x: f32) -> (f32) {
  %e = exp %x : f32
  %h = call @helper(%e)
  return %h
}
)";

void ExpectGood(const Program& program) {
  Result<void> checked = Check(program);
  EXPECT_TRUE(checked) << checked.error().ToString() << "\n" << PrintText(program);
  for (const Function& function : program.functions)
    for (const Inst& inst : function.insts) EXPECT_NE(Info(inst.op).law, Law::Prelude);
}

Program Expanded(const PreludeLibrary& library, const Program& program) {
  Result<Program> expanded = ExpandPreludeWith(library, program);
  EXPECT_TRUE(expanded) << expanded.error().ToString();
  if (!expanded) return program;
  ExpectGood(*expanded);
  return *expanded;
}

TEST(ExpandPrelude, CopiesWhatIsNeededUnderThePrefix) {
  PreludeLibrary library(Small);
  Program program = Parsed(R"(frz 1
data @table : i32 [5]
func @exp.f32(%x: f32) -> (f32) {
  return %x
}
func @other(%x: f32) -> (f32) {
  %z = const 0 : index
  %t = lookup @table, %z : i32
  %y = call @exp.f32(%x)
  %w = exp %y : f32
  return %w
}
)");
  const Program expanded = Expanded(library, program);
  ASSERT_EQ(expanded.functions.size(), 4u);
  EXPECT_EQ(expanded.entry_function().name, "other");
  EXPECT_FALSE(expanded.entry_function().is_prelude);
  FuncId exp = expanded.FindFunction("prelude.exp.f32");
  ASSERT_TRUE(exp.valid());
  EXPECT_TRUE(expanded.functions[exp.index].is_prelude);
  EXPECT_TRUE(expanded.FindFunction("prelude.helper").valid());
  EXPECT_FALSE(expanded.FindFunction("prelude.tanh.f32").valid());
  ASSERT_EQ(expanded.data.size(), 2u);
  EXPECT_EQ(expanded.data[0].element, types::I32);
  EXPECT_EQ(expanded.data[1].name, "prelude.table");
}

TEST(ExpandPrelude, MathInsideThePreludeExpandsToo) {
  PreludeLibrary library(Small);
  Program program = Parsed(R"(frz 1
func @main(%x: f32) -> (f32) {
  %y = tanh %x : f32
  %z = exp %y : f32
  return %z
}
)");
  const Program expanded = Expanded(library, program);
  EXPECT_EQ(expanded.functions.size(), 4u);
  EXPECT_EQ(expanded.data.size(), 1u);
}

TEST(ExpandPrelude, HalvesGoThroughF32) {
  PreludeLibrary library(Small);
  Program program = Parsed(R"(frz 1
func @main(%x: f16, %y: bf16) -> (f16, bf16) {
  %a = exp %x : f16
  %b = exp %y : bf16
  return %a, %b
}
)");
  const Program expanded = Expanded(library, program);
  EXPECT_EQ(std::ranges::count(expanded.entry_function().insts, Op::Cast, &Inst::op), 4);
}

TEST(ExpandPrelude, ASecondTimeUsesWhatIsThere) {
  PreludeLibrary library(Small);
  Program program =
      Parsed("frz 1\nfunc @main(%x: f32) -> (f32) {\n%y = exp %x : f32\nreturn %y\n}\n");
  Program once = *ExpandPreludeWith(library, program);
  const auto with = [&](Op op) {
    Program more = once;
    for (Inst& inst : more.functions[more.entry.index].insts) {
      if (inst.op != Op::Call) continue;
      inst.op = op;
      inst.type = types::F32;
      inst.attributes = {};
    }
    return Expanded(library, more);
  };
  EXPECT_EQ(with(Op::Tanh).functions.size(), once.functions.size() + 1);
  EXPECT_EQ(with(Op::Tanh).data.size(), once.data.size());
  // Nothing new is needed, and still there is something to expand.
  EXPECT_EQ(with(Op::Exp).functions.size(), once.functions.size());
}

TEST(ExpandPrelude, AMissingFunctionIsOurFault) {
  PreludeLibrary library(Small);
  Program program =
      Parsed("frz 1\nfunc @main(%x: f32) -> (f32) {\n%y = sin %x : f32\nreturn %y\n}\n");
  Result<Program> expanded = ExpandPreludeWith(library, program);
  ASSERT_FALSE(expanded);
  EXPECT_EQ(expanded.error().diag, Diag::Internal);
  PreludeLibrary broken("frz 1\nfunc @sin.f32(%x: f32) -> (f32) {\nreturn %z\n}\n");
  expanded = ExpandPreludeWith(broken, program);
  ASSERT_FALSE(expanded);
  EXPECT_EQ(expanded.error().diag, Diag::Internal);
}

TEST(ExpandPrelude, LibraryMayBeSharedByThreads) {
  PreludeLibrary library(Small);
  std::vector<const Program*> seen(4);
  std::vector<std::thread> threads;
  for (const Program*& program : seen)
    threads.emplace_back([&] { program = *library.Load("tanh.f32"); });
  for (std::thread& thread : threads) thread.join();
  for (const Program* program : seen) EXPECT_EQ(program, seen[0]);
}

// Every math op on every type of its row: the function is there, is well formed, and fits.
TEST(Prelude, HasEveryFunction) {
  for (const OpInfo& info : AllOps()) {
    if (info.law != Law::Prelude) continue;
    for (int s = 0; s < ScalarCount; ++s) {
      Scalar scalar = static_cast<Scalar>(s);
      if (!Contains(info.types, scalar)) continue;
      Type type = Type::Of(scalar);
      Result<const Program*> program = LoadPrelude(info.op, type);
      ASSERT_TRUE(program) << program.error().ToString();
      const Function& function = (*program)->entry_function();
      EXPECT_EQ(function.name, PreludeFunctionName(info.op, type));
      Type computed = Contains(sets::Half, scalar) ? types::F32 : type;
      ASSERT_EQ(function.results, std::vector<Type>{computed}) << function.name;
      std::vector<Type> params;
      for (char letter : info.signature.substr(0, info.signature.find("->"))) {
        if (letter == 'T') params.push_back(computed);
        if (letter == 'S') params.push_back(info.op == Op::FieldPow ? types::U32 : types::U64);
        if (letter == 'F') params.push_back(types::Field);
      }
      ASSERT_EQ(function.param_count(), params.size()) << function.name;
      for (uint32_t i = 0; i < function.param_count(); ++i)
        EXPECT_EQ(function.param_type(i), params[i]) << function.name;
    }
  }
}

TEST(Prelude, DigestIsOfTheText) {
  EXPECT_EQ(PreludeDigest().size(), 64u);
  EXPECT_NE(PreludeText().find("func @exp.f32"), std::string_view::npos);
}

}  // namespace
}  // namespace frazil::ir
