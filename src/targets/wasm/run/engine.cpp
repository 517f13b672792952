// The engine is made once and never deleted: threads may still be in it when the process ends.
// Measured on a 2-core EPYC VM (library opened 0.5 ms, engine 0.15 ms, first module 0.9 ms, later
// ones 0.4 ms, a call 20 ns). Parallel compilation costs 3 ms of thread pool at the start and is
// off; copy-on-write memory images cost system calls that small modules never win back.
#include "targets/wasm/run/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

namespace frazil::targets::wasm {

namespace {

constexpr auto TickInterval = std::chrono::milliseconds(2);
// Ticks go on for a while after the last run, so that the next one need not wake the thread.
constexpr int IdleTicks = 50;

std::string TakeText(const wasmtime::Api& api, wasmtime::ByteVec& text) {
  std::string copy(text.data, text.size);
  api.byte_vec_delete(&text);
  return copy;
}

// The store's deadline passed: is the run still wanted?
wasmtime::Error* OnTick(wasmtime::Context*, void* data, uint64_t* delta, uint8_t* kind) {
  RunWatch* run = *static_cast<RunWatch**>(data);
  constexpr uint8_t Continue = 0;
  *delta = 1;
  *kind = Continue;
  if (run == nullptr) return nullptr;
  if (!run->context->IsStopped() && !run->deadline.Passed()) return nullptr;
  run->interrupted = true;
  return run->engine->api().error_new("interrupted");
}

}  // namespace

struct Engine::Watch {
  std::mutex mutex;
  std::condition_variable wake;
  int watched = 0;
  bool running = false;
  pid_t process = getpid();
};

Engine::Engine(const wasmtime::Api& api, wasmtime::Engine* handle, Interruption interruption)
    : api_(api), handle_(handle), interruption_(interruption), watch_(new Watch) {}

Result<Engine*> Engine::Get(Interruption interruption, Registers registers) {
  static std::mutex mutex;
  static Engine* engines[2][2] = {};
  std::lock_guard lock(mutex);
  Engine*& engine = engines[static_cast<size_t>(interruption)][static_cast<size_t>(registers)];
  if (engine != nullptr) return engine;
  const wasmtime::Api& api = *TRY(wasmtime::LoadApi());
  wasmtime::Config* config = api.config_new();
  api.config_opt_level(config, wasmtime::OptSpeed);
  api.config_nan(config, false);
  api.config_fuel(config, false);
  api.config_epoch(config, interruption == Interruption::Epoch);
  api.config_async_stack(config, MaxStackBytes + (size_t{1} << 20));
  api.config_stack(config, MaxStackBytes);
  api.config_registers(config, static_cast<uint8_t>(registers));
  api.config_parallel(config, false);
  api.config_unwind(config, false);
  api.config_cow(config, false);
  wasmtime::Engine* handle = api.engine_new(config);
  if (handle == nullptr) return Fail(Diag::EngineFailed, "wasmtime gave no engine");
  engine = new Engine(api, handle, interruption);
  return engine;
}

Engine::Watch& Engine::OwnWatch() {
  Watch* watch = watch_.load();
  if (watch->process == getpid()) return *watch;
  // The parent's is left: a thread of it may have held its lock.
  auto own = std::make_unique<Watch>();
  if (watch_.compare_exchange_strong(watch, own.get())) return *own.release();
  return *watch;
}

void Engine::BeginWatch() {
  Watch& watch = OwnWatch();
  std::lock_guard lock(watch.mutex);
  ++watch.watched;
  if (!watch.running) {
    watch.running = true;
    std::thread([this] { Tick(); }).detach();
  } else {
    watch.wake.notify_one();
  }
}

void Engine::EndWatch() {
  Watch& watch = *watch_.load();
  std::lock_guard lock(watch.mutex);
  --watch.watched;
}

void Engine::Tick() {
  Watch& watch = *watch_.load();
  std::unique_lock lock(watch.mutex);
  for (int idle = 0;;) {
    idle = watch.watched > 0 ? 0 : idle + 1;
    if (idle > IdleTicks) {
      watch.wake.wait(lock, [&] { return watch.watched > 0; });
      idle = 0;
    }
    lock.unlock();
    std::this_thread::sleep_for(TickInterval);
    api_.increment_epoch(handle_);
    lock.lock();
  }
}

frazil::Error Engine::Describe(wasmtime::Error* error, std::string_view doing) const {
  wasmtime::ByteVec text{};
  api_.error_message(error, &text);
  api_.error_delete(error);
  return {Diag::EngineFailed, fmt::format("wasmtime, {}: {}", doing, TakeText(api_, text))};
}

Result<std::shared_ptr<CompiledModule>> CompiledModule::Create(std::string_view bytes,
                                                               Interruption interruption,
                                                               Registers registers) {
  Engine* engine = TRY(Engine::Get(interruption, registers));
  wasmtime::Module* handle = nullptr;
  wasmtime::Error* error = engine->api().module_new(
      engine->handle(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &handle);
  if (error != nullptr) return std::unexpected(engine->Describe(error, "compiling the module"));
  return std::shared_ptr<CompiledModule>(new CompiledModule(engine, handle));
}

CompiledModule::~CompiledModule() { engine_->api().module_delete(handle_); }

Result<std::unique_ptr<Instance>> Instance::Create(std::shared_ptr<CompiledModule> module,
                                                   std::string_view entry) {
  std::unique_ptr<Instance> self(new Instance(std::move(module)));
  Engine& engine = self->module_->engine();
  const wasmtime::Api& api = engine.api();
  self->store_ = api.store_new(engine.handle(), nullptr, nullptr);
  self->context_ = api.store_context(self->store_);
  if (engine.is_interruptible())
    api.store_epoch_callback(self->store_, OnTick, self->current_.get(), nullptr);
  wasmtime::Instance instance{};
  wasmtime::Trap* trap = nullptr;
  wasmtime::Error* error =
      api.instance_new(self->context_, self->module_->handle(), nullptr, 0, &instance, &trap);
  if (error != nullptr) return std::unexpected(engine.Describe(error, "making an instance"));
  if (trap != nullptr) {
    api.trap_delete(trap);
    return Fail(Diag::EngineFailed, "wasmtime trapped while it made an instance");
  }
  auto find = [&](std::string_view name, wasmtime::ExternKind kind, wasmtime::Extern& out) {
    return api.export_get(self->context_, &instance, name.data(), name.size(), &out) &&
           out.kind == kind;
  };
  wasmtime::Extern found{};
  if (!find(entry, wasmtime::ExternFunc, found))
    return Fail(Diag::BadArtifact, fmt::format("the module exports no function '{}'", entry));
  self->entry_ = found.of.func;
  if (find("memory", wasmtime::ExternMemory, found)) {
    self->has_memory_ = true;
    self->memory_ = found.of.memory;
  }
  if (find(exec::MarksName, wasmtime::ExternMemory, found)) {
    self->has_marks_ = true;
    self->marks_ = found.of.memory;
  }
  for (int i = 0; i < GlobalCount; ++i) {
    if (!find(GlobalName(static_cast<GlobalVar>(i)), wasmtime::ExternGlobal, found)) continue;
    self->has_global_[i] = true;
    self->globals_[i] = found.of.global;
  }
  return self;
}

Instance::~Instance() {
  if (store_ != nullptr) api().store_delete(store_);
}

std::span<std::byte> Instance::marks() const {
  if (!has_marks_) return {};
  return {reinterpret_cast<std::byte*>(api().memory_data(context_, &marks_)),
          api().memory_bytes(context_, &marks_)};
}

bool Instance::GrowMemoryTo(uint64_t bytes) {
  constexpr uint64_t Page = 65536;
  uint64_t now = memory_bytes();
  if (bytes <= now) return true;
  uint64_t previous = 0;
  wasmtime::Error* error =
      api().memory_grow(context_, &memory_, (bytes - now + Page - 1) / Page, &previous);
  if (error == nullptr) return true;
  api().error_delete(error);
  return false;
}

uint64_t Instance::Get(GlobalVar global) const {
  wasmtime::Value value{};
  api().global_get(context_, &globals_[static_cast<size_t>(global)], &value);
  return value.kind == wasmtime::KindI32 ? static_cast<uint32_t>(value.of.i32)
                                         : static_cast<uint64_t>(value.of.i64);
}

void Instance::Set(GlobalVar global, uint64_t number) {
  if (!has(global)) return;
  wasmtime::Value value{};
  if (global >= GlobalVar::Heap) {
    value.kind = wasmtime::KindI32;
    value.of.i32 = static_cast<int32_t>(number);
  } else {
    value.kind = wasmtime::KindI64;
    value.of.i64 = static_cast<int64_t>(number);
  }
  // It fails only for a global of another type, which is not loaded.
  if (wasmtime::Error* error =
          api().global_set(context_, &globals_[static_cast<size_t>(global)], &value))
    api().error_delete(error);
}

Result<CallEnd> Instance::Call(std::span<wasmtime::RawValue> values, RunWatch& watch) {
  const wasmtime::Api& a = api();
  bool watched = module_->engine().is_interruptible();
  *current_ = &watch;
  if (watched) {
    a.set_epoch_deadline(context_, 1);
    module_->engine().BeginWatch();
  }
  wasmtime::Trap* trap = nullptr;
  wasmtime::Error* error = a.func_call(context_, &entry_, values.data(), values.size(), &trap);
  if (watched) module_->engine().EndWatch();
  *current_ = nullptr;
  if (error != nullptr) {
    if (!watch.interrupted)
      return std::unexpected(module_->engine().Describe(error, "calling the entry"));
    a.error_delete(error);
    return CallEnd::Interrupted;
  }
  if (trap == nullptr) return CallEnd::Returned;
  uint8_t code = 0;
  bool has_code = a.trap_code(trap, &code);
  wasmtime::ByteVec text{};
  a.trap_message(trap, &text);
  std::string message = TakeText(a, text);
  a.trap_delete(trap);
  if (watch.interrupted) return CallEnd::Interrupted;
  if (has_code && code == wasmtime::TrapStackOverflow) return CallEnd::StackOverflow;
  if (has_code && code == wasmtime::TrapUnreachable) return CallEnd::Trapped;
  // The module is wrong, not the engine: who judges it must see a difference.
  return Fail(Diag::BadArtifact,
              fmt::format("wasmtime trapped where the program cannot: {}", message));
}

}  // namespace frazil::targets::wasm
