// What fuses into what, and that nothing changes by it.
#include "optimize/fusion/fusion.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "generator/generator.h"
#include "ir/lower/lower.h"
#include "optimize/optimize.h"
#include "optimize/test_same.h"

namespace frazil::optimize {
namespace {

// FRAZIL_PROGRAMS=20000 for a long run.
uint64_t Programs(uint64_t usual) {
  const char* wanted = std::getenv("FRAZIL_PROGRAMS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
}

int Count(const ir::Program& program, ir::Op op, std::optional<ir::Op> not_for = {}) {
  int count = 0;
  const std::function<void(const ir::Function&, ir::RegionId)> walk = [&](const ir::Function& f,
                                                                          ir::RegionId region) {
    for (ir::InstId id : f.region(region).insts) {
      const ir::Inst& inst = f.inst(id);
      count += inst.op == op && (!not_for || inst.source_op != not_for) ? 1 : 0;
      for (uint32_t r = 0; r < inst.regions.count; ++r) walk(f, ir::Function::region_of(inst, r));
    }
  };
  for (const ir::Function& f : program.functions) walk(f, f.body);
  return count;
}

// Tensors in between, of the loops that it becomes.
int Allocs(const ir::Program& program) {
  Result<ir::Program> lowered = ir::LowerTensors(program);
  EXPECT_TRUE(lowered) << lowered.error().ToString();
  return Count(*lowered, ir::Op::Alloc, ir::Op::Fold);
}

ir::Program Fused(const ir::Program& source, uint64_t seed = 1) {
  Result<std::optional<ir::Candidate>> candidate = FusedCandidate(source);
  EXPECT_TRUE(candidate) << candidate.error().ToString();
  EXPECT_TRUE(candidate->has_value()) << "nothing was fused in\n" << ir::PrintText(source);
  if (!candidate->has_value()) return source;
  EXPECT_EQ(Compare(source, (*candidate)->program, seed, 12), "");
  EXPECT_LT(StaticCost((*candidate)->program), StaticCost(source));
  return std::move((*candidate)->program);
}

struct Shown {
  int generates, folds, allocs;
  friend bool operator==(const Shown&, const Shown&) = default;
  friend void PrintTo(const Shown& s, std::ostream* out) {
    *out << s.generates << " generate, " << s.folds << " fold, " << s.allocs << " alloc";
  }
};
Shown Show(std::string_view text) {
  const ir::Program fused = Fused(Parse(text));
  const Shown shown{Count(fused, ir::Op::Generate), Count(fused, ir::Op::Fold), Allocs(fused)};
  if (std::getenv("FRAZIL_SHOW") != nullptr) puts(ir::PrintText(fused).c_str());
  return shown;
}

TEST(Fusion, AChainOfMapsIsOneLoop) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%n: index, %a: tensor<f32, [%n, 5]>, %s: f32) -> (tensor<f32, [%n, 5]>) {
  %k = broadcast %s {axes = []} : tensor<f32, [%n, 5]>
  %b = map (%x = %a, %y = %k) -> tensor<f32, [%n, 5]> {
    %z = mul %x, %y : f32
    yield %z
  }
  %c = map (%x = %b) -> tensor<f32, [%n, 5]> {
    %z = exp %x : f32
    yield %z
  }
  %d = map (%x = %c, %y = %a) -> tensor<f32, [%n, 5]> {
    %z = sub %x, %y : f32
    yield %z
  }
  return %d
}
)"),
            (Shown{1, 0, 0}));
}

TEST(Fusion, MovesAreReads) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%n: index, %a: tensor<i32, [6, %n]>, %b: tensor<i32, [1]>) -> (tensor<i32, [%n, 2]>) {
  %t = transpose %a {perm = [1, 0]} : tensor<i32, [%n, 6]>
  %s = slice %t {start = [0, 4], step = [1, -3]} : tensor<i32, [%n, 2]>
  %w = broadcast %b {axes = [1]} : tensor<i32, [%n, 2]>
  %i = iota {axis = 1} : tensor<i32, [%n, 2]>
  %r = map (%x = %s, %y = %w, %z = %i) -> tensor<i32, [%n, 2]> {
    %p = mul %x, %y : i32
    %q = add %p, %z : i32
    yield %q
  }
  return %r
}
)"),
            (Shown{1, 0, 0}));
}

TEST(Fusion, SoftmaxIsOneLoopOverRows) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m, %n]>) {
  %most = reduce %a {kind = max, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %mb = broadcast %most {axes = [0]} : tensor<f32, [%m, %n]>
  %e = map (%x = %a, %y = %mb) -> tensor<f32, [%m, %n]> {
    %d = sub %x, %y : f32
    %z = exp %d : f32
    yield %z
  }
  %sum = reduce %e {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %sb = broadcast %sum {axes = [0]} : tensor<f32, [%m, %n]>
  %r = map (%x = %e, %y = %sb) -> tensor<f32, [%m, %n]> {
    %z = div %x, %y : f32
    yield %z
  }
  return %r
}
)"),
            (Shown{3, 2, 0}));
}

constexpr std::string_view LayerNorm = R"(frz 1
func @main(%m: index, %a: tensor<f32, [%m, 48]>, %g: tensor<f32, [48]>) -> (tensor<f32, [%m, 48]>, tensor<f32, [%m]>) {
  %count = const 48 : f32
  %eps = const 0.001 : f32
  %sum = reduce %a {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %mean = map (%x = %sum) -> tensor<f32, [%m]> {
    %z = div %x, %count : f32
    yield %z
  }
  %mb = broadcast %mean {axes = [0]} : tensor<f32, [%m, 48]>
  %c = map (%x = %a, %y = %mb) -> tensor<f32, [%m, 48]> {
    %z = sub %x, %y : f32
    yield %z
  }
  %q = map (%x = %c) -> tensor<f32, [%m, 48]> {
    %z = mul %x, %x : f32
    yield %z
  }
  %var = reduce %q {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %r = map (%x = %var) -> tensor<f32, [%m]> {
    %v = div %x, %count : f32
    %w = add %v, %eps : f32
    %z = rsqrt %w : f32
    yield %z
  }
  %rb = broadcast %r {axes = [0]} : tensor<f32, [%m, 48]>
  %gb = broadcast %g {axes = [1]} : tensor<f32, [%m, 48]>
  %o = map (%x = %c, %y = %rb, %w = %gb) -> tensor<f32, [%m, 48]> {
    %z = mul %x, %y : f32
    %u = mul %z, %w : f32
    yield %u
  }
  return %o, %mean
}
)";

TEST(Fusion, LayerNormIsOneLoopOverRowsWithItsMeans) {
  EXPECT_EQ(Show(LayerNorm), (Shown{2, 2, 0}));
}

TEST(Fusion, AnUpdateOfSeveralTensorsIsOneLoop) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%n: index, %p: tensor<f32, [%n]>, %g: tensor<f32, [%n]>, %m: tensor<f32, [%n]>) -> (tensor<f32, [%n]>, tensor<f32, [%n]>) {
  %b = const 0.9 : f32
  %c = const 0.1 : f32
  %moved = map (%x = %m, %y = %g) -> tensor<f32, [%n]> {
    %u = mul %x, %b : f32
    %v = mul %y, %c : f32
    %z = add %u, %v : f32
    yield %z
  }
  %next = map (%x = %p, %y = %moved) -> tensor<f32, [%n]> {
    %u = mul %y, %c : f32
    %z = sub %x, %u : f32
    yield %z
  }
  return %next, %moved
}
)"),
            (Shown{1, 0, 0}));
}

TEST(Fusion, TheMeanOfAllIsOneFold) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%a: tensor<f32, [7, 30]>, %b: tensor<f32, [7, 30]>) -> (tensor<f32, []>) {
  %count = const 210 : f32
  %d = map (%x = %a, %y = %b) -> tensor<f32, [7, 30]> {
    %z = sub %x, %y : f32
    yield %z
  }
  %q = map (%x = %d, %y = %d) -> tensor<f32, [7, 30]> {
    %z = mul %x, %y : f32
    yield %z
  }
  %r = reshape %q : tensor<f32, [210]>
  %s = reduce %r {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %m = map (%x = %s) -> tensor<f32, []> {
    %z = div %x, %count : f32
    yield %z
  }
  return %m
}
)"),
            (Shown{1, 1, 0}));
}

TEST(Fusion, WhatIsDearIsMadeOnceAndWhatIsCheapAgain) {
  const auto text = [](std::string_view op) {
    return fmt::format(R"(frz 1
func @main(%a: tensor<f32, [9, 14]>) -> (tensor<f32, [9, 13]>) {{
  %e = map (%x = %a) -> tensor<f32, [9, 14]> {{
    %z = {} %x : f32
    yield %z
  }}
  %l = slice %e {{start = [0, 0], step = [1, 1]}} : tensor<f32, [9, 13]>
  %r = slice %e {{start = [0, 1], step = [1, 1]}} : tensor<f32, [9, 13]>
  %d = map (%x = %l, %y = %r) -> tensor<f32, [9, 13]> {{
    %z = sub %y, %x : f32
    yield %z
  }}
  return %d
}}
)",
                       op);
  };
  const ir::Program dear = Fused(Parse(text("tanh"))), cheap = Fused(Parse(text("neg")));
  EXPECT_EQ(Count(dear, ir::Op::Tanh), 1);
  EXPECT_EQ(Allocs(dear), 1);
  EXPECT_EQ(Count(cheap, ir::Op::Neg), 2);
  EXPECT_EQ(Allocs(cheap), 0);
}

// Of the rows one loop, of their losses a second one: a fold in a fold has no vectors. The sum has two arrays of its own.
TEST(Fusion, ALossIsOneLoopOverRowsAndASum) {
  EXPECT_EQ(Show(R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>, %label: tensor<i32, [%m]>) -> (tensor<f32, []>) {
  %none = const 0 : f32
  %most = reduce %a {kind = max, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %mb = broadcast %most {axes = [0]} : tensor<f32, [%m, %n]>
  %d = map (%x = %a, %y = %mb) -> tensor<f32, [%m, %n]> {
    %z = sub %x, %y : f32
    yield %z
  }
  %e = map (%x = %d) -> tensor<f32, [%m, %n]> {
    %z = exp %x : f32
    yield %z
  }
  %sum = reduce %e {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %i = iota {axis = 1} : tensor<i32, [%m, %n]>
  %lb = broadcast %label {axes = [0]} : tensor<i32, [%m, %n]>
  %picked = map (%x = %d, %y = %i, %w = %lb) -> tensor<f32, [%m, %n]> {
    %t = eq %y, %w : i32
    %z = select %t, %x, %none : f32
    yield %z
  }
  %one = reduce %picked {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  %loss = map (%x = %sum, %y = %one) -> tensor<f32, [%m]> {
    %l = log %x : f32
    %z = sub %l, %y : f32
    yield %z
  }
  %all = reduce %loss {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  return %all
}
)"),
            (Shown{1, 3, 3}));
}

// A norm, heads, scores with a mask, their softmax whose sums are wanted too: what is between two products is one loop over
// rows, or one over elements.
constexpr std::string_view Attention = R"(frz 1
func @main(%b: index, %s: index, %x: tensor<f32, [%b, %s, 24]>, %w: tensor<f32, [24, 24]>, %mask: tensor<f32, [%s, %s]>, %bias: tensor<f32, [24]>) -> (tensor<f32, [%b, 4, %s, 6]>, tensor<f32, []>) {
  %scale = const 0.4 : f32
  %count = const 24 : f32
  %eps = const 0.001 : f32
  %sum = reduce %x {kind = sum, axis = 2, chains = 64, block = 4096} : tensor<f32, [%b, %s]>
  %mean = map (%v = %sum) -> tensor<f32, [%b, %s]> {
    %z = div %v, %count : f32
    yield %z
  }
  %mk = reshape %mean : tensor<f32, [%b, %s, 1]>
  %mb = broadcast %mk {axes = [0, 1, 2]} : tensor<f32, [%b, %s, 24]>
  %c = map (%v = %x, %y = %mb) -> tensor<f32, [%b, %s, 24]> {
    %z = sub %v, %y : f32
    yield %z
  }
  %q = map (%v = %c) -> tensor<f32, [%b, %s, 24]> {
    %z = mul %v, %v : f32
    yield %z
  }
  %var = reduce %q {kind = sum, axis = 2, chains = 64, block = 4096} : tensor<f32, [%b, %s]>
  %vk = reshape %var : tensor<f32, [%b, %s, 1]>
  %r = map (%v = %vk) -> tensor<f32, [%b, %s, 1]> {
    %d = div %v, %count : f32
    %w1 = add %d, %eps : f32
    %z = rsqrt %w1 : f32
    yield %z
  }
  %rb = broadcast %r {axes = [0, 1, 2]} : tensor<f32, [%b, %s, 24]>
  %bb = broadcast %bias {axes = [2]} : tensor<f32, [%b, %s, 24]>
  %n = map (%v = %c, %y = %rb, %u = %bb) -> tensor<f32, [%b, %s, 24]> {
    %z = mul %v, %y : f32
    %t = add %z, %u : f32
    yield %t
  }
  %h = reshape %n : tensor<f32, [%b, %s, 4, 6]>
  %ht = transpose %h {perm = [0, 2, 1, 3]} : tensor<f32, [%b, 4, %s, 6]>
  %kt = transpose %h {perm = [0, 2, 3, 1]} : tensor<f32, [%b, 4, 6, %s]>
  %scores = matmul %ht, %kt : tensor<f32, [%b, 4, %s, %s]>
  %ms = broadcast %mask {axes = [2, 3]} : tensor<f32, [%b, 4, %s, %s]>
  %scaled = map (%v = %scores, %y = %ms) -> tensor<f32, [%b, 4, %s, %s]> {
    %z = mul %v, %scale : f32
    %t = add %z, %y : f32
    yield %t
  }
  %most = reduce %scaled {kind = max, axis = 3, chains = 64, block = 4096} : tensor<f32, [%b, 4, %s]>
  %mob = broadcast %most {axes = [0, 1, 2]} : tensor<f32, [%b, 4, %s, %s]>
  %e = map (%v = %scaled, %y = %mob) -> tensor<f32, [%b, 4, %s, %s]> {
    %d = sub %v, %y : f32
    %z = exp %d : f32
    yield %z
  }
  %es = reduce %e {kind = sum, axis = 3, chains = 64, block = 4096} : tensor<f32, [%b, 4, %s]>
  %eb = broadcast %es {axes = [0, 1, 2]} : tensor<f32, [%b, 4, %s, %s]>
  %p = map (%v = %e, %y = %eb) -> tensor<f32, [%b, 4, %s, %s]> {
    %z = div %v, %y : f32
    yield %z
  }
  %o = matmul %p, %ht : tensor<f32, [%b, 4, %s, 6]>
  %l = map (%v = %es) -> tensor<f32, [%b, 4, %s]> {
    %z = log %v : f32
    yield %z
  }
  %l1 = reduce %l {kind = sum, axis = 2, chains = 64, block = 4096} : tensor<f32, [%b, 4]>
  %l2 = reduce %l1 {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%b]>
  %l3 = reduce %l2 {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  return %o, %l3
}
)";

TEST(Fusion, AttentionIsLoopsBetweenProducts) {
  const ir::Program fused = Fused(Parse(Attention));
  EXPECT_EQ(Count(fused, ir::Op::Map), 0);
  EXPECT_EQ(Count(fused, ir::Op::Broadcast), 0);
  EXPECT_EQ(Count(fused, ir::Op::Transpose), 0);
  // Means, queries, keys, softmax with two rows, and the sums of logarithms.
  EXPECT_EQ(Count(fused, ir::Op::Generate), 7) << ir::PrintText(fused);
}

TEST(Fusion, AnOuterAxisIsFoldedDownColumns) {
  const auto text = [](std::string_view size) {
    return fmt::format(R"(frz 1
func @main(%n: index, %a: tensor<f32, [{0}, 40]>, %b: tensor<f32, [{0}, 40]>) -> (tensor<f32, [40]>) {{
  %c = map (%x = %a, %y = %b) -> tensor<f32, [{0}, 40]> {{
    %z = mul %x, %y : f32
    yield %z
  }}
  %s = reduce %c {{kind = sum, axis = 0, chains = 1, block = 4096}} : tensor<f32, [40]>
  return %s
}}
)",
                       size);
  };
  for (std::string_view size : {"33", "%n", "5000"})
    EXPECT_EQ(Show(text(size)), (Shown{1, 1, 0})) << size;
}

TEST(Fusion, NothingThatMayTrapIsMoved) {
  const ir::Program source = Parse(R"(frz 1
func @main(%n: index, %a: tensor<i32, [%n]>, %b: tensor<i32, [%n]>) -> (tensor<i32, [%n]>) {
  %c = map (%x = %a, %y = %b) -> tensor<i32, [%n]> {
    %z = div.trunc %x, %y : i32
    yield %z
  }
  %d = map (%x = %c, %y = %a) -> tensor<i32, [%n]> {
    %z = add.checked %x, %y : i32
    yield %z
  }
  return %d
}
)");
  Result<std::optional<ir::Candidate>> candidate = FusedCandidate(source);
  ASSERT_TRUE(candidate);
  EXPECT_FALSE(candidate->has_value());
}

TEST(Fusion, ChangesNoOutcomeOfRandomPrograms) {
  int fused = 0;
  for (uint64_t seed = 0; seed < Programs(2500); ++seed) {
    generator::GeneratorOptions options;
    options.seed = seed + 77'000'000;
    options.size = 8 + static_cast<uint32_t>(seed % 40);
    if (seed % 3 != 0) {
      options.allow_buffers = options.allow_streams = options.allow_parallel = false;
      options.allow_calls = seed % 3 == 1;
    }
    if (seed % 5 < 2) options.types = ir::sets::Wide | ir::Only(ir::Scalar::I32);
    const ir::Program source = generator::Generate(options);
    Unit unit = MakeUnit(source);
    Result<bool> changed = FuseTensors(unit);
    ASSERT_TRUE(changed) << changed.error().ToString();
    if (!*changed) continue;
    ++fused;
    ASSERT_EQ(Compare(source, unit.program, seed, 2), "");
    Result<std::optional<ir::Candidate>> candidate = FusedCandidate(source);
    ASSERT_TRUE(candidate) << candidate.error().ToString();
    if (candidate->has_value()) ASSERT_EQ(Compare(source, (*candidate)->program, seed, 2), "");
  }
  EXPECT_GT(fused, 100);
  RecordProperty("fused", fused);
}

}  // namespace
}  // namespace frazil::optimize
