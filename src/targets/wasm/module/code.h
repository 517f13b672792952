// Code: one function body under construction. It knows locals, open blocks and two small peepholes
// (set-then-get is a tee; a label is counted from its block), nothing of the IR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "targets/wasm/module/opcode.h"

namespace frazil::targets::wasm {

class Code {
 public:
  explicit Code(std::span<const ValType> params)
      : locals_(params.begin(), params.end()), params_(params.size()) {}

  uint32_t AddLocal(ValType type);
  ValType local_type(uint32_t local) const { return locals_[local]; }
  uint32_t local_count() const { return static_cast<uint32_t>(locals_.size()); }

  void Op(Opcode op);
  void Get(uint32_t local);
  void Set(uint32_t local);
  void GlobalGet(uint32_t global) { Indexed(Opcode::GlobalGet, global); }
  void GlobalSet(uint32_t global) { Indexed(Opcode::GlobalSet, global); }
  void Call(uint32_t function) { Indexed(Opcode::Call, function); }
  void I32(int32_t value);
  void I64(int64_t value);
  void F32(uint32_t bits);
  void F64(uint64_t bits);
  void Memory(Opcode op, uint32_t align_log2, uint32_t offset);
  void MemoryCopy();
  void MemoryFill();
  // Code that was made elsewhere and leaves the block structure balanced.
  void Append(std::string_view code) { bytes_.append(code); }

  // Blocks. The returned label names the block until its End.
  using Label = uint32_t;
  Label Begin(Opcode op, std::optional<ValType> result = std::nullopt);
  void Else();
  void End();
  void Br(Label label) { Indexed(Opcode::Br, Depth(label)); }
  void BrIf(Label label) { Indexed(Opcode::BrIf, Depth(label)); }
  void BrTable(std::span<const Label> labels, Label otherwise);

  const std::string& bytes() const { return bytes_; }
  // All that was written so far, taken out to be put behind something else.
  std::string TakeBytes() {
    set_end_ = SIZE_MAX;
    return std::exchange(bytes_, {});
  }
  // The body as the code section wants it: local declarations, instructions, end.
  std::string Finish() const;

 private:
  void Indexed(Opcode op, uint32_t index);
  uint32_t Depth(Label label) const { return open_ - 1 - label; }

  std::string bytes_;
  std::vector<ValType> locals_;
  size_t params_;
  uint32_t open_ = 0;
  size_t set_begin_ =
      0;  // where the last local.set starts and ends; used while it is the last instruction
  size_t set_end_ = SIZE_MAX;
  uint32_t set_local_ = 0;
  size_t else_end_ = SIZE_MAX;  // behind the last else, used while it is the last instruction
};

}  // namespace frazil::targets::wasm
