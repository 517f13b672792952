#include "targets/native/border_finder.h"

#include <algorithm>

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
constexpr int64_t MostTurns = 64;  // of a border

class Questions {
 public:
  Questions(const ir::Program& program, const Function& function)
      : function_(function), ranges_(program, function), forms_(function) {}

  std::optional<BorderSplit> Find(const Inst& loop) {
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
    if (!Visit(body, count) || !has_store_) return std::nullopt;
    if (split_.bounds.empty()) CutAtElement(body);
    if (split_.bounds.empty() || !split_.pays || split_.bounds.size() > MostBounds)
      return std::nullopt;
    if (!IsOneQuestion(split_) &&
        !std::ranges::all_of(split_.bounds,
                             [&](const BorderBound& bound) { return IsNear(bound); }))
      return std::nullopt;
    return std::move(split_);
  }

 private:
  // Does it leave a few turns out? Borders run one by one: of a remainder whose divisor is not the loop's length, nearly all
  // turns would be one (batch_normalization's plane % channels).
  bool IsNear(const BorderBound& bound) const {
    if (bound.form.size() != 0 || bound.shift > MostTurns || bound.shift < -MostTurns) return false;
    if (bound.is_lower) return !bound.value.valid();
    return bound.value.valid() && RootOf(bound.value) == RootOf(end_);
  }

  // Without casts, and numbers that are added.
  ValueId RootOf(ValueId value) const {
    for (int step = 0; step < 4; ++step) {
      const InstId def = function_.values[value.index].def;
      if (!def.valid()) break;
      const Inst& inst = function_.inst(def);
      auto is_number = [&](uint32_t i) {
        const InstId other = function_.values[function_.operand(inst, i).index].def;
        return other.valid() && function_.inst(other).op == Op::Const;
      };
      if (inst.op == Op::Cast || ((inst.op == Op::Add || inst.op == Op::Sub) && is_number(1)))
        value = function_.operand(inst, 0);
      else
        break;
    }
    return value;
  }

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

  // A turn writes the one element that all of them read: up to it they read what stood there, behind it what it has
  // written (Floyd and Warshall's dist[i, k]). Any cut is right, and the vector code tests what it needs.
  void CutAtElement(ir::RegionId body) {
    const std::vector<InstId>& insts = function_.region(body).insts;
    for (InstId store_id : insts) {
      const Inst& store = function_.inst(store_id);
      if (store.op != Op::Store) continue;
      const IndexForm& written = forms_.Of(function_.operand(store, 1));
      const std::optional<IndexForm> slope = written.Coefficient(counter_);
      if (!slope || slope->constant() != 1) continue;
      for (InstId load_id : insts) {
        const Inst& load = function_.inst(load_id);
        if (load.op != Op::Load || function_.operand(load, 0) != function_.operand(store, 0))
          continue;
        const IndexForm& read = forms_.Of(function_.operand(load, 1));
        if (read.Mentions(counter_)) continue;
        split_.bounds.push_back({true, ValueId(), written.Without(counter_) - read, -1});
        split_.pays = true;
        return;
      }
    }
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

  size_t Add(BorderBound bound) {
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
    BorderAnswer answer{is_lower ? !is_below : is_below};
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
  BorderSplit split_;
};

class Rings {
 public:
  Rings(const ir::Program& program, const Function& function)
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

}  // namespace

bool IsOneQuestion(const BorderSplit& split) {
  return split.bounds.size() == 1 && !split.leans &&
         std::ranges::all_of(split.answers,
                             [](const auto& entry) { return entry.second.decides.has_value(); });
}

struct BorderFinder::Parts {
  Questions questions;
  Rings rings;
};

BorderFinder::BorderFinder(const ir::Program& program, const Function& function)
    : parts_(new Parts{{program, function}, {program, function}}) {}
BorderFinder::~BorderFinder() = default;

std::optional<BorderSplit> BorderFinder::Find(const Inst& loop) {
  return parts_->questions.Find(loop);
}

std::optional<Ring> BorderFinder::FindRing(const Inst& remainder) {
  return parts_->rings.Find(remainder);
}

}  // namespace frazil::targets::native
