// Everything that does not depend on the mutation is made once, before the processes part: code as it should be, which
// mutations it depends on, inputs and their answers.
#include "search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

#include "inputs.h"
#include "mutants/selected.h"
#include "process.h"

namespace frazil::mutants {
namespace {

using exec::CpuLevel;
using Clock = std::chrono::steady_clock;

struct Input {
  Witness witness;
  Answer right;
};

struct Target {
  Form form;
  std::shared_ptr<const ir::Program> program;
  Code original;
  std::vector<bool> reached;
  std::shared_ptr<std::vector<Input>> inputs;
};

// Of the emitters that somebody asks about.
struct Kinds {
  bool native = false, wasm = false;
};

std::vector<Target> MakeTargets(const Programs& programs, const SearchOptions& options,
                                Kinds kinds) {
  std::vector<Target> targets;
  for (const auto& [name, entry] : programs.all()) {
    const InputMaker maker(*entry.program, entry.text);
    for (bool metered : {false, true}) {
      if (metered && !maker.has_fuel()) continue;
      std::shared_ptr<std::vector<Input>> inputs;
      for (const auto& [level, tuned, is_wasm] : {std::tuple{CpuLevel::Avx512, true, false},
                                                  {CpuLevel::Avx512, false, false},
                                                  {CpuLevel::Avx2, true, false},
                                                  {CpuLevel::Baseline, true, false},
                                                  {CpuLevel::Baseline, true, true}}) {
        if (!(is_wasm ? kinds.wasm : kinds.native)) continue;
        if (level > exec::HostLevel() || (metered && !tuned)) continue;
        Form form{name, level, tuned, is_wasm, metered ? std::optional<uint64_t>(0) : std::nullopt};
        std::fill(std::begin(reached), std::end(reached), false);
        Result<Code> image = Emit(*entry.program, form, 0);
        if (!image) {
          fmt::print(stderr, "{}: {}\n", form.Print(), image.error().ToString());
          continue;
        }
        if (inputs == nullptr) {
          inputs = std::make_shared<std::vector<Input>>();
          std::mt19937_64 random(std::hash<std::string>()(name));
          const auto start = Clock::now();
          while (inputs->size() < options.inputs &&
                 Clock::now() - start < std::chrono::seconds(4)) {
            Witness witness = maker.Make(random, metered);
            Result<Answer> right = RightAnswer(*entry.program, witness, *image);
            if (!right) {
              fmt::print(stderr, "{}: {}: {}\n", name, PrintWitness(witness),
                         right.error().ToString());
              break;
            }
            inputs->push_back({std::move(witness), std::move(*right)});
          }
          // Small ones first: they say the most to a reader.
          std::ranges::sort(*inputs, {}, [](const Input& input) {
            int64_t size = 0;
            for (const Recipe& recipe : input.witness.arguments)
              if (recipe.words.empty() && recipe.same < 0) size += recipe.length();
            return size;
          });
        }
        targets.push_back({form, entry.program, std::move(*image),
                           std::vector<bool>(std::begin(reached), std::end(reached)), inputs});
      }
    }
  }
  return targets;
}

class Searcher {
 public:
  Searcher(const std::vector<Target>& targets, const SearchOptions& options)
      : targets_(targets), options_(options) {}

  // "number verdict | witness | what is wrong", or "number none".
  std::string Find(int number) {
    std::vector<size_t> order;
    for (size_t i = 0; i < targets_.size(); ++i)
      if (targets_[i].reached[static_cast<size_t>(number)]) order.push_back(i);
    std::mt19937_64 random(static_cast<uint64_t>(number));
    std::shuffle(order.begin(), order.end(), random);
    order.resize(std::min(order.size(), options_.most_forms));
    const auto start = Clock::now();
    std::string best;
    size_t found = 0;
    for (size_t at = 0; at < order.size() && found < options_.forms;) {
      if (std::chrono::duration<double>(Clock::now() - start).count() > options_.most_seconds)
        break;
      const ChildEnd end = RunChild([&](const Tell& tell) { Try(number, order, at, tell); }, 9'000);
      const std::string last = end.lines.empty() ? "emit 0" : end.lines.back();
      size_t position = 0, input = 0;
      char kind[16] = {};
      std::sscanf(last.c_str(), "%15s %zu %zu", kind, &position, &input);
      const std::string stage = kind;
      if (stage == "none") break;
      at = position + 1;
      if (stage == "emit") continue;
      std::string verdict, wrong;
      if (stage == "found") {
        const size_t bar = last.find('|');
        const size_t second = last.find('|', bar + 1);
        verdict = last.substr(bar + 1, second - bar - 1);
        wrong = last.substr(second + 1);
      } else if (stage == "run") {  // it crashed, or does not end
        if (end.fault.starts_with("no end")) continue;
        wrong = end.fault;
        verdict = JudgeAlone(number, targets_[order[position]]);
      } else {
        // The judge's process did not live: nothing is admitted by it.
        if (end.fault.starts_with("no end")) continue;
        verdict = "refuted";
        wrong = "?";
      }
      ++found;
      Witness witness = (*targets_[order[position]].inputs)[input].witness;
      const std::optional<uint64_t> fuel = witness.form.fuel;
      witness.form = targets_[order[position]].form;
      witness.form.fuel = fuel;
      const std::string line =
          fmt::format("{} {} | {} | {}", number, verdict, PrintWitness(witness), wrong);
      if (best.empty() || verdict == "admitted") best = line;
      if (verdict == "admitted") break;
    }
    return best.empty() ? fmt::format("{} none {}", number, order.size()) : best;
  }

 private:
  void Try(int number, const std::vector<size_t>& order, size_t from, const Tell& tell) {
    for (size_t at = from; at < order.size(); ++at) {
      const Target& target = targets_[order[at]];
      tell(fmt::format("emit {} 0", at));
      const Result<Code> image = Emit(*target.program, target.form, number);
      if (!image || image->IsSame(target.original)) continue;
      for (size_t i = 0; i < target.inputs->size(); ++i) {
        const Input& input = (*target.inputs)[i];
        Witness witness = input.witness;
        tell(fmt::format("run {} {}", at, i));
        const Result<std::string> wrong = WrongAnswer(target.program, witness, *image, input.right);
        if (wrong && wrong->empty()) continue;
        tell(fmt::format("judge {} {}", at, i));
        Notes notes;
        const Result<Judged> judged = JudgeAsUsual(*target.program, *image, notes);
        tell(fmt::format("found {} {} |{}|{}", at, i, Name(judged),
                         wrong ? *wrong : wrong.error().ToString()));
        return;
      }
    }
    tell("none 0 0");
  }

  std::string JudgeAlone(int number, const Target& target) {
    const ChildEnd end = RunChild(
        [&](const Tell& tell) {
          const Result<Code> image = Emit(*target.program, target.form, number);
          Notes notes;
          tell(Name(JudgeAsUsual(*target.program, *image, notes)));
        },
        9'000);
    return end.lines.empty() ? "refuted" : end.lines.back();
  }

  static std::string Name(const Result<Judged>& judged) {
    if (!judged) return "unknown";
    return judged->judgment == Judgment::Admitted  ? "admitted"
           : judged->judgment == Judgment::Refuted ? "refuted"
                                                   : "unknown";
  }

  const std::vector<Target>& targets_;
  const SearchOptions& options_;
};

}  // namespace

int Search(const std::vector<Mutation>& mutations, const Programs& programs,
           const SearchOptions& options) {
  std::vector<int> wanted;
  Kinds kinds;
  for (const Mutation& mutation : mutations) {
    if (mutation.number < options.first || mutation.number > options.last ||
        (!options.all && !mutation.witness.empty()))
      continue;
    wanted.push_back(mutation.number);
    (mutation.file.starts_with("targets/wasm/") ? kinds.wasm : kinds.native) = true;
  }
  // All files from the start, whenever it is stopped.
  std::shuffle(wanted.begin(), wanted.end(), std::mt19937_64(1));
  const std::vector<Target> targets = MakeTargets(programs, options, kinds);
  fmt::print(stderr, "{} forms, {} mutations\n", targets.size(), wanted.size());
  RunAll(wanted.size(), options.processes, [&](size_t i, const Tell&) {
    fmt::print("{}\n", Searcher(targets, options).Find(wanted[i]));
    std::fflush(stdout);
  });
  return 0;
}

}  // namespace frazil::mutants
