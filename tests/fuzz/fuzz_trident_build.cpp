// Trident text on anything: built or refused with places, never with an internal error; what is built passes ir::Check and
// reads again from its text form.
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "frontends/trident/trident.h"
#include "ir/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  using namespace frazil::frontends::trident;
  std::vector<Error> errors;
  Options options;
  options.limits.program_insts = 200'000;
  auto package = Load(
      {reinterpret_cast<const char*>(data), size}, "fuzz.tri",
      [](std::string_view) { return std::nullopt; }, &errors);
  if (!package) return 0;
  options.contracts = size % 2 == 0;
  auto built = Build(*package, options, &errors);
  for (const Error& error : errors) {
    CHECK(ClassOf(error.diag) != ErrorClass::Internal);
    CHECK(Printable(error.message) == error.message);
    CHECK(error.diag != Diag::WrongType &&
          error.diag != Diag::BadRegion);  // ours, found by ir::Check
  }
  if (!built) {
    CHECK(!errors.empty());
    return 0;
  }
  CHECK(ir::ParseText(ir::PrintText(built->program)).has_value());
  return 0;
}
