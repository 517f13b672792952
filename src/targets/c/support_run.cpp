// Support code of a run: its limits, its streams, and the trap it ends with. Layout and meaning of frz_run
// are the target's ABI; run_layout.h mirrors it for the code that loads compiled headers.
#include "targets/c/support.h"

namespace frazil::targets::c {
namespace {

constexpr Piece Pieces[] = {
    {"run", "", R"c(
/* What f_run of a program f gives: FRZ_OK, or the kind of the trap that ended it. */
enum {
  FRZ_OK = 0,
  FRZ_DIVISION_BY_ZERO = 1,
  FRZ_OVERFLOW = 2,
  FRZ_OUT_OF_BOUNDS = 3,
  FRZ_ASSERT = 4,
  FRZ_INVERT_OF_ZERO = 5,
  FRZ_UNREACHABLE = 6,
  FRZ_FUEL = 7,
  FRZ_DEPTH = 8,
  FRZ_MEMORY = 9,
  FRZ_WRONG_TYPE = 10 /* no trap: the next value of a stream has another type than the program reads */
};

/* Types of stream values; an int<k> is FRZ_INT + 256 * k. */
enum {
  FRZ_I8, FRZ_I16, FRZ_I32, FRZ_I64, FRZ_U8, FRZ_U16, FRZ_U32, FRZ_U64, FRZ_F16, FRZ_BF16, FRZ_F32, FRZ_F64,
  FRZ_BOOL, FRZ_INDEX, FRZ_INT, FRZ_FIELD, FRZ_XFIELD, FRZ_DIGEST
};

/* Values to read. Each is its 64-bit words: integers sign- or zero-extended, floats as bits, int<k>, xfield
   and digest as several words. The types of the values may be given too; then they are checked. */
typedef struct frz_stream {
  const uint64_t* data;
  uint64_t words;
  const uint16_t* types;
} frz_stream;

typedef struct frz_position {
  uint64_t words;
  uint64_t values;
} frz_position;

/* Limits, streams and outcome of one run: frz_run_init it, change what you want, pass it. */
typedef struct frz_run {
  uint64_t fuel;             /* loop iterations and calls left; counted by metered programs only */
  uint64_t depth;            /* deepest nesting of calls */
  uint64_t memory_bytes;     /* scratch memory alive at a time */
  const uint8_t* stop;       /* if not NULL: set the byte to 1 to end `while` loops with FRZ_FUEL */
  uintptr_t stack_end;       /* if not 0: recursion stops with FRZ_DEPTH below this address */
  frz_stream input;
  frz_stream hints;
  uint64_t* output;          /* grown with realloc; yours to free, as are the types */
  uint16_t* output_types;    /* one for each value written */
  uint64_t output_words;
  uint64_t output_values;
  uint64_t output_capacity;  /* words and values that there is room for */
  int64_t trap_index;        /* iteration of the outermost parallel around the trap, -1 outside */
  const char* trap_op;       /* the operation that trapped, by its name in the IR */
  int trap;                  /* FRZ_OK or the kind */
  frz_position input_position;  /* from here on: used by the program itself */
  frz_position hint_position;
  uint64_t depth_used;
  uint64_t memory_used;
  void* scratch;
} frz_run;

static inline void frz_run_init(frz_run* run) {
  memset(run, 0, sizeof *run);
  run->fuel = 1ull << 62;
  run->depth = 1000;
  run->memory_bytes = 1ull << 30;
  run->trap_index = -1;
}
)c"},
    {"trap", "run", R"c(
/* Records a trap; true, so that callers can return it. */
static inline bool frz_trap(frz_run* run, int kind, const char* op, int64_t index) {
  run->trap = kind;
  run->trap_op = op;
  run->trap_index = index;
  return true;
}
)c"},
    {"trap_at", "run", R"c(
/* A trap passes through iteration `index` of a parallel on its way out. */
static inline bool frz_trap_at(frz_run* run, int64_t index) {
  run->trap_index = index;
  return true;
}
)c"},
    {"begin", "run", R"c(
static inline frz_run* frz_begin(frz_run* run, frz_run* local) {
  if (run == NULL) {
    run = local;
    frz_run_init(run);
  }
  run->trap = FRZ_OK;
  run->trap_op = NULL;
  run->trap_index = -1;
  run->input_position.words = run->input_position.values = 0;
  run->hint_position.words = run->hint_position.values = 0;
  run->depth_used = 0;
  run->memory_used = 0;
  run->scratch = NULL;
  return run;
}
)c"},
    {"enter", "trap", R"c(
/* Before a call. */
static inline bool frz_enter(frz_run* run, int64_t index) {
  if (run->depth_used >= run->depth) return frz_trap(run, FRZ_DEPTH, "call", index);
  run->depth_used += 1;
  return false;
}
)c"},
    {"leave", "run", R"c(
/* After a call. */
static inline void frz_leave(frz_run* run) {
  run->depth_used -= 1;
}
)c"},
    {"stack", "trap", R"c(
/* Does the C stack end here? */
static inline bool frz_stack(frz_run* run) {
  if ((uintptr_t)__builtin_frame_address(0) >= run->stack_end) return false;
  return frz_trap(run, FRZ_DEPTH, "call", -1);
}
)c"},
    {"take_fuel", "trap", R"c(
static inline bool frz_take_fuel(frz_run* run, uint64_t units, const char* op, int64_t index) {
  if (units > run->fuel) return frz_trap(run, FRZ_FUEL, op, index);
  run->fuel -= units;
  return false;
}
)c"},
    {"stopped", "trap", R"c(
/* Has someone asked this run to end? */
static inline bool frz_stopped(frz_run* run, const char* op, int64_t index) {
  if (run->stop == NULL || __atomic_load_n(run->stop, __ATOMIC_RELAXED) == 0) return false;
  return frz_trap(run, FRZ_FUEL, op, index);
}
)c"},
    {"alloc", "run", R"c(
/* A zeroed scratch buffer, or NULL. Buffers form a stack; frz_release goes back to a mark. */
typedef struct frz_block {
  struct frz_block* before;
  uint64_t bytes;
} frz_block;

static inline void* frz_alloc(frz_run* run, int64_t length, uint64_t element_bytes) {
  const uint64_t room = run->memory_bytes - run->memory_used;
  if (length < 0 || (uint64_t)length > room / element_bytes) return NULL;
  const uint64_t bytes = (uint64_t)length * element_bytes;
  if (bytes > SIZE_MAX - sizeof(frz_block)) return NULL;
  frz_block* const block = (frz_block*)calloc(1, sizeof(frz_block) + (size_t)bytes);
  if (block == NULL) return NULL;
  block->before = (frz_block*)run->scratch;
  block->bytes = bytes;
  run->scratch = block;
  run->memory_used += bytes;
  return block + 1;
}

static inline void frz_release(frz_run* run, void* mark) {
  while (run->scratch != mark) {
    frz_block* const block = (frz_block*)run->scratch;
    run->scratch = block->before;
    run->memory_used -= block->bytes;
    free(block);
  }
}
)c"},
    {"stream", "trap", R"c(
/* The next value of a stream, with a type that must be its type where the stream's types are known. */
static inline bool frz_read(frz_run* run, const frz_stream* stream, frz_position* position, unsigned type,
                            uint64_t* words, uint64_t count, const char* op, int64_t index) {
  if (stream->words - position->words < count) return frz_trap(run, FRZ_OUT_OF_BOUNDS, op, index);
  if (stream->types != NULL && stream->types[position->values] != type)
    return frz_trap(run, FRZ_WRONG_TYPE, op, index);
  for (uint64_t i = 0; i < count; ++i) words[i] = stream->data[position->words + i];
  position->words += count;
  position->values += 1;
  return false;
}
)c"},
    {"input", "stream", R"c(
static inline bool frz_input(frz_run* run, unsigned type, uint64_t* words, uint64_t count, int64_t index) {
  return frz_read(run, &run->input, &run->input_position, type, words, count, "input", index);
}
)c"},
    {"hint", "stream", R"c(
static inline bool frz_hint(frz_run* run, unsigned type, uint64_t* words, uint64_t count, int64_t index) {
  return frz_read(run, &run->hints, &run->hint_position, type, words, count, "hint", index);
}
)c"},
    {"output", "trap", R"c(
/* Appends one value to the output stream; without memory for it the program traps. */
static inline bool frz_output(frz_run* run, unsigned type, const uint64_t* words, uint64_t count, int64_t index) {
  if (run->output_capacity - run->output_words < count || run->output_values == run->output_capacity) {
    const uint64_t capacity = 2 * run->output_capacity + 128;
    uint64_t* const output = (uint64_t*)realloc(run->output, (size_t)capacity * sizeof *run->output);
    if (output == NULL) return frz_trap(run, FRZ_MEMORY, "output", index);
    run->output = output;
    uint16_t* const types = (uint16_t*)realloc(run->output_types, (size_t)capacity * sizeof *run->output_types);
    if (types == NULL) return frz_trap(run, FRZ_MEMORY, "output", index);
    run->output_types = types;
    run->output_capacity = capacity;
  }
  for (uint64_t i = 0; i < count; ++i) run->output[run->output_words + i] = words[i];
  run->output_types[run->output_values] = (uint16_t)type;
  run->output_words += count;
  run->output_values += 1;
  return false;
}
)c"},
};

}  // namespace

std::span<const Piece> RunPieces() { return Pieces; }

}  // namespace frazil::targets::c
