// The nest is copied three times: as the product alone, as what follows it, and as it was for when a test fails.
#include "targets/native/split_product.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ir/clone.h"
#include "targets/llvm/op_emitter.h"
#include "targets/native/kernels/kernel_match.h"
#include "targets/native/vectors/loop_plan.h"

namespace frazil::targets::native {
namespace {

using namespace ir::names;

constexpr int64_t MostSize = int64_t{1} << 31;  // a product of two of them does not wrap

struct Nest {
  InstId columns, chain, store;
  std::vector<InstId> loads;  // of the chain and behind it
  std::vector<ValueId> read;  // every buffer that is read
};

class NestMatcher {
 public:
  NestMatcher(const ir::Program& program, const Function& function)
      : program_(program), function_(function) {}

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
      if (part.op == Op::For && !IsTree(part) && !nest.chain.valid() && IsChain(part, nest))
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
      return part.op == Op::Load ? AddLoad(id, nest) : IsPlain(part) || part.op == Op::Yield;
    });
  }

  bool AddLoad(InstId id, Nest& nest) const {
    nest.loads.push_back(id);
    nest.read.push_back(function_.operand(function_.inst(id), 0));
    return true;
  }

  // Loads, arithmetic, and branches of those.
  bool IsPure(InstId id, Nest& nest) const {
    const Inst& part = function_.inst(id);
    if (IsPlain(part) || part.op == Op::Yield || IsMath(part)) return true;
    if (part.op == Op::Load) return AddLoad(id, nest);
    if (part.op != Op::If) return false;
    for (uint32_t r = 0; r < 2; ++r)
      for (InstId inner : function_.region(Function::region_of(part, r)).insts)
        if (!IsPure(inner, nest)) return false;
    return true;
  }

  bool IsMath(const Inst& inst) const {
    return inst.op == Op::Call &&
           program_.functions[static_cast<size_t>(function_.word(inst, 0))].is_prelude;
  }

  const ir::Program& program_;
  const Function& function_;
};

class ProductCloner : public ir::Cloner {
 public:
  ProductCloner(const PlanQuestion& question, bool has_kernels, const Function& source,
                ir::FunctionBuilder& builder, std::map<uint32_t, BufferTest>& tests)
      : Cloner(source, builder),
        question_(question),
        has_kernels_(has_kernels),
        matcher_(question.program, source),
        forms_(source),
        tests_(tests) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    std::optional<Nest> nest = matcher_.Match(inst);
    if (!nest || (has_kernels_ && MatchMatmul(question_, inst)) || !Measure(inst, *nest))
      return CopyInst(inst);
    const ValueId holds = Test(*nest);
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
  // row * by[0] + column * by[1] + turn of the chain * by[2] + offset, all known before the nest.
  struct Place {
    ValueId buffer;
    std::array<IndexForm, 3> by;
    IndexForm offset;
  };

  bool IsKnown(const IndexForm& form) const {
    return std::ranges::all_of(form.Atoms(), [&](ValueId atom) { return IsBound(atom); });
  }

  bool Measure(const Inst& rows, const Nest& nest) {
    const Inst& chain = source_.inst(nest.chain);
    loops_ = {&rows, &source_.inst(nest.columns), &chain};
    for (const Inst* loop : loops_) {
      if (forms_.Of(source_.operand(*loop, 0)).constant() != 0) return false;
      if (!IsBound(source_.operand(*loop, 0)) || !IsBound(source_.operand(*loop, 1))) return false;
    }
    if (source_.word(chain, 0) != 1 || source_.type(CounterOf(source_, chain)) != ir::types::Index)
      return false;
    for (ValueId buffer : nest.read)
      if (!IsBound(buffer)) return false;
    places_.clear();
    std::vector<InstId> accesses = nest.loads;
    accesses.push_back(nest.store);
    return std::ranges::all_of(accesses,
                               [&](InstId id) { return MeasureAccess(source_.inst(id)); });
  }

  bool MeasureAccess(const Inst& access) {
    Place place{source_.operand(access, 0), {}, forms_.Of(source_.operand(access, 1))};
    if (!IsBound(place.buffer)) return false;
    for (size_t i = 0; i < loops_.size(); ++i) {
      const ValueId counter = CounterOf(source_, *loops_[i]);
      std::optional<IndexForm> by = place.offset.Coefficient(counter);
      // One that names another counter is not known before the nest.
      if (!by || !IsKnown(*by)) return false;
      place.by[i] = std::move(*by);
      place.offset = place.offset.Without(counter);
    }
    if (!IsKnown(place.offset)) return false;
    places_.push_back(std::move(place));
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

  // Every access is inside: a trap between the two nests would find sums in the output.
  ValueId Test(const Nest& nest) {
    ValueId all = builder_.ConstInt(ir::types::Bool, 1);
    BufferTest& test = tests_[all.index];
    test.buffer = Get(places_.back().buffer);
    for (ValueId buffer : nest.read) test.others.push_back(Get(buffer));
    auto both = [&](ValueId bit) { all = builder_.Binary(Op::And, all, bit); };
    ir::Values last_turns;
    for (const Inst* loop : loops_) {
      const ValueId turns = Get(source_.operand(*loop, 1));
      both(Within(turns, loop->op == Op::For ? 0 : 1));
      last_turns.push_back(builder_.Binary(Op::Sub, turns, Number(1)));
    }
    for (const Place& place : places_) {
      ValueId last = Evaluate(place.offset);
      both(Within(last, 0));
      for (size_t i = 0; i < loops_.size(); ++i) {
        if (place.by[i].size() == 0) continue;
        const ValueId by = Evaluate(place.by[i]);
        both(Within(by, 0));
        last = builder_.Binary(Op::Add, last, builder_.Binary(Op::Mul, last_turns[i], by));
      }
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
      for (size_t i : {0, 1})
        at = builder_.Binary(
            Op::Add, at,
            builder_.Binary(Op::Mul, Get(CounterOf(source_, *loops_[i])), Evaluate(out.by[i])));
      return at;
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

  const PlanQuestion question_;
  const bool has_kernels_;
  NestMatcher matcher_;
  IndexForms forms_;
  std::map<uint32_t, BufferTest>& tests_;
  std::array<const Inst*, 3> loops_ = {};  // rows, columns, the chain
  std::vector<Place> places_;              // of every access; the last is the output's
};

}  // namespace

Result<BufferTests> SplitProducts(ir::Program& lowered, exec::CpuLevel level) {
  BufferTests tests(lowered.functions.size());
  const bool any = std::ranges::any_of(lowered.functions, [&](const Function& function) {
    const NestMatcher matcher(lowered, function);
    return std::ranges::any_of(function.insts,
                               [&](const Inst& inst) { return matcher.Match(inst).has_value(); });
  });
  if (!any) return tests;
  const bool is_modern = level != exec::CpuLevel::Baseline;
  const ProgramFacts facts = FindFacts(lowered, /*metered=*/false);
  const auto computes = [&](Op op, ir::Type type, ir::Type from) {
    return ComputesVector(op, type, from, is_modern);
  };
  uint32_t next = 0;
  lowered =
      TRY(ir::CopyProgram(lowered, [&](const Function& function, ir::FunctionBuilder& builder) {
        const PlanQuestion question{lowered, facts, ir::FuncId(next), false, computes};
        ProductCloner cloner(question, is_modern, function, builder, tests[next++]);
        cloner.DeclareParams();
        return cloner.CopyBody();
      }));
  return tests;
}

}  // namespace frazil::targets::native
