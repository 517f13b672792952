// Ranges of terms after ways came together: what is said of a term holds wherever some way has it as a word, though the
// instruction that made it so ran on another.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "verify/tasm/tasm.h"
#include "verify/tasm/terms/term.h"

namespace frazil::verify::tasm {
namespace {

namespace gl = goldilocks;

constexpr uint64_t Max32 = 0xffff'ffffu;

class Ways {
 public:
  static constexpr size_t Runs = 24;  // with other inputs each
  using Values = std::array<uint64_t, Runs>;
  using Mask = uint32_t;
  static constexpr Mask All = (Mask{1} << Runs) - 1;

  explicit Ways(uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15u + 1) {
    for (uint64_t i = 0; i < 6; ++i) {
      Values values;
      for (uint64_t& value : values) {
        value = i < 3 ? Below(4) : i < 5 ? Below(40) : gl::FromUint64(Next());
      }
      words_.push_back({terms_.Atom(Base::Input, 0, i), values, All});
    }
    for (uint64_t number : {0, 1, 2, 7, 8}) {
      Values values;
      values.fill(number);
      words_.push_back({terms_.Constant(number), values, All});
    }
  }

  uint64_t coincidences() const { return coincidences_; }

  // A branch: some instructions on either way, then one word that is chosen between.
  void Step() {
    const Word& tested = words_[Below(words_.size())];
    if (tested.there != All) return;
    const Term test = terms_.IsZero(tested.term);
    if (terms_.IsConstant(test)) return;
    Values flag;
    Mask taken = 0;
    for (size_t i = 0; i < Runs; ++i) {
      flag[i] = tested.values[i] == 0;
      taken |= Mask{static_cast<uint32_t>(flag[i])} << i;
    }
    if (taken == 0 || taken == All) return;
    words_.push_back({test, flag, All});
    words_.push_back({terms_.Sub(terms_.Constant(1), test), Negated(flag), All});
    const size_t before = words_.size();
    for (int i = 0; i < 4; ++i) Instruction(taken);
    for (int i = 0; i < 2; ++i) Instruction(All & ~taken);
    for (int i = 0; i < 6; ++i) {
      const Word a = words_[Below(2) == 0 ? Recent(before) : Below(words_.size())],
                 b = words_[Below(words_.size())];
      if ((a.there & taken) != taken || (b.there | taken) != All) continue;
      Values values;
      for (size_t k = 0; k < Runs; ++k) values[k] = flag[k] != 0 ? a.values[k] : b.values[k];
      words_.push_back({terms_.Choice(test, a.term, b.term), values, All});
    }
    // What a word of one way is as a sum, the other may have come by with additions and products alone.
    for (size_t i = before, end = words_.size(); i < end; ++i) {
      const Word a = words_[i];
      const bool there = a.there == taken;
      if ((!there && a.there != (All & ~taken)) || terms_.Lead(a.term) != test) continue;
      Term at[2];
      terms_.Cofactors(a.term, at[0], at[1]);
      Values values = a.values;
      const Term other = at[there ? 0 : 1];
      if (!Evaluate(other, All & ~a.there, values)) continue;
      ++coincidences_;
      words_.push_back(
          {there ? terms_.Choice(test, a.term, other) : terms_.Choice(test, other, a.term), values,
           All});
    }
    // What one way alone had is gone.
    std::erase_if(words_, [](const Word& word) { return word.there != All; });
    while (words_.size() > 48) words_.erase(words_.begin() + 11 + static_cast<long>(Below(36)));
    Check();
  }

 private:
  struct Word {
    Term term;
    Values values;
    Mask there;  // runs on which it is a word
  };

  static Values Negated(Values values) {
    for (uint64_t& value : values) value = 1 - value;
    return values;
  }
  size_t Recent(size_t from) {
    return from < words_.size() ? from + Below(words_.size() - from) : Below(words_.size());
  }

  void Instruction(Mask on) {
    if (on == 0) return;
    const Word a = words_[Below(words_.size())], b = words_[Below(words_.size())];
    if ((a.there & b.there & on) != on) return;
    auto all = [&](auto test) {
      for (size_t i = 0; i < Runs; ++i) {
        if ((on >> i & 1) != 0 && !test(a.values[i], b.values[i])) return false;
      }
      return true;
    };
    const bool small = all([](uint64_t x, uint64_t y) { return x <= Max32 && y <= Max32; });
    auto give = [&](Term term, auto f) {
      Values values{};
      for (size_t i = 0; i < Runs; ++i) {
        if ((on >> i & 1) != 0) values[i] = f(a.values[i], b.values[i]);
      }
      words_.push_back({term, values, on});
    };
    switch (Below(9)) {
      case 0: give(terms_.Add(a.term, b.term), [](auto x, auto y) { return gl::Add(x, y); }); break;
      case 1: give(terms_.Sub(a.term, b.term), [](auto x, auto y) { return gl::Sub(x, y); }); break;
      case 2: give(terms_.Mul(a.term, b.term), [](auto x, auto y) { return gl::Mul(x, y); }); break;
      case 3:
        if (small) give(terms_.Xor(a.term, b.term), [](auto x, auto y) { return x ^ y; });
        break;
      case 4:
        if (small) give(terms_.Or(a.term, b.term), [](auto x, auto y) { return x | y; });
        break;
      case 5:
        if (small) give(terms_.And(a.term, b.term), [](auto x, auto y) { return x & y; });
        break;
      case 6: give(terms_.Low(a.term), [](auto x, auto) { return x & Max32; }); break;
      case 7:
        if (small)
          give(terms_.Less(a.term, b.term), [](auto x, auto y) { return uint64_t{x < y}; });
        break;
      default:
        if (!small || !all([](uint64_t, uint64_t y) { return y != 0; })) return;
        give(terms_.Remainder(a.term, b.term), [](auto x, auto y) { return x % y; });
        give(terms_.Quotient(a.term, b.term), [](auto x, auto y) { return x / y; });
    }
  }

  // By words that are there, sums and products.
  bool Evaluate(Term term, Mask on, Values& values) {
    for (const Word& word : words_) {
      if (word.term != term || (word.there & on) != on) continue;
      for (size_t i = 0; i < Runs; ++i) {
        if ((on >> i & 1) != 0) values[i] = word.values[i];
      }
      return true;
    }
    Values sum{};
    if (terms_.KindOf(term) == Base::Guarded) {
      Values c{}, x{};
      const std::array<Term, 2> parts = {terms_.Arguments(term)[0], terms_.Arguments(term)[1]};
      if (!Evaluate(parts[0], on, c) || !Evaluate(parts[1], on, x)) return false;
      for (size_t i = 0; i < Runs; ++i) sum[i] = gl::Mul(c[i], x[i]);
    } else if (terms_.KindOf(term) != Base::None) {
      return false;
    } else {
      const Polynomial poly = terms_.PolynomialOf(term);
      for (auto [monomial, coefficient] : poly) {
        Values product;
        product.fill(coefficient);
        for (auto [base, exponent] : terms_.Monomial(monomial)) {
          Values factor{};
          if (!Evaluate(base, on, factor)) return false;
          for (size_t i = 0; i < Runs; ++i)
            product[i] = gl::Mul(product[i], gl::Pow(factor[i], exponent));
        }
        for (size_t i = 0; i < Runs; ++i) sum[i] = gl::Add(sum[i], product[i]);
      }
    }
    for (size_t i = 0; i < Runs; ++i) {
      if ((on >> i & 1) != 0) values[i] = sum[i];
    }
    return true;
  }

  void Check() {
    for (const Word& word : words_) {
      const Interval range = terms_.Range(word.term);
      for (const uint64_t value : word.values) {
        ASSERT_LE(range.low, value) << word.term;
        ASSERT_GE(range.high, value) << word.term;
      }
      for (const Word& other : words_) {
        if (other.term == word.term) ASSERT_EQ(other.values, word.values);
      }
    }
  }

  uint64_t Next() {
    state_ += 0x9e37'79b9'7f4a'7c15u;
    uint64_t z = (state_ ^ (state_ >> 30)) * 0xbf58'476d'1ce4'e5b9u;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

  Terms terms_{Seed({"test"})};
  uint64_t state_;
  std::vector<Word> words_;
  uint64_t coincidences_ = 0;
};

TEST(TasmJoinedRanges, HoldOnEveryWay) {
  uint64_t coincidences = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Ways ways(seed);
    for (int i = 0; i < 60; ++i) {
      ways.Step();
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", branch " << i;
    }
    coincidences += ways.coincidences();
  }
  EXPECT_GT(coincidences, 500u);
}

// n mod d with d = 8 (1 - c): where c is 1 the sum is n, which the other way has as it is, and no range is known of it.
TEST(TasmJoinedRanges, NothingWasDividedWhereTheDivisorIsZero) {
  for (const bool negated : {false, true}) {
    Terms t(Seed({"test"}));
    const Term n = t.Atom(Base::Input, 0, 0), c = t.IsZero(t.Atom(Base::Input, 0, 1));
    const Term holds = negated ? t.Sub(t.Constant(1), c) : c;
    const Term rest = t.Remainder(n, t.Scale(holds, 8));
    const Term joined = t.Choice(holds, rest, n);
    EXPECT_EQ(joined, rest);  // else this shows nothing
    EXPECT_EQ(t.Range(joined).high, gl::P - 1);
  }
}

// The same as programs: where x^2 is this number, the second word is compared as it was read.
TEST(TasmJoinedRanges, ADivisionThatRanOnTheOtherWay) {
  auto program = [](std::string_view end) {
    auto read = mt::Parse(
        "read_io 2 swap 1 dup 0 mul push 14095524037759663817 eq dup 0 push -1 mul addi 1 push 8 "
        "mul "
        "swap 1 push 0 eq skiz call divide pop 1 " +
        std::string(end) +
        " write_io 1 halt "
        "divide: swap 1 div_mod swap 1 pop 1 push 0 return");
    EXPECT_TRUE(read.has_value());
    return *read;
  };
  const mt::Program compared = program("push 8 swap 1 lt"), one = program("pop 1 push 1");
  MachineStart inputs;
  inputs.inputs.input = {1234567891011, 100};
  EXPECT_TRUE(Replays(compared, one, inputs, false));
  const Verdict answer = Compare(compared, one);
  EXPECT_TRUE(std::holds_alternative<Unknown>(answer) || std::holds_alternative<Refuted>(answer))
      << Describe(answer);
  EXPECT_EQ(VerdictName(Compare(compared, program("push 7 push 8 pop 1 addi 1 swap 1 lt"))),
            "proved");
}

}  // namespace
}  // namespace frazil::verify::tasm
