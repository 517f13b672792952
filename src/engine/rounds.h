// A site that is called again and again with the same arguments, to be watched while it sets; and one call of it beside the
// interpreter's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "exec/marshal.h"

namespace frazil::engine {

// How many calls trapped, and how. May be read while the calls go on.
class TrapCounts {
 public:
  void Add(int32_t status);  // of a call that trapped: 1 + ir::Trap
  uint64_t total() const;
  std::string Print(uint64_t calls) const;  // "12 of 500 calls: division by zero"

 private:
  std::array<std::atomic<uint64_t>, ir::TrapCount> traps_{};
};

// In rounds that double, so that a few lines tell of the whole run: after each one is told how many calls there were so far
// and what one of its calls took. Fails where the arguments are not the program's.
Result<void> CallInRounds(Site& site, const exec::LoweredCall& call, uint64_t calls,
                          TrapCounts& counts,
                          const std::function<void(uint64_t done, double ns_per_call)>& on_round);

// A sentence of an event without how much faster the calls became: one that traps has no result that could come sooner.
std::string WithoutSpeed(const std::string& sentence);

struct Comparison {
  bool same = false;     // or there is nothing to compare with
  bool trapped = false;  // either of them
  std::string sentence;  // "the interpreter's, bit for bit"
};
// The same arguments twice, each with memory of its own.
Result<Comparison> CompareWithInterpreter(Site& site, std::vector<exec::Value> for_site,
                                          std::vector<exec::Value> for_interpreter,
                                          const Limits& limits);

}  // namespace frazil::engine
