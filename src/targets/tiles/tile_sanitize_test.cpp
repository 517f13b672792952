// Kernels with planted mistakes, and the same without.
#include <gtest/gtest.h>

#include "ir/text/test_text.h"
#include "targets/tiles/test_tile.h"

namespace frazil::targets::tiles {
namespace {

using exec::Value;

std::vector<Finding> FindingsOf(std::string_view text, int64_t n, int64_t m, int64_t length) {
  const auto buffer = [&] { return RandomBuffer(ir::types::F32, length, 1); };
  const std::vector<Value> arguments = {Value::Int(ir::types::Index, n),
                                        Value::Int(ir::types::Index, m), buffer(), buffer()};
  const auto run = Sanitize(ReadProgram(text), arguments);
  EXPECT_TRUE(run.has_value()) << run.error().ToString();
  return run ? run->findings : std::vector<Finding>();
}

std::vector<Finding> LaneFindings(std::string_view body, int64_t n, int64_t m, int64_t length) {
  const std::string text =
      ir::Lanes("%n: index, %m: index, %x: buffer<f32>, %y: buffer<f32>", body);
  return FindingsOf(text, n, m, length);
}

TEST(TileSanitizer, CleanKernelsHaveNoFindings) {
  EXPECT_TRUE(FindingsOf(BlockKernel("barrier", "store %shared, %l, %v : f32"), 4, 8, 32).empty());
  EXPECT_TRUE(LaneFindings(R"(
    %u = load %x, %m : f32
    %v = load %y, %i : f32
    %r = add %u, %v : f32
    store %y, %i, %r : f32
    yield
  }
  parallel %i = %zero to %n {
    %v = load %y, %zero : f32
    store %x, %i, %v : f32
)",
                           20, 3, 32)
                  .empty());
}

TEST(TileSanitizer, AMissingBarrierIsARace) {
  const auto findings = FindingsOf(BlockKernel("", "store %shared, %l, %v : f32"), 2, 8, 16);
  ASSERT_FALSE(findings.empty());
  bool race = false;
  for (const Finding& finding : findings) {
    if (finding.kind != FindingKind::Race) continue;
    race = true;
    EXPECT_EQ(finding.buffer, "scratch of line 6");
    EXPECT_NE(finding.lane, finding.other_lane);
    EXPECT_EQ(finding.lane.size(), 2u);
    EXPECT_NE(finding.where.line, 0u);
    EXPECT_NE(finding.ToString().find("race on scratch of line 6"), std::string::npos)
        << finding.ToString();
  }
  EXPECT_TRUE(race);
}

void ExpectFinding(const Finding& finding, FindingKind kind, std::string_view buffer,
                   int64_t element, uint32_t line, const std::vector<int64_t>& lane) {
  EXPECT_EQ(finding.kind, kind);
  EXPECT_EQ(finding.buffer, buffer);
  EXPECT_EQ(finding.element, element);
  EXPECT_EQ(finding.where.line, line);
  EXPECT_EQ(finding.lane, lane);
}

TEST(TileSanitizer, LanesOfOneBufferElementRace) {
  const auto findings = LaneFindings(R"(
    %k = rem.floor %i, %m : index
    %v = load %x, %i : f32
    store %y, %k, %v : f32
)",
                                     10, 4, 16);
  ASSERT_EQ(findings.size(), 1u);
  ExpectFinding(findings[0], FindingKind::Race, "y", 0, 7, {4});
  EXPECT_EQ(findings[0].other.line, 7u);
  EXPECT_EQ(findings[0].other_lane, std::vector<int64_t>{0});
}

TEST(TileSanitizer, ReadersRaceWithALaterWriter) {
  const auto findings = LaneFindings(R"(
    %v = load %x, %m : f32
    store %x, %i, %v : f32
)",
                                     6, 5, 16);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::Race);
  EXPECT_EQ(findings[0].element, 5);
}

TEST(TileSanitizer, OffByOne) {
  const auto findings = LaneFindings(R"(
    %k = add %i, %m : index
    %v = load %x, %k : f32
    store %y, %i, %v : f32
)",
                                     16, 1, 16);
  ASSERT_EQ(findings.size(), 1u);
  ExpectFinding(findings[0], FindingKind::OutOfBounds, "x", 16, 6, {15});
}

TEST(TileSanitizer, SharedMemoryThatNobodyWrote) {
  const auto findings = FindingsOf(BlockKernel("barrier", ""), 2, 4, 8);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::Uninitialized);
  EXPECT_EQ(findings[0].buffer, "scratch of line 6");
}

TEST(TileSanitizer, AtomicsDoNotRace) {
  EXPECT_TRUE(LaneFindings(R"(
    %v = load %x, %i : f32
    %old = atomic %y, %zero, %v {kind = add, unordered} : f32
)",
                           10, 4, 16)
                  .empty());
}

}  // namespace
}  // namespace frazil::targets::tiles
