// One argument of a launch: a scalar, elements, or nothing: then an extent is the common length of the buffers that it
// bounds. It refers to memory and keeps nothing alive.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/buffer.h"
#include "base/element.h"

namespace frazil::runtime {

class Argument {
 public:
  enum class Form : uint8_t { Nothing, Scalar, Elements };

  Argument() = default;
  template <Element T>
  Argument(T value) : word_(WordOf(value)), kind_(KindOf<T>()), form_(Form::Scalar) {}
  template <typename T>
  Argument(std::span<T> elements)
      : Argument(KindOf<std::remove_const_t<T>>(), elements.data(), elements.size(),
                 std::is_const_v<T>) {}
  template <typename T>
  Argument(const Buffer<T>& buffer)
      : Argument(KindOf<std::remove_const_t<T>>(), buffer.data(), buffer.size(),
                 std::is_const_v<T>) {
    is_missing_ = buffer.data() == nullptr;
  }
  // Of a type that is known when the program runs.
  static Argument OfWord(Kind kind, uint64_t word) {
    Argument argument;
    argument.word_ = word;
    argument.kind_ = kind;
    argument.form_ = Form::Scalar;
    return argument;
  }
  static Argument OfElements(Kind kind, void* data, size_t length) {
    return Argument(kind, data, length, false);
  }

  Form form() const { return form_; }
  Kind kind() const { return kind_; }
  uint64_t word() const { return word_; }  // of a scalar; the address of elements
  uint64_t length() const { return length_; }
  bool is_const() const { return is_const_; }      // elements that may only be read
  bool is_missing() const { return is_missing_; }  // a buffer that was never given memory

 private:
  Argument(Kind kind, const void* data, size_t length, bool is_const)
      : word_(reinterpret_cast<uint64_t>(data)),
        length_(length),
        kind_(kind),
        form_(Form::Elements),
        is_const_(is_const) {}

  uint64_t word_ = 0;
  uint64_t length_ = 0;
  Kind kind_ = Kind::Bool;
  Form form_ = Form::Nothing;
  bool is_const_ = false;
  bool is_missing_ = false;
};

}  // namespace frazil::runtime
