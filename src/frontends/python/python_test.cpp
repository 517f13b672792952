// JSON in all accepted shapes, what comes out of it to the digest, and what is refused. Running is tests/kernels_source.
#include "frontends/python/python.h"

#include <gtest/gtest.h>

#include "ir/digest.h"
#include "ir/kernel.h"
#include "ir/text/test_text.h"
#include "ir/text/text.h"

namespace frazil::frontends::python {
namespace {

const std::string VectorAdd =
    ir::Lanes("%a: in buffer<f32>, %b: in buffer<f32>, %c: buffer<f32>, %n: u32",
              "  %hi = cast %n : index\n", R"(
    %x = load %a, %i : f32
    %y = load %b, %i : f32
    %z = add %x, %y : f32
    store %c, %i, %z : f32
)",
              "%zero to %hi");

ir::Program Parsed(std::string_view json) {
  Result<std::vector<Kernel>> kernels = ParseJson(json, "k.json");
  EXPECT_TRUE(kernels) << kernels.error().ToString();
  return kernels ? std::move((*kernels)[0].program) : ir::Program();
}

std::string Digest(std::string_view json) { return ir::ExactDigest(Parsed(json)); }

std::string TextDigest(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return program ? ir::ExactDigest(*program) : "";
}

std::string Refusal(std::string_view json, const Limits& limits = {}) {
  Result<std::vector<Kernel>> kernels = ParseJson(json, "k.json", limits);
  EXPECT_FALSE(kernels) << json;
  return kernels ? "" : kernels.error().ToString();
}

// A kernel on `a: f32[]`, `b: f32[]` and `n: u32` with this body.
std::string WithBody(const std::string& body) {
  return R"({"version":"1.0","kernel":{"name":"k","params":[
    {"name":"a","type":{"kind":"device_array","element_type":{"kind":"scalar","type":"f32"}}},
    {"name":"b","type":{"kind":"device_array","element_type":{"kind":"scalar","type":"f32"}}},
    {"name":"n","type":{"kind":"scalar","type":"u32"}}],"body":[)" +
         body + "]}}";
}

TEST(KernelJson, TheSchemaAndTheTextSignTheSame) {
  EXPECT_EQ(Digest(R"({"version":"1.0","kernel":{"name":"vector_add","params":[
    {"name":"a","type":{"kind":"device_array","element_type":{"kind":"scalar","type":"f32"}}},
    {"name":"b","type":{"kind":"device_array","element_type":{"kind":"scalar","type":"f32"}}},
    {"name":"c","type":{"kind":"device_array","element_type":{"kind":"scalar","type":"f32"}}},
    {"name":"n","type":{"kind":"scalar","type":"u32"}}],
    "body":[{"type":"let","name":"idx","value":{"type":"call","function":"get_global_id","args":[]}},
    {"type":"if","condition":{"type":"binary_op","op":"lt","left":{"type":"var","name":"idx"},"right":{"type":"var","name":"n"}},
     "then_body":[{"type":"assign","target":{"type":"index","array":{"type":"var","name":"c"},"index":{"type":"var","name":"idx"}},
       "value":{"type":"binary_op","op":"add",
         "left":{"type":"index","array":{"type":"var","name":"a"},"index":{"type":"var","name":"idx"}},
         "right":{"type":"index","array":{"type":"var","name":"b"},"index":{"type":"var","name":"idx"}}}}],
     "else_body":null}]}})"),
            TextDigest(VectorAdd));
}

TEST(KernelJson, StringsMayStandForTypesArraysAndVariables) {
  EXPECT_EQ(Digest(R"({"kernel":{"name":"vector_add","params":[
    {"name":"a","type":{"kind":"device_array","element_type":"f32"}},
    {"name":"b","type":{"kind":"device_array","element_type":"f32"}},
    {"name":"c","type":{"kind":"device_array","element_type":"f32"}},
    {"name":"n","type":"u32"}],
    "body":[{"type":"let","name":"idx","value":{"type":"call","function":"get_global_id"}},
    {"type":"if","condition":{"type":"binary_op","op":"lt","left":"idx","right":"n"},
     "then_body":[{"type":"assign","target":{"type":"index","array":"c","index":"idx"},
       "value":{"type":"binary_op","op":"add","left":{"type":"index","array":"a","index":"idx"},
                "right":{"type":"index","array":"b","index":"idx"}}}]}]}})"),
            TextDigest(VectorAdd));
}

TEST(KernelJson, AWholeArrayOperationIsAKernelOfLanes) {
  std::string params = R"({"kernel":{"name":"vector_add","params":[
    {"name":"a","type":{"kind":"device_array","element_type":"f32"}},
    {"name":"b","type":{"kind":"device_array","element_type":"f32"}},
    {"name":"c","type":{"kind":"device_array","element_type":"f32"}},{"name":"n","type":"u32"}],"body":[)";
  EXPECT_EQ(
      Digest(params + R"({"type":"parallel_map_binary","input_a":"a","input_b":"b","output":"c",
    "operation":"add","count":"n"}]}})"),
      TextDigest(VectorAdd));
  ir::Program two = Parsed(
      params +
      R"({"type":"parallel_map_unary","input":"a","output":"b","operation":"relu","count":"n"},
    {"type":"parallel_reduce","input":"b","output":"c","operation":"sum","count":"n"}]}})");
  EXPECT_FALSE(ir::SignatureOf(two).needs_launch());
  EXPECT_NE(Refusal(params + R"({"type":"parallel_scan","input":"a","output":"b","count":"n"}]}})")
                .find("parallel_scan"),
            std::string::npos);
  EXPECT_NE(
      Refusal(
          params +
          R"({"type":"parallel_map_unary","input":"a","output":"b","operation":"mish","count":"n"}]}})")
          .find("mish"),
      std::string::npos);
}

TEST(KernelJson, AFoldHasAKindAndAVariableOfItsOwn) {
  auto with = [](std::string_view kind, std::string_view rest) {
    return WithBody(
        R"({"type":"assign","target":{"type":"index","array":"b","index":0},"value":{"type":"fold","kind":")" +
        std::string(kind) + R"(","var":"j","stop":"n",)" + std::string(rest) + "}}");
  };
  std::string element = R"("value":{"type":"index","array":"a","index":"j"})";
  EXPECT_EQ(Digest(with("sum", element)), Digest(with("sum", R"("start":0,)" + element)));
  EXPECT_NE(Digest(with("sum", element)), Digest(with("max", element)));
  EXPECT_NE(Refusal(with("product", element)).find("'product' is not supported"),
            std::string::npos);
  EXPECT_NE(Refusal(with("sum", R"("start":"j",)" + element)).find("no variable 'j'"),
            std::string::npos);
  EXPECT_NE(Refusal(with("sum", R"("start":0)")).find("\"value\""), std::string::npos);
}

TEST(KernelJson, NamesDecideNothing) {
  std::string body =
      R"({"type":"let","name":"i","value":{"type":"call","function":"get_global_id"}},
    {"type":"if","condition":{"type":"binary_op","op":"lt","left":"i","right":"n"},"then_body":[
      {"type":"assign","target":{"type":"index","array":"b","index":"i"},"value":{"type":"index","array":"a","index":"i"}}]})";
  std::string json = WithBody(body);
  std::string other = json;
  other.replace(other.find("\"name\":\"k\""), 10, "\"name\":\"minimize_energy\"");
  std::string plain = ir::PrintText(Parsed(json)), renamed = ir::PrintText(Parsed(other));
  EXPECT_EQ(renamed.replace(renamed.find("minimize_energy"), 15, "k"), plain);
}

TEST(KernelJson, UnguardedKernelsAskForLanes) {
  ir::Program program = Parsed(
      WithBody(R"({"type":"let","name":"i","value":{"type":"call","function":"get_global_id"}},
    {"type":"assign","target":{"type":"index","array":"b","index":"i"},"value":1})"));
  ir::KernelSignature signature = ir::SignatureOf(program);
  ASSERT_EQ(signature.params.size(), 4u);
  EXPECT_EQ(signature.params[3].role, ir::ParamRole::LanesX);
}

TEST(KernelJson, AGuardMakesItsBoundAnExtent) {
  ir::Program program = Parsed(
      WithBody(R"({"type":"let","name":"i","value":{"type":"call","function":"get_global_id"}},
    {"type":"if","condition":{"type":"binary_op","op":"ge","left":"i","right":"n"},"then_body":[{"type":"return"}]},
    {"type":"assign","target":{"type":"index","array":"b","index":"i"},"value":{"type":"index","array":"a","index":"i"}})"));
  ir::KernelSignature signature = ir::SignatureOf(program);
  ASSERT_EQ(signature.params.size(), 3u);
  EXPECT_EQ(signature.params[2].role, ir::ParamRole::Extent);
  EXPECT_EQ(signature.params[2].buffers, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(signature.params[0].type.access, ir::Access::In);
}

TEST(KernelJson, LocationsComeFromTheSource) {
  Result<std::vector<Kernel>> kernels = ParseJson(
      WithBody(
          R"({"type":"assign","target":{"type":"index","array":"b","index":0,"loc":[7,5]},"loc":[7,5],
        "value":{"type":"index","array":"a","index":1,"loc":[7,12]}})"),
      "k.py");
  ASSERT_TRUE(kernels) << kernels.error().ToString();
  const ir::Function& function = (*kernels)[0].program.entry_function();
  for (const ir::Inst& inst : function.insts) {
    if (inst.op == ir::Op::Load) EXPECT_EQ(inst.location.column, 12u);
    if (inst.op == ir::Op::Store) EXPECT_EQ(inst.location.line, 7u);
  }
  EXPECT_EQ(
      Refusal(WithBody(
          R"({"type":"expr","value":{"type":"call","function":"foo","args":[],"loc":[3,4]},"loc":[3,4]})")),
      "k.json:3:4: error FRZ1001: there is no function 'foo' (see the list of functions in "
      "python/README.md)");
}

TEST(KernelJson, BadJsonIsRefusedWithAPlace) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "k.json:1:1: error FRZ1002: the text ends where a value should stand"},
      {"{\n\"kernel\": nul}", "k.json:2:11: error FRZ1002: this is no JSON value"},
      {"{} x", "k.json:1:4: error FRZ1002: there is more after the end"},
      {"{}", "k.json:1:1: error FRZ1002: there is no \"kernel\" here"},
      {"[]", "k.json:1:1: error FRZ1002: there is no kernel here"},
      {R"({"version":"2.0","kernel":{}})",
       "k.json:1:12: error FRZ1002: version '2.0' is not known (this reads version 1.0)"},
  };
  for (const auto& [text, refusal] : cases) EXPECT_EQ(Refusal(text), refusal) << text;
  EXPECT_NE(Refusal(R"({"kernel":{"name":"k","params":[]}})").find("\"body\" is missing"),
            std::string::npos);
  EXPECT_NE(
      Refusal(R"({"kernel":{"name":"k k","params":[],"body":[]}})").find("cannot be the name"),
      std::string::npos);
  EXPECT_NE(Refusal(WithBody(R"({"type":"goto"})")).find("statement 'goto' is not supported"),
            std::string::npos);
  EXPECT_NE(Refusal(WithBody(R"({"type":"assign","target":{"type":"index","array":"b","index":0},
    "value":{"type":"binary_op","op":"unknown","left":1,"right":2}})"))
                .find("operation 'unknown' is not supported"),
            std::string::npos);
  EXPECT_NE(
      Refusal(
          R"({"kernel":{"name":"k","params":[{"name":"p","type":{"kind":"device_ptr"}}],"body":[]}})")
          .find("device_ptr"),
      std::string::npos);
  EXPECT_NE(Refusal("\"\\ud800\"").find("half a character"), std::string::npos);
  EXPECT_NE(Refusal("\"\x80\"").find("FRZ0103"), std::string::npos);
}

TEST(KernelJson, LimitsHold) {
  std::string deep(100'000, '[');
  EXPECT_NE(Refusal(deep).find("FRZ0401"), std::string::npos);
  std::string value = "1";
  for (int i = 0; i < 2000; ++i)
    value = R"({"type":"unary_op","op":"neg","operand":)" + value + "}";
  EXPECT_NE(
      Refusal(
          WithBody(R"({"type":"assign","target":{"type":"index","array":"b","index":0},"value":)" +
                   value + "}"))
          .find("FRZ0401"),
      std::string::npos);
  // Functions that double at each level: the limit on instructions stops it.
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    std::string call =
        i == 0 ? "\"x\""
               : R"({"type":"call","function":"f)" + std::to_string(i - 1) + R"(","args":["x"]})";
    functions += (i == 0 ? "" : ",") +
                 (R"({"name":"f)" + std::to_string(i) + R"(","params":[{"name":"x"}],"body":[
      {"type":"return","value":{"type":"binary_op","op":"add","left":)" +
                  call + R"(,"right":)" + call + "}}]}");
  }
  Limits limits;
  limits.program_insts = 20'000;
  EXPECT_NE(
      Refusal(
          R"({"kernel":{"name":"k","params":[{"name":"b","type":{"kind":"device_array","element_type":"f32"}}],
    "functions":[)" +
              functions +
              R"(],"body":[{"type":"assign","target":{"type":"index","array":"b","index":0},
    "value":{"type":"call","function":"f39","args":[1.0]}}]}})",
          limits)
          .find("FRZ0401"),
      std::string::npos);
}

TEST(KernelPython, MissingPythonAndMissingFilesAreSaid) {
  PythonOptions options;
  options.python = "frazil-no-such-python";
  const PythonText text{"x.py", "pass\n"};
  const std::vector<Result<std::string>> none = PythonTextsToJson(std::span(&text, 1), options);
  ASSERT_EQ(none.size(), 1u);
  ASSERT_FALSE(none[0]);
  EXPECT_EQ(none[0].error().diag, Diag::MissingTool);
  std::vector<std::string> paths = {"frazil-no-such-file.py"};
  std::vector<Result<std::vector<Kernel>>> files = ParsePythonFiles(paths);
  ASSERT_EQ(files.size(), 1u);
  ASSERT_FALSE(files[0]);
  EXPECT_EQ(files[0].error().diag, Diag::FileUnreadable);
}

// Texts are not files: nothing but their bytes is read, and all of them, whatever is in them.
TEST(KernelPython, TextsAreReadAsTheyAreGiven) {
  const std::string kernel =
      "def f(x: DeviceArray[f32], n: u32):\n    i = get_global_id()\n    if i < n:\n"
      "        x[i] = 2.0 * x[i]\n";
  const PythonText texts[] = {{"no-such-file.py", kernel},
                              {"empty.py", ""},
                              {"wrong.py", "def (\n7\n"},
                              {"again.py", kernel}};
  const std::vector<Result<std::string>> answers = PythonTextsToJson(texts);
  ASSERT_EQ(answers.size(), 4u);
  for (const size_t i : {0, 3}) {
    ASSERT_TRUE(answers[i]) << answers[i].error().ToString();
    EXPECT_NE(answers[i]->find("\"f\""), std::string::npos) << *answers[i];
  }
  for (const size_t i : {1, 2}) {
    ASSERT_FALSE(answers[i]) << *answers[i];
    EXPECT_EQ(answers[i].error().file, texts[i].path);
    EXPECT_EQ(answers[i].error().location.line, 1u);
  }
}

}  // namespace
}  // namespace frazil::frontends::python
