// Bytes that claim to be a sealed form, with a MAC that is right: the reader behind the MAC must refuse or give a form
// that fits; and bytes that claim to be an image of native code.
#include <string>
#include <string_view>

#include "base/check.h"
#include "exec/native/native_code.h"
#include "verify/verified.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const verify::InstallKey key{};
  const auto mac = verify::Hmac(key, bytes);
  const std::string sealed =
      std::string(bytes) + std::string(reinterpret_cast<const char*>(mac.data()), mac.size());
  const auto claimed = verify::ReadForeign(sealed);
  if (claimed) {
    const verify::Expected expected{
        claimed->source_exact, claimed->guard,
        claimed->target,       "",
        claimed->profile,      {verify::Grade::None, verify::Grade::None},
        claimed->calling};
    const auto form = verify::Readmit(sealed, key, expected);
    CHECK(form.has_value());
    CHECK(verify::Seal(*form, key) == sealed);
    verify::InstallKey other{};
    other[0] = 1;
    CHECK(!verify::Readmit(sealed, other, expected));
  }
  if (const auto image = exec::ParseImage(bytes)) CHECK(exec::SerializeImage(*image) == bytes);
  return 0;
}
