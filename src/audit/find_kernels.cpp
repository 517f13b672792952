// Everything that is loaded is looked through, whatever the sections say: a record that no section names is a record. And
// what should be one and cannot be read is never passed over: a kernel that nobody judged must not go unsaid.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/kernels.h"
#include "embed/kernel.h"

namespace frazil::audit {
namespace {

using embed::KernelData;

constexpr uint64_t Alignment = 8;  // of records and descriptors
constexpr uint64_t MostForms = 64;
constexpr uint64_t MostRows = 4096;  // of a descriptor's list
constexpr uint64_t MostResults = 64;
constexpr uint64_t MostNameBytes = 256;
constexpr int MostZeros = 4;  // of a digest's bytes
constexpr uint32_t LikelyVersions = 255;
constexpr uint64_t MostKernels = 1 << 14;
// Of all records: one may lie within another, and each of very many could claim to go on until the end of the file.
constexpr uint64_t MostRecordBytes = uint64_t{1} << 30;

// The numbers of a record's head.
struct Head {
  uint32_t version = 0, bytes = 0, forms = 0;
  uint64_t descriptor = 0;
  uint64_t size() const { return aot::RecordHeadBytes + 4 * uint64_t{forms}; }
  bool fits(uint64_t rest) const { return forms <= MostForms && bytes >= size() && bytes <= rest; }
  // Programs that read records, as this one, hold the magic and no record: behind a text stands a zero, and then no such
  // numbers.
  bool looks_like_one(uint64_t rest) const {
    return version >= 1 && version <= LikelyVersions &&
           (forms <= MostForms || (bytes >= aot::RecordHeadBytes && bytes <= rest));
  }
};

Head ReadHead(const MemoryImage& image, uint64_t address) {
  const auto number = [&](uint64_t at) { return image.At<uint32_t>(address + at).value_or(0); };
  return {number(16), number(20), number(28),
          Follow(address + 24, static_cast<int32_t>(number(24)))};
}

EmbeddedKernel ReadRecord(const MemoryImage& image, uint64_t address, std::string_view rest) {
  EmbeddedKernel kernel;
  kernel.address = address;
  const auto damaged = [&](std::string why) {
    kernel.damage = std::move(why);
    return std::move(kernel);
  };
  const Head head = ReadHead(image, address);
  if (head.version != aot::RecordVersion)
    return damaged(
        fmt::format("its record has version {}, not {}", head.version, aot::RecordVersion));
  if (!head.fits(rest.size())) return damaged("its record does not fit its length");
  std::optional<aot::KernelRecord> record =
      aot::UnpackRecord(rest.substr(head.size(), head.bytes - head.size()));
  if (!record || record->forms.size() != head.forms) return damaged("its record cannot be read");
  kernel.record = std::move(*record);
  kernel.bytes = head.bytes;
  kernel.descriptor = head.descriptor;
  for (uint64_t i = 0; i < head.forms; ++i) {
    const uint64_t at = address + aot::RecordHeadBytes + 4 * i;
    kernel.codes.push_back(Follow(at, image.At<int32_t>(at).value_or(0)));
  }
  if (const auto data = image.At<KernelData>(kernel.descriptor)) {
    if (data->isa.size != 0) kernel.modules.emplace_back(IsaName);
    if (data->wasm.size != 0) kernel.modules.emplace_back(WasmName);
    kernel.has_ptx = data->ptx.size != 0;
  }
  return kernel;
}

// What a launch reads, found by its looks: distances that lead somewhere, a name, and a digest, which no table of small
// numbers and no text looks like.
struct Descriptor {
  uint64_t address = 0;
  uint64_t record = 0;  // where it says that its record is
  std::string name;
};

// Of random bytes one in millions has more zeros, or is ASCII.
bool LooksLikeDigest(std::string_view bytes) {
  return std::ranges::count(bytes, '\0') <= MostZeros &&
         std::ranges::any_of(bytes, [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
}

// Symbols are made of it: it is an identifier.
std::string NameAt(const MemoryImage& image, uint64_t address) {
  std::string name;
  while (name.size() < MostNameBytes) {
    const char c = image.At<char>(address + name.size()).value_or(' ');
    if (c == '\0') return name;
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && (!is_digit || name.empty())) break;
    name += c;
  }
  return {};
}

std::optional<Descriptor> ReadDescriptor(const MemoryImage& image, uint64_t address) {
  const auto data = image.At<KernelData>(address);
  if (!data || data->reserved != 0 || data->word_count > embed::MostWords ||
      !LooksLikeDigest({data->digest, sizeof data->digest}))
    return {};
  const auto leads = [&](const auto& rel, uint64_t bytes) {
    const auto at = static_cast<uint64_t>(reinterpret_cast<const char*>(&rel) -
                                          reinterpret_cast<const char*>(&*data));
    return image.BytesAt(Follow(address + at, rel.offset), bytes).has_value();
  };
  const auto is_list = [&](const auto& list, uint64_t most, uint64_t row) {
    return list.size == 0 ? list.data.offset == 0
                          : list.size <= most && leads(list.data, list.size * row);
  };
  const auto is_code = [&](const auto& form) { return form.offset == 0 || leads(form, 1); };
  if (data->name.offset == 0 || data->record.offset == 0 || !leads(data->record, 1) ||
      !is_list(data->params, embed::MostWords, sizeof(embed::ParamData)) ||
      !is_list(data->results, MostResults, sizeof(Kind)) ||
      !is_list(data->work, MostRows, sizeof(embed::WorkTerm)) ||
      !std::ranges::all_of(data->plain, is_code) || !std::ranges::all_of(data->ranged, is_code) ||
      !is_code(data->trips) || !is_code(data->doc))
    return {};
  if (data->guarded.offset != 0 && !leads(data->guarded, sizeof(KernelData))) return {};
  for (const auto* pairs : {&data->disjoint, &data->at_most, &data->covers, &data->lengths,
                            &data->guard_apart, &data->guard_cover, &data->guard_least})
    if (!is_list(*pairs, MostRows, sizeof(embed::PairData))) return {};
  for (const embed::Blob* blob : {&data->isa, &data->ptx, &data->wasm})
    if (!is_list(*blob, UINT32_MAX, 1)) return {};
  std::string name = NameAt(image, Follow(address + offsetof(KernelData, name), data->name.offset));
  if (name.empty()) return {};
  return Descriptor{address, Follow(address + offsetof(KernelData, record), data->record.offset),
                    std::move(name)};
}

class Search {
 public:
  explicit Search(const MemoryImage& image)
      : image_(image), sections_(image.Sections(aot::RecordSection)) {}

  std::vector<EmbeddedKernel> Run() {
    for (const MemoryImage::Area& area : image_.Everything()) FindDescriptors(area);
    for (const MemoryImage::Area& area : image_.Everything()) FindRecords(area);
    for (const MemoryImage::Area& section : sections_) AccountFor(section);
    for (const Descriptor& each : descriptors_) FindRecordOf(each);
    std::vector<EmbeddedKernel> kernels;
    for (auto& [address, kernel] : kernels_) kernels.push_back(std::move(kernel));
    if (is_full_) {
      kernels.emplace_back();
      kernels.back().damage = "there are more records than an audit reads";
    }
    return kernels;
  }

 private:
  // Every place where a record or descriptor may begin and these bytes stand.
  template <typename Found>
  static void ForEach(const MemoryImage::Area& area, std::string_view bytes, uint64_t least,
                      const Found& found) {
    for (uint64_t at = (Alignment - area.address % Alignment) % Alignment;
         at + least <= area.bytes.size(); at += Alignment)
      if (area.bytes.substr(at).starts_with(bytes)) found(area.address + at, area.bytes.substr(at));
  }

  void FindDescriptors(const MemoryImage::Area& area) {
    const uint32_t version = embed::KernelDataVersion;
    ForEach(area, {reinterpret_cast<const char*>(&version), sizeof version}, sizeof(KernelData),
            [&](uint64_t address, std::string_view) {
              std::optional<Descriptor> found = ReadDescriptor(image_, address);
              if (!found) return;
              if (descriptors_.size() >= MostKernels) {
                is_full_ = true;
              } else {
                named_.emplace(found->record, found->name);
                descriptors_.push_back(std::move(*found));
              }
            });
  }

  // One within another is one, too.
  void FindRecords(const MemoryImage::Area& area) {
    ForEach(area, aot::RecordMagic, aot::RecordHeadBytes,
            [&](uint64_t address, std::string_view rest) {
              const Head head = ReadHead(image_, address);
              const uint64_t bytes = std::min<uint64_t>(head.bytes, rest.size());
              is_full_ |= bytes > left_;
              if (is_full_) return;
              left_ -= bytes;
              EmbeddedKernel kernel = ReadRecord(image_, address, rest);
              if (kernel.damage.empty() || IsInSection(address) || named_.contains(address) ||
                  head.looks_like_one(rest.size()))
                Add(std::move(kernel));
            });
  }

  bool IsInSection(uint64_t address) const {
    return std::ranges::any_of(sections_, [&](const MemoryImage::Area& area) {
      return area.address <= address && address - area.address < area.bytes.size();
    });
  }

  void Add(EmbeddedKernel kernel) {
    is_full_ |= kernels_.size() >= MostKernels;
    if (is_full_) return;
    const uint64_t address = kernel.address;
    const auto name = named_.find(address);
    if (!kernel.damage.empty() && name != named_.end()) kernel.record.name = name->second;
    kernels_.emplace(address, std::move(kernel));
  }
  void AddDamaged(uint64_t address, std::string why) {
    EmbeddedKernel kernel;
    kernel.address = address;
    kernel.damage = std::move(why);
    Add(std::move(kernel));
  }

  // Each byte of a section of records belongs to one, or fills up the last one's length.
  void AccountFor(const MemoryImage::Area& section) {
    if (section.bytes.empty())
      return AddDamaged(section.address, "the section of its record is not loaded");
    const uint64_t end = section.address + section.bytes.size();
    for (uint64_t at = section.address; at < end && !is_full_;) {
      const auto here = kernels_.find(at);
      if (here != kernels_.end() && here->second.bytes != 0) {
        at += here->second.bytes;
        while (at < end && at % Alignment != 0 && section.bytes[at - section.address] == '\0') ++at;
        continue;
      }
      const auto after = kernels_.upper_bound(at);
      const uint64_t next = after == kernels_.end() ? end : std::min(end, after->first);
      if (here == kernels_.end())
        AddDamaged(at, fmt::format("its record is damaged: {} bytes at {:#x} in {} are none",
                                   next - at, at, aot::RecordSection));
      at = next;
    }
  }

  void FindRecordOf(const Descriptor& descriptor) {
    const auto found = kernels_.find(descriptor.record);
    if (found == kernels_.end())
      return AddDamaged(descriptor.record, "its descriptor refers to a record, and there is none");
    const EmbeddedKernel& kernel = found->second;
    if (!kernel.damage.empty() || kernel.descriptor == descriptor.address) return;
    AddDamaged(descriptor.record, "its descriptor refers to a record of another one");
  }

  const MemoryImage& image_;
  std::vector<MemoryImage::Area> sections_;
  std::vector<Descriptor> descriptors_;
  std::map<uint64_t, std::string> named_;            // by the addresses of their records
  std::multimap<uint64_t, EmbeddedKernel> kernels_;  // by their records, the found ones first
  uint64_t left_ = MostRecordBytes;
  bool is_full_ = false;
};

}  // namespace

std::vector<EmbeddedKernel> FindKernels(const MemoryImage& image) { return Search(image).Run(); }

}  // namespace frazil::audit
