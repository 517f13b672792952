// frazil loop: a program called again and again, and what becomes of it: the product's heart, to look at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/duration.h"
#include "cli.h"
#include "engine/engine.h"
#include "engine/fluid.h"
#include "exec/interpreter.h"
#include "ir/digest.h"
#include "ir/lower.h"

namespace frazil::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct LoopOptions {
  std::string file;
  std::vector<std::string> arguments;
  uint64_t calls = 200'000;
  int64_t length = 4096;
  std::string store;
  bool no_store = false;
  bool no_compile = false;
  uint64_t hot_calls = 0;
};

// Ordinary inputs, the same ones every time: buffers of `length` small numbers, `index` parameters that say so.
std::vector<exec::Value> TypicalArguments(const ir::Function& entry, int64_t length) {
  std::vector<exec::Value> values;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    const ir::Type element = type.element();
    auto number = [&](int64_t k) {
      return ir::IsFloat(element.scalar)
                 ? exec::Value::Float(element, 0.25 + static_cast<double>(k % 29) / 32)
                 : exec::Value::Int(element, 1 + k % 29);
    };
    if (!type.is_buffer()) {
      values.push_back(type.scalar == ir::Scalar::Index ? exec::Value::Int(type, length)
                                                        : number(i));
      continue;
    }
    auto memory = std::make_shared<exec::Memory>(element, length);
    for (int64_t k = 0; k < length; ++k) memory->Set(k, number(7 * k + i).scalar_words());
    exec::Value value = exec::Value::Buffer(std::move(memory));
    value.type = type;
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<exec::Value> CopyOf(std::span<const exec::Value> values) {
  std::vector<exec::Value> copies(values.begin(), values.end());
  for (exec::Value& value : copies) {
    if (value.memory == nullptr) continue;
    auto memory = std::make_shared<exec::Memory>(value.memory->element(), value.memory->length());
    std::memcpy(memory->data(), value.memory->data(), memory->size_bytes());
    value.memory = std::move(memory);
  }
  return copies;
}

// One call on fresh copies, on the site and on the interpreter: the same bits?
Result<bool> SameBits(engine::Site& site, std::span<const exec::Value> arguments) {
  const engine::CallLayout layout(site.entry());
  std::vector<exec::Value> ours = CopyOf(arguments);
  std::vector<uint64_t> results(layout.result_words());
  const int32_t status = site.Call(layout.Words(ours).data(), results.data());
  std::vector<exec::Value> theirs = CopyOf(arguments);
  const ir::Program lowered = TRY(ir::LowerTensors(site.program()));
  const exec::Outcome outcome = TRY(exec::Interpret(lowered, theirs));
  if (outcome.trap) return status == 1 + static_cast<int32_t>(outcome.trap->kind);
  if (status != 0) return false;
  size_t at = 0;
  for (const exec::Value& result : outcome.results) {
    for (const uint64_t word : result.scalar_words()) {
      if (results[at++] != word) return false;
    }
  }
  return ours == theirs;
}

class Timeline {
 public:
  explicit Timeline(const Session& session) : session_(session) {}
  void Add(double ms, std::string_view what, std::string_view sentence) {
    std::lock_guard lock(mutex_);
    json_.push_back({{"ms", ms}, {"what", what}, {"sentence", sentence}});
    if (!session_.json) fmt::print("{:10.2f} ms  {:<9} {}\n", ms, what, sentence);
  }
  nlohmann::ordered_json& json() { return json_; }

 private:
  const Session& session_;
  std::mutex mutex_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
};

// Calls in rounds that double, so that a few lines tell of the whole run.
void CallAll(engine::Site& site, const std::vector<uint64_t>& words, uint64_t calls,
             Clock::time_point start, Timeline& timeline) {
  std::vector<uint64_t> results(engine::CallLayout(site.entry()).result_words() + 1);
  uint64_t done = 0;
  for (uint64_t round = 1; done < calls; round *= 2) {
    const uint64_t count = std::min(round, calls - done);
    const auto begin = Clock::now();
    for (uint64_t i = 0; i < count; ++i) site.Call(words.data(), results.data());
    const auto end = Clock::now();
    done += count;
    timeline.Add(
        std::chrono::duration<double, std::milli>(end - start).count(),
        dispatch::StateName(site.state()),
        fmt::format("call {}: {} a call", done,
                    PrintDuration(std::chrono::duration<double, std::nano>(end - begin).count() /
                                  static_cast<double>(count))));
  }
}

Result<int> Loop(Session& session, const LoopOptions& options) {
  const ir::Program program = TRY(ReadProgramFile(options.file, session.limits));
  Timeline timeline(session);
  const auto start = Clock::now();
  engine::EngineOptions engine_options;
  engine_options.use_store = !options.no_store;
  engine_options.store.directory = options.store;
  engine_options.compile = !options.no_compile;
  engine_options.hot_calls = options.hot_calls;
  engine_options.limits = session.limits;
  engine_options.on_event = [&](const engine::Event& event) {
    timeline.Add(std::chrono::duration<double, std::milli>(Clock::now() - start).count(),
                 event.verb, event.sentence);
  };
  engine::Engine engine(std::move(engine_options));
  if (engine.store() != nullptr && !engine.store()->reason().empty())
    timeline.Add(0, "store", engine.store()->reason());
  const std::shared_ptr<engine::Site> site = TRY(engine.Load(program));
  std::vector<exec::Value> arguments =
      options.arguments.empty() ? TypicalArguments(site->entry(), options.length)
                                : TRY(ParseArguments(program, options.arguments, session.limits));
  const engine::CallLayout layout(site->entry());
  const std::vector<exec::Value> fresh = CopyOf(arguments);
  CallAll(*site, layout.Words(arguments), options.calls, start, timeline);
  const bool same = TRY(SameBits(*site, fresh));
  const engine::SiteReport report = site->Report();
  if (session.json) {
    PrintJson({{"signature", report.exact},
               {"state", dispatch::StateName(report.state)},
               {"calls", report.calls},
               {"same_bits", same},
               {"saved_ms", report.saved_ms},
               {"timeline", timeline.json()}});
    return same ? 0 : 70;
  }
  fmt::print("\n");
  PrintFact(session, "what", report.what);
  PrintFact(session, "since", report.since);
  PrintFact(session, "trust", report.trust);
  PrintFact(session, "saved", report.saved);
  PrintFact(session, "answers", same ? "the interpreter's, bit for bit" : "NOT the interpreter's");
  return same ? 0 : 70;
}

}  // namespace

void AddLoop(CLI::App& app, Session& session) {
  CLI::App* command =
      AddCommand(app, "loop", "call a program in a loop and watch it set",
                 "  frazil loop examples/saxpy.frz\n"
                 "  frazil loop examples/logistic.frz 3.9 0.5 1000 --calls 5000 --no-store");
  auto options = std::make_shared<LoopOptions>();
  command->add_option("file", options->file, "a .frz file, or - for standard input")->required();
  command->add_option("arguments", options->arguments,
                      "as for run; none: ordinary ones are made up");
  command->add_option("--calls", options->calls, "how many calls")->capture_default_str();
  command->add_option("--n", options->length, "length of made-up buffers")->capture_default_str();
  command->add_option("--store", options->store, "folder of the store");
  command->add_flag("--no-store", options->no_store, "neither read nor write a store");
  command->add_flag("--no-compile", options->no_compile,
                    "only the interpreter, and what the store has");
  command->add_option("--hot-calls", options->hot_calls, "compile after so many calls; 0: by time")
      ->capture_default_str();
  SetBody(command, session, [&session, options] { return Loop(session, *options); });
}

}  // namespace frazil::cli
