// What native code sees of a run: limits, the place of a trap, and a table of helpers, because code without
// relocations can call nothing by name. The code reads and writes the first part by offset; its layout is part of
// NativeAbiVersion. The rest belongs to the helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frazil::embed {

struct NativeRun;

// Changes whenever NativeRun or the entry form changes; part of every store key and of every embedded kernel.
constexpr uint32_t NativeAbiVersion = 2;

// Arguments: a scalar is its words, a buffer its address and its length. Results: their words.
// Gives 0, or 1 + the trap's kind; then the run says which op and iteration.
using NativeEntry = int32_t (*)(const uint64_t* arguments, uint64_t* results, NativeRun* run);

// What a trap's status is 1 more than: the kinds of the IR, in its order.
enum class TrapKind : uint8_t {
  DivisionByZero,
  Overflow,
  OutOfBounds,
  Assert,
  InvertOfZero,
  Unreachable,
  Fuel,
  Depth,
  Memory,
};
// A value on a stream has another type than was asked for.
constexpr int32_t WrongTypeStatus = 10;

// In the order of the table; what each takes and gives stands beside its function in embed/native_run.cpp.
enum class NativeHelper : uint8_t {
  Alloc,
  Release,
  Read,
  Output,
  WideMul,
  WideDiv,
  WideRem,
  Fma,
  FieldInvert,
  XFieldInvert,
};
constexpr int NativeHelperCount = 10;

// Which stream NativeHelper::Read reads.
enum class NativeStream : uint32_t { Input, Hints };

// A stream of values as words.
struct StreamData {
  std::vector<uint64_t> words;
  std::vector<uint16_t> types;
};

// Scratch buffers of a run: a stack of zeroed blocks in few large pieces of memory.
class ScratchArena {
 public:
  ScratchArena() = default;
  ~ScratchArena();
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;
  struct Block {
    Block* before;
    uint64_t bytes;  // of the buffer
    uint64_t start;  // where the piece was used up to before it
  };
  // A block above `before`, or null; its buffer begins DataOffset bytes behind it, at a multiple of 64.
  Block* Push(Block* before, uint64_t bytes);
  void Pop(Block* block);
  static constexpr size_t DataOffset = 64;

 private:
  struct Piece {
    Piece* before;
    uint64_t size;  // bytes behind this head
    uint64_t used;
  };
  Piece* piece_ = nullptr;  // the youngest
  Piece* spare_ = nullptr;  // one that was given back, kept for the next loop iteration
};

struct NativeRun {
  NativeRun();  // default limits, no streams
  ~NativeRun();
  NativeRun(const NativeRun&) = delete;
  NativeRun& operator=(const NativeRun&) = delete;

  const void* const* helpers;  // by NativeHelper
  uint64_t fuel;               // counted by metered code only
  uint64_t depth_left;         // nested calls
  const uint8_t* stop;         // never null; not 0: back-edges trap with Fuel
  uint64_t stack_limit = 0;    // recursion below this address traps with Depth
  void* scratch = nullptr;     // the youngest block of the arena
  int64_t trap_index = -1;
  uint32_t trap_op = 0;  // the op of the IR, valid after a trap

  // From here on: helpers only.
  uint64_t memory_left;
  const StreamData* input = nullptr;
  const StreamData* hints = nullptr;
  struct Position {
    size_t words = 0;
    size_t values = 0;
  };
  Position input_position, hint_position;
  std::vector<uint64_t> output;
  std::vector<uint16_t> output_types;  // the type of each value, as exec/word_call.h codes it
  ScratchArena arena;

  // Gives back the scratch that a trap left alive.
  void ReleaseScratch();
};

// Offsets that code uses.
struct NativeRunLayout {
  static constexpr size_t Helpers = 0, Fuel = 8, DepthLeft = 16, Stop = 24, StackLimit = 32,
                          Scratch = 40, TrapIndex = 48, TrapOp = 56;
};

// This thread's own stack: the lowest address that compiled code may reach, with room below for what it calls, and the
// end. Nothing where it cannot be told.
struct ThreadStack {
  uint64_t limit = 0;
  uint64_t end = 0;
};
const ThreadStack& StackOfThread();

}  // namespace frazil::embed
