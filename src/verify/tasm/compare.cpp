// The question and its verdict: a few runs, then proofs with less and less certainty about how the loops go, then
// runs along the paths on which the proof failed.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/deadline.h"
#include "verify/internal/observe.h"
#include "verify/tasm/compare.h"
#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {

void AddConstants(const mt::Program& program, std::vector<uint64_t>& constants) {
  constexpr size_t Enough = 4096;
  for (const auto& instruction : program.code) {
    if (constants.size() >= Enough) return;
    if (instruction.op == mt::Opcode::Push || instruction.op == mt::Opcode::AddI)
      constants.push_back(instruction.argument);
  }
}

namespace {

// Proves both directions with the given cuts. Nothing: proved.
std::optional<Failure> Attempt(Terms& terms, Budget& budget, const Sides& sides, Heads& source,
                               Heads& candidate, const Options& options, bool join) {
  Engine forth(terms, budget, options.fragments);
  forth.deep_stack = options.deep_stack;
  forth.join = join;
  if (auto failure = forth.Run(sides.source(&source), sides.candidate(&candidate), true))
    return failure;
  Engine back(terms, budget, options.fragments);
  back.join = join;
  return back.Run(sides.candidate(&candidate), sides.source(&source), false);
}

// Loops in which something was undecided are cut from now on. False: there are no more of them.
bool CutSymbolicLoops(Heads& heads) {
  const size_t before = heads.cut.size();
  for (uint64_t head : heads.entered) {
    if (heads.branched.contains(head)) heads.cut.insert(head);
  }
  return heads.cut.size() > before;
}

// Half of the time that is left.
Budget HalfOf(const Budget& budget) {
  Budget half = budget;
  half.steps = 0;
  half.deadline = Deadline::After(budget.deadline.LeftMs() / 2);
  return half;
}

// What the attempts so far may have been deceived by: any of them could have been the one that succeeds.
struct Doubt {
  bool inexact = false;  // of the last attempt
  double error = 0;
  uint64_t terms = 0, degree = 1;
  void Add(const Terms& of) {
    inexact = of.inexact_used();
    error += of.ErrorBound();
    terms = of.size();
    degree = std::max(degree, of.largest_degree());
  }
};

// With branches that come together again as one path.
bool ProveJoined(Budget& budget, const Sides& sides, const Options& options, Doubt& doubt) {
  Heads source, candidate;
  constexpr int Attempts = 4;
  for (int attempt = 0; attempt < Attempts; ++attempt) {
    Terms terms(sides.seed);
    const bool proved = !Attempt(terms, budget, sides, source, candidate, options, true);
    doubt.Add(terms);
    if (proved) return true;
    const bool more = CutSymbolicLoops(source);
    if (!CutSymbolicLoops(candidate) && !more) return false;
  }
  return false;
}

// Whoever writes a program can write 2^n of them, to find one whose points deceive: as the judge of polynomials asks.
constexpr double LeastBits = 100;

// Equal, by a proof that was completed.
Verdict Conclude(const Doubt& doubt, const Budget& budget) {
  constexpr const char* Who = "symbolic execution";
  if (!doubt.inexact)
    return Proved{{Grade::Proved, Who,
                   fmt::format("{} terms in normal form, {} steps", doubt.terms, budget.steps), 0}};
  const double bits = std::floor(-std::log2(doubt.error));
  if (bits < LeastBits)
    return Unknown{fmt::format(
        "equal at {} points, but for degrees up to {} that leaves an error of 2^-{:.0f}",
        Points::Count, doubt.degree, bits)};
  return Tested{{Grade::Algebraic, Who,
                 fmt::format("{} terms, degree at most {}, at {} points; error at most 2^-{:.0f}",
                             doubt.terms, doubt.degree, Points::Count, bits),
                 Points::Count}};
}

Verdict Judge(const Sides& sides, const Options& options, Sampler& sampler, const Tell& tell) {
  Refuted found;
  auto refuted = [&](MachineStart start) {
    auto difference = tell ? tell(start) : std::nullopt;
    if (!difference) return false;
    found = {std::move(start), std::move(*difference)};
    Shrink(found, tell);
    return true;
  };
  Doubt doubt;
  Budget budget;
  budget.max_steps = options.steps;
  budget.deadline = Deadline::After(options.milliseconds);
  auto in_time = [&] { return !budget.deadline.Passed(); };
  constexpr uint64_t First = 4;
  for (uint64_t i = 0; i < std::min(First, options.samples) && in_time(); ++i) {
    if (refuted(sampler.Next())) return found;
  }
  std::optional<Failure> failure;
  Heads source, candidate;
  // Few branches on one path show soon enough which loops do not end by themselves.
  constexpr int Attempts = 12;
  constexpr uint64_t FewForks = 10, ManyForks = 64, ManyPaths = 4096;
  budget.max_forks = FewForks;
  bool last = false, joined = false;
  for (int attempt = 0; attempt < Attempts; ++attempt) {
    const auto terms = std::make_unique<Terms>(sides.seed);
    failure = Attempt(*terms, budget, sides, source, candidate, options, false);
    doubt.Add(*terms);
    if (!failure) return Conclude(doubt, budget);
    // Runs along the path, while its terms are there.
    if (failure->facts) {
      Facts facts = *failure->facts;
      for (uint64_t i = 0; i < options.samples && in_time(); ++i) {
        if (i == options.samples / 2 && failure->difference) facts.Assume(*failure->difference);
        if (refuted(sampler.Along(facts))) return found;
      }
    }
    if (last || !in_time()) break;
    // The one that leads may have come to nothing before the other began.
    if (!options.fragments) {
      const auto scratch = std::make_unique<Terms>(sides.seed);
      Engine probe(*scratch, budget, options.fragments);
      probe.Run(sides.candidate(&candidate), sides.source(&source), false);
      doubt.Add(*scratch);
    }
    const bool more = CutSymbolicLoops(source);
    if ((CutSymbolicLoops(candidate) || more) && attempt + 2 < Attempts) continue;
    // A loop with a branch in one may be one without in the other.
    if (!joined && !(source.cut.empty() && candidate.cut.empty())) {
      const size_t before = source.cut.size() + candidate.cut.size();
      for (Heads* heads : {&source, &candidate})
        heads->cut.insert(heads->entered.begin(), heads->entered.end());
      if (source.cut.size() + candidate.cut.size() > before && attempt + 2 < Attempts) continue;
    }
    if (!joined && !options.fragments) {
      joined = true;
      Budget half = HalfOf(budget);
      if (ProveJoined(half, sides, options, doubt)) return Conclude(doubt, half);
      if (!in_time()) break;
    }
    // Only branches are left: more of them on one path. Loops that were cut in vain are gone through.
    if (!failure->resources && source.cut.empty() && candidate.cut.empty()) break;
    if (budget.max_forks == ManyForks || !failure->resources) {
      source = candidate = {};
      last = true;
      budget.max_paths = ManyPaths;
    }
    budget.max_forks = ManyForks;
  }
  for (uint64_t i = First; i < options.samples && in_time(); ++i) {
    if (refuted(sampler.Next())) return found;
  }
  return Unknown{failure->reason};
}

}  // namespace

Verdict Decide(const Sides& sides, const Options& options, Sampler& sampler, const Tell& tell) {
  Verdict verdict = Judge(sides, options, sampler, tell);
  if (tell) Observe(MachineQuestion{tell}, verdict);
  return verdict;
}

Verdict Compare(const mt::Program& source, const mt::Program& candidate, const Options& options) {
  const auto deadline = Deadline::After(options.milliseconds);
  const Machine one(source), other(candidate);
  std::vector<uint64_t> constants;
  AddConstants(source, constants);
  AddConstants(candidate, constants);
  Sampler sampler(std::move(constants), options.fragments,
                  0x7a5a'0001u + source.code.size() * 31 + candidate.code.size());
  Sides sides{SeedOf(source, candidate, options), {}, {}};
  sides.source = [&](Heads* heads) { return MakeTasmSide(source, options.fragments, heads); };
  sides.candidate = [&](Heads* heads) { return MakeTasmSide(candidate, options.fragments, heads); };
  Verdict verdict = Decide(sides, options, sampler, [&](const MachineStart& inputs) {
    return Difference(one, other, inputs, options.fragments);
  });
  // No run shows that something never ends, so this stays a remark.
  constexpr int Looks = 8;
  Unknown* unknown = std::get_if<Unknown>(&verdict);
  for (int i = 0; unknown != nullptr && i < Looks; ++i) {
    if (deadline.Passed()) break;
    const std::string remark = NotEnded(one, other, sampler.Next(), options.fragments);
    if (remark.empty()) continue;
    unknown->reason += "; " + remark;
    break;
  }
  if (Refuted* refuted = std::get_if<Refuted>(&verdict))
    Trim(one, other, *refuted, options.fragments);
  return verdict;
}

}  // namespace frazil::verify::tasm
