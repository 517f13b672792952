// Programs to batch code: which arrays a region needs, which of them may be used again, which loop
// each op is.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "exec/batch/batch_run.h"
#include "exec/meaning/scalar_ops.h"
#include "exec/value.h"

namespace frazil::exec {
namespace {

using namespace ir::names;

// Regions and calls nested deeper than this would use too much of the C++ stack at run time.
constexpr uint32_t DeepestNesting = 400;

std::unexpected<Error> LaneByLane(std::string why) {
  return Fail(Diag::Unsupported, std::move(why));
}

bool IsOneWord(ir::Type type) { return type.is_scalar() && !IsWide(type.scalar); }

bool IsWhile(const ir::Inst& inst) { return inst.op == Op::While; }

// Takes from what is left, if there is as much.
bool TakeFrom(uint64_t& left, uint64_t wanted) {
  if (left < wanted) return false;
  left -= wanted;
  return true;
}

// Constants of all functions, each once.
class ConstantPool {
 public:
  explicit ConstantPool(BlockRoom& room) : room_(room), bytes_left_(room.constant_bytes) {}

  ArrayId Add(ir::Type type, uint64_t word) {
    const uint32_t bytes = ir::BytesOf(type);
    const auto [place, is_new] =
        ids_.try_emplace({bytes, word}, static_cast<ArrayId>(arrays_.size()));
    if (is_new) {
      std::vector<uint64_t>& array = arrays_.emplace_back();
      if (!TakeFrom(bytes_left_, BlockLanes * bytes)) {
        is_full_ = true;
        return ~place->second;
      }
      array.resize(BlockLanes * bytes / sizeof(uint64_t));
      Memory memory(type, BlockLanes, array.data());
      for (size_t i = 0; i < BlockLanes; ++i)
        memory.Set(static_cast<int64_t>(i), std::span(&word, 1));
    }
    return ~place->second;
  }
  Result<std::vector<std::vector<uint64_t>>> Take() {
    if (is_full_) return LaneByLane("its constants take too much memory");
    room_.constant_bytes = bytes_left_;
    return std::move(arrays_);
  }

 private:
  BlockRoom& room_;
  uint64_t bytes_left_;
  bool is_full_ = false;
  std::map<std::pair<uint32_t, uint64_t>, ArrayId> ids_;
  std::vector<std::vector<uint64_t>> arrays_;
};

// What is reached from a body: which functions, how deep regions and calls nest, how many words the frames of calls take.
// Fails on recursion, and where it goes too deep or is too much: before it has used much time or stack itself.
class ReachMeter {
 public:
  struct Reach {
    uint32_t depth = 0;
    uint64_t frame_words = 0;  // one for each value: what has wider ones is not compiled
    void Cover(const Reach& other) {
      depth = std::max(depth, other.depth);
      frame_words = std::max(frame_words, other.frame_words);
    }
  };

  ReachMeter(const ir::Program& program, BlockRoom& room) : program_(program), room_(room) {}

  // `around`: how many regions it stands in.
  Result<Reach> Of(uint32_t id, uint32_t around) {
    const ir::Function& function = program_.functions[id];
    if (const auto [place, is_new] = known_.try_emplace(id, std::nullopt); is_new) {
      Reach reach = TRY(Of(function, function.body, around));
      reach.frame_words += function.values.size();
      known_[id] = Known{reach, static_cast<uint32_t>(functions_.size())};
      functions_.push_back(id);
    }
    const std::optional<Known>& known = known_.at(id);
    if (!known) return LaneByLane("it is recursive");
    if (around + known->reach.depth > DeepestNesting) return TooDeep();
    return known->reach;
  }

  Result<Reach> Of(const ir::Function& function, ir::RegionId region, uint32_t around) {
    if (around >= DeepestNesting) return TooDeep();
    if (!TakeFrom(room_.parts, function.region(region).insts.size()))
      return LaneByLane("it is too long");
    Reach inner;
    for (ir::InstId id : function.region(region).insts) {
      const ir::Inst& inst = function.inst(id);
      if (inst.op == Op::Call)
        inner.Cover(TRY(Of(static_cast<uint32_t>(function.word(inst, 0)), around + 1)));
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        inner.Cover(TRY(Of(function, Function::region_of(inst, i), around + 1)));
    }
    inner.depth += 1;
    return inner;
  }

  const std::vector<uint32_t>& functions() const { return functions_; }
  // Which of the reached ones a function is.
  uint32_t NumberOf(uint32_t function) const { return known_.at(function)->number; }

 private:
  struct Known {
    Reach reach;
    uint32_t number;
  };

  static std::unexpected<Error> TooDeep() {
    return LaneByLane("its regions and calls nest too deep");
  }

  const ir::Program& program_;
  BlockRoom& room_;
  std::unordered_map<uint32_t, std::optional<Known>> known_;  // none: it is being looked at
  std::vector<uint32_t> functions_;
};

// A region being compiled, inside those around it.
struct Scope {
  Scope* around = nullptr;
  BatchRegion* region = nullptr;
  std::unordered_map<ValueId, ArrayId> arrays;
  std::vector<ArrayId> free;
};

class FunctionCompiler {
 public:
  FunctionCompiler(const ir::Program& program, const ir::Function& function,
                   const ReachMeter& reached, ConstantPool& constants, BlockRoom& room)
      : program_(program),
        function_(function),
        reached_(reached),
        constants_(constants),
        room_(room) {}

  Result<BatchFunction> Run() {
    BatchFunction out;
    out.is_prelude = function_.is_prelude;
    TRY_VOID(FindFreeValues(function_.body, std::nullopt));
    out.body = TRY(Region(function_.body, nullptr));
    return out;
  }

  Result<ParallelCode> Parallel(const ir::Inst& parallel) {
    ParallelCode out;
    const ir::RegionId id = Function::region_of(parallel, 0);
    Scope scope{nullptr, &out.body, {}, {}};
    TRY_VOID(FindFreeValues(id, std::nullopt));
    for (ValueId value : free_values_.at(id)) {
      TRY_VOID(DefineParam(scope, value));
      out.scalars.push_back(value);
    }
    const ir::Region& region = function_.region(id);
    TRY_VOID(DefineParam(scope, Function::param_of(region, 0)));
    TRY_VOID(Insts(region, scope, std::nullopt));
    out.memories = std::move(memories_);
    return out;
  }

 private:
  uint32_t Bytes(ValueId value) const { return ir::BytesOf(function_.type(value)); }

  bool IsConstant(ValueId value) const {
    const ir::InstId def = function_.values[value.index].def;
    return def.valid() && function_.inst(def).op == Op::Const;
  }

  // Of a region and all in it, from the inside out: what they read and do not define. `body`: of a while, whose test `id` is.
  Result<void> FindFreeValues(ir::RegionId id, std::optional<ir::RegionId> body) {
    const ir::Region& region = function_.region(id);
    std::vector<ValueId> used;
    std::vector<ValueId> defined;
    const auto define = [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) defined.emplace_back(values.begin + i);
    };
    const auto use_all = [&](ir::RegionId inner) {
      const std::vector<ValueId>& values = free_values_.at(inner);
      used.insert(used.end(), values.begin(), values.end());
    };
    define(region.params);
    for (ir::InstId inst_id : region.insts) {
      const ir::Inst& inst = function_.inst(inst_id);
      define(inst.results);
      for (ValueId operand : function_.operands_of(inst)) {
        if (!IsConstant(operand) && !function_.type(operand).is_buffer()) used.push_back(operand);
      }
      if (IsWhile(inst)) {
        TRY_VOID(FindFreeValues(Function::region_of(inst, 0), Function::region_of(inst, 1)));
        use_all(Function::region_of(inst, 0));
        continue;
      }
      for (uint32_t i = 0; i < inst.regions.count; ++i) {
        TRY_VOID(FindFreeValues(Function::region_of(inst, i), std::nullopt));
        use_all(Function::region_of(inst, i));
      }
    }
    if (body) {
      TRY_VOID(FindFreeValues(*body, std::nullopt));
      use_all(*body);
    }
    std::ranges::sort(used);
    const auto repeated = std::ranges::unique(used);
    used.erase(repeated.begin(), repeated.end());
    std::ranges::sort(defined);
    std::vector<ValueId>& free = free_values_[id];
    std::ranges::set_difference(used, defined, std::back_inserter(free));
    // Many values that go through many regions.
    if (!TakeFrom(room_.parts, free.size())) return LaneByLane("it is too long");
    return {};
  }

  ArrayId Resolve(const Scope& scope, ValueId value) const {
    if (IsConstant(value))
      return constants_.Add(function_.type(value), function_.words_of(Def(value))[0]);
    const auto found = scope.arrays.find(value);
    CHECK(found != scope.arrays.end());
    return found->second;
  }

  const ir::Inst& Def(ValueId value) const {
    return function_.inst(function_.values[value.index].def);
  }

  Move MoveOf(const Scope& scope, ValueId value) const {
    return {Resolve(scope, value), Bytes(value)};
  }

  std::vector<Move> MovesOf(const Scope& scope, std::span<const ValueId> values) const {
    std::vector<Move> moves;
    for (ValueId value : values) moves.push_back(MoveOf(scope, value));
    return moves;
  }

  ArrayId Define(Scope& scope, ValueId value) {
    ArrayId array = 0;
    if (scope.free.empty()) {
      array = static_cast<ArrayId>(scope.region->array_count++);
    } else {
      array = scope.free.back();
      scope.free.pop_back();
    }
    scope.arrays[value] = array;
    return array;
  }

  Result<void> DefineParam(Scope& scope, ValueId param) {
    if (!IsOneWord(function_.type(param))) return LaneByLane("it has values that are not one word");
    scope.region->params.push_back({Define(scope, param), Bytes(param)});
    return {};
  }

  Result<BatchRegion> Region(ir::RegionId id, Scope* around) {
    BatchRegion out;
    Scope scope{around, &out, {}, {}};
    const ir::Region& region = function_.region(id);
    for (ValueId value : free_values_.at(id)) {
      CHECK(around != nullptr);
      out.live_ins.push_back(MoveOf(*around, value));
      Define(scope, value);
    }
    for (uint32_t i = 0; i < region.params.count; ++i)
      TRY_VOID(DefineParam(scope, Function::param_of(region, i)));
    TRY_VOID(Insts(region, scope, std::nullopt));
    const ir::Inst& last = function_.inst(region.insts.back());
    out.yields = MovesOf(scope, function_.operands_of(last));
    return out;
  }

  // Values defined in this region that nothing reads any more give their arrays back. Parameters
  // and live-ins keep theirs: loops read them again. `body`: of a while, whose test the region is.
  Result<void> Insts(const ir::Region& region, Scope& scope, std::optional<ir::RegionId> body) {
    std::unordered_map<ValueId, size_t> last_use;
    const size_t end = region.insts.size();
    for (size_t p = 0; p < end; ++p) {
      const ir::Inst& inst = function_.inst(region.insts[p]);
      for (ValueId operand : function_.operands_of(inst)) last_use[operand] = p;
      // What the body of a while reads from outside of it is among what its test does.
      for (uint32_t i = 0; i < (IsWhile(inst) ? 1 : inst.regions.count); ++i) {
        for (ValueId value : free_values_.at(Function::region_of(inst, i))) last_use[value] = p;
      }
    }
    if (body) {
      for (ValueId value : free_values_.at(*body)) last_use[value] = end;
    }
    std::vector<std::vector<ValueId>> ending(end + 1);
    for (ir::InstId id : region.insts) {
      const ir::Range results = function_.inst(id).results;
      for (uint32_t i = 0; i < results.count; ++i) {
        const ValueId value(results.begin + i);
        const auto use = last_use.find(value);
        if (use != last_use.end()) ending[use->second].push_back(value);
      }
    }
    for (size_t p = 0; p + 1 < end; ++p) {
      const ir::Inst& inst = function_.inst(region.insts[p]);
      if (inst.op == Op::Const) {
        if (!IsOneWord(inst.type)) return LaneByLane("it has values that are not one word");
        continue;
      }
      TRY_VOID(OneInst(inst, scope));
      for (ValueId value : ending[p]) {
        if (!IsConstant(value)) scope.free.push_back(scope.arrays.at(value));
      }
    }
    return {};
  }

  Result<void> OneInst(const ir::Inst& inst, Scope& scope) {
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      if (!IsOneWord(function_.type(Function::result_of(inst, i))))
        return LaneByLane("it has values that are not one word");
    }
    switch (inst.op) {
      case Op::If: return Structure(inst, scope, BatchInst::Kind::If, 1);
      case Op::Switch: return Structure(inst, scope, BatchInst::Kind::Switch, 1);
      case Op::For: return Structure(inst, scope, BatchInst::Kind::For, 2);
      case Op::While: return Structure(inst, scope, BatchInst::Kind::While, 0);
      case Op::Call: return Structure(inst, scope, BatchInst::Kind::Call, 0);
      case Op::Lookup: return Structure(inst, scope, BatchInst::Kind::Lookup, 1);
      case Op::Load:
      case Op::Store:
      case Op::Length: return Access(inst, scope);
      case Op::Assert:
      case Op::Unreachable: {
        BatchInst& out = scope.region->insts.emplace_back();
        out.kind = inst.op == Op::Assert ? BatchInst::Kind::Assert : BatchInst::Kind::Unreachable;
        out.op = inst.trap_op();
        if (inst.op == Op::Assert) out.a = Resolve(scope, function_.operand(inst, 0));
        return {};
      }
      default: return Arithmetic(inst, scope);
    }
  }

  // Which of the memories a buffer is; one more where it is new.
  uint32_t MemoryOf(ValueId buffer) {
    const auto found = std::ranges::find(memories_, buffer, &BodyMemory::value);
    const auto index = static_cast<uint32_t>(found - memories_.begin());
    if (found == memories_.end()) memories_.push_back({buffer});
    return index;
  }

  // Only buffers from outside get here: what makes or carries one is not compiled.
  Result<void> Access(const ir::Inst& inst, Scope& scope) {
    const std::span<const ValueId> operands = function_.operands_of(inst);
    if (!function_.type(operands[0]).is_buffer() ||
        IsWide(function_.type(operands[0]).element().scalar))
      return LaneByLane("it has values that are not one word");
    BatchInst out;
    out.op = inst.op;
    out.memory = MemoryOf(operands[0]);
    out.may_trap = inst.op != Op::Length;
    out.kind = BatchInst::Kind::Length;
    if (inst.op == Op::Load) {
      out.kind = BatchInst::Kind::Load;
      memories_[out.memory].is_loaded = true;
    } else if (inst.op == Op::Store) {
      out.kind = BatchInst::Kind::Store;
      out.b = Resolve(scope, operands[2]);
      memories_[out.memory].is_stored = true;
    }
    if (inst.op != Op::Length) out.a = Resolve(scope, operands[1]);
    if (inst.op != Op::Store) out.result = Define(scope, Function::result_of(inst));
    scope.region->insts.push_back(std::move(out));
    return {};
  }

  // Select, if and switch say which ways they went.
  void SetPlace(const ir::Inst& inst, BatchInst& out) const {
    out.function = static_cast<uint32_t>(&function_ - program_.functions.data());
    out.inst = static_cast<uint32_t>(&inst - function_.insts.data());
  }

  Result<void> Arithmetic(const ir::Inst& inst, Scope& scope) {
    const std::span<const ValueId> operands = function_.operands_of(inst);
    const bool one_word =
        !operands.empty() && IsOneWord(function_.type(operands[0])) && IsOneWord(inst.type);
    const Kernel kernel =
        one_word ? KernelFor(inst.op, inst.type.scalar, function_.type(operands[0]).scalar)
                 : nullptr;
    if (kernel == nullptr)
      return LaneByLane(fmt::format("it uses '{}'", ir::Info(inst.op).mnemonic));
    BatchInst out;
    SetPlace(inst, out);
    out.kind = BatchInst::Kind::Kernel;
    out.op = inst.op;
    out.may_trap = ir::Info(inst.op).traps != 0;
    out.kernel = kernel;
    out.a = Resolve(scope, operands[0]);
    out.b = Resolve(scope, operands[operands.size() > 1 ? 1 : 0]);
    out.c = Resolve(scope, operands[operands.size() > 2 ? 2 : 0]);
    out.result = Define(scope, Function::result_of(inst));
    scope.region->insts.push_back(std::move(out));
    return {};
  }

  // `deciding` operands come before those that are moved: condition, selector, bounds, index.
  Result<void> Structure(const ir::Inst& inst, Scope& scope, BatchInst::Kind kind,
                         uint32_t deciding) {
    const std::span<const ValueId> operands = function_.operands_of(inst);
    BatchInst out;
    SetPlace(inst, out);
    out.kind = kind;
    out.op = inst.op;
    if (deciding > 0) out.a = Resolve(scope, operands[0]);
    if (deciding > 1) out.b = Resolve(scope, operands[1]);
    out.structure = std::make_unique<BatchStructure>();
    BatchStructure& structure = *out.structure;
    for (ValueId operand : operands.subspan(deciding)) {
      if (!IsOneWord(function_.type(operand)))
        return LaneByLane("it has values that are not one word");
      structure.operands.push_back(MoveOf(scope, operand));
    }
    if (deciding > 0) structure.type = function_.type(operands[0]).scalar;
    if (kind == BatchInst::Kind::Switch) {
      for (uint32_t i = 0; i < inst.attributes.count; ++i)
        structure.cases.push_back(function_.word(inst, i));
    }
    if (kind == BatchInst::Kind::For)
      structure.step = static_cast<uint64_t>(function_.word(inst, 0));
    if (kind == BatchInst::Kind::Call)
      structure.callee = reached_.NumberOf(static_cast<uint32_t>(function_.word(inst, 0)));
    if (kind == BatchInst::Kind::Lookup)
      structure.table = program_.data[static_cast<size_t>(function_.word(inst, 0))].words;
    if (kind == BatchInst::Kind::While) {
      TRY_VOID(WhileRegions(inst, scope, structure));
    } else {
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        structure.regions.push_back(TRY(Region(Function::region_of(inst, i), &scope)));
    }
    // After the operands and regions: a result has an array of its own.
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      const ValueId result = Function::result_of(inst, i);
      structure.results.push_back({Define(scope, result), Bytes(result)});
    }
    scope.region->insts.push_back(std::move(out));
    return {};
  }

  // The body sees the test's arrays, so it is compiled in the test's scope, which must still be
  // open.
  Result<void> WhileRegions(const ir::Inst& inst, Scope& around, BatchStructure& structure) {
    const ir::RegionId test_id = Function::region_of(inst, 0);
    const ir::RegionId body_id = Function::region_of(inst, 1);
    BatchRegion test;
    Scope scope{&around, &test, {}, {}};
    const ir::Region& region = function_.region(test_id);
    for (ValueId value : free_values_.at(test_id)) {
      test.live_ins.push_back(MoveOf(around, value));
      Define(scope, value);
    }
    for (uint32_t i = 0; i < region.params.count; ++i)
      TRY_VOID(DefineParam(scope, Function::param_of(region, i)));
    TRY_VOID(Insts(region, scope, body_id));
    test.yields = MovesOf(scope, function_.operands_of(function_.inst(region.insts.back())));
    BatchRegion body = TRY(Region(body_id, &scope));
    structure.regions.push_back(std::move(test));
    structure.regions.push_back(std::move(body));
    return {};
  }

  const ir::Program& program_;
  const ir::Function& function_;
  const ReachMeter& reached_;
  ConstantPool& constants_;
  BlockRoom& room_;
  std::vector<BodyMemory> memories_;
  // By region, in order: values but constants and buffers that it and those in it read and do not define. The body of a
  // while is in its test.
  std::unordered_map<ir::RegionId, std::vector<ValueId>> free_values_;
};

Result<std::vector<BatchFunction>> CompileReached(const ir::Program& program,
                                                  const ReachMeter& reached,
                                                  ConstantPool& constants, BlockRoom& room) {
  std::vector<BatchFunction> functions;
  for (uint32_t id : reached.functions()) {
    functions.push_back(
        TRY(FunctionCompiler(program, program.functions[id], reached, constants, room).Run()));
  }
  return functions;
}

// How many arrays are in use at a time, at most. Functions come after those that they call.
class ArrayMeter {
 public:
  explicit ArrayMeter(std::span<const BatchFunction> functions) {
    for (const BatchFunction& function : functions) of_functions_.push_back(Of(function.body));
  }

  uint64_t Of(const BatchRegion& region) const {
    uint64_t most = 0;
    for (const BatchInst& inst : region.insts) {
      if (inst.structure == nullptr) continue;
      uint64_t inner =
          inst.kind == BatchInst::Kind::Call ? of_functions_[inst.structure->callee] : 0;
      // The body of a while stands on its test.
      for (const BatchRegion& r : inst.structure->regions)
        inner = inst.kind == BatchInst::Kind::While ? inner + Of(r) : std::max(inner, Of(r));
      most = std::max(most, inner + inst.structure->results.size() + Lanes::ArrayCount);
    }
    return region.array_count + most;
  }

 private:
  std::vector<uint64_t> of_functions_;
};

}  // namespace

Result<BatchCode> CompileBatch(const ir::Program& program) {
  BlockRoom room = {UINT64_MAX, UINT64_MAX};
  ReachMeter reached(program, room);
  TRY_VOID(reached.Of(program.entry.index, 0));
  BatchCode code;
  code.entry = reached.NumberOf(program.entry.index);
  ConstantPool constants(room);
  code.functions = TRY(CompileReached(program, reached, constants, room));
  code.constants = TRY(constants.Take());
  return code;
}

Result<ParallelCode> CompileParallel(const ir::Program& program, const ir::Function& function,
                                     const ir::Inst& parallel, BlockRoom& room) {
  ReachMeter reached(program, room);
  const ReachMeter::Reach reach = TRY(reached.Of(function, Function::region_of(parallel, 0), 0));
  ConstantPool constants(room);
  ParallelCode code =
      TRY(FunctionCompiler(program, function, reached, constants, room).Parallel(parallel));
  code.code.functions = TRY(CompileReached(program, reached, constants, room));
  code.frame_words = reach.frame_words;
  code.arrays = ArrayMeter(code.code.functions).Of(code.body) + Lanes::ArrayCount;
  if (code.arrays > MostBlockArrays) return LaneByLane("its arrays take too much memory");
  code.code.constants = TRY(constants.Take());
  return code;
}

}  // namespace frazil::exec
