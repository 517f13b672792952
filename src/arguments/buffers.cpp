#include "arguments/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>

namespace frazil::arguments {
namespace {

uint64_t Next(uint64_t state) { return state * 6364136223846793005u + 1442695040888963407u; }

uint64_t SeedOf(std::string_view name) {
  uint64_t seed = 1;
  for (char c : name) seed = Next(seed ^ static_cast<unsigned char>(c));
  return seed;
}

}  // namespace

Result<void> MemoryBudget::Charge(ir::Type element, int64_t length) {
  const uint64_t size = ir::BytesOf(element);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(length), size, &bytes) || bytes > left_)
    return Fail(Diag::LimitReached,
                fmt::format("{} elements of {} bytes are more than this run may hold: {} bytes are "
                            "left (--memory)",
                            length, size, left_));
  left_ -= bytes;
  return {};
}

Result<void> MemoryBudget::ChargeArguments(std::span<const exec::Value> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const exec::Value& value = arguments[i];
    const bool is_held = std::ranges::any_of(
        arguments.first(i), [&](const exec::Value& other) { return other.memory == value.memory; });
    if (value.memory == nullptr || is_held) continue;
    Result<void> charged = Charge(value.memory->element(), value.memory->length());
    if (charged) continue;
    charged.error().message = fmt::format("argument {}: {}", i + 1, charged.error().message);
    return charged;
  }
  return {};
}

Result<std::shared_ptr<exec::Memory>> MemoryBudget::Take(ir::Type element, int64_t length) {
  TRY_VOID(Charge(element, length));
  try {
    return std::make_shared<exec::Memory>(element, length);
  } catch (const std::bad_alloc&) {
    return Fail(Diag::LimitReached,
                fmt::format("this machine has no memory for {} elements", length));
  }
}

Result<std::optional<exec::Value>> MadeBuffer(ir::Type element, std::string_view name,
                                              std::string_view text, MemoryBudget& budget) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  if (colon == std::string_view::npos ||
      (kind != "zeros" && kind != "ones" && kind != "iota" && kind != "random"))
    return std::nullopt;
  int64_t length = -1;
  std::string_view number = text.substr(colon + 1);
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), length);
  if (error != std::errc() || end != number.data() + number.size() || length < 0 ||
      length > (int64_t{1} << 36))
    return Fail(Diag::WrongArgument,
                fmt::format("'{}': a length is a number from 0 to 2^36", text));
  auto memory = TRY(budget.Take(element, length));
  uint64_t state = SeedOf(name);
  for (int64_t i = 0; kind != "zeros" && i < length; ++i) {
    state = Next(state);
    double drawn = static_cast<double>(static_cast<int64_t>(state) >> 11) * 0x1p-52;
    bool is_float = ir::IsFloat(element.scalar);
    double value = kind == "ones"   ? 1
                   : kind == "iota" ? static_cast<double>(i)
                   : is_float       ? drawn
                                    : drawn * 100;
    exec::Value v = is_float ? exec::Value::Float(element, value)
                             : exec::Value::Int(element, static_cast<int64_t>(value));
    memory->Set(i, v.scalar_words());
  }
  return exec::Value::Buffer(std::move(memory));
}

}  // namespace frazil::arguments
