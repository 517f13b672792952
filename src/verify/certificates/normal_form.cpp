// Straight-line programs as normal forms: machine integers and field elements become polynomials over what they
// are made of, everything else becomes a term with sorted operands where the op commutes, and equal things get one
// number. What can trap, and what is seen from outside, must happen in the same order in both. Equal forms are a
// proof; different ones say nothing. Also proves polynomial identities over the field exactly, as long as they
// have few terms.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/number/goldilocks.h"
#include "verify/internal/pair.h"

namespace frazil::verify {
namespace {

using namespace ir::names;

constexpr size_t MostTerms = 256;

using Coefficient = std::array<uint64_t, 3>;  // integers and field elements use the first
using NodeId = uint64_t;
using Monomial = std::vector<std::pair<NodeId, uint64_t>>;  // atom, exponent; ascending
using Polynomial = std::map<Monomial, Coefficient>;         // no zero coefficients

// Arithmetic of the coefficients of one type.
struct Ring {
  Type type;
  bool is_field() const { return type.scalar == Scalar::Field || type.scalar == Scalar::XField; }
  uint64_t Wrap(uint64_t word) const { return ExtendWord(type, word); }
  Coefficient Add(const Coefficient& a, const Coefficient& b) const {
    if (is_field()) return goldilocks::Add(a, b);
    return {Wrap(a[0] + b[0]), 0, 0};
  }
  Coefficient Mul(const Coefficient& a, const Coefficient& b) const {
    if (type.scalar == Scalar::XField) return goldilocks::Mul(a, b);
    if (is_field()) return {goldilocks::Mul(a[0], b[0]), 0, 0};
    return {Wrap(a[0] * b[0]), 0, 0};
  }
  Coefficient Neg(const Coefficient& a) const {
    if (is_field()) return goldilocks::Neg(a);
    return {Wrap(0 - a[0]), 0, 0};
  }
};

bool IsRing(Type type) {
  return type.is_scalar() && (ir::IsFixedInt(type.scalar) || type.scalar == Scalar::Field ||
                              type.scalar == Scalar::XField);
}

// Numbers for everything that two programs compute; the same number means the same value.
class Table {
 public:
  NodeId Number(std::vector<uint64_t> key) {
    const auto [found, is_new] = numbers_.try_emplace(std::move(key), numbers_.size());
    return found->second;
  }
  NodeId OfPolynomial(Type type, const Polynomial& polynomial) {
    std::vector<uint64_t> key = {0, TypeKey(type)};
    for (const auto& [monomial, coefficient] : polynomial) {
      key.push_back(monomial.size());
      for (const auto& [atom, exponent] : monomial) key.insert(key.end(), {atom, exponent});
      key.insert(key.end(), coefficient.begin(), coefficient.end());
    }
    return Number(std::move(key));
  }
  static uint64_t TypeKey(Type type) {
    return static_cast<uint64_t>(type.scalar) | uint64_t{type.limbs} << 8 |
           static_cast<uint64_t>(type.form) << 16;
  }

 private:
  std::map<std::vector<uint64_t>, NodeId> numbers_;
};

struct Summary {
  std::vector<NodeId> results;
  std::vector<std::vector<uint64_t>> events;  // what may trap or is seen, in order, each once
  size_t terms = 0;
  std::string failure;
};

class Reader {
 public:
  Reader(const ir::Function& function, Table& table) : f_(function), table_(table) {}

  Summary Read(const ir::Guard& guard) {
    for (uint32_t i = 0; i < f_.param_count(); ++i) SetAtom(f_.param(i), table_.Number({1, i}));
    // Under the guard such a parameter is that constant.
    for (const ir::GuardAtom& atom : guard.atoms) {
      if (atom.kind == ir::GuardKind::Equals) SetConstant(f_.param(atom.arg), atom.type, atom.low);
    }
    for (ir::InstId id : f_.region(f_.body).insts) {
      const ir::Inst& inst = f_.inst(id);
      if (inst.op == Op::Return) break;
      if (!Take(inst)) {
        summary_.failure = fmt::format("'{}' has no normal form", ir::Info(inst.op).mnemonic);
        return std::move(summary_);
      }
    }
    const ir::Inst& last = f_.inst(f_.region(f_.body).insts.back());
    for (ir::ValueId value : f_.operands_of(last)) summary_.results.push_back(IdOf(value));
    return std::move(summary_);
  }

 private:
  void SetAtom(ir::ValueId value, NodeId atom) {
    if (IsRing(f_.type(value))) {
      SetPolynomial(value, {{{{atom, 1}}, {1, 0, 0}}});
    } else {
      ids_[value.index] = atom;
    }
  }
  void SetPolynomial(ir::ValueId value, Polynomial polynomial) {
    ids_[value.index] = table_.OfPolynomial(f_.type(value), polynomial);
    summary_.terms = std::max(summary_.terms, polynomial.size());
    polynomials_[value.index] = std::move(polynomial);
  }
  NodeId IdOf(ir::ValueId value) const { return ids_.at(value.index); }
  const Polynomial& PolynomialOf(ir::ValueId value) const { return polynomials_.at(value.index); }

  // False where it would have too many terms.
  static void AddTerm(const Ring& ring, Polynomial& sum, const Monomial& monomial,
                      const Coefficient& coefficient) {
    Coefficient& place = sum[monomial];
    place = ring.Add(place, coefficient);
    if (place == Coefficient{}) sum.erase(monomial);
  }

  // Nothing where an exponent is too large: 64 squarings would wrap it, and x^(2^64 + 1) is not x.
  static std::optional<Monomial> Times(const Monomial& a, const Monomial& b) {
    constexpr uint64_t MostExponent = uint64_t{1} << 32;
    std::map<NodeId, uint64_t> exponents(a.begin(), a.end());
    for (const auto& [atom, exponent] : b) {
      if ((exponents[atom] += exponent) > MostExponent) return std::nullopt;
    }
    return Monomial{exponents.begin(), exponents.end()};
  }

  bool Arithmetic(const ir::Inst& inst) {
    const Ring ring{inst.type};
    const Polynomial& a = PolynomialOf(f_.operand(inst, 0));
    Polynomial result;
    if (inst.op == Op::Neg) {
      for (const auto& [monomial, coefficient] : a) result[monomial] = ring.Neg(coefficient);
    } else if (inst.op == Op::Add || inst.op == Op::Sub) {
      result = a;
      for (const auto& [monomial, coefficient] : PolynomialOf(f_.operand(inst, 1)))
        AddTerm(ring, result, monomial, inst.op == Op::Add ? coefficient : ring.Neg(coefficient));
    } else {
      const Polynomial& b = PolynomialOf(f_.operand(inst, 1));
      if (a.size() * b.size() > MostTerms * MostTerms / 4) return false;
      for (const auto& [left, x] : a) {
        for (const auto& [right, y] : b) {
          const Coefficient product = ring.Mul(x, y);
          if (product == Coefficient{}) continue;
          const std::optional<Monomial> monomial = Times(left, right);
          if (!monomial) return false;
          AddTerm(ring, result, *monomial, product);
        }
      }
    }
    if (result.size() > MostTerms) return false;
    SetPolynomial(ir::Function::result_of(inst), std::move(result));
    return true;
  }

  // A shift by a constant is a product with a power of two.
  bool ConstantShift(const ir::Inst& inst) {
    const Polynomial& amount = PolynomialOf(f_.operand(inst, 1));
    if (amount.size() > 1 || (amount.size() == 1 && !amount.begin()->first.empty())) return false;
    const uint64_t word = amount.empty() ? 0 : amount.begin()->second[0];
    const Ring ring{inst.type};
    const Coefficient factor = {
        ring.Wrap(1ull << (word % static_cast<uint64_t>(ir::BitsOf(inst.type)))), 0, 0};
    Polynomial result;
    for (const auto& [monomial, coefficient] : PolynomialOf(f_.operand(inst, 0))) {
      const Coefficient product = ring.Mul(coefficient, factor);
      if (product != Coefficient{}) result[monomial] = product;
    }
    SetPolynomial(ir::Function::result_of(inst), std::move(result));
    return true;
  }

  void SetConstant(ir::ValueId value, Type type, std::span<const uint64_t> words) {
    if (!IsRing(type)) {
      std::vector<uint64_t> key = {2, Table::TypeKey(type)};
      key.insert(key.end(), words.begin(), words.end());
      SetAtom(value, table_.Number(std::move(key)));
      return;
    }
    Coefficient coefficient{};
    std::ranges::copy(words, coefficient.begin());
    Polynomial polynomial;
    if (coefficient != Coefficient{}) polynomial[{}] = coefficient;
    SetPolynomial(value, std::move(polynomial));
  }

  std::vector<uint64_t> KeyOf(const ir::Inst& inst) const {
    // A trap names the op that its instruction stands for.
    std::vector<uint64_t> key = {3, static_cast<uint64_t>(inst.op),
                                 static_cast<uint64_t>(inst.trap_op()), Table::TypeKey(inst.type)};
    const auto words = f_.words_of(inst);
    key.insert(key.end(), words.begin(), words.end());
    const size_t first = key.size();
    for (ir::ValueId operand : f_.operands_of(inst)) {
      key.push_back(Table::TypeKey(f_.type(operand)));
      key.push_back(IdOf(operand));
    }
    if (ir::Info(inst.op).law == ir::Law::Commutes && key.size() == first + 4 &&
        key[first + 3] < key[first + 1])
      std::swap(key[first + 1], key[first + 3]);
    return key;
  }

  // What trapped or not the first time does the same the second time.
  void AddEvent(std::vector<uint64_t> key, bool once) {
    if (once && std::ranges::find(summary_.events, key) != summary_.events.end()) return;
    summary_.events.push_back(std::move(key));
  }

  // The n-th op of the sponge gives the same in both if all before it are the same, which the events say; a Merkle
  // step reads a hint.
  void TakeProver(const ir::Inst& inst) {
    std::vector<uint64_t> key = KeyOf(inst);
    key.push_back(inst.op == Op::MerkleStep ? reads_[0]++ : sponge_ops_++);
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      std::vector<uint64_t> result = key;
      result.push_back(i);
      SetAtom(ir::Function::result_of(inst, i), table_.Number(std::move(result)));
    }
    AddEvent(std::move(key), false);
  }

  bool Take(const ir::Inst& inst) {
    const ir::OpInfo& info = ir::Info(inst.op);
    switch (inst.op) {
      case Op::Const:
        SetConstant(ir::Function::result_of(inst), inst.type, f_.words_of(inst));
        return true;
      FRAZIL_CASES(Ring)
        if (IsRing(inst.type)) return Arithmetic(inst);
        break;
      case Op::Shl:
        if (ConstantShift(inst)) return true;
        break;
      case Op::Assert:
      case Op::Unreachable: AddEvent(KeyOf(inst), true); return true;
      case Op::Output: AddEvent(KeyOf(inst), false); return true;
      case Op::Input:
      case Op::Hint: {
        // The n-th read is the same value in both.
        std::vector<uint64_t> key = KeyOf(inst);
        key.push_back(reads_[static_cast<size_t>(inst.op == Op::Input)]++);
        SetAtom(ir::Function::result_of(inst), table_.Number(key));
        AddEvent(std::move(key), false);
        return true;
      }
      case Op::SpongeInit:
      case Op::SpongeAbsorb:
      case Op::SpongeSqueeze:
      case Op::MerkleStep: TakeProver(inst); return true;
      case Op::Lookup:
      case Op::Length: return false;
      default: break;
    }
    const bool scalar = info.effect == ir::Effect::Pure && inst.regions.count == 0 &&
                        inst.results.count == 1 &&
                        f_.type(ir::Function::result_of(inst)).is_scalar() &&
                        std::ranges::all_of(f_.operands_of(inst),
                                            [&](ir::ValueId v) { return f_.type(v).is_scalar(); });
    if (!scalar) return false;
    std::vector<uint64_t> key = KeyOf(inst);
    if (info.traps != 0) AddEvent(key, true);
    SetAtom(ir::Function::result_of(inst), table_.Number(std::move(key)));
    return true;
  }

  const ir::Function& f_;
  Table& table_;
  std::map<uint32_t, NodeId> ids_;
  std::map<uint32_t, Polynomial> polynomials_;
  uint64_t reads_[2] = {0, 0};
  uint64_t sponge_ops_ = 0;
  Summary summary_;
};

}  // namespace

Verdict NormalFormJudge(const ir::Program& source, const ir::Program& candidate,
                        const ir::Guard& guard) {
  // Long programs have large polynomials; other judges are quicker there.
  constexpr size_t MostInsts = 2000;
  if (source.entry_function().insts.size() > MostInsts ||
      candidate.entry_function().insts.size() > MostInsts)
    return Unknown{"the programs are too long for a normal form"};
  Table table;
  const Summary a = Reader(source.entry_function(), table).Read(guard);
  if (!a.failure.empty()) return Unknown{a.failure};
  const Summary b = Reader(candidate.entry_function(), table).Read(guard);
  if (!b.failure.empty()) return Unknown{b.failure};
  if (a.results != b.results || a.events != b.events) return Unknown{"the normal forms differ"};
  return Proved{{Grade::Proved, "normal form",
                 fmt::format("equal polynomials of at most {} terms", std::max(a.terms, b.terms)),
                 0}};
}

}  // namespace frazil::verify
