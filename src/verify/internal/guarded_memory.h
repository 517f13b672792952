// Memory for judged code: whatever is written around it is noticed.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/value.h"

namespace frazil::verify {

// Memory with canaries before and after it, its data at `offset_bytes` past a multiple of 4096, or ending or beginning
// where nothing can be read.
constexpr uint64_t AtItsEnd = UINT64_MAX, AtItsBegin = UINT64_MAX - 1;
std::shared_ptr<exec::Memory> MakeGuardedMemory(ir::Type element, int64_t length,
                                                uint64_t offset_bytes);
// The same with these contents at the same place.
std::shared_ptr<exec::Memory> CopyGuardedMemory(const exec::Memory& memory);

// Only of memory that was made here.
uint64_t PlaceOf(const exec::Memory& memory);
bool CanariesIntact(const exec::Memory& memory);
// Whoever writes to it from now on faults. Does nothing but to memory that ends or begins where nothing can be read: it
// takes a call of the system, and another when the memory is given back.
void MakeReadOnly(const exec::Memory& memory);

}  // namespace frazil::verify
