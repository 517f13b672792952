// The search: each choice alone, the other way round, on top of what was found better already; in each program that comes of
// it, what stands in several places is called where that is cheaper. Typical inputs decide, never those of a run: a
// program has one digest.
#include "targets/tasm/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "machines/tasm/heights/bounds.h"
#include "targets/tasm/lower_parts.h"
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

// The program is hashed word by word; all other tables are filled by what is executed.
bool OfWords(mt::Table table) {
  return table == mt::Table::Program || table == mt::Table::Hash || table == mt::Table::Cascade ||
         table == mt::Table::Lookup;
}

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

}  // namespace

exec::TableHeights PriceOf(const mt::Program& program, const TasmOptions& options) {
  exec::TableHeights price;
  const auto add = [&](const mt::TableProfile& profile) {
    price.padded += profile.PaddedHeight();
    price.tallest += profile.MaxHeight();
    for (int i = 0; i < mt::TableCount; ++i) {
      const auto table = static_cast<mt::Table>(i);
      (OfWords(table) ? price.words : price.cycles) += profile[table];
    }
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
  if (options.callable) price.padded = price.tallest = 0;
  return price;
}

Result<LowerSearch::Candidate> LowerSearch::LowerOnce(const SelectChoices& choices) const {
  Candidate made;
  Scheduled scheduled = TRY(ScheduleProgram(prepared_, options_, choices, made.open));
  Result<mt::Program> assembly = LowerTir(scheduled.tir, options_);
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

size_t LowerSearch::Note(std::string proposer, std::string name) {
  Tried& tried = tried_.emplace_back();
  tried.proposer = std::move(proposer);
  tried.name = std::move(name);
  return tried_.size() - 1;
}

Result<LowerSearch> LowerSearch::Start(const ir::Program& program, const TasmOptions& options) {
  LowerSearch search(TRY(Prepare(program)), options);
  Branch source;
  source.candidate = TRY(search.LowerOnce(source.chosen));
  source.trail = {search.Note("source", "as it stands")};
  search.tried_.back().words = source.candidate.lowered.program.Words();
  search.open_ = source.candidate.open;
  if (source.candidate.lowered.program.code.size() > MostInstructions) {
    search.at_ = At::End;
    search.plain_ = std::move(source);
    return search;
  }
  search.now_ = std::move(source);
  search.others_ = std::min(search.Others().size(), EffortFor(options).choices);
  return search;
}

// Each choice alone, the other way round.
std::vector<LowerSearch::Choice> LowerSearch::Others() const {
  const SelectChoices& chosen = best_ ? finished_[*best_].chosen : now_->chosen;
  const auto name = [&](uint32_t function) { return prepared_.functions[function].name; };
  std::vector<Choice> others;
  const auto add = [&](SelectChoices choices, std::string proposer, std::string text) {
    others.push_back({std::move(choices), std::move(proposer), std::move(text)});
  };
  for (const auto& [function, written_out] : open_.written_out) {
    SelectChoices other = chosen;
    const auto now = chosen.written_out.find(function);
    bool& is_out = other.written_out[function];
    is_out = !(now == chosen.written_out.end() ? written_out : now->second);
    const auto propose = [&] {
      add(other, "inline", fmt::format("{} {}", is_out ? "inline" : "call", name(function)));
    };
    propose();
    if (!open_.mixed.contains(function)) continue;
    is_out = !is_out;
    propose();
  }
  for (const auto& [loop, unrolled] : open_.unrolled) {
    SelectChoices other = chosen;
    const auto now = chosen.unrolled.find(loop);
    const bool is_unrolled = !(now == chosen.unrolled.end() ? unrolled : now->second);
    other.unrolled[loop] = is_unrolled;
    add(std::move(other), "unroll",
        fmt::format("{} loop {} of {}", is_unrolled ? "unroll" : "keep", loop.second,
                    name(loop.first)));
  }
  if (open_.repeats) {
    SelectChoices other = chosen;
    other.repeats = !chosen.repeats;
    add(std::move(other), "recurse", chosen.repeats ? "recurse by a test" : "recurse or return");
  }
  return others;
}

// The next choice that can be lowered; false: there is none.
bool LowerSearch::BeginBranch() {
  while (choices_ < EffortFor(options_).passes * others_) {
    Choice choice = std::move(Others()[choices_++ % others_]);
    const size_t number = Note(std::move(choice.proposer), std::move(choice.name));
    Result<Candidate> made = LowerOnce(choice.choices);
    if (!made) {
      tried_[number].refusal = made.error().message;
      continue;
    }
    if (made->lowered.program.code.size() > MostInstructions) {
      tried_[number].refusal =
          fmt::format("more than {} instructions are too many to try", MostInstructions);
      continue;
    }
    tried_[number].words = made->lowered.program.Words();
    now_ = Branch{std::move(*made), std::move(choice.choices), {}, number, finished_[*best_].trail};
    // What was outlined in the best program is not in this one.
    std::erase_if(now_->trail, [&](size_t one) { return tried_[one].proposer == "outline"; });
    now_->trail.push_back(number);
    at_ = At::Branch;
    return true;
  }
  return false;
}

// What stands in several places, as a block that is called there; false: nothing more of that.
bool LowerSearch::NextOutline() {
  if (next_repeated_ >= repeated_.size()) return false;
  const Repeated& repeated = repeated_[next_repeated_++];
  outlined_ = Outline(now_->candidate.lowered.program, repeated);
  const size_t number = Note("outline", fmt::format("outline {} instructions of {} places",
                                                    repeated.length, repeated.places.size()));
  tried_[number].words = outlined_->Words();
  tried_[number].before = now_->cost;
  at_ = At::Outline;
  return true;
}

void LowerSearch::EndBranch() {
  if (best_) tried_[now_->choice].before = finished_[*best_].cost;
  finished_.push_back(std::move(*now_));
  now_.reset();
  if (!best_ || *finished_.back().cost < *finished_[*best_].cost) best_ = finished_.size() - 1;
}

const mt::Program* LowerSearch::Next() {
  if (at_ == At::End) return nullptr;
  // The first thing that is asked about.
  if (at_ == At::Source) return &now_->candidate.lowered.program;
  if (now_) {
    if (NextOutline()) return &*outlined_;
    EndBranch();
  }
  if (BeginBranch()) return &now_->candidate.lowered.program;
  at_ = At::End;
  return nullptr;
}

void LowerSearch::Tell(const exec::TableHeights& cost) {
  CHECK(now_.has_value());
  if (at_ == At::Outline) {
    tried_.back().cost = cost;
    if (!(cost < *now_->cost)) return;
    // The source's own lowering stays, whatever is made of it.
    if (!best_ && !plain_) plain_ = *now_;
    now_->candidate.lowered.program = std::move(*outlined_);
    now_->cost = cost;
    now_->trail.push_back(tried_.size() - 1);
    ++blocks_;
  } else {
    tried_.back().cost = cost;
    now_->cost = cost;
    blocks_ = 0;
    at_ = At::Branch;
  }
  next_repeated_ = 0;
  repeated_.clear();
  if (!options_.peephole || options_.callable || blocks_ >= EffortFor(options_).blocks) return;
  repeated_ = FindRepeated(now_->candidate.lowered.program, EffortFor(options_).sequences);
}

LowerSearch::Found LowerSearch::Finish(Branch branch) {
  Found found{std::move(branch.candidate.lowered), branch.cost, std::move(branch.trail)};
  for (uint32_t i = 0; i < found.lowered.program.code.size(); ++i) {
    const uint32_t column = found.lowered.program.code[i].location.column;
    if ((column & SiteMark) != 0)
      found.lowered.traps.emplace(i, branch.candidate.sites[column & ~SiteMark]);
  }
  return found;
}

std::vector<LowerSearch::Found> LowerSearch::TakeFound() {
  std::vector<size_t> order(finished_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Of equal ones, the first that was found.
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const auto by_cost = *finished_[a].cost <=> *finished_[b].cost;
    return by_cost != 0 ? by_cost < 0 : a < b;
  });
  std::vector<Found> found;
  for (const size_t i : order) found.push_back(Finish(std::move(finished_[i])));
  if (plain_) found.push_back(Finish(std::move(*plain_)));
  at_ = At::End;
  return found;
}

}  // namespace frazil::targets::tasm
