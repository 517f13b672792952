// Elementwise ops: lengths are compared here, where they can be named; the rest is checked by the launch.
#include <fmt/format.h>
#include <frazil_stdlib.hpp>

#include <array>

#include "runtime/ops.h"
#include "runtime/standard.h"

namespace frazil::runtime {
namespace internal {
namespace {

template <typename T>
std::span<const T> In(const Part& part) {
  return {static_cast<const T*>(part.data), part.size};
}
template <typename T>
std::span<T> Out(const Part& part) {
  return {static_cast<T*>(part.data), part.size};
}
uint32_t Length(const Part& part) { return static_cast<uint32_t>(part.size); }
Operand ExtentOf(const Part& part) { return Operand::Extent(part.size); }
// A scalar is given as a word of its own type; T is the type of the code.
template <typename T>
Operand WordAs(uint64_t word) {
  return Operand::Word(WordOf(FromWord<T>(word)));
}

[[gnu::cold]] std::unexpected<Error> LengthsDiffer(size_t a, size_t b) {
  return Fail(Diag::BadLaunch, fmt::format("{} elements are given beside {}", a, b));
}

template <typename T, typename Kernel>
Result<void> RunUnary(std::string_view name, Kernel kernel, Part x, Part y) {
  if (x.size != y.size) [[unlikely]]
    return LengthsDiffer(x.size, y.size);
  return LaunchStandard(
      name, IsPlain({x, y}, {y.size}), [&] { return kernel(In<T>(x), Out<T>(y), Length(y)); },
      [&] { return std::array<Operand, 3>{x, y, ExtentOf(y)}; });
}

template <typename T, typename Kernel>
Result<void> RunBinary(std::string_view name, Kernel kernel, Part a, Part b, Part c) {
  if (a.size != b.size) [[unlikely]]
    return LengthsDiffer(a.size, b.size);
  if (a.size != c.size) [[unlikely]]
    return LengthsDiffer(a.size, c.size);
  return LaunchStandard(
      name, IsPlain({a, b, c}, {c.size}),
      [&] { return kernel(In<T>(a), In<T>(b), Out<T>(c), Length(c)); },
      [&] { return std::array<Operand, 4>{a, b, c, ExtentOf(c)}; });
}

template <typename T, typename Kernel>
Result<void> RunScalar(std::string_view name, Kernel kernel, Part x, Part y, uint64_t scalar) {
  if (x.size != y.size) [[unlikely]]
    return LengthsDiffer(x.size, y.size);
  return LaunchStandard(
      name, IsPlain({x, y}, {y.size}),
      [&] { return kernel(In<T>(x), Out<T>(y), Length(y), FromWord<T>(scalar)); },
      [&] { return std::array<Operand, 4>{x, y, ExtentOf(y), WordAs<T>(scalar)}; });
}

template <typename T, typename Kernel>
Result<void> RunClip(std::string_view name, Kernel kernel, Part x, Part y, uint64_t low,
                     uint64_t high) {
  if (x.size != y.size) [[unlikely]]
    return LengthsDiffer(x.size, y.size);
  const T lo = FromWord<T>(low), hi = FromWord<T>(high);
  if (!(lo <= hi)) [[unlikely]]
    return Fail(Diag::BadLaunch, fmt::format("there is nothing between {} and {}", lo, hi));
  return LaunchStandard(
      name, IsPlain({x, y}, {y.size}),
      [&] { return kernel(In<T>(x), Out<T>(y), Length(y), lo, hi); },
      [&] { return std::array<Operand, 5>{x, y, ExtentOf(y), WordAs<T>(low), WordAs<T>(high)}; });
}

template <typename T, typename Kernel>
Result<void> RunFill(std::string_view name, Kernel kernel, Part y, uint64_t value) {
  return LaunchStandard(
      name, IsPlain({y}, {y.size}),
      [&] { return kernel(Out<T>(y), FromWord<T>(value), Length(y)); },
      [&] { return std::array<Operand, 3>{y, WordAs<T>(value), ExtentOf(y)}; });
}

}  // namespace

// Every row of ops.def but the folds, for each of its types.
#define FRAZIL_KERNEL(kernel) \
  [](const auto&... arguments) { return frazil_stdlib::kernel(arguments...); }
#define FRAZIL_RUN_Unary(op, kind, type, kernel)                   \
  template <>                                                      \
  Result<void> RunOp<OpId::op, Kind::kind>(Part x, Part y) {       \
    return RunUnary<type>(#kernel, FRAZIL_KERNEL(kernel), x, y);   \
  }
#define FRAZIL_RUN_Binary(op, kind, type, kernel)                    \
  template <>                                                        \
  Result<void> RunOp<OpId::op, Kind::kind>(Part a, Part b, Part c) { \
    return RunBinary<type>(#kernel, FRAZIL_KERNEL(kernel), a, b, c); \
  }
#define FRAZIL_RUN_Scalar(op, kind, type, kernel)                         \
  template <>                                                             \
  Result<void> RunOp<OpId::op, Kind::kind>(Part x, Part y, uint64_t s) {  \
    return RunScalar<type>(#kernel, FRAZIL_KERNEL(kernel), x, y, s);      \
  }
#define FRAZIL_RUN_Clip(op, kind, type, kernel)                                          \
  template <>                                                                            \
  Result<void> RunOp<OpId::op, Kind::kind>(Part x, Part y, uint64_t low, uint64_t high) { \
    return RunClip<type>(#kernel, FRAZIL_KERNEL(kernel), x, y, low, high);               \
  }
#define FRAZIL_RUN_Fill(op, kind, type, kernel)                      \
  template <>                                                        \
  Result<void> RunOp<OpId::op, Kind::kind>(Part y, uint64_t value) { \
    return RunFill<type>(#kernel, FRAZIL_KERNEL(kernel), y, value);  \
  }
#define FRAZIL_RUN_Fold(op, kind, type, kernel)  // ops_reduce.cpp
#define FRAZIL_OP(shape, module, name, types, kernel) \
  FRAZIL_TYPES_##types(FRAZIL_RUN_##shape, module##_##name, kernel)
#include "runtime/ops.def"
#undef FRAZIL_OP

}  // namespace internal

Result<void> ops::activation::softmax(In x, Out y, size_t columns) {
  if (x.size() != y.size()) return internal::LengthsDiffer(x.size(), y.size());
  if (x.size() == 0) return {};
  if (columns == 0) columns = x.size();
  if (x.size() % columns != 0)
    return Fail(Diag::BadLaunch, fmt::format("{} elements are no rows of {}", x.size(), columns));
  const size_t rows = x.size() / columns;
  using internal::Operand;
  const internal::Part in = internal::PartOf(x), out = internal::PartOf(y);
  return internal::LaunchStandard(
      "softmax", internal::IsPlain({in, out}, {rows, columns}),
      [&] {
        return frazil_stdlib::softmax(x.span(), y.span(), static_cast<uint32_t>(rows),
                                      static_cast<uint32_t>(columns));
      },
      [&] {
        return std::array<Operand, 4>{in, out, Operand::Extent(rows), Operand::Extent(columns)};
      });
}

}  // namespace frazil::runtime
