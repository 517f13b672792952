// After the ops are there: from where to where each tile is needed, so that tiles share places and all of them fit the
// first cache; which loads may stay where they are; which bodies are streams.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "targets/tiles/tile_compiler.h"

namespace frazil::targets::tiles {
namespace {

using Kind = TileOp::Kind;

// Measured: with what a tile interpreter reads and writes in half of the first cache, a chain of ops runs as from L1;
// tiles below 256 lanes pay for dispatching, above 1024 they gain nothing.
constexpr uint32_t CacheBytes = 24 * 1024, FewestLanes = 256, MostLanes = 1024;

// What moves more bytes than this writes past the caches, as native code does: about what the last of them holds.
constexpr int64_t StreamBytes = int64_t{32} << 20;

struct Interval {
  uint32_t first = UINT32_MAX, last = 0;
  void Add(uint32_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
};

bool IsLoop(Kind kind) {
  return kind == Kind::For || kind == Kind::While || kind == Kind::Parallel;
}
bool IsStructure(Kind kind) { return IsLoop(kind) || kind == Kind::If || kind == Kind::Switch; }
bool Writes(Kind kind) {
  return kind == Kind::StoreOne || kind == Kind::StoreRow || kind == Kind::StoreScatter ||
         kind == Kind::Atomic || kind == Kind::Cas;
}

class Layout {
 public:
  Layout(FunctionPlan& function, const TileOptions& options)
      : function_(function), options_(options) {}

  void Run() {
    const uint32_t size = static_cast<uint32_t>(function_.ops.size());
    intervals_.resize(function_.slots.size());
    for (uint32_t at = 0; at < size; ++at) Occurrences(at);
    for (Slot slot : function_.params) Add(slot, 0);
    for (Slot slot : function_.results) Add(slot, size);
    for (uint32_t at = 0; at < size; ++at) ExtendOverLoop(at);
    ChooseCopies();
    Place();
    for (uint32_t at = 0; at < size; ++at) {
      TileOp& op = function_.ops[at];
      if (op.kind != Kind::Parallel) continue;
      op.cost = Cost(at + 1 + op.part0, at + 1 + op.part0 + op.part1);
      if (op.tiled) FindStream(at);
    }
  }

 private:
  bool IsTile(Slot slot) const {
    return slot != NoSlot && function_.slots[static_cast<size_t>(slot)].is_tile;
  }
  uint32_t CellOf(Slot slot) const { return function_.slots[static_cast<size_t>(slot)].place; }
  void Add(Slot slot, uint32_t at) {
    if (slot != NoSlot) intervals_[static_cast<size_t>(slot)].Add(at);
  }

  template <typename F>
  void ForSlots(const TileOp& op, F&& f) const {
    for (Slot slot : {op.a, op.b, op.c, op.d, op.result}) f(slot);
    if (op.kind != Kind::Call) return;
    const FunctionPlan::Cases& call = function_.lists[static_cast<size_t>(op.imm)];
    for (Slot slot : call.inputs) f(slot);
    for (Slot slot : call.outputs) f(slot);
  }

  uint32_t EndOf(uint32_t at) const {
    return at + function_.ops[at].part0 + function_.ops[at].part1;
  }

  void Occurrences(uint32_t at) {
    const TileOp& op = function_.ops[at];
    ForSlots(op, [&](Slot slot) {
      Add(slot, at);
      if (IsStructure(op.kind)) Add(slot, EndOf(at));
    });
  }

  // What comes from outside of a loop and is used in it is needed until the loop has ended: behind its last op comes
  // the next turn.
  void ExtendOverLoop(uint32_t at) {
    const TileOp& loop = function_.ops[at];
    if (!IsLoop(loop.kind)) return;
    const uint32_t begin = at + 1 + (loop.kind == Kind::Parallel ? loop.part0 : 0), end = EndOf(at);
    for (uint32_t i = begin; i <= end && i < function_.ops.size(); ++i)
      ForSlots(function_.ops[i], [&](Slot slot) {
        if (slot == NoSlot) return;
        Interval& interval = intervals_[static_cast<size_t>(slot)];
        if (interval.first < begin) interval.last = std::max(interval.last, end + 1);
      });
  }

  void ChooseCopies() {
    std::vector<uint32_t> writes;
    for (uint32_t at = 0; at < function_.ops.size(); ++at)
      if (Writes(function_.ops[at].kind)) writes.push_back(at);
    for (uint32_t at = 0; at < function_.ops.size(); ++at) {
      TileOp& op = function_.ops[at];
      if (op.kind != Kind::LoadRow) continue;
      const uint32_t last = intervals_[static_cast<size_t>(op.result)].last;
      for (auto write = std::upper_bound(writes.begin(), writes.end(), at);
           write != writes.end() && *write <= last && !op.copies; ++write)
        op.copies = *write < last || function_.ops[*write].kind != Kind::StoreRow;
    }
  }

  void Place() {
    std::vector<Slot> order;
    for (Slot slot = 0; slot < static_cast<Slot>(function_.slots.size()); ++slot)
      if (IsTile(slot) && intervals_[static_cast<size_t>(slot)].first != UINT32_MAX)
        order.push_back(slot);
    std::sort(order.begin(), order.end(), [&](Slot x, Slot y) {
      return intervals_[static_cast<size_t>(x)].first < intervals_[static_cast<size_t>(y)].first;
    });
    std::vector<Slot> active;
    std::array<std::vector<Slot>, 9> free;  // by bytes
    for (Slot slot : order) {
      const uint32_t first = intervals_[static_cast<size_t>(slot)].first;
      std::erase_if(active, [&](Slot old) {
        if (intervals_[static_cast<size_t>(old)].last >= first) return false;
        free[function_.slots[static_cast<size_t>(old)].bytes].push_back(old);
        return true;
      });
      SlotInfo& info = function_.slots[static_cast<size_t>(slot)];
      if (auto& list = free[info.bytes]; !list.empty()) {
        info.place = function_.slots[static_cast<size_t>(list.back())].place;
        info.number = function_.slots[static_cast<size_t>(list.back())].number;
        list.pop_back();
      } else {
        info.place = function_.lane_bytes;
        info.number = function_.tile_count;
        function_.lane_bytes += info.bytes;
        function_.tile_count += 1;
      }
      active.push_back(slot);
    }
    const uint32_t fit = CacheBytes / std::max(1u, function_.lane_bytes) / 64 * 64;
    function_.lanes =
        options_.lanes != 0 ? options_.lanes : std::clamp(fit, FewestLanes, MostLanes);
  }

  // What an iteration does, roughly: it decides only whether threads are worth it.
  float Cost(uint32_t begin, uint32_t end) const {
    float cost = 0;
    for (uint32_t at = begin; at < end; ++at) {
      const TileOp& op = function_.ops[at];
      const uint32_t part = op.part0 + op.part1;
      if (IsLoop(op.kind)) {
        cost += (op.kind == Kind::Parallel ? 64 : 8) * Cost(at + 1, at + 1 + part);
        at += part;
      } else if (op.kind == Kind::Math || op.kind == Kind::Call) {
        cost += 60;
      } else if (op.kind == Kind::LoadGather || op.kind == Kind::StoreScatter ||
                 op.kind == Kind::Atomic || op.kind == Kind::Checked) {
        cost += 10;
      } else if (op.kind == Kind::LoadRow || op.kind == Kind::StoreRow) {
        cost += 0.25f;
      } else {
        cost += op.uniform ? 0.02f : 1;
      }
    }
    return cost;
  }

  void FindStream(uint32_t at);
  Stream::Operand OperandOf(Slot slot, const std::vector<int32_t>& row_of) const;
  bool MaySendDirectly(uint32_t begin, uint32_t store, const std::vector<int32_t>& row_of) const;

  FunctionPlan& function_;
  const TileOptions& options_;
  std::vector<Interval> intervals_;
};

Stream::Operand Layout::OperandOf(Slot slot, const std::vector<int32_t>& row_of) const {
  using Place = Stream::Operand::Kind;
  if (slot == NoSlot) return {};
  if (!IsTile(slot)) return {Place::Cell, static_cast<int32_t>(CellOf(slot))};
  const int32_t row = row_of[static_cast<size_t>(slot)];
  return row >= 0 ? Stream::Operand{Place::Row, row} : Stream::Operand{Place::Tile, slot};
}

// The op that makes the stored value may write it to memory itself: nobody else uses it, and nothing reads memory
// between the two.
bool Layout::MaySendDirectly(uint32_t begin, uint32_t store,
                             const std::vector<int32_t>& row_of) const {
  const Slot value = function_.ops[store].b;
  uint32_t maker = UINT32_MAX;
  for (uint32_t i = begin; i < store; ++i) {
    const TileOp& op = function_.ops[i];
    if (op.result == value) maker = op.kind == Kind::Kernel && !op.uniform ? i : UINT32_MAX;
  }
  if (maker == UINT32_MAX || intervals_[static_cast<size_t>(value)].last != store) return false;
  for (uint32_t i = maker + 1; i < store; ++i) {
    const TileOp& op = function_.ops[i];
    if (op.kind == Kind::LoadRow || op.kind == Kind::StoreRow) return false;
    for (Slot slot : {op.a, op.b, op.c, op.d})
      if (slot == value || (slot != NoSlot && row_of[static_cast<size_t>(slot)] >= 0)) return false;
  }
  return true;
}

void Layout::FindStream(uint32_t at) {
  TileOp& parallel = function_.ops[at];
  const uint32_t begin = at + 1 + parallel.part0, end = begin + parallel.part1;
  Stream stream;
  std::vector<int32_t> row_of(function_.slots.size(), -1);
  std::vector<int32_t> sent_to(function_.slots.size(), -1);  // row that a value goes to
  std::vector<bool> sent(end - begin, false);
  for (uint32_t i = begin; i < end; ++i) {
    TileOp& op = function_.ops[i];
    const bool simple = op.kind == Kind::Kernel || op.kind == Kind::LoadRow ||
                        op.kind == Kind::StoreRow || op.kind == Kind::Iota ||
                        op.kind == Kind::Broadcast || op.kind == Kind::Length ||
                        (op.kind == Kind::Math && !op.uniform);
    if (!simple) return;
    if (op.kind != Kind::LoadRow && op.kind != Kind::StoreRow) continue;
    const int32_t row = static_cast<int32_t>(stream.rows.size());
    stream.rows.push_back({op.buffer, CellOf(op.a), op.bytes, op.kind == Kind::StoreRow});
    op.extra = static_cast<uint32_t>(row);
    if (op.kind == Kind::LoadRow && !op.copies) row_of[static_cast<size_t>(op.result)] = row;
    if (op.kind == Kind::StoreRow && MaySendDirectly(begin, i, row_of)) {
      sent_to[static_cast<size_t>(op.b)] = row;
      sent[i - begin] = true;
    }
  }
  using Place = Stream::Operand::Kind;
  for (uint32_t i = begin; i < end; ++i) {
    const TileOp& op = function_.ops[i];
    if ((op.kind == Kind::Kernel && op.uniform) || op.kind == Kind::Length) {
      stream.setup.push_back(i);
      continue;
    }
    if ((op.kind == Kind::LoadRow && !op.copies) || (op.kind == Kind::StoreRow && sent[i - begin]))
      continue;
    Stream::Op out;
    out.kind = op.kind;
    out.kernel = op.kernel;
    out.bytes = op.bytes;
    out.op_index = i;
    const Stream::Operand own{Place::Row, static_cast<int32_t>(op.extra)};
    if (op.kind == Kind::LoadRow) {
      out.in[0] = own;
      out.out = OperandOf(op.result, row_of);
    } else if (op.kind == Kind::StoreRow) {
      out.in[0] = OperandOf(op.b, row_of);
      out.out = own;
      out.writes_row = true;
    } else {
      const std::array<Slot, 4> slots = {op.a, op.b, op.c, op.d};
      for (size_t k = 0; k < 4; ++k) out.in[k] = OperandOf(slots[k], row_of);
      const int32_t row = sent_to[static_cast<size_t>(op.result)];
      out.out =
          row >= 0 ? Stream::Operand{Place::Row, row} : Stream::Operand{Place::Tile, op.result};
      out.writes_row = row >= 0;
    }
    for (const Stream::Operand& operand : {out.in[0], out.in[1], out.in[2], out.in[3], out.out})
      stream.needs_tiles = stream.needs_tiles || operand.kind == Place::Tile;
    stream.has_math = stream.has_math || op.kind == Kind::Math;
    stream.ops.push_back(out);
  }
  if (stream.ops.empty()) return;
  int64_t bytes = 0;
  for (const Stream::Row& row : stream.rows) bytes += row.bytes;
  stream.many = StreamBytes / std::max<int64_t>(bytes, 1);
  for (uint32_t i = at + 1; i < begin; ++i) {
    const TileOp& op = function_.ops[i];
    CHECK(op.kind == Kind::Broadcast);
    Stream::Op out;
    out.kind = op.kind;
    out.bytes = op.bytes;
    out.in[0] = OperandOf(op.a, row_of);
    out.out = {Place::Tile, op.result};
    stream.once.push_back(out);
  }
  parallel.stream = static_cast<uint32_t>(function_.streams.size());
  function_.streams.push_back(std::move(stream));
}

}  // namespace

void LayOut(FunctionPlan& function, const TileOptions& options) { Layout(function, options).Run(); }

}  // namespace frazil::targets::tiles
