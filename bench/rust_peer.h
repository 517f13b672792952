// The Rust peers (bench/peers/rust): shared libraries that scripts/peers.sh builds where cargo is there. Called in
// this process, so that ours and theirs are measured in turns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace frazil::bench {

// Plonky3's packed Goldilocks field. Arrays are aligned to 64 bytes, counts are multiples of 32.
struct FieldPeer {
  size_t (*width)();
  void (*multiply)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count,
                   size_t rounds);
  void (*accumulate)(const uint64_t* a, const uint64_t* b, uint64_t* out, size_t count,
                     size_t rounds);
  uint64_t (*dot)(const uint64_t* a, const uint64_t* b, size_t count, size_t rounds);
};

// twenty-first's Tip5, and Triton VM.
struct MachinePeer {
  void (*permute)(uint64_t* state, size_t times);
  void (*hash_pairs)(const uint64_t* pairs, uint64_t* out, size_t count);
  void* (*make)(const uint64_t* code, size_t words, const uint64_t* input, size_t inputs,
                const uint64_t* secret, size_t secrets, const uint64_t* digests,
                size_t digest_count, const uint64_t* ram, size_t cells);
  int64_t (*run)(const void* machine);
  bool (*trace)(const void* machine, uint64_t* heights);
  void (*free)(void* machine);
};

// Null where they are not built: the figure then stands without a peer and is not judged.
const FieldPeer* GetFieldPeer();
const MachinePeer* GetMachinePeer();
constexpr const char* NoRustPeer = "the Rust peers are not built (scripts/peers.sh; needs cargo)";

}  // namespace frazil::bench
