// Images as bytes and as memory. A file form carries the digest of its content, because damaged code must be a
// refusal and not a crash; a mapping is written while it is not executable and never both.
#include "exec/native/native_code.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/sha256.h"

namespace frazil::exec {
namespace {

constexpr std::string_view Magic = "FRZNCOD2";
constexpr uint64_t MostCodeBytes = uint64_t{1} << 30;

constexpr uint8_t PlainKind = 1;  // not tuned
constexpr uint8_t RecursiveKind = 2;

constexpr uint64_t MostThresholds = 1 << 16;
constexpr size_t HeaderBytes = 40;
using Digest = std::array<uint8_t, 32>;

Digest DigestOf(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Finish();
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::string SerializeImage(const NativeImage& image) {
  ByteWriter out;
  out.Raw(Magic);
  out.Number<uint32_t>(NativeAbiVersion);
  out.Enum(image.level);
  out.Flag(image.metered);
  out.Flag(image.uses_run);
  out.Number<uint8_t>((image.tuned ? 0 : PlainKind) | (image.stack.recursive ? RecursiveKind : 0));
  out.Number<uint32_t>(image.entry_offset);
  out.Number<uint32_t>(
      static_cast<uint32_t>(std::min<uint64_t>(image.stack.frame_bytes, UINT32_MAX)));
  out.Count(image.code.size());
  out.Count(image.thresholds.size());
  out.Raw(image.code);
  for (const CodeThreshold& threshold : image.thresholds) {
    out.Number<uint64_t>(threshold.offset);
    out.Number<uint64_t>(threshold.least);
  }
  out.Fixed(DigestOf(out.bytes()));
  return out.Take();
}

void PutImage(CompiledForm& form, const NativeImage& image) {
  form.target = "native";
  form.profile = CpuLevelName(image.level);
  form.payload = SerializeImage(image);
}

Result<NativeImage> ParseImage(std::string_view bytes) {
  if (bytes.size() < HeaderBytes + sizeof(Digest))
    return Fail(Diag::BadArtifact,
                fmt::format("{} bytes are no image of native code", bytes.size()));
  const std::string_view content = bytes.substr(0, bytes.size() - sizeof(Digest));
  ByteReader in(content);
  if (in.Raw(Magic.size()) != Magic)
    return Fail(Diag::BadArtifact, "the bytes are no image of native code");
  const auto version = in.Number<uint32_t>();
  if (version != NativeAbiVersion)
    return Fail(Diag::BadArtifact, fmt::format("the image has version {}, this program knows {}",
                                               version, NativeAbiVersion));
  if (ByteReader(bytes.substr(content.size())).Fixed<Digest>() != DigestOf(content))
    return Fail(Diag::BadArtifact, "the image is damaged: its digest is another");
  NativeImage image;
  image.level = in.Enum(CpuLevel::Avx512);
  image.metered = in.Flag();
  image.uses_run = in.Flag();
  const auto kinds = in.Below<uint8_t>((PlainKind | RecursiveKind) + 1);
  image.tuned = (kinds & PlainKind) == 0;
  image.entry_offset = in.Number<uint32_t>();
  image.stack = {in.Number<uint32_t>(), (kinds & RecursiveKind) != 0};
  const auto code_bytes = in.Below<uint64_t>(MostCodeBytes + 1);
  const auto thresholds = in.Below<uint64_t>(MostThresholds + 1);
  image.code = in.Raw(code_bytes);
  for (uint64_t i = 0; i < thresholds && in.ok(); ++i) {
    const auto offset = in.Number<uint64_t>();
    if (code_bytes < sizeof(uint64_t) || offset > code_bytes - sizeof(uint64_t)) in.Refuse();
    image.thresholds.push_back({static_cast<uint32_t>(offset), in.Number<uint64_t>()});
  }
  if (!in.AtEnd() || image.entry_offset >= code_bytes)
    return Fail(Diag::BadArtifact, "the image says what its code does not hold");
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
