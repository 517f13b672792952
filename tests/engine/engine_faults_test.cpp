// What may go wrong around the engine, and must not change an answer: workers that are missing, stores that lie,
// code that is wrong although it was sealed.
#include <fstream>

#include "support.h"
#include "verify/judge.h"
#include "verify/verified.h"

namespace frazil::engine {
namespace {

std::vector<std::filesystem::path> FilesUnder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class EngineFaultTest : public EngineTest {
 protected:
  // A store with one good entry.
  void Fill() {
    Engine engine(Options());
    auto site = engine.Load(Parse(Mix)).value();
    ASSERT_TRUE(CallUntilSolid(*site)) << Events();
    ASSERT_TRUE(engine.Settle(20s));
  }
};

TEST_F(EngineFaultTest, WithoutAWorkerItStaysFluidAndSaysSoOnce) {
  EngineOptions options = Options();
  options.worker.program = folder_ / "no_such_worker";
  options.hot_calls = 3;
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  for (uint64_t i = 0; i < 2000; ++i) CheckMix(*site, i, i, 5);
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_NE(site->state(), dispatch::State::Solid);
  EXPECT_EQ(Count("worker"), 1u) << Events();
  CheckMix(*site, 1, 2, 3);
}

TEST_F(EngineFaultTest, EveryDamagedByteOfAnEntryIsAMiss) {
  Fill();
  for (const auto& path : FilesUnder(folder_ / "store" / "cas")) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(0, std::ios::end);
    const auto size = static_cast<uint64_t>(file.tellg());
    for (uint64_t at = 0; at < size; at += 1 + size / 64) {
      file.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(file.get());
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(byte ^ 0x10));
      file.flush();
      EngineOptions options = Options();
      options.compile = false;
      options.store.read_only = true;
      Engine engine(options);
      auto site = engine.Load(Parse(Mix)).value();
      EXPECT_EQ(site->state(), dispatch::State::Fluid) << path << " byte " << at;
      CheckMix(*site, 3, 4, 50);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
      file.flush();
    }
  }
}

TEST_F(EngineFaultTest, AnotherInstallationsEntryIsJudgedAnew) {
  Fill();
  std::filesystem::remove(folder_ / "store" / "key");
  {
    EngineOptions options = Options();
    options.compile = false;
    Engine engine(options);
    auto site = engine.Load(Parse(Mix)).value();
    EXPECT_EQ(site->state(), dispatch::State::Fluid);
    CheckMix(*site, 3, 4, 50);
  }
  Engine engine(Options());
  auto site = engine.Load(Parse(Mix)).value();
  EXPECT_EQ(site->state(), dispatch::State::Fluid);
  ASSERT_TRUE(CallUntilSolid(*site)) << Events();
  CheckMix(*site, 3, 4, 50);
}

TEST_F(EngineFaultTest, AStoreThatCannotBeUsed) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "store") << "a file where a folder should be";
  Engine engine(Options());
  EXPECT_FALSE(engine.store()->reason().empty());
  auto site = engine.Load(Parse(Mix)).value();
  ASSERT_TRUE(CallUntilSolid(*site)) << Events();
}

// Code that was sealed with the right key and is wrong nevertheless, as a bug of the compiler that no sample has met
// would be: shadow runs find it, the site melts, the candidate is banned and a reproducer is written.
TEST_F(EngineFaultTest, ShadowRunsCatchWrongCode) {
  Fill();
  {
    const auto store = store::Store::Open(Options().store);
    const auto entries = store->List();
    ASSERT_EQ(entries.size(), 1u);
    const auto verified =
        store->FindVerified(entries[0].key, {verify::Grade::None, verify::Grade::None});
    ASSERT_TRUE(verified);
    const exec::CompiledForm& form = **verified;
    // At the entry: mov rax, [rdi]; mov [rsi], rax; xor eax, eax; ret: the first argument is the answer.
    const std::string wrong = "\x48\x8b\x07\x48\x89\x06\x31\xc0\xc3";
    exec::CompiledForm changed = form;
    exec::NativeImage image = *exec::ParseImage(form.payload);
    image.code.replace(image.entry_offset, wrong.size(), wrong);
    exec::PutImage(changed, image);
    const auto vouched = verify::Judge::Vouch(std::move(changed), verified->evidence());
    ASSERT_TRUE(store->Put(entries[0].key, verify::Seal(vouched, store->key())));
  }
  EngineOptions options = Options();
  options.shadow_share = 1e9;  // at every occasion
  Engine engine(options);
  auto site = engine.Load(Parse(Mix)).value();
  ASSERT_EQ(site->state(), dispatch::State::Solid);
  const uint64_t arguments[] = {3, 4, 5};
  uint64_t result = 0;
  for (int i = 0; i < 5000 && site->state() == dispatch::State::Solid; ++i) {
    site->Call(arguments, &result);
    if (i % 1000 == 0) engine.Settle(1s);
  }
  ASSERT_TRUE(engine.Settle(20s));
  EXPECT_EQ(Count("reopen"), 1u) << Events();
  EXPECT_EQ(FilesUnder(folder_ / "store" / "reproducers").size(), 1u);
  CheckMix(*site, 3, 4, 5);
  // The next process does not take it either.
  EngineOptions next = Options();
  next.compile = false;
  Engine later(next);
  auto again = later.Load(Parse(Mix)).value();
  EXPECT_EQ(again->state(), dispatch::State::Fluid);
}

}  // namespace
}  // namespace frazil::engine
