// Whole files as bytes, with a limit on what is read.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"

namespace frazil {

// At most `limits.source_bytes`. A folder is no file; the error names the path and the system's reason.
Result<std::string> ReadFileBytes(const std::string& path, const Limits& limits = {});
// The rest of a stream; `name` is what errors call it.
Result<std::string> ReadStreamBytes(std::FILE* stream, const std::string& name,
                                    const Limits& limits = {});

Result<void> WriteFileBytes(const std::string& path, std::string_view bytes);

// Where the running program's file lies; empty if the system does not say.
std::string FolderOfThisProgram();

}  // namespace frazil
