#include "verify/tensors/traps.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::verify::tensors {

using namespace ir::names;

namespace {

// Fuel, depth and memory are limits of a run.
bool MayTrap(const ir::OpInfo& info) {
  for (int i = 0; i < ir::TrapCount; ++i) {
    const auto trap = static_cast<ir::Trap>(i);
    if ((info.traps & ir::Only(trap)) != 0 && !ir::IsLimit(trap)) return true;
  }
  return false;
}

}  // namespace

void Traps::Read() { Walk(evaluator_.entry(), true); }

void Traps::Walk(ScopeId scope, bool is_certain) {
  const size_t facts = world_.bounds.facts();
  const ir::Function& f = evaluator_.function(scope);
  for (const InstId id : evaluator_.region(scope).insts) {
    if (!evaluator_.failure().empty() || world_.forms.is_exhausted()) break;
    const ir::Inst& inst = f.inst(id);
    // These test sizes before they make anything.
    const bool tests_first = inst.op == Op::Broadcast || inst.op == Op::Concat ||
                             inst.op == Op::Conv || inst.op == Op::MatmulQ;
    if (!tests_first) AddNeeds(scope, inst, is_certain);
    Inst(scope, inst, is_certain);
    if (tests_first) AddNeeds(scope, inst, is_certain);
  }
  world_.bounds.Forget(facts);
}

void Traps::Inst(ScopeId scope, const ir::Inst& inst, bool is_certain) {
  switch (inst.op) {
    case Op::Const:
    case Op::Yield:
    case Op::Return:
    case Op::Reduce:
    case Op::Matmul:
    case Op::MatmulFast:
    case Op::Scan:
    case Op::Sort:
    case Op::Transpose:
    case Op::Iota:
    case Op::TensorUniform:
    case Op::TensorNormal: return;
    case Op::Lookup: return Lookup(scope, inst);
    case Op::Assert:
    case Op::Unreachable: return Assert(scope, inst);
    case Op::Extract: return Extract(scope, inst);
    case Op::Map:
    case Op::Generate: return Elements(scope, inst);
    case Op::Fold: return Fold(scope, inst);
    case Op::If: return If(scope, inst, is_certain);
    case Op::Call: {
      const ScopeId body = evaluator_.Called(scope, inst);
      if (evaluator_.failure().empty()) Walk(body, is_certain);
      return;
    }
    case Op::Reshape: return Reshape(scope, inst);
    case Op::Broadcast: return Broadcast(scope, inst);
    case Op::Slice: return Slice(scope, inst);
    case Op::Concat: return Concat(scope, inst);
    case Op::Gather:
    case Op::Scatter: return Picks(scope, inst);
    case Op::Conv:
    case Op::MatmulQ: return Sizes(scope, inst);
    default: return Scalar(scope, inst);
  }
}

// --- the list ---------------------------------------------------------------------------------------------------
// What did not trap the first time does not the second time.
void Traps::Add(FormId trap) {
  for (const std::vector<FormId>& list : lists_)
    if (std::ranges::find(list, trap) != list.end()) return;
  lists_.back().push_back(trap);
}

void Traps::AddTrap(ScopeId scope, const ir::Inst& inst, std::vector<uint64_t> words,
                    std::vector<FormId> children) {
  // The op that traps, and the one that the trap names.
  words.push_back(static_cast<uint64_t>(inst.op));
  const ir::Function& f = evaluator_.function(scope);
  const bool converts = inst.op == Op::CastChecked;
  Add(world_.forms.Intern({.kind = Kind::Trap,
                           .op = inst.trap_op(),
                           .type = inst.type.element(),
                           .from = converts ? f.type(f.operand(inst, 0)).scalar : ir::Scalar::Bool,
                           .words = std::move(words),
                           .children = std::move(children)}));
}

// Of the same memory as another tensor: reshape makes none.
void Traps::AddNeeds(ScopeId scope, const ir::Inst& inst, bool is_certain) {
  const ir::Function& f = evaluator_.function(scope);
  if (inst.op == Op::Reshape || inst.op == Op::If || inst.op == Op::Call) return;
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const Type type = f.type(Function::result_of(inst, k));
    if (!type.is_tensor()) continue;
    const std::vector<FormId> sizes = evaluator_.SizesOf(scope, type);
    shapes_.insert(sizes);
    for (const FormId size : sizes)
      if (!world_.bounds.IsSize(size)) needs_.push_back({size, lists_[0].size(), is_certain});
  }
}

std::vector<FormId> Traps::OpenAll(std::span<const FormId> sizes) {
  std::vector<FormId> indices;
  for (const FormId size : sizes) indices.push_back(world_.forms.Open(size));
  lists_.emplace_back();
  return indices;
}

void Traps::CloseAll(std::span<const FormId> indices, std::span<const FormId> sizes) {
  std::vector<FormId> traps = std::move(lists_.back());
  lists_.pop_back();
  for (size_t i = indices.size(); i-- > 0;) {
    world_.forms.Close(indices[i]);
    if (traps.empty() || world_.forms.NumberOf(sizes[i]) == 1) continue;
    Node loop{.kind = Kind::Loop, .op = Op::For, .children = {sizes[i]}};
    loop.children.insert(loop.children.end(), traps.begin(), traps.end());
    traps = {world_.forms.Bind(std::move(loop), 1, indices[i])};
  }
  for (const FormId trap : traps) Add(trap);
}

// --- scalars ----------------------------------------------------------------------------------------------------
void Traps::Scalar(ScopeId scope, const ir::Inst& inst) {
  const ir::OpInfo& info = ir::Info(inst.op);
  if (info.effect != ir::Effect::Pure || info.signature == "custom")
    return evaluator_.Fail(fmt::format("'{}' has no normal form of elements", info.mnemonic));
  if (!tensors::MayTrap(info)) return;
  const ir::Function& f = evaluator_.function(scope);
  std::vector<FormId> operands = evaluator_.ValuesOf(scope, f.operands_of(inst));
  if (!evaluator_.failure().empty() || CannotTrap(inst, operands)) return;
  if (info.law == ir::Law::Commutes) std::ranges::sort(operands);
  const auto words = f.words_of(inst);
  AddTrap(scope, inst, {words.begin(), words.end()}, std::move(operands));
}

bool Traps::CannotTrap(const ir::Inst& inst, const std::vector<FormId>& operands) const {
  switch (inst.op) {
    FRAZIL_CASES(Division)
    FRAZIL_CASES(CheckedDivision) break;
    default: return false;
  }
  const Node& divisor = world_.forms.node(operands[1]);
  // Not 0; -1 overflows where overflow is checked.
  if (divisor.kind == Kind::Constant && divisor.words.size() == 1)
    return divisor.words[0] != 0 && (inst.op != Op::DivChecked || divisor.words[0] != UINT64_MAX);
  if (inst.type != ir::types::Index) return false;
  return world_.bounds.IsAtLeast(operands[1], 1) && world_.bounds.Fits(operands[1]);
}

void Traps::Lookup(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const FormId at = evaluator_.Value(scope, f.operand(inst, 0));
  const uint64_t length = evaluator_.program().data[static_cast<size_t>(f.word(inst, 0))].length();
  if (!evaluator_.failure().empty()) return;
  const FormId size = world_.forms.Number(static_cast<int64_t>(length));
  if (world_.bounds.IsWithinHere(at, size)) return;
  AddTrap(scope, inst, {}, {at, size});
}

void Traps::Assert(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const std::vector<FormId> conditions = evaluator_.ValuesOf(scope, f.operands_of(inst));
  if (!evaluator_.failure().empty()) return;
  if (conditions.size() == 1) {
    const Node& node = world_.forms.node(conditions[0]);
    if (node.kind == Kind::Constant && node.words[0] == 1) return;
  }
  AddTrap(scope, inst, {}, conditions);
  if (conditions.size() == 1) world_.bounds.Assume(conditions[0], true);
}

void Traps::Extract(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const std::vector<FormId> at = evaluator_.ValuesOf(scope, f.operands_of(inst).subspan(1));
  std::vector<FormId> sizes = evaluator_.SizesOf(scope, f.type(f.operand(inst, 0)));
  if (!evaluator_.failure().empty()) return;
  bool is_within = true;
  for (size_t i = 0; i < at.size(); ++i)
    is_within = is_within && world_.bounds.IsWithinHere(at[i], sizes[i]);
  if (is_within) return;
  sizes.insert(sizes.end(), at.begin(), at.end());
  AddTrap(scope, inst, {}, std::move(sizes));
}

// --- regions ----------------------------------------------------------------------------------------------------
bool Traps::MayTrap(const ir::Function& f, RegionId region) const {
  return std::ranges::any_of(f.region(region).insts, [&](InstId id) {
    const ir::Inst& inst = f.inst(id);
    const ir::OpInfo& info = ir::Info(inst.op);
    if (inst.op == Op::Yield) return false;
    const bool is_known =
        info.effect == ir::Effect::Pure || inst.op == Op::Fold || inst.op == Op::If;
    if (!is_known || tensors::MayTrap(info)) return true;
    for (uint32_t i = 0; i < inst.regions.count; ++i)
      if (MayTrap(f, Function::region_of(inst, i))) return true;
    // It is looked at how large it is.
    return inst.results.count > 0 && f.type(Function::result_of(inst)).is_tensor();
  });
}

void Traps::Elements(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const RegionId region = Function::region_of(inst, 0);
  if (!MayTrap(f, region)) return;
  const bool is_map = inst.op == Op::Map;
  std::vector<FormId> sizes = evaluator_.SizesOf(scope, inst.type);
  if (!is_map) sizes.resize(f.region(region).params.count);
  const std::vector<FormId> indices = OpenAll(sizes);
  std::vector<FormId> params = indices;
  if (is_map) {
    params.clear();
    for (const ValueId operand : f.operands_of(inst))
      params.push_back(evaluator_.Element(scope, operand, indices));
  }
  if (evaluator_.failure().empty()) Walk(evaluator_.Inside(scope, region, params), false);
  std::vector<FormId>& traps = lists_.back();
  const FormId condition = traps.empty() || is_map ? NoForm : WhereAnyIsMade(scope, inst, traps);
  if (condition != NoForm) {
    Node branch{
        .kind = Kind::Branch, .op = Op::If, .words = {traps.size()}, .children = {condition}};
    branch.children.insert(branch.children.end(), traps.begin(), traps.end());
    traps = {world_.forms.Intern(std::move(branch))};
  }
  CloseAll(indices, sizes);
}

// The region runs where a result has an element. Nothing: it runs for all indices, or traps only where there is one.
FormId Traps::WhereAnyIsMade(ScopeId scope, const ir::Inst& inst,
                             const std::vector<FormId>& traps) {
  const ir::Function& f = evaluator_.function(scope);
  const size_t rank = f.region(Function::region_of(inst, 0)).params.count;
  Node made{.kind = Kind::Apply, .op = Op::Generate, .type = ir::types::Bool};
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    std::vector<FormId> rest = evaluator_.SizesOf(scope, f.type(Function::result_of(inst, k)));
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(rank));
    std::erase_if(rest, [&](FormId size) { return world_.forms.NumberOf(size).value_or(0) > 0; });
    if (rest.empty()) return NoForm;
    if (inst.results.count == 1 && rest.size() == 1 && std::ranges::all_of(traps, [&](FormId trap) {
          const Node& node = world_.forms.node(trap);
          return node.kind == Kind::Loop && node.children[0] == rest[0];
        }))
      return NoForm;
    made.words.push_back(rest.size());
    made.children.insert(made.children.end(), rest.begin(), rest.end());
  }
  return world_.forms.Intern(std::move(made));
}

void Traps::Fold(ScopeId scope, const ir::Inst& inst) {
  const ir::Function& f = evaluator_.function(scope);
  const RegionId region = Function::region_of(inst, 0);
  const FormId count = evaluator_.Value(scope, f.operand(inst, 0));
  if (evaluator_.failure().empty() && !world_.bounds.Fits(count))
    evaluator_.Fail("the count of a fold may wrap");
  if (!evaluator_.failure().empty()) return;
  shapes_.insert({count});
  if (!MayTrap(f, region)) return;
  const std::vector<FormId> indices = OpenAll(std::span(&count, 1));
  Walk(evaluator_.Inside(scope, region, indices), false);
  CloseAll(indices, std::span(&count, 1));
}

void Traps::If(ScopeId scope, const ir::Inst& inst, bool is_certain) {
  const ir::Function& f = evaluator_.function(scope);
  const FormId condition = evaluator_.Value(scope, f.operand(inst, 0));
  if (!evaluator_.failure().empty()) return;
  const Node& node = world_.forms.node(condition);
  if (node.kind == Kind::Constant) {
    const uint32_t side = node.words[0] != 0 ? 0 : 1;
    return Walk(evaluator_.Inside(scope, Function::region_of(inst, side), {}), is_certain);
  }
  std::vector<FormId> sides[2];
  for (uint32_t side = 0; side < 2; ++side) {
    const size_t facts = world_.bounds.facts();
    world_.bounds.Assume(condition, side == 0);
    lists_.emplace_back();
    Walk(evaluator_.Inside(scope, Function::region_of(inst, side), {}), false);
    sides[side] = std::move(lists_.back());
    lists_.pop_back();
    world_.bounds.Forget(facts);
  }
  if (sides[0].empty() && sides[1].empty()) return;
  Node branch{
      .kind = Kind::Branch, .op = Op::If, .words = {sides[0].size()}, .children = {condition}};
  for (const auto& side : sides)
    branch.children.insert(branch.children.end(), side.begin(), side.end());
  Add(world_.forms.Intern(std::move(branch)));
}

}  // namespace frazil::verify::tensors
