// frazil tri check, fmt and test: what concerns the text of Trident programs alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tri.h"

namespace frazil::cli {
namespace {

struct SourceOptions {
  std::vector<std::string> files;
  std::vector<std::string> search;
  bool only_check = false;  // fmt --check
  bool to_stdout = false;
  std::string filter;  // test: names that contain it
  std::string target = "tasm";
};

nlohmann::ordered_json ToJson(const Error& error) {
  return {{"id", DiagId(error.diag)},    {"message", error.message},        {"file", error.file},
          {"line", error.location.line}, {"column", error.location.column}, {"hint", error.hint}};
}

Result<int> Check(Session& session, const SourceOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  int code = 0;
  for (const std::string& file : options.files) {
    const auto [errors, warnings] =
        TRY(CallTri(session, tri::Options().cycles, [&](const tri::Options& how) {
          return tri::Check(file, options.search, how);
        }));
    nlohmann::ordered_json row = {{"file", file},
                                  {"errors", nlohmann::ordered_json::array()},
                                  {"warnings", nlohmann::ordered_json::array()}};
    for (const Error& error : errors) {
      code = std::max(code, ExitCodeOf(ClassOf(error.diag)));
      row["errors"].push_back(ToJson(error));
      if (!session.json) Say("frazil: {}\n", error.ToString());
    }
    for (const Error& warning : warnings) row["warnings"].push_back(ToJson(warning));
    PrintWarnings(session, warnings);
    json.push_back(std::move(row));
    if (!session.json && errors.empty()) fmt::print("{}: no errors\n", file);
  }
  if (session.json) PrintJson(json);
  return code;
}

Result<int> Format(Session& session, const SourceOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  int different = 0;
  for (const std::string& file : options.files) {
    const auto [formatted, changed] =
        TRY(CallTri(session, tri::Options().cycles,
                    [&](const tri::Options& how) { return tri::Format(file, how); }));
    json.push_back({{"file", file}, {"changed", changed}});
    if (options.to_stdout) {
      if (session.json) json.back()["text"] = formatted;
      if (!session.json) fmt::print("{}", formatted);
      continue;
    }
    if (!changed) continue;
    ++different;
    if (!session.json)
      fmt::print("{}{}\n", options.only_check ? "would change " : "formatted ", file);
    if (!options.only_check) TRY_VOID(WriteFile(file, formatted));
  }
  if (session.json) PrintJson(json);
  return options.only_check && different > 0 ? ExitCodeOf(ErrorClass::User) : 0;
}

Result<int> Test(Session& session, const SourceOptions& options) {
  const exec::Target* target = TRY(FindTarget(options.target));
  int passed = 0, failed = 0;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::string& file : options.files) {
    const auto report = [&](const tri::TestResult& result) {
      const std::optional<std::string>& failure = result.failure;
      (failure ? failed : passed) += 1;
      json.push_back({{"file", file},
                      {"test", result.name},
                      {"passed", !failure},
                      {"reason", failure.value_or("")}});
      if (!session.json)
        fmt::print("{} {}{}\n", failure ? "FAILED" : "passed", result.name,
                   failure ? ": " + *failure : "");
    };
    TRY_VOID(CallTri(session, tri::Options().cycles, [&](const tri::Options& how) {
      return tri::Test(file, options.search, options.filter, *target, report, how);
    }));
  }
  if (passed + failed == 0)
    return Fail(Diag::BadUsage,
                options.filter.empty()
                    ? "there is no #[test] function in these files"
                    : fmt::format("no #[test] function has '{}' in its name", options.filter));
  if (session.json) {
    PrintJson(json);
  } else {
    fmt::print("{} passed, {} failed on {}\n", passed, failed, options.target);
  }
  return failed == 0 ? 0 : ExitCodeOf(ErrorClass::User);
}

std::shared_ptr<SourceOptions> AddFiles(CLI::App* command) {
  auto options = std::make_shared<SourceOptions>();
  command->add_option("files", options->files, ".tri files")->required();
  command->add_option("--path", options->search, "a folder with more modules")
      ->allow_extra_args(false);
  return options;
}

}  // namespace

void AddTriSource(CLI::App& tri, Session& session) {
  CLI::App* check = AddCommand(tri, "check", "find every error in Trident files",
                               "  frazil tri check program.tri");
  auto checked = AddFiles(check);
  SetBody(check, session, [&session, checked] { return Check(session, *checked); });

  CLI::App* format =
      AddCommand(tri, "fmt", "lay Trident files out in the one way",
                 "  frazil tri fmt program.tri\n  frazil tri fmt --check program.tri");
  auto formatted = AddFiles(format);
  format->add_flag("--check", formatted->only_check,
                   "change nothing; exit code 1 if something would change");
  format->add_flag("--stdout", formatted->to_stdout, "print instead of writing the file");
  SetBody(format, session, [&session, formatted] { return Format(session, *formatted); });

  CLI::App* test = AddCommand(tri, "test", "run the #[test] functions of Trident files",
                              "  frazil tri test program.tri");
  auto tested = AddFiles(test);
  test->add_option("--filter", tested->filter, "only tests whose names contain it");
  OneOf(test->add_option("--target", tested->target, "where they run"), TargetNames())
      ->capture_default_str();
  SetBody(test, session, [&session, tested] { return Test(session, *tested); });
}

}  // namespace frazil::cli
