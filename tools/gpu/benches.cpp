// Elementwise kernels take (a: f32, n: index, x, y, z: buffers) so that one driver measures them all; bytes moved are
// counted by the driver from which buffers a kernel touches.
#include "benches.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/text/text.h"

namespace frazil::gpu {
namespace {

using targets::cuda::RowShape;

ir::Program Parse(const std::string& text) {
  auto program = ir::ParseText(text);
  CHECK(program.has_value());
  return std::move(*program);
}

ir::Program Elementwise(const std::string& body) {
  return Parse(fmt::format(R"(frz 1
func @main(%a: f32, %n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>) {{
  %zero = const 0 : index
  parallel %i = %zero to %n {{
{}
    store %z, %i, %r : f32
    yield
  }}
  return
}}
)",
                           body));
}

constexpr const char* LoadX = "    %u = load %x, %i : f32\n";
constexpr const char* LoadXY = "    %u = load %x, %i : f32\n    %v = load %y, %i : f32\n";

constexpr const char* MatmulText = R"(frz 1
func @main(%m: index, %k: index, %n: index, %a: tensor<f32, [%m, %k]>, %b: tensor<f32, [%k, %n]>) -> (tensor<f32, [%m, %n]>) {
  %r = matmul %a, %b : tensor<f32, [%m, %n]>
  return %r
}
)";

// As fusion writes it (frazil emit --to fused examples/softmax_rows.frz).
constexpr const char* SoftmaxText = R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m, %n]>) {
  %r = generate (%i) -> (tensor<f32, [%m, %n]>) {
    %most = fold max %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %e = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %most : f32
      %q = exp.fast %d : f32
      yield %q
    }
    %sum = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %e, %j : f32
      yield %x
    }
    %row = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %e, %j : f32
      %q = div %x, %sum : f32
      yield %q
    }
    yield %row
  }
  return %r
}
)";

constexpr const char* LayerNormText = R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>, %g: tensor<f32, [%n]>, %b: tensor<f32, [%n]>) -> (tensor<f32, [%m, %n]>) {
  %count = cast %n : f32
  %eps = const 1e-5 : f32
  %one = const 1 : f32
  %r = generate (%i) -> (tensor<f32, [%m, %n]>) {
    %sum = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      yield %x
    }
    %mean = div %sum, %count : f32
    %squares = fold sum %j to %n chains 64 block 4096 -> f32 {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %q = mul %d, %d : f32
      yield %q
    }
    %variance = div %squares, %count : f32
    %v = add %variance, %eps : f32
    %root = sqrt %v : f32
    %scale = div %one, %root : f32
    %row = generate (%j) -> (tensor<f32, [%n]>) {
      %x = extract %a, %i, %j : f32
      %d = sub %x, %mean : f32
      %s = mul %d, %scale : f32
      %gj = extract %g, %j : f32
      %bj = extract %b, %j : f32
      %t = mul %s, %gj : f32
      %q = add %t, %bj : f32
      yield %q
    }
    yield %row
  }
  return %r
}
)";

constexpr const char* RowSumText = R"(frz 1
func @main(%m: index, %n: index, %a: tensor<f32, [%m, %n]>) -> (tensor<f32, [%m]>) {
  %r = reduce %a {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [%m]>
  return %r
}
)";

std::vector<std::pair<std::string, targets::cuda::TileShape>> Tiles() {
  using targets::cuda::TileShape;
  const TileShape usual;
  std::vector<std::pair<std::string, TileShape>> tiles = {{"", usual}};
  auto add = [&](uint32_t rows, uint32_t columns, uint32_t depth, uint32_t stages,
                 uint32_t thread_rows, uint32_t thread_columns, uint32_t blocks) {
    tiles.emplace_back(
        fmt::format("-{}x{}x{}-{}-{}x{}-{}", rows, columns, depth, stages, thread_rows,
                    thread_columns, blocks),
        TileShape{rows, columns, depth, stages, thread_rows, thread_columns, blocks});
  };
  add(128, 128, 16, 3, 8, 8, 2);
  add(256, 128, 16, 3, 16, 8, 1);
  return tiles;
}

}  // namespace

std::vector<Bench> Benches() {
  std::vector<Bench> benches;
  auto one = [&](const char* name, const std::string& code) {
    benches.push_back({std::string("map1-") + name, Elementwise(LoadX + code)});
  };
  auto two = [&](const char* name, const std::string& code) {
    benches.push_back({std::string("map2-") + name, Elementwise(LoadXY + code)});
  };
  one("copy", "    %one = const 1 : f32\n    %r = mul %u, %one : f32");
  one("relu", "    %o = const 0 : f32\n    %r = max %u, %o : f32");
  two("add", "    %r = add %u, %v : f32");
  two("saxpy", "    %p = mul %a, %u : f32\n    %r = add %p, %v : f32");
  for (const char* name : {"exp", "sigmoid", "tanh", "gelu", "exp.fast", "tanh.fast"})
    one(name, fmt::format("    %r = {} %u : f32", name));
  one("five",
      "    %b = mul %u, %a : f32\n    %c = add %b, %a : f32\n    %d = max %c, %u : f32\n"
      "    %e = sub %d, %a : f32\n    %r = mul %e, %e : f32");
  benches.push_back({"empty", Parse(R"(frz 1
func @main(%a: f32, %n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: buffer<f32>) {
  %zero = const 0 : index
  %one = const 1 : index
  parallel %i = %zero to %one {
    store %z, %i, %a : f32
    yield
  }
  return
}
)")});
  // Tiles of a product of matrices that were compared; the first is the usual one.
  for (const auto& [name, tile] : Tiles())
    benches.push_back({"matmul" + name, Parse(MatmulText), {.tile = tile}});
  for (const auto& [name, text] :
       {std::pair("rows-softmax", SoftmaxText), std::pair("rows-layernorm", LayerNormText),
        std::pair("rows-sum", RowSumText)})
    for (const auto& [suffix, rows] :
         {std::pair("", RowShape()), std::pair("-5-2-8", RowShape{5, 2, 8}),
          std::pair("-3-3-8", RowShape{3, 3, 8}), std::pair("-3-2-4", RowShape{3, 2, 4})})
      benches.push_back({std::string(name) + suffix, Parse(text), {.rows = rows}});
  benches.push_back({"sum", Parse(R"(frz 1
func @main(%n: index, %x: tensor<f32, [%n]>) -> (f32) {
  %r = reduce %x {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %s = extract %r : f32
  return %s
}
)")});
  return benches;
}

}  // namespace frazil::gpu
