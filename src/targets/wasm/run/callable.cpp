// A run: arguments to words and linear memory, globals set, one call, and everything back. Memory
// from its static end up holds, in this order: buffers (identical ones once), the input and hint
// streams, the heap, the output. The instance stays for the next run unless its memory became
// large. What a module says about itself is checked when it is loaded or where it is used: its bytes may come from a file.
#include "targets/wasm/run/callable.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "exec/marshal.h"
#include "targets/wasm/emit/entry_wrapper.h"
#include "targets/wasm/emit/function_emitter.h"
#include "targets/wasm/emit/representation.h"
#include "targets/wasm/emit/work.h"
#include "targets/wasm/module/module_reader.h"
#include "targets/wasm/run/engine.h"
#include "targets/wasm/run/streams.h"

namespace frazil::targets::wasm {
namespace {

using exec::Outcome;
using exec::RunContext;
using exec::TrapInfo;
using wasmtime::RawValue;

constexpr uint64_t AddressSpace = uint64_t{1} << 32;
constexpr uint64_t OutputRoom = 65536;  // below the output, for the heap
constexpr uint64_t FrameSlack = uint64_t{256}
                                << 20;  // frames of int<k> values beside counted scratch
constexpr uint64_t MemoryKept = uint64_t{64} << 20;
// Larger or recursive programs run on a thread whose stack is known to be deep.
constexpr size_t SmallProgram = 4000;
constexpr size_t LargeFunction = 20'000;

uint64_t Aligned(uint64_t address) { return (address + 15) & ~uint64_t{15}; }

struct Shape {
  bool needs_stack = false;
  bool is_judged = false;  // it has marks
  Registers registers = Registers::Good;
  size_t insts = 0;
  uint64_t static_end = 16;
};

// Does some chain of calls come back to where it started?
bool IsRecursive(const ir::Program& program) {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> state(program.functions.size(), State::New);
  struct Item {
    uint32_t function;
    size_t next;
    std::vector<uint32_t> callees;
  };
  auto callees_of = [&](uint32_t f) {
    const ir::Function& function = program.functions[f];
    std::vector<uint32_t> callees;
    for (const ir::Region& region : function.regions)
      for (ir::InstId id : region.insts)
        if (function.inst(id).op == ir::Op::Call)
          callees.push_back(static_cast<uint32_t>(function.word(function.inst(id), 0)));
    return callees;
  };
  std::vector<Item> path = {{program.entry.index, 0, callees_of(program.entry.index)}};
  state[program.entry.index] = State::Open;
  while (!path.empty()) {
    Item& top = path.back();
    if (top.next == top.callees.size()) {
      state[top.function] = State::Done;
      path.pop_back();
      continue;
    }
    uint32_t callee = top.callees[top.next++];
    if (state[callee] == State::Open) return true;
    if (state[callee] == State::Done) continue;
    state[callee] = State::Open;
    path.push_back({callee, 0, callees_of(callee)});
  }
  return false;
}

// The exports that a run uses: calls and accesses from here are not checked again.
Result<void> CheckExports(const ModuleView& module, const exec::Artifact& artifact) {
  auto find = [&](std::string_view name, uint8_t kind) -> const ModuleView::Export* {
    for (const ModuleView::Export& entry : module.exports)
      if (entry.name == name && entry.kind == kind) return &entry;
    return nullptr;
  };
  constexpr uint8_t IsFunction = 0, IsMemory = 2, IsGlobal = 3;
  const ir::Function& entry = artifact.program->entry_function();
  const ModuleView::Export* function = find(artifact.entry_symbol, IsFunction);
  if (function == nullptr)
    return Fail(Diag::BadArtifact,
                fmt::format("the module exports no function '{}'", artifact.entry_symbol));
  if (module.types[module.functions[function->index].type] != HostType(entry))
    return Fail(Diag::BadArtifact,
                fmt::format("the module's '{}' has another type than the program's @{}",
                            artifact.entry_symbol, entry.name));
  bool needs_memory = false;
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    needs_memory |= entry.param_type(i).is_buffer();
  bool has[GlobalCount] = {};
  for (int i = 0; i < GlobalCount; ++i) {
    auto var = static_cast<GlobalVar>(i);
    const ModuleView::Export* global =
        GlobalName(var).empty() ? nullptr : find(GlobalName(var), IsGlobal);
    if (global == nullptr) continue;
    has[i] = true;
    needs_memory |= var >= GlobalVar::Heap;
    const ModuleView::Global& found = module.globals[global->index];
    if (!found.is_mutable || found.type != GlobalType(var))
      return Fail(Diag::BadArtifact,
                  fmt::format("the module's global '{}' has another type", GlobalName(var)));
  }
  if (has[static_cast<size_t>(GlobalVar::Output)] != has[static_cast<size_t>(GlobalVar::OutputEnd)])
    return Fail(Diag::BadArtifact, "the module exports only one end of its output");
  const ModuleView::Export* memory = find("memory", IsMemory);
  if (needs_memory && (memory == nullptr || memory->index != 0))
    return Fail(Diag::BadArtifact, "the module does not export the memory that it needs");
  return {};
}

Result<Shape> ShapeOf(const exec::Artifact& artifact) {
  ModuleView module = TRY(ReadModule(artifact.bytes));
  TRY_VOID(CheckExports(module, artifact));
  Shape shape;
  for (const ModuleView::Export& entry : module.exports)
    shape.is_judged |= entry.name == exec::MarksName;
  for (const ModuleView::Data& data : module.data)
    shape.static_end =
        std::max(shape.static_end, Aligned(uint64_t{data.address} + data.bytes.size()));
  for (const ir::Function& function : artifact.program->functions) {
    shape.insts += function.insts.size();
    if (function.insts.size() > LargeFunction) shape.registers = Registers::Quick;
  }
  shape.needs_stack = shape.insts > SmallProgram || IsRecursive(*artifact.program);
  return shape;
}

// Runs a function on a thread of its own with a stack that compiled code may use up.
template <typename F>
bool OnDeepStack(F function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, MaxStackBytes + (size_t{2} << 20));
  pthread_t thread;
  auto enter = [](void* data) -> void* {
    (*static_cast<F*>(data))();
    return nullptr;
  };
  bool started = pthread_create(&thread, &attributes, enter, &function) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

void AppendWord(std::vector<RawValue>& values, ValType type, uint64_t word) {
  RawValue value{};
  if (type == ValType::I32 || type == ValType::F32)
    value.f32_bits = static_cast<uint32_t>(word);
  else
    value.f64_bits = word;
  values.push_back(value);
}

uint64_t WordOf(const RawValue& value, ir::Type type) {
  ValType word = WordType(type);
  if (word == ValType::I64 || word == ValType::F64) return value.f64_bits;
  bool is_signed = IsInteger(type) && IntKindOf(type).is_signed;
  return is_signed ? static_cast<uint64_t>(int64_t{value.i32}) : value.f32_bits;
}

uint64_t StreamSize(std::span<const exec::Value> stream) {
  uint64_t bytes = 0;
  for (const exec::Value& value : stream) bytes += StreamBytes(value.type);
  return bytes;
}

void WriteStream(uint8_t* at, std::span<const exec::Value> stream) {
  for (const exec::Value& value : stream) {
    int64_t tag = StreamTag(value.type);
    std::memcpy(at, &tag, 8);
    std::span<const uint64_t> words = value.scalar_words();
    std::memcpy(at + 8, words.data(), words.size_bytes());
    at += StreamBytes(value.type);
  }
}

class WasmCallable final : public exec::Callable {
 public:
  WasmCallable(const exec::Artifact& artifact, Shape shape)
      : bytes_(artifact.bytes),
        program_(artifact.program),
        source_(artifact.source),
        entry_(artifact.entry_symbol),
        shape_(shape),
        work_(*program_) {}

  // Compiles what the first run will most likely use.
  Result<void> Compile() {
    bool interruptible = work_.is_hopeless() || shape_.is_judged;
    return Select(interruptible ? Interruption::Epoch : Interruption::None);
  }

  Result<Outcome> Run(std::span<const exec::Value> arguments, const RunContext& context) override;

 private:
  // Where one run has put things.
  struct Addresses {
    std::vector<uint64_t> regions;
    uint64_t input = 0, input_end = 0, hints = 0, hints_end = 0, heap = 0, output = 0;
  };
  // What memory has room for: as usual, only for scratch, for nothing more.
  enum class Room : uint8_t { Usual, ForScratch, None };
  Room NextRoom(const RunContext& context);
  Interruption Choose(const exec::LoweredCall& call, const RunContext& context) const;
  Result<void> Select(Interruption interruption);
  Result<Addresses> Place(const exec::LoweredCall& call, const RunContext& context, Room room);
  void Fill(const exec::LoweredCall& call, const RunContext& context, const Addresses& at);
  void SetGlobals(const RunContext& context, const Addresses& at);
  std::vector<RawValue> Flatten(const exec::LoweredCall& call, const Addresses& at) const;
  Result<CallEnd> Call(std::vector<RawValue>& values, const RunContext& context);
  Result<TrapInfo> TrapOf(CallEnd end, const RunContext& context) const;
  Result<std::vector<exec::Value>> ReadOutput() const;

  // The same bytes compiled with and without interruption, each when first needed.
  struct Variant {
    std::shared_ptr<CompiledModule> module;
    std::unique_ptr<Instance> instance;
  };
  std::string bytes_;
  std::shared_ptr<const ir::Program> program_;
  std::shared_ptr<const ir::Program> source_;
  std::string entry_;
  Shape shape_;
  WorkBound work_;
  std::mutex mutex_;  // one run at a time: they share the instance
  Variant variants_[2];
  Instance* instance_ = nullptr;  // of the run that is going on
  uint64_t roomy_runs_ = 0;       // judged ones that give room to scratch
};

Result<void> WasmCallable::Select(Interruption interruption) {
  Variant& variant = variants_[static_cast<size_t>(interruption)];
  if (variant.module == nullptr)
    variant.module = TRY(CompiledModule::Create(bytes_, interruption, shape_.registers));
  if (variant.instance == nullptr) variant.instance = TRY(Instance::Create(variant.module, entry_));
  instance_ = variant.instance.get();
  return {};
}

// Without interruption only what is sure to end before the limit, or at once if somebody may want to stop it. A check for
// interruption in every turn keeps floats out of registers (a call may follow it, which keeps none): a sum of f64 took 3.3
// ns a turn with it and takes 0.85 ns without.
Interruption WasmCallable::Choose(const exec::LoweredCall& call, const RunContext& context) const {
  constexpr uint64_t Soon = 100'000'000;
  // How much work the program is says nothing about a module that may be wrong.
  if (shape_.is_judged) return Interruption::Epoch;
  uint64_t limit_ns = std::min<uint64_t>(context.limits.run_ms, 1'000'000'000) * 1'000'000;
  if (context.stop != nullptr) limit_ns = std::min(limit_ns, Soon);
  if (work_.always() <= limit_ns) return Interruption::None;
  if (work_.is_hopeless() || shape_.insts > SmallProgram) return Interruption::Epoch;
  std::vector<Interval> params;
  for (const exec::Value& argument : call.arguments()) {
    bool is_signed = argument.type.is_scalar() && IntKindOf(argument.type).is_signed;
    uint64_t word = argument.type.is_scalar() ? argument.word
                                              : static_cast<uint64_t>(argument.memory->length());
    Int128 value = is_signed ? Int128{static_cast<int64_t>(word)} : Int128{word};
    params.push_back({value, value});
  }
  return work_.Of(params) <= limit_ns ? Interruption::None : Interruption::Epoch;
}

// Who judges a module sees it with little room, so that what makes more of it runs, and as other hosts do: every other run
// that gives room to scratch is a usual one, every other one of those the first of its instance.
WasmCallable::Room WasmCallable::NextRoom(const RunContext& context) {
  if (context.marks.empty()) return Room::Usual;
  if (context.squeezes_heap) return Room::None;
  uint64_t number = roomy_runs_++;
  if (number % 4 == 0)
    for (Variant& variant : variants_) variant.instance.reset();
  return number % 2 == 0 ? Room::Usual : Room::ForScratch;
}

Result<WasmCallable::Addresses> WasmCallable::Place(const exec::LoweredCall& call,
                                                    const RunContext& context, Room room) {
  Addresses at;
  uint64_t next = shape_.static_end;
  for (const exec::MemoryRegion& region : call.regions()) {
    at.regions.push_back(next);
    next = Aligned(next + std::min(region.memory->size_bytes(), AddressSpace));
  }
  at.input = next;
  at.input_end = next + (instance_->has(GlobalVar::Input) ? StreamSize(context.input) : 0);
  at.hints = Aligned(at.input_end);
  at.hints_end = at.hints + (instance_->has(GlobalVar::Hint) ? StreamSize(context.hints) : 0);
  at.heap = Aligned(at.hints_end);
  at.output = at.heap + OutputRoom;
  if (!instance_->has_memory()) return at;
  if (room != Room::Usual) at.output = std::max(at.heap, instance_->memory_bytes());
  if (room == Room::None) at.heap = at.output;
  uint64_t end = instance_->has(GlobalVar::Output) ? at.output : at.heap;
  uint64_t limit = std::min(AddressSpace,
                            end + std::min(context.limits.memory_bytes, AddressSpace) + FrameSlack);
  instance_->LimitMemory(limit);
  if (end >= AddressSpace || !instance_->GrowMemoryTo(end))
    return Fail(Diag::LimitReached,
                fmt::format("arguments and streams need {} bytes of memory, more than a WASM "
                            "module can have here",
                            end));
  return at;
}

void WasmCallable::Fill(const exec::LoweredCall& call, const RunContext& context,
                        const Addresses& at) {
  if (!instance_->has_memory()) return;
  uint8_t* memory = instance_->memory();
  for (size_t i = 0; i < at.regions.size(); ++i) {
    const exec::Memory& source = *call.regions()[i].memory;
    if (source.size_bytes() != 0)
      std::memcpy(memory + at.regions[i], source.data(), source.size_bytes());
  }
  if (at.input != at.input_end) WriteStream(memory + at.input, context.input);
  if (at.hints != at.hints_end) WriteStream(memory + at.hints, context.hints);
}

void WasmCallable::SetGlobals(const RunContext& context, const Addresses& at) {
  instance_->Set(GlobalVar::Trap, 0);
  instance_->Set(GlobalVar::TrapIndex, ~uint64_t{0});
  instance_->Set(GlobalVar::Parallel, static_cast<uint64_t>(NoParallel));
  // The entry's wrapper may add one.
  constexpr uint64_t Most = ~uint64_t{0} - 1;
  instance_->Set(GlobalVar::Fuel, std::min(context.limits.fuel, Most));
  instance_->Set(GlobalVar::Depth, std::min(context.limits.depth, Most));
  instance_->Set(GlobalVar::Scratch, context.limits.memory_bytes);
  instance_->Set(GlobalVar::Heap, at.heap);
  instance_->Set(GlobalVar::Input, at.input);
  instance_->Set(GlobalVar::InputEnd, at.input_end);
  instance_->Set(GlobalVar::Hint, at.hints);
  instance_->Set(GlobalVar::HintEnd, at.hints_end);
  instance_->Set(GlobalVar::Output, at.output);
  instance_->Set(GlobalVar::OutputEnd, at.output);
}

std::vector<RawValue> WasmCallable::Flatten(const exec::LoweredCall& call,
                                            const Addresses& at) const {
  std::vector<RawValue> values;
  std::span<const exec::Value> arguments = call.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    int32_t region = call.region_of_argument()[i];
    if (region >= 0) {
      AppendWord(values, ValType::I32, at.regions[static_cast<size_t>(region)]);
      AppendWord(values, ValType::I64, static_cast<uint64_t>(arguments[i].memory->length()));
      continue;
    }
    for (uint64_t word : arguments[i].scalar_words())
      AppendWord(values, WordType(arguments[i].type), word);
  }
  size_t results = 0;
  for (ir::Type type : call.scalar_results()) results += ir::WordsOf(type);
  values.resize(std::max(values.size(), results));
  return values;
}

Result<CallEnd> WasmCallable::Call(std::vector<RawValue>& values, const RunContext& context) {
  RunWatch watch;
  watch.engine = &instance_->engine();
  watch.context = &context;
  watch.deadline = Deadline::After(context.limits.run_ms);
  if (!shape_.needs_stack) return instance_->Call(values, watch);
  Result<CallEnd> end = CallEnd::Returned;
  if (!OnDeepStack([&] { end = instance_->Call(values, watch); }))
    return Fail(Diag::EngineFailed, "no thread with a deep stack for a recursive program");
  return end;
}

Result<TrapInfo> WasmCallable::TrapOf(CallEnd end, const RunContext& context) const {
  // Which loop it was in is not known.
  if (end == CallEnd::Interrupted) return context.Ended(ir::Op::While, -1);
  if (end == CallEnd::StackOverflow) return TrapInfo{ir::Trap::Depth, ir::Op::Call, -1};
  uint64_t code = instance_->has(GlobalVar::Trap) ? instance_->Get(GlobalVar::Trap) : 0;
  // Only helpers stop without a code: they found no room to work in.
  if (code == 0) return TrapInfo{ir::Trap::Memory, ir::Op::Call, -1};
  uint64_t kind = code & 0xff;
  ir::Op op = static_cast<ir::Op>(code >> 8);
  bool is_known = code >> 8 < ir::OpCount && kind > 0 &&
                  (kind <= ir::TrapCount ||
                   (kind == WrongStreamType && (op == ir::Op::Input || op == ir::Op::Hint)));
  if (!is_known)
    return Fail(Diag::BadArtifact, fmt::format("the module names a trap that is none: {}", code));
  if (kind == WrongStreamType) {
    bool is_hint = op == ir::Op::Hint;
    return Fail(
        Diag::WrongArgument,
        fmt::format(
            "a value of the {} stream has another type than the program reads (it has {} values)",
            ir::Info(op).mnemonic, is_hint ? context.hints.size() : context.input.size()));
  }
  int64_t index = instance_->has(GlobalVar::TrapIndex)
                      ? static_cast<int64_t>(instance_->Get(GlobalVar::TrapIndex))
                      : -1;
  return TrapInfo{static_cast<ir::Trap>(kind - 1), op, index};
}

Result<std::vector<exec::Value>> WasmCallable::ReadOutput() const {
  std::vector<exec::Value> output;
  if (!instance_->has(GlobalVar::Output)) return output;
  const uint8_t* memory = instance_->memory();
  uint64_t at = instance_->Get(GlobalVar::Output), end = instance_->Get(GlobalVar::OutputEnd);
  auto bad = [] { return Fail(Diag::BadArtifact, "the module's output is no list of values"); };
  if (at > end || end > instance_->memory_bytes()) return bad();
  while (at < end) {
    if (end - at < 8) return bad();
    int64_t tag = 0;
    std::memcpy(&tag, memory + at, 8);
    if ((tag & 0xff) >= ir::ScalarCount) return bad();
    ir::Type type = ir::Type::Of(static_cast<ir::Scalar>(tag & 0xff));
    type.limbs = static_cast<uint8_t>(tag >> 8);
    bool has_words = type.scalar == ir::Scalar::Int ? type.limbs > 0 : type.limbs == 1;
    if (StreamTag(type) != tag || !has_words || end - at < StreamBytes(type)) return bad();
    std::vector<uint64_t> words(ir::WordsOf(type));
    std::memcpy(words.data(), memory + at + 8, words.size() * 8);
    output.push_back(exec::Value::Scalar(type, words));
    at += StreamBytes(type);
  }
  return output;
}

Result<Outcome> WasmCallable::Run(std::span<const exec::Value> arguments,
                                  const RunContext& context) {
  exec::LoweredCall call = TRY(exec::LoweredCall::Create(*source_, arguments, context.limits));
  std::lock_guard lock(mutex_);
  Interruption interruption = Choose(call, context);
  Room room = NextRoom(context);
  TRY_VOID(Select(interruption));
  Addresses at = TRY(Place(call, context, room));
  Fill(call, context, at);
  SetGlobals(context, at);
  std::vector<RawValue> values = Flatten(call, at);
  // Only as much as both have.
  auto marks = [&] {
    std::span<std::byte> all = instance_->marks();
    return all.first(std::min(all.size(), context.marks.size()));
  };
  std::ranges::fill(marks(), std::byte{0});
  CallEnd end = TRY(Call(values, context));
  std::ranges::copy(marks(), context.marks.begin());
  std::optional<TrapInfo> trap;
  if (end != CallEnd::Returned) trap = TRY(TrapOf(end, context));
  for (size_t i = 0; i < at.regions.size(); ++i) {
    exec::Memory& target = *call.regions()[i].memory;
    if (call.regions()[i].writable && target.size_bytes() != 0)
      std::memcpy(target.data(), instance_->memory() + at.regions[i], target.size_bytes());
  }
  std::vector<exec::Value> results;
  size_t next = 0;
  for (ir::Type type : call.scalar_results()) {
    if (trap) break;
    std::vector<uint64_t> words(ir::WordsOf(type));
    for (uint64_t& word : words) word = WordOf(values[next++], type);
    results.push_back(exec::Value::Scalar(type, words));
  }
  std::vector<exec::Value> output = TRY(ReadOutput());
  if (instance_->has_memory() && instance_->memory_bytes() > MemoryKept)
    variants_[static_cast<size_t>(interruption)].instance.reset();
  return std::move(call).Finish(trap, std::move(results), std::move(output));
}

}  // namespace

Result<std::unique_ptr<exec::Callable>> LoadArtifact(const exec::Artifact& artifact) {
  if (artifact.program == nullptr || artifact.source == nullptr)
    return Fail(Diag::BadArtifact, "the artifact names no program");
  Shape shape = TRY(ShapeOf(artifact));
  auto callable = std::make_unique<WasmCallable>(artifact, shape);
  TRY_VOID(callable->Compile());
  return callable;
}

}  // namespace frazil::targets::wasm
