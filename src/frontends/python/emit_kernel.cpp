// The entry function: parameters, what is uniform, the parallels of the launch.
#include <algorithm>

#include <fmt/format.h>

#include "frontends/python/emit.h"
#include "ir/check/check.h"

namespace frazil::frontends::python {

using ir::Op;

namespace {
constexpr const char* DimNames[] = {"x", "y", "z"};
}  // namespace

Emitter::Emitter(KernelTree& tree, Errors& errors, ir::Program& program, std::vector<bool> indices)
    : tree_(tree),
      errors_(errors),
      builder_(program, tree.name, {}, {}),
      early_indices_(std::move(indices)),
      wanted_indices_(tree.params.size()),
      param_indices_(tree.params.size()) {}

void Emitter::DeclareParams() {
  arrays_.resize(tree_.arrays.size());
  for (const Param& param : tree_.params) {
    ir::Type type = param.type;
    if (type.is_buffer()) {
      bool is_written = tree_.arrays[param.array].is_written;
      type = ir::Type::Buffer(type.element(), is_written ? ir::Access::InOut : ir::Access::In);
    }
    ValueId value = builder_.AddParam(type);
    NameOnce(value, param.name);
    if (type.is_buffer()) arrays_[param.array] = value;
  }
}

void Emitter::Run(const std::vector<LaunchPlan>& plans) {
  DeclareParams();
  // Launch parameters stand behind all others.
  auto add = [&](std::array<ValueId, 3>& values, uint32_t d, const char* what) {
    if (values[d].valid()) return;
    values[d] = builder_.AddParam(ir::types::Index);
    builder_.Name(values[d], fmt::format("{}.{}", what, DimNames[d]));
  };
  for (const LaunchPlan& plan : plans) {
    if (plan.has_blocks) {
      for (uint32_t d = 0; d < plan.dims; ++d) add(grid_, d, "grid");
      for (uint32_t d = 0; d < plan.dims; ++d) add(block_, d, "block");
    } else {
      for (uint32_t d = 0; d < plan.dims; ++d)
        if (plan.bounds[d] == nullptr) add(lanes_, d, "lanes");
    }
  }
  builder_.SetLocation(tree_.location);
  for (uint32_t p = 0; p < early_indices_.size(); ++p)
    if (early_indices_[p])
      param_indices_[p] = builder_.Cast(Op::Cast, builder_.Param(p), ir::types::Index);
  for (const LaunchPlan& plan : plans) {
    EmitPass(plan);
    if (errors_.any()) return;
  }
  builder_.SetLocation(tree_.location);
  builder_.Return({});
  builder_.Finish();
}

void Emitter::EmitPass(const LaunchPlan& plan) {
  in_lanes_ = false;
  values_.assign(tree_.locals.size(), {});
  uniform_.assign(tree_.locals.size(), {});
  hoisted_.clear();
  has_blocks_ = plan.has_blocks;
  builder_.SetLocation(tree_.location);
  if (plan.has_blocks) return EmitBlocks(plan, plan.dims);
  for (uint32_t d = 0; d < plan.dims; ++d) {
    global_id_[d] = {};
    if (plan.bounds[d] != nullptr)
      hoisted_[plan.bounds[d]] = Uniform(plan.bounds[d], Scalar::Index);
  }
  if (plan.reductions.empty()) return EmitFlat(plan, plan.dims);
  for (const Reduction& reduction : plan.reductions) EmitReduction(plan, reduction);
}

void Emitter::EmitFlat(const LaunchPlan& plan, uint32_t dim) {
  in_lanes_ |= dim == 0;
  if (dim == 0) return Emit(plan.body);
  uint32_t d = dim - 1;
  builder_.SetLocation(plan.bounds[d] != nullptr ? plan.bounds[d]->location : tree_.location);
  ValueId lo = Index(0);
  ValueId hi = plan.bounds[d] != nullptr ? hoisted_[plan.bounds[d]] : lanes_[d];
  builder_.Parallel(lo, hi, [&](ValueId i) {
    in_lanes_ = true;
    global_id_[d] = i;
    EmitFlat(plan, d);
  });
}

void Emitter::EmitBlocks(const LaunchPlan& plan, uint32_t dim) {
  if (dim == 0) return EmitLanes(plan);
  uint32_t d = dim - 1;
  builder_.Parallel(Index(0), grid_[d], [&](ValueId i) {
    in_lanes_ = true;
    block_id_[d] = i;
    EmitBlocks(plan, d);
  });
}

void Emitter::EmitLanes(const LaunchPlan& plan) {
  for (size_t a = 0; a < tree_.arrays.size(); ++a) {
    const Array& array = tree_.arrays[a];
    if (!array.is_shared) continue;
    int64_t elements = 1;
    for (const Expr* dim : array.shape) elements *= static_cast<int64_t>(dim->literal.integer);
    builder_.SetLocation(array.location);
    arrays_[a] = builder_.Alloc(ir::Type::Of(array.element), Index(elements));
    NameOnce(arrays_[a], array.name);
  }
  HoistUniform(plan.body, AssignedAtTop(plan.body), false);
  builder_.SetLocation(tree_.location);
  ValueId lanes = block_[0];
  for (uint32_t d = 1; d < plan.dims; ++d) lanes = builder_.Binary(Op::Mul, lanes, block_[d]);
  builder_.Parallel(Index(0), lanes, [&](ValueId lane) {
    // Lanes of a block are one parallel, x fastest: a barrier must see all of them.
    ValueId rest = lane;
    for (uint32_t d = 0; d < plan.dims; ++d) {
      bool is_last = d + 1 == plan.dims;
      local_id_[d] = is_last ? rest : builder_.Binary(Op::RemTrunc, rest, block_[d]);
      if (!is_last) rest = builder_.Binary(Op::DivTrunc, rest, block_[d]);
      global_id_[d] = {};
    }
    Emit(plan.body);
  });
}

// A barrier inside `for` or `if` needs bounds that are known before the lanes. Inside of another one they may never be
// asked for, so there they must not trap; `known` are variables that every lane assigns, whatever they may do.
void Emitter::HoistUniform(const Block& block, std::span<const uint32_t> known, bool is_nested) {
  for (Stmt* stmt : block) {
    if (!stmt->has_barrier || stmt->kind == StmtKind::Barrier) continue;
    if (stmt->kind == StmtKind::While || (stmt->kind == StmtKind::For && stmt->value != nullptr)) {
      errors_.Add(stmt->location,
                  "a barrier inside 'while', or inside a loop that is left early, is not supported",
                  "use 'for' over a range that is the same for all lanes", Diag::DivergentBarrier);
      return;
    }
    std::vector<Expr*> deciding = stmt->args;
    if (stmt->kind == StmtKind::If) deciding = {stmt->value};
    for (Expr* e : deciding) {
      if (!IsUniform(tree_, e, true)) {
        errors_.Add(
            e->location, "a barrier here is not reached by all lanes of a block alike",
            "the condition or range around it may use only parameters, constants and block ids",
            Diag::DivergentBarrier);
        return;
      }
      if (is_nested && !IsSafeBefore(tree_, e, known)) {
        errors_.Add(e->location,
                    "around a barrier this is evaluated early, and it could trap where the "
                    "condition or loop around it would not have asked for it",
                    "assign it to a variable before that condition or loop");
        return;
      }
      if (stmt->kind == StmtKind::If) {
        PrepareUniform(e);
        hoisted_[e] = Condition(e);
      } else {
        hoisted_[e] = Uniform(e, Scalar::Index);
      }
    }
    HoistUniform(stmt->body, known, true);
    HoistUniform(stmt->other, known, true);
  }
}

// A uniform expression where only parameters and ids of the block are known: variables by their one value.
ir::ValueId Emitter::Uniform(Expr* e, Scalar type) {
  PrepareUniform(e);
  return As(e, type);
}

void Emitter::PrepareUniform(const Expr* e) {
  if (e->kind == ExprKind::Var && !values_[e->id].valid()) {
    Local& local = tree_.locals[e->id];
    PrepareUniform(local.values[0]);
    values_[e->id] = As(local.values[0], local.type.scalar);
    uniform_[e->id] = values_[e->id];
    NameOnce(values_[e->id], local.name);
  }
  for (const Expr* arg : e->args) PrepareUniform(arg);
}

ir::ValueId Emitter::IdValue(const Expr* e) {
  uint32_t d = e->id;
  switch (static_cast<IdKind>(e->function->detail)) {
    case IdKind::GlobalId:
      if (!has_blocks_) return global_id_[d];
      return builder_.Binary(Op::Add, builder_.Binary(Op::Mul, block_id_[d], block_[d]),
                             local_id_[d]);
    case IdKind::GlobalSize:
      return has_blocks_ ? builder_.Binary(Op::Mul, grid_[d], block_[d]) : lanes_[d];
    case IdKind::LocalId: return local_id_[d];
    case IdKind::BlockId: return block_id_[d];
    case IdKind::BlockDim: return block_[d];
    case IdKind::GridDim: return grid_[d];
  }
  return {};
}

Result<ir::Program> EmitKernel(KernelTree& tree, Errors& errors, const Limits& limits) {
  std::vector<LaunchPlan> plans;
  for (Block& pass : tree.passes) {
    LaunchPlan& plan = plans.emplace_back(PlanLaunch(tree, pass));
    PlanReductions(tree, plan);
    std::vector<uint32_t> last;
    for (const Reduction& reduction : plan.reductions) last.push_back(reduction.local);
    FindLiveness(tree, plan.body, last);
  }
  ir::Program program;
  Emitter first(tree, errors, program, {});
  first.Run(plans);
  if (!errors.any() &&
      std::ranges::find(first.wanted_indices(), true) != first.wanted_indices().end()) {
    ir::Program again;
    Emitter(tree, errors, again, first.wanted_indices()).Run(plans);
    program = std::move(again);
  }
  if (errors.any()) return std::unexpected(errors.Take());
  TRY_VOID(ir::Check(program, limits));
  return program;
}

}  // namespace frazil::frontends::python
