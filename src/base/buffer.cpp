#include "base/buffer.h"

#include <fmt/format.h>

#include <cstdlib>

namespace frazil {
namespace {

constexpr uint64_t Alignment = 64;

}  // namespace

Storage::Storage(Kind element, int64_t length, std::shared_ptr<void> home)
    : home(std::move(home)), element(element), length(length) {
  const uint64_t bytes = static_cast<uint64_t>(length) * BytesOf(element);
  const uint64_t rounded = (bytes / Alignment + 1) * Alignment;
  data = static_cast<std::byte*>(std::aligned_alloc(Alignment, rounded));
  if (data != nullptr) std::memset(data, 0, rounded);
}

Storage::~Storage() { std::free(data); }

std::unexpected<Error> internal::WrongLength(size_t given, size_t expected) {
  return Fail(Diag::BadLaunch,
              fmt::format("{} elements are given where the buffer has {}", given, expected));
}

}  // namespace frazil
