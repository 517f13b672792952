// Kernels compiled ahead of time: files with kernels become one C++ header with typed functions, one C++ file with their
// machine code in it, and files for other machines. What comes out links frazil::embed and nothing else of ours.
//
// Nothing is embedded without a verdict: the optimized program is verified against its source, every piece of machine
// code against the program, and what cannot be verified or compiled is named in the report with the reason.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "embed/cpu_level.h"
#include "verify/evidence.h"

namespace frazil::aot {

enum class Target : uint8_t { Native, Isa, Ptx, Wasm, C };
constexpr int TargetCount = 5;
std::string_view TargetName(Target target);  // "native"
// "native;isa;ptx", also with commas or spaces. Fails with UnknownTarget.
Result<std::vector<Target>> ParseTargets(std::string_view text);

struct BuildOptions {
  std::string out;               // folder of what is written; made if absent
  std::string name = "kernels";  // of the C++ namespace and of the files; a C++ identifier
  std::vector<Target> targets = {Target::Native, Target::Isa};
  std::string cache;     // the store that keeps finished work, by content; empty: the user's
  std::string depfile;   // if not empty: what the outputs were made from, for make and ninja
  bool programs = true;  // what is embedded carries the programs that an audit judges it by
  std::string python = "python3";
  int jobs = 0;  // processes at a time; 0: one for each core
  Limits limits;
};

// Bytes that one iteration of the outermost parallel reads and writes; `more`: loops whose length is not known count
// once.
struct Traffic {
  uint64_t bytes = 0;
  bool more = false;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct Refusal {
  std::string target;  // "native", "native avx512", "in pieces", "ptx"
  std::string reason;
};

// Machine code of one kernel, and why it may be called.
struct FormReport {
  std::string form;   // "plain", "in pieces", "trips", "isa", "wasm", "c", "ptx"; "plain, guarded"
  std::string level;  // of native code: "avx2"
  uint64_t bytes = 0;
  verify::Evidence evidence;
};

struct KernelReport {
  std::string name;
  std::string file;
  uint64_t ops_before = 0;  // instructions of the IR
  uint64_t ops_after = 0;
  uint64_t instructions = 0;  // of the portable ISA; 0: not lowered to it
  Traffic traffic_before;
  Traffic traffic_after;
  std::string evidence;      // "proved (replay), code sampled 4,352": of all code the least
  verify::Evidence meaning;  // of the candidate
  // Of the form that launches under a guard take; the ops and the traffic after are then that form's. "": there is none.
  std::string guard;
  verify::Evidence guarded_meaning;
  std::vector<FormReport> forms;                                 // of all that is embedded
  std::array<uint64_t, embed::CpuLevelCount> native_bytes = {};  // by level, both forms together
  uint64_t isa_bytes = 0;
  bool in_pieces = false;  // large launches are shared by threads
  double ms = 0;           // when it was compiled
  bool cached = false;
  std::vector<std::string> targets;  // what it was made for
  std::vector<Refusal> refusals;
};

struct Report {
  std::vector<KernelReport> kernels;   // in the order of the files
  std::vector<Error> errors;           // of files; then nothing was written
  std::vector<std::string> written;    // files whose content changed
  std::vector<std::string> outputs;    // all files
  std::vector<std::string> discarded;  // finished work that was found and not used: a sentence each
  double ms = 0;
};

// Files by their ending: .py, .json, .cir, .frz.
Result<Report> Build(std::span<const std::string> files, const BuildOptions& options);

// The table, the reasons below it, and a line of totals.
std::string PrintTable(const Report& report);

}  // namespace frazil::aot
