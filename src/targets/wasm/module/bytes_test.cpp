// LEB128 and the body writer.
#include "targets/wasm/module/bytes.h"

#include <limits>

#include "targets/wasm/module/code.h"
#include "targets/wasm/test_tools.h"

namespace frazil::targets::wasm {
namespace {

std::string Unsigned(uint64_t value) {
  std::string out;
  AppendUnsigned(out, value);
  return out;
}
std::string Signed(int64_t value) {
  std::string out;
  AppendSigned(out, value);
  return out;
}

TEST(Leb128, ShortestForms) {
  EXPECT_EQ(Hex(Unsigned(0)), "00");
  EXPECT_EQ(Hex(Unsigned(127)), "7f");
  EXPECT_EQ(Hex(Unsigned(128)), "80 01");
  EXPECT_EQ(Hex(Unsigned(624485)), "e5 8e 26");
  EXPECT_EQ(Hex(Signed(63)), "3f");
  EXPECT_EQ(Hex(Signed(64)), "c0 00");
  EXPECT_EQ(Hex(Signed(-64)), "40");
  EXPECT_EQ(Hex(Signed(-65)), "bf 7f");
  EXPECT_EQ(Hex(Signed(-123456)), "c0 bb 78");
  EXPECT_EQ(Signed(std::numeric_limits<int64_t>::min()).size(), 10u);
}

TEST(Leb128, RoundTripsEdges) {
  for (int bit = 0; bit < 64; ++bit)
    for (int64_t delta : {-1, 0, 1}) {
      int64_t value = static_cast<int64_t>((uint64_t{1} << bit) + static_cast<uint64_t>(delta));
      for (int64_t signed_value : {value, static_cast<int64_t>(0 - static_cast<uint64_t>(value))}) {
        std::string bytes = Signed(signed_value);
        ByteReader reader(bytes);
        EXPECT_EQ(reader.S64().value(), signed_value);
        EXPECT_TRUE(reader.at_end());
      }
      if (bit >= 32) continue;
      uint32_t small = static_cast<uint32_t>(value);
      std::string bytes = Unsigned(small);
      EXPECT_EQ(ByteReader(bytes).U32().value(), small);
      std::string narrow = Signed(static_cast<int32_t>(value));
      EXPECT_EQ(ByteReader(narrow).S32().value(), static_cast<int32_t>(value));
    }
}

TEST(Leb128, PaddedFormsAreReadAndOverlongOnesRefused) {
  std::string_view padded("\x80\x80\x80\x80\x00", 5);
  EXPECT_EQ(ByteReader(padded).U32().value(), 0u);
  std::string_view all_ones("\xff\xff\xff\xff\x0f", 5);
  EXPECT_EQ(ByteReader(all_ones).U32().value(), 0xffffffffu);
  std::string_view too_large("\xff\xff\xff\xff\x1f", 5);
  EXPECT_FALSE(ByteReader(too_large).U32());
  std::string_view too_long("\x80\x80\x80\x80\x80\x00", 6);
  EXPECT_FALSE(ByteReader(too_long).U32());
  std::string_view minus_one("\xff\xff\xff\xff\x7f", 5);
  EXPECT_EQ(ByteReader(minus_one).S32().value(), -1);
  std::string_view wrong_sign("\xff\xff\xff\xff\x4f", 5);
  EXPECT_FALSE(ByteReader(wrong_sign).S32());
}

TEST(Leb128, TheErrorSaysWhere) {
  std::string_view cut("\x80\x80", 2);
  ByteReader reader(cut, 100);
  Result<uint32_t> value = reader.U32();
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().diag, Diag::BadArtifact);
  EXPECT_NE(value.error().message.find("at byte 102"), std::string::npos) << value.error().message;
  EXPECT_EQ(value.error().location.column, 103u);
}

TEST(Code, SetThenGetIsTee) {
  Code code({});
  uint32_t x = code.AddLocal(ValType::I32);
  code.I32(5);
  code.Set(x);
  code.Get(x);
  code.Get(x);
  code.Op(Opcode::I32Add);
  code.Set(x);
  code.Begin(Opcode::Block);
  code.Get(x);
  code.Op(Opcode::Drop);
  code.End();
  EXPECT_EQ(Hex(code.bytes()), "41 05 22 00 20 00 6a 21 00 02 40 20 00 1a 0b");
  EXPECT_EQ(Hex(code.Finish()).substr(0, 8), "01 01 7f");
}

TEST(Code, LabelsCountFromTheInside) {
  Code code({});
  Code::Label outer = code.Begin(Opcode::Block);
  Code::Label inner = code.Begin(Opcode::Loop);
  code.Br(inner);
  code.Br(outer);
  Code::Label labels[] = {outer, inner};
  code.I32(0);
  code.BrTable(labels, outer);
  code.End();
  code.End();
  EXPECT_EQ(Hex(code.bytes()), "02 40 03 40 0c 00 0c 01 41 00 0e 02 01 00 01 0b 0b");
}

}  // namespace
}  // namespace frazil::targets::wasm
