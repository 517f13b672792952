// Texts of small programs that tests share: the frame around the lines that a test is about, and programs that several
// folders run. A text may start with a new line, so that its lines stand under each other.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "ir/text/text.h"

namespace frazil::ir {

// The program of a text that must be one.
inline Program Parsed(std::string_view text) {
  Result<Program> program = ParseText(text);
  EXPECT_TRUE(program.has_value()) << program.error().ToString() << "\n" << text;
  return program ? std::move(*program) : Program();
}

inline std::string_view WithoutFirstNewline(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  return text;
}

// @main, or another function, over these parameters.
inline std::string MainText(std::string_view params, std::string_view body,
                            std::string_view name = "main") {
  return fmt::format("frz 1\nfunc @{}({}) {{\n{}  return\n}}\n", name, params,
                     WithoutFirstNewline(body));
}

// One parallel %i in @main. %zero is 0 : index, `setup` what else stands before the loop.
inline std::string Lanes(std::string_view params, std::string_view setup, std::string_view body,
                         std::string_view range = "%zero to %n", std::string_view name = "main") {
  return MainText(params,
                  fmt::format("  %zero = const 0 : index\n{}  parallel %i = {} {{\n{}"
                              "    yield\n  }}\n",
                              WithoutFirstNewline(setup), range, WithoutFirstNewline(body)),
                  name);
}
inline std::string Lanes(std::string_view params, std::string_view body) {
  return Lanes(params, "", body);
}

// A kernel as the front ends write it: as many lanes as a u32 parameter says.
inline std::string KernelText(std::string_view name, std::string_view params,
                              std::string_view count, std::string_view body) {
  return Lanes(params, fmt::format("  %bound = cast {} : index\n", count), body, "%zero to %bound",
               name);
}

// What a lane does to its own elements: it loads %xi from %x for each input, and stores the %r of `body`.
inline std::string OwnElements(std::string_view type,
                               std::initializer_list<std::string_view> inputs,
                               std::string_view body, std::string_view output) {
  std::string text;
  for (std::string_view input : inputs)
    text += fmt::format("    %{0}i = load %{0}, %i : {1}\n", input, type);
  return text +
         fmt::format("{}    store %{}, %i, %r : {}\n", WithoutFirstNewline(body), output, type);
}

// y = a x + y, in the lanes of a kernel.
inline const std::string SaxpyLanes = OwnElements("f32", {"x", "y"}, R"(
    %p = mul %a, %xi : f32
    %r = add %p, %yi : f32
)",
                                                  "y");
inline const std::string SaxpyText =
    KernelText("saxpy", "%a: f32, %x: in buffer<f32>, %y: buffer<f32>, %n: u32", "%n", SaxpyLanes);

// %sum in a lane: of `left` at the index that `index` makes from %k, times `right` at %k, for %k below `count`.
inline std::string DotLoop(std::string_view count, std::string_view index, std::string_view left,
                           std::string_view right) {
  return fmt::format(R"(
    %start = const 0 : f32
    %sum = for %k = %zero to {} step 1 carry (%acc = %start) {{
{}      %u = load {}, %at : f32
      %w = load {}, %k : f32
      %p = mul %u, %w : f32
      %next = add %acc, %p : f32
      yield %next
    }}
)",
                     count, WithoutFirstNewline(index), left, right);
}

// z[i] = x[i + c] op `second`, in the lanes of a kernel.
inline std::string ShiftedLanes(std::string_view op, std::string_view second) {
  return OwnElements("f32", {},
                     fmt::format(R"(
    %j = add %i, %c : index
    %a = load %x, %j : f32
    %b = load {} : f32
    %r = {} %a, %b : f32
)",
                                 second, op),
                     "z");
}

// Each lane takes its element of `from` from the next one and stores that in `to`.
inline std::string DifferencesText(std::string_view params, std::string_view type,
                                   std::string_view from, std::string_view to) {
  return Lanes(params, "  %one = const 1 : index\n",
               fmt::format(R"(
    %next = add %i, %one : index
    %u = load {1}, %next : {0}
    %v = load {1}, %i : {0}
    %r = sub %u, %v : {0}
    store {2}, %i, %r : {0}
)",
                           type, from, to));
}

// A loop that carries, reads and writes.
inline constexpr std::string_view ScaleAndSumText =
    R"(frz 1
func @main(%a: f32, %n: index, %x: in buffer<f32>, %out: out buffer<f32>) -> (f32) {
  %zero = const 0 : index
  %start = const 0 : f32
  %sum = for %i = %zero to %n step 1 carry (%acc = %start) {
    %v = load %x, %i : f32
    %p = mul %a, %v : f32
    store %out, %i, %p : f32
    %next = add %acc, %p : f32
    yield %next
  }
  return %sum
}
)";

// Calls itself n times and adds `each` (%n or %one) for each call, in an integer type. Without the first line of a text.
inline std::string RecursionText(std::string_view type, std::string_view each) {
  return fmt::format(R"(func @down(%n: {0}) -> ({0}) {{
  %zero = const 0 : {0}
  %one = const 1 : {0}
  %done = le %n, %zero : {0}
  %r = if %done -> ({0}) {{
    yield %zero
  }} else {{
    %m = sub %n, %one : {0}
    %s = call @down(%m)
    %t = add %s, {1} : {0}
    yield %t
  }}
  return %r
}}
func @main(%n: {0}) -> ({0}) {{
  %r = call @down(%n)
  return %r
}}
)",
                     type, each);
}

}  // namespace frazil::ir
