// Elements in memory, for every door: a view of the caller's memory, or memory that an executor gave, which lives as
// long as the last copy of its buffer. What takes elements takes either, and generated functions take it as a std::span.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/element.h"
#include "base/result.h"

namespace frazil {

// Memory of a buffer: a multiple of 64 bytes at a multiple of 64, zeroed.
struct Storage {
  // `home` is kept alive; what it is, is its maker's business (runtime/home.h). Null: the CPU.
  Storage(Kind element, int64_t length, std::shared_ptr<void> home);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::shared_ptr<void> home;
  Kind element;
  int64_t length;
  int slot = -1;    // of a circuit, if it was given one
  std::byte* data;  // null where it could not be had
};

namespace internal {
std::unexpected<Error> WrongLength(size_t given, size_t expected);
}  // namespace internal

// Two buffers of a call are disjoint or the same. T may be const: then it is only read.
template <typename T>
class Buffer {
 public:
  using Value = std::remove_const_t<T>;
  static_assert(Element<Value>, "the elements of a buffer are numbers or bools");

  Buffer() = default;  // without elements
  // Memory of the caller, which stays where it is while the buffer is in use.
  Buffer(T* data, size_t size) : data_(data), size_(size) {}
  template <typename Range>
    requires(!std::is_same_v<std::remove_cv_t<Range>, Buffer>)
  explicit Buffer(Range& range) : Buffer(std::data(range), std::size(range)) {}
  explicit Buffer(std::shared_ptr<Storage> storage)
      : data_(reinterpret_cast<T*>(storage->data)),
        size_(static_cast<size_t>(storage->length)),
        storage_(std::move(storage)) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }
  operator std::span<T>() { return span(); }
  operator std::span<const T>() const
    requires(!std::is_const_v<T>)
  {
    return span();
  }
  // What it has of an executor; null: it is a view, or nothing.
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  int slot() const { return storage_ ? storage_->slot : -1; }  // -1: none

  // All of it, from and to memory of the caller: lengths must be equal.
  Result<void> CopyFrom(std::span<const T> from) {
    if (from.size() != size_) return internal::WrongLength(from.size(), size_);
    if (!from.empty()) std::memmove(data_, from.data(), from.size_bytes());
    return {};
  }
  Result<void> CopyTo(std::span<Value> to) const {
    if (to.size() != size_) return internal::WrongLength(to.size(), size_);
    if (!to.empty()) std::memmove(to.data(), data_, to.size_bytes());
    return {};
  }
  std::vector<Value> ToVector() const { return std::vector<Value>(data_, data_ + size_); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<Storage> storage_;
};

template <typename Range>
Buffer(Range& range) -> Buffer<std::remove_pointer_t<decltype(std::data(range))>>;

}  // namespace frazil
