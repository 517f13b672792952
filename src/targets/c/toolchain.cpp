// Runs the compiler without a shell, so that no name in a path or flag can be taken for a command.
#include "targets/c/toolchain.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/system/process.h"

namespace frazil::targets::c {
namespace {

namespace fs = std::filesystem;

std::string FindOnPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    const std::string candidate = folder + "/" + name;
    struct stat info;
    const bool is_file = stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    if (is_file && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Create() {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    std::string pattern = (error ? fs::path("/tmp") : base) / "frazil-c-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
      return Fail(Diag::FileUnwritable,
                  fmt::format("no temporary folder can be made at {}", pattern));
    return TemporaryFolder(pattern);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string File(std::string_view name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// The first line of what the compiler said that is an error, or the first.
std::string FirstError(const std::string& messages) {
  std::istringstream lines(messages);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "it said nothing" : first;
}

}  // namespace

Result<std::string> FindCompiler(const std::string& compiler) {
  if (!compiler.empty()) {
    std::string found = FindOnPath(compiler);
    if (!found.empty()) return found;
    return Fail(Diag::MissingTool, fmt::format("there is no C compiler '{}'", compiler));
  }
  for (const char* name : {"cc", "clang", "gcc"}) {
    std::string found = FindOnPath(name);
    if (!found.empty()) return found;
  }
  return Fail(Diag::MissingTool, "there is no C compiler (cc, clang or gcc) on the PATH");
}

SharedObject::~SharedObject() { dlclose(handle_); }

void* SharedObject::Find(const char* symbol) const { return dlsym(handle_, symbol); }

Result<std::shared_ptr<SharedObject>> CompileAndLoad(const std::string& text,
                                                     const std::string& compiler,
                                                     std::span<const std::string> flags) {
  const std::string path = TRY(FindCompiler(compiler));
  const TemporaryFolder folder = TRY(TemporaryFolder::Create());
  const std::string source = folder.File("program.c");
  const std::string object = folder.File("program.so");
  std::ofstream file(source, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Fail(Diag::FileUnwritable, fmt::format("{} cannot be written", source));
  Command command{path, {path, "-O2", "-fPIC", "-shared"}};
  command.words.insert(command.words.end(), flags.begin(), flags.end());
  command.words.insert(command.words.end(), {"-o", object, source, "-lm"});
  const SystemResult<RunResult> run = RunCommand(command, {});
  if (!run) return Fail(Diag::MissingTool, fmt::format("the compiler {} cannot be started", path));
  if (!run->ending.is_known)
    return Fail(Diag::EngineFailed, fmt::format("the compiler {} was lost", path));
  if (!run->ending.is_success())
    return Fail(Diag::EngineFailed,
                fmt::format("the compiler {} failed: {}", path, FirstError(run->messages)));
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Fail(Diag::EngineFailed, fmt::format("compiled code cannot be loaded: {}", dlerror()));
  return std::make_shared<SharedObject>(handle);
}

}  // namespace frazil::targets::c
