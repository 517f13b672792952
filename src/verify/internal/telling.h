// What a program does that only some values tell about, so that inputs have those values there and nowhere else.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace frazil::verify {

struct Telling {
  bool rounds = false;   // twice, if somebody is careless: fused products, conversions to floats
  bool orders = false;   // zeros of both signs, numbers of one sign
  bool divides = false;  // integers: by fewer bits, where all of a vector fit
  bool makes_fields = false;  // of integers: the field's size is where they wrap
  bool checks = false;        // integers that do not fit trap: only tiny ones get through
  bool casts = false;         // floats to integers: where those end
  bool has_floats = false;
  // What is carried from element to element, one of which may decide all: by and, or, product, or by order.
  bool folds_and = false, folds_or = false, folds_product = false, folds_order = false;
  int64_t least_table = 0;  // elements of the shortest that is looked up; 0: none
  // By parameter of the entry: how long a buffer must be for the tensors of constant shape that lie in it; 0: any length.
  std::vector<int64_t> wholes;
};

Telling TellingOf(const ir::Program& program);

}  // namespace frazil::verify
