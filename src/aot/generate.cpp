// The two files as a whole. Nothing in them says when or where they were made: the same kernels give the same bytes.
#include "aot/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace frazil::aot {
namespace {

constexpr std::string_view Keywords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "atomic_cancel", "auto", "bitand", "bitor",
    "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
    "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept",
    "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw",
    "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    // Macros of the C library, types that it declares, and the namespaces that generated text names.
    "errno", "stdin", "stdout", "stderr", "EOF", "NULL", "NAN", "INFINITY", "assert", "linux",
    "unix", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
    "uint64_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "size_t", "ssize_t", "ptrdiff_t",
    "nullptr_t", "max_align_t", "std", "frazil"};
// What it declares itself, inside of its namespace.
constexpr std::string_view Taken[] = {"config", "kernels"};

constexpr std::array<std::string_view, 14> CppTypes = {
    "int8_t",   "int16_t",     "int32_t",      "int64_t", "uint8_t", "uint16_t", "uint32_t",
    "uint64_t", "frazil::F16", "frazil::BF16", "float",   "double",  "bool",     "int64_t"};

// Bytes of what ends a line at the front of a text, for a compiler or for whoever reads it: \n, \v, \f, \r, U+0085, U+2028,
// U+2029. 0: nothing does.
size_t LineEnd(std::string_view text) {
  if (text[0] >= '\n' && text[0] <= '\r') return text.starts_with("\r\n") ? 2 : 1;
  for (const std::string_view end : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    if (text.starts_with(end)) return end.size();
  return 0;
}

// Whatever stands in `text` stays a comment: it comes from the source of a kernel.
std::string Comment(std::string_view text, std::string_view mark = "///") {
  std::string comment, line;
  const auto finish = [&] {
    // A backslash at the end of a line, or the trigraph of one, would make the next one a comment.
    while (line.ends_with('\\') || line.ends_with(' ') || line.ends_with("?\?/")) line.pop_back();
    comment += fmt::format("{}{}{}\n", mark, line.empty() ? "" : " ", line);
    line.clear();
  };
  while (!text.empty()) {
    const size_t end = LineEnd(text);
    if (end != 0)
      finish();
    else
      line += (text[0] >= 0 && text[0] < ' ') || text[0] == 127 ? ' ' : text[0];
    text.remove_prefix(std::max<size_t>(end, 1));
  }
  if (!line.empty()) finish();
  return comment;
}

std::vector<std::string> LengthNames(const BuiltKernel& kernel, size_t extent) {
  std::vector<std::string> names;
  for (const embed::PairData& pair : kernel.lengths)
    if (pair.first == extent) names.push_back(Identifier(kernel.params[pair.second].name));
  return names;
}

std::string DerivedComment(const BuiltKernel& kernel) {
  std::string comment;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (kernel.params[i].role != embed::ParamRole::Extent) continue;
    comment += fmt::format("/// {} is the length of {}.\n", kernel.params[i].name,
                           fmt::join(LengthNames(kernel, i), " and of "));
  }
  return comment;
}

std::string HeaderOf(const BuiltKernel& kernel) {
  if (!kernel.has_native()) {
    std::string why;
    for (const Refusal& refusal : kernel.report.refusals)
      if (why.empty() && refusal.target.starts_with("native"))
        why = fmt::format(" ({})", refusal.reason);
    return Comment(fmt::format("{}: no function for this machine{}.", kernel.report.name, why),
                   "//") +
           "\n";
  }
  std::string text = Comment(kernel.doc);
  text += fmt::format("[[nodiscard]] {};\n", Declaration(kernel, {}));
  if (HasExtents(kernel)) {
    text += DerivedComment(kernel);
    text +=
        fmt::format("[[nodiscard]] {};\n", Declaration(kernel, {.derived = true, .bind = false}));
  }
  text += "/// The same launch, checked now, to be recorded in a frazil::embed::Sequence.\n";
  text += fmt::format("[[nodiscard]] {};\n", Declaration(kernel, {.derived = false, .bind = true}));
  if (HasExtents(kernel))
    text +=
        fmt::format("[[nodiscard]] {};\n", Declaration(kernel, {.derived = true, .bind = true}));
  return text + "\n";
}

}  // namespace

bool IsIdentifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool IsNamespaceName(std::string_view name) {
  // "__LINE__", "_Complex": C++ keeps them for compilers.
  const bool is_reserved =
      name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
  return IsIdentifier(name) && !is_reserved && !name.starts_with("frz_") &&
         std::ranges::find(Keywords, name) == std::end(Keywords);
}

std::string Identifier(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (!IsIdentifier(std::string_view(&c, 1)) && !(c >= '0' && c <= '9')) c = '_';
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) text.insert(0, "_");
  const bool is_taken = !IsNamespaceName(text) || std::ranges::find(Taken, text) != std::end(Taken);
  return is_taken ? text + "_" : text;
}

std::string FunctionName(const BuiltKernel& kernel) { return Identifier(kernel.report.name); }

std::string_view CppType(Kind scalar) { return CppTypes[static_cast<size_t>(scalar)]; }

std::string GenerateHeader(std::string_view module, std::span<const BuiltKernel> kernels) {
  std::string text = fmt::format(
      "// Kernels of {0}, compiled ahead of time by Frazil. Every launch is checked: lengths, "
      "overlap, null,\n"
      "// alignment; nothing throws, and nothing allocates or locks once a thread has launched. "
      "Link frazil::embed.\n"
      "// Made by a program: do not edit.\n"
      "#pragma once\n\n#include <atomic>\n#include <cstdint>\n#include <span>\n#include <tuple>\n\n"
      "#include <frazil/embed.h>\n\nnamespace {0} {{\n\n",
      module);
  for (const BuiltKernel& kernel : kernels) text += HeaderOf(kernel);
  text +=
      "/// Descriptors of all kernels above.\nconst frazil::embed::ModuleData& kernels() "
      "noexcept;\n\n"
      "// --- how launches are checked: all tests at once, and whatever is not plainly right is "
      "judged elsewhere\n\n"
      "namespace frz_detail {\n";
  for (const BuiltKernel& kernel : kernels)
    if (kernel.has_native()) text += DetailDeclarations(kernel);
  text += "}  // namespace frz_detail\n\n";
  for (const BuiltKernel& kernel : kernels) {
    if (!kernel.has_native()) continue;
    text += Definition(module, kernel, {.derived = false, .bind = false});
    if (HasExtents(kernel)) text += Definition(module, kernel, {.derived = true, .bind = false});
  }
  return text + fmt::format("}}  // namespace {}\n", module);
}

std::string GenerateSource(std::string_view module, std::span<const BuiltKernel> kernels,
                           bool programs) {
  std::string text = fmt::format(
      "// The kernels of {0}: descriptors in read-only memory, code in an executable section, and "
      "what the functions of\n"
      "// the header do where a launch is not plainly right. Made by a program: do not "
      "edit.\n#include \"{0}.hpp\"\n\n"
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
      "static_assert(frazil::embed::KernelDataVersion == {1} && frazil::embed::NativeAbiVersion == "
      "{2},\n"
      "              \"made for another version of frazil::embed\");\n\nextern \"C\" {{\n",
      module, embed::KernelDataVersion, embed::NativeAbiVersion);
  constexpr std::string_view Hidden =
      "[[gnu::visibility(\"hidden\")]] extern const frazil::embed::";
  for (const BuiltKernel& kernel : kernels)
    text += fmt::format("{}KernelData {};\n", Hidden, DataSymbol(module, kernel.report.name));
  text +=
      fmt::format("{}ModuleData {};\n}}\n\n{}\nnamespace {} {{\n\nnamespace frz_detail {{\n\n",
                  Hidden, ModuleSymbol(module), DataAssembly(module, kernels, programs), module);
  for (const BuiltKernel& kernel : kernels)
    if (kernel.has_native()) text += DetailDefinitions(module, kernel);
  text += "\n}  // namespace frz_detail\n\n";
  for (const BuiltKernel& kernel : kernels) {
    if (!kernel.has_native()) continue;
    text += Definition(module, kernel, {.derived = false, .bind = true});
    if (HasExtents(kernel)) text += Definition(module, kernel, {.derived = true, .bind = true});
  }
  text += fmt::format(
      "const frazil::embed::ModuleData& kernels() noexcept {{ return {}; }}\n\n}}  // namespace "
      "{}\n",
      ModuleSymbol(module), module);
  return text;
}

}  // namespace frazil::aot
