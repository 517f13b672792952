// Bodies without control flow whose memory is rows. All checks come first; then each op runs over a long piece, reading
// and writing memory in place. With one op, the piece is everything: that is a plain loop.
#include <algorithm>
#include <cstring>

#include "base/system/thread_pool.h"
#include "targets/tiles/tile_math.h"
#include "targets/tiles/tile_run.h"

namespace frazil::targets::tiles {
namespace {

using Kind = TileOp::Kind;
using Place = Stream::Operand::Kind;

constexpr size_t MostOps = 64, MostRows = 32;
// Lanes that are computed before they are sent to memory past the caches.
// Measured: short runs of loads and of stores keep both going, and each op on a tile costs a call.
constexpr size_t BounceLanes = 128, BounceLanesWithTiles = 512;

struct Resolved {
  std::byte* at;
  size_t step;  // bytes from lane to lane
};

// Everything that operands are found by.
struct Places {
  const FunctionPlan& function;
  const Stream& stream;
  std::byte* const* rows;
  const uint64_t* cells;  // first contents of cells, or what they are now
  const int32_t*
      word_of_cell;  // where parameters are words of the launch; null: all is in the cells
  const uint64_t* words;
  std::byte* tiles;
  size_t tile_lanes;
};

inline std::byte* CellAt(const Places& places, int32_t cell) {
  const uint64_t* at = places.cells + cell;
  if (places.word_of_cell != nullptr && places.word_of_cell[cell] >= 0)
    at = places.words + places.word_of_cell[cell];
  return reinterpret_cast<std::byte*>(const_cast<uint64_t*>(at));
}

inline Resolved Resolve(const Stream::Operand& operand, const Places& places) {
  switch (operand.kind) {
    case Place::Row:
      return {places.rows[operand.number],
              places.stream.rows[static_cast<size_t>(operand.number)].bytes};
    case Place::Tile: {
      const SlotInfo& slot = places.function.slots[static_cast<size_t>(operand.number)];
      return {places.tiles + size_t{slot.place} * places.tile_lanes + size_t{slot.number} * 64, 0};
    }
    case Place::Cell: return {CellAt(places, operand.number), 0};
    case Place::None: break;
  }
  return {nullptr, 0};
}

struct ResolvedOp {
  Resolved in[4], out;
  std::byte* bounce;  // not null: the row is written past the caches, from here
};

inline void RunKernel(Kernel kernel, std::byte* const* in, std::byte* out, size_t lanes) {
  TileArguments arguments;
  arguments.a = in[0];
  arguments.b = in[1];
  arguments.c = in[2];
  arguments.d = in[3];
  arguments.result = out;
  arguments.traps = nullptr;
  arguments.lanes = lanes;
  kernel(arguments);
}

bool RunOp(const FunctionPlan& function, const Stream::Op& op, embed::CpuLevel level,
           const ResolvedOp& where, size_t first, size_t lanes, Worker* worker) {
  std::byte* in[4];
  for (int i = 0; i < 4; ++i) in[i] = where.in[i].at + first * where.in[i].step;
  std::byte* const row = where.out.at + first * where.out.step;
  std::byte* const out = where.bounce != nullptr ? where.bounce : row;
  switch (op.kind) {
    case Kind::Kernel: RunKernel(op.kernel, in, out, lanes); break;
    case Kind::Broadcast: MovesOf(op.bytes, level).fill(out, in[0], lanes); return true;
    case Kind::Iota: {
      int64_t start;
      std::memcpy(&start, in[0], 8);
      const int64_t stride = function.ops[op.op_index].imm;
      const uint64_t here = static_cast<uint64_t>(start) + first * static_cast<uint64_t>(stride);
      MasksOf(level).iota(reinterpret_cast<int64_t*>(out), static_cast<int64_t>(here), stride,
                          lanes);
      return true;
    }
    case Kind::Math: return worker->MathOn(function.ops[op.op_index], in, out, lanes);
    default:  // rows that are copied
      if (where.bounce != nullptr)
        MovesOf(op.bytes, level).stream(row, in[0], lanes);
      else if (out != in[0])
        std::memmove(out, in[0], lanes * op.bytes);
      return true;
  }
  if (where.bounce != nullptr) MovesOf(op.bytes, level).stream(row, out, lanes);
  return true;
}

bool RowIsInside(int64_t base, int64_t lanes, int64_t length) {
  return base >= 0 && lanes <= length && base <= length - lanes;
}

// More is moved than the caches hold, and nothing that is written is read.
bool PaysToStream(const Stream& stream, std::byte* const* rows, int64_t whole) {
  if (whole < stream.many) return false;
  for (size_t i = 0; i < stream.rows.size(); ++i)
    for (size_t k = 0; k < stream.rows.size(); ++k)
      if (stream.rows[i].writes && k != i && rows[k] == rows[i]) return false;
  return true;
}

// `whole`: iterations of the whole launch, of which these are a part.
bool RunResolved(Places places, embed::CpuLevel level, int64_t lanes, int64_t whole,
                 Worker* worker) {
  const Stream& stream = places.stream;
  const size_t ops = stream.ops.size(), count = static_cast<size_t>(lanes);
  const bool past_caches = PaysToStream(stream, places.rows, whole);
  TileArena& arena = TileArena::OfThread();
  const TileArena::Mark mark = arena.mark();
  const FunctionPlan& function = places.function;
  size_t piece = count;
  if (stream.needs_tiles) piece = std::min<size_t>(count, function.lanes);
  if (past_caches) piece = std::min(piece, stream.needs_tiles ? BounceLanesWithTiles : BounceLanes);
  places.tile_lanes = (piece + 63) / 64 * 64;
  std::byte* bounce = nullptr;
  if (past_caches && (bounce = arena.Take(places.tile_lanes * 8)) == nullptr) return false;
  if (stream.needs_tiles) {
    places.tiles = arena.Take(size_t{function.lane_bytes} * places.tile_lanes +
                              size_t{function.tile_count} * 64);
    if (places.tiles == nullptr) return false;
  }
  for (const Stream::Op& op : stream.once)
    MovesOf(op.bytes, level).fill(Resolve(op.out, places).at, Resolve(op.in[0], places).at, piece);
  ResolvedOp where[MostOps];
  for (size_t i = 0; i < ops; ++i) {
    const Stream::Op& op = stream.ops[i];
    for (int k = 0; k < 4; ++k) where[i].in[k] = Resolve(op.in[k], places);
    where[i].out = Resolve(op.out, places);
    where[i].bounce = past_caches && op.writes_row ? bounce : nullptr;
  }
  bool ok = true;
  for (size_t first = 0; ok && first < count; first += piece) {
    const size_t here = std::min(piece, count - first);
    for (size_t i = 0; ok && i < ops; ++i)
      ok = RunOp(function, stream.ops[i], level, where[i], first, here, worker);
  }
#if defined(__x86_64__)
  if (past_caches) __builtin_ia32_sfence();
#endif
  arena.Release(mark);
  return true;
}

// False where more than the one loop is needed: nothing was done then.
inline bool RunSingle(const SingleOp& single, const uint64_t* arguments) {
  const int64_t lo =
      single.lo_word >= 0 ? static_cast<int64_t>(arguments[single.lo_word]) : single.lo;
  const int64_t hi =
      single.hi_word >= 0 ? static_cast<int64_t>(arguments[single.hi_word]) : single.hi;
  const uint64_t trips = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  if (lo < 0 || lo >= hi || trips > static_cast<uint64_t>(single.most)) return false;
  std::byte* rows[SingleOp::MostRows];
  for (int i = 0; i < single.row_count; ++i) {
    const uint64_t* words = arguments + single.rows[i].word;
    // lo is not negative, so this is the whole check.
    if (hi > static_cast<int64_t>(words[1])) return false;
    rows[i] = reinterpret_cast<std::byte*>(words[0]) + lo * single.rows[i].bytes;
  }
  const auto operand = [&](int i) -> std::byte* {
    const SingleOp::Operand& from = single.in[i];
    const uint64_t* at = from.word >= 0 ? arguments + from.word : from.cell;
    return from.row >= 0 ? rows[from.row] : reinterpret_cast<std::byte*>(const_cast<uint64_t*>(at));
  };
  if (single.kernel == nullptr) {
    single.copy(rows[single.out], operand(0), trips * single.bytes);
    return true;
  }
  // Field by field: an array between would be written in words and read in pairs, which stalls.
  TileArguments places;
  places.a = operand(0);
  places.b = operand(1);
  places.c = operand(2);
  places.d = operand(3);
  places.result = rows[single.out];
  places.traps = nullptr;
  places.lanes = trips;
  single.kernel(places);
  return true;
}

}  // namespace

int32_t RunWords(const TilePlan& plan, const uint64_t* arguments, uint64_t* results, TileRun& run) {
  if (plan.single.is && RunSingle(plan.single, arguments)) return 0;
  return RunGeneral(plan, arguments, results, run);
}

bool RunAtOnce(const TilePlan& plan, const uint64_t* arguments, uint64_t* results) {
  if (plan.single.is && RunSingle(plan.single, arguments)) return true;
  if (plan.straight) {
    RunStraight(plan, arguments, results);
    return true;
  }
  return plan.direct && plan.disjoint.empty() && plan.at_most.empty() &&
         RunDirect(plan, arguments, /*threads=*/0) == 0;
}

bool RunStream(const FunctionPlan& function, const Stream& stream, embed::CpuLevel level,
               uint64_t* cells, const BufferRef* buffers, int64_t lanes, int64_t whole,
               Worker* worker) {
  if (stream.rows.size() > MostRows || stream.ops.size() > MostOps) return false;
  std::byte* rows[MostRows];
  for (size_t i = 0; i < stream.rows.size(); ++i) {
    const Stream::Row& row = stream.rows[i];
    const BufferRef buffer = buffers[row.buffer];
    const int64_t base = static_cast<int64_t>(cells[row.base]);
    if (!RowIsInside(base, lanes, buffer.length)) return false;
    rows[i] = buffer.data + base * row.bytes;
  }
  return RunResolved({function, stream, rows, cells, nullptr, nullptr, nullptr, 0}, level, lanes,
                     whole, worker);
}

std::optional<int32_t> RunDirect(const TilePlan& plan, const uint64_t* arguments, int threads) {
  const FunctionPlan& function = plan.functions[0];
  const TileOp& parallel = function.ops[0];
  const Stream& stream = function.streams[parallel.stream];
  const auto value = [&](uint32_t cell) {
    const int32_t word = plan.word_of_cell[cell];
    return static_cast<int64_t>(word >= 0 ? arguments[word] : function.cells[cell]);
  };
  const int64_t lo = value(plan.direct_lo), hi = value(plan.direct_hi);
  if (lo >= hi) return 0;
  const int64_t trips = static_cast<int64_t>(static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo));
  const bool may_share = threads != 1 && parallel.threaded;
  if (trips < 0 || (may_share && static_cast<double>(trips) * parallel.cost > LeastSharedWork))
    return std::nullopt;
  std::byte* rows[MostRows];
  for (size_t i = 0; i < stream.rows.size(); ++i) {
    const Stream::Row& row = stream.rows[i];
    const uint64_t* words = arguments + plan.buffer_words[static_cast<size_t>(row.buffer)];
    if (!RowIsInside(lo, trips, static_cast<int64_t>(words[1]))) return std::nullopt;
    rows[i] = reinterpret_cast<std::byte*>(words[0]) + lo * row.bytes;
  }
  const Places places{function,  stream,  rows, function.cells.data(), plan.word_of_cell.data(),
                      arguments, nullptr, 0};
  if (RunResolved(places, plan.level, trips, trips, nullptr)) return 0;
  return std::nullopt;
}

}  // namespace frazil::targets::tiles
