// Images as bytes and as memory. A file form carries the digest of its content, because damaged code must be a
// refusal and not a crash; a mapping is written while it is not executable and never both.
#include "exec/native_code.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/sha256.h"

namespace frazil::exec {
namespace {

constexpr std::string_view Magic = "FRZNCOD2";
constexpr uint64_t MostCodeBytes = uint64_t{1} << 30;

constexpr uint8_t PlainKind = 1;  // not tuned
constexpr uint8_t RecursiveKind = 2;

// Little-endian, as everything that runs such code is.
struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint8_t level;
  uint8_t metered;
  uint8_t uses_run;
  uint8_t kinds;  // PlainKind, RecursiveKind
  uint32_t entry_offset;
  uint32_t frame_bytes;
  uint64_t code_bytes;
  uint64_t thresholds;
};
static_assert(sizeof(Header) == 40);
constexpr uint64_t MostThresholds = 1 << 16;
struct StoredThreshold {
  uint64_t offset;
  uint64_t least;
};
constexpr size_t DigestBytes = 32;

std::array<uint8_t, DigestBytes> DigestOf(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::string SerializeImage(const NativeImage& image) {
  Header header{};
  std::ranges::copy(Magic, header.magic.begin());
  header.version = NativeAbiVersion;
  header.level = static_cast<uint8_t>(image.level);
  header.metered = image.metered;
  header.uses_run = image.uses_run;
  header.kinds = (image.tuned ? 0 : PlainKind) | (image.stack.recursive ? RecursiveKind : 0);
  header.frame_bytes =
      static_cast<uint32_t>(std::min<uint64_t>(image.stack.frame_bytes, UINT32_MAX));
  header.entry_offset = image.entry_offset;
  header.code_bytes = image.code.size();
  header.thresholds = image.thresholds.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += image.code;
  for (const CodeThreshold& threshold : image.thresholds) {
    const StoredThreshold stored{threshold.offset, threshold.least};
    bytes.append(reinterpret_cast<const char*>(&stored), sizeof stored);
  }
  const auto digest = DigestOf(bytes);
  bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return bytes;
}

Result<NativeImage> ParseImage(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header + DigestBytes)
    return Fail(Diag::BadArtifact,
                fmt::format("{} bytes are no image of native code", bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic.data(), header.magic.size()) != Magic)
    return Fail(Diag::BadArtifact, "the bytes are no image of native code");
  if (header.version != NativeAbiVersion)
    return Fail(Diag::BadArtifact, fmt::format("the image has version {}, this program knows {}",
                                               header.version, NativeAbiVersion));
  const std::string_view content = bytes.substr(0, bytes.size() - DigestBytes);
  const auto digest = DigestOf(content);
  if (std::memcmp(digest.data(), bytes.data() + content.size(), DigestBytes) != 0)
    return Fail(Diag::BadArtifact, "the image is damaged: its digest is another");
  const bool fits = header.level < CpuLevelCount && header.metered <= 1 && header.uses_run <= 1 &&
                    header.kinds <= (PlainKind | RecursiveKind) &&
                    header.code_bytes <= MostCodeBytes && header.thresholds <= MostThresholds &&
                    header.code_bytes + header.thresholds * sizeof(StoredThreshold) ==
                        content.size() - sizeof header &&
                    header.entry_offset < header.code_bytes;
  if (!fits) return Fail(Diag::BadArtifact, "the image says what its code does not hold");
  NativeImage image;
  image.level = static_cast<CpuLevel>(header.level);
  image.metered = header.metered != 0;
  image.uses_run = header.uses_run != 0;
  image.tuned = (header.kinds & PlainKind) == 0;
  image.stack = {header.frame_bytes, (header.kinds & RecursiveKind) != 0};
  image.entry_offset = header.entry_offset;
  image.code = content.substr(sizeof header, header.code_bytes);
  for (uint64_t i = 0; i < header.thresholds; ++i) {
    StoredThreshold stored;
    std::memcpy(&stored, content.data() + sizeof header + header.code_bytes + i * sizeof stored,
                sizeof stored);
    if (header.code_bytes < sizeof(uint64_t) ||
        stored.offset > header.code_bytes - sizeof(uint64_t))
      return Fail(Diag::BadArtifact, "the image says what its code does not hold");
    image.thresholds.push_back({static_cast<uint32_t>(stored.offset), stored.least});
  }
  return image;
}

Result<std::shared_ptr<const NativeCode>> NativeCode::Map(const NativeImage& image) {
  return MapIn(image, -1);
}

Result<std::shared_ptr<const NativeCode>> NativeCode::MapFrom(const NativeImage& image, int file) {
  return MapIn(image, file);
}

Result<std::shared_ptr<const NativeCode>> NativeCode::MapIn(const NativeImage& image, int file) {
  if (image.level > HostLevel())
    return Fail(Diag::EngineFailed,
                fmt::format("the code is for {}, this machine has {}", CpuLevelName(image.level),
                            CpuLevelName(HostLevel())));
  if (image.code.empty() || image.entry_offset >= image.code.size() ||
      image.code.size() > MostCodeBytes)
    return Fail(Diag::BadArtifact, "the image has no entry point");
  const size_t page = PageBytes();
  const size_t size = (image.code.size() + page - 1) / page * page;
  const int how = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) != 0)
    return Fail(Diag::EngineFailed, fmt::format("no memory for {} bytes of code", size));
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, how, file, 0);
  if (base == MAP_FAILED)
    return Fail(Diag::EngineFailed, fmt::format("no memory for {} bytes of code", size));
  std::memcpy(base, image.code.data(), image.code.size());
  // int3 behind the code.
  std::memset(static_cast<char*>(base) + image.code.size(), 0xcc, size - image.code.size());
  if (mprotect(base, size, PROT_READ | PROT_EXEC) != 0) {
    munmap(base, size);
    return Fail(Diag::EngineFailed, "this system does not let memory be executed");
  }
  std::shared_ptr<NativeCode> code(new NativeCode());
  code->base_ = base;
  code->size_ = size;
  code->metered_ = image.metered;
  code->function_ = {std::bit_cast<NativeEntry>(static_cast<char*>(base) + image.entry_offset),
                     image.uses_run, image.stack};
  return code;
}

NativeCode::~NativeCode() {
  if (base_ != nullptr) munmap(base_, size_);
}

}  // namespace frazil::exec
