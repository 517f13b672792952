// What lanes have in common: a value is the same in all of them, or steps from lane to lane by a constant, or varies.
#pragma once

#include <vector>

#include "ir/program.h"

namespace frazil::targets::tiles {

struct LaneClass {
  enum class Kind : uint8_t { Uniform, Affine, Varying } kind = Kind::Uniform;
  int64_t stride = 0;  // Affine: 64-bit integers, modulo 2^64
  bool uniform() const { return kind == Kind::Uniform; }
  bool affine() const { return kind == Kind::Affine; }
  bool varying() const { return kind == Kind::Varying; }
  friend bool operator==(const LaneClass&, const LaneClass&) = default;
};

// Fills the classes of everything in the region, whose parameters have theirs; values outside keep theirs.
void Classify(const ir::Function& function, ir::RegionId region, std::vector<LaneClass>& classes);

}  // namespace frazil::targets::tiles
