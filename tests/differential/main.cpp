// Random programs on every engine, against the interpreter, bit for bit. On a mismatch the program is made
// smaller and written to a file with a run line, and the exit code is 1.
//
//   differential --count 20000 --seed 1 --targets wasm,c-gcc [--size 12] [--unit 200] [--out FOLDER]
//   differential --tensors 1 --count 20000 --targets fused,offered,native-fused [--every 20]
//
// With --tensors the programs are graphs of tensor ops, on sizes of all kinds and on tensors that share their memory; with
// --every N only each N-th of them is for engines that compile.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/test_counts.h"
#include "differential/shrink.h"
#include "exec/meaning/interpreter.h"
#include "exec/random_arguments.h"
#include "generator/generator.h"
#include "generator/tensor_graph.h"
#include "ir/check/check.h"
#include "ir/text/text.h"
#include "support/damage.h"
#include "support/engine.h"
#include "support/run_line.h"

namespace frazil::tests {
namespace {

using exec::Value;

struct Options {
  uint64_t count = 1000;
  uint64_t seed = 1;
  uint32_t size = 12;
  uint64_t unit = 200;
  uint64_t tuples = 4;
  bool tensors = false;
  uint64_t every = 1;
  std::string out = ".";
  std::vector<std::string> targets;
};

struct Run {
  std::vector<Value> arguments;
  exec::RunContext context;
  std::vector<Value> arguments_after;
  exec::Outcome expected;
};

struct Totals {
  uint64_t programs = 0, runs = 0, traps = 0, mismatches = 0, refused = 0;
};

class Differential {
 public:
  explicit Differential(const Options& options) : options_(options) {}
  Result<void> Create();
  void RunUnit(uint64_t first, uint64_t count, bool metered);
  const Totals& totals() const { return totals_; }

 private:
  void RunOn(Engine& engine, const std::vector<ir::Program>& programs,
             const std::vector<std::vector<Run>>& runs, uint64_t first_seed, bool metered);
  void Report(Engine& engine, const ir::Program& program, const Run& run, uint64_t seed,
              bool metered, const std::string& difference);

  Options options_;
  std::vector<std::unique_ptr<Engine>> engines_;
  Totals totals_;
};

Result<void> Differential::Create() {
  for (const std::string& name : options_.targets) engines_.push_back(TRY(MakeEngine(name)));
  return {};
}

bool HasLoweredLoops(const ir::Program& program) {
  return std::any_of(
      program.functions.begin(), program.functions.end(), [](const ir::Function& function) {
        bool tensors =
            std::any_of(function.values.begin(), function.values.end(),
                        [](const ir::ValueInfo& value) { return value.type.is_tensor(); });
        return tensors ||
               std::any_of(function.insts.begin(), function.insts.end(), [](const ir::Inst& inst) {
                 return inst.op == ir::Op::Fold || inst.op == ir::Op::Barrier ||
                        inst.op == ir::Op::SpongeInit || inst.op == ir::Op::SpongeAbsorb ||
                        inst.op == ir::Op::SpongeSqueeze;
               });
      });
}

// One run in eight has rows beyond one vector, and one in fifty beyond one round of the 64 chains.
exec::ArgumentOptions TensorSizes(uint64_t seed) {
  const int64_t most = seed % 50 == 17 ? 70 : seed % 8 == 5 ? 18 : 5;
  return {.most_size = most, .shared_tensors = 30, .negative_sizes = 5};
}

bool Compiles(const Engine& engine) {
  return engine.name().starts_with("native") || engine.name().starts_with("c-") ||
         engine.name() == "wasm";
}

// Arguments, streams and, now and then, tight limits.
Run MakeRun(const ir::Program& program, uint64_t seed, bool metered, bool tensors) {
  Run run;
  run.arguments =
      exec::RandomArguments(program, seed, tensors ? TensorSizes(seed) : exec::ArgumentOptions{});
  run.context = exec::RandomContext(program, seed);
  // Long divisions of 4,096 bits in a loop of 2^14 take WASM ten seconds on a busy machine.
  run.context.limits.run_ms = 60'000;
  // Lowering replaces tensor ops and barriers by loops and scratch, and a sponge by a buffer, which draw on the limits
  // themselves.
  bool own_limits = !HasLoweredLoops(program);
  if (metered && own_limits) run.context.limits.fuel = seed % 41;
  if (metered && own_limits && seed % 3 == 0) run.context.limits.depth = seed % 5;
  if (metered && own_limits && seed % 7 == 0) run.context.limits.memory_bytes = 8 * (seed % 64);
  return run;
}

// Programs that were damaged may loop or allocate without end; such runs are left out.
void Bound(Limits& limits) {
  limits.fuel = std::min<uint64_t>(limits.fuel, 20'000);
  limits.memory_bytes = std::min<uint64_t>(limits.memory_bytes, 1 << 20);
  limits.run_ms = 2'000;
}
bool IsLimit(const exec::Outcome& outcome) {
  return outcome.trap && ir::IsLimit(outcome.trap->kind);
}

void Differential::RunUnit(uint64_t first, uint64_t count, bool metered) {
  std::vector<ir::Program> programs;
  std::vector<std::vector<Run>> runs;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    programs.push_back(options_.tensors
                           ? generator::GenerateTensorGraph({.seed = seed, .most = options_.size})
                           : generator::Generate({.seed = seed, .size = options_.size}));
    bool damaged = !options_.tensors && seed % 4 == 3;
    if (damaged) programs.back() = Damaged(programs.back(), seed);
    runs.emplace_back();
    for (uint64_t i = 0; i < options_.tuples; ++i) {
      Run run = MakeRun(programs.back(), seed * 1000 + i, metered, options_.tensors);
      run.arguments_after = exec::CopyValues(run.arguments);
      exec::RunContext bounded = run.context;
      if (damaged) Bound(bounded.limits);
      auto outcome = exec::Interpret(programs.back(), run.arguments_after, bounded);
      if (outcome && damaged && IsLimit(*outcome)) continue;
      // A read of another type than the rest of its stream: nobody could call that.
      if (!outcome && damaged && outcome.error().diag == Diag::WrongArgument) continue;
      if (!outcome) {
        ++totals_.mismatches;
        fmt::print("MISMATCH seed {}: interpreter: {}\n", seed, outcome.error().ToString());
        continue;
      }
      run.expected = std::move(*outcome);
      ++totals_.runs;
      totals_.traps += run.expected.trap.has_value();
      runs.back().push_back(std::move(run));
    }
  }
  totals_.programs += count;
  for (auto& engine : engines_) RunOn(*engine, programs, runs, first, metered);
}

std::string Difference(Engine& engine, const ir::Program& program, exec::Callable& callable,
                       const Run& run) {
  std::vector<Value> arguments = exec::CopyValues(run.arguments);
  auto outcome = callable.Run(arguments, run.context);
  // A launch that is not its business (on Triton VM a buffer that is given twice).
  if (!outcome && engine.may_refuse() && outcome.error().diag == Diag::Unsupported) return {};
  if (!outcome) return outcome.error().ToString();
  if (outcome->trap && !engine.leaves_memory() && arguments == run.arguments)
    arguments = run.arguments_after;
  return CompareOutcomes({program, run.arguments, run.context}, run.expected, run.arguments_after,
                         *outcome, arguments, engine.trap_detail(program));
}

void Differential::RunOn(Engine& engine, const std::vector<ir::Program>& programs,
                         const std::vector<std::vector<Run>>& runs, uint64_t first_seed,
                         bool metered) {
  const uint64_t every = Compiles(engine) ? options_.every : 1;
  std::vector<const ir::Program*> pointers;
  std::vector<size_t> places;
  for (size_t i = 0; i < programs.size(); ++i) {
    if ((first_seed + i) % every != 0) continue;
    pointers.push_back(&programs[i]);
    places.push_back(i);
  }
  std::vector<Prepared> all = engine.Prepare(pointers, metered);
  for (size_t k = 0; k < places.size(); ++k) {
    const size_t i = places[k];
    Prepared& prepared = all[k];
    if (!prepared && prepared.error().diag == Diag::Unsupported) {
      if (engine.may_refuse()) continue;
      ++totals_.refused;
      fmt::print("refused: seed {} on {}: {}\n", first_seed + i, engine.name(),
                 prepared.error().ToString());
      continue;
    }
    for (const Run& run : runs[i]) {
      std::string difference =
          prepared ? Difference(engine, programs[i], **prepared, run) : prepared.error().ToString();
      if (difference.empty()) continue;
      ++totals_.mismatches;
      Report(engine, programs[i], run, first_seed + i, metered, difference);
      break;
    }
  }
}

void Differential::Report(Engine& engine, const ir::Program& program, const Run& run, uint64_t seed,
                          bool metered, const std::string& difference) {
  fmt::print("MISMATCH seed {} on {}: {}\n", seed, engine.name(), difference.substr(0, 400));
  if (totals_.mismatches > 20) return;
  auto rerun = [&](const FailingRun& candidate, Run& again) {
    again = {candidate.arguments, run.context, exec::CopyValues(candidate.arguments), {}};
    // An edit may have made a loop endless.
    exec::RunContext bounded = again.context;
    Bound(bounded.limits);
    auto expected = exec::Interpret(candidate.program, again.arguments_after, bounded);
    if (!expected) return std::string();
    bool own_limit = bounded.limits.fuel == again.context.limits.fuel;
    if (IsLimit(*expected) && !own_limit) return std::string();
    again.expected = std::move(*expected);
    const ir::Program* pointer = &candidate.program;
    auto prepared = engine.Prepare(std::span(&pointer, 1), metered);
    if (!prepared[0]) return prepared[0].error().ToString();
    return Difference(engine, candidate.program, *prepared[0].value(), again);
  };
  Run again;
  FailingRun failing{program, run.arguments};
  std::string kind = rerun(failing, again);
  if (kind.empty()) {
    fmt::print("  (not alone: it takes the others of its unit)\n");
    return;
  }
  // A program that does not even compile is another failure than one that answers wrongly.
  bool is_error = kind.find("FRZ") != std::string::npos;
  auto fails = [&](const FailingRun& candidate) {
    Run ignored;
    std::string now = rerun(candidate, ignored);
    return !now.empty() && (now.find("FRZ") != std::string::npos) == is_error;
  };
  failing = Shrink(std::move(failing), fails, engine.name().starts_with("c-") ? 300 : 3000);
  std::string why = rerun(failing, again);
  std::filesystem::create_directories(options_.out);
  std::string path = fmt::format("{}/mismatch_{}_{}.frz", options_.out, engine.name(), seed);
  std::ofstream file(path);
  file << "// Found by differential testing, seed " << seed << ", on " << engine.name()
       << ".\n// run: "
       << PrintRunLine(failing.program, failing.arguments, again.context, again.expected,
                       again.arguments_after)
       << "\n"
       << ir::PrintText(failing.program);
  fmt::print("  smaller: {}\n  {}\n", path, why.substr(0, 400));
}

Options ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string flag = argv[i], value = argv[i + 1];
    auto number = [&] { return std::strtoull(value.c_str(), nullptr, 0); };
    if (flag == "--count") options.count = number();
    if (flag == "--seed") options.seed = number();
    if (flag == "--size") options.size = static_cast<uint32_t>(number());
    if (flag == "--unit") options.unit = number();
    if (flag == "--tuples") options.tuples = number();
    if (flag == "--tensors") options.tensors = number() != 0;
    if (flag == "--every") options.every = std::max<uint64_t>(1, number());
    if (flag == "--out") options.out = value;
    if (flag == "--targets") {
      std::stringstream list(value);
      for (std::string name; std::getline(list, name, ',');) options.targets.push_back(name);
    }
  }
  options.count *= TestScale();
  options.seed = TestSeed(options.seed);
  if (options.targets.empty())
    for (const std::string& name : EngineNames())
      if (name != "interp") options.targets.push_back(name);
  return options;
}

int Main(int argc, char** argv) {
  Options options = ReadOptions(argc, argv);
  fmt::print("seed {}, {} programs, targets {}\n", options.seed, options.count,
             fmt::join(options.targets, ","));
  Differential differential(options);
  if (auto created = differential.Create(); !created) {
    fmt::print("{}\n", created.error().ToString());
    return 1;
  }
  auto start = std::chrono::steady_clock::now();
  for (uint64_t done = 0, unit = 0; done < options.count; done += options.unit, ++unit) {
    // Every fourth unit counts fuel, but tensors take none, and what is fused takes some.
    differential.RunUnit(options.seed * 1'000'000 + done,
                         std::min(options.unit, options.count - done),
                         unit % 4 == 3 && !options.tensors);
    // A long run says where it is.
    if (unit % 100 == 99)
      fmt::print("{} programs, {} mismatches\n", differential.totals().programs,
                 differential.totals().mismatches);
  }
  const Totals& totals = differential.totals();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print(
      "seed {}: {} programs, {} runs ({} trapped), {} refused by an engine, {} mismatches, {:.1f} "
      "s\n",
      options.seed, totals.programs, totals.runs, totals.traps, totals.refused, totals.mismatches,
      seconds);
  return totals.mismatches == 0 && totals.programs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace frazil::tests

// A line is seen when it is printed, also if the run is stopped.
int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return frazil::tests::Main(argc, argv);
}
