// Triton VM: our machine and Tip5 beside the published ones, in turns. Programs are loops long enough that hashing the
// program before the start does not count; five of them hash nothing else, three little but hash.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "harness.h"
#include "machines/tasm/tip5/tip5.h"
#include "machines/tasm/vm.h"
#include "rust_peer.h"

namespace frazil::bench {
namespace {

using machines::tasm::Digest;
using machines::tasm::Inputs;
using machines::tasm::Program;

struct Case {
  const char* name;
  bool hashes;
  std::string code;
  Inputs inputs = {};
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"fibonacci", false,
       "push 0 push 1 push 20000 call loop pop 1 write_io 1 halt "
       "loop: addi -1 swap 2 dup 1 add swap 1 swap 2 dup 0 skiz recurse return"},
      {"gcd", false,
       "push 2000 call outer pop 1 halt "
       "outer: dup 0 addi 1836311903 push 1134903170 call gcd pop 2 addi -1 dup 0 skiz recurse "
       "return "
       "gcd: dup 0 push 0 eq skiz return swap 1 dup 1 swap 1 div_mod swap 1 pop 1 recurse"},
      {"u32", false,
       "push 1 push 10000 call loop pop 1 write_io 1 halt "
       "loop: swap 1 push 1664525 mul addi 1013904223 split swap 1 pop 1 dup 0 push 61680 and dup "
       "1 push 255 xor lt add "
       "dup 0 pop_count add split swap 1 pop 1 swap 1 addi -1 dup 0 skiz recurse return"},
      {"ram copy", false,
       "push 10000 push 4 call copy pop 2 halt "
       "copy: read_mem 5 addi 100005 write_mem 5 addi -99991 swap 1 addi -1 swap 1 dup 1 skiz "
       "recurse return"},
      {"xfield dot product", false,
       "push 20000 push 0 push 0 push 0 push 0 push 100000 call dot pop 2 write_io 3 pop 1 halt "
       "dot: xx_dot_step pick 5 addi -1 dup 0 place 6 skiz recurse return"},
      {"hash chain", true,
       "push 1 push 2 push 3 push 4 push 5 push 2000 call chain pop 1 write_io 5 halt "
       "chain: place 5 dup 4 dup 4 dup 4 dup 4 dup 4 hash pick 5 addi -1 dup 0 skiz recurse "
       "return"},
      {"merkle paths", true,
       "push 100 call paths halt "
       "paths: push 1 push 1048576 addi 777 divine 5 call up pop 5 pop 2 addi -1 dup 0 skiz "
       "recurse return "
       "up: merkle_step recurse_or_return"},
      {"sponge", true,
       "sponge_init push 2000 push 0 push 0 push 0 push 0 push 0 call absorb pop 5 pop 1 "
       "sponge_squeeze write_io 5 pop 5 halt "
       "absorb: sponge_absorb_mem pick 5 addi -1 dup 0 place 6 skiz recurse return"},
  };
  std::mt19937_64 random(1);
  for (Case& one : cases) {
    for (uint64_t i = 0; i < 60'000; ++i) one.inputs.ram[i] = random() % goldilocks::P;
    for (uint64_t i = 0; i < 60'000; ++i) one.inputs.ram[100'000 + i] = random() % goldilocks::P;
    if (!one.code.contains("_mem") && !one.code.contains("dot_step")) one.inputs.ram.clear();
    one.inputs.secret.assign(500, 7);
    if (one.code.contains("merkle")) one.inputs.digests.assign(2100, Digest{1, 2, 3, 4, 5});
  }
  return cases;
}

// The published machine with the same program and inputs.
class Peer {
 public:
  Peer(const MachinePeer& peer, const Program& program, const Inputs& inputs) : peer_(peer) {
    const std::vector<uint64_t> words = Encode(program);
    std::vector<uint64_t> digests, ram;
    for (const Digest& digest : inputs.digests)
      digests.insert(digests.end(), digest.begin(), digest.end());
    for (const auto& [address, value] : inputs.ram) ram.insert(ram.end(), {address, value});
    machine_ = peer.make(words.data(), words.size(), inputs.input.data(), inputs.input.size(),
                         inputs.secret.data(), inputs.secret.size(), digests.data(),
                         inputs.digests.size(), ram.data(), inputs.ram.size());
    CHECK(machine_ != nullptr);
  }
  ~Peer() { peer_.free(machine_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void Run() const { CHECK(peer_.run(machine_) >= 0); }
  std::array<uint64_t, 9> Trace() const {
    std::array<uint64_t, 9> heights{};
    CHECK(peer_.trace(machine_, heights.data()));
    return heights;
  }

 private:
  const MachinePeer& peer_;
  void* machine_;
};

struct Ratios {
  double logs = 0, least = 1e9, ours = 0, theirs = 0;
  int count = 0;
  void Add(double ours_s, double theirs_s) {
    logs += std::log(theirs_s / ours_s);
    least = std::min(least, theirs_s / ours_s);
    ours += ours_s;
    theirs += theirs_s;
    ++count;
  }
  double Geomean() const { return std::exp(logs / count); }
};

}  // namespace

FRAZIL_FIGURE(tasm_machine) {
  const MachinePeer* const library = GetMachinePeer();
  Ratios light, hashing, traced;
  for (const Case& one : Cases()) {
    const Result<Program> parsed = machines::tasm::Parse(one.code);
    CHECK(parsed.has_value());
    const Program& program = *parsed;
    const machines::tasm::TraceResult trace = machines::tasm::Trace(program, one.inputs, {}, false);
    CHECK(!trace.run.crash);
    const double cycles = static_cast<double>(trace.run.cycles);
    std::vector<std::function<void()>> functions = {
        [&] { Keep(machines::tasm::Run(program, one.inputs).cycles); },
        [&] { Keep(machines::tasm::Trace(program, one.inputs, {}, false).profile); }};
    std::optional<Peer> peer;
    if (library != nullptr) {
      peer.emplace(*library, program, one.inputs);
      CHECK(peer->Trace() == trace.profile.heights);
      functions.push_back([&] { peer->Run(); });
      functions.push_back([&] { Keep(peer->Trace()); });
    }
    const std::vector<Times> times = Interleave(functions, 9);
    const auto rate = [&](size_t i) { return cycles / times[i].min_s / 1e6; };
    const char* unit = "M cycles/s";
    Report({"tasm", fmt::format("run: {}", one.name), rate(0), unit, library ? "VM::run" : "",
            library ? rate(2) : 0, "-", std::nullopt, "part of the mean"});
    Report({"tasm", fmt::format("heights: {}", one.name), rate(1), unit,
            library ? "trace_execution" : "", library ? rate(3) : 0, "-", std::nullopt,
            "part of the mean"});
    if (library == nullptr) continue;
    (one.hashes ? hashing : light).Add(times[0].min_s, times[2].min_s);
    traced.Add(times[1].min_s, times[3].min_s);
  }
  if (library == nullptr) return;
  Report({"tasm", "run, programs that hash nothing: geomean", light.Geomean(), "x VM::run", "", 0,
          ">= 5x", light.Geomean() >= 5});
  Report({"tasm", "run, programs that hash: slowest", hashing.least, "x VM::run", "", 0, ">= 1.0x",
          hashing.least >= 1});
  Report({"tasm", "with heights: geomean", traced.Geomean(), "x trace_execution", "", 0, ">= 3x",
          traced.Geomean() >= 3});
}

FRAZIL_FIGURE(tasm_tip5) {
  const MachinePeer* const library = GetMachinePeer();
  constexpr size_t Times = 2000;
  machines::tasm::Tip5State ours = machines::tasm::Tip5State::FixedLength(), theirs = ours;
  std::vector<std::function<void()>> functions = {[&] {
    for (size_t i = 0; i < Times; ++i) machines::tasm::Permute(ours);
  }};
  if (library != nullptr)
    functions.push_back([&] { library->permute(theirs.elements.data(), Times); });
  const auto times = Interleave(functions, 200);
  CHECK(library == nullptr || ours == theirs);
  const double rate = Times / times[0].min_s / 1e6;
  const double peer_rate = library != nullptr ? Times / times[1].min_s / 1e6 : 0;
  Report({"tasm", "Tip5, each permutation after the last", rate, "M/s",
          library ? "twenty-first" : "", peer_rate, ">= 1.0x twenty-first",
          library ? std::optional(rate >= peer_rate) : std::nullopt, library ? "" : NoRustPeer});
}

}  // namespace frazil::bench
