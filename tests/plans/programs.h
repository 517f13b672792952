// Programs that plans are tested on.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/text/text.h"

namespace frazil::plans_test {

inline ir::Program Parse(const std::string& text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << (program ? "" : program.error().ToString() + "\n" + text);
  return program ? std::move(*program) : ir::Program();
}

// Rows of x through layers, each a product, a bias and a relu; the last one ends in a softmax.
inline std::string Layer(const std::string& from, const std::string& to, int number, int rows,
                         int inner, int outer, bool is_relu) {
  const std::string n = std::to_string(number);
  const std::string shape = fmt::format("tensor<f32, [{}, {}]>", rows, outer);
  std::string text = fmt::format("  %p{} = matmul %{}, %w{} : {}\n", n, from, n, shape);
  text += fmt::format("  %bb{} = broadcast %b{} {{axes = [1]}} : {}\n", n, n, shape);
  text += fmt::format("  %{} = map (%v = %p{}, %u = %bb{}) -> {} {{\n    %s = add %v, %u : f32\n",
                      to, n, n, shape);
  if (is_relu)
    text += "    %z = const 0.0 : f32\n    %r = maximum %s, %z : f32\n    yield %r\n  }\n";
  else
    text += "    yield %s\n  }\n";
  static_cast<void>(inner);
  return text;
}

inline std::string Mlp(int rows, std::vector<int> widths) {
  std::string head = fmt::format("%x0: tensor<f32, [{}, {}]>", rows, widths[0]), body;
  for (size_t i = 1; i < widths.size(); ++i) {
    head += fmt::format(", %w{0}: tensor<f32, [{1}, {2}]>, %b{0}: tensor<f32, [{2}]>", i,
                        widths[i - 1], widths[i]);
    body += Layer(fmt::format("x{}", i - 1), fmt::format("x{}", i), static_cast<int>(i), rows,
                  widths[i - 1], widths[i], i + 1 < widths.size());
  }
  const int n = widths.back();
  const std::string last = fmt::format("x{}", widths.size() - 1);
  body += fmt::format(
      R"(  %most = reduce %{0} {{kind = max, axis = 1, chains = 64, block = 4096}} : tensor<f32, [{1}]>
  %wide = broadcast %most {{axes = [0]}} : tensor<f32, [{1}, {2}]>
  %e = map (%xx = %{0}, %y = %wide) -> tensor<f32, [{1}, {2}]> {{
    %d = sub %xx, %y : f32
    %q = exp.fast %d : f32
    yield %q
  }}
  %sum = reduce %e {{kind = sum, axis = 1, chains = 64, block = 4096}} : tensor<f32, [{1}]>
  %sums = broadcast %sum {{axes = [0]}} : tensor<f32, [{1}, {2}]>
  %r = map (%xx = %e, %y = %sums) -> tensor<f32, [{1}, {2}]> {{
    %q = div %xx, %y : f32
    yield %q
  }}
  return %r
)",
      last, rows, n);
  return fmt::format("frz 1\nfunc @main({}) -> (tensor<f32, [{}, {}]>) {{\n{}}}\n", head, rows, n,
                     body);
}

}  // namespace frazil::plans_test
