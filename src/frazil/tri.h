// Programs over the Goldilocks field for Triton VM, from C++: built, run, profiled, proved.
//
//   namespace tri = frazil::tri;
//   const tri::Built built = tri::Build({.file = "fibonacci.tri"}, {.input = {"10"}}).value();
//   built.assembly()         // what the gate let through
//   built.lowering           // the judge's word on it
//   built.trace.profile      // the heights of the machine's nine tables
//   built.cliff->Line()      // "rows above 2^8: 41 (processor); words to save: 30 (cascade)"
//
// What was lowered here is given out by Build alone, and only if the judge vouches for it and the admission rule lets it
// through (engine/admit.h). Proofs are made by the published machine, a program of its own (oracle/oracle.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "exec/target.h"
#include "ir/program.h"
#include "machines/tasm/fragment.h"
#include "machines/tasm/heights/bounds.h"
#include "machines/tasm/heights/cliff.h"
#include "oracle/oracle.h"
#include "verify/verdict.h"
#include "verify/verified.h"

namespace frazil::engine {
class Admitted;
}

namespace frazil::tri {

namespace mt = machines::tasm;

// --- which program ----------------------------------------------------------------------------------------------
struct Source {
  std::string
      file;  // .tri, .tir, .tasm, or anything else that sources/sources.h reads; words where there is no such file
  std::string function = {};             // a library function instead of main
  std::vector<uint64_t> sizes = {};      // its size arguments
  std::vector<std::string> search = {};  // folders with more modules
  std::vector<std::string> cfg = {};     // flags that hold for #[cfg(...)]
  bool contracts = false;                // requires and ensures become assertions
  mt::Profile profile = mt::Profile::Dot;
  bool callable = false;      // the function for other assembly to call, not a program
  bool first_on_top = false;  // of a callable: the first argument and the first result lie on top
};
Result<mt::Profile> ProfileNamed(std::string_view name);  // "dot", "horner"

// All that is said about a text, in order. Where there are errors, the last is what the function gives.
struct Notes {
  std::vector<Error> errors;
  std::vector<Error> warnings;
};

struct Options {
  Limits limits = {};
  uint64_t cycles = uint64_t{1} << 26;  // after so many the machine is stopped
  bool standard_input = false;          // the file "-" is standard input
  // What Build admitted is kept there, and found there again by everybody who would lower the same program: that saves time,
  // and never gives another assembly.
  bool use_store = true;
  std::string store = {};  // folder; empty: $FRAZIL_STORE, else the user's cache folder
  Notes* notes = nullptr;  // filled, if there is one
  // Told what begins ("running") and, by an empty text, that it is over.
  std::function<void(std::string_view what)> on_step = {};
};

// --- what it reads ----------------------------------------------------------------------------------------------
// As written: "1,2,-3"; secrets "4,5", a digest as "1:2:3:4:5"; RAM "17=5".
struct InputTexts {
  std::vector<std::string> input = {}, secret = {}, ram = {};
};
struct Inputs {
  mt::Inputs machine;
  std::vector<exec::Value> hints;                 // secret tokens and digests in the order given
  bool from_file = false;                         // by its run line
  std::optional<std::vector<uint64_t>> expected;  // the output that the run line names
};
// What the texts say; where there are none, what the file's `// run: --input 1,2 --secret 3 -> 7` line says.
Result<Inputs> ReadInputs(const InputTexts& texts, std::string_view source);
Result<std::vector<uint64_t>> ParseElements(std::string_view text);
// What the file's run line reads: where the lowering can choose, it decides by that, whatever a run is given.
std::vector<mt::Inputs> TypicalInputs(std::string_view source);

// --- where it stopped -------------------------------------------------------------------------------------------
struct CrashReport {
  mt::Crash crash;
  bool is_limit = false;  // of this run, not of the program
  std::string sentence;   // the trap, if the machine has no word of its own for it, and the crash
  std::optional<exec::TrapInfo> trap;  // of the IR; absent: a crash of assembly that somebody wrote
  uint32_t line = 0;                   // of the source; 0: unknown
  std::vector<std::string> files;      // that have such a line; more than one: nobody can tell
  std::string text;                    // of the line, where it is of the program's own file
};

// --- build ------------------------------------------------------------------------------------------------------
// Assembly that the admission rule let through; there is no other way to make one.
class Assembly {
 public:
  static Result<Assembly> Of(const engine::Admitted& admitted);

  const mt::Program& program() const { return program_; }
  const exec::TableHeights& cost() const;
  const verify::EvidencePair& evidence() const { return form_.evidence(); }
  verify::Verdict lowering() const;  // proved or tested

 private:
  Assembly(mt::Program program, verify::Verified<exec::CompiledForm> form)
      : program_(std::move(program)), form_(std::move(form)) {}
  mt::Program program_;
  verify::Verified<exec::CompiledForm> form_;
};
// Who judges it, for whoever asks the verifier himself. Once; further calls do nothing.
void RegisterAssemblyJudge();

enum class Standing : uint8_t {
  Admitted,  // judged, by this build or an earlier one
  Written,   // a .tasm file: it is its own source
  Proposal,  // lowered here, and judged by nobody
};

struct Built {
  std::optional<Assembly> admitted;     // absent: one of the others
  std::optional<mt::Program> written;   // what somebody wrote
  std::optional<mt::Program> proposal;  // what nobody judged, because that was asked for
  const mt::Program& assembly() const {
    return admitted ? admitted->program() : written ? *written : *proposal;
  }
  Standing standing() const {
    return admitted ? Standing::Admitted : written ? Standing::Written : Standing::Proposal;
  }
  std::optional<ir::Program> ir;            // absent for .tasm and .tir
  std::optional<verify::Verdict> lowering;  // of admitted assembly
  Inputs inputs;
  // Of a callable function nothing of this is there.
  mt::TraceResult trace;
  std::optional<mt::CliffReport> cliff;    // of a run that ended
  std::optional<mt::HeightBounds> bounds;  // of one that did not: what holds for every input
};
// Fails where the assembly is refuted, or where nobody can tell. `verify` false: nobody is asked, and what comes is a
// proposal, which is never kept.
Result<Built> Build(const Source& source, const InputTexts& inputs = {},
                    const Options& options = {}, bool verify = true);

// --- run --------------------------------------------------------------------------------------------------------
// Runs, profiles and proofs take the program's lowering: a function of source, options and compiler, and of nothing that
// happens to be in a store. They judge nothing; `standing` says whether Build did.
struct Ran {
  Standing standing = Standing::Proposal;
  mt::RunResult run;
  Inputs inputs;
  uint64_t unread =
      0;  // words of public input that the program left: no claim with them can be proved
  std::optional<CrashReport> crash;
  double milliseconds = 0;
};
Result<Ran> Run(const Source& source, const InputTexts& inputs = {}, const Options& options = {});
// "2 of 3 words of public input are never read; only a claim without them can be proved"
std::string UnreadInput(uint64_t given, uint64_t unread);

// One call of a function in assembly: what its caller would find afterwards.
struct CallStart {
  std::string label = {};            // empty: the first instruction
  std::vector<uint64_t> stack = {};  // top last
  bool sponge = false;               // initialized before
};
struct Called {
  mt::FragmentResult run;
  std::vector<uint64_t> stack;  // what it left, top last
  bool below_kept = false;      // what lay below is as it was
  std::optional<CrashReport> crash;
};
Result<Called> Call(const Source& source, const CallStart& start, const InputTexts& inputs = {},
                    const Options& options = {});

// A program of the IR with what it reads, for any other target. RAM has `ram_words` words there.
struct OffMachine {
  ir::Program program;
  std::vector<exec::Value> arguments;
  exec::RunContext context;
  Inputs inputs;
};
Result<OffMachine> TakeOffMachine(const Source& source, const InputTexts& inputs, int64_t ram_words,
                                  const Options& options = {});

// --- profile ----------------------------------------------------------------------------------------------------
struct Profiled {
  Standing standing = Standing::Proposal;
  mt::TraceResult trace;
  std::optional<CrashReport> crash;
};
Result<Profiled> Profile(const Source& source, const InputTexts& inputs = {},
                         const Options& options = {});
// The tables with rows of a function's own, in the order in which they are shown.
inline constexpr mt::Table ShownTables[] = {mt::Table::Processor, mt::Table::OpStack,
                                            mt::Table::Ram,       mt::Table::Hash,
                                            mt::Table::Cascade,   mt::Table::U32};
// A flame graph for each of them, as SVG.
std::string DrawRows(const mt::TraceResult& trace, std::string_view title);

// --- prove ------------------------------------------------------------------------------------------------------
struct ProofOptions {
  std::string file = {};                    // empty: the program's name with .proof
  uint64_t max_height = uint64_t{1} << 20;  // padded; a higher one is refused
};
struct Proof {
  Standing standing = Standing::Proposal;
  oracle::ProveAnswer answer;  // the claim, the proof's size, times
  std::string file;
  std::optional<CrashReport> crash;  // then there is no proof
};
Result<Proof> Prove(const Source& source, const InputTexts& inputs = {},
                    const ProofOptions& proof = {}, const Options& options = {});
// `program`: the claim must be about this one.
Result<oracle::VerifyAnswer> VerifyProof(const std::string& file,
                                         const std::optional<Source>& program = {},
                                         const Options& options = {});

// --- compare ----------------------------------------------------------------------------------------------------
// Does the second, a .tasm file, do what the first says? `fragments`: pieces that start on any stack.
Result<verify::Verdict> Compare(const Source& first, const std::string& second,
                                bool fragments = false, const Options& options = {});

// --- text -------------------------------------------------------------------------------------------------------
// Every error and warning of a Trident file; modules without `main` too.
Result<Notes> Check(const std::string& file, const std::vector<std::string>& search = {},
                    const Options& options = {});
struct Formatted {
  std::string text;  // in the one layout
  bool changed = false;
};
Result<Formatted> Format(const std::string& file, const Options& options = {});

struct TestResult {
  std::string name;
  std::optional<std::string> failure;  // what trapped
};
// The #[test] functions of a Trident file whose names contain `filter`, with contracts, one after the other on `target`.
Result<void> Test(const std::string& file, const std::vector<std::string>& search,
                  std::string_view filter, const exec::Target& target,
                  const std::function<void(const TestResult&)>& on_result,
                  const Options& options = {});

}  // namespace frazil::tri
