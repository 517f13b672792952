// The attribute lists of ops.def, parsed once: what an op's attribute words mean, for reader, printer,
// checker and manual alike.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace frazil::ir {

enum class AttributeKind : uint8_t {
  Value,     // the constant itself: WordsOf(T) words
  Int,       // one int64
  Ints,      // a list of int64 (several lists of one op have equal lengths)
  Function,  // FuncId
  Table,     // DataId
  Word,      // ordinal of one of `choices`
  Flag,      // 0 or 1
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  std::vector<std::string_view> choices;
};

std::span<const AttributeSpec> AttributesOf(Op op);

// The result type that the row and T determine: for ops with one result. Structured ops and calls have
// their own.
Type ResultTypeOf(Op op, Type t);
// Whether the op has a result in the sense above.
bool HasRowResult(Op op);
// Whether ": T" is written.
bool HasTypeParameter(Op op);
// Whether the first attribute word is a DataId (lookup, tasm).
inline bool NamesTable(Op op) { return op == Op::Lookup || op == Op::Tasm; }
// The results of an op that is neither structured nor a call. `named` is how many its text names: only the
// results of assembly are as many as the user says.
std::vector<Type> PlainResultTypes(Op op, Type t, size_t named);

}  // namespace frazil::ir
