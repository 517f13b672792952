// What programs mean, by running them: one small program for each rule of the language, its output written beside it.
#include <gtest/gtest.h>

#include "exec/meaning/interpreter.h"
#include "frontends/trident/trident.h"
#include "ir/check/check.h"
#include "ir/text/text.h"

namespace frazil::frontends::trident {
namespace {

constexpr uint64_t P = 0xffff'ffff'0000'0001u;

struct Ran {
  std::vector<uint64_t> output;
  std::string trap;  // empty: none
  std::string error;
};

Package LoadText(std::string_view text) {
  std::vector<Error> errors;
  auto package = Load(text, "test.tri", DefaultLoader("test.tri"), &errors);
  EXPECT_TRUE(package) << (errors.empty() ? "" : errors[0].ToString());
  return package ? std::move(*package) : Package{};
}

Ran RunText(std::string_view text, std::vector<uint64_t> input = {},
            std::vector<uint64_t> secret = {}, Options options = {}) {
  Ran ran;
  const Package package = LoadText(text);
  std::vector<Error> errors;
  auto built = Build(package, options, &errors);
  if (!built) {
    ran.error = built.error().ToString();
    return ran;
  }
  // Twice through the text form: what is built can be written down and read again.
  auto again = ir::ParseText(ir::PrintText(built->program));
  EXPECT_TRUE(again) << again.error().ToString();
  exec::RunContext context;
  for (uint64_t word : input) context.input.push_back(exec::Value::Word(ir::types::Field, word));
  for (uint64_t word : secret) context.hints.push_back(exec::Value::Word(ir::types::Field, word));
  std::vector<exec::Value> arguments;
  const ir::Function& entry = built->program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    arguments.push_back(
        entry.param_type(i).is_buffer()
            ? exec::Value::Buffer(std::make_shared<exec::Memory>(ir::types::Field, 64))
            : exec::Value::Int(entry.param_type(i), i + 1));
  auto outcome = exec::Interpret(built->program, arguments, context);
  if (!outcome) {
    ran.error = outcome.error().ToString();
    return ran;
  }
  for (const exec::Value& value : outcome->output) ran.output.push_back(value.word);
  for (const exec::Value& value : outcome->results)
    for (uint64_t word : value.scalar_words()) ran.output.push_back(word);
  if (outcome->trap) ran.trap = std::string(ir::TrapName(outcome->trap->kind));
  return ran;
}

// The body of main.
std::vector<uint64_t> Out(const std::string& body, std::vector<uint64_t> input = {},
                          const std::string& items = {}) {
  Ran ran = RunText("program t\n" + items + "\nfn main() {\n" + body + "\n}\n", std::move(input),
                    {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.trap, "") << body;
  return ran.output;
}

std::string TrapOf(const std::string& body, std::vector<uint64_t> input = {}) {
  Ran ran = RunText("program t\nfn main() {\n" + body + "\n}\n", std::move(input));
  EXPECT_EQ(ran.error, "");
  return ran.trap;
}

using Words = std::vector<uint64_t>;

TEST(Elaborate, FieldOperators) {
  EXPECT_EQ(Out("let a: Field = pub_read()\npub_write(a + 5)\npub_write(a * a)\npub_write(sub(2, "
                "a))\npub_write(neg(a))",
                {3}),
            (Words{8, 9, P - 1, P - 3}));
  EXPECT_EQ(Out("pub_write(inv(pub_read()) * 4)", {4}), (Words{1}));
  EXPECT_EQ(TrapOf("pub_write(inv(pub_read()))", {0}), "invert of zero");
  EXPECT_EQ(Out("if pub_read() == 3 { pub_write(1) } else { pub_write(2) }", {3}), (Words{1}));
}

TEST(Elaborate, U32Operators) {
  const std::string ab = "let a: U32 = as_u32(pub_read())\nlet b: U32 = as_u32(pub_read())\n";
  EXPECT_EQ(
      Out(ab + "pub_write(as_field(a + b))\npub_write(as_field(a * b))\npub_write(as_field(a & "
               "b))\npub_write(as_field(a ^ b))",
          {12, 10}),
      (Words{22, 120, 8, 6}));
  EXPECT_EQ(Out(ab + "let (q, r) = a /% b\npub_write2(as_field(q), as_field(r))", {17, 5}),
            (Words{3, 2}));
  EXPECT_EQ(Out(ab + "if a < b { pub_write(1) }\nif b < a { pub_write(2) }", {4, 5}), (Words{1}));
  EXPECT_EQ(TrapOf(ab + "pub_write(as_field(a + b))", {0xffff'ffff, 1}), "overflow");
  EXPECT_EQ(TrapOf(ab + "pub_write(as_field(a * b))", {0x1'0000, 0x1'0000}), "overflow");
  EXPECT_EQ(TrapOf(ab + "let (q, r) = a /% b", {1, 0}), "division by zero");
  EXPECT_EQ(TrapOf("let a: U32 = as_u32(pub_read())", {uint64_t{1} << 32}), "overflow");
}

TEST(Elaborate, U32Functions) {
  EXPECT_EQ(Out("let (h, l) = split(pub_read())\npub_write2(as_field(h), as_field(l))",
                {(5ull << 32) + 6}),
            (Words{5, 6}));
  EXPECT_EQ(Out("pub_write(as_field(log2(as_u32(pub_read()))))", {1000}), (Words{9}));
  EXPECT_EQ(TrapOf("pub_write(as_field(log2(as_u32(pub_read()))))", {0}), "overflow");
  EXPECT_EQ(Out("pub_write(as_field(popcount(as_u32(pub_read()))))", {255}), (Words{8}));
  const std::string pow = "pub_write(as_field(pow(as_u32(pub_read()), as_u32(pub_read()))))";
  EXPECT_EQ(Out(pow, {3, 20}), (Words{3486784401}));
  EXPECT_EQ(Out(pow, {2, 31}), (Words{1u << 31}));
  EXPECT_EQ(Out(pow, {0, 0}), (Words{1}));
  EXPECT_EQ(Out(pow, {1, 0xffff'ffff}), (Words{1}));
  EXPECT_EQ(Out(pow, {0, 0xffff'ffff}), (Words{0}));
  EXPECT_EQ(TrapOf(pow, {2, 32}), "overflow");
  EXPECT_EQ(TrapOf(pow, {65536, 2}), "overflow");
}

TEST(Elaborate, ExtensionField) {
  // (1 + x)(x^2) = x^2 + x^3 = x^2 + x - 1
  EXPECT_EQ(
      Out("let a: XField = xfield(1, 1, 0)\nlet b: XField = xfield(0, 0, 1)\nlet (c, d, e) = a * "
          "b\npub_write3(c, d, e)"),
      (Words{P - 1, 1, 1}));
  EXPECT_EQ(
      Out("let (c, d, e) = xfield(1, 2, 3) *. pub_read() + xfield(1, 0, 0)\npub_write3(c, d, e)",
          {10}),
      (Words{11, 20, 30}));
  EXPECT_EQ(Out("let a: XField = xfield(4, 5, 6)\nif a * xinvert(a) == 1 { pub_write(1) } else { "
                "pub_write(0) }"),
            (Words{1}));
}

TEST(Elaborate, StreamsInTheirOrder) {
  EXPECT_EQ(Out("let (a, b) = pub_read2()\npub_write2(b, a)", {1, 2}), (Words{2, 1}));
  EXPECT_EQ(Out("let (a, b, c, d, e) = pub_read5()\npub_write5(a, b, c, d, e)", {1, 2, 3, 4, 5}),
            (Words{5, 4, 3, 2, 1}));
  EXPECT_EQ(Out("let (a, b, c) = divine3()\npub_write3(a, b, c)"), (Words{7, 8, 9}));
  EXPECT_EQ(Out("let (a, b, c, d, e) = divine5()\npub_write2(a, e)"), (Words{11, 7}));
  EXPECT_EQ(TrapOf("pub_write(pub_read())"), "out of bounds");
}

TEST(Elaborate, WideAssignment) {
  const std::string s = "struct S { d: Digest, n: Field }";
  EXPECT_EQ(Out("let mut d: Digest = divine5()\nd = (1, 2, 3, 4, 5)\nlet mut s: S = S { d, n: 9 "
                "}\ns.d = hash(0, 0, "
                "0, 0, 0, 0, 0, 0, 0, 0)\n"
                "s.d = d\nlet (a, b, c, e, f) = s.d\npub_write5(a, b, c, e, f)\npub_write(s.n)",
                {}, s),
            (Words{1, 2, 3, 4, 5, 9}));
  EXPECT_EQ(Out("let mut a: Digest = (1, 2, 3, 4, 5)\nlet mut b: Digest = (6, 7, 8, 9, 10)\n(a, b) "
                "= (b, a)\nlet (x, "
                "_, _, _, _) = a\n"
                "let (y, _, _, _, _) = b\npub_write2(x, y)"),
            (Words{6, 1}));
}

TEST(Elaborate, NestedPlaces) {
  const std::string s = "struct In { v: [Field; 3] }\nstruct Top { a: Field, inner: [In; 2] }";
  const std::string make =
      "let mut t: Top = Top { a: 1, inner: [In { v: [1, 2, 3] }, In { v: [4, 5, 6] }] }\n";
  EXPECT_EQ(
      Out(make + "t.inner[1].v[2] = 60\nt.a = 9\npub_write3(t.a, t.inner[1].v[2], t.inner[0].v[2])",
          {}, s),
      (Words{9, 60, 3}));
  EXPECT_EQ(Out(make + "let k: U32 = as_u32(pub_read())\nt.inner[k].v[k + 1] = 70\nlet c: Top = "
                       "t\nt.inner[k].v[k + 1] = 80\n"
                       "pub_write2(t.inner[k].v[2], c.inner[1].v[k + 1])",
                {1}, s),
            (Words{80, 70}));
  EXPECT_EQ(TrapOf("let mut a: [Field; 2] = [1, 2]\na[as_u32(pub_read())] = 3", {2}),
            "out of bounds");
  EXPECT_EQ(TrapOf("let mut a: [[Field; 2]; 2] = [[1, 2], [3, 4]]\nlet i: U32 = "
                   "as_u32(pub_read())\npub_write(a[0][i])",
                   {2}),
            "assert");
}

TEST(Elaborate, ValuesAreCopies) {
  EXPECT_EQ(Out("let mut a: [Field; 3] = [1, 2, 3]\nlet b: [Field; 3] = a\nfor i in 0..3 { a[i] = "
                "a[i] * 10 }\nlet "
                "c: [Field; 3] = change(a)\n"
                "pub_write3(a[1], b[as_u32(pub_read())], c[1])",
                {1},
                "fn change(x: [Field; 3]) -> [Field; 3] {\nlet mut y: [Field; 3] = x\nfor i in "
                "0..3 { y[i] = y[i] + "
                "1 }\ny\n}"),
            (Words{20, 2, 21}));
  // The first argument is the array as it was before the second one changed it.
  EXPECT_EQ(Out("let mut a: [Field; 2] = [1, 2]\npub_write(at(a, { a[as_u32(0)] = 50\n0 "
                "}))\npub_write(a[0])",
                {}, "fn at(x: [Field; 2], i: U32) -> Field { x[i] }"),
            (Words{1, 50}));
}

TEST(Elaborate, EarlyReturns) {
  const std::string f =
      "fn f(x: Field) -> Field {\nif x == 0 { return 100 }\nif x == 1 {\nif x == 2 { return 1 "
      "}\npub_write(5)\n} "
      "else {\n"
      "if x == 3 { return 300 }\n}\nfor i in 0..10 {\nfor j in 0..3 {\nif as_field(i + j) == x { "
      "return as_field(i * "
      "10 + j) }\n}\n"
      "pub_write(7)\n}\nmatch x {\n50 => { return 51 }\n_ => { pub_write(8) }\n}\nx + x\n}";
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {0}, f), (Words{100}));
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {1}, f), (Words{5, 1}));
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {3}, f), (Words{300}));
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {4}, f), (Words{7, 7, 22}));
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {50}, f), (Words{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 51}));
  EXPECT_EQ(Out("pub_write(f(pub_read()))", {60}, f),
            (Words{7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 120}));
  EXPECT_EQ(Out("for i in 0..5 {\nif i == 2 { return }\npub_write(as_field(i))\n}\npub_write(99)"),
            (Words{0, 1}));
}

TEST(Elaborate, ShadowingAndScopes) {
  EXPECT_EQ(
      Out("let x: Field = 1\nlet x: Field = x + 1\nif true {\nlet mut x: Field = x + 10\nx = x + "
          "1\npub_write(x)\n}\npub_write(x)"),
      (Words{13, 2}));
  EXPECT_EQ(Out("let mut x: Field = 1\nfor i in 0..3 {\nlet x: Field = "
                "as_field(i)\npub_write(x)\n}\nx = x + "
                "1\npub_write(x)"),
            (Words{0, 1, 2, 2}));
}

TEST(Elaborate, Loops) {
  EXPECT_EQ(Out("let n: Field = pub_read()\nlet mut t: Field = 0\nfor i in 0..n bounded 5 { t = t "
                "+ as_field(i) "
                "}\npub_write(t)",
                {5}),
            (Words{10}));
  EXPECT_EQ(TrapOf("let n: Field = pub_read()\nfor i in 0..n bounded 5 { pub_write(1) }", {6}),
            "assert");
  EXPECT_EQ(Out("let n: U32 = as_u32(pub_read())\nfor i in n..7 { pub_write(as_field(i)) }", {5}),
            (Words{5, 6}));
  EXPECT_EQ(
      Out("let n: U32 = as_u32(pub_read())\nfor i in n..7 bounded 1 { pub_write(as_field(i)) }",
          {9}),
      (Words{}));
  EXPECT_EQ(
      TrapOf("let n: U32 = as_u32(pub_read())\nfor i in n..7 bounded 1 { pub_write(as_field(i)) }",
             {5}),
      "assert");
}

TEST(Elaborate, Generics) {
  const std::string items =
      "const K: U32 = 2\nfn sum<N>(a: [Field; N]) -> Field {\nlet mut t: Field = 0\nfor i in 0..N "
      "{ t = t + a[i] "
      "}\nt\n}\n"
      "fn join<M, N>(a: [Field; M], b: [Field; N]) -> [Field; M+N] {\nlet mut r: [Field; M+N] = "
      "[0; M+N]\nfor i in "
      "0..M { r[i] = a[i] }\n"
      "for i in 0..N { r[M + i] = b[i] }\nr\n}\nfn width<N>() -> Field { N }";
  EXPECT_EQ(
      Out("pub_write(sum([1, 2, 3]))\npub_write(sum<K>([4, 5]))\npub_write(sum(join([1, 2], [3, 4, "
          "5])))\npub_write(width<K * 3 + 1>())",
          {}, items),
      (Words{6, 9, 15, 7}));
}

TEST(Elaborate, ConstantsAndTables) {
  EXPECT_EQ(Out("pub_write(B)\npub_write(as_field(T[as_u32(pub_read())]))\npub_write(Q.x)\npub_"
                "write(neg(A))",
                {2},
                "struct S { x: Field }\nconst A: Field = neg(1)\nconst B: Field = A + A * 3\nconst "
                "T: [U32; 3] = "
                "[10, 20, 30]\nconst Q: S = S { x: 77 }"),
            (Words{P - 4, 30, 77, 1}));
}

TEST(Elaborate, ConstantsMayNeedFunctions) {
  EXPECT_EQ(
      Out("pub_write2(as_field(C), as_field(pow(C, 2)))\npub_write(half)", {},
          "const C: U32 = pow(2, 5)\nconst D: U32 = pow(3, 2)\nconst half: Field = inv(2) * 4"),
      (Words{32, 1024, 2}));
}

TEST(Elaborate, Match) {
  const std::string items =
      "struct Point { x: Field, y: Field }\nfn f(p: Point) -> Field {\nmatch p {\nPoint { x: 0, y "
      "} => { y }\nPoint "
      "{ x, y: 0 } => { x * 10 }\n"
      "_ => { 99 }\n}\n}\nfn g(n: U32) -> Field {\nmatch n {\n0 => { 5 }\n7 => { 6 }\n1000 => { 7 "
      "}\n_ => { 8 "
      "}\n}\n}\nfn h(b: Bool) -> Field {\nmatch b {\n"
      "true => { 1 }\nfalse => { 2 }\n}\n}";
  EXPECT_EQ(Out("pub_write3(f(Point { x: 0, y: 4 }), f(Point { x: 3, y: 0 }), f(Point { x: 1, y: 1 "
                "}))\npub_write3(g(0), g(1000), g(3))\n"
                "pub_write2(h(pub_read() == 1), h(false))",
                {1}, items),
            (Words{4, 30, 99, 5, 7, 8, 1, 2}));
}

TEST(Elaborate, Events) {
  const std::string items = "event A { x: Field }\nevent B { d: Digest, y: Field, n: U32 }";
  EXPECT_EQ(Out("reveal B { y: 6, n: 7, d: (1, 2, 3, 4, 5) }\nreveal A { x: 9 }", {}, items),
            (Words{1, 1, 2, 3, 4, 5, 6, 7, 0, 9}));
  EXPECT_EQ(
      Out("seal A { x: 9 }", {}, items),
      Out("let (a, b, c, d, e) = hash(0, 9, 0, 0, 0, 0, 0, 0, 0, 0)\npub_write5(a, b, c, d, e)"));
  EXPECT_EQ(
      Out("seal W { a: divine5(), b: (1, 2, 3, 4, 5) }", {}, "event W { a: Digest, b: Digest }"),
      Out("sponge_init()\nsponge_absorb(0, 11, 10, 9, 8, 7, 1, 2, 3, 4)\nsponge_absorb(5, 0, 0, 0, "
          "0, 0, 0, 0, "
          "0, 0)\n"
          "let s: [Field; 10] = sponge_squeeze()\npub_write5(s[0], s[1], s[2], s[3], s[4])"));
}

TEST(Elaborate, Ram) {
  EXPECT_EQ(Out("ram_write(5, 50)\nram_write_block(10, (1, 2, 3, 4, 5))\nlet b: [Field; 5] = "
                "ram_read_block(11)\npub_write3(ram_read(5), ram_read(14), b[0])"),
            (Words{50, 5, 2}));
  // acc + (1 + 2x + 3x^2) * 2
  EXPECT_EQ(
      Out("ram_write(0, 1)\nram_write(1, 2)\nram_write(2, 3)\nram_write(9, 2)\nlet (acc, p, q) = "
          "xb_dot_step(xfield(1, 0, 0), 0, 9)\n"
          "let (a, b, c) = acc\npub_write5(a, b, c, p, q)"),
      (Words{3, 4, 6, 3, 10}));
  EXPECT_EQ(TrapOf("pub_write(ram_read(neg(1)))"), "out of bounds");
}

TEST(Elaborate, MerkleStepFromRamIsTheHash) {
  const std::string store =
      "ram_write_block(0, (1, 2, 3, 4, 5))\nlet (p, i, d) = merkle_step_mem(0, as_u32(pub_read()), "
      "(6, 7, 8, 9, "
      "10))\n";
  const std::string show =
      "let (a, b, c, e, f) = d\npub_write5(a, b, c, e, f)\npub_write2(p, as_field(i))";
  auto hashed = [](const std::string& ten) {
    return Out("let (a, b, c, e, f) = hash(" + ten + ")\npub_write5(a, b, c, e, f)");
  };
  Words even = hashed("6, 7, 8, 9, 10, 1, 2, 3, 4, 5"),
        odd = hashed("1, 2, 3, 4, 5, 6, 7, 8, 9, 10");
  even.insert(even.end(), {5, 3});
  odd.insert(odd.end(), {5, 3});
  EXPECT_EQ(Out(store + show, {6}), even);
  EXPECT_EQ(Out(store + show, {7}), odd);
}

TEST(Elaborate, Contracts) {
  const std::string text =
      "program t\n#[requires(amount > 0 && amount <= balance)]\n#[ensures(result == sub(balance, "
      "amount))]\n"
      "fn withdraw(balance: Field, amount: Field) -> Field { sub(balance, amount) }\nfn main() { "
      "pub_write(withdraw(100, pub_read())) }";
  Options checked;
  checked.contracts = true;
  EXPECT_EQ(RunText(text, {30}, {}, checked).output, (Words{70}));
  EXPECT_EQ(RunText(text, {101}, {}, checked).trap, "assert");
  EXPECT_EQ(RunText(text, {101}).trap, "");
}

TEST(Elaborate, FunctionsAsEntries) {
  Options options;
  options.function = "f";
  // Parameters count from 1: x = 1, a = [2, 3, 4].
  EXPECT_EQ(RunText("module m\npub fn f(x: Field, a: [Field; 3]) -> (Field, [Field; 2]) {\nlet mut "
                    "t: Field = x\nfor "
                    "i in 0..3 { t = t * 10 + a[i] }\n(t, [a[0], x])\n}",
                    {}, {}, options)
                .output,
            (Words{1234, 2, 1}));
  options.function = "g";
  options.sizes = {4};
  EXPECT_EQ(RunText("module m\npub fn g<N>(a: [U32; N]) -> U32 {\nlet mut t: U32 = 0\nfor i in "
                    "0..N { t = t + a[i] }\nt\n}",
                    {}, {}, options)
                .output,
            (Words{10}));
}

TEST(Elaborate, AttributesSelect) {
  Options options;
  options.cfg = {"fast"};
  const std::string text =
      "program t\n#[cfg(fast)]\nfn f() -> Field { 1 }\n#[cfg(slow)]\nfn f() -> Field { 2 "
      "}\n#[test]\nfn works() { "
      "assert_eq(f(), 1) }\nfn main() { pub_write(f()) }";
  EXPECT_EQ(RunText(text, {}, {}, options).output, (Words{1}));
  EXPECT_EQ(Tests(LoadText(text)), (std::vector<std::string>{"works"}));
  options.function = "works";
  EXPECT_EQ(RunText(text, {}, {}, options).trap, "");
}

TEST(Elaborate, AssemblyHasTheArgumentsOfItsFunction) {
  const Package package = LoadText(
      "program t\nfn f(a: Field, d: Digest) -> (U32, Field) {\nasm(-4) { pop 4 }\n}\nfn main() "
      "{\nlet (a, b) = f(1, "
      "(2, 3, 4, 5, 6))\n"
      "pub_write2(as_field(a), b)\nlet x: XField = { asm(+3) { push 1 push 2 push 3 } "
      "}\npub_write(x_part(x))\n}\nfn "
      "x_part(x: XField) -> Field {\nlet (a, _, _) = x\na\n}");
  auto built = Build(package, {}, nullptr);
  ASSERT_TRUE(built) << built.error().ToString();
  const std::string text = ir::PrintText(built->program);
  EXPECT_NE(text.find("tasm"), std::string::npos);
  EXPECT_NE(text.find("cast.checked"), std::string::npos);  // the U32 is not believed
}

TEST(Elaborate, ManySizesEndAtALimit) {
  std::string text = "program t\nfn f0<N>(a: [Field; N]) -> Field { a[0] }\n";
  for (int i = 1; i < 30; ++i)
    text += "fn f" + std::to_string(i) + "<N>() -> Field { f" + std::to_string(i - 1) +
            (i == 1 ? "([1; N]) + f0([1; N+1]) }\n"
                    : "<N>() + f" + std::to_string(i - 1) + "<N*2+1>() }\n");
  text += "fn main() { pub_write(f29<1>()) }\n";
  EXPECT_NE(RunText(text).error.find("FRZ1124"), std::string::npos);
}

TEST(Elaborate, LargeProgramsAndDeepOnesAreRefusedInWords) {
  std::string doubles = "program t\nfn main() {\nlet a0: [Field; 2] = [1, 2]\n";
  for (int i = 1; i < 40; ++i)
    doubles += "let a" + std::to_string(i) + " = [a" + std::to_string(i - 1) + ", a" +
               std::to_string(i - 1) + "]\n";
  EXPECT_NE(RunText(doubles + "}\n").error.find("more than 65536 words"), std::string::npos);
  std::string returns = "program t\nfn f(x: Field) -> Field {\n";
  for (int i = 0; i < 1000; ++i)
    returns += "if x == " + std::to_string(i) + " { return " + std::to_string(i * i) + " }\n";
  EXPECT_NE(RunText(returns + "x\n}\nfn main() { pub_write(f(pub_read())) }\n", {5}).error, "");
}

// Which file every function is of, so that a crash can name its line; what is shared by several lines has none.
TEST(Places, FunctionsKnowTheirFiles) {
  const auto build = [](std::string_view text) {
    std::vector<Error> errors;
    auto built = Build(LoadText(text), {}, &errors);
    EXPECT_TRUE(built) << (errors.empty() ? "" : errors[0].ToString());
    return built ? std::move(*built) : Built{};
  };
  const auto file_of = [](const Built& built, std::string_view name) {
    EXPECT_EQ(built.files.size(), built.program.functions.size());
    const ir::FuncId id = built.program.FindFunction(name);
    return id.valid() ? built.files[id.index] : "no such function";
  };
  const Built one = build(
      "program p\nuse std.u32\nfn main() {\n    pub_write(as_field(u32.min(pow(2, 3), 4)))\n}\n");
  EXPECT_EQ(file_of(one, "main"), "test.tri");
  EXPECT_EQ(file_of(one, "std.u32.min"), "std/u32.tri");
  EXPECT_EQ(file_of(one, "u32..pow"), "test.tri");
  const ir::FuncId pow = one.program.FindFunction("u32..pow");
  EXPECT_EQ(one.program.functions[pow.index].insts[0].location.line, 4u);
  const Built two = build(
      "program p\nfn main() {\n    pub_write(as_field(pow(2, 3)))\n    pub_write(as_field(pow(3, "
      "2)))\n}\n");
  EXPECT_EQ(file_of(two, "u32..pow"), "");
}

// A check of the text makes bodies only to look at them: a call of a function checked before still has its types.
TEST(Places, CheckingForgetsBodiesAndKeepsTypes) {
  std::string text =
      "module m\nfn f0(a: U32) -> (U32, Digest) { (a, hash(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)) }\n";
  for (int i = 1; i < 300; ++i)
    text += "fn f" + std::to_string(i) + "(a: U32) -> (U32, Digest) { f" + std::to_string(i - 1) +
            "(a + 1) }\n";
  std::vector<Error> errors;
  EXPECT_TRUE(CheckAll(LoadText(text), {}, &errors).has_value());
  text += "fn wrong() -> U32 { let (a, b) = f7(1)\n b }\n";
  EXPECT_FALSE(CheckAll(LoadText(text), {}, &errors).has_value());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].message.find("expected U32, got Digest"), std::string::npos);
}

}  // namespace
}  // namespace frazil::frontends::trident
