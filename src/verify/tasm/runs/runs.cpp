#include "verify/tasm/runs/runs.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "ir/digest.h"
#include "machines/tasm/fragment.h"
#include "verify/internal/compare.h"
#include "verify/internal/ways.h"
#include "verify/tasm/compare.h"
#include "verify/tasm/runs/coverage.h"
#include "verify/tasm/runs/samples.h"

namespace frazil::verify::tasm {
namespace {

using exec::Value;

constexpr uint64_t Fuel = 1 << 18;
// A loop pays for all its turns when it begins, and may trap in the first. Where the machine has ended, the interpreter
// is given as much fuel as there is, and so many milliseconds; so often in vain, and then no more.
constexpr uint64_t LongMs = 50;
constexpr uint64_t MostInVain = 8;
constexpr uint64_t Cycles = 1 << 20;
// A run that takes more where its program has ended is given so many times as much, once.
constexpr uint64_t Patience = 16;
constexpr uint64_t MemoryWords = 1 << 22;
// How much is read is looked at on so many runs, and on each that is new.
constexpr uint64_t ReadsLookedAt = 64;
// Inputs that could not be made or decided, for one that was.
constexpr uint64_t MostTries = 64;

std::string SeedText(const ir::Program& program, const mt::Program& assembly) {
  return Sha256Hex(ir::ExactDigest(program) + mt::Print(assembly) +
                   std::string(mt::ProfileName(assembly.profile)));
}

struct Comparison {
  enum class Kind : uint8_t { Same, Different, Undecided };
  Kind kind = Kind::Undecided;
  std::string difference;
  bool trapped = false;
  bool endless = false;  // only the assembly did not end
  std::vector<uint8_t> ran;
  exec::Choices choices;
};

class Judge {
 public:
  Judge(const ir::Program& program, const exec::InterpreterProgram& prepared,
        const mt::Program& assembly, const RunsOptions& options)
      : program_(program),
        prepared_(prepared),
        assembly_(assembly),
        options_(options),
        deadline_(Deadline::After(options.milliseconds)),
        seed_(SeedText(program, assembly)),
        machine_(assembly),
        claim_(program),
        samples_(program, prepared, claim_, assembly, seed_, deadline_),
        coverage_(assembly),
        ways_(prepared.program()) {}

  Verdict Run();

 private:
  Comparison Compare(const Input& input, bool look_at_reads);
  mt::FragmentResult OnMachine(const mt::Inputs& inputs, uint64_t cycles,
                               std::vector<uint8_t>& ran) const;
  std::optional<exec::Outcome> Interpreted(const Input& input, exec::Choices* choices,
                                           std::vector<Value>& after, const Limits& limits) const;
  std::optional<std::string> ReadsDiffer(const Input& input, const mt::FragmentResult& run) const;
  Limits LongLimits() const;
  bool CompletesWith(Input input, size_t inputs, size_t hints) const;
  // True: there is a verdict.
  bool Try(const Input& input, bool is_typical);
  Verdict Conclude() const;
  Refuted Refute(const Input& input, std::string difference);

  const ir::Program& program_;
  const exec::InterpreterProgram& prepared_;
  const mt::Program& assembly_;
  const RunsOptions& options_;
  const Deadline deadline_;
  const std::string seed_;
  const Machine machine_;
  const Claim claim_;
  Samples samples_;
  Coverage coverage_;
  const Ways ways_;
  exec::Choices seen_;
  uint64_t completed_ = 0, trapped_ = 0, undecided_ = 0;
  uint64_t in_vain_ = 0;
  std::optional<Verdict> verdict_;
};

mt::FragmentResult Judge::OnMachine(const mt::Inputs& inputs, uint64_t cycles,
                                    std::vector<uint8_t>& ran) const {
  ran.assign(assembly_.code.size(), 0);
  mt::FragmentStart start;
  start.stack = machine_.Stack();
  start.ran = &ran;
  mt::RunLimits limits;
  limits.cycles = cycles;
  limits.memory_words = MemoryWords;
  limits.deadline = deadline_;
  mt::FragmentResult run = mt::RunFragment(assembly_, start, inputs, limits);
  if (!run.crash && !run.halted)
    run.crash =
        mt::Crash{mt::CrashKind::InstructionPointer, static_cast<uint32_t>(assembly_.code.size()),
                  run.cycles, -1, "ran off the end of the program"};
  return run;
}

std::optional<exec::Outcome> Judge::Interpreted(const Input& input, exec::Choices* choices,
                                                std::vector<Value>& after,
                                                const Limits& limits) const {
  exec::RunContext context;
  context.input = input.input;
  context.hints = input.hints;
  context.limits = limits;
  context.choices = choices;
  after = exec::CopyValues(input.arguments);
  Result<exec::Outcome> outcome = prepared_.Run(after, context);
  if (!outcome) return std::nullopt;
  return std::move(*outcome);
}

// For what has not ended within the usual fuel.
Limits Judge::LongLimits() const {
  Limits limits = LimitsOf(Limits{}.fuel, deadline_);
  limits.run_ms = std::min(limits.run_ms, LongMs);
  return limits;
}

bool Judge::CompletesWith(Input input, size_t inputs, size_t hints) const {
  input.input.resize(inputs);
  input.hints.resize(hints);
  std::vector<Value> after;
  const std::optional<exec::Outcome> outcome = Interpreted(input, nullptr, after, LongLimits());
  return outcome && !outcome->trap;
}

// The interpreter does not say how much it has read: it must come to its end with what the machine read, and not with less.
std::optional<std::string> Judge::ReadsDiffer(const Input& input,
                                              const mt::FragmentResult& run) const {
  size_t words = 0, secrets = 0, digests = 0, inputs = 0, hints = 0;
  const std::optional<mt::Inputs> bare = claim_.Start({input.arguments, {}, {}});
  if (!bare) return std::nullopt;
  words = bare->input.size();
  while (inputs < input.input.size() && words < run.inputs_read)
    words += WordCount(input.input[inputs++].type);
  while (hints < input.hints.size() && (secrets < run.secrets_read || digests < run.digests_read)) {
    const ir::Type type = input.hints[hints++].type;
    if (type.scalar == ir::Scalar::Digest)
      ++digests;
    else
      secrets += WordCount(type);
  }
  const bool ends = words == run.inputs_read && secrets == run.secrets_read &&
                    digests == run.digests_read && CompletesWith(input, inputs, hints) &&
                    (inputs == 0 || !CompletesWith(input, inputs - 1, hints)) &&
                    (hints == 0 || !CompletesWith(input, inputs, hints - 1));
  if (ends || deadline_.Passed()) return std::nullopt;
  return fmt::format(
      "the assembly read {} inputs, {} secrets and {} digests, which is not what the program reads",
      run.inputs_read, run.secrets_read, run.digests_read);
}

Comparison Judge::Compare(const Input& input, bool look_at_reads) {
  Comparison result;
  const std::optional<mt::Inputs> inputs = claim_.Start(input);
  if (!inputs) return result;
  const auto is_limit = [](const mt::FragmentResult& run) {
    return run.crash &&
           (run.crash->kind == mt::CrashKind::Cycles || run.crash->kind == mt::CrashKind::Memory);
  };
  mt::FragmentResult run = OnMachine(*inputs, Cycles, result.ran);
  std::vector<Value> after;
  std::optional<exec::Outcome> outcome =
      Interpreted(input, &result.choices, after, LimitsOf(Fuel, deadline_));
  const auto is_at_limit = [&] { return outcome->trap && ir::IsLimit(outcome->trap->kind); };
  if (outcome && is_at_limit() && !is_limit(run) && in_vain_ < MostInVain) {
    outcome = Interpreted(input, &result.choices, after, LongLimits());
    in_vain_ += outcome && is_at_limit() ? 1 : 0;
  }
  if (!outcome || is_at_limit()) return result;
  // RAM has an end there that it does not have on the machine.
  const bool beyond_ram = claim_.has_ram() && outcome->trap &&
                          outcome->trap->kind == ir::Trap::OutOfBounds &&
                          outcome->trap->op != ir::Op::Input && outcome->trap->op != ir::Op::Hint;
  if (beyond_ram) return result;
  if (is_limit(run)) run = OnMachine(*inputs, Patience * Cycles, result.ran);
  if (is_limit(run)) {
    result.endless = !deadline_.Passed();
    return result;
  }
  result.trapped = outcome->trap.has_value();
  result.kind = Comparison::Kind::Different;
  if (run.crash && !outcome->trap) {
    if (claim_.has_ram() && !IsSpecified(program_, {*inputs, {}, {}}, Seed({seed_})))
      result.kind = Comparison::Kind::Undecided;
    result.difference = fmt::format("the candidate crashes: {}", run.crash->sentence);
    return result;
  }
  if (!run.crash && outcome->trap) {
    result.difference = fmt::format("the source traps: {}", outcome->trap->ToString());
    return result;
  }
  if (run.crash) {
    // It says that it stops, and that is what it was to say.
    if (run.crash->instruction < result.ran.size())
      result.ran[run.crash->instruction] |= mt::Ran::Was;
    result.kind = Comparison::Kind::Same;
    return result;
  }
  const std::optional<std::vector<uint64_t>> wanted = claim_.Output(*outcome, after);
  if (!wanted) {
    result.kind = Comparison::Kind::Undecided;
    return result;
  }
  const Ending program{{}, *wanted, run.inputs_read, run.secrets_read, run.digests_read};
  std::optional<std::string> difference = Difference(program, EndingOf(run));
  if (!difference && look_at_reads) difference = ReadsDiffer(input, run);
  if (difference) {
    result.difference = std::move(*difference);
    return result;
  }
  result.kind = Comparison::Kind::Same;
  return result;
}

Refuted Judge::Refute(const Input& input, std::string difference) {
  Refuted refuted{MachineStart{*claim_.Start(input), {}, {}}, std::move(difference)};
  Shrink(refuted, [&](const MachineStart& start) -> std::optional<std::string> {
    const std::optional<Input> call = samples_.Call(start.inputs, false);
    if (!call) return std::nullopt;
    Comparison comparison = Compare(*call, true);
    if (comparison.kind != Comparison::Kind::Different) return std::nullopt;
    return std::move(comparison.difference);
  });
  return refuted;
}

bool Judge::Try(const Input& input, bool is_typical) {
  const bool looks_at_reads = is_typical || completed_ < ReadsLookedAt;
  Comparison comparison = Compare(input, looks_at_reads);
  if (comparison.endless) {
    verdict_ = Unknown{
        fmt::format("the assembly had not ended after {} cycles where its program has ended",
                    Grouped(Patience * Cycles))};
    return true;
  }
  if (comparison.kind == Comparison::Kind::Undecided) {
    ++undecided_;
    return false;
  }
  if (comparison.kind == Comparison::Kind::Different) {
    verdict_ = Refute(input, std::move(comparison.difference));
    return true;
  }
  (comparison.trapped ? trapped_ : completed_) += 1;
  const size_t missing = ways_.CountMissing(seen_);
  if (!comparison.trapped) seen_.Add(comparison.choices);
  const bool is_new =
      coverage_.Add(comparison.ran, comparison.trapped) || ways_.CountMissing(seen_) < missing;
  // Where code runs for the first time, how much it reads is looked at too.
  if (is_new && !comparison.trapped && !looks_at_reads) {
    comparison = Compare(input, true);
    if (comparison.kind == Comparison::Kind::Different) {
      verdict_ = Refute(input, std::move(comparison.difference));
      return true;
    }
  }
  if (is_new || is_typical) samples_.Keep(input);
  return false;
}

Verdict Judge::Run() {
  if (samples_.IsOne()) {
    if (Try({}, true)) return *verdict_;
    if (completed_ + trapped_ == 0) return Unknown{"its one run comes to a limit"};
    return Proved{{Grade::Exhaustive, "interpreter", "the only run", 1}};
  }
  for (const mt::Inputs& inputs : options_.typical) {
    const std::optional<Input> input = samples_.Call(inputs, false);
    if (input && Try(*input, true)) return *verdict_;
  }
  Deadline search = Deadline::After(options_.search_ms);
  size_t ran = coverage_.ran();
  const uint64_t most = (options_.inputs + 1) * MostTries;
  for (uint64_t tries = 0; tries < most && !deadline_.Passed(); ++tries) {
    const bool enough = completed_ + trapped_ >= options_.inputs;
    if (enough && coverage_.IsComplete()) break;
    if (enough && search.Passed()) break;
    const std::optional<Input> input = samples_.Next();
    if (input && Try(*input, false)) return *verdict_;
    if (coverage_.ran() == ran) continue;
    ran = coverage_.ran();
    search = Deadline::After(options_.search_ms);
  }
  return Conclude();
}

Verdict Judge::Conclude() const {
  const uint64_t inputs = completed_ + trapped_;
  if (completed_ == 0)
    return Unknown{fmt::format("none of {} inputs lets the program come to its end",
                               Grouped(inputs + undecided_))};
  if (inputs < options_.inputs)
    return Unknown{fmt::format("only {} inputs were compared in the time allowed (--verify-ms)",
                               Grouped(inputs))};
  if (!coverage_.IsComplete()) return Unknown{coverage_.DescribeMissing(), /*has_unrun=*/true};
  const size_t all = ways_.count(), unseen = ways_.CountMissing(seen_);
  const std::string choices =
      all == 0 ? "" : fmt::format(", {} of {} ways of the program's choices", all - unseen, all);
  return Tested{
      {Grade::Sampled, "interpreter",
       fmt::format("{} inputs, {} completed, {} trapped{}, {}{}, seed {}", Grouped(inputs),
                   Grouped(completed_), Grouped(trapped_),
                   undecided_ == 0 ? "" : fmt::format(", {} undecided", Grouped(undecided_)),
                   coverage_.Describe(), choices, seed_.substr(0, 12)),
       inputs}};
}

}  // namespace

Verdict CompareRuns(const ir::Program& program, const mt::Program& assembly,
                    const RunsOptions& options) {
  const Result<exec::InterpreterProgram> prepared = exec::InterpreterProgram::Create(program);
  if (!prepared) return Unknown{prepared.error().message};
  return Judge(program, *prepared, assembly, options).Run();
}

}  // namespace frazil::verify::tasm
