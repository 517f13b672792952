// The standard kernels as the ops call them: embedded code on the CPU, their programs on other backends.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/result.h"
#include "embed/kernel.h"
#include "embed/status.h"
#include "runtime/op_calls.h"
#include "runtime/source.h"

namespace frazil::runtime::internal {

// All of them, compiled while Frazil was built.
const embed::ModuleData& StandardKernels();
// A program of them, read once; fails only where a build went wrong.
Result<Source> StandardSource(const embed::KernelData& kernel);

// An argument of a kernel: elements, the word of a scalar, or a length or dimension, which must fit the kernel's u32.
struct Operand {
  enum class Form : uint8_t { Elements, Word, Extent };
  Operand(const Part& elements) : form(Form::Elements), part(elements) {}
  static Operand Word(uint64_t word) { return {Form::Word, word}; }
  static Operand Extent(size_t extent) { return {Form::Extent, extent}; }

  Form form;
  Part part = {};
  uint64_t word = 0;

 private:
  Operand(Form form, uint64_t word) : form(form), word(word) {}
};
using Operands = std::span<const Operand>;

// Whether embedded code may be called: memory of the CPU, extents that a kernel can be told.
inline bool IsPlain(std::initializer_list<Part> parts, std::initializer_list<size_t> extents) {
  uint64_t homes = 0, large = 0;
  for (const Part& part : parts) homes |= reinterpret_cast<uint64_t>(part.home);
  for (const size_t extent : extents) large |= extent >> 32;
  return (homes | large) == 0;
}

// What the ops do where embedded code was not called: runs it where its memory is at home, or says why not.
[[gnu::cold]] Result<void> RunElsewhere(std::string_view kernel, Operands operands);
// .. and where it was called and said no: explains it; where there is none for this machine, runs on tiles.
[[gnu::cold]] Result<void> Refused(std::string_view kernel, const embed::Status& status,
                                   Operands operands);

// The launch of an op whose lengths were looked at: `launch` calls the embedded code.
template <typename Launch>
[[gnu::always_inline]] inline Result<void> LaunchStandard(std::string_view kernel, bool is_plain,
                                                          const Launch& launch,
                                                          const auto& operands) {
  if (!is_plain) [[unlikely]]
    return RunElsewhere(kernel, operands());
  const embed::Status status = launch();
  if (status.ok()) [[likely]]
    return {};
  return Refused(kernel, status, operands());
}

}  // namespace frazil::runtime::internal
