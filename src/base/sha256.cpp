// SHA-256 as the standard writes it down; where the CPU has instructions for it, those do the blocks.
#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256_blocks.h"

namespace frazil {

const std::array<uint32_t, 64> Sha256Constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

void PlainBlock(Sha256State& state, const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i)
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 |
           uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                  ((e & f) ^ (~e & g)) + Sha256Constants[i] + w[i];
    uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  std::array<uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

}  // namespace

void Sha256BlocksPlain(Sha256State& state, const uint8_t* blocks, size_t count) {
  for (size_t i = 0; i < count; ++i) PlainBlock(state, blocks + 64 * i);
}

void Sha256::Blocks(const uint8_t* blocks, size_t count) {
  HostHasSha() ? Sha256BlocksX86(state_, blocks, count) : Sha256BlocksPlain(state_, blocks, count);
}

void Sha256::Update(std::string_view bytes) {
  total_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (pending_size_ == 0 && bytes.size() >= 64) {
      const size_t blocks = bytes.size() / 64;
      Blocks(reinterpret_cast<const uint8_t*>(bytes.data()), blocks);
      bytes.remove_prefix(64 * blocks);
      continue;
    }
    size_t take = std::min(bytes.size(), 64 - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes.data(), take);
    pending_size_ += take;
    bytes.remove_prefix(take);
    if (pending_size_ == 64) {
      Blocks(pending_.data(), 1);
      pending_size_ = 0;
    }
  }
}

std::array<uint8_t, 32> Sha256::Finish() {
  uint64_t bits = total_bytes_ * 8;
  std::string padding(1, '\x80');
  padding.append((119 - total_bytes_ % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
  Update(padding);
  std::array<uint8_t, 32> digest;
  for (size_t i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Hex(std::string_view bytes) {
  constexpr char Digits[] = "0123456789abcdef";
  std::string hex;
  for (char c : bytes) {
    hex += Digits[static_cast<uint8_t>(c) >> 4];
    hex += Digits[c & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  std::array<uint8_t, 32> digest = hash.Finish();
  return Hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace frazil
