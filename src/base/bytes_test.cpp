#include "base/bytes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace frazil {
namespace {

using namespace std::string_view_literals;

enum class Color : uint8_t { Red, Green, Blue };
enum class Wide : uint32_t { One = 1, Two = 2 };

TEST(Bytes, EveryFieldHasOneForm) {
  ByteWriter out;
  out.Number<uint8_t>(0xab);
  out.Number<uint16_t>(0x1234);
  out.Number<uint32_t>(0xdeadbeef);
  out.Number<uint64_t>(0x0102030405060708);
  out.Number<int64_t>(-2);
  out.Double(1.5);
  out.Flag(true);
  out.Enum(Color::Blue);
  out.Enum(Wide::Two);
  out.Raw("raw");
  out.Fixed(std::array<uint8_t, 2>{7, 9});
  out.Text("hi");
  out.Each(std::vector<uint16_t>{1, 2}, [&](uint16_t each) { out.Number<uint16_t>(each); });
  EXPECT_EQ(out.Take(),
            "\xab\x34\x12\xef\xbe\xad\xde\x08\x07\x06\x05\x04\x03\x02\x01"
            "\xfe\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\xf8\x3f"
            "\x01\x02\x02\x00\x00\x00raw\x07\x09\x02\x00\x00\x00\x00\x00\x00\x00hi"
            "\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02\x00"sv);
}

TEST(Bytes, WhatWasWrittenComesBack) {
  ByteWriter out;
  out.Number<uint8_t>(200);
  out.Number<int32_t>(std::numeric_limits<int32_t>::min());
  out.Number<uint64_t>(std::numeric_limits<uint64_t>::max());
  out.Double(-0.0);
  out.Double(std::bit_cast<double>(0x7ff8000000000123));
  out.Flag(false);
  out.Enum(Color::Green);
  out.Enum(Wide::Two);
  out.Fixed(std::array<uint8_t, 3>{1, 2, 3});
  out.Text("");
  out.Text("a\0b"sv);
  out.Each(std::vector<std::string>{"x", "yz"}, [&](const std::string& each) { out.Text(each); });
  ByteReader in(out.bytes());
  EXPECT_EQ(in.Number<uint8_t>(), 200);
  EXPECT_EQ(in.Number<int32_t>(), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(in.Number<uint64_t>(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(std::signbit(in.Double()));
  EXPECT_EQ(std::bit_cast<uint64_t>(in.Double()), 0x7ff8000000000123);
  EXPECT_FALSE(in.Flag());
  EXPECT_EQ(in.Enum(Color::Blue), Color::Green);
  EXPECT_EQ(in.Enum(Wide::Two), Wide::Two);
  EXPECT_EQ((in.Fixed<std::array<uint8_t, 3>>()), (std::array<uint8_t, 3>{1, 2, 3}));
  EXPECT_EQ(in.Text(), "");
  EXPECT_EQ(in.View(), "a\0b"sv);
  EXPECT_EQ(in.Each(8, [&] { return in.Text(); }), (std::vector<std::string>{"x", "yz"}));
  EXPECT_TRUE(in.AtEnd());
}

TEST(Bytes, EveryPrefixIsRefused) {
  ByteWriter out;
  out.Number<uint32_t>(5);
  out.Text("text");
  out.Flag(true);
  out.Each(std::vector<uint64_t>{1, 2, 3}, [&](uint64_t each) { out.Number<uint64_t>(each); });
  out.Fixed(std::array<uint8_t, 4>{});
  const std::string whole = out.Take();
  const auto is_read = [](std::string_view bytes) {
    ByteReader in(bytes);
    in.Number<uint32_t>();
    in.Text();
    in.Flag();
    in.Each(8, [&] { return in.Number<uint64_t>(); });
    in.Fixed<std::array<uint8_t, 4>>();
    return in.AtEnd();
  };
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(is_read(std::string_view(whole).substr(0, size))) << size;
  EXPECT_TRUE(is_read(whole));
  EXPECT_FALSE(is_read(whole + '\0'));
}

TEST(Bytes, AReaderThatHasRefusedGivesZeros) {
  ByteReader in("\x01\x02\x03"sv);
  EXPECT_EQ(in.Number<uint32_t>(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Number<uint8_t>(), 0) << "although there are three bytes";
  EXPECT_EQ(in.Double(), 0.0);
  EXPECT_FALSE(in.Flag());
  EXPECT_EQ(in.Enum(Color::Blue), Color::Red);
  EXPECT_EQ(in.Count(1), 0u);
  EXPECT_EQ(in.Text(), "");
  EXPECT_EQ(in.Raw(0), "");
  EXPECT_EQ((in.Fixed<std::array<uint8_t, 1>>()), (std::array<uint8_t, 1>{}));
  EXPECT_TRUE(in.Each(1, [] { return 1; }).empty());
  EXPECT_FALSE(in.AtEnd());
}

TEST(Bytes, ValuesOutsideOfTheirRangeAreRefused) {
  const auto refused = [](std::string_view bytes, auto read) {
    ByteReader in(bytes);
    read(in);
    return !in.ok();
  };
  EXPECT_TRUE(refused("\x02"sv, [](ByteReader& in) { EXPECT_FALSE(in.Flag()); }));
  EXPECT_TRUE(
      refused("\x03"sv, [](ByteReader& in) { EXPECT_EQ(in.Enum(Color::Blue), Color::Red); }));
  EXPECT_TRUE(refused("\x01\x00\x00\x80"sv, [](ByteReader& in) { in.Enum(Wide::Two); }));
  EXPECT_TRUE(refused("\x05"sv, [](ByteReader& in) { EXPECT_EQ(in.Below<uint8_t>(5), 0); }));
  EXPECT_FALSE(refused("\x04"sv, [](ByteReader& in) { EXPECT_EQ(in.Below<uint8_t>(5), 4); }));
}

// A length that is a lie costs nothing: it is compared with what is there, in a way that cannot overflow.
TEST(Bytes, LengthsAreNotBelieved) {
  ByteWriter out;
  out.Count(std::numeric_limits<uint64_t>::max());
  out.Raw("abc");
  EXPECT_EQ(ByteReader(out.bytes()).Text(), "");
  EXPECT_EQ(ByteReader(out.bytes()).Count(16), 0u);
  int reads = 0;
  ByteReader list(out.bytes());
  EXPECT_TRUE(list.Each(8, [&] { return ++reads; }).empty());
  EXPECT_EQ(reads, 0);
  ByteReader raw("abc");
  EXPECT_EQ(raw.Raw(std::numeric_limits<uint64_t>::max()), "");
  EXPECT_FALSE(raw.ok());
}

TEST(Bytes, AListEndsAtTheEntryThatIsRefused) {
  ByteWriter out;
  out.Each(std::vector<uint8_t>{1, 7, 1, 1}, [&](uint8_t each) { out.Number<uint8_t>(each); });
  ByteReader in(out.bytes());
  int reads = 0;
  in.Each(1, [&] {
    ++reads;
    return in.Flag();
  });
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace frazil
