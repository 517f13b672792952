// The format is a magic, a version, the length of a header that is a Python dictionary, and the elements. Only the
// three keys that NumPy itself writes are read; anything else is refused, never guessed.
#include "npy.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>

#include "cli.h"

namespace frazil::cli {
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

// The text of a key's value in the header's dictionary: up to the comma or brace that ends it.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return {};
  at = header.find(':', at);
  if (at == std::string_view::npos) return {};
  ++at;
  while (at < header.size() && header[at] == ' ') ++at;
  size_t end = at;
  int depth = 0;
  while (end < header.size() && (depth > 0 || (header[end] != ',' && header[end] != '}'))) {
    depth += (header[end] == '(') - (header[end] == ')');
    ++end;
  }
  return header.substr(at, end - at);
}

// "(3, 4)" as 12; negative if it is no shape.
int64_t ElementsOf(std::string_view shape) {
  if (!shape.starts_with('(') || shape.find(')') == std::string_view::npos) return -1;
  int64_t product = 1;
  const char* at = shape.data() + 1;
  const char* end = shape.data() + shape.find(')');
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int64_t n = 0;
    auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0) return -1;
    if (n != 0 && product > std::numeric_limits<int64_t>::max() / 64 / n) return -1;
    product *= n;
    at = next;
  }
  return product;
}

struct File {
  FILE* file;
  ~File() {
    if (file != nullptr) std::fclose(file);
  }
};

std::unexpected<Error> Bad(const std::string& path, std::string_view why) {
  return Fail(Diag::WrongArgument, fmt::format("{}: {}", path, why));
}

}  // namespace

Result<std::shared_ptr<exec::Memory>> ReadNpy(const std::string& path, ir::Type element) {
  const std::string_view letters = TRY(Letters(element));
  File file{std::fopen(path.c_str(), "rb")};
  if (file.file == nullptr)
    return Fail(Diag::FileUnreadable,
                fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  unsigned char head[12] = {};
  if (std::fread(head, 1, 10, file.file) != 10 ||
      std::memcmp(head, Magic.data(), Magic.size()) != 0)
    return Bad(path, "this is no .npy file");
  size_t header_bytes = head[8] | head[9] << 8;
  if (head[6] >= 2) {
    if (std::fread(head + 10, 1, 2, file.file) != 2)
      return Bad(path, "the file ends in its header");
    header_bytes |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
  }
  if (header_bytes > 65536) return Bad(path, "its header is too long");
  std::string header(header_bytes, ' ');
  if (std::fread(header.data(), 1, header_bytes, file.file) != header_bytes)
    return Bad(path, "the file ends in its header");

  const std::string_view descr = ValueOf(header, "descr");
  if (descr.size() < 4 || (descr[1] != '<' && descr[1] != '|') ||
      descr.substr(2, descr.size() - 3) != letters)
    return Bad(path, fmt::format("it holds {}, the parameter takes '<{}' ({})", descr, letters,
                                 ir::ScalarName(element.scalar)));
  if (ValueOf(header, "fortran_order") != "False")
    return Bad(path, "it is in Fortran order; save it with numpy.ascontiguousarray");
  const int64_t length = ElementsOf(ValueOf(header, "shape"));
  if (length < 0) return Bad(path, "its shape cannot be read");

  // Known to be there before memory is taken for it.
  const long data_start = std::ftell(file.file);
  std::fseek(file.file, 0, SEEK_END);
  const int64_t there = std::ftell(file.file) - data_start;
  if (there < length * static_cast<int64_t>(ir::BytesOf(element)))
    return Bad(path, fmt::format("it ends early: {} elements are announced, {} bytes follow",
                                 length, there));
  std::fseek(file.file, data_start, SEEK_SET);
  auto memory = std::make_shared<exec::Memory>(element, length);
  if (std::fread(memory->data(), 1, memory->size_bytes(), file.file) != memory->size_bytes())
    return Fail(Diag::FileUnreadable,
                fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
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
  return WriteFile(path, bytes);
}

}  // namespace frazil::cli
