// ELF files that mean harm: whatever a file says about itself, it is read or refused, and never followed outside.
#include <random>

#include "aot/test_code.h"
#include "audit/test_elf.h"

namespace frazil::audit {
namespace {

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
    const size_t sections_at = add(sections);
    Put(file, 0, HeadWithSections(ET_REL, sections_at, 4));
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
  ASSERT_GT(kernels.size(), 2u);
  EXPECT_EQ(kernels.front().damage, "");
  EXPECT_EQ(kernels[1].damage, "its record cannot be read");
  EXPECT_EQ(kernels.back().damage, "there are more records than an audit reads");
}

// What stands in the section and is no record is told, whatever it has become.
TEST(Record, EachByteOfItsSectionIsAccountedFor) {
  const size_t size = RecordBytes().size();
  ASSERT_NE(size % 8, 0u);
  for (const size_t zeros : {size_t{1}, size_t{16}, size_t{40}, size}) {
    std::string file = Program();
    std::memset(file.data() + RecordAt, 0, zeros);
    const std::vector<EmbeddedKernel> kernels = FindIn(file);
    ASSERT_EQ(kernels.size(), 1u) << zeros;
    EXPECT_TRUE(kernels[0].damage.starts_with("its record is damaged: ")) << kernels[0].damage;
  }
  // Two records; one of them, or what lies between them.
  const size_t second = (size + 7) / 8 * 8;
  const auto two = [&] {
    std::string file(RecordAt, '\0');
    file += RecordBytes();
    file.resize(RecordAt + second);
    file += RecordBytes();
    const size_t names_at = file.size();
    const std::string one = Program();
    file += one.substr(RecordAt + size, 24);
    file.resize((file.size() + 7) / 8 * 8);
    const size_t sections_at = file.size();
    file += one.substr(one.size() - 3 * sizeof(Elf64_Shdr));
    std::memcpy(file.data(), one.data(), RecordAt);
    const auto section = [&](size_t i, size_t field) {
      return sections_at + i * sizeof(Elf64_Shdr) + field;
    };
    Put(file, section(1, offsetof(Elf64_Shdr, sh_size)), uint64_t{second + size});
    Put(file, section(2, offsetof(Elf64_Shdr, sh_offset)), uint64_t{names_at});
    Put(file, offsetof(Elf64_Ehdr, e_shoff), uint64_t{sections_at});
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), uint64_t{file.size()});
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), uint64_t{file.size()});
    return file;
  };
  const auto damaged = [&](const std::string& file) {
    std::string which;
    for (const EmbeddedKernel& kernel : FindIn(file)) which += kernel.damage.empty() ? "+" : "-";
    return which;
  };
  std::string file = two();
  EXPECT_EQ(damaged(file), "++");
  file[RecordAt] = 'F';
  EXPECT_EQ(damaged(file), "-+");
  file[RecordAt + second] = 'F';
  EXPECT_EQ(damaged(file), "-");
  file = two();
  file[RecordAt + second + 3] = 'F';
  EXPECT_EQ(damaged(file), "+-");
  file = two();
  file[RecordAt + size] = 'F';
  EXPECT_EQ(damaged(file), "+-+");
}

TEST(Record, DamageIsNamedWithoutSections) {
  for (const auto& [at, value] : {std::pair<size_t, uint32_t>{16, aot::RecordVersion + 1},
                                  {20, 0x7fffffff},
                                  {20, 8},
                                  {28, 0xffffffff}}) {
    std::string file = Program();
    ForgetSections(file);
    Put(file, RecordAt + at, value);
    const std::vector<EmbeddedKernel> kernels = FindIn(file);
    ASSERT_EQ(kernels.size(), 1u) << at;
    EXPECT_NE(kernels[0].damage, "") << at;
  }
}

// A launch runs on its caller's stack and asks for none, whatever a record says is needed.
TEST(Record, LittleStack) {
  aot::BuiltKernel kernel;
  exec::NativeImage image;
  image.code = "\x31\xc0\xc3";
  const auto unpacks = [&] {
    kernel.plain[0] = aot::TestCode("", image);
    return aot::UnpackRecord(aot::PackRecord(kernel, true)).has_value();
  };
  EXPECT_TRUE(unpacks());
  image.stack.frame_bytes = 1 << 20;
  EXPECT_FALSE(unpacks());
  image.stack = {0, true};
  EXPECT_FALSE(unpacks());
}

// A program that knows the magic, and has no records.
TEST(Record, TheMagicAloneIsNone) {
  std::string file = Program();
  ForgetSections(file);
  // A text ends with a zero; others stand behind it, or more zeros and some table.
  for (const uint32_t behind : {uint32_t{31090}, uint32_t{0x69727400}, uint32_t{0}}) {
    Put(file, RecordAt + 16, behind);
    EXPECT_TRUE(FindIn(file).empty()) << behind;
  }
}

}  // namespace
}  // namespace frazil::audit
