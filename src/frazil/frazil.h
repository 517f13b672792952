// Frazil for C++ programs: load a program, call it in a loop, and it gets fast by itself.
//
//   frazil::Engine engine;
//   frazil::Slot saxpy = engine.Load(text).value();
//   for (...) saxpy(2.0f, frazil::Buffer(x), frazil::Buffer(y));
//
// A call starts on the interpreter. When it has become hot, another process compiles it, checks that it means the
// same and that it is faster; from then on the compiled form is called. The next process that loads the same
// program starts with it. Results are the same bits throughout. Nothing here throws, but for what only a mistake in the
// calling program can ask for: `value()` of a Result that has none, `get` of a result that is not there.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/buffer.h"
#include "base/element.h"
#include "base/result.h"
#include "engine/worker/package.h"

namespace frazil::engine {
class Engine;
class Site;
}  // namespace frazil::engine

namespace frazil {

namespace internal {

// How an argument is coded: its kind, and for buffers these bits. Elements of a buffer must be values of the parameter's
// type (bool: 0 or 1; field: less than p): the interpreter refuses others, compiled code does not look.
constexpr uint8_t IsBuffer = 0x80, IsConst = 0x40;

template <typename T>
struct Argument {
  static_assert(Element<T>, "an argument is a number, a bool or a frazil::Buffer");
  static constexpr uint8_t Code = static_cast<uint8_t>(KindOf<T>());
  static constexpr size_t Words = 1;
  static uint64_t Length(T) { return 0; }
  static void Put(uint64_t*& at, T value) { *at++ = WordOf(value); }
};
template <typename T>
struct Argument<Buffer<T>> {
  static constexpr uint8_t Code = static_cast<uint8_t>(KindOf<std::remove_const_t<T>>()) |
                                  IsBuffer | (std::is_const_v<T> ? IsConst : 0);
  static constexpr size_t Words = 2;
  static uint64_t Length(const Buffer<T>& buffer) { return buffer.size(); }
  static void Put(uint64_t*& at, const Buffer<T>& buffer) {
    *at++ = reinterpret_cast<uint64_t>(buffer.data());
    *at++ = buffer.size();
  }
};

constexpr size_t MostResultWords = 4;

// What the words of a slot's results are; a result of several words counts as so many u64.
struct ResultKinds {
  std::array<Kind, MostResultWords> kinds = {};
  uint8_t count = 0;
};

// A parameter, as far as calls are checked against it.
struct Param {
  // Of the argument type that is exactly its own; an `in` buffer's may also be of const elements.
  uint8_t code = 0;
  uint8_t bits = 0;  // of another that is: of the bits of halves; the same else
  bool is_integer = false;
  int64_t least = 0;  // of integers that fit
  uint64_t most = 0;
};

// T as it is asked for: integers are read as signed or unsigned.
template <typename T>
constexpr bool Reads(Kind kind) {
  const auto asked = static_cast<uint8_t>(KindOf<T>()), is = static_cast<uint8_t>(kind);
  return asked == is || (asked < 8 && is < 8 && asked % 4 == is % 4);
}

// One object for each list of argument types; its address says that a slot has seen this list before.
template <typename... Arguments>
inline constexpr std::array<uint8_t, sizeof...(Arguments)> Signature = {
    Argument<Arguments>::Code...};

}  // namespace internal

// What a call gave: its results, or why there are none.
class Outcome {
 public:
  bool ok() const { return status_ == 0; }
  explicit operator bool() const { return ok(); }
  // Empty if ok; else "division by zero", or what is wrong with the arguments.
  std::string error() const;
  // Result i, counted from 0. T must be its type (an integer of its width, float, double, bool); anything else, and asking
  // where there is no result, throws a std::logic_error that says so.
  template <typename T>
  T get(size_t i = 0) const {
    if (status_ != 0 || i >= kinds_.count || !internal::Reads<T>(kinds_.kinds[i])) [[unlikely]]
      Misused(i, KindOf<T>());
    return FromWord<T>(words_[i]);
  }

 private:
  friend class Slot;
  [[noreturn]] void Misused(size_t i, Kind asked) const;
  int32_t status_ = 0;
  internal::ResultKinds kinds_;
  std::array<uint64_t, internal::MostResultWords> words_;  // Load refuses programs that give more
};

class Slot {
 public:
  // Calls the program. Arguments are of its parameters' types: a float is not a double. An integer of another type is
  // taken where it fits, which is looked at in every call: an int for an index, say.
  template <typename... Arguments>
  Outcome operator()(const Arguments&... arguments) {
    Outcome outcome;
    const auto& signature = internal::Signature<Arguments...>;
    uint64_t words[(internal::Argument<Arguments>::Words + ... + 1)];
    uint64_t* at = words;
    (internal::Argument<Arguments>::Put(at, arguments), ...);
    // Compiled code believes a length; one of more than 54 bits is looked at.
    const uint64_t lengths = (internal::Argument<Arguments>::Length(arguments) | ... | 0);
    if ((seen_ != &signature || (lengths >> 54) != 0) &&
        !CheckArguments(signature, words, &signature)) {
      outcome.status_ = -1;
      return outcome;
    }
    outcome.kinds_ = kinds_;
    outcome.status_ = CallWords(words, outcome.words_.data());
    return outcome;
  }

  std::string state() const;   // "fluid", "solid", ...
  std::string digest() const;  // what `frazil why` takes
  std::string why() const;  // at most five lines: what runs, since when, why it may be trusted, ...
  void Freeze();
  void Unfreeze();
  void Ban();

 private:
  friend class Engine;
  explicit Slot(std::shared_ptr<engine::Site> site);
  bool CheckArguments(std::span<const uint8_t> codes, const uint64_t* words, const void* identity);
  int32_t CallWords(const uint64_t* arguments, uint64_t* results);

  std::shared_ptr<engine::Site> site_;
  std::shared_ptr<const std::vector<internal::Param>> params_;
  internal::ResultKinds kinds_;
  const void* seen_ = nullptr;  // a list of argument types that are exactly the parameters'
};

// A program that was read and checked.
class Program {
 public:
  static Result<Program> Parse(std::string_view text);
  // A file of any door, by its ending (.frz, .py, .json, .cir, .frzb, .tri, .tir); FILE:NAME picks one of several kernels.
  static Result<Program> Read(const std::string& path);
  std::string digest() const;

 private:
  friend class Engine;
  std::shared_ptr<const void> program_;
};

struct Options {
  std::string store;  // folder; empty: $FRAZIL_STORE, else the user's cache folder
  bool use_store = true;
  bool compile = true;
  uint64_t hot_calls = 0;  // compile after so many calls; 0: by the time they take
  // Path of frazil-worker. Empty: $FRAZIL_WORKER, else libexec/frazil of the installed package that this program was built
  // with, else beside the running program or in ../libexec/frazil from there. Without one, programs stay interpreted;
  // on_event and Slot::why say so, with the paths that were tried.
  std::string worker;
  // Told what happens, one line each, on any thread: "12.3 ms  admit  14.2 times as fast".
  std::function<void(const std::string&)> on_event;
};

class Engine {
 public:
  explicit Engine(const Options& options = {});
  ~Engine();
  Result<Slot> Load(const Program& program);
  Result<Slot> Load(std::string_view text);
  bool Settle(int milliseconds);  // until no work is queued or under way

 private:
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace frazil
