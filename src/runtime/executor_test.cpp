#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <fstream>

#include "ir/text/text.h"
#include "registry/targets.h"
#include "runtime/builders.h"
#include "runtime/loaded_kernel.h"
#include "runtime/program_cache.h"
#include "targets/isa/isa.h"

namespace frazil::runtime {
namespace {

std::unique_ptr<Executor> Make(const std::string& backend = "cpu") {
  ExecutorOptions options;
  options.backend = backend;
  options.compile = false;
  options.store = testing::TempDir() + "kernel_store";
  auto executor = Executor::Create(options);
  EXPECT_TRUE(executor);
  return std::move(*executor);
}

std::string Refusal(const Result<void>& result) {
  return result ? "accepted" : result.error().message;
}

TEST(Executor, BuffersNeedNoSlot) {
  auto executor = Make();
  std::vector<Buffer<float>> buffers;
  for (int i = 0; i < 1000; ++i) {
    auto buffer = executor->Allocate<float>(i % 7);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->slot(), -1);
    for (float& value : buffer->span()) value = static_cast<float>(i);
    buffers.push_back(std::move(*buffer));
  }
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(buffers[static_cast<size_t>(i)].ToVector(),
              std::vector<float>(static_cast<size_t>(i % 7), static_cast<float>(i)));
  EXPECT_EQ(executor->free_slots(), 96);
  EXPECT_FALSE(executor->Allocate<float>(-1));
}

TEST(Executor, SlotsAreForCircuits) {
  auto executor = Make();
  EXPECT_EQ(executor->free_slots(), 96);
  auto a = *executor->AllocateAt<float>(0, 5);
  auto b = *executor->Allocate<int32_t>(0);
  EXPECT_EQ(a.slot(), 0);
  EXPECT_EQ(executor->free_slots(), 95);
  ASSERT_TRUE(executor->PlaceAt(1, b));
  EXPECT_EQ(b.slot(), 1);
  EXPECT_EQ(executor->free_slots(), 94);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(a.ToVector(), std::vector<float>(5, 0));
  EXPECT_TRUE(a.CopyFrom(std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_EQ(Refusal(a.CopyFrom(std::vector<float>{1})),
            "1 elements are given where the buffer has 5");
  EXPECT_EQ(executor->At<float>(0)->ToVector()[4], 5);
  EXPECT_EQ(executor->At<int32_t>(0).error().message, "slot c00 holds f32, not i32");
  EXPECT_EQ(executor->At<float>(7).error().message, "slot c07 is empty");
  EXPECT_EQ(executor->AllocateAt<float>(0, 1).error().message, "slot c00 is in use");
  EXPECT_TRUE(executor->AllocateAt<float>(95, 1));
  EXPECT_EQ(executor->AllocateAt<float>(96, 1).error().message,
            "there is no slot 96: slots are c00 to c95");
  ASSERT_TRUE(executor->PlaceAt(40, b)) << "it leaves the slot that it had";
  EXPECT_EQ(executor->At<int32_t>(1).error().message, "slot c01 is empty");
  std::vector<float> plain(3);
  EXPECT_EQ(Refusal(executor->PlaceAt(5, Buffer(plain))),
            "only a buffer that an executor gave has a place in a slot");
  a = {};
  EXPECT_TRUE(executor->AllocateAt<float>(0, 1)) << "its slot is free again";
}

class Launches : public testing::TestWithParam<const char*> {};

TEST_P(Launches, RunAndAreChecked) {
  auto executor = Make(GetParam());
  EXPECT_EQ(executor->backend(), GetParam());
  EXPECT_EQ(executor->reason(), "");
  auto kernel = executor->Load(*builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32));
  ASSERT_TRUE(kernel) << kernel.error().ToString();
  auto x = *executor->Allocate<float>(1000);
  auto y = *executor->Allocate<float>(1000);
  for (float& value : x.span()) value = 3;
  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, Argument(), 0.5f})), "accepted");
  EXPECT_EQ(y.ToVector(), std::vector<float>(1000, 1.5f));
  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x, x, 10u, 2.0f})), "accepted")
      << "in place, and only ten";
  EXPECT_EQ(x.ToVector()[9], 6);
  EXPECT_EQ(x.ToVector()[10], 3);

  std::vector<float> plain(1000, 1);
  ASSERT_EQ(
      Refusal(executor->Launch(**kernel, {}, {std::span<const float>(plain), y, 1000u, 2.0f})),
      "accepted");
  EXPECT_EQ(y.ToVector()[999], 2);

  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, 10, 2.0f})), "accepted") << "an int";
  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, size_t{10}, 2.0f})), "accepted");
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, -1, 2.0f})),
            "'n' is -1, which does not fit u32");
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, 1001u, 2.0f})),
            "'n' is 1001, but 'in0' has 1000 elements");
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {x, std::span<const float>(plain), 10u, 2.0f})),
            "'out0' is written to, but read-only memory is given");
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, 10u})), "'s0' is not given");
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {x, y, 10u, 2.0f, 1})),
            "scalar.mul.f32 takes at most 4 arguments, 5 given");
  EXPECT_NE(Refusal(executor->Launch(**kernel, {}, {x, y, 10u, 2.0})), "accepted")
      << "a double is no float";
  EXPECT_NE(
      Refusal(executor->Launch(**kernel, {}, {x, *executor->Allocate<int32_t>(1000), 10u, 2.0f})),
      "accepted");
  EXPECT_NE(Refusal(executor->Launch(**kernel, {},
                                     {x.span().first(999), x.span().subspan(1), 10u, 2.0f})),
            "accepted")
      << "partial overlap";
  EXPECT_EQ(Refusal(executor->Launch(**kernel, {}, {Buffer<float>(), y, 0u, 2.0f})),
            "'in0' is a buffer of no executor");
}

TEST_P(Launches, TrapsAreErrors) {
  auto executor = Make(GetParam());
  auto kernel = executor->Load(*builders::ElementwiseBinary(ir::Op::DivTrunc, ir::types::I32));
  ASSERT_TRUE(kernel);
  auto a = *executor->Allocate<int32_t>(4);
  const Result<void> result =
      executor->Launch(**kernel, {}, {a, a, *executor->Allocate<int32_t>(4), 4u});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().diag, Diag::Trapped);
  EXPECT_NE(result.error().message.find("division by zero"), std::string::npos)
      << result.error().message;
}

constexpr const char* Lanes = R"(frz 1
func @lanes(%c03: buffer<i64>, %lanes.x: index) {
  %zero = const 0 : index
  parallel %i = %zero to %lanes.x {
    %v = cast %i : i64
    store %c03, %i, %v : i64
    yield
  }
  return
}
)";

TEST_P(Launches, SlotsAreBoundByName) {
  auto executor = Make(GetParam());
  auto kernel = executor->Load(*ir::ParseText(Lanes));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(Refusal(executor->LaunchSlots(**kernel, LaunchConfig::Linear(5))), "slot c03 is empty");
  auto c03 = *executor->AllocateAt<int64_t>(3, 5);
  ASSERT_EQ(Refusal(executor->LaunchSlots(**kernel, LaunchConfig::Linear(5, 2))), "accepted");
  EXPECT_EQ(c03.ToVector(), (std::vector<int64_t>{0, 1, 2, 3, 4}))
      << "exactly as many lanes as asked for";
  EXPECT_EQ(Refusal(executor->LaunchSlots(**kernel, LaunchConfig::Linear(-5))),
            "a launch cannot have -5 lanes");
  LaunchConfig beyond;
  beyond.grid.x = beyond.block.x = int64_t{1} << 32;
  EXPECT_EQ(Refusal(executor->LaunchSlots(**kernel, beyond)),
            "4294967296 blocks of 4294967296 lanes are more than can be counted");
  auto other = executor->Load(*builders::ElementwiseUnary(ir::Op::Neg, ir::types::F32));
  EXPECT_EQ(Refusal(executor->LaunchSlots(**other, {})),
            "buffer 'in0' is not named after a slot, c00 to c95");
}

// Digests know no names, and slots are bound by them.
TEST_P(Launches, TheSameProgramOverOtherSlotsIsAnotherKernel) {
  auto executor = Make(GetParam());
  std::string text = Lanes;
  auto first = executor->Load(*ir::ParseText(text));
  for (size_t at; (at = text.find("c03")) != std::string::npos;) text.replace(at, 3, "c04");
  auto second = executor->Load(*ir::ParseText(text));
  ASSERT_TRUE(first && second);
  auto c03 = *executor->AllocateAt<int64_t>(3, 2);
  auto c04 = *executor->AllocateAt<int64_t>(4, 2);
  ASSERT_EQ(Refusal(executor->LaunchSlots(**second, LaunchConfig::Linear(2))), "accepted");
  EXPECT_EQ(c03.ToVector(), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(c04.ToVector(), (std::vector<int64_t>{0, 1}));
}

TEST_P(Launches, HaveNoPlaceForTensors) {
  auto executor = Make(GetParam());
  auto gives = executor->Load(*ir::ParseText(R"(frz 1
func @count(%n: index) -> (tensor<index, [%n]>) {
  %c = iota {axis = 0} : tensor<index, [%n]>
  return %c
}
)"));
  if (gives)
    EXPECT_EQ(Refusal(executor->Launch(**gives, {}, {int64_t{4}})),
              "count gives a tensor, but what a kernel makes it writes to buffers");
  // Without an argument whose type could be refused first.
  auto gives_four = executor->Load(*ir::ParseText(R"(frz 1
func @four() -> (tensor<index, [4]>) {
  %c = iota {axis = 0} : tensor<index, [4]>
  return %c
}
)"));
  EXPECT_TRUE(gives_four);
  if (gives_four)
    EXPECT_EQ(Refusal(executor->Launch(**gives_four, {}, {})),
              "four gives a tensor, but what a kernel makes it writes to buffers");
  auto takes = executor->Load(*ir::ParseText(R"(frz 1
func @nothing(%n: index, %t: tensor<f32, [%n]>) {
  return
}
)"));
  auto x = *executor->Allocate<float>(4);
  if (takes) EXPECT_NE(Refusal(executor->Launch(**takes, {}, {int64_t{4}, x})), "accepted");
}

INSTANTIATE_TEST_SUITE_P(Backends, Launches, testing::Values("cpu", "isa", "interp"));

TEST(Executor, AMissingBackendIsAnsweredByTheCpu) {
  ExecutorOptions options;
  options.backend = "abacus";
  options.compile = false;
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor);
  EXPECT_EQ((*executor)->backend(), "cpu");
  EXPECT_NE((*executor)->reason().find("there is no backend 'abacus'"), std::string::npos)
      << (*executor)->reason();
  options.fall_back = false;
  EXPECT_FALSE(Executor::Create(options));
}

// Whatever is registered as a target runs kernels; what nobody judges does not, and what a target refuses the CPU does.
TEST(Executor, EveryTargetOfTheRegistryIsAPlace) {
  const auto program = *builders::ElementwiseUnary(ir::Op::Neg, ir::types::I32);
  for (const std::string& name : registry::TargetNames()) {
    if (name == "cuda" || name == "nowhere") continue;  // cuda_executor_test.cpp
    auto executor = Make(name);
    EXPECT_EQ(executor->backend(), name);
    EXPECT_EQ(executor->reason(), "") << name;
    const auto kernel = executor->Load(program);
    ASSERT_TRUE(kernel) << name << ": " << kernel.error().ToString();
    EXPECT_EQ((*kernel)->reason().empty(), name != "tasm") << name << ": " << (*kernel)->reason();
    auto x = *executor->Allocate<int32_t>(5);
    for (int32_t& value : x.span()) value = 4;
    ASSERT_TRUE(executor->Launch(**kernel, {}, {x, x})) << name;
    EXPECT_EQ(x.ToVector(), std::vector<int32_t>(5, -4)) << name;
  }
}

TEST(Executor, WhatATargetRefusesTheCpuAnswers) {
  auto executor = Make("isa");
  // Wide integers are no type of the machine.
  const ir::Program wide = *ir::ParseText(R"(frz 1
func @wide(%x: buffer<i32>) {
  %zero = const 0 : index
  %five = const 5 : int<2>
  %sum = add.checked %five, %five : int<2>
  %same = eq %sum, %five : int<2>
  %one = const 1 : i32
  %two = const 2 : i32
  %r = select %same, %one, %two : i32
  store %x, %zero, %r : i32
  return
}
)");
  const auto kernel = executor->Load(wide);
  ASSERT_TRUE(kernel) << kernel.error().ToString();
  EXPECT_NE((*kernel)->reason(), "");
  auto x = *executor->Allocate<int32_t>(1);
  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x})), "accepted");
  EXPECT_EQ(x.ToVector()[0], 2);
  ExecutorOptions options;
  options.backend = "isa";
  options.fall_back = false;
  EXPECT_EQ((*Executor::Create(options))->Load(wide).error().diag, Diag::Unsupported);
}

// Executors with the same options share what is ready; others do not see it.
TEST(Executor, ACacheBelongsToItsBackend) {
  const auto program = *builders::ElementwiseUnary(ir::Op::Popcnt, ir::types::U16);
  for (const char* backend : {"cpu", "isa", "interp"}) {
    auto first = Make(backend), second = Make(backend);
    const auto kernel = *first->Load(program);
    EXPECT_EQ(*first->Load(program), kernel) << backend;
    EXPECT_EQ(*second->Load(program), kernel) << backend;
    ExecutorOptions options;
    options.backend = backend;
    options.compile = false;
    options.store = testing::TempDir() + "kernel_store_of_another";
    auto other = *Executor::Create(options);
    EXPECT_NE(*other->Load(program), kernel) << backend;
    EXPECT_EQ(other->cache().size(), 1u);
  }
}

TEST(Executor, ASourceIsFoundByWhatItIs) {
  auto executor = Make();
  ir::Program program = *builders::ElementwiseUnary(ir::Op::Neg, ir::types::I64);
  const Source source(program);
  const auto kernel = *executor->Load(source);
  EXPECT_EQ(*executor->Load(source), kernel);
  EXPECT_EQ(*executor->Load(Source(program)), kernel) << "another source of the same program";
  EXPECT_EQ(*executor->Load(program), kernel);
  // A program that was changed is another one, whatever was loaded from the same object.
  program = *builders::ElementwiseUnary(ir::Op::Popcnt, ir::types::I64);
  const auto changed = *executor->Load(program);
  EXPECT_NE(changed, kernel);
  EXPECT_EQ(*executor->Load(Source(program)), changed);
  EXPECT_EQ(*executor->Load(source), kernel) << "a source does not change";
  // Many sources at the same places.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(*executor->Load(Source(program)), changed);
    EXPECT_EQ(*executor->Load(source), kernel);
  }
  executor->cache().Clear();
  const auto again = *executor->Load(source);
  EXPECT_NE(again, kernel) << "what was forgotten is made again";
  EXPECT_EQ(*executor->Load(source), again);
}

// Whatever the short way lets through, the rules let through too, and with the same outcome: the reference interpreter
// always goes the long way.
TEST(Executor, TheShortWayIsNeverTooLax) {
  const auto program = *builders::ElementwiseScalar(ir::Op::Mul, ir::types::I32);
  auto quick = Make("cpu"), slow = Make("interp");
  auto tiles = Make("isa");
  const auto on_cpu = *quick->Load(program), by_rules = *slow->Load(program);
  const auto on_tiles = *tiles->Load(program);
  std::vector<int32_t> memory(64);
  int accepted = 0, refused = 0;
  const std::span<int32_t> all(memory);
  int32_t* const none = nullptr;
  const std::span<int32_t> parts[] = {all.first(8),      all.subspan(4, 8), all.subspan(8, 8),
                                      all.first(0),      all.subspan(8, 4), all.first(64),
                                      {none, size_t{0}}, {none, size_t{4}}};
  const Argument extents[] = {Argument(), 0u,   8,          int8_t{8},    uint64_t{9},
                              -1,         4.0f, int64_t{8}, ~uint64_t{0}, true};
  const Argument scalars[] = {
      3, int64_t{3}, uint8_t{3}, 3.0f, uint32_t{1u << 31}, int64_t{1} << 40, Argument()};
  for (const auto& x : parts)
    for (const auto& y : parts)
      for (const Argument& n : extents)
        for (const Argument& s : scalars) {
          const auto launch = [&](Executor& executor, const LoadedKernel& kernel) {
            for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int32_t>(i);
            const std::string told = Refusal(executor.Launch(kernel, {}, {x, y, n, s}));
            return std::pair(told, memory);
          };
          const auto expected = launch(*slow, *by_rules);
          ASSERT_EQ(launch(*quick, *on_cpu), expected);
          ASSERT_EQ(launch(*tiles, *on_tiles), expected);
          ++(expected.first == "accepted" ? accepted : refused);
        }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

TEST(Executor, ModulesOfThePortableMachineAreLoaded) {
  auto executor = Make();
  const auto module =
      targets::isa::Lower(*builders::ElementwiseScalar(ir::Op::Mul, ir::types::F32));
  ASSERT_TRUE(module) << module.error().ToString();
  const std::string path = testing::TempDir() + "executor_scale.frzb";
  std::ofstream(path, std::ios::binary) << module->bytes;
  auto kernel = executor->LoadFile(path);
  ASSERT_TRUE(kernel) << kernel.error().ToString();
  auto x = *executor->Allocate<float>(7);
  for (float& value : x.span()) value = 3;
  ASSERT_EQ(Refusal(executor->Launch(**kernel, {}, {x, x, Argument(), 2.0f})), "accepted");
  EXPECT_EQ(x.ToVector(), std::vector<float>(7, 6));
  std::ofstream(path, std::ios::binary) << module->bytes.substr(0, module->bytes.size() / 2);
  const auto cut = executor->LoadFile(path);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().diag, Diag::BadArtifact);
  EXPECT_EQ(cut.error().file, path);
}

TEST(Executor, FilesOfMachineCodeAreRefused) {
  auto executor = Make();
  for (const char* path : {"kernels.so", "libk.so.1", "k.dll", "dir/k.dylib"}) {
    const auto refused = executor->LoadFile(path);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("machine code of others is never loaded"),
              std::string::npos)
        << path;
  }
  EXPECT_EQ(executor->LoadFile("/nowhere/k.frz").error().diag, Diag::FileUnreadable);
  const std::string path = testing::TempDir() + "executor_lanes.frz";
  std::ofstream(path) << Lanes;
  EXPECT_TRUE(executor->LoadFile(path));
  std::ofstream(path) << "frz 1\nnonsense\n";
  const auto bad = executor->LoadFile(path);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().file, path);
}

}  // namespace
}  // namespace frazil::runtime
