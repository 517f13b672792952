// Which element of its operands an element of an op's result is made of.
#pragma once

#include <optional>

#include "ir/program.h"
#include "optimize/fusion/index_terms.h"

namespace frazil::optimize {

// Does the op have an index map, and can it not trap, whatever it is given? Whoever may trap stays where it is. So do a
// reshape that would need divisions, since on its own it costs nothing, and a concat: an element of it is a branch between
// reads that are within their tensors only in their own arm, which no target has vectors for, while its copies are.
bool HasIndexMap(const ir::Function& function, const ir::Inst& inst);

// Axes of size 1 have one index only.
Point OnlyIndices(IndexTerms& terms, const ir::Shape& shape, Point point);
// All of a tensor, by variables 0, 1, ...
Point WholePoint(IndexTerms& terms, const ir::Shape& shape);

// What element of tensor operand `i` makes the result's element at `point`; `along`: the variable of a reduced axis.
Point OperandPoint(IndexTerms& terms, const ir::Function& function, const ir::Inst& inst,
                   uint32_t i, const Point& point, uint32_t along);

// The number of an element in logical order.
TermId ElementNumber(IndexTerms& terms, const ir::Shape& shape, const Point& point);

}  // namespace frazil::optimize
