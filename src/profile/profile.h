// What was observed, and what follows from it by arithmetic alone: how often and how long, whether arguments stay
// constant, whether behavior has drifted. No decision is taken here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace frazil::profile {

// Of one call site; one writer at a time.
class CallProfile {
 public:
  // By parameter: how many words it has (0: a buffer, whose words say nothing) and where they begin in a call.
  explicit CallProfile(std::vector<uint32_t> words_per_scalar_parameter,
                       std::vector<uint32_t> first_word);

  // `calls` more calls were made; the last of them had these arguments and took so long.
  void Add(const uint64_t* arguments, uint64_t calls, double ns);

  uint64_t calls() const { return calls_; }
  double total_ns() const { return total_ns_; }  // timed calls stand for those between them
  double ns_per_call() const;  // median of the recent timed calls; 0 if there was none
  // By parameter: the words it has had in every observed call so far, or empty.
  std::vector<std::vector<uint64_t>> ConstantArguments() const;
  // Arguments are looked at as if for the first time: after a drift, other constants may hold.
  void ForgetArguments();

 private:
  static constexpr size_t RecentCount = 31;
  std::vector<uint32_t> words_, first_;
  std::vector<std::vector<uint64_t>> seen_;
  std::vector<bool> varies_;
  uint64_t calls_ = 0;
  double total_ns_ = 0;
  std::vector<double> recent_;
  size_t next_recent_ = 0;
};

// Sequential test on the share of calls whose guard failed (or whose time left its band): says "drifted" with a
// false-alarm rate of at most alpha over its whole life, however long, and soon after a change, however late that
// comes. drift.cpp has the derivation; drift_test.cpp measures both.
class DriftTest {
 public:
  // `expected`: share of misses that is normal; alpha: chance of ever crying wolf.
  explicit DriftTest(double expected = 0.01, double alpha = 1e-6);
  // More calls, and how many of them missed. How many calls come at a time must not depend on how they went. True once
  // the test has rejected "every call misses with at most the expected probability, whatever happened before".
  bool Add(uint64_t calls, uint64_t misses);
  bool drifted() const { return drifted_; }
  // A bet against the null hypothesis: it is rejected when 1 has become 1 / alpha.
  double wealth() const;
  // A new life, with an alpha of its own.
  void Reset();

 private:
  static constexpr size_t GridSize = 16;
  std::array<double, GridSize> log_if_miss_, log_if_hit_;  // by alternative
  double threshold_;
  std::array<double, GridSize> wealth_{};  // of the bets that have begun, summed by alternative
  double steps_ = 0;
  bool drifted_ = false;
};

// A ring of tokens and the period of its tail: which sequence repeats? Generic; tensor streams use it.
class TokenRing {
 public:
  explicit TokenRing(size_t capacity = 4096);
  void Push(uint64_t token);
  size_t size() const { return count_; }
  size_t capacity() const { return tokens_.size(); }
  uint64_t at_back(size_t i) const {  // 0 = newest; i < size()
    return tokens_[next_ > i ? next_ - 1 - i : tokens_.size() + next_ - 1 - i];
  }
  // The smallest period p such that the last repetitions * p tokens repeat with it; 0 if there is none. Linear in
  // size(), whatever the tokens are.
  size_t Period(size_t repetitions) const;
  void Clear();

 private:
  std::vector<uint64_t> tokens_;
  size_t next_ = 0, count_ = 0;
};

}  // namespace frazil::profile
