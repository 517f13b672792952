// Random programs for Triton VM that mostly run to the end, and damaged ones that mostly do not.
#pragma once

#include <cstdint>

#include "oracle/oracle.h"

namespace frazil::tests {

// All instructions of profile dot; loops of both kinds, calls, recursion. Equal seeds give equal jobs.
oracle::Job GenerateJob(uint64_t seed);

// A job a few changes away from `job`: instructions replaced, inserted or removed, arguments changed, inputs
// cut short. It may crash anywhere or never end; its cycle limit is small.
oracle::Job DamageJob(const oracle::Job& job, uint64_t seed);

}  // namespace frazil::tests
