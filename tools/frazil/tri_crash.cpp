// Where a program stopped, for the user: the sentence with its place, and the line.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "tri.h"

namespace frazil::cli {
namespace {

void PrintCrash(const tri::CrashReport& report, Diag diag) {
  std::string head, tail;
  if (report.line != 0 && report.files.size() == 1)
    head = fmt::format("{}:{}: ", report.files[0], report.line);
  else if (report.line != 0)
    tail = fmt::format(", line {} of {}", report.line, fmt::join(report.files, " or of "));
  Say("frazil: {}error {}: the program stopped: {}{}\n", head, DiagId(diag), report.sentence, tail);
  constexpr size_t MostShown = 100;
  if (!report.text.empty())
    Say("  {} | {}{}\n", report.line, Printable(CutUtf8(report.text, MostShown)),
        report.text.size() > MostShown ? "..." : "");
}

}  // namespace

int ReportCrash(const Session& session, const tri::CrashReport& report,
                nlohmann::ordered_json json) {
  const mt::Crash& crash = report.crash;
  if (session.json) {
    json["crash"] = {{"kind", mt::CrashName(crash.kind)},
                     {"instruction", crash.instruction},
                     {"cycle", crash.cycle}};
    if (crash.error_id >= 0) json["crash"]["error_id"] = crash.error_id;
    if (report.trap)
      json["crash"]["trap"] = {{"kind", ir::TrapName(report.trap->kind)},
                               {"op", ir::Info(report.trap->op).mnemonic}};
    if (report.line != 0) {
      json["crash"]["line"] = report.line;
      json["crash"]["files"] = report.files;
    }
    PrintJson(json);
  } else {
    PrintCrash(report, report.is_limit ? Diag::LimitReached : Diag::Trapped);
  }
  return ExitCodeOf(report.is_limit ? ErrorClass::Limit : ErrorClass::User);
}

}  // namespace frazil::cli
