// Any bytes as kernel JSON: a checked program or a located error, never a crash; what was read survives printing.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "frontends/python/python.h"
#include "ir/digest.h"
#include "ir/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  frazil::Limits limits;
  limits.program_insts = 20'000;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto kernels = frazil::frontends::python::ParseJson(text, "fuzz.json", limits);
  if (!kernels) return kernels.error().message.empty() ? std::abort(), 0 : 0;
  for (const auto& kernel : *kernels) {
    auto again = frazil::ir::ParseText(frazil::ir::PrintText(kernel.program));
    if (!again || frazil::ir::ExactDigest(*again) != frazil::ir::ExactDigest(kernel.program))
      std::abort();
  }
  return 0;
}
