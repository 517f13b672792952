// From a program to mapped native code in a warm process: lowering, LLVM IR, code generation, linking, mapping. The form
// that comes first, and then the tuned one, which takes its time behind it. The peer is what a user without Frazil would wait for: clang -O2 on the C form of the same program.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "harness.h"
#include "ir/builder.h"
#include "targets/c/c.h"
#include "targets/native/native.h"

namespace frazil::bench {
namespace {

// y[i] = a tree of `ops` additions and products of x[i], w[i] and earlier values.
ir::Program Kernel(uint32_t ops) {
  using namespace ir;
  Program program;
  const Type in = Type::Buffer(types::F32, Access::In);
  FunctionBuilder b(program, "main", {in, in, Type::Buffer(types::F32)}, {});
  const ValueId zero = b.ConstInt(types::Index, 0);
  b.Parallel(zero, b.Length(b.Param(2)), [&](ValueId i) {
    std::vector<ValueId> values = {b.Load(b.Param(0), i), b.Load(b.Param(1), i)};
    for (uint32_t k = 0; k < ops; ++k) {
      const ValueId a = values[values.size() - 1];
      const ValueId c = values[(k * 7 + 3) % values.size()];
      values.push_back(b.Binary(k % 3 == 0 ? Op::Add : k % 3 == 1 ? Op::Mul : Op::Sub, a, c));
    }
    b.Store(b.Param(2), i, values.back());
  });
  b.Return({});
  b.Finish();
  return program;
}

std::string WriteForClang(const ir::Program& program) {
  std::string folder = (std::filesystem::temp_directory_path() / "frazil_bench_XXXXXX").string();
  CHECK(mkdtemp(folder.data()) != nullptr);
  const Result<std::string> unit = targets::c::EmitUnit(std::span(&program, 1));
  CHECK(unit.has_value());
  const std::string path = folder + "/kernel.c";
  std::FILE* file = std::fopen(path.c_str(), "w");
  CHECK(file != nullptr);
  std::fwrite(unit->data(), 1, unit->size(), file);
  std::fclose(file);
  return path;
}

}  // namespace

FRAZIL_FIGURE(native_compile) {
  const std::pair<uint32_t, double> sizes[] = {{10, 5}, {60, 8}, {200, 20}};
  for (const auto& [ops, goal_ms] : sizes) {
    const ir::Program program = Kernel(ops);
    const std::string path = WriteForClang(program);
    const std::string clang =
        fmt::format("clang-22 -O2 -march=native -ffp-contract=off -c {0} -o {0}.o", path);
    bool peer_works = std::system((clang + " 2>/dev/null").c_str()) == 0;
    // What a call site gets first.
    targets::native::NativeOptions first;
    first.tuned = false;
    auto ours = [&] {
      const auto image = targets::native::EmitImage(program, first);
      CHECK(image.has_value());
      Keep(exec::NativeCode::Map(*image).has_value());
    };
    for (int i = 0; i < 3; ++i) ours();
    std::vector<std::function<void()>> functions = {ours};
    if (peer_works) functions.push_back([&] { Keep(std::system(clang.c_str())); });
    const std::vector<Times> times = Interleave(functions, 15);
    const double ms = times[0].median_s * 1e3;
    Report({"native",
            fmt::format("compile and map {} ops, warm ({})", ops,
                        exec::CpuLevelName(exec::HostLevel())),
            ms, "ms", peer_works ? "clang -O2 -c of the C form" : "",
            peer_works ? times[1].median_s * 1e3 : 0, fmt::format("<= {} ms", goal_ms),
            ms <= goal_ms});
    std::remove((path + ".o").c_str());
    std::remove(path.c_str());
    std::remove(path.substr(0, path.rfind('/')).c_str());
  }
}

}  // namespace frazil::bench
