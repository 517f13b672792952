// Trident text on anything: read or refused with places; what is read is formatted, reads again as the same tree, and
// formatting that again changes nothing.
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "frontends/trident/syntax/test_tree.h"
#include "frontends/trident/trident.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace frazil;
  using namespace frazil::frontends::trident;
  const ReadResult read = Read({reinterpret_cast<const char*>(data), size}, "fuzz.tri");
  for (const Error& error : read.errors) {
    CHECK(ClassOf(error.diag) != ErrorClass::Internal);
    CHECK(Printable(error.message) == error.message);
    CHECK(error.location.line > 0 || error.diag == Diag::LimitReached);
  }
  if (!read.errors.empty()) return 0;
  const std::string text = Format(read.module);
  const ReadResult again = Read(text, "fuzz.tri");
  CHECK(again.errors.empty());
  CHECK(again.module.comments.size() == read.module.comments.size());
  CHECK(Dump(again.module) == Dump(read.module));
  CHECK(Format(again.module) == text);
  return 0;
}
