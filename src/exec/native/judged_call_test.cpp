// What a judge's call notices that no comparison of results would.
#include "exec/native/judged_call.h"

#include <gtest/gtest.h>

#include <set>

#include "base/test_fault.h"
#include "exec/native/native_run.h"

namespace frazil::exec {
namespace {

// The answer to one word, with some code in front of `xor eax, eax; ret`.
struct Called {
  uint64_t result = 0;
  std::string wrong;
};
Called Call(std::string_view code, bool uses_run = true) {
  NativeImage image;
  image.uses_run = uses_run;
  image.code = std::string(code) + "\x31\xc0\xc3";
  const auto mapped = NativeCode::Map(image);
  EXPECT_TRUE(mapped.has_value());
  NativeRun run;
  const uint64_t argument = 7;
  JudgedCall call(std::span(&argument, 1), 1, run);
  const int32_t status = call.Enter(**mapped);
  const Result<void> checked = call.Check(status);
  return {call.results()[0], checked ? "" : checked.error().message};
}

using namespace std::string_view_literals;

constexpr int Ways = 40;  // after so many calls scratch was on both sides of its fence

class JudgedCallTest : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the code is x86-64";
#endif
  }
};

TEST_F(JudgedCallTest, WhatIsRightIsNot) {
  // mov rax, [rdi]; mov [rsi], rax
  const Called called = Call("\x48\x8b\x07\x48\x89\x06"sv);
  EXPECT_EQ(called.result, 7u);
  EXPECT_EQ(called.wrong, "");
}

TEST_F(JudgedCallTest, WordsAround) {
  EXPECT_EQ(Call("\x48\x89\x46\x08"sv).wrong, "compiled code wrote beside its results");
  EXPECT_EQ(Call("\x48\x89\x46\xf8"sv).wrong, "compiled code wrote beside its results");
  // mov qword [rdi], 0, and behind it
  EXPECT_EQ(Call("\x48\xc7\x07\x00\x00\x00\x00"sv).wrong, "compiled code wrote to its arguments");
  EXPECT_EQ(Call("\x48\xc7\x47\x08\x00\x00\x00\x00"sv).wrong,
            "compiled code wrote to its arguments");
}

TEST_F(JudgedCallTest, TheRun) {
  for (const char field : {'\x00', '\x10', '\x18', '\x28'}) {  // helpers, depth, stop, scratch
    std::string code("\x48\xc7\x42\x00\x01\x00\x00\x00", 8);   // mov qword [rdx + field], 1
    code[3] = field;
    EXPECT_EQ(Call(code).wrong, "compiled code did not leave its run as it was");
  }
  // mov [rsi], rdx: who says he needs none gets none
  EXPECT_EQ(Call("\x48\x89\x16"sv, false).result, 0u);
}

// Nobody says that the memory for results is zeroed, or the upper part of a register.
TEST_F(JudgedCallTest, NothingIsThereBeforehand) {
  std::set<uint64_t> results, halves;
  for (int i = 0; i < Ways; ++i) {
    results.insert(Call(""sv).result);
    // vextractf128 xmm0, ymm3, 1; movq [rsi], xmm0; xor eax, eax
    if (HostLevel() >= CpuLevel::Avx2)
      halves.insert(Call("\xc4\xe3\x7d\x19\xd8\x01\x66\x0f\xd6\x06"sv).result);
  }
  EXPECT_EQ(results.size(), size_t{Ways});
  EXPECT_FALSE(results.contains(0));
  EXPECT_TRUE(HostLevel() < CpuLevel::Avx2 || halves.size() > Ways / 2);
}

TEST_F(JudgedCallTest, TheModesOfFloats) {
  // push 0xffc0; ldmxcsr [rsp]; pop rax
  EXPECT_EQ(Call("\x68\xc0\xff\x00\x00\x0f\xae\x14\x24\x58"sv).wrong,
            "compiled code changed how floats are rounded");
  EXPECT_EQ(Call(""sv).wrong, "");
}

TEST_F(JudgedCallTest, ALimitThatIsNone) {
  const auto with_status = [](char status) {  // mov eax, status; ret
    std::string code("\xb8\x00\x00\x00\x00\xc3", 6);
    code[1] = status;
    return Call(code).wrong;
  };
  EXPECT_EQ(with_status(7), "compiled code says that it came to the limit of fuel, and it did not");
  EXPECT_EQ(with_status(8),
            "compiled code says that it came to the limit of depth, and it did not");
  EXPECT_EQ(with_status(9),
            "compiled code says that it came to the limit of memory, and it did not");
  EXPECT_EQ(with_status(1), "");
  // push rbx; mov rbx, rdx; mov rdi, rdx; mov rsi, -1; mov edx, 1; mov rax, [rbx]; call [rax]; pop rbx; mov eax, 9; ret
  EXPECT_EQ(Call("\x53\x48\x89\xd3\x48\x89\xd7\x48\xc7\xc6\xff\xff\xff\xff\xba\x01\x00\x00\x00"
                 "\x48\x8b\x03\xff\x10\x5b\xb8\x09\x00\x00\x00\xc3"sv)
                .wrong,
            "");
}

// Takes so many bytes of scratch, writes or reads one of them, and gives them back.
enum class Touch : uint8_t { Write, Read };
std::string WithScratch(int32_t bytes, int32_t at, Touch touch = Touch::Write) {
  const auto number = [](int32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  // push rbx; push r12; push rax; mov rbx, rdx; mov r12, [rdx + scratch]; mov rdi, rdx; mov esi, bytes; mov edx, 1
  std::string code("\x53\x41\x54\x50\x48\x89\xd3\x4c\x8b\x62\x28\x48\x89\xd7\xbe");
  code += number(bytes) + "\xba" + number(1);
  code += "\x48\x8b\x03\xff\x10";  // mov rax, [rbx]; call [rax]
  // mov byte [rax + at], 1 or mov al, [rax + at]
  code += touch == Touch::Write ? "\xc6\x80" + number(at) + "\x01" : "\x8a\x80" + number(at);
  // mov rdi, rbx; mov rsi, r12; mov rax, [rbx]; call [rax + 8]; pop rax; pop r12; pop rbx
  return code + "\x48\x89\xdf\x4c\x89\xe6\x48\x8b\x03\xff\x50\x08\x58\x41\x5c\x5b";
}

std::set<std::string> WrongOf(const std::string& code) {
  std::set<std::string> wrong;
  for (int i = 0; i < Ways; ++i) wrong.insert(Call(code).wrong);
  return wrong;
}

TEST_F(JudgedCallTest, Scratch) {
  using Texts = std::set<std::string>;
  for (const int32_t at : {0, 63, 99}) EXPECT_EQ(WrongOf(WithScratch(100, at)), Texts{""});
  EXPECT_EQ(WrongOf(WithScratch(1 << 20, (1 << 20) - 1)), Texts{""});
  // Up to the next multiple of 64 nothing faults.
  for (const int32_t at : {100, 127})
    EXPECT_EQ(WrongOf(WithScratch(100, at)), Texts{"compiled code wrote beside its scratch"});
}

TEST_F(JudgedCallTest, BesideScratchNothingCanBeTouched) {
  const auto faults = [](const std::string& code) { FRAZIL_EXPECT_FAULT(WrongOf(code)); };
  for (const Touch touch : {Touch::Write, Touch::Read}) {
    faults(WithScratch(0, 0, touch));
    faults(WithScratch(128, 128, touch));
    faults(WithScratch(100, 128, touch));
    faults(WithScratch(100, -1, touch));
    faults(WithScratch(4096, 50'000, touch));
    faults(WithScratch(1 << 20, 1 << 20, touch));
  }
}

TEST_F(JudgedCallTest, ScratchThatIsNotGivenBack) {
  std::string keeps = WithScratch(8, 0);
  keeps.replace(keeps.size() - 7, 3, "\x90\x90\x90");  // nop instead of the call
  EXPECT_EQ(Call(keeps).wrong, "compiled code did not leave its run as it was");
  std::string other = WithScratch(8, 0);
  other.replace(other.size() - 13, 3, "\x48\x89\xe6");  // mov rsi, rsp: no mark
  EXPECT_EQ(Call(other).wrong, "compiled code did not leave its run as it was");
}

TEST_F(JudgedCallTest, LeftoversDiffer) {
  // mov [rsi], reg: rax, rcx, r8, r9, r10, r11; movq [rsi], xmm3; mov rax, [rsp - 64]; mov [rsi], rax
  for (const std::string_view code :
       {"\x48\x89\x06"sv, "\x48\x89\x0e"sv, "\x4c\x89\x06"sv, "\x4c\x89\x0e"sv, "\x4c\x89\x16"sv,
        "\x4c\x89\x1e"sv, "\x66\x0f\xd6\x1e"sv, "\x48\x8b\x44\x24\xc0\x48\x89\x06"sv}) {
    std::set<uint64_t> seen;
    for (int i = 0; i < Ways; ++i) seen.insert(Call(code).result);
    EXPECT_GT(seen.size(), Ways / 2u);
  }
}

}  // namespace
}  // namespace frazil::exec
