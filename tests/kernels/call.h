// A launch of a kernel in a test: its arguments stand between canaries, and one set of them runs on any target.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/target.h"
#include "ir/program.h"

namespace frazil::kernels_test {

enum class Engine : uint8_t { Interpreter, Tile, Native };
const char* EngineName(Engine engine);

// A kernel of stdlib/kernels, by the path without its ending ("vector/vector_add") or by its name alone. All files are read on
// first use, with one start of Python; what cannot be read fails the test that asks for it.
const ir::Program* KernelNamed(std::string_view name);
// Of another file.
const ir::Program* KernelOfFile(const std::string& path);
struct Line {
  std::string list, name, kernel;
};
const std::vector<Line>& Manifest();

// Compiled once for each kernel.
exec::Callable* CallableOf(const ir::Program& program, Engine engine);

template <typename T>
ir::Type TypeOf() {
  if constexpr (std::is_same_v<T, float>) return ir::types::F32;
  if constexpr (std::is_same_v<T, double>) return ir::types::F64;
  if constexpr (std::is_same_v<T, uint32_t>) return ir::types::U32;
  if constexpr (std::is_same_v<T, int32_t>) return ir::types::I32;
  if constexpr (std::is_same_v<T, int64_t>) return ir::types::Index;
}

class Call {
 public:
  explicit Call(const ir::Program* program) : program_(program) {}

  template <typename T>
  Call& In(const std::vector<T>& contents) {
    return Add(TypeOf<T>(), contents.data(), contents.size() * sizeof(T), true);
  }
  template <typename T>
  Call& InOut(const std::vector<T>& contents) {
    return Add(TypeOf<T>(), contents.data(), contents.size() * sizeof(T), false);
  }
  // Elements that the kernel must overwrite: they begin as a value that no kernel computes.
  template <typename T>
  Call& Out(size_t length) {
    std::vector<T> contents(length);
    std::memset(static_cast<void*>(contents.data()), 0xA5, length * sizeof(T));
    return InOut(contents);
  }
  Call& Same(size_t argument);  // the buffer that an earlier argument is
  template <typename T>
  Call& Scalar(T value) {
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return AddScalar(TypeOf<T>(), word);
  }
  Call& N(uint64_t value) { return Scalar(static_cast<uint32_t>(value)); }

  // Runs with fresh copies `shift` bytes behind a multiple of 64. False, and the test has failed: it trapped or could not
  // be launched, wrote outside of a buffer, or changed what it may only read.
  bool Run(Engine engine, size_t shift = 0);
  // The trap of a run that must end in one; empty if there was none.
  std::string Trap(Engine engine);

  // What is in the buffer of an argument after the last run.
  template <typename T>
  std::vector<T> Get(size_t argument) const {
    const std::string& bytes = after_[argument];
    std::vector<T> contents(bytes.size() / sizeof(T));
    std::memcpy(static_cast<void*>(contents.data()), bytes.data(), bytes.size());
    return contents;
  }
  const std::vector<std::string>& after() const { return after_; }
  // Runs on all engines (`all` false: on native code alone) and compares their bits; leaves native's contents.
  bool RunEverywhere(bool all = true);

 private:
  Call& Add(ir::Type element, const void* bytes, size_t size, bool read_only);
  Call& AddScalar(ir::Type type, uint64_t word);
  exec::Outcome Launch(Engine engine, size_t shift, bool& launched);

  struct Part {
    ir::Type type;  // scalars: their own; buffers: of an element
    bool is_buffer = false;
    bool read_only = false;
    size_t same = SIZE_MAX;
    uint64_t word = 0;
    std::string contents = {};
  };
  const ir::Program* program_;
  std::vector<Part> parts_;
  std::vector<std::string> after_;
  bool intact_ = true;
};

}  // namespace frazil::kernels_test
