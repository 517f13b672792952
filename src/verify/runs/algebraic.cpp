// Identity of polynomials over the field by evaluation (Schwartz-Zippel): two different polynomials of degree d
// agree on a random point with probability at most d / p, so that few points are enough. The points come from
// SHA-256 of both programs; the interpreter evaluates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number/goldilocks.h"
#include "base/sha256.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using exec::Value;
using ir::Op;
using ir::Scalar;

constexpr double Lambda = 100;

bool IsAlgebraic(ir::Type type) {
  return type.is_scalar() && (type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
                              type.scalar == Scalar::Digest);
}

// An upper bound of the degree of what the entry function gives, as polynomials in the coordinates of its parameters;
// nothing if it does anything but ring operations.
std::optional<double> DegreeOf(const ir::Program& program) {
  const ir::Function& f = program.entry_function();
  std::vector<double> degree(f.values.size(), 0);
  for (uint32_t i = 0; i < f.param_count(); ++i) {
    if (!IsAlgebraic(f.param_type(i))) return std::nullopt;
    degree[f.param(i).index] = 1;
  }
  double most = 0;
  for (ir::InstId id : f.region(f.body).insts) {
    const ir::Inst& inst = f.inst(id);
    double sum = 0;
    double greatest = 0;
    for (ir::ValueId operand : f.operands_of(inst)) {
      sum += degree[operand.index];
      greatest = std::max(greatest, degree[operand.index]);
    }
    switch (inst.op) {
      case Op::Const:
      case Op::Cast:
      FRAZIL_CASES(Parts) break;
      FRAZIL_CASES(Ring)
        if (inst.op == Op::Mul) greatest = sum;
        break;
      case Op::Return: most = greatest; continue;
      default: return std::nullopt;
    }
    const ir::ValueId result = ir::Function::result_of(inst);
    const bool operands_fit = std::ranges::all_of(
        f.operands_of(inst), [&](ir::ValueId v) { return IsAlgebraic(f.type(v)); });
    if (!operands_fit || !IsAlgebraic(f.type(result))) return std::nullopt;
    degree[result.index] = greatest;
  }
  return most;
}

// Uniform below p: a digest's first words, the next digest where they are not below p.
uint64_t Coordinate(const std::string& seed, uint64_t point, uint64_t number) {
  for (uint64_t attempt = 0;; ++attempt) {
    Sha256 hash;
    hash.Update(fmt::format("algebraic {} {} {} {}", seed, point, number, attempt));
    const std::array<uint8_t, 32> digest = hash.Finish();
    uint64_t word = 0;
    for (size_t i = 0; i < 8; ++i) word |= uint64_t{digest[i]} << (8 * i);
    if (word < goldilocks::P) return word;
  }
}

Input PointNumber(const Pair& pair, uint64_t point) {
  Input input;
  uint64_t number = 0;
  for (uint32_t i = 0; i < pair.space.domains.size(); ++i) {
    const Domain& domain = pair.space.domains[i];
    if (domain.one()) {
      input.arguments.push_back(Value::Scalar(domain.type(), *domain.one()));
      continue;
    }
    std::vector<uint64_t> words;
    words.reserve(ir::WordsOf(domain.type()));
    for (uint32_t k = 0; k < ir::WordsOf(domain.type()); ++k)
      words.push_back(Coordinate(pair.seed, point, number++));
    input.arguments.push_back(Value::Scalar(domain.type(), words));
  }
  return input;
}

}  // namespace

Verdict AlgebraicJudge(const Pair& pair, const VerifyOptions& options, const Deadline& deadline) {
  const std::optional<double> a = DegreeOf(pair.source);
  const std::optional<double> b = DegreeOf(pair.candidate);
  if (!a || !b) return Unknown{"the programs are not polynomials over the field"};
  const double degree = std::max({*a, *b, 1.0});
  const double bits = std::log2(static_cast<double>(goldilocks::P)) - std::log2(degree);
  constexpr double LeastBits = 1;
  if (bits < LeastBits)
    return Unknown{fmt::format("the degree {:.3g} is too high for an evaluation", degree)};
  // A few more than the bound asks for cost nothing.
  const uint64_t points = static_cast<uint64_t>(std::ceil(Lambda / bits)) + 2;
  const Comparer comparer =
      pair.MakeComparer(LimitsOfOneRun(options.limits, SampleFuel, deadline.LeftMs()));
  for (uint64_t point = 0; point < points; ++point) {
    const Input input = PointNumber(pair, point);
    const Comparison comparison = comparer.Compare(input, deadline.LeftMs());
    if (comparison.kind == Comparison::Kind::Undecided)
      return Unknown::Limited("limit reached: " + comparison.limit);
    if (comparison.kind == Comparison::Kind::Different)
      return RefutedOr(pair, options.limits, input, deadline.LeftMs(), "interpreter");
  }
  return Tested{{Grade::Algebraic, "interpreter",
                 fmt::format("degree {:.0f}, {} points, error <= 2^-{:.0f}", degree, points,
                             std::floor(static_cast<double>(points) * bits)),
                 points}};
}

}  // namespace frazil::verify
