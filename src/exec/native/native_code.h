// Native code as data: an image is one block of position-independent bytes without relocations, for one
// CPU level; mapped (written first, then executable, never both) it is a function of the uniform entry form.
// Nothing here knows how images are made; targets/native makes them, stores keep them, slots call them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/cpu_level.h"
#include "embed/native_run.h"
#include "exec/compiled_form.h"
#include "exec/native/stack.h"

namespace frazil::exec {

using embed::CpuLevel;
using embed::CpuLevelCount;
using embed::CpuLevelName;
using embed::CpuLevelNamed;
using embed::HostLevel;
using embed::NativeAbiVersion;
using embed::NativeEntry;
using embed::NativeRun;

// A number of 8 bytes among the image's data that only decides between forms of one loop, such as how many elements are
// worth stores past the caches: with any other from `least` on, the code computes the same.
struct CodeThreshold {
  uint32_t offset = 0;  // into code
  uint64_t least = 0;
  friend bool operator==(const CodeThreshold&, const CodeThreshold&) = default;
};

struct NativeImage {
  CpuLevel level = CpuLevel::Baseline;
  bool metered = false;  // counts fuel
  bool uses_run = true;  // false: the entry never reads or writes its run, which may be null
  bool tuned = true;     // false: its maker has a form that takes longer to make and may be faster
  StackNeed stack;
  uint32_t entry_offset = 0;  // into code
  std::string code;
  std::vector<CodeThreshold> thresholds = {};

  friend bool operator==(const NativeImage&, const NativeImage&) = default;
};

// A flat file form with magic, version, lengths; Parse refuses anything that does not fit (BadArtifact).
std::string SerializeImage(const NativeImage& image);
Result<NativeImage> ParseImage(std::string_view bytes);

// The payload of a native form.
void PutImage(CompiledForm& form, const NativeImage& image);

// What a caller must know of code.
struct NativeFunction {
  NativeEntry entry = nullptr;
  bool uses_run = true;
  StackNeed stack = {};
};

class NativeCode {
 public:
  // Fails with Environment where the level is above the host's or memory cannot be made executable.
  static Result<std::shared_ptr<const NativeCode>> Map(const NativeImage& image);
  // The same in a file's memory, which is made as long as it needs: whoever has the file may map it once more.
  static Result<std::shared_ptr<const NativeCode>> MapFrom(const NativeImage& image, int file);
  ~NativeCode();
  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;

  const NativeFunction& function() const { return function_; }
  NativeEntry entry() const { return function_.entry; }
  bool uses_run() const { return function_.uses_run; }
  bool metered() const { return metered_; }
  const void* base() const { return base_; }
  size_t size() const { return size_; }

 private:
  NativeCode() = default;
  static Result<std::shared_ptr<const NativeCode>> MapIn(const NativeImage& image, int file);
  NativeFunction function_;
  bool metered_ = false;
  void* base_ = nullptr;
  size_t size_ = 0;
};

}  // namespace frazil::exec
