// Modules that the emitter did not make, under the name of a program that it could have: what they say about themselves is
// checked before it is used.
#include "targets/wasm/emit/module_context.h"
#include "targets/wasm/module/code.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

using exec::Value;
constexpr ValType I32 = ValType::I32, I64 = ValType::I64;

// A module whose @main is this, with all globals that a host knows.
struct Maker {
  ModuleContext context;
  ModuleWriter& writer = context.writer();
  uint32_t function;
  Code code;

  explicit Maker(const FuncType& type) : function(writer.AddFunction(type, "")), code(type.params) {
    writer.ExportFunction("main", function);
    writer.NeedMemory(1);
  }
  std::string Finish() {
    writer.SetBody(function, code.Finish());
    return writer.Finish();
  }
};

Result<std::unique_ptr<exec::Callable>> LoadAs(std::string_view text, std::string bytes) {
  exec::Artifact artifact = Emitted(Parsed(text));
  artifact.bytes = std::move(bytes);
  return MakeWasmTarget()->Load(artifact);
}

void ExpectRefused(std::string_view text, std::string bytes, std::string_view why) {
  const auto callable = LoadAs(text, std::move(bytes));
  ASSERT_FALSE(callable) << why;
  EXPECT_EQ(callable.error().diag, Diag::BadArtifact);
  EXPECT_EQ(callable.error().message, why);
}

void ExpectWrong(exec::Callable& callable, std::string_view why) {
  const Result<exec::Outcome> outcome = callable.Run({}, {});
  ASSERT_FALSE(outcome) << why;
  EXPECT_EQ(outcome.error().diag, Diag::BadArtifact) << "a difference to whoever judges it";
  EXPECT_EQ(outcome.error().message, why);
}

constexpr std::string_view Nothing = "func @main() {\n return\n}\n";

TEST(Foreign, EntryHasTheTypeOfTheProgram) {
  constexpr std::string_view Same = "func @main(%a: i32) -> (i32) {\n return %a\n}\n";
  constexpr std::string_view Why = "the module's 'main' has another type than the program's @main";
  const auto module_of = [](const FuncType& type) {
    Maker maker(type);
    for (ValType result : type.results) result == I32 ? maker.code.I32(1) : maker.code.I64(1);
    return maker.Finish();
  };
  EXPECT_TRUE(LoadAs(Same, module_of({{I32}, {I32}})));
  ExpectRefused(Same, module_of({{}, {I32}}), Why);
  ExpectRefused(Same, module_of({{I32, I32}, {I32}}), Why);
  ExpectRefused(Same, module_of({{I64}, {I32}}), Why);
  ExpectRefused(Same, module_of({{I32}, {I64}}), Why);
  ExpectRefused(Same, module_of({{I32}, {}}), Why);
  ExpectRefused(Same, module_of({{I32}, std::vector<ValType>(100, I32)}), Why);
}

TEST(Foreign, MemoryIsThereWhereItIsNeeded) {
  constexpr std::string_view Buffer =
      "func @main(%x: buffer<u8>) {\n %z = const 0 : index\n %v = load %x, %z : u8\n"
      " store %x, %z, %v : u8\n return\n}\n";
  constexpr std::string_view Why = "the module does not export the memory that it needs";
  std::string bytes = Emitted(Parsed(Buffer)).bytes;
  EXPECT_TRUE(LoadAs(Buffer, bytes));
  bytes.replace(bytes.find("\6memory"), 7, "\6memorz");
  ExpectRefused(Buffer, bytes, Why);
  Maker maker({});
  maker.context.Use(GlobalVar::Heap);
  bytes = maker.Finish();
  EXPECT_TRUE(LoadAs(Nothing, bytes));
  bytes.replace(bytes.find("\6memory"), 7, "\6memorz");
  ExpectRefused(Nothing, bytes, Why);
}

TEST(Foreign, GlobalsHaveTheirTypes) {
  Maker wrong({});
  wrong.writer.AddGlobal(I32, 0, "trap");
  ExpectRefused(Nothing, wrong.Finish(), "the module's global 'trap' has another type");
  Maker half({});
  half.context.Use(GlobalVar::Output);
  ExpectRefused(Nothing, half.Finish(), "the module exports only one end of its output");
}

TEST(Foreign, TrapsHaveTheirNumbers) {
  const auto load = [](int64_t number) {
    Maker maker({});
    maker.code.I64(number);
    maker.code.GlobalSet(maker.context.Use(GlobalVar::Trap));
    maker.code.Op(Opcode::Unreachable);
    return std::move(*LoadAs(Nothing, maker.Finish()));
  };
  const int64_t divided = 1 + static_cast<int64_t>(ir::Trap::DivisionByZero);
  const int64_t op = static_cast<int64_t>(ir::Op::DivTrunc) << 8;
  const Result<exec::Outcome> outcome = load(op | divided)->Run({}, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->trap->ToString(), "division by zero in div.trunc");
  for (const int64_t number :
       {op, op | (ir::TrapCount + 1), op | 0xff, int64_t{ir::OpCount} << 8 | divided,
        int64_t{0x100} << 8 | op | divided, int64_t{-1}})
    ExpectWrong(*load(number), "the module names a trap that is none: " +
                                   std::to_string(static_cast<uint64_t>(number)));
}

// Both ends, and what lies between: nothing of it is believed.
TEST(Foreign, OutputIsAListOfValues) {
  struct Written {
    int32_t begin, end;
    int64_t tag;
  };
  const auto load = [](Written written) {
    Maker maker({});
    Code& code = maker.code;
    const uint32_t begin = maker.context.Use(GlobalVar::Output);
    const uint32_t end = maker.context.Use(GlobalVar::OutputEnd);
    code.I32(64);
    code.I64(written.tag);
    code.Memory(Opcode::I64Store, 3, 0);
    code.I32(written.begin);
    code.GlobalSet(begin);
    code.I32(written.end);
    code.GlobalSet(end);
    return std::move(*LoadAs(Nothing, maker.Finish()));
  };
  const int64_t word = static_cast<int64_t>(ir::Scalar::I64) | 1 << 8;
  const int64_t big = static_cast<int64_t>(ir::Scalar::Int);
  const Result<exec::Outcome> outcome = load({64, 80, word})->Run({}, {});
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->output.size(), 1u);
  for (const Written& written :
       std::initializer_list<Written>{{64, 72, word},                      // cut within the value
                                      {64, 68, word},                      // and within its type
                                      {64, -1, word},                      // outside of memory
                                      {64, 0x7fffffff, word},              //
                                      {80, 64, word},                      // backwards
                                      {64, 80, word | int64_t{1} << 40},   // no type
                                      {64, 80, ir::ScalarCount | 1 << 8},  //
                                      {64, 80, word + (1 << 8)},           // a word with limbs
                                      {64, 80, big},                       // int<0>
                                      {64, 80, big | 200 << 8}})           // longer than the output
    ExpectWrong(*load(written), "the module's output is no list of values");
}

// The same with a memory of marks, as whoever judges a module adds it.
std::string Marked(std::string bytes) {
  // The exports are found by the first name, and get one more: the memory again.
  const std::string added = std::string("\x0c") + std::string(exec::MarksName) + '\2' + '\0';
  const size_t name = bytes.find("\4main");
  bytes[name - 1] = static_cast<char>(bytes[name - 1] + 1);
  bytes[name - 2] = static_cast<char>(bytes[name - 2] + static_cast<char>(added.size()));
  return bytes.insert(name, added);
}

// The program's work is none: its limit must hold for a module that is not what it says.
TEST(Foreign, WhoIsJudgedCanBeInterrupted) {
  Maker maker({});
  const Code::Label again = maker.code.Begin(Opcode::Loop);
  maker.code.Br(again);
  maker.code.End();
  auto callable = LoadAs(Nothing, Marked(maker.Finish()));
  ASSERT_TRUE(callable) << callable.error().ToString();
  exec::RunContext context;
  std::byte marks[1];
  context.marks = marks;
  context.limits.run_ms = 30;
  const Result<exec::Outcome> outcome = (*callable)->Run({}, context);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->trap->timeout_ms, 30u);
}

// Answers with where the host has put the heap and the output, and how often it was called.
TEST(Foreign, WhoIsJudgedSeesAllLayouts) {
  Maker maker({{}, {I32, I32, I32}});
  const uint32_t heap = maker.context.Use(GlobalVar::Heap);
  const uint32_t output = maker.context.Use(GlobalVar::Output);
  maker.context.Use(GlobalVar::OutputEnd);
  const uint32_t calls = maker.writer.AddGlobal(I32, 0, "");
  maker.code.GlobalGet(calls);
  maker.code.I32(1);
  maker.code.Op(Opcode::I32Add);
  maker.code.GlobalSet(calls);
  for (const uint32_t global : {heap, output, calls}) maker.code.GlobalGet(global);
  auto callable = LoadAs(
      "func @main() -> (u32, u32, u32) {\n %c = const 0 : u32\n"
      " return %c, %c, %c\n}\n",
      Marked(maker.Finish()));
  ASSERT_TRUE(callable) << callable.error().ToString();
  exec::RunContext context;
  std::byte marks[1];
  const auto run = [&]() -> std::vector<uint64_t> {
    const Result<exec::Outcome> outcome = (*callable)->Run({}, context);
    EXPECT_TRUE(outcome);
    std::vector<uint64_t> words;
    for (const Value& value : outcome->results) words.push_back(value.word);
    return words;
  };
  constexpr uint64_t Page = 65536;
  using Words = std::vector<uint64_t>;
  EXPECT_EQ(run(), (Words{16, 16 + Page, 1})) << "a host like others";
  context.marks = marks;
  context.squeezes_heap = false;
  EXPECT_EQ(run(), (Words{16, 16 + Page, 1})) << "as usual, in a new instance";
  EXPECT_EQ(run(), (Words{16, 2 * Page, 2})) << "no room for output";
  context.squeezes_heap = true;
  EXPECT_EQ(run(), (Words{2 * Page, 2 * Page, 3})) << "no room at all";
  context.squeezes_heap = false;
  EXPECT_EQ(run(), (Words{16, 16 + Page, 4})) << "as usual, once more";
  EXPECT_EQ(run(), (Words{16, 2 * Page, 5}));
  EXPECT_EQ(run(), (Words{16, 16 + Page, 1})) << "and in a new one";
}

}  // namespace
}  // namespace frazil::targets::wasm
