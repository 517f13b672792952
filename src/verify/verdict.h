// The answer to "do these two mean the same?", of programs of the IR, of code and of assembly alike. Unknown is never
// success.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "exec/outcome.h"
#include "machines/tasm/inputs.h"
#include "verify/evidence.h"

namespace frazil::verify {

struct Proved {
  Evidence evidence;  // grade exhaustive or proved
};
struct Tested {
  Evidence evidence;  // sampled or algebraic
  // Of programs: a judge who knows more came to a limit of fuel, memory or time, and may decide it with more of that.
  bool is_limited = false;
};

// A call of a program of the IR, and what the two made of it.
struct ProgramCall {
  std::vector<exec::Value> arguments;  // fresh copies, as before the call
  exec::RunContext context;            // input and hints
  exec::Outcome source;
  exec::Outcome candidate;
};
// A start of Triton VM.
struct MachineStart {
  machines::tasm::Inputs inputs;
  std::vector<uint64_t> stack;                     // of a fragment: top last
  std::optional<std::array<uint64_t, 16>> sponge;  // of a fragment; absent: not initialized
};
// Where the two differ: run them there and see.
struct Refuted {
  std::variant<ProgramCall, MachineStart> at;
  std::string difference;  // one sentence: "result 1: 7 against 8"

  const ProgramCall& call() const { return std::get<ProgramCall>(at); }
  const MachineStart& start() const { return std::get<MachineStart>(at); }
};

struct Unknown {
  // Of programs: more effort may decide it.
  static Unknown Limited(std::string reason) { return {std::move(reason), false, {}, true}; }

  std::string reason;
  bool has_unrun = false;   // of code: some of it ran under no sample
  Evidence compared = {};   // then: what the samples are worth for the code that did run
  bool is_limited = false;  // of programs: as Tested has it
};

using Verdict = std::variant<Proved, Tested, Refuted, Unknown>;
std::string_view VerdictName(const Verdict& verdict);  // "proved", "tested", "refuted", "unknown"
// "proved: equal canonical form", "sampled: 4,352 inputs", "refuted: result 1: 7 against 8", "unknown: out of time".
std::string Describe(const Verdict& verdict);

// Of Proved and Tested; null else.
const Evidence* EvidenceOf(const Verdict& verdict);
// What Refuted or Unknown says; empty else.
std::string WhyNot(const Verdict& verdict);
// More than samples: proved, or equal up to an error that is stated.
bool CallsEqual(const Verdict& verdict);
// More fuel, memory or time may lead to a better one.
bool IsLimited(const Verdict& verdict);

}  // namespace frazil::verify
