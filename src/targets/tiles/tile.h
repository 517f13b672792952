// The tile interpreter (tier 1): kernels run at once, without code generation, a tile of lanes at a time. A register is
// a tile, each op a SIMD loop over it; what is the same in all lanes is computed once; contiguous memory is used in
// place. Same bits and traps as exec/meaning/interpreter.h.
//
//   auto module = TRY(isa::ProvedModule::OfProgram(program));
//   auto plan = TRY(Prepare(module));          // any number of threads may then run it
//   Outcome outcome = TRY(Run(*plan, arguments));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "embed/cpu_level.h"
#include "exec/outcome.h"
#include "exec/target.h"
#include "ir/program.h"
#include "machines/simt/module.h"
#include "targets/isa/isa.h"

namespace frazil::targets::tiles {

class TilePlan;  // immutable; tile_plan.h

struct TileOptions {
  embed::CpuLevel level = embed::UsedLevel();  // at most the host's
  uint32_t lanes = 0;  // of a tile; 0: chosen by what the kernel needs. A multiple of 64
};

// Of the program that the proof is about, and of no copy of it: what was not proved has no plan. Modules with no IR form
// (launch mode, labels, lane ops) run lane by lane; so do programs that use what tiles cannot (streams, recursion, ...).
// TilePlan says so.
Result<std::shared_ptr<const TilePlan>> Prepare(const isa::ProvedModule& module,
                                                const TileOptions& options = {});

struct TileThreads {
  int most = 0;  // 0: as many as ThreadPool::Shared() has; 1: the caller's alone
};

// Checks the launch (exec::CheckLaunch), then runs.
Result<exec::Outcome> Run(const TilePlan& plan, std::span<const exec::Value> arguments,
                          const exec::RunContext& context = {}, TileThreads threads = {});

// The same with arguments and results as words, as native code takes them (embed/native_run.h): a scalar is its word, a
// buffer its address and length. Nothing is checked but what the program itself does. Gives 0, or 1 + ir::Trap and the
// trap in `run`. For plans without lane_by_lane().
struct TileRun {
  const exec::RunContext* context = nullptr;  // null: default limits
  int threads = 0;                            // as TileThreads
  exec::TrapInfo trap = {};                   // after a trap
  Location trap_at = {};
};
// Where fuel is scarcer, it may matter which iteration uses it up, and tiles only compare with it: RunWords is not for that.
constexpr uint64_t LeastFuel = uint64_t{1} << 40;
// Of a launch that is one loop, short enough for one thread, or a few ops on scalars: runs it, without a context, because
// nothing in it can trap, be stopped or take memory. False: nothing was done, and RunWords has to look at it.
bool RunAtOnce(const TilePlan& plan, const uint64_t* arguments, uint64_t* results);
int32_t RunWords(const TilePlan& plan, const uint64_t* arguments, uint64_t* results, TileRun& run);

// A sentence, if everything runs lane by lane; empty otherwise.
const std::string& LaneByLane(const TilePlan& plan);
// How the plan came out, for tools: micro-ops, tiles, superinstructions, which parallels are tiled.
std::string Describe(const TilePlan& plan);

// A function for a math op on f32 or f64 (exp, tanh, pow ..): out[i] = op(a[i], b[i]) for i < lanes, b null for unary
// ops; `out` may be `a`. It must give the bits of the prelude's function, which is used where none is installed. May be
// called at any time, from any thread; null takes it away.
using MathFunction = void (*)(const void* a, const void* b, void* out, int64_t lanes);
void InstallMath(ir::Op op, ir::Scalar type, MathFunction function);

// A run lane by lane that looks for what the lanes do to each other.
enum class FindingKind : uint8_t { Race, OutOfBounds, Uninitialized };
struct Finding {
  FindingKind kind;
  std::string buffer;  // the parameter's name, or "scratch" and its line
  int64_t element = 0;
  Location where, other;                  // of the access; Race: of the earlier one
  std::vector<int64_t> lane, other_lane;  // iterations of the parallels around it, outermost first
  std::string ToString() const;           // one sentence
};
struct SanitizedRun {
  exec::Outcome outcome;
  std::vector<Finding> findings;  // one for each pair of places and buffer, at most 100
};
Result<SanitizedRun> Sanitize(const ir::Program& program, std::span<const exec::Value> arguments,
                              const exec::RunContext& context = {});
Result<SanitizedRun> Sanitize(const machines::simt::Module& module,
                              std::span<const exec::Value> arguments,
                              const exec::RunContext& context = {});

// Target "isa": Emit gives the bytes of the `.frzb` file, proved; Load runs it.
std::unique_ptr<exec::Target> MakeIsaTarget();
// The same on the lane-exact executor (targets/isa/lane_exact.h) instead of the tile interpreter: what the machine means.
std::unique_ptr<exec::Target> MakeLaneExactTarget();

}  // namespace frazil::targets::tiles
