// The model against the proofs that it was fitted to.
#include "machines/tasm/heights/proof_cost.h"

#include <gtest/gtest.h>

namespace frazil::machines::tasm {
namespace {

struct Measured {
  int log;
  double seconds, verify_ms, bytes, peak_mb;
};
constexpr Measured Table[] = {
    {8, 0.108, 5.8, 573608, 36},      {9, 0.108, 5.8, 572808, 37},
    {10, 0.219, 6.3, 604840, 65},     {11, 0.403, 7.1, 642192, 120},
    {12, 0.860, 7.9, 677784, 240},    {13, 1.851, 8.4, 723816, 462},
    {14, 3.630, 9.4, 770208, 940},    {15, 7.410, 10.3, 817680, 1873},
    {16, 15.234, 11.0, 868392, 3708},
};

TEST(ProofCost, FitsWhatWasMeasured) {
  for (const Measured& row : Table) {
    const ProofCost cost = EstimateProof(1ull << row.log);
    EXPECT_NEAR(cost.seconds / row.seconds, 1, ProofSecondsError) << row.log;
    EXPECT_NEAR(cost.verify_seconds * 1000 / row.verify_ms, 1, ProofVerifyError) << row.log;
    EXPECT_NEAR(cost.bytes / row.bytes, 1, ProofBytesError) << row.log;
    EXPECT_NEAR(cost.peak_bytes / 1e6 / row.peak_mb, 1, ProofPeakError + 0.02) << row.log;
  }
}

TEST(ProofCost, RoundsUpAndNeverFalls) {
  EXPECT_EQ(EstimateProof(300).seconds, EstimateProof(512).seconds);
  EXPECT_EQ(EstimateProof(0).bytes, EstimateProof(256).bytes);
  EXPECT_GT(EstimateProof(~0ull).seconds, 0);
  for (int log = 9; log < 40; ++log) {
    EXPECT_LT(EstimateProof(1ull << log).seconds, EstimateProof(2ull << log).seconds);
    EXPECT_LT(EstimateProof(1ull << log).bytes, EstimateProof(2ull << log).bytes);
  }
}

TEST(ProofCost, CalibrationScalesTime) {
  const double slow = CalibrateProof(1 << 12, 2 * EstimateProof(1 << 12).seconds);
  EXPECT_NEAR(slow, 2, 1e-9);
  EXPECT_NEAR(EstimateProof(1 << 15, slow).seconds, 2 * EstimateProof(1 << 15).seconds, 1e-9);
  EXPECT_EQ(EstimateProof(1 << 15, slow).bytes, EstimateProof(1 << 15).bytes);
}

}  // namespace
}  // namespace frazil::machines::tasm
