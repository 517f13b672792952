// Code by hand that no sample would refute: it must not be believed.
#include "verify/x86/x86.h"

#include <gmock/gmock.h>

#include "base/test_fault.h"
#include "embed/native_run.h"
#include "ir/text/text.h"
#include "verify/verify.h"

namespace frazil::verify::x86 {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view Same = "frz 1\nfunc @main(%a: i64) -> (i64) {\n return %a\n}";

std::string WhatIsSaid(std::string code, std::vector<exec::CodeThreshold> thresholds = {},
                       bool uses_run = false) {
  RegisterReader();
  exec::NativeImage image;
  image.uses_run = uses_run;
  image.code = std::move(code);
  image.thresholds = std::move(thresholds);
  const Result<Verdict> verdict = VerifyCode(*ir::ParseText(Same), image, {});
  if (const auto* tested = std::get_if<Tested>(&*verdict)) return tested->evidence.detail;
  if (const auto* unknown = std::get_if<Unknown>(&*verdict)) return unknown->reason;
  return std::string(VerdictName(*verdict));
}

// mov rax, [rdi]; ...; mov [rsi], rax; xor eax, eax; ret
const std::string Load("\x48\x8b\x07", 3);
const std::string Give("\x48\x89\x06\x31\xc0\xc3", 6);

TEST(X86, CodeThatRanIsCounted) {
  EXPECT_THAT(WhatIsSaid(Load + Give), HasSubstr("1 of 1 blocks"));
}

TEST(X86, OneValueAmongAllThatIsAnsweredWrongly) {
  // mov r8, 0x123456789abcdef1; cmp rax, r8; je over the right answer to one of 0
  const std::string test("\x49\xb8\xf1\xde\xbc\x9a\x78\x56\x34\x12\x4c\x39\xc0\x74\x06", 15);
  const std::string wrong("\x48\xc7\x06\x00\x00\x00\x00\x31\xc0\xc3", 10);
  EXPECT_EQ(WhatIsSaid(Load + test + Give + wrong), "block at +0x18 never ran (2 of 3 did)");
}

TEST(X86, WhatCannotBeFollowedIsNotRun) {
  EXPECT_EQ(WhatIsSaid("\xff\xe0"), "the code cannot be followed: +0x0 jumps to a computed place");
  EXPECT_EQ(WhatIsSaid("\x0f\x05"), "the code cannot be followed: +0x0 calls the system");
  EXPECT_EQ(WhatIsSaid("\xeb\x7f"), "the code cannot be followed: +0x0 leads out of the code");
  EXPECT_EQ(WhatIsSaid("\x06"), "the code cannot be followed: no instruction at +0x0");
}

// The status of a trap that never comes, as a compiler keeps it across calls: stored at the beginning, loaded where it is told.
TEST(X86, ConstantsOfTrapsMayLieOnTheStack) {
  const auto said = [](std::string_view stored, std::string_view loaded) {
    RegisterReader();
    const auto byte = [](auto number) { return std::string(1, static_cast<char>(number)); };
    const std::string zeros(3, '\0');
    exec::NativeImage image;
    image.uses_run = true;
    // mov rax, [rdi]; what is stored; test rsp, rsp; je over the answer to the trap
    image.code = Load + std::string(stored) + "\x48\x85\xe4\x74\x06" + Give;
    // mov dword [rdx + TrapOp], op; mov qword [rdx + TrapIndex], -1; what is loaded; ret
    image.code +=
        "\xc7\x42" + byte(embed::NativeRunLayout::TrapOp) + byte(ir::Op::DivTrunc) + zeros;
    image.code += "\x48\xc7\x42" + byte(embed::NativeRunLayout::TrapIndex) + "\xff\xff\xff\xff";
    image.code += std::string(loaded) + "\xc3";
    constexpr std::string_view Divides =
        "frz 1\nfunc @main(%a: i64) -> (i64) {\n %o = const 1 : i64\n %q = div.trunc %a, %o : "
        "i64\n return %q\n}";
    VerifyOptions options;
    options.search_ms = 10;
    const Result<Verdict> verdict = VerifyCode(*ir::ParseText(Divides), image, {}, options);
    if (const auto* unknown = std::get_if<Unknown>(&*verdict)) return unknown->reason;
    return std::string(VerdictName(*verdict));
  };
  static_assert(static_cast<int>(ir::Trap::DivisionByZero) == 0);
  using namespace std::string_view_literals;
  // mov dword [rsp - 8], 1 and mov qword [rsp - 8], 1; mov eax, [rsp - 8] and mov rax, [rsp - 8]
  constexpr std::string_view Half = "\xc7\x44\x24\xf8\x01\x00\x00\x00"sv;
  constexpr std::string_view Whole = "\x48\xc7\x44\x24\xf8\x01\x00\x00\x00"sv;
  constexpr std::string_view LoadHalf = "\x8b\x44\x24\xf8"sv, LoadWhole = "\x48\x8b\x44\x24\xf8"sv;
  EXPECT_EQ(said(Half, LoadHalf), "tested");
  EXPECT_EQ(said(Whole, LoadHalf), "tested");
  EXPECT_EQ(said(Whole, LoadWhole), "tested");
  // Of half a word the rest is anything; and so is a word that something else was stored to, or none of the program's traps.
  EXPECT_THAT(said(Half, LoadWhole), HasSubstr("never ran"));
  EXPECT_THAT(said(std::string(Half) + "\x48\x89\x44\x24\xf8", LoadHalf), HasSubstr("never ran"));
  EXPECT_THAT(said(std::string(Whole) + "\x89\x44\x24\xfc", LoadWhole), HasSubstr("never ran"));
  EXPECT_THAT(said("\xc7\x44\x24\xf8\x05\x00\x00\x00"sv, LoadHalf), HasSubstr("never ran"));
  EXPECT_THAT(said(""sv, LoadHalf), HasSubstr("never ran"));
}

// Each answers rightly where it is watched, and would do harm where it is called.
TEST(X86, OnlyWhatCompiledCodeDoes) {
  const auto said = [](std::string_view middle, bool uses_run = false) {
    const std::string text = WhatIsSaid(Load + std::string(middle) + Give, {}, uses_run);
    constexpr std::string_view Begin = "the code cannot be followed: ";
    return text.starts_with(Begin) ? text.substr(Begin.size()) : text;
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(said("\x0f\xc7\xf1"sv), "+0x3 is 'rdrand', which compiled code has no use for");
  EXPECT_EQ(said("\x0f\xa2"sv), "+0x3 is 'cpuid', which compiled code has no use for");
  EXPECT_EQ(said("\xfd"sv), "+0x3 is 'std', which compiled code has no use for");
  EXPECT_EQ(said("\xcc"sv), "+0x3 is 'int3', which compiled code has no use for");
  EXPECT_EQ(said("\x0f\xae\x54\x24\xf8"sv),
            "+0x3 is 'ldmxcsr', which compiled code has no use for");
  EXPECT_EQ(said("\xc2\x08\x00"sv), "+0x3 is 'ret', which compiled code has no use for");
  // mov rcx, fs:[0]; mov rcx, [0]
  EXPECT_EQ(said("\x64\x48\x8b\x0c\x25\x00\x00\x00\x00"sv), "+0x3 uses memory of its thread");
  EXPECT_EQ(said("\x48\x8b\x0c\x25\x00\x00\x00\x00"sv), "+0x3 uses memory at a fixed place");
  EXPECT_EQ(said("\x0f\xb6\x0d\x00\x00\x00\x00"sv), "+0x3 reads its own code");
  EXPECT_EQ(said("\x0f\xb6\x0d\x00\x01\x00\x00"sv), "+0x3 reads outside of its image");
}

TEST(X86, StackRegistersAndRunAreTheCallers) {
  const auto said = [](std::string_view middle, bool uses_run = false) {
    return WhatIsSaid(Load + std::string(middle) + Give, {}, uses_run);
  };
  using namespace std::string_view_literals;
  // lea r9, [rip + 3]; push r9; ret: to bytes that no decoder came to
  EXPECT_THAT(said("\x4c\x8d\x0d\x03\x00\x00\x00\x41\x51\xc3"sv),
              HasSubstr("+0xc does not return to its caller"));
  EXPECT_THAT(said("\x41\xff\xd1"sv), HasSubstr("+0x3 calls something else than a helper"));
  EXPECT_THAT(said("\x31\xdb"sv), HasSubstr("returns with another rbx"));  // xor ebx, ebx
  EXPECT_THAT(said("\x4c\x8b\x04\x24"sv), HasSubstr("+0x3 uses the stack of its caller"));
  EXPECT_THAT(said("\x48\x89\x84\x24\xc0\xf2\xfc\xff"sv), HasSubstr("memory below its stack"));
  // sub rsp, 200000; add rsp, 200000
  EXPECT_THAT(said("\x48\x81\xec\x40\x0d\x03\x00\x48\x81\xc4\x40\x0d\x03\x00"sv),
              HasSubstr("it takes 200000 bytes of stack and says 0"));
  EXPECT_THAT(said("\x48\xc7\x07\x00\x00\x00\x00"sv), HasSubstr("+0x3 writes its arguments"));
  EXPECT_THAT(said("\x48\x8b\x0a"sv), HasSubstr("+0x3 uses its run, and says that it does not"));
  EXPECT_THAT(said("\x48\x8b\x0a"sv, true), HasSubstr("1 of 1 blocks"));
  EXPECT_THAT(said("\x48\xc7\x02\x00\x00\x00\x00"sv, true),
              HasSubstr("+0x3 writes its run where it may not"));
  // What is right is followed: push rbx; mov rbx, rdx; mov rcx, [rbx]; pop rbx
  EXPECT_THAT(said("\x53\x48\x89\xd3\x48\x8b\x0b\x5b"sv, true), HasSubstr("1 of 1 blocks"));
}

// No input comes to these: they are read, and must set a trap of the run and nothing else.
TEST(X86, WhatOnlyTrapsIsReadClosely) {
  // mov r8, 0x123456789abcdef1; cmp rax, r8; je behind the right answer
  const std::string test("\x49\xb8\xf1\xde\xbc\x9a\x78\x56\x34\x12\x4c\x39\xc0\x74\x06", 15);
  const auto said = [&](std::string_view stub) {
    return WhatIsSaid(Load + test + Give + std::string(stub), {}, true);
  };
  using namespace std::string_view_literals;
  const std::string never = "block at +0x18 never ran (2 of 3 did)";
  // mov qword [rdx + 48], -1; mov dword [rdx + 56], 20; mov eax, 3; ret: a trap, but none of this program
  EXPECT_EQ(said("\x48\xc7\x42\x30\xff\xff\xff\xff\xc7\x42\x38\x14\x00\x00\x00"
                 "\xb8\x03\x00\x00\x00\xc3"sv),
            never);
  // The same in the results' memory.
  EXPECT_EQ(said("\x48\xc7\x46\x30\xff\xff\xff\xff\xc7\x46\x38\x14\x00\x00\x00"
                 "\xb8\x03\x00\x00\x00\xc3"sv),
            never);
  // push 3; mov qword [rsp], 0; pop rax; ret: the status is 0
  EXPECT_EQ(said("\x48\xc7\x42\x30\xff\xff\xff\xff\xc7\x42\x38\x14\x00\x00\x00"
                 "\x6a\x03\x48\xc7\x04\x24\x00\x00\x00\x00\x58\xc3"sv),
            never);
  // push rbp; mov rbp, rsi; mov qword [rbp], 5: rbp is no frame
  EXPECT_EQ(said("\x55\x48\x89\xf5\x48\xc7\x45\x00\x05\x00\x00\x00\x5d"
                 "\x48\xc7\x42\x30\xff\xff\xff\xff\xc7\x42\x38\x14\x00\x00\x00"
                 "\xb8\x03\x00\x00\x00\xc3"sv),
            never);
}

TEST(X86, AThresholdIsData) {
  EXPECT_THAT(WhatIsSaid(Load + Give, {{0, 0}}), HasSubstr("the threshold at +0x0 is code"));
  EXPECT_THAT(WhatIsSaid(Load + Give, {{100, 0}}), HasSubstr("lies outside"));
}

TEST(X86, EachThresholdByItself) {
  // rax += second & ~first & 1: wrong only where the first is lowered and the second is not
  std::string code = Load;
  code += std::string("\x48\x8b\x0d\x1e\x00\x00\x00\x48\x8b\x15\x1f\x00\x00\x00", 14);
  code += std::string("\x48\xf7\xd1\x48\x21\xca\x83\xe2\x01\x48\x01\xd0", 12) + Give;
  code.resize(40);
  code += std::string("\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(WhatIsSaid(code, {{40, 0}, {48, 0}}), "refuted");
  EXPECT_EQ(WhatIsSaid(code, {{48, 0}, {40, 0}}), "refuted");
  EXPECT_THAT(WhatIsSaid(code, {{48, 0}}), HasSubstr("1 of 1 blocks"));
}

// The length, after the first element was written as it is.
std::string WhatIsSaidOfAWrite(std::string_view access) {
  RegisterReader();
  exec::NativeImage image;
  image.uses_run = false;
  // mov rax, [rdi + 8]; test rax, rax; je; mov rcx, [rdi]; mov r8, [rcx]; mov [rcx], r8
  image.code =
      std::string("\x48\x8b\x47\x08\x48\x85\xc0\x74\x09\x48\x8b\x0f\x4c\x8b\x01\x4c\x89\x01", 18) +
      Give;
  const Result<ir::Program> program =
      ir::ParseText("frz 1\nfunc @main(%x: " + std::string(access) +
                    " buffer<i64>) -> (index) {\n %n = length %x : i64\n return %n\n}");
  EXPECT_TRUE(program) << program.error().ToString();
  const Result<Verdict> verdict = VerifyCode(*program, image, {});
  return std::string(VerdictName(*verdict));
}

TEST(X86, WhatIsOnlyReadMayLieWhereNothingCanBeWritten) {
  EXPECT_EQ(WhatIsSaidOfAWrite(""), "tested");
  FRAZIL_EXPECT_FAULT(WhatIsSaidOfAWrite("in"));
}

// Results are not zeroed before a call.
TEST(X86, AnAnswerThatIsNotWritten) {
  // mov rax, [rdi]; test rax, rax; je +3; mov [rsi], rax; xor eax, eax; ret: nothing where the answer is 0
  EXPECT_EQ(WhatIsSaid("\x48\x8b\x07\x48\x85\xc0\x74\x03\x48\x89\x06\x31\xc0\xc3"), "refuted");
}

// Code without branches has no blocks that tell: the program's own choices must have gone both ways.
TEST(X86, AChoiceThatWentOneWay) {
  RegisterReader();
  exec::NativeImage image;
  image.uses_run = false;
  image.code = Load + Give;
  const Result<ir::Program> program = ir::ParseText(
      "frz 1\nfunc @main(%a: i64) -> (i64) {\n %f = const 6364136223846793005 : i64\n"
      " %m = mul %a, %f : i64\n %s = const 31 : i64\n %h = shr %m, %s : i64\n"
      " %x = xor %h, %m : i64\n %w = const 1234567890123456789 : i64\n %c = eq %x, %w : i64\n"
      " %z = const 0 : i64\n %r = select %c, %z, %a : i64\n return %r\n}");
  ASSERT_TRUE(program) << program.error().ToString();
  const Result<Verdict> verdict = VerifyCode(*program, image, {});
  const auto* unknown = std::get_if<Unknown>(&*verdict);
  ASSERT_NE(unknown, nullptr);
  EXPECT_THAT(unknown->reason, HasSubstr("of select in @main never held"));
}

}  // namespace
}  // namespace frazil::verify::x86
