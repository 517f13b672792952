// Values to device memory, the steps in order, and back. What a kernel cannot know before it runs, trip counts and
// lengths of scratch buffers, the interpreter computes from the arguments.
#include "targets/cuda/driver/callable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/deadline.h"
#include "exec/marshal.h"
#include "exec/meaning/interpreter.h"
#include "exec/word_call.h"
#include "ir/lower/lower.h"

namespace frazil::targets::cuda {
namespace {

constexpr uint64_t HeadWords = 4;
constexpr uint64_t NoTrap = ~uint64_t{0};
// Where trip counts are unknown, a grid that fills the GPU.
constexpr int64_t BlocksPerMultiprocessor = 8;
constexpr int64_t MostBlocks = 0x7fffffff;
constexpr int64_t MostThreads = 1024;
// t of a trap has 52 bits; where a block takes an iteration, 20 of them are the lane's.
constexpr int64_t MostTrips = int64_t{1} << 50;
constexpr int64_t MostBlockTrips = int64_t{1} << 32;

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// As many rows in a block as its threads have, less where they would take more shared memory than lets several blocks
// live on a multiprocessor; without shared memory where not even a warp's rows fit. Warps take several rows each, so that
// what they do before the first one is done a few times only.
void ShapeRows(const PtxStep& step, int64_t rows, int64_t columns, const Device& device,
               Launch& launch) {
  constexpr int64_t UsualSharedBytes = 36 << 10;
  constexpr int64_t WarpsPerMultiprocessor = 256;  // four times as many as there can be at once
  constexpr uint32_t Warp = 32;
  const uint32_t lanes = columns <= ShortRow    ? LanesOfShortRow
                         : columns <= MiddleRow ? LanesOfMiddleRow
                                                : LanesOfLongRow;
  const int64_t of_row =
      columns > INT32_MAX ? INT32_MAX : RoundUp(columns, RowSlice) * step.shared_bytes;
  const auto bytes = [&] { return of_row * (launch.threads / lanes); };
  while (launch.threads > Warp && bytes() > UsualSharedBytes) launch.threads /= 2;
  const bool fits = bytes() + 64 <= int64_t{device.most_shared_bytes()};
  launch.shared_bytes = fits ? static_cast<uint32_t>(bytes()) : 0;
  if (!fits) launch.threads = step.threads;
  const int64_t of_block = launch.threads / (fits ? lanes : Warp);
  const int64_t most = std::max<int64_t>(
      1, WarpsPerMultiprocessor * device.multiprocessors() / (launch.threads / Warp));
  launch.blocks = static_cast<uint32_t>(std::min(most, RoundUp(rows, of_block) / of_block));
}

}  // namespace

Result<std::unique_ptr<CudaKernel>> CudaKernel::Load(std::shared_ptr<Device> device,
                                                     PtxModule module) {
  auto kernel = std::make_unique<CudaKernel>();
  const ir::Program lowered = TRY(ir::LowerForTarget(module.source));
  const ir::Function& entry = lowered.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) kernel->params_.push_back(entry.param_type(i));
  if (module.sizes.entry_function().param_count() != entry.param_count())
    return Fail(Diag::BadArtifact, "the PTX module is damaged: its sizes do not fit its program");
  kernel->loaded_ = TRY(device->Load(module.text));
  for (const PtxStep& step : module.steps)
    kernel->functions_.push_back(
        step.kind == StepKind::Alloc ? nullptr : TRY(kernel->loaded_->Find(step.entry)));
  for (const PtxStep& step : module.steps)
    kernel->long_rows_.push_back(
        step.kind == StepKind::Rows ? TRY(kernel->loaded_->Find(LongRowsOf(step.entry))) : nullptr);
  kernel->device_ = std::move(device);
  kernel->module_ = std::move(module);
  return kernel;
}

Result<void> CudaKernel::CheckConditions(std::span<const DeviceArgument> arguments) const {
  for (const auto& [a, b] : module_.disjoint)
    if (arguments[a].words[0] == arguments[b].words[0] && arguments[a].words[1] != 0)
      return Fail(
          Diag::NotIndependent,
          fmt::format(
              "arguments {} and {} are one buffer, and then iterations depend on each other", a + 1,
              b + 1));
  for (const auto& [a, b] : module_.at_most)
    if (static_cast<int64_t>(arguments[a].words[0]) > static_cast<int64_t>(arguments[b].words[0]))
      return Fail(
          Diag::NotIndependent,
          fmt::format("argument {} is above argument {}, and then iterations depend on each other",
                      a + 1, b + 1));
  return {};
}

Result<std::vector<int64_t>> CudaKernel::Sizes(std::span<const DeviceArgument> arguments) const {
  const ir::Function& function = module_.sizes.entry_function();
  std::vector<exec::Value> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (params_[i].is_buffer())
      values.push_back(exec::Value::Word(ir::types::Index, arguments[i].words[1]));
    else
      values.push_back(exec::Value::Scalar(params_[i], arguments[i].words));
  }
  std::vector<int64_t> sizes;
  if (function.results.empty()) return sizes;
  const exec::Outcome outcome = TRY(exec::Interpret(module_.sizes, values));
  if (outcome.trap) return Fail(Diag::Internal, "the sizes of a launch trap");
  for (const exec::Value& value : outcome.results)
    sizes.push_back(static_cast<int64_t>(value.word));
  return sizes;
}

Result<void> CudaKernel::AddLaunch(const PtxStep& step, std::span<const int64_t> sizes,
                                   BoundCall& call) const {
  auto size = [&](int32_t ordinal) { return sizes[static_cast<size_t>(ordinal)]; };
  // More than fit are as many as fit.
  auto trips = [&](int32_t lo, int32_t hi) -> int64_t {
    const int64_t from = lo == Unknown ? 0 : size(lo), to = size(hi);
    if (from >= to) return 0;
    const uint64_t count = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    return static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
  };
  Launch launch;
  launch.threads = step.threads;
  if (step.kind == StepKind::Tiles || step.kind == StepKind::Rows) {
    const int64_t rows = trips(step.lo, step.hi);
    const int64_t columns = step.kind == StepKind::Tiles
                                ? trips(step.inner_lo, step.inner_hi)
                                : std::max<int64_t>(size(step.lanes_hi), 0);
    if (rows == 0 || (step.kind == StepKind::Tiles && columns == 0)) return {};
    if (columns != 0 && rows > MostTrips / columns)
      return Fail(Diag::LimitReached, "more iterations than a GPU can number");
    if (step.kind == StepKind::Tiles) {
      launch.blocks = static_cast<uint32_t>(
          std::min(MostBlocks, RoundUp(rows, step.tile_rows) / step.tile_rows *
                                   (RoundUp(columns, step.tile_columns) / step.tile_columns)));
      launch.shared_bytes = step.shared_bytes;
    } else {
      ShapeRows(step, rows, columns, *device_, launch);
    }
    call.launches.push_back(std::move(launch));
    return {};
  }
  const int64_t full = BlocksPerMultiprocessor * device_->multiprocessors();
  int64_t blocks = step.kind == StepKind::Flat || step.kind == StepKind::Blocks ? full : 1;
  if (step.hi != Unknown) {
    int64_t count = trips(step.lo, step.hi);
    if (step.inner_lo != Unknown && step.inner_hi != Unknown) {
      const int64_t columns = trips(step.inner_lo, step.inner_hi);
      if (columns != 0 && count > MostTrips / columns)
        return Fail(Diag::LimitReached, "more iterations than a GPU can number");
      count *= columns;
    }
    if (count > (step.kind == StepKind::Blocks ? MostBlockTrips : MostTrips))
      return Fail(Diag::LimitReached, "more iterations than a GPU can number");
    if (count == 0) return {};
    const int64_t per_block = step.kind == StepKind::Flat ? int64_t{step.threads} * step.items : 1;
    blocks = std::clamp<int64_t>((count + per_block - 1) / per_block, 1, MostBlocks);
  }
  launch.blocks = static_cast<uint32_t>(blocks);
  uint64_t shared_bytes = 0;
  if (step.kind == StepKind::Blocks || step.kind == StepKind::Single) {
    if (step.lanes_lo != Unknown && step.lanes_hi != Unknown)
      launch.threads = static_cast<uint32_t>(
          RoundUp(std::clamp<int64_t>(trips(step.lanes_lo, step.lanes_hi), 1, MostThreads), 32));
    for (const PtxStep::Scratch& scratch : step.shared) {
      const int64_t length = std::clamp<int64_t>(size(scratch.length), 0, 1 << 24);
      shared_bytes += static_cast<uint64_t>(RoundUp(length * scratch.bytes, 16));
    }
  }
  // The block's own two words are static.
  if (shared_bytes + 64 > device_->most_shared_bytes())
    return Fail(Diag::BadLaunch,
                fmt::format("a block needs {} bytes of shared memory, and the GPU has {}",
                            shared_bytes, device_->most_shared_bytes()));
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes);
  call.launches.push_back(std::move(launch));
  return {};
}

// Kernels count on it that buffers of tensors hold them.
Result<void> CudaKernel::CheckShapes(std::span<const DeviceArgument> arguments) const {
  const ir::Function& source = module_.source.entry_function();
  const auto check = [&](ir::Type type, size_t argument) -> Result<void> {
    if (!type.is_tensor() || argument >= arguments.size()) return {};
    __extension__ using Wide = unsigned __int128;
    Wide count = 1;
    for (const ir::Dim dim : source.shape(type)) {
      const uint64_t size =
          dim.is_symbol() ? arguments[dim.param()].words[0] : static_cast<uint64_t>(dim.value);
      count = std::min<Wide>(count * std::min<uint64_t>(size, INT64_MAX), INT64_MAX);
    }
    if (count <= arguments[argument].words[1]) return {};
    return Fail(Diag::BadLaunch,
                fmt::format("argument {} has fewer elements than its shape says", argument + 1));
  };
  size_t next = source.param_count();
  for (uint32_t i = 0; i < source.param_count(); ++i) TRY_VOID(check(source.param_type(i), i));
  for (const ir::Type result : source.results)
    if (result.is_tensor()) TRY_VOID(check(result, next++));
  return {};
}

Result<BoundCall> CudaKernel::Bind(std::span<const DeviceArgument> arguments,
                                   const Limits& limits) {
  if (arguments.size() != params_.size())
    return Fail(Diag::BadLaunch, "the number of arguments does not fit");
  TRY_VOID(CheckShapes(arguments));
  TRY_VOID(CheckConditions(arguments));
  const std::vector<int64_t> sizes = TRY(Sizes(arguments));
  BoundCall call;
  std::vector<uint64_t> words;
  for (const DeviceArgument& argument : arguments)
    words.insert(words.end(), argument.words.begin(), argument.words.end());
  std::vector<uint64_t> scratch_words;
  // Scratch of a branch ends with it, and may have ended already; that of the function is held to its end.
  uint64_t total = 0, held = 0;
  for (size_t i = 0; i < module_.steps.size() && !call.out_of_memory; ++i) {
    const PtxStep& step = module_.steps[i];
    const bool runs = std::ranges::all_of(step.guards, [&](const auto& guard) {
      return sizes[static_cast<size_t>(guard.first)] == guard.second;
    });
    if (!runs) {
      if (step.kind == StepKind::Alloc) scratch_words.insert(scratch_words.end(), {0, 0});
      continue;
    }
    if (step.kind != StepKind::Alloc) {
      const size_t before = call.launches.size();
      TRY_VOID(AddLaunch(step, sizes, call));
      if (call.launches.size() == before) continue;
      const bool is_long =
          step.kind == StepKind::Rows && sizes[static_cast<size_t>(step.lanes_hi)] > MiddleRow;
      call.launches.back().function = is_long ? long_rows_[i] : functions_[i];
      continue;
    }
    const int64_t length = sizes[static_cast<size_t>(step.shared[0].length)];
    auto fits_beside = [&](uint64_t taken) {
      const uint64_t left = limits.memory_bytes - std::min(taken, limits.memory_bytes);
      return length >= 0 && static_cast<uint64_t>(length) <= left / step.shared[0].bytes;
    };
    if (!fits_beside(held)) {
      call.out_of_memory = ir::OpNamed(step.entry).value_or(ir::Op::Alloc);
      break;
    }
    if (!fits_beside(total))
      return Fail(Diag::Unsupported,
                  "the cuda target does not see when scratch memory ends, and the limit is near");
    const uint64_t bytes = static_cast<uint64_t>(length) * step.shared[0].bytes;
    total += bytes;
    if (step.guards.empty()) held += bytes;
    call.scratch.push_back(TRY(device_->Allocate(bytes)));
    scratch_words.insert(scratch_words.end(),
                         {call.scratch.back().address(), static_cast<uint64_t>(length)});
  }
  if (module_.local_bytes > limits.memory_bytes - std::min(total, limits.memory_bytes))
    return Fail(
        Diag::Unsupported,
        "the cuda target does not count the scratch memory of threads, and the limit is near");
  const auto scratch_count = static_cast<size_t>(std::ranges::count_if(
      module_.steps, [](const PtxStep& step) { return step.kind == StepKind::Alloc; }));
  scratch_words.resize(2 * scratch_count, 0);
  call.run_words = HeadWords + module_.frame_words + module_.result_words;
  call.run = TRY(device_->Allocate(call.run_words * sizeof(uint64_t)));
  words.insert(words.end(), scratch_words.begin(), scratch_words.end());
  words.push_back(call.run.address());
  for (Launch& launch : call.launches) launch.words = words;
  TRY_VOID(NewRun(call));
  return call;
}

Result<void> CudaKernel::NewRun(BoundCall& call) {
  TRY_VOID(device_->Fill(call.run.address(), 0, call.run_words * sizeof(uint64_t)));
  TRY_VOID(device_->Fill(call.run.address(), 0xff, sizeof(uint64_t)));
  for (const DeviceMemory& memory : call.scratch)
    TRY_VOID(device_->Fill(memory.address(), 0, memory.bytes()));
  return {};
}

Result<std::optional<exec::TrapInfo>> CudaKernel::Run(BoundCall& call,
                                                      const exec::RunContext& context,
                                                      std::vector<uint64_t>& results) {
  TRY_VOID(NewRun(call));
  for (const Launch& launch : call.launches) TRY_VOID(device_->Run(launch));
  bool ended = false;
  if (module_.has_while) {
    // Loops may not end: look at the clock, and at the caller's flag.
    const Deadline deadline = Deadline::After(context.limits.run_ms);
    while (!TRY(device_->WaitFor(10))) {
      ended |= context.IsStopped() || deadline.Passed();
      if (ended) TRY_VOID(device_->Poke(call.run.address() + 3 * 8, 1));
    }
  }
  std::vector<uint64_t> run(call.run_words);
  TRY_VOID(device_->CopyOut(run.data(), call.run.address(), call.run_words * sizeof(uint64_t)));
  results.assign(run.begin() + static_cast<ptrdiff_t>(HeadWords + module_.frame_words), run.end());
  if (run[0] != NoTrap) {
    exec::TrapInfo trap{};
    trap.kind = static_cast<ir::Trap>(run[0] >> 8 & 15);
    trap.op = static_cast<ir::Op>(run[0] & 255);
    const auto div = static_cast<int64_t>(run[2]);
    const uint64_t t = run[0] >> 12;
    trap.index = static_cast<int64_t>(
        run[1] + (div < 0 ? t % static_cast<uint64_t>(-div) : t / std::max<uint64_t>(1, run[2])));
    if (ended && trap.kind == ir::Trap::Fuel) trap = context.Ended(trap.op, trap.index);
    return trap;
  }
  if (call.out_of_memory) return exec::TrapInfo{ir::Trap::Memory, *call.out_of_memory, -1};
  return std::nullopt;
}

// --- values -------------------------------------------------------------------------------------------------------

namespace {

class CudaCallable : public exec::Callable {
 public:
  explicit CudaCallable(std::unique_ptr<CudaKernel> kernel) : kernel_(std::move(kernel)) {}

  Result<exec::Outcome> Run(std::span<const exec::Value> arguments,
                            const exec::RunContext& context) override {
    exec::LoweredCall call =
        TRY(exec::LoweredCall::Create(kernel_->module().source, arguments, context.limits));
    if (context.limits.depth < kernel_->module().call_depth)
      return Fail(Diag::Unsupported,
                  "the cuda target does not count the depth of calls, and the limit is below the "
                  "program's");
    Device& device = kernel_->device();
    std::vector<DeviceMemory> regions;
    for (const exec::MemoryRegion& region : call.regions()) {
      regions.push_back(TRY(device.Allocate(region.memory->size_bytes())));
      TRY_VOID(device.CopyIn(regions.back().address(), region.memory->data(),
                             region.memory->size_bytes()));
    }
    std::vector<DeviceArgument> device_arguments;
    for (size_t i = 0; i < call.arguments().size(); ++i) {
      const exec::Value& value = call.arguments()[i];
      const int32_t region = call.region_of_argument()[i];
      DeviceArgument& argument = device_arguments.emplace_back();
      if (region < 0)
        argument.words.assign(value.scalar_words().begin(), value.scalar_words().end());
      else
        argument.words = {regions[static_cast<size_t>(region)].address(),
                          static_cast<uint64_t>(value.memory->length())};
    }
    BoundCall bound = TRY(kernel_->Bind(device_arguments, context.limits));
    std::vector<uint64_t> words;
    const std::optional<exec::TrapInfo> trap = TRY(kernel_->Run(bound, context, words));
    for (size_t r = 0; r < regions.size(); ++r) {
      const exec::MemoryRegion& region = call.regions()[r];
      if (region.writable)
        TRY_VOID(device.CopyOut(region.memory->data(), regions[r].address(),
                                region.memory->size_bytes()));
    }
    std::vector<exec::Value> results;
    if (!trap) results = exec::ValuesFromWords(call.scalar_results(), words);
    return std::move(call).Finish(trap, std::move(results), {});
  }
  // Each call has memory of its own; the driver takes calls from any thread, and one stream keeps their order.
  bool is_concurrent() const override { return true; }

 private:
  std::unique_ptr<CudaKernel> kernel_;
};

}  // namespace

Result<std::unique_ptr<exec::Callable>> MakeCudaCallable(std::shared_ptr<Device> device,
                                                         PtxModule module) {
  return std::make_unique<CudaCallable>(
      TRY(CudaKernel::Load(std::move(device), std::move(module))));
}

}  // namespace frazil::targets::cuda
