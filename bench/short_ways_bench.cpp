// Ways that are to be short: a call of a loaded site that has no compiled form, beyond the work that it does; a program to
// its first result on tiles; the call of a slot with 64 buffers beside one with three.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "dispatch/launch_record.h"
#include "engine/engine.h"
#include "harness.h"
#include "ir/text/text.h"
#include "subjects.h"

namespace frazil::bench {
namespace {

constexpr int Rounds = 2000, CallsPerRound = 50;
constexpr int64_t Elements = 64;

constexpr char AddText[] = R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %b = load %y, %i : f32
    %c = add %a, %b : f32
    store %z, %i, %c : f32
    yield
  }
  return
}
)";
constexpr char ChainText[] = R"(frz 1
func @main(%n: index, %x: in buffer<f32>, %y: in buffer<f32>, %z: out buffer<f32>) {
  %zero = const 0 : index
  parallel %i = %zero to %n {
    %a = load %x, %i : f32
    %b = load %y, %i : f32
    %c = mul %a, %b : f32
    %d = add %c, %a : f32
    %e = max %d, %b : f32
    store %z, %i, %e : f32
    yield
  }
  return
}
)";
constexpr char ScalarText[] = R"(frz 1
func @main(%a: i32, %b: i32) -> (i32) {
  %p = mul %a, %b : i32
  return %p
}
)";

struct Arrays {
  alignas(64) std::array<float, Elements> x, y, z;
  Arrays() { x.fill(1.5f), y.fill(2.25f), z.fill(0); }
  std::array<uint64_t, 7> words() {
    return {Elements, reinterpret_cast<uint64_t>(x.data()),
            Elements, reinterpret_cast<uint64_t>(y.data()),
            Elements, reinterpret_cast<uint64_t>(z.data()),
            Elements};
  }
};

engine::EngineOptions Fluid() {
  engine::EngineOptions options;
  options.use_store = false;
  options.compile = false;
  return options;
}

template <typename Call>
std::function<void()> Many(const Call& call) {
  return [call] {
    for (int i = 0; i < CallsPerRound; ++i) call();
  };
}

void ReportBeyond(const std::string& figure, const std::function<void()>& ours,
                  const std::function<void()>& work) {
  const std::vector<Times> times = Interleave({ours, work}, Rounds);
  const double peer = times[1].median_s * 1e9 / CallsPerRound;
  const double beyond = times[0].median_s * 1e9 / CallsPerRound - peer;
  Report({.area = "engine",
          .figure = figure,
          .ours = beyond,
          .unit = "ns over peer",
          .peer = "the same loop in line",
          .peer_value = peer,
          .goal = "<= 80 ns",
          .met = beyond <= 80});
}

__attribute__((noinline)) void AddInLine(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
__attribute__((noinline)) void ChainInLine(const float* x, const float* y, float* z, int64_t n) {
  for (int64_t i = 0; i < n; ++i) z[i] = std::max(x[i] * y[i] + x[i], y[i]);
}

class Nobody final : public dispatch::Fluid, public dispatch::Watcher {
 public:
  int32_t Call(const uint64_t*, uint64_t*, exec::NativeRun*) override { return -1; }
  void Observe(const uint64_t*, const dispatch::Observation&) override {}
};

// A slot with a form for so many buffers, and a record of its call.
struct SlotOfMany {
  explicit SlotOfMany(uint32_t buffers)
      : call(buffers), slot(*call.source, nobody, nobody), record(slot) {
    slot.SetCountdown(INT32_MAX);  // the hot path alone
    CHECK(slot.Install(*dispatch::Solid::Make(call.MakeForm(), *call.source)));
    CHECK(record.SetWord(0, 7));
    for (uint32_t i = 0; i < buffers; ++i)
      CHECK(record.SetBuffer(i + 1, &call.memory[size_t{64} * i], 64));
  }
  std::function<void()> Calls() {
    return Many([this] { CHECK(slot.Call(call.arguments.data(), &result) == 0); });
  }
  std::function<void()> RecordedCalls() {
    return Many([this] { CHECK(record.Call(&result) == 0); });
  }

  ManyBuffersCall call;
  Nobody nobody;
  dispatch::Slot slot;
  dispatch::LaunchRecord record;
  uint64_t result = 0;
};

}  // namespace

FRAZIL_FIGURE(slots) {
  SlotOfMany three(3), sixty_four(64);
  const std::vector<Times> times =
      Interleave({three.Calls(), three.RecordedCalls(), sixty_four.RecordedCalls()}, 4 * Rounds);
  auto ns = [&](size_t i) { return times[i].median_s * 1e9 / CallsPerRound; };
  const double more = ns(2) - ns(0);
  Report({.area = "dispatch",
          .figure = "slot call of 64 buffers by a record, beyond one of 3 buffers",
          .ours = more,
          .unit = "ns over peer",
          .peer = "3 buffers, without a record",
          .peer_value = ns(0),
          .goal = "<= 30 ns",
          .met = more <= 30});
  Report({.area = "dispatch",
          .figure = "slot call of 3 buffers by a record, beyond one without",
          .ours = ns(1) - ns(0),
          .unit = "ns over peer",
          .peer = "3 buffers, without a record",
          .peer_value = ns(0),
          .goal = "<= 5 ns",
          .met = ns(1) - ns(0) <= 5});
  const double plain = Interleave({sixty_four.Calls()}, Rounds)[0].median_s * 1e9 / CallsPerRound;
  Report({.area = "dispatch",
          .figure = "slot call of 64 buffers without a record",
          .ours = plain,
          .unit = "ns",
          .goal = "",
          .met = std::nullopt,
          .reason = "2,016 pairs; no goal"});
  CHECK(three.result == 7 && sixty_four.result == 7);
}

FRAZIL_FIGURE(fluid_call) {
  engine::Engine engine(Fluid());
  for (const bool is_chain : {false, true}) {
    auto site = engine.Load(*ir::ParseText(is_chain ? ChainText : AddText)).value();
    Arrays arrays;
    const auto words = arrays.words();
    auto call = [&] { CHECK(site->Call(words.data(), nullptr) == 0); };
    auto work = [&] {
      (is_chain ? ChainInLine : AddInLine)(arrays.x.data(), arrays.y.data(), arrays.z.data(),
                                           Elements);
      Keep(arrays.z);
    };
    ReportBeyond(is_chain ? "fluid call of a site, three ops on 64 elements"
                          : "fluid call of a site, one op on 64 elements",
                 Many(call), Many(work));
    CHECK(arrays.z[63] == (is_chain ? 4.875f : 3.75f));
  }
  auto site = engine.Load(*ir::ParseText(ScalarText)).value();
  uint64_t words[2] = {7, 8}, result = 0;
  auto call = [&] { CHECK(site->Call(words, &result) == 0); };
  auto work = [&] {
    result = words[0] * words[1];
    Keep(result);
  };
  ReportBeyond("fluid call of a site, one op on two scalars", Many(call), Many(work));
  CHECK(result == 56);
}

FRAZIL_FIGURE(fluid_load) {
  const ir::Program program = ElementwiseTree(10);
  engine::Engine engine(Fluid());
  Arrays arrays;
  const auto words = arrays.words();
  auto first_result = [&] {
    auto site = engine.Load(program).value();
    CHECK(site->Call(words.data() + 1, nullptr) == 0);
  };
  const double us = Interleave({first_result}, 2000)[0].median_s * 1e6;
  Report({.area = "engine",
          .figure = "program of 10 ops to its first result on tiles, through a site",
          .ours = us,
          .unit = "us",
          .goal = "<= 60 us",
          .met = us <= 60});
}

}  // namespace frazil::bench
