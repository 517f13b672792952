// Who is believed: forms of another build of the emitter are not looked for, whatever comes passes the admission rule, and
// a worker that was caught is ended, with all that it vouched for.
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "base/system/build_id.h"
#include "engine/worker/find_worker.h"
#include "runtime/runtime.h"
#include "support.h"
#include "verify/judge.h"
#include "verify/verified.h"

namespace frazil::engine {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EngineTrustTest : public EngineTest {
 protected:
  void TearDown() override {
    unsetenv("FRAZIL_TEST_VOUCH");
    EngineTest::TearDown();
  }
  void Fill(const EngineOptions& options) {
    Engine engine(options);
    auto site = engine.Load(Parse(Mix)).value();
    ASSERT_TRUE(CallUntilSolid(*site)) << Events();
    ASSERT_TRUE(engine.Settle(20s));
  }
  dispatch::State FirstState(EngineOptions options) {
    options.compile = false;
    Engine engine(options);
    auto site = engine.Load(Parse(Mix)).value();
    CheckMix(*site, 3, 4, 50);
    return site->state();
  }
  // A worker that lies, as tests/worker/faulty_worker.cpp can.
  EngineOptions Lying(const char* how) {
    setenv("FRAZIL_TEST_VOUCH", how, 1);
    EngineOptions options = Options();
    options.worker.program = FRAZIL_FAULTY_WORKER;
    options.hot_calls = 1;
    return options;
  }
};

TEST_F(EngineTrustTest, AFlagChangesTheBuildId) {
  EXPECT_EQ(BuildIdOfFile(FRAZIL_PROBE_A).size(), 40u);
  EXPECT_EQ(BuildIdOfFile(FRAZIL_PROBE_B).size(), 40u);
  EXPECT_NE(BuildIdOfFile(FRAZIL_PROBE_A), BuildIdOfFile(FRAZIL_PROBE_B));
}

TEST_F(EngineTrustTest, AnotherBuildOfTheWorkerSharesNoEntry) {
  Fill(Options());
  EXPECT_EQ(FirstState(Options()), dispatch::State::Solid);

  // The same worker but for its build id, as one with another emitter would be.
  const std::string program = FindWorker("").program;
  const std::string id = BuildIdOfFile(program);
  std::string bytes;
  for (size_t i = 0; i < id.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16)));
  ASSERT_EQ(bytes.size(), 20u) << program;
  std::string other = ReadAll(program);
  const size_t at = other.find(bytes);
  ASSERT_NE(at, std::string::npos);
  other[at] = static_cast<char>(other[at] ^ 1);
  EngineOptions options = Options();
  options.worker.program = folder_ / "other-worker";
  std::ofstream(options.worker.program, std::ios::binary) << other;
  std::filesystem::permissions(options.worker.program, std::filesystem::perms::owner_all);

  EXPECT_EQ(FirstState(options), dispatch::State::Fluid);
  Fill(options);
  EXPECT_EQ(FirstState(options), dispatch::State::Solid);
  EXPECT_EQ(FirstState(Options()), dispatch::State::Solid) << "both have theirs";
  EXPECT_EQ(store::Store::Open(Options().store)->List().size(), 2u);
}

TEST_F(EngineTrustTest, WithoutAWorkerNobodyKnowsWhoMadeWhat) {
  Fill(Options());
  EngineOptions options = Options();
  options.worker.program = folder_ / "nowhere";
  EXPECT_EQ(FirstState(options), dispatch::State::Fluid);
  // A file that does not say what it is: a script, say, that starts some worker.
  options.worker.program = folder_ / "script";
  std::ofstream(options.worker.program) << "#!/bin/sh\n";
  EXPECT_EQ(FirstState(options), dispatch::State::Fluid);
}

TEST_F(EngineTrustTest, AMissingWorkerIsNamedWithThePathsThatWereTried) {
  EngineOptions options = Options();
  options.worker.program = folder_ / "nowhere";
  options.hot_calls = 3;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  const std::string sentence = "frazil-worker was not found; tried " + options.worker.program +
                               " (the options: No such file";
  EXPECT_NE(site->Report().saved.find(sentence), std::string::npos) << site->Report().saved;
  for (uint64_t i = 0; i < 10; ++i) CheckMix(*site, i, i, 5);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_NE(Events().find("worker: " + sentence), std::string::npos) << Events();

  const std::string before = getenv("FRAZIL_WORKER");
  unsetenv("FRAZIL_WORKER");
  const WorkerSearch search = FindWorker("");
  ASSERT_GE(search.tried.size(), 1u);
  EXPECT_EQ(search.tried[0].path,
            std::filesystem::read_symlink("/proc/self/exe").parent_path() / "frazil-worker");
  setenv("FRAZIL_WORKER", "/nowhere/worker", 1);
  EXPECT_EQ(FindWorker("").tried.size(), 1u);
  EXPECT_EQ(FindWorker("").Sentence(),
            "frazil-worker was not found; tried /nowhere/worker (FRAZIL_WORKER: No such file or "
            "directory)");
  setenv("FRAZIL_WORKER", before.c_str(), 1);
  EXPECT_EQ(FindWorker("").program, before);
}

// The rule has one place, and the store is no way around it.
TEST_F(EngineTrustTest, WhatTheStoreHasMustBeCheaperToo) {
  Fill(Options());
  {
    const auto store = store::Store::Open(Options().store);
    const auto entries = store->List();
    ASSERT_EQ(entries.size(), 1u);
    const auto verified = store->FindVerified(entries[0].key, {});
    ASSERT_TRUE(verified);
    exec::CompiledForm dear = **verified;
    auto& cost = std::get<exec::CallTime>(dear.cost);
    cost.ns_per_call = cost.reference_ns;
    ASSERT_TRUE(store->Put(
        entries[0].key,
        verify::Seal(verify::Judge::Vouch(std::move(dear), verified->evidence()), store->key())));
  }
  EXPECT_EQ(FirstState(Options()), dispatch::State::Fluid);
  EXPECT_NE(Events().find("admit: not cheaper"), std::string::npos) << Events();
}

TEST_F(EngineTrustTest, AWorkerThatVouchesForTooLittleIsEnded) {
  for (const char* how : {"evidence", "key", "program", "toolchain", "nonsense"}) {
    SCOPED_TRACE(how);
    Engine engine(Lying(how));
    auto site = engine.Load(Parse(Mix)).value();
    CheckMix(*site, 1, 2, 3);
    ASSERT_TRUE(engine.Settle(20s));
    EXPECT_NE(site->state(), dispatch::State::Solid);
    EXPECT_EQ(engine.worker().spawned(), 1u);
    EXPECT_EQ(engine.worker().pid(), -1) << "it goes on with the key";
    EXPECT_TRUE(engine.store()->List().empty());
  }
}

TEST_F(EngineTrustTest, AllThatACaughtWorkerVouchedForGoes) {
  EngineOptions options = Lying("wrong");
  options.shadow_share = 1e9;  // at every occasion
  std::string other = Mix;
  other.replace(other.find("xor"), 3, "and");
  std::shared_ptr<Site> unseen, seen;
  {
    Engine engine(options);
    const uint64_t arguments[] = {3, 4, 5};
    uint64_t result = 0;
    unseen = engine.Load(Parse(other)).value();
    unseen->Call(arguments, &result);
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_EQ(unseen->state(), dispatch::State::Solid) << Events();
    seen = engine.Load(Parse(Mix)).value();
    seen->Call(arguments, &result);
    ASSERT_TRUE(engine.Settle(20s));
    ASSERT_EQ(seen->state(), dispatch::State::Solid) << Events();
    ASSERT_EQ(engine.store()->List().size(), 2u);
    for (int i = 0; i < 5000 && seen->state() == dispatch::State::Solid; ++i) {
      seen->Call(arguments, &result);
      if (i % 1000 == 0) engine.Settle(1s);
    }
    ASSERT_TRUE(engine.Settle(20s));
    EXPECT_EQ(Count("reopen"), 2u) << Events();
    EXPECT_NE(unseen->state(), dispatch::State::Solid);
    EXPECT_TRUE(engine.store()->List().empty());
    // What it had said so far is all that it said.
    EXPECT_EQ(engine.worker().pid(), -1) << Events();
    EXPECT_EQ(engine.worker().spawned(), 1u);
  }
  CheckMix(*seen, 3, 4, 5);
}

// It ran wrong code in the process that holds the key: it seals nothing more, another one does.
TEST_F(EngineTrustTest, AnotherWorkerGoesOnWithoutWhatWasWrong) {
  Engine engine(Lying("refuted"));
  auto site = engine.Load(Parse(Mix)).value();
  CheckMix(*site, 1, 2, 3);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(engine.worker().spawned(), 2u) << Events();
  EXPECT_NE(Events().find("worker: 1 banned"), std::string::npos) << Events();
}

// Where a reproducer goes: the store's folder or one that was asked for, and neither is left by a symlink.
TEST_F(EngineTrustTest, ReproducersFollowNoSymlink) {
  namespace fs = std::filesystem;
  for (const bool is_asked_for : {false, true}) {
    for (const bool is_folder : {false, true}) {
      SCOPED_TRACE(is_asked_for ? "a folder of one's choice" : "the store's");
      SCOPED_TRACE(is_folder ? "is a symlink" : "has one");
      fs::remove_all(folder_);
      fs::create_directories(folder_ / "victim");
      fs::permissions(folder_ / "victim", fs::perms::owner_all);
      std::ofstream(folder_ / "victim/file") << "precious";
      EngineOptions options = Lying("wrong");
      options.shadow_share = 1e9;  // at every occasion
      if (is_asked_for) options.reproducers = folder_ / "mine";
      const fs::path home = folder_ / (is_asked_for ? "mine" : "store/reproducers");
      Engine engine(options);
      auto site = engine.Load(Parse(Mix)).value();
      if (is_folder) {
        fs::create_symlink(folder_ / "victim", home);
      } else {
        fs::create_directory(home);
        fs::permissions(home, fs::perms::owner_all);
        // The form's program is the source itself.
        const std::string name = site->exact().substr(0, 12);
        fs::create_symlink(folder_ / "victim/file", home / (name + "-" + name + ".txt"));
      }
      const uint64_t arguments[] = {3, 4, 5};
      uint64_t result = 0;
      site->Call(arguments, &result);
      ASSERT_TRUE(engine.Settle(20s));
      ASSERT_EQ(site->state(), dispatch::State::Solid) << Events();
      for (int i = 0; i < 5000 && site->state() == dispatch::State::Solid; ++i) {
        site->Call(arguments, &result);
        if (i % 1000 == 0) engine.Settle(1s);
      }
      ASSERT_TRUE(engine.Settle(20s));
      EXPECT_NE(Events().find("reproducer"), std::string::npos) << Events();
      EXPECT_EQ(ReadAll(folder_ / "victim/file"), "precious");
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "victim"), {}), 1) << Events();
      // A name that is taken is no reason to write nothing.
      if (!is_folder) EXPECT_EQ(std::distance(fs::directory_iterator(home), {}), 2) << Events();
    }
  }
}

// Enough work for each element that code is faster than tiles on every machine.
std::string LongSum() {
  std::string text = R"(frz 1
func @long(%x: in buffer<f32>, %y: out buffer<f32>, %n: index) {
  %zero = const 0 : index
  %c = const 0.5 : f32
  parallel %i = %zero to %n {
    %s0 = load %x, %i : f32
)";
  constexpr int Steps = 16;
  for (int i = 0; i < Steps; ++i)
    text +=
        fmt::format("    %p{0} = mul %s{0}, %c : f32\n    %s{1} = add %p{0}, %c : f32\n", i, i + 1);
  return text + fmt::format("    store %y, %i, %s{} : f32\n    yield\n  }}\n  return\n}}\n", Steps);
}

// An executor after another one: its own engine, its own options.
TEST_F(EngineTrustTest, KernelsOfADeadExecutorAreNotHandedOn) {
  const ir::Program program = *ir::ParseText(LongSum());
  runtime::ExecutorOptions options;
  options.store = folder_ / "store";
  const auto run = [&](bool compile, std::chrono::milliseconds longest) {
    options.compile = compile;
    auto executor = runtime::Executor::Create(options).value();
    auto loaded = executor->Load(program).value();
    std::vector<float> x(4096, 2.0f), y(4096);
    const auto end = std::chrono::steady_clock::now() + longest;
    do {
      EXPECT_TRUE(executor->Launch(*loaded, {}, {std::span(x), std::span(y), int64_t{4096}}));
      if (!store::Store::Open(Options().store)->List().empty()) return true;
    } while (std::chrono::steady_clock::now() < end);
    return false;
  };
  EXPECT_FALSE(run(false, 10ms));
  EXPECT_TRUE(run(true, 20s)) << "the first executor's site, which nobody improves any more";
}

}  // namespace
}  // namespace frazil::engine
