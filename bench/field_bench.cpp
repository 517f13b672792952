// The field over arrays: ours at the best level of this machine, our scalar loops, and the packing of p3-goldilocks
// (bench/peers/rust/field, loaded from FRAZIL_PEER_FIELD), in one run on the same 1,024 elements. Ours are canonical;
// the packing's need not be.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/check.h"
#include "base/goldilocks_vector.h"
#include "harness.h"

namespace frazil::bench {
namespace {

namespace field = goldilocks;

constexpr size_t Count = 1024;
constexpr size_t Rounds = 200;

struct alignas(64) Words {
  uint64_t at[Count];
};

struct Peer {
  void (*multiply)(const uint64_t*, const uint64_t*, uint64_t*, size_t, size_t) = nullptr;
  void (*accumulate)(const uint64_t*, const uint64_t*, uint64_t*, size_t, size_t) = nullptr;
  uint64_t (*dot)(const uint64_t*, const uint64_t*, size_t, size_t) = nullptr;
};

Peer LoadPeer() {
  Peer peer;
  const char* path = std::getenv("FRAZIL_PEER_FIELD");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) return peer;
  peer.multiply = reinterpret_cast<decltype(peer.multiply)>(dlsym(library, "frazil_peer_field_multiply"));
  peer.accumulate = reinterpret_cast<decltype(peer.accumulate)>(dlsym(library, "frazil_peer_field_accumulate"));
  peer.dot = reinterpret_cast<decltype(peer.dot)>(dlsym(library, "frazil_peer_field_dot"));
  return peer;
}

// Elements per second, in thousands of millions, from the best round.
double Rate(const Times& times) { return static_cast<double>(Count * Rounds) / times.min_s / 1e9; }

void Compare(const std::string& what, const std::function<void(field::VectorLevel)>& ours,
             const std::function<void()>& peer) {
  std::vector<std::function<void()>> all = {[&] { ours(field::HostVectorLevel()); },
                                            [&] { ours(field::VectorLevel::Scalar); }};
  if (peer) all.push_back(peer);
  const std::vector<Times> times = Interleave(all, 60);
  const double vector = Rate(times[0]), scalar = Rate(times[1]);
  const bool is_wide = field::HostVectorLevel() == field::VectorLevel::Avx512;
  const std::string unit = "G elements/s";
  if (peer) {
    const double theirs = Rate(times[2]);
    Report({"field", what + " against p3-goldilocks", vector, unit, "p3-goldilocks 0.8", theirs, ">= 1.0x",
            is_wide ? std::optional(vector >= theirs) : std::nullopt, is_wide ? "" : "no AVX-512 here"});
  } else {
    Report({"field", what + " against p3-goldilocks", vector, unit, "", 0, ">= 1.0x", std::nullopt,
            "FRAZIL_PEER_FIELD names no library"});
  }
  Report({"field", what + " against our scalar loop", vector, unit, "scalar", scalar, ">= 4x",
          is_wide ? std::optional(vector >= 4 * scalar) : std::nullopt, is_wide ? "" : "no AVX-512 here"});
}

}  // namespace

FRAZIL_FIGURE(field) {
  static Words a, b, c, out;
  uint64_t state = 88172645463325252u;
  for (Words* words : {&a, &b, &c})
    for (uint64_t& word : words->at) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      word = state % 0xffff'ffff'0000'0001u;
    }
  const Peer peer = LoadPeer();
  Compare(
      "multiply",
      [&](field::VectorLevel level) {
        for (size_t i = 0; i < Rounds; ++i) field::MulEach(a.at, b.at, out.at, Count, level), Keep(out.at[0]);
      },
      peer.multiply == nullptr ? std::function<void()>()
                               : [&] { peer.multiply(a.at, b.at, out.at, Count, Rounds); });
  Compare(
      "multiply and add",
      [&](field::VectorLevel level) {
        for (size_t i = 0; i < Rounds; ++i) field::MulAddEach(a.at, b.at, c.at, c.at, Count, level), Keep(c.at[0]);
      },
      peer.accumulate == nullptr ? std::function<void()>()
                                 : [&] { peer.accumulate(a.at, b.at, out.at, Count, Rounds); });
  Compare(
      "sum of products",
      [&](field::VectorLevel level) {
        for (size_t i = 0; i < Rounds; ++i) Keep(field::Dot(a.at, b.at, Count, level));
      },
      peer.dot == nullptr ? std::function<void()>() : [&] { Keep(peer.dot(a.at, b.at, Count, Rounds)); });
  if (peer.dot != nullptr)
    CHECK(peer.dot(a.at, b.at, Count, 1) == field::Dot(a.at, b.at, Count, field::HostVectorLevel()));
}

}  // namespace frazil::bench
