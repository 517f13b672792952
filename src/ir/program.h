// The IR itself: programs of functions, functions of regions, regions of instructions. Everything is
// an index into a vector of its function; nothing points. Instructions of a region are in order;
// a region's parameters are values; a value is visible in the regions nested in its own.
//
// Invariants that hold only after ir::Check are listed in ir/check/check.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "ir/op.h"
#include "ir/type.h"

namespace frazil::ir {

constexpr uint32_t IrVersion = 1;

using ValueId = Id<struct ValueTag>;
using InstId = Id<struct InstTag>;
using RegionId = Id<struct RegionTag>;
using FuncId = Id<struct FuncTag>;
using DataId = Id<struct DataTag>;

// A run of entries in one of the function's pools.
struct Range {
  uint32_t begin = 0;
  uint32_t count = 0;
};

struct Inst {
  Op op;
  Type type;         // the row's T: what is printed after ':' (structured ops: unused)
  Range operands;    // into Function::operands
  Range attributes;  // into Function::words; layout per op below
  Range regions;     // consecutive RegionIds
  Range results;     // consecutive ValueIds
  Location location;
  // Where a lowering wrote this for another op of the source: that op, which its trap names. Printed as `as iota`; only
  // what CanStandFor allows has one.
  std::optional<Op> source_op = {};

  Op trap_op() const { return source_op.value_or(op); }
};

// Attribute words, by op (in the order of the row's attribute list):
//   const           the value's WordsOf(type) words
//   lookup          DataId
//   xfield.part ... the part
//   atomic          AtomicKind, unordered (0/1)
//   for             step
//   switch          one int64 per case; regions: one per case, then the default
//   call            FuncId
//   reduce          ReduceKind, axis, chains, block
//   transpose       perm      broadcast  axes      slice  rank starts, then rank steps
//   concat, gather, iota  axis
//   conv            groups, stride (rows, columns), zeros before (rows, columns) and after, dilation
//   scan            ReduceKind, axis
//   sort            axis, descending (0/1)
//   scatter         ScatterKind, axis
//   matmul.q        bits

struct Region {
  Range params;               // consecutive ValueIds
  std::vector<InstId> insts;  // the last is the terminator
};

struct ValueInfo {
  Type type;
  InstId def =
      {};  // the instruction that makes it; invalid for parameters of functions and regions
};

struct Function {
  std::string name;
  std::vector<Type> results;
  RegionId body{0};  // its params are the function's parameters
  // The expansion of a math op (ir/lower/prelude.h). Calling it takes no fuel and no depth, as no op does.
  bool is_prelude = false;

  std::vector<Inst> insts;
  std::vector<Region> regions;
  std::vector<ValueInfo> values;
  std::vector<ValueId> operands;
  std::vector<uint64_t> words;
  std::vector<Shape> shapes;
  // Names from the text, for printing only; empty or shorter than values = unnamed. Never digested.
  std::vector<std::string> value_names;

  const Inst& inst(InstId id) const { return insts[id.index]; }
  const Region& region(RegionId id) const { return regions[id.index]; }
  Type type(ValueId id) const { return values[id.index].type; }
  uint32_t param_count() const { return regions[body.index].params.count; }
  ValueId param(uint32_t i) const { return ValueId(regions[body.index].params.begin + i); }
  Type param_type(uint32_t i) const { return type(param(i)); }

  std::span<const ValueId> operands_of(const Inst& inst) const {
    return std::span(operands).subspan(inst.operands.begin, inst.operands.count);
  }
  ValueId operand(const Inst& inst, uint32_t i) const { return operands[inst.operands.begin + i]; }
  std::span<const uint64_t> words_of(const Inst& inst) const {
    return std::span(words).subspan(inst.attributes.begin, inst.attributes.count);
  }
  int64_t word(const Inst& inst, uint32_t i) const {
    return static_cast<int64_t>(words[inst.attributes.begin + i]);
  }
  static RegionId region_of(const Inst& inst, uint32_t i) {
    return RegionId(inst.regions.begin + i);
  }
  static ValueId result_of(const Inst& inst, uint32_t i = 0) {
    return ValueId(inst.results.begin + i);
  }
  static ValueId param_of(const Region& region, uint32_t i) {
    return ValueId(region.params.begin + i);
  }
  const Shape& shape(Type tensor) const { return shapes[tensor.shape]; }
  // The interned index of a shape.
  uint32_t AddShape(const Shape& shape);
};

// A constant table: `data @name : f64 [...]`, read by `lookup`.
struct Data {
  std::string name;
  Type element;
  std::vector<uint64_t> words;  // WordsOf(element) for each element
  uint64_t length() const { return words.size() / WordsOf(element); }
};

struct Program {
  std::vector<Function> functions;
  std::vector<Data> data;
  FuncId entry{0};

  const Function& entry_function() const { return functions[entry.index]; }
  FuncId FindFunction(std::string_view name) const;  // invalid if absent
  DataId FindData(std::string_view name) const;
};

// What nearly every line of a pass or a target speaks of: `using namespace ir::names;` in its .cpp.
namespace names {
using ir::FuncId;
using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::Region;
using ir::RegionId;
using ir::Scalar;
using ir::Type;
using ir::ValueId;
}  // namespace names

}  // namespace frazil::ir
