// What the `frazil tri` commands share: a program of any field door, its assembly, and the machine's inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "frontends/field/field.h"
#include "targets/tasm/tasm.h"

namespace frazil::cli {

namespace mt = machines::tasm;

// Flags that say which program and what it reads.
struct TriOptions {
  std::string file;
  std::string function;             // a library function instead of main
  std::vector<uint64_t> sizes;      // its size arguments
  std::vector<std::string> search;  // folders with more modules
  std::vector<std::string> cfg;
  std::string profile = "dot";
  bool contracts = false;
  bool templates = false;
  bool callable = false;  // the function for other assembly to call, not a program
  bool first_on_top = false;
  std::vector<std::string> input;       // "1,2,3"
  std::vector<std::string> secret;      // "4,5", digests as "1:2:3:4:5"
  std::vector<std::string> ram;         // "17=5"
  uint64_t cycles = uint64_t{1} << 26;  // after so many the machine is stopped
};
void AddProgramOptions(CLI::App* command, TriOptions& options);
void AddInputOptions(CLI::App* command, TriOptions& options);

// Every error and warning of a text, in order.
struct TriNotes {
  std::vector<Error> errors;
  std::vector<Error> warnings;
  std::vector<std::string> files;  // of a Trident program's functions
};
// All errors but the last are printed; the last is the command's. In JSON there is one document: the first, and how many
// more there are.
Error TakeLast(Session& session, std::vector<Error> errors);
// The text of a .tri or .tir file as a program; the error is the last of `notes.errors`, if there are any there.
Result<ir::Program> BuildTriIr(const TriOptions& options, std::string_view text,
                               const Limits& limits, TriNotes& notes);

struct TriProgram {
  std::string file;
  std::string source;                             // the file's text
  std::optional<ir::Program> ir;                  // absent for .tasm and .tir
  std::vector<std::string> files;                 // where each function of `ir` is written
  std::optional<targets::tasm::Lowered> lowered;  // absent for .tasm
  mt::Program assembly;
};
// .tri, .tir, .tasm, or anything else that ReadProgram takes. Errors but the last are printed here.
Result<TriProgram> LoadTri(Session& session, const TriOptions& options);
// Only as far as the IR; not for .tasm.
Result<ir::Program> LoadTriIr(Session& session, const TriOptions& options,
                              std::string* source = nullptr,
                              std::vector<std::string>* files = nullptr);

// What the flags say; where there are none, what the file's `// run: --input 1,2 --secret 3 -> 7` line says.
struct TriInputs {
  mt::Inputs machine;
  std::vector<exec::Value> hints;  // secret tokens and digests in the order given
  bool from_file = false;
  std::optional<std::vector<uint64_t>> expected;  // output named by the `// run:` line
};
// What the file's run line reads: where the lowering can choose, it decides by that, whatever a run is given.
std::vector<mt::Inputs> TypicalInputs(std::string_view source);
Result<TriInputs> ReadTriInputs(const TriOptions& options, std::string_view source);

// "1,2,-3"
Result<std::vector<uint64_t>> ParseElements(std::string_view text);
// What a claim with public input that the program does not read is worth.
std::string UnreadInput(uint64_t given, uint64_t unread);
// "1, 2, 3"
std::string PrintElements(const std::vector<uint64_t>& elements);
// The crash as a sentence, with the line of the source, and its exit code (tri_crash.cpp).
int ReportCrash(const Session& session, const TriProgram& program, const mt::Crash& crash,
                nlohmann::ordered_json json);

// tri_run.cpp, tri_build.cpp, tri_prove.cpp, tri_profile.cpp, tri_source.cpp: each adds its commands to `tri`.
void AddTriBuild(CLI::App& tri, Session& session);
void AddTriRun(CLI::App& tri, Session& session);
void AddTriProve(CLI::App& tri, Session& session);
void AddTriProfile(CLI::App& tri, Session& session);
void AddTriSource(CLI::App& tri, Session& session);

}  // namespace frazil::cli
