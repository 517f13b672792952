// frazil ask: a sentence in, an answer out, and every stage between them to look at.
#include "frazil/ask.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "ask.h"
#include "base/sha256.h"
#include "cli.h"
#include "ir/digest.h"

namespace frazil::cli {
namespace {

struct AskCommand {
  std::vector<std::string> text;
  AskOptions options;
  bool no_proof = false;
  bool lines = false;
};

// "41 32 41 0f 6b"
std::string SpacedHex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += (hex.empty() ? "" : " ") + Hex({&c, 1});
  return hex;
}

std::string ProofText(const Answer& answer) {
  if (answer.proof) return DescribeProof(*answer.proof);
  return answer.why_no_proof.empty() ? "" : "none: " + answer.why_no_proof;
}

std::vector<std::string> TraceLines(const Answer& answer) {
  std::vector<std::string> lines;
  for (const auto& [expression, value] : answer.trace)
    lines.push_back(fmt::format("Step {}: {} = {}", lines.size() + 1, expression, value));
  return lines;
}

std::string Indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = text.find('\n');
    out += "    " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

void PrintText(const Session& session, const Answer& answer) {
  fmt::print("{}\n", Bold(session, answer.text));
  for (const std::string& line : TraceLines(answer)) fmt::print("  {}\n", line);
  PrintFact(session, "canonical", answer.canonical);
  PrintFact(session, "operation", answer.operation);
  PrintFact(session, "type", answer.type);
  PrintFact(session, "signature", ir::ShortDigest(answer.digest));
  PrintFact(session, "target", answer.target);
  PrintFact(session, "evidence", DescribeEvidence(answer.evidence.lowering));
  if (const std::string proof = ProofText(answer); !proof.empty())
    PrintFact(session, "proof", proof);
  if (!answer.formula.empty())
    PrintFact(session, "formula",
              fmt::format("{} in closed form: {}, {}", answer.operation, answer.formula,
                          answer.formula_proof));
  if (!answer.wasm.empty()) PrintFact(session, "wasm body", SpacedHex(answer.wasm_body));
  PrintFact(session, "program", "");
  fmt::print("{}", Indented(answer.program));
}

Result<int> RunAsk(Session& session, AskCommand& command) {
  if (command.lines != command.text.empty()) {
    Error error{Diag::BadUsage, command.lines
                                    ? "--lines reads questions from standard input: give no text"
                                    : "text is required"};
    error.hint = "see frazil ask --help";
    return std::unexpected(std::move(error));
  }
  AskOptions& options = command.options;
  options.limits = session.limits;
  if (!command.no_proof) options.prover = MakeAnswerProver();
  if (command.lines) return AskLines(stdin, options);
  std::optional<Progress> progress;
  options.on_step = [&](std::string_view what) {
    progress.reset();
    if (!what.empty()) progress.emplace(session, std::string(what));
  };
  const Answer answer = TRY(Ask(fmt::format("{}", fmt::join(command.text, " ")), options));
  if (session.json)
    PrintJson(AnswerJson(answer));
  else
    PrintText(session, answer);
  return 0;
}

}  // namespace

nlohmann::ordered_json AnswerJson(const Answer& answer) {
  nlohmann::ordered_json json = {
      {"canonical", answer.canonical},
      {"operation", answer.operation},
      {"type", answer.type},
      {"program", answer.program},
      {"signature", answer.digest},
      {"target", answer.target},
      {"answer", answer.text},
      {"evidence",
       {{"meaning", answer.formula.empty() ? "as parsed" : answer.formula_proof},
        {"lowering", DescribeEvidence(answer.evidence.lowering)}}}};
  if (!answer.formula.empty()) json["formula"] = answer.formula;
  json["milliseconds"] = answer.milliseconds;
  if (!answer.wasm.empty()) {
    json["wasm"] = Hex(answer.wasm);
    json["body"] = SpacedHex(answer.wasm_body);
  }
  if (const std::string proof = ProofText(answer); !proof.empty()) json["proof"] = proof;
  if (!answer.trace.empty()) json["trace"] = TraceLines(answer);
  return json;
}

void AddAsk(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "ask", "answer a question in words, exactly",
                 "  frazil ask \"Sum 1 to 1000000\"\n"
                 "  frazil ask \"Sum 1 to 100\" --target tasm\n"
                 "  frazil ask \"16 - 3, then multiply by 5\" --trace\n"
                 "  frazil ask \"Each box holds 8 items. How many in 7 boxes?\" --json\n"
                 "  frazil ask --lines < questions.txt\n"
                 "Exit code of --lines: 0 if every line has an answer, else the greatest of the "
                 "lines'");
  auto options = std::make_shared<AskCommand>();
  command->add_option("text", options->text, "the question");
  OneOf(command->add_option("--target", options->options.target, "where it runs"), TargetNames())
      ->capture_default_str();
  command->add_flag("--no-proof", options->no_proof, "tasm: make no STARK proof of the answer");
  command->add_flag("--trace", options->options.trace, "show the steps of a chain");
  command->add_flag("--lines", options->lines,
                    "a question on each line of standard input; a line of JSON for each, with the "
                    "answer or the error");
  SetBody(command, session, [&session, options] { return RunAsk(session, *options); });
}

}  // namespace frazil::cli
