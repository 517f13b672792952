// Our Triton VM beside the published one, and Tip5 beside twenty-first's: seven programs of 10^5 to 10^6 cycles, run
// and traced in turns. Outputs and heights are compared before anything is measured.
#include <fmt/format.h>

#include <cmath>

#include "harness.h"
#include "machines/tasm/tip5.h"
#include "machines/tasm/vm.h"
#include "rust_peer.h"

namespace frazil::bench {
namespace {

namespace tasm = machines::tasm;

struct Case {
  const char* name;
  bool hashes;  // Tip5 is most of the work
  std::string text;
  tasm::Inputs inputs = {};
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"fibonacci", false,
       "push 40000 push 0 push 1 call loop write_io 1 halt "
       "loop: dup 2 push 0 eq skiz return dup 0 pick 2 add pick 2 addi -1 place 2 recurse"},
      {"gcd", false,
       "push 3000 call loop halt loop: dup 0 push 0 eq skiz return "
       "dup 0 push 1000003 mul split pick 1 pop 1 push 2971215073 call gcd pop 2 addi -1 recurse "
       "gcd: dup 0 push 0 eq skiz return dup 0 pick 2 div_mod pick 1 pop 1 recurse"},
      {"u32", false,
       "push 15000 push 123456789 call loop write_io 1 halt loop: dup 1 push 0 eq skiz return "
       "dup 1 push 2654435761 mul split pick 1 pop 1 dup 0 pop_count pick 1 dup 3 and add dup 1 xor split pick 1 pop 1 "
       "pick 1 pop 1 dup 1 dup 1 lt add split pick 1 pop 1 pick 1 addi -1 place 1 recurse"},
      {"ram copy", false,
       "push 30000 push 200000 push 300000 call loop halt loop: dup 2 push 0 eq skiz return "
       "pick 1 read_mem 5 place 6 pick 5 write_mem 5 pick 2 addi -1 place 2 recurse"},
      {"hash chain", true,
       "push 10000 push 1 push 2 push 3 push 4 push 5 call loop write_io 5 halt loop: dup 5 push 0 eq skiz return "
       "push 0 push 0 push 0 push 0 push 0 hash pick 5 addi -1 place 5 recurse"},
      {"merkle path", true,
       "push 10000 push 4294967295 push 1 push 2 push 3 push 4 push 5 call loop write_io 5 halt "
       "loop: dup 6 push 0 eq skiz return merkle_step pick 6 addi -1 place 6 recurse"},
      {"extension dot product", false,
       "push 30000 push 0 push 0 push 0 push 100 push 50000 call loop write_io 5 halt "
       "loop: dup 5 push 0 eq skiz return xx_dot_step pick 5 addi -1 place 5 recurse"},
  };
  for (uint64_t i = 0; i < 10000; ++i) cases[5].inputs.digests.push_back({i, i * i, 3, 4, i + 5});
  for (uint64_t i = 0; i < 30000; ++i) {
    cases[3].inputs.ram[50000 + 5 * i] = i;
    cases[6].inputs.ram[100 + i] = i * 0x9e3779b97f4a7c15 % 0xffffffff00000001;
    cases[6].inputs.ram[50000 + i] = i;
  }
  return cases;
}

void* MakePeer(const MachinePeer& peer, const tasm::Program& program, const tasm::Inputs& inputs) {
  const std::vector<uint64_t> words = tasm::Encode(program);
  std::vector<uint64_t> digests;
  std::vector<uint64_t> ram;
  for (const tasm::Digest& digest : inputs.digests) digests.insert(digests.end(), digest.begin(), digest.end());
  for (const auto& [address, value] : inputs.ram) ram.insert(ram.end(), {address, value});
  return peer.make(words.data(), words.size(), inputs.input.data(), inputs.input.size(), inputs.secret.data(),
                   inputs.secret.size(), digests.data(), inputs.digests.size(), ram.data(), inputs.ram.size());
}

// Seconds to seconds as a ratio, over all cases of one kind.
struct Geomean {
  double sum = 0;
  int count = 0;
  void Add(double ratio) { sum += std::log(ratio), ++count; }
  double Value() const { return std::exp(sum / count); }
};

void ReportRatio(const char* figure, const Geomean& ratio, const char* goal, double least) {
  Report({.area = "triton vm", .figure = figure, .ours = ratio.Value(), .unit = "times faster", .peer = "triton-vm 9.0.1",
          .peer_value = 1, .goal = goal, .met = ratio.Value() >= least});
}

FRAZIL_FIGURE(triton_vm) {
  const MachinePeer* peer = GetMachinePeer();
  Geomean run_plain;
  Geomean run_hashing;
  Geomean traced;
  for (const Case& example : Cases()) {
    const Result<tasm::Program> program = tasm::Parse(example.text);
    if (!program) {
      fmt::print(stderr, "bench: {}: {}\n", example.name, program.error().ToString());
      return;
    }
    const tasm::TraceResult trace = tasm::Trace(*program, example.inputs, {}, false);
    const double cycles = static_cast<double>(trace.run.cycles);
    const auto run = [&] { Keep(tasm::Run(*program, example.inputs).cycles); };
    const auto heights = [&] { Keep(tasm::Trace(*program, example.inputs, {}, false).profile.heights[0]); };
    const std::string what = fmt::format("{}, {} cycles", example.name, trace.run.cycles);
    if (peer == nullptr) {
      const std::vector<Times> times = Interleave({run, heights}, 7);
      Report({.area = "triton vm", .figure = what + ", run", .ours = cycles / times[0].min_s / 1e6, .unit = "M cycles/s",
              .goal = "-", .met = std::nullopt, .reason = NoRustPeer});
      continue;
    }
    void* machine = MakePeer(*peer, *program, example.inputs);
    tasm::TableProfile theirs;
    if (machine == nullptr || trace.run.crash || !peer->trace(machine, theirs.heights.data()) || theirs != trace.profile) {
      Report({.area = "triton vm", .figure = what + ", heights equal", .ours = 0, .unit = "", .peer = "triton-vm 9.0.1",
              .goal = "equal", .met = false});
      continue;
    }
    const auto their_run = [&] { Keep(peer->run(machine)); };
    const auto their_trace = [&] { Keep(peer->trace(machine, theirs.heights.data())); };
    const std::vector<Times> times = Interleave({run, their_run, heights, their_trace}, 7);
    peer->free(machine);
    Report({.area = "triton vm", .figure = what + ", run", .ours = cycles / times[0].min_s / 1e6, .unit = "M cycles/s",
            .peer = "VM::run", .peer_value = cycles / times[1].min_s / 1e6, .goal = "in the geomean", .met = std::nullopt,
            .reason = fmt::format("median {:.2f} and {:.2f} ms", 1e3 * times[0].median_s, 1e3 * times[1].median_s)});
    Report({.area = "triton vm", .figure = what + ", heights", .ours = cycles / times[2].min_s / 1e6, .unit = "M cycles/s",
            .peer = "trace_execution", .peer_value = cycles / times[3].min_s / 1e6, .goal = "in the geomean",
            .met = std::nullopt,
            .reason = fmt::format("median {:.2f} and {:.2f} ms", 1e3 * times[2].median_s, 1e3 * times[3].median_s)});
    (example.hashes ? run_hashing : run_plain).Add(times[1].min_s / times[0].min_s);
    traced.Add(times[3].min_s / times[2].min_s);
  }
  if (peer == nullptr) return;
  ReportRatio("run, geomean of five programs without hashing", run_plain, ">= 5", 5);
  ReportRatio("run, geomean of two programs that hash", run_hashing, ">= 1.0", 1);
  ReportRatio("nine heights, geomean of seven programs", traced, ">= 3", 3);
}

FRAZIL_FIGURE(tip5) {
  constexpr size_t Times = 20000;
  const MachinePeer* peer = GetMachinePeer();
  tasm::Tip5State ours;
  for (size_t i = 0; i < 16; ++i) ours.elements[i] = i;
  const auto permute = [&] {
    for (size_t i = 0; i < Times; ++i) tasm::Permute(ours);
    Keep(ours.elements[0]);
  };
  if (peer == nullptr) {
    const auto times = Interleave({permute}, 15);
    Report({.area = "triton vm", .figure = "Tip5 permutations, one core", .ours = Times / times[0].min_s / 1e6, .unit = "M/s",
            .goal = ">= 1.0x", .met = std::nullopt, .reason = NoRustPeer});
    return;
  }
  std::array<uint64_t, 16> theirs = ours.elements;
  peer->permute(theirs.data(), 1);
  tasm::Permute(ours);
  const bool equal = theirs == ours.elements;
  const auto their_permute = [&] { peer->permute(theirs.data(), Times); };
  const auto times = Interleave({permute, their_permute}, 15);
  Report({.area = "triton vm", .figure = "Tip5 permutations, one core, each after the other", .ours = Times / times[0].min_s / 1e6,
          .unit = "M/s", .peer = "twenty-first 3.1.1", .peer_value = Times / times[1].min_s / 1e6, .goal = ">= 1.0x",
          .met = equal && times[0].min_s <= times[1].min_s,
          .reason = fmt::format("median {:.2f} and {:.2f} ms", 1e3 * times[0].median_s, 1e3 * times[1].median_s)});
}

}  // namespace
}  // namespace frazil::bench
