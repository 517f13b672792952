// Literals of every type: what is read is canonical and prints to something that reads back the same.
#include <string_view>

#include "base/check.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  if (size == 0) return 0;
  auto scalar = static_cast<ir::Scalar>(data[0] % ir::ScalarCount);
  ir::Type type = scalar == ir::Scalar::Int ? ir::Type::Int(1 + data[0] % 8) : ir::Type::Of(scalar);
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Result<std::vector<uint64_t>> words = ir::ParseLiteral(type, text);
  if (!words) return 0;
  CHECK(ir::IsCanonicalLiteral(type, *words));
  Result<std::vector<uint64_t>> again = ir::ParseLiteral(type, ir::PrintLiteral(type, *words));
  CHECK(again.has_value() && *again == *words);
  return 0;
}
