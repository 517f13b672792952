// wasmtime as this target uses it: one engine per process, modules, and instances that runs reuse.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/deadline.h"
#include "base/result.h"
#include "exec/outcome.h"
#include "targets/wasm/emit/module_context.h"
#include "targets/wasm/run/wasmtime_api.h"

namespace frazil::targets::wasm {

// How deep compiled code may go on the native stack; runs that recurse get a thread with that much.
constexpr size_t MaxStackBytes = size_t{256} << 20;

// Code that can be interrupted looks at a counter in every loop, which costs up to four times the
// loop itself (values go to the stack around the slow path). Runs whose work is bounded beforehand
// do without.
enum class Interruption : uint8_t { None, Epoch };

// Quick: registers in one pass. For functions so large that the better allocator takes minutes
// (300,000 ops with 20,000 of them alive: 1 s instead of more than 60 s).
enum class Registers : uint8_t { Good, Quick };

class Engine {
 public:
  // The engine of this process, made when first asked for.
  static Result<Engine*> Get(Interruption interruption, Registers registers);

  const wasmtime::Api& api() const { return api_; }
  wasmtime::Engine* handle() const { return handle_; }
  bool is_interruptible() const { return interruption_ == Interruption::Epoch; }
  // While at least one run is being watched, stores see a tick every few milliseconds.
  void BeginWatch();
  void EndWatch();
  // Takes the error and says it as ours.
  frazil::Error Describe(wasmtime::Error* error, std::string_view doing) const;

 private:
  Engine(const wasmtime::Api& api, wasmtime::Engine* handle, Interruption interruption);
  struct Watch;
  void Tick();
  // Of this process: a fork has the watch of its parent, and nobody who ticks.
  Watch& OwnWatch();

  const wasmtime::Api& api_;
  wasmtime::Engine* handle_;
  Interruption interruption_;
  std::atomic<Watch*>
      watch_;  // of this process: a child has its own, for it has no thread of its parent's
};

// Compiled code. Shared by the instances made from it.
class CompiledModule {
 public:
  static Result<std::shared_ptr<CompiledModule>> Create(std::string_view bytes,
                                                        Interruption interruption,
                                                        Registers registers);
  ~CompiledModule();
  Engine& engine() const { return *engine_; }
  wasmtime::Module* handle() const { return handle_; }

 private:
  CompiledModule(Engine* engine, wasmtime::Module* handle) : engine_(engine), handle_(handle) {}
  Engine* engine_;
  wasmtime::Module* handle_;
};

// How long a run may take, seen from inside it.
struct RunWatch {
  Engine* engine = nullptr;
  const exec::RunContext* context = nullptr;
  Deadline deadline = Deadline::Never();
  bool interrupted = false;
};

enum class CallEnd { Returned, Trapped, StackOverflow, Interrupted };

// A store with one instance.
class Instance {
 public:
  static Result<std::unique_ptr<Instance>> Create(std::shared_ptr<CompiledModule> module,
                                                  std::string_view entry);
  ~Instance();

  Engine& engine() const { return module_->engine(); }
  bool has_memory() const { return has_memory_; }
  uint8_t* memory() const { return api().memory_data(context_, &memory_); }
  uint64_t memory_bytes() const { return api().memory_bytes(context_, &memory_); }
  void LimitMemory(uint64_t bytes) {
    api().store_limiter(store_, static_cast<int64_t>(bytes), -1, -1, -1, -1);
  }
  bool GrowMemoryTo(uint64_t bytes);

  // The memory of a marked copy (exec::MarksName); empty where the module has none.
  std::span<std::byte> marks() const;

  bool has(GlobalVar global) const { return has_global_[static_cast<size_t>(global)]; }
  uint64_t Get(GlobalVar global) const;
  void Set(GlobalVar global, uint64_t value);

  // Calls the entry; `values` holds the parameters, then the results.
  Result<CallEnd> Call(std::span<wasmtime::RawValue> values, RunWatch& watch);

 private:
  explicit Instance(std::shared_ptr<CompiledModule> module) : module_(std::move(module)) {}
  const wasmtime::Api& api() const { return module_->engine().api(); }

  std::shared_ptr<CompiledModule> module_;
  wasmtime::Store* store_ = nullptr;
  wasmtime::Context* context_ = nullptr;
  wasmtime::Func entry_{};
  wasmtime::MemoryRef memory_{};
  bool has_memory_ = false;
  wasmtime::MemoryRef marks_{};
  bool has_marks_ = false;
  wasmtime::Global globals_[GlobalCount]{};
  bool has_global_[GlobalCount]{};
  // Where the store's callback finds the run that is going on.
  std::unique_ptr<RunWatch*> current_ = std::make_unique<RunWatch*>(nullptr);
};

}  // namespace frazil::targets::wasm
