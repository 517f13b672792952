// Images as bytes: every damage is a refusal. Images as memory: never writable and executable at once.
#include "exec/native/native_code.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace frazil::exec {
namespace {

// mov eax, 0; mov rcx, [rdi]; add rcx, rcx; mov [rsi], rcx; ret: doubles a word, at every level.
NativeImage Doubler() {
  NativeImage image;
  image.uses_run = false;
  image.entry_offset = 2;
  image.code =
      std::string("\xcc\xcc\xb8\x00\x00\x00\x00\x48\x8b\x0f\x48\x01\xc9\x48\x89\x0e\xc3", 17);
  return image;
}

struct Mapping {
  std::string permissions;
  bool found = false;
};

Mapping MappingOf(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t low = 0, high = 0;
    char permissions[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &low, &high, permissions) != 3)
      continue;
    const uint64_t place = reinterpret_cast<uint64_t>(address);
    if (place >= low && place < high) return {permissions, true};
  }
  return {};
}

TEST(NativeCodeTest, LevelsHaveNames) {
  for (int i = 0; i < CpuLevelCount; ++i) {
    const auto level = static_cast<CpuLevel>(i);
    EXPECT_EQ(CpuLevelNamed(CpuLevelName(level)), level);
  }
  EXPECT_FALSE(CpuLevelNamed("sse9").has_value());
}

TEST(NativeCodeTest, ImagesSurviveTheirBytes) {
  NativeImage image = Doubler();
  image.level = CpuLevel::Avx2;
  image.metered = true;
  const auto again = ParseImage(SerializeImage(image));
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_EQ(*again, image);
}

TEST(NativeCodeTest, EveryDamageIsRefused) {
  const std::string good = SerializeImage(Doubler());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(ParseImage(good.substr(0, size)).error().diag, Diag::BadArtifact) << size;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      ASSERT_FALSE(ParseImage(bad).has_value()) << i << " " << bit;
    }
  }
  EXPECT_FALSE(ParseImage(good + "x").has_value());
  NativeImage image = Doubler();
  image.entry_offset = 100;
  EXPECT_EQ(ParseImage(SerializeImage(image)).error().diag, Diag::BadArtifact);
}

TEST(NativeCodeTest, MapsAndRuns) {
#if defined(__x86_64__)
  const auto code = NativeCode::Map(Doubler());
  ASSERT_TRUE(code.has_value()) << code.error().ToString();
  const uint64_t argument = 21;
  uint64_t result = 0;
  EXPECT_EQ((*code)->entry()(&argument, &result, nullptr), 0);
  EXPECT_EQ(result, 42u);
#endif
}

TEST(NativeCodeTest, MemoryIsNeverWritableAndExecutable) {
  auto code = NativeCode::Map(Doubler());
  ASSERT_TRUE(code.has_value());
  const void* const place = reinterpret_cast<const void*>((*code)->entry());
  const Mapping mapping = MappingOf(place);
  ASSERT_TRUE(mapping.found);
  EXPECT_EQ(mapping.permissions, "r-xp");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
  code->reset();
  EXPECT_NE(MappingOf(place).permissions, "r-xp");
}

TEST(NativeCodeTest, RefusesWhatTheMachineCannotRun) {
  NativeImage image = Doubler();
  image.entry_offset = static_cast<uint32_t>(image.code.size());
  EXPECT_EQ(NativeCode::Map(image).error().diag, Diag::BadArtifact);
  image = Doubler();
  image.level = CpuLevel::Avx512;
  if (HostLevel() < CpuLevel::Avx512) {
    EXPECT_EQ(NativeCode::Map(image).error().diag, Diag::EngineFailed);
  }
}

}  // namespace
}  // namespace frazil::exec
