// The executor "cuda" without a GPU, on a driver in this program: what is proposed is judged there, refused or admitted, kept,
// launched; and what is said where there is none.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <type_traits>

#include "ir/text/text.h"
#include "registry/targets.h"
#include "runtime/builders.h"
#include "runtime/events.h"
#include "runtime/executor.h"
#include "runtime/form_kernel.h"
#include "runtime/ops.h"
#include "runtime/program_cache.h"
#include "targets/cuda/driver/target.h"
#include "targets/cuda/driver/test_driver.h"
#include "targets/isa/isa.h"

namespace frazil::runtime {
namespace {

namespace cuda = targets::cuda;

// What is loaded from a target was admitted: nothing else has the type.
static_assert(std::is_invocable_v<decltype(&FormKernel::Load), Source, engine::Admitted,
                                  const exec::Target&, FormKernel::Instead>);
static_assert(!std::is_invocable_v<decltype(&FormKernel::Load), Source, exec::CompiledForm,
                                   const exec::Target&, FormKernel::Instead>);
static_assert(
    !std::is_invocable_v<decltype(&FormKernel::Load), Source, verify::Verified<exec::CompiledForm>,
                         const exec::Target&, FormKernel::Instead>);
static_assert(!std::is_constructible_v<FormKernel, Source, engine::Admitted,
                                       std::unique_ptr<exec::Callable>, FormKernel::Instead>);

exec::Artifact Proposal(const ir::Program& program, const ir::Program& code) {
  return *cuda::ArtifactOfModule(cuda::SerializeModule(cuda::test_driver::ModuleOf(program, code)));
}

class CudaExecutor : public testing::Test {
 protected:
  void SetUp() override {
    static const bool is_registered =
        registry::RegisterTarget(
            {"cuda", [] { return cuda::MakeDriverTarget(""); }, verify::RunsJudge, "tasm"}) &&
        registry::RegisterTarget(
            {"nowhere", [] { return cuda::MakeDriverTarget("libfrazil_no_such_driver.so.1"); },
             verify::RunsJudge});
    ASSERT_TRUE(is_registered);
    options.backend = "cuda";
    options.compile = false;
    options.store = testing::TempDir() + "cuda_executor_store";
    std::filesystem::remove_all(options.store);
    Listen([this](const engine::Event& event) { events.push_back(event); });
  }
  void TearDown() override {
    Listen({});
    driver.failing = nullptr;
  }
  std::unique_ptr<Executor> Make() {
    auto executor = Executor::Create(options);
    EXPECT_TRUE(executor) << executor.error().ToString();
    EXPECT_EQ((*executor)->backend(), "cuda");
    EXPECT_EQ((*executor)->reason(), "");
    return std::move(*executor);
  }
  // y = 3 x on seven elements.
  static void ExpectTriples(Executor& executor, const LoadedKernel& kernel) {
    auto x = *executor.Allocate<int32_t>(7);
    auto y = *executor.Allocate<int32_t>(7);
    for (int32_t& value : x.span()) value = 5;
    const auto launched = executor.Launch(kernel, {}, {x, y, Argument(), 3});
    ASSERT_TRUE(launched) << launched.error().ToString();
    EXPECT_EQ(y.ToVector(), std::vector<int32_t>(7, 15));
  }
  std::vector<engine::Event> Told(engine::Verb verb) const {
    std::vector<engine::Event> told;
    for (const engine::Event& event : events)
      if (event.verb == verb) told.push_back(event);
    return told;
  }

  cuda::test_driver::State& driver = cuda::test_driver::Get();
  ExecutorOptions options;
  std::vector<engine::Event> events;
  const ir::Program right = *builders::ElementwiseScalar(ir::Op::Mul, ir::types::I32);
  const ir::Program wrong = *builders::ElementwiseScalar(ir::Op::Add, ir::types::I32);
};

TEST_F(CudaExecutor, JudgesAProposalBeforeItRuns) {
  auto executor = Make();
  driver.launched.clear();
  const auto kernel = executor->Load(Source(right, {Proposal(right, right)}));
  ASSERT_TRUE(kernel) << kernel.error().ToString();
  EXPECT_EQ((*kernel)->reason(), "");
  EXPECT_GT(driver.launched.size(), 10u) << "the judge runs it";
  const auto* form = dynamic_cast<const FormKernel*>(kernel->get());
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->evidence().meaning.grade, verify::Grade::Proved);
  EXPECT_EQ(form->evidence().lowering.grade, verify::Grade::Sampled);
  ASSERT_EQ(Told(engine::Verb::Admit).size(), 1u);
  EXPECT_EQ(Told(engine::Verb::Admit)[0].who, "cuda");
  EXPECT_EQ(Told(engine::Verb::Keep).size(), 1u);
  const size_t before = driver.launched.size();
  ExpectTriples(*executor, **kernel);
  EXPECT_EQ(driver.launched.size(), before + 1) << "and then it is launched there";
}

TEST_F(CudaExecutor, AVerdictIsKeptForTheseBytesAlone) {
  const Source source(right, {Proposal(right, right)});
  ASSERT_EQ((*Make()->Load(source))->reason(), "");
  driver.launched.clear();
  events.clear();
  {
    auto executor = Make();
    const auto kernel = *executor->Load(source);
    EXPECT_TRUE(driver.launched.empty()) << "judged before, by the same installation";
    ASSERT_EQ(Told(engine::Verb::Admit).size(), 1u);
    EXPECT_TRUE(Told(engine::Verb::Admit)[0].detail.starts_with("from the store, "));
    ExpectTriples(*executor, *kernel);
  }
  // The same program with other bytes is judged anew, whoever was kept for it.
  EXPECT_NE((*Make()->Load(Source(right, {Proposal(right, wrong)})))->reason(), "");
  // Somebody else's store is nobody's word.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options.store + "/cas"))
    if (entry.is_regular_file()) std::filesystem::resize_file(entry.path(), 100);
  driver.launched.clear();
  EXPECT_EQ((*Make()->Load(source))->reason(), "");
  EXPECT_FALSE(driver.launched.empty());
}

TEST_F(CudaExecutor, AWrongKernelIsRefusedAndTheCpuAnswers) {
  auto executor = Make();
  const Source source(right, {Proposal(right, wrong)});
  const auto kernel = *executor->Load(source);
  EXPECT_NE(kernel->reason().find("lowering refuted"), std::string::npos) << kernel->reason();
  EXPECT_EQ(Told(engine::Verb::Refuse).size(), 1u);
  EXPECT_EQ(Told(engine::Verb::Keep).size(), 0u);
  driver.launched.clear();
  ExpectTriples(*executor, *kernel);
  EXPECT_TRUE(driver.launched.empty()) << "it never runs again";
  // A right one of the same program is not taken for the wrong one.
  EXPECT_EQ((*executor->Load(Source(right, {Proposal(right, right)})))->reason(), "");
  options.fall_back = false;
  EXPECT_EQ(Make()->Load(source).error().diag, Diag::NotAdmitted);
}

TEST_F(CudaExecutor, AModuleOfAnotherProgramIsNone) {
  options.fall_back = false;
  EXPECT_NE(Make()
                ->Load(Source(right, {Proposal(wrong, right)}))
                .error()
                .message.find("the PTX module is of another program"),
            std::string::npos);
  exec::Artifact damaged = Proposal(right, right);
  damaged.bytes.resize(damaged.bytes.size() / 2);
  EXPECT_FALSE(Make()->Load(Source(right, {damaged})));
}

TEST_F(CudaExecutor, TrapsAreErrors) {
  const ir::Program divide = *builders::ElementwiseBinary(ir::Op::DivTrunc, ir::types::I32);
  auto executor = Make();
  const auto kernel = *executor->Load(Source(divide, {Proposal(divide, divide)}));
  ASSERT_EQ(kernel->reason(), "");
  auto a = *executor->Allocate<int32_t>(4);
  const auto result = executor->Launch(*kernel, {}, {a, a, *executor->Allocate<int32_t>(4), 4u});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().diag, Diag::Trapped);
  EXPECT_NE(result.error().message.find("division by zero"), std::string::npos);
}

// Once a launch has begun nobody else answers it; a kernel that cannot be loaded was never there.
TEST_F(CudaExecutor, ErrorsOfTheDriverAreTold) {
  auto executor = Make();
  const Source source(right, {Proposal(right, right)});
  driver.failing = "load";
  {
    const auto kernel = *executor->Load(source);
    EXPECT_NE(kernel->reason().find("loading PTX"), std::string::npos) << kernel->reason();
    ExpectTriples(*executor, *kernel);
  }
  driver.failing = nullptr;
  executor->cache().Clear();
  const auto kernel = *executor->Load(source);
  ASSERT_EQ(kernel->reason(), "");
  auto x = *executor->Allocate<int32_t>(7);
  for (const char* function : {"allocate", "copy in", "launch", "wait", "copy out"}) {
    driver.failing = function;
    const auto result = executor->Launch(*kernel, {}, {x, x, Argument(), 3});
    ASSERT_FALSE(result) << function;
    EXPECT_EQ(result.error().diag, Diag::NoDevice);
    EXPECT_NE(result.error().message.find("no luck"), std::string::npos) << result.error().message;
  }
  driver.failing = nullptr;
  ExpectTriples(*executor, *kernel);
  // In the middle of a judgment: no verdict, and so nothing that may be called.
  driver.failing = "launch";
  executor->cache().Clear();
  std::filesystem::remove_all(options.store);
  const auto unjudged = *executor->Load(source);
  EXPECT_NE(unjudged->reason(), "");
  ExpectTriples(*executor, *unjudged);
}

TEST_F(CudaExecutor, LaunchesThatTheTargetLeavesAreTheCpus) {
  cuda::PtxModule module = cuda::test_driver::ModuleOf(right, right);
  module.disjoint = {{0, 1}};
  auto executor = Make();
  const auto kernel =
      *executor->Load(Source(right, {*cuda::ArtifactOfModule(cuda::SerializeModule(module))}));
  ASSERT_EQ(kernel->reason(), "");
  driver.launched.clear();
  auto x = *executor->Allocate<int32_t>(3);
  for (int32_t& value : x.span()) value = 2;
  ASSERT_TRUE(executor->Launch(*kernel, {}, {x, x, Argument(), 4}));
  EXPECT_EQ(x.ToVector(), std::vector<int32_t>(3, 8));
  EXPECT_TRUE(driver.launched.empty());
  ExpectTriples(*executor, *kernel);
  EXPECT_EQ(driver.launched.size(), 1u);
  options.fall_back = false;
  auto strict = Make();
  const auto alone =
      *strict->Load(Source(right, {*cuda::ArtifactOfModule(cuda::SerializeModule(module))}));
  EXPECT_EQ(strict->Launch(*alone, {}, {x, x, Argument(), 4}).error().diag, Diag::NotIndependent);
}

TEST_F(CudaExecutor, LaunchesMayComeFromAnyThread) {
  auto executor = Make();
  const auto kernel = *executor->Load(Source(right, {Proposal(right, right)}));
  ASSERT_EQ(kernel->reason(), "");
  std::vector<std::thread> threads;
  std::vector<int> wrong_ones(4, 0);
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<int32_t> x(100, static_cast<int32_t>(t)), y(100);
      for (int i = 0; i < 50; ++i) {
        const Argument arguments[] = {std::span(x), std::span(y), Argument(), i};
        if (!kernel->Launch({}, arguments) ||
            y != std::vector<int32_t>(100, static_cast<int32_t>(t) * i))
          ++wrong_ones[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_ones, std::vector<int>(4, 0));
}

TEST_F(CudaExecutor, WithoutPtxTheCpuAnswers) {
  auto executor = Make();
  const auto kernel = *executor->Load(right);
  EXPECT_NE(kernel->reason().find("no compiler for PTX"), std::string::npos) << kernel->reason();
  ASSERT_EQ(Told(engine::Verb::Refuse).size(), 1u);
  EXPECT_EQ(Told(engine::Verb::Refuse)[0].detail, kernel->reason() + "; the CPU answers");
  ExpectTriples(*executor, *kernel);
  // Ops on its buffers go the same way.
  auto x = *executor->Allocate<float>(3);
  for (float& value : x.span()) value = -1;
  ASSERT_TRUE(ops::math::neg(x, x));
  EXPECT_EQ(x.ToVector(), std::vector<float>(3, 1));
}

TEST_F(CudaExecutor, WithoutAGpuThatIsSaidOnce) {
  options.backend = "nowhere";
  for (int i = 0; i < 3; ++i) {
    const auto executor = *Executor::Create(options);
    EXPECT_EQ(executor->backend(), "cpu");
    EXPECT_TRUE(executor->reason().starts_with("no usable NVIDIA GPU: ")) << executor->reason();
    ExpectTriples(*executor, **executor->Load(Source(right, {Proposal(right, right)})));
  }
  ASSERT_EQ(Told(engine::Verb::Refuse).size(), 1u);
  EXPECT_TRUE(Told(engine::Verb::Refuse)[0].detail.ends_with("; the CPU answers"));
  options.fall_back = false;
  EXPECT_EQ(Executor::Create(options).error().diag, Diag::NoDevice);
}

// An embedded kernel as generated files have it: the descriptor, and what it refers to behind it.
struct Embedded {
  Embedded(std::string_view isa, std::string_view ptx) {
    bytes.resize(sizeof(embed::KernelData) + 8 + isa.size() + ptx.size());
    auto* const data = new (bytes.data()) embed::KernelData{};
    char* at = bytes.data() + sizeof(embed::KernelData);
    const auto place = [&](embed::Rel<char>& rel, std::string_view content) {
      std::ranges::copy(content, at);
      rel.offset = static_cast<int32_t>(at - reinterpret_cast<char*>(&rel));
      at += content.size();
    };
    place(data->name, std::string_view("scale\0\0\0", 8));
    data->isa.size = static_cast<uint32_t>(isa.size());
    data->ptx.size = static_cast<uint32_t>(ptx.size());
    if (!isa.empty()) place(data->isa.data, isa);
    if (!ptx.empty()) place(data->ptx.data, ptx);
  }
  const embed::KernelData& data() const {
    return *reinterpret_cast<const embed::KernelData*>(bytes.data());
  }
  std::vector<char> bytes;
};

TEST_F(CudaExecutor, EmbeddedKernelsProposeTheirPtx) {
  const std::string isa(targets::isa::Lower(right)->bytes);
  const std::string ptx = cuda::SerializeModule(cuda::test_driver::ModuleOf(right, right));
  auto executor = Make();
  for (const Embedded& kernel : {Embedded(isa, ptx), Embedded("", ptx)}) {
    const auto source = Source::Embedded(kernel.data());
    ASSERT_TRUE(source) << source.error().ToString();
    const auto loaded = *executor->Load(*source);
    EXPECT_EQ(loaded->reason(), "");
    ExpectTriples(*executor, *loaded);
  }
  const auto portable = Source::Embedded(Embedded(isa, "").data());
  ASSERT_TRUE(portable);
  EXPECT_EQ(portable->ProposalFor("cuda"), nullptr);
  ExpectTriples(*executor, **executor->Load(*portable));
  const std::string other = cuda::SerializeModule(cuda::test_driver::ModuleOf(wrong, wrong));
  EXPECT_EQ(Source::Embedded(Embedded(isa, other).data()).error().message,
            "the PTX of scale is of another program");
  EXPECT_FALSE(Source::Embedded(Embedded("", "").data()));
}

}  // namespace
}  // namespace frazil::runtime
