// The evaluator used while designing a function: the C++ twin that tools/prelude/generate.py --cpp
// writes beside the .frz from the same instructions. Fast, but not the product: it canonicalizes
// NaN only here.
#include <cmath>
#include <cstring>
#include <limits>

#include "evaluator.h"
#include "prelude_twin.h"

namespace frazil::bench {
namespace {

class Twin : public Evaluator {
 public:
  explicit Twin(const TwinEntry& entry) : entry_(entry) {}

  Result<void> Run(std::span<const void* const> inputs, void* output, size_t count) override {
    entry_.run(inputs.data(), output, count);
    if (entry_.result == 'f') Canonicalize(static_cast<float*>(output), count);
    if (entry_.result == 'd') Canonicalize(static_cast<double*>(output), count);
    return {};
  }

 private:
  template <typename T>
  static void Canonicalize(T* values, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (values[i] != values[i]) values[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  const TwinEntry& entry_;
};

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeEvaluator(const std::string& name, const std::string&) {
  for (const TwinEntry& entry : TwinEntries) {
    if (name == entry.name) return std::make_unique<Twin>(entry);
  }
  return Fail(Diag::UnknownSymbol, "no twin of " + name);
}

std::string DefaultEvaluator() { return "twin"; }

}  // namespace frazil::bench
