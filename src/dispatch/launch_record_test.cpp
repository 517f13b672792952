// Calls of 64 buffers by a record: answered by compiled code while the buffers are as they were when they were looked at, and
// by the fluid path as soon as one of them may not be so. Each test fails if something is believed for too long.
#include "dispatch/launch_record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "dispatch/test_core.h"
#include "ir/text/text.h"

namespace frazil::dispatch {
namespace {

constexpr uint32_t Buffers = 64;
constexpr uint32_t ScalarParam = Buffers;
constexpr uint64_t Length = 16;

// Of buffers, every third is written; then a scalar.
std::string ManyBuffers() {
  std::string params;
  for (uint32_t i = 0; i < Buffers; ++i)
    params += fmt::format("%b{}: {}buffer<f32>, ", i, i % 3 == 0 ? "" : "in ");
  return fmt::format("frz 1\nfunc @main({}%n: i64) {{\n  return\n}}\n", params);
}

int32_t Solid1(const uint64_t*, uint64_t* results, exec::NativeRun*) {
  results[0] = 1;
  return 0;
}
int32_t Solid2(const uint64_t*, uint64_t* results, exec::NativeRun*) {
  results[0] = 2;
  return 0;
}

class LaunchRecordTest : public testing::Test {
 protected:
  LaunchRecordTest()
      : program(ir::SignedProgram::Of(*ir::ParseText(ManyBuffers()))),
        slot(*program, fluid, watcher),
        memory(Buffers * Length) {
    slot.SetCountdown(1'000'000);
  }

  FlatGuard GuardOf(std::string_view text) const {
    FlatGuard guard =
        *FlatGuard::Flatten(*ir::ParseGuard(text, program->program()), program->program());
    guard.AddLaunchTests(program->program());
    return guard;
  }
  void Install(exec::NativeEntry entry, std::string_view guard_text,
               std::shared_ptr<const void> owner) {
    const FlatGuard guard = GuardOf(guard_text);
    ASSERT_TRUE(SlotCoreTester::Install(
        SlotCoreTester::CoreOf(slot),
        Link({entry, false}, guard, std::move(owner), guard.Split(program->program()))));
  }
  void Fill(LaunchRecord& record) {
    // Neighbors, in another order than the parameters'.
    for (uint32_t i = 0; i < Buffers; ++i)
      ASSERT_TRUE(record.SetBuffer(i, At((i * 29) % Buffers), Length));
    ASSERT_TRUE(record.SetWord(ScalarParam, 5));
  }
  float* At(uint32_t place) { return memory.data() + place * Length; }
  // Often, so that whatever is kept is used.
  static void ExpectAnswer(const LaunchRecord& record, uint64_t answer) {
    for (int i = 0; i < 3; ++i) {
      uint64_t result = 0;
      EXPECT_EQ(record.Call(&result), 0);
      EXPECT_EQ(result, answer);
    }
  }

  std::shared_ptr<const ir::SignedProgram> program;
  CountingFluid fluid;
  CountingWatcher watcher;
  Slot slot;
  std::vector<float> memory;
};

TEST_F(LaunchRecordTest, AnswersAsTheWordsAloneWould) {
  LaunchRecord record(slot);
  ExpectAnswer(record, CountingFluid::Mark);  // no form
  Install(Solid1, "1 <= arg64 <= 9", std::make_shared<int>(1));
  ExpectAnswer(record, CountingFluid::Mark);  // the scalar is 0
  Fill(record);
  ExpectAnswer(record, 1);
  record.SetWord(ScalarParam, 10);
  ExpectAnswer(record, CountingFluid::Mark);
  record.SetWord(ScalarParam, 9);
  ExpectAnswer(record, 1);
  uint64_t result = 0;
  EXPECT_EQ(slot.Call(record.words(), &result), 0);
  EXPECT_EQ(result, 1u);
  EXPECT_EQ(fluid.calls, 9u);
}

TEST_F(LaunchRecordTest, AChangedBufferIsLookedAtAgain) {
  Install(Solid1, "len(arg1) == 16 && align(arg2) >= 4", std::make_shared<int>(1));
  LaunchRecord record(slot);
  Fill(record);
  ExpectAnswer(record, 1);
  record.SetBuffer(0, At(1) + 3, Length);  // over two that are read
  ExpectAnswer(record, CountingFluid::Mark);
  record.SetBuffer(0, At(0), Length);
  ExpectAnswer(record, 1);
  record.SetBuffer(3, At((6 * 29) % Buffers), Length);
  ExpectAnswer(record, 1);  // one buffer twice
  record.SetBuffer(3, At((6 * 29) % Buffers), Length - 1);
  ExpectAnswer(record, CountingFluid::Mark);  // a part of it
  record.SetBuffer(3, nullptr, Length);
  ExpectAnswer(record, CountingFluid::Mark);  // missing
  record.SetBuffer(3, nullptr, 0);
  ExpectAnswer(record, 1);  // missing, and nothing in it
  record.SetBuffer(3, At((3 * 29) % Buffers), UINT64_MAX / 4);
  ExpectAnswer(record, CountingFluid::Mark);  // no memory is so large
  record.SetBuffer(3, At((3 * 29) % Buffers), Length);
  ExpectAnswer(record, 1);
  record.SetBuffer(1, At(29), Length - 1);
  ExpectAnswer(record, CountingFluid::Mark);  // the form is for another length
  record.SetBuffer(1, At(29), Length);
  record.SetBuffer(2, reinterpret_cast<std::byte*>(At(58)) + 1, Length - 1);
  ExpectAnswer(record, CountingFluid::Mark);  // or another alignment
}

TEST_F(LaunchRecordTest, WhatWasSaidOfOneFormIsNotBelievedOfAnother) {
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  LaunchRecord record(slot);
  Fill(record);
  Install(Solid1, "true", first);
  ExpectAnswer(record, 1);
  // In front of it, for a length that the buffer has not.
  Install(Solid2, "len(arg1) == 15", second);
  ExpectAnswer(record, 1);
  record.SetBuffer(1, At(29), 15);
  ExpectAnswer(record, 2);
  record.SetBuffer(1, At(29), 16);
  ExpectAnswer(record, 1);
  SlotCoreTester::CoreOf(slot).Retire(second.get());
  ExpectAnswer(record, 1);
  slot.Melt();
  ExpectAnswer(record, CountingFluid::Mark);
  // The place in the chain, and most likely the memory too, of the form that was believed.
  for (int round = 0; round < 100; ++round) {
    Install(Solid2, "len(arg1) == 15", std::make_shared<int>(round));
    ExpectAnswer(record, CountingFluid::Mark);
    slot.Melt();
    Install(Solid1, "len(arg1) == 16", std::make_shared<int>(round));
    ExpectAnswer(record, 1);
    slot.Melt();
  }
}

TEST_F(LaunchRecordTest, ARecordInThePlaceOfAnotherKnowsNothingOfIt) {
  Install(Solid1, "true", std::make_shared<int>(1));
  alignas(LaunchRecord) std::byte place[sizeof(LaunchRecord)];
  for (int round = 0; round < 4; ++round) {
    auto* record = new (place) LaunchRecord(slot);
    Fill(*record);
    if (round % 2) record->SetBuffer(0, At(1) + 3, Length);
    ExpectAnswer(*record, round % 2 ? CountingFluid::Mark : 1);
    record->~LaunchRecord();
  }
}

TEST_F(LaunchRecordTest, ParametersThatAreNotThereAreRefused) {
  LaunchRecord record(slot);
  EXPECT_FALSE(record.SetBuffer(ScalarParam, At(0), 1));
  EXPECT_FALSE(record.SetBuffer(Buffers + 1, At(0), 1));
  EXPECT_FALSE(record.SetWord(0, 1));
  const uint64_t two[] = {1, 2};
  EXPECT_FALSE(record.SetScalar(ScalarParam, two));
  EXPECT_TRUE(record.SetWord(ScalarParam, 7));
  EXPECT_EQ(record.words()[2 * Buffers], 7u);
}

// Tensors are tested against the scalars that say their sizes, which may change with every call.
TEST_F(LaunchRecordTest, SizesOfTensorsAreTestedInEveryCall) {
  const auto tensors = ir::SignedProgram::Of(*ir::ParseText(
      "frz 1\nfunc @main(%m: index, %t: tensor<f32, [%m]>) -> (tensor<f32, [%m]>) {\n  return "
      "%t\n}\n"));
  Slot other(*tensors, fluid, watcher);
  FlatGuard guard;
  guard.AddLaunchTests(tensors->program());
  ASSERT_TRUE(SlotCoreTester::Install(
      SlotCoreTester::CoreOf(other),
      Link({Solid1, false}, guard, std::make_shared<int>(1), guard.Split(tensors->program()))));
  LaunchRecord record(other);
  record.SetWord(0, 4);
  record.SetBuffer(1, At(0), 4);
  record.SetBuffer(2, At(1), 4);
  ExpectAnswer(record, 1);
  record.SetWord(0, 5);
  ExpectAnswer(record, CountingFluid::Mark);
  record.SetWord(0, 4);
  ExpectAnswer(record, 1);
  record.SetBuffer(2, At(0), 4);  // a result over what it is made of
  ExpectAnswer(record, CountingFluid::Mark);
}

// One record for several threads, and one for each, while forms come and go: the guard of one form holds for these buffers,
// that of the other does not.
TEST_F(LaunchRecordTest, FromSeveralThreadsWhileFormsComeAndGo) {
  LaunchRecord shared(slot);
  Fill(shared);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      LaunchRecord own(slot);
      Fill(own);
      LaunchRecord& record = i == 0 ? own : shared;
      for (uint64_t n = 0; !stop; ++n) {
        uint64_t result = 0;
        if (record.Call(&result) != 0 || result == 2) ++wrong;
        if (i == 0 && n % 16 == 0) own.SetBuffer(0, n % 32 ? At(0) : At(1) + 3, Length);
        // Then no form may answer.
        if (i == 0 && own.words()[0] != reinterpret_cast<uint64_t>(At(0))) {
          if (own.Call(&result) != 0 || result != CountingFluid::Mark) ++wrong;
        }
        ++calls;
      }
    });
  }
  for (int round = 0; round < 300; ++round) {
    Install(Solid1, "len(arg1) == 16", std::make_shared<int>(1));
    std::this_thread::yield();
    Install(Solid2, "len(arg1) == 15", std::make_shared<int>(2));
    std::this_thread::yield();
    slot.Melt();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(calls, 300u);
}

}  // namespace
}  // namespace frazil::dispatch
