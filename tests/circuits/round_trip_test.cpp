// Programs to circuits and back: kernels of the kinds that circuits are, and what is refused, by name.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/digest.h"
#include "ir/text/text.h"
#include "random_circuit.h"

namespace frazil {
namespace {

namespace circuits = frontends::circuits;
using namespace test_circuits;

std::string Kernel(std::string_view parameters, std::string_view body) {
  return fmt::format(
      "frz 1\nfunc @k({}, %n: u32) {{\n  %z = const 0 : index\n  %e = cast %n : index\n"
      "  parallel %i = %z to %e {{\n{}    yield\n  }}\n  return\n}}\n",
      parameters, body);
}

// The circuit of a kernel, or why there is none.
std::string CircuitOf(const std::string& text) {
  const Result<ir::Program> program = ir::ParseText(text);
  if (!program) return program.error().ToString();
  const Result<circuits::CircuitText> circuit = circuits::FromProgram(*program);
  if (!circuit) {
    EXPECT_EQ(circuit.error().diag, Diag::NotACircuit);
    return circuit.error().message;
  }
  return circuit->text;
}

constexpr std::string_view ABC = "%a: in buffer<f32>, %b: in buffer<f32>, %c: buffer<f32>";
constexpr std::string_view AC = "%a: in buffer<f32>, %c: buffer<f32>";
constexpr std::string_view LoadA = "    %x = load %a, %i : f32\n";
constexpr std::string_view LoadB = "    %y = load %b, %i : f32\n";

std::string Map2(std::string_view op) {
  return Kernel(ABC, fmt::format("{}{}    %r = {} %x, %y : f32\n    store %c, %i, %r : f32\n",
                                 LoadA, LoadB, op));
}
std::string Map1(std::string_view line) {
  return Kernel(AC, fmt::format("{}{}    store %c, %i, %r : f32\n", LoadA, line));
}

TEST(RoundTrip, KernelsToCircuits) {
  EXPECT_EQ(CircuitOf(Map2("add")), "merge.add@c00[c01,c02]");
  EXPECT_EQ(CircuitOf(Map2("mul")), "merge.mul@c00[c01,c02]");
  EXPECT_EQ(CircuitOf(Map2("sub")), "split.sub@c00[c01,c02]");
  EXPECT_EQ(CircuitOf(Map2("div")), "split.div@c00[c01,c02]");
  EXPECT_EQ(CircuitOf(Map2("max")), "merge.max@c00[c01,c02]");
  for (const char* name : {"abs", "exp", "log", "sqrt", "sigmoid", "tanh", "gelu"})
    EXPECT_EQ(CircuitOf(Map1(fmt::format("    %r = {} %x : f32\n", name))),
              fmt::format("merge.{}@c00[c01,c01]", name));
  EXPECT_EQ(CircuitOf(Map1("    %k = const 0 : f32\n    %r = max %x, %k : f32\n")),
            "merge.max@c00[0,c01]");  // relu
  EXPECT_EQ(CircuitOf(Map1("    %k = const 0.1 : f32\n    %r = mul %k, %x : f32\n")),
            "merge.mul@c00[0.1,c01]");
  EXPECT_EQ(CircuitOf(Map1("    %r = neg %x : f32\n")), "merge.mul@c00[-1,c01]");
  EXPECT_EQ(CircuitOf(Map1("    %k = const 1 : f32\n    %r = sub %k, %x : f32\n")),
            "scratch c02: merge.add@c02[1,c02] . split.sub@c02[c00,c01]");
  EXPECT_EQ(CircuitOf(Kernel(AC, fmt::format("{}    store %c, %i, %x : f32\n", LoadA))),
            "copy@c00->c01");
  // The multiply's place is the kernel's own output, not scratch.
  EXPECT_EQ(
      CircuitOf(Kernel(ABC, fmt::format("{}{}    %p = mul %x, %y : f32\n    %r = add %p, %x : f32\n"
                                        "    store %c, %i, %r : f32\n",
                                        LoadA, LoadB))),
      "scratch c03: merge.mul@c00[c01,c03] . merge.add@c03[c00,c02]");
}

TEST(RoundTrip, KernelsThroughTheirNormalForm) {
  const auto normal = [](const std::string& text) {
    const Result<ir::Program> program = ir::ParseText(text);
    const Result<optimize::NormalForm> form = optimize::Normalize(*program);
    if (!form) return form.error().message;
    EXPECT_EQ(form->disjoint.empty(), form->before == form->after) << text;
    return circuits::FromProgram(form->program)->text;
  };
  EXPECT_EQ(normal(Map2("add")), "merge.add@c00[c01,c02]");
  EXPECT_EQ(normal(Map1("    %r = sigmoid %x : f32\n")), "merge.sigmoid@c00[c01,c01]");
  // A store that is overwritten, and a load of what was just stored.
  EXPECT_EQ(
      normal(Kernel(
          AC,
          fmt::format(
              "{}    store %c, %i, %x : f32\n    %y = load %c, %i : f32\n    %r = exp %y : f32\n"
              "    store %c, %i, %r : f32\n",
              LoadA))),
      "merge.exp@c00[c01,c01]");
  // A branch is a choice between two values; where both are the same there is none.
  EXPECT_EQ(
      normal(Kernel(
          AC,
          fmt::format(
              "{}    %k = const 0 : f32\n    %t = lt %x, %k : f32\n    if %t {{\n      %r = abs %x "
              ": f32\n"
              "      store %c, %i, %r : f32\n      yield\n    }} else {{\n      %q = abs %x : f32\n"
              "      store %c, %i, %q : f32\n      yield\n    }}\n",
              LoadA))),
      "merge.abs@c00[c01,c01]");
  // The uniform parts of a kernel are no circuit, but have a normal form.
  EXPECT_TRUE(optimize::Normalize(*ir::ParseText(
      Kernel("%s: f32, %a: in buffer<f32>, %c: buffer<f32>",
             fmt::format("{}    %r = mul %x, %s : f32\n    store %c, %i, %r : f32\n", LoadA)))));
  EXPECT_NE(
      normal(
          Kernel(
              AC,
              "    %o = const 1 : index\n    %j = add %i, %o : index\n    %x = load %a, %j : f32\n"
              "    store %c, %i, %x : f32\n"))
          .find("load: an iteration touches"),
      std::string::npos);
}

TEST(RoundTrip, BranchesHaveANormalForm) {
  // Clamping by branches, one of which stores nothing: against the interpreter.
  const ir::Program program = *ir::ParseText(Kernel(
      "%a: buffer<f32>, %c: buffer<f32>",
      fmt::format(
          "{}    %k = const 0 : f32\n    %t = lt %x, %k : f32\n    %r = if %t -> (f32) {{\n      "
          "store "
          "%c, %i, %k : f32\n"
          "      yield %x\n    }} else {{\n      %y = load %c, %i : f32\n      yield %y\n    }}\n"
          "    %s = add %r, %x : f32\n    store %a, %i, %s : f32\n",
          LoadA)));
  const Result<optimize::NormalForm> form = optimize::Normalize(program);
  ASSERT_TRUE(form) << form.error().message;
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(After(program, 9, 8, seed), After(form->program, 9, 8, seed));
  EXPECT_FALSE(After(program, 9, 8, 1).empty());
}

TEST(RoundTrip, BuffersThatMayNotBeReadAreNotRead) {
  const std::string some =
      Kernel("%a: in buffer<f32>, %c: out buffer<f32>",
             fmt::format("{}    %k = const 0 : f32\n    %t = lt %x, %k : f32\n    if %t {{\n"
                         "      store %c, %i, %x : f32\n      yield\n    }}\n",
                         LoadA));
  const Result<optimize::NormalForm> form = optimize::Normalize(*ir::ParseText(some));
  ASSERT_FALSE(form);
  EXPECT_EQ(form.error().diag, Diag::NotACircuit);
}

TEST(RoundTrip, ASoftmaxOfAnExpression) {
  const ir::Program program = *circuits::ParseCircuit("merge.max@c03[c02,c01] . softmax@c01->c03");
  const Result<circuits::CircuitText> back =
      circuits::FromProgram(optimize::Normalize(program)->program);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_NE(back->text.find("softmax"), std::string::npos);
}

// A fold, which front ends make of atomics at one address: of a[i], or of a[i] * b[i], to c[0].
struct FoldKernel {
  ir::Type count = ir::types::Index;
  ir::ReduceKind kind = ir::ReduceKind::Sum;
  bool product = false;
  bool guarded = false;           // only if there are elements
  ir::Op joined = ir::Op::Const;  // with what c[0] held before, by this op; Const: not
};
ir::Program MakeFold(const FoldKernel& what) {
  ir::Program program;
  const ir::Type in = ir::Type::Buffer(ir::types::F32, ir::Access::In),
                 inout = ir::Type::Buffer(ir::types::F32);
  ir::FunctionBuilder b(program, "fold", {in, in, inout, what.count}, {});
  const bool is_index = what.count == ir::types::Index;
  const ir::ValueId count =
      is_index ? b.Param(3) : b.Cast(ir::Op::Cast, b.Param(3), ir::types::Index);
  const ir::ValueId zero = b.ConstInt(ir::types::Index, 0);
  const auto fold = [&] {
    ir::ValueId result = b.Fold(what.kind, ir::types::F32, count, 64, 4096, [&](ir::ValueId i) {
      const ir::ValueId x = b.Load(b.Param(0), i);
      return what.product ? b.Binary(ir::Op::Mul, x, b.Load(b.Param(1), i)) : x;
    });
    if (what.joined != ir::Op::Const)
      result = b.Binary(what.joined, b.Load(b.Param(2), zero), result);
    b.Store(b.Param(2), zero, result);
    return ir::Values();
  };
  if (what.guarded)
    b.If(b.Binary(ir::Op::Gt, count, zero), {}, fold, [] { return ir::Values(); });
  else
    fold();
  b.Return({});
  b.Finish();
  return program;
}

TEST(RoundTrip, ReductionsAsFolds) {
  for (ir::Type count : {ir::types::Index, ir::types::U32}) {
    for (bool guarded : {false, true}) {
      const auto circuit = [&](ir::ReduceKind kind, bool product) {
        const ir::Program program = MakeFold({count, kind, product, guarded});
        const Result<optimize::NormalForm> form = optimize::Normalize(program);
        if (!form) return form.error().message;
        if (guarded) EXPECT_EQ(form->least_extent, 1);
        for (int64_t n : {1, 3, 8})
          for (uint64_t seed = 0; seed < 10; ++seed)
            EXPECT_EQ(After(program, 9, n, seed), After(form->program, 9, n, seed));
        EXPECT_FALSE(After(program, 9, 8, 1).empty());
        // The normal form is its own.
        EXPECT_EQ(ir::ExactDigest(optimize::Normalize(form->program)->program),
                  ir::ExactDigest(form->program));
        const Result<circuits::CircuitText> text = circuits::FromProgram(form->program);
        return text ? text->text : text.error().message;
      };
      EXPECT_EQ(circuit(ir::ReduceKind::Sum, false), "reduce.sum@c00->c02");
      EXPECT_EQ(circuit(ir::ReduceKind::Max, false), "reduce.max@c00->c02");
      EXPECT_EQ(circuit(ir::ReduceKind::Min, false), "reduce.min@c00->c02");
      EXPECT_EQ(circuit(ir::ReduceKind::Sum, true),
                "scratch c03: merge.mul@c00[c01,c03] . reduce.sum@c03->c02");
    }
  }
  EXPECT_EQ(circuits::FromProgram(MakeFold({}))->text, "reduce.sum@c00->c02");
  EXPECT_NE(circuits::FromProgram(MakeFold({.kind = ir::ReduceKind::Product}))
                .error()
                .message.find("variants sum, min"),
            std::string::npos);
}

// vector_sum, vector_dot, vector_max_value: c[0] joined with a reduction. A normal form, but no circuit.
TEST(RoundTrip, AReductionJoinedWithItsPlaceIsNoCircuit) {
  for (const FoldKernel& what :
       {FoldKernel{ir::types::U32, ir::ReduceKind::Sum, false, true, ir::Op::Add},
        FoldKernel{ir::types::U32, ir::ReduceKind::Sum, true, true, ir::Op::Add},
        FoldKernel{ir::types::Index, ir::ReduceKind::Max, false, true, ir::Op::Max}}) {
    const ir::Program program = MakeFold(what);
    const Result<optimize::NormalForm> form = optimize::Normalize(program);
    ASSERT_TRUE(form) << form.error().message;
    EXPECT_EQ(form->least_extent, 1);
    EXPECT_EQ(form->before.passes, 1u);
    for (uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(After(program, 9, 8, seed), After(form->program, 9, 8, seed));
    const Result<circuits::CircuitText> circuit = circuits::FromProgram(form->program);
    ASSERT_FALSE(circuit) << circuit->text;
    EXPECT_EQ(circuit.error().diag, Diag::NotACircuit);
    EXPECT_NE(circuit.error().message.find("load: element 0 of a slot is read on its own"),
              std::string::npos);
  }
}

TEST(RoundTrip, RefusalsNameTheOp) {
  EXPECT_NE(CircuitOf(Map1("    %r = sin %x : f32\n")).find("sin: no generator"),
            std::string::npos);
  EXPECT_NE(CircuitOf(Map2("copysign")).find("copysign: no generator"), std::string::npos);
  EXPECT_NE(
      CircuitOf(
          Kernel("%s: f32, %a: in buffer<f32>, %c: buffer<f32>",
                 fmt::format("{}    %r = mul %x, %s : f32\n    store %c, %i, %r : f32\n", LoadA)))
          .find("mul: an operand is uniform"),
      std::string::npos);
  EXPECT_NE(
      CircuitOf(
          Kernel(
              AC,
              "    %o = const 1 : index\n    %j = add %i, %o : index\n    %x = load %a, %j : f32\n"
              "    store %c, %i, %x : f32\n"))
          .find("add: an operand"),
      std::string::npos);
  EXPECT_NE(CircuitOf(Kernel("%a: in buffer<f32>, %c: buffer<f64>", LoadA.data()))
                .find("one element type"),
            std::string::npos);
  EXPECT_NE(
      CircuitOf("frz 1\nfunc @f(%a: f32) -> (f32) {\n  return %a\n}\n").find("returns values"),
      std::string::npos);
  const Result<ir::Program> program = ir::ParseText(Map1("    %r = sin %x : f32\n"));
  EXPECT_EQ(circuits::FromProgram(*program).error().location.line, 7u);
}

TEST(RoundTrip, EveryGeneratorComesBack) {
  for (const char* text :
       {"mark@c00", "copy@c00->c01", "swap@c00<->c01", "merge.add@c00[c01,c02]",
        "merge.mul@c00[c00,c00]", "merge.exp@c00[c01,c01]", "merge.min@c03[c01,c00]",
        "split.sub@c00[c01,c00]", "split.div@c00[c01,c02]", "reduce.sum@c00->c01",
        "reduce.min@c00->c00", "reduce.max@c05->c01", "softmax@c00->c01", "softmax@c00->c00",
        "copy@c00@3->c00@4", "mark@c00 . copy@c00->c01 . reduce.sum@c01->c02 . softmax@c00->c03"}) {
    const ir::Program program = *circuits::ParseCircuit(text);
    const Result<circuits::CircuitText> back = circuits::FromProgram(program);
    ASSERT_TRUE(back) << text << ": " << back.error().message;
    EXPECT_EQ(back->text, text);
    EXPECT_EQ(ir::ExactDigest(*circuits::ToProgram(back->phrase)), ir::ExactDigest(program))
        << text;
  }
  circuits::CircuitOptions integers;
  integers.element = ir::types::I16;
  const ir::Program program = *circuits::ParseCircuit("mark@c00 . merge@c00[-7,c01]", integers);
  EXPECT_EQ(circuits::FromProgram(program)->text, "mark@c00 . merge.add@c00[-7,c01]");
}

// Memory by slot name, after running.
std::map<std::string, exec::Value> Run(const ir::Program& program, uint64_t seed) {
  std::vector<exec::Value> arguments;
  const ir::Function& entry = program.entry_function();
  std::map<std::string, exec::Value> slots;
  for (uint32_t i = 0; i + 1 < entry.param_count(); ++i) {
    const std::string name = entry.value_names[entry.param(i).index];
    auto memory = std::make_shared<exec::Memory>(entry.param_type(i).element(), 5);
    Random random(seed * 977 + *circuits::SlotNamed(name));
    for (int64_t k = 0; k < 5; ++k)
      memory->Set(k, exec::RandomScalar(memory->element(), random.Next()).scalar_words());
    arguments.push_back(exec::Value::Buffer(memory));
    slots.emplace(name, arguments.back());
  }
  arguments.push_back(exec::Value::Int(ir::types::Index, 4));
  const Result<exec::Outcome> outcome = exec::Interpret(program, arguments);
  EXPECT_TRUE(outcome && !outcome->trap);
  return slots;
}

void ExpectSame(const ir::Program& program, const circuits::CircuitText& circuit, uint64_t seed,
                const std::string& text) {
  const Result<ir::Program> back = circuits::ParseCircuit(circuit.text);
  ASSERT_TRUE(back) << circuit.text << ": " << back.error().ToString();
  // The same normal form, where it has the same parameters.
  const ir::Function &a = back->entry_function(), &b = program.entry_function();
  bool same = a.param_count() == b.param_count();
  for (uint32_t i = 0; same && i < a.param_count(); ++i) same = a.param_type(i) == b.param_type(i);
  if (same) {
    EXPECT_EQ(ir::ExactDigest(optimize::Normalize(*back)->program),
              ir::ExactDigest(optimize::Normalize(program)->program))
        << text << " as " << circuit.text;
  }
  const std::map<std::string, exec::Value> expected = Run(program, seed), got = Run(*back, seed);
  for (const auto& [name, value] : expected)
    if (const auto found = got.find(name); found != got.end())
      ASSERT_EQ(value, found->second) << name << " of " << text << " as " << circuit.text;
}

TEST(RoundTrip, RandomCircuitsAndTheirNormalForms) {
  const std::vector<std::string> alphabet =
      Alphabet(4, {"merge.add", "merge.mul", "merge.max", "split.sub", "split.div"},
               {"merge.abs", "merge.sqrt"}, {"reduce.sum", "reduce.max", "softmax"});
  Random random(7);
  int given = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (uint64_t k = random.Below(6) + 1; k > 0; --k)
      text += (text.empty() ? "" : " . ") + alphabet[random.Below(alphabet.size())];
    const ir::Program program = *circuits::ParseCircuit(text);
    const Result<circuits::CircuitText> same = circuits::FromProgram(program);
    ASSERT_TRUE(same) << text << ": " << same.error().message;
    ExpectSame(program, *same, static_cast<uint64_t>(i), text);
    const optimize::NormalForm form = *optimize::Normalize(program);
    const Result<circuits::CircuitText> normal = circuits::FromProgram(form.program);
    // Where a reduced value flows on there may be no generator for the fused form.
    normal ? ++given : ++refused;
    if (!normal) {
      EXPECT_TRUE(text.find("reduce") != std::string::npos ||
                  text.find("softmax") != std::string::npos)
          << text << normal.error().message;
      continue;
    }
    ExpectSame(program, *normal, static_cast<uint64_t>(i), text);
  }
  EXPECT_GT(given, 5 * refused);
  printf("%d normal forms as circuits, %d refused\n", given, refused);
}

TEST(RoundTrip, CanonicalOps) {
  const auto ops = [](const char* text) {
    const ir::Program program = *circuits::ParseCircuit(text);
    return circuits::FromProgram(optimize::Normalize(program)->program)->text;
  };
  EXPECT_EQ(ops("mark@c00 . mark@c00"), "copy@c00->c00");
  EXPECT_EQ(ops("swap@c00<->c01 . swap@c00<->c01"), "copy@c00->c00");
  EXPECT_EQ(ops("mark@c00 . mark@c00 . mark@c00"), "mark@c00");
  EXPECT_EQ(ops("copy@c00->c01 . copy@c01->c02 . copy@c02->c01"), "copy@c00->c01 . copy@c00->c02");
  EXPECT_EQ(ops("copy@c00->c01 . merge.add@c01[c01,c01]"), "merge.add@c00[c00,c01]");
  EXPECT_EQ(ops("mark@c01 . merge.mul@c00[c00,c01]"), "merge.mul@c00[c00,c01]");
  // A real copy is kept, and the marks are on a slot of their own.
  EXPECT_EQ(ops("copy@c05->c06 . mark@c21 . copy@c05->c06 . mark@c21"), "copy@c05->c06");
  EXPECT_EQ(ops("swap@c00<->c01 . mark@c02 . mark@c02"), "swap@c00<->c01");
}

}  // namespace
}  // namespace frazil
