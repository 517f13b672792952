// The kernels of one file, whatever language it is written in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::aot {

struct SourceKernel {
  std::string name;
  std::string doc;
  ir::Program program;
};

enum class SourceKind : uint8_t { Python, Json, Circuit, Text };
// By the file's ending; fails with BadUsage.
Result<SourceKind> KindOf(const std::string& path);

// `text`: the file's content, but for Python the JSON that its tool made of it. Errors carry the file's name.
Result<std::vector<SourceKernel>> ReadKernels(const std::string& path, SourceKind kind,
                                              std::string_view text, const Limits& limits);

}  // namespace frazil::aot
