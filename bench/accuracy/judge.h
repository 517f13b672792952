// Compares results with the reference and keeps count.
#pragma once

#include <cstdint>
#include <vector>

#include "reference.h"

namespace frazil::bench {

// Error figures of one function. An ulp is that of the exact result (2^-149 or 2^-1074 below the
// normal range).
struct Score {
  uint64_t inputs = 0;
  uint64_t not_correctly_rounded = 0;
  uint64_t wrong_special =
      0;  // NaN, infinity or sign of zero where another was due, or a NaN that is not the quiet one
  double max_ulp = 0;
  uint64_t worst[2] = {0, 0};          // bits of the arguments with the greatest error
  uint64_t first_special[2] = {0, 0};  // and of the first wrong special case
  std::vector<uint64_t>
      misrounded;  // first arguments of the first few that were not correctly rounded

  void Add(const Score& other);
};

class Judge {
 public:
  Judge(const Reference& reference, mpfr_prec_t precision);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  void F32(float x, float y, Score& score);
  void F64(double x, double y, Score& score);

 private:
  void Exact32(float x, float y, Score& score);

  const Reference& reference_;
  mpfr_t x_;
  mpfr_t value_;
  mpfr_t difference_;
};

// pow has two arguments; the type is double, or float if Narrow.
class PowJudge {
 public:
  PowJudge();
  ~PowJudge();
  PowJudge(const PowJudge&) = delete;
  PowJudge& operator=(const PowJudge&) = delete;
  void F32(float x, float y, float z, Score& score);
  void F64(double x, double y, double z, Score& score);

 private:
  mpfr_t x_;
  mpfr_t y_;
  mpfr_t value_;
  mpfr_t difference_;
};

}  // namespace frazil::bench
