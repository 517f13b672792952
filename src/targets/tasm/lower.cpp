// The pipeline, and the choices that only the finished program can judge: calls that are written out or not, loops that are
// or that end by recurse_or_return, instructions that several places share. Each is tried the other way round and kept
// where the proof gets smaller: the padded height first, then the highest table, then all rows. Typical inputs decide, never
// those of a run: a program has one digest.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ir/lower/lower.h"
#include "machines/tasm/heights/bounds.h"
#include "targets/tasm/assembly/outline.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/words/select.h"

namespace frazil::targets::tasm {
namespace {

// Typical inputs that are looked at, and cycles of each.
constexpr size_t MostTypical = 4;
constexpr uint64_t MostCycles = uint64_t{1} << 22;
// Steps of the estimate where there are none.
constexpr uint64_t MostSteps = 10'000;
// Of larger programs nothing is tried.
constexpr size_t MostInstructions = 6000;

// How much is tried: less where nothing is known of what the program reads, because then the estimate is coarse anyway.
struct Effort {
  size_t choices, passes;
  size_t blocks;     // made of repeated instructions
  size_t sequences;  // tried for each
};
constexpr Effort Measured{12, 2, 24, 6}, Estimated{6, 1, 4, 2};

const Effort& EffortFor(const TasmOptions& options) {
  return options.typical.empty() ? Estimated : Measured;
}

struct Candidate {
  Lowered lowered;
  std::vector<EmittedSite> sites;
  SelectChoices open;  // what could be chosen otherwise
};

Result<Scheduled> ScheduleProgram(const ir::Program& prepared, const TasmOptions& options,
                                  const SelectChoices& choices, SelectChoices& open) {
  SelectOptions select{.profile = options.profile,
                       .callable = options.callable,
                       .first_on_top = options.first_on_top,
                       .choices = choices,
                       .limits = options.limits};
  WordProgram words = TRY(SelectWords(prepared, select));
  open = words.open;
  Scheduled scheduled = TRY(Schedule(words));
  if (!words.raw || !(words.own_ram || scheduled.spills)) return scheduled;
  select.check_raw = true;
  words = TRY(SelectWords(prepared, select));
  return Schedule(words);
}

Result<Candidate> LowerOnce(const ir::Program& prepared, const TasmOptions& options,
                            const SelectChoices& choices) {
  Candidate made;
  Scheduled scheduled = TRY(ScheduleProgram(prepared, options, choices, made.open));
  Result<mt::Program> assembly = LowerTir(scheduled.tir, options);
  if (!assembly) {
    // A trap site is no column for a reader.
    Error error = std::move(assembly.error());
    if (error.location.column == 0 || (error.location.column & SiteMark) != 0)
      error.location.column = 1;
    return std::unexpected(std::move(error));
  }
  made.lowered.program = std::move(*assembly);
  made.lowered.tir = std::move(scheduled.tir);
  made.sites = std::move(scheduled.sites);
  return made;
}

Lowered Finish(Candidate candidate) {
  Lowered lowered = std::move(candidate.lowered);
  for (uint32_t i = 0; i < lowered.program.code.size(); ++i) {
    const uint32_t column = lowered.program.code[i].location.column;
    if ((column & SiteMark) != 0) lowered.traps.emplace(i, candidate.sites[column & ~SiteMark]);
  }
  return lowered;
}

// Less is better.
using Price = std::tuple<uint64_t, uint64_t, uint64_t>;

// A program that calls the function with words that nobody knows.
mt::Program Called(const mt::Program& function) {
  constexpr uint32_t Reads = 20;
  mt::Program program;
  program.profile = function.profile;
  for (uint32_t i = 0; i < Reads; ++i) program.code.push_back({mt::Opcode::Divine, 5, -1, {}});
  program.code.push_back({mt::Opcode::Call, Reads + 2, -1, {}});
  program.code.push_back({mt::Opcode::Halt, 0, -1, {}});
  for (mt::Instruction instruction : function.code) {
    if (instruction.op == mt::Opcode::Call) instruction.argument += Reads + 2;
    program.code.push_back(instruction);
  }
  return program;
}

Price PriceOf(const mt::Program& program, const TasmOptions& options) {
  Price price;
  auto add = [&](const mt::TableProfile& profile) {
    std::get<0>(price) += profile.PaddedHeight();
    std::get<1>(price) += profile.MaxHeight();
    for (uint64_t height : profile.heights) std::get<2>(price) += height;
  };
  mt::RunLimits limits;
  limits.cycles = MostCycles;
  for (size_t i = 0; i < options.typical.size() && i < MostTypical; ++i)
    add(mt::Trace(program, options.typical[i], limits, false).profile);
  if (!options.typical.empty()) return price;
  const mt::HeightBounds bounds =
      mt::StaticBounds(options.callable ? Called(program) : program, MostSteps);
  bool bounded = true;
  for (uint64_t height : bounds.upper.heights) bounded &= height != mt::Unbounded;
  add(bounded ? bounds.upper : bounds.lower);
  // The heights of a program that calls a function are its own.
  if (options.callable) std::get<0>(price) = std::get<1>(price) = 0;
  return price;
}

// Each choice alone, the other way round.
std::vector<SelectChoices> Others(const SelectChoices& chosen, const SelectChoices& open) {
  std::vector<SelectChoices> others;
  for (const auto& [function, written_out] : open.written_out) {
    SelectChoices other = chosen;
    const auto now = chosen.written_out.find(function);
    other.written_out[function] = !(now == chosen.written_out.end() ? written_out : now->second);
    others.push_back(other);
    if (!open.mixed.contains(function)) continue;
    other.written_out[function] = !other.written_out[function];
    others.push_back(other);
  }
  for (const auto& [loop, unrolled] : open.unrolled) {
    SelectChoices other = chosen;
    const auto now = chosen.unrolled.find(loop);
    other.unrolled[loop] = !(now == chosen.unrolled.end() ? unrolled : now->second);
    others.push_back(other);
  }
  if (open.repeats) {
    SelectChoices other = chosen;
    other.repeats = !chosen.repeats;
    others.push_back(other);
  }
  return others;
}

// What stands in several places is called where that is cheaper. Gives the price.
Price OutlineWhatPays(mt::Program& program, const TasmOptions& options) {
  Price price = PriceOf(program, options);
  if (!options.peephole || options.callable) return price;
  for (size_t round = 0; round < EffortFor(options).blocks; ++round) {
    bool better = false;
    for (const Repeated& repeated : FindRepeated(program, EffortFor(options).sequences)) {
      mt::Program other = Outline(program, repeated);
      const Price now = PriceOf(other, options);
      if (now >= price) continue;
      program = std::move(other);
      price = now;
      better = true;
      break;
    }
    if (!better) break;
  }
  return price;
}

}  // namespace

// The prelude stays: what is left of it after floats are refused are the machine's own instructions.
Result<ir::Program> Prepare(const ir::Program& program) {
  if (std::string why = WhyNot(program); !why.empty()) return Fail(Diag::Unsupported, why);
  ir::Program lowered = TRY(ir::LowerTensors(program));
  return ir::SplitBarriers(lowered);
}

Result<Lowered> Lower(const ir::Program& program, const TasmOptions& options) {
  const ir::Program prepared = TRY(Prepare(program));
  SelectChoices chosen;
  Candidate best = TRY(LowerOnce(prepared, options, chosen));
  const size_t size = best.lowered.program.code.size();
  if (size > MostInstructions) return Finish(std::move(best));
  const SelectChoices open = best.open;
  const size_t others = std::min(Others(chosen, open).size(), EffortFor(options).choices);
  Price price = OutlineWhatPays(best.lowered.program, options);
  for (size_t i = 0; i < EffortFor(options).passes * others; ++i) {
    // On top of what was found better already.
    const SelectChoices other = Others(chosen, open)[i % others];
    Result<Candidate> made = LowerOnce(prepared, options, other);
    if (!made || made->lowered.program.code.size() > MostInstructions) continue;
    const Price now = OutlineWhatPays(made->lowered.program, options);
    if (now >= price) continue;
    price = now;
    chosen = other;
    best = std::move(*made);
  }
  return Finish(std::move(best));
}

Result<tir::Program> LowerToTir(const ir::Program& program, const TasmOptions& options) {
  Lowered lowered = TRY(Lower(program, options));
  return std::move(lowered.tir);
}

}  // namespace frazil::targets::tasm
