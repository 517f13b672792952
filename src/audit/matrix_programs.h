// Table: one small program for each row of `frazil matrix`, with the arguments it runs on.
#pragma once

#include <string_view>

namespace frazil::audit {

struct MatrixProgram {
  std::string_view door;       // "frz", "words", "python", "circuit", "trident" or "tir"
  std::string_view what;       // the types or ops that the row stands for
  std::string_view text;       // the body of @main, or the words
  std::string_view header;     // signature of @main
  std::string_view arguments;  // separated by blanks
};

inline constexpr MatrixProgram MatrixPrograms[] = {
    {"frz", "i8 .. u64", "%s = add %a, %b : i8\n%m = mul.hi %c, %c : u64\nreturn %s, %m\n",
     "(%a: i8, %b: i8, %c: u64) -> (i8, u64)", "100 100 18446744073709551615"},
    {"frz", "bool, index", "%t = lt %a, %b : index\n%u = not %t : bool\nreturn %t, %u\n",
     "(%a: index, %b: index) -> (bool, bool)", "-1 5"},
    {"frz", "int<k>", "%s = mul.checked %a, %a : int<4>\nreturn %s\n", "(%a: int<4>) -> (int<4>)",
     "340282366920938463463374607431768211455"},
    {"frz", "f16, bf16", "%s = mul %a, %a : f16\n%t = div %b, %b : bf16\nreturn %s, %t\n",
     "(%a: f16, %b: bf16) -> (f16, bf16)", "0.1 0.3"},
    {"frz", "f32, fma", "%s = fma %a, %a, %b : f32\n%t = sqrt %s : f32\nreturn %t\n",
     "(%a: f32, %b: f32) -> (f32)", "1.0000001 -1"},
    {"frz", "f64", "%s = div %a, %b : f64\nreturn %s\n", "(%a: f64, %b: f64) -> (f64)", "1 3"},
    {"frz", "math functions",
     "%s = exp %a : f32\n%t = tanh %s : f32\n%u = pow %b, %b : f64\nreturn %t, %u\n",
     "(%a: f32, %b: f64) -> (f32, f64)", "-0.5 2.5"},
    {"frz", "field, xfield, digest",
     "%i = invert %a : field\n%x = xfield.make %a, %i, %a : xfield\n%y = mul %x, %x : xfield\n"
     "%d = digest.make %a, %i, %a, %i, %a : digest\nreturn %y, %d\n",
     "(%a: field) -> (xfield, digest)", "7"},
    {"frz", "buffers",
     "%z = const 0 : index\nfor %i = %z to %n step 1 {\n%v = load %x, %i : i32\n%w = add %v, %v : "
     "i32\n"
     "store %x, %i, %w : i32\nyield\n}\nreturn\n",
     "(%n: index, %x: buffer<i32>)", "3 [1,2,3]"},
    {"frz", "parallel, atomics, barrier",
     "%z = const 0 : index\n%one = const 1 : i32\nparallel %i = %z to %n {\n"
     "%o = atomic %x, %z, %one {kind = add} : i32\nbarrier\n%v = load %x, %z : i32\n"
     "store %x, %i, %v : i32\nyield\n}\nreturn\n",
     "(%n: index, %x: buffer<i32>)", "4 [0,0,0,0]"},
    {"frz", "tensors",
     "%m = matmul %a, %a : tensor<f32, [2, 2]>\n"
     "%r = reduce %m {kind = sum, axis = 1, chains = 64, block = 4096} : tensor<f32, [2]>\nreturn "
     "%r\n",
     "(%a: tensor<f32, [2, 2]>) -> (tensor<f32, [2]>)", "[1,2,3,4]"},
    {"frz", "calls, while, switch",
     "%z = const 0 : i64\n%r = while (%k = %a) {\n%t = gt %k, %z : i64\ncondition %t\n} do {\n"
     "%one = const 1 : i64\n%n = sub %k, %one : i64\nyield %n\n}\n"
     "%s = switch %r -> (i64) {\ncase 0 {\nyield %a\n}\ndefault {\nyield %z\n}\n}\nreturn %s\n",
     "(%a: i64) -> (i64)", "9"},
    {"frz", "streams, traps", "output %a : field\n%t = ne %a, %a : field\nassert %t\nreturn\n",
     "(%a: field)", "5"},
    {"words", "integers", "Sum 1 to 1000", "", ""},
    {"words", "large integers", "Product of 1 to 30", "", ""},
    {"words", "quotients", "(1 + 2) / 7", "", ""},
    {"python", "map, branch, loop",
     "def k(x: DeviceArray[f32], n: u32):\n    i = get_global_id()\n    if i < n:\n        s = "
     "0.0\n"
     "        for j in range(i):\n            s += x[j] if False else tanh(x[i])\n        x[i] = "
     "max(s, 0.5)\n",
     "", "[0.25,-1,2.5] 3"},
    {"python", "shared memory, barrier",
     "def k(x: DeviceArray[i32]):\n    t = shared(i32, 4)\n    l = get_local_id()\n    t[l] = "
     "x[l]\n    barrier()\n"
     "    x[l] = t[3 - l]\n",
     "", "[1,2,3,4] 1 4"},
    {"python", "atomics, reductions",
     "def k(x: DeviceArray[f32], s: DeviceArray[f32], c: DeviceArray[u32], n: u32):\n    i = "
     "get_global_id()\n"
     "    if i < n:\n        atomic_add(c, i % 2, 1)\n        atomic_add(s, 0, x[i] * x[i])\n",
     "", "[0.1,0.2,0.3] [1] [0,0] 3"},
    {"circuit", "maps, reductions", "merge.mul@c00[c01,c02] . mark@c01 . reduce.sum@c02->c03", "",
     "[1,2,3] [4,5,6] [0,0,0] [0,0,0] 3"},
    {"trident", "field, u32, loops",
     "program row\nfn main() {\n    let mut a: Field = 0\n    let mut b: Field = 1\n    for i in "
     "0..20 {\n"
     "        let c: Field = a + b\n        a = b\n        b = c\n    }\n    pub_write(a)\n"
     "    let (q, r) = as_u32(a) /% as_u32(100)\n    pub_write(as_field(q))\n    "
     "pub_write(as_field(r))\n}\n",
     "", ""},
    {"trident", "hash, xfield, digest",
     "program row\nfn main() {\n    let d: Digest = hash(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)\n"
     "    let (a, b, c, e, f) = d\n    pub_write5(a, b, c, e, f)\n}\n",
     "", ""},
    {"tir", "stack code", "entry main\nfn main\npush 6\npush 7\nmul\nwrite_io 1\nend\n", "", ""},
};

}  // namespace frazil::audit
