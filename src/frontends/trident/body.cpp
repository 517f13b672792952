// One function: parameters, contracts, scopes; what the other body_*.cpp files stand on.
#include "frontends/trident/body.h"

#include <fmt/format.h>

#include "frontends/trident/suggest.h"

namespace frazil::frontends::trident {

Body::Body(Elaborator& all, const Instance& instance)
    : all_(all),
      instance_(instance),
      module_(instance.module),
      builder_(all.program, all.program.functions[instance.function.index].name, {},
               all.program.functions[instance.function.index].results),
      result_types_(all.program.functions[instance.function.index].results) {
  for (size_t i = 0; instance.decl != nullptr && i < instance.sizes.size(); ++i)
    sizes_[instance.decl->sizes[i]] = instance.sizes[i];
}

void Body::Complain(Diag diag, Location location, std::string message, std::string hint) {
  all_.Complain(module_, diag, location, std::move(message), std::move(hint));
}

void Body::BindParams() {
  const FunctionDecl& decl = *instance_.decl;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Param& param = decl.params[i];
    if (param.name != "_" && Find(param.name) != nullptr)
      Complain(Diag::BadDeclaration, param.location,
               fmt::format("'{}' is a parameter twice", param.name));
    const TypeInfo& type = all_.types[instance_.params[i]];
    ir::Values leaves;
    if (instance_.in_memory[i]) {
      for (const Component& component : type.components)
        leaves.push_back(builder_.AddParam(ir::Type::Buffer(component.scalar, ir::Access::In)));
    } else {
      for (ir::Type leaf : type.leaves) leaves.push_back(builder_.AddParam(leaf));
    }
    for (size_t k = 0; k < leaves.size(); ++k)
      builder_.Name(leaves[k], leaves.size() == 1 && !instance_.in_memory[i]
                                   ? param.name
                                   : fmt::format("{}.{}", param.name, k));
    Variable& variable = Bind(param.name, instance_.params[i], false, param.location,
                              std::move(leaves), "a parameter");
    variable.in_memory = instance_.in_memory[i];
  }
  if (instance_.result_in_memory) {
    for (const Component& component : all_.types[instance_.result].components) {
      result_buffers_.push_back(builder_.AddParam(ir::Type::Buffer(component.scalar)));
      builder_.Name(result_buffers_.back(), fmt::format("result.{}", result_buffers_.size() - 1));
    }
  }
  if (instance_.needs_ram) {
    ram_ = builder_.AddParam(ir::Type::Buffer(ir::types::Field));
    builder_.Name(ram_, "ram");
  }
}

void Body::Run() {
  BindParams();
  At(instance_.decl->location);
  // Contracts are typed always and kept only where they were asked for: a region that never runs holds the others.
  Requires();
  Exit exit;
  exit.kind = Exit::Kind::Function;
  exit.value = instance_.result;
  exit.types = result_types_;
  ir::Values results = AssemblyBody() ? AsmFunction(instance_.decl->body->stmts[0])
                                      : RunBlock(*instance_.decl->body, exit);
  Ensures(results);
  At(instance_.decl->body->end);
  builder_.Return(results);
  all_.CountInsts(module_, builder_.function(), instance_.decl->location);
  // It has its place already: Finish would look through all functions for one.
  all_.program.functions[instance_.function.index] = std::move(builder_.function());
}

ir::FuncId Body::RunWrapper() {
  const FunctionDecl& decl = *instance_.decl;
  // Parameters come before any instruction.
  std::vector<ir::Values> params(decl.params.size());
  for (size_t i = 0; i < params.size(); ++i)
    for (ir::Type leaf : all_.types[instance_.params[i]].leaves) {
      params[i].push_back(builder_.AddParam(leaf));
      builder_.Name(params[i].back(),
                    fmt::format("{}.{}", decl.params[i].name, params[i].size() - 1));
    }
  if (instance_.needs_ram) {
    ram_ = builder_.AddParam(ir::Type::Buffer(ir::types::Field));
    builder_.Name(ram_, "ram");
  }
  At(decl.location);
  ir::Values arguments;
  for (size_t i = 0; i < params.size(); ++i) {
    if (instance_.in_memory[i]) {
      ir::Values buffers = NewBuffers(instance_.params[i]);
      StoreAll(instance_.params[i], buffers, params[i]);
      params[i] = std::move(buffers);
    }
    arguments.insert(arguments.end(), params[i].begin(), params[i].end());
  }
  ir::Values buffers;
  if (instance_.result_in_memory) buffers = NewBuffers(instance_.result);
  arguments.insert(arguments.end(), buffers.begin(), buffers.end());
  if (instance_.needs_ram) arguments.push_back(ram_);
  ir::Values results = builder_.Call(instance_.function, arguments);
  if (instance_.result_in_memory) {
    Place place;
    place.type = instance_.result;
    place.in_memory = true;
    place.leaves = std::move(buffers);
    results = Load(place).leaves;
  }
  builder_.function().results = all_.types[instance_.result].leaves;
  builder_.Return(results);
  all_.program.functions[instance_.function.index].name += "..inner";
  return builder_.Finish();
}

void Body::CheckConstant(const ConstDecl& decl) {
  in_constant_ = true;
  const TypeId type = all_.ConstType({&decl, module_});
  if (type == TypeTable::Error) return;
  Expect(Gen(*decl.value, type), type, decl.value->location,
         fmt::format("constant '{}'", decl.name));
}

Value Body::Condition(const Expr& expr, std::string_view what) {
  in_predicate_ = true;
  Value value = Gen(expr, TypeTable::Bool);
  in_predicate_ = false;
  return Expect(std::move(value), TypeTable::Bool, expr.location, std::string(what));
}

void Body::Requires() {
  for (const Attribute& attribute : instance_.decl->attributes) {
    if (attribute.name != "requires" || !attribute.condition) continue;
    At(attribute.location);
    auto check = [&]() -> ir::Values {
      Value holds = Condition(*attribute.condition, "the condition of #[requires]");
      Assert(holds.leaves[0]);
      return {};
    };
    if (all_.options.contracts)
      check();
    else
      Discard(check);
  }
}

void Body::Ensures(const ir::Values& results) {
  for (const Attribute& attribute : instance_.decl->attributes) {
    if (attribute.name != "ensures" || !attribute.condition) continue;
    At(attribute.location);
    auto check = [&]() -> ir::Values {
      const size_t scope = OpenScope();
      if (instance_.result != TypeTable::Unit)
        Bind("result", instance_.result, false, attribute.location,
             instance_.result_in_memory ? result_buffers_ : results, "the result")
            .in_memory = instance_.result_in_memory;
      Value holds = Condition(*attribute.condition, "the condition of #[ensures]");
      Assert(holds.leaves[0]);
      CloseScope(scope);
      return {};
    };
    if (all_.options.contracts)
      check();
    else
      Discard(check);
  }
}

// The code is made, so that its errors are found, and taken away again.
void Body::Discard(const After& make) {
  ir::Function& f = builder_.function();
  const size_t insts = f.insts.size(), regions = f.regions.size(), values = f.values.size();
  const size_t operands = f.operands.size(), words = f.words.size(), undo = undo_.size();
  const size_t in_body = f.regions[f.body.index].insts.size();
  auto made_of = made_of_;
  auto below = below_;
  ++regions_;
  make();
  --regions_;
  f.insts.resize(insts, ir::Inst{});
  f.regions.resize(regions);
  f.values.resize(values);
  f.operands.resize(operands);
  f.words.resize(words);
  f.regions[f.body.index].insts.resize(in_body);
  if (f.value_names.size() > values) f.value_names.resize(values);
  made_of_ = std::move(made_of);
  below_ = std::move(below);
  UndoTo(undo);
}

Value Body::Zero(TypeId type) { return {type, Zeros(all_.types[type].leaves)}; }

ir::Values Body::Zeros(const std::vector<ir::Type>& types) {
  ir::Values zeros;
  for (const ir::Type type : types)
    zeros.push_back(builder_.Const(type, std::vector<uint64_t>(ir::WordsOf(type), 0)));
  return zeros;
}

Value Body::Expect(Value value, TypeId type, Location location, const std::string& what) {
  if (value.type == type) return value;
  if (!value.is_error() && type != TypeTable::Error) {
    std::string hint;
    if (type == TypeTable::Field && value.type == TypeTable::U32) hint = "use as_field(x)";
    if (type == TypeTable::U32 && value.type == TypeTable::Field) hint = "use as_u32(x)";
    if (type == TypeTable::Bool && value.type == TypeTable::Field) hint = "compare it: x == 1";
    if (value.type == TypeTable::Unit) hint = "this gives no value";
    Complain(Diag::WrongTypes, location,
             fmt::format("{}: expected {}, got {}", what, Name(type), Name(value.type)), hint);
  }
  return Zero(type);
}

void Body::Assert(ir::ValueId holds) {
  builder_.Emit(ir::Op::Assert, {}, std::span(&holds, 1), {});
}

ir::ValueId Body::ConstWord(ir::Type type, uint64_t word) {
  return builder_.Const(type, std::span(&word, 1));
}

Variable* Body::Find(const std::string& name) {
  auto it = by_name_.find(name);
  if (in_constant_ || it == by_name_.end() || it->second.empty()) return nullptr;
  return &variables_[it->second.back()];
}

Variable& Body::Bind(const std::string& name, TypeId type, bool is_mut, Location location,
                     ir::Values leaves, std::string why) {
  const uint32_t id = static_cast<uint32_t>(variables_.size());
  variables_.push_back({name, type, is_mut, false, std::move(leaves), location, std::move(why)});
  bound_.push_back(id);
  if (name != "_") by_name_[name].push_back(id);
  return variables_.back();
}

void Body::CloseScope(size_t mark) {
  for (; bound_.size() > mark; bound_.pop_back()) {
    const std::string& name = variables_[bound_.back()].name;
    if (name != "_") by_name_[name].pop_back();
  }
}

void Body::Set(uint32_t variable, ir::Values leaves) {
  if (regions_ != 0) undo_.emplace_back(variable, std::move(variables_[variable].leaves));
  variables_[variable].leaves = std::move(leaves);
}

void Body::UndoTo(size_t mark) {
  for (; undo_.size() > mark; undo_.pop_back())
    variables_[undo_.back().first].leaves = std::move(undo_.back().second);
}

Value Body::Read(const Variable& variable) {
  if (!variable.in_memory) return {variable.type, variable.leaves};
  Place place;
  place.type = variable.type;
  place.leaves = variable.leaves;
  place.in_memory = true;
  return Load(place);
}

}  // namespace frazil::frontends::trident
