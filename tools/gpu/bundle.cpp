// Makes what a GPU machine needs: PTX of test programs, of random programs, of digest programs and of benchmarks.
//
//   frazil-gpu-bundle OUT [--programs FOLDER] [--kernels FOLDER] [--random COUNT] [--sweeps] [--benches]
//   frazil-gpu-bundle OUT --digests [NAME...]     digests by native code of this machine, over all 2^32 inputs
//   frazil-gpu-bundle OUT --sample [NAME...]      by every native level, the interpreter and WASM, some blocks: compared
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "benches.h"
#include "digest.h"
#include "exec/meaning/interpreter.h"
#include "frontends/python/python.h"
#include "generator/generator.h"
#include "ir/text/text.h"
#include "targets/cuda/cuda.h"
#include "targets/native/native.h"
#include "targets/wasm/wasm.h"

namespace frazil::gpu {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class Bundle {
 public:
  explicit Bundle(fs::path out) : out_(std::move(out)) {}

  bool Add(const ir::Program& program, const std::string& name,
           const targets::cuda::PtxOptions& options = {}) {
    const auto module = targets::cuda::EmitPtx(program, options);
    if (!module) {
      if (module.error().diag != Diag::Unsupported) ++faults_;
      if (module.error().diag != Diag::Unsupported)
        fmt::print("FAIL {}: {}\n", name, module.error().ToString());
      ++refused_[module.error().message];
      return false;
    }
    WriteFile(out_ / (name + ".ptxm"), targets::cuda::SerializeModule(*module));
    ++made_;
    return true;
  }

  void AddPrograms(const fs::path& folder) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".frz") continue;
      const std::string text = ReadFile(entry.path());
      const auto program = ir::ParseText(text);
      if (!program) continue;
      std::string name = fs::relative(entry.path(), folder).replace_extension("").string();
      for (char& c : name)
        if (c == '/') c = '-';
      if (Add(*program, "programs/" + name)) WriteFile(out_ / ("programs/" + name + ".frz"), text);
    }
  }

  void AddRandom(uint64_t count) {
    for (uint64_t seed = 0; seed < count; ++seed) {
      generator::GeneratorOptions options;
      options.seed = seed;
      options.allow_streams = false;
      // Some programs of types that the GPU has; others of a few types each, so that ops repeat.
      options.types = ir::sets::Any & ~ir::sets::BigInt;
      if (seed % 3 == 1) options.types = ir::sets::Float | ir::sets::Bool;
      if (seed % 3 == 2) options.types = ir::sets::Fixed | ir::sets::Bool;
      options.allow_traps = seed % 2 == 0;
      Add(generator::Generate(options), fmt::format("random/{}", seed));
    }
  }

  // Python kernels of a folder; what the front end refuses is a failure.
  void AddKernels(const fs::path& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".py") paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    const auto answers = frontends::python::ParsePythonFiles(paths);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) {
        ++faults_;
        fmt::print("FAIL {}: {}\n", paths[i], answers[i].error().ToString());
        continue;
      }
      for (const frontends::python::Kernel& kernel : *answers[i])
        Add(kernel.program, "kernels/" + kernel.name);
    }
  }

  int Report() const {
    fmt::print("{} modules\n", made_);
    for (const auto& [why, count] : refused_) fmt::print("  {} refused: {}\n", count, why);
    return faults_ == 0 ? 0 : 1;
  }

 private:
  fs::path out_;
  uint64_t made_ = 0, faults_ = 0;
  std::map<std::string, uint64_t> refused_;
};

Result<std::vector<uint64_t>> Chunks(exec::Callable& callable, uint64_t first, uint64_t count) {
  auto memory = std::make_shared<exec::Memory>(ir::types::U64, static_cast<int64_t>(count));
  const exec::Value arguments[] = {exec::Value::Int(ir::types::Index, static_cast<int64_t>(first)),
                                   exec::Value::Int(ir::types::Index, static_cast<int64_t>(count)),
                                   exec::Value::Buffer(memory)};
  exec::RunContext context;
  context.limits.run_ms = 1'000'000;
  const exec::Outcome outcome = TRY(callable.Run(arguments, context));
  if (outcome.trap) return Fail(Diag::Internal, outcome.trap->ToString());
  std::vector<uint64_t> words(count);
  std::memcpy(words.data(), memory->data(), count * sizeof(uint64_t));
  return words;
}

Result<std::unique_ptr<exec::Callable>> Prepare(const exec::Target& target,
                                                const ir::Program& program) {
  return target.Load(TRY(target.Emit(program)));
}

bool IsWanted(const std::string& name, std::span<const std::string> names) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

// Digests of all inputs, by the native code of the host's own level, on two threads.
Result<void> WriteDigests(const fs::path& out, std::span<const std::string> names) {
  targets::native::NativeOptions options;
  options.level = exec::HostLevel();
  const auto target = targets::native::MakeNativeTarget(options);
  for (const UnaryFunction& function : UnaryFunctions()) {
    if (!IsWanted(function.name, names)) continue;
    const auto start = std::chrono::steady_clock::now();
    std::vector<uint64_t> digests(DigestCount);
    const ir::Program program = DigestProgram(function);
    constexpr uint64_t Threads = 2, Piece = 64;
    std::vector<Result<void>> outcomes(Threads);
    std::vector<std::thread> threads;
    std::atomic<uint64_t> next = 0;
    for (uint64_t t = 0; t < Threads; ++t) {
      threads.emplace_back([&, t] {
        outcomes[t] = [&]() -> Result<void> {
          const auto callable = TRY(Prepare(*target, program));
          for (uint64_t d; (d = next.fetch_add(Piece)) < DigestCount;) {
            const auto chunks =
                TRY(Chunks(*callable, d * ChunksPerDigest, Piece * ChunksPerDigest));
            const auto folded = FoldChunks(chunks);
            std::copy(folded.begin(), folded.end(), digests.begin() + static_cast<ptrdiff_t>(d));
          }
          return {};
        }();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& outcome : outcomes) TRY_VOID(outcome);
    WriteFile(out / "sweeps" / (function.name + ".digests"),
              {reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(uint64_t)});
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("{:14} {:5.1f} s\n", function.name, taken.count());
    std::fflush(stdout);
  }
  return {};
}

// Some whole blocks by other engines, against the digests that were written: special values lie at the ends of the
// range, the middle is where rounding is hard.
Result<void> Sample(const fs::path& out, std::span<const std::string> names) {
  constexpr uint64_t Blocks[] = {0, 1016, 2039, 2040, 3064, 4087, 4088};
  std::vector<std::pair<std::string, std::unique_ptr<exec::Target>>> engines;
  for (exec::CpuLevel level : {exec::CpuLevel::Baseline, exec::CpuLevel::Avx2}) {
    targets::native::NativeOptions options;
    options.level = level;
    engines.emplace_back(exec::CpuLevelName(level), targets::native::MakeNativeTarget(options));
  }
  engines.emplace_back("wasm", targets::wasm::MakeWasmTarget());
  engines.emplace_back("interp", exec::MakeInterpreterTarget());
  for (const UnaryFunction& function : UnaryFunctions()) {
    const fs::path path = out / "sweeps" / (function.name + ".digests");
    if (!IsWanted(function.name, names) || !fs::exists(path)) continue;
    const std::string bytes = ReadFile(path);
    std::vector<uint64_t> digests(DigestCount);
    std::memcpy(digests.data(), bytes.data(),
                std::min(bytes.size(), DigestCount * sizeof(uint64_t)));
    for (auto& [name, target] : engines) {
      const auto callable = TRY(Prepare(*target, DigestProgram(function)));
      int differs = 0, compared = 0;
      for (uint64_t block : Blocks) {
        // The interpreter is slow: one block.
        if (name == "interp" && block != 1016) continue;
        const auto chunks = TRY(Chunks(*callable, block * ChunksPerDigest, ChunksPerDigest));
        ++compared;
        differs += FoldChunks(chunks)[0] != digests[block] ? 1 : 0;
      }
      fmt::print("{:14} {:9} {} of {} blocks differ\n", function.name, name, differs, compared);
      std::fflush(stdout);
    }
  }
  return {};
}

int Main(std::span<char*> words) {
  if (words.size() < 3) {
    fmt::print(stderr,
               "usage: frazil-gpu-bundle OUT [--programs FOLDER] [--kernels FOLDER] [--random "
               "COUNT] [--sweeps] [--benches] "
               "[--digests | --sample [NAME...]]\n");
    return 1;
  }
  const fs::path out = words[1];
  Bundle bundle(out);
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool more = i + 1 < words.size();
    if (word == "--programs" && more) {
      bundle.AddPrograms(words[++i]);
    } else if (word == "--random" && more) {
      bundle.AddRandom(std::stoull(words[++i]));
    } else if (word == "--kernels" && more) {
      bundle.AddKernels(words[++i]);
    } else if (word == "--sweeps") {
      for (const UnaryFunction& function : UnaryFunctions())
        bundle.Add(DigestProgram(function), "sweeps/" + function.name);
    } else if (word == "--benches") {
      for (const Bench& bench : Benches())
        bundle.Add(bench.program, "benches/" + bench.name, bench.options);
    } else if (word == "--digests" || word == "--sample") {
      const std::vector<std::string> names(words.begin() + static_cast<ptrdiff_t>(i) + 1,
                                           words.end());
      const auto done = word == "--digests" ? WriteDigests(out, names) : Sample(out, names);
      if (!done) fmt::print(stderr, "{}\n", done.error().ToString());
      return done ? 0 : 1;
    } else {
      fmt::print(stderr, "what is {}?\n", word);
      return 1;
    }
  }
  return bundle.Report();
}

}  // namespace
}  // namespace frazil::gpu

int main(int count, char** words) {
  try {
    return frazil::gpu::Main({words, static_cast<size_t>(count)});
  } catch (const std::exception& error) {  // a folder that is not there, a number that is none
    fmt::print(stderr, "frazil-gpu-bundle: {}\n", error.what());
    return 1;
  }
}
