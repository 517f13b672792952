// The reader of our binary formats, on a format and bytes that are both made up: fields are refused for good, or what was read writes
// exactly the bytes again. The first byte says how many fields the format has, the next ones which.
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"

namespace {

using namespace frazil;

enum class Small : uint8_t { A, B, C };

void Field(uint8_t kind, ByteReader& in, ByteWriter& out) {
  switch (kind % 10) {
    case 0: out.Number<uint8_t>(in.Number<uint8_t>()); break;
    case 1: out.Number<uint16_t>(in.Number<uint16_t>()); break;
    case 2: out.Number<int32_t>(in.Number<int32_t>()); break;
    case 3: out.Number<uint64_t>(in.Below<uint64_t>(uint64_t{1} << 32)); break;
    case 4: out.Double(in.Double()); break;
    case 5: out.Flag(in.Flag()); break;
    case 6: out.Enum(in.Enum(Small::C)); break;
    case 7: out.Text(in.Text()); break;
    case 8: out.Fixed(in.Fixed<std::array<uint8_t, 5>>()); break;
    default:
      out.Each(in.Each(9, [&] { return std::pair(in.Flag(), in.Text()); }), [&](const auto& each) {
        out.Flag(each.first);
        out.Text(each.second);
      });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size_t{data[0]} + 1 > size) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::string_view format = all.substr(1, data[0]);
  const std::string_view bytes = all.substr(1 + format.size());
  ByteReader in(bytes);
  ByteWriter out;
  for (const char kind : format) {
    const bool was_ok = in.ok();
    const size_t before = out.bytes().size();
    Field(static_cast<uint8_t>(kind), in, out);
    CHECK(was_ok || !in.ok());
    if (!in.ok()) continue;
    CHECK(bytes.substr(before).starts_with(std::string_view(out.bytes()).substr(before)));
  }
  CHECK(in.AtEnd() == (in.ok() && out.bytes() == bytes));
  return 0;
}
