#include "targets/llvm/fold_trees.h"

#include "ir/clone.h"
#include "ir/lower/fold.h"

namespace frazil::targets {
namespace {

using namespace ir::names;

class FoldCloner : public ir::Cloner {
 public:
  FoldCloner(uint32_t number, const Function& source, ir::FunctionBuilder& builder,
             std::vector<FoldTree>& trees)
      : Cloner(source, builder), number_(number), trees_(trees) {}

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op != Op::Fold) return CopyInst(inst);
    const bool is_half = Contains(ir::sets::Half, inst.type.scalar);
    const ir::Type wide = is_half ? ir::types::F32 : inst.type;
    const auto kind = static_cast<ir::ReduceKind>(source_.word(inst, 0));
    const ValueId operands[] = {builder_.ConstInt(ir::types::Index, 0),
                                Get(source_.operand(inst, 0)),
                                ir::FoldIdentity(builder_, kind, wide)};
    const uint64_t step = 1;
    const InstId loop =
        builder_.Begin(Op::For, ir::Type{}, operands, std::span(&wide, 1), std::span(&step, 1), 1);
    if (!FoldsInAnyOrder(inst.type)) {
      builder_.StandFor(Op::Fold);
      trees_.push_back({number_, static_cast<uint32_t>(&inst - source_.insts.data()), loop});
    }
    const ir::Type params[] = {ir::types::Index, wide};
    const ir::Values inside = builder_.BeginRegion(loop, 0, params);
    const ir::Region& region = source_.region(Function::region_of(inst, 0));
    Bind(Function::param_of(region, 0), inside[0]);
    TRY_VOID(CopyInsts(std::span(region.insts).first(region.insts.size() - 1)));
    ValueId element = Get(source_.operand(source_.inst(region.insts.back()), 0));
    if (is_half) element = builder_.Cast(Op::Cast, element, wide);
    const ValueId next = builder_.Binary(ir::CombinerOf(kind), inside[1], element);
    builder_.Terminate(Op::Yield, std::span(&next, 1));
    builder_.EndRegion();
    ValueId result = Function::result_of(builder_.function().inst(loop));
    if (is_half) result = builder_.Cast(Op::Cast, result, inst.type);
    BindNamed(Function::result_of(inst), result);
    return {};
  }

 private:
  const uint32_t number_;
  std::vector<FoldTree>& trees_;
};

}  // namespace

bool FoldsInAnyOrder(ir::Type type) {
  return ir::IsFixedInt(type.scalar) || type.scalar == ir::Scalar::Bool;
}

Result<ir::Program> FoldsAsTrees(const ir::Program& program, std::vector<FoldTree>& trees) {
  return ir::CopyProgram(program, [&](const Function& function, ir::FunctionBuilder& builder) {
    FoldCloner cloner(static_cast<uint32_t>(&function - program.functions.data()), function,
                      builder, trees);
    cloner.DeclareParams();
    return cloner.CopyBody();
  });
}

}  // namespace frazil::targets
