// A vector that takes eight bytes in its owner, for trees: most nodes have most of their lists empty, and a tree of a
// million lines has millions of nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

namespace frazil::frontends::trident {

template <typename T>
class List {
 public:
  List() = default;
  List(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  List(List&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  List& operator=(List&& other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  List(const List& other) {
    for (const T& value : other) push_back(value);
  }
  List& operator=(const List& other) {
    List copy(other);
    std::swap(head_, copy.head_);
    return *this;
  }
  ~List() { clear(); }

  size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  bool empty() const { return head_ == nullptr; }
  T* begin() { return head_ == nullptr ? nullptr : Elements(head_); }
  T* end() { return begin() + size(); }
  const T* begin() const { return head_ == nullptr ? nullptr : Elements(head_); }
  const T* end() const { return begin() + size(); }
  T& operator[](size_t i) { return begin()[i]; }
  const T& operator[](size_t i) const { return begin()[i]; }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void push_back(T value) { emplace_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (head_ == nullptr || head_->size == head_->capacity) Grow();
    T* made = new (end()) T(std::forward<Args>(args)...);
    ++head_->size;
    return *made;
  }
  void pop_back() {
    if (size() == 1) return clear();
    std::destroy_at(&back());
    --head_->size;
  }
  void clear() {
    if (head_ == nullptr) return;
    std::destroy(begin(), end());
    ::operator delete(head_);
    head_ = nullptr;
  }
  friend bool operator==(const List& a, const List& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  struct Head {
    uint32_t size;
    uint32_t capacity;
  };
  static_assert(alignof(T) <= sizeof(Head));

  static T* Elements(Head* head) { return reinterpret_cast<T*>(head + 1); }
  static const T* Elements(const Head* head) { return reinterpret_cast<const T*>(head + 1); }

  void Grow() {
    const uint32_t capacity = head_ == nullptr ? 1 : head_->capacity * 2;
    Head* grown = new (::operator new(sizeof(Head) + sizeof(T) * capacity))
        Head{static_cast<uint32_t>(size()), capacity};
    std::uninitialized_move(begin(), end(), Elements(grown));
    clear();
    head_ = grown;
  }

  Head* head_ = nullptr;  // null: empty
};

}  // namespace frazil::frontends::trident
