// Checks and measures a bundle on a GPU:  frazil-gpu BUNDLE [programs] [kernels] [judge] [executor] [random] [sweep] [measure]
// [--out FOLDER]
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

#include "registry/targets.h"
#include "runner.h"
#include "targets/cuda/driver/target.h"

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

std::vector<std::filesystem::path> Modules(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ptxm") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

namespace {

constexpr std::string_view Folders[][2] = {{"programs", "programs"}, {"kernels", "kernels"},
                                           {"judge", "kernels"},     {"executor", "kernels"},
                                           {"random", "random"},     {"sweep", "sweeps"},
                                           {"measure", "benches"}};

// Nothing that was checked is no success. Empty, or what is wrong with a word.
std::string WrongWord(const std::filesystem::path& bundle, std::string_view word) {
  for (const auto& [known, folder] : Folders) {
    if (word != known) continue;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(bundle / folder, error))
      if (entry.path().extension() == ".ptxm") return {};
    return fmt::format("{} holds no module", (bundle / folder).string());
  }
  return fmt::format("what is {}?", word);
}

int Main(std::span<char*> words) {
  if (words.size() < 3) {
    fmt::print(stderr,
               "usage: frazil-gpu BUNDLE [programs] [kernels] [judge] [executor] [random] [sweep] "
               "[measure] [--out FOLDER]\n");
    return 1;
  }
  const std::filesystem::path bundle = words[1];
  std::filesystem::path out;
  for (size_t i = 2; i < words.size(); ++i) {
    if (std::string_view(words[i]) == "--out" && i + 1 < words.size()) {
      out = words[i + 1];
      break;
    }
    if (const std::string wrong = WrongWord(bundle, words[i]); !wrong.empty()) {
      fmt::print(stderr, "{}\n", wrong);
      return 1;
    }
  }
  registry::RegisterTarget({"cuda",
                            [] { return targets::cuda::MakeDriverTarget(FRAZIL_GPU_LIBRARY); },
                            verify::RunsJudge, "tasm"});
  auto device = targets::cuda::Device::Open(FRAZIL_GPU_LIBRARY);
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
    if (word == "judge") failures += JudgeKernels(*device, bundle / "kernels");
    if (word == "executor") failures += CheckExecutor(bundle / "kernels");
    if (word == "sweep") failures += Sweep(*device, bundle / "sweeps", out);
    if (word == "measure") failures += Measure(*device, bundle / "benches");
    std::fflush(stdout);
  }
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::gpu

int main(int count, char** words) {
  try {
    return frazil::gpu::Main({words, static_cast<size_t>(count)});
  } catch (const std::exception& error) {
    fmt::print(stderr, "frazil-gpu: {}\n", error.what());
    return 1;
  }
}
