// The format is a magic, a version, the length of a header (npy_header.h) and the elements. Nothing is believed before
// it was compared with what is there. (Elements that are no values of their type are refused at the launch.)
#include "arguments/npy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "arguments/npy_header.h"
#include "base/system/file.h"
#include "base/utf8.h"

namespace frazil::arguments {
namespace {

constexpr std::string_view Magic = "\x93NUMPY";

// NumPy's letters for an element, without the byte order.
Result<std::string_view> Letters(ir::Type element) {
  switch (element.scalar) {
    case ir::Scalar::I8: return "i1";
    case ir::Scalar::I16: return "i2";
    case ir::Scalar::I32: return "i4";
    case ir::Scalar::I64:
    case ir::Scalar::Index: return "i8";
    case ir::Scalar::U8: return "u1";
    case ir::Scalar::U16:
    case ir::Scalar::BF16: return "u2";
    case ir::Scalar::U32: return "u4";
    case ir::Scalar::U64:
    case ir::Scalar::Field: return "u8";
    case ir::Scalar::F16: return "f2";
    case ir::Scalar::F32: return "f4";
    case ir::Scalar::F64: return "f8";
    case ir::Scalar::Bool: return "b1";
    default:
      return Fail(Diag::WrongArgument,
                  fmt::format("{} elements have no NumPy type", ir::ScalarName(element.scalar)));
  }
}

struct File {
  FILE* file;
  ~File() {
    if (file != nullptr) std::fclose(file);
  }
};

std::unexpected<Error> Bad(std::string why) { return Fail(Diag::WrongArgument, std::move(why)); }
std::unexpected<Error> Bad(const std::string& path, std::string_view why) {
  return Bad(fmt::format("{}: {}", path, why));
}

Result<NpyHeader> ReadHeader(FILE* file, const Limits& limits) {
  unsigned char head[12] = {};
  if (std::fread(head, 1, 10, file) != 10 || std::memcmp(head, Magic.data(), Magic.size()) != 0)
    return Bad("this is no .npy file");
  if (head[6] < 1 || head[6] > 3 || head[7] != 0)
    return Bad(fmt::format("version {}.{} of the format is not known, only 1.0, 2.0 and 3.0",
                           head[6], head[7]));
  size_t bytes = head[8] | head[9] << 8;
  if (head[6] >= 2) {
    if (std::fread(head + 10, 1, 2, file) != 2) return Bad("the file ends in its header");
    bytes |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
  }
  if (bytes > limits.literal_chars)
    return Fail(Diag::LimitReached,
                fmt::format("its header is longer than {} characters (--max-literal)",
                            limits.literal_chars));
  std::string header(bytes, ' ');
  if (std::fread(header.data(), 1, bytes, file) != bytes) return Bad("the file ends in its header");
  return ParseNpyHeader(header);
}

Result<void> CheckHeader(const NpyHeader& header, ir::Type element) {
  const std::string_view letters = TRY(Letters(element));
  const std::string_view descr = header.descr;
  const std::string wanted = fmt::format("{}{}", letters.ends_with('1') ? '|' : '<', letters);
  if (!letters.ends_with('1') && descr.starts_with('>') && descr.substr(1) == letters)
    return Bad(fmt::format("its elements are big-endian; save it with .astype('{}')", wanted));
  const bool order = descr.starts_with('<') || (letters.ends_with('1') && descr.starts_with('|'));
  if (!order || descr.substr(1) != letters)
    return Bad(fmt::format("it holds '{}', the parameter takes '{}' ({})",
                           Printable(CutUtf8(descr, 40)), wanted, ir::ScalarName(element.scalar)));
  if (header.fortran_order && header.shape.size() > 1)
    return Bad("it is in Fortran order; save it with numpy.ascontiguousarray");
  return {};
}

Result<std::shared_ptr<exec::Memory>> ReadElements(FILE* file, int64_t file_bytes, ir::Type element,
                                                   MemoryBudget& budget, const Limits& limits) {
  const NpyHeader header = TRY(ReadHeader(file, limits));
  TRY_VOID(CheckHeader(header, element));
  // Known to be there before memory is taken for it.
  const int64_t there = file_bytes - std::ftell(file);
  const int64_t bytes = static_cast<int64_t>(ir::BytesOf(element));
  const std::optional<int64_t> length = ElementsOf(header, there / bytes);
  if (!length)
    return Bad(fmt::format("it ends early: shape ({}) is announced, {} bytes follow",
                           fmt::join(header.shape, ", "), there));
  if (*length * bytes != there)
    return Bad(fmt::format("{} bytes follow behind its last element", there - *length * bytes));
  auto memory = TRY(budget.Take(element, *length));
  if (std::fread(memory->data(), 1, memory->size_bytes(), file) != memory->size_bytes())
    return Fail(Diag::FileUnreadable, fmt::format("it cannot be read: {}", std::strerror(errno)));
  return memory;
}

}  // namespace

Result<std::shared_ptr<exec::Memory>> ReadNpy(const std::string& path, ir::Type element,
                                              MemoryBudget& budget, const Limits& limits) {
  File file{std::fopen(path.c_str(), "rb")};
  struct stat status = {};
  if (file.file == nullptr || fstat(fileno(file.file), &status) != 0)
    return Fail(Diag::FileUnreadable,
                fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) return Bad(path, "this is no plain file");
  Result<std::shared_ptr<exec::Memory>> memory =
      ReadElements(file.file, status.st_size, element, budget, limits);
  if (!memory) memory.error().message = fmt::format("{}: {}", path, memory.error().message);
  return memory;
}

Result<void> WriteNpy(const std::string& path, const exec::Memory& memory) {
  const std::string_view letters = TRY(Letters(memory.element()));
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({},), }}",
                                   letters.ends_with('1') ? '|' : '<', letters, memory.length());
  // Elements begin at a multiple of 64, the header ends in a newline.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header.push_back('\n');
  std::string bytes(Magic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(memory.data()), memory.size_bytes());
  return WriteFileBytes(path, bytes);
}

}  // namespace frazil::arguments
