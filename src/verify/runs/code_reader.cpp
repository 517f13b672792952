#include "verify/runs/code_reader.h"

#include <mutex>

namespace frazil::verify {
namespace {

std::mutex mutex;
std::shared_ptr<const CodeReader>& Registered() {
  static auto* const reader = new std::shared_ptr<const CodeReader>;
  return *reader;
}

}  // namespace

void RegisterCodeReader(std::shared_ptr<const CodeReader> reader) {
  std::lock_guard lock(mutex);
  Registered() = std::move(reader);
}

std::shared_ptr<const CodeReader> RegisteredCodeReader() {
  std::lock_guard lock(mutex);
  return Registered();
}

}  // namespace frazil::verify
