// Programs to batch code: which arrays a region needs, which of them may be used again, which loop
// each op is.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "exec/batch_code.h"
#include "exec/scalar_ops.h"
#include "exec/value.h"

namespace frazil::exec {
namespace {

using ir::Function;
using ir::Op;
using ir::ValueId;

// Regions and calls nested deeper than this would use too much of the C++ stack at run time.
constexpr uint32_t DeepestNesting = 400;

std::unexpected<Error> LaneByLane(std::string why) {
  return Fail(Diag::Unsupported, std::move(why));
}

bool IsOneWord(ir::Type type) { return type.is_scalar() && !IsWide(type.scalar); }

// Constants of all functions, each once.
class ConstantPool {
 public:
  ArrayId Add(ir::Type type, uint64_t word) {
    const uint32_t bytes = ir::BytesOf(type);
    const auto [place, is_new] =
        ids_.try_emplace({bytes, word}, static_cast<ArrayId>(arrays_.size()));
    if (is_new) {
      std::vector<uint64_t>& array = arrays_.emplace_back(BlockLanes);
      Memory memory(type, BlockLanes, array.data());
      for (size_t i = 0; i < BlockLanes; ++i)
        memory.Set(static_cast<int64_t>(i), std::span(&word, 1));
    }
    return ~place->second;
  }
  std::vector<std::vector<uint64_t>> Take() { return std::move(arrays_); }

 private:
  std::map<std::pair<uint32_t, uint64_t>, ArrayId> ids_;
  std::vector<std::vector<uint64_t>> arrays_;
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
                   ConstantPool& constants)
      : program_(program), function_(function), constants_(constants) {}

  Result<BatchFunction> Run() {
    BatchFunction out;
    out.is_prelude = function_.is_prelude;
    out.body = TRY(Region(function_.body, nullptr, std::nullopt));
    return out;
  }

  Result<ParallelCode> Parallel(const ir::Inst& parallel) {
    ParallelCode out;
    const ir::RegionId id = Function::region_of(parallel, 0);
    Scope scope{nullptr, &out.body, {}, {}};
    for (ValueId value : FreeValues(id, std::nullopt)) {
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

  // Values but buffers that a region and those in it read and do not define. The body of a while is
  // in its test.
  std::vector<ValueId> FreeValues(ir::RegionId root, std::optional<ir::RegionId> inner) const {
    std::vector<ir::RegionId> open = {root};
    if (inner) open.push_back(*inner);
    std::unordered_map<ValueId, bool> defined;
    std::vector<ValueId> used;
    auto define = [&](ir::Range values) {
      for (uint32_t i = 0; i < values.count; ++i) defined[ValueId(values.begin + i)] = true;
    };
    while (!open.empty()) {
      const ir::Region& region = function_.region(open.back());
      open.pop_back();
      define(region.params);
      for (ir::InstId id : region.insts) {
        const ir::Inst& inst = function_.inst(id);
        define(inst.results);
        for (ValueId operand : function_.operands_of(inst)) used.push_back(operand);
        for (uint32_t i = 0; i < inst.regions.count; ++i)
          open.push_back(Function::region_of(inst, i));
      }
    }
    std::ranges::sort(used);
    const auto repeated = std::ranges::unique(used);
    used.erase(repeated.begin(), repeated.end());
    std::erase_if(used, [&](ValueId value) {
      return defined.contains(value) || IsConstant(value) || function_.type(value).is_buffer();
    });
    return used;
  }

  std::vector<ValueId> FreeValues(const ir::Inst& inst) const {
    if (inst.op == Op::While)
      return FreeValues(Function::region_of(inst, 0), Function::region_of(inst, 1));
    std::vector<ValueId> all;
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      const std::vector<ValueId> some = FreeValues(Function::region_of(inst, i), std::nullopt);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
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

  // `body`: of a while, whose test `id` is.
  Result<BatchRegion> Region(ir::RegionId id, Scope* around, std::optional<ir::RegionId> body) {
    BatchRegion out;
    Scope scope{around, &out, {}, {}};
    const ir::Region& region = function_.region(id);
    for (ValueId value : FreeValues(id, body)) {
      CHECK(around != nullptr);
      out.live_ins.push_back(MoveOf(*around, value));
      Define(scope, value);
    }
    for (uint32_t i = 0; i < region.params.count; ++i)
      TRY_VOID(DefineParam(scope, Function::param_of(region, i)));
    TRY_VOID(Insts(region, scope, body));
    const ir::Inst& last = function_.inst(region.insts.back());
    out.yields = MovesOf(scope, function_.operands_of(last));
    return out;
  }

  // Values defined in this region that nothing reads any more give their arrays back. Parameters
  // and live-ins keep theirs: loops read them again.
  Result<void> Insts(const ir::Region& region, Scope& scope, std::optional<ir::RegionId> body) {
    std::unordered_map<ValueId, size_t> last_use;
    const size_t end = region.insts.size();
    for (size_t p = 0; p < end; ++p) {
      const ir::Inst& inst = function_.inst(region.insts[p]);
      for (ValueId operand : function_.operands_of(inst)) last_use[operand] = p;
      for (ValueId value : FreeValues(inst)) last_use[value] = p;
    }
    if (body) {
      for (ValueId value : FreeValues(*body, std::nullopt)) last_use[value] = end;
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
      structure.callee = static_cast<uint32_t>(function_.word(inst, 0));
    if (kind == BatchInst::Kind::Lookup) FillTable(inst, structure);
    if (kind == BatchInst::Kind::While) {
      TRY_VOID(WhileRegions(inst, scope, structure));
    } else {
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        structure.regions.push_back(
            TRY(Region(Function::region_of(inst, i), &scope, std::nullopt)));
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
    for (ValueId value : FreeValues(test_id, body_id)) {
      test.live_ins.push_back(MoveOf(around, value));
      Define(scope, value);
    }
    for (uint32_t i = 0; i < region.params.count; ++i)
      TRY_VOID(DefineParam(scope, Function::param_of(region, i)));
    TRY_VOID(Insts(region, scope, body_id));
    test.yields = MovesOf(scope, function_.operands_of(function_.inst(region.insts.back())));
    BatchRegion body = TRY(Region(body_id, &scope, std::nullopt));
    structure.regions.push_back(std::move(test));
    structure.regions.push_back(std::move(body));
    return {};
  }

  void FillTable(const ir::Inst& inst, BatchStructure& structure) const {
    const ir::Data& data = program_.data[static_cast<size_t>(function_.word(inst, 0))];
    structure.table_length = data.length();
    structure.table.resize(data.length() * ir::BytesOf(data.element));
    Memory memory(data.element, static_cast<int64_t>(data.length()), structure.table.data());
    for (uint64_t i = 0; i < data.length(); ++i)
      memory.Set(static_cast<int64_t>(i), std::span(data.words).subspan(i, 1));
  }

  const ir::Program& program_;
  const ir::Function& function_;
  ConstantPool& constants_;
  std::vector<BodyMemory> memories_;
};

// How deep regions and calls nest from a function on; fails on recursion.
class NestingMeter {
 public:
  explicit NestingMeter(const ir::Program& program)
      : program_(program), depth_(program.functions.size(), 0) {}

  Result<uint32_t> Of(uint32_t function) {
    if (depth_[function] == Open) return LaneByLane("it is recursive");
    if (depth_[function] != 0) return depth_[function];
    depth_[function] = Open;
    const uint32_t depth = TRY(Of(program_.functions[function], program_.functions[function].body));
    if (depth > DeepestNesting) return LaneByLane("its regions and calls nest too deep");
    depth_[function] = depth;
    return depth;
  }
  bool Reached(uint32_t function) const { return depth_[function] != 0; }

  Result<uint32_t> Of(const ir::Function& function, ir::RegionId region) {
    uint32_t inner = 0;
    for (ir::InstId id : function.region(region).insts) {
      const ir::Inst& inst = function.inst(id);
      if (inst.op == Op::Call)
        inner = std::max(inner, TRY(Of(static_cast<uint32_t>(function.word(inst, 0)))));
      for (uint32_t i = 0; i < inst.regions.count; ++i)
        inner = std::max(inner, TRY(Of(function, Function::region_of(inst, i))));
    }
    return inner + 1;
  }

 private:
  static constexpr uint32_t Open = UINT32_MAX;

  const ir::Program& program_;
  std::vector<uint32_t> depth_;
};

// The functions that the meter has come to.
Result<std::vector<BatchFunction>> CompileReached(const ir::Program& program,
                                                  const NestingMeter& meter,
                                                  ConstantPool& constants) {
  std::vector<BatchFunction> functions(program.functions.size());
  for (uint32_t i = 0; i < functions.size(); ++i) {
    if (!meter.Reached(i)) continue;
    functions[i] = TRY(FunctionCompiler(program, program.functions[i], constants).Run());
  }
  return functions;
}

}  // namespace

Result<BatchCode> CompileBatch(const ir::Program& program) {
  NestingMeter meter(program);
  TRY_VOID(meter.Of(program.entry.index));
  BatchCode code;
  code.entry = program.entry.index;
  ConstantPool constants;
  code.functions = TRY(CompileReached(program, meter, constants));
  code.constants = constants.Take();
  return code;
}

Result<ParallelCode> CompileParallel(const ir::Program& program, const ir::Function& function,
                                     const ir::Inst& parallel) {
  NestingMeter meter(program);
  const uint32_t depth = TRY(meter.Of(function, Function::region_of(parallel, 0)));
  if (depth > DeepestNesting) return LaneByLane("its regions and calls nest too deep");
  ConstantPool constants;
  ParallelCode code = TRY(FunctionCompiler(program, function, constants).Parallel(parallel));
  code.code.functions = TRY(CompileReached(program, meter, constants));
  code.code.constants = constants.Take();
  return code;
}

}  // namespace frazil::exec
