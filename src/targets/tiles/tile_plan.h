// A kernel as the tile interpreter runs it: micro-ops over slots. A slot is a cell (one element, for values that are the
// same in all lanes) or a tile (an element for each lane). At run time each slot has an address; a load of neighboring
// elements only sets it. Parts of a structured op stand right behind it, their lengths in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/fork.h"
#include "exec/meaning/interpreter_program.h"
#include "ir/lanes/independence.h"
#include "ir/program.h"
#include "targets/tiles/tile.h"
#include "targets/tiles/tile_kernels.h"

namespace frazil::targets::tiles {

using Slot = int32_t;
constexpr Slot NoSlot = -1;

struct TileOp {
  enum class Kind : uint8_t {
    Kernel,        // result = kernel(a, b, c, d)
    Checked,       // the same; lanes may trap
    Broadcast,     // tile result = cell a in every lane
    Iota,          // tile result (64 bits) = cell a + lane * imm
    Move,          // result = a, where the mask is set
    LoadOne,       // cell result = buffer[cell a]
    LoadRow,       // result = buffer[cell a + lane]: in place, or copied (`copies`)
    LoadStrided,   // tile result = buffer[cell a + lane * imm]
    LoadGather,    // tile result = buffer[tile a]
    StoreOne,      // buffer[cell a] = cell b; outside of tiles
    StoreRow,      // buffer[cell a + lane] = tile b
    StoreScatter,  // buffer[tile a] = tile b
    Lookup,        // result = table[a]; table: `extra`
    Length,        // cell result = length of buffer
    Alloc,         // buffer = cell a zeroed elements
    Release,       // the buffer's scratch ends
    Atomic,        // result = buffer[a], combined with b; kind: `extra`
    Cas,           // result = buffer[a], which becomes c where it was b
    Math,  // result = op(a, b, c) by an installed function, else by the plan TilePlan::math[extra]
    Call,  // results = function `extra` of the plan; slots in FunctionPlan::lists
    Assert,  // a
    Unreachable,
    Barrier,  // ends a phase
    If,       // a; parts: then, else. Tiles: masks in c, d
    Switch,   // a; cases in FunctionPlan::lists
    For,  // result = a, a + imm ... while below b; part: body. Divergent: mask in c, trip counts in d
    While,     // parts: test, which leaves its answer in a; body. Divergent: mask in c
    Parallel,  // lanes result = a .. b; parts: once for each thread, body
    Return,    // ends the function
  };
  Kind kind = Kind::Kernel;
  bool uniform = true;     // works on one lane: all operands are cells
  bool divergent = false;  // structures: lanes may go different ways
  bool tiled = false;      // Parallel
  bool copies = false;     // LoadRow: something may write the memory before the last use
  bool phases = false;     // Parallel: has barriers; structures: are boundaries of phases
  bool threaded = false;   // Parallel: its iterations may run at the same time
  uint8_t bytes = 0;       // of an element
  ir::Op op = ir::Op::Unreachable;
  ir::Scalar type = ir::Scalar::Index;
  Slot a = NoSlot, b = NoSlot, c = NoSlot, d = NoSlot;
  Slot result = NoSlot;
  int32_t buffer = -1;
  uint32_t part0 = 0, part1 = 0;  // lengths of the parts behind
  uint32_t extra = 0;
  int64_t imm = 0;
  Kernel kernel = nullptr;
  float cost = 1;                // Parallel: of an iteration, in ops on one lane
  uint32_t stream = UINT32_MAX;  // Parallel: number of its stream, if the body is one
  Location where = {};
};

struct SlotInfo {
  bool is_tile = false;
  uint8_t bytes = 8;
  uint32_t place = 0;   // cell number; tile: bytes of a lane that tiles before it take
  uint32_t number = 0;  // tiles: how many are before it
};

// A body without control flow whose memory is rows: all its checks are made once, then its ops run over long pieces.
struct Stream {
  struct Row {
    int32_t buffer;
    uint32_t base;  // number of the cell with the element of the first lane
    uint8_t bytes;
    bool writes;
  };
  // Where an operand is: a row, a tile, or a cell.
  struct Operand {
    enum class Kind : uint8_t { None, Row, Tile, Cell } kind = Kind::None;
    int32_t number = 0;  // of the row, the slot, or the cell
  };
  struct Op {
    TileOp::Kind kind;
    Kernel kernel = nullptr;
    Operand in[4], out;
    uint8_t bytes = 0;
    uint32_t op_index = 0;  // Math, Iota: which micro-op
    bool writes_row = false;
  };
  std::vector<Row> rows;
  std::vector<Op> once;         // fill tiles before the first piece
  std::vector<Op> ops;          // for each piece
  std::vector<uint32_t> setup;  // micro-ops on cells, once for a launch
  bool needs_tiles = false;
  int64_t many = 0;  // from so many iterations on it may pay to write past the caches
  bool has_math = false;
};

struct FunctionPlan {
  std::vector<TileOp> ops;
  std::vector<SlotInfo> slots;
  std::vector<uint64_t> cells;  // first contents: constants
  uint32_t tile_count = 0, lane_bytes = 0;
  std::vector<Slot> params;  // scalars; NoSlot for buffers. A function that is called: tiles
  std::vector<Slot> results;
  std::vector<ir::Type> result_types;
  uint32_t buffer_count = 0;
  struct Cases {
    std::vector<uint64_t> values;
    std::vector<uint32_t> lengths;      // of the parts, default last
    std::vector<Slot> masks;            // divergent: what is left, what is taken
    std::vector<Slot> inputs, outputs;  // Call
  };
  std::vector<Cases> lists;
  std::vector<Stream> streams;
  uint32_t lanes = 0;  // of a tile
};

// A kernel that is one op on rows, as a launch of few elements wants it: all that it reads, side by side.
struct SingleOp {
  static constexpr int MostRows = 6;
  bool is = false;
  uint8_t bytes = 0;  // of an element that is copied
  uint8_t row_count = 0;
  int8_t out = 0;                      // row
  int32_t lo_word = -1, hi_word = -1;  // of the launch; -1: the constants
  int64_t lo = 0, hi = 0;
  int64_t most = 0;  // iterations; more are for several threads, or pass the caches
  Kernel kernel = nullptr;
  void (*copy)(void*, const void*, size_t) = nullptr;  // where there is no kernel
  struct Row {
    uint32_t word, bytes;
  } rows[MostRows];
  struct Operand {
    int32_t row = -1, word = -1;
    const uint64_t* cell = nullptr;
  } in[4];
};

class TilePlan {
 public:
  SingleOp single;
  std::shared_ptr<const ir::Program> program;  // as it runs: barriers split where they had to be
  std::shared_ptr<const ir::Program> source;
  embed::CpuLevel level = embed::CpuLevel::Baseline;
  std::vector<FunctionPlan> functions;  // the entry first
  std::string lane_by_lane;
  std::optional<machines::simt::Module>
      module;  // one without a program form, which runs lane by lane
  // What must hold at a launch; else `serial` runs.
  std::vector<std::pair<uint32_t, uint32_t>> disjoint, at_most;
  std::vector<uint32_t> word_of_param;  // where a parameter's words begin
  struct Table {
    std::vector<uint8_t> bytes;
    uint64_t length;
  };
  std::vector<Table> tables;
  std::vector<const TilePlan*> math;  // by TileOp::extra of Math
  uint32_t called = 0;                // of a math function's plan: its function
  bool direct =
      false;  // the entry is one parallel, which is a stream without setup: nothing else runs
  bool straight = false;                  // nothing but ops on cells that cannot trap
  uint32_t direct_lo = 0, direct_hi = 0;  // cells
  std::vector<int32_t> word_of_cell;      // of the launch, for cells that are parameters; else -1
  std::vector<uint32_t> buffer_words;     // of each buffer parameter
  TileOptions options;
  bool all_serial = false;

  // The same lane by lane in order, made when a launch needs it.
  const TilePlan* Serial() const;
  // The meaning itself, for what tiles cannot do.
  const exec::InterpreterProgram* Reference() const;

 private:
  mutable ForkOnce serial_once_, reference_once_;
  mutable std::shared_ptr<const TilePlan> serial_;
  mutable std::unique_ptr<exec::InterpreterProgram> reference_;
};

// tile_compile.cpp. `serial`: no parallel is tiled. Fails with Unsupported and the reason.
Result<void> Compile(const ir::Program& program, bool serial, TilePlan& plan);

// Of one function that is called on tiles, with those it calls.
Result<void> CompileCalled(const ir::Program& program, ir::FuncId function, TilePlan& plan);

}  // namespace frazil::targets::tiles
