// Regions and structures. Values that a loop carries live in slots of their own, which its results share; yields are
// moves into them, under the mask of the lanes that are there.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/facts/homes.h"
#include "ir/lower/barrier_plan.h"
#include "ir/lower/lower.h"
#include "targets/tiles/tile_compiler.h"

namespace frazil::targets::tiles {

using ir::Function;
using ir::Op;
using Kind = TileOp::Kind;

FunctionCompiler::FunctionCompiler(const ir::Program& program, const ir::Function& function,
                                   TilePlan& plan, FunctionPlan& out, bool serial, bool is_called)
    : program_(program),
      function_(function),
      plan_(plan),
      out_(out),
      serial_(serial),
      is_called_(is_called) {
  const size_t values = function.values.size();
  classes_.resize(values);
  slots_.assign(values, NoSlot);
  tiles_.assign(values, NoSlot);
  inside_.assign(values, false);
  buffers_.assign(values, -1);
  uses_.assign(values, 0);
  only_user_.resize(values);
  deferred_.assign(values, false);
  region_of_inst_.resize(function.insts.size());
  for (uint32_t r = 0; r < function.regions.size(); ++r)
    for (ir::InstId id : function.regions[r].insts) {
      region_of_inst_[id.index] = r;
      for (ir::ValueId operand : function.operands_of(function.inst(id))) {
        uses_[operand.index] += 1;
        only_user_[operand.index] = id;
      }
    }
}

Result<void> FunctionCompiler::Compile() {
  code_ = &out_.ops;
  TRY_VOID(DeclareParams());
  if (is_called_) {
    in_tile_ = true;
    Classify(function_, function_.body, classes_);
    std::fill(inside_.begin(), inside_.end(), true);
  }
  out_.result_types = function_.results;
  TRY_VOID(Region(function_.body));
  LayOut(out_, plan_.options);
  return {};
}

Result<void> FunctionCompiler::DeclareParams() {
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    const ir::ValueId param = function_.param(i);
    const ir::Type type = function_.type(param);
    if (type.is_buffer()) {
      if (is_called_) return Fail(Diag::Unsupported, "a call with a buffer runs lane by lane");
      buffers_[param.index] = static_cast<int32_t>(out_.buffer_count++);
      out_.params.push_back(NoSlot);
      continue;
    }
    if (!type.is_scalar() || ir::WordsOf(type) != 1)
      return Fail(Diag::Unsupported, "tiles hold scalars of one word, and buffers of them");
    if (is_called_) classes_[param.index] = {LaneClass::Kind::Varying};
    Define(param, is_called_ ? NewTile(ir::BytesOf(type)) : NewCell());
    out_.params.push_back(slots_[param.index]);
  }
  return {};
}

std::span<const ir::ValueId> FunctionCompiler::YieldOf(ir::RegionId id) const {
  return function_.operands_of(function_.inst(function_.region(id).insts.back()));
}

Result<void> FunctionCompiler::Region(ir::RegionId id) {
  const size_t made = made_tiles_.size();
  for (ir::InstId inst : function_.region(id).insts) TRY_VOID(Visit(inst));
  // Tiles that were made in a branch are not there for what follows.
  for (; made_tiles_.size() > made; made_tiles_.pop_back())
    tiles_[made_tiles_.back().index] = NoSlot;
  return {};
}

Result<void> FunctionCompiler::Visit(ir::InstId id) {
  const ir::Inst& inst = function_.inst(id);
  switch (inst.op) {
    case Op::If: return CanFlatten(inst) ? FlattenIf(inst) : If(inst);
    case Op::Switch: return Switch(inst);
    case Op::For: return For(inst);
    case Op::While: return While(inst);
    case Op::Parallel: return Parallel(id);
    case Op::Call: return Call(inst);
    case Op::Return: return Return(inst);
    case Op::Yield:
    case Op::Condition: return {};
    case Op::Barrier: Append(New(Kind::Barrier, inst)); return {};
    case Op::Const:
      if (ir::WordsOf(inst.type) != 1)
        return Fail(Diag::Unsupported, "tiles hold scalars of one word", inst.location);
      Define(Function::result_of(inst), NewCell());
      SetCell(slots_[Function::result_of(inst).index], function_.words_of(inst)[0]);
      return {};
    default: break;
  }
  if (inst.results.count == 1 && in_tile_ && TryDefer(id)) return {};
  const ir::OpInfo& info = ir::Info(inst.op);
  if (info.law == ir::Law::Prelude) return Math(inst);
  if (info.effect == ir::Effect::Pure && inst.op != Op::Length && inst.op != Op::Lookup)
    return Pure(inst);
  return Memory(inst);
}

// The ops of a region on their own, its yields moved to the slots.
Result<FunctionCompiler::Code> FunctionCompiler::Part(ir::RegionId id,
                                                      std::span<const Slot> results) {
  Code part;
  Code* const around = std::exchange(code_, &part);
  const size_t made = made_tiles_.size();
  for (ir::InstId inst : function_.region(id).insts) TRY_VOID(Visit(inst));
  if (function_.inst(function_.region(id).insts.back()).op == Op::Yield)
    MoveYields(YieldOf(id), results);
  for (ir::InstId inst : function_.region(id).insts) {
    if (function_.inst(inst).op != Op::Alloc) continue;
    TileOp op = New(Kind::Release, function_.inst(inst));
    op.buffer = BufferOf(Function::result_of(function_.inst(inst)));
    Append(op);
  }
  for (; made_tiles_.size() > made; made_tiles_.pop_back())
    tiles_[made_tiles_.back().index] = NoSlot;
  code_ = around;
  return part;
}

// All at once: a value that a later move overwrites is read first.
void FunctionCompiler::MoveYields(std::span<const ir::ValueId> yields,
                                  std::span<const Slot> results) {
  std::vector<Slot> from(results.size(), NoSlot);
  const auto is_tile = [&](Slot slot) { return out_.slots[static_cast<size_t>(slot)].is_tile; };
  const auto move = [&](Slot to, Slot source) {
    TileOp op;
    op.kind = Kind::Move;
    op.uniform = !is_tile(to);
    op.bytes = out_.slots[static_cast<size_t>(to)].bytes;
    op.a = source;
    op.result = to;
    Append(op);
  };
  for (size_t i = 0; i < results.size(); ++i) from[i] = OperandOf(yields[i], !is_tile(results[i]));
  for (size_t i = 0; i < results.size(); ++i) {
    const auto overwritten =
        std::find(results.begin(), results.begin() + static_cast<ptrdiff_t>(i), from[i]);
    if (overwritten == results.begin() + static_cast<ptrdiff_t>(i)) continue;
    const SlotInfo info = out_.slots[static_cast<size_t>(from[i])];
    const Slot copy = info.is_tile ? NewTile(info.bytes) : NewCell();
    move(copy, from[i]);
    from[i] = copy;
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (from[i] != results[i]) move(results[i], from[i]);
}

Result<void> FunctionCompiler::AppendParts(TileOp op, std::vector<Code> parts) {
  op.part0 = static_cast<uint32_t>(parts[0].size());
  if (parts.size() > 1) op.part1 = static_cast<uint32_t>(parts[1].size());
  Append(op);
  for (const Code& part : parts) code_->insert(code_->end(), part.begin(), part.end());
  return {};
}

std::vector<Slot> FunctionCompiler::DefineResults(const ir::Inst& inst) {
  std::vector<Slot> results;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ir::ValueId result = Function::result_of(inst, i);
    results.push_back(NewLike(result));
    Define(result, results.back());
  }
  return results;
}

Result<void> FunctionCompiler::If(const ir::Inst& inst) {
  const ir::ValueId condition = function_.operand(inst, 0);
  TileOp op = New(Kind::If, inst);
  op.divergent = !ClassOf(condition).uniform();
  op.a = OperandOf(condition, !op.divergent);
  op.phases = ir::HasBarrier(function_, inst);
  if (op.divergent) {
    op.c = NewTile(1);
    op.d = NewTile(1);
  }
  const std::vector<Slot> results = DefineResults(inst);
  std::vector<Code> parts;
  for (uint32_t r = 0; r < 2; ++r)
    parts.push_back(TRY(Part(Function::region_of(inst, r), results)));
  return AppendParts(op, std::move(parts));
}

// Both sides are a few ops that cannot trap: doing both is cheaper than going different ways.
bool FunctionCompiler::CanFlatten(const ir::Inst& inst) {
  if (!in_tile_ || ClassOf(function_.operand(inst, 0)).uniform() || inst.results.count == 0)
    return false;
  for (uint32_t r = 0; r < 2; ++r) {
    const auto& insts = function_.region(Function::region_of(inst, r)).insts;
    if (insts.size() > 8) return false;
    for (ir::InstId id : insts) {
      const ir::Inst& inner = function_.inst(id);
      if (inner.op == Op::Yield || inner.op == Op::Const) continue;
      if (!ir::IsRemovable(ir::Info(inner.op)) || ir::Info(inner.op).law == ir::Law::Prelude)
        return false;
    }
  }
  return true;
}

Result<void> FunctionCompiler::FlattenIf(const ir::Inst& inst) {
  for (uint32_t r = 0; r < 2; ++r)
    for (ir::InstId id : function_.region(Function::region_of(inst, r)).insts) TRY_VOID(Visit(id));
  const Slot condition = TileOf(function_.operand(inst, 0));
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ir::ValueId result = Function::result_of(inst, i);
    const Slot yes = TileOf(YieldOf(Function::region_of(inst, 0))[i]);
    const Slot no = TileOf(YieldOf(Function::region_of(inst, 1))[i]);
    const Slot slot = NewLike(result);
    EmitSelect(condition, yes, no, slot, function_.type(result), false);
    Define(result, slot);
  }
  return {};
}

Result<void> FunctionCompiler::Switch(const ir::Inst& inst) {
  const ir::ValueId selector = function_.operand(inst, 0);
  TileOp op = New(Kind::Switch, inst);
  op.divergent = !ClassOf(selector).uniform();
  op.a = OperandOf(selector, !op.divergent);
  op.type = function_.type(selector).scalar;
  op.bytes = static_cast<uint8_t>(BytesOf(selector));
  op.extra = static_cast<uint32_t>(out_.lists.size());
  out_.lists.emplace_back();
  if (op.divergent) {
    op.c = NewTile(1);
    op.d = NewTile(1);
  }
  const std::vector<Slot> results = DefineResults(inst);
  Code all;
  FunctionPlan::Cases cases;
  const auto words = function_.words_of(inst);
  cases.values.assign(words.begin(), words.end());
  for (uint32_t r = 0; r < inst.regions.count; ++r) {
    const Code part = TRY(Part(Function::region_of(inst, r), results));
    cases.lengths.push_back(static_cast<uint32_t>(part.size()));
    all.insert(all.end(), part.begin(), part.end());
  }
  out_.lists[op.extra] = std::move(cases);
  op.part0 = static_cast<uint32_t>(all.size());
  Append(op);
  code_->insert(code_->end(), all.begin(), all.end());
  return {};
}

// Slots for what a loop carries, holding what comes in.
void FunctionCompiler::Carry(std::span<const ir::ValueId> inits, ir::Range params) {
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < params.count; ++i) {
    const ir::ValueId param(params.begin + i);
    slots.push_back(NewLike(param));
    Define(param, slots.back());
  }
  MoveYields(inits, slots);
}

Result<void> FunctionCompiler::For(const ir::Inst& inst) {
  const auto operands = function_.operands_of(inst);
  const ir::RegionId body = Function::region_of(inst, 0);
  const ir::Range params = function_.region(body).params;
  const ir::ValueId counter(params.begin);
  TileOp op = New(Kind::For, inst);
  op.divergent = !ClassOf(operands[0]).uniform() || !ClassOf(operands[1]).uniform();
  op.type = function_.type(operands[0]).scalar;
  op.bytes = static_cast<uint8_t>(BytesOf(operands[0]));
  op.imm = function_.word(inst, 0);
  op.a = OperandOf(operands[0], !op.divergent);
  op.b = OperandOf(operands[1], !op.divergent);
  op.phases = ir::HasBarrier(function_, inst);
  if (op.divergent) {
    op.c = NewTile(1);
    op.d = NewTile(8);
  }
  const ir::Range carried{params.begin + 1, params.count - 1};
  Carry(operands.subspan(2), carried);
  op.result = NewLike(counter);
  Define(counter, op.result);
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < carried.count; ++i) slots.push_back(slots_[carried.begin + i]);
  std::vector<Code> parts;
  parts.push_back(TRY(Part(body, slots)));
  for (uint32_t i = 0; i < inst.results.count; ++i) Define(Function::result_of(inst, i), slots[i]);
  return AppendParts(op, std::move(parts));
}

Result<void> FunctionCompiler::While(const ir::Inst& inst) {
  const ir::RegionId test = Function::region_of(inst, 0);
  const ir::Range params = function_.region(test).params;
  TileOp op = New(Kind::While, inst);
  Carry(function_.operands_of(inst), params);
  std::vector<Slot> slots;
  for (uint32_t i = 0; i < params.count; ++i) slots.push_back(slots_[params.begin + i]);
  const ir::ValueId condition = YieldOf(test)[0];
  op.divergent = !ClassOf(condition).uniform();
  // The body sees what the test made, so the tiles made in the test stay until the body ends.
  const size_t made = made_tiles_.size();
  std::vector<Code> parts(2);
  Code* const around = std::exchange(code_, &parts[0]);
  for (ir::InstId id : function_.region(test).insts) TRY_VOID(Visit(id));
  op.a = OperandOf(condition, !op.divergent);
  code_ = around;
  if (op.divergent) op.c = NewTile(1);
  parts[1] = TRY(Part(Function::region_of(inst, 1), slots));
  for (; made_tiles_.size() > made; made_tiles_.pop_back())
    tiles_[made_tiles_.back().index] = NoSlot;
  for (uint32_t i = 0; i < inst.results.count; ++i) Define(Function::result_of(inst, i), slots[i]);
  return AppendParts(op, std::move(parts));
}

namespace {

bool Contains(const ir::Function& function, ir::RegionId region, bool (*is)(const ir::Inst&)) {
  std::vector<ir::RegionId> open = {region};
  while (!open.empty()) {
    const ir::RegionId id = open.back();
    open.pop_back();
    for (ir::InstId inst_id : function.region(id).insts) {
      const ir::Inst& inst = function.inst(inst_id);
      if (is(inst)) return true;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        open.push_back(Function::region_of(inst, r));
    }
  }
  return false;
}

void MarkInside(const ir::Function& function, ir::RegionId region, std::vector<bool>& inside) {
  ir::VisitValuesInside(function, region, [&](ir::Range values) {
    for (uint32_t i = 0; i < values.count; ++i) inside[values.begin + i] = true;
  });
}

void Insert(std::vector<std::pair<uint32_t, uint32_t>>& list,
            const std::vector<std::pair<uint32_t, uint32_t>>& more) {
  for (const auto& pair : more)
    if (std::find(list.begin(), list.end(), pair) == list.end()) list.push_back(pair);
}

}  // namespace

// Tiles are for the innermost parallels; those around them run in order, or on several threads.
Result<bool> FunctionCompiler::MayBeTiled(ir::InstId id, TileOp& op) {
  const ir::RegionId body = Function::region_of(function_.inst(id), 0);
  const bool outer =
      Contains(function_, body, [](const ir::Inst& inst) { return inst.op == Op::Parallel; });
  op.phases =
      Contains(function_, body, [](const ir::Inst& inst) { return inst.op == Op::Barrier; }) &&
      !outer;
  if (serial_) return false;
  const bool allocates =
      Contains(function_, body, [](const ir::Inst& inst) { return inst.op == Op::Alloc; });
  const ir::Independence answer = ir::IndependenceOf(program_, function_, id);
  if (!answer.independent) {
    if (op.phases)
      return Fail(Diag::Unsupported, "barriers between iterations that depend on each other");
    return false;
  }
  Insert(plan_.disjoint, answer.disjoint);
  Insert(plan_.at_most, answer.at_most);
  op.threaded = parallel_depth_ == 0;
  if (outer) return false;
  if (allocates && op.phases)
    return Fail(Diag::Unsupported, "scratch of single iterations, with barriers");
  return !allocates;
}

Result<void> FunctionCompiler::Parallel(ir::InstId id) {
  const ir::Inst& inst = function_.inst(id);
  const ir::RegionId body = Function::region_of(inst, 0);
  const ir::ValueId lane = Function::param_of(function_.region(body), 0);
  if (in_tile_)
    return Fail(Diag::Unsupported, "a parallel in a function that is called", inst.location);
  TileOp op = New(Kind::Parallel, inst);
  op.a = CellOf(function_.operand(inst, 0));
  op.b = CellOf(function_.operand(inst, 1));
  op.tiled = TRY(MayBeTiled(id, op));
  op.result = NewCell();
  op.imm = parallel_depth_;
  Define(lane, op.result);
  std::vector<Code> parts(2);
  parallel_depth_ += 1;
  if (op.tiled) {
    classes_[lane.index] = {LaneClass::Kind::Affine, 1};
    MarkInside(function_, body, inside_);
    Classify(function_, body, classes_);
    in_tile_ = true;
    preamble_ = &parts[0];
  }
  const size_t made = made_tiles_.size();
  const std::vector<Slot> none;
  parts[1] = TRY(Part(body, none));
  for (; made_tiles_.size() > made; made_tiles_.pop_back())
    tiles_[made_tiles_.back().index] = NoSlot;
  if (op.tiled) {
    in_tile_ = false;
    preamble_ = nullptr;
    std::fill(tiles_.begin(), tiles_.end(), NoSlot);
  }
  parallel_depth_ -= 1;
  return AppendParts(op, std::move(parts));
}

Result<void> FunctionCompiler::Call(const ir::Inst& inst) {
  const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
  const ir::Function& target = program_.functions[callee];
  if (!target.is_prelude && !is_called_)
    return Fail(Diag::Unsupported, "calls of functions run lane by lane", inst.location);
  TileOp op = New(Kind::Call, inst);
  op.uniform = true;
  for (ir::ValueId operand : function_.operands_of(inst))
    op.uniform = op.uniform && ClassOf(operand).uniform();
  FunctionPlan::Cases call;
  for (ir::ValueId operand : function_.operands_of(inst))
    call.inputs.push_back(OperandOf(operand, op.uniform));
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ir::ValueId result = Function::result_of(inst, i);
    Define(result, op.uniform ? NewCell() : NewTile(BytesOf(result)));
    call.outputs.push_back(slots_[result.index]);
  }
  op.extra = callee + 1;
  op.imm = static_cast<int64_t>(out_.lists.size());
  out_.lists.push_back(std::move(call));
  Append(op);
  return {};
}

Result<void> FunctionCompiler::Return(const ir::Inst& inst) {
  for (ir::ValueId value : function_.operands_of(inst)) {
    if (!function_.type(value).is_scalar())
      return Fail(Diag::Unsupported, "only scalars are returned");
    out_.results.push_back(OperandOf(value, !is_called_));
  }
  Append(New(Kind::Return, inst));
  return {};
}

namespace {

Result<void> AddTables(const ir::Program& program, TilePlan& plan) {
  plan.tables.clear();
  for (const ir::Data& data : program.data) {
    if (ir::WordsOf(data.element) != 1)
      return Fail(Diag::Unsupported, "tiles hold scalars of one word");
    const uint32_t bytes = ir::BytesOf(data.element);
    TilePlan::Table table{std::vector<uint8_t>(data.words.size() * bytes), data.length()};
    for (size_t i = 0; i < data.words.size(); ++i)
      std::copy_n(reinterpret_cast<const uint8_t*>(&data.words[i]), bytes, &table.bytes[i * bytes]);
    plan.tables.push_back(std::move(table));
  }
  return {};
}

// Function i of the program, as one that is called, is i + 1 of the plan: the entry is 0.
Result<void> AddCalled(const ir::Program& program, bool all, TilePlan& plan) {
  plan.functions.clear();
  plan.functions.resize(program.functions.size() + 1);
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    if (!all && !program.functions[i].is_prelude) continue;
    TRY_VOID(
        FunctionCompiler(program, program.functions[i], plan, plan.functions[i + 1], true, true)
            .Compile());
  }
  return {};
}

}  // namespace

Result<void> CompileCalled(const ir::Program& program, ir::FuncId function, TilePlan& plan) {
  TRY_VOID(AddTables(program, plan));
  TRY_VOID(AddCalled(program, true, plan));
  plan.called = function.index + 1;
  return {};
}

Result<void> Compile(const ir::Program& program, bool serial, TilePlan& plan) {
  plan.disjoint.clear();
  plan.at_most.clear();
  plan.math.clear();
  TRY_VOID(AddTables(program, plan));
  TRY_VOID(AddCalled(program, false, plan));
  return FunctionCompiler(program, program.entry_function(), plan, plan.functions[0], serial, false)
      .Compile();
}

}  // namespace frazil::targets::tiles
