#include "frazil/tri.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "frazil/tri/internal/program.h"
#include "registry/targets.h"

namespace frazil::tri {
namespace {

using testing::HasSubstr;

constexpr std::string_view Sum = R"(program sum

// run: --input 3,4 -> 7
fn main() {
    let a: Field = pub_read()
    let b: Field = pub_read()
    assert(b == a + 1)
    pub_write(a + b)
}
)";

class Tri : public testing::Test {
 protected:
  Tri() : folder_(testing::TempDir() + "tri_test_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Tri() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string Put(const std::string& name, std::string_view text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Source SumSource() const { return {.file = Put("sum.tri", Sum)}; }

  std::string folder_;
};

template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST_F(Tri, BuildJudgesRunsAndExplains) {
  std::vector<std::string> steps;
  Options options;
  options.on_step = [&](std::string_view what) { steps.emplace_back(what); };
  const Result<Built> built = Build(SumSource(), {}, options);
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_TRUE(built->inputs.from_file);
  EXPECT_EQ(built->inputs.expected, built->trace.run.output);
  EXPECT_EQ(built->trace.run.output, std::vector<uint64_t>{7});
  ASSERT_TRUE(built->lowering);
  EXPECT_EQ(verify::VerdictName(*built->lowering), "proved") << verify::Describe(*built->lowering);
  ASSERT_TRUE(built->cliff);
  EXPECT_EQ(built->cliff->padded, built->trace.profile.PaddedHeight());
  EXPECT_FALSE(built->bounds);
  EXPECT_EQ(steps, (std::vector<std::string>{"checking the lowering", "", "running", ""}));
}

TEST_F(Tri, WithoutItsInputThereAreBounds) {
  const Result<Built> built = Build(SumSource(), {.input = {""}}, {}, false);
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_FALSE(built->lowering) << "nobody asked";
  ASSERT_TRUE(built->trace.run.crash);
  EXPECT_EQ(built->trace.run.crash->kind, mt::CrashKind::InputEmpty);
  ASSERT_TRUE(built->bounds);
  EXPECT_GT(built->bounds->lower[mt::Table::Processor], 0u);
  EXPECT_FALSE(built->cliff);
}

// The lowering is right, so the wrong assembly is made by hand.
TEST_F(Tri, WhatIsRefutedIsNotGivenOut) {
  const Source source = SumSource();
  Result<Program> program = Load(source, {});
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_TRUE(Release(source, *program, {}));
  bool changed = false;
  for (mt::Instruction& instruction : program->assembly.code) {
    if (instruction.op != mt::Opcode::Add) continue;
    instruction.op = mt::Opcode::Mul;
    changed = true;
  }
  ASSERT_TRUE(changed);
  const auto released = Release(source, *program, {});
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().diag, Diag::NotProved);
  EXPECT_THAT(released.error().message, HasSubstr("nothing is given out"));
  // Of a .tir file, too.
  const Source tir{.file = Put("two.tir",
                               "entry main\nfn main\n  read_io 1\n  addi 1\n"
                               "  write_io 1\nend\n")};
  Result<Program> stack = Load(tir, {});
  ASSERT_TRUE(stack) << stack.error().ToString();
  EXPECT_TRUE(Release(tir, *stack, {}));
  for (mt::Instruction& instruction : stack->assembly.code)
    if (instruction.op == mt::Opcode::AddI) instruction.argument = 2;
  EXPECT_FALSE(Release(tir, *stack, {}));
}

TEST_F(Tri, AFunctionForOthersToCall) {
  Source source{.file = Put("m.tri",
                            "module m\npub fn f(a: Field, b: Field) -> Field {\n"
                            "    a * a + b\n}\n"),
                .function = "f",
                .callable = true};
  const Result<Built> built = Build(source);
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_EQ(verify::VerdictName(*built->lowering), "proved");
  EXPECT_FALSE(built->cliff) << "it does not run by itself";
  source.callable = false;
  const Result<Called> called = Call(source, {.stack = {5, 3, 4}});
  ASSERT_TRUE(called) << called.error().ToString();
  EXPECT_EQ(called->stack, (std::vector<uint64_t>{5, 13}));
  EXPECT_TRUE(called->below_kept);
  EXPECT_FALSE(called->crash);
  EXPECT_EQ(MessageOf(Call(source, {.label = "g"})), "there is no label `g` in the assembly");
  source.first_on_top = true;
  EXPECT_THAT(MessageOf(Build(source)), HasSubstr("is for --callable"));
}

TEST_F(Tri, RunsSayWhereTheyStopped) {
  const Result<Ran> ran = tri::Run(SumSource(), {.input = {"1,2,5"}});
  ASSERT_TRUE(ran) << ran.error().ToString();
  EXPECT_EQ(ran->run.output, std::vector<uint64_t>{3});
  EXPECT_EQ(ran->unread, 1u);
  EXPECT_FALSE(ran->crash);
  const Result<Ran> stopped = tri::Run(SumSource(), {.input = {"2,2"}});
  ASSERT_TRUE(stopped) << stopped.error().ToString();
  ASSERT_TRUE(stopped->crash);
  EXPECT_EQ(stopped->crash->line, 7u);
  EXPECT_EQ(stopped->crash->text, "assert(b == a + 1)");
  EXPECT_FALSE(stopped->crash->is_limit);
  ASSERT_TRUE(stopped->crash->trap);
  EXPECT_EQ(stopped->crash->trap->kind, ir::Trap::Assert);
  Options short_run;
  short_run.cycles = 2;
  const Result<Ran> limited = tri::Run(SumSource(), {}, short_run);
  ASSERT_TRUE(limited && limited->crash);
  EXPECT_TRUE(limited->crash->is_limit);
}

TEST_F(Tri, OffTheMachineItMeansTheSame) {
  const Result<OffMachine> off = TakeOffMachine(SumSource(), {.input = {"6,7"}}, 16);
  ASSERT_TRUE(off) << off.error().ToString();
  const exec::Target* target = *registry::FindTarget("interp");
  const auto outcome = registry::RunOn(*target, off->program, off->arguments, off->context);
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  ASSERT_EQ(outcome->output.size(), 1u);
  EXPECT_EQ(exec::PrintValue(outcome->output[0]), "13");
  const Source assembly{.file = Put("a.tasm", "halt")};
  EXPECT_THAT(MessageOf(TakeOffMachine(assembly, {}, 16)), HasSubstr("runs on Triton VM only"));
}

TEST_F(Tri, InputsAsTheyAreWritten) {
  const Result<Inputs> inputs =
      ReadInputs({.input = {"1,-1", "3"}, .secret = {"4,1:2:3:4:5"}, .ram = {"17=5"}}, Sum);
  ASSERT_TRUE(inputs) << inputs.error().ToString();
  EXPECT_EQ(inputs->machine.input, (std::vector<uint64_t>{1, 18446744069414584320u, 3}));
  EXPECT_EQ(inputs->machine.secret, std::vector<uint64_t>{4});
  EXPECT_EQ(inputs->machine.digests, (std::vector<mt::Digest>{{1, 2, 3, 4, 5}}));
  EXPECT_EQ(inputs->machine.ram.at(17), 5u);
  EXPECT_EQ(inputs->hints.size(), 2u);
  EXPECT_FALSE(inputs->from_file) << "the texts are what counts";
  EXPECT_THAT(MessageOf(ReadInputs({.input = {"18446744069414584321"}}, "")),
              HasSubstr("is no field element"));
  EXPECT_THAT(MessageOf(ReadInputs({.secret = {"1:2"}}, "")), HasSubstr("five elements"));
  EXPECT_THAT(MessageOf(ReadInputs({.ram = {"1"}}, "")), HasSubstr("address=value"));
}

TEST_F(Tri, RowsByFunctionAndTheirPicture) {
  const Result<Profiled> profiled = Profile(SumSource());
  ASSERT_TRUE(profiled) << profiled.error().ToString();
  EXPECT_FALSE(profiled->trace.functions.empty());
  const std::string picture = DrawRows(profiled->trace, "a < b");
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture;
  EXPECT_THAT(picture, HasSubstr("a &lt; b"));
  EXPECT_THAT(picture, HasSubstr("processor: "));
}

TEST_F(Tri, AssemblyIsComparedWithAnything) {
  const std::string right = Put("right.tasm", "read_io 1 dup 0 add write_io 1 halt"),
                    wrong = Put("wrong.tasm", "read_io 1 dup 0 mul write_io 1 halt"),
                    field = Put("double.tri",
                                "program double\nfn main() {\n    pub_write(2 * pub_read())\n}\n");
  for (const std::string& first : {right, field}) {
    const Result<verify::Verdict> proved = Compare({.file = first}, right);
    ASSERT_TRUE(proved) << proved.error().ToString();
    EXPECT_EQ(verify::VerdictName(*proved), "proved") << verify::Describe(*proved);
    const Result<verify::Verdict> refuted = Compare({.file = first}, wrong);
    ASSERT_TRUE(refuted) << refuted.error().ToString();
    ASSERT_EQ(verify::VerdictName(*refuted), "refuted") << verify::Describe(*refuted);
    const mt::Inputs& inputs = std::get<verify::Refuted>(*refuted).start().inputs;
    EXPECT_NE(tri::Run({.file = right}, {.input = {std::to_string(inputs.input[0])}})->run.output,
              tri::Run({.file = wrong}, {.input = {std::to_string(inputs.input[0])}})->run.output);
  }
}

TEST_F(Tri, WhatCannotBeProvedIsSaidBeforeTheProverIsAsked) {
  Source source = SumSource();
  EXPECT_THAT(MessageOf(Prove(source, {.input = {"1,2,3"}})), HasSubstr("1 of 3 words"));
  source.profile = mt::Profile::Horner;
  EXPECT_EQ(MessageOf(Prove(source)), "the prover has the profile dot only");
  EXPECT_THAT(MessageOf(VerifyProof(folder_ + "/none.proof")), HasSubstr("none.proof"));
}

TEST_F(Tri, TextIsCheckedLaidOutAndTested) {
  const std::string wrong =
      Put("wrong.tri", "program wrong\nfn main() {\n    pub_write(x)\n    pub_write(y)\n}\n");
  const Result<Notes> checked = Check(wrong);
  ASSERT_TRUE(checked) << checked.error().ToString();
  EXPECT_EQ(checked->errors.size(), 2u);
  Notes notes;
  Options options;
  options.notes = &notes;
  const Result<Built> built = Build({.file = wrong}, {}, options);
  ASSERT_FALSE(built);
  ASSERT_EQ(notes.errors.size(), 2u);
  EXPECT_EQ(built.error().message, notes.errors.back().message);
  EXPECT_FALSE(Check(folder_ + "/none.tri"));

  const std::string loose = Put("loose.tri", "program loose\nfn main(){pub_write(1)}\n");
  const Result<Formatted> formatted = Format(loose);
  ASSERT_TRUE(formatted) << formatted.error().ToString();
  EXPECT_TRUE(formatted->changed);
  EXPECT_FALSE(Format(Put("again.tri", formatted->text))->changed);

  const std::string tests =
      Put("t.tri",
          "program t\nfn main() {\n}\n#[test]\nfn test_right() {\n    assert(true)\n}\n"
          "#[test]\nfn test_wrong() {\n    assert(false)\n}\n");
  std::vector<std::string> results;
  const auto note = [&](const TestResult& result) {
    results.push_back(result.name + (result.failure ? ": " + *result.failure : ""));
  };
  const exec::Target* target = *registry::FindTarget("tasm");
  ASSERT_TRUE(tri::Test(tests, {}, "", *target, note));
  EXPECT_EQ(results, (std::vector<std::string>{"test_right", "test_wrong: assert in assert"}));
  results.clear();
  ASSERT_TRUE(tri::Test(tests, {}, "right", *target, note));
  EXPECT_EQ(results.size(), 1u);
}

}  // namespace
}  // namespace frazil::tri
