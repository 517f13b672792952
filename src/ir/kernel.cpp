// Roles of parameters, read off the program. An extent is found by its use: it bounds a `parallel` or counts a reduction,
// and iterations of that use their own number as an index. Nothing is decided by what a parameter is called but the
// launch parameters, whose names no source language can write.
#include "ir/kernel.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace frazil::ir {
namespace {

constexpr std::string_view RoleNames[] = {"value",   "buffer",  "extent",  "lanes.x",
                                          "lanes.y", "lanes.z", "grid.x",  "grid.y",
                                          "grid.z",  "block.x", "block.y", "block.z"};

ParamRole RoleOf(std::string_view name, Type type) {
  if (type.is_scalar() && type.scalar == Scalar::Index) {
    for (size_t i = static_cast<size_t>(ParamRole::LanesX); i < std::size(RoleNames); ++i)
      if (RoleNames[i] == name) return static_cast<ParamRole>(i);
  }
  return type.is_scalar() ? ParamRole::Value : ParamRole::Buffer;
}

class ExtentFinder {
 public:
  ExtentFinder(KernelSignature& signature, const Function& function)
      : signature_(signature), function_(function) {}

  // Parallels of this region and of parallels in it: what the launch sees as lanes. Folds are told by VisitFolds.
  void Visit(RegionId region) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::TensorLoad || inst.op == Op::TensorStore) AddTensor(inst);
      if (inst.op != Op::Parallel) continue;
      RegionId body = Function::region_of(inst, 0);
      if (std::optional<uint32_t> bound = BoundOf(function_.operand(inst, 1)))
        AddBuffers(*bound, body, Function::param_of(function_.region(body), 0));
      Visit(body);
    }
  }

  // Also those that happen only if there are elements.
  void VisitFolds(RegionId region) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      if (inst.op == Op::Fold) {
        RegionId body = Function::region_of(inst, 0);
        if (std::optional<uint32_t> extent = BoundOf(function_.operand(inst, 0)))
          AddBuffers(*extent, body, Function::param_of(function_.region(body), 0));
      } else if (inst.op == Op::If) {
        for (uint32_t r = 0; r < inst.regions.count; ++r) VisitFolds(Function::region_of(inst, r));
      }
    }
  }

 private:
  std::optional<uint32_t> Ordinal(ValueId value) const {
    uint32_t begin = function_.param(0).index;
    if (value.index < begin || value.index - begin >= function_.param_count()) return std::nullopt;
    return value.index - begin;
  }

  // The integer parameter that a bound is, behind casts.
  std::optional<uint32_t> BoundOf(ValueId value) const {
    for (;;) {
      if (std::optional<uint32_t> param = Ordinal(value)) {
        ParamRole role = signature_.params[*param].role;
        bool is_value = role == ParamRole::Value || role == ParamRole::Extent;
        if (is_value && IsFixedInt(function_.type(value).scalar)) return param;
        return std::nullopt;
      }
      InstId def = function_.values[value.index].def;
      if (!def.valid() || function_.inst(def).op != Op::Cast) return std::nullopt;
      value = function_.operand(function_.inst(def), 0);
    }
  }

  // A buffer taken whole, as a row of as many elements as a parameter says.
  void AddTensor(const Inst& inst) {
    const Type tensor =
        inst.op == Op::TensorLoad ? inst.type : function_.type(function_.operand(inst, 1));
    const Shape& shape = function_.shape(tensor);
    if (shape.size() != 1 || !shape[0].is_symbol()) return;
    if (IsLaunchRole(signature_.params[shape[0].param()].role)) return;
    if (std::optional<uint32_t> buffer = Ordinal(function_.operand(inst, 0)))
      AddBuffer(shape[0].param(), *buffer);
  }

  void AddBuffers(uint32_t extent, RegionId region, ValueId counter) {
    for (InstId id : function_.region(region).insts) {
      const Inst& inst = function_.inst(id);
      bool is_access = inst.op == Op::Load || inst.op == Op::Store;
      if (is_access && function_.operand(inst, 1) == counter) {
        if (std::optional<uint32_t> buffer = Ordinal(function_.operand(inst, 0)))
          AddBuffer(extent, *buffer);
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        AddBuffers(extent, Function::region_of(inst, r), counter);
    }
  }

  void AddBuffer(uint32_t extent, uint32_t buffer) {
    KernelParam& param = signature_.params[extent];
    param.role = ParamRole::Extent;
    auto place = std::lower_bound(param.buffers.begin(), param.buffers.end(), buffer);
    if (place == param.buffers.end() || *place != buffer) param.buffers.insert(place, buffer);
  }

  KernelSignature& signature_;
  const Function& function_;
};

}  // namespace

std::string_view RoleName(ParamRole role) { return RoleNames[static_cast<size_t>(role)]; }

bool KernelSignature::needs_launch() const {
  return std::ranges::any_of(params, [](const KernelParam& p) { return IsLaunchRole(p.role); });
}

KernelSignature SignatureOf(const Program& program) {
  const Function& function = program.entry_function();
  KernelSignature signature{function.name, {}};
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    uint32_t value = function.param(i).index;
    bool named = value < function.value_names.size() && !function.value_names[value].empty();
    std::string name = named ? function.value_names[value] : fmt::format("p{}", i);
    ParamRole role = RoleOf(name, function.param_type(i));
    signature.params.push_back({std::move(name), function.param_type(i), role, {}});
  }
  ExtentFinder finder(signature, function);
  finder.Visit(function.body);
  finder.VisitFolds(function.body);
  return signature;
}

}  // namespace frazil::ir
