// Random programs, many to a compiler call, against the interpreter; the seed of a failure is printed.
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "targets/c/test_support.h"

namespace frazil::targets::c {
namespace {

using testing::ExpectSame;

struct Config {
  const char* compiler;
  std::vector<std::string> flags;
  uint64_t first_seed;
  int programs;
};

void CompareBatch(const Config& config) {
  const char* scale = std::getenv("FRAZIL_C_RANDOM");
  const uint64_t offset = scale != nullptr ? std::strtoull(scale, nullptr, 10) : 0;
  std::vector<ir::Program> programs;
  std::vector<uint64_t> seeds;
  for (int i = 0; i < config.programs; ++i) {
    generator::GeneratorOptions options;
    options.seed = config.first_seed + offset + static_cast<uint64_t>(i);
    seeds.push_back(options.seed);
    programs.push_back(generator::Generate(options));
  }
  Result<CBatch> batch = CBatch::Compile(programs, config.compiler, config.flags);
  ASSERT_TRUE(batch.has_value()) << batch.error().ToString();
  for (size_t i = 0; i < programs.size(); ++i) {
    auto callable = batch->Get(i);
    ASSERT_TRUE(callable.has_value()) << callable.error().ToString();
    for (uint64_t run = 0; run < 4; ++run) {
      const auto arguments = exec::RandomArguments(programs[i], run);
      const auto context = exec::RandomContext(programs[i], run);
      ExpectSame(programs[i], **callable, arguments, context,
                 "seed " + std::to_string(seeds[i]) + " run " + std::to_string(run) + " " +
                     config.compiler);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(CRandom, GccO1) {
  CompareBatch({"gcc-12", {"-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"}, 1000, 100});
}
TEST(CRandom, ClangO1) {
  CompareBatch({"clang-22", {"-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"}, 2000, 100});
}
TEST(CRandom, GccO3NativeContraction) {
  CompareBatch(
      {"gcc-12", {"-std=gnu11", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror"}, 3000, 25});
}
TEST(CRandom, ClangO3Native) {
  CompareBatch({"clang-22",
                {"-std=gnu11", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror"},
                4000,
                25});
}
TEST(CRandom, GccUndefinedBehavior) {
  CompareBatch(
      {"gcc-12", {"-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"}, 5000, 40});
}
TEST(CRandom, ClangUndefinedBehavior) {
  CompareBatch({"clang-22",
                {"-O1", "-fsanitize=undefined,float-cast-overflow", "-fsanitize-trap=all"},
                6000,
                40});
}

}  // namespace
}  // namespace frazil::targets::c
