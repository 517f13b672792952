#include "verify/tensors/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::verify::tensors {

using namespace ir::names;

namespace {

constexpr uint32_t MostDepth = 2000;
constexpr uint32_t MostCalls = 16;
constexpr size_t MostScopes = 100'000;

}  // namespace

size_t Evaluator::KeyHash::operator()(const std::vector<uint32_t>& key) const {
  uint64_t hash = key.size();
  for (const uint32_t word : key) hash = (hash ^ word) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return hash;
}

Evaluator::Evaluator(const ir::Program& program, World& world) : program_(program), world_(world) {
  const Function& f = program.entry_function();
  const ScopeId body = AddScope({&f, f.body.index, 0, 0, 0});
  for (uint32_t i = 0; i < f.param_count(); ++i) {
    const Type type = f.param_type(i);
    if (!type.is_scalar()) continue;
    const auto known = world_.known.find(i);
    values_[KeyOf(body, f.param(i))] =
        known != world_.known.end() ? known->second : world_.forms.Param(i);
  }
}

void Evaluator::Fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
}

// --- scopes -----------------------------------------------------------------------------------------------------
ScopeId Evaluator::AddScope(Scope scope) {
  if (scopes_.size() >= MostScopes) {
    Fail("the programs are too large for a normal form");
    return 0;
  }
  scopes_.push_back(scope);
  return static_cast<ScopeId>(scopes_.size() - 1);
}

ScopeId Evaluator::Inside(ScopeId scope, RegionId region, std::span<const FormId> params) {
  std::vector<uint32_t> key = {scope, region.index};
  key.insert(key.end(), params.begin(), params.end());
  if (const auto known = insides_.find(key); known != insides_.end()) return known->second;
  const Scope outer = scopes_[scope];
  const ScopeId inside = AddScope({outer.function, region.index, scope, outer.body, outer.calls});
  const ir::Region& own = outer.function->region(region);
  for (uint32_t i = 0; i < params.size(); ++i)
    values_[KeyOf(inside, Function::param_of(own, i))] = params[i];
  insides_.emplace(std::move(key), inside);
  return inside;
}

ScopeId Evaluator::Called(ScopeId scope, const ir::Inst& call) {
  const Function& caller = function(scope);
  const std::vector<uint32_t> key = {scope, UINT32_MAX,
                                     static_cast<uint32_t>(&call - caller.insts.data())};
  if (const auto known = insides_.find(key); known != insides_.end()) return known->second;
  const Function& callee = program_.functions[static_cast<size_t>(caller.word(call, 0))];
  if (scopes_[scope].calls >= MostCalls) {
    Fail("calls are nested too deep for a normal form");
    return scope;
  }
  const ScopeId body = AddScope({&callee, callee.body.index, 0, 0, scopes_[scope].calls + 1});
  scopes_[body].around = scopes_[body].body = body;
  for (uint32_t i = 0; i < callee.param_count(); ++i) {
    const ValueId argument = caller.operand(call, i);
    if (callee.param_type(i).is_scalar())
      values_[KeyOf(body, callee.param(i))] = Value(scope, argument);
    else if (callee.param_type(i).is_tensor())
      aliases_[KeyOf(body, callee.param(i))] = {scope, argument};
    else
      Fail("a call passes a buffer");
  }
  insides_.emplace(key, body);
  return body;
}

const std::vector<uint32_t>& Evaluator::HomesOf(const Function& f) {
  std::vector<uint32_t>& homes = homes_[&f];
  if (!homes.empty()) return homes;
  homes.assign(f.values.size(), UINT32_MAX);
  for (uint32_t r = 0; r < f.regions.size(); ++r) {
    const ir::Region& region = f.regions[r];
    std::fill_n(homes.begin() + region.params.begin, region.params.count, r);
    for (const InstId id : region.insts)
      std::fill_n(homes.begin() + f.inst(id).results.begin, f.inst(id).results.count, r);
  }
  return homes;
}

// The run of the region where the value is made.
ScopeId Evaluator::HomeOf(ScopeId scope, ValueId value) {
  const uint32_t home = HomesOf(function(scope))[value.index];
  while (scopes_[scope].region != home) {
    if (scope == scopes_[scope].body) {
      Fail("a value of another region");
      return scope;
    }
    scope = scopes_[scope].around;
  }
  return scope;
}

const ir::Inst& Evaluator::TerminatorOf(ScopeId scope) const {
  return function(scope).inst(region(scope).insts.back());
}

// --- scalars ----------------------------------------------------------------------------------------------------
FormId Evaluator::Value(ScopeId from, ValueId value) {
  if (!failure_.empty()) return Nothing();
  const ScopeId scope = HomeOf(from, value);
  const uint64_t key = KeyOf(scope, value);
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  const Function& f = function(scope);
  const InstId def = f.values[value.index].def;
  if (!def.valid() || world_.forms.is_exhausted() || depth_ >= MostDepth) {
    Fail("the programs are too large for a normal form");
    return Nothing();
  }
  ++depth_;
  const ir::Inst& inst = f.inst(def);
  const FormId form = Compute(scope, inst, value.index - inst.results.begin);
  --depth_;
  values_[key] = form;
  return form;
}

std::vector<FormId> Evaluator::ValuesOf(ScopeId scope, std::span<const ValueId> values) {
  std::vector<FormId> forms;
  forms.reserve(values.size());
  for (const ValueId value : values) forms.push_back(Value(scope, value));
  return forms;
}

FormId Evaluator::Compute(ScopeId scope, const ir::Inst& inst, uint32_t result) {
  const Function& f = function(scope);
  switch (inst.op) {
    case Op::Const: return world_.forms.Constant(inst.type, f.words_of(inst));
    case Op::Lookup: {
      const uint64_t table = TableOf(inst, scope);
      const FormId at = Value(scope, f.operand(inst, 0));
      return world_.forms.Apply(Op::Lookup, inst.type, inst.type.scalar, std::span(&table, 1),
                                std::span(&at, 1));
    }
    case Op::Extract: {
      const std::vector<FormId> at = ValuesOf(scope, f.operands_of(inst).subspan(1));
      const std::vector<FormId> sizes = SizesOf(scope, f.type(f.operand(inst, 0)));
      for (size_t i = 0; i < at.size(); ++i) CheckIndex(at[i], sizes[i]);
      return Element(scope, f.operand(inst, 0), at);
    }
    case Op::Fold: return Folded(scope, inst);
    case Op::If: {
      const FormId condition = Value(scope, f.operand(inst, 0));
      FormId arms[2] = {};
      for (uint32_t side = 0; side < 2; ++side) {
        const ScopeId arm = Inside(scope, Function::region_of(inst, side), {});
        arms[side] = Value(arm, f.operand(TerminatorOf(arm), result));
      }
      const Type type = f.type(Function::result_of(inst, result));
      return world_.forms.Select(type, condition, arms[0], arms[1]);
    }
    case Op::Call: {
      const ScopeId body = Called(scope, inst);
      if (!failure_.empty()) return Nothing();
      return Value(body, function(body).operand(TerminatorOf(body), result));
    }
    default: return Scalar(scope, inst);
  }
}

FormId Evaluator::Scalar(ScopeId scope, const ir::Inst& inst) {
  const Function& f = function(scope);
  const ir::OpInfo& info = ir::Info(inst.op);
  const auto is_scalar = [&](ValueId operand) { return f.type(operand).is_scalar(); };
  if (info.effect != ir::Effect::Pure || info.signature == "custom" || inst.results.count != 1 ||
      !std::ranges::all_of(f.operands_of(inst), is_scalar)) {
    Fail(fmt::format("'{}' has no normal form of elements", info.mnemonic));
    return Nothing();
  }
  const std::vector<FormId> operands = ValuesOf(scope, f.operands_of(inst));
  if (!failure_.empty()) return Nothing();
  if (const auto form = Division(inst, operands)) return *form;
  if (const auto form = Decided(inst, operands)) return *form;
  const ir::Scalar from = operands.empty() ? inst.type.scalar : f.type(f.operand(inst, 0)).scalar;
  return world_.forms.Apply(inst.op, inst.type, from, f.words_of(inst), operands);
}

// From here on an index is taken as an integer: what the word of it is if it is within its size, or cannot wrap.
void Evaluator::CheckIndex(FormId index, FormId size) {
  const Bounds& bounds = world_.bounds;
  if (!failure_.empty() || world_.forms.node(index).kind != Kind::Sum || bounds.Fits(index)) return;
  if (!bounds.IsAtLeast(index, 0) || !bounds.IsLess(index, size)) Fail("an index may wrap");
}

// Of indices that do not wrap and are not negative: truncated and floored is the same.
std::optional<FormId> Evaluator::Division(const ir::Inst& inst, std::span<const FormId> operands) {
  const bool quotient = inst.op == Op::DivTrunc || inst.op == Op::DivFloor;
  const bool remainder = inst.op == Op::RemTrunc || inst.op == Op::RemFloor;
  if ((!quotient && !remainder) || inst.type != ir::types::Index) return std::nullopt;
  Bounds& bounds = world_.bounds;
  for (size_t i = 0; i < 2; ++i)
    if (!bounds.IsAtLeast(operands[i], i == 0 ? 0 : 1) || !bounds.Fits(operands[i]))
      return std::nullopt;
  const FormId floor = bounds.Quotient(operands[0], operands[1]);
  if (quotient) return floor;
  return Plus(operands[0], Times(operands[1], floor), -1);
}

// A comparison of indices that comes out the same wherever they are.
std::optional<FormId> Evaluator::Decided(const ir::Inst& inst, std::span<const FormId> operands) {
  if (inst.type != ir::types::Index) return std::nullopt;
  Bounds& bounds = world_.bounds;
  FormId a = operands[0], b = operands.size() == 2 ? operands[1] : NoForm;
  bool negated = false;
  switch (inst.op) {
    case Op::Lt: break;
    case Op::Ge: negated = true; break;
    case Op::Gt: std::swap(a, b); break;
    case Op::Le:
      std::swap(a, b);
      negated = true;
      break;
    default: return std::nullopt;
  }
  const auto at_least = world_.forms.PolynomialOf(a).Minus(world_.forms.PolynomialOf(b));
  const bool less = bounds.IsLess(a, b);
  if (!less && !(at_least && bounds.IsNonNegative(*at_least))) return std::nullopt;
  if (!bounds.Fits(a) || !bounds.Fits(b)) return std::nullopt;
  const uint64_t holds = less != negated ? 1 : 0;
  return world_.forms.Constant(ir::types::Bool, std::span(&holds, 1));
}

FormId Evaluator::Folded(ScopeId scope, const ir::Inst& inst) {
  const Function& f = function(scope);
  Forms& forms = world_.forms;
  const FormId count = Value(scope, f.operand(inst, 0));
  if (!world_.bounds.Fits(count)) {
    Fail("the count of a fold may wrap");
    return Nothing();
  }
  const FormId index = forms.Open(count);
  const ScopeId turn = Inside(scope, Function::region_of(inst, 0), std::span(&index, 1));
  const FormId element = Value(turn, f.operand(TerminatorOf(turn), 0));
  forms.Close(index);
  const auto words = f.words_of(inst);
  return forms.Bind({.kind = Kind::Fold,
                     .op = Op::Fold,
                     .type = inst.type,
                     .words = {words.begin(), words.end()},
                     .children = {count, element}},
                    1, index);
}

uint64_t Evaluator::TableOf(const ir::Inst& lookup, ScopeId scope) {
  const auto& words = program_.data[static_cast<size_t>(function(scope).word(lookup, 0))].words;
  const auto known = std::ranges::find(world_.tables, words);
  if (known != world_.tables.end()) return static_cast<uint64_t>(known - world_.tables.begin());
  world_.tables.push_back(words);
  return world_.tables.size() - 1;
}

FormId Evaluator::SizeOf(ScopeId scope, ir::Dim dim) {
  if (!dim.is_symbol()) return world_.forms.Number(dim.value);
  const ScopeId body = scopes_[scope].body;
  return Value(body, function(body).param(dim.param()));
}

std::vector<FormId> Evaluator::SizesOf(ScopeId scope, Type tensor) {
  std::vector<FormId> sizes;
  for (const ir::Dim dim : function(scope).shape(tensor)) sizes.push_back(SizeOf(scope, dim));
  return sizes;
}

}  // namespace frazil::verify::tensors
