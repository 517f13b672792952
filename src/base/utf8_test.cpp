// What messages quote: everything a terminal would obey, hide or choke on stands there escaped.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace frazil {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, PrintableKeepsWhatCanBeSeen) {
  for (const std::string_view text : {"", "push 1", "\\x00", "gr\xc3\xbc\xc3\x9f dich",
                                      "\xe2\x82\xac", "\xf0\x9f\x8c\xb2", "a\xc2\xa0z"})
    EXPECT_EQ(Printable(text), text);
}

TEST(Utf8, PrintableEscapesTheRest) {
  EXPECT_EQ(Printable("a\0b\n\x7f"sv), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(Printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b");               // a control of Latin-1
  EXPECT_EQ(Printable("x\xe2\x80\xaey"), "x\\xe2\\x80\\xaey");  // right to left from here on
  EXPECT_EQ(Printable("\xe2\x80\x8b\xef\xbb\xbf"), "\\xe2\\x80\\x8b\\xef\\xbb\\xbf");  // no width
  EXPECT_EQ(Printable("\xff\xc3\xe2\x82z"), "\\xff\\xc3\\xe2\\x82z");  // cut and impossible ones
  EXPECT_EQ(Printable("\xc0\x80\xed\xa0\x80"),
            "\\xc0\\x80\\xed\\xa0\\x80");  // too long, a surrogate
}

TEST(Utf8, TheErrorShowsTheByte) {
  EXPECT_FALSE(Utf8Error("a\n\xc3\xbc"));
  const std::optional<Error> error = Utf8Error("first\nse\xc3\xbc\xfe");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->ToString(),
            "2:5: error FRZ0103: the text is not UTF-8 here: byte \\xfe (save the file as UTF-8)");
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(CutUtf8("abc", 5), "abc");
  EXPECT_EQ(CutUtf8("abc", 2), "ab");
  EXPECT_EQ(CutUtf8("a\xe2\x82\xac", 3), "a");
  EXPECT_EQ(CutUtf8("a\xe2\x82\xac!", 4), "a\xe2\x82\xac");
  EXPECT_EQ(CutUtf8("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

TEST(Utf8, BinaryFilesAreCalledThat) {
  auto error = [](std::string_view bytes) {
    const std::optional<Error> found = Utf8Error(bytes);
    return found ? found->ToString() : "";
  };
  EXPECT_EQ(
      error("\177ELF\x02\x01\xff"sv),
      "1:1: error FRZ0103: this is a binary file, not a text: it looks like an ELF program or "
      "library (give the source that it was built from)");
  EXPECT_EQ(error("\x93NUMPY\x01"),
            "1:1: error FRZ0103: this is a binary file, not a text: it looks like a NumPy array "
            "(bind it to a buffer: --bind x=FILE.npy)");
  // A module of eight bytes is UTF-8, too.
  EXPECT_EQ(error("\0asm\1\0\0\0"sv),
            "1:1: error FRZ0103: this is a binary file, not a text: it looks like a WebAssembly "
            "module (give the program it was emitted from)");
  EXPECT_EQ(error("abc\0\0\0\0\xff"sv),
            "1:1: error FRZ0103: this is a binary file, not a text (give a source file)");
  EXPECT_EQ(error("one\0is stray"sv), "");
  EXPECT_EQ(error("PK and ELF are words"), "");
}

}  // namespace
}  // namespace frazil
