// The nest is copied three times: as the product alone, as what follows it, and as it was for when a test fails.
#include "targets/native/split_product.h"

#include <algorithm>
#include <optional>

#include "ir/clone.h"
#include "targets/native/loop_plan.h"

namespace frazil::targets::native {
namespace {

using ir::Function;
using ir::Inst;
using ir::InstId;
using ir::Op;
using ir::RegionId;
using ir::ValueId;

constexpr int64_t MostSize = int64_t{1} << 31;  // a product of two of them does not wrap

struct Nest {
  InstId columns, chain, store;
  std::vector<InstId> loads;  // behind the chain
  std::vector<ValueId> read;  // every buffer that is read
};

class NestMatcher {
 public:
  explicit NestMatcher(const Function& function) : function_(function) {}

  std::optional<Nest> Match(const Inst& rows) const {
    if (rows.op != Op::Parallel) return std::nullopt;
    Nest nest;
    for (InstId id : function_.region(Function::region_of(rows, 0)).insts) {
      const Inst& part = function_.inst(id);
      if (IsPlain(part) || part.op == Op::Yield) continue;
      if (part.op != Op::Parallel || nest.columns.valid()) return std::nullopt;
      nest.columns = id;
    }
    if (!nest.columns.valid() || !MatchColumns(nest)) return std::nullopt;
    const Inst& store = function_.inst(nest.store);
    const ValueId sum = Function::result_of(function_.inst(nest.chain));
    // A sum that is stored as it is needs no second nest.
    if (!Contains(ir::sets::Wide, store.type.scalar) || function_.operand(store, 2) == sum)
      return std::nullopt;
    return function_.type(sum) == store.type ? std::optional(nest) : std::nullopt;
  }

  static bool IsPlain(const Inst& inst) {
    return IsRemovable(ir::Info(inst.op)) && inst.regions.count == 0;
  }

 private:
  bool MatchColumns(Nest& nest) const {
    for (InstId id : function_.region(Function::region_of(function_.inst(nest.columns), 0)).insts) {
      const Inst& part = function_.inst(id);
      if (IsPlain(part) || part.op == Op::Yield) continue;
      if (nest.store.valid()) return false;
      if (part.op == Op::For && !nest.chain.valid() && IsChain(part, nest))
        nest.chain = id;
      else if (part.op == Op::Store && nest.chain.valid())
        nest.store = id;
      else if (!nest.chain.valid() || !IsPure(id, nest))
        return false;
    }
    return nest.store.valid();
  }

  bool IsChain(const Inst& loop, Nest& nest) const {
    if (loop.results.count != 1) return false;
    const std::vector<InstId>& body = function_.region(Function::region_of(loop, 0)).insts;
    InstId step = function_.values[function_.operand(function_.inst(body.back()), 0).index].def;
    if (!step.valid() || function_.inst(step).op != Op::Fma) return false;
    return std::ranges::all_of(body, [&](InstId id) {
      const Inst& part = function_.inst(id);
      if (part.op == Op::Load) nest.read.push_back(function_.operand(part, 0));
      return part.op == Op::Load || IsPlain(part) || part.op == Op::Yield;
    });
  }

  // Loads, arithmetic, and branches of those.
  bool IsPure(InstId id, Nest& nest) const {
    const Inst& part = function_.inst(id);
    if (IsPlain(part) || part.op == Op::Yield) return true;
    if (part.op == Op::Load) {
      nest.loads.push_back(id);
      nest.read.push_back(function_.operand(part, 0));
      return true;
    }
    if (part.op != Op::If) return false;
    for (uint32_t r = 0; r < 2; ++r)
      for (InstId inner : function_.region(Function::region_of(part, r)).insts)
        if (!IsPure(inner, nest)) return false;
    return true;
  }

  const Function& function_;
};

class ProductCloner : public ir::Cloner {
 public:
  ProductCloner(const Function& source, ir::FunctionBuilder& builder,
                std::map<uint32_t, BufferTest>& tests)
      : Cloner(source, builder), matcher_(source), forms_(source), tests_(tests) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    std::optional<Nest> nest = matcher_.Match(inst);
    if (!nest || !Measure(inst, *nest)) return CopyInst(inst);
    const ValueId holds = Test(inst, *nest);
    InstId branch = builder_.Begin(Op::If, ir::Type{}, std::span(&holds, 1), {}, {}, 2);
    builder_.BeginRegion(branch, 0, {});
    TRY_VOID(CopyNest(inst, *nest, true));
    TRY_VOID(CopyNest(inst, *nest, false));
    builder_.Terminate(Op::Yield, {});
    builder_.EndRegion();
    builder_.BeginRegion(branch, 1, {});
    TRY_VOID(CopyInst(inst));
    builder_.Terminate(Op::Yield, {});
    builder_.EndRegion();
    return {};
  }

 private:
  // row * by_row + column * by_column + offset, all known before the nest.
  struct Place {
    ValueId buffer;
    IndexForm by_row, by_column, offset;
  };

  bool IsKnown(const IndexForm& form) const {
    return std::ranges::all_of(form.Atoms(), [&](ValueId atom) { return IsBound(atom); });
  }

  bool Measure(const Inst& rows, const Nest& nest) {
    const Inst& columns = source_.inst(nest.columns);
    row_ = CounterOf(source_, rows);
    column_ = CounterOf(source_, columns);
    for (const Inst* loop : {&rows, &columns}) {
      if (forms_.Of(source_.operand(*loop, 0)).constant() != 0) return false;
      if (!IsBound(source_.operand(*loop, 0)) || !IsBound(source_.operand(*loop, 1))) return false;
    }
    for (ValueId buffer : nest.read)
      if (!IsBound(buffer)) return false;
    places_.clear();
    std::vector<InstId> accesses = nest.loads;
    accesses.push_back(nest.store);
    for (InstId id : accesses) {
      const Inst& access = source_.inst(id);
      const IndexForm form = forms_.Of(source_.operand(access, 1));
      std::optional<IndexForm> by_row = form.Coefficient(row_),
                               by_column = form.Coefficient(column_);
      if (!by_row || !by_column || by_row->Mentions(column_)) return false;
      Place place{source_.operand(access, 0), *by_row, *by_column,
                  form.Without(row_).Without(column_)};
      if (!IsBound(place.buffer) || !IsKnown(place.by_row) || !IsKnown(place.by_column) ||
          !IsKnown(place.offset))
        return false;
      places_.push_back(std::move(place));
    }
    return true;
  }

  ValueId Number(int64_t n) { return builder_.ConstInt(ir::types::Index, n); }

  ValueId Evaluate(const IndexForm& form) {
    ValueId sum = Number(0);
    for (const auto& [product, coefficient] : form.terms()) {
      ValueId term = Number(static_cast<int64_t>(coefficient));
      for (uint32_t atom : product) term = builder_.Binary(Op::Mul, term, Get(ValueId(atom)));
      sum = builder_.Binary(Op::Add, sum, term);
    }
    return sum;
  }

  ValueId Within(ValueId value, int64_t least) {
    ValueId low = builder_.Binary(Op::Ge, value, Number(least));
    return builder_.Binary(Op::And, low, builder_.Binary(Op::Lt, value, Number(MostSize)));
  }

  ValueId Test(const Inst& rows, const Nest& nest) {
    ValueId all = builder_.ConstInt(ir::types::Bool, 1);
    BufferTest& test = tests_[all.index];
    test.buffer = Get(places_.back().buffer);
    for (ValueId buffer : nest.read) test.others.push_back(Get(buffer));
    const ValueId height = Get(source_.operand(rows, 1)),
                  width = Get(source_.operand(source_.inst(nest.columns), 1));
    auto both = [&](ValueId bit) { all = builder_.Binary(Op::And, all, bit); };
    both(Within(height, 1));
    both(Within(width, 1));
    for (const Place& place : places_) {
      const ValueId by_row = Evaluate(place.by_row), by_column = Evaluate(place.by_column);
      const ValueId offset = Evaluate(place.offset);
      for (ValueId part : {by_row, by_column, offset}) both(Within(part, 0));
      const ValueId last_row =
          builder_.Binary(Op::Mul, builder_.Binary(Op::Sub, height, Number(1)), by_row);
      const ValueId last_column =
          builder_.Binary(Op::Mul, builder_.Binary(Op::Sub, width, Number(1)), by_column);
      const ValueId last =
          builder_.Binary(Op::Add, offset, builder_.Binary(Op::Add, last_row, last_column));
      both(builder_.Binary(Op::Lt, last, builder_.Length(Get(place.buffer))));
    }
    return all;
  }

  // The product without what follows, or what follows on what the product has stored.
  Result<void> CopyNest(const Inst& rows, const Nest& nest, bool is_product) {
    const Inst& columns = source_.inst(nest.columns);
    const ir::Type index = ir::types::Index;
    std::vector<InstId> open;
    for (const Inst* loop : {&rows, &columns}) {
      builder_.SetLocation(loop->location);
      const ir::Values bounds = GetAll(source_.operands_of(*loop));
      InstId made = builder_.Begin(Op::Parallel, loop->type, bounds, {}, {}, 1);
      Bind(CounterOf(source_, *loop), builder_.BeginRegion(made, 0, std::span(&index, 1))[0]);
      if (loop == &columns) break;
      for (InstId id : source_.region(Function::region_of(rows, 0)).insts)
        if (NestMatcher::IsPlain(source_.inst(id))) TRY_VOID(CopyInst(source_.inst(id)));
    }
    const Place& out = places_.back();
    const ValueId sum = Function::result_of(source_.inst(nest.chain));
    auto place = [&] {
      ValueId at = Evaluate(out.offset);
      at = builder_.Binary(Op::Add, at, builder_.Binary(Op::Mul, Get(row_), Evaluate(out.by_row)));
      return builder_.Binary(Op::Add, at,
                             builder_.Binary(Op::Mul, Get(column_), Evaluate(out.by_column)));
    };
    for (InstId id : source_.region(Function::region_of(columns, 0)).insts) {
      const Inst& part = source_.inst(id);
      builder_.SetLocation(part.location);
      if (part.op == Op::Yield) break;
      if (id == nest.chain && !is_product) {
        Bind(sum, builder_.Load(Get(out.buffer), place()));
        continue;
      }
      TRY_VOID(CopyInst(part));
      if (id != nest.chain) continue;
      builder_.Store(Get(out.buffer), place(), Get(sum));
      break;
    }
    for (int level = 0; level < 2; ++level) {
      builder_.Terminate(Op::Yield, {});
      builder_.EndRegion();
    }
    return {};
  }

  NestMatcher matcher_;
  IndexForms forms_;
  std::map<uint32_t, BufferTest>& tests_;
  ValueId row_, column_;
  std::vector<Place> places_;  // of what stands behind the chain; the last is the output's
};

}  // namespace

Result<BufferTests> SplitProducts(ir::Program& lowered) {
  BufferTests tests(lowered.functions.size());
  const bool any = std::ranges::any_of(lowered.functions, [](const Function& function) {
    const NestMatcher matcher(function);
    return std::ranges::any_of(function.insts,
                               [&](const Inst& inst) { return matcher.Match(inst).has_value(); });
  });
  if (!any) return tests;
  size_t next = 0;
  lowered =
      TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
        ProductCloner cloner(function, builder, tests[next++]);
        cloner.DeclareParams();
        return cloner.CopyBody();
      }));
  return tests;
}

}  // namespace frazil::targets::native
