// Runs every figure (or those whose name contains an argument), prints one table and writes results.json, to which
// bench/rows.py adds commit, date and machine.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "harness.h"

namespace frazil::bench {
namespace {

std::vector<std::pair<std::string, Figure>>& Figures() {
  static std::vector<std::pair<std::string, Figure>> figures;
  return figures;
}

std::vector<std::pair<std::string, Probe>>& Probes() {
  static std::vector<std::pair<std::string, Probe>> probes;
  return probes;
}

nlohmann::ordered_json& Records() {
  static auto records = nlohmann::ordered_json::array();
  return records;
}

std::string Short(double value) {
  return value == 0                                         ? "0"
         : std::abs(value) >= 1e5 || std::abs(value) < 1e-3 ? fmt::format("{:.3g}", value)
                                                            : fmt::format("{:.4g}", value);
}

void PrintTable() {
  fmt::print("{:<10} {:<52} {:>10} {:<14} {:>9}  {:<24} {}\n", "area", "figure", "ours", "unit",
             "ratio", "goal", "met");
  for (const auto& record : Records()) {
    std::string met = record["met"].is_null()     ? "- " + record.value("reason", "")
                      : record["met"].get<bool>() ? "yes"
                                                  : "NO";
    std::string ratio = record["ratio"].is_null() ? "" : Short(record["ratio"].get<double>());
    fmt::print("{:<10} {:<52} {:>10} {:<14} {:>9}  {:<24} {}\n", record["area"].get<std::string>(),
               record["figure"].get<std::string>(), Short(record["ours"].get<double>()),
               record["unit"].get<std::string>(), ratio, record["goal"].get<std::string>(), met);
  }
}

// Peers that bring OpenMP along take all cores unless they are told not to; ours are measured on one thread.
void KeepPeersToOneThread() {
  if (void* set = dlsym(RTLD_DEFAULT, "omp_set_num_threads"))
    reinterpret_cast<void (*)(int)>(set)(1);
}

}  // namespace

Registration::Registration(const char* name, Figure figure) {
  Figures().emplace_back(name, figure);
}

ProbeRegistration::ProbeRegistration(const char* name, Probe probe) {
  Probes().emplace_back(name, probe);
}

double FreshProcess(const char* probe) {
  std::string self = std::filesystem::canonical("/proc/self/exe");
  std::string command = fmt::format("'{}' --probe {}", self, probe);
  FILE* pipe = popen(command.c_str(), "r");
  double value = 0;
  bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &value) == 1;
  if (pipe != nullptr) pclose(pipe);
  CHECK(read);
  return value;
}

void Report(Record record) {
  nlohmann::ordered_json json = {{"area", record.area},
                                 {"figure", record.figure},
                                 {"ours", record.ours},
                                 {"unit", record.unit}};
  bool peer = !record.peer.empty();
  json["peer"] = peer ? nlohmann::ordered_json(record.peer) : nlohmann::ordered_json();
  json["peer_value"] = peer ? nlohmann::ordered_json(record.peer_value) : nlohmann::ordered_json();
  json["ratio"] = peer && record.peer_value != 0
                      ? nlohmann::ordered_json(record.ours / record.peer_value)
                      : nlohmann::ordered_json();
  json["goal"] = record.goal;
  json["met"] = record.met ? nlohmann::ordered_json(*record.met) : nlohmann::ordered_json();
  if (!record.reason.empty()) json["reason"] = record.reason;
  Records().push_back(json);
}

std::vector<Times> Interleave(const std::vector<std::function<void()>>& functions, int rounds) {
  std::vector<std::vector<double>> samples(functions.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < functions.size(); ++i) samples[i].push_back(Seconds(functions[i]));
  std::vector<Times> times;
  for (auto& list : samples) {
    std::sort(list.begin(), list.end());
    times.push_back({list.front(), list[list.size() / 2]});
  }
  return times;
}

int Main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--probe") {
    for (const auto& [name, probe] : Probes())
      if (name == argv[2]) fmt::print("{}\n", probe());
    return 0;
  }
  KeepPeersToOneThread();
  const std::filesystem::path output = "build/bench/results.json";
  std::filesystem::create_directories(output.parent_path());
  std::vector<std::string> filters(argv + 1, argv + argc);
  for (const auto& [name, figure] : Figures()) {
    bool wanted =
        filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const auto& filter) {
          return name.find(filter) != std::string::npos;
        });
    if (!wanted) continue;
    fmt::print(stderr, "bench: {}\n", name);
    const double seconds = Seconds(figure);
    fmt::print(stderr, "bench: {} took {:.1f} s\n", name, seconds);
    // Whatever comes of the next one, this was measured.
    std::ofstream(output) << Records().dump(2) << "\n";
  }
  PrintTable();
  return 0;
}

}  // namespace frazil::bench

int main(int argc, char** argv) { return frazil::bench::Main(argc, argv); }
