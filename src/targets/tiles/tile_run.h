// Micro-ops at work. A Worker is one thread's part of a run: the frame of a function, the tile of lanes at hand, the
// lanes that are active, and the first trap.
//
// Traps: the outcome is that of the lowest lane. So when lane k of a tile traps, the lanes from k on are dropped, and
// those below go on: what they store is part of the outcome, and one of them may still trap. What dropped lanes would have
// written is open (semantics: trap.stores).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "targets/tiles/tile_plan.h"

namespace frazil::targets::tiles {

// Memory of a thread for frames and scratch, handed out and taken back like a stack; kept between runs.
class TileArena {
 public:
  struct Mark {
    size_t piece, used;
  };
  static TileArena& OfThread();
  std::byte* Take(size_t bytes);  // at a multiple of 64, not cleared; null if there is no memory
  Mark mark() const { return {piece_, used_}; }
  void Release(Mark mark) {
    piece_ = mark.piece;
    used_ = mark.used;
  }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Piece {
    std::unique_ptr<std::byte, Free> memory;
    size_t size;
  };
  std::vector<Piece> pieces_;
  size_t piece_ = 0, used_ = 0;
};

struct BufferRef {
  std::byte* data = nullptr;
  int64_t length = 0;
};

// What all threads of a run share.
struct SharedRun {
  SharedRun(const TilePlan* plan, const exec::RunContext& context, int threads);

  const TilePlan* plan;
  uint64_t fuel, memory_bytes;
  int threads;
  const exec::RunContext& context;
  Deadline deadline;
  // A trap in iteration `lowest` of the outermost parallel: iterations above need not start.
  std::atomic<int64_t> lowest{INT64_MAX};
  std::mutex mutex;
  exec::TrapInfo trap = {};
  Location trap_at;
  void Report(int64_t trip, const exec::TrapInfo& info, Location at);
};

// Looks over the shoulder of a run that goes lane by lane (tile_sanitize.cpp).
class Watch {
 public:
  virtual ~Watch() = default;
  enum class Access : uint8_t { Read, Write, Atomic };
  // An access is outside of the buffer: the run traps after this.
  virtual void Touch(int32_t buffer, int64_t index, int64_t length, Access access,
                     Location where) = 0;
  virtual void Allocate(int32_t buffer, int64_t length, Location where) = 0;
  virtual void EnterParallel() = 0;
  virtual void StartIteration(int64_t i) = 0;
  virtual void LeaveParallel() = 0;
};

class Worker {
 public:
  Worker(SharedRun& shared, TileArena& arena) : shared_(shared), arena_(arena) {}

  // The entry function, arguments as words.
  bool RunEntry(const uint64_t* arguments, uint64_t* results);
  const std::optional<exec::TrapInfo>& trap() const { return trap_; }
  Location trap_at() const { return trap_at_; }
  void set_watch(Watch* watch) { watch_ = watch; }
  bool Math(const TileOp& op);
  // In a stream: operands at these addresses.
  bool MathOn(const TileOp& op, std::byte* const* inputs, std::byte* result, size_t lanes);

 private:
  struct Frame {
    const TilePlan* plan = nullptr;
    const FunctionPlan* function = nullptr;
    std::byte** at = nullptr;  // by slot
    uint64_t* cells = nullptr;
    BufferRef* buffers = nullptr;
    uint64_t* scratch_bytes = nullptr;
  };

  // A block of ops; false: stop, the trap decides.
  bool RunOps(uint32_t begin, uint32_t end);
  bool RunStructure(const TileOp& op, uint32_t at);
  bool If(const TileOp& op, uint32_t at);
  bool Switch(const TileOp& op, uint32_t at);
  bool For(const TileOp& op, uint32_t at);
  bool DivergentFor(const TileOp& op, uint32_t at);
  bool While(const TileOp& op, uint32_t at);
  bool Parallel(const TileOp& op, uint32_t at);
  bool Piece(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end);
  bool Tiles(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end);
  bool Serial(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end);
  bool OnThreads(const TileOp& op, uint32_t at, int64_t lo, int64_t trips, int64_t grain);

  bool Checked(const TileOp& op);
  bool Memory(const TileOp& op);
  std::byte* ElementOf(const TileOp& op, Watch::Access access);
  bool LoadOne(const TileOp& op);
  bool LoadRow(const TileOp& op);
  bool LoadStrided(const TileOp& op);
  bool StoreOne(const TileOp& op);
  bool StoreRow(const TileOp& op);
  bool Indexed(const TileOp& op);
  bool Alloc(const TileOp& op);
  bool Atomic(const TileOp& op);
  bool Lookup(const TileOp& op);
  bool Assert(const TileOp& op);
  bool Call(const TilePlan& plan, const FunctionPlan& callee, std::span<std::byte* const> inputs,
            std::span<std::byte* const> outputs, size_t lanes);
  // The row's lanes that are outside and active trap; copies what is inside.
  bool RowOutside(const TileOp& op, BufferRef buffer, int64_t base, bool store);

  bool MakeFrame(const TilePlan& plan, const FunctionPlan& function, Frame& frame);
  bool MakeTiles(uint32_t lanes);

  // The lane (of the tile) traps; true while lower lanes go on.
  bool TrapLane(size_t lane, ir::Trap kind, ir::Op op);
  // All active lanes do the same.
  bool TrapAll(ir::Trap kind, ir::Op op);
  bool TrapEnded(ir::Op op);  // Expired said so
  size_t FirstActive() const;
  bool Expired();
  bool PhaseEnds() const { return !trap_.has_value(); }

  template <typename T>
  T& Cell(Slot slot) {
    return *reinterpret_cast<T*>(frame_.at[slot]);
  }
  std::byte* At(Slot slot) const { return slot == NoSlot ? nullptr : frame_.at[slot]; }
  uint64_t CellWord(Slot slot, ir::Scalar type) const;

  SharedRun& shared_;
  TileArena& arena_;
  Frame frame_;
  bool in_tile_ = false;
  size_t lanes_ = 1;               // of the tile at hand, less those that a trap dropped
  const uint8_t* mask_ = nullptr;  // active lanes; null: all
  int64_t tile_first_ = 0;         // iteration of lane 0
  int64_t iteration_ = -1;         // of the outermost parallel; -1 outside
  bool tile_is_outermost_ = false;
  uint64_t live_bytes_ = 0;
  uint32_t ticks_ = 0;
  int64_t whole_ = 0;  // iterations of the parallel at hand, those of other threads included
  bool alone_ = true;  // no other thread is in this run
  uint8_t* trap_codes_ = nullptr;
  std::byte* tiles_ = nullptr;  // of the frame at hand
  uint32_t tile_lanes_ = 0;     // how many lanes a tile has room for
  std::optional<exec::TrapInfo> trap_;
  Location at_, trap_at_;  // of the op at hand; of the one that trapped
  Watch* watch_ = nullptr;
};

// RunWords where more than one loop is needed (tile.cpp).
int32_t RunGeneral(const TilePlan& plan, const uint64_t* arguments, uint64_t* results,
                   TileRun& run);
// The direct form: the entry is one stream. Gives nothing where the general form has to look at it.
std::optional<int32_t> RunDirect(const TilePlan& plan, const uint64_t* arguments, int threads);
// The straight form: all of the entry is ops on cells that cannot trap.
bool IsStraight(const FunctionPlan& function);
void RunStraight(const TilePlan& plan, const uint64_t* arguments, uint64_t* results);
// A stream over `lanes` iterations of `whole`, the first of which the cells are about; false if an access may be outside, or there
// is no memory: nothing was done then. `worker` is there for math that no installed function does.
bool RunStream(const FunctionPlan& function, const Stream& stream, embed::CpuLevel level,
               uint64_t* cells, const BufferRef* buffers, int64_t lanes, int64_t whole,
               Worker* worker);

// Work of fewer op-lanes is done by one thread: 2 to 4 microseconds.
constexpr double LeastSharedWork = 60'000;

}  // namespace frazil::targets::tiles
