// A kernel cut to a range of its outermost `parallel`. What stands before that parallel is computed again by every
// piece, so it may read but not write, and nothing that it reads may be written by an iteration.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/clone.h"
#include "ir/lanes/independence.h"

namespace frazil::ir {
namespace {

std::unexpected<Error> Refuse(std::string reason, Location where) {
  return Fail(Diag::NotIndependent, std::move(reason), where);
}

class Outline {
 public:
  explicit Outline(const Program& program)
      : program_(program), function_(program.entry_function()) {}

  Result<void> Find() {
    if (!function_.results.empty()) return Refuse("the kernel gives results", {});
    for (uint32_t i = 0; i < function_.param_count(); ++i)
      if (function_.param_type(i).is_tensor()) return Refuse("the kernel takes tensors", {});
    for (InstId id : function_.region(function_.body).insts) {
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::Return) continue;
      if (inst.op != Op::Parallel) {
        TRY_VOID(CheckOutside(inst));
        continue;
      }
      if (parallel_.valid())
        return Refuse("the kernel has more than one outermost parallel", inst.location);
      parallel_ = id;
    }
    if (!parallel_.valid()) return Refuse("the kernel has no outermost parallel", {});
    return FindNeeded();
  }

  InstId parallel() const { return parallel_; }
  const std::set<uint32_t>& read_buffers() const { return read_buffers_; }
  // Instructions of the body that the bounds are made of.
  bool IsNeeded(const Inst& inst) const { return needed_.contains(&inst); }

 private:
  Result<void> CheckOutside(const Inst& inst) {
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (InstId id : function_.region(Function::region_of(inst, r)).insts)
        TRY_VOID(CheckOutside(function_.inst(id)));
    if (inst.op == Op::Load || inst.op == Op::TensorLoad) {
      if (parallel_.valid())
        return Refuse("the kernel reads a buffer behind its parallel", inst.location);
      read_buffers_.insert(function_.operand(inst, 0).index);
      return {};
    }
    if (inst.op == Op::Call) {
      const Function& callee = program_.functions[static_cast<size_t>(function_.word(inst, 0))];
      if (callee.is_prelude) return {};
      return Refuse(fmt::format("the kernel calls @{} outside of its parallel", callee.name),
                    inst.location);
    }
    // Every piece would make it, and report it before a trap of a later piece's iteration.
    if (parallel_.valid() && Info(inst.op).traps != 0)
      return Refuse(fmt::format("{} may trap behind the parallel", Info(inst.op).mnemonic),
                    inst.location);
    const Effect effect = Info(inst.op).effect;
    const bool is_structure = inst.op == Op::If || inst.op == Op::For || inst.op == Op::While ||
                              inst.op == Op::Switch || inst.op == Op::Yield ||
                              inst.op == Op::Condition || inst.op == Op::Fold;
    if (effect == Effect::Pure || is_structure || inst.op == Op::Assert) return {};
    return Refuse(fmt::format("the kernel has {} outside of its parallel", Info(inst.op).mnemonic),
                  inst.location);
  }

  Result<void> FindNeeded() {
    const Inst& loop = function_.inst(parallel_);
    for (uint32_t i = 0; i < 2; ++i) TRY_VOID(Need(function_.operand(loop, i)));
    return {};
  }

  Result<void> Need(ValueId value) {
    InstId def = function_.values[value.index].def;
    if (!def.valid() || needed_.contains(&function_.inst(def))) return {};
    return NeedInst(function_.inst(def));
  }

  Result<void> NeedInst(const Inst& inst) {
    if (inst.op == Op::Load || inst.op == Op::TensorLoad)
      return Refuse("the bounds of the parallel are read from a buffer", inst.location);
    needed_.insert(&inst);
    if (inst.op != Op::Length)
      for (ValueId operand : function_.operands_of(inst)) TRY_VOID(Need(operand));
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (InstId id : function_.region(Function::region_of(inst, r)).insts)
        TRY_VOID(NeedInst(function_.inst(id)));
    return {};
  }

  const Program& program_;
  const Function& function_;
  InstId parallel_;
  std::set<uint32_t> read_buffers_;
  std::set<const Inst*> needed_;
};

// max(hi - lo, 0).
ValueId Trips(FunctionBuilder& builder, ValueId lo, ValueId hi) {
  ValueId zero = builder.ConstInt(types::Index, 0);
  const Inst* def = builder.function().values[lo.index].def.valid()
                        ? &builder.function().inst(builder.function().values[lo.index].def)
                        : nullptr;
  const bool from_zero =
      def != nullptr && def->op == Op::Const && builder.function().word(*def, 0) == 0;
  if (from_zero) return builder.Binary(Op::Max, hi, zero);
  ValueId some = builder.Binary(Op::Lt, lo, hi);
  return builder.Select(some, builder.Binary(Op::Sub, hi, lo), zero);
}

class PieceCloner : public Cloner {
 public:
  PieceCloner(const Function& source, FunctionBuilder& builder, InstId parallel)
      : Cloner(source, builder), parallel_(source.inst(parallel)) {}

  void DeclareRange() {
    from_ = builder_.AddParam(types::Index);
    to_ = builder_.AddParam(types::Index);
    builder_.Name(from_, "range.lo");
    builder_.Name(to_, "range.hi");
  }

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (&inst != &parallel_) return CopyInst(inst);
    ValueId lo = Get(source_.operand(inst, 0)), hi = Get(source_.operand(inst, 1));
    ValueId zero = builder_.ConstInt(types::Index, 0);
    ValueId trips = Trips(builder_, lo, hi);
    ValueId from = builder_.Binary(Op::Max, from_, zero);
    ValueId to = builder_.Binary(Op::Min, to_, trips);
    // from may lie above to: then there is no turn, and lo + from must not wrap to something below.
    from = builder_.Binary(Op::Min, from, trips);
    to = builder_.Binary(Op::Max, to, zero);
    ValueId bounds[] = {builder_.Binary(Op::Add, lo, from), builder_.Binary(Op::Add, lo, to)};
    InstId id = builder_.Begin(Op::Parallel, inst.type, bounds, {}, {}, 1);
    return CopyRegionInto(id, 0, Function::region_of(inst, 0));
  }

 private:
  const Inst& parallel_;
  ValueId from_, to_;
};

class TripCloner : public Cloner {
 public:
  TripCloner(const Function& source, FunctionBuilder& builder, const Outline& outline)
      : Cloner(source, builder), outline_(outline) {}

  Result<void> Build() {
    for (uint32_t i = 0; i < source_.param_count(); ++i) {
      const Type type = source_.param_type(i);
      BindNamed(source_.param(i), builder_.AddParam(type.is_buffer() ? types::Index : type));
    }
    for (InstId id : source_.region(source_.body).insts) {
      const Inst& inst = source_.inst(id);
      builder_.SetLocation(inst.location);
      if (id == outline_.parallel()) break;
      if (outline_.IsNeeded(inst)) TRY_VOID(Visit(inst));
    }
    const Inst& loop = source_.inst(outline_.parallel());
    builder_.Return(
        {Trips(builder_, Get(source_.operand(loop, 0)), Get(source_.operand(loop, 1)))});
    return {};
  }

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::Length) return CopyInst(inst);
    Bind(Function::result_of(inst), Get(source_.operand(inst, 0)));
    return {};
  }

 private:
  const Outline& outline_;
};

// Every function as it is, but the entry.
template <typename Build>
Result<Program> ReplaceEntry(const Program& program, std::vector<Type> results,
                             const Build& build) {
  Program out;
  out.data = program.data;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const Function& function = program.functions[f];
    if (f != program.entry.index) {
      out.functions.push_back(function);
      continue;
    }
    FunctionBuilder builder(out, function.name, std::span<const Type>{}, results);
    TRY_VOID(build(function, builder));
    builder.Finish();
  }
  out.entry = program.entry;
  return out;
}

bool IsWritten(const Function& function, RegionId region, ValueId buffer) {
  for (InstId id : function.region(region).insts) {
    const Inst& inst = function.inst(id);
    const bool writes = Info(inst.op).effect == Effect::Writes || inst.op == Op::Call;
    if (writes &&
        std::ranges::find(function.operands_of(inst), buffer) != function.operands_of(inst).end())
      return true;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (IsWritten(function, Function::region_of(inst, r), buffer)) return true;
  }
  return false;
}

// What the prologue reads must be the same for every piece.
Result<void> CheckReads(const Function& function, const Outline& outline,
                        Independence& conditions) {
  const Inst& loop = function.inst(outline.parallel());
  for (uint32_t p = 0; p < function.param_count(); ++p) {
    if (!function.param_type(p).is_buffer() ||
        !IsWritten(function, Function::region_of(loop, 0), function.param(p)))
      continue;
    for (uint32_t buffer : outline.read_buffers()) {
      if (buffer == function.param(p).index)
        return Refuse("the kernel writes what it reads outside of its parallel", loop.location);
      const uint32_t other = buffer - function.param(0).index;
      conditions.disjoint.emplace_back(std::min(p, other), std::max(p, other));
    }
  }
  std::ranges::sort(conditions.disjoint);
  conditions.disjoint.erase(std::unique(conditions.disjoint.begin(), conditions.disjoint.end()),
                            conditions.disjoint.end());
  return {};
}

bool HasOwnBarrier(const Function& function, RegionId region) {
  return std::ranges::any_of(function.region(region).insts, [&](InstId id) {
    const Inst& inst = function.inst(id);
    if (inst.op == Op::Barrier) return true;
    if (inst.op == Op::Parallel) return false;
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      if (HasOwnBarrier(function, Function::region_of(inst, r))) return true;
    return false;
  });
}

}  // namespace

Result<RangedKernel> MakeRanged(const Program& program) {
  const Function& entry = program.entry_function();
  Outline outline(program);
  TRY_VOID(outline.Find());
  const Inst& loop = entry.inst(outline.parallel());
  if (HasOwnBarrier(entry, Function::region_of(loop, 0)))
    return Refuse("the iterations of the outermost parallel meet at barriers", loop.location);
  Independence conditions = IndependenceOf(program, entry, outline.parallel());
  if (!conditions.independent) return Refuse(conditions.why_not, conditions.where);
  TRY_VOID(CheckReads(entry, outline, conditions));
  Result<Program> piece = ReplaceEntry(
      program, {}, [&](const Function& function, FunctionBuilder& builder) -> Result<void> {
        PieceCloner cloner(function, builder, outline.parallel());
        cloner.DeclareParams();
        cloner.DeclareRange();
        return cloner.CopyBody();
      });
  if (!piece) return std::unexpected(piece.error());
  Result<Program> trips = ReplaceEntry(program, {types::Index},
                                       [&](const Function& function, FunctionBuilder& builder) {
                                         return TripCloner(function, builder, outline).Build();
                                       });
  if (!trips) return std::unexpected(trips.error());
  return RangedKernel{std::move(*piece), std::move(*trips), std::move(conditions)};
}

}  // namespace frazil::ir
