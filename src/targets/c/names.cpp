// Names. A user's name is kept wherever it is legal, because generated code is read.
#include "targets/c/names.h"

#include <algorithm>
#include <iterator>

namespace frazil::targets::c {
namespace {

// Sorted. Besides keywords: predefined macros of gnu modes (linux, unix, i386), macros of the included
// headers that take no arguments, and the functions that expressions call.
constexpr std::string_view Taken[] = {
    "EOF",         "HUGE_VAL",     "HUGE_VALF",
    "INFINITY",    "NAN",          "NULL",
    "alignas",     "alignof",      "and",
    "and_eq",      "asm",          "assert",
    "auto",        "bitand",       "bitor",
    "bool",        "break",        "calloc",
    "case",        "catch",        "ceil",
    "ceilf",       "char",         "class",
    "compl",       "complex",      "concept",
    "const",       "const_cast",   "consteval",
    "constexpr",   "constinit",    "continue",
    "copysign",    "copysignf",    "decltype",
    "default",     "delete",       "do",
    "double",      "dynamic_cast", "else",
    "enum",        "errno",        "explicit",
    "export",      "extern",       "fabs",
    "fabsf",       "false",        "float",
    "floor",       "floorf",       "fma",
    "fmaf",        "for",          "free",
    "friend",      "goto",         "i386",
    "if",          "inline",       "int",
    "linux",       "long",         "main",
    "memcpy",      "memset",       "mutable",
    "namespace",   "new",          "noexcept",
    "not",         "not_eq",       "nullptr",
    "operator",    "or",           "or_eq",
    "private",     "protected",    "public",
    "realloc",     "register",     "reinterpret_cast",
    "requires",    "restrict",     "result",
    "results",     "return",       "rint",
    "rintf",       "run",          "short",
    "signed",      "sizeof",       "sqrt",
    "sqrtf",       "static",       "static_assert",
    "static_cast", "struct",       "switch",
    "template",    "this",         "thread_local",
    "throw",       "true",         "trunc",
    "truncf",      "try",          "typedef",
    "typeid",      "typename",     "typeof",
    "union",       "unix",         "unsigned",
    "using",       "virtual",      "void",
    "volatile",    "wchar_t",      "while",
    "xor",         "xor_eq",
};
static_assert(std::is_sorted(std::begin(Taken), std::end(Taken)));

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string Identifier(std::string_view name) {
  std::string identifier;
  for (char c : name) {
    if (IsLetterOrDigit(c))
      identifier += c;
    else if (!identifier.empty() && identifier.back() != '_')
      identifier += '_';
  }
  if (!identifier.empty() && identifier[0] >= '0' && identifier[0] <= '9')
    identifier.insert(0, "v");
  return identifier;
}

bool IsTaken(std::string_view identifier) {
  if (identifier.starts_with("frz_") || identifier.starts_with("FRZ_")) return true;
  if (identifier.ends_with("_t")) return true;
  const bool is_limit = identifier.ends_with("_MAX") || identifier.ends_with("_MIN");
  return is_limit || std::binary_search(std::begin(Taken), std::end(Taken), identifier);
}

std::string NameScope::Add(std::string_view wanted) {
  std::string name(wanted);
  if (IsTaken(name)) name += name.ends_with('_') ? "v" : "_";
  if (used_.insert(name).second) return name;
  const std::string stem = name + (name.ends_with('_') ? "" : "_");
  for (int i = 2;; ++i) {
    name = stem + std::to_string(i);
    if (used_.insert(name).second) return name;
  }
}

}  // namespace frazil::targets::c
