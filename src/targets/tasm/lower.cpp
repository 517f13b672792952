// The pipeline, and the choices that only the finished program can judge: calls that are written out or not, loops that are
// or that end by recurse_or_return, instructions that several places share. Each is tried the other way round and kept
// where the proof gets smaller: the padded height first, then the highest table, then all rows. Typical inputs decide, never
// those of a run: a program has one digest.
#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "ir/lower.h"
#include "machines/tasm/bounds.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/outline.h"
#include "targets/tasm/select.h"
#include "targets/tasm/tasm.h"
#include "targets/tasm/templates.h"

namespace frazil::targets::tasm {
namespace {

// Typical inputs that are looked at, and cycles of each.
constexpr size_t MostTypical = 4;
constexpr uint64_t MostCycles = uint64_t{1} << 22;
// Steps of the estimate where there are none.
constexpr uint64_t MostSteps = 50'000;
// Choices that are tried, of programs of at most so many instructions.
constexpr size_t MostChoices = 12;
constexpr size_t MostInstructions = 6000;
// Blocks that are made of repeated instructions, and sequences that are tried for each.
constexpr size_t MostOutlined = 12;
constexpr size_t MostTried = 3;

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
  if (options.templates) return ScheduleByTemplates(words);
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
  TasmOptions rest = options;
  rest.peephole = options.peephole && !options.templates;
  Result<mt::Program> assembly = LowerTir(scheduled.tir, rest);
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
  const mt::HeightBounds bounds = mt::StaticBounds(program, MostSteps);
  bool bounded = true;
  for (uint64_t height : bounds.upper.heights) bounded &= height != mt::Unbounded;
  add(bounded ? bounds.upper : bounds.lower);
  return price;
}

// Each choice alone, the other way round.
std::vector<SelectChoices> Others(const SelectChoices& chosen, const SelectChoices& open) {
  std::vector<SelectChoices> others;
  for (const auto& [function, written_out] : open.written_out) {
    SelectChoices other = chosen;
    other.written_out[function] = !written_out;
    others.push_back(other);
    other.written_out[function] = written_out;
    if (open.mixed.contains(function)) others.push_back(other);
  }
  for (const auto& [loop, unrolled] : open.unrolled) {
    SelectChoices other = chosen;
    other.unrolled[loop] = !unrolled;
    others.push_back(other);
  }
  if (open.repeats) {
    SelectChoices other = chosen;
    other.repeats = !chosen.repeats;
    others.push_back(other);
  }
  if (others.size() > MostChoices) others.resize(MostChoices);
  return others;
}

// What stands in several places is called where that is cheaper.
void OutlineWhatPays(mt::Program& program, std::optional<Price> price, const TasmOptions& options) {
  for (size_t round = 0; round < MostOutlined; ++round) {
    bool better = false;
    for (const Repeated& repeated : FindRepeated(program, MostTried)) {
      if (!price) price = PriceOf(program, options);
      mt::Program other = Outline(program, repeated);
      const Price now = PriceOf(other, options);
      if (now >= *price) continue;
      program = std::move(other);
      price = now;
      better = true;
      break;
    }
    if (!better) return;
  }
}

}  // namespace

// The prelude stays: what is left of it after floats are refused are the machine's own instructions.
Result<ir::Program> Prepare(const ir::Program& program) {
  if (std::string why = WhyNot(program); !why.empty()) return Fail(Diag::Unsupported, why);
  ir::Program lowered = TRY(ir::LowerTensors(program));
  return ir::SplitBarriers(lowered);
}

Result<Lowered> Lower(const ir::Program& program, const TasmOptions& options) {
  if (options.callable && options.templates)
    return Fail(Diag::Unsupported, "templates are for whole programs, not for callable functions");
  const ir::Program prepared = TRY(Prepare(program));
  SelectChoices chosen;
  Candidate best = TRY(LowerOnce(prepared, options, chosen));
  const size_t size = best.lowered.program.code.size();
  if (options.templates || size > MostInstructions) return Finish(std::move(best));
  const SelectChoices open = best.open;
  const size_t others = Others(chosen, open).size();
  std::optional<Price> price;
  for (size_t i = 0; i < others; ++i) {
    if (!price) price = PriceOf(best.lowered.program, options);
    // On top of what was found better already.
    const SelectChoices other = Others(chosen, open)[i];
    Result<Candidate> made = LowerOnce(prepared, options, other);
    if (!made || made->lowered.program.code.size() > MostInstructions) continue;
    const Price now = PriceOf(made->lowered.program, options);
    if (now >= *price) continue;
    price = now;
    chosen = other;
    best = std::move(*made);
  }
  if (options.peephole && !options.callable) OutlineWhatPays(best.lowered.program, price, options);
  return Finish(std::move(best));
}

Result<tir::Program> LowerToTir(const ir::Program& program, const TasmOptions& options) {
  Lowered lowered = TRY(Lower(program, options));
  return std::move(lowered.tir);
}

}  // namespace frazil::targets::tasm
