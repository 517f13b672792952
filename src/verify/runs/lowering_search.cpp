// Inputs that follow what is missing: long buffers, neighbors of inputs that reached something new, and those that come nearer to the
// branch that decides about code that has not run; then buffers that end early, and little fuel.
#include <fmt/format.h>

#include <functional>

#include "base/deadline.h"
#include "verify/internal/lowering_judge.h"

namespace frazil::verify {
namespace {

// Inputs for code that has not run: so many at least (the thresholds lowered), and so many without a new block at most.
constexpr uint64_t FewestStretched = 40;
constexpr uint64_t FewestCompleted = 32;  // of all that have been compared
constexpr uint64_t MostFruitless = 600;
constexpr uint64_t MostFruitlessTurns = 100;  // where only loops have had no second turn
// Buffers of so many inputs that need no more than this are cut to where the program traps, and so many run with little fuel.
constexpr size_t MostCut = 4;
constexpr uint64_t CutFuel = 1 << 13;
constexpr size_t MostFuelInputs = 12;
constexpr uint64_t StretchedFuel = 1 << 17;  // a tile of a product of squares
constexpr uint64_t StretchedBytes = 16 << 20;
constexpr uint64_t StretchedNumbers = uint64_t{1} << 32;  // apart from those of samples

}  // namespace

Limits StretchedLimits(Limits limits, uint64_t left_ms) {
  limits.fuel = StretchedFuel;
  limits.memory_bytes = std::max(limits.memory_bytes, StretchedBytes);
  return LimitsOfOneRun(limits, StretchedFuel, left_ms);
}

bool LoweringJudge::IsFew() const {
  return lanes_ < options_.sample_lanes || inputs_ - trapped_ < FewestCompleted;
}

LoweringJudge::End LoweringJudge::Stretch() {
  size_t missing = CountMissing();
  // Much code takes long to get to.
  Patience patience(options_.search_ms * (64 + watched_.blocks().size()) / 64);
  uint64_t fruitless = 0, fresh = 0, ended = 0;
  const auto is_wanted = [&] { return (options_.search_ms > 0 && missing > 0) || IsFew(); };
  for (uint64_t number = 0; number < FewestStretched || is_wanted(); ++number) {
    if (deadline_.Passed() || late_ > MostLate) return End::OutOfTime;
    // Where hardly an input ends, nothing will be found.
    if (number >= FewestStretched && ended * 8 < number) break;
    const bool is_whole = CountMust() == 0 && !IsFew();
    if (fruitless++ > (is_whole ? MostFruitlessTurns : MostFruitless) &&
        (is_whole || patience.Over()))
      break;
    const std::vector<WatchedCode::Aim> aims = Aims();
    watched_.AimAt(aims);
    Stretched next = NextStretched(number, fresh, aims);
    if (!next.input) continue;
    watched_.Lower(next.is_lowered);
    // Code that nobody can read runs elsewhere, where memory is not counted and what is late cannot be stopped.
    *little_memory_ = next.has_little_memory && !watched_.blocks().empty();
    // What is made from others depends on the code: nobody else will ask for it.
    meaning_.SetNumber(next.number);
    const uint64_t undecided = undecided_, completed = inputs_ - trapped_, late = late_;
    const uint64_t inputs = inputs_;
    if (Differs(*next.input, for_stretched_)) return End::Different;
    if (inputs_ - trapped_ > completed && next.number &&
        OtherwiseDiffers(*next.input, next.is_lowered))
      return End::Different;
    ended += inputs_ > inputs ? 1 : 0;
    undecided_ = undecided;  // they are no samples: too long ones say nothing
    if (std::exchange(*little_memory_, false)) late_ = late;
    const size_t left = CountMissing();
    if (left < missing) fruitful_.push_back(*next.input);
    if (left < missing || (completed < inputs_ - trapped_ && IsFew())) {
      fruitless = 0;
      patience.Restart();
    }
    missing = left;
    for (size_t i = 0; i < aims.size(); ++i) {
      Nearest& nearest = nearest_[{aims[i].branch, aims[i].is_taken}];
      const uint64_t distance = watched_.Distance(i);
      const uint64_t cost = CostOf(*next.input);
      // Of two that are equally near, one that costs less leaves time for more.
      if (distance < nearest.distance ||
          (distance == nearest.distance && 4 * cost < 3 * nearest.cost))
        nearest = {distance, cost, next};
    }
  }
  watched_.AimAt({});
  if (FlavorDiffers() || CutDiffers() || FuelDiffers()) return End::Different;
  watched_.Lower(false);
  return End::Enough;
}

bool LoweringJudge::OtherwiseDiffers(const Input& input, bool was_lowered) {
  const size_t count = watched_.threshold_count();
  if (count == 0) return false;
  watched_.Lower(!was_lowered);
  if (Differs(input, for_stretched_)) return true;
  if (count == 1 || !was_lowered) return false;
  watched_.Lower(true, excepted_++ % count);
  return Differs(input, for_stretched_);
}

uint64_t LoweringJudge::CostOf(const Input& input) const {
  std::vector<uint64_t> sizes = {input.lanes, 1, 1};
  for (size_t i = 0; i < input.arguments.size(); ++i) {
    const ir::Type type = pair_.space.entry->param_type(static_cast<uint32_t>(i));
    if (type.is_scalar() && ir::WordsOf(type) == 1 && ir::IsFixedInt(type.scalar) &&
        input.arguments[i].word < 1 << 20)
      sizes.push_back(input.arguments[i].word + 1);
  }
  // More than one number: what buffers have in excess costs little.
  if (sizes.size() > 4) sizes[0] = 1;
  std::ranges::sort(sizes, std::greater());
  return sizes[0] * sizes[1] * sizes[2];
}

LoweringJudge::Stretched LoweringJudge::NextStretched(uint64_t number, uint64_t& fresh,
                                                      std::span<const WatchedCode::Aim> aims) {
  const bool is_new = number < FewestStretched || fruitful_.empty() || number % 4 == 0;
  random_ = Random(
      fmt::format("{} {} {}", Seed(), is_new ? "stretched" : "changed", is_new ? fresh : number));
  if (!is_new && number % 4 != 1 && !aims.empty()) {
    const WatchedCode::Aim& aim = aims[number / 2 % aims.size()];
    const Nearest& nearest = nearest_[{aim.branch, aim.is_taken}];
    if (nearest.distance < WatchedCode::Far) {
      Stretched next = nearest.from;
      // What compares no integers compares values.
      next.input = nearest.distance == WatchedCode::Far - 1 && random_.Chance(80)
                       ? maker_.Season(*next.input)
                       : maker_.Nudge(*next.input, nearest.distance);
      next.number = std::nullopt;
      return next;
    }
  }
  // Primes: each meets all kinds of inputs, which go by fours and eights. Where there is no room for scratch, code may
  // have another way.
  Stretched next{{}, number % 7 < 5, number % 11 == 5, {}};
  if (is_new) {
    next.input = maker_.Stretch(fresh++);
    next.number = StretchedNumbers + fresh;
    return next;
  }
  const Input& from =
      random_.Chance(40) ? fruitful_.back() : fruitful_[random_.Below(fruitful_.size())];
  next.input = number % 4 == 1   ? maker_.Change(from)
               : number % 4 == 2 ? maker_.Nudge(from, 1)
                                 : maker_.Season(from);
  return next;
}

std::vector<WatchedCode::Aim> LoweringJudge::Aims() const {
  std::vector<WatchedCode::Aim> aims;
  const std::vector<uint32_t> blocks = MissingBlocks();
  for (size_t i = 0; i < watched_.branches().size(); ++i) {
    const CodeBranch& branch = watched_.branches()[i];
    if ((branch.is_turn && !watched_.WasTaken(i)) ||
        std::ranges::binary_search(blocks, branch.target))
      aims.push_back({i, true});
    else if (std::ranges::binary_search(blocks, branch.next))
      aims.push_back({i, false});
  }
  return aims;
}

std::vector<int64_t> LoweringJudge::SizesOf(const Input& input) const {
  std::vector<int64_t> sizes = {0};
  for (size_t i = 0; i < input.arguments.size(); ++i) {
    const ir::Type type = pair_.space.entry->param_type(static_cast<uint32_t>(i));
    if (!type.is_scalar() || ir::WordsOf(type) != 1 || !ir::IsFixedInt(type.scalar)) continue;
    // The least of all numbers has no predecessor that could be tried.
    const auto number = static_cast<int64_t>(input.arguments[i].word);
    if (number > 0) sizes.push_back(number);
  }
  return sizes;
}

bool LoweringJudge::CutDiffers() {
  watched_.Lower(true);
  meaning_.SetNumber(std::nullopt);
  size_t cut = 0;
  std::vector<Input> inputs;
  for (const Base& base : bases_)
    if (base.input) inputs.push_back(*base.input);
  inputs.insert(inputs.end(), fruitful_.rbegin(), fruitful_.rend());
  for (size_t n = 0; n < inputs.size() && cut < MostCut; ++n) {
    const Input& input = inputs[n];
    if (!Completes(input)) continue;
    ++cut;
    // What was new then has hardly run where two buffers are one.
    bool differs = false;
    maker_.Unite(input, [&](const Input& united) {
      differs = !deadline_.Passed() && Differs(united, for_stretched_);
      return differs || deadline_.Passed();
    });
    if (differs) return true;
    std::vector<int64_t> guesses = SizesOf(input);
    for (uint32_t param = 0; param < input.arguments.size(); ++param) {
      if (!pair_.space.entry->param_type(param).is_buffer()) continue;
      int64_t enough = input.arguments[param].memory->length(), less = -1;
      const auto narrow = [&](int64_t length) {
        if (length <= less || length >= enough || deadline_.Passed()) return;
        const std::optional<Input> cut = maker_.Cut(input, param, length);
        (cut && Completes(*cut) ? enough : less) = length;
      };
      // Most programs need as many elements as a number of theirs or another buffer says: two runs instead of one for each bit.
      narrow(enough - 1);
      for (const int64_t guess : guesses) {
        narrow(guess);
        narrow(guess - 1);
      }
      while (enough - less > 1 && !deadline_.Passed()) narrow(less + (enough - less) / 2);
      guesses.insert(guesses.begin(), enough);
      if (deadline_.Passed()) return false;
      for (const int64_t length : {less, enough, enough * 3 / 4, enough / 2, enough / 16}) {
        const std::optional<Input> cut =
            length < 0 ? std::nullopt : maker_.Cut(input, param, length);
        if (cut && Differs(*cut, for_stretched_)) return true;
      }
    }
  }
  return false;
}

void LoweringJudge::KeepBase(const Input& input) {
  constexpr uint64_t Most[] = {20'000, 1'100, 13'000};  // the last: some blocks of a fold
  if (HasShared(input)) return;
  // Of long buffers the program may look at few elements.
  uint64_t used = 0;
  bool has_sizes = false;
  for (size_t i = 0; i < input.arguments.size(); ++i) {
    const ir::Type type = pair_.space.entry->param_type(static_cast<uint32_t>(i));
    if (!type.is_scalar() || ir::WordsOf(type) != 1 || !ir::IsFixedInt(type.scalar)) continue;
    has_sizes = true;
    if (input.arguments[i].word <= input.lanes) used = std::max(used, input.arguments[i].word);
  }
  if (!has_sizes) used = input.lanes;
  const uint64_t sizes[] = {CostOf(input), used, used};
  for (size_t i = 0; i < bases_.size(); ++i)
    if (sizes[i] <= Most[i] && sizes[i] > bases_[i].size &&
        input.lanes <= std::max<uint64_t>(4 * sizes[i], Most[i]))
      bases_[i] = {sizes[i], input};
}

bool LoweringJudge::FlavorDiffers() {
  meaning_.SetNumber(std::nullopt);
  random_ = Random(Seed() + " flavors");
  const std::vector<InputMaker::Flavor> usual = maker_.Flavors();
  const std::vector<InputMaker::Flavor> decisive = maker_.DecisiveFlavors();
  const std::array<Base, 3> bases = bases_;
  for (size_t i = 0; i < bases.size(); ++i) {
    const std::optional<Input>& base = bases[i].input;
    if (!base || (i == 2 && bases[2].size == bases[1].size)) continue;
    // Each meets lowered thresholds and those that the code has.
    watched_.Lower(i == 0);
    std::vector<InputMaker::Flavor> flavors;
    if (i < 2) flavors = usual;
    if (i > 0) flavors.insert(flavors.end(), decisive.begin(), decisive.end());
    for (const InputMaker::Flavor& flavor : flavors) {
      const bool is_far = flavor.kind == InputMaker::Flavor::Kind::Far;
      const bool can_stop = !watched_.blocks().empty();
      const uint64_t undecided = undecided_;
      for (const bool only_floats : {false, true}) {
        if (deadline_.Passed()) return false;
        const std::optional<Input> input = maker_.WithFlavor(*base, flavor, only_floats);
        if (!input) continue;
        const uint64_t completed = inputs_ - trapped_;
        if (Differs(*input, is_far && i == 1 && can_stop ? for_far_ : for_stretched_)) return true;
        if (is_far || inputs_ - trapped_ > completed) break;
      }
      undecided_ = undecided;  // too long ones say nothing
    }
  }
  return false;
}

bool LoweringJudge::Completes(const Input& input) {
  exec::RunContext context;
  context.input = input.input;
  context.hints = input.hints;
  context.limits = StretchedLimits(options_.limits, deadline_.LeftMs());
  context.limits.fuel = CutFuel;
  const Input copy = CopyOf(input);
  const Result<exec::Outcome> outcome = meaning_.Run(copy.arguments, context);
  return outcome && !outcome->trap;
}

bool LoweringJudge::FuelDiffers() {
  constexpr uint64_t Fuels[] = {0, 1, 2, 3, 5, 8, 13, 29, 64, 300};
  if (!make_fueled_) return false;
  meaning_.SetNumber(std::nullopt);
  watched_.Lower(false);
  std::vector<Input> inputs;
  for (size_t n = 0; n < std::min(MostFuelInputs, fruitful_.size()); ++n)
    inputs.push_back(fruitful_[fruitful_.size() - 1 - n]);
  random_ = Random(Seed() + " fuel");
  for (size_t n = 0; n < 2 * MostFuelInputs; ++n)
    if (std::optional<Input> input = maker_.Stretch(n)) inputs.push_back(std::move(*input));
  for (const Input& input : inputs)
    for (const uint64_t fuel : Fuels)
      if (!deadline_.Passed() && Differs(input, make_fueled_(fuel))) return true;
  return false;
}

std::vector<uint32_t> LoweringJudge::MissingBlocks() const {
  std::vector<uint32_t> missing;
  for (size_t i = 0; i < watched_.blocks().size(); ++i) {
    const CodeBlock& block = watched_.blocks()[i];
    if (!HasRun(i) && !block.is_jump && !IsPlainTrap(block)) missing.push_back(block.begin);
  }
  return missing;
}

std::vector<uint32_t> LoweringJudge::MissingTurns() const {
  std::vector<uint32_t> missing;
  for (size_t i = 0; i < watched_.branches().size(); ++i)
    if (watched_.branches()[i].is_turn && !watched_.WasTaken(i))
      missing.push_back(watched_.branches()[i].place);
  return missing;
}

size_t LoweringJudge::CountTurns() const {
  return static_cast<size_t>(std::ranges::count_if(watched_.branches(), &CodeBranch::is_turn));
}

bool LoweringJudge::IsPlainTrap(const CodeBlock& block) const {
  if (!block.exit || block.exit->status < 1 || block.exit->status > ir::TrapCount) return false;
  return traps_.contains({block.exit->status - 1, block.exit->op});
}

}  // namespace frazil::verify
