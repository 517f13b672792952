#include "runtime/source.h"

#include <atomic>

#include "ir/digest.h"

namespace frazil::runtime {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Source::Source(ir::Program program) {
  std::string exact = ir::ExactDigest(program);
  data_ = std::make_shared<const Data>(Data{std::move(program), std::move(exact), NextId()});
}

}  // namespace frazil::runtime
