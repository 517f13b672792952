// The reader and printer: back through wat2wasm to the same bytes, and anything malformed to an
// error.
#include "generator/generator.h"
#include "targets/wasm/module/module_reader.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

// The sections but for names, which the text form assembles in its own way.
std::string WithoutNames(std::string_view bytes) {
  std::string out(bytes.substr(0, 8));
  ByteReader in(bytes.substr(8));
  while (!in.at_end()) {
    size_t start = in.offset();
    uint8_t id = in.Byte().value();
    uint32_t size = in.U32().value();
    (void)in.Take(size).value();
    if (id != 0) out += bytes.substr(8 + start, in.offset() - start);
  }
  return out;
}

// Programs that together use every helper, every kind of block and every kind of constant.
std::vector<exec::Artifact> Corpus(uint64_t seed, uint64_t count) {
  std::vector<exec::Artifact> corpus;
  for (uint64_t i = 0; i < count; ++i)
    corpus.push_back(Emitted(generator::Generate({.seed = seed + i, .size = 20}), i % 2 == 1));
  corpus.push_back(Emitted(Parsed(R"(func @main(%a: f32, %b: f64) -> (f32, f64, f32, f64) {
  %x = const -0.0 : f32
  %y = const 0x1p-1074 : f64
  %z = const bits(0x7fc12345) : f32
  %w = const -inf : f64
  return %x, %y, %z, %w
}
)")));
  return corpus;
}

TEST(Wat, AssemblesBackToTheSameBytesAndValidates) {
  TemporaryFolder folder;
  std::vector<exec::Artifact> corpus = Corpus(500, 120);
  for (size_t i = 0; i < corpus.size(); ++i) {
    Result<std::string> wat = PrintWat(corpus[i].bytes);
    ASSERT_TRUE(wat) << wat.error().ToString();
    folder.Write(std::to_string(i) + ".wat", *wat);
    folder.Write(std::to_string(i) + ".wasm", corpus[i].bytes);
  }
  std::string output;
  int code = RunTool("cd " + folder.path() +
                         " && for f in *.wasm; do wasm-validate $f || exit 1; done && "
                         "for f in *.wat; do wat2wasm $f -o $f.out || exit 2; done",
                     output);
  ASSERT_EQ(code, 0) << output.substr(0, 2000);
  for (size_t i = 0; i < corpus.size(); ++i)
    EXPECT_TRUE(WithoutNames(folder.Read(std::to_string(i) + ".wat.out")) ==
                WithoutNames(corpus[i].bytes))
        << "module " << i;
}

TEST(Wat, ReadsWhatAnotherAssemblerWrote) {
  TemporaryFolder folder;
  std::string path = folder.Write("a.wat", R"((module
  (memory 1 2)
  (global i64 (i64.const -1))
  (func (export "f") (param i32) (result i32)
    block (result i32)
      local.get 0
      i32.const -5
      local.get 0
      br_table 0 0
    end)))");
  std::string output;
  ASSERT_EQ(RunTool("wat2wasm " + path + " -o " + path + ".wasm", output), 0) << output;
  Result<std::string> wat = PrintWat(folder.Read("a.wat.wasm"));
  ASSERT_TRUE(wat) << wat.error().ToString();
  EXPECT_NE(wat->find("(memory 1 2)"), std::string::npos) << *wat;
  EXPECT_NE(wat->find("br_table 0 0"), std::string::npos) << *wat;
}

TEST(Reader, EveryTruncationIsALocatedError) {
  for (const exec::Artifact& artifact : Corpus(900, 4)) {
    size_t accepted = 0;
    for (size_t size = 0; size < artifact.bytes.size(); ++size) {
      Result<std::string> wat = PrintWat(std::string_view(artifact.bytes).substr(0, size));
      if (wat) {
        ++accepted;
        continue;
      }
      EXPECT_EQ(wat.error().diag, Diag::BadArtifact);
      EXPECT_NE(wat.error().location.line, 0u);
    }
    // Only what ends between sections and lacks nothing is a module: empty, types alone, no data,
    // no names.
    EXPECT_LE(accepted, 4u);
  }
}

TEST(Reader, EveryChangedByteIsAnErrorOrAModule) {
  for (const exec::Artifact& artifact : Corpus(950, 3)) {
    std::string bytes = artifact.bytes;
    size_t refused = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      for (uint8_t change : {0x01, 0x7f, 0x80, 0xff}) {
        bytes[i] = static_cast<char>(bytes[i] ^ change);
        Result<std::string> wat = PrintWat(bytes);
        refused += wat ? 0 : 1;
        if (!wat) {
          EXPECT_EQ(wat.error().diag, Diag::BadArtifact);
        }
        (void)FunctionBody(bytes, "main");
        bytes[i] = static_cast<char>(bytes[i] ^ change);
      }
    EXPECT_GT(refused, bytes.size());
  }
}

TEST(Reader, AbsurdCountsAreRefusedAtOnce) {
  auto module = [](std::string_view sections) {
    return std::string("\0asm\1\0\0\0", 8) + std::string(sections);
  };
  // Four billion types, four billion locals, a hundred thousand nested blocks without an end.
  EXPECT_FALSE(PrintWat(module(std::string_view("\x01\x05\xff\xff\xff\xff\x0f", 7))));
  std::string locals(
      "\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x0a\x01\x08\x01\xff\xff\xff\xff\x0f\x7f\x0b",
      22);
  Result<std::string> wat = PrintWat(module(locals));
  ASSERT_FALSE(wat);
  EXPECT_NE(wat.error().message.find("too many locals"), std::string::npos) << wat.error().message;
  std::string body(1, '\0');
  for (int i = 0; i < 100'000; ++i) body += std::string("\x02\x40", 2);
  std::string code;
  AppendUnsigned(code, 1);
  AppendUnsigned(code, body.size());
  code += body;
  std::string deep("\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a", 11);
  AppendUnsigned(deep, code.size());
  EXPECT_FALSE(PrintWat(module(deep + code)));
}

TEST(Reader, NotAModule) {
  EXPECT_FALSE(PrintWat(""));
  EXPECT_FALSE(PrintWat("frz 1\n"));
  Result<std::string> version2 = PrintWat(std::string_view("\0asm\2\0\0\0", 8));
  ASSERT_FALSE(version2);
  EXPECT_NE(version2.error().message.find("version 1"), std::string::npos);
}

}  // namespace
}  // namespace frazil::targets::wasm
