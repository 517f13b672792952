// ELF files that mean harm: whatever a file says about itself, it is read or refused, and never followed outside.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "audit/entry.h"
#include "audit/kernels.h"

namespace frazil::audit {
namespace {

constexpr uint64_t Base = 0x400000;
constexpr size_t RecordAt = 0x200;

template <typename T>
void Put(std::string& file, size_t at, const T& value) {
  if (file.size() < at + sizeof value) file.resize(at + sizeof value);
  std::memcpy(file.data() + at, &value, sizeof value);
}

std::string RecordBytes() {
  aot::BuiltKernel kernel;
  kernel.report.name = "k";
  kernel.digest = std::string(64, 'a');
  kernel.candidate = kernel.source = "frz 1\n";
  kernel.plain[0].image.code = "\x31\xc0\xc3";
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

// A program of one segment, which is the whole file, with the section of records.
std::string Program() {
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
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_type = ET_EXEC;
  head.e_machine = EM_X86_64;
  head.e_phoff = sizeof(Elf64_Ehdr);
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 1;
  head.e_shoff = sections_at;
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = 3;
  head.e_shstrndx = 2;
  Put(file, 0, head);
  return file;
}

TEST(MemoryImage, RecordsAreFoundBySectionAndWithout) {
  std::string file = Program();
  for (const bool named : {true, false}) {
    if (!named) {
      Put(file, offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
      Put(file, offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
    }
    const Result<MemoryImage> image = MemoryImage::Read(file);
    ASSERT_TRUE(image) << image.error().message;
    const std::vector<EmbeddedKernel> kernels = FindKernels(*image);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].damage, "");
    EXPECT_EQ(kernels[0].record.name, "k");
    ASSERT_EQ(kernels[0].codes.size(), 1u);
    EXPECT_EQ(kernels[0].codes[0], Base + RecordAt + 32 + 8);
  }
}

TEST(MemoryImage, NothingOutside) {
  const Result<MemoryImage> image = MemoryImage::Read(Program());
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->BytesAt(Base, 16));
  EXPECT_FALSE(image->BytesAt(Base - 1, 1));
  EXPECT_FALSE(image->BytesAt(Base, uint64_t{1} << 40));
  EXPECT_FALSE(image->BytesAt(UINT64_MAX, 2));
  EXPECT_FALSE(image->BytesAt(Base + 1, UINT64_MAX));
}

// The section's header says less than the segment holds, or nothing at all.
TEST(MemoryImage, NoSectionHidesARecord) {
  std::string file = Program();
  Elf64_Ehdr head;
  std::memcpy(&head, file.data(), sizeof head);
  // Two records, of which the section names the first.
  const std::string record = RecordBytes();
  const size_t second = (file.size() + 7) / 8 * 8;
  file.resize(second);
  file += record;
  const uint64_t bytes = file.size();
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), bytes);
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), bytes);
  const Result<MemoryImage> image = MemoryImage::Read(file);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(FindKernels(*image).size(), 2u);
  // One that does not fit and claims to be as long as both.
  Put(file, RecordAt + 20, static_cast<uint32_t>(file.size() - RecordAt));
  const Result<MemoryImage> longer = MemoryImage::Read(file);
  ASSERT_TRUE(longer) << longer.error().message;
  const std::vector<EmbeddedKernel> kernels = FindKernels(*longer);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_NE(kernels[0].damage, "");
  EXPECT_EQ(kernels[1].damage, "");
}

// A loader lets the later one win; this must not look at the other.
TEST(MemoryImage, SegmentsDoNotLieOverEachOther) {
  for (const uint64_t distance : {uint64_t{0}, uint64_t{0x800}, uint64_t{0x1000}}) {
    std::string file = Program();
    ASSERT_LT(file.size(), 0x1000u);
    Elf64_Phdr segment;
    std::memcpy(&segment, file.data() + sizeof(Elf64_Ehdr), sizeof segment);
    segment.p_vaddr += distance;
    Put(file, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), segment);
    Put(file, offsetof(Elf64_Ehdr, e_phnum), uint16_t{2});
    EXPECT_EQ(MemoryImage::Read(file).has_value(), distance == 0x1000) << distance;
  }
}

// An object file in which a linker will put something else than stands there.
TEST(MemoryImage, WhatALinkerChangesIsNotThere) {
  const auto object = [](uint32_t type, uint16_t section, unsigned char info) {
    std::string file(sizeof(Elf64_Ehdr), '\0');
    const auto add = [&](const auto& value) {
      const size_t at = file.size();
      Put(file, at, value);
      return at;
    };
    std::array<char, 64> bytes = {};
    bytes.fill('x');
    const size_t bytes_at = add(bytes);
    Elf64_Sym symbols[2] = {};
    symbols[1].st_shndx = section;
    symbols[1].st_info = info;
    const size_t symbols_at = add(symbols);
    Elf64_Rela row = {};
    row.r_offset = 16;
    row.r_info = ELF64_R_INFO(uint64_t{1}, type);
    const size_t rows_at = add(row);
    Elf64_Shdr sections[4] = {};
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_flags = SHF_ALLOC;
    sections[1].sh_offset = bytes_at;
    sections[1].sh_size = bytes.size();
    sections[2].sh_type = SHT_SYMTAB;
    sections[2].sh_offset = symbols_at;
    sections[2].sh_size = sizeof symbols;
    sections[3].sh_type = SHT_RELA;
    sections[3].sh_offset = rows_at;
    sections[3].sh_size = sizeof row;
    sections[3].sh_link = 2;
    sections[3].sh_info = 1;
    Elf64_Ehdr head = {};
    head.e_shoff = add(sections);
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_REL;
    head.e_machine = EM_X86_64;
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = 4;
    Put(file, 0, head);
    return MemoryImage::Read(file);
  };
  constexpr uint64_t At = 0x1000 + 16;  // the first section's address
  const Result<MemoryImage> settled = object(R_X86_64_PC32, 1, 0);
  ASSERT_TRUE(settled);
  EXPECT_TRUE(settled->BytesAt(At, 4));
  for (const auto& image : {object(R_X86_64_PC32, SHN_UNDEF, 0), object(R_X86_64_PLT32, 1, 0),
                            object(R_X86_64_PC32, SHN_ABS, 0),
                            object(R_X86_64_PC32, 1, ELF64_ST_INFO(STB_WEAK, STT_FUNC))}) {
    ASSERT_TRUE(image);
    EXPECT_FALSE(image->BytesAt(At, 4));
    EXPECT_FALSE(image->BytesAt(At - 16, 64));
    EXPECT_TRUE(image->BytesAt(At - 16, 16));
    EXPECT_TRUE(image->BytesAt(At + 8, 8));
  }
}

// Each byte with some other values, then many at once: no answer is expected but that there is one.
TEST(MemoryImage, HostileBytes) {
  const std::string file = Program();
  const auto read = [](const std::string& bytes) {
    const Result<MemoryImage> image = MemoryImage::Read(bytes);
    if (!image) return;
    for (const EmbeddedKernel& kernel : FindKernels(*image))
      (void)ClaimsOf(kernel, Finding::NotChecked, "");
  };
  for (size_t i = 0; i < file.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff', '\x7f'}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      read(changed);
    }
    read(file.substr(0, i));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = file;
    for (int k = 0; k < 12; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    Put(changed, 0, std::array<char, 4>{'\x7f', 'E', 'L', 'F'});
    read(changed);
  }
}

TEST(Record, DamageIsNamed) {
  std::string file = Program();
  Put(file, RecordAt + 20, uint32_t{0x7fffffff});
  const Result<MemoryImage> image = MemoryImage::Read(file);
  ASSERT_TRUE(image);
  const std::vector<EmbeddedKernel> kernels = FindKernels(*image);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].damage, "its record does not fit its length");
}

// A record at every 40 bytes, each as long as the rest of the file: read in time, and not silently left.
TEST(Record, VeryManyAreNamed) {
  std::string file = Program();
  const size_t begin = (file.size() + 7) / 8 * 8;
  std::string row(RecordBytes().substr(0, 40));
  for (int i = 0; i < 8000; ++i) {
    file.resize(begin + 40u * static_cast<size_t>(i));
    file += row;
  }
  for (size_t at = begin; at + 40 <= file.size(); at += 40)
    Put(file, at + 20, static_cast<uint32_t>(file.size() - at));
  const uint64_t bytes = file.size();
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), bytes);
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), bytes);
  const Result<MemoryImage> image = MemoryImage::Read(file);
  ASSERT_TRUE(image) << image.error().message;
  const std::vector<EmbeddedKernel> kernels = FindKernels(*image);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].damage, "there are more records than an audit reads");
}

// A launch runs on its caller's stack and asks for none, whatever a record says is needed.
TEST(Record, LittleStack) {
  aot::BuiltKernel kernel;
  kernel.plain[0].image.code = "\x31\xc0\xc3";
  EXPECT_TRUE(aot::UnpackRecord(aot::PackRecord(kernel, true)));
  kernel.plain[0].image.stack.frame_bytes = 1 << 20;
  EXPECT_FALSE(aot::UnpackRecord(aot::PackRecord(kernel, true)));
  kernel.plain[0].image.stack = {0, true};
  EXPECT_FALSE(aot::UnpackRecord(aot::PackRecord(kernel, true)));
}

// A program that knows the magic, and has no records.
TEST(Record, TheMagicAloneIsNone) {
  std::string file = Program();
  Put(file, RecordAt + 16, uint32_t{31090});
  Put(file, offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
  Put(file, offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
  const Result<MemoryImage> image = MemoryImage::Read(file);
  ASSERT_TRUE(image);
  EXPECT_TRUE(FindKernels(*image).empty());
}

verify::Evidence Of(verify::Grade grade) { return {grade, "judge", "detail", 1}; }

TEST(Decide, WhatIsFoundAgainstWhatIsClaimed) {
  using verify::Grade;
  const auto decide = [](verify::Verdict meaning, verify::Verdict code) {
    Entry entry;
    entry.claimed = {Of(Grade::Proved), Of(Grade::Sampled)};
    Decide(entry, meaning, code);
    return entry.finding;
  };
  const verify::Verdict proved = verify::Proved{Of(Grade::Proved)};
  const verify::Verdict exhaustive = verify::Proved{Of(Grade::Exhaustive)};
  const verify::Verdict sampled = verify::Tested{Of(Grade::Sampled)};
  const verify::Verdict unknown = verify::Unknown{"time"};
  const verify::Verdict refuted = verify::Refuted{{}, {}, {}, {}, "1 against 2"};
  EXPECT_EQ(decide(proved, sampled), Finding::Agrees);
  EXPECT_EQ(decide(exhaustive, proved), Finding::Agrees) << "worth as much, and more";
  EXPECT_EQ(decide(sampled, sampled), Finding::Disagrees);
  EXPECT_EQ(decide(proved, unknown), Finding::NotChecked);
  EXPECT_EQ(decide(unknown, sampled), Finding::NotChecked);
  EXPECT_EQ(decide(unknown, refuted), Finding::Refuted) << "wrong code is wrong whatever it means";
  EXPECT_EQ(decide(sampled, unknown), Finding::Disagrees);
  EXPECT_EQ(decide(refuted, sampled), Finding::Refuted);
}

TEST(Entries, NoLineLooksLikeAnother) {
  Entry entry{"k\n\x1b[2Kother", "plain", {}, {}, Finding::Refuted, "why\r", "note"};
  MakePrintable(entry);
  EXPECT_EQ(entry.name, "k??[2Kother");
  EXPECT_EQ(entry.reason, "why?");
}

TEST(Entries, BytesAndBack) {
  Entry entry{"k", "avx2 plain", {}, {}, Finding::Refuted, "why", "note"};
  entry.claimed.meaning = Of(verify::Grade::Proved);
  const std::string bytes = PackEntries({entry, entry});
  std::vector<Entry> back;
  ASSERT_TRUE(UnpackEntries(bytes, back));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].claimed.meaning, entry.claimed.meaning);
  EXPECT_EQ(back[1].finding, Finding::Refuted);
  EXPECT_FALSE(UnpackEntries(bytes.substr(1), back));
  EXPECT_EQ(back.size(), 2u);
}

}  // namespace
}  // namespace frazil::audit
