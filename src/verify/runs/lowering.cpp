// Does code do what its program says? The interpreter runs first, and the code only where that ended by itself: code
// that does not count fuel would not come back from an endless loop.
#include "exec/guard_eval.h"
#include "exec/native/native_callable.h"
#include "ir/check/check.h"
#include "verify/internal/lowering_judge.h"
#include "verify/wasm/watched_module.h"

#include <fmt/format.h>

namespace frazil::verify {
namespace {

using exec::Value;

// Made-up loop bounds and lengths are mostly too large to be run at all, and small limits find that out at once;
// programs that need more for every input get more.
struct Effort {
  uint64_t fuel;
  uint64_t memory_bytes;
};
constexpr Effort Efforts[] = {{1 << 12, 1 << 20}, {SampleFuel, 16 << 20}, {SampleFuel, 256 << 20}};

constexpr uint64_t FarFuel = uint64_t{1} << 40;
constexpr uint64_t FarRunMs = 2;

// Results that are tensors get their memory before code runs, under the same limit: with less there would be no run at all.
uint64_t ResultBytes(const ir::Function& entry, std::span<const Value> arguments) {
  uint64_t most = 0;
  for (const ir::Type type : entry.results) {
    if (!type.is_tensor()) continue;
    const auto count = exec::ElementCount(exec::ResultDims(entry, type, arguments));
    const uint64_t each = ir::BytesOf(type.element());
    if (count && *count <= exec::MostElements(each))
      most = std::max(most, static_cast<uint64_t>(*count) * each);
  }
  return most;
}

// Nobody can tell which of its code has run.
class UnseenCode final : public WatchedCode {
 public:
  bool HasRun(size_t) const override { return false; }
  bool WasTaken(size_t) const override { return false; }
  void AimAt(std::vector<Aim>) override {}
  uint64_t Distance(size_t) const override { return Far; }
  void BackTo(const Mark&) override {}
};

// What no parameter lets be written may be constants of the caller, which fault even if they are written as they are.
void ProtectIn(const ir::Function& entry, std::span<const Value> arguments) {
  const auto is_in = [&](size_t i) {
    const ir::Type type = entry.param_type(static_cast<uint32_t>(i));
    return type.is_tensor() || type.access == ir::Access::In;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& memory = arguments[i].memory;
    if (memory == nullptr) continue;
    bool is_all_in = true;
    for (size_t k = 0; k < arguments.size(); ++k)
      is_all_in = is_all_in && (arguments[k].memory != memory || is_in(k));
    if (is_all_in) MakeReadOnly(*memory);
  }
}

Result<Verdict> JudgeLowering(const ir::Program& program, exec::Callable& code,
                              const ir::Guard& guard, const VerifyOptions& options,
                              WatchedCode* watched) {
  TRY_VOID(ir::Check(program));
  TRY_VOID(ir::CheckGuard(guard, program));
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind == ir::GuardKind::Cpu && !exec::HostHas(atom.feature))
      return Unknown{fmt::format("this machine has no {}", ir::CpuFeatureName(atom.feature))};
  }
  Pair pair = TRY(MakePair(program, program, guard));
  pair.seed += options.salt;
  if (!pair.space.empty.empty()) return Unknown{pair.space.empty};
  bool little_memory = false;
  // The code has the limits of a user's run: what it takes for scratch and depth is its own.
  const Runner run_code = [&](std::span<const Value> arguments, const exec::RunContext& context) {
    exec::RunContext own = context;
    own.limits.fuel = options.limits.fuel;
    own.limits.memory_bytes =
        little_memory ? ResultBytes(*pair.space.entry, arguments) : options.limits.memory_bytes;
    own.limits.run_ms = std::min(context.limits.run_ms, CodeRunMs);
    if (watched != nullptr) ProtectIn(*pair.space.entry, arguments);
    return code.Run(arguments, own);
  };
  Meaning meaning(pair, options.notes);
  const Runner run_program = [&](std::span<const Value> arguments,
                                 const exec::RunContext& context) {
    return meaning.Run(arguments, context);
  };
  std::vector<Comparer> comparers;
  Limits before;
  for (const Effort& effort : Efforts) {
    Limits limits = LimitsOfOneRun(options.limits, effort.fuel, options.limits.verify_ms);
    limits.memory_bytes = std::min(limits.memory_bytes, effort.memory_bytes);
    const bool is_same = limits.fuel == before.fuel && limits.memory_bytes == before.memory_bytes;
    if (!comparers.empty() && is_same) continue;
    comparers.emplace_back(pair.prepared_source, run_code, limits, run_program);
    before = limits;
  }
  const Limits stretched = StretchedLimits(options.limits, options.limits.verify_ms);
  const Comparer for_stretched(pair.prepared_source, run_code, stretched, run_program);
  // A loop takes its fuel before its first turn, so much of it that only time ends what does not trap.
  const Runner run_far = [&](std::span<const Value> arguments, const exec::RunContext& context) {
    exec::RunContext own = context;
    own.limits.run_ms = std::min(context.limits.run_ms, FarRunMs);
    return meaning.Run(arguments, own);
  };
  Limits far = stretched;
  far.fuel = FarFuel;
  const Comparer for_far(pair.prepared_source, run_code, far, run_far);
  FueledComparer make_fueled;
  if (watched != nullptr && watched->metered())
    make_fueled = [&](uint64_t fuel) {
      Limits limits = stretched;
      limits.fuel = fuel;
      const Runner run_metered = [&](std::span<const Value> arguments,
                                     const exec::RunContext& context) {
        exec::RunContext own = context;
        own.limits.memory_bytes = options.limits.memory_bytes;
        own.limits.run_ms = std::min(context.limits.run_ms, CodeRunMs);
        return code.Run(arguments, own);
      };
      return Comparer(pair.prepared_source, run_metered, limits, run_program,
                      /*counts_fuel=*/true);
    };
  UnseenCode unseen;
  WatchedCode& code_seen = watched == nullptr ? static_cast<WatchedCode&>(unseen) : *watched;
  return LoweringJudge(pair, meaning, std::move(comparers), for_stretched, for_far,
                       std::move(make_fueled), options, code_seen, &little_memory)
      .Run();
}

}  // namespace

Result<Verdict> VerifyLowering(const ir::Program& program, exec::Callable& code,
                               const ir::Guard& guard, const VerifyOptions& options) {
  return JudgeLowering(program, code, guard, options, nullptr);
}

Result<Verdict> VerifyCode(const ir::Program& program, const exec::NativeImage& image,
                           const ir::Guard& guard, const VerifyOptions& options,
                           const CallableMaker& make_callable) {
  const std::shared_ptr<const CodeReader> reader = RegisteredCodeReader();
  if (reader == nullptr) return Unknown{"nobody here can read machine code"};
  Result<CodeParts> parts = reader->Read(image);
  if (!parts) return Unknown{"the code cannot be followed: " + parts.error().message};
  Result<std::unique_ptr<WatchedImage>> watched = WatchedImage::Map(image, std::move(*parts));
  if (!watched) return Unknown{"the code cannot be mapped: " + watched.error().message};
  Result<std::unique_ptr<exec::Callable>> callable =
      make_callable ? make_callable((*watched)->code())
                    : exec::MakeNativeCallable((*watched)->code(),
                                               std::make_shared<const ir::Program>(program));
  if (!callable) return Unknown{"the code cannot be called: " + callable.error().message};
  return JudgeLowering(program, **callable, guard, options, watched->get());
}

Result<Verdict> VerifyModule(const ir::Program& program, const exec::Target& target,
                             const exec::Artifact& artifact, const ir::Guard& guard,
                             const VerifyOptions& options) {
  TRY_VOID(ir::Check(program));
  Result<std::unique_ptr<wasm::WatchedModule>> watched =
      wasm::WatchedModule::Load(program, target, artifact);
  if (!watched) return Unknown{"the module cannot be followed: " + watched.error().message};
  return JudgeLowering(program, (*watched)->code(), guard, options, watched->get());
}

}  // namespace frazil::verify
