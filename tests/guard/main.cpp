// guard_test FOLDER [--record]: compares with FOLDER/table.txt, or writes it anew. Whoever records explains why.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "guard.h"

namespace frazil::guard {
namespace {

// Sizes are the same on every machine; what may differ is what a change meant to differ.
constexpr double MostSizeChange = 0.10;
// A multiple of something timed in the same run still moves with caches and neighbors.
constexpr double MostTimeGrowth = 0.4;
constexpr double MostDispatch = 8;
constexpr double MostCodeBytes = 20'000;

class Checks {
 public:
  explicit Checks(std::string folder) : folder_(std::move(folder)) {}

  int Compare() {
    const Table recorded = Read();
    const Table emitted = Emitted(folder_);
    for (const auto& [name, now] : emitted) {
      const auto row = recorded.find(name);
      if (row == recorded.end() || row->second.size() != 2) {
        Fail(fmt::format("row '{}' is not in the table", name));
        continue;
      }
      CompareSize(name, "instructions for LLVM", now[0], row->second[0]);
      CompareSize(name, "bytes of code", now[1], row->second[1]);
      if (now[1] > MostCodeBytes)
        Fail(fmt::format("row '{}': {} bytes of code, and {} are allowed", name, now[1],
                         MostCodeBytes));
    }
    const Table times = CompileTimes(folder_);
    for (const auto& [name, now] : times) {
      const auto row = recorded.find(name);
      if (row == recorded.end() || row->second.empty()) {
        Fail(fmt::format("row '{}' is not in the table", name));
        continue;
      }
      fmt::print("{}: {:.2f} ms, {:.2f} times the yardstick ({:.2f} recorded)\n", name, now[1],
                 now[0], row->second[0]);
      if (now[0] > row->second[0] * (1 + MostTimeGrowth))
        Fail(fmt::format("row '{}': {:.2f} times the yardstick, {:.2f} recorded", name, now[0],
                         row->second[0]));
    }
    for (const auto& [name, values] : recorded)
      if (!emitted.contains(name) && !times.contains(name))
        Fail(fmt::format("row '{}' of the table has no program", name));
    const double dispatch = DispatchOverhead();
    fmt::print("a call through a slot takes {:.1f} plain calls more\n", dispatch);
    if (dispatch > MostDispatch)
      Fail(
          fmt::format("a call through a slot takes {:.1f} plain calls more than a plain one, "
                      "and {} are allowed",
                      dispatch, MostDispatch));
    if (failures_ > 0)
      fmt::print("If that is meant, record the table anew: guard_test {} --record\n", folder_);
    return failures_ == 0 ? 0 : 1;
  }

  int Record() const {
    std::ofstream file(folder_ + "/table.txt");
    file << "# What guard_test compares with; written by guard_test --record.\n"
            "# program level form: instructions for LLVM, bytes of code\n";
    for (const auto& [name, now] : Emitted(folder_))
      file << fmt::format("{}: {} {}\n", name, now[0], now[1]);
    file << "# multiples of the time that yardstick.ll takes\n";
    for (const auto& [name, now] : CompileTimes(folder_))
      file << fmt::format("{}: {:.2f}\n", name, now[0]);
    return file.good() ? 0 : 1;
  }

 private:
  void Fail(const std::string& sentence) {
    ++failures_;
    fmt::print("FAILED: {}\n", sentence);
  }

  void CompareSize(const std::string& name, const char* what, double now, double recorded) {
    const double change = now / recorded - 1;
    if (std::abs(change) <= MostSizeChange) return;
    Fail(fmt::format("row '{}': {} {}, recorded {} ({:+.0f} %)", name, now, what, recorded,
                     100 * change));
  }

  Table Read() const {
    Table table;
    std::ifstream file(folder_ + "/table.txt");
    for (std::string line; std::getline(file, line);) {
      const size_t colon = line.find(": ");
      if (line.starts_with("#") || colon == std::string::npos) continue;
      std::istringstream numbers(line.substr(colon + 2));
      for (double number; numbers >> number;) table[line.substr(0, colon)].push_back(number);
    }
    return table;
  }

  std::string folder_;
  int failures_ = 0;
};

}  // namespace
}  // namespace frazil::guard

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--record")) {
    fmt::print(stderr, "guard_test FOLDER [--record]\n");
    return 64;
  }
  frazil::guard::Checks checks(argv[1]);
  return argc == 3 ? checks.Record() : checks.Compare();
}
