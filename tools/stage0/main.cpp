// frazil-stage0: kernels to C++ during a build. cmake/FrazilKernels.cmake starts it; people use `frazil build`.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "aot/aot.h"

namespace {

using namespace frazil;

constexpr int UsageStatus = 64;
constexpr std::string_view Usage =
    "frazil-stage0 --out FOLDER [--name NAME] [--targets native;isa;ptx;wasm;c] [--cache FOLDER] "
    "[--depfile FILE]\n"
    "              [--python PROGRAM] [--jobs N] [--no-programs] [--quiet] FILE...\n";

struct Arguments {
  aot::BuildOptions options;
  std::vector<std::string> files;
  bool quiet = false;
};

Result<void> Take(std::string_view flag, const std::string& value, Arguments& arguments) {
  aot::BuildOptions& options = arguments.options;
  if (flag == "--out") {
    options.out = value;
  } else if (flag == "--name") {
    options.name = value;
  } else if (flag == "--targets") {
    options.targets = TRY(aot::ParseTargets(value));
  } else if (flag == "--cache") {
    options.cache = value;
  } else if (flag == "--depfile") {
    options.depfile = value;
  } else if (flag == "--python") {
    options.python = value;
  } else if (flag == "--jobs") {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), options.jobs);
    if (error != std::errc() || end != value.data() + value.size() || options.jobs < 0)
      return Fail(Diag::BadUsage, fmt::format("'{}' is no number of jobs", value));
  } else {
    return Fail(Diag::BadUsage, fmt::format("unknown option {}", flag));
  }
  return {};
}

Result<Arguments> Read(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--quiet") {
      arguments.quiet = true;
    } else if (argument == "--no-programs") {
      arguments.options.programs = false;
    } else if (!argument.starts_with("--")) {
      arguments.files.push_back(argument);
    } else if (i + 1 < argc) {
      TRY_VOID(Take(argument, argv[++i], arguments));
    } else {
      return Fail(Diag::BadUsage, fmt::format("{} needs a value", argument));
    }
  }
  if (arguments.options.out.empty()) return Fail(Diag::BadUsage, "--out is missing");
  return arguments;
}

int Complain(const Error& error) {
  fmt::print(stderr, "frazil-stage0: {}\n", error.ToString());
  return ExitCodeOf(ClassOf(error.diag));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    fmt::print("frazil-stage0 {}\n", FRAZIL_VERSION);
    return 0;
  }
  const Result<Arguments> arguments = Read(argc, argv);
  if (!arguments) {
    Complain(arguments.error());
    fmt::print(stderr, "{}", Usage);
    return UsageStatus;
  }
  const Result<aot::Report> report = aot::Build(arguments->files, arguments->options);
  if (!report) return Complain(report.error());
  if (!arguments->quiet || !report->errors.empty()) fmt::print("{}", aot::PrintTable(*report));
  return report->errors.empty() ? 0 : ExitCodeOf(ClassOf(report->errors[0].diag));
}
