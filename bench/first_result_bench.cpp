// A user's kernel from its text to its first result: by the tile interpreter (JSON read, lowered, proved, planned, run), and
// by native code (compiled, mapped, run). Python's own part is timed inside of Python, without its start.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "exec/native/native_callable.h"
#include "frontends/python/python.h"
#include "harness.h"
#include "targets/isa/isa.h"
#include "targets/native/native.h"
#include "targets/tiles/tile.h"

namespace frazil::bench {
namespace {

constexpr const char* Source =
    "def saxpy(a: f32, x: DeviceArray[f32], y: DeviceArray[f32], n: u32):\n"
    "    i = get_global_id()\n"
    "    if i < n:\n"
    "        y[i] = a * x[i] + y[i]\n";

std::string TemporaryFolder() {
  std::string folder = (std::filesystem::temp_directory_path() / "frazil_bench_XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  return folder;
}

void Write(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  CHECK(file != nullptr);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

std::vector<exec::Value> Arguments(int64_t n) {
  return {exec::Value::Float(ir::types::F32, 2),
          exec::Value::Buffer(std::make_shared<exec::Memory>(ir::types::F32, n)),
          exec::Value::Buffer(std::make_shared<exec::Memory>(ir::types::F32, n)),
          exec::Value::Int(ir::types::U32, n)};
}

// Seconds that the Python half takes for the file once it is started: the best of 50 inside one process.
double PythonSeconds(const std::string& folder) {
  Write(folder + "/tool.py", frontends::python::PythonTool());
  Write(folder + "/time_tool.py",
        "import io, sys, time, contextlib\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import tool\n"
        "best = 1e9\n"
        "for _ in range(50):\n"
        "    start = time.perf_counter()\n"
        "    with contextlib.redirect_stdout(io.StringIO()):\n"
        "        tool.main([sys.argv[2]])\n"
        "    best = min(best, time.perf_counter() - start)\n"
        "print(best)\n");
  const std::string command =
      fmt::format("python3 {0}/time_tool.py {0} {0}/saxpy.py 2>/dev/null", folder);
  std::FILE* pipe = popen(command.c_str(), "r");
  double seconds = -1;
  if (pipe != nullptr) {
    if (std::fscanf(pipe, "%lf", &seconds) != 1) seconds = -1;
    pclose(pipe);
  }
  return seconds;
}

}  // namespace

FRAZIL_FIGURE(first_result) {
  const std::string folder = TemporaryFolder();
  Write(folder + "/saxpy.py", Source);
  Result<std::string> json = frontends::python::PythonToJson(folder + "/saxpy.py");
  if (!json) {
    Report({"kernels", "JSON to first result, tile interpreter", 0, "us", "", 0, "<= 100 us",
            std::nullopt, json.error().message});
    return;
  }
  const std::vector<exec::Value> arguments = Arguments(256);
  auto tile = [&] {
    auto kernels = frontends::python::ParseJson(*json, "saxpy.json");
    CHECK(kernels && kernels->size() == 1);
    auto module = targets::isa::ProvedModule::OfProgram((*kernels)[0].program);
    CHECK(module.has_value());
    auto plan = targets::tiles::Prepare(*module);
    CHECK(plan.has_value());
    CHECK(targets::tiles::Run(**plan, arguments).has_value());
  };
  auto native = [&] {
    auto kernels = frontends::python::ParseJson(*json, "saxpy.json");
    CHECK(kernels && kernels->size() == 1);
    auto target = targets::native::MakeNativeTarget();
    auto artifact = target->Emit((*kernels)[0].program);
    CHECK(artifact.has_value());
    auto callable = target->Load(*artifact);
    CHECK(callable && (*callable)->Run(arguments, {}).has_value());
  };
  // Not in turns: after some milliseconds in LLVM nothing of ours is in the caches (then it takes 240 us).
  const double us = Interleave({tile}, 200)[0].median_s * 1e6;
  Report({"kernels", "JSON to first result, tile interpreter (lowering proved)", us, "us", "", 0,
          "<= 100 us", us <= 100});
  const double python_us = PythonSeconds(folder) * 1e6;
  if (python_us > 0)
    Report({"kernels", "Python source to first result, without Python's start", python_us + us,
            "us", "", 0, "<= 1000 us", python_us + us <= 1000});
  const double ms = Interleave({native}, 30)[0].median_s * 1e3;
  Report({"kernels", "JSON to first result, native code (not yet verified)", ms, "ms", "", 0,
          "<= 10 ms", ms <= 10});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace frazil::bench
