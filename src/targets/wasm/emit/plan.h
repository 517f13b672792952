// The plan of one function before a byte is written: which instructions are needed, which values
// stay on the operand stack, which live in locals and which of those share one, where a float must
// be made canonical.
//
// A value is left on the stack (Inline) if it is used once, in its own region, and writing it at
// its use instead of its definition changes no order of traps and effects. Values of a loop that
// follow each other (initial, carried, yielded, result) share a local when their lives do not
// overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/program.h"
#include "targets/wasm/emit/ranges.h"
#include "targets/wasm/emit/representation.h"
#include "targets/wasm/module/module_writer.h"

namespace frazil::targets::wasm {

enum class Where : uint8_t {
  Nowhere,  // not needed
  Remade,   // constants and lengths: written again at each use
  Inline,   // written at its only use
  Local,    // `at` is the first of its locals; a buffer's length is in the one after its address
  Slot,     // int<k>: `at` is its offset in the frame
  Pointer,  // int<k> parameter: local `at` holds its address
};

struct Place {
  Where where = Where::Nowhere;
  uint32_t at = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// The order in which the operands' code is written: their own, but `select` has its condition last.
struct OperandOrder {
  explicit OperandOrder(const ir::Inst& inst)
      : count(inst.operands.count), rotate(inst.op == ir::Op::Select ? 1 : 0) {}
  uint32_t operator[](uint32_t i) const { return (i + rotate) % count; }
  uint32_t count;
  uint32_t rotate;
};

class FunctionPlan {
 public:
  FunctionPlan(const ir::Program& program, const ir::Function& function);

  const Place& place(ir::ValueId value) const { return places_[value.index]; }
  bool is_live(const ir::Inst& inst) const { return live_[Index(inst)]; }
  bool canonicalizes(ir::ValueId value) const { return canonicalizes_[value.index]; }
  // The value's code, where it is Inline, contains something ordered.
  bool is_ordered(ir::ValueId value) const { return !tokens_[value.index].empty(); }
  const Ranges& ranges() const { return ranges_; }
  std::span<const ValType> params() const { return params_; }
  // Locals after the parameters.
  std::span<const ValType> locals() const { return locals_; }
  // For each int<k> result, the local that holds the address to write it to.
  std::span<const uint32_t> result_pointers() const { return result_pointers_; }
  uint32_t frame_bytes() const { return frame_bytes_; }
  const ir::Inst& definition(ir::ValueId value) const {
    return function_.insts[definition_[value.index]];
  }
  bool has_definition(ir::ValueId value) const { return definition_[value.index] != None; }
  // The `for` or `parallel` that counts with this value, or null.
  const ir::Inst* LoopOf(ir::ValueId counter) const {
    uint32_t loop = loop_of_[counter.index];
    return loop == None ? nullptr : &function_.insts[loop];
  }

 private:
  static constexpr uint32_t None = UINT32_MAX;
  size_t Index(const ir::Inst& inst) const {
    return static_cast<size_t>(&inst - function_.insts.data());
  }
  const ir::Inst& inst(ir::InstId id) const { return function_.inst(id); }

  // plan.cpp
  void FindDefinitions(ir::RegionId region);
  void FindLive();
  void CountUses();
  void FindLazy();
  bool IsComputed(ir::ValueId value) const;
  bool FeedsLazy(const ir::Inst& user, uint32_t operand) const;
  void FindCanonical();
  bool IsRemade(const ir::Inst& inst) const;
  bool IsOrdered(const ir::Inst& inst) const;
  bool MayBeInline(const ir::Inst& inst) const;
  void PlanRegion(ir::RegionId region);
  void PlanInst(const ir::Inst& inst, std::vector<ir::ValueId>& pending);
  std::vector<ir::ValueId> GatherTokens(const ir::Inst& inst) const;
  void Demote(std::vector<ir::ValueId>& pending, uint32_t up_to);
  uint32_t position(ir::ValueId value) const { return position_[definition_[value.index]]; }

  // plan_locals.cpp
  struct Life {
    uint32_t begin = None;
    uint32_t end = 0;
  };
  struct OpenLoop {
    uint32_t begin;
    std::vector<ir::ValueId> used;
  };
  void PlaceParams();
  void NumberRegion(ir::RegionId region);
  void NumberInst(const ir::Inst& inst);
  void NumberStructure(const ir::Inst& inst);
  void NumberOperands(const ir::Inst& inst, uint32_t first, uint32_t count);
  void Use(ir::ValueId value, uint32_t at);
  void Define(ir::ValueId value, uint32_t at);
  void CloseLoop(uint32_t end);
  void Coalesce();
  uint32_t Find(uint32_t value);
  bool Merge(ir::ValueId a, ir::ValueId b);
  void AssignLocals();

  const ir::Function& function_;
  Ranges ranges_;
  std::vector<uint32_t> definition_;  // value -> instruction, None for parameters
  std::vector<uint32_t> loop_of_;     // counter -> its loop
  std::vector<uint32_t> owner_;       // region -> the instruction it belongs to
  std::vector<uint32_t> region_;      // instruction -> region
  std::vector<uint32_t> position_;    // instruction -> position in its region
  std::vector<bool> live_;
  std::vector<uint32_t> uses_;  // value -> number of uses by live instructions
  std::vector<uint32_t> user_;  // value -> its last user
  std::vector<bool> canonicalizes_;
  // Results of loops whose carried float may be any NaN inside: made the one NaN after the loop.
  std::vector<bool> lazy_;
  std::vector<Place> places_;
  std::vector<uint8_t> depth_;                    // of the tree of an Inline value
  std::vector<std::vector<ir::ValueId>> tokens_;  // ordered parts of the tree of an Inline value

  uint32_t clock_ = 4;
  std::vector<OpenLoop> loops_;
  std::vector<Life> lives_;
  std::vector<const ir::Inst*> loop_insts_;
  std::vector<uint32_t> parent_;  // union-find over values
  std::vector<std::vector<uint32_t>> members_;
  std::vector<ValType> params_;
  std::vector<ValType> locals_;
  std::vector<uint32_t> result_pointers_;
  uint32_t frame_bytes_ = 0;
};

}  // namespace frazil::targets::wasm
