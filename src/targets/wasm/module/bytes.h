// Writing and reading the byte level of WebAssembly: LEB128 numbers, names, vectors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace frazil::targets::wasm {

void AppendUnsigned(std::string& out, uint64_t value);  // LEB128, shortest form
void AppendSigned(std::string& out, int64_t value);
void AppendFixed(std::string& out, uint64_t value, int bytes);  // little-endian
void AppendName(std::string& out, std::string_view name);       // length, then bytes

// Reads a module's bytes. Every error says at which byte; nothing is read past the end.
class ByteReader {
 public:
  // `base` is the offset of `bytes` in the module, for messages.
  explicit ByteReader(std::string_view bytes, size_t base = 0) : bytes_(bytes), base_(base) {}

  size_t offset() const { return base_ + position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return position_ == bytes_.size(); }

  Result<uint8_t> Byte();
  Result<uint32_t> U32();
  Result<int32_t> S32();
  Result<int64_t> S64();
  Result<int64_t> S33();
  Result<uint64_t> Fixed(int bytes);
  Result<std::string_view> Take(size_t count);
  Result<std::string_view> Name();  // UTF-8
  // A count of things that take at least one byte each: never more than what is left.
  Result<uint32_t> Count();
  std::unexpected<Error> Bad(std::string_view what) const;

 private:
  Result<uint64_t> Leb(int bits, bool is_signed);

  std::string_view bytes_;
  size_t base_;
  size_t position_ = 0;
};

}  // namespace frazil::targets::wasm
