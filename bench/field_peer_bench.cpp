// Our vector field beside Plonky3's packed one, on arrays that stay in the first cache, and beside our own scalar code.
#include <fmt/format.h>

#include <random>

#include "base/number/goldilocks_vector.h"
#include "harness.h"
#include "rust_peer.h"

namespace frazil::bench {
namespace {

namespace gl = goldilocks;

constexpr size_t Count = 1024;
constexpr size_t Rounds = 2000;

struct alignas(64) Arrays {
  uint64_t a[Count], b[Count], ours[Count], theirs[Count];
  Arrays() {
    std::mt19937_64 random(5);
    for (uint64_t* array : {a, b, ours}) {
      for (size_t i = 0; i < Count; ++i) array[i] = random() % 0xffffffff00000001;
    }
    std::copy(ours, ours + Count, theirs);
  }
  // Plonky3 leaves elements that are not reduced to the least one.
  bool Equal() const {
    for (size_t i = 0; i < Count; ++i)
      if (ours[i] % 0xffffffff00000001 != theirs[i] % 0xffffffff00000001) return false;
    return true;
  }
};

void Compare(const char* what, const std::function<void()>& ours,
             const std::function<void()>& scalar, const std::function<void()>& theirs, bool equal) {
  const double operations = double(Count) * Rounds / 1e9;
  const FieldPeer* peer = GetFieldPeer();
  std::vector<std::function<void()>> functions = {ours, scalar};
  if (peer != nullptr) functions.push_back(theirs);
  const std::vector<Times> times = Interleave(functions, 21);
  Record record{.area = "field",
                .figure = fmt::format("{}, vectors", what),
                .ours = operations / times[0].min_s,
                .unit = "G/s",
                .goal = ">= 1.0x",
                .met = std::nullopt,
                .reason = NoRustPeer};
  if (peer != nullptr) {
    record.peer = fmt::format("p3-goldilocks 0.8.0, {} lanes", peer->width());
    record.peer_value = operations / times[2].min_s;
    record.met = equal && record.ours >= record.peer_value;
    record.reason = fmt::format("median {:.2f} and {:.2f} ms", 1e3 * times[0].median_s,
                                1e3 * times[2].median_s);
  }
  Report(record);
  Report({.area = "field",
          .figure = fmt::format("{}, vectors over scalar", what),
          .ours = times[1].min_s / times[0].min_s,
          .unit = "times",
          .peer = "our scalar loop",
          .peer_value = 1,
          .goal = ">= 4",
          .met = times[1].min_s >= 4 * times[0].min_s});
}

FRAZIL_FIGURE(field_peer) {
  static Arrays data;
  const gl::VectorLevel level = gl::HostVectorLevel();
  const FieldPeer* peer = GetFieldPeer();
  const auto repeat = [](auto&& function) {
    return [function] {
      for (size_t i = 0; i < Rounds; ++i) {
        function();
        Keep(data.ours[0]);
      }
    };
  };
  const auto multiply = [&](gl::VectorLevel at) {
    return repeat([at] { gl::MulEach(data.a, data.b, data.ours, Count, at); });
  };
  const auto accumulate = [&](gl::VectorLevel at) {
    return repeat([at] { gl::MulAddEach(data.a, data.b, data.ours, data.ours, Count, at); });
  };
  bool equal = true;
  if (peer != nullptr) {
    gl::MulAddEach(data.a, data.b, data.ours, data.ours, Count, level);
    peer->accumulate(data.a, data.b, data.theirs, Count, 1);
    equal = data.Equal();
    gl::MulEach(data.a, data.b, data.ours, Count, level);
    peer->multiply(data.a, data.b, data.theirs, Count, 1);
    equal = equal && data.Equal();
  }
  Compare(
      "field multiply", multiply(level), multiply(gl::VectorLevel::Scalar),
      [&] { peer->multiply(data.a, data.b, data.theirs, Count, Rounds); }, equal);
  Compare(
      "field multiply-accumulate", accumulate(level), accumulate(gl::VectorLevel::Scalar),
      [&] { peer->accumulate(data.a, data.b, data.theirs, Count, Rounds); }, equal);
}

}  // namespace
}  // namespace frazil::bench
