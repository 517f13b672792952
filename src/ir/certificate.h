// Why a candidate means what its source means, as a proposer states it. A certificate is a claim: verify/
// checks every line with its own code and believes nothing else. A wrong one costs the proposer its
// candidate, never the user an answer.
//
// The proof is about values, not places. A checker walks source and candidate side by side over what they
// do (effects, traps, structure) and must show that corresponding operands are equal. It gives each pure
// value a term, closes under congruence, and uses the equalities stated here, each an instance of a rule
// of rules.def or of folding a constant. Hence moving, sharing and dropping pure values need no line at all, nor do
// swapping the operands of an op that commutes and folding ops on constants (the guard's `argN == c` included).
// Fuel and depth are limits of a machine, not part of what is compared: a candidate may need less of them.
//
// Example. Source and candidate (values are numbered in order of definition, parameters first):
//
//   func @main(%0: u32, %1: u32) -> (u32) {        func @main(%0: u32, %1: u32) -> (u32) {
//     %2 = const 8 : u32                             %2 = const 3 : u32
//     %3 = mul %0, %2 : u32                          %3 = add %0, %1 : u32
//     %4 = mul %1, %2 : u32                          %4 = shl %3, %2 : u32
//     %5 = add %3, %4 : u32                          return %4
//     return %5                                    }
//   }
//
// Its certificate, as PrintCertificate writes it. Terms are numbered from 0; t5 is 8 * (a + b) as written:
//
//   certificate 1
//   term source 0 0                        t0: value 0 of function 0 of the source
//   term source 0 1                        t1
//   term source 0 5                        t2: what the source returns
//   term apply add u32 u32 0 1             t3: op, its T, the result's type, children
//   term constant u32 8                    t4
//   term apply mul u32 u32 3 4             t5
//   term candidate 0 4                     t6: what the candidate returns
//   equal mul_distributes reversed 2 5     t2 = t5: t5 has the form of the rule's left side
//   equal mul_power 5 6                    t5 = t6
//
// The two programs' parameters are equal from the start, so that t3 is also value 3 of the candidate. Lines may
// stand in any order. Proposers need not name the steps inside a term that congruence gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/op.h"
#include "ir/type.h"

namespace frazil::ir {

// Terms are numbered in order; children come before parents.
struct CertTerm {
  enum class Kind : uint8_t {
    SourceValue,     // value `value` of function `function` of the source program
    CandidateValue,  // the same of the candidate
    Constant,        // of type `type` with `words`
    Apply,  // op on children; `type` is the op's T, `result` the result type, `words` attributes
  };
  Kind kind = Kind::Constant;
  uint32_t function = 0;
  uint32_t value = 0;
  Op op = Op::Const;
  Type type = {};
  Type result = {};
  std::vector<uint64_t> words;
  std::vector<uint32_t> children;
};

// left = right, because `rule` says so with its holes bound as in left. Rule "fold": left is an op on
// constants and right the constant it gives.
struct CertEquality {
  std::string rule;
  bool reversed = false;  // right matches the rule's left side
  uint32_t left = 0;
  uint32_t right = 0;
};

// A `for` of the source that the candidate replaces by a formula: result `result` of instruction `inst` of the
// function equals term `closed`. The checker proves it by induction on the number of turns; afterwards the two are
// equal terms, and the loop may be gone from the candidate if every result that is used has such a line, its
// body has no effect, and no turn can trap (shown with intervals).
//
// 1. Bounds and initial values are constants (after folding). The body gives each carried value as a polynomial
//    in the index plus a linear combination of the carried values, with constant coefficients; wrapping integers,
//    fields, or checked ops and int<k> if no intermediate value can overflow. Any step. `closed` is the constant.
//    Sums of polynomials, of c^n, of n c^n, and linear recurrences are all of this kind.
//
//      %3 = for %4 = %lo to %hi step 1 carry (%5 = %zero) {      lo = 1, hi = 10^18 + 1
//        %6 = cast.checked %4 : int<2>
//        %7 = add.checked %5, %6 : int<2>
//        yield %7
//      }
//
//      term constant int<2> 500000000000000000500000000000000000
//      closed 0 3 0 0                      function 0, instruction 3, result 0, term 0
//
// 2. Step 1, bounds that are values visible at the loop, one carried value acc + f(i) with f a polynomial with
//    coefficients that are loop-invariant values; acc of a wrapping integer type of at most 64 bits or a field.
//    With n = hi - lo taken in the unsigned type (i is 64 bits or less), `closed` is
//
//      select (lt lo hi) (init + c0 C(n,1) + c1 C(n,2) + c2 C(n,3) + ...) init
//
//    or any other term of add, sub, mul, neg, shl, shr, and, or, cast, select that is the same polynomial for
//    lo < hi, split by residues of n modulo 2, 4 and 8. C(n,2) modulo 2^w is (mul (shr n 1) (or (sub n 1) 1));
//    odd divisors are products with their inverses modulo 2^w. Sum of i from lo to hi - 1, i64:
//
//      select (lt lo hi) (add init (add (mul n lo) (cast (mul (shr n 1) (or (sub n 1) 1))))) init
//      with n = (cast:u64 (sub hi lo))
struct CertClosedForm {
  uint32_t function = 0;
  uint32_t inst = 0;
  uint32_t result = 0;
  uint32_t closed = 0;  // a term over constants and source values that are visible at the loop
};

struct Certificate {
  std::vector<CertTerm> terms;
  std::vector<CertEquality> equalities;
  std::vector<CertClosedForm> closed_forms;
};

// A flat text, one line each, for stores and for `frazil why`. Parse refuses what does not fit: unknown ops,
// children that are not smaller than their parent, terms that do not exist.
std::string PrintCertificate(const Certificate& certificate);
Result<Certificate> ParseCertificate(std::string_view text);

}  // namespace frazil::ir
