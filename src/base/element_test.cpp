#include "base/element.h"

#include <gtest/gtest.h>

#include <limits>

namespace frazil {
namespace {

template <typename T>
void CheckInteger(Kind kind) {
  EXPECT_EQ(KindOf<T>(), kind);
  EXPECT_EQ(BytesOf(kind), sizeof(T));
  EXPECT_TRUE(IsInteger(kind));
  EXPECT_EQ(IsSigned(kind), std::is_signed_v<T>);
  EXPECT_EQ(MostOf(kind), static_cast<uint64_t>(std::numeric_limits<T>::max()));
  for (const T value : {std::numeric_limits<T>::min(), T(0), T(5), std::numeric_limits<T>::max()})
    EXPECT_EQ(FromWord<T>(WordOf(value)), value);
}

TEST(Element, Integers) {
  CheckInteger<int8_t>(Kind::I8);
  CheckInteger<int16_t>(Kind::I16);
  CheckInteger<int32_t>(Kind::I32);
  CheckInteger<int64_t>(Kind::I64);
  CheckInteger<long long>(Kind::I64);
  CheckInteger<uint8_t>(Kind::U8);
  CheckInteger<uint16_t>(Kind::U16);
  CheckInteger<uint32_t>(Kind::U32);
  CheckInteger<uint64_t>(Kind::U64);
  EXPECT_EQ(WordOf(int8_t{-1}), ~uint64_t{0});
  EXPECT_EQ(MostOf(Kind::Index), static_cast<uint64_t>(INT64_MAX));
}

TEST(Element, Others) {
  EXPECT_EQ(KindOf<float>(), Kind::F32);
  EXPECT_EQ(KindOf<double>(), Kind::F64);
  EXPECT_EQ(KindOf<bool>(), Kind::Bool);
  EXPECT_EQ(KindOf<F16>(), Kind::F16);
  EXPECT_EQ(KindOf<BF16>(), Kind::BF16);
  EXPECT_EQ(MostOf(Kind::F32), 0u);
  EXPECT_FALSE(IsInteger(Kind::Bool));
  EXPECT_EQ(WordOf(-0.5f), 0xbf000000u);
  EXPECT_EQ(FromWord<double>(WordOf(-0.5)), -0.5);
  EXPECT_EQ(FromWord<F16>(0x12345).bits, 0x2345);
  static_assert(!Element<long double> && !Element<int*> && !Element<__int128>);
}

}  // namespace
}  // namespace frazil
