// The compression function of SHA-256 in two forms that give the same state; sha256.cpp picks one at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace frazil {

using Sha256State = std::array<uint32_t, 8>;

extern const std::array<uint32_t, 64> Sha256Constants;

void Sha256BlocksPlain(Sha256State& state, const uint8_t* blocks, size_t count);

// With the SHA instructions of x86; only where HostHasSha().
bool HostHasSha();
void Sha256BlocksX86(Sha256State& state, const uint8_t* blocks, size_t count);

}  // namespace frazil
