// `parallel`: tile after tile, or iteration after iteration, on one thread or several.
#include <algorithm>

#include "base/system/thread_pool.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {

using Kind = TileOp::Kind;

namespace {

// With barriers a block is one tile, whose registers are all in memory at once.
constexpr int64_t MostLanesOfBlock = int64_t{1} << 24;
// So many pieces for each thread, that a slow one leaves its share to others.
constexpr int64_t PiecesPerThread = 4;

}  // namespace

bool Worker::Parallel(const TileOp& op, uint32_t at) {
  const int64_t lo = Cell<int64_t>(op.a), hi = Cell<int64_t>(op.b);
  if (lo >= hi) return true;
  const uint64_t trips = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  if (trips > shared_.fuel || trips > INT64_MAX) return TrapAll(ir::Trap::Fuel, op.op);
  if (watch_ != nullptr) watch_->EnterParallel();
  whole_ = static_cast<int64_t>(trips);
  const double work = static_cast<double>(trips) * op.cost;
  bool ok = false;
  if (op.threaded && alone_ && shared_.threads > 1 && trips > 1 && work > LeastSharedWork &&
      watch_ == nullptr) {
    const int64_t pieces = shared_.threads * PiecesPerThread;
    const int64_t least = static_cast<int64_t>(LeastSharedWork / 4 / op.cost);
    int64_t grain = std::max(static_cast<int64_t>(trips) / pieces, least) + 1;
    if (op.tiled) grain = (grain + 255) / 256 * 256;
    ok = op.phases && op.tiled ? Piece(op, at, lo, 0, static_cast<int64_t>(trips))
                               : OnThreads(op, at, lo, static_cast<int64_t>(trips), grain);
  } else {
    ok = Piece(op, at, lo, 0, static_cast<int64_t>(trips));
  }
  if (watch_ != nullptr) watch_->LeaveParallel();
  return ok;
}

bool Worker::Piece(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end) {
  const TileArena::Mark mark = arena_.mark();
  const bool ok = op.tiled ? Tiles(op, at, lo, begin, end) : Serial(op, at, lo, begin, end);
  arena_.Release(mark);
  return ok;
}

bool Worker::Tiles(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end) {
  const uint32_t preamble = at + 1, body = preamble + op.part0, body_end = body + op.part1;
  const FunctionPlan& function = *frame_.function;
  tile_is_outermost_ = op.imm == 0;
  if (op.stream != UINT32_MAX) {
    Cell<int64_t>(op.result) = lo + begin;
    const Stream& stream = function.streams[op.stream];
    for (uint32_t setup : stream.setup) RunOps(setup, setup + 1);
    if (RunStream(function, stream, frame_.plan->level, frame_.cells, frame_.buffers, end - begin,
                  whole_, this))
      return !trap_.has_value();
  }
  const int64_t count = end - begin;
  int64_t lanes = op.phases ? (count + 63) / 64 * 64
                            : std::min<int64_t>(function.lanes, (count + 63) / 64 * 64);
  if (lanes > MostLanesOfBlock || !MakeTiles(static_cast<uint32_t>(lanes)))
    return TrapAll(ir::Trap::Memory, ir::Op::Barrier);
  in_tile_ = true;
  mask_ = nullptr;
  lanes_ = static_cast<size_t>(lanes);
  bool ok = RunOps(preamble, body);
  for (int64_t first = begin; ok && first < end; first += lanes) {
    lanes_ = static_cast<size_t>(std::min(lanes, end - first));
    tile_first_ = lo + first;
    Cell<int64_t>(op.result) = tile_first_;
    mask_ = nullptr;
    ok = RunOps(body, body_end) && !trap_;
    if (ok && Expired()) {
      mask_ = nullptr;
      TrapEnded(op.op);
      ok = false;
    }
  }
  in_tile_ = false;
  mask_ = nullptr;
  lanes_ = 1;
  return ok;
}

bool Worker::Serial(const TileOp& op, uint32_t at, int64_t lo, int64_t begin, int64_t end) {
  const uint32_t body = at + 1 + op.part0, body_end = body + op.part1;
  for (int64_t trip = begin; trip < end; ++trip) {
    const TileArena::Mark mark = arena_.mark();
    Cell<int64_t>(op.result) = lo + trip;
    if (op.imm == 0) iteration_ = lo + trip;
    if (watch_ != nullptr) watch_->StartIteration(lo + trip);
    if (!RunOps(body, body_end)) return false;
    arena_.Release(mark);
    if (trip + 1 < end && Expired()) return TrapEnded(op.op);
  }
  if (op.imm == 0) iteration_ = -1;
  return true;
}

// Every piece has a worker of its own, which starts with what the parent knows.
bool Worker::OnThreads(const TileOp& op, uint32_t at, int64_t lo, int64_t trips, int64_t grain) {
  struct Context {
    Worker* parent;
    const TileOp* op;
    uint32_t at;
    int64_t lo;
  } context{this, &op, at, lo};
  const auto body = [](void* pointer, int64_t begin, int64_t end) {
    const Context& c = *static_cast<Context*>(pointer);
    SharedRun& shared = c.parent->shared_;
    if (begin > shared.lowest.load(std::memory_order_relaxed)) return;
    TileArena& arena = TileArena::OfThread();
    const TileArena::Mark mark = arena.mark();
    Worker worker(shared, arena);
    const Frame& from = c.parent->frame_;
    worker.alone_ = false;
    worker.live_bytes_ = c.parent->live_bytes_;
    worker.whole_ = c.parent->whole_;
    if (worker.MakeFrame(*from.plan, *from.function, worker.frame_)) {
      std::copy_n(from.cells, from.function->cells.size(), worker.frame_.cells);
      std::copy_n(from.buffers, from.function->buffer_count, worker.frame_.buffers);
      worker.Piece(*c.op, c.at, c.lo, begin, end);
    } else {
      worker.trap_ = exec::TrapInfo{ir::Trap::Memory, ir::Op::Parallel, c.lo + begin};
    }
    if (worker.trap_)
      shared.Report(std::max<int64_t>(worker.trap_->index - c.lo, 0), *worker.trap_,
                    worker.trap_at_);
    arena.Release(mark);
  };
  ThreadPool::Shared().For(trips, grain, body, &context);
  if (shared_.lowest.load(std::memory_order_relaxed) == INT64_MAX) return true;
  trap_ = shared_.trap;
  trap_at_ = shared_.trap_at;
  return false;
}

}  // namespace frazil::targets::tiles
