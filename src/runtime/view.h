// Elements as an op takes them: of a buffer, which says where it runs, or of plain memory.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

#include "base/buffer.h"

namespace frazil::runtime {

// const T: elements that an op reads.
template <typename T>
class View {
 public:
  using Value = std::remove_const_t<T>;
  View(std::span<T> memory) : data_(memory.data()), size_(memory.size()) {}
  View(std::span<Value> memory)
    requires std::is_const_v<T>
      : data_(memory.data()), size_(memory.size()) {}
  View(std::vector<Value>& memory) : View(std::span<T>(memory)) {}
  View(const std::vector<Value>& memory)
    requires std::is_const_v<T>
      : View(std::span<T>(memory)) {}
  View(Buffer<Value>& buffer) : View(buffer.span()) { home_ = HomeOf(buffer); }
  View(const Buffer<Value>& buffer)
    requires std::is_const_v<T>
      : View(buffer.span()) {
    home_ = HomeOf(buffer);
  }
  template <typename U>
    requires(std::is_const_v<T> && std::is_same_v<U, Value>)
  View(const View<U>& other) : data_(other.data()), size_(other.size()), home_(other.home()) {}

  T* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<T> span() const { return {data_, size_}; }
  void* home() const { return home_; }  // the backend where it runs; null: the CPU

 private:
  static void* HomeOf(const Buffer<Value>& buffer) {
    return buffer.storage() ? buffer.storage()->home.get() : nullptr;
  }
  T* data_;
  size_t size_;
  void* home_ = nullptr;
};

// Whatever has elements one behind the other: a Buffer, a View, a std::span, a std::vector.
template <typename A>
concept Elements = requires(A& a) {
  std::data(a);
  std::size(a);
  requires Element<std::remove_const_t<std::remove_pointer_t<decltype(std::data(a))>>>;
};
template <Elements A>
using ElementOf =
    std::remove_const_t<std::remove_pointer_t<decltype(std::data(std::declval<A&>()))>>;

}  // namespace frazil::runtime
