#include "base/system/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace frazil {
namespace {

std::unexpected<Error> Unreadable(const std::string& name) {
  return Fail(Diag::FileUnreadable,
              fmt::format("{} cannot be read: {}", name, std::strerror(errno)));
}

}  // namespace

Result<std::string> ReadStreamBytes(std::FILE* stream, const std::string& name,
                                    const Limits& limits) {
  std::string bytes;
  char chunk[65536];
  for (size_t n = 0; (n = std::fread(chunk, 1, sizeof chunk, stream)) != 0;) {
    bytes.append(chunk, n);
    if (bytes.size() > limits.source_bytes)
      return Fail(Diag::LimitReached, fmt::format("{} has more than --max-source-bytes {} bytes",
                                                  name, limits.source_bytes));
  }
  if (std::ferror(stream) != 0) return Unreadable(name);
  return bytes;
}

Result<std::string> ReadFileBytes(const std::string& path, const Limits& limits) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Fail(Diag::FileUnreadable, fmt::format("{} is a folder", path));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rb"), [](std::FILE* f) { return std::fclose(f); });
  if (!file) return Unreadable(path);
  return ReadStreamBytes(file.get(), path, limits);
}

Result<void> WriteFileBytes(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file != nullptr) good &= std::fclose(file) == 0;
  if (!good)
    return Fail(Diag::FileUnwritable,
                fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  return {};
}

std::string FolderOfThisProgram() {
  std::string path(4096, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size <= 0) return {};
  path.resize(static_cast<size_t>(size));
  return path.substr(0, path.rfind('/'));
}

}  // namespace frazil
