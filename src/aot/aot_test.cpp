// The parts of a build that can be seen by themselves: counts, estimates, names, finished work as bytes, and jobs that
// fail. Whole builds are tests/embed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "aot/aot.h"
#include "aot/compile.h"
#include "aot/generate.h"
#include "aot/measure.h"
#include "aot/targets.h"
#include "aot/test_code.h"
#include "aot/unit.h"
#include "embed/status.h"
#include "ir/op.h"
#include "ir/text/text.h"
#include "verify/target_judges.h"

namespace frazil::aot {
namespace {

ir::Program Parse(std::string_view text) {
  Result<ir::Program> program = ir::ParseText(text);
  EXPECT_TRUE(program) << program.error().ToString();
  return std::move(*program);
}

constexpr std::string_view Rows = R"(frz 1

func @rows(%x: in buffer<f32>, %y: buffer<f32>, %rows: u32, %cols: u32) {
  %zero = const 0 : index
  %r = cast %rows : index
  %c = cast %cols : index
  parallel %i = %zero to %r {
    %first = mul %i, %c : index
    for %j = %zero to %c step 1 carry () {
      %at = add %first, %j : index
      %v = load %x, %at : f32
      store %y, %at, %v : f32
      yield
    }
    store %y, %i, %k : f32
    yield
  }
  return
}
)";

std::string RowsText() {
  std::string text(Rows);
  const std::string use = "store %y, %i, %k : f32";
  text.replace(text.find(use), use.size(), "%k = load %x, %i : f32\n    store %y, %i, %k : f32");
  return text;
}

TEST(Measure, OpsAndTraffic) {
  const ir::Program program = Parse(RowsText());
  EXPECT_EQ(CountOps(program), 11u);
  EXPECT_EQ(TrafficOf(program), (Traffic{16, true})) << "a loop of unknown length counts once";
}

TEST(Measure, WorkIsAProductOfBounds) {
  const std::vector<embed::WorkTerm> work = EstimateWork(Parse(RowsText()));
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].factors[0], 4) << "rows";
  EXPECT_EQ(work[0].factors[1], 5) << "times columns";
  EXPECT_EQ(work[0].factors[2], embed::NoFactor);
  EXPECT_EQ(work[1].factors[1], embed::NoFactor);
  EXPECT_GT(work[0].picoseconds, 20u);
}

TEST(Measure, TripsAndCovers) {
  const ir::Program program = Parse(RowsText());
  EXPECT_EQ(TripsWord(program), 4);
  const std::vector<embed::PairData> covers = CoveredBuffers(program);
  ASSERT_EQ(covers.size(), 2u);
  EXPECT_EQ(covers[0].first, 2);
  EXPECT_EQ(covers[0].second, 0);
  EXPECT_EQ(covers[1].second, 1);
}

// It would run on its caller's stack, and how deep it may go would depend on that.
TEST(Compile, RecursionIsNotEmbedded) {
  SourceKernel source;
  source.name = "down";
  source.program = Parse(R"(frz 1
func @count(%n: u8) -> (u8) {
  %zero = const 0 : u8
  %one = const 1 : u8
  %done = eq %n, %zero : u8
  %r = if %done -> (u8) {
    yield %zero
  } else {
    %m = sub %n, %one : u8
    %s = call @count(%m)
    %t = xor %s, %n : u8
    yield %t
  }
  return %r
}
func @main(%n: u8) -> (u8) {
  %r = call @count(%n)
  return %r
}
)");
  BuildOptions options;
  options.targets = {Target::Native};
  store::StoreOptions kept;
  kept.directory = testing::TempDir() + "/aot_test_store";
  const auto store = store::Store::Open(kept);
  const BuiltKernel built = CompileKernel(source, options, *store, {});
  EXPECT_FALSE(built.has_native());
  ASSERT_FALSE(built.report.refusals.empty());
  EXPECT_TRUE(std::ranges::any_of(built.report.refusals, [](const Refusal& refusal) {
    return refusal.target == "native baseline" && refusal.reason == "it is recursive";
  }));
}

TEST(Compile, WhatIsBannedIsMadeOfNothing) {
  SourceKernel source;
  source.name = "twice";
  source.program =
      Parse("frz 1\nfunc @main(%x: u32) -> (u32) {\n  %y = add %x, %x : u32\n  return %y\n}\n");
  BuildOptions options;
  store::StoreOptions kept;
  kept.directory = testing::TempDir() + "/aot_test_store";
  const auto store = store::Store::Open(kept);
  BuiltKernel built = CompileKernel(source, options, *store, {});
  ASSERT_TRUE(built.has_native() && !built.isa.empty());
  // Until there is nothing left to make it of.
  std::vector<std::string> banned = {built.candidate_exact, built.digest};
  built = CompileKernel(source, options, *store, banned);
  EXPECT_FALSE(built.has_native());
  EXPECT_TRUE(built.isa.empty());
  EXPECT_TRUE(std::ranges::any_of(built.report.refusals, [](const Refusal& refusal) {
    return refusal.reason == "all that it could be made of is banned";
  }));
}

// Says of the portable code of everything but the source that it is wrong, and counts how often, whichever process is asked.
class WrongButTheSource final : public verify::TargetJudge {
 public:
  Result<verify::Verdict> Judge(const ir::Program&, const exec::CompiledForm& form,
                                const ir::Guard&, const verify::VerifyOptions&) const override {
    if (form.candidate_exact == form.source_exact)
      return verify::Proved{{verify::Grade::Proved, "test", "the source", 0}};
    ++*refuted;
    return verify::Refuted{verify::ProgramCall{}, "result 1: 7 against 8"};
  }
  std::atomic<int>* const refuted =
      new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0);
};

// A file whose code was wrong is compiled again without what was refuted, and what comes of that is kept.
TEST(Build, IsDoneAgainWithoutWhatWasRefuted) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("aot_again_{}", getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string file = folder / "eight.frz";
  std::ofstream(file) << "frz 1\nfunc @main(%x: u32) -> (u32) {\n  %a = add %x, %x : u32\n"
                         "  %b = add %x, %x : u32\n  %c = add %a, %b : u32\n"
                         "  %d = add %a, %b : u32\n  %e = add %c, %d : u32\n  return %e\n}\n";
  RegisterJudges();
  const auto judge = std::make_shared<const WrongButTheSource>();
  verify::RegisterJudge("isa", judge);
  BuildOptions options;
  options.out = folder / "out";
  options.cache = folder / "store";
  Result<Report> report = Build(std::span(&file, 1), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->errors.empty()) << report->errors[0].message;
  const int refuted = *judge->refuted;
  EXPECT_GE(refuted, 1) << "there is nothing to refute";
  EXPECT_LE(refuted, 3) << "what was refuted is not asked about again";
  ASSERT_EQ(report->kernels.size(), 1u);
  EXPECT_EQ(report->kernels[0].ops_after, report->kernels[0].ops_before) << "the source is left";
  EXPECT_GT(report->kernels[0].isa_bytes, 0u);
  report = Build(std::span(&file, 1), options);
  ASSERT_TRUE(report && report->errors.empty());
  EXPECT_TRUE(report->kernels[0].cached);
  EXPECT_EQ(*judge->refuted, refuted);
  verify::RegisterJudge("isa", verify::LiftingJudge(TargetOf(Target::Isa)));
  fs::remove_all(folder);
}

TEST(Generate, Identifiers) {
  EXPECT_EQ(Identifier("saxpy"), "saxpy");
  EXPECT_EQ(Identifier("class"), "class_");
  EXPECT_EQ(Identifier("lanes.x"), "lanes_x");
  EXPECT_EQ(Identifier("2d"), "_2d");
  EXPECT_EQ(Identifier("kernels"), "kernels_");
  EXPECT_EQ(Identifier("uint64_t"), "uint64_t_");
  EXPECT_EQ(Identifier("matmul_t"), "matmul_t");
  EXPECT_EQ(Identifier("__LINE__"), "__LINE___");
  EXPECT_FALSE(IsNamespaceName("uint64_t"));
  EXPECT_FALSE(IsNamespaceName("size_t"));
  EXPECT_TRUE(IsNamespaceName("kernels"));
  EXPECT_FALSE(IsNamespaceName("double"));
  EXPECT_FALSE(IsNamespaceName("a-b"));
  EXPECT_FALSE(IsNamespaceName(""));
}

// Text of a kernel's source that ends its comment would be compiled.
TEST(Generate, CommentsStayComments) {
  BuiltKernel kernel;
  kernel.report.name = "k";
  exec::NativeImage image;
  image.code = "\xc3";
  kernel.digest = std::string(64, 'd');
  kernel.plain[0] = TestCode(kernel.digest, image);
  kernel.doc = "one\rX\r\nX\fX\vX\u2028X\u2029X\u0085X\001X \\ \\\t\nX ?\?/\nX\\";
  const std::string header = GenerateHeader("m", std::span(&kernel, 1));
  EXPECT_NE(
      header.find("/// one\n/// X\n/// X\n/// X\n/// X\n/// X\n/// X\n/// X X\n/// X ??\n/// X\n"
                  "[[nodiscard]]"),
      std::string::npos)
      << header;
  kernel.plain[0] = {};
  kernel.report.refusals = {{"native baseline", "no\rX"}};
  const std::string without = GenerateHeader("m", std::span(&kernel, 1));
  EXPECT_NE(without.find("// k: no function for this machine (no\n// X).\n"), std::string::npos)
      << without;
}

TEST(Targets, Names) {
  EXPECT_EQ(ParseTargets("native;isa").value(), (std::vector{Target::Native, Target::Isa}));
  EXPECT_EQ(ParseTargets("c, native,c").value(), (std::vector{Target::Native, Target::C}));
  EXPECT_FALSE(ParseTargets("native;fpga"));
  EXPECT_FALSE(ParseTargets(""));
}

TEST(Names, TrapsAreTheIrs) {
  for (int i = 0; i < ir::TrapCount; ++i)
    EXPECT_EQ(embed::TrapKindName(static_cast<embed::TrapKind>(i)),
              ir::TrapName(static_cast<ir::Trap>(i)));
}

TEST(Unit, BytesAndBack) {
  Unit unit;
  BuiltKernel& kernel = unit.kernels.emplace_back();
  kernel.report.name = "k";
  kernel.report.refusals = {{"ptx", "no"}};
  kernel.params = {{"x", Kind::F32, embed::ParamRole::Buffer, embed::Access::In}};
  kernel.digest = std::string(64, 'd');
  exec::NativeImage image;
  image.level = exec::CpuLevel::Avx2;
  image.code = std::string("\0\1\2", 3);
  kernel.plain[1] = TestCode(kernel.digest, image);
  kernel.work = {{5, {1, 2, 3, 4}}};
  kernel.report.meaning = {verify::Grade::Proved, "digest", "equal", 0};
  const verify::InstallKey key = {7};
  const std::string packed = PackUnit(unit, key);
  const std::string unit_key(64, 'a');
  const std::string bytes = SealUnit(packed, unit_key, key);
  const Result<Unit> back = OpenUnit(bytes, unit_key, key);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(PackUnit(*back, key), packed);
  EXPECT_EQ(back->kernels[0].plain[1].image().code, std::string("\0\1\2", 3));
  EXPECT_EQ(back->kernels[0].report.refusals[0].reason, "no");
  EXPECT_EQ(back->kernels[0].report.meaning, kernel.report.meaning);
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(OpenUnit(damaged, unit_key, key)) << i;
    EXPECT_FALSE(OpenUnit(bytes.substr(0, i), unit_key, key));
  }
  EXPECT_FALSE(OpenUnit(bytes, std::string(64, 'b'), key)) << "of other kernels";
  EXPECT_FALSE(OpenUnit(bytes, unit_key, {8})) << "of another installation";
  // Fields that do not fit, with a MAC that is right: a bug of an older writer must not become a crash.
  for (size_t i = 0; i < packed.size(); ++i)
    EXPECT_FALSE(OpenUnit(SealUnit(packed.substr(0, i), unit_key, key), unit_key, key)) << i;
}

// A form in another place than its own is not taken, although it was vouched for.
TEST(Unit, FormsStandInTheirPlaces) {
  const verify::InstallKey key = {7};
  const std::string unit_key(64, 'a');
  exec::NativeImage image;
  image.level = exec::CpuLevel::Avx2;
  image.code = "\xc3";
  const auto opens = [&](const std::function<void(BuiltKernel&)>& put) {
    Unit unit;
    BuiltKernel& kernel = unit.kernels.emplace_back();
    kernel.digest = std::string(64, 'd');
    put(kernel);
    return OpenUnit(SealUnit(PackUnit(unit, key), unit_key, key), unit_key, key).has_value();
  };
  const std::string digest(64, 'd'), other(64, 'e');
  EXPECT_TRUE(opens([&](BuiltKernel& k) { k.plain[1] = TestCode(digest, image); }));
  EXPECT_TRUE(opens([&](BuiltKernel& k) { k.plain[2] = TestCode(digest, image); }));
  EXPECT_FALSE(opens([&](BuiltKernel& k) { k.plain[0] = TestCode(digest, image); }));
  EXPECT_FALSE(opens([&](BuiltKernel& k) { k.plain[1] = TestCode(other, image); }));
  EXPECT_FALSE(opens([&](BuiltKernel& k) { k.ranged[1] = TestCode(digest, image); }));
  EXPECT_FALSE(opens([&](BuiltKernel& k) { k.wasm = TestCode(digest, image); }));
}

TEST(Build, TimeIsALimit) {
  const std::string folder = fmt::format("{}aot_time_{}", testing::TempDir(), getpid());
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/rows.frz";
  std::ofstream(file) << RowsText();
  BuildOptions options;
  options.out = folder + "/out";
  options.cache = folder + "/store";
  options.limits.build_ms = 1;
  const Result<Report> report = Build(std::span(&file, 1), options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->errors.size(), 1u);
  EXPECT_EQ(report->errors[0].diag, Diag::LimitReached);
  EXPECT_EQ(report->errors[0].message, "it took longer than 1 ms to compile (--build-ms)");
  EXPECT_EQ(report->errors[0].file, file);
  std::filesystem::remove_all(folder);
}

TEST(Build, RefusesKernelsWhoseFunctionsMeet) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("aot_names_{}", getpid());
  fs::create_directories(folder);
  BuildOptions options;
  options.out = folder / "out";
  options.cache = folder / "store";
  options.targets = {Target::Isa};
  const auto errors = [&](std::string_view text) {
    const std::string file = folder / "kernels.py";
    std::ofstream(file) << text;
    const Result<Report> report = Build(std::span(&file, 1), options);
    return report ? report->errors : std::vector{report.error()};
  };
  const auto kernel = [](const std::string& name) {
    return fmt::format(
        "def {}(x: DeviceArray[i32], n: u32):\n    i = get_global_id()\n    if i < n:\n"
        "        x[i] = x[i] + 1\n",
        name);
  };
  EXPECT_TRUE(errors(kernel("saxpy") + kernel("saxpy_entry")).empty());
  for (const std::string& text :
       {kernel("saxpy") + kernel("saxpy_bind"), kernel("saxpy_bind") + kernel("saxpy")}) {
    const std::vector<Error> found = errors(text);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].diag, Diag::Redefined);
    EXPECT_NE(found[0].message.find("needs a function saxpy_bind, and so does kernel 'saxpy"),
              std::string::npos)
        << found[0].message;
  }
  fs::remove_all(folder);
}

// Somebody saves the file after it was read for its key and before Python would open it.
TEST(Build, WhatIsKeptIsMadeOfWhatItsKeyNames) {
  const std::string folder = testing::TempDir() + "aot_build_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
    return folder + "/" + name;
  };
  const auto kernel = [](const std::string& name) {
    return "def " + name +
           "(x: DeviceArray[i32], n: u32):\n    i = get_global_id()\n    if i < n:\n"
           "        x[i] = x[i] + 1\n";
  };
  const std::string file = put("kernel.py", kernel("before")),
                    other = put("other.py", kernel("after"));
  BuildOptions options;
  options.out = folder + "/out";
  options.cache = folder + "/store";
  options.targets = {Target::Isa};
  options.python = put("python", "#!/bin/sh\ncp " + other + " " + file + "\nexec python3 \"$@\"\n");
  std::filesystem::permissions(options.python, std::filesystem::perms::owner_all);
  const Result<Report> first = Build(std::span(&file, 1), options);
  ASSERT_TRUE(first) << first.error().ToString();
  ASSERT_EQ(first->kernels.size(), 1u);
  EXPECT_EQ(first->kernels[0].name, "before");
  options.python = "python3";
  for (const std::string name : {"before", "after"}) {
    put("kernel.py", kernel(name));
    const Result<Report> report = Build(std::span(&file, 1), options);
    ASSERT_TRUE(report) << report.error().ToString();
    ASSERT_EQ(report->kernels.size(), 1u);
    EXPECT_EQ(report->kernels[0].name, name);
    EXPECT_EQ(report->kernels[0].cached, name == "before");
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace frazil::aot
