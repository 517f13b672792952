// frazil ask: a sentence in, an answer out, and every stage between them to look at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "cli.h"
#include "exec/interpreter.h"
#include "frontends/words/words.h"
#include "ir/digest.h"
#include "ir/text.h"
#include "optimize/optimize.h"
#include "oracle_client.h"
#include "targets/tasm/tasm.h"
#include "targets/wasm/wasm.h"
#include "verify/verify.h"

namespace frazil::cli {
namespace {

namespace words = frontends::words;

// How far the interpreter goes along to judge an answer: some 100 ms of loop iterations.
constexpr uint64_t JudgeFuel = 2'000'000;

struct AskOptions {
  std::vector<std::string> text;
  std::string target = "wasm";
  bool trace = false;
  bool no_proof = false;
};

std::string ResultTypes(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  std::vector<std::string> names;
  for (ir::Type type : entry.results) names.push_back(ir::PrintType(entry, type));
  return names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
}

// The program has no inputs, so one run of it on the interpreter is all there is to compare.
std::string Judge(const std::string& target, const ir::Program& program,
                  const exec::Outcome& outcome, const Limits& limits) {
  if (target == "interp") return "the interpreter's own answer";
  exec::RunContext context;
  context.limits = limits;
  context.limits.fuel = std::min(limits.fuel, JudgeFuel);
  Result<exec::Outcome> expected = exec::Interpret(program, {}, context);
  if (!expected || (expected->trap && expected->trap->kind == ir::Trap::Fuel))
    return "none: too long for the interpreter to judge";
  bool same = expected->trap == outcome.trap && expected->results == outcome.results;
  return same ? "exhaustive: the interpreter gives the same" : "refuted: the interpreter differs";
}

// The most turns of a loop with constant bounds.
uint64_t MostTurns(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  auto constant = [&](ir::ValueId value) -> std::optional<int64_t> {
    const ir::InstId def = entry.values[value.index].def;
    if (!def.valid() || entry.inst(def).op != ir::Op::Const) return std::nullopt;
    return static_cast<int64_t>(entry.words_of(entry.inst(def))[0]);
  };
  uint64_t most = 0;
  for (const ir::Inst& inst : entry.insts) {
    if (inst.op != ir::Op::For) continue;
    const std::optional<int64_t> lo = constant(entry.operand(inst, 0)),
                                 hi = constant(entry.operand(inst, 1));
    if (!lo || !hi || *lo >= *hi) continue;
    most = std::max(most, (static_cast<uint64_t>(*hi) - static_cast<uint64_t>(*lo)) /
                              static_cast<uint64_t>(entry.word(inst, 0)));
  }
  return most;
}

// What runs: the program as read, or, where a loop is too long to be judged, the same without it, if that is proved.
struct Plan {
  ir::Program program;
  std::string formula;  // "n(n+1)/2"
  std::string proof;
};
Plan MakePlan(const ir::Program& program, const Limits& limits) {
  Plan plan{program, {}, {}};
  if (MostTurns(program) <= JudgeFuel) return plan;
  std::vector<std::string> formulas;
  optimize::OptimizeOptions options;
  options.notes = &formulas;
  Result<ir::Candidate> candidate = optimize::Optimize(program, limits, options);
  if (!candidate || formulas.empty()) return plan;
  const verify::Verdict verdict = verify::CheckCertificate(program, *candidate);
  if (!std::holds_alternative<verify::Proved>(verdict)) return plan;
  return {std::move(candidate->program), formulas[0], "proved by induction"};
}

// On Triton VM an answer comes with a STARK proof of it, where the prover is installed.
Result<std::string> ProveAnswer(const ir::Program& program, const exec::Outcome& outcome) {
  if (outcome.trap) return "none: a run that stops proves nothing";
  oracle::Job job{TRY(targets::tasm::Lower(program)).program, {}};
  oracle::Session machine;
  Result<oracle::ProveAnswer> proved = machine.Prove(job, "");
  if (!proved) return "none: " + proved.error().message;
  if (proved->run.crash)
    return Fail(Diag::Mismatch,
                "Triton VM crashes where the program does not: " + proved->run.crash->sentence);
  return fmt::format(
      "STARK of output {} at height {}, {:.0f} kB in {:.2f} s, verified in {:.0f} ms",
      fmt::join(proved->claim.output, " "), proved->padded_height,
      static_cast<double>(proved->proof_bytes) / 1000, proved->prove_seconds,
      proved->verify_seconds * 1000);
}

// "41 32 41 0f 6b"
std::string SpacedHex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += (hex.empty() ? "" : " ") + Hex({&c, 1});
  return hex;
}

Result<std::vector<std::string>> TraceLines(const words::Reading& reading, const Limits& limits) {
  std::vector<words::Step> steps = TRY(words::Trace(reading));
  std::vector<std::string> answers;
  std::vector<std::string> lines;
  exec::RunContext context;
  context.limits = limits;
  for (size_t i = 0; i < steps.size(); ++i) {
    exec::Outcome outcome = TRY(exec::Interpret(steps[i].program, {}, context));
    std::string text = words::PrintStep(reading, steps, i, answers);
    answers.push_back(TRY(words::PrintAnswer(steps[i].answer_kind, outcome)));
    lines.push_back(fmt::format("Step {}: {} = {}", i + 1, text, answers.back()));
  }
  return lines;
}

std::string Join(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, " "));
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

Result<int> Ask(Session& session, const AskOptions& options) {
  words::Reading reading = TRY(words::Parse(Join(options.text), session.limits));
  const exec::Target* target = TRY(FindTarget(options.target));
  exec::EmitOptions emit;
  emit.metered = session.limits.fuel != Limits().fuel;
  // A limit on fuel asks for the loops as they are written.
  const Plan plan =
      emit.metered ? Plan{reading.program, {}, {}} : MakePlan(reading.program, session.limits);
  exec::Artifact artifact = TRY(target->Emit(plan.program, emit));
  exec::RunContext context;
  context.limits = session.limits;
  exec::Outcome outcome;
  auto start = std::chrono::steady_clock::now();
  {
    Progress progress(session, fmt::format("running on {}", options.target));
    outcome = TRY(TRY(target->Load(artifact))->Run({}, context));
  }
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  std::string program = ir::PrintFunction(reading.program, reading.program.entry_function());
  nlohmann::ordered_json json = {{"canonical", reading.canonical},
                                 {"operation", reading.operation},
                                 {"type", ResultTypes(reading.program)},
                                 {"program", program},
                                 {"signature", ir::ExactDigest(reading.program)},
                                 {"target", options.target}};
  if (outcome.trap && ir::IsLimit(outcome.trap->kind))
    return ReportTrap(session, outcome, "", reading.program, json);
  std::string evidence = Judge(options.target, plan.program, outcome, session.limits);
  if (evidence.starts_with("refuted"))
    return Fail(Diag::Mismatch,
                fmt::format("{} and the interpreter disagree on this program; no answer is given",
                            options.target));
  std::string answer = TRY(words::PrintAnswer(reading, outcome));
  std::string proof;
  if (options.target == "tasm" && !options.no_proof) {
    Progress progress(session, "proving");
    proof = TRY(ProveAnswer(plan.program, outcome));
  }
  std::string module = options.target == "wasm" ? artifact.bytes : "";
  std::vector<std::string> trace;
  if (options.trace) trace = TRY(TraceLines(reading, session.limits));
  if (session.json) {
    json["answer"] = answer;
    json["evidence"] = {{"meaning", plan.proof.empty() ? "as parsed" : plan.proof},
                        {"lowering", evidence}};
    if (!plan.formula.empty()) json["formula"] = plan.formula;
    json["milliseconds"] = ms;
    if (!module.empty()) {
      json["wasm"] = Hex(module);
      json["body"] = SpacedHex(TRY(targets::wasm::FunctionBody(module, artifact.entry_symbol)));
    }
    if (!proof.empty()) json["proof"] = proof;
    if (options.trace) json["trace"] = trace;
    PrintJson(json);
    return 0;
  }
  fmt::print("{}\n", Bold(session, answer));
  for (const std::string& line : trace) fmt::print("  {}\n", line);
  PrintFact(session, "canonical", reading.canonical);
  PrintFact(session, "operation", reading.operation);
  PrintFact(session, "type", ResultTypes(reading.program));
  PrintFact(session, "signature", ir::ShortDigest(json["signature"].get<std::string>()));
  PrintFact(session, "target", options.target);
  PrintFact(session, "evidence", evidence);
  if (!proof.empty()) PrintFact(session, "proof", proof);
  if (!plan.formula.empty())
    PrintFact(
        session, "formula",
        fmt::format("{} in closed form: {}, {}", reading.operation, plan.formula, plan.proof));
  if (!module.empty())
    PrintFact(session, "wasm body",
              SpacedHex(TRY(targets::wasm::FunctionBody(module, artifact.entry_symbol))));
  PrintFact(session, "program", "");
  fmt::print("{}", Indented(program));
  return 0;
}

}  // namespace

void AddAsk(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "ask", "answer a question in words, exactly",
                 "  frazil ask \"Sum 1 to 1000000\"\n"
                 "  frazil ask \"Sum 1 to 100\" --target tasm\n"
                 "  frazil ask \"16 - 3, then multiply by 5\" --trace\n"
                 "  frazil ask \"Each box holds 8 items. How many in 7 boxes?\" --json");
  auto options = std::make_shared<AskOptions>();
  command->add_option("text", options->text, "the question")->required();
  OneOf(command->add_option("--target", options->target, "where it runs"), TargetNames())
      ->capture_default_str();
  command->add_flag("--no-proof", options->no_proof, "tasm: make no STARK proof of the answer");
  command->add_flag("--trace", options->trace, "show the steps of a chain");
  SetBody(command, session, [&session, options] { return Ask(session, *options); });
}

}  // namespace frazil::cli
