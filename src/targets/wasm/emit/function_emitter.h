// Writes one function of a lowered program. Each Emit<Topic> leaves the results of its instruction
// on the operand stack; EmitRoot stores them where the plan says. The files emit_*.cpp hold the
// topics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "exec/target.h"
#include "ir/program.h"
#include "targets/wasm/emit/module_context.h"
#include "targets/wasm/emit/plan.h"
#include "targets/wasm/module/code.h"

namespace frazil::targets::wasm {

// What the whole program says about one of its functions.
struct FunctionFacts {
  bool is_called = false;       // by another function of the program, or by itself
  bool under_parallel = false;  // some call of it, direct or not, stands inside a parallel
  bool can_trap = false;
};

// Where things of the program stand in the module.
struct ModuleLayout {
  std::vector<uint32_t> function_index;  // by FuncId
  std::vector<uint32_t> table_address;   // by DataId
  std::vector<FunctionFacts> facts;      // by FuncId
  bool metered = false;
};

// The constants of int<k> values, gathered while functions are written.
class ConstantPool {
 public:
  explicit ConstantPool(uint32_t address) : address_(address) {}
  uint32_t Add(std::span<const uint64_t> words);  // its address
  uint32_t end() const { return address_ + static_cast<uint32_t>(bytes_.size()); }
  uint32_t address() const { return address_; }
  const std::string& bytes() const { return bytes_; }

 private:
  uint32_t address_;
  std::string bytes_;
  std::map<std::string, uint32_t> known_;
};

// A trap with its op, as the global `trap` holds it.
int32_t TrapCode(ir::Trap kind, ir::Op op);
// The code for a stream value of another type than the op reads.
constexpr int32_t WrongStreamType = 0xff;

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleContext& module, const ModuleLayout& layout, ConstantPool& constants,
                  const ir::Program& program, ir::FuncId id);
  // The body as the code section wants it.
  std::string Emit();
  uint32_t local_count() const { return code_.local_count(); }

  // The WebAssembly type of a function of the program, as its callers inside the module see it.
  static FuncType TypeOf(const ir::Function& function);

 private:
  // An operand that is read more than once: in locals, or cheap to write again.
  struct Held {
    ir::ValueId value;
    uint32_t local = UINT32_MAX;  // a temporary; otherwise the value's own place
  };

  // function_emitter.cpp: values
  ir::Type type(ir::ValueId value) const { return function_.type(value); }
  ir::ValueId operand(const ir::Inst& inst, uint32_t i) const { return function_.operand(inst, i); }
  void Push(ir::ValueId value);
  void PushWord(ir::ValueId value,
                uint32_t word);  // one word of a value in locals, or of a constant
  void PushConstant(ir::Type type, std::span<const uint64_t> words, uint32_t first, uint32_t count);
  void PushAddress(ir::ValueId big);
  void PushSlot(uint32_t offset);
  Held Hold(ir::ValueId value);
  void PushHeld(const Held& held, uint32_t word = 0);
  std::pair<Held, Held> PushBothHeld(const ir::Inst& inst);  // the two operands, of one word each
  uint32_t HoldTop(ValType type);  // the top of the stack into a temporary
  uint32_t Temporary(ValType type, uint32_t count = 1);
  std::optional<int64_t> ConstantOf(ir::ValueId value) const;
  bool IsZero(ir::ValueId value) const;  // a constant of one word whose bits are zero
  void Call(Helper helper) { code_.Call(module_.Use(helper)); }
  void Op(Opcode op) { code_.Op(op); }

  // Instructions
  void EmitRegion(ir::RegionId region);
  void EmitRoot(const ir::Inst& inst);
  void EmitInst(const ir::Inst& inst);
  void Store(ir::ValueId result);  // from the stack to its place
  void Prologue();
  void Epilogue();

  // Traps
  void TrapIf(ir::Trap kind, ir::Op op);  // takes an i32
  void Trap(int32_t code);

  // emit_integer.cpp, emit_checked.cpp
  void EmitInteger(const ir::Inst& inst);
  void EmitIntegerBinary(const ir::Inst& inst, Opcode narrow, Opcode wide);
  void EmitShift(const ir::Inst& inst);
  void EmitRotate(const ir::Inst& inst);
  void EmitBitCount(const ir::Inst& inst);
  void EmitMulHi(const ir::Inst& inst);
  void EmitMinMax(const ir::Inst& inst);
  void SelectLess(IntKind kind, bool less);
  void EmitAbs(const ir::Inst& inst);
  void EmitNot(const ir::Inst& inst);
  void EmitDivision(const ir::Inst& inst);
  void EmitCompare(const ir::Inst& inst);
  void EmitChecked(const ir::Inst& inst);
  void EmitChecked64(const ir::Inst& inst);
  void EmitCheckedUnary(const ir::Inst& inst);
  void Normalize(IntKind kind);
  void PushInt(IntKind kind, int64_t value);
  void IntOp(IntKind kind, Opcode narrow, Opcode wide) { Op(kind.is64() ? wide : narrow); }

  // emit_float.cpp, emit_cast.cpp
  void EmitFloat(const ir::Inst& inst);
  void PushAsFloat(ir::ValueId value);  // halves as f32
  void ToWide(ir::Type half);           // i32 bits to f32
  void ToHalf(ir::Type half);           // f32 to i32 bits
  void Canonicalize(ValType type);
  void EmitCast(const ir::Inst& inst);
  void CastIntToFloat(ir::Type from, ir::Type to);
  void CastFloatToInt(ir::Type from, ir::Type to);
  void CastFloatToFloat(ir::Type from, ir::Type to);
  void CastIntToInt(IntKind from, IntKind to);
  void CastIntToField(ir::Type from);
  void EmitCastChecked(const ir::Inst& inst);
  void EmitBitcast(const ir::Inst& inst);

  // emit_wide.cpp: fields, digests, int<k>
  void EmitField(const ir::Inst& inst);
  void EmitXField(const ir::Inst& inst);
  void EmitFieldInverse(const ir::Inst& inst, Helper invert, Helper multiply);
  void EmitParts(const ir::Inst& inst);
  void EmitWideCompare(const ir::Inst& inst);
  void EmitSelect(const ir::Inst& inst);
  void EmitBig(const ir::Inst& inst);
  void EmitBigCast(const ir::Inst& inst);
  void CopyBig(ir::ValueId to, ir::ValueId from);
  void PushResultAddress(const ir::Inst& inst) { PushAddress(ir::Function::result_of(inst)); }

  // emit_memory.cpp
  void EmitMemory(const ir::Inst& inst);
  bool IsInBounds(const ir::Inst& inst) const;
  // Traps where the element is none of the buffer.
  void CheckIndex(const ir::Inst& inst, uint32_t buffer, const Held& index);
  void EmitLoad(const ir::Inst& inst);
  void EmitStore(const ir::Inst& inst);
  void EmitLookup(const ir::Inst& inst);
  void EmitAlloc(const ir::Inst& inst);
  void EmitAtomic(const ir::Inst& inst);
  void Combine(ir::AtomicKind kind, ir::Type element, uint32_t old, const Held& value);
  void EmitInput(const ir::Inst& inst);
  void EmitOutput(const ir::Inst& inst);
  void LoadWords(ir::Type element, uint32_t address_local, uint32_t offset);
  void LoadOne(ir::Type element, uint32_t offset);
  void StoreOne(ir::Type element, uint32_t offset);
  // The place of an element whose index is held and in range.
  std::optional<uint32_t> ConstantOffset(const Held& index, ir::Type element) const;
  void PushElementAddress(uint32_t buffer, const Held& index, ir::Type element);
  void PushElementOffset(const Held& index, ir::Type element);

  // emit_control.cpp
  // Scratch that a region allocates ends with it.
  struct ScratchMark {
    bool used = false;
    uint32_t heap = 0, scratch = 0;
  };
  ScratchMark BeginScratch(ir::RegionId region);
  void EndScratch(const ScratchMark& mark);
  void EmitControl(const ir::Inst& inst);
  void EmitIf(const ir::Inst& inst);
  void EmitSwitch(const ir::Inst& inst);
  void EmitSwitchJumps(const ir::Inst& inst, std::span<const Code::Label> labels);
  void EmitFor(const ir::Inst& inst);
  void EmitLoopBody(const ir::Inst& inst, IntKind kind, const Held& bound, uint64_t step);
  void EmitWhile(const ir::Inst& inst);
  void CanonicalizeCarried(const ir::Inst& loop);
  void EmitCall(const ir::Inst& inst);
  void EmitReturn(const ir::Inst& inst);
  void TakeTripFuel(const ir::Inst& inst, IntKind kind, const Held& bound, uint64_t step);
  void TakeOneFuel(ir::Op op);
  void SetAll(std::span<const ir::ValueId> from, ir::Range to);
  void EnterIteration(const ir::Inst& inst);

  ModuleContext& module_;
  const ModuleLayout& layout_;
  ConstantPool& constants_;
  const ir::Program& program_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  FunctionPlan plan_;
  Code code_;
  std::optional<uint32_t> frame_;  // local with the frame's address
  uint32_t frame_bytes_;
  std::vector<std::vector<uint32_t>> free_temporaries_;  // by value type and count
  std::vector<std::pair<uint32_t, std::pair<ValType, uint32_t>>> taken_temporaries_;
  std::optional<uint32_t>
      parallel_;  // local with the iteration of the outermost parallel of this function
  uint32_t parallel_nesting_ = 0;
  uint32_t saved_parallel_ = 0;
  uint32_t loop_nesting_ = 0;
  std::vector<bool> written_;  // locals that were set so far
  ScratchMark body_scratch_;
};

}  // namespace frazil::targets::wasm
