// ELF files that mean harm: whatever a file says about itself, it is read or refused, and never followed outside.
#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "audit/audit.h"
#include "audit/entry.h"
#include "audit/kernels.h"
#include "ir/digest.h"
#include "ir/text.h"
#include "targets/isa/isa.h"

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
  ASSERT_GT(kernels.size(), 2u);
  EXPECT_EQ(kernels.front().damage, "");
  EXPECT_EQ(kernels[1].damage, "its record cannot be read");
  EXPECT_EQ(kernels.back().damage, "there are more records than an audit reads");
}

void ForgetSections(std::string& file) {
  Put(file, offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
  Put(file, offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
}

std::vector<EmbeddedKernel> FindIn(const std::string& file) {
  const Result<MemoryImage> image = MemoryImage::Read(file);
  EXPECT_TRUE(image);
  return image ? FindKernels(*image) : std::vector<EmbeddedKernel>();
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
  for (const auto& [at, value] :
       {std::pair<size_t, uint32_t>{16, 2}, {20, 0x7fffffff}, {20, 8}, {28, 0xffffffff}}) {
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
  ForgetSections(file);
  // A text ends with a zero; others stand behind it, or more zeros and some table.
  for (const uint32_t behind : {uint32_t{31090}, uint32_t{0x69727400}, uint32_t{0}}) {
    Put(file, RecordAt + 16, behind);
    EXPECT_TRUE(FindIn(file).empty()) << behind;
  }
}

// A kernel for the portable ISA alone, as aot writes it.
class IsaKernel : public testing::Test {
 protected:
  static constexpr size_t DataAt = 0x100;
  static constexpr std::string_view Text = R"(frz 1
func @main(%x: in buffer<f32>, %y: out buffer<f32>, %n: u32) {
  %zero = const 0 : index
  %m = cast %n : index
  parallel %i = %zero to %m {
    %v = load %x, %i : f32
    %w = add %v, %v : f32
    store %y, %i, %w : f32
    yield
  }
  return
}
)";

  static ir::Program Source() {
    Result<ir::Program> program = ir::ParseText(Text);
    EXPECT_TRUE(program);
    return std::move(*program);
  }

  void SetUp() override {
    const ir::Program source = Source();
    const auto proved = targets::isa::ProvedModule::OfProgram(source);
    ASSERT_TRUE(proved);
    module = std::string(proved->module().bytes);
    kernel.report.name = "twice";
    kernel.report.meaning = {verify::Grade::Proved, "digest", "", 0};
    kernel.digest = ir::ExactDigest(source);
    kernel.candidate = kernel.source = ir::PrintText(source);
    data.version = embed::KernelDataVersion;
    data.trips_word = embed::NoWord;
    data.word_count = 5;
    for (size_t i = 0; i < sizeof data.digest; ++i)
      data.digest[i] = static_cast<char>(std::stoi(kernel.digest.substr(2 * i, 2), nullptr, 16));
    using embed::Access;
    using embed::ParamRole;
    using embed::ScalarKind;
    params = {{{}, ScalarKind::F32, ParamRole::Buffer, Access::In, 4, 0, 0},
              {{}, ScalarKind::F32, ParamRole::Buffer, Access::Out, 4, 2, 0},
              {{}, ScalarKind::U32, ParamRole::Extent, Access::InOut, 4, 4, 0}};
    covers = lengths = {{2, 0}, {2, 1}};
  }

  // A program of one segment without sections.
  std::string File() const {
    std::string file = Program();
    ForgetSections(file);
    file.resize(RecordAt);
    embed::KernelData head = data;
    const auto place = [&](size_t field, std::string_view bytes) {
      file.resize((file.size() + 7) / 8 * 8);
      const size_t at = file.size();
      file += bytes;
      return static_cast<int32_t>(at - DataAt - field);
    };
    const auto rows = [](const auto& list) {
      return std::string_view(reinterpret_cast<const char*>(list.data()),
                              list.size() * sizeof(list[0]));
    };
    std::string record(aot::RecordMagic);
    const std::string body = aot::PackRecord(kernel, true);
    for (const uint32_t number :
         {aot::RecordVersion, static_cast<uint32_t>(aot::RecordHeadBytes + body.size()),
          static_cast<uint32_t>(DataAt - RecordAt - 24), uint32_t{0}})
      Put(record, record.size(), number);
    using embed::KernelData;
    head.record.offset = place(offsetof(KernelData, record), record + body);
    head.name.offset = place(offsetof(KernelData, name), std::string("twice\0", 6));
    const auto list = [&](auto& field, size_t at, const auto& from) {
      field.size = static_cast<uint32_t>(from.size());
      if (!from.empty()) field.data.offset = place(at, rows(from));
    };
    list(head.params, offsetof(KernelData, params), params);
    list(head.covers, offsetof(KernelData, covers), covers);
    list(head.lengths, offsetof(KernelData, lengths), lengths);
    list(head.isa, offsetof(KernelData, isa), module);
    list(head.ptx, offsetof(KernelData, ptx), ptx);
    Put(file, DataAt, head);
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), uint64_t{file.size()});
    Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), uint64_t{file.size()});
    return file;
  }

  Entry Audited() const {
    const Result<MemoryImage> image = MemoryImage::Read(File());
    EXPECT_TRUE(image);
    const std::vector<EmbeddedKernel> kernels = FindKernels(*image);
    EXPECT_EQ(kernels.size(), 1u);
    const std::vector<Entry> entries = AuditKernel(*image, kernels.at(0), {}, Limits{});
    EXPECT_EQ(entries.size(), 1u);
    return entries.at(0);
  }

  aot::BuiltKernel kernel;
  embed::KernelData data = {};
  std::vector<embed::ParamData> params;
  std::vector<embed::PairData> covers, lengths;
  std::string module, ptx;
};

TEST_F(IsaKernel, IsLiftedBack) {
  const Entry good = Audited();
  EXPECT_EQ(good.finding, Finding::Agrees) << good.reason;
  EXPECT_EQ(good.form, "isa");
  EXPECT_EQ(good.found.lowering.grade, verify::Grade::Proved);
  // Damaged; and a good module of another program.
  std::string& bytes = module;
  const std::string whole = bytes;
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(Audited().finding, Finding::Disagrees);
  bytes = std::string(whole.size(), 'x');
  EXPECT_EQ(Audited().finding, Finding::Disagrees);
  std::string other(Text);
  other.replace(other.find("= add"), 5, "= mul");
  const Result<ir::Program> program = ir::ParseText(other);
  ASSERT_TRUE(program);
  const auto proved = targets::isa::ProvedModule::OfProgram(*program);
  ASSERT_TRUE(proved);
  bytes = std::string(proved->module().bytes);
  const Entry wrong = Audited();
  EXPECT_EQ(wrong.finding, Finding::Disagrees);
  EXPECT_EQ(wrong.reason, "code: the module, lifted, is not the program that it was made from");
}

// The same code under another signature: a launch would take other lengths for its extent.
TEST_F(IsaKernel, HasItsParameters) {
  const auto loaded = machines::simt::LoadModule(module);
  ASSERT_TRUE(loaded);
  machines::simt::ModuleParts parts;
  parts.name = loaded->name;
  for (uint32_t i = 0; i < loaded->params.size(); ++i) {
    const machines::simt::ParamRow& row = loaded->params[i];
    parts.params.push_back({std::string(loaded->param_name(i)),
                            row.type,
                            row.is_buffer != 0,
                            row.access,
                            row.role,
                            {}});
  }
  parts.params[2].extents = {0, 1};
  parts.code = {loaded->code.begin(), loaded->code.end()};
  parts.lines = {loaded->lines.begin(), loaded->lines.end()};
  const auto seal = [&] {
    const auto sealed = machines::simt::Seal(parts);
    EXPECT_TRUE(sealed);
    return std::string(sealed->bytes);
  };
  ASSERT_EQ(seal(), module);
  parts.params[2].extents = {0};
  module = seal();
  EXPECT_EQ(Audited().reason, "code: the module has other parameters than the program");
}

TEST_F(IsaKernel, WhatNobodyJudgedDoesNotAgree) {
  module.clear();
  EXPECT_EQ(Audited().finding, Finding::NotChecked);
  EXPECT_EQ(Audited().reason, "code: it carries none");
  ptx = "ptx";
  const Entry entry = Audited();
  EXPECT_EQ(entry.finding, Finding::NotChecked);
  EXPECT_EQ(entry.reason, "code: it has only PTX, which is not judged here");
  EXPECT_EQ(entry.form, "ptx");
  SetUp();
  EXPECT_EQ(Audited().finding, Finding::Agrees);
  EXPECT_EQ(Audited().note, "not recorded; ptx not judged");
}

TEST_F(IsaKernel, DescriptorChecksWhatTheSourceSays) {
  const auto wrong = [&](std::string_view why) {
    const Entry entry = Audited();
    EXPECT_EQ(entry.finding, Finding::Disagrees);
    EXPECT_TRUE(entry.reason.find(why) != std::string::npos) << entry.reason;
    SetUp();
  };
  covers.pop_back();
  wrong("lengths of buffers");
  covers.clear();
  wrong("lengths of buffers");
  covers[1].first = 1;
  wrong("lengths of buffers");
  lengths.clear();
  wrong("lengths of buffers");
  lengths.emplace_back(2, 1);
  wrong("lengths of buffers");
  params[0].word = 1;
  wrong("other parameters");
  for (const uint32_t flag : {1u, 2u, 4u, 8u, 0x80000000u}) {
    data.flags = flag;
    wrong("in another way than its record says");
    data.flags = 0;
  }
  EXPECT_EQ(Audited().finding, Finding::Agrees);
  // As of a program that has no C++ signature.
  params.clear(), covers.clear(), lengths.clear(), data.word_count = 0;
  EXPECT_EQ(Audited().finding, Finding::Agrees);
}

TEST_F(IsaKernel, DescriptorWithoutItsRecord) {
  const auto damage = [&](const std::string& file) {
    const std::vector<EmbeddedKernel> kernels = FindIn(file);
    EXPECT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels.at(0).record.name, "twice");
    return kernels.at(0).damage;
  };
  EXPECT_EQ(damage(File()), "");
  std::string file = File();
  file[RecordAt] = 'F';
  EXPECT_EQ(damage(file), "its descriptor refers to a record, and there is none");
  file = File();
  Put(file, RecordAt + 16, uint32_t{0});
  EXPECT_EQ(damage(file), "its record has version 0, not 1");
  // A copy of the descriptor, which the record does not name.
  file = File();
  embed::KernelData copy;
  std::memcpy(&copy, file.data() + DataAt, sizeof copy);
  file.resize((file.size() + 7) / 8 * 8);
  const auto distance = static_cast<int32_t>(file.size() - DataAt);
  for (int32_t* offset : {&copy.name.offset, &copy.params.data.offset, &copy.covers.data.offset,
                          &copy.lengths.data.offset, &copy.isa.data.offset, &copy.record.offset})
    *offset -= distance;
  Put(file, file.size(), copy);
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_filesz), uint64_t{file.size()});
  Put(file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz), uint64_t{file.size()});
  const std::vector<EmbeddedKernel> kernels = FindIn(file);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].damage, "");
  EXPECT_EQ(kernels[1].damage, "its descriptor refers to a record of another one");
}

// Tables of other programs: few numbers, and distances that lead somewhere.
TEST_F(IsaKernel, WhatHasNoDigestIsNoDescriptor) {
  for (const char fill : {'\0', 'x'}) {
    std::memset(data.digest, fill, sizeof data.digest);
    std::string file = File();
    file[RecordAt] = 'F';
    EXPECT_TRUE(FindIn(file).empty());
  }
}

TEST_F(IsaKernel, HostileBytes) {
  const std::string file = File();
  for (size_t i = 0; i < file.size(); ++i)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      const Result<MemoryImage> image = MemoryImage::Read(changed);
      if (!image) continue;
      for (const EmbeddedKernel& each : FindKernels(*image))
        (void)ClaimsOf(each, Finding::NotChecked, "");
    }
}

// Files without any code, and folders.
TEST(Audit, NothingToJudge) {
  const AuditOptions options;
  const Result<AuditReport> memory = Audit("/proc/self/mem", options);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().diag, Diag::FileUnreadable);
  EXPECT_EQ(memory.error().file, "/proc/self/mem");
  std::string folder = testing::TempDir() + "audit_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* part : {"", "/cas"}) {
    std::filesystem::create_directory(folder + part);
    const Result<AuditReport> nothing = Audit(folder, options);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().message, "there is nothing to audit: no form is kept in it");
    EXPECT_EQ(nothing.error().file, folder);
  }
  std::filesystem::remove_all(folder);
}

TEST(Audit, OnlyWhatWasJudgedCounts) {
  AuditReport report;
  for (const Finding finding : {Finding::Agrees, Finding::NotChecked, Finding::NotChecked,
                                Finding::Refuted, Finding::Disagrees})
    report.entries.emplace_back().finding = finding;
  EXPECT_EQ(report.judged(), 3u);
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
