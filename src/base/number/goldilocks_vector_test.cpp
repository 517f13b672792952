// Every level against the scalar field: all pairs of edge values, every length of tail, a million random pairs, in place;
// and the one product in 2^63 that vector code has to put right, which is looked for by construction.
#include "base/number/goldilocks_vector.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/number/goldilocks.h"

namespace frazil::goldilocks {
namespace {

__extension__ using uint128 = unsigned __int128;
using Elements = std::vector<uint64_t>;

uint64_t Remainder(uint128 value) { return static_cast<uint64_t>(value % P); }

std::vector<VectorLevel> Levels() {
  std::vector<VectorLevel> levels;
  for (VectorLevel level : AllVectorLevels)
    if (level <= HostVectorLevel()) levels.push_back(level);
  return levels;
}

Elements Random(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Elements values(count);
  for (uint64_t& value : values) value = random() % P;
  return values;
}

const uint64_t Edges[] = {0,
                          1,
                          2,
                          Epsilon - 1,
                          Epsilon,
                          Epsilon + 1,
                          Epsilon + 2,
                          P / 2,
                          P / 2 + 1,
                          P - Epsilon - 2,
                          P - Epsilon - 1,
                          P - Epsilon,
                          P - 2,
                          P - 1,
                          uint64_t{1} << 63,
                          uint64_t{1} << 52,
                          (uint64_t{1} << 52) - 1,
                          ~uint64_t{0} << 52,
                          (uint64_t{1} << 44) - 1};

void Compare(const Elements& a, const Elements& b, const Elements& c, VectorLevel level) {
  const size_t n = a.size();
  Elements sum(n), difference(n), product(n), both(n);
  AddEach(a.data(), b.data(), sum.data(), n, level);
  SubEach(a.data(), b.data(), difference.data(), n, level);
  MulEach(a.data(), b.data(), product.data(), n, level);
  MulAddEach(a.data(), b.data(), c.data(), both.data(), n, level);
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i)
    wrong += sum[i] != Remainder(uint128{a[i]} + b[i]) ||
             difference[i] != Remainder(uint128{a[i]} + P - b[i]) ||
             product[i] != Remainder(uint128{a[i]} * b[i]) ||
             both[i] != Remainder(uint128{a[i]} * b[i] + c[i]);
  EXPECT_EQ(wrong, 0u) << "level " << static_cast<int>(level);
}

TEST(GoldilocksVector, EdgesInEveryLane) {
  Elements a, b, c;
  for (uint64_t x : Edges)
    for (uint64_t y : Edges)
      for (uint64_t z : {uint64_t{0}, uint64_t{1}, P - 1, Epsilon})
        a.push_back(x), b.push_back(y), c.push_back(z);
  for (VectorLevel level : Levels())
    for (size_t skip = 0; skip < 8; ++skip)
      Compare(Elements(a.begin() + static_cast<ptrdiff_t>(skip), a.end()),
              Elements(b.begin() + static_cast<ptrdiff_t>(skip), b.end()),
              Elements(c.begin() + static_cast<ptrdiff_t>(skip), c.end()), level);
}

TEST(GoldilocksVector, AMillionRandomElements) {
  const Elements a = Random(1'000'000, 1), b = Random(1'000'000, 2), c = Random(1'000'000, 3);
  for (VectorLevel level : Levels()) Compare(a, b, c, level);
}

// low + t < s: high = 2^32 s + h with h 0 or 1 and a small low. Such products are a b = 2^96 s + 2^64 h + low with factors
// both below p, found from the factors of numbers of that form: 2^64 - 2^32 times anything has them.
TEST(GoldilocksVector, ProductsThatBorrowTwice) {
  Elements a, b, c;
  std::mt19937_64 random(7);
  for (uint64_t power = 33; power < 64; ++power)
    for (int i = 0; i < 20; ++i) {
      // x 2^power by y 2^(96 - power): low and h are 0, s is x y.
      const uint64_t x = random() >> power, y = (random() & Epsilon) >> 1;
      a.push_back(x << power);
      b.push_back((y << (96 - power)) % P);
      c.push_back(random() % P);
    }
  // Exactly: 2^32 u times 2^64 - 2^32 w has low 0 and a small h for small w.
  for (uint64_t u = 1; u < 200; ++u)
    for (uint64_t w = 1; w < 4; ++w) {
      a.push_back(u << 32);
      b.push_back(P - 1 - ((w - 1) << 32));
      c.push_back(u * w);
    }
  a.push_back(uint64_t{1} << 48);  // 2^96: low and t are 0, s is 1
  b.push_back(uint64_t{1} << 48);
  c.push_back(0);
  size_t twice = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const uint128 product = uint128{a[i]} * b[i];
    const uint64_t high = static_cast<uint64_t>(product >> 64);
    twice += static_cast<uint64_t>(product) + uint128{high & Epsilon} * Epsilon < (high >> 32);
  }
  EXPECT_GT(twice, 20u);
  for (VectorLevel level : Levels()) Compare(a, b, c, level);
}

TEST(GoldilocksVector, TailsAndInPlace) {
  for (VectorLevel level : Levels())
    for (size_t n = 0; n < 40; ++n) {
      Elements a = Random(n, n), b = Random(n, n + 100), c = Random(n, n + 200);
      Compare(a, b, c, level);
      const Elements before = a;
      a.push_back(77), b.push_back(78), c.push_back(79);  // must stay
      MulEach(a.data(), b.data(), a.data(), n, level);
      MulAddEach(a.data(), b.data(), c.data(), c.data(), n, level);
      AddEach(a.data(), b.data(), b.data(), n, level);
      SubEach(b.data(), b.data(), b.data(), n, level);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(a[i], Remainder(uint128{before[i]} * Random(n, n + 100)[i]));
        EXPECT_EQ(b[i], 0u);
      }
      EXPECT_EQ(a[n] + b[n] + c[n], 77u + 78 + 79);
    }
}

TEST(GoldilocksVector, Dots) {
  auto slow = [](const Elements& a, const Elements& b) {
    uint64_t sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum = Remainder(uint128{a[i]} * b[i] + sum);
    return sum;
  };
  for (VectorLevel level : Levels()) {
    for (size_t n : {0, 1, 3, 7, 8, 9, 100, 4095, 65'536, 100'003}) {
      const Elements a = Random(n, n + 5), b = Random(n, n + 6);
      EXPECT_EQ(Dot(a.data(), b.data(), n, level), slow(a, b)) << n;
      const Elements most(n, P - 1);
      EXPECT_EQ(Dot(most.data(), most.data(), n, level), n % P) << n;
      const Elements ones(n, ~uint64_t{0} << 32), small(n, Epsilon);
      EXPECT_EQ(Dot(ones.data(), small.data(), n, level), slow(ones, small)) << n;
    }
  }
}

}  // namespace
}  // namespace frazil::goldilocks
