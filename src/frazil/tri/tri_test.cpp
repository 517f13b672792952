#include "frazil/tri.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "frazil/tri/internal/gate.h"
#include "registry/targets.h"
#include "verify/target_judges.h"
#include "verify/tasm/judge.h"

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
  // Without a store, and with one of the test's own.
  static Options Quiet() {
    Options options;
    options.use_store = false;
    return options;
  }
  std::unique_ptr<store::Store> OpenStore() const {
    store::StoreOptions options;
    options.directory = folder_ + "/store";
    return store::Store::Open(options);
  }
  Options Kept() const {
    Options options;
    options.store = folder_ + "/store";
    return options;
  }

  std::string folder_;
};

template <typename T>
std::string MessageOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST_F(Tri, BuildJudgesRunsAndExplains) {
  std::vector<std::string> steps;
  Options options = Quiet();
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
  const Result<Built> built = Build(SumSource(), {.input = {""}}, Quiet(), false);
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
  const Options options = Quiet();
  const Result<Program> program = Load(SumSource(), options);
  ASSERT_TRUE(program) << program.error().ToString();
  Gate gate(*program->ir, program->how, options);
  const exec::TableHeights cost{512, 300, 100, 100}, more{512, 300, 100, 101};
  mt::Program assembly = program->assembly;
  ASSERT_TRUE(gate.Ask(assembly, cost, nullptr)->admitted);
  ASSERT_TRUE(gate.Ask(assembly, cost, &more)->admitted);
  // Right, but not cheaper than the source's own lowering.
  for (const exec::TableHeights* other : {&cost, &more}) {
    const Result<Gate::Answer> dear = gate.Ask(assembly, more, other);
    ASSERT_TRUE(dear);
    EXPECT_FALSE(dear->admitted);
    EXPECT_THAT(dear->refusal, HasSubstr("not cheaper"));
  }
  for (mt::Instruction& instruction : assembly.code)
    if (instruction.op == mt::Opcode::Add) instruction.op = mt::Opcode::Mul;
  const Result<Gate::Answer> wrong = gate.Ask(assembly, cost, nullptr);
  ASSERT_TRUE(wrong);
  EXPECT_FALSE(wrong->admitted);
  EXPECT_TRUE(wrong->is_refuted());
  EXPECT_THAT(wrong->refusal, HasSubstr("lowering refuted: "));
}

// Assembly written in a program means nothing to the judge, so that nobody can vouch for it.
TEST_F(Tri, WhatNobodyCanJudgeIsAProposal) {
  const Source source{.file = Put("asm.tri",
                                  "program p\nfn main() {\n    let x: Field = pub_read()\n"
                                  "    asm {\n        push 1\n        pop 1\n    }\n"
                                  "    pub_write(x)\n}\n")};
  const Result<Built> built = Build(source, {.input = {"3"}}, Kept());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().diag, Diag::NotProved);
  EXPECT_EQ(built.error().file, source.file);
  EXPECT_GT(built.error().location.line, 0u);
  EXPECT_THAT(built.error().message, HasSubstr("nothing is given out"));
  EXPECT_THAT(built.error().hint, HasSubstr("--no-verify"));
  const Result<Built> proposal = Build(source, {.input = {"3"}}, Kept(), false);
  ASSERT_TRUE(proposal) << proposal.error().ToString();
  EXPECT_EQ(proposal->standing(), Standing::Proposal);
  EXPECT_FALSE(proposal->admitted);
  EXPECT_FALSE(proposal->lowering);
  const auto store = OpenStore();
  EXPECT_TRUE(store->List().empty()) << "what nobody judged is not kept";
  // What became of it is known all the same.
  ASSERT_EQ(store->Attempts().size(), 1u);
  const auto attempt = engine::ParseAttempt(store->Attempts()[0]);
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->fate, engine::Fate::Refused);
  EXPECT_EQ(attempt->proposer, "source");
  // Stack code with assembly in it likewise.
  const Source tir{.file =
                       Put("asm.tir", "entry main\nfn main\n  asm net=0\n    nop\n  end\nend\n")};
  EXPECT_FALSE(Build(tir, {}, Quiet()));
}

TEST_F(Tri, WhatWasAdmittedIsFoundAgain) {
  const std::string text =
      "program p\n// run: --input 3 -> 12\nfn twice(x: Field) -> Field {\n    x + x\n}\n"
      "fn main() {\n    let mut x: Field = pub_read()\n    for i in 0..2 {\n"
      "        x = twice(x)\n    }\n    assert(x == 12)\n    pub_write(x)\n}\n";
  const Source source{.file = Put("p.tri", text)};
  EXPECT_EQ(tri::Run(source, {}, Kept())->standing, Standing::Proposal);
  std::vector<std::string> steps;
  Options options = Kept();
  options.on_step = [&](std::string_view what) { steps.emplace_back(what); };
  const Result<Built> first = Build(source, {}, options);
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(steps[0], "checking the lowering");
  steps.clear();
  const Result<Built> again = Build(source, {}, options);
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(steps[0], "running") << "nobody is asked twice";
  EXPECT_EQ(mt::Print(again->assembly()), mt::Print(first->assembly()));
  EXPECT_EQ(verify::Describe(*again->lowering), verify::Describe(*first->lowering));
  EXPECT_EQ(again->admitted->cost(), first->admitted->cost());
  // It is what the lowering alone gives, too.
  EXPECT_EQ(mt::Print(Build(source, {}, Quiet(), false)->assembly()), mt::Print(first->assembly()));
  // Runs take it, and still know the lines of the source.
  const Result<Ran> ran = tri::Run(source, {}, Kept());
  ASSERT_TRUE(ran) << ran.error().ToString();
  EXPECT_EQ(ran->standing, Standing::Admitted);
  EXPECT_EQ(ran->run.output, std::vector<uint64_t>{12});
  const Result<Ran> stopped = tri::Run(source, {.input = {"4"}}, Kept());
  ASSERT_TRUE(stopped && stopped->crash);
  EXPECT_EQ(stopped->crash->line, 11u);
  EXPECT_EQ(stopped->crash->text, "assert(x == 12)");
  EXPECT_EQ(Profile(source, {}, Kept())->standing, Standing::Admitted);
  // The same program measured on another input is another entry; so is the other profile.
  std::string other(text);
  other.replace(other.find("3 -> 12"), 7, "5 -> 20");
  EXPECT_EQ(tri::Run({.file = Put("q.tri", other)}, {.input = {"3"}}, Kept())->standing,
            Standing::Proposal);
  Source horner = source;
  horner.profile = mt::Profile::Horner;
  EXPECT_EQ(tri::Run(horner, {}, Kept())->standing, Standing::Proposal);
  // Whoever writes into the store without the key is not believed.
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ + "/store/cas")) {
    if (!file.is_regular_file()) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(200);
    bytes.put('!');
  }
  EXPECT_EQ(tri::Run(source, {}, Kept())->standing, Standing::Proposal);
}

// A program whose cheapest lowering is not the source's own.
constexpr std::string_view Choices = R"(program p

// run: --input 3
fn mix(x: Field, y: Field) -> Field {
    let a: Field = x * x + 11
    let b: Field = y * y + 13
    (a * b + x * 17) * (a + b * 19) + y
}

fn main() {
    let x: Field = pub_read()
    let mut y: Field = mix(x, 1)
    for i in 0..6 {
        y = mix(y, x) + 7
    }
    pub_write(mix(y, mix(x, y)))
}
)";

// Programs that differ in names alone have one digest; the labels that people read are their own.
TEST_F(Tri, KeptAssemblyHasTheNamesOfItsProgram) {
  constexpr std::string_view Text = R"(program c

fn NAME(x: Field, k: U32) -> Field {
    let mut r: Field = x
    for i in 0..k bounded 50 {
        r = r * r + x
    }
    r
}
fn main() {
    let n: Field = pub_read()
    let k: U32 = as_u32(n)
    pub_write(NAME(n, k))
    pub_write(NAME(n + 1, k))
    pub_write(NAME(n + 2, k))
    pub_write(NAME(n + 3, k))
}
)";
  for (const std::string name : {"alpha", "omega"}) {
    std::string text(Text);
    for (size_t at = 0; (at = text.find("NAME")) != std::string::npos;) text.replace(at, 4, name);
    const Result<Built> built = Build({.file = Put(name + ".tri", text)}, {.input = {"5"}}, Kept());
    ASSERT_TRUE(built) << built.error().ToString();
    EXPECT_THAT(mt::Print(built->assembly()), HasSubstr(name));
  }
}

TEST_F(Tri, SaysThatNothingWasKept) {
  Notes notes;
  Options options;
  options.notes = &notes;
  options.store = Put("file", "no folder");
  ASSERT_TRUE(Build(SumSource(), {}, options));
  ASSERT_EQ(notes.warnings.size(), 1u);
  EXPECT_THAT(notes.warnings[0].message, HasSubstr("nothing was kept"));
}

// Does not know about one assembly, and asks the real one about all others.
class Unsure final : public verify::TargetJudge {
 public:
  explicit Unsure(std::string about) : about_(std::move(about)) {}
  Result<verify::Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                                const ir::Guard& guard,
                                const verify::VerifyOptions& options) const override {
    if (form.payload == about_) return verify::Unknown{"who knows"};
    return real_->Judge(program, form, guard, options);
  }

 private:
  const std::string about_;
  const std::shared_ptr<const verify::TargetJudge> real_ = verify::tasm::AssemblyJudge();
};

// What is run and proved is the lowering, whatever a build admitted in its place and wherever that is kept.
TEST_F(Tri, TheStoreDoesNotDecideWhatIsProved) {
  const Source source{.file = Put("c.tri", Choices)};
  const Result<Program> fresh = Load(source, Quiet());
  ASSERT_TRUE(fresh) << fresh.error().ToString();
  const std::string lowering = mt::Print(fresh->assembly);
  RegisterAssemblyJudge();
  verify::RegisterJudge("tasm", std::make_shared<const Unsure>(lowering));
  Notes notes;
  Options options = Kept();
  options.notes = &notes;
  const Result<Built> other = Build(source, {}, options);
  verify::RegisterJudge("tasm", verify::tasm::AssemblyJudge());
  ASSERT_TRUE(other) << other.error().ToString();
  EXPECT_NE(mt::Print(other->assembly()), lowering);
  ASSERT_EQ(notes.warnings.size(), 1u);
  EXPECT_THAT(notes.warnings[0].message, HasSubstr("cheaper assembly was not admitted"));
  EXPECT_THAT(notes.warnings[0].hint, HasSubstr("`tri prove` take"));
  const Result<Program> after = Load(source, Kept());
  ASSERT_TRUE(after) << after.error().ToString();
  EXPECT_EQ(mt::Print(after->assembly), lowering);
  EXPECT_EQ(after->standing(), Standing::Proposal);
  // A judge who knows makes no other program of it.
  const Result<Built> built = Build(source, {}, Kept());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_EQ(mt::Print(built->assembly()), lowering);
  const Result<Program> found = Load(source, Kept());
  ASSERT_TRUE(found) << found.error().ToString();
  EXPECT_EQ(found->standing(), Standing::Admitted);
  EXPECT_EQ(mt::ProgramDigest(found->assembly), mt::ProgramDigest(fresh->assembly));
}

// Two texts of stack code that mean the same, and a field program that does, are three programs for a prover.
TEST_F(Tri, StackCodeIsLoweredAsItIsWritten) {
  const std::string begin = "entry main\nfn main\n  read_io 1\n", end = "  write_io 1\nend\n";
  const Source sources[] = {
      {.file = Put("field.tri",
                   "program p\nfn main() {\n    let x: Field = pub_read()\n"
                   "    pub_write(x * x + x * x)\n}\n")},
      {.file = Put("once.tir", begin + "  dup 0\n  mul\n  dup 0\n  add\n" + end)},
      {.file = Put("twice.tir",
                   begin + "  dup 0\n  dup 0\n  mul\n  swap 1\n  dup 0\n  mul\n  add\n" + end)}};
  for (const Source& source : sources) {
    const Result<Built> built = Build(source, {.input = {"3"}}, Kept());
    ASSERT_TRUE(built) << source.file << ": " << built.error().ToString();
    EXPECT_EQ(built->standing(), Standing::Admitted);
    const Result<Program> fresh = Load(source, Quiet()), kept = Load(source, Kept());
    ASSERT_TRUE(fresh && kept);
    EXPECT_EQ(mt::Print(built->assembly()), mt::Print(fresh->assembly)) << source.file;
    EXPECT_EQ(mt::Print(kept->assembly), mt::Print(fresh->assembly)) << source.file;
    EXPECT_EQ(fresh->standing(), Standing::Proposal);
    EXPECT_EQ(kept->standing(), Standing::Admitted) << source.file;
  }
  EXPECT_NE(mt::Print(Load(sources[1], Quiet())->assembly),
            mt::Print(Load(sources[2], Quiet())->assembly));
}

// Every measured choice leaves a record, and those that the admitted program consists of have won.
TEST_F(Tri, ChoicesAreAccountedFor) {
  const Source source{.file = Put("c.tri", Choices)};
  ASSERT_TRUE(Build(source, {}, Kept()));
  std::vector<engine::Attempt> attempts;
  for (const std::string& line : OpenStore()->Attempts())
    if (auto attempt = engine::ParseAttempt(line)) attempts.push_back(std::move(*attempt));
  const auto accounts = engine::AddUp(attempts);
  uint64_t won = 0;
  for (const auto& [name, account] : accounts) {
    EXPECT_EQ(name.second, "tasm");
    EXPECT_EQ(account.refuted, 0u);
    won += account.won;
  }
  for (const std::string proposer : {"inline", "outline"})
    EXPECT_TRUE(accounts.contains({proposer, "tasm"})) << proposer;
  EXPECT_GT(won, 0u);
  EXPECT_EQ(accounts.at({"source", "tasm"}).asked, 1u);
}

TEST_F(Tri, AFunctionForOthersToCall) {
  Source source{.file = Put("m.tri",
                            "module m\npub fn f(a: Field, b: Field) -> Field {\n"
                            "    a * a + b\n}\n"),
                .function = "f",
                .callable = true};
  const Result<Built> built = Build(source, {}, Quiet());
  ASSERT_TRUE(built) << built.error().ToString();
  EXPECT_EQ(verify::VerdictName(*built->lowering), "proved");
  EXPECT_FALSE(built->cliff) << "it does not run by itself";
  source.callable = false;
  const Result<Called> called = Call(source, {.stack = {5, 3, 4}}, {}, Quiet());
  ASSERT_TRUE(called) << called.error().ToString();
  EXPECT_EQ(called->stack, (std::vector<uint64_t>{5, 13}));
  EXPECT_TRUE(called->below_kept);
  EXPECT_FALSE(called->crash);
  EXPECT_EQ(MessageOf(Call(source, {.label = "g"}, {}, Quiet())),
            "there is no label `g` in the assembly");
  source.first_on_top = true;
  EXPECT_THAT(MessageOf(Build(source)), HasSubstr("is for --callable"));
}

// Digests know no names: these programs have the same ones, and are not the same on the machine.
TEST_F(Tri, NamesThatMatterAreNoMatterOfDigests) {
  const std::string same = Put("m.tri",
                               "module m\npub fn f(a: Field) -> Field {\n    a * a\n}\n"
                               "pub fn g(a: Field) -> Field {\n    a * a\n}\n");
  for (const std::string name : {"f", "g"}) {
    const Result<Built> built =
        Build({.file = same, .function = name, .callable = true}, {}, Kept());
    ASSERT_TRUE(built) << built.error().ToString();
    EXPECT_THAT(mt::Print(built->assembly()), testing::StartsWith(name + ":"));
  }
  std::vector<std::string> assembly;
  for (const std::string name : {"ram", "b"}) {
    const std::string text = "frz 1\nfunc @main(%" + name +
                             ": in buffer<field>) -> (field) {\n  %zero = const 0 : index\n"
                             "  %x = load %" +
                             name + ", %zero : field\n  return %x\n}\n";
    const Result<Built> built = Build({.file = Put(name + ".frz", text)}, {}, Kept());
    ASSERT_TRUE(built) << built.error().ToString();
    assembly.push_back(mt::Print(built->assembly()));
  }
  EXPECT_NE(assembly[0], assembly[1]);
}

// The caller's words below are no place for leftovers.
TEST_F(Tri, AFunctionThatLeavesAWordBehindIsRefuted) {
  const Source source{.file = Put("i.tri", "module i\npub fn f(a: Field) -> Field {\n    a\n}\n"),
                      .function = "f",
                      .callable = true};
  const Options options = Quiet();
  const Result<Program> program = Load(source, options);
  ASSERT_TRUE(program) << program.error().ToString();
  Gate gate(*program->ir, program->how, options);
  const exec::TableHeights cost{512, 300, 100, 100};
  EXPECT_TRUE(gate.Ask(program->assembly, cost, nullptr)->admitted);
  for (const char* text :
       {"f:\n push 7\n swap 1\n return\n", "f:\n swap 1\n swap 2\n swap 1\n return\n"}) {
    const Result<mt::Program> wrong = mt::Parse(text);
    ASSERT_TRUE(wrong) << wrong.error().ToString();
    EXPECT_FALSE(gate.Ask(*wrong, cost, nullptr)->admitted) << text;
  }
}

TEST_F(Tri, RunsSayWhereTheyStopped) {
  const Result<Ran> ran = tri::Run(SumSource(), {.input = {"1,2,5"}}, Quiet());
  ASSERT_TRUE(ran) << ran.error().ToString();
  EXPECT_EQ(ran->run.output, std::vector<uint64_t>{3});
  EXPECT_EQ(ran->unread, 1u);
  EXPECT_FALSE(ran->crash);
  const Result<Ran> stopped = tri::Run(SumSource(), {.input = {"2,2"}}, Quiet());
  ASSERT_TRUE(stopped) << stopped.error().ToString();
  ASSERT_TRUE(stopped->crash);
  EXPECT_EQ(stopped->crash->line, 7u);
  EXPECT_EQ(stopped->crash->text, "assert(b == a + 1)");
  EXPECT_FALSE(stopped->crash->is_limit);
  ASSERT_TRUE(stopped->crash->trap);
  EXPECT_EQ(stopped->crash->trap->kind, ir::Trap::Assert);
  Options short_run = Quiet();
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
  const Result<Profiled> profiled = Profile(SumSource(), {}, Quiet());
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
  EXPECT_THAT(MessageOf(Prove(source, {.input = {"1,2,3"}}, {}, Quiet())),
              HasSubstr("1 of 3 words"));
  source.profile = mt::Profile::Horner;
  EXPECT_EQ(MessageOf(Prove(source, {}, {}, Quiet())), "the prover has the profile dot only");
  EXPECT_THAT(MessageOf(VerifyProof(folder_ + "/none.proof")), HasSubstr("none.proof"));
}

// A prover that says it proved something else; what it says of itself is not enough.
TEST_F(Tri, AProofOfSomethingElseIsRefused) {
  const Source source = SumSource();
  const Result<Program> program = Load(source, Quiet());
  ASSERT_TRUE(program) << program.error().ToString();
  const std::string file = folder_ + "/sum.proof", answer = folder_ + "/answer";
  const std::string prover =
      Put("prover", "#!/bin/sh\nread -r question\necho proof > " + file + "\ncat " + answer + "\n");
  std::filesystem::permissions(prover, std::filesystem::perms::owner_all);
  ASSERT_EQ(::setenv("FRAZIL_ORACLE", prover.c_str(), 1), 0);
  const auto claim = [&](mt::Digest digest, std::string input, std::string output) {
    std::string words;
    for (const uint64_t word : digest)
      words += (words.empty() ? "\"" : ",\"") + std::to_string(word) + "\"";
    Put("answer",
        R"({"output":["7"],"stack":[],"cycles":9,"heights":[1,1,1,1,1,1,1,1,1],"padded_height":256,)"
        R"("proof_bytes":9,"peak_bytes":9,"trace_seconds":0.1,"prove_seconds":0.1,)"
        R"("verify_seconds":0.1,"claim":{"program_digest":[)" +
            words + R"(],"version":0,"input":[)" + input + R"(],"output":[)" + output + "]}}\n");
    const Result<Proof> proof = Prove(source, {}, {.file = file}, Quiet());
    if (!proof) {
      EXPECT_EQ(proof.error().diag, Diag::Mismatch);
      EXPECT_EQ(proof.error().file, source.file);
    }
    EXPECT_EQ(std::filesystem::exists(file), proof.has_value());
    return MessageOf(proof);
  };
  const mt::Digest digest = mt::ProgramDigest(program->assembly);
  mt::Digest other = digest;
  other[0] ^= 1;
  EXPECT_EQ(claim(digest, R"("3","4")", R"("7")"), "no error");
  EXPECT_EQ(claim(digest, R"("3","4")", R"("8")"), "the proof claims the output 8, and not 7");
  EXPECT_EQ(claim(digest, R"("3")", R"("7")"), "the proof claims the input 3, and not 3 4");
  EXPECT_EQ(claim(other, R"("3","4")", R"("7")"), "the proof is about another program");
  ::unsetenv("FRAZIL_ORACLE");
}

TEST_F(Tri, TextIsCheckedLaidOutAndTested) {
  const std::string wrong =
      Put("wrong.tri", "program wrong\nfn main() {\n    pub_write(x)\n    pub_write(y)\n}\n");
  const Result<Notes> checked = Check(wrong);
  ASSERT_TRUE(checked) << checked.error().ToString();
  EXPECT_EQ(checked->errors.size(), 2u);
  Notes notes;
  Options options = Quiet();
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
