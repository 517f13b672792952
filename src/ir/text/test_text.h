// Texts of small programs that tests share: the frame around the lines that a test is about, and programs that several
// folders run. A text may start with a new line, so that its lines stand under each other.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace frazil::ir {

inline std::string_view WithoutFirstNewline(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  return text;
}

// @main over these parameters.
inline std::string MainText(std::string_view params, std::string_view body) {
  return fmt::format("frz 1\nfunc @main({}) {{\n{}  return\n}}\n", params,
                     WithoutFirstNewline(body));
}

// One parallel %i in @main. %zero is 0 : index, `setup` what else stands before the loop.
inline std::string Lanes(std::string_view params, std::string_view setup, std::string_view body,
                         std::string_view range = "%zero to %n") {
  return MainText(params,
                  fmt::format("  %zero = const 0 : index\n{}  parallel %i = {} {{\n{}"
                              "    yield\n  }}\n",
                              WithoutFirstNewline(setup), range, WithoutFirstNewline(body)));
}
inline std::string Lanes(std::string_view params, std::string_view body) {
  return Lanes(params, "", body);
}

// y = a x + y over n elements, as kernels are written.
inline constexpr std::string_view SaxpyText = R"(frz 1
func @saxpy(%a: f32, %x: in buffer<f32>, %y: buffer<f32>, %n: u32) {
  %zero = const 0 : index
  %bound = cast %n : index
  parallel %i = %zero to %bound {
    %xi = load %x, %i : f32
    %p = mul %a, %xi : f32
    %yi = load %y, %i : f32
    %s = add %p, %yi : f32
    store %y, %i, %s : f32
    yield
  }
  return
}
)";

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
