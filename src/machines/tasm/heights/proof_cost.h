// What a proof costs, by padded height alone: a model fitted to measured proofs of the pinned prover.
// tools/oracle/measure.py measures again and prints new constants.
#pragma once

#include <cstdint>

namespace frazil::machines::tasm {

struct ProofCost {
  double seconds =
      0;  // to prove, on all cores of the machine that was measured, times the calibration
  double verify_seconds = 0;  // likewise
  double bytes = 0;           // of the proof
  double peak_bytes = 0;      // of the prover's memory
};

// The largest relative error with which a measured height was predicted from the other ones; of the time, what two
// measurements of one height differed by (2^13: 1.57 and 1.85 s on a busy machine), which is more than that (8 %).
// Above the largest measured height the model is an extrapolation, and says so.
constexpr double ProofSecondsError = 0.18;
constexpr double ProofVerifyError = 0.04;
constexpr double ProofBytesError = 0.01;
constexpr double ProofPeakError = 0.03;
constexpr uint64_t ProofMeasuredFrom = 1ull << 8;
constexpr uint64_t ProofMeasuredTo = 1ull << 16;
// The machine that was measured: two virtual cores of an AMD EPYC with AVX-512.
constexpr int ProofMeasuredCores = 2;

// `calibration`: seconds of this machine per second of the measured one. 1 if nobody measured.
ProofCost EstimateProof(uint64_t padded_height, double calibration = 1);
// From one proof that this machine made.
double CalibrateProof(uint64_t padded_height, double measured_seconds);

}  // namespace frazil::machines::tasm
