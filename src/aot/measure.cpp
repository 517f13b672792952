// Loop bounds are followed back to parameters through casts; what cannot be followed counts as a few iterations. The
// picoseconds of an op are those of a core with 512-bit vectors (measured on Zen 4: 0.044 ns for one element of a sum of
// two arrays), which makes estimates low on any other: a launch is then shared by threads later than it could be, and
// never too early.
#include "aot/measure.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace frazil::aot {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::RegionId;
using ir::ValueId;

constexpr int64_t UnknownTrips = 4;
constexpr int MostDepth = 8;  // of calls that are followed
constexpr size_t MostTerms = 6;

bool EndsRegion(Op op) { return op == Op::Yield || op == Op::Return || op == Op::Condition; }

// Where each parameter's words begin, and what a bound is made of.
class Bounds {
 public:
  explicit Bounds(const Function& function) : function_(function) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < function.param_count(); ++i) {
      words_.push_back(word);
      word += function.param_type(i).is_buffer() ? 2 : 1;
    }
  }

  std::optional<uint32_t> Ordinal(ValueId value) const {
    if (function_.param_count() == 0) return {};
    const uint32_t begin = function_.param(0).index;
    if (value.index < begin || value.index - begin >= function_.param_count()) return {};
    return value.index - begin;
  }

  ValueId BehindCasts(ValueId value) const {
    for (;;) {
      const InstId def = function_.values[value.index].def;
      if (!def.valid() || function_.inst(def).op != Op::Cast) return value;
      value = function_.operand(function_.inst(def), 0);
    }
  }

  std::optional<int64_t> Constant(ValueId value) const {
    const InstId def = function_.values[BehindCasts(value).index].def;
    if (!def.valid() || function_.inst(def).op != Op::Const) return {};
    const Inst& inst = function_.inst(def);
    if (!ir::IsFixedInt(inst.type.scalar)) return {};
    return function_.word(inst, 0);
  }

  // A scalar parameter's word, or a length's.
  std::optional<uint8_t> Word(ValueId value) const {
    value = BehindCasts(value);
    if (const auto param = Ordinal(value))
      return ir::IsFixedInt(function_.type(value).scalar) ? Small(words_[*param]) : std::nullopt;
    const InstId def = function_.values[value.index].def;
    if (!def.valid() || function_.inst(def).op != Op::Length) return {};
    const auto buffer = Ordinal(function_.operand(function_.inst(def), 0));
    return buffer ? Small(words_[*buffer] + 1) : std::nullopt;
  }

 private:
  static std::optional<uint8_t> Small(uint32_t word) {
    if (word >= embed::NoFactor) return {};
    return static_cast<uint8_t>(word);
  }
  const Function& function_;
  std::vector<uint32_t> words_;
};

double BytesCost(ir::Type type) { return 4.0 * ir::BytesOf(type.element()); }

double CostOf(const Inst& inst) {
  const double width = std::max(1.0, ir::BytesOf(inst.type.element()) / 4.0);
  if (ir::Info(inst.op).law == ir::Law::Prelude) return 150 * width;
  switch (inst.op) {
    case Op::Const:
    case Op::Length: return 0;
    case Op::Load:
    case Op::Store:
    case Op::Lookup: return BytesCost(inst.type);
    case Op::AtomicRmw:
    case Op::AtomicCas: return 1000;
    case Op::Div:
    case Op::Sqrt: return 40 * width;
    case Op::DivTrunc:
    case Op::DivFloor:
    case Op::RemTrunc:
    case Op::RemFloor: return 200 * width;
    default: return 4 * width;
  }
}

// The factors of a product, sorted; the map keeps terms with the same factors together.
using Factors = std::vector<uint8_t>;
using Terms = std::map<Factors, double>;

class WorkEstimate {
 public:
  explicit WorkEstimate(const ir::Program& program)
      : program_(program), bounds_(program.entry_function()) {}

  Terms Run() {
    Terms terms;
    Visit(program_.entry_function(), program_.entry_function().body, {}, 1, 0, terms);
    return terms;
  }

 private:
  bool IsEntry(const Function& function) const { return &function == &program_.entry_function(); }

  void Loop(const Function& function, const Inst& inst, Factors factors, double scale, int depth,
            Terms& terms) {
    double trips = UnknownTrips;
    if (inst.op != Op::While && IsEntry(function)) {
      const auto low = bounds_.Constant(function.operand(inst, 0));
      const auto high = bounds_.Constant(function.operand(inst, 1));
      const int64_t step = inst.op == Op::For ? std::max<int64_t>(1, function.word(inst, 0)) : 1;
      const auto word = bounds_.Word(function.operand(inst, 1));
      if (low && high) {
        trips = static_cast<double>(std::max<int64_t>(0, *high - *low)) / static_cast<double>(step);
      } else if (word && low && factors.size() < std::size(embed::WorkTerm().factors)) {
        factors.insert(std::ranges::upper_bound(factors, *word), *word);
        trips = 1.0 / static_cast<double>(step);
      }
    }
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      Visit(function, Function::region_of(inst, r), factors, scale * trips, depth, terms);
  }

  void Visit(const Function& function, RegionId region, const Factors& factors, double scale,
             int depth, Terms& terms) {
    for (const InstId id : function.region(region).insts) {
      const Inst& inst = function.inst(id);
      switch (inst.op) {
        case Op::For:
        case Op::Parallel:
        case Op::While: Loop(function, inst, factors, scale, depth, terms); break;
        case Op::If:
        case Op::Switch:
          for (uint32_t r = 0; r < inst.regions.count; ++r)
            Visit(function, Function::region_of(inst, r), factors, scale / inst.regions.count,
                  depth, terms);
          break;
        case Op::Call: {
          const Function& callee = program_.functions[static_cast<size_t>(function.word(inst, 0))];
          if (depth < MostDepth) Visit(callee, callee.body, factors, scale, depth + 1, terms);
          break;
        }
        default:
          if (!EndsRegion(inst.op)) terms[factors] += scale * CostOf(inst);
      }
    }
  }

  const ir::Program& program_;
  Bounds bounds_;
};

class TrafficCount {
 public:
  explicit TrafficCount(const Function& function) : function_(function), bounds_(function) {}

  Traffic Run() {
    Outermost(function_.body);
    if (!found_) Visit(function_.body, 1);
    return traffic_;
  }

 private:
  void Outermost(RegionId region) {
    for (const InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (inst.op != Op::Parallel) continue;
      found_ = true;
      Visit(Function::region_of(inst, 0), 1);
    }
  }

  void Visit(RegionId region, uint64_t scale) {
    for (const InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      uint64_t times = scale;
      if (inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::While) {
        const auto trips = inst.op == Op::While ? std::nullopt : KnownTrips(inst);
        times *= trips.value_or(1);
        traffic_.more |= !trips;
      }
      const bool is_buffer_op = inst.op == Op::Load || inst.op == Op::Store ||
                                inst.op == Op::AtomicRmw || inst.op == Op::AtomicCas;
      if (is_buffer_op && bounds_.Ordinal(function_.operand(inst, 0))) {
        const bool twice = inst.op == Op::AtomicRmw || inst.op == Op::AtomicCas;
        traffic_.bytes += scale * ir::BytesOf(inst.type.element()) * (twice ? 2 : 1);
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r) Visit(Function::region_of(inst, r), times);
    }
  }

  std::optional<uint64_t> KnownTrips(const Inst& inst) const {
    const auto low = bounds_.Constant(function_.operand(inst, 0));
    const auto high = bounds_.Constant(function_.operand(inst, 1));
    if (!low || !high) return {};
    const int64_t step = inst.op == Op::For ? std::max<int64_t>(1, function_.word(inst, 0)) : 1;
    return static_cast<uint64_t>(std::max<int64_t>(0, (*high - *low + step - 1) / step));
  }

  const Function& function_;
  Bounds bounds_;
  Traffic traffic_;
  bool found_ = false;
};

// The value that a bound is, behind at most one cast: a chain of them may change the number.
std::optional<ValueId> PlainBound(const Function& function, const Bounds& bounds, ValueId bound) {
  const ValueId value = bounds.BehindCasts(bound);
  if (value == bound) return value;
  const InstId def = function.values[bound.index].def;
  if (function.operand(function.inst(def), 0) == value) return value;
  return {};
}

// Parallels that the entry reaches without a condition, each with the word of its bound.
void CoverRegion(const Function& function, const Bounds& bounds, RegionId region,
                 std::vector<embed::PairData>& pairs) {
  for (const InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    if (inst.op != Op::Parallel) continue;
    const auto low = bounds.Constant(function.operand(inst, 0));
    const auto bound = PlainBound(function, bounds, function.operand(inst, 1));
    const auto extent = bound ? bounds.Ordinal(*bound) : std::nullopt;
    if (!extent || !low || *low != 0 || !function.type(function.param(*extent)).is_scalar())
      continue;
    const RegionId body = Function::region_of(inst, 0);
    const ValueId counter = Function::param_of(function.region(body), 0);
    for (const InstId access : function.region(body).insts) {
      const Inst& each = function.inst(access);
      if (each.op != Op::Load && each.op != Op::Store) continue;
      const auto buffer = bounds.Ordinal(function.operand(each, 0));
      if (buffer && function.operand(each, 1) == counter)
        pairs.push_back({static_cast<uint16_t>(*extent), static_cast<uint16_t>(*buffer)});
    }
  }
}

void Reach(const ir::Program& program, size_t function, std::set<size_t>& reached) {
  if (!reached.insert(function).second) return;
  for (const Inst& inst : program.functions[function].insts)
    if (inst.op == Op::Call)
      Reach(program, static_cast<size_t>(program.functions[function].word(inst, 0)), reached);
}

}  // namespace

uint64_t CountOps(const ir::Program& program) {
  std::set<size_t> reached;
  Reach(program, program.entry.index, reached);
  uint64_t count = 0;
  for (const size_t f : reached) {
    const Function& function = program.functions[f];
    for (const ir::Region& region : function.regions)
      for (const InstId id : region.insts) count += EndsRegion(function.inst(id).op) ? 0 : 1;
  }
  return count;
}

Traffic TrafficOf(const ir::Program& program) {
  return TrafficCount(program.entry_function()).Run();
}

std::vector<embed::WorkTerm> EstimateWork(const ir::Program& program) {
  std::vector<embed::WorkTerm> work;
  for (const auto& [factors, picoseconds] : WorkEstimate(program).Run()) {
    // What does not depend on the launch is small.
    if (factors.empty() || picoseconds < 0.5) continue;
    embed::WorkTerm term{static_cast<uint32_t>(std::min(picoseconds, 4e9)), {}};
    std::ranges::fill(term.factors, embed::NoFactor);
    std::ranges::copy(factors, term.factors);
    work.push_back(term);
  }
  // The largest first: by the number of factors, then by the time; the words only make it definite.
  std::ranges::sort(work, std::ranges::greater(), [](const embed::WorkTerm& term) {
    return std::tuple(
        std::ranges::count_if(term.factors, [](uint8_t f) { return f != embed::NoFactor; }),
        term.picoseconds, std::to_array(term.factors));
  });
  if (work.size() > MostTerms) work.resize(MostTerms);
  return work;
}

uint16_t TripsWord(const ir::Program& program) {
  const Function& function = program.entry_function();
  const Bounds bounds(function);
  uint16_t word = embed::NoWord;
  int parallels = 0;
  for (const InstId id : function.region(function.body).insts) {
    const Inst& inst = function.inst(id);
    if (inst.op != Op::Parallel) continue;
    ++parallels;
    const auto low = bounds.Constant(function.operand(inst, 0));
    const auto high = PlainBound(function, bounds, function.operand(inst, 1));
    const auto found = high ? bounds.Word(*high) : std::nullopt;
    if (low && *low == 0 && found) word = *found;
  }
  return parallels == 1 ? word : embed::NoWord;
}

std::vector<embed::PairData> CoveredBuffers(const ir::Program& program) {
  const Function& function = program.entry_function();
  std::vector<embed::PairData> pairs;
  if (function.param_count() == 0) return pairs;
  CoverRegion(function, Bounds(function), function.body, pairs);
  std::ranges::sort(pairs, {},
                    [](const embed::PairData& p) { return std::pair(p.first, p.second); });
  const auto same =
      std::ranges::unique(pairs, [](const embed::PairData& a, const embed::PairData& b) {
        return a.first == b.first && a.second == b.second;
      });
  pairs.erase(same.begin(), same.end());
  return pairs;
}

}  // namespace frazil::aot
