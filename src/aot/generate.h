// The text of what is generated: a header with typed functions, and a C++ file with their bodies, their descriptors and
// their code. Both compilers of record take it; it includes nothing but embed/.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "aot/unit.h"

namespace frazil::aot {

std::string GenerateHeader(std::string_view module, std::span<const BuiltKernel> kernels);
// `programs`: records carry the texts from which the kernels can be judged again (aot/record.h).
std::string GenerateSource(std::string_view module, std::span<const BuiltKernel> kernels,
                           bool programs);

// --- the parts ---------------------------------------------------------------------------------------------------

// A name as a C++ identifier: keywords and what we use ourselves get an underscore.
std::string Identifier(std::string_view name);
bool IsIdentifier(std::string_view name);
bool IsNamespaceName(std::string_view name);
// What its function is called, and what comes behind it in the name of the one that gives a launch to be recorded.
std::string FunctionName(const BuiltKernel& kernel);
constexpr std::string_view BindEnding = "_bind";
std::string_view CppType(Kind scalar);  // "float", "frazil::F16"

// Which form of a kernel's function.
struct FunctionForm {
  bool derived = false;  // without the extents, which are the lengths of buffers
  bool bind = false;     // gives a launch to be recorded
};
// What a caller sees: "frazil::embed::Status saxpy(float a, ...) noexcept".
std::string Declaration(const BuiltKernel& kernel, const FunctionForm& form);
std::string Definition(std::string_view module, const BuiltKernel& kernel,
                       const FunctionForm& form);
// What the functions in the header share with the C++ file: the entry, once it is known, and the ways that are seldom gone.
std::string DetailDeclarations(const BuiltKernel& kernel);
std::string DetailDefinitions(std::string_view module, const BuiltKernel& kernel);
bool HasExtents(const BuiltKernel& kernel);

// The symbol of a kernel's descriptor, and of the module's table.
std::string DataSymbol(std::string_view module, std::string_view kernel);
std::string ModuleSymbol(std::string_view module);
// Assembly that defines them, with the code.
std::string DataAssembly(std::string_view module, std::span<const BuiltKernel> kernels,
                         bool programs);

}  // namespace frazil::aot
