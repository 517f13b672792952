// A question is a comparison of "counter + something" with a value that is known before the loop, or a min, max or
// remainder that holds one. Each gives a bound: from it on, or up to it, the answer is known. Bounds are sums of numbers
// whose ranges are known and small, so that none of this wraps. The parts are run in the order of the turns, so that the
// first trap stays the first.
#include "targets/native/split_borders.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/clone.h"
#include "ir/facts/homes.h"
#include "targets/llvm/ranges.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;
using Whole = __int128;

constexpr Whole Far = Whole{1} << 60;  // sums of a few such numbers do not wrap
constexpr size_t MostInsts = 300;      // of a body: it is copied three times
constexpr size_t MostBounds = 8;

// In between, the counter is at least, or below, value - form - shift.
struct Bound {
  bool is_lower;
  ValueId value;  // invalid: 0
  IndexForm form;
  int64_t shift;
  friend bool operator==(const Bound&, const Bound&) = default;
};

// What an instruction gives in between.
struct Answer {
  std::optional<bool> known;  // a comparison
  uint32_t operand = 0;       // min, max: which of the two; remainder: the first
  uint64_t times = 0;         // remainder: less so many times the divisor
  std::optional<size_t> decides =
      std::nullopt;  // the bound that alone decides it, on both of its sides
};

struct Split {
  std::vector<Bound> bounds;
  std::map<uint32_t, Answer> answers;  // by value
  bool pays = false;
  bool leans = false;  // one answer rests on another: then they hold in between only
};

bool IsPlain(const Inst& inst) { return IsRemovable(ir::Info(inst.op)) && inst.regions.count == 0; }

class BorderFinder {
 public:
  BorderFinder(const ir::Program& program, const Function& function)
      : function_(function), ranges_(program, function), forms_(function) {}

  std::optional<Split> Find(const Inst& loop) {
    if (loop.op != Op::Parallel) return std::nullopt;
    const ir::RegionId body = Function::region_of(loop, 0);
    counter_ = CounterOf(function_, loop);
    end_ = function_.operand(loop, 1);
    const IntRange end = ranges_.Int(end_);
    if (ranges_.Int(function_.operand(loop, 0)).low < 0) return std::nullopt;
    is_short_ = end.high <= Far;
    split_ = {};
    inner_.clear();
    inside_.assign(function_.values.size(), false);
    ir::VisitValuesInside(function_, body, [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) inside_[values.begin + i] = true;
    });
    size_t count = 0;
    has_store_ = false;
    if (!Visit(body, count) || !has_store_ || split_.bounds.empty() || !split_.pays ||
        split_.bounds.size() > MostBounds)
      return std::nullopt;
    return std::move(split_);
  }

 private:
  struct Place {
    IndexForm known;    // besides the counter, before the loop
    Whole low, high;    // and what the loop itself adds
    Whole least, most;  // of known and that together
  };

  // False: nothing is split.
  bool Visit(ir::RegionId region, size_t& count) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (++count > MostInsts || inst.op == Op::Parallel || inst.op == Op::While ||
          inst.op == Op::Alloc || inst.op == Op::AtomicRmw || inst.op == Op::AtomicCas)
        return false;
      has_store_ = has_store_ || inst.op == Op::Store;
      if (inst.results.count == 1 && inst.regions.count == 0) Ask(inst);
      if (inst.op == Op::If && IsAnswered(function_.operand(inst, 0))) split_.pays = true;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        if (!Visit(Function::region_of(inst, r), count)) return false;
    }
    return true;
  }

  // Does an answer leave less of the condition?
  bool IsAnswered(ValueId condition) const {
    if (split_.answers.contains(condition.index)) return true;
    const InstId def = function_.values[condition.index].def;
    if (!def.valid() || function_.inst(def).op != Op::And) return false;
    return IsAnswered(function_.operand(function_.inst(def), 0)) ||
           IsAnswered(function_.operand(function_.inst(def), 1));
  }

  void Ask(const Inst& inst) {
    const ValueId result = Function::result_of(inst);
    switch (inst.op) {
      case Op::Lt:
      case Op::Le:
      case Op::Gt:
      case Op::Ge: return AskComparison(inst, result);
      case Op::Min:
      case Op::Max: return AskExtreme(inst, result);
      case Op::RemFloor:
      case Op::RemTrunc: return AskRemainder(inst, result);
      case Op::Select:
        if (inst.type == ir::types::Index &&
            split_.answers.contains(function_.operand(inst, 0).index))
          split_.pays = true;
        return;
      default: return;
    }
  }

  // The value as counter + something, in between.
  std::optional<Place> PlaceOf(ValueId value) {
    if (function_.type(value) != ir::types::Index) return std::nullopt;
    const IndexForm& form = FormOf(value);
    std::optional<IndexForm> slope = form.Coefficient(counter_);
    if (!slope || slope->constant() != 1) return std::nullopt;
    Place place{{}, 0, 0, 0, 0};
    for (const auto& [product, coefficient] : form.Without(counter_).terms()) {
      if (product.size() > 1) return std::nullopt;
      const Whole factor = static_cast<int64_t>(coefficient);
      if (factor > INT32_MAX || factor < INT32_MIN) return std::nullopt;
      IntRange range = {1, 1};
      if (product.size() == 1) range = ranges_.Int(ValueId(product[0]));
      if (range.low < -Far || range.high > Far) return std::nullopt;
      const Whole a = range.low * factor, b = range.high * factor;
      place.least += std::min(a, b);
      place.most += std::max(a, b);
      if (product.size() == 1 && inside_[product[0]]) {
        place.low += std::min(a, b);
        place.high += std::max(a, b);
      } else {
        IndexForm term = IndexForm::Constant(coefficient);
        if (product.size() == 1) term = term * IndexForm::Of(ValueId(product[0]));
        place.known = place.known + term;
      }
    }
    if (place.least < -Far || place.most > Far || place.low < -Far || place.high > Far)
      return std::nullopt;
    return place;
  }

  // Sums and differences, with what the answers so far say.
  const IndexForm& FormOf(ValueId value) {
    if (auto found = inner_.find(value.index); found != inner_.end()) return found->second;
    IndexForm form = IndexForm::Of(value);
    const InstId def = function_.values[value.index].def;
    if (def.valid() && inside_[value.index] && function_.type(value) == ir::types::Index) {
      const Inst& inst = function_.inst(def);
      auto operand = [&](uint32_t i) -> IndexForm {
        return IndexForm(FormOf(function_.operand(inst, i)));
      };
      const auto answer = split_.answers.find(value.index);
      if (answer != split_.answers.end()) {
        split_.leans = true;
        form = operand(answer->second.operand);
        if (answer->second.times != 0)
          form = form - IndexForm::Constant(answer->second.times) * operand(1);
      } else if (inst.op == Op::Const) {
        form = IndexForm::Constant(static_cast<uint64_t>(function_.word(inst, 0)));
      } else if (inst.op == Op::Select &&
                 split_.answers.contains(function_.operand(inst, 0).index)) {
        split_.leans = true;
        form = operand(*split_.answers[function_.operand(inst, 0).index].known ? 1 : 2);
      } else if (inst.op == Op::Add || inst.op == Op::Sub) {
        const IndexForm a = operand(0), b = operand(1);
        form = inst.op == Op::Add ? a + b : a - b;
        if (form.size() > 8) form = IndexForm::Of(value);
      }
    } else if (!inside_[value.index]) {
      const IndexForm& outside = forms_.Of(value);
      if (outside.degree() <= 1) form = outside;
    }
    return inner_.emplace(value.index, std::move(form)).first->second;
  }

  // Known before the loop, and small.
  bool IsKnown(ValueId value) {
    const IntRange range = ranges_.Int(value);
    const bool is_here = inside_[value.index] && !ConstantOf(value);
    return !is_here && function_.type(value) == ir::types::Index && range.low >= -Far &&
           range.high <= Far;
  }
  std::optional<int64_t> ConstantOf(ValueId value) { return forms_.Of(value).constant(); }

  size_t Add(Bound bound) {
    // A number is a number, wherever it is made.
    if (bound.value.valid())
      if (const auto number = ConstantOf(bound.value)) {
        bound.shift -= *number;
        bound.value = ValueId();
      }
    if (const auto number = bound.form.constant()) {
      bound.shift += *number;
      bound.form = {};
    }
    const auto found = std::ranges::find(split_.bounds, bound);
    if (found != split_.bounds.end()) return static_cast<size_t>(found - split_.bounds.begin());
    split_.bounds.push_back(std::move(bound));
    return split_.bounds.size() - 1;
  }

  // From the first turn on where counter + place >= value + more, whatever the loop adds.
  std::optional<size_t> AddLower(const Place& place, ValueId value, int64_t more) {
    // Far behind the bound the sum must not wrap either.
    if (place.most > 0 && !is_short_) return std::nullopt;
    return Add({true, value, place.known, static_cast<int64_t>(place.low) - more});
  }
  // Below the first turn where counter + place >= value + more.
  size_t AddUpper(const Place& place, ValueId value, int64_t more) {
    return Add({false, value, place.known, static_cast<int64_t>(place.high) - more});
  }

  void AskComparison(const Inst& inst, ValueId result) {
    const ValueId a = function_.operand(inst, 0), b = function_.operand(inst, 1);
    const bool is_first = IsKnown(b);
    const ValueId value = is_first ? b : a;
    const std::optional<Place> place = PlaceOf(is_first ? a : b);
    if (!place || !IsKnown(value)) return;
    // counter + place < value, or <=; or the opposite of that.
    const bool is_below = (inst.op == Op::Lt || inst.op == Op::Le) == is_first;
    const bool is_strict = inst.op == Op::Lt || inst.op == Op::Gt;
    const int64_t more = is_below == is_strict ? 0 : 1;
    // A number stands near the first turn; what differs from the end by a number, near the last.
    const bool near_end = (forms_.Of(end_) - forms_.Of(value)).constant().has_value();
    const bool is_lower = !near_end && (ConstantOf(value) || !is_below);
    const std::optional<size_t> bound =
        is_lower ? AddLower(*place, value, more) : AddUpper(*place, value, more);
    if (!bound) return;
    Answer answer{is_lower ? !is_below : is_below};
    if (place->low == place->high) answer.decides = bound;
    split_.answers[result.index] = answer;
  }

  void AskExtreme(const Inst& inst, ValueId result) {
    for (uint32_t i : {0u, 1u}) {
      const ValueId value = function_.operand(inst, 1 - i);
      if (!IsKnown(value)) continue;
      const std::optional<Place> place = PlaceOf(function_.operand(inst, i));
      if (!place) continue;
      const bool is_max = inst.op == Op::Max;
      if (is_max ? !AddLower(*place, value, 0) : (AddUpper(*place, value, 1), false)) return;
      split_.answers[result.index] = {std::nullopt, i};
      split_.pays = true;
      return;
    }
  }

  // x % w is x where 0 <= x < w; so is (x + w) % w.
  void AskRemainder(const Inst& inst, ValueId result) {
    const ValueId divisor = function_.operand(inst, 1);
    if (!IsKnown(divisor) || ranges_.Int(divisor).low < 0 || ConstantOf(divisor)) return;
    std::optional<Place> place = PlaceOf(function_.operand(inst, 0));
    if (!place) return;
    const std::optional<IndexForm> times = place->known.Coefficient(divisor);
    const std::optional<int64_t> number = times ? times->constant() : std::nullopt;
    if (!number || *number < 0 || *number > 2) return;
    if (inst.op == Op::RemTrunc && *number != 0) return;
    place->known = place->known.Without(divisor);
    if (!AddLower(*place, ValueId(), 0)) return;
    AddUpper(*place, divisor, 0);
    split_.answers[result.index] = {std::nullopt, 0, static_cast<uint64_t>(*number)};
    split_.pays = true;
  }

  const Function& function_;
  ValueRanges ranges_;
  IndexForms forms_;
  ValueId counter_, end_;
  bool is_short_ = false;  // the counter is far from the end of its type
  bool has_store_ = false;
  std::vector<bool> inside_;
  std::map<uint32_t, IndexForm> inner_;
  Split split_;
};

// A neighbor on a ring: (x + k w + c) % w with 0 <= x < w and c of -1, 0, 1. No division, no long way for long numbers that
// no input of a judge has.
struct Ring {
  ValueId counter;
  int64_t step;
};

class RingFinder {
 public:
  RingFinder(const ir::Program& program, const Function& function)
      : function_(function), ranges_(program, function), forms_(function) {
    for (const Inst& inst : function.insts)
      if (inst.op == Op::Parallel || (inst.op == Op::For && function.word(inst, 0) == 1))
        loops_.emplace(CounterOf(function, inst).index, &inst);
  }

  std::optional<Ring> Find(const Inst& inst) {
    if (inst.op != Op::RemFloor || inst.type != ir::types::Index) return std::nullopt;
    const ValueId divisor = function_.operand(inst, 1);
    if (ranges_.Int(divisor).high > Far) return std::nullopt;
    const IndexForm& form = forms_.Of(function_.operand(inst, 0));
    for (ValueId atom : form.Atoms()) {
      const auto loop = loops_.find(atom.index);
      if (loop == loops_.end() || function_.operand(*loop->second, 1) != divisor ||
          ranges_.Int(function_.operand(*loop->second, 0)).low < 0)
        continue;
      const IndexForm rest = form - IndexForm::Of(atom);
      const std::optional<IndexForm> times = rest.Coefficient(divisor);
      const std::optional<int64_t> rounds = times ? times->constant() : std::nullopt;
      const std::optional<int64_t> step = rest.Without(divisor).constant();
      if (rounds && *rounds >= 0 && *rounds <= 2 && step && *step >= -1 && *step <= 1)
        return Ring{atom, *step};
    }
    return std::nullopt;
  }

 private:
  const Function& function_;
  ValueRanges ranges_;
  IndexForms forms_;
  std::map<uint32_t, const Inst*> loops_;
};

class BorderCloner : public ir::Cloner {
 public:
  BorderCloner(const ir::Program& program, const Function& source, ir::FunctionBuilder& builder,
               std::set<uint32_t>& borders)
      : Cloner(source, builder),
        finder_(program, source),
        rings_(program, source),
        borders_(borders) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (split_ != nullptr) return VisitInside(inst);
    if (CopyRing(inst)) return {};
    const std::optional<Split> split = finder_.Find(inst);
    if (!split || !AreBound(*split)) return CopyInst(inst);
    const ValueId lo = Get(source_.operand(inst, 0)), hi = Get(source_.operand(inst, 1));
    ValueId first = lo, last = hi;
    for (const Bound& bound : split->bounds) {
      const ValueId value = Evaluate(bound);
      if (bound.is_lower)
        first = builder_.Binary(Op::Max, first, value);
      else
        last = builder_.Binary(Op::Min, last, value);
    }
    if (split->bounds.size() == 1 && DecidesAll(*split)) {
      // One question only: both of its sides are loops in their own right.
      const bool is_lower = split->bounds[0].is_lower;
      const ValueId middle = is_lower ? builder_.Binary(Op::Min, first, hi) : last;
      TRY_VOID(CopyPart(inst, *split, is_lower ? Part::Other : Part::Between, lo, middle));
      const ValueId rest = is_lower ? first : builder_.Binary(Op::Max, last, lo);
      return CopyPart(inst, *split, is_lower ? Part::Between : Part::Other, rest, hi);
    }
    if (first != lo)
      TRY_VOID(CopyPart(inst, *split, Part::Border, lo, builder_.Binary(Op::Min, first, hi)));
    TRY_VOID(CopyPart(inst, *split, Part::Between, first, last));
    if (last != hi)
      TRY_VOID(CopyPart(inst, *split, Part::Border, builder_.Binary(Op::Max, first, last), hi));
    return {};
  }

 private:
  enum class Part : uint8_t { Between, Other, Border };

  bool AreBound(const Split& split) const {
    return std::ranges::all_of(split.bounds, [&](const Bound& bound) {
      return (!bound.value.valid() || IsBound(bound.value)) &&
             std::ranges::all_of(bound.form.Atoms(), [&](ValueId atom) { return IsBound(atom); });
    });
  }

  static bool DecidesAll(const Split& split) {
    return !split.leans && std::ranges::all_of(split.answers, [](const auto& entry) {
      return entry.second.decides.has_value();
    });
  }

  ValueId Number(int64_t n) { return builder_.ConstInt(ir::types::Index, n); }

  ValueId Evaluate(const Bound& bound) {
    std::optional<ValueId> value;
    if (bound.value.valid()) value = Get(bound.value);
    for (const auto& [product, coefficient] : bound.form.terms()) {
      ValueId term = Number(-static_cast<int64_t>(coefficient));
      for (uint32_t atom : product) term = builder_.Binary(Op::Mul, term, Get(ValueId(atom)));
      value = value ? builder_.Binary(Op::Add, *value, term) : term;
    }
    if (!value) return Number(-bound.shift);
    return bound.shift == 0 ? *value : builder_.Binary(Op::Sub, *value, Number(bound.shift));
  }

  Result<void> CopyPart(const Inst& loop, const Split& split, Part part, ValueId lo, ValueId hi) {
    const ir::RegionId body = Function::region_of(loop, 0);
    part_ = part;
    split_ = &split;
    builder_.SetLocation(loop.location);
    std::optional<ValueId> guard;
    const Guarded guarded = GuardOf(body, guard);
    if (guarded == Guarded::Never) return split_ = nullptr, Result<void>{};
    std::optional<InstId> branch;
    if (guarded == Guarded::Outside) {
      branch = builder_.Begin(Op::If, ir::Type{}, std::span(&*guard, 1), {}, {}, 2);
      builder_.BeginRegion(*branch, 0, {});
    }
    taken_ = guarded == Guarded::Outside ? GuardIn(body) : InstId();
    const ValueId bounds[] = {lo, hi};
    const ir::Type index = ir::types::Index;
    InstId made = builder_.Begin(Op::Parallel, loop.type, bounds, {}, source_.words_of(loop), 1);
    const ValueId counter = builder_.BeginRegion(made, 0, std::span(&index, 1))[0];
    Bind(CounterOf(source_, loop), counter);
    if (part == Part::Border) borders_.insert(counter.index);
    TRY_VOID(CopyRegion(body));
    builder_.EndRegion();
    if (branch) {
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
      builder_.BeginRegion(*branch, 1, {});
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
    }
    split_ = nullptr;
    taken_ = InstId();
    return {};
  }

  bool CopyRing(const Inst& inst) {
    const std::optional<Ring> ring = rings_.Find(inst);
    if (!ring) return false;
    const ValueId size = Get(source_.operand(inst, 1)), counter = Get(ring->counter);
    ValueId value = counter;
    if (ring->step != 0) {
      const ValueId one = Number(1), zero = Number(0);
      const bool is_up = ring->step > 0;
      const ValueId next = builder_.Binary(is_up ? Op::Add : Op::Sub, counter, one);
      value = is_up ? builder_.Select(builder_.Binary(Op::Lt, next, size), next, zero)
                    : builder_.Select(builder_.Binary(Op::Gt, counter, zero), next,
                                      builder_.Binary(Op::Sub, size, one));
    }
    Bind(Function::result_of(inst), value);
    return true;
  }

  // --- a body that is nothing but a branch ---
  enum class Guarded : uint8_t { No, Never, Outside };

  InstId GuardIn(ir::RegionId body) const {
    InstId found;
    for (InstId id : source_.region(body).insts) {
      const Inst& inst = source_.inst(id);
      if (IsPlain(inst) || inst.op == Op::Yield) continue;
      if (found.valid() || inst.op != Op::If || inst.results.count != 0) return InstId();
      if (source_.region(Function::region_of(inst, 1)).insts.size() != 1) return InstId();
      found = id;
    }
    return found;
  }

  // What is left of its condition may be asked before the loop.
  Guarded GuardOf(ir::RegionId body, std::optional<ValueId>& guard) {
    const InstId id = GuardIn(body);
    if (!id.valid() || part_ == Part::Border) return Guarded::No;
    const ValueId condition = source_.operand(source_.inst(id), 0);
    if (KnownOf(condition) == false) return Guarded::Never;
    return Left(condition, guard) && guard ? Guarded::Outside : Guarded::No;
  }

  bool Left(ValueId condition, std::optional<ValueId>& guard) {
    if (const std::optional<bool> known = KnownOf(condition)) return *known;
    const InstId def = source_.values[condition.index].def;
    if (def.valid() && source_.inst(def).op == Op::And)
      return Left(source_.operand(source_.inst(def), 0), guard) &&
             Left(source_.operand(source_.inst(def), 1), guard);
    if (!IsBound(condition) || WasInside(condition)) return false;
    guard = guard ? builder_.Binary(Op::And, *guard, Get(condition)) : Get(condition);
    return true;
  }

  // Bound by an earlier part, which is over.
  bool WasInside(ValueId value) const { return inside_copies_.contains(value.index); }

  // --- inside of a part ---
  std::optional<bool> KnownOf(ValueId condition) const {
    if (part_ == Part::Border) return std::nullopt;
    const auto answer = split_->answers.find(condition.index);
    if (answer != split_->answers.end() && answer->second.known)
      return *answer->second.known == (part_ == Part::Between);
    const InstId def = source_.values[condition.index].def;
    if (!def.valid() || source_.type(condition) != ir::types::Bool) return std::nullopt;
    const Inst& inst = source_.inst(def);
    if (inst.op != Op::And && inst.op != Op::Or) return std::nullopt;
    const std::optional<bool> a = KnownOf(source_.operand(inst, 0));
    const std::optional<bool> b = KnownOf(source_.operand(inst, 1));
    const bool strong = inst.op == Op::Or;
    if (a == strong || b == strong) return strong;
    return a && b ? std::optional(!strong) : std::nullopt;
  }

  Result<void> VisitInside(const Inst& inst) {
    for (uint32_t i = 0; i < inst.results.count; ++i)
      inside_copies_.insert(Function::result_of(inst, i).index);
    if (part_ == Part::Border) return CopyRing(inst) ? Result<void>{} : CopyInst(inst);
    const InstId id(static_cast<uint32_t>(&inst - source_.insts.data()));
    if (id == taken_) return Inline(inst, 0);
    if (inst.op == Op::If) {
      const std::optional<bool> known = KnownOf(source_.operand(inst, 0));
      return known ? Inline(inst, *known ? 0 : 1) : CopyInst(inst);
    }
    if (inst.results.count != 1) return CopyInst(inst);
    const ValueId result = Function::result_of(inst);
    if (source_.type(result) == ir::types::Bool) {
      if (const std::optional<bool> known = KnownOf(result)) {
        Bind(result, builder_.ConstInt(ir::types::Bool, *known ? 1 : 0));
        return {};
      }
      if (inst.op == Op::And || inst.op == Op::Or)
        for (uint32_t i : {0u, 1u})
          if (KnownOf(source_.operand(inst, i)))
            return Bind(result, Get(source_.operand(inst, 1 - i))), Result<void>{};
    }
    if (inst.op == Op::Select)
      if (const std::optional<bool> known = KnownOf(source_.operand(inst, 0)))
        return Bind(result, Get(source_.operand(inst, *known ? 1 : 2))), Result<void>{};
    const auto answer = split_->answers.find(result.index);
    if (answer == split_->answers.end() || part_ != Part::Between)
      return CopyRing(inst) ? Result<void>{} : CopyInst(inst);
    ValueId value = Get(source_.operand(inst, answer->second.operand));
    for (uint64_t i = 0; i < answer->second.times; ++i)
      value = builder_.Binary(Op::Sub, value, Get(source_.operand(inst, 1)));
    Bind(result, value);
    return {};
  }

  // An arm in the place of its branch.
  Result<void> Inline(const Inst& inst, uint32_t arm) {
    const std::vector<InstId>& insts = source_.region(Function::region_of(inst, arm)).insts;
    TRY_VOID(CopyInsts(std::span(insts).first(insts.size() - 1)));
    const Inst& yield = source_.inst(insts.back());
    for (uint32_t i = 0; i < inst.results.count; ++i)
      Bind(Function::result_of(inst, i), Get(source_.operand(yield, i)));
    return {};
  }

  BorderFinder finder_;
  RingFinder rings_;
  std::set<uint32_t>& borders_;
  const Split* split_ = nullptr;  // of the loop that is being copied
  Part part_ = Part::Border;
  InstId taken_;  // a branch whose condition was asked before the loop
  std::set<uint32_t> inside_copies_;
};

}  // namespace

Result<Borders> SplitBorders(ir::Program& lowered) {
  Borders borders(lowered.functions.size());
  const bool any = std::ranges::any_of(lowered.functions, [&](const Function& function) {
    if (function.is_prelude || std::ranges::none_of(function.insts, [](const Inst& inst) {
          return inst.op == Op::Parallel;
        }))
      return false;
    BorderFinder finder(lowered, function);
    RingFinder rings(lowered, function);
    return std::ranges::any_of(function.insts, [&](const Inst& inst) {
      return finder.Find(inst).has_value() || rings.Find(inst).has_value();
    });
  });
  if (!any) return borders;
  size_t next = 0;
  lowered =
      TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
        BorderCloner cloner(lowered, function, builder, borders[next++]);
        cloner.DeclareParams();
        return cloner.CopyBody();
      }));
  return borders;
}

}  // namespace frazil::targets::native
