// Every limit stands in one table (limits.def) with its default and its flag, and travels as a value.
#pragma once

#include <cstdint>

namespace frazil {

struct Limits {
#define FRAZIL_LIMIT(name, default_value, flag, what) uint64_t name = default_value;
#include "base/limits.def"
#undef FRAZIL_LIMIT
};

}  // namespace frazil
