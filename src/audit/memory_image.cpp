#include "audit/memory_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace frazil::audit {
namespace {

constexpr uint64_t MostParts = 100'000;
constexpr uint64_t FirstAddress = 0x1000;
constexpr uint64_t SectionAlignment = 64;

std::unexpected<Error> Refuse(std::string why) { return Fail(Diag::BadArtifact, std::move(why)); }

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  std::optional<std::string_view> Bytes(uint64_t offset, uint64_t size) const {
    if (offset > file_.size() || size > file_.size() - offset) return {};
    return file_.substr(offset, size);
  }
  template <typename T>
  std::optional<T> At(uint64_t offset) const {
    return AsValue<T>(Bytes(offset, sizeof(T)));
  }
  // A table of `count` rows; empty where it does not lie in the file.
  template <typename T>
  std::vector<T> Table(uint64_t offset, uint64_t count) const {
    std::vector<T> rows;
    if (count > MostParts || !Bytes(offset, count * sizeof(T))) return rows;
    for (uint64_t i = 0; i < count; ++i) rows.push_back(*At<T>(offset + i * sizeof(T)));
    return rows;
  }

 private:
  std::string_view file_;
};

std::string NameAt(std::string_view names, uint64_t at) {
  if (at >= names.size()) return {};
  const std::string_view rest = names.substr(at);
  return std::string(rest.substr(0, std::min(rest.find('\0'), rest.size())));
}

// Bytes that a linker will change for a relocation, at most: nothing that is longer is one number.
constexpr uint64_t RelocatedBytes = 8;

// Settles what the records and descriptors of an object file refer to. What is not a distance between two of its own
// sections is not known before it is linked: whoever asks for such bytes gets none.
struct Relocation {
  const Reader& reader;
  const std::vector<Elf64_Shdr>& headers;
  const std::vector<uint64_t>& addresses;  // of each section; 0: it has none

  // Where the place behind the sum of symbol and addend will be; nothing: that is up to the linker.
  std::optional<uint64_t> Target(const Elf64_Shdr& table, const Elf64_Rela& row) const {
    if (ELF64_R_TYPE(row.r_info) != R_X86_64_PC32 || table.sh_link >= headers.size()) return {};
    const Elf64_Shdr& symbols = headers[table.sh_link];
    const uint64_t number = ELF64_R_SYM(row.r_info);
    if (number >= symbols.sh_size / sizeof(Elf64_Sym)) return {};
    const auto symbol = reader.At<Elf64_Sym>(symbols.sh_offset + number * sizeof(Elf64_Sym));
    // Another file may have a definition that comes before a weak one.
    if (!symbol || ELF64_ST_BIND(symbol->st_info) == STB_WEAK ||
        symbol->st_shndx >= headers.size() || addresses[symbol->st_shndx] == 0)
      return {};
    return addresses[symbol->st_shndx] + symbol->st_value + static_cast<uint64_t>(row.r_addend);
  }

  // False: the table does not lie in the file.
  bool Apply(const Elf64_Shdr& table, std::string& bytes, uint64_t base,
             std::vector<uint64_t>& unsettled) const {
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela)) {
      const auto row = reader.At<Elf64_Rela>(table.sh_offset + at);
      if (!row) return false;
      const auto target = Target(table, *row);
      if (!target || row->r_offset > bytes.size() ||
          bytes.size() - row->r_offset < sizeof(uint32_t)) {
        unsettled.push_back(base + row->r_offset);
        continue;
      }
      const auto distance = static_cast<uint32_t>(*target - (base + row->r_offset));
      std::memcpy(bytes.data() + row->r_offset, &distance, sizeof distance);
    }
    return true;
  }
};

constexpr uint64_t PageBytes = 4096;

// Two segments in one page: the loader puts one over the other, and which bytes are there cannot be told from the file.
bool SharePages(std::vector<std::pair<uint64_t, uint64_t>> ranges) {
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first / PageBytes * PageBytes < ranges[i - 1].second) return true;
  return false;
}

}  // namespace

bool MemoryImage::IsElf(std::string_view file) {
  return file.starts_with(
      "\x7f"
      "ELF");
}

Result<MemoryImage> MemoryImage::Read(std::string_view file) {
  const Reader reader(file);
  const auto head = reader.At<Elf64_Ehdr>(0);
  if (!IsElf(file) || !head) return Refuse("it is no ELF file, or one that is cut off");
  if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
      head->e_machine != EM_X86_64)
    return Refuse("it is an ELF file of another machine than x86-64");
  const bool is_object = head->e_type == ET_REL;
  if (!is_object && head->e_type != ET_EXEC && head->e_type != ET_DYN)
    return Refuse("it is an ELF file, but no program, shared object or object file");

  // Section headers may be gone; then names are, and segments are what is left.
  std::vector<Elf64_Shdr> headers;
  if (head->e_shoff != 0 && head->e_shentsize == sizeof(Elf64_Shdr)) {
    uint64_t count = head->e_shnum;
    if (const auto first = reader.At<Elf64_Shdr>(head->e_shoff); count == 0 && first)
      count = first->sh_size;
    headers = reader.Table<Elf64_Shdr>(head->e_shoff, count);
    if (headers.empty() && count != 0)
      return Refuse("its table of sections does not lie in the file");
  }
  std::string_view names;
  uint64_t names_at = head->e_shstrndx;
  if (names_at == SHN_XINDEX && !headers.empty()) names_at = headers[0].sh_link;
  if (names_at < headers.size())
    names = reader.Bytes(headers[names_at].sh_offset, headers[names_at].sh_size).value_or("");

  MemoryImage image;
  std::vector<uint64_t> addresses(headers.size(), 0);
  std::vector<size_t> part_of(headers.size(), 0);
  uint64_t next = FirstAddress;
  for (size_t i = 0; i < headers.size(); ++i) {
    const Elf64_Shdr& header = headers[i];
    if (header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_ALLOC) == 0) continue;
    const auto bytes = reader.Bytes(header.sh_offset, header.sh_size);
    std::string name = NameAt(names, header.sh_name);
    if (!bytes) return Refuse(fmt::format("its section '{}' does not lie in the file", name));
    addresses[i] = is_object ? next : header.sh_addr;
    if (is_object)
      next += (bytes->size() + 2 * SectionAlignment - 1) / SectionAlignment * SectionAlignment;
    image.names_.push_back({std::move(name), addresses[i], header.sh_size});
    if (!is_object) continue;
    part_of[i] = image.parts_.size();
    image.parts_.push_back({addresses[i], std::string(*bytes)});
  }
  if (is_object) {
    for (const Elf64_Shdr& header : headers) {
      if ((header.sh_type != SHT_RELA && header.sh_type != SHT_REL) ||
          header.sh_info >= headers.size() || addresses[header.sh_info] == 0)
        continue;
      Part& part = image.parts_[part_of[header.sh_info]];
      if (header.sh_type == SHT_REL || !Relocation{reader, headers, addresses}.Apply(
                                           header, part.bytes, part.address, image.unsettled_))
        return Refuse("its relocations cannot be followed");
    }
    std::ranges::sort(image.unsettled_);
    return image;
  }
  if (head->e_phentsize != sizeof(Elf64_Phdr)) return Refuse("it has no segments");
  const auto segments = reader.Table<Elf64_Phdr>(head->e_phoff, head->e_phnum);
  if (segments.empty()) return Refuse("its table of segments does not lie in the file");
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    const auto bytes = reader.Bytes(segment.p_offset, segment.p_filesz);
    if (!bytes) return Refuse("one of its segments does not lie in the file");
    image.parts_.push_back({segment.p_vaddr, std::string(*bytes)});
    if (segment.p_memsz > UINT64_MAX - segment.p_vaddr - PageBytes ||
        segment.p_filesz > segment.p_memsz)
      return Refuse("one of its segments has no place in memory");
    ranges.emplace_back(segment.p_vaddr, (segment.p_vaddr + segment.p_memsz + PageBytes - 1) /
                                             PageBytes * PageBytes);
  }
  if (SharePages(std::move(ranges))) return Refuse("two of its segments lie in the same memory");
  return image;
}

std::optional<std::string_view> MemoryImage::BytesAt(uint64_t address, uint64_t size) const {
  const auto open =
      std::ranges::upper_bound(unsettled_, address < RelocatedBytes ? 0 : address - RelocatedBytes);
  if (open != unsettled_.end() && *open < address + size) return {};
  return Held(address, size);
}

std::optional<std::string_view> MemoryImage::Held(uint64_t address, uint64_t size) const {
  for (const Part& part : parts_) {
    if (address < part.address) continue;
    const uint64_t offset = address - part.address;
    if (offset > part.bytes.size() || size > part.bytes.size() - offset) continue;
    return std::string_view(part.bytes).substr(offset, size);
  }
  return {};
}

std::vector<MemoryImage::Area> MemoryImage::Sections(std::string_view name) const {
  std::vector<Area> areas;
  for (const Name& each : names_)
    if (each.name == name && each.size != 0)
      areas.push_back({each.address, Held(each.address, each.size).value_or("")});
  return areas;
}

std::vector<MemoryImage::Area> MemoryImage::Everything() const {
  std::vector<Area> areas;
  for (const Part& part : parts_) areas.push_back({part.address, part.bytes});
  return areas;
}

}  // namespace frazil::audit
