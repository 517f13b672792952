// Version numbers are bumped by people, who forget; the program's own bytes change by themselves. A linker that was asked
// for a build id has digested them already.
#include "aot/toolchain.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/sha256.h"
#include "exec/native_toolchain.h"

namespace frazil::aot {
namespace {

std::string BuildIdIn(const char* notes, size_t size) {
  constexpr size_t Head = sizeof(ElfW(Nhdr));
  while (size >= Head) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, Head);
    const size_t name = (note.n_namesz + 3) / 4 * 4;
    const size_t data = (note.n_descsz + 3) / 4 * 4;
    if (size < Head + name + data) break;
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes + Head, "GNU", 4) == 0;
    if (note.n_type == NT_GNU_BUILD_ID && is_gnu)
      return Hex(std::string_view(notes + Head + name, note.n_descsz));
    notes += Head + name + data;
    size -= Head + name + data;
  }
  return {};
}

// The first object is the program itself.
int FindBuildId(dl_phdr_info* info, size_t, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    std::string id = BuildIdIn(notes, header.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(result) = std::move(id);
  }
  return 1;
}

std::string DigestOfProgram() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return Sha256Hex(bytes);
}

}  // namespace

std::string ToolchainDigest() {
  std::string id;
  dl_iterate_phdr(FindBuildId, &id);
  if (id.empty()) id = DigestOfProgram();
  return fmt::format("{} / {}", exec::NativeToolchain(), id);
}

}  // namespace frazil::aot
