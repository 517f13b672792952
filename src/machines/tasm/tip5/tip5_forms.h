// The forms of one permutation, and which one this machine runs. All give the same answers.
#pragma once

#include <cstdint>

namespace frazil::machines::tasm::tip5 {

// elements: sixteen canonical elements, aligned to 64 bytes. lookups: twenty numbers, or null.
using Form = void (*)(uint64_t* elements, uint64_t* lookups);

void PermutePortable(uint64_t* elements, uint64_t* lookups);
Form BestForm();

}  // namespace frazil::machines::tasm::tip5
