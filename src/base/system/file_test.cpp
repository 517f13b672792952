#include "base/system/file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace frazil {
namespace {

TEST(File, IsReadWhole) {
  const std::string path = testing::TempDir() + "file_test_whole";
  const std::string bytes = std::string(100'000, 'x') + std::string(1, '\0') + "end\r\n";
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(ReadFileBytes(path).value(), bytes);
  Limits limits;
  limits.source_bytes = 99'999;
  const auto refused = ReadFileBytes(path, limits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().diag, Diag::LimitReached);
  EXPECT_NE(refused.error().message.find("--max-source-bytes 99999"), std::string::npos);
}

TEST(File, IsWrittenWhole) {
  const std::string path = testing::TempDir() + "file_test_written";
  ASSERT_TRUE(WriteFileBytes(path, "longer than the next"));
  ASSERT_TRUE(WriteFileBytes(path, std::string_view("a\0b", 3)));
  EXPECT_EQ(ReadFileBytes(path).value(), std::string_view("a\0b", 3));
  EXPECT_EQ(WriteFileBytes("/nowhere/at/all", "x").error().diag, Diag::FileUnwritable);
  EXPECT_EQ(WriteFileBytes("/dev/full", "x").error().message,
            "/dev/full cannot be written: No space left on device");
}

TEST(File, SaysWhyItCannotBeRead) {
  const auto missing = ReadFileBytes("/nowhere/at/all");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().diag, Diag::FileUnreadable);
  EXPECT_EQ(missing.error().message, "/nowhere/at/all cannot be read: No such file or directory");
  EXPECT_EQ(ReadFileBytes("/").error().message, "/ is a folder");
}

}  // namespace
}  // namespace frazil
