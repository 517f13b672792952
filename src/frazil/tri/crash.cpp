// Where a program stopped, in its own text. The machine knows an instruction, the instruction a line; which file the line
// is of is told by the functions of the IR, because a call that was written out has no name in the assembly any more.
#include <fmt/format.h>

#include <algorithm>

#include "frazil/tri/internal/program.h"
#include "targets/tasm/search.h"

namespace frazil::tri {
namespace {

struct Place {
  uint32_t line = 0;  // 0: unknown
  std::vector<std::string>
      files;  // in which such an instruction stands in that line; more than one: nobody can tell
};

std::vector<std::string> FilesWith(const Program& program, uint32_t line,
                                   std::optional<ir::Op> op) {
  std::vector<std::string> files;
  for (size_t i = 0; i < program.ir->functions.size(); ++i) {
    const std::string& file = i < program.files.size() ? program.files[i] : program.file;
    if (file.empty() || std::ranges::find(files, file) != files.end()) continue;
    const auto here = [&](const ir::Inst& inst) {
      return inst.location.line == line && (!op || inst.op == *op);
    };
    if (std::ranges::any_of(program.ir->functions[i].insts, here)) files.push_back(file);
  }
  return files;
}

// The trap of the IR that the crash is; null: a crash of assembly that somebody wrote.
const targets::tasm::TrapSite* SiteOf(const Program& program, const mt::Crash& crash) {
  if (!program.lowered) return nullptr;
  const auto site = program.lowered->traps.find(crash.instruction);
  return site == program.lowered->traps.end() ? nullptr : &site->second;
}

Place Locate(const Program& program, const mt::Crash& crash) {
  Place place;
  if (crash.instruction >= program.assembly.code.size()) return place;
  place.line = program.assembly.code[crash.instruction].location.line;
  if (program.admitted && !program.lowered) place.line = 0;  // a line of the assembly
  if (place.line == 0) return place;
  if (!program.ir) {
    place.files = {program.file};
    return place;
  }
  if (const auto* site = SiteOf(program, crash))
    place.files = FilesWith(program, place.line, site->op);
  if (place.files.empty()) place.files = FilesWith(program, place.line, std::nullopt);
  if (place.files.empty()) place.line = 0;
  return place;
}

std::string_view LineOf(std::string_view text, uint32_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}  // namespace

namespace {

// Assembly of the store has no lines. The search comes to the same program again, and knows.
void FindLines(Program& program) {
  if (!program.admitted || program.lowered) return;
  Result<targets::tasm::LowerSearch> search =
      targets::tasm::LowerSearch::Start(*program.ir, program.how);
  if (!search) return;
  while (const mt::Program* next = search->Next())
    search->Tell(targets::tasm::PriceOf(*next, program.how));
  for (targets::tasm::LowerSearch::Found& found : search->TakeFound()) {
    if (found.lowered.program.code != program.assembly.code) continue;
    program.assembly = found.lowered.program;
    program.lowered = std::move(found.lowered);
    return;
  }
}

}  // namespace

CrashReport Report(Program& program, const mt::Crash& crash) {
  FindLines(program);
  CrashReport report;
  report.crash = crash;
  report.is_limit = crash.kind == mt::CrashKind::Cycles || crash.kind == mt::CrashKind::Memory;
  report.sentence = crash.sentence;
  if (const auto* site = SiteOf(program, crash)) {
    report.trap = exec::TrapInfo{site->kind, site->op};
    // The machine has its own word for most traps; these stand for any.
    const bool vague = crash.kind == mt::CrashKind::AssertionFailed ||
                       crash.kind == mt::CrashKind::VectorAssertionFailed ||
                       crash.kind == mt::CrashKind::NotU32;
    if (vague && site->kind != ir::Trap::Assert)
      report.sentence = fmt::format("{}: {}", report.trap->ToString(), crash.sentence);
  }
  Place place = Locate(program, crash);
  report.line = place.line;
  report.files = std::move(place.files);
  if (report.line != 0 && report.files.size() == 1 && report.files[0] == program.file)
    report.text = LineOf(program.text, report.line);
  return report;
}

std::optional<CrashReport> Report(Program& program, const std::optional<mt::Crash>& crash) {
  if (!crash) return std::nullopt;
  return Report(program, *crash);
}

}  // namespace frazil::tri
