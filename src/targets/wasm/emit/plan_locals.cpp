// Second half of the plan: the order in which instructions will be written gives every value a life
// [begin, end) in clock ticks, four to an instruction. An instruction reads its operands before it
// writes its results, so a life may begin where another ends. A value from outside a loop lives to
// the loop's end.
#include <algorithm>
#include <map>
#include <queue>

#include "targets/wasm/emit/plan.h"

namespace frazil::targets::wasm {

using namespace ir::names;

namespace {
constexpr uint32_t Tick = 4;
bool HasStorage(const Place& place) {
  return place.where == Where::Local || place.where == Where::Slot || place.where == Where::Pointer;
}
}  // namespace

void FunctionPlan::PlaceParams() {
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    ValueId param = function_.param(i);
    ir::Type type = function_.type(param);
    bool by_address = type.is_scalar() && IsBig(type);
    places_[param.index] = {by_address ? Where::Pointer : Where::Local,
                            static_cast<uint32_t>(params_.size())};
    lives_[param.index] = {0, 1};
    if (type.is_buffer()) {
      params_.push_back(ValType::I32);
      params_.push_back(ValType::I64);
    } else if (by_address) {
      params_.push_back(ValType::I32);
    } else {
      params_.insert(params_.end(), WordCount(type), WordType(type));
    }
  }
  for (ir::Type type : function_.results) {
    if (!IsBig(type)) continue;
    result_pointers_.push_back(static_cast<uint32_t>(params_.size()));
    params_.push_back(ValType::I32);
  }
}

void FunctionPlan::Use(ValueId value, uint32_t at) {
  const Place& place = places_[value.index];
  if (place.where == Where::Remade) {
    const ir::Inst& made = definition(value);
    if (made.op == Op::Length) Use(function_.operand(made, 0), at);
    return;
  }
  if (!HasStorage(place)) return;
  Life& life = lives_[value.index];
  life.end = std::max(life.end, at);
  for (OpenLoop& loop : loops_) {
    if (life.begin >= loop.begin) continue;
    loop.used.push_back(value);
    break;
  }
}

void FunctionPlan::Define(ValueId value, uint32_t at) {
  if (HasStorage(places_[value.index])) lives_[value.index] = {at, at + 1};
}

void FunctionPlan::CloseLoop(uint32_t end) {
  for (ValueId value : loops_.back().used)
    lives_[value.index].end = std::max(lives_[value.index].end, end);
  loops_.pop_back();
}

// The operands' trees in the order of writing; direct operands may be read as late as the op
// itself.
void FunctionPlan::NumberOperands(const ir::Inst& inst, uint32_t first, uint32_t count) {
  OperandOrder order(inst);
  for (uint32_t i = first; i < first + count; ++i) {
    ValueId operand = function_.operand(inst, order[i]);
    if (places_[operand.index].where != Where::Inline) continue;
    const ir::Inst& tree = definition(operand);
    if (tree.regions.count != 0)
      NumberStructure(tree);
    else
      NumberOperands(tree, 0, tree.operands.count);
  }
  // A callee writes int<k> results while its arguments may still be read.
  uint32_t late = inst.op == Op::Call ? 1 : 0;
  for (uint32_t i = first; i < first + count; ++i) Use(function_.operand(inst, i), clock_ + late);
}

void FunctionPlan::NumberRegion(ir::RegionId region) {
  for (ir::InstId id : function_.region(region).insts) {
    const ir::Inst& current = inst(id);
    if (!live_[id.index] || IsRemade(current)) continue;
    bool waits = current.results.count == 1 &&
                 places_[Function::result_of(current).index].where == Where::Inline;
    if (!waits) NumberInst(current);
  }
}

void FunctionPlan::NumberInst(const ir::Inst& inst) {
  if (inst.regions.count != 0) return NumberStructure(inst);
  NumberOperands(inst, 0, inst.operands.count);
  for (uint32_t i = 0; i < inst.results.count; ++i) Define(Function::result_of(inst, i), clock_);
  clock_ += Tick;
}

// Bounds are read and the counter is set, then initial values are read and carried ones set.
void FunctionPlan::NumberStructure(const ir::Inst& inst) {
  bool counts = inst.op == Op::For || inst.op == Op::Parallel;
  bool is_loop = counts || inst.op == Op::While;
  uint32_t deciding = counts ? 2 : inst.op == Op::While ? 0 : 1;
  NumberOperands(inst, 0, deciding);
  uint32_t entry = clock_;
  clock_ += 2;
  NumberOperands(inst, deciding, inst.operands.count - deciding);
  uint32_t carried_at = clock_;
  const ir::Region& first = function_.region(Function::region_of(inst, 0));
  if (counts) Define(Function::param_of(first, 0), entry + 1);
  uint32_t first_carried = counts ? 1 : 0;
  for (uint32_t i = first_carried; i < first.params.count; ++i)
    Define(Function::param_of(first, i), carried_at);
  clock_ += Tick;
  if (is_loop) {
    loops_.push_back({entry + 1, {}});
    loop_insts_.push_back(&inst);
  }
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    NumberRegion(Function::region_of(inst, i));
    // A failed test gives the carried values: they live up to it.
    if (inst.op == Op::While && i == 0)
      for (uint32_t p = 0; p < first.params.count; ++p) Use(Function::param_of(first, p), clock_);
    clock_ += Tick;
  }
  if (counts) {
    Use(Function::param_of(first, 0), clock_);
    Use(function_.operand(inst, 1), clock_);
  }
  if (is_loop) CloseLoop(clock_);
  for (uint32_t i = 0; i < inst.results.count; ++i) Define(Function::result_of(inst, i), clock_);
  clock_ += Tick;
}

uint32_t FunctionPlan::Find(uint32_t value) {
  while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
  return value;
}

// Joins the locals of two values if no member of one lives while a member of the other does.
bool FunctionPlan::Merge(ValueId a, ValueId b) {
  uint32_t x = Find(a.index), y = Find(b.index);
  if (x == y) return true;
  auto joinable = [&](const Place& place) {
    return place.where == Where::Local || place.where == Where::Slot;
  };
  if (!joinable(places_[a.index]) || places_[a.index].where != places_[b.index].where) return false;
  if (function_.type(a) != function_.type(b)) return false;
  bool x_is_param = false, y_is_param = false;
  uint32_t params = function_.param_count();
  auto is_param = [&](uint32_t v) {
    return params != 0 && v >= function_.param(0).index && v < function_.param(0).index + params;
  };
  for (uint32_t v : members_[x]) x_is_param |= is_param(v);
  for (uint32_t w : members_[y]) y_is_param |= is_param(w);
  if (x_is_param && y_is_param) return false;
  for (uint32_t v : members_[x])
    for (uint32_t w : members_[y])
      if (lives_[v].begin < lives_[w].end && lives_[w].begin < lives_[v].end) return false;
  parent_[y] = x;
  members_[x].insert(members_[x].end(), members_[y].begin(), members_[y].end());
  members_[y].clear();
  return true;
}

void FunctionPlan::Coalesce() {
  parent_.resize(function_.values.size());
  members_.resize(function_.values.size());
  for (uint32_t i = 0; i < parent_.size(); ++i) {
    parent_[i] = i;
    members_[i] = {i};
  }
  auto for_each_carried = [&](auto&& visit) {
    for (const ir::Inst* loop : loop_insts_) {
      if (loop->op == Op::Parallel) continue;
      uint32_t skip = loop->op == Op::For ? 1 : 0;
      const ir::Region& first = function_.region(Function::region_of(*loop, 0));
      const ir::Region& last =
          function_.region(Function::region_of(*loop, loop->regions.count - 1));
      const ir::Inst& yield = inst(last.insts.back());
      for (uint32_t i = 0; i < loop->results.count; ++i)
        visit(Function::param_of(first, skip + i), Function::result_of(*loop, i),
              function_.operand(*loop, 2 * skip + i), function_.operand(yield, i));
    }
  };
  // The emitter relies on carried values and results being one; the other two save moves.
  for_each_carried(
      [&](ValueId carried, ValueId result, ValueId, ValueId) { Merge(carried, result); });
  for_each_carried(
      [&](ValueId carried, ValueId, ValueId, ValueId yielded) { Merge(carried, yielded); });
  for_each_carried(
      [&](ValueId carried, ValueId, ValueId initial, ValueId) { Merge(carried, initial); });
}

// A linear scan over the joined lives. Locals (and slots of the frame) are used again when free.
void FunctionPlan::AssignLocals() {
  struct Class {
    uint32_t begin, end, root;
  };
  std::vector<Class> classes;
  uint32_t params = function_.param_count();
  for (uint32_t i = 0; i < parent_.size(); ++i) {
    if (Find(i) != i || !HasStorage(places_[i]) || places_[i].where == Where::Pointer) continue;
    Class one{None, 0, i};
    for (uint32_t member : members_[i]) {
      if (lives_[member].begin == None) continue;
      one.begin = std::min(one.begin, lives_[member].begin);
      one.end = std::max(one.end, lives_[member].end);
    }
    if (one.begin != None) classes.push_back(one);
  }
  std::sort(classes.begin(), classes.end(), [](const Class& a, const Class& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.root < b.root;
  });
  // What must be equal for a place to be used again: kind of storage, word type and size.
  auto key_of = [&](ir::Type type, Where where) {
    if (where == Where::Slot) return 1'000'000u + type.limbs;
    if (type.is_buffer()) return 1u;
    return 10u + static_cast<uint32_t>(WordType(type)) * 8 + WordCount(type);
  };
  using Ending = std::pair<uint32_t, std::pair<uint32_t, uint32_t>>;  // end, (key, at)
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> busy;
  std::map<uint32_t, std::vector<uint32_t>> free;
  for (const Class& one : classes) {
    while (!busy.empty() && busy.top().first <= one.begin) {
      free[busy.top().second.first].push_back(busy.top().second.second);
      busy.pop();
    }
    uint32_t at = None;
    for (uint32_t member : members_[one.root])
      if (params != 0 && member >= function_.param(0).index &&
          member < function_.param(0).index + params)
        at = places_[member].at;
    ir::Type type = function_.values[one.root].type;
    uint32_t key = key_of(type, places_[one.root].where);
    std::vector<uint32_t>& available = free[key];
    if (at == None && !available.empty()) {
      at = available.back();
      available.pop_back();
    }
    if (at == None && places_[one.root].where == Where::Slot) {
      at = frame_bytes_;
      frame_bytes_ += 8u * type.limbs;
    } else if (at == None) {
      at = static_cast<uint32_t>(params_.size() + locals_.size());
      if (type.is_buffer())
        locals_.insert(locals_.end(), {ValType::I32, ValType::I64});
      else
        locals_.insert(locals_.end(), WordCount(type), WordType(type));
    }
    busy.push({one.end, {key, at}});
    for (uint32_t member : members_[one.root]) places_[member].at = at;
  }
}

}  // namespace frazil::targets::wasm
