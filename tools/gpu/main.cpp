// Checks and measures a bundle on a GPU:  frazil-gpu BUNDLE [programs] [kernels] [random] [sweep] [measure] [--out FOLDER]
#include <fmt/format.h>

#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

#include "runner.h"

namespace frazil::gpu {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Result<targets::cuda::PtxModule> ReadModule(const std::filesystem::path& path) {
  return targets::cuda::ParseModule(ReadFile(path));
}

namespace {

int Main(std::span<char*> words) {
  if (words.size() < 3) {
    fmt::print(stderr,
               "usage: frazil-gpu BUNDLE [programs] [kernels] [random] [sweep] [measure] [--out "
               "FOLDER]\n");
    return 1;
  }
  const std::filesystem::path bundle = words[1];
  std::filesystem::path out;
  for (size_t i = 2; i + 1 < words.size(); ++i)
    if (std::string_view(words[i]) == "--out") out = words[i + 1];
  auto device = targets::cuda::Device::Open();
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().ToString());
    return ExitCodeOf(ClassOf(device.error().diag));
  }
  fmt::print("{}, compute capability {}, {} multiprocessors\n", (*device)->name(),
             (*device)->compute(), (*device)->multiprocessors());
  int failures = 0;
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--out") break;
    if (word == "programs") failures += CheckPrograms(*device, bundle / "programs");
    if (word == "random") failures += CheckRandom(*device, bundle / "random", 4);
    if (word == "kernels") failures += CheckKernels(*device, bundle / "kernels", 12);
    if (word == "sweep") failures += Sweep(*device, bundle / "sweeps", out);
    if (word == "measure") failures += Measure(*device, bundle / "benches");
    std::fflush(stdout);
  }
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::gpu

int main(int count, char** words) { return frazil::gpu::Main({words, static_cast<size_t>(count)}); }
