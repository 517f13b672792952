// frazil verify for Triton VM assembly: two .tasm files, or anything that has assembly against a .tasm file.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tri.h"
#include "verify/tasm/tasm.h"
#include "verify_tasm.h"

namespace frazil::cli {
namespace {

namespace vt = verify::tasm;

constexpr int ExitRefuted = 2;
constexpr int ExitUnknown = 3;

// "--input 1,2 --secret 3,4:5:6:7:8 --ram 9=1": what `frazil tri run` takes.
std::string Flags(const mt::Inputs& inputs) {
  std::string flags;
  if (!inputs.input.empty()) flags += fmt::format(" --input {}", fmt::join(inputs.input, ","));
  std::vector<std::string> secret;
  for (uint64_t element : inputs.secret) secret.push_back(std::to_string(element));
  for (const mt::Digest& digest : inputs.digests)
    secret.push_back(fmt::format("{}", fmt::join(digest, ":")));
  if (!secret.empty()) flags += fmt::format(" --secret {}", fmt::join(secret, ","));
  std::vector<std::string> ram;
  for (const auto& [address, value] : inputs.ram)
    ram.push_back(fmt::format("{}={}", address, value));
  if (!ram.empty()) flags += fmt::format(" --ram {}", fmt::join(ram, ","));
  // No flag at all would mean the file's run line.
  return flags.empty() ? " --input ''" : flags;
}

Result<mt::Program> ReadAssembly(const std::string& file, const Limits& limits,
                                 mt::Profile profile) {
  return mt::Parse(TRY(ReadFile(file, limits)), profile, file);
}

Result<vt::Answer> Judge(Session& session, const TasmVerification& files) {
  const mt::Profile profile = files.horner ? mt::Profile::Horner : mt::Profile::Dot;
  vt::Options options;
  options.fragments = files.fragments;
  options.milliseconds = session.limits.verify_ms;
  const mt::Program candidate = TRY(ReadAssembly(files.second, session.limits, profile));
  if (files.first.ends_with(".tasm"))
    return vt::Compare(TRY(ReadAssembly(files.first, session.limits, profile)), candidate, options);
  if (files.first.ends_with(".tir"))
    return vt::Compare(
        TRY(machines::tir::Parse(TRY(ReadFile(files.first, session.limits)), files.first)),
        candidate, options);
  TriOptions source;
  source.file = files.first;
  return vt::Compare(TRY(LoadTriIr(session, source)), candidate, options);
}

}  // namespace

Result<int> VerifyTasm(Session& session, const TasmVerification& files) {
  const auto start = std::chrono::steady_clock::now();
  vt::Answer answer;
  {
    Progress progress(session, "comparing the two programs");
    answer = TRY(Judge(session, files));
  }
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const bool trusted =
      answer.kind == vt::Answer::Kind::Proved || answer.kind == vt::Answer::Kind::Algebraic;
  nlohmann::ordered_json json = {{"verdict", vt::AnswerName(answer.kind)}, {"milliseconds", ms}};
  if (trusted)
    json["evidence"] = {{"grade", verify::GradeName(answer.evidence.grade)},
                        {"judge", answer.evidence.judge},
                        {"detail", answer.evidence.detail}};
  if (!answer.reason.empty()) json["reason"] = answer.reason;
  if (!session.json) fmt::print("{}\n", Bold(session, vt::AnswerName(answer.kind)));
  if (answer.counterexample) {
    const std::string flags = Flags(answer.counterexample->inputs);
    json["difference"] = answer.counterexample->difference;
    if (files.fragments) json["stack"] = answer.counterexample->stack;
    json["run"] = {fmt::format("frazil tri run {}{}", files.first, flags),
                   fmt::format("frazil tri run {}{}", files.second, flags)};
    if (!session.json) {
      PrintFact(session, "difference", answer.counterexample->difference);
      if (files.fragments)
        PrintFact(session, "stack",
                  fmt::format("{}, top last", fmt::join(answer.counterexample->stack, " ")));
      for (const auto& line : json["run"])
        if (!files.fragments) PrintFact(session, "see", line.get<std::string>());
    }
  }
  if (session.json) {
    PrintJson(json);
  } else {
    if (trusted)
      PrintFact(
          session, "evidence",
          fmt::format("{}: {}", verify::GradeName(answer.evidence.grade), answer.evidence.detail));
    if (trusted) PrintFact(session, "judge", answer.evidence.judge);
    if (!answer.reason.empty()) PrintFact(session, trusted ? "remark" : "reason", answer.reason);
    PrintFact(session, "time", fmt::format("{:.1f} ms", ms));
  }
  if (answer.kind == vt::Answer::Kind::Refuted) return ExitRefuted;
  return trusted ? 0 : ExitUnknown;
}

}  // namespace frazil::cli
