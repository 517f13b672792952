// The C compiler of the machine, found and run at run time.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace frazil::targets::c {

// The path of `compiler`, or of the first of cc, clang, gcc if it is empty. Diag::MissingTool if there is none.
Result<std::string> FindCompiler(const std::string& compiler);

// A loaded shared object; its file is gone already.
class SharedObject {
 public:
  explicit SharedObject(void* handle) : handle_(handle) {}
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  void* Find(const char* symbol) const;  // null if absent

 private:
  void* handle_;
};

// Compiles C text with -O2 (later flags win) in a private temporary folder, loads the result and removes the
// folder. A failing compiler is Diag::EngineFailed with the first line of its complaint.
Result<std::shared_ptr<SharedObject>> CompileAndLoad(const std::string& text,
                                                     const std::string& compiler,
                                                     std::span<const std::string> flags);

}  // namespace frazil::targets::c
