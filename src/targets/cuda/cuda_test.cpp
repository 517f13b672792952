// What the PTX says, without a GPU: which instructions carry the bits, how programs are cut into steps, what is refused.
#include "targets/cuda/cuda.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text/text.h"

namespace frazil::targets::cuda {
namespace {

ir::Program Parse(const std::string& text) {
  auto program = ir::ParseText("frz 1\n" + text);
  EXPECT_TRUE(program) << program.error().ToString();
  return program ? std::move(*program) : ir::Program();
}

PtxModule Emit(const std::string& text, const PtxOptions& options = {}) {
  auto module = EmitPtx(Parse(text), options);
  EXPECT_TRUE(module) << module.error().ToString();
  return module ? std::move(*module) : PtxModule();
}

size_t Count(const std::string& text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

bool Has(const std::string& text, std::string_view word) { return Count(text, word) > 0; }

std::string Map(const std::string& body, const std::string& type = "f32") {
  return fmt::format(R"(func @main(%a: {0}, %n: index, %x: in buffer<{0}>, %y: buffer<{0}>) {{
  %zero = const 0 : index
  parallel %i = %zero to %n {{
    %u = load %x, %i : {0}
    %v = load %y, %i : {0}
{1}
    store %y, %i, %r : {0}
    yield
  }}
  return
}}
)",
                     type, body);
}

void ExpectExact(const std::string& text, std::string_view what) {
  for (std::string_view word :
       {".approx", ".ftz", "add.f32", "mul.f32", "add.f64", "mul.f64", "sub.f32", "sub.f64",
        "div.full", "call.uni", "ex2.", "lg2.", "sin.", "tanh."})
    EXPECT_FALSE(Has(text, word)) << what << ": " << word << "\n" << text;
}

TEST(Ptx, SaxpyIsWideAndNotContracted) {
  const PtxModule module = Emit(Map("    %p = mul %a, %u : f32\n    %r = add %p, %v : f32"));
  ASSERT_EQ(module.steps.size(), 1u);
  EXPECT_EQ(module.steps[0].kind, StepKind::Flat);
  EXPECT_EQ(module.steps[0].items, 4u);
  EXPECT_TRUE(Has(module.text, "ld.global.v4")) << module.text;
  EXPECT_TRUE(Has(module.text, "st.global.v4"));
  EXPECT_TRUE(Has(module.text, "mul.rn.f32"));
  EXPECT_TRUE(Has(module.text, "add.rn.f32"));
  EXPECT_FALSE(Has(module.text, "fma"));
  EXPECT_TRUE(Has(module.text, ".target sm_90"));
  ExpectExact(module.text, "saxpy");
}

TEST(Ptx, NarrowElementsAreSixteenBytesWideToo) {
  EXPECT_EQ(Emit(Map("    %r = add %u, %v : u8", "u8")).steps[0].items, 16u);
  EXPECT_EQ(Emit(Map("    %r = add %u, %v : f16", "f16")).steps[0].items, 8u);
  EXPECT_EQ(Emit(Map("    %r = add %u, %v : f64", "f64")).steps[0].items, 4u);
}

TEST(Ptx, RoundingIsWrittenOut) {
  const PtxModule module = Emit(Map("    %d = div %u, %v : f32\n    %r = sqrt %d : f32"));
  EXPECT_TRUE(Has(module.text, "div.rn.f32")) << module.text;
  EXPECT_TRUE(Has(module.text, "sqrt.rn.f32"));
  ExpectExact(module.text, "div");
  const PtxModule fused = Emit(Map("    %r = fma %a, %u, %v : f32"));
  EXPECT_TRUE(Has(fused.text, "fma.rn.f32"));
}

TEST(Ptx, MathIsOurOwn) {
  for (const ir::OpInfo& info : ir::AllOps()) {
    if (info.law != ir::Law::Prelude || !ir::Contains(info.types, ir::Scalar::F32)) continue;
    if (info.signature != "T->T" && info.signature != "T,T->T") continue;
    const std::string body = info.signature == "T->T"
                                 ? fmt::format("    %r = {} %u : f32", info.mnemonic)
                                 : fmt::format("    %r = {} %u, %v : f32", info.mnemonic);
    const PtxModule module = Emit(Map(body));
    ExpectExact(module.text, info.mnemonic);
    EXPECT_FALSE(Has(module.text, "fma.")) << info.mnemonic;
  }
}

TEST(Ptx, OlderArchitecture) {
  EXPECT_TRUE(Has(Emit(Map("    %r = add %u, %v : f32"), {.arch = "sm_80"}).text, ".target sm_80"));
  const auto unknown = EmitPtx(Parse(Map("    %r = add %u, %v : f32")), {.arch = "sm_35"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().diag, Diag::Unsupported);
}

// The driver's compiler gets neg.s16 and abs.s16 of -32768 wrong.
TEST(Ptx, SixteenBitNegationIsWide) {
  EXPECT_FALSE(
      Has(Emit("func @main(%a: i16) -> (i16) {\n  %r = abs %a : i16\n  return %r\n}\n").text,
          "abs.s16"));
  EXPECT_FALSE(
      Has(Emit("func @main(%a: i16) -> (i16) {\n  %r = neg %a : i16\n  return %r\n}\n").text,
          "neg.s16"));
}

TEST(Ptx, BlocksWithBarriers) {
  const PtxModule module = Emit(R"(func @main(%g: index, %b: index, %x: buffer<f32>) {
  %zero = const 0 : index
  parallel %k = %zero to %g {
    %c = const 64 : index
    %s = alloc %c : f32
    %o = mul %k, %c : index
    parallel %l = %zero to %c {
      %i = add %o, %l : index
      %v = load %x, %i : f32
      store %s, %l, %v : f32
      barrier
      %last = const 63 : index
      %r = sub %last, %l : index
      %w = load %s, %r : f32
      store %x, %i, %w : f32
      yield
    }
    yield
  }
  return
}
)");
  ASSERT_EQ(module.steps.size(), 1u);
  EXPECT_EQ(module.steps[0].kind, StepKind::Blocks);
  EXPECT_FALSE(module.steps[0].shared.empty());
  EXPECT_TRUE(Has(module.text, "bar")) << module.text;
  EXPECT_TRUE(Has(module.text, ".shared"));
}

TEST(Ptx, SequencesAreSeveralKernels) {
  const PtxModule module =
      Emit(R"(func @main(%n: index, %x: in buffer<i32>, %y: buffer<i32>) -> (i32) {
  %zero = const 0 : index
  %t = alloc %n : i32
  parallel %i = %zero to %n {
    %u = load %x, %i : i32
    store %t, %i, %u : i32
    yield
  }
  parallel %j = %zero to %n {
    %v = load %t, %j : i32
    store %y, %j, %v : i32
    yield
  }
  %f = load %y, %zero : i32
  return %f
}
)");
  ASSERT_EQ(module.steps.size(), 4u);
  EXPECT_EQ(module.steps[0].kind, StepKind::Alloc);
  EXPECT_EQ(module.steps[1].kind, StepKind::Flat);
  EXPECT_EQ(module.steps[2].kind, StepKind::Flat);
  EXPECT_EQ(module.steps[3].kind, StepKind::Serial);
  EXPECT_EQ(module.result_words, 1u);
  EXPECT_EQ(Count(module.text, ".entry"), 3u);
}

TEST(Ptx, NestsRunAsOne) {
  const PtxModule module = Emit(R"(func @main(%m: index, %n: index, %x: buffer<f32>) {
  %zero = const 0 : index
  parallel %y = %zero to %m {
    %row = mul %y, %n : index
    parallel %c = %zero to %n {
      %i = add %row, %c : index
      %v = load %x, %i : f32
      %r = add %v, %v : f32
      store %x, %i, %r : f32
      yield
    }
    yield
  }
  return
}
)");
  ASSERT_EQ(module.steps.size(), 1u);
  EXPECT_EQ(module.steps[0].kind, StepKind::Flat);
  EXPECT_NE(module.steps[0].inner_hi, Unknown);
}

TEST(Ptx, AtomicsOnIntegersAreTheHardwares) {
  const PtxModule module = Emit(R"(func @main(%x: in buffer<u32>, %h: buffer<u32>) {
  %zero = const 0 : index
  %one = const 1 : u32
  %n = length %x : u32
  parallel %i = %zero to %n {
    %v = load %x, %i : u32
    %b = cast %v : index
    %old = atomic %h, %b, %one {kind = add} : u32
    yield
  }
  return
}
)");
  EXPECT_TRUE(Has(module.text, "atom.global.add") ||
              Has(module.text, "atom.relaxed.sys.global.add"))
      << module.text;
}

// Whole blocks by warps, then pairs; the same for a vector and for a loop over elements that are computed.
TEST(Ptx, ReductionsAreTwoKernels) {
  const PtxModule module = Emit(R"(func @main(%n: index, %x: tensor<f32, [%n]>) -> (f32) {
  %r = reduce %x {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %s = extract %r : f32
  return %s
}
)");
  std::vector<StepKind> kinds;
  for (const PtxStep& step : module.steps)
    if (step.kind != StepKind::Alloc) kinds.push_back(step.kind);
  EXPECT_EQ(kinds, (std::vector{StepKind::Flat, StepKind::Single, StepKind::Serial}));
  EXPECT_TRUE(Has(module.text, "shfl.sync.down"));
  ExpectExact(module.text, "reduce");
}

// What a choice of the host guards is launched only where it is taken.
TEST(Ptx, ChoicesBecomeGuards) {
  const PtxModule module = Emit(R"(func @main(%n: index, %x: buffer<i32>) {
  %zero = const 0 : index
  %one = const 1 : i32
  %t = gt %n, %zero : index
  if %t {
    parallel %i = %zero to %n {
      store %x, %i, %one : i32
      yield
    }
    yield
  }
  return
}
)");
  ASSERT_EQ(module.steps.size(), 1u);
  EXPECT_EQ(module.steps[0].kind, StepKind::Flat);
  ASSERT_EQ(module.steps[0].guards.size(), 1u);
  EXPECT_EQ(module.steps[0].guards[0].second, 1);
}

TEST(Ptx, LoadsInsideOfChoicesAreWideToo) {
  const PtxModule module = Emit(Map(R"(    %t = lt %u, %v : f32
    %r = if %t -> (f32) {
      %w = load %x, %i : f32
      yield %w
    } else {
      yield %v
    })"));
  EXPECT_EQ(module.steps[0].items, 4u);
  EXPECT_TRUE(Has(module.text, "ld.global.v4"));
}

// Nobody traps between the wide load and the wide store: those before the one that would have not stored yet.
TEST(Ptx, AGroupInWhichOneTrapsGoesOneByOne) {
  const PtxModule module = Emit(Map("    %r = div.trunc %u, %v : i32", "i32"));
  EXPECT_EQ(module.steps[0].items, 4u);
  const std::string code = fmt::format(", {};", static_cast<int>(ir::Op::DivTrunc));
  const size_t load = module.text.find("ld.global.v4"), store = module.text.find("st.global.v4");
  ASSERT_LT(load, store);
  EXPECT_FALSE(Has(module.text.substr(load, store - load), code));
  EXPECT_TRUE(Has(module.text.substr(store), code));
}

TEST(Refusals, SayWhy) {
  const auto target = MakeCudaTarget();
  EXPECT_EQ(target->name(), "cuda");
  EXPECT_NE(target->Refuses(Parse("func @main() -> (i32) {\n  %r = input : i32\n  return %r\n}\n"))
                .find("stream"),
            std::string::npos);
  EXPECT_NE(target->Refuses(Parse("func @main(%a: int<4>) -> (int<4>) {\n  return %a\n}\n"))
                .find("several words"),
            std::string::npos);
  EXPECT_NE(
      target
          ->Refuses(Parse(
              "func @main(%a: field) -> (field) {\n  %r = invert %a : field\n  return %r\n}\n"))
          .find("inverts"),
      std::string::npos);
  const std::string local = R"(func @use(%n: index) -> (index) {
  %b = alloc %n : index
  %l = length %b : index
  store %b, %l, %l : index
  return %l
}
func @main(%n: index) -> (index) {
  %r = call @use(%n)
  return %r
}
)";
  const auto refused = EmitPtx(Parse(local));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diag, Diag::Unsupported);
  exec::EmitOptions metered;
  metered.metered = true;
  EXPECT_FALSE(target->Emit(Parse(Map("    %r = add %u, %v : f32")), metered));
}

TEST(Modules, SurviveTheirTextForm) {
  const PtxModule module = Emit(Map("    %r = exp %u : f32"));
  const std::string bytes = SerializeModule(module);
  const auto again = ParseModule(bytes);
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(SerializeModule(*again), bytes);
  for (size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97)
    EXPECT_FALSE(ParseModule(std::string_view(bytes).substr(0, length))) << length;
}

}  // namespace
}  // namespace frazil::targets::cuda
