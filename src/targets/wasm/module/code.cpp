// The body writer. A local.get right after a local.set of the same local turns the set into a tee,
// so that the emitter can always store first and read back later.
#include "targets/wasm/module/code.h"

#include "base/check.h"
#include "targets/wasm/module/bytes.h"

namespace frazil::targets::wasm {

uint32_t Code::AddLocal(ValType type) {
  locals_.push_back(type);
  return static_cast<uint32_t>(locals_.size() - 1);
}

void Code::Op(Opcode op) {
  uint16_t code = static_cast<uint16_t>(op);
  if (code >= 0xfc00) {
    bytes_.push_back(static_cast<char>(0xfc));
    AppendUnsigned(bytes_, code & 0xff);
  } else {
    bytes_.push_back(static_cast<char>(code));
  }
}

void Code::Indexed(Opcode op, uint32_t index) {
  Op(op);
  AppendUnsigned(bytes_, index);
}

void Code::Get(uint32_t local) {
  if (bytes_.size() == set_end_ && set_local_ == local) {
    bytes_[set_begin_] = static_cast<char>(Opcode::LocalTee);
    set_end_ = SIZE_MAX;
    return;
  }
  Indexed(Opcode::LocalGet, local);
}

void Code::Set(uint32_t local) {
  set_begin_ = bytes_.size();
  Indexed(Opcode::LocalSet, local);
  set_end_ = bytes_.size();
  set_local_ = local;
}

void Code::I32(int32_t value) {
  Op(Opcode::I32Const);
  AppendSigned(bytes_, value);
}

void Code::I64(int64_t value) {
  Op(Opcode::I64Const);
  AppendSigned(bytes_, value);
}

void Code::F32(uint32_t bits) {
  Op(Opcode::F32Const);
  AppendFixed(bytes_, bits, 4);
}

void Code::F64(uint64_t bits) {
  Op(Opcode::F64Const);
  AppendFixed(bytes_, bits, 8);
}

void Code::Memory(Opcode op, uint32_t align_log2, uint32_t offset) {
  Op(op);
  AppendUnsigned(bytes_, align_log2);
  AppendUnsigned(bytes_, offset);
}

void Code::MemoryCopy() {
  Op(Opcode::MemoryCopy);
  bytes_.append(2, '\0');
}

void Code::MemoryFill() {
  Op(Opcode::MemoryFill);
  bytes_.push_back('\0');
}

Code::Label Code::Begin(Opcode op, std::optional<ValType> result) {
  Op(op);
  constexpr uint8_t NoResult = 0x40;
  bytes_.push_back(static_cast<char>(result ? static_cast<uint8_t>(*result) : NoResult));
  return open_++;
}

void Code::Else() {
  Op(Opcode::Else);
  else_end_ = bytes_.size();
}

void Code::End() {
  CHECK(open_ > 0);
  --open_;
  // Nothing was written after the else: it is not needed.
  if (bytes_.size() == else_end_) bytes_.pop_back();
  else_end_ = SIZE_MAX;
  Op(Opcode::End);
  // A set before an end and a get after it are in different blocks.
  set_end_ = SIZE_MAX;
}

void Code::BrTable(std::span<const Label> labels, Label otherwise) {
  Op(Opcode::BrTable);
  AppendUnsigned(bytes_, labels.size());
  for (Label label : labels) AppendUnsigned(bytes_, Depth(label));
  AppendUnsigned(bytes_, Depth(otherwise));
}

std::string Code::Finish() const {
  CHECK(open_ == 0);
  std::vector<std::pair<uint32_t, ValType>> runs;
  for (size_t i = params_; i < locals_.size(); ++i) {
    if (runs.empty() || runs.back().second != locals_[i]) runs.push_back({0, locals_[i]});
    ++runs.back().first;
  }
  std::string body;
  AppendUnsigned(body, runs.size());
  for (auto [count, type] : runs) {
    AppendUnsigned(body, count);
    body.push_back(static_cast<char>(type));
  }
  body += bytes_;
  body.push_back(static_cast<char>(Opcode::End));
  return body;
}

}  // namespace frazil::targets::wasm
