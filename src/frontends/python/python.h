// Kernels written in Python: source -> JSON schema v1 (by Python's own `ast`, python/frazil_kernels) -> ir::Program.
// JSON is the contract between the two halves; it is read here without Python. python/README.md has the schema, the
// accepted language and its types; what is neither is refused with file, line, column and a hint.
//
// A kernel's entry is straight-line code around `parallel`s, as ir/kernel.h says: a guard `if i < n:` around everything
// becomes the bound of the parallel; what the source cannot say (`lanes.x`, `grid.x` ..) is appended to the parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::frontends::python {

struct Kernel {
  std::string name;
  ir::Program program;  // checked; locations of instructions are places in the source
  std::string doc;      // the docstring; empty if there is none
  Location location;    // of the `def`
};

// One kernel object or an array of them. Locations of errors are those of the Python source where the JSON carries
// them ("loc": [line, column]), else places in the JSON itself.
Result<std::vector<Kernel>> ParseJson(std::string_view json, std::string_view file_name,
                                      const Limits& limits = {});

struct PythonOptions {
  std::string python = "python3";  // found through PATH; needs version 3.9 or later
  int64_t timeout_ms = 60'000;     // of one start of Python
  Limits limits;
};

// The JSON of a Python file, as `python3 -m frazil_kernels file.py` prints it. The file is parsed, never executed.
Result<std::string> PythonToJson(const std::string& path, const PythonOptions& options = {});
Result<std::vector<Kernel>> ParsePython(const std::string& path, const PythonOptions& options = {});

// Many with one start of Python: an answer for each, in order. Of texts nothing is read but their bytes, so that what comes
// of them may be kept by their digest, whatever becomes of the files meanwhile.
struct PythonText {
  std::string path;        // for messages
  std::string_view bytes;  // of whoever calls
};
std::vector<Result<std::string>> PythonTextsToJson(std::span<const PythonText> texts,
                                                   const PythonOptions& options = {});
std::vector<Result<std::string>> PythonFilesToJson(std::span<const std::string> paths,
                                                   const PythonOptions& options = {});
std::vector<Result<std::vector<Kernel>>> ParsePythonFiles(std::span<const std::string> paths,
                                                          const PythonOptions& options = {});

// The text of the Python half, as it is embedded here: part of the key of whatever is cached by source.
std::string_view PythonTool();

}  // namespace frazil::frontends::python
