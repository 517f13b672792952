// Elementwise kernels take (a: f32, n: index, x, y, z: buffers) so that one driver measures them all; bytes moved are
// counted by the driver from which buffers a kernel touches.
#include "benches.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/text/text.h"

namespace frazil::gpu {
namespace {

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
  benches.push_back({"matmul", Parse(R"(frz 1
func @main(%m: index, %k: index, %n: index, %a: tensor<f32, [%m, %k]>, %b: tensor<f32, [%k, %n]>) -> (tensor<f32, [%m, %n]>) {
  %r = matmul %a, %b : tensor<f32, [%m, %n]>
  return %r
}
)")});
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
