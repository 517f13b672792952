// Inside the module int<k> goes by address: the wrapper lays parameters and results out in a frame
// of its own, calls, and reads the limbs back. What a run counts in begins anew with every call: a trap
// leaves it where it was.
#include "targets/wasm/emit/entry_wrapper.h"

#include "targets/wasm/emit/representation.h"
#include "targets/wasm/module/code.h"

namespace frazil::targets::wasm {
namespace {

class Wrapper {
 public:
  Wrapper(ModuleContext& module, const ir::Function& entry)
      : module_(module), entry_(entry), code_(HostType(entry).params) {}

  std::string Build(uint32_t inner, bool is_called, bool metered) {
    has_frame_ = FrameLimbs() != 0;
    if (is_called && metered) CountTheCall(GlobalVar::Fuel, GlobalVar::Fuel);
    if (is_called) CountTheCall(GlobalVar::Depth, GlobalVar::DepthLeft);
    StartAnew(is_called);
    if (has_frame_) MakeFrame();
    StoreParams();
    PushArguments();
    code_.Call(inner);
    PushResults();
    return code_.Finish();
  }

 private:
  // The inner function takes one for itself.
  void CountTheCall(GlobalVar from, GlobalVar to) {
    code_.GlobalGet(module_.Use(from));
    code_.I64(1);
    code_.Op(Opcode::I64Add);
    code_.GlobalSet(module_.Use(to));
  }

  void StartAnew(bool depth_is_set) {
    auto copy = [&](GlobalVar from, GlobalVar to) {
      code_.GlobalGet(module_.Use(from));
      code_.GlobalSet(module_.Use(to));
    };
    auto set = [&](GlobalVar global, int64_t value) {
      if (!module_.uses(global)) return;
      code_.I64(value);
      code_.GlobalSet(module_.Use(global));
    };
    if (has_frame_ || module_.uses(GlobalVar::HeapEnd)) copy(GlobalVar::Heap, GlobalVar::HeapEnd);
    if (module_.uses(GlobalVar::ScratchLeft)) copy(GlobalVar::Scratch, GlobalVar::ScratchLeft);
    if (module_.uses(GlobalVar::DepthLeft) && !depth_is_set)
      copy(GlobalVar::Depth, GlobalVar::DepthLeft);
    set(GlobalVar::Trap, 0);
    set(GlobalVar::TrapIndex, -1);
    set(GlobalVar::Parallel, NoParallel);
  }

  uint32_t FrameLimbs() const {
    uint32_t limbs = 0;
    for (uint32_t i = 0; i < entry_.param_count(); ++i)
      if (IsBig(entry_.param_type(i))) limbs += entry_.param_type(i).limbs;
    for (ir::Type result : entry_.results)
      if (IsBig(result)) limbs += result.limbs;
    return limbs;
  }

  void MakeFrame() {
    frame_ = code_.AddLocal(ValType::I32);
    code_.I64(8 * FrameLimbs());
    code_.Call(module_.Use(Helper::Reserve));
    code_.Set(frame_);
    code_.Get(frame_);
    code_.Op(Opcode::I32Eqz);
    code_.Begin(Opcode::If);
    code_.Op(Opcode::Unreachable);
    code_.End();
  }

  void StoreParams() {
    uint32_t local = 0, offset = 0;
    for (uint32_t i = 0; i < entry_.param_count(); ++i) {
      ir::Type type = entry_.param_type(i);
      if (!IsBig(type)) {
        local += type.is_buffer() ? 2 : WordCount(type);
        continue;
      }
      for (uint32_t k = 0; k < type.limbs; ++k, offset += 8) {
        code_.Get(frame_);
        code_.Get(local++);
        code_.Memory(Opcode::I64Store, 3, offset);
      }
    }
  }

  void PushSlot(uint32_t offset) {
    code_.Get(frame_);
    code_.I32(static_cast<int32_t>(offset));
    code_.Op(Opcode::I32Add);
  }

  void PushArguments() {
    uint32_t local = 0, offset = 0;
    for (uint32_t i = 0; i < entry_.param_count(); ++i) {
      ir::Type type = entry_.param_type(i);
      if (IsBig(type)) {
        PushSlot(offset);
        offset += 8u * type.limbs;
        local += type.limbs;
        continue;
      }
      uint32_t count = type.is_buffer() ? 2 : WordCount(type);
      for (uint32_t k = 0; k < count; ++k) code_.Get(local++);
    }
    results_at_ = offset;
    for (ir::Type result : entry_.results) {
      if (!IsBig(result)) continue;
      PushSlot(offset);
      offset += 8u * result.limbs;
    }
  }

  // What the call left on the stack goes to locals, so that limbs can come between.
  void PushResults() {
    if (!has_frame_) return;
    std::vector<uint32_t> locals;
    for (ir::Type result : entry_.results)
      for (uint32_t k = 0; !IsBig(result) && k < WordCount(result); ++k)
        locals.push_back(code_.AddLocal(WordType(result)));
    for (size_t i = locals.size(); i-- > 0;) code_.Set(locals[i]);
    size_t next = 0;
    uint32_t offset = results_at_;
    for (ir::Type result : entry_.results) {
      for (uint32_t k = 0; !IsBig(result) && k < WordCount(result); ++k) code_.Get(locals[next++]);
      for (uint32_t k = 0; IsBig(result) && k < result.limbs; ++k, offset += 8) {
        code_.Get(frame_);
        code_.Memory(Opcode::I64Load, 3, offset);
      }
    }
  }

  ModuleContext& module_;
  const ir::Function& entry_;
  Code code_;
  bool has_frame_ = false;
  uint32_t frame_ = 0;
  uint32_t results_at_ = 0;
};

}  // namespace

FuncType HostType(const ir::Function& entry) {
  FuncType type;
  auto append = [](std::vector<ValType>& list, ir::Type t) {
    if (t.is_buffer())
      list.insert(list.end(), {ValType::I32, ValType::I64});
    else if (IsBig(t))
      list.insert(list.end(), t.limbs, ValType::I64);
    else
      list.insert(list.end(), WordCount(t), WordType(t));
  };
  for (uint32_t i = 0; i < entry.param_count(); ++i) append(type.params, entry.param_type(i));
  for (ir::Type result : entry.results) append(type.results, result);
  return type;
}

bool CountsInGlobals(const ModuleContext& module) {
  return module.uses(GlobalVar::HeapEnd) || module.uses(GlobalVar::ScratchLeft) ||
         module.uses(GlobalVar::DepthLeft) || module.uses(GlobalVar::Parallel);
}

std::string WrapEntry(ModuleContext& module, const ir::Function& entry, uint32_t inner,
                      bool is_called, bool metered) {
  return Wrapper(module, entry).Build(inner, is_called, metered);
}

}  // namespace frazil::targets::wasm
