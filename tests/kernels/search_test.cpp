// Kernels whose names promise more than arithmetic can keep: what they compute, and that names decide nothing.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "ir/digest.h"
#include "ir/kernel.h"
#include "kernels/call.h"
#include "kernels/expect.h"

namespace frazil::kernels_test {
namespace {

TEST(Search, FindsTheFirst) {
  for (const size_t n : {1, 7, 257, 3073}) {
    std::vector<float> data = Uniform(n, 0, 1);
    for (const size_t place : {size_t{0}, n / 2, n - 1}) {
      std::vector<float> with = data;
      with[place] = 2;
      if (place + 1 < n) with[n - 1] = 2;
      Call call(KernelNamed("quantum_search"));
      ASSERT_TRUE(call.In(with)
                      .Scalar(2.0f)
                      .InOut(std::vector<uint32_t>{static_cast<uint32_t>(n)})
                      .N(n)
                      .RunEverywhere());
      EXPECT_EQ(call.Get<uint32_t>(2)[0], place);
    }
    Call none(KernelNamed("quantum_search"));
    ASSERT_TRUE(none.In(data)
                    .Scalar(2.0f)
                    .InOut(std::vector<uint32_t>{static_cast<uint32_t>(n)})
                    .N(n)
                    .RunEverywhere());
    EXPECT_EQ(none.Get<uint32_t>(2)[0], n) << "not there";
  }
}

TEST(Search, RoundsGiveShortestPaths) {
  constexpr size_t n = 24;
  constexpr float Inf = std::numeric_limits<float>::infinity();
  std::vector<float> weight(n * n, Inf);
  std::mt19937 random(5);
  for (int edge = 0; edge < 70; ++edge)
    weight[random() % n * n + random() % n] = static_cast<float>(1 + random() % 9);
  std::vector<float> distance(n, Inf);
  distance[0] = 0;
  for (size_t round = 0; round + 1 < n; ++round) {
    Call call(KernelNamed("optimal_path"));
    ASSERT_TRUE(call.In(weight).In(distance).Out<float>(n).N(n).RunEverywhere(round < 3));
    distance = call.Get<float>(2);
  }
  std::vector<double> all(weight.begin(), weight.end());
  for (size_t i = 0; i < n; ++i) all[i * n + i] = 0;
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        all[i * n + j] = std::min(all[i * n + j], all[i * n + k] + all[k * n + j]);
  for (size_t v = 0; v < n; ++v) EXPECT_EQ(distance[v], static_cast<float>(all[v])) << v;
}

TEST(Search, StepsConverge) {
  constexpr size_t n = 40;
  std::vector<float> a = Uniform(n * n, -0.01f, 0.01f), b = Uniform(n, -1, 1, 2), x(n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) a[i * n + j] = a[j * n + i];
    a[i * n + i] = 1 + static_cast<float>(i) / n;
  }
  std::vector<float> y = x;
  double energy = 1e300;
  for (int step = 0; step < 60; ++step) {
    Call solve(KernelNamed("constraint_solve"));
    ASSERT_TRUE(solve.In(a).In(b).In(x).Out<float>(n).N(n).RunEverywhere(step < 2));
    x = solve.Get<float>(3);
    Call descend(KernelNamed("minimize_energy"));
    ASSERT_TRUE(
        descend.In(a).In(b).In(y).Out<float>(n).Out<float>(n).N(n).Scalar(0.5f).RunEverywhere(step <
                                                                                              2));
    y = descend.Get<float>(3);
    double now = 0;
    for (const float part : descend.Get<float>(4)) now += part;
    EXPECT_LE(now, energy + 1e-4) << "each step goes down";
    energy = now;
  }
  for (size_t i = 0; i < n; ++i) {
    double residual = -b[i];
    for (size_t j = 0; j < n; ++j) residual += static_cast<double>(a[i * n + j]) * x[j];
    EXPECT_NEAR(residual, 0, 1e-5) << "A x = b";
    EXPECT_NEAR(x[i], y[i], 1e-4) << "the least energy solves the same system";
  }
}

std::string WriteKernel(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << body;
  return path;
}

TEST(Names, DecideNothing) {
  const char* head =
      "def %(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):\n    i = get_global_id()\n    if i "
      "< n:\n        ";
  const auto source = [&](std::string name, const std::string& statement) {
    std::string text = head;
    return text.replace(text.find('%'), 1, name) + statement + "\n";
  };
  const ir::Program* add =
      KernelOfFile(WriteKernel("names_1.py", source("vector_sum", "b[i] = a[i] + a[i]")));
  const ir::Program* mul =
      KernelOfFile(WriteKernel("names_2.py", source("vector_sum", "b[i] = a[i] * a[i]")));
  const ir::Program* other =
      KernelOfFile(WriteKernel("names_3.py", source("softmax", "b[i] = a[i] + a[i]")));
  ASSERT_TRUE(add != nullptr && mul != nullptr && other != nullptr);
  EXPECT_NE(ir::ExactDigest(*add), ir::ExactDigest(*mul)) << "one name, two bodies";
  EXPECT_EQ(ir::ExactDigest(*add), ir::ExactDigest(*other)) << "two names, one body";

  // A name that contains "min" makes no reduction.
  const ir::Program* energy = KernelNamed("minimize_energy");
  ASSERT_NE(energy, nullptr);
  for (const ir::Function& function : energy->functions)
    for (const ir::Inst& inst : function.insts) {
      EXPECT_NE(inst.op, ir::Op::Reduce);
      EXPECT_NE(inst.op, ir::Op::AtomicRmw);
      EXPECT_NE(inst.op, ir::Op::Min);
    }
}

TEST(Names, TheManifestIsComplete) {
  std::map<std::string, std::set<std::string>> lists;
  std::set<std::string> files;
  for (const Line& line : Manifest()) {
    EXPECT_TRUE(lists[line.list].insert(line.name).second)
        << line.list << " names " << line.name << " twice";
    files.insert(line.kernel);
    EXPECT_TRUE(
        std::filesystem::exists(std::string(FRAZIL_KERNELS_DIR) + "/" + line.kernel + ".py"))
        << line.kernel;
    EXPECT_NE(KernelNamed(line.kernel), nullptr);
  }
  EXPECT_EQ(lists["schemas"].size(), 18u);
  EXPECT_EQ(lists["stdlib"].size(), 23u);
  EXPECT_EQ(lists["onnx"].size(), 37u);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(FRAZIL_KERNELS_DIR)) {
    if (entry.path().extension() != ".py") continue;
    const std::string name =
        entry.path().parent_path().filename().string() + "/" + entry.path().stem().string();
    // Those are the same kernels for other types of elements (call.cpp looks at their names).
    if (name.starts_with("typed/")) continue;
    EXPECT_TRUE(files.contains(name)) << name << " is in no list";
  }
}

// What a caller may leave out: every guard `i < n` is an extent of the buffers it guards.
TEST(Names, ExtentsAreFound) {
  for (const char* name :
       {"vector_add", "relu", "scalar_mul", "clip", "gather", "shape_to_tensor", "constant_fill"}) {
    const ir::Program* program = KernelNamed(name);
    ASSERT_NE(program, nullptr);
    const ir::KernelSignature signature = ir::SignatureOf(*program);
    EXPECT_EQ(signature.name, name);
    EXPECT_FALSE(signature.needs_launch()) << name;
    size_t extents = 0;
    for (const ir::KernelParam& param : signature.params)
      extents += param.role == ir::ParamRole::Extent ? 1 : 0;
    EXPECT_EQ(extents, 1u) << name;
  }
}

}  // namespace
}  // namespace frazil::kernels_test
