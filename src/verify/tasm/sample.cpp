// Inputs that may tell programs apart: flavors of edge values, and solutions of the paths on which a proof failed.
#include "verify/tasm/sample.h"

#include <algorithm>
#include <bit>

#include "machines/tasm/tip5/tip5.h"

namespace frazil::verify::tasm {

namespace gl = goldilocks;

namespace {

constexpr uint64_t Edges[] = {
    0,          1,          2,           3,           4,          5,
    7,          8,          31,          32,          33,         63,
    64,         100,        0xffff,      0x10000,     0x7fffffff, 0x80000000,
    0xfffffffe, 0xffffffff, 0x100000000, 0x100000001, gl::P / 2,  gl::P / 2 + 1,
    gl::P - 2,  gl::P - 1};
constexpr int Flavors = 9;

}  // namespace

Sampler::Sampler(std::vector<uint64_t> constants, bool fragments, uint64_t seed)
    : constants_(std::move(constants)), fragments_(fragments), random_(seed) {
  std::sort(constants_.begin(), constants_.end());
  constants_.erase(std::unique(constants_.begin(), constants_.end()), constants_.end());
  if (constants_.size() > 64) constants_.resize(64);
}

uint64_t Sampler::Random() {
  uint64_t z = (random_ += 0x9e37'79b9'7f4a'7c15u);
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
  return z ^ (z >> 31);
}

uint64_t Sampler::Value(int flavor) {
  switch (flavor) {
    case 0: return Random() % 16;
    case 1: return gl::FromUint64(Random());
    case 2: return Random() >> 32;
    case 3: return Random() % 2;
    case 4: return Edges[Random() % std::size(Edges)];
    case 5: return Random() % 3 + 1;
    case 6:
      return constants_.empty() ? Random() % 8
                                : gl::Add(constants_[Random() % constants_.size()], Random() % 3);
    case 7: return 1 + Random() % 200;
    default: return Value(static_cast<int>(Random() % 8));
  }
}

MachineStart Sampler::Next() {
  MachineStart inputs;
  const int flavor = static_cast<int>(count_++ % (Flavors + 3));
  // The last flavors: all words alike, consecutive words, and everything mixed.
  uint64_t common = Value(8);
  auto word = [&] {
    if (flavor == Flavors) return common;
    if (flavor == Flavors + 1) return common = gl::Add(common, 1);
    if (flavor == Flavors + 2) return Random() % 2 == 0 ? common : Value(8);
    return Value(flavor);
  };
  auto fill = [&](std::vector<uint64_t>& words, size_t size) {
    words.resize(size);
    for (uint64_t& value : words) value = word();
  };
  if (fragments_) {
    fill(inputs.stack, 16 + Random() % 2 * 24);
    if (Random() % 8 != 0) {
      inputs.sponge.emplace();
      for (uint64_t& value : *inputs.sponge) value = word();
    }
  }
  fill(inputs.inputs.input, 48);
  fill(inputs.inputs.secret, 48);
  for (int i = 0; i < 8; ++i) {
    mt::Digest digest;
    for (uint64_t& value : digest) value = word();
    inputs.inputs.digests.push_back(digest);
  }
  auto cells = [&](uint64_t around, int before, int after) {
    for (int i = -before; i < after; ++i)
      inputs.inputs.ram[gl::Add(around, gl::FromInt64(i))] = word();
  };
  cells(0, 6, 24);
  for (size_t i = 0; i < constants_.size() && i < 12; ++i) cells(constants_[i], 6, 6);
  for (size_t i = 0; i < inputs.stack.size() && i < 6; ++i)
    cells(inputs.stack[inputs.stack.size() - 1 - i], 6, 10);
  return inputs;
}

// A value for an atom or a cell of RAM; it is written into the inputs as well.
uint64_t Sampler::Choose(Facts& facts, Term base) {
  if (auto found = chosen_.find(base); found != chosen_.end()) return found->second;
  uint64_t value;
  if (const Term* known = facts.substitutions().find(base)) {
    value = Evaluate(facts, Term{*known});
  } else {
    const auto near = near_.find(base);
    value = near != near_.end() && Random() % 2 == 0 ? near->second[Random() % near->second.size()]
                                                     : Value(flavor_);
    if (facts.RangeOf(base).Below32() && value > 0xffff'ffffu) value &= 0xffff'ffffu;
    if (value == 0 && facts.RangeOf(base).low > 0) value = 1;
  }
  return Put(facts, base, value);
}

uint64_t Sampler::Put(Facts& facts, Term base, uint64_t value) {
  Terms& terms = facts.terms();
  chosen_[base] = value;
  const uint64_t index = terms.IndexOf(base);
  auto put = [&](std::vector<uint64_t>& words) {
    if (index < words.size()) words[index] = value;
  };
  if (terms.TokenOf(base) != 0) return value;
  switch (terms.KindOf(base)) {
    case Base::Stack:
      if (index < current_->stack.size())
        current_->stack[current_->stack.size() - 1 - index] = value;
      break;
    case Base::Input: put(current_->inputs.input); break;
    case Base::Secret: put(current_->inputs.secret); break;
    case Base::Digest:
      if (index / 5 < current_->inputs.digests.size())
        current_->inputs.digests[index / 5][index % 5] = value;
      break;
    case Base::SpongeWord:
      if (current_->sponge) (*current_->sponge)[index] = value;
      break;
    case Base::Ram: current_->inputs.ram[Evaluate(facts, terms.Arguments(base)[0])] = value; break;
    default: break;
  }
  return value;
}

// Terms share their parts: each application is computed once.
uint64_t Sampler::EvaluateBase(Facts& facts, Term base) {
  if (facts.terms().Arguments(base).empty() || facts.terms().KindOf(base) == Base::Ram)
    return Choose(facts, base);
  if (auto found = computed_.find(base); found != computed_.end()) return found->second;
  const uint64_t value = Apply(facts, base);
  computed_[base] = value;
  return value;
}

uint64_t Sampler::Apply(Facts& facts, Term base) {
  Terms& terms = facts.terms();
  const auto view = terms.Arguments(base);
  const std::vector<Term> arguments(view.begin(), view.end());
  std::vector<uint64_t> values;
  for (Term argument : arguments) values.push_back(Evaluate(facts, argument));
  switch (terms.KindOf(base)) {
    case Base::IsZero: return values[0] == 0;
    case Base::Inverse: return values[0] == 0 ? 0 : gl::Invert(values[0]);
    case Base::High: return values[0] >> 32;
    case Base::Quotient: return values[1] == 0 ? 0 : values[0] / values[1];
    case Base::Less: return values[0] < values[1];
    case Base::And: return values[0] & values[1];
    case Base::Log2:
      return values[0] == 0 ? 0 : static_cast<uint64_t>(std::bit_width(values[0])) - 1;
    case Base::PopCount: return static_cast<uint64_t>(std::popcount(values[0]));
    case Base::Power: return gl::Pow(values[0], values[1]);
    case Base::Named: return values[0];
    case Base::Guarded: return gl::Mul(values[0], values[1]);
    case Base::Product: return gl::Mul(values[0], values[1]);
    case Base::Sum: return gl::Add(values[0], values[1]);
    case Base::Permute: {
      mt::Tip5State state;
      for (size_t i = 0; i < 16; ++i) state.elements[i] = values[i];
      mt::Permute(state);
      return state.elements[terms.IndexOf(base)];
    }
    case Base::Merkle: {
      mt::Digest node, sibling;
      for (size_t i = 0; i < 5; ++i) node[i] = values[1 + i], sibling[i] = values[6 + i];
      return (values[0] == 0 ? mt::HashPair(node, sibling)
                             : mt::HashPair(sibling, node))[terms.IndexOf(base)];
    }
    default: return 0;
  }
}

uint64_t Sampler::Evaluate(Facts& facts, Term term) {
  Terms& terms = facts.terms();
  constexpr int MaxDepth = 200;
  if (depth_ > MaxDepth) return 0;
  ++depth_;
  uint64_t sum = 0;
  if (terms.KindOf(term) != Base::None) {
    sum = EvaluateBase(facts, term);
  } else {
    const Polynomial poly = terms.PolynomialOf(term);
    for (auto [monomial, coefficient] : poly) {
      uint64_t product = coefficient;
      const auto factors = terms.Monomial(monomial);
      for (auto [base, exponent] : factors)
        product = gl::Mul(product, gl::Pow(EvaluateBase(facts, base), exponent));
      sum = gl::Add(sum, product);
    }
  }
  --depth_;
  return sum;
}

// An equation gives the value of an atom that stands in it alone; a bound at 2^32 gives values close to it.
void Sampler::Solve(Facts& facts, const Literal& literal) {
  Terms& terms = facts.terms();
  const bool zero = literal.kind == Literal::Kind::Zero;
  if (literal.kind == Literal::Kind::NonZero) return;
  const Polynomial poly = terms.PolynomialOf(literal.term);
  for (auto [monomial, coefficient] : poly) {
    const auto factors = terms.Monomial(monomial);
    if (factors.size() != 1 || factors[0].second != 1) continue;
    const Term atom = factors[0].first;
    const bool free = terms.Arguments(atom).empty() || terms.KindOf(atom) == Base::Ram;
    if (!free || chosen_.contains(atom)) continue;
    const Term monic = terms.Scale(literal.term, gl::Invert(coefficient));
    const Term rest = terms.Sub(atom, monic);
    if (!zero) {
      // atom - rest = bound / coefficient
      if (!terms.IsConstant(rest)) continue;
      const uint64_t bound =
          gl::Add(gl::Mul(gl::Invert(coefficient), uint64_t{1} << 32), terms.ConstantOf(rest));
      for (int i = -2; i <= 2; ++i) near_[atom].push_back(gl::Add(bound, gl::FromInt64(i)));
      continue;
    }
    const uint64_t value = Evaluate(facts, rest);
    if (chosen_.contains(atom)) continue;
    Put(facts, atom, value);
    return;
  }
}

MachineStart Sampler::Along(Facts& facts) {
  MachineStart inputs = Next();
  current_ = &inputs;
  chosen_.clear();
  near_.clear();
  computed_.clear();
  depth_ = 0;
  flavor_ = static_cast<int>(Random() % Flavors);
  const std::vector<Literal> literals = facts.literals();
  for (const Literal& literal : literals) {
    if (literal.kind != Literal::Kind::Zero) Solve(facts, literal);
  }
  for (size_t i = literals.size(); i-- > 0;) {
    if (literals[i].kind == Literal::Kind::Zero) Solve(facts, literals[i]);
  }
  for (const auto& [key, value] : facts.substitutions().All()) {
    const Term base = static_cast<Term>(key);
    if (facts.terms().Arguments(base).empty() || facts.terms().KindOf(base) == Base::Ram)
      Choose(facts, base);
  }
  for (const Literal& literal : std::vector<Literal>(facts.literals()))
    Evaluate(facts, literal.term);
  current_ = nullptr;
  return inputs;
}

}  // namespace frazil::verify::tasm
