// Holds our Triton VM against the published one on many programs.
//
//   oracle_compare random [--count N] [--seed S] [--out FOLDER]   generated programs, a third of them damaged
//   oracle_compare folder FOLDER...                               every .tasm file, with what its head says:
//        // input: 1,2      // secret: 3      // digest: 1,2,3,4,5      // ram: 7=9,8=1      // cycles: 1000
//     and likewise, without the slashes, in a file of the same name that ends in .in
//
// Exit: 0 all equal, 1 differences (printed, and written to --out), 4 no oracle, 77 no oracle and none promised.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/test_counts.h"
#include "compare.h"
#include "generate.h"

namespace {

using namespace frazil;
namespace tasm = machines::tasm;
namespace fs = std::filesystem;

constexpr uint64_t BatchSize = 250;

struct Arguments {
  std::string mode;
  std::vector<std::string> folders;
  uint64_t count = 2400;
  uint64_t seed = 1;
  std::string out;
  bool optional = false;  // no oracle is a reason to skip
};

int Report(const tests::Comparison& comparison, const Arguments& arguments) {
  std::string crashes;
  for (const auto& [kind, count] : comparison.crashes)
    crashes += fmt::format(", {} {}", tasm::CrashName(kind), count);
  fmt::print("{} programs, {} cycles; {} finished with all nine heights compared{}\n",
             comparison.programs, comparison.cycles, comparison.finished, crashes);
  size_t number = 0;
  for (const std::string& text : comparison.differences) {
    if (number < 3) fmt::print("DIFFERENT {}\n", text);
    if (!arguments.out.empty()) {
      fs::create_directories(arguments.out);
      std::ofstream(fmt::format("{}/difference_{}.tasm", arguments.out, number)) << "// " << text;
    }
    ++number;
  }
  fmt::print("{} different\n", comparison.differences.size());
  return comparison.differences.empty() ? 0 : 1;
}

// Every instruction of the profile must have been in a good number of programs that ran to their end.
int CheckCoverage(const tests::Comparison& comparison) {
  int missing = 0;
  for (int i = 0; i < tasm::OpcodeCount; ++i) {
    const auto op = static_cast<tasm::Opcode>(i);
    if (!tasm::Info(op).In(tasm::Profile::Dot)) continue;
    const auto found = comparison.instructions.find(op);
    const uint64_t count = found == comparison.instructions.end() ? 0 : found->second;
    if (count >= comparison.programs / 100) continue;
    fmt::print("{} is in {} of the programs only\n", tasm::Info(op).mnemonic, count);
    ++missing;
  }
  return missing;
}

Result<int> CompareRandom(oracle::Session& session, const Arguments& arguments) {
  tests::Comparison comparison;
  for (uint64_t done = 0; done < arguments.count; done += BatchSize) {
    std::vector<oracle::Job> jobs;
    std::vector<std::string> names;
    for (uint64_t i = done; i < std::min(done + BatchSize, arguments.count); ++i) {
      const uint64_t seed = arguments.seed * 1'000'000'007 + i;
      oracle::Job job = tests::GenerateJob(seed);
      if (i % 3 == 2) job = tests::DamageJob(job, seed);
      jobs.push_back(std::move(job));
      names.push_back(fmt::format("random {} of seed {}", i, arguments.seed));
    }
    TRY_VOID(tests::CompareAll(session, jobs, names, comparison));
  }
  int code = Report(comparison, arguments);
  if (comparison.programs >= 1000 && CheckCoverage(comparison) > 0) code = 1;
  return code;
}

Result<std::string> ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return Fail(Diag::FileUnreadable, fmt::format("{} cannot be read", path.string()));
  return text.str();
}

Result<oracle::Job> ReadProgram(const fs::path& path) {
  std::string text = TRY(ReadText(path));
  fs::path inputs = path;
  inputs.replace_extension(".in");
  if (fs::exists(inputs)) {
    std::istringstream lines(TRY(ReadText(inputs)));
    for (std::string line; std::getline(lines, line);) text = "// " + line + "\n" + text;
  }
  return tests::ReadJob(text, path.string());
}

Result<int> CompareFolders(oracle::Session& session, const Arguments& arguments) {
  std::vector<fs::path> paths;
  for (const std::string& folder : arguments.folders) {
    if (!fs::exists(folder))
      return Fail(Diag::FileUnreadable, fmt::format("{} does not exist", folder));
    if (fs::is_regular_file(folder))
      paths.emplace_back(folder);
    else
      for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".tasm") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<oracle::Job> jobs;
  std::vector<std::string> names;
  tests::Comparison comparison;
  for (const fs::path& path : paths) {
    Result<oracle::Job> job = ReadProgram(path);
    if (!job) return std::unexpected(job.error());
    // The two assemblers must make the same words of the same text.
    const std::vector<uint64_t> words = TRY(session.Assemble(TRY(ReadText(path))));
    if (words != tasm::Encode(job->program))
      comparison.differences.push_back(
          fmt::format("{}: the assemblers make different words", path.string()));
    jobs.push_back(std::move(*job));
    names.push_back(path.string());
  }
  if (jobs.empty()) return Fail(Diag::FileUnreadable, "no .tasm file was found");
  TRY_VOID(tests::CompareAll(session, jobs, names, comparison));
  return Report(comparison, arguments);
}

bool ReadArguments(int argc, char** argv, Arguments& arguments) {
  if (argc < 2) return false;
  arguments.mode = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&] { return ++i < argc ? std::strtoull(argv[i], nullptr, 10) : 0; };
    if (word == "--count")
      arguments.count = number();
    else if (word == "--seed")
      arguments.seed = number();
    else if (word == "--out" && i + 1 < argc)
      arguments.out = argv[++i];
    else if (word == "--optional")
      arguments.optional = true;
    else if (word.starts_with("--"))
      return false;
    else
      arguments.folders.push_back(word);
  }
  return arguments.mode == "random" || (arguments.mode == "folder" && !arguments.folders.empty());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!ReadArguments(argc, argv, arguments)) {
    std::cerr << "usage: oracle_compare random [--count N] [--seed S] | folder FOLDER...  [--out "
                 "FOLDER] [--optional]\n";
    return 1;
  }
  arguments.count *= TestScale();
  arguments.seed = TestSeed(arguments.seed);
  if (Result<std::string> found = oracle::FindOracle(); !found) {
    std::cerr << found.error().ToString() << "\n";
    return arguments.optional ? 77 : 4;
  }
  oracle::Session session;
  const Result<int> code = arguments.mode == "random" ? CompareRandom(session, arguments)
                                                      : CompareFolders(session, arguments);
  if (code) return *code;
  std::cerr << code.error().ToString() << "\n";
  return 4;
}
