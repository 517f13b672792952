// One pass over the entry's body. Every decision is conservative: what is not seen to be a grid runs in one block, what
// cannot run in a block runs in one thread, and what no thread can do is refused with a sentence.
#include "targets/cuda/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "ir/lanes/independence.h"
#include "targets/cuda/sizes.h"
#include "targets/cuda/vector_items.h"

namespace frazil::targets::cuda {
namespace {

using namespace ir::names;

constexpr uint32_t FlatThreads = 256;
constexpr uint32_t BlockThreads = 256;
constexpr uint32_t FoldThreads = 1024;
constexpr uint32_t WarpThreads = 32;
constexpr uint32_t RowThreads = 256;

using Visit = std::function<void(InstId, const Inst&)>;

void ForEachInst(const Function& function, InstId id, const Visit& visit) {
  const Inst& inst = function.inst(id);
  visit(id, inst);
  for (uint32_t r = 0; r < inst.regions.count; ++r)
    for (InstId inner : function.region(Function::region_of(inst, r)).insts)
      ForEachInst(function, inner, visit);
}

bool TouchesMemory(const ir::Program& program, uint32_t callee, std::set<uint32_t>& seen) {
  if (!seen.insert(callee).second) return false;
  const Function& function = program.functions[callee];
  for (const Inst& inst : function.insts) {
    const ir::Effect effect = ir::Info(inst.op).effect;
    if (effect == ir::Effect::Writes || effect == ir::Effect::Reads) return true;
    if (inst.op == Op::Call &&
        TouchesMemory(program, static_cast<uint32_t>(function.word(inst, 0)), seen))
      return true;
  }
  return false;
}

// Why no GPU code is made for a function, or empty.
std::string RefusalOf(const Function& function) {
  auto names = [&](ir::Type type) { return type.scalar == Scalar::Int; };
  for (const ir::ValueInfo& value : function.values)
    if (names(value.type))
      return "it has integers of several words, which the GPU code does not do";
  for (const Inst& inst : function.insts) {
    if (ir::Info(inst.op).effect == ir::Effect::Io)
      return fmt::format("it reads or writes a stream ('{}')", ir::Info(inst.op).mnemonic);
    if (inst.op == Op::Invert || inst.op == Op::FieldDiv)
      return "it inverts field elements, which the GPU code does not do";
  }
  return "";
}

class Planner {
 public:
  Planner(const ir::Program& lowered, const ProgramFacts& facts, const ir::Program& with_barriers,
          const TileShape& tile)
      : tile_(tile),
        program_(lowered),
        with_barriers_(with_barriers),
        all_(facts),
        function_(lowered.entry_function()),
        facts_(facts.functions[lowered.entry.index]),
        sizes_(lowered, facts) {}

  Result<Plan> Run() {
    TRY_VOID(CheckProgram());
    plan_.again.assign(function_.insts.size(), false);
    plan_.shared_out.assign(function_.insts.size(), false);
    plan_.frame.assign(function_.values.size(), -1);
    plan_.scratch.assign(function_.values.size(), -1);
    FindPhases();
    for (InstId id : function_.region(function_.body).insts) TRY_VOID(Place(id));
    TRY_VOID(CloseSingle());
    HandOn();
    plan_.module.sizes = sizes_.Finish();
    for (Step& step : plan_.steps) plan_.module.steps.push_back(step.launch);
    for (ir::Type type : function_.results) plan_.module.result_words += ir::WordsOf(type);
    return std::move(plan_);
  }

 private:
  Result<void> CheckProgram() {
    for (ir::FuncId id : all_.order) {
      const Function& function = program_.functions[id.index];
      if (all_.recursive[id.index])
        return Refuse("it calls itself, and threads of a GPU have no deep stack");
      if (std::string why = RefusalOf(function); !why.empty()) return Refuse(why);
      for (const Inst& inst : function.insts)
        plan_.module.has_while |= inst.op == Op::While && !function.is_prelude;
    }
    plan_.module.call_depth = DepthOf(program_.entry.index);
    TRY_VOID(CheckLocals());
    for (ir::Type type : function_.results)
      if (!type.is_scalar()) return Refuse("its results are no scalars");
    return {};
  }

  // Scratch memory of functions is in the memory of each thread, once for each call that is written.
  Result<void> CheckLocals() {
    std::vector<int64_t> bytes(program_.functions.size(), 0);
    for (ir::FuncId id : all_.order) {
      const Function& function = program_.functions[id.index];
      const FunctionFacts& facts = all_.functions[id.index];
      for (uint32_t i = 0; i < function.insts.size(); ++i) {
        const Inst& inst = function.insts[i];
        if (!facts.needed[i]) continue;
        if (inst.op == Op::Call)
          bytes[id.index] += bytes[static_cast<size_t>(function.word(inst, 0))];
        if (inst.op != Op::Alloc) continue;
        const int64_t own = ConstantBytes(function, facts, inst);
        if (id != program_.entry && (own < 0 || own > MostLocalBytes))
          return Refuse("a function needs scratch memory whose size is not a small constant");
        bytes[id.index] += std::clamp<int64_t>(own, 0, MostLocalBytes);
      }
      if (bytes[id.index] > 4 * MostLocalBytes)
        return Refuse("a thread would need much scratch memory");
    }
    plan_.module.local_bytes = static_cast<uint32_t>(bytes[program_.entry.index]);
    return {};
  }

  uint32_t DepthOf(uint32_t id) const {
    uint32_t deepest = 0;
    const Function& function = program_.functions[id];
    for (const Inst& inst : function.insts) {
      if (inst.op != Op::Call) continue;
      const auto callee = static_cast<uint32_t>(function.word(inst, 0));
      if (!program_.functions[callee].is_prelude) deepest = std::max(deepest, 1 + DepthOf(callee));
    }
    return deepest;
  }

  static std::unexpected<Error> Refuse(std::string_view why) {
    return Fail(Diag::Unsupported, fmt::format("the cuda target cannot do this program: {}", why));
  }

  // --- the body, one instruction after the other ---

  Result<void> Place(InstId id) {
    const Inst& inst = function_.inst(id);
    if (!facts_.needed[id.index]) return {};
    if (inst.op == Op::Yield) return {};
    if (inst.op == Op::Return) {
      if (!function_.results.empty()) single_.push_back(id);
      return {};
    }
    if (IsAgain(inst)) {
      plan_.again[id.index] = true;
      plan_.again_order.push_back(id);
      return {};
    }
    if (inst.op == Op::Alloc) return AddAlloc(id);
    if (inst.op == Op::Parallel && IsIndependent(id)) {
      TRY_VOID(CloseSingle());
      return AddGrid(id);
    }
    if (inst.op == Op::If) {
      if (auto fold = ir::MatchFold(program_, id); fold && CanFold(*fold))
        return AddFold(id, *fold);
      if (inst.results.count == 0 && WantsSteps(id)) return PlaceChoice(inst);
    }
    single_.push_back(id);
    return {};
  }

  // A choice that the host can make: the steps of a way that is not taken are not launched.
  Result<void> PlaceChoice(const Inst& inst) {
    const int32_t condition = sizes_.Add(function_.operand(inst, 0));
    TRY_VOID(CloseSingle());
    for (uint32_t r = 0; r < inst.regions.count; ++r) {
      guards_.push_back({condition, r == 0 ? 1 : 0});
      for (InstId id : function_.region(Function::region_of(inst, r)).insts) TRY_VOID(Place(id));
      TRY_VOID(CloseSingle());
      guards_.pop_back();
    }
    return {};
  }

  // Is there something inside that a grid would do, and can the host decide?
  bool WantsSteps(InstId id) {
    if (sizes_.Add(function_.operand(function_.inst(id), 0)) == Unknown) return false;
    bool wants = false;
    ForEachInst(function_, id, [&](InstId inner, const Inst& inst) {
      wants |= inst.op == Op::Parallel && facts_.needed[inner.index];
    });
    return wants;
  }

  // What an element needs must be there in a kernel of its own.
  bool CanFold(const FoldMatch& fold) const {
    auto is_there = [&](ValueId value) {
      const InstId made = facts_.definition[value.index];
      return !made.valid() || plan_.again[made.index] || plan_.scratch[value.index] >= 0 ||
             facts_.region[made.index] == function_.body;
    };
    return std::ranges::all_of(fold.buffers, is_there) &&
           std::ranges::all_of(fold.outside, is_there) && is_there(fold.count) &&
           is_there(fold.blocks);
  }

  void AddStep(Step step) {
    step.launch.guards = guards_;
    plan_.steps.push_back(std::move(step));
  }

  Result<void> AddFold(InstId id, const FoldMatch& fold) {
    TRY_VOID(CloseSingle());
    Step blocks;
    blocks.fold = fold;
    blocks.launch.kind = StepKind::Flat;
    blocks.launch.entry = fmt::format("frazil_step{}", plan_.steps.size());
    blocks.launch.threads = FlatThreads;
    blocks.launch.items = FoldBlock / WarpThreads;
    blocks.launch.hi = sizes_.Add(fold.count);
    AddStep(std::move(blocks));
    Step pairs;
    pairs.fold = fold;
    pairs.insts = {id};
    pairs.launch.kind = StepKind::Single;
    pairs.launch.threads = FoldThreads;
    pairs.launch.entry = fmt::format("frazil_step{}", plan_.steps.size());
    AddStep(std::move(pairs));
    return {};
  }

  bool IsAgain(const Inst& inst) const {
    if (inst.regions.count != 0 || inst.results.count != 1) return false;
    const bool calls_math = inst.op == Op::Call && program_.functions[CalleeOf(inst)].is_prelude &&
                            !all_.fallible[CalleeOf(inst)];
    if (!calls_math && (ir::Info(inst.op).effect != ir::Effect::Pure ||
                        MayTrap(program_, function_, facts_, inst)))
      return false;
    for (ValueId operand : function_.operands_of(inst)) {
      const InstId made = facts_.definition[operand.index];
      if (!made.valid()) continue;
      const bool is_scratch = function_.inst(made).op == Op::Alloc;
      if (!is_scratch && !plan_.again[made.index]) return false;
    }
    return true;
  }

  uint32_t CalleeOf(const Inst& call) const {
    return static_cast<uint32_t>(function_.word(call, 0));
  }

  Result<void> AddAlloc(InstId id) {
    const Inst& inst = function_.inst(id);
    TRY_VOID(CloseSingle());
    const int32_t length = sizes_.Add(function_.operand(inst, 0));
    if (length == Unknown)
      return Refuse("the length of a scratch buffer is computed from memory or by a loop");
    Step step;
    step.insts = {id};
    step.launch.kind = StepKind::Alloc;
    step.launch.entry = ir::Info(inst.trap_op()).mnemonic;  // what its trap names
    step.launch.shared = {{length, ir::BytesOf(inst.type)}};
    plan_.scratch[Function::result_of(inst).index] = static_cast<int32_t>(plan_.scratch_count++);
    AddStep(std::move(step));
    return {};
  }

  static std::vector<InstId> OuterParallels(const Function& function) {
    std::vector<InstId> found;
    for (InstId id : function.region(function.body).insts)
      if (function.inst(id).op == Op::Parallel) found.push_back(id);
    return found;
  }

  // Parallels of the body that had barriers inside of a parallel of theirs: judged as they were.
  void FindPhases() {
    const Function& before = with_barriers_.entry_function();
    const std::vector<InstId> old = OuterParallels(before);
    const std::vector<InstId> now = OuterParallels(function_);
    if (old.size() != now.size()) return;
    for (size_t k = 0; k < old.size(); ++k) {
      bool has_barrier = false;
      ir::Independence outer = ir::IndependenceOf(with_barriers_, before, old[k]);
      ir::Independence inner{
          .independent = true, .why_not = {}, .where = {}, .disjoint = {}, .at_most = {}};
      ForEachInst(before, old[k], [&](InstId id, const Inst& inst) {
        has_barrier |= inst.op == Op::Barrier;
        if (inst.op != Op::Parallel || id == old[k]) return;
        const ir::Independence answer = ir::IndependenceOf(with_barriers_, before, id);
        inner.independent &= answer.independent;
        inner.disjoint.insert(inner.disjoint.end(), answer.disjoint.begin(), answer.disjoint.end());
        inner.at_most.insert(inner.at_most.end(), answer.at_most.begin(), answer.at_most.end());
      });
      if (!has_barrier) continue;
      ForEachInst(function_, now[k], [&](InstId id, const Inst& inst) {
        if (inst.op == Op::Parallel) judged_[id.index] = id == now[k] ? outer : inner;
      });
    }
  }

  bool IsIndependent(InstId id) {
    const auto judged = judged_.find(id.index);
    const ir::Independence answer =
        judged != judged_.end() ? judged->second : ir::IndependenceOf(program_, function_, id);
    if (!answer.independent) return false;
    auto add = [](auto& list, const auto& more) {
      for (const auto& pair : more)
        if (std::ranges::find(list, pair) == list.end()) list.push_back(pair);
    };
    add(plan_.module.disjoint, answer.disjoint);
    add(plan_.module.at_most, answer.at_most);
    return true;
  }

  // --- grids ---

  Result<void> AddGrid(InstId id) {
    const Inst& inst = function_.inst(id);
    Step step;
    step.insts = {id};
    step.launch.entry = fmt::format("frazil_step{}", plan_.steps.size());
    step.launch.lo = sizes_.Add(function_.operand(inst, 0));
    step.launch.hi = sizes_.Add(function_.operand(inst, 1));
    if (step.launch.lo == Unknown) step.launch.hi = Unknown;
    if (AddRows(step)) {
      // Nothing inside traps or needs scratch.
    } else if (const InstId inner = PerfectInner(inst); inner.valid()) {
      step.inner = inner;
      step.launch.kind = StepKind::Flat;
      step.launch.threads = FlatThreads;
      step.launch.inner_lo = sizes_.Add(function_.operand(function_.inst(inner), 0));
      step.launch.inner_hi = sizes_.Add(function_.operand(function_.inst(inner), 1));
      AddTiles(step);
    } else if (WantsBlocks(id) && ShareOut(step, id)) {
      step.launch.kind = StepKind::Blocks;
    } else {
      step.launch.kind = StepKind::Flat;
      step.launch.threads = FlatThreads;
      step.launch.items = VectorItems(program_, function_, facts_, inst);
    }
    if (step.launch.kind != StepKind::Blocks) TRY_VOID(CheckThreadAllocs(id));
    AddStep(std::move(step));
    return {};
  }

  bool AddRows(Step& step) {
    const Inst& parallel = function_.inst(step.insts[0]);
    if (!HasFoldLoop(step.insts[0]) || step.launch.hi == Unknown) return false;
    step.rows = PlanRows(program_, function_, all_, facts_, parallel);
    if (!step.rows) return false;
    step.launch.lanes_hi = sizes_.Add(step.rows->count);
    if (step.launch.lanes_hi == Unknown) return false;
    step.launch.kind = StepKind::Rows;
    step.launch.threads = RowThreads;
    step.launch.shared_bytes = step.rows->kept_bytes;
    for (const auto& [a, b] : step.rows->disjoint) {
      const auto ordinal = [&](ValueId value) { return value.index - function_.param(0).index; };
      const std::pair<uint32_t, uint32_t> pair = {ordinal(a), ordinal(b)};
      if (pair.first >= function_.param_count() || pair.second >= function_.param_count()) continue;
      auto& list = plan_.module.disjoint;
      if (std::ranges::find(list, pair) == list.end()) list.push_back(pair);
    }
    return true;
  }

  bool HasFoldLoop(InstId id) const {
    bool has = false;
    ForEachInst(function_, id, [&](InstId, const Inst& inst) { has |= IsFoldLoop(inst); });
    return has;
  }

  void AddTiles(Step& step) {
    if (step.launch.hi == Unknown || step.launch.inner_hi == Unknown) return;
    step.chain = MatchMatmulChain(function_, facts_, function_.inst(step.insts[0]),
                                  function_.inst(step.inner));
    if (!step.chain || step.chain->type != ir::types::F32) return;
    step.launch.kind = StepKind::Tiles;
    step.launch.threads = tile_.threads();
    step.launch.tile_rows = tile_.rows;
    step.launch.tile_columns = tile_.columns;
    step.launch.shared_bytes = tile_.shared_bytes();
  }

  // The one parallel inside, if nothing else happens around it and its bounds are the same in all iterations.
  InstId PerfectInner(const Inst& outer) {
    InstId inner;
    for (InstId id : function_.region(Function::region_of(outer, 0)).insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index] || inst.op == Op::Yield) continue;
      if (inner.valid()) return {};
      if (inst.op == Op::Parallel)
        inner = id;
      else if (inst.regions.count != 0 || ir::Info(inst.op).effect != ir::Effect::Pure ||
               MayTrap(program_, function_, facts_, inst))
        return {};
    }
    if (!inner.valid()) return {};
    for (uint32_t k = 0; k < 2; ++k)
      if (!IsInvariant(function_.operand(function_.inst(inner), k), outer)) return {};
    return IsIndependent(inner) ? inner : InstId();
  }

  // Known before the loop, or computed inside of it from constants alone.
  bool IsInvariant(ValueId value, const Inst& loop) const {
    if (facts_.home[value.index] != Function::region_of(loop, 0)) return true;
    const InstId made = facts_.definition[value.index];
    if (!made.valid()) return false;
    for (ValueId operand : function_.operands_of(function_.inst(made)))
      if (!IsInvariant(operand, loop)) return false;
    return true;
  }

  // Parallels inside that threads can share, and scratch memory of a block.
  bool WantsBlocks(InstId id) const {
    bool has_parallel = false;
    ForEachInst(function_, id, [&](InstId inner, const Inst& inst) {
      has_parallel |= inner != id && inst.op == Op::Parallel && facts_.needed[inner.index];
    });
    return has_parallel;
  }

  // Decides what the threads of a block share inside of an instruction; false: it must run in single threads.
  bool ShareOut(Step& step, InstId id) {
    const Inst& inst = function_.inst(id);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!Cooperates(program_, function_, Function::region_of(inst, r))) return false;
    const std::vector<PtxStep::Scratch> before = step.launch.shared;
    step.launch.threads = BlockThreads;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!ShareRegion(step, Function::region_of(inst, r))) {
        step.launch.shared = before;
        return false;
      }
    return true;
  }

  bool ShareRegion(Step& step, RegionId region) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (!facts_.needed[id.index]) continue;
      if (inst.op == Op::Alloc) {
        const int32_t length = sizes_.Add(function_.operand(inst, 0));
        if (length == Unknown) return false;
        step.launch.shared.push_back({length, ir::BytesOf(inst.type)});
      } else if (inst.op == Op::Parallel && IsIndependent(id) && !AllocatesMuch(id)) {
        plan_.shared_out[id.index] = true;
        TakeLanes(step.launch, inst);
      } else {
        for (uint32_t r = 0; r < inst.regions.count; ++r)
          if (!ShareRegion(step, Function::region_of(inst, r))) return false;
      }
    }
    return true;
  }

  void TakeLanes(PtxStep& step, const Inst& parallel) {
    const int32_t lo = sizes_.Add(function_.operand(parallel, 0));
    const int32_t hi = sizes_.Add(function_.operand(parallel, 1));
    if (lo == Unknown || hi == Unknown || step.lanes_hi != Unknown) return;
    step.lanes_lo = lo;
    step.lanes_hi = hi;
  }

  bool AllocatesMuch(InstId id) const {
    bool much = false;
    ForEachInst(function_, id, [&](InstId inner, const Inst& inst) {
      if (inst.op != Op::Alloc || !facts_.needed[inner.index]) return;
      const int64_t bytes = ConstantBytes(function_, facts_, inst);
      much |= bytes < 0 || bytes > MostLocalBytes;
    });
    return much;
  }

  Result<void> CheckThreadAllocs(InstId id) const {
    if (AllocatesMuch(id))
      return Refuse("a thread would need scratch memory whose size is not a small constant");
    return {};
  }

  // --- what lies between grids ---

  Result<void> CloseSingle() {
    if (single_.empty()) return {};
    Step step;
    step.insts = std::move(single_);
    single_.clear();
    step.launch.entry = fmt::format("frazil_step{}", plan_.steps.size());
    bool shares = false;
    bool cooperates = true;
    for (InstId id : step.insts) {
      const Inst& inst = function_.inst(id);
      std::set<uint32_t> seen;
      if (inst.op == Op::Call) cooperates &= !TouchesMemory(program_, CalleeOf(inst), seen);
      shares |= WantsBlocks(id) || inst.op == Op::Parallel;
    }
    if (shares && cooperates) {
      for (InstId id : step.insts) cooperates = cooperates && ShareOut(step, id);
      bool any = false;
      for (InstId id : step.insts)
        ForEachInst(function_, id,
                    [&](InstId inner, const Inst&) { any |= plan_.shared_out[inner.index]; });
      shares = any;
    }
    if (shares && cooperates) {
      step.launch.kind = StepKind::Single;
    } else {
      step.launch.shared.clear();
      step.launch.threads = 1;
      for (InstId id : step.insts) TRY_VOID(CheckThreadAllocs(id));
    }
    AddStep(std::move(step));
    return {};
  }

  // Scalars that one step makes and another reads.
  void HandOn() {
    std::vector<int32_t> made(function_.values.size(), -1);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      for (InstId id : plan_.steps[s].insts) {
        const Inst& inst = function_.inst(id);
        for (uint32_t k = 0; k < inst.results.count; ++k)
          made[inst.results.begin + k] = static_cast<int32_t>(s);
      }
    }
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      auto reads = [&](ValueId value) {
        const int32_t from = made[value.index];
        if (from < 0 || from == static_cast<int32_t>(s) || !facts_.live[value.index]) return;
        if (!function_.type(value).is_scalar() || plan_.frame[value.index] >= 0) return;
        plan_.frame[value.index] = static_cast<int32_t>(plan_.module.frame_words);
        plan_.module.frame_words += ir::WordsOf(function_.type(value));
      };
      if (plan_.steps[s].fold) {
        reads(plan_.steps[s].fold->count);
        for (ValueId value : plan_.steps[s].fold->outside) reads(value);
      }
      for (InstId id : plan_.steps[s].insts)
        ForEachInst(function_, id, [&](InstId, const Inst& inst) {
          for (ValueId operand : function_.operands_of(inst)) reads(operand);
        });
    }
  }

  const TileShape tile_;
  const ir::Program& program_;
  const ir::Program& with_barriers_;
  std::map<uint32_t, ir::Independence> judged_;
  const ProgramFacts& all_;
  const Function& function_;
  const FunctionFacts& facts_;
  SizesBuilder sizes_;
  Plan plan_;
  std::vector<InstId> single_;
  std::vector<std::pair<int32_t, int32_t>> guards_;
};

}  // namespace

bool Cooperates(const ir::Program& program, const Function& function, RegionId region) {
  for (InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    std::set<uint32_t> seen;
    if (inst.op == Op::Call &&
        TouchesMemory(program, static_cast<uint32_t>(function.word(inst, 0)), seen))
      return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (!Cooperates(program, function, Function::region_of(inst, r))) return false;
  }
  return true;
}

int64_t ConstantBytes(const Function& function, const FunctionFacts& facts, const Inst& alloc) {
  const auto words = ConstantOf(function, facts, function.operand(alloc, 0));
  if (!words || (*words)[0] > 1u << 30) return -1;
  return static_cast<int64_t>((*words)[0]) * ir::BytesOf(alloc.type);
}

Result<Plan> MakePlan(const ir::Program& lowered, const ProgramFacts& facts,
                      const ir::Program& with_barriers, const TileShape& tile) {
  return Planner(lowered, facts, with_barriers, tile).Run();
}

}  // namespace frazil::targets::cuda
