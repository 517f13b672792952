// The complete rules of a launch, and launches shared by threads. Pieces of a kernel may run in any order, because its
// compiler has proved that (ir/lanes/independence.h) under conditions that are looked at here; a piece that traps ends those
// behind it, and the trap of the lowest iteration is the launch's, as if it had run in one piece.
#include "embed/launch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "base/limits.h"

namespace frazil::embed {
namespace {

// Pieces for each thread: enough that a thread which is late does not hold up the others for long.
constexpr int64_t PiecesPerThread = 4;
constexpr double LeastPiecePicoseconds = 2e6;
// Pieces of long loops begin at multiples of this, so that no two threads write to one cache line.
constexpr int64_t LongLoopUnit = 64;

struct BufferWords {
  uint64_t address;
  uint64_t length;
  uint64_t bytes;
};

BufferWords BufferOf(const ParamData& param, const uint64_t* words) {
  const uint64_t length = words[param.word + 1];
  return {words[param.word], length, length * param.element_bytes};
}

Status Refuse(const KernelData& kernel, LaunchError error, size_t argument, size_t other = 0) {
  return Status::Refused(kernel, error, argument, other);
}

Status CheckBuffers(const KernelData& kernel, const uint64_t* words) {
  const ParamData* params = kernel.params.begin();
  for (size_t i = 0; i < kernel.params.size; ++i) {
    if (params[i].role != ParamRole::Buffer) continue;
    const BufferWords a = BufferOf(params[i], words);
    if (a.address == 0 && a.length != 0) return Refuse(kernel, LaunchError::NullBuffer, i);
    if (a.address % params[i].element_bytes != 0) return Refuse(kernel, LaunchError::Misaligned, i);
    for (size_t j = 0; j < i; ++j) {
      if (params[j].role != ParamRole::Buffer) continue;
      if (params[i].access == Access::In && params[j].access == Access::In) continue;
      const BufferWords b = BufferOf(params[j], words);
      if (a.bytes == 0 || b.bytes == 0) continue;
      if (a.address - b.address >= b.bytes && b.address - a.address >= a.bytes) continue;
      const bool same =
          a.address == b.address && a.bytes == b.bytes && params[i].scalar == params[j].scalar;
      if (!same) return Refuse(kernel, LaunchError::Overlap, j, i);
    }
  }
  return {};
}

Status CheckExtents(const KernelData& kernel, const uint64_t* words, Extents extents) {
  const ParamData* params = kernel.params.begin();
  if (extents == Extents::Derived) {
    const PairData* first = nullptr;
    for (const PairData& pair : kernel.lengths) {
      if (first == nullptr || first->first != pair.first) first = &pair;
      const uint64_t length = words[params[pair.second].word + 1];
      if (length != words[params[first->second].word + 1])
        return Refuse(kernel, LaunchError::WrongLength, first->second, pair.second);
      if (length > MostOf(params[pair.first].scalar))
        return Refuse(kernel, LaunchError::TooLong, pair.first, pair.second);
    }
  }
  for (const PairData& pair : kernel.covers) {
    const uint64_t extent = words[params[pair.first].word];
    if (IsSigned(params[pair.first].scalar) && static_cast<int64_t>(extent) < 0) continue;
    if (extent > words[params[pair.second].word + 1])
      return Refuse(kernel, LaunchError::TooShort, pair.first, pair.second);
  }
  return {};
}

// May the ranged form run instead?
bool ConditionsHold(const KernelData& kernel, const uint64_t* words) {
  const ParamData* params = kernel.params.begin();
  for (const PairData& pair : kernel.disjoint)
    if (words[params[pair.first].word] == words[params[pair.second].word]) return false;
  for (const PairData& pair : kernel.at_most) {
    const auto first = static_cast<int64_t>(words[params[pair.first].word]);
    if (first > static_cast<int64_t>(words[params[pair.second].word])) return false;
  }
  return true;
}

bool GuardHolds(const KernelData& kernel, const uint64_t* words) {
  const ParamData* params = kernel.params.begin();
  for (const PairData& pair : kernel.guard_apart) {
    const BufferWords a = BufferOf(params[pair.first], words),
                      b = BufferOf(params[pair.second], words);
    const bool is_apart = a.address - b.address >= b.bytes && b.address - a.address >= a.bytes;
    if (!is_apart && a.bytes != 0 && b.bytes != 0) return false;
  }
  for (const PairData& pair : kernel.guard_cover) {
    const auto extent = static_cast<int64_t>(words[params[pair.first].word]);
    if (extent > static_cast<int64_t>(words[params[pair.second].word + 1])) return false;
  }
  for (const PairData& pair : kernel.guard_least) {
    const ParamData& param = params[pair.first];
    const uint64_t word = words[param.word + (param.role == ParamRole::Buffer ? 1 : 0)];
    if (static_cast<int64_t>(word) < int64_t{pair.second}) return false;
  }
  return true;
}

// After a trap a run holds what the kernel left: scratch, and the depth of its calls.
TrapRecord TakeTrap(int32_t status, NativeRun* run) {
  TrapRecord trap{status, 0, -1};
  if (run == nullptr) return trap;
  trap.op = run->trap_op;
  trap.index = run->trap_index;
  run->ReleaseScratch();
  run->depth_left = Limits().depth;
  return trap;
}

// Iterations of the outermost parallel; 0 also where they cannot be told.
int64_t TripsOf(const KernelData& kernel, const uint64_t* words) {
  if (kernel.trips_word != NoWord)
    return std::max<int64_t>(0, static_cast<int64_t>(words[kernel.trips_word]));
  if (kernel.trips.offset == 0) return 0;
  uint64_t scalars[MostWords] = {};
  size_t count = 0;
  for (const ParamData& param : kernel.params)
    scalars[count++] = words[param.word + (param.role == ParamRole::Buffer ? 1 : 0)];
  uint64_t trips = 0;
  const NativeEntry entry = EntryOf(kernel.trips);
  NativeRun* run = ThreadRun();
  if (run == nullptr) return 0;
  if (const int32_t status = entry(scalars, &trips, run); status != 0) {
    TakeTrap(status, run);
    return 0;
  }
  return std::max<int64_t>(0, static_cast<int64_t>(trips));
}

int64_t GrainOf(int64_t trips, double picoseconds, int threads) {
  const int64_t even = (trips + PiecesPerThread * threads - 1) / (PiecesPerThread * threads);
  const auto least =
      static_cast<int64_t>(static_cast<double>(trips) * LeastPiecePicoseconds / picoseconds);
  int64_t grain = std::max({even, least, int64_t{1}});
  if (grain > LongLoopUnit) grain = (grain + LongLoopUnit - 1) / LongLoopUnit * LongLoopUnit;
  return grain;
}

// What the pieces of one launch share.
struct Shared {
  const RangedCall& call;
  std::atomic<int64_t> trapped_at = INT64_MAX;  // where the lowest piece that trapped begins
  std::mutex mutex;                             // of the record; taken after traps only
  TrapRecord record;

  explicit Shared(const RangedCall& launch) : call(launch) {}

  void RunPiece(int64_t begin, int64_t end) {
    if (begin > trapped_at.load(std::memory_order_relaxed)) return;
    NativeRun* run = call.uses_run ? ThreadRun() : nullptr;
    if (call.uses_run && run == nullptr)
      return Note(begin, {1 + static_cast<int32_t>(TrapKind::Memory), 0, -1});
    uint64_t words[MostWords + 2];
    std::memcpy(words, call.words, call.word_count * sizeof(uint64_t));
    words[call.word_count] = static_cast<uint64_t>(begin);
    words[call.word_count + 1] = static_cast<uint64_t>(end);
    const int32_t status = call.entry(words, nullptr, run);
    if (status != 0) [[unlikely]]
      Note(begin, TakeTrap(status, run));
  }

  void Note(int64_t begin, const TrapRecord& trap) {
    const std::lock_guard lock(mutex);
    if (begin >= trapped_at.load(std::memory_order_relaxed)) return;
    trapped_at.store(begin, std::memory_order_relaxed);
    record = trap;
  }
};

void RunOnePiece(void* context, int64_t begin, int64_t end) {
  static_cast<Shared*>(context)->RunPiece(begin, end);
}

Status StatusOf(const KernelData& kernel, const TrapRecord& trap) {
  return Status::Trapped(kernel, static_cast<TrapKind>(trap.status - 1), trap.op, trap.index);
}

struct RunOwner {
  std::unique_ptr<NativeRun> run;
  ~RunOwner() { thread_run = nullptr; }
};

}  // namespace

constinit thread_local NativeRun* thread_run = nullptr;

NativeRun* MakeThreadRun() noexcept {
  thread_local RunOwner owner;
  UsedLevel();  // whoever has a run knows the level, too
  owner.run.reset(new (std::nothrow) NativeRun);
  if (owner.run == nullptr) return nullptr;
  owner.run->stack_limit = StackOfThread().limit;
  thread_run = owner.run.get();
  return thread_run;
}

double WorkOf(const KernelData& kernel, const uint64_t* words) noexcept {
  double sum = 0;
  for (const WorkTerm& term : kernel.work) {
    double product = term.picoseconds;
    for (const uint8_t factor : term.factors)
      if (factor != NoFactor)
        product *= static_cast<double>(std::max<int64_t>(0, static_cast<int64_t>(words[factor])));
    sum += product;
  }
  return sum;
}

TrapRecord RunPieces(const RangedCall& call, ThreadPool& pool) noexcept {
  Shared shared(call);
  pool.For(call.trips, call.grain, RunOnePiece, &shared);
  return shared.record;
}

Status Check(const KernelData& kernel, const uint64_t* words, Extents extents) noexcept {
  const Status buffers = CheckBuffers(kernel, words);
  return buffers.ok() ? CheckExtents(kernel, words, extents) : buffers;
}

const KernelData& FormFor(const KernelData& kernel, const uint64_t* words) noexcept {
  const KernelData* guarded = kernel.guarded.get();
  return guarded != nullptr && GuardHolds(*guarded, words) ? *guarded : kernel;
}

NativeEntry FindEntry(const KernelData& kernel) noexcept {
  const KernelData* guarded = kernel.guarded.get();
  return (guarded == nullptr ? kernel : *guarded).plain_entry(UsedLevel());
}

Status Refused(const KernelData& kernel, LaunchError error) noexcept {
  return Refuse(kernel, error, 0);
}

Status Trapped(const KernelData& kernel, int32_t status, NativeRun* run) noexcept {
  return StatusOf(kernel, TakeTrap(status, run));
}

Status Run(const KernelData& kernel, const uint64_t* words, uint64_t* results) noexcept {
  const CpuLevel level = UsedLevel();
  const NativeEntry ranged = kernel.ranged_entry(level);
  const double work = ranged == nullptr ? 0 : WorkOf(kernel, words);
  if (work >= static_cast<double>(ForkPicoseconds) && ConditionsHold(kernel, words)) {
    ThreadPool& pool = ThreadPool::Shared();
    const int64_t trips = pool.threads() > 1 ? TripsOf(kernel, words) : 0;
    if (trips > 1) {
      const RangedCall call{ranged, (kernel.flags & RangedUsesRun) != 0, words, kernel.word_count,
                            trips,  GrainOf(trips, work, pool.threads())};
      const TrapRecord trap = RunPieces(call, pool);
      return trap.status == 0 ? Status() : StatusOf(kernel, trap);
    }
  }
  const NativeEntry entry = kernel.plain_entry(level);
  if (entry == nullptr) return Refuse(kernel, LaunchError::NoCode, 0);
  NativeRun* run = nullptr;
  if ((kernel.flags & PlainUsesRun) != 0) {
    run = ThreadRun();
    if (run == nullptr)
      return StatusOf(kernel, {1 + static_cast<int32_t>(TrapKind::Memory), 0, -1});
  }
  uint64_t ranged_words[MostWords + 2];
  if ((kernel.flags & PlainIsRanged) != 0) {
    std::memcpy(ranged_words, words, kernel.word_count * sizeof(uint64_t));
    ranged_words[kernel.word_count] = AllBegin;
    ranged_words[kernel.word_count + 1] = AllEnd;
    words = ranged_words;
  }
  const int32_t status = entry(words, results, run);
  return status == 0 ? Status() : Trapped(kernel, status, run);
}

Status Launch(const KernelData& kernel, const uint64_t* words, uint64_t* results,
              Extents extents) noexcept {
  const Status check = Check(kernel, words, extents);
  if (!check.ok()) return check;
  const KernelData& form = FormFor(kernel, words);
  // Nobody launches the form under a guard by itself; whoever does is not answered wrongly.
  if (!GuardHolds(form, words)) return Refuse(kernel, LaunchError::NoCode, 0);
  return Run(form, words, results);
}

}  // namespace frazil::embed
