// What was observed, and what follows from it by arithmetic alone: how often and how long, whether arguments stay
// constant, whether behaviour has drifted. No decision is taken here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace frazil::profile {

// Of one call site; one writer at a time.
class CallProfile {
 public:
  explicit CallProfile(std::vector<uint32_t> words_per_scalar_parameter, std::vector<uint32_t> first_word);

  void Add(const uint64_t* arguments, uint64_t calls, double ns);

  uint64_t calls() const { return calls_; }
  double total_ns() const { return total_ns_; }
  double ns_per_call() const;  // median of the recent timed calls
  // By scalar parameter: the words it has always had so far, or empty.
  std::vector<std::vector<uint64_t>> ConstantArguments() const;

 private:
  std::vector<uint32_t> words_, first_;
  std::vector<std::vector<uint64_t>> seen_;
  std::vector<bool> varies_;
  uint64_t calls_ = 0;
  double total_ns_ = 0;
  std::vector<double> recent_;
  size_t next_recent_ = 0;
};

// Sequential test on the share of calls whose guard failed (or whose time left its band): says "drifted" with a
// false-alarm rate of at most alpha over the whole life of the slot, however long (a mixture supermartingale,
// Ville's inequality). Header-only arithmetic; see drift.cpp for the derivation and the measured rate.
class DriftTest {
 public:
  // `expected`: share of misses that is normal; alpha: chance of ever crying wolf.
  explicit DriftTest(double expected = 0.01, double alpha = 1e-6);
  // More calls, and how many of them missed. True once the test has rejected "at most the expected share".
  bool Add(uint64_t calls, uint64_t misses);
  bool drifted() const { return drifted_; }
  void Reset();

 private:
  double expected_, log_threshold_;
  std::array<double, 16> log_wealth_{};
  bool drifted_ = false;
};

// A ring of tokens and the period of its tail: which sequence repeats? Generic; tensor streams use it.
class TokenRing {
 public:
  explicit TokenRing(size_t capacity = 4096);
  void Push(uint64_t token);
  size_t size() const;
  uint64_t at_back(size_t i) const;  // 0 = newest
  // The smallest period p such that the last repetitions * p tokens repeat with it; 0 if there is none.
  size_t Period(size_t repetitions) const;

 private:
  std::vector<uint64_t> tokens_;
  size_t next_ = 0, count_ = 0;
};

}  // namespace frazil::profile
