// Our own declarations of the few functions of wasmtime's C API (version 50.0.1) that are used
// here, as a table of pointers filled from the library at run time. Nothing of wasmtime's headers
// is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace frazil::targets::wasm::wasmtime {

struct Config;
struct Engine;
struct Module;
struct Store;
struct Context;
struct Error;
struct Trap;

struct ByteVec {
  size_t size;
  char* data;
};

// A value of a call: the raw form, without a kind.
union RawValue {
  int32_t i32;
  int64_t i64;
  uint32_t f32_bits;
  uint64_t f64_bits;
  unsigned char vector[16];
};

enum ValueKind : uint8_t { KindI32 = 0, KindI64 = 1, KindF32 = 2, KindF64 = 3 };

struct Value {
  ValueKind kind;
  union {
    int32_t i32;
    int64_t i64;
    // The widest member of the original: a reference with its store.
    struct {
      uint64_t store;
      uint32_t a, b;
      void* c;
    } reference;
  } of;
};

struct Instance {
  uint64_t store;
  size_t index;
};
struct Func {
  uint64_t store;
  void* index;
};
struct MemoryRef {
  struct {
    uint64_t store;
    uint32_t a;
  } of;
  uint32_t b;
};
struct Global {
  uint64_t store;
  uint32_t a, b, c;
};

enum ExternKind : uint8_t { ExternFunc = 0, ExternGlobal = 1, ExternTable = 2, ExternMemory = 3 };
struct Extern {
  ExternKind kind;
  union {
    Func func;
    Global global;
    MemoryRef memory;
    uint64_t room[4];
  } of;
};
// Layouts as the library's own bindings of this version state them.
static_assert(sizeof(RawValue) == 16 && sizeof(Value) == 32 && sizeof(Func) == 16);
static_assert(sizeof(Global) == 24 && sizeof(MemoryRef) == 24 && sizeof(Extern) == 40);

enum TrapCode : uint8_t { TrapStackOverflow = 0, TrapUnreachable = 9, TrapInterrupt = 10 };
enum OptLevel : uint8_t { OptNone = 0, OptSpeed = 1 };

// X(member, "exported name", result, arguments)
#define FRAZIL_WASMTIME_FUNCTIONS(X)                                                         \
  X(byte_vec_delete, "wasm_byte_vec_delete", void, (ByteVec*))                               \
  X(config_new, "wasm_config_new", Config*, ())                                              \
  X(config_opt_level, "wasmtime_config_cranelift_opt_level_set", void, (Config*, uint8_t))   \
  X(config_registers, "wasmtime_config_cranelift_regalloc_algorithm_set", void,              \
    (Config*, uint8_t))                                                                      \
  X(config_nan, "wasmtime_config_cranelift_nan_canonicalization_set", void, (Config*, bool)) \
  X(config_fuel, "wasmtime_config_consume_fuel_set", void, (Config*, bool))                  \
  X(config_epoch, "wasmtime_config_epoch_interruption_set", void, (Config*, bool))           \
  X(config_stack, "wasmtime_config_max_wasm_stack_set", void, (Config*, size_t))             \
  X(config_async_stack, "wasmtime_config_async_stack_size_set", void, (Config*, uint64_t))   \
  X(config_parallel, "wasmtime_config_parallel_compilation_set", void, (Config*, bool))      \
  X(config_unwind, "wasmtime_config_native_unwind_info_set", void, (Config*, bool))          \
  X(config_cow, "wasmtime_config_memory_init_cow_set", void, (Config*, bool))                \
  X(engine_new, "wasm_engine_new_with_config", Engine*, (Config*))                           \
  X(increment_epoch, "wasmtime_engine_increment_epoch", void, (Engine*))                     \
  X(module_new, "wasmtime_module_new", Error*, (Engine*, const uint8_t*, size_t, Module**))  \
  X(module_delete, "wasmtime_module_delete", void, (Module*))                                \
  X(store_new, "wasmtime_store_new", Store*, (Engine*, void*, void (*)(void*)))              \
  X(store_context, "wasmtime_store_context", Context*, (Store*))                             \
  X(store_limiter, "wasmtime_store_limiter", void,                                           \
    (Store*, int64_t, int64_t, int64_t, int64_t, int64_t))                                   \
  X(store_epoch_callback, "wasmtime_store_epoch_deadline_callback", void,                    \
    (Store*, EpochCallback, void*, void (*)(void*)))                                         \
  X(store_delete, "wasmtime_store_delete", void, (Store*))                                   \
  X(set_epoch_deadline, "wasmtime_context_set_epoch_deadline", void, (Context*, uint64_t))   \
  X(instance_new, "wasmtime_instance_new", Error*,                                           \
    (Context*, const Module*, const Extern*, size_t, Instance*, Trap**))                     \
  X(export_get, "wasmtime_instance_export_get", bool,                                        \
    (Context*, const Instance*, const char*, size_t, Extern*))                               \
  X(func_call, "wasmtime_func_call_unchecked", Error*,                                       \
    (Context*, const Func*, RawValue*, size_t, Trap**))                                      \
  X(memory_data, "wasmtime_memory_data", uint8_t*, (Context*, const MemoryRef*))             \
  X(memory_bytes, "wasmtime_memory_data_size", size_t, (Context*, const MemoryRef*))         \
  X(memory_grow, "wasmtime_memory_grow", Error*,                                             \
    (Context*, const MemoryRef*, uint64_t, uint64_t*))                                       \
  X(global_get, "wasmtime_global_get", void, (Context*, const Global*, Value*))              \
  X(global_set, "wasmtime_global_set", Error*, (Context*, const Global*, const Value*))      \
  X(trap_code, "wasmtime_trap_code", bool, (const Trap*, uint8_t*))                          \
  X(trap_message, "wasm_trap_message", void, (const Trap*, ByteVec*))                        \
  X(trap_delete, "wasm_trap_delete", void, (Trap*))                                          \
  X(error_new, "wasmtime_error_new", Error*, (const char*))                                  \
  X(error_message, "wasmtime_error_message", void, (const Error*, ByteVec*))                 \
  X(error_delete, "wasmtime_error_delete", void, (Error*))

// Called when the epoch passes a store's deadline: null to go on for `delta` more ticks, or an
// error.
using EpochCallback = Error* (*)(Context*, void* data, uint64_t* delta, uint8_t* kind);

struct Api {
#define FRAZIL_MEMBER(member, symbol, result, arguments) result(*member) arguments = nullptr;
  FRAZIL_WASMTIME_FUNCTIONS(FRAZIL_MEMBER)
#undef FRAZIL_MEMBER
};

// The library, opened once per process: $FRAZIL_WASMTIME, else libwasmtime.so beside the executable
// or in ../lib/frazil, else where the build had it. Diag::MissingLibrary says what was tried.
Result<const Api*> LoadApi();

}  // namespace frazil::targets::wasm::wasmtime
