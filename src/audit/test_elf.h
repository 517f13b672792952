// ELF files with records of kernels, made by hand for tests.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "aot/test_code.h"
#include "audit/kernels.h"

namespace frazil::audit {

constexpr uint64_t Base = 0x400000;
constexpr size_t RecordAt = 0x200;

template <typename T>
void Put(std::string& file, size_t at, const T& value) {
  if (file.size() < at + sizeof value) file.resize(at + sizeof value);
  std::memcpy(file.data() + at, &value, sizeof value);
}

inline std::string RecordBytes() {
  aot::BuiltKernel kernel;
  kernel.report.name = "k";
  kernel.digest = std::string(64, 'a');
  kernel.candidate = kernel.source = "frz 1\n\n";
  exec::NativeImage image;
  image.code = "\x31\xc0\xc3";
  kernel.plain[0] = aot::TestCode(kernel.digest, image);
  const std::string body = aot::PackRecord(kernel, true);
  std::string record(aot::RecordMagic);
  const auto number = [&](uint32_t value) { Put(record, record.size(), value); };
  number(aot::RecordVersion);
  number(static_cast<uint32_t>(aot::RecordHeadBytes + 4 + body.size()));
  number(static_cast<uint32_t>(-24));  // to the descriptor: before the record
  number(1);
  number(8);
  return record + body;
}

inline Elf64_Ehdr HeadWithSections(uint16_t type, uint64_t sections_at, uint16_t sections) {
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_type = type;
  head.e_machine = EM_X86_64;
  head.e_shoff = sections_at;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = sections;
  return head;
}

// A program of one segment, which is the whole file, with the section of records.
inline std::string Program() {
  const std::string record = RecordBytes();
  const std::string names = std::string("\0.frazil.kernels\0.names\0", 24);
  std::string file(RecordAt, '\0');
  file += record;
  const size_t names_at = file.size();
  file += names;
  file.resize((file.size() + 7) / 8 * 8);
  const size_t sections_at = file.size();
  Elf64_Shdr sections[3] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_PROGBITS;
  sections[1].sh_flags = SHF_ALLOC;
  sections[1].sh_addr = Base + RecordAt;
  sections[1].sh_offset = RecordAt;
  sections[1].sh_size = record.size();
  sections[2].sh_name = 17;
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = names_at;
  sections[2].sh_size = names.size();
  Put(file, sections_at, sections);
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_vaddr = Base;
  segment.p_filesz = segment.p_memsz = file.size();
  Put(file, sizeof(Elf64_Ehdr), segment);
  Elf64_Ehdr head = HeadWithSections(ET_EXEC, sections_at, 3);
  head.e_phoff = sizeof(Elf64_Ehdr);
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 1;
  head.e_shstrndx = 2;
  Put(file, 0, head);
  return file;
}

inline void ForgetSections(std::string& file) {
  Put(file, offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
  Put(file, offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
}

inline std::vector<EmbeddedKernel> FindIn(const std::string& file) {
  const Result<MemoryImage> image = MemoryImage::Read(file);
  EXPECT_TRUE(image);
  return image ? FindKernels(*image) : std::vector<EmbeddedKernel>();
}

}  // namespace frazil::audit
