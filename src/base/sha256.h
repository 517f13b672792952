// SHA-256 (FIPS 180-4): every digest of Frazil.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace frazil {

class Sha256 {
 public:
  void Update(std::string_view bytes);
  std::array<uint8_t, 32> Finish();  // once

 private:
  void Blocks(const uint8_t* blocks, size_t count);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_bytes_ = 0;
};

std::string Hex(std::string_view bytes);
std::string Sha256Hex(std::string_view bytes);  // 64 hex digits

}  // namespace frazil
