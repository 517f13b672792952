// A site whose program is too much work to be judged by running it becomes calls of forms, by the real worker.
#include <gmock/gmock.h>

#include "support.h"

namespace frazil::engine {
namespace {

// Two products; relu in between.
constexpr const char* TwoProducts = R"(frz 1
func @main(%a: tensor<f32, [48, 64]>, %b: tensor<f32, [64, 56]>, %c: tensor<f32, [56, 40]>) -> (tensor<f32, [48, 40]>) {
  %p = matmul %a, %b : tensor<f32, [48, 56]>
  %r = map (%x = %p) -> tensor<f32, [48, 56]> {
    %z = const 0.0 : f32
    %y = maximum %x, %z : f32
    yield %y
  }
  %q = matmul %r, %c : tensor<f32, [48, 40]>
  return %q
}
)";

class PlanSite : public testing::Test {
 protected:
  PlanSite() {
    for (size_t i = 0; i < a_.size(); ++i) a_[i] = 0.25f * static_cast<float>(i % 13) - 1.0f;
    for (size_t i = 0; i < b_.size(); ++i) b_[i] = 0.5f * static_cast<float>(i % 7) - 1.5f;
    for (size_t i = 0; i < c_.size(); ++i) c_[i] = 0.125f * static_cast<float>(i % 5);
  }

  int32_t Call(Site& site, std::vector<float>& out) {
    const auto address = [](std::vector<float>& v) { return reinterpret_cast<uint64_t>(v.data()); };
    const uint64_t words[] = {address(a_), a_.size(), address(b_),  b_.size(),
                              address(c_), c_.size(), address(out), out.size()};
    return site.Call(words, nullptr);
  }

  std::vector<float> a_ = std::vector<float>(48 * 64), b_ = std::vector<float>(64 * 56),
                     c_ = std::vector<float>(56 * 40);
};

TEST_F(PlanSite, BecomesSolidByCallsAndAnswersAsBefore) {
  const std::string folder = testing::TempDir() + "/frazil_plan_site_" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::vector<std::string> said;
  std::mutex mutex;
  for (const bool is_second : {false, true}) {
    said.clear();
    EngineOptions options;
    options.store.directory = folder;
    options.hot_calls = 2;
    options.compile = !is_second;  // what another process made is enough
    options.on_event = [&](const Event& event) {
      const std::lock_guard lock(mutex);
      said.push_back(Sentence(event));
    };
    Engine engine(std::move(options));
    const auto site = engine.Load(Parse(TwoProducts));
    ASSERT_TRUE(site) << site.error().message;
    std::vector<float> expected(48 * 40), found(48 * 40);
    ASSERT_EQ(Call(**site, expected), 0);
    for (int i = 0; i < 100; ++i) Call(**site, found);
    engine.Settle(60s);
    EXPECT_EQ((*site)->state(), dispatch::State::Solid) << is_second;
    std::ranges::fill(found, 0.0f);
    ASSERT_EQ(Call(**site, found), 0);
    EXPECT_EQ(found, expected);
    EXPECT_THAT((*site)->Report().what, testing::HasSubstr("calls code"));
    const std::lock_guard lock(mutex);
    EXPECT_THAT(said, testing::Contains(testing::HasSubstr(is_second ? "2 from the store, 0 made"
                                                                     : "0 from the store")));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace frazil::engine
