// The one benchmark harness. A figure is a function that measures ours, and its peer in the same run,
// interleaved; the table and build/bench/results.json are made from the records.
//
//   FRAZIL_FIGURE(text_reader) { Report({...}); }
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace frazil::bench {

enum class Goal { AtMost, AtLeast };

struct Record {
  std::string area;
  std::string figure;
  double ours = 0;
  std::string unit;
  std::string peer = {};  // who stands beside us, empty if nobody
  double peer_value = 0;
  std::string goal;         // as the document says it
  std::optional<bool> met;  // unset: not judged here, with the reason
  std::string reason = {};
};

void Report(Record record);

using Figure = void (*)();
struct Registration {
  Registration(const char* name, Figure figure);
};

// A probe is a measurement that must not find anything warm: FreshProcess runs it in a process of its own.
using Probe = double (*)();
struct ProbeRegistration {
  ProbeRegistration(const char* name, Probe probe);
};
double FreshProcess(const char* probe);

// Keeps the optimizer from dropping a value.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

struct Times {
  double min_s = 0;
  double median_s = 0;
};

// Runs the functions round by round, one after the other, so that they share the machine's moods.
std::vector<Times> Interleave(const std::vector<std::function<void()>>& functions, int rounds);

inline double Seconds(const std::function<void()>& function) {
  auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace frazil::bench

#define FRAZIL_PROBE(name)                                                          \
  static double Probe_##name();                                                     \
  static ::frazil::bench::ProbeRegistration probe_##name(#name, Probe_##name); \
  static double Probe_##name()

#define FRAZIL_FIGURE(name)                                                   \
  static void Figure_##name();                                                \
  static ::frazil::bench::Registration registration_##name(#name, Figure_##name); \
  static void Figure_##name()
