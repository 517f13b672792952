// The same for verify/tasm: what is called proved or algebraic there is run at points of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/deadline.h"
#include "judges/machine_points.h"
#include "verify/tasm/tasm.h"

namespace frazil::tests {
namespace {

namespace vt = verify::tasm;

std::atomic<uint64_t> seen = 0;

void See(const vt::Answer& answer, const vt::Runs& runs) {
  if (answer.kind != vt::Answer::Kind::Proved && answer.kind != vt::Answer::Kind::Algebraic) return;
  Choices choices(0x7a5a + ++seen);
  const Deadline deadline = Deadline::After(10);
  for (int i = 0; i < 100 && !deadline.Passed(); ++i) {
    const Start start = DrawStart({}, choices);
    vt::Counterexample inputs{start.inputs, start.fragment.stack, {}, {}};
    if (start.fragment.sponge) inputs.sponge = start.fragment.sponge->elements;
    const std::optional<std::string> difference = runs(inputs);
    if (!difference) continue;
    ADD_FAILURE() << "called " << vt::AnswerName(answer.kind) << " (" << answer.evidence.detail
                  << "), but " << *difference << " from the stack "
                  << fmt::format("{}", fmt::join(inputs.stack, " ")) << " and the input "
                  << fmt::format("{}", fmt::join(inputs.inputs.input, " "));
    return;
  }
}

class Listener : public testing::Environment {
 public:
  void TearDown() override {
    vt::RegisterObserver({});
    fmt::print("naive: saw {} answers about assembly\n", seen.load());
  }
};

[[maybe_unused]] const bool registered = [] {
  vt::RegisterObserver(See);
  testing::AddGlobalTestEnvironment(new Listener);
  return true;
}();

}  // namespace
}  // namespace frazil::tests
