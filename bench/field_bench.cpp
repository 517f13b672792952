// Sums of products beside Plonky3's, and loops over field elements as the native target compiles them beside our own
// vector code and scalar loops. Products and multiply-accumulate by element are in field_peer_bench.cpp.
#include <fmt/format.h>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "base/number/goldilocks_vector.h"
#include "exec/target.h"
#include "harness.h"
#include "ir/text/text.h"
#include "rust_peer.h"
#include "targets/native/native.h"

namespace frazil::bench {
namespace {

namespace gl = goldilocks;

constexpr size_t Count = 4096;
constexpr size_t Rounds = 500;

struct alignas(64) Words {
  uint64_t at[Count];
  explicit Words(uint64_t seed) {
    for (uint64_t& word : at) {
      seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
      word = seed % gl::P;
    }
  }
};

// In thousands of millions of elements per second.
double Rate(const Times& times, size_t rounds = Rounds) {
  return static_cast<double>(Count * rounds) / times.min_s / 1e9;
}

FRAZIL_FIGURE(field_sums) {
  static Words a(88172645463325252), b(1234567);
  auto ours = [&](gl::VectorLevel level) {
    return [level] {
      for (size_t i = 0; i < Rounds; ++i) Keep(gl::Dot(a.at, b.at, Count, level));
    };
  };
  std::vector<std::function<void()>> all = {ours(gl::HostVectorLevel()),
                                            ours(gl::VectorLevel::Scalar)};
  const FieldPeer* peer = GetFieldPeer();
  if (peer != nullptr) all.push_back([&] { Keep(peer->dot(a.at, b.at, Count, Rounds)); });
  const std::vector<Times> times = Interleave(all, 21);
  Record record{.area = "field",
                .figure = "sum of products, vectors",
                .ours = Rate(times[0]),
                .unit = "G/s",
                .goal = ">= 1.0x",
                .met = std::nullopt,
                .reason = NoRustPeer};
  if (peer != nullptr) {
    record.peer = fmt::format("p3-goldilocks 0.8.0, {} lanes", peer->width());
    record.peer_value = Rate(times[2]);
    record.met =
        record.ours >= record.peer_value &&
        peer->dot(a.at, b.at, Count, 1) == gl::Dot(a.at, b.at, Count, gl::HostVectorLevel());
    record.reason = fmt::format("median {:.2f} and {:.2f} ms", 1e3 * times[0].median_s,
                                1e3 * times[2].median_s);
  }
  Report(record);
  Report({.area = "field",
          .figure = "sum of products, vectors over scalar",
          .ours = times[1].min_s / times[0].min_s,
          .unit = "times",
          .peer = "our scalar loop",
          .peer_value = 1,
          .goal = "-",
          .met = std::nullopt,
          .reason = "the scalar sum reduces once too"});
}

std::unique_ptr<exec::Callable> CompiledLoop(const std::string& body) {
  const std::string text =
      "frz 1\nfunc @main(%a: in buffer<field>, %b: in buffer<field>, %c: buffer<field>) {\n  %zero "
      "= const 0 : index\n"
      "  %n = length %a : field\n  for %i = %zero to %n step 1 {\n    %x = load %a, %i : field\n"
      "    %y = load %b, %i : field\n" +
      body + "    store %c, %i, %r : field\n    yield\n  }\n  return\n}\n";
  const Result<ir::Program> program = ir::ParseText(text);
  CHECK(program.has_value());
  const std::unique_ptr<exec::Target> native = targets::native::MakeNativeTarget();
  const Result<exec::Artifact> artifact = native->Emit(*program, {});
  CHECK(artifact.has_value());
  Result<std::unique_ptr<exec::Callable>> callable = native->Load(*artifact);
  CHECK(callable.has_value());
  return std::move(*callable);
}

FRAZIL_FIGURE(field_native) {
  const Words first(42), second(43);
  std::vector<exec::Value> arguments;
  for (const Words* words : {&first, &second, &first}) {
    auto memory = std::make_shared<exec::Memory>(ir::types::Field, static_cast<int64_t>(Count));
    std::copy(words->at, words->at + Count, reinterpret_cast<uint64_t*>(memory->data()));
    arguments.push_back(exec::Value::Buffer(memory));
  }
  static Words out(44);
  const std::unique_ptr<exec::Callable> product = CompiledLoop("    %r = mul %x, %y : field\n");
  const std::unique_ptr<exec::Callable> hash = CompiledLoop(
      "    %d = hash %x, %y, %x, %y, %x, %y, %x, %y, %x, %y : digest\n    %r = digest.part %d "
      "{part = 0} : digest\n");
  auto run = [&](exec::Callable& callable) { CHECK(callable.Run(arguments, {}).has_value()); };
  const std::vector<Times> times = Interleave(
      {[&] {
         for (size_t i = 0; i < Rounds; ++i) run(*product);
       },
       [&] {
         for (size_t i = 0; i < Rounds; ++i)
           gl::MulEach(first.at, second.at, out.at, Count, gl::HostVectorLevel()), Keep(out.at[0]);
       },
       [&] { run(*hash); }},
      15);
  Report({.area = "field",
          .figure = "compiled loop of products",
          .ours = Rate(times[0]),
          .unit = "G/s",
          .peer = "base/goldilocks_vector",
          .peer_value = Rate(times[1]),
          .goal = "-",
          .met = std::nullopt,
          .reason = "no goal"});
  Report({.area = "field",
          .figure = "compiled hash (Tip5)",
          .ours = Rate(times[2], 1) * 1e3,
          .unit = "M/s",
          .goal = "-",
          .met = std::nullopt,
          .reason = "no goal"});
}

}  // namespace
}  // namespace frazil::bench
