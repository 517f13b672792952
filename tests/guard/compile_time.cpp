// The form that comes first of elementwise bodies, against a module that never changes
// (yardstick.ll), both through the same code generator, in turns; the least of the times of this thread.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "guard.h"
#include "subjects.h"
#include "targets/native/code_generator.h"

namespace frazil::guard {
namespace {

constexpr int Rounds = 25;
constexpr size_t Sizes[] = {10, 60, 200};

template <typename Function>
void TakeLeast(double& least, const Function& function) {
  const double start = ThreadSeconds();
  function();
  least = std::min(least, ThreadSeconds() - start);
}

}  // namespace

Table CompileTimes(const std::string& folder) {
  std::stringstream yardstick;
  yardstick << std::ifstream(folder + "/yardstick.ll").rdbuf();
  targets::native::NativeOptions options;
  options.level = exec::CpuLevel::Avx512;
  options.tuned = false;
  std::vector<ir::Program> programs;
  for (const size_t ops : Sizes) programs.push_back(bench::ElementwiseTree(ops));
  double frozen = 1e9;
  std::vector<double> times(programs.size(), 1e9);
  for (int round = 0; round < Rounds; ++round) {
    TakeLeast(frozen, [&] {
      CHECK(targets::native::GenerateFromText(yardstick.str(), options).has_value());
    });
    for (size_t i = 0; i < programs.size(); ++i)
      TakeLeast(times[i],
                [&] { CHECK(targets::native::EmitImage(programs[i], options).has_value()); });
  }
  Table rows;
  for (size_t i = 0; i < programs.size(); ++i)
    rows[fmt::format("compile {} ops", Sizes[i])] = {times[i] / frozen, times[i] * 1e3};
  return rows;
}

}  // namespace frazil::guard
