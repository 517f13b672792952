// frazil loop: a program called again and again, and what becomes of it: the product's heart, to look at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/duration.h"
#include "cli.h"
#include "engine/engine.h"
#include "engine/fluid.h"
#include "exec/marshal.h"
#include "exec/meaning/interpreter.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "loop_arguments.h"

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

class Timeline {
 public:
  explicit Timeline(const Session& session) : session_(session) {}
  void Add(double ms, std::string_view what, std::string_view sentence) {
    Add({{"ms", ms}, {"what", what}, {"sentence", sentence}});
  }
  // The fields of an event, beside what people read.
  void Add(double ms, const engine::Event& event, const std::string& sentence) {
    nlohmann::ordered_json json = {
        {"ms", ms}, {"what", engine::VerbName(event.verb)}, {"sentence", sentence}};
    json["site"] = event.site;
    if (!event.who.empty()) json["who"] = event.who;
    if (!event.detail.empty()) json["detail"] = event.detail;
    for (const auto& [quantity, number] : event.numbers)
      json[std::string(engine::QuantityName(quantity))] = number;
    Add(std::move(json));
  }
  nlohmann::ordered_json& json() { return json_; }

 private:
  void Add(nlohmann::ordered_json json) {
    std::lock_guard lock(mutex_);
    if (!session_.json)
      fmt::print("{:10.2f} ms  {:<9} {}\n", json["ms"].get<double>(),
                 json["what"].get<std::string>(), json["sentence"].get<std::string>());
    json_.push_back(std::move(json));
  }

  const Session& session_;
  std::mutex mutex_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

// How many calls ended how. Read by the engine's thread while the calls go on.
struct Counts {
  std::array<std::atomic<uint64_t>, ir::TrapCount> traps{};

  uint64_t trapped() const {
    uint64_t sum = 0;
    for (const auto& count : traps) sum += count.load(std::memory_order_relaxed);
    return sum;
  }
  // "12 of 500 calls: division by zero"
  std::string Print(uint64_t calls) const {
    std::string kinds;
    for (size_t kind = 0; kind < traps.size(); ++kind) {
      if (traps[kind] == 0) continue;
      kinds +=
          fmt::format("{}{}", kinds.empty() ? "" : ", ", ir::TrapName(static_cast<ir::Trap>(kind)));
    }
    return fmt::format("{} of {} calls: {}", trapped(), calls, kinds);
  }
};

// Calls in rounds that double, so that a few lines tell of the whole run.
Result<void> CallAll(engine::Site& site, const exec::LoweredCall& call, uint64_t calls,
                     Clock::time_point start, Timeline& timeline, Counts& counts) {
  const engine::CallLayout layout(site.entry());
  const std::vector<uint64_t> words = layout.Words(call.arguments());
  std::vector<uint64_t> results(layout.result_words() + 1);
  uint64_t done = 0;
  for (uint64_t round = 1; done < calls; round *= 2) {
    const uint64_t count = std::min(round, calls - done);
    const auto begin = Clock::now();
    for (uint64_t i = 0; i < count; ++i) {
      const int32_t status = site.Call(words.data(), results.data());
      if (status == 0) continue;
      if (status == engine::LaunchFailed)
        return Fail(Diag::WrongArgument, engine::InterpreterFluid::LastLaunchError());
      counts.traps[static_cast<size_t>(status - 1)].fetch_add(1, std::memory_order_relaxed);
    }
    const auto end = Clock::now();
    done += count;
    timeline.Add(
        std::chrono::duration<double, std::milli>(end - start).count(),
        dispatch::StateName(site.state()),
        fmt::format("call {}: {} a call", done,
                    PrintDuration(std::chrono::duration<double, std::nano>(end - begin).count() /
                                  static_cast<double>(count))));
  }
  return {};
}

// One call on fresh copies, on the site and on the interpreter.
struct Comparison {
  bool same = false;
  bool trapped = false;
  std::string sentence;
};

Result<Comparison> CompareOnce(engine::Site& site, std::span<const exec::Value> arguments,
                               const Limits& limits) {
  const engine::CallLayout layout(site.entry());
  const exec::LoweredCall ours =
      TRY(exec::LoweredCall::Create(site.program(), CopyOf(arguments), limits));
  const exec::LoweredCall theirs =
      TRY(exec::LoweredCall::Create(site.program(), CopyOf(arguments), limits));
  std::vector<uint64_t> results(layout.result_words() + 1);
  const int32_t status = site.Call(layout.Words(ours.arguments()).data(), results.data());
  exec::RunContext context;
  context.limits = limits;
  const exec::Outcome outcome =
      TRY(exec::Interpret(TRY(ir::LowerTensors(site.program())), theirs.arguments(), context));
  if (outcome.trap) {
    const std::string trap = outcome.trap->ToString();
    if (status == 1 + static_cast<int32_t>(outcome.trap->kind))
      return Comparison{true, true, fmt::format("none: the interpreter traps too, {}", trap)};
    // Compiled code has neither fuel nor a clock: there is nothing to compare with.
    if (outcome.trap->kind == ir::Trap::Fuel)
      return Comparison{true, false,
                        "not compared: the interpreter takes longer than --timeout-ms"};
    return Comparison{false, true, fmt::format("NOT the interpreter's, which traps: {}", trap)};
  }
  bool same = status == 0 && std::ranges::equal(ours.arguments(), theirs.arguments());
  size_t at = 0;
  for (const exec::Value& result : outcome.results) {
    for (const uint64_t word : result.scalar_words()) same &= results[at++] == word;
  }
  return Comparison{same, status != 0,
                    same ? "the interpreter's, bit for bit" : "NOT the interpreter's"};
}

// A run that traps has no result that could come sooner.
std::string WithoutSpeed(std::string sentence) {
  static const std::regex speed("[0-9.]+ times as fast");
  return std::regex_replace(sentence, speed, "its calls trap");
}

Result<int> Loop(Session& session, const LoopOptions& options) {
  const ir::Program program = TRY(ReadProgramFile(options.file, session.limits));
  const ir::Function& entry = program.entry_function();
  const bool made_up = options.arguments.empty();
  const std::vector<exec::Value> arguments =
      made_up ? TRY(TypicalArguments(entry, options.length, session.limits))
              : TRY(ParseArguments(program, options.arguments, session.limits));
  const std::vector<exec::Value> fresh = CopyOf(arguments);
  const exec::LoweredCall call = TRY(exec::LoweredCall::Create(program, arguments, session.limits));
  const std::string shown = PrintArguments(entry, arguments);

  Timeline timeline(session);
  Counts counts;
  const auto start = Clock::now();
  if (!arguments.empty())
    timeline.Add(0, "arguments", fmt::format("{}{}", made_up ? "made up: " : "", shown));
  engine::EngineOptions engine_options;
  engine_options.use_store = !options.no_store;
  engine_options.store.directory = options.store;
  engine_options.compile = !options.no_compile;
  engine_options.hot_calls = options.hot_calls;
  engine_options.limits = session.limits;
  engine_options.on_event = [&](const engine::Event& event) {
    const std::string sentence = engine::Sentence(event);
    timeline.Add(std::chrono::duration<double, std::milli>(Clock::now() - start).count(), event,
                 counts.trapped() == 0 ? sentence : WithoutSpeed(sentence));
  };
  engine::Engine engine(std::move(engine_options));
  if (engine.store() != nullptr && !engine.store()->reason().empty())
    timeline.Add(0, "store", engine.store()->reason());
  const std::shared_ptr<engine::Site> site = TRY(engine.Load(program));
  TRY_VOID(CallAll(*site, call, options.calls, start, timeline, counts));
  const Comparison comparison = TRY(CompareOnce(*site, fresh, session.limits));
  const engine::SiteReport report = site->Report();
  const uint64_t trapped = counts.trapped();
  const int code = !comparison.same                     ? ExitCodeOf(ErrorClass::Internal)
                   : trapped != 0 || comparison.trapped ? ExitCodeOf(ErrorClass::User)
                                                        : 0;
  if (session.json) {
    PrintJson({{"signature", report.exact},
               {"state", dispatch::StateName(report.state)},
               {"arguments", shown},
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
  if (trapped != 0) PrintFact(session, "traps", counts.Print(options.calls));
  PrintFact(session, "saved",
            trapped == 0 ? report.saved : "nothing: a call that traps is not made faster");
  PrintFact(session, "answers", comparison.sentence);
  return code;
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
