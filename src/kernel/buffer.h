// Typed memory in a slot of an executor. A slot is a name, c00 to c95, under which circuits find a buffer; the memory is
// the buffer's own, as long as it likes, and goes with it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace frazil::kernel {

// The types of elements and scalars, as far as C++ has them.
template <typename T>
concept Element = std::is_arithmetic_v<T> && !std::is_same_v<T, long double> && sizeof(T) <= 8;

template <Element T>
constexpr ir::Type TypeOf() {
  using ir::Scalar;
  if (std::is_same_v<T, bool>) return ir::types::Bool;
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ir::types::F32 : ir::types::F64;
  constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return ir::Type::Of(static_cast<Scalar>(log + (std::is_signed_v<T> ? 0 : 4)));
}

class Backend;
class Executor;

namespace internal {

// Memory of a buffer: a multiple of 64 bytes at a multiple of 64, zeroed.
struct Storage {
  Storage(std::shared_ptr<Backend> backend, int slot, ir::Type element, int64_t length);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::shared_ptr<Backend> backend;  // the executor's: where ops on it run
  int slot;
  ir::Type element;
  int64_t length;
  std::byte* data;  // null where it could not be had
};

std::unexpected<Error> WrongLength(int64_t given, int64_t expected);

}  // namespace internal

template <Element T>
class Buffer {
 public:
  Buffer() = default;  // of no executor, without elements

  int64_t size() const { return storage_ ? storage_->length : 0; }
  bool empty() const { return size() == 0; }
  int slot() const { return storage_ ? storage_->slot : -1; }
  T* data() { return storage_ ? reinterpret_cast<T*>(storage_->data) : nullptr; }
  const T* data() const { return storage_ ? reinterpret_cast<const T*>(storage_->data) : nullptr; }
  std::span<T> span() { return {data(), static_cast<size_t>(size())}; }
  std::span<const T> span() const { return {data(), static_cast<size_t>(size())}; }

  // All of it, from and to memory of the caller: lengths must be equal.
  Result<void> CopyFrom(std::span<const T> from) {
    if (static_cast<int64_t>(from.size()) != size())
      return internal::WrongLength(static_cast<int64_t>(from.size()), size());
    if (!from.empty()) std::memmove(data(), from.data(), from.size_bytes());
    return {};
  }
  Result<void> CopyTo(std::span<T> to) const {
    if (static_cast<int64_t>(to.size()) != size())
      return internal::WrongLength(static_cast<int64_t>(to.size()), size());
    if (!to.empty()) std::memmove(to.data(), data(), to.size_bytes());
    return {};
  }
  std::vector<T> ToVector() const { return std::vector<T>(data(), data() + size()); }

 private:
  friend class Executor;
  friend class Argument;
  template <Element U>
  friend class ReadView;
  template <Element U>
  friend class WriteView;
  explicit Buffer(std::shared_ptr<internal::Storage> storage) : storage_(std::move(storage)) {}
  std::shared_ptr<internal::Storage> storage_;
};

}  // namespace frazil::kernel
