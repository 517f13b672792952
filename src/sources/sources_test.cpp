#include "sources/sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ir/digest.h"
#include "ir/text/text.h"
#include "sources/trident.h"
#include "targets/isa/isa.h"

namespace frazil::sources {
namespace {

constexpr const char* Double = R"(frz 1

// Twice as much.
func @double(%n: index, %x: buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %v = load %x, %i : f32
    %w = add %v, %v : f32
    store %x, %i, %w : f32
    yield
  }
  return
}
)";

constexpr const char* Sum = "frz 1\nfunc @main() -> (i32) {\n%r = const 7 : i32\nreturn %r\n}\n";
constexpr const char* Kernels = R"(
def first(x: DeviceArray[f32], n: u32):
    """The first one."""
    i = get_global_id()
    if i < n:
        x[i] = x[i] + x[i]

def second(x: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        x[i] = x[i] * x[i]
)";

class Sources : public testing::Test {
 protected:
  Sources() : folder_(testing::TempDir() + "sources_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Sources() override { std::filesystem::remove_all(folder_); }
  std::string File(const std::string& name, std::string_view content) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << content;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

std::string MessageOf(const Result<ir::Program>& program) {
  return program ? "read" : program.error().message;
}

TEST_F(Sources, EveryEndingHasItsReader) {
  const std::string text = File("text.frz", Sum);
  EXPECT_TRUE(ReadProgram(text));
  EXPECT_TRUE(ReadProgram(File("other.txt", Sum))) << "an unknown ending is .frz text";
  EXPECT_TRUE(ReadProgram(File("one.cir", "copy@c00->c01")))
      << MessageOf(ReadProgram(folder_ + "/one.cir"));
  EXPECT_TRUE(ReadProgram(File("p.tri", "program p\n\nfn main() {\n    pub_write(7)\n}\n")))
      << MessageOf(ReadProgram(folder_ + "/p.tri"));
  const auto module = targets::isa::Lower(*ir::ParseText(Double));
  ASSERT_TRUE(module) << module.error().ToString();
  const Result<ir::Program> lifted = ReadProgram(File("double.frzb", module->bytes));
  ASSERT_TRUE(lifted) << MessageOf(lifted);
  EXPECT_EQ(ir::ExactDigest(*lifted), ir::ExactDigest(*ir::ParseText(Double)));
  for (const char* name : {"a.frz", "a.py", "a.json", "a.cir", "a.frzb", "a.tri", "a.tir"})
    EXPECT_TRUE(LanguageOf(name)) << name;
  for (const char* name : {"a", "a.tasm", "frz", "a.frz ", ""})
    EXPECT_FALSE(LanguageOf(name)) << name;
}

TEST_F(Sources, TirIsRead) {
  EXPECT_TRUE(ReadProgram(File("p.tir", "entry main\nfn main\npush 7\nwrite_io 1\nend\n")))
      << MessageOf(ReadProgram(folder_ + "/p.tir"));
}

TEST_F(Sources, OneOfSeveralIsNamed) {
  const std::string file = File("two.py", Kernels);
  const auto both = ReadNamed(file);
  ASSERT_TRUE(both) << both.error().ToString();
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[0].name, "first");
  EXPECT_EQ((*both)[0].doc, "The first one.");
  const Result<ir::Program> second = ReadProgram(file + ":second");
  ASSERT_TRUE(second) << MessageOf(second);
  EXPECT_EQ(ir::ExactDigest(*second), ir::ExactDigest((*both)[1].program));
  EXPECT_EQ(PathOf(file + ":second"), file);
  EXPECT_EQ(MessageOf(ReadProgram(file)),
            file + " has 2 kernels: write " + file + ":NAME with one of first, second");
  EXPECT_EQ(MessageOf(ReadProgram(file + ":third")),
            file + " has no kernel 'third'; it has first, second");
}

TEST_F(Sources, WhatStandsAboveAFunctionIsItsDoc) {
  const auto sources = ReadSources(File("double.frz", Double));
  ASSERT_TRUE(sources) << sources.error().ToString();
  EXPECT_EQ(sources->at(0).name, "double");
  EXPECT_EQ(sources->at(0).doc, "Twice as much.");
  const auto circuit = ReadSources(File("my-chain.cir", " copy@c00->c01 \n"));
  ASSERT_TRUE(circuit) << circuit.error().ToString();
  EXPECT_EQ(circuit->at(0).name, "my_chain");
  // A name that the text form can read back.
  EXPECT_TRUE(ir::ParseText(ir::PrintText(circuit->at(0).program)));
  EXPECT_EQ(NameFromFile("a/3d.cir"), "k3d");
}

TEST_F(Sources, ErrorsNameTheirFile) {
  for (const char* name : {"bad.frz", "bad.json", "bad.cir", "bad.frzb", "bad.tri", "bad.tir"}) {
    const std::string file = File(name, "nonsense ( [\n");
    const auto sources = ReadSources(file);
    ASSERT_FALSE(sources) << name;
    EXPECT_EQ(sources.error().file, file) << sources.error().ToString();
  }
  EXPECT_EQ(MessageOf(ReadProgram("/nowhere/a.frz")),
            "/nowhere/a.frz cannot be read: No such file or directory");
  EXPECT_EQ(MessageOf(ReadProgram("-")), "- cannot be read: No such file or directory")
      << "standard input is for who asks for it";
}

TEST_F(Sources, WordsAreReadWhereThereIsNoFile) {
  EXPECT_TRUE(ReadProgramOrWords(File("text.frz", Sum)));
  EXPECT_TRUE(ReadProgramOrWords("Sum 1 to 10"));
  EXPECT_TRUE(ReadProgramOrWords("10/2"));
  for (const char* path : {"/missing", "./missing", "../missing", "folder/missing", "missing.tasm",
                           "missing.py:saxpy", "missing.frz"}) {
    const Result<ir::Program> program = ReadProgramOrWords(path);
    ASSERT_FALSE(program) << path;
    EXPECT_EQ(program.error().diag, Diag::FileUnreadable) << program.error().ToString();
  }
  for (const char* words : {"foo bar", "Sum 1 to banana", "", "what and/or why", "banana"}) {
    const Result<ir::Program> program = ReadProgramOrWords(words);
    ASSERT_FALSE(program) << words;
    EXPECT_EQ(program.error().diag, Diag::NotUnderstood) << program.error().ToString();
  }
}

TEST_F(Sources, AssemblyIsNotReadAsText) {
  for (const auto& [name, taker] :
       {std::pair{"a.tasm", "`frazil tri`"}, std::pair{"a.isa", "`frazil kernel run`"}}) {
    const auto sources = ReadNamed(File(name, "halt\n"));
    ASSERT_FALSE(sources) << name;
    EXPECT_EQ(sources.error().diag, Diag::BadUsage);
    EXPECT_NE(sources.error().message.find(taker), std::string::npos) << sources.error().message;
  }
}

TEST_F(Sources, TridentGivesEveryErrorToWhoAsks) {
  const std::string text = "program p\n\nfn main() {\n    pub_write(a)\n    pub_write(b)\n}\n";
  TridentNotes notes;
  const Result<ir::Program> program = ParseTrident("p.tri", text, {}, notes);
  ASSERT_FALSE(program);
  EXPECT_EQ(notes.errors.size(), 2u);
  const auto first = ParseSources("p.tri", Language::Trident, text);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, notes.errors[0].message);
}

}  // namespace
}  // namespace frazil::sources
