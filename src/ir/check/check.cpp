// The walk over a program and the ops whose rows of ops.def say everything; check_structure.cpp and
// check_tensor.cpp have the rest. Recursion is bounded by the nesting limit, which is checked on the way.
#include "ir/check/check.h"

#include <unordered_set>

#include "ir/check/attributes.h"
#include "ir/check/check_internal.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

namespace frazil::ir {

std::string FunctionChecker::Show(Type type) const { return PrintType(function_, type); }

Result<void> FunctionChecker::Run() {
  if (function_.regions.empty() || function_.body.index >= function_.regions.size())
    return Fail(Diag::BadRegion, fmt::format("@{} has no body", function_.name));
  parallel_depth_.assign(function_.values.size(), 0);
  TRY_VOID(CheckRanges());
  TRY_VOID(CheckSignature());
  return CheckRegion(function_.body, Op::Return, function_.results, {});
}

// Nothing points outside of the function's vectors, and no region, instruction or value has two owners.
Result<void> FunctionChecker::CheckRanges() const {
  auto inside = [](Range range, size_t size) {
    return range.begin <= size && range.count <= size - range.begin;
  };
  std::vector<bool> region_owned(function_.regions.size(), false);
  std::vector<bool> inst_owned(function_.insts.size(), false);
  std::vector<bool> defined(function_.values.size(), false);
  auto claim = [](std::vector<bool>& owned, uint32_t begin, uint32_t count) {
    for (uint32_t i = begin; i < begin + count; ++i) {
      if (owned[i]) return false;
      owned[i] = true;
    }
    return true;
  };
  auto broken = [&](Location location) {
    return Fail(
        Diag::BadRegion,
        fmt::format("@{} is inconsistent: a part is missing or has two owners", function_.name),
        location);
  };
  if (!claim(region_owned, function_.body.index, 1)) return broken({});
  for (const Region& region : function_.regions) {
    if (!inside(region.params, function_.values.size()) ||
        !claim(defined, region.params.begin, region.params.count))
      return broken({});
    for (InstId id : region.insts)
      if (id.index >= function_.insts.size() || !claim(inst_owned, id.index, 1)) return broken({});
  }
  for (const Inst& inst : function_.insts)
    if (!inside(inst.operands, function_.operands.size()) ||
        !inside(inst.attributes, function_.words.size()) ||
        !inside(inst.regions, function_.regions.size()) ||
        !inside(inst.results, function_.values.size()) ||
        !claim(region_owned, inst.regions.begin, inst.regions.count) ||
        !claim(defined, inst.results.begin, inst.results.count))
      return broken(inst.location);
  return {};
}

Result<void> FunctionChecker::CheckSignature() {
  for (uint32_t i = 0; i < function_.param_count(); ++i)
    TRY_VOID(CheckTypeOf(function_.param_type(i), {}));
  for (Type type : function_.results) {
    TRY_VOID(CheckTypeOf(type, {}));
    if (type.is_buffer())
      return Fail(Diag::WrongType, fmt::format("@{} cannot return a buffer", function_.name));
  }
  return {};
}

Result<void> FunctionChecker::CheckTypeOf(Type type, Location location) const {
  if (type.limbs < 1 || type.limbs > MaxLimbs || (type.scalar != Scalar::Int && type.limbs != 1))
    return Fail(Diag::UnknownType, "int<k> has 1 to 64 words", location);
  if (!type.is_tensor()) return {};
  if (type.shape >= function_.shapes.size())
    return Fail(Diag::BadShape, "a tensor has no shape", location);
  const Shape& shape = function_.shape(type);
  if (shape.size() > MaxRank)
    return Fail(Diag::BadShape, fmt::format("a tensor has at most {} axes", MaxRank), location);
  for (Dim dim : shape)
    if (dim.is_symbol() && (dim.param() >= function_.param_count() ||
                            function_.param_type(dim.param()) != types::Index))
      return Fail(Diag::BadSymbolicDim,
                  fmt::format("a dimension of @{} is not an index parameter", function_.name),
                  location);
  return {};
}

void FunctionChecker::Define(Range values) {
  for (uint32_t i = 0; i < values.count; ++i) {
    visible_[values.begin + i] = true;
    parallel_depth_[values.begin + i] = parallels_open_;
  }
}

void FunctionChecker::Forget(const Region& region) {
  for (uint32_t i = 0; i < region.params.count; ++i) visible_[region.params.begin + i] = false;
  for (InstId id : region.insts) {
    const Inst& inst = function_.inst(id);
    for (uint32_t i = 0; i < inst.results.count; ++i) visible_[inst.results.begin + i] = false;
  }
}

// `parent` is the op that owns the region; Return stands for the function itself.
Result<void> FunctionChecker::CheckRegion(RegionId id, Op parent, std::span<const Type> yields,
                                          Location location) {
  const Region& region = function_.region(id);
  Define(region.params);
  if (around_.size() > limits_.nesting)
    return Fail(Diag::LimitReached,
                fmt::format("regions are nested deeper than --max-nesting {}", limits_.nesting),
                location);
  Op wanted = parent == Op::Return      ? Op::Return
              : parent == Op::Condition ? Op::Condition
                                        : Op::Yield;
  if (region.insts.empty() || function_.inst(region.insts.back()).op != wanted)
    return Fail(Diag::BadTerminator,
                fmt::format("this region must end in '{}'", Info(wanted).mnemonic),
                region.insts.empty() ? location : function_.inst(region.insts.back()).location);
  for (InstId inst_id : region.insts) {
    const Inst& inst = function_.inst(inst_id);
    bool terminator = inst.op == Op::Return || inst.op == Op::Yield || inst.op == Op::Condition;
    if (terminator != (inst_id == region.insts.back()))
      return Fail(Diag::BadTerminator,
                  fmt::format("'{}' can only end a region", Info(inst.op).mnemonic), inst.location);
    TRY_VOID(CheckUses(inst));
    if (!terminator) TRY_VOID(CheckInst(inst));
    Define(inst.results);
  }
  const Inst& last = function_.inst(region.insts.back());
  if (wanted == Op::Condition) {
    TRY_VOID(NeedOperands(last, 1));
    return NeedType(last, 0, types::Bool);
  }
  TRY_VOID(NeedOperands(last, yields.size()));
  for (uint32_t i = 0; i < yields.size(); ++i) TRY_VOID(NeedType(last, i, yields[i]));
  return {};
}

Result<void> FunctionChecker::CheckUses(const Inst& inst) const {
  for (ValueId value : function_.operands_of(inst))
    if (value.index >= visible_.size() || !visible_[value.index])
      return Wrong(inst, Diag::NotDominated, "an operand is not defined here");
  return {};
}

Result<void> FunctionChecker::NeedType(const Inst& inst, uint32_t operand, Type type) const {
  if (OperandType(inst, operand) == type) return {};
  return Wrong(inst, Diag::WrongType, "operand {} is {}, not {}", operand + 1,
               Show(OperandType(inst, operand)), Show(type));
}

Result<void> FunctionChecker::CheckInst(const Inst& inst) {
  const OpInfo& info = Info(inst.op);
  if (HasTypeParameter(inst.op)) {
    TRY_VOID(CheckTypeOf(inst.type, inst.location));
    if (!Contains(info.types, inst.type.scalar))
      return Wrong(inst, Diag::WrongType, "does not work on {}", Show(inst.type.element()));
  }
  TRY_VOID(CheckAttributeCount(inst));
  if (inst.source_op && !CanStandFor(inst.op))
    return Wrong(inst, Diag::BadAttribute, "stands for no other operation");
  // A call of a prelude function is a math op, expanded.
  bool is_math_call = inst.op == Op::Call &&
                      program_.functions[static_cast<size_t>(function_.word(inst, 0))].is_prelude;
  if (inside_ != Inside::Anything && info.effect != Effect::Pure && inst.op != Op::If &&
      inst.op != Op::For && inst.op != Op::While && inst.op != Op::Switch && inst.op != Op::Fold &&
      inst.op != Op::Assert && inst.op != Op::Unreachable && !is_math_call &&
      !(inside_ == Inside::Reading && info.effect == Effect::Reads))
    return Wrong(inst, Diag::BadRegion, "a {} region holds pure scalar operations only",
                 inside_ == Inside::Reading ? "fold" : "map");
  if (info.signature == "custom") return CheckCustom(inst);
  if (inst.regions.count != 0) return Wrong(inst, Diag::BadRegion, "has no regions");
  TRY_VOID(CheckRow(inst));
  if (inst.op == Op::Barrier) return CheckBarrier(inst);
  return {};
}

Result<void> FunctionChecker::CheckAttributeCount(const Inst& inst) const {
  size_t words = 0;
  bool list = false;
  for (const AttributeSpec& spec : AttributesOf(inst.op)) {
    if (spec.kind == AttributeKind::Ints)
      list = true;
    else
      words += spec.kind == AttributeKind::Value ? WordsOf(inst.type.element()) : 1;
  }
  if (list ? inst.attributes.count < words : inst.attributes.count != words)
    return Wrong(inst, Diag::BadAttribute, "attributes are missing or too many");
  size_t at = 0;
  for (const AttributeSpec& spec : AttributesOf(inst.op)) {
    if (spec.kind == AttributeKind::Ints || spec.kind == AttributeKind::Value) break;
    uint64_t word = function_.words_of(inst)[at++];
    bool good = spec.kind == AttributeKind::Int ||
                (spec.kind == AttributeKind::Flag && word <= 1) ||
                (spec.kind == AttributeKind::Word && word < spec.choices.size()) ||
                (spec.kind == AttributeKind::Function && word < program_.functions.size()) ||
                (spec.kind == AttributeKind::Table && word < program_.data.size());
    if (!good) return Wrong(inst, Diag::BadAttribute, "attribute '{}' is out of range", spec.name);
  }
  return {};
}

// Ops whose signature column spells operands and result.
Result<void> FunctionChecker::CheckRow(const Inst& inst) {
  std::string_view signature = Info(inst.op).signature;
  std::string_view operands = signature.substr(0, signature.find("->"));
  if (HasTypeParameter(inst.op) && !inst.type.is_scalar())
    return Wrong(inst, Diag::WrongType, "works on scalars, not {}", Show(inst.type));
  TRY_VOID(NeedOperands(inst, (operands.size() + 1) / 2));
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    Type type = OperandType(inst, i);
    switch (operands[i * 2]) {
      case 'T': TRY_VOID(NeedType(inst, i, inst.type)); break;
      case 'B': TRY_VOID(NeedType(inst, i, types::Bool)); break;
      case 'X': TRY_VOID(NeedType(inst, i, types::Index)); break;
      case 'F': TRY_VOID(NeedType(inst, i, types::Field)); break;
      case 'S':
        if (!type.is_scalar())
          return Wrong(inst, Diag::WrongType, "operand {} must be a scalar", i + 1);
        break;
      default: {  // M, N: a buffer of T that may be read, or written
        bool writes = operands[i * 2] == 'N';
        if (!type.is_buffer() || type.element() != inst.type)
          return Wrong(inst, Diag::WrongType, "operand {} is {}, not a buffer<{}>", i + 1,
                       Show(type), Show(inst.type));
        if (type.access == (writes ? Access::In : Access::Out))
          return Wrong(inst, Diag::BadAccess, "the buffer is {} only", writes ? "read" : "written");
      }
    }
  }
  if (inst.results.count != (HasRowResult(inst.op) ? 1u : 0u) ||
      (HasRowResult(inst.op) &&
       function_.type(Function::result_of(inst)) != ResultTypeOf(inst.op, inst.type)))
    return Wrong(inst, Diag::WrongType, "its result has the wrong type");
  return CheckConversion(inst);
}

bool TakesOperand(Op op, Type t, Type operand) {
  const Scalar from = operand.scalar, to = t.scalar;
  switch (op) {
    case Op::Cast:
      return (Contains(sets::Fixed | sets::Float | sets::Bool, from) &&
              Contains(sets::Fixed | sets::Float, to)) ||
             (Contains(sets::Fixed | sets::Bool, from) && to == Scalar::Field) ||
             (from == Scalar::Field && (to == Scalar::U64 || to == Scalar::XField));
    case Op::CastChecked: return Contains(sets::Fixed | sets::BigInt | sets::Bool, from);
    case Op::Bitcast:
      return Contains(sets::Fixed | sets::Float, from) && BitsOf(operand) == BitsOf(t);
    case Op::RandomBits:
    case Op::RandomUniform:
    case Op::RandomNormal: return operand == types::U64;
    case Op::FieldPow: return operand == types::U32;
    default: return true;
  }
}

// Constants, tables, parts and the three conversions have one rule more than their rows.
Result<void> FunctionChecker::CheckConversion(const Inst& inst) const {
  switch (inst.op) {
    case Op::Const:
      if (!IsCanonicalLiteral(inst.type, function_.words_of(inst)))
        return Wrong(inst, Diag::BadLiteral, "the constant is not canonical");
      return {};
    case Op::Lookup:
      if (program_.data[static_cast<size_t>(function_.word(inst, 0))].element != inst.type)
        return Wrong(inst, Diag::WrongType, "the table holds another type");
      return {};
    case Op::PartXField:
    case Op::PartDigest:
      if (function_.word(inst, 0) < 0 ||
          function_.word(inst, 0) >= (inst.op == Op::PartXField ? 3 : 5))
        return Wrong(inst, Diag::BadAttribute, "there is no such part");
      return {};
    case Op::RandomBits:
    case Op::RandomUniform:
    case Op::RandomNormal:
      for (uint32_t i = 0; i < 3; ++i) TRY_VOID(NeedType(inst, i, types::U64));
      return {};
    case Op::FieldPow: return NeedType(inst, 1, types::U32);
    case Op::Cast:
      if (!TakesOperand(inst.op, inst.type, OperandType(inst, 0)))
        return Wrong(inst, Diag::WrongType, "there is no cast from {} to {}",
                     Show(OperandType(inst, 0)), Show(inst.type));
      return {};
    case Op::CastChecked:
      if (!TakesOperand(inst.op, inst.type, OperandType(inst, 0)))
        return Wrong(inst, Diag::WrongType, "works between integers, not on {}",
                     Show(OperandType(inst, 0)));
      return {};
    case Op::Bitcast:
      if (!TakesOperand(inst.op, inst.type, OperandType(inst, 0)))
        return Wrong(inst, Diag::WrongType, "{} and {} differ in width", Show(OperandType(inst, 0)),
                     Show(inst.type));
      return {};
    default: return {};
  }
}

Result<void> Check(const Program& program, const Limits& limits) {
  if (program.functions.empty() || program.entry.index >= program.functions.size())
    return Fail(Diag::BadEntry, "the program has no entry function");
  std::unordered_set<std::string_view> names;
  for (const Function& function : program.functions)
    if (!names.insert(function.name).second)
      return Fail(Diag::Redefined, fmt::format("@{} is defined twice", function.name));
  names.clear();
  for (const Data& data : program.data) {
    if (!names.insert(data.name).second)
      return Fail(Diag::Redefined, fmt::format("@{} is defined twice", data.name));
    uint32_t words = WordsOf(data.element);
    for (size_t i = 0; i + words <= data.words.size(); i += words)
      if (!IsCanonicalLiteral(data.element, std::span(data.words).subspan(i, words)))
        return Fail(Diag::BadLiteral, fmt::format("@{} holds a word that does not fit", data.name));
  }
  for (const Function& function : program.functions) {
    // The reserved names are where ExpandPrelude puts its functions.
    if (function.name.starts_with("prelude.") && !function.is_prelude)
      return Fail(Diag::Redefined,
                  fmt::format("@{}: names in 'prelude.' are reserved", function.name));
    TRY_VOID(FunctionChecker(program, function, limits).Run());
  }
  return {};
}

}  // namespace frazil::ir
