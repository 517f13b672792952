// The prover's work is an extension of the padded trace to a fixed multiple of its length: h log h operations, h
// memory, and k layers of authentication paths of up to k digests in the proof. Randomizers are added to the trace
// first, so that heights of 2^8 and 2^9 cost the same.
#include "machines/tasm/heights/proof_cost.h"

#include <algorithm>
#include <bit>

namespace frazil::machines::tasm {

namespace {

constexpr int LeastLog = 9;

}  // namespace

ProofCost EstimateProof(uint64_t padded_height, double calibration) {
  const uint64_t height = std::bit_ceil(std::clamp<uint64_t>(padded_height, 1, 1ull << 62));
  const int log = std::max(LeastLog, std::countr_zero(height));
  const double k = log;
  const double h = static_cast<double>(1ull << log);
  ProofCost cost;
  cost.seconds = calibration * (0.0122439 + 0.000128396 * h + 6.5975e-06 * h * k);
  cost.verify_seconds = calibration * (-0.000842314 + 0.000731211 * k);
  cost.bytes = 428224 + 1292.96 * k + 1643.38 * k * k;
  cost.peak_bytes = 7.70679e+06 + 56243.5 * h;
  return cost;
}

double CalibrateProof(uint64_t padded_height, double measured_seconds) {
  return measured_seconds / EstimateProof(padded_height).seconds;
}

}  // namespace frazil::machines::tasm
