// Signatures: names of parameters are the user's where they are legal.
#include "targets/c/signature.h"

#include <fmt/format.h>

#include "targets/c/ctype.h"

namespace frazil::targets::c {
namespace {

std::string NameOfParam(const ir::Function& function, uint32_t i) {
  const ir::ValueId value = function.param(i);
  std::string name;
  if (value.index < function.value_names.size())
    name = Identifier(function.value_names[value.index]);
  return name.empty() ? fmt::format("a{}", i) : name;
}

}  // namespace

Signature MakeSignature(const ir::Function& function, bool fallible, NameScope& scope,
                        Support& support) {
  Signature signature;
  signature.fallible = fallible;
  const bool by_value = !fallible && function.results.size() == 1;
  if (by_value) signature.returned = CTypeName(function.results[0]);
  for (size_t i = 0; i < function.results.size(); ++i) {
    support.UseType(function.results[i]);
    if (by_value) break;
    // A single one has a name that no value can take.
    const std::string name =
        function.results.size() == 1 ? "result" : scope.Add(fmt::format("result{}", i));
    signature.outputs.push_back({CTypeName(function.results[i]) + "*", name});
  }
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    const ir::Type type = function.param_type(i);
    const std::string name = scope.Add(NameOfParam(function, i));
    support.UseType(type.element());
    signature.param_names.push_back(name);
    signature.length_names.emplace_back();
    if (type.is_scalar()) {
      signature.inputs.push_back({CTypeName(type), name});
      continue;
    }
    const bool is_const = type.access == ir::Access::In;
    const std::string length = scope.Add(name + "_length");
    signature.inputs.push_back(
        {fmt::format("{}{}*", is_const ? "const " : "", ElementTypeName(type.element())), name});
    signature.inputs.push_back({"int64_t", length});
    signature.length_names.back() = length;
  }
  return signature;
}

Signature OuterSignature(const Signature& signature) {
  Signature outer = signature;
  outer.fallible = true;
  outer.returned.clear();
  if (!signature.returned.empty()) outer.outputs.push_back({signature.returned + "*", "result"});
  return outer;
}

std::string WithParameters(const std::string& head, const Signature& signature,
                           std::string_view run_type) {
  constexpr size_t Width = 100;
  std::vector<std::string> parameters;
  for (const CParameter& input : signature.inputs)
    parameters.push_back(input.type + " " + input.name);
  for (const CParameter& output : signature.outputs)
    parameters.push_back(output.type + " " + output.name);
  if (signature.fallible) parameters.push_back(fmt::format("{} run", run_type));
  if (parameters.empty()) parameters.push_back("void");
  std::string text = head + "(";
  size_t column = text.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i != 0 && column + parameters[i].size() + 3 > Width) {
      text += ",\n    ";
      column = 4;
    } else if (i != 0) {
      text += ", ";
      column += 2;
    }
    text += parameters[i];
    column += parameters[i].size();
  }
  return text + ")";
}

std::string Declaration(const Signature& signature, const std::string& name) {
  std::string type = signature.returned.empty() ? "void" : signature.returned;
  if (signature.fallible) type = "bool";
  return WithParameters(fmt::format("static inline {} {}", type, name), signature);
}

}  // namespace frazil::targets::c
