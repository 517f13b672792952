// Bodies without control flow whose memory is rows. All checks come first; then each op runs over a long piece, reading
// and writing memory in place. With one op, the piece is everything: that is a plain loop.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/thread_pool.h"
#include "targets/isa/tile_math.h"
#include "targets/isa/tile_run.h"

namespace frazil::targets::isa {
namespace {

using Kind = TileOp::Kind;
using Place = Stream::Operand::Kind;

constexpr size_t MostOps = 64, MostRows = 32;

struct Resolved {
  std::byte* at = nullptr;
  size_t step = 0;  // bytes from lane to lane
};

struct ResolvedOp {
  Resolved in[4], out;
};

Resolved Resolve(const Stream::Operand& operand, const FunctionPlan& function, const Stream& stream,
                 std::byte* const* rows, uint64_t* cells, std::byte* tiles, size_t tile_lanes) {
  switch (operand.kind) {
    case Place::Row:
      return {rows[operand.number], stream.rows[static_cast<size_t>(operand.number)].bytes};
    case Place::Tile: {
      const SlotInfo& slot = function.slots[static_cast<size_t>(operand.number)];
      return {tiles + size_t{slot.place} * tile_lanes + size_t{slot.number} * 64, 0};
    }
    case Place::Cell:
      return {reinterpret_cast<std::byte*>(cells + operand.number), 0};
    case Place::None:
      break;
  }
  return {};
}

bool RunOp(const FunctionPlan& function, const Stream::Op& op, embed::CpuLevel level, const ResolvedOp& where,
           size_t first, size_t lanes, Worker* worker) {
  std::byte* in[4];
  for (int i = 0; i < 4; ++i) in[i] = where.in[i].at + first * where.in[i].step;
  std::byte* const out = where.out.at + first * where.out.step;
  switch (op.kind) {
    case Kind::Kernel: {
      TileArguments arguments;
      arguments.a = in[0];
      arguments.b = in[1];
      arguments.c = in[2];
      arguments.d = in[3];
      arguments.result = out;
      arguments.traps = nullptr;
      arguments.lanes = lanes;
      op.kernel(arguments);
      return true;
    }
    case Kind::Broadcast:
      MovesOf(op.bytes, level).fill(out, in[0], lanes);
      return true;
    case Kind::Iota: {
      int64_t start;
      std::memcpy(&start, in[0], 8);
      const int64_t stride = function.ops[op.op_index].imm;
      const uint64_t here = static_cast<uint64_t>(start) + first * static_cast<uint64_t>(stride);
      MasksOf(level).iota(reinterpret_cast<int64_t*>(out), static_cast<int64_t>(here), stride, lanes);
      return true;
    }
    case Kind::Math:
      return worker->MathOn(function.ops[op.op_index], in, out, lanes);
    default:  // rows that are copied
      if (out != in[0]) std::memmove(out, in[0], lanes * op.bytes);
      return true;
  }
}

bool RowIsInside(int64_t base, int64_t lanes, int64_t length) {
  return base >= 0 && lanes <= length && base <= length - lanes;
}

}  // namespace

bool RunStream(const FunctionPlan& function, const Stream& stream, embed::CpuLevel level, uint64_t* cells,
               const BufferRef* buffers, int64_t lanes, Worker* worker) {
  if (stream.rows.size() > MostRows || stream.ops.size() > MostOps) return false;
  std::array<std::byte*, MostRows> rows;
  for (size_t i = 0; i < stream.rows.size(); ++i) {
    const Stream::Row& row = stream.rows[i];
    const BufferRef buffer = buffers[row.buffer];
    const int64_t base = static_cast<int64_t>(cells[row.base]);
    if (!RowIsInside(base, lanes, buffer.length)) return false;
    rows[i] = buffer.data + base * row.bytes;
  }
  TileArena& arena = TileArena::OfThread();
  const TileArena::Mark mark = arena.mark();
  const size_t count = static_cast<size_t>(lanes);
  const size_t piece = stream.needs_tiles ? std::min<size_t>(count, function.lanes) : count;
  const size_t tile_lanes = (piece + 63) / 64 * 64;
  std::byte* tiles = nullptr;
  if (stream.needs_tiles) {
    tiles = arena.Take(size_t{function.lane_bytes} * tile_lanes + size_t{function.tile_count} * 64);
    if (tiles == nullptr) return false;
  }
  const size_t ops = stream.ops.size();
  std::array<ResolvedOp, MostOps> where;
  for (size_t i = 0; i < ops; ++i) {
    const Stream::Op& op = stream.ops[i];
    for (int k = 0; k < 4; ++k)
      where[i].in[k] = Resolve(op.in[k], function, stream, rows.data(), cells, tiles, tile_lanes);
    where[i].out = Resolve(op.out, function, stream, rows.data(), cells, tiles, tile_lanes);
  }
  for (const Stream::Op& op : stream.once) {
    const Resolved from = Resolve(op.in[0], function, stream, rows.data(), cells, tiles, tile_lanes);
    const Resolved to = Resolve(op.out, function, stream, rows.data(), cells, tiles, tile_lanes);
    MovesOf(op.bytes, level).fill(to.at, from.at, piece);
  }
  bool ok = true;
  for (size_t first = 0; ok && first < count; first += piece) {
    const size_t here = std::min(piece, count - first);
    for (size_t i = 0; ok && i < ops; ++i) ok = RunOp(function, stream.ops[i], level, where[i], first, here, worker);
  }
  arena.Release(mark);
  return true;
}

std::optional<int32_t> RunDirect(const TilePlan& plan, const uint64_t* arguments, TileRun& run) {
  constexpr size_t MostCells = 64, MostBuffers = 16;
  const FunctionPlan& function = plan.functions[0];
  const TileOp& parallel = function.ops[0];
  const Stream& stream = function.streams[parallel.stream];
  if (function.cells.size() > MostCells || function.buffer_count > MostBuffers) return std::nullopt;
  uint64_t cells[MostCells];
  std::copy(function.cells.begin(), function.cells.end(), cells);
  for (const TilePlan::Word& scalar : plan.direct_scalars) cells[scalar.cell] = arguments[scalar.word];
  BufferRef buffers[MostBuffers];
  for (size_t i = 0; i < plan.buffer_words.size(); ++i) {
    const uint64_t* words = arguments + plan.buffer_words[i];
    buffers[i] = {reinterpret_cast<std::byte*>(words[0]), static_cast<int64_t>(words[1])};
  }
  const auto cell = [&](Slot slot) -> uint64_t& { return cells[function.slots[static_cast<size_t>(slot)].place]; };
  const int64_t lo = static_cast<int64_t>(cell(parallel.a)), hi = static_cast<int64_t>(cell(parallel.b));
  if (lo >= hi) return 0;
  const int64_t trips = static_cast<int64_t>(static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo));
  if (trips < 0) return std::nullopt;
  cell(parallel.result) = static_cast<uint64_t>(lo);
  const bool shared = parallel.threaded && run.threads != 1 && static_cast<double>(trips) * parallel.cost > LeastSharedWork;
  if (!shared) {
    if (RunStream(function, stream, plan.level, cells, buffers, trips, nullptr)) return 0;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace frazil::targets::isa
