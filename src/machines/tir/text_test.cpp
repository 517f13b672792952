// The text form there and back, the sentences about what is not TIR, shapes and tiers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machines/tir/tir.h"

namespace frazil::machines::tir {
namespace {

Program Read(std::string_view text) {
  Result<Program> program = Parse(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return program ? std::move(*program) : Program{};
}

std::string ErrorOf(std::string_view text) {
  Result<Program> program = Parse(text, "x.tir");
  if (!program) return program.error().ToString();
  Result<std::vector<FunctionShape>> shapes = Check(*program);
  return shapes ? "" : shapes.error().ToString();
}

std::string Main(std::string_view body) {
  return fmt::format("entry main\nfn main\n{}\nend\n", body);
}

constexpr std::string_view Everything = R"(// a program
entry main
fn main
  call helper // here
  if {
    push -1
  } else {
    push 0x10
    if_only {
    }
    push 3
  }
  pop 1
  loop {
    nop_is_not_here
  }
end
)";

TEST(Text, StrangeBytesAreShownEscaped) {
  using namespace std::string_view_literals;
  EXPECT_EQ(ErrorOf("fn main\n \0\x07\nend"sv).substr(0, 51),
            "x.tir:2:2: error FRZ0104: `\\x00\\x07` is not an oper");
  EXPECT_EQ(ErrorOf("fn f\0\nend"sv), "x.tir:1:4: error FRZ1210: `f\\x00` is not a name");
  EXPECT_EQ(ErrorOf("fn main // \xfe\nend").substr(0, 63),
            "x.tir:1:12: error FRZ0103: the text is not UTF-8 here: byte \\xf");
}

TEST(Text, ComesBack) {
  const std::string text = R"(// a program
entry main
fn main
  push 18446744069414584320
  // after
  if {
    push 3
    if_only {
      pick 4
    }
    // nothing but a comment
  } else {
    halt
  }
  push 4
  loop {
    swap 1
    swap 1
  }
  while {
    dup 0
  } do {
    addi 18446744069414584320
  }
  repeat {
  }
  proof_block 00ff {
    assert 1 error_id 7
  }
  reveal Paid 12 3
  seal Paid 12 2
  asm -1 {
    push 1 add // }
    pop 1
  }
  call helper
  return
end
fn helper
  //
end
)";
  const Program program = Read(text);
  EXPECT_EQ(Print(program), text);
  EXPECT_EQ(Read(Print(program)).ops, program.ops);
  EXPECT_EQ(program.ops[3].number, 18446744069414584320u);
  EXPECT_EQ(program.ops[3].location.line, 4u);
}

TEST(Text, ElementsInOtherWritings) {
  const Program program = Read(Main("push -1\r\npush 0x10 // ten\npop 2"));
  EXPECT_EQ(program.ops[2].number, 18446744069414584320u);
  EXPECT_EQ(program.ops[3].number, 16u);
  EXPECT_EQ(program.ops[4].kind, Kind::Comment);
  EXPECT_EQ(program.ops[4].text, "ten");
}

TEST(Text, MistakesHaveAPlaceAndASentence) {
  EXPECT_EQ(ErrorOf(Everything),
            "x.tir:15:5: error FRZ0104: `nop_is_not_here` is not an operation of TIR (one "
            "operation per line; "
            "machines/tir/ops.def lists them)");
  EXPECT_EQ(ErrorOf(Main("push 18446744069414584321")),
            "x.tir:3:6: error FRZ0109: `18446744069414584321` is not a field element (an integer "
            "between -p and p = "
            "18446744069414584321, both excluded)");
  EXPECT_EQ(ErrorOf(Main("push")), "x.tir:3:1: error FRZ1210: a field element is missing");
  EXPECT_EQ(ErrorOf(Main("push 1 push 2")),
            "x.tir:3:8: error FRZ1210: `push` is too much on this line (one operation per line)");
  EXPECT_EQ(ErrorOf(Main("if {")),
            "x.tir:3:1: error FRZ1210: the body of `if` is not closed (add a line `}`)");
  EXPECT_EQ(ErrorOf(Main("if {\n}")), "x.tir:4:1: error FRZ1210: `else` is missing here");
  EXPECT_EQ(ErrorOf("}\n"), "x.tir:1:1: error FRZ1210: `}` closes nothing");
  EXPECT_EQ(ErrorOf(Main("asm 0 {\nadd")),
            "x.tir:3:1: error FRZ1210: the body of `asm` is not closed (add a line `}`)");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "repeat {\n";
  EXPECT_NE(ErrorOf(Main(deep)).find("nested more than 200 deep"), std::string::npos);
}

TEST(Check, WhatIsNotWellFormed) {
  auto expect = [](std::string_view body, std::string_view sentence) {
    EXPECT_NE(ErrorOf(Main(body)).find(sentence), std::string::npos) << ErrorOf(Main(body));
  };
  expect("push 1\nif {\npush 1\n} else {\n}",
         "the bodies of `if` change the stack by 1 and by 0 words");
  expect("push 1\nif_only {\npush 1\n}",
         "the body of `if_only` changes the stack by 1 words instead of 0");
  expect("push 9\nloop {\npop 1\n}", "instead of 0");
  expect("while {\n} do {\n}", "changes the stack by 0 words instead of 1");
  expect("call nowhere", "there is no function `nowhere`");
  expect("call main", "calls itself");
  expect("pop 1", "the entry `main` takes 1 words off the stack");
  expect("pop 0", "the count is 1 to 1024");
  expect("dup 16", "the depth is 0 to 15");
  expect("push 1\nassert 2", "the count is 1 or 5");
  expect("return\npush 1", "`push` is never reached");
  expect("repeat {\nreturn\n}", "`return` inside of a loop");
  expect("push 1\npush 0\nif_only {\nreturn\n}\npop 1",
         "leaves 1 words on one way and 0 on another");
  expect("fn b", "the function `main` has no `end`");
  EXPECT_NE(ErrorOf("push 1\n").find("stands outside of functions"), std::string::npos);
  EXPECT_NE(ErrorOf("fn a\nend\n").find("no `entry`"), std::string::npos);
  EXPECT_NE(ErrorOf("entry a\nfn a\nend\nfn a\nend\n").find("defined twice"), std::string::npos);
}

TEST(Check, Shapes) {
  const Program program = Read(R"(entry main
fn main
  push 1
  push 2
  call add_below
  pop 1
end
fn add_below
  dup 3
  add
  add
  push 5
  push 6
  pop 2
end
fn stops
  halt
end
)");
  const Result<std::vector<FunctionShape>> shapes = Check(program);
  ASSERT_TRUE(shapes) << shapes.error().ToString();
  ASSERT_EQ(shapes->size(), 3u);
  EXPECT_EQ((*shapes)[0].name, "add_below");
  EXPECT_EQ((*shapes)[0].net, -1);
  EXPECT_EQ((*shapes)[0].reach, 4u);
  EXPECT_EQ((*shapes)[0].drops, 1u);
  EXPECT_EQ((*shapes)[0].peak, 1u);
  EXPECT_FALSE((*shapes)[1].returns);
  EXPECT_EQ((*shapes)[2].name, "main");
  EXPECT_EQ((*shapes)[2].peak, 3u);
  EXPECT_EQ((*shapes)[2].reach, 2u);
  EXPECT_EQ(Tier(program), 1);
  EXPECT_EQ(Tier(Read(Main("sponge_init"))), 2);
}

TEST(Check, ChainsOfCallsAreLimited) {
  std::string text = "entry f0\n";
  for (int i = 0; i < 6000; ++i) text += fmt::format("fn f{}\ncall f{}\nend\n", i, i + 1);
  text += "fn f6000\nend\n";
  EXPECT_NE(ErrorOf(text).find("nested more than 5000 deep"), std::string::npos);
}

}  // namespace
}  // namespace frazil::machines::tir
