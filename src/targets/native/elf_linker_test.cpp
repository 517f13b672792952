// Objects made by hand: what is linked, and that everything else is refused by name.
#include "targets/native/elf_linker.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace frazil::targets::native {
namespace {

template <typename T>
void Append(std::string& bytes, const T& item) {
  bytes.append(reinterpret_cast<const char*>(&item), sizeof item);
}

// An object with .text, .rodata, one relocation section for .text, and some symbols.
struct TestObject {
  std::string text = std::string(16, '\x90');
  std::string data = std::string(8, 'd');
  uint64_t data_flags = SHF_ALLOC;
  uint64_t data_alignment = 8;
  uint32_t relocation_type = R_X86_64_PC32;
  uint32_t relocation_section_type = SHT_RELA;
  int64_t addend = -4;
  uint64_t relocation_offset = 4;
  uint32_t symbol = 2;  // which the relocation is against: 1 the function, 2 the data, 3 undefined
  bool relocates = true;

  std::string Bytes() const {
    const std::string names = std::string("\0.text\0.rodata\0.rela.text\0.symtab\0.strtab\0", 42);
    const std::string symbol_names = std::string("\0entry\0data\0memcpy\0", 19);
    std::string symbols;
    Append(symbols, Elf64_Sym{});
    Append(symbols, Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_HIDDEN, 1, 0, 16});
    Append(symbols, Elf64_Sym{7, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 0, 2, 0, 8});
    Append(symbols, Elf64_Sym{12, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0});
    std::string relocations;
    if (relocates)
      Append(relocations, Elf64_Rela{relocation_offset,
                                     ELF64_R_INFO(uint64_t{symbol}, relocation_type), addend});
    std::string file(sizeof(Elf64_Ehdr), '\0');
    std::vector<Elf64_Shdr> sections(1);
    auto add = [&](uint32_t name, uint32_t type, uint64_t flags, const std::string& content,
                   uint64_t alignment, uint32_t link = 0, uint32_t info = 0) {
      sections.push_back(
          {name, type, flags, 0, file.size(), content.size(), link, info, alignment, 0});
      file += content;
    };
    add(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, text, 16);
    add(7, SHT_PROGBITS, data_flags, data, data_alignment);
    add(15, relocation_section_type, 0, relocations, 8, 4, 1);
    add(26, SHT_SYMTAB, 0, symbols, 8, 5);
    add(34, SHT_STRTAB, 0, symbol_names, 1);
    add(34, SHT_STRTAB, 0, names, 1);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = 6;
    for (const Elf64_Shdr& section : sections) Append(file, section);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

  std::string Refusal() const {
    const auto linked = LinkObject(Bytes(), "entry");
    return linked ? "linked" : linked.error().message;
  }
};

TEST(ElfLinkerTest, PlacesCodeThenDataAndRelocatesBetweenThem) {
  TestObject object;
  const auto linked = LinkObject(object.Bytes(), "entry");
  ASSERT_TRUE(linked.has_value()) << linked.error().message;
  EXPECT_EQ(linked->entry_offset, 0u);
  ASSERT_EQ(linked->code.size(), 24u);
  EXPECT_EQ(linked->code.substr(16), object.data);
  int32_t distance;
  std::memcpy(&distance, linked->code.data() + 4, sizeof distance);
  EXPECT_EQ(distance, 16 - 4 - 4);
}

TEST(ElfLinkerTest, DataIsAligned) {
  TestObject object;
  object.text = std::string(17, '\x90');
  object.data_alignment = 64;
  const auto linked = LinkObject(object.Bytes(), "entry");
  ASSERT_TRUE(linked.has_value()) << linked.error().message;
  EXPECT_EQ(linked->code.size(), 72u);
  EXPECT_EQ(linked->code.substr(64), object.data);
}

TEST(ElfLinkerTest, RefusesWithTheReason) {
  struct Case {
    std::function<void(TestObject&)> change;
    std::string reason;
  };
  const Case cases[] = {
      {[](TestObject& o) { o.symbol = 3; }, "undefined symbol memcpy"},
      {[](TestObject& o) { o.relocation_type = R_X86_64_64; }, "relocation R_X86_64_64"},
      {[](TestObject& o) { o.relocation_type = R_X86_64_32S; }, "relocation R_X86_64_32S"},
      {[](TestObject& o) { o.relocation_type = R_X86_64_REX_GOTPCRELX; },
       "relocation R_X86_64_REX_GOTPCRELX"},
      {[](TestObject& o) { o.relocation_type = 77; }, "relocation of type 77"},
      {[](TestObject& o) { o.data_flags = SHF_ALLOC | SHF_WRITE; }, "writable data in .rodata"},
      {[](TestObject& o) { o.data_alignment = 128; }, "section .rodata is aligned to 128"},
      {[](TestObject& o) { o.addend = int64_t{1} << 40; }, "a distance of more than 2 GiB"},
      {[](TestObject& o) { o.relocation_offset = 14; }, "a relocation outside of its section"},
      {[](TestObject& o) { o.symbol = 9; }, "a relocation against no symbol"},
      {[](TestObject& o) { o.relocation_section_type = SHT_REL; }, "relocations without addends"},
  };
  for (const Case& c : cases) {
    TestObject object;
    c.change(object);
    EXPECT_EQ(object.Refusal(), "code cannot be linked: " + c.reason);
  }
}

TEST(ElfLinkerTest, RefusesAMissingEntry) {
  const auto linked = LinkObject(TestObject().Bytes(), "start");
  ASSERT_FALSE(linked.has_value());
  EXPECT_EQ(linked.error().message, "code cannot be linked: no function start");
}

// No prefix and no single wrong byte may make it read outside of the object.
TEST(ElfLinkerTest, SurvivesDamage) {
  const std::string good = TestObject().Bytes();
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut(good.data(), size);
    (void)LinkObject(cut, "entry");
  }
  for (size_t i = 0; i < good.size(); ++i) {
    for (unsigned char flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      (void)LinkObject(bad, "entry");
    }
  }
  EXPECT_FALSE(LinkObject("", "entry").has_value());
  EXPECT_FALSE(LinkObject(good.substr(0, 40), "entry").has_value());
}

}  // namespace
}  // namespace frazil::targets::native
