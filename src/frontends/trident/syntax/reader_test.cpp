// Reading: what is in the language reads as the tree it means; what is not is named at its place, with a hint.
#include <gtest/gtest.h>

#include <chrono>

#include "frontends/trident/syntax/test_tree.h"
#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {
namespace {

std::string Body(std::string_view statements) {
  return "program p\nfn main() {\n" + std::string(statements) + "\n}\n";
}

// The errors of a body, "line:column message (hint)"; lines count from the body's first.
std::vector<std::string> Errors(std::string_view text) {
  std::vector<std::string> lines;
  for (const Error& error : Read(text, "").errors) {
    lines.push_back(std::to_string(error.location.line) + ":" +
                    std::to_string(error.location.column) + " " + error.message +
                    (error.hint.empty() ? "" : " (" + error.hint + ")"));
  }
  return lines;
}

// The value of `let x = ...`, fully parenthesized.
std::string Value(std::string_view text) {
  ReadResult read = Read(Body("let x = " + std::string(text)), "");
  if (!read.errors.empty()) return read.errors[0].ToString();
  const auto show = [](const Expr& e, const auto& self) -> std::string {
    constexpr const char* signs[] = {"+", "*", "==", "<", "&", "^", "/%", "*."};
    if (e.kind == Expr::Kind::Binary)
      return "(" + self(*e.operands[0], self) + signs[static_cast<int>(e.op)] +
             self(*e.operands[1], self) + ")";
    if (e.kind == Expr::Kind::Integer) return std::to_string(e.number);
    if (e.kind == Expr::Kind::Index)
      return self(*e.operands[0], self) + "[" + self(*e.operands[1], self) + "]";
    std::string text = e.path.ToString();
    for (const ExprPtr& size : e.sizes) text += "<" + self(*size, self) + ">";
    if (e.kind != Expr::Kind::Name) text += "{";
    for (const ExprPtr& operand : e.operands) text += self(*operand, self) + ";";
    for (const FieldInit& field : e.fields)
      text += field.name + ":" + (field.value ? self(*field.value, self) : "") + ";";
    return e.kind != Expr::Kind::Name ? text + "}" : text;
  };
  return show(*read.module.functions[0].body->stmts[0].value, show);
}

using Readings = std::vector<std::pair<std::string, std::string>>;
void ExpectReadings(const Readings& readings) {
  for (const auto& [text, tree] : readings) EXPECT_EQ(Value(text), tree);
}

TEST(Reader, Precedence) {
  ExpectReadings({{"a + b * c", "(a+(b*c))"},
                  {"a + b == c < d", "((a+b)==(c<d))"},
                  {"a * b & c", "(a*(b&c))"},
                  {"a & b ^ c", "((a&b)^c)"},
                  {"a /% b & c", "((a/%b)&c)"},
                  {"a *. s + b", "((a*.s)+b)"},
                  {"(a + b) * c", "((a+b)*c)"},
                  {"a + b + c", "((a+b)+c)"}});
}

TEST(Reader, CallsSizesAndComparisons) {
  ExpectReadings({{"f<3>(a)", "f<3>{a;}"},
                  {"m.f<N + 1, 2>(a, b)", "m.f<(N+1)><2>{a;b;}"},
                  {"f < 3", "(f<3)"},
                  {"a < b + c", "(a<(b+c))"},
                  {"p.x.y[i + 1]", "p.x.y[(i+1)]"},
                  {"(p).x", "p.x"},
                  {"S { a: 1, b }", "S{a:1;b:;}"},
                  {"18446744069414584320", "18446744069414584320"}});
}

TEST(Reader, LinesEndStatements) {
  ReadResult read =
      Read(Body("let a = b\n(c, d) = f()\nx\n[1, 2]\na\n  + b\nreveal\nE { q: 1 }\nreturn\ny"), "");
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].ToString();
  const Block& body = *read.module.functions[0].body;
  ASSERT_EQ(body.stmts.size(), 7u);
  EXPECT_EQ(body.stmts[1].kind, Stmt::Kind::TupleAssign);
  EXPECT_EQ(body.stmts[2].value->kind, Expr::Kind::Name);
  EXPECT_EQ(body.stmts[3].value->kind, Expr::Kind::Array);
  EXPECT_EQ(body.stmts[4].value->kind, Expr::Kind::Binary);
  EXPECT_EQ(body.stmts[5].kind, Stmt::Kind::Reveal);
  EXPECT_EQ(body.stmts[6].value, nullptr);
  ASSERT_NE(body.tail, nullptr);
}

TEST(Reader, BlocksAgainstStructs) {
  ReadResult read = Read(Body("if a == S { b }\nfor i in 0..n { x = T { y: 1 } }\nif (S { a: 1 }) "
                              "== z { }\nmatch m { 0 => { } }"),
                         "");
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].ToString();
  const Block& body = *read.module.functions[0].body;
  EXPECT_EQ(body.stmts[0].value->operands[1]->kind, Expr::Kind::Name);
  EXPECT_EQ(body.stmts[1].last->kind, Expr::Kind::Name);
  EXPECT_EQ(body.stmts[2].value->operands[0]->kind, Expr::Kind::Struct);
  EXPECT_EQ(body.stmts[3].arms.size(), 1u);
}

TEST(Reader, AsmIsRaw) {
  ReadResult read = Read(
      Body("asm(triton)(+1) {\n  push 1 // }\n\n  { } push 2\n}\nasm { dup 0 add }\nasm(-2) { }"),
      "");
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].ToString();
  const Block& body = *read.module.functions[0].body;
  EXPECT_EQ(body.stmts[0].assembly->text, "push 1 // }\n{ } push 2");
  EXPECT_EQ(body.stmts[0].assembly->effect, 1);
  EXPECT_EQ(body.stmts[0].assembly->target, "triton");
  EXPECT_EQ(body.stmts[1].assembly->text, "dup 0 add");
  EXPECT_EQ(body.stmts[2].assembly->effect, -2);
}

TEST(Reader, Predicates) {
  ReadResult read = Read(
      "module m\n#[requires(a > 0 && !(b != 1) || a - b >= f<2>(c))]\nfn g(a: Field) { }\n", "");
  ASSERT_TRUE(read.errors.empty()) << read.errors[0].ToString();
  const Expr& condition = *read.module.functions[0].attributes[0].condition;
  EXPECT_EQ(condition.path.ToString(), "or");
  EXPECT_TRUE(condition.infix);
  EXPECT_EQ(condition.operands[1]->path.ToString(), "ge");
  EXPECT_EQ(condition.operands[1]->operands[0]->path.ToString(), "sub");
}

TEST(Reader, ElseIfIsReadWithAWarning) {
  ReadResult read = Read(Body("if a { x = 1 } else if b { x = 2 } else { x = 3 }"), "");
  EXPECT_TRUE(read.errors.empty());
  ASSERT_EQ(read.warnings.size(), 1u);
  EXPECT_EQ(read.warnings[0].location.column, 21u);
  const Stmt& stmt = read.module.functions[0].body->stmts[0];
  EXPECT_EQ(stmt.else_block->stmts[0].kind, Stmt::Kind::If);
}

TEST(Reader, WhatDoesNotExistHasAHint) {
  const std::pair<const char*, const char*> rows[] = {
      {"let x = a - b", "use sub(a, b)"},
      {"let x = -a", "use neg(a)"},
      {"let x = a / b", "a * inv(b)"},
      {"let x = a % b", "a /% b"},
      {"let x = a > b", "write b < a"},
      {"if a != b { }", "if a == b { } else { ... }"},
      {"if a && b { }", "nest two ifs"},
      {"if !a { }", "a == false"},
      {"while a { }", "bounded 64"},
      {"loop { }", "bounded 64"},
      {"break", "keep a flag"},
      {"x += 1", "x = x + 1"},
      {"let x = \"s\"", "field elements"},
      {"let x = t.0", "take the tuple apart"},
      {"let x = a as U32", "as_u32(x)"},
      {"let x = &a", "values are copied"},
      {"let x = if a { 1 } else { 2 }", "assign it in both branches"},
      {"let x = m::f()", "module.name"},
      {"let x = 0x10", "decimal digits"},
      {"let x = 18446744069414584321", "the largest is 18446744069414584320"},
      {"for x in list { }", "0..n"},
      {"for i in 0..n bounded N { }", "bounded 64"},
      {"let (mut a, b) = c", "let mut (a, b)"},
      {"  fn inner() { }", "no closures"},
      {"let x: Field", "a value from the start"},
      {"match x { y => { } }", "a pattern is"},
      {"match x { 0 => f() }", "stands in braces"},
      {"println!(x)", "no macros"},
      {"/* c */ x = 1", "begin each line with //"},
  };
  for (const auto& [text, part] : rows) {
    const std::vector<std::string> errors = Errors(Body(text));
    ASSERT_FALSE(errors.empty()) << text;
    EXPECT_NE(errors[0].find(part), std::string::npos) << text << "\n" << errors[0];
    EXPECT_EQ(errors[0].substr(0, 2), "3:") << text;
  }
}

TEST(Reader, ItemsThatDoNotExist) {
  for (const char* text :
       {"enum E { A }", "trait T { }", "impl S { }", "type A = Field", "static X: Field = 1",
        "pub(crate) fn f() { }", "pub use a", "fn f(mut x: Field) { }", "fn f(x) { }", "fn f()",
        "const X = 1", "struct S<T> { }", "let x = 1", "fn f(x: &Field) { }",
        "fn f(x: [Field]) { }", "#[tset]\nfn f() { }", "#[pure]\nconst X: Field = 1",
        "pub input: Field"}) {
    EXPECT_FALSE(Errors(std::string("module m\n") + text + "\n").empty()) << text;
  }
  EXPECT_EQ(Errors("module m\n#[tset]\nfn f() { }\n")[0],
            "2:3 there is no attribute 'tset' (did you mean 'test'?)");
  EXPECT_FALSE(Errors("fn f() { }\n").empty());
  EXPECT_FALSE(Errors("").empty());
}

TEST(Reader, ManyErrorsInOneReading) {
  const std::vector<std::string> errors = Errors(
      "program p\nuse a.*\nfn f( {\n}\nfn g() {\n  x = 1 - 2\n  f(1,\n  let y = 3 3\n}\nfn h() { "
      "}\nenum E { }\n");
  ASSERT_EQ(errors.size(), 6u);
  EXPECT_EQ(errors[0].substr(0, 3), "2:7");
  EXPECT_EQ(errors[1].substr(0, 3), "3:7");
  EXPECT_EQ(errors[2].substr(0, 3), "6:9");
  EXPECT_EQ(errors[3].substr(0, 3), "8:3");
  EXPECT_EQ(errors[4].substr(0, 4), "8:13");
  EXPECT_EQ(errors[5].substr(0, 4), "11:1");
}

TEST(Reader, DepthIsLimited) {
  const auto deep = [](std::string open, std::string middle, std::string close, int count) {
    std::string text = "x = ";
    for (int i = 0; i < count; ++i) text += open;
    text += middle;
    for (int i = 0; i < count; ++i) text += close;
    return Errors(Body(text));
  };
  for (const auto& [open, close] :
       {std::pair("(", ")"), std::pair("[", "]"), std::pair("f(", ")"), std::pair("{", "}"),
        std::pair("!", ""), std::pair("a[", "]")}) {
    const std::vector<std::string> errors = deep(open, "1", close, 100'000);
    ASSERT_FALSE(errors.empty());
    EXPECT_LE(errors.size(), 100u);
  }
  EXPECT_TRUE(deep("(", "1", ")", 100).empty());
  EXPECT_FALSE(deep("", "1", " + 1", 100'000).empty());
  EXPECT_TRUE(deep("", "1", " + 1", 500).empty());
}

TEST(Reader, LongTextsAreFast) {
  std::string text = "program p\n";
  for (int i = 0; i < 1000; ++i) {
    text += "fn f" + std::to_string(i) + "(a: Field) -> Field {\n    let mut x: Field = a\n";
    for (int j = 0; j < 96; ++j) text += "    x = x * 3 + a\n";
    text += "    x\n}\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const ReadResult read = Read(text, "");
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_TRUE(read.errors.empty());
  EXPECT_EQ(read.module.functions.size(), 1000u);
  EXPECT_LT(seconds, 5.0);  // 100,000 lines; 0.2 s on a quiet machine
}

TEST(Reader, BadBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Read("program p\n\xff", "").errors[0].ToString(),
            "2:1: error FRZ0103: the text is not UTF-8 here: byte \\xff (save the file as UTF-8)");
  EXPECT_EQ(Read("program p\n\0"sv, "").errors[0].ToString(),
            "2:1: error FRZ1101: a control character, \\x00, stands here");
  EXPECT_EQ(Read("program p\nfn f() { \xe2\x80\xaex }", "").errors[0].ToString(),
            "2:10: error FRZ1101: '\\xe2\\x80\\xae' has no meaning here");
  for (const Error& error : Read("program p\n\x1b \x7f(\x01\nfn \x02() { \x03 }", "").errors)
    EXPECT_EQ(error.message.find_first_of("\x01\x02\x03\x1b\x7f"), std::string::npos);
  Limits limits;
  limits.source_bytes = 5;
  EXPECT_EQ(Read("program p\n", "", limits).errors[0].diag, Diag::LimitReached);
}

}  // namespace
}  // namespace frazil::frontends::trident
