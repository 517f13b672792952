#include "verify/tasm/runs/runs.h"

#include <fmt/format.h>

#include "base/deadline.h"
#include "base/number/goldilocks.h"
#include "base/sha256.h"
#include "ir/digest.h"
#include "machines/tasm/fragment.h"
#include "verify/internal/compare.h"
#include "verify/internal/ways.h"
#include "verify/tasm/compare.h"
#include "verify/tasm/runs/coverage.h"
#include "verify/tasm/runs/ram_use.h"
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
constexpr uint64_t LongRun = 16;
constexpr uint64_t MemoryWords = 1 << 22;
// How much is read is looked at on so many runs, and on each that is new.
constexpr uint64_t ReadsLookedAt = 64;
// So many words that are none of their type are tried.
constexpr uint64_t MostMisfits = 512;
// Inputs that could not be made or decided, for one that was.
constexpr uint64_t MostTries = 64;

std::string SeedText(const ir::Program& program, const mt::Program& assembly) {
  return Sha256Hex(ir::ExactDigest(program) + mt::Print(assembly) +
                   std::string(mt::ProfileName(assembly.profile)));
}

using Cells = std::unordered_map<uint64_t, uint64_t>;

struct Comparison {
  enum class Kind : uint8_t { Same, Different, Undecided };
  Kind kind = Kind::Undecided;
  std::string difference;
  bool trapped = false;
  bool endless = false;  // only the assembly did not end
  std::vector<uint8_t> ran;
  Cells found;  // in RAM, where it was read before it was written
  size_t inputs_read = 0, secrets_read = 0;
  exec::Choices choices;
};

bool IsLimit(const mt::FragmentResult& run) {
  return run.crash &&
         (run.crash->kind == mt::CrashKind::Cycles || run.crash->kind == mt::CrashKind::Memory);
}

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
        random_("starts " + seed_),
        machine_(assembly),
        claim_(program),
        samples_(program, prepared, claim_, assembly, seed_, deadline_),
        coverage_(assembly),
        ways_(prepared.program()) {
    if (claim_.ram()) ram_use_.emplace(program, *claim_.ram());
  }

  Verdict Run();

 private:
  // `ram`: what lies there where the call does not say it.
  Comparison Compare(const Input& input, const Ram& ram, bool look_at_reads);
  mt::FragmentResult OnMachine(const mt::Inputs& inputs, const Ram& ram, uint64_t cycles,
                               std::vector<uint8_t>& ran) const;
  // What the call says, and else `ram`; with a note of every cell that was asked for.
  Ram Noted(const Input& input, const Ram& ram, Cells& found) const {
    return [this, &input, &ram, &found](uint64_t address) {
      const std::optional<uint64_t> word = claim_.RamOf(input, address);
      return found[address] = word ? *word : ram(address);
    };
  }
  std::optional<exec::Outcome> Interpreted(const Input& input, exec::Choices* choices,
                                           std::vector<Value>& after, const Limits& limits) const;
  std::optional<std::string> ReadsDiffer(const Input& input, const mt::FragmentResult& run) const;
  Limits LongLimits() const;
  bool CompletesWith(Input input, size_t inputs, size_t hints) const;
  // True: there is a verdict.
  bool Try(const Input& input, bool is_typical);
  Verdict Conclude() const;
  Refuted Refute(const Input& input, Comparison comparison);
  // With one of the words that were read in a run that ended, changed into one that is none of its type.
  std::optional<Refuted> TryMisfit(const Input& input, const Ram& ram,
                                   const Comparison& comparison);

  const ir::Program& program_;
  const exec::InterpreterProgram& prepared_;
  const mt::Program& assembly_;
  const RunsOptions& options_;
  const Deadline deadline_;
  const std::string seed_;
  Random random_;
  const Machine machine_;
  const Claim claim_;
  std::optional<RamUse> ram_use_;
  Samples samples_;
  Coverage coverage_;
  const Ways ways_;
  exec::Choices seen_;
  uint64_t completed_ = 0, trapped_ = 0, undecided_ = 0;
  uint64_t in_vain_ = 0, misfits_ = 0;
  bool found_in_ram_ = false;  // the assembly read what it had not written
  std::optional<Verdict> verdict_;
};

mt::FragmentResult Judge::OnMachine(const mt::Inputs& inputs, const Ram& ram, uint64_t cycles,
                                    std::vector<uint8_t>& ran) const {
  ran.assign(assembly_.code.size(), 0);
  mt::FragmentStart start;
  start.found = ram;
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
  const std::optional<Start> bare = claim_.StartOf({input.arguments, {}, {}});
  if (!bare) return std::nullopt;
  words = bare->inputs.input.size();
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

Comparison Judge::Compare(const Input& input, const Ram& ram, bool look_at_reads) {
  Comparison result;
  const std::optional<Start> start = claim_.StartOf(input);
  if (!start) return result;
  const Ram noted = Noted(input, ram, result.found);
  mt::FragmentResult run = OnMachine(start->inputs, noted, Cycles, result.ran);
  std::vector<Value> after;
  std::optional<exec::Outcome> outcome =
      Interpreted(input, &result.choices, after, LimitsOf(Fuel, deadline_));
  const auto is_at_limit = [&] { return outcome->trap && ir::IsLimit(outcome->trap->kind); };
  if (outcome && is_at_limit() && !IsLimit(run) && in_vain_ < MostInVain) {
    outcome = Interpreted(input, &result.choices, after, LongLimits());
    in_vain_ += outcome && is_at_limit() ? 1 : 0;
  }
  if (!outcome || is_at_limit()) return result;
  // RAM has an end there that it does not have on the machine.
  if (ram_use_ && ram_use_->MayTrapThere(*outcome)) return result;
  if (IsLimit(run)) run = OnMachine(start->inputs, noted, LongRun * Cycles, result.ran);
  if (IsLimit(run)) {
    result.endless = !deadline_.Passed();
    return result;
  }
  result.inputs_read = run.inputs_read;
  result.secrets_read = run.secrets_read;
  result.trapped = outcome->trap.has_value();
  result.kind = Comparison::Kind::Different;
  if (run.crash && !outcome->trap) {
    MachineStart specific{start->inputs, {}, {}};
    specific.inputs.ram = result.found;
    if (claim_.has_ram() && !IsSpecified(program_, specific, Seed({seed_})))
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

Refuted Judge::Refute(const Input& input, Comparison comparison) {
  MachineStart from{claim_.StartOf(input)->inputs, {}, {}};
  from.inputs.ram = std::move(comparison.found);
  Refuted refuted{std::move(from), std::move(comparison.difference)};
  Shrink(refuted, [&](const MachineStart& start) -> std::optional<std::string> {
    const std::optional<Input> call = samples_.Call(start.inputs, false);
    if (!call) return std::nullopt;
    const Ram ram = [&](uint64_t address) {
      const auto cell = start.inputs.ram.find(address);
      return cell == start.inputs.ram.end() ? 0 : cell->second;
    };
    Comparison smaller = Compare(*call, ram, true);
    if (smaller.kind != Comparison::Kind::Different) return std::nullopt;
    return std::move(smaller.difference);
  });
  return refuted;
}

// What assembly has read in a run like the program's, the program has read as well: there it would trap.
std::optional<Refuted> Judge::TryMisfit(const Input& input, const Ram& ram,
                                        const Comparison& comparison) {
  std::optional<Start> start = claim_.StartOf(input);
  if (!start) return std::nullopt;
  mt::Inputs& inputs = start->inputs;
  std::vector<std::pair<uint64_t*, uint64_t>> words;  // that not every element can be, and the ends
  const auto add = [&](std::vector<uint64_t>& stream, const std::vector<uint64_t>& ends,
                       size_t read) {
    for (size_t i = 0; i < std::min(read, stream.size()); ++i)
      if (ends[i] != 0) words.emplace_back(&stream[i], ends[i]);
  };
  add(inputs.input, start->input_ends, comparison.inputs_read);
  add(inputs.secret, start->secret_ends, comparison.secrets_read);
  if (words.empty()) return std::nullopt;
  const auto [word, end] = words[misfits_ % words.size()];
  // The first beyond, the same in its low bits, one below zero, one whose double is small, any.
  const uint64_t misfits[] = {end,
                              *word + end,
                              *word + (uint64_t{1} << 32),
                              goldilocks::Sub(*word, end),
                              goldilocks::Add(*word, goldilocks::Invert(2)),
                              end + random_.Below(goldilocks::P - end)};
  *word = misfits[misfits_++ / words.size() % std::size(misfits)];
  const std::string name =
      fmt::format("{} is no {}", *word, end == 2 ? "bool" : fmt::format("number below {}", end));
  std::vector<uint8_t> ran;
  Cells found;
  const mt::FragmentResult run = OnMachine(inputs, Noted(input, ram, found), Cycles, ran);
  if (run.crash) return std::nullopt;
  inputs.input.resize(std::min(inputs.input.size(), run.inputs_read));
  inputs.secret.resize(std::min(inputs.secret.size(), run.secrets_read));
  inputs.digests.resize(std::min(inputs.digests.size(), run.digests_read));
  inputs.ram = std::move(found);
  return Refuted{MachineStart{std::move(inputs), {}, {}},
                 name + ", and the candidate does not crash"};
}

bool Judge::Try(const Input& input, bool is_typical) {
  const bool looks_at_reads = is_typical || completed_ < ReadsLookedAt;
  const Ram ram = ProversRam(random_.Next());
  Comparison comparison = Compare(input, ram, looks_at_reads);
  if (comparison.endless) {
    verdict_ = Unknown{
        fmt::format("the assembly had not ended after {} cycles where its program has ended",
                    Grouped(LongRun * Cycles))};
    return true;
  }
  if (comparison.kind == Comparison::Kind::Undecided) {
    ++undecided_;
    return false;
  }
  if (comparison.kind == Comparison::Kind::Different) {
    verdict_ = Refute(input, std::move(comparison));
    return true;
  }
  if (!comparison.trapped && misfits_ < MostMisfits)
    if (std::optional<Refuted> refuted = TryMisfit(input, ram, comparison)) {
      verdict_ = std::move(*refuted);
      return true;
    }
  found_in_ram_ |= !comparison.found.empty();
  (comparison.trapped ? trapped_ : completed_) += 1;
  const size_t missing = ways_.CountMissing(seen_);
  if (!comparison.trapped) seen_.Add(comparison.choices);
  const bool is_new =
      coverage_.Add(comparison.ran, comparison.trapped) || ways_.CountMissing(seen_) < missing;
  // Where code runs for the first time, how much it reads is looked at too.
  if (is_new && !comparison.trapped && !looks_at_reads) {
    comparison = Compare(input, ram, true);
    if (comparison.kind == Comparison::Kind::Different) {
      verdict_ = Refute(input, std::move(comparison));
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
    // Otherwise there is one for each RAM that a prover may choose.
    if (!found_in_ram_) return Proved{{Grade::Exhaustive, "interpreter", "the only run", 1}};
  }
  for (const mt::Inputs& inputs : options_.typical) {
    const std::optional<Input> input = samples_.Call(inputs, false);
    if (input && Try(*input, true)) return *verdict_;
  }
  Patience search(options_.search_ms);
  size_t ran = coverage_.ran();
  const uint64_t most = (options_.inputs + 1) * MostTries;
  for (uint64_t tries = 0; tries < most && !deadline_.Passed(); ++tries) {
    const bool enough = completed_ + trapped_ >= options_.inputs;
    if (enough && coverage_.IsComplete()) break;
    if (enough && search.Over()) break;
    const std::optional<Input> input = samples_.Next();
    if (input && Try(*input, false)) return *verdict_;
    if (coverage_.ran() == ran) continue;
    ran = coverage_.ran();
    search.Restart();
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
  const Result<exec::InterpreterProgram> prepared =
      exec::InterpreterProgram::Create(RamUse::WithPlaces(program));
  if (!prepared) return Unknown{prepared.error().message};
  return Judge(program, *prepared, assembly, options).Run();
}

}  // namespace frazil::verify::tasm
