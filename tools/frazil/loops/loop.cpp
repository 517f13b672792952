// frazil loop: a program called again and again, and what becomes of it: the product's heart, to look at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "arguments/typical.h"
#include "base/duration.h"
#include "cli.h"
#include "engine/engine.h"
#include "engine/rounds.h"
#include "timeline.h"

namespace frazil::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct LoopOptions {
  std::string file;
  std::vector<std::string> arguments;
  uint64_t calls = 200'000;
  uint64_t length = 4096;
  std::string store;
  bool no_store = false;
  bool no_compile = false;
  uint64_t hot_calls = 0;
};

// What there is to say at the end.
struct Ending {
  engine::SiteReport report;
  engine::Comparison comparison;
  const engine::TrapCounts* traps;
  std::string arguments;
  bool made_up;
  uint64_t calls;
};

int Tell(const Session& session, const Ending& ending, Timeline& timeline) {
  const auto& [report, comparison, traps, arguments, made_up, calls] = ending;
  const uint64_t trapped = traps->total();
  const int code = !comparison.same                     ? ExitCodeOf(ErrorClass::Internal)
                   : trapped != 0 || comparison.trapped ? ExitCodeOf(ErrorClass::User)
                                                        : 0;
  if (session.json) {
    PrintJson({{"signature", report.exact},
               {"state", dispatch::StateName(report.state)},
               {"arguments", arguments},
               {"made_up", made_up},
               {"calls", report.calls},
               {"traps", trapped},
               {"same_bits", comparison.same},
               {"answers", comparison.sentence},
               {"saved_ms", trapped == 0 ? report.saved_ms : 0.0},
               {"timeline", timeline.json()}});
    return code;
  }
  fmt::print("\n");
  PrintFact(session, "what", report.what);
  PrintFact(session, "since", report.since);
  PrintFact(session, "trust", report.trust);
  if (trapped != 0) PrintFact(session, "traps", traps->Print(calls));
  PrintFact(session, "saved",
            trapped == 0 ? report.saved : "nothing: a call that traps is not made faster");
  PrintFact(session, "answers", comparison.sentence);
  return code;
}

engine::EngineOptions EngineOptionsOf(const Session& session, const LoopOptions& options) {
  engine::EngineOptions engine;
  engine.use_store = !options.no_store;
  engine.store.directory = options.store;
  engine.compile = !options.no_compile;
  engine.hot_calls = options.hot_calls;
  engine.limits = session.limits;
  return engine;
}

Result<int> Loop(Session& session, const LoopOptions& options) {
  const ir::Program program = TRY(ReadProgramFile(options.file, session.limits));
  const ir::Function& entry = program.entry_function();
  const bool made_up = options.arguments.empty();
  const std::vector<exec::Value> arguments =
      made_up ? TRY(arguments::TypicalArguments(entry, options.length, session.limits))
              : TRY(ParseArguments(program, options.arguments, session.limits));
  const auto copy = [fresh = arguments::CopyArguments(arguments)] {
    return arguments::CopyArguments(fresh);
  };
  const exec::LoweredCall call = TRY(exec::LoweredCall::Create(program, arguments, session.limits));
  const std::string shown = arguments::ShowArguments(entry, arguments);

  Timeline timeline(session);
  engine::TrapCounts traps;
  const auto since = [start = Clock::now()] {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  if (!arguments.empty())
    timeline.Add(0, "arguments", fmt::format("{}{}", made_up ? "made up: " : "", shown));
  engine::EngineOptions engine_options = EngineOptionsOf(session, options);
  engine_options.on_event = [&](const engine::Event& event) {
    const std::string sentence = engine::Sentence(event);
    timeline.Add(since(), event, traps.total() == 0 ? sentence : engine::WithoutSpeed(sentence));
  };
  engine::Engine engine(std::move(engine_options));
  if (engine.store() != nullptr && !engine.store()->reason().empty())
    timeline.Add(0, "store", engine.store()->reason());
  const std::shared_ptr<engine::Site> site = TRY(engine.Load(program));
  TRY_VOID(engine::CallInRounds(
      *site, call, options.calls, traps, [&](uint64_t done, double ns_per_call) {
        timeline.Add(since(), dispatch::StateName(site->state()),
                     fmt::format("call {}: {} a call", done, PrintDuration(ns_per_call)));
      }));
  const engine::Comparison comparison =
      TRY(engine::CompareWithInterpreter(*site, copy(), copy(), session.limits));
  return Tell(session, {site->Report(), comparison, &traps, shown, made_up, options.calls},
              timeline);
}

}  // namespace

void AddLoop(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "loop", "call a program in a loop and watch it set",
                 "  frazil loop examples/saxpy.frz\n"
                 "  frazil loop examples/logistic.frz 3.9 0.5 1000 --calls 5000 --no-store");
  auto options = std::make_shared<LoopOptions>();
  command->add_option("file", options->file, "a program, as for run")->required();
  command->add_option("arguments", options->arguments,
                      "as for run; none: ordinary ones are made up and shown");
  command->add_option("--calls", options->calls, "how many calls")->capture_default_str();
  command->add_option("--n", options->length, "elements of made-up buffers and tensors")
      ->capture_default_str();
  command->add_option("--store", options->store, "folder of the store");
  command->add_flag("--no-store", options->no_store, "neither read nor write a store");
  command->add_flag("--no-compile", options->no_compile,
                    "only the interpreter, and what the store has");
  command->add_option("--hot-calls", options->hot_calls, "compile after so many calls; 0: by time")
      ->capture_default_str();
  SetBody(command, session, [&session, options] { return Loop(session, *options); });
}

}  // namespace frazil::cli
