// What tests of the store share: a folder that goes away again, keys and verified forms by number.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/sha256.h"
#include "exec/native/native_code.h"
#include "store/store.h"
#include "verify/judge.h"

namespace frazil::store {

class TempFolder {
 public:
  // In memory where the machine has such a folder: thousands of small files are slow on some disks.
  TempFolder()
      : TempFolder(access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                                 : std::filesystem::temp_directory_path()) {}
  explicit TempFolder(const std::filesystem::path& parent) {
    std::string pattern = (parent / "frazil-store-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::unique_ptr<Store> OpenQuickly(const std::string& directory, bool read_only = false) {
  StoreOptions options;
  options.directory = directory;
  options.read_only = read_only;
  options.sync = false;
  return Store::Open(options);
}

inline StoreKey KeyOf(uint64_t number) {
  StoreKey key;
  key.source_exact = Sha256Hex(fmt::format("program {}", number));
  key.guard = number % 3 == 0 ? "true" : fmt::format("arg 0 == {}", number);
  key.toolchain = "test 1";
  key.profile = exec::CpuLevelName(static_cast<exec::CpuLevel>(number % exec::CpuLevelCount));
  return key;
}

// The form that belongs to a key and to no other; its code spells its number.
inline exec::CompiledForm FormOf(uint64_t number, size_t code_bytes = 300) {
  const StoreKey key = KeyOf(number);
  exec::CompiledForm form;
  form.source_exact = key.source_exact;
  form.guard = key.guard;
  form.candidate = fmt::format("candidate {}", number);
  form.candidate_exact = Sha256Hex(form.candidate);
  form.target = key.target;
  form.toolchain = key.toolchain;
  form.profile = key.profile;
  form.payload = fmt::format("code {} ", number);
  std::minstd_rand random(static_cast<uint32_t>(number) + 1);
  while (form.payload.size() < code_bytes) form.payload += static_cast<char>(random());
  return form;
}

inline std::string SealedOf(const exec::CompiledForm& form, const verify::InstallKey& key) {
  const verify::EvidencePair evidence = {{verify::Grade::Proved, "test", "by decree", 0},
                                         {verify::Grade::Sampled, "test", "by decree", 1}};
  return verify::Seal(verify::Judge::Vouch(exec::CompiledForm(form), evidence), key);
}

inline std::string RecordPath(const std::string& directory, const StoreKey& key) {
  const std::string digest = key.Digest();
  return fmt::format("{}/ac/{}/{}", directory, digest.substr(0, 2), digest);
}

inline std::string ContentPath(const std::string& directory, std::string_view sealed) {
  const std::string digest = Sha256Hex(sealed);
  return fmt::format("{}/cas/{}/{}", directory, digest.substr(0, 2), digest);
}

inline std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteAll(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace frazil::store
