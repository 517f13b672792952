// One turn of the loop is a linear map on (carried values, 1, i, i^2, ...); the loop is that map to the power of the
// number of turns, by squaring: 10^18 turns are 60 steps. Integers are reckoned modulo 2^(64 limbs), which decides
// every type of that width or less; field elements modulo p.
#include <algorithm>

#include "base/number/goldilocks.h"
#include "optimize/loops/recurrence.h"

namespace frazil::optimize {
namespace {

using Element = std::vector<uint64_t>;
using Row = std::vector<Element>;
using Matrix = std::vector<Row>;

struct Ring {
  bool field = false;
  size_t limbs = 1;

  Element Zero() const { return Element(limbs, 0); }
  Element Of(const Big& value) const { return field ? Element{value.Field()} : value.Words(limbs); }
  // sum += a * b
  void MultiplyAdd(Element& sum, const Element& a, const Element& b) const {
    if (field) {
      sum[0] = goldilocks::Add(sum[0], goldilocks::Mul(a[0], b[0]));
    } else if (limbs == 1) {
      sum[0] += a[0] * b[0];
    } else {
      Element product(limbs);
      wide::Mul(product, a, b);
      wide::Add(sum, sum, product);
    }
  }
  bool IsZero(const Element& a) const {
    return std::ranges::all_of(a, [](uint64_t word) { return word == 0; });
  }
};

Matrix Square(const Ring& ring, const Matrix& m) {
  Matrix out(m.size(), Row(m.size(), ring.Zero()));
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t k = 0; k < m.size(); ++k) {
      if (ring.IsZero(m[i][k])) continue;
      for (size_t j = 0; j < m.size(); ++j) ring.MultiplyAdd(out[i][j], m[i][k], m[k][j]);
    }
  return out;
}

Row Apply(const Ring& ring, const Matrix& m, const Row& v) {
  Row out(v.size(), ring.Zero());
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t k = 0; k < m.size(); ++k) ring.MultiplyAdd(out[i], m[i][k], v[k]);
  return out;
}

bool IsField(ir::Type type) { return type.scalar == ir::Scalar::Field; }

// The carried values of one ring after the last turn.
Row Finals(const Recurrence& r, const Ring& ring) {
  const size_t carried = r.types.size();
  size_t powers = 1;
  for (const LinearForm& yield : r.yields) powers = std::max(powers, yield.polynomial.size());
  Matrix turn(carried + powers, Row(carried + powers, ring.Zero()));
  Row state(carried + powers, ring.Zero());
  for (size_t k = 0; k < carried; ++k) {
    if (IsField(r.types[k]) != ring.field) continue;
    const LinearForm& yield = r.yields[k];
    for (size_t j = 0; j < carried; ++j) turn[k][j] = ring.Of(yield.carried[j]);
    for (size_t p = 0; p < yield.polynomial.size(); ++p)
      turn[k][carried + p] = ring.Of(yield.polynomial[p]);
    state[k] = ring.field ? r.inits[k] : ring.Of(*Big::Of(r.types[k], r.inits[k]));
  }
  // (i + step)^p by the binomial theorem.
  Big power = 1;
  std::vector<Big> binomials = {1};
  for (size_t p = 0; p < powers; ++p) {
    Big step_power = 1;
    for (size_t j = p + 1; j-- > 0;) {
      turn[carried + p][carried + j] = ring.Of(binomials[j] * step_power);
      step_power = step_power * Big(r.step);
    }
    state[carried + p] = ring.Of(power);
    power = power * r.lo;
    binomials.push_back(1);
    for (size_t j = p + 1; j-- > 1;) binomials[j] = binomials[j] + binomials[j - 1];
  }
  for (uint64_t n = r.turns; n != 0; n >>= 1) {
    if ((n & 1) != 0) state = Apply(ring, turn, state);
    if (n > 1) turn = Square(ring, turn);
  }
  state.resize(carried);
  return state;
}

// The words of a machine integer, from its value modulo 2^64 or more.
std::vector<uint64_t> Normalized(ir::Type type, Element words) {
  words.resize(ir::WordsOf(type));
  if (type.scalar == ir::Scalar::Int || IsField(type)) return words;
  const int unused = 64 - ir::BitsOf(type);
  words[0] <<= unused;
  words[0] = ir::IsSigned(type.scalar)
                 ? static_cast<uint64_t>(static_cast<int64_t>(words[0]) >> unused)
                 : words[0] >> unused;
  return words;
}

}  // namespace

std::vector<std::vector<uint64_t>> FinalValues(const Recurrence& recurrence) {
  size_t limbs = 1;
  bool integers = false, fields = false;
  for (ir::Type type : recurrence.types) {
    (IsField(type) ? fields : integers) = true;
    limbs = std::max<size_t>(limbs, ir::WordsOf(type));
  }
  const Row as_integers =
      integers ? Finals(recurrence, {false, limbs}) : Row(recurrence.types.size());
  const Row as_fields = fields ? Finals(recurrence, {true, 1}) : Row(recurrence.types.size());
  std::vector<std::vector<uint64_t>> finals;
  for (size_t k = 0; k < recurrence.types.size(); ++k) {
    const ir::Type type = recurrence.types[k];
    finals.push_back(Normalized(type, IsField(type) ? as_fields[k] : as_integers[k]));
  }
  return finals;
}

}  // namespace frazil::optimize
