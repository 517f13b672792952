// A buffer is followed through the instructions after its alloc; loops with known bounds are gone through index by index, so
// any formula of loop variables counts as long as it can be evaluated.
#include "targets/tasm/words/buffer_plans.h"

#include <algorithm>

namespace frazil::targets::tasm {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Scalar;
using ir::ValueId;

constexpr uint64_t MostLength = 1 << 16;
constexpr uint64_t MostSteps = 200'000;
constexpr uint32_t MostDepth = 16;

bool Uses(const Function& f, const Inst& inst, ValueId buffer) {
  for (ValueId v : f.operands_of(inst))
    if (v == buffer) return true;
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId id : f.region(Function::region_of(inst, r)).insts)
      if (Uses(f, f.inst(id), buffer)) return true;
  return false;
}

bool IsPlainInteger(ir::Type type) {
  return type.scalar == Scalar::U32 || type.scalar == Scalar::U64 || type.scalar == Scalar::Index;
}

std::optional<uint64_t> ConstantOf(const Function& f, ValueId v) {
  const InstId def = f.values[v.index].def;
  if (!def.valid() || f.inst(def).op != Op::Const || !IsPlainInteger(f.type(v)))
    return std::nullopt;
  return static_cast<uint64_t>(f.word(f.inst(def), 0));
}

bool IsZero(const Function& f, ValueId v) {
  const InstId def = f.values[v.index].def;
  if (!def.valid()) return false;
  const Inst& inst = f.inst(def);
  if (inst.op == Op::MakeXField || inst.op == Op::MakeDigest)
    return std::ranges::all_of(f.operands_of(inst), [&](ValueId part) { return IsZero(f, part); });
  if (inst.op != Op::Const) return false;
  return std::ranges::all_of(f.words_of(inst), [](uint64_t word) { return word == 0; });
}

ValueId WithoutCasts(const Function& f, ValueId v) {
  while (true) {
    const InstId def = f.values[v.index].def;
    if (!def.valid() || f.inst(def).op != Op::Cast || !IsPlainInteger(f.type(v))) return v;
    v = f.operand(f.inst(def), 0);
  }
}

// A loop over a whole buffer, in order, that does nothing but one store to each element.
struct WholeLoop {
  ValueId to;
  ValueId value;
  std::optional<ValueId> from;  // element by element
};

std::optional<WholeLoop> ReadWholeLoop(const Function& f, const Inst& inst, uint64_t length) {
  if (inst.op != Op::For || inst.results.count != 0 || f.word(inst, 0) != 1) return std::nullopt;
  if (ConstantOf(f, f.operand(inst, 0)) != 0u || ConstantOf(f, f.operand(inst, 1)) != length)
    return std::nullopt;
  const ir::Region& body = f.region(Function::region_of(inst, 0));
  const ValueId at = Function::param_of(body, 0);
  const Inst *load = nullptr, *store = nullptr;
  for (InstId id : body.insts) {
    const Inst& one = f.inst(id);
    if (one.op == Op::Yield || one.op == Op::Const || one.op == Op::Cast) continue;
    if (one.op == Op::Load && load == nullptr && store == nullptr) {
      load = &one;
    } else if (one.op == Op::Store && store == nullptr) {
      store = &one;
    } else {
      return std::nullopt;
    }
  }
  if (store == nullptr || WithoutCasts(f, f.operand(*store, 1)) != at) return std::nullopt;
  const ValueId value = f.operand(*store, 2);
  WholeLoop loop{f.operand(*store, 0), value, std::nullopt};
  if (load != nullptr) {
    if (WithoutCasts(f, f.operand(*load, 1)) != at || Function::result_of(*load) != value)
      return std::nullopt;
    loop.from = f.operand(*load, 0);
    return loop;
  }
  // A fill: its value comes from outside.
  const InstId def = f.values[value.index].def;
  const bool inside = def.valid() && f.inst(def).op != Op::Const &&
                      std::ranges::find_if(body.insts, [&](InstId id) {
                        return id.index == def.index;
                      }) != body.insts.end();
  if (inside || value == at) return std::nullopt;
  return loop;
}

// What happens to a buffer's elements from some instruction on.
class Walk {
 public:
  Walk(const ir::Program& program, uint64_t length) : program_(program), written_(length) {}

  bool full() const { return count_ == written_.size(); }
  bool reads() const { return reads_; }

  // False: nothing more is to be learned.
  bool Visit(const Function& f, const Inst& inst, ValueId buffer) {
    if (++steps_ > MostSteps) return Reads();
    if (inst.op == Op::For) return VisitFor(f, inst, buffer);
    if (inst.regions.count > 0) return !Uses(f, inst, buffer) || OnlyStores(f, inst, buffer);
    if (!Uses(f, inst, buffer)) return true;
    switch (inst.op) {
      case Op::Length: return true;
      case Op::Store: {
        if (f.operand(inst, 0) != buffer) return Reads();
        const auto at = Evaluate(f, f.operand(inst, 1), 0);
        if (at && *at < written_.size() && !written_[*at]) {
          written_[*at] = true;
          ++count_;
        }
        return !full();
      }
      case Op::Load: {
        const auto at = Evaluate(f, f.operand(inst, 1), 0);
        return (at && *at < written_.size() && written_[*at]) || Reads();
      }
      case Op::Call: return VisitCall(f, inst, buffer);
      default: return Reads();
    }
  }

 private:
  using Known = std::map<uint32_t, uint64_t>;

  bool Reads() {
    reads_ = true;
    return false;
  }

  bool VisitRegion(const Function& f, ir::RegionId region, ValueId buffer) {
    for (InstId id : f.region(region).insts)
      if (!Visit(f, f.inst(id), buffer)) return false;
    return true;
  }

  bool VisitFor(const Function& f, const Inst& inst, ValueId buffer) {
    if (!Uses(f, inst, buffer)) return true;
    const auto lo = Evaluate(f, f.operand(inst, 0), 0), hi = Evaluate(f, f.operand(inst, 1), 0);
    if (!lo || !hi) return OnlyStores(f, inst, buffer);
    const uint64_t step = static_cast<uint64_t>(f.word(inst, 0));
    const ir::RegionId body = Function::region_of(inst, 0);
    const uint32_t variable = Function::param_of(f.region(body), 0).index;
    if (step == 0) return Reads();
    for (uint64_t i = *lo; i < *hi; i += step) {
      if (++steps_ > MostSteps) return Reads();
      known_[variable] = i;
      if (!VisitRegion(f, body, buffer)) return false;
    }
    known_.erase(variable);
    return true;
  }

  // Not known how often, or whether at all.
  bool OnlyStores(const Function& f, const Inst& inst, ValueId buffer) {
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (InstId id : f.region(Function::region_of(inst, r)).insts) {
        const Inst& one = f.inst(id);
        if (!Uses(f, one, buffer)) continue;
        if (one.op == Op::Length) continue;
        if (one.op == Op::Store && f.operand(one, 0) == buffer) continue;
        if (one.regions.count > 0 && OnlyStores(f, one, buffer)) continue;
        return Reads();
      }
    return true;
  }

  bool VisitCall(const Function& f, const Inst& inst, ValueId buffer) {
    uint32_t place = UINT32_MAX;
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      if (f.operand(inst, i) != buffer) continue;
      if (place != UINT32_MAX) return Reads();
      place = i;
    }
    if (depth_ >= MostDepth) return Reads();
    const Function& callee = program_.functions[static_cast<size_t>(f.word(inst, 0))];
    Known outer = std::exchange(known_, {});
    ++depth_;
    const bool goes_on = VisitRegion(callee, callee.body, callee.param(place));
    --depth_;
    known_ = std::move(outer);
    return goes_on;
  }

  std::optional<uint64_t> Evaluate(const Function& f, ValueId v, uint32_t depth) {
    constexpr uint64_t Most = 0x7fff'ffff;  // nothing wraps below
    if (auto found = known_.find(v.index); found != known_.end()) return found->second;
    const InstId def = f.values[v.index].def;
    if (!def.valid() || depth > 32 || ++steps_ > MostSteps || !IsPlainInteger(f.type(v)))
      return std::nullopt;
    const Inst& inst = f.inst(def);
    if (inst.op == Op::Const) return ConstantOf(f, v);
    if (inst.operands.count == 0 || !IsPlainInteger(f.type(f.operand(inst, 0))))
      return std::nullopt;
    const auto a = Evaluate(f, f.operand(inst, 0), depth + 1);
    if (!a || *a > Most) return std::nullopt;
    if (inst.op == Op::Cast || inst.op == Op::CastChecked) return a;
    if (inst.operands.count != 2) return std::nullopt;
    const auto b = Evaluate(f, f.operand(inst, 1), depth + 1);
    if (!b || *b > Most) return std::nullopt;
    std::optional<uint64_t> result;
    switch (inst.op) {
      case Op::Add:
      case Op::AddChecked: result = *a + *b; break;
      case Op::Mul:
      case Op::MulChecked: result = *a * *b; break;
      case Op::Sub:
      case Op::SubChecked:
        if (*a >= *b) result = *a - *b;
        break;
      case Op::And: result = *a & *b; break;
      default: break;
    }
    if (result && *result > Most) return std::nullopt;
    return result;
  }

  const ir::Program& program_;
  std::vector<bool> written_;
  uint64_t count_ = 0;
  uint64_t steps_ = 0;
  uint32_t depth_ = 0;
  bool reads_ = false;
  Known known_;  // variables of the loops around
};

struct Region {
  const Function& f;
  const std::vector<InstId>& insts;
  const Inst& at(size_t i) const { return f.inst(insts[i]); }

  size_t PlaceOf(InstId id) const {
    const auto found =
        std::ranges::find_if(insts, [&](InstId other) { return other.index == id.index; });
    return static_cast<size_t>(found - insts.begin());
  }
  bool UsedBetween(ValueId buffer, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i)
      if (Uses(f, at(i), buffer)) return true;
    return false;
  }
};

// The buffer is a copy of another one of this region that nothing takes afterwards: the two are one. `copies`: where the
// copy is made.
std::optional<ValueId> TakenOver(const Region& region, const std::vector<size_t>& users,
                                 ValueId buffer, uint64_t length, size_t at,
                                 std::vector<InstId>& copies) {
  const Function& f = region.f;
  ValueId from;
  size_t end = 0;
  if (users.empty()) return std::nullopt;
  if (const auto loop = ReadWholeLoop(f, region.at(users[0]), length);
      loop && loop->from && loop->to == buffer && *loop->from != buffer) {
    from = *loop->from;
    end = users[0] + 1;
    copies = {region.insts[users[0]]};
  } else {
    std::set<uint64_t> elements;
    for (size_t user : users) {
      const Inst& store = region.at(user);
      if (elements.size() == length) break;
      if (store.op != Op::Store || f.operand(store, 0) != buffer) return std::nullopt;
      const InstId def = f.values[f.operand(store, 2).index].def;
      if (!def.valid() || f.inst(def).op != Op::Load) return std::nullopt;
      const Inst& load = f.inst(def);
      const size_t loaded = region.PlaceOf(def);
      const auto index = ConstantOf(f, f.operand(store, 1));
      if (loaded >= user || !index || *index >= length ||
          ConstantOf(f, f.operand(load, 1)) != index || !elements.insert(*index).second)
        return std::nullopt;
      if (elements.size() > 1 && f.operand(load, 0) != from) return std::nullopt;
      from = f.operand(load, 0);
      // Nothing else happens to the source from the first load on.
      for (size_t i = loaded + 1; i <= user; ++i)
        if (region.at(i).op != Op::Load && Uses(f, region.at(i), from)) return std::nullopt;
      copies.push_back(region.insts[user]);
      end = user + 1;
    }
    if (elements.size() != length || length == 0) return std::nullopt;
  }
  const InstId made = f.values[from.index].def;
  if (!made.valid() || f.inst(made).op != Op::Alloc || region.PlaceOf(made) >= at ||
      f.type(from).scalar != f.type(buffer).scalar ||
      region.UsedBetween(from, end, region.insts.size()))
    return std::nullopt;
  return from;
}

}  // namespace

// Whether no other buffer that the function can name is the same one.
bool BufferPlans::Distinct(const Function& f, ValueId buffer, uint32_t depth) {
  if (f.values[buffer.index].def.valid()) return f.inst(f.values[buffer.index].def).op == Op::Alloc;
  const auto key = std::pair(&f, buffer.index);
  if (auto known = distinct_.find(key); known != distinct_.end()) return known->second;
  if (&f == &program_.entry_function() || depth > MostDepth) return false;
  const uint32_t first = f.region(f.body).params.begin;
  if (buffer.index < first || buffer.index >= first + f.param_count()) return false;
  bool distinct = true;
  for (const Function& caller : program_.functions)
    for (const Inst& call : caller.insts) {
      if (call.op != Op::Call ||
          &program_.functions[static_cast<size_t>(caller.word(call, 0))] != &f)
        continue;
      const ValueId given = caller.operand(call, buffer.index - first);
      distinct &= std::ranges::count(caller.operands_of(call), given) == 1 &&
                  Distinct(caller, given, depth + 1);
    }
  return distinct_[key] = distinct;
}

BufferPlan BufferPlans::Of(const Function& f, ir::RegionId id, size_t at, uint64_t length,
                           const std::function<bool(ValueId)>& usable) {
  BufferPlan plan;
  const bool own =
      std::ranges::any_of(program_.functions, [&](const Function& other) { return &other == &f; });
  if (length > MostLength || !own) return plan;
  const Region region{f, f.region(id).insts};
  const ValueId buffer = Function::result_of(region.at(at));
  std::vector<size_t> users;
  for (size_t i = at + 1; i < region.insts.size(); ++i)
    if (Uses(f, region.at(i), buffer)) users.push_back(i);
  // Filled just after it is made: with zeros, as it is anyway; with what is written over before anything is read.
  auto walk_from = [&](size_t first, bool to_end) {
    Walk walk(program_, length);
    bool open = true;
    for (size_t i = first; i < users.size() && open; ++i)
      open = walk.Visit(f, region.at(users[i]), buffer);
    return walk.full() || (!walk.reads() && !to_end);
  };
  while (!users.empty()) {
    const auto fill = ReadWholeLoop(f, region.at(users[0]), length);
    if (!fill || fill->from || fill->to != buffer ||
        !(IsZero(f, fill->value) || walk_from(1, false)))
      break;
    plan.skipped.push_back(region.insts[users[0]]);
    users.erase(users.begin());
  }
  std::vector<InstId> copies;
  if (const auto from = TakenOver(region, users, buffer, length, at, copies);
      from && usable(*from)) {
    plan.same = *from;
    plan.zero = false;
    plan.skipped.insert(plan.skipped.end(), copies.begin(), copies.end());
    return plan;
  }
  // Copied to another one at the end, which nothing takes in between.
  if (!users.empty()) {
    const auto copy = ReadWholeLoop(f, region.at(users.back()), length);
    if (copy && copy->from && *copy->from == buffer && copy->to != buffer) {
      const InstId made = f.values[copy->to.index].def;
      const bool earlier =
          !made.valid() || region.PlaceOf(made) < at || region.PlaceOf(made) == region.insts.size();
      if (earlier && Distinct(f, copy->to) && f.type(copy->to).scalar == f.type(buffer).scalar &&
          !region.UsedBetween(copy->to, at + 1, users.back()) && usable(copy->to)) {
        plan.same = copy->to;
        plan.skipped.push_back(region.insts[users.back()]);
        users.pop_back();
      }
    }
  }
  plan.zero = !walk_from(0, plan.same.has_value());
  return plan;
}

}  // namespace frazil::targets::tasm
