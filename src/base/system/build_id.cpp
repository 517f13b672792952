// A file and a mapped program hold the same notes; what differs is how one gets at them.
#include "base/system/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace frazil {
namespace {

// More than any linker writes: a file that asks for more is not one of ours.
constexpr size_t MostHeaders = 256;
constexpr size_t MostNoteBytes = 64 << 10;

std::string BuildIdIn(std::string_view notes) {
  constexpr size_t Head = sizeof(ElfW(Nhdr));
  while (notes.size() >= Head) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), Head);
    const size_t name = (size_t{note.n_namesz} + 3) / 4 * 4;
    const size_t data = (size_t{note.n_descsz} + 3) / 4 * 4;
    if (notes.size() < Head + name + data) break;
    const bool is_gnu = notes.substr(Head, note.n_namesz) == std::string_view("GNU", 4);
    if (note.n_type == NT_GNU_BUILD_ID && is_gnu && note.n_descsz > 0)
      return Hex(notes.substr(Head + name, note.n_descsz));
    notes.remove_prefix(Head + name + data);
  }
  return {};
}

// Looks for the object that holds this very function.
int FindOwnNotes(dl_phdr_info* info, size_t, void* result) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&FindOwnNotes);
  std::string id;
  bool is_ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = info->dlpi_phdr[i];
    const ElfW(Addr) begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) is_ours |= here >= begin && here - begin < header.p_memsz;
    if (header.p_type == PT_NOTE && id.empty())
      id = BuildIdIn({reinterpret_cast<const char*>(begin), header.p_memsz});
  }
  if (!is_ours) return 0;
  *static_cast<std::string*>(result) = std::move(id);
  return 1;
}

std::string DigestOfProgram() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return Sha256Hex(bytes);
}

// Exactly so many bytes, or false.
bool ReadAt(int file, uint64_t offset, void* bytes, size_t count) {
  return ::pread(file, bytes, count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count);
}

std::string BuildIdIn(int file) {
  ElfW(Ehdr) head;
  if (!ReadAt(file, 0, &head, sizeof head)) return {};
  const bool is_elf = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                      head.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) &&
                      head.e_ident[EI_DATA] == ELFDATA2LSB &&
                      head.e_phentsize == sizeof(ElfW(Phdr)) && head.e_phnum <= MostHeaders;
  if (!is_elf) return {};
  std::vector<ElfW(Phdr)> headers(head.e_phnum);
  if (!ReadAt(file, head.e_phoff, headers.data(), headers.size() * sizeof(ElfW(Phdr)))) return {};
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type != PT_NOTE || header.p_filesz > MostNoteBytes) continue;
    std::string notes(header.p_filesz, '\0');
    if (!ReadAt(file, header.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = BuildIdIn(notes); !id.empty()) return id;
  }
  return {};
}

}  // namespace

const std::string& OwnBuildId() {
  static const std::string id = [] {
    std::string found;
    dl_iterate_phdr(FindOwnNotes, &found);
    return found.empty() ? DigestOfProgram() : found;
  }();
  return id;
}

std::string BuildIdOfFile(const std::string& path) {
  // Not blocked by a pipe that somebody put there.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  std::string id = BuildIdIn(file);
  ::close(file);
  return id;
}

}  // namespace frazil
