// Calls at the edge of what is allowed give the same answer on the interpreter and on compiled code.
#include "support.h"

namespace frazil::engine {
namespace {

// y[i] = x[i] + 1
constexpr const char* AddOne = R"(frz 1
func @main(%n: index, %x: in buffer<i32>, %y: out buffer<i32>) {
  %zero = const 0 : index
  %one = const 1 : i32
  for %i = %zero to %n step 1 {
    %v = load %x, %i : i32
    %w = add %v, %one : i32
    store %y, %i, %w : i32
    yield
  }
  return
}
)";

// A call that is interrupted half-way, as one is whose compiled form has just come. Begun again it would read what it
// has written, if that is one buffer.
TEST(BeginAgain, OnlyWhereNothingThatIsReadWasWritten) {
  constexpr size_t N = 1'500'000;
  for (const bool is_same : {false, true}) {
    const ir::Program program = Parse(AddOne);
    auto fluid = InterpreterFluid::Create(program, {}).value();
    int begun_again = 0;
    fluid->SetRestart([&](const uint64_t* arguments, uint64_t* results, exec::NativeRun* run) {
      ++begun_again;
      return fluid->Call(arguments, results, run);
    });
    std::vector<int32_t> x(N, 5), y(N, 0);
    std::atomic<bool> begins{false};
    std::thread interrupter([&] {
      begins.wait(false);
      std::this_thread::sleep_for(10ms);
      fluid->InterruptRunning();
    });
    std::vector<int32_t>& written = is_same ? x : y;
    const uint64_t arguments[] = {N, reinterpret_cast<uint64_t>(x.data()), N,
                                  reinterpret_cast<uint64_t>(written.data()), N};
    begins = true;
    begins.notify_all();
    EXPECT_EQ(fluid->Call(arguments, nullptr, nullptr), 0);
    interrupter.join();
    EXPECT_EQ(begun_again, is_same ? 0 : 1);
    EXPECT_EQ(std::ranges::count(written, 6), static_cast<ptrdiff_t>(N));
  }
}

}  // namespace
}  // namespace frazil::engine
