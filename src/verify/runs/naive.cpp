// Points and comparison, as obvious as they can be. What is slow here is left slow.
#include "verify/runs/naive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/deadline.h"
#include "base/sha256.h"
#include "exec/guard_eval.h"
#include "exec/meaning/after_trap.h"
#include "exec/random_arguments.h"
#include "ir/digest.h"
#include "ir/text/literal.h"

namespace frazil::verify {
namespace {

using exec::Value;
using ir::Type;
using Words = std::vector<uint64_t>;

uint64_t Scramble(uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

bool IsLimit(const exec::Outcome& outcome) {
  return outcome.trap && ir::IsLimit(outcome.trap->kind);
}

// The value modulo the type, as exec/value.h stores it.
uint64_t Wrapped(Type type, uint64_t bits) {
  if (type.scalar == ir::Scalar::Field) return bits % 0xffff'ffff'0000'0001u;
  const int width = ir::BitsOf(type);
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (ir::IsSigned(type.scalar) && (bits >> (width - 1)) != 0) bits |= ~0ull << width;
  return bits;
}

std::shared_ptr<exec::Memory> Filled(Type element, int64_t length, uint64_t seed) {
  auto memory = std::make_shared<exec::Memory>(element, length);
  for (int64_t i = 0; i < length; ++i)
    memory->Set(
        i, exec::RandomScalar(element, Scramble(seed + static_cast<uint64_t>(i))).scalar_words());
  return memory;
}

// Elements that are good indices.
void MakeSmall(exec::Memory& memory, uint64_t seed) {
  if (!ir::IsFixedInt(memory.element().scalar)) return;
  for (int64_t i = 0; i < memory.length(); ++i) {
    const uint64_t word =
        Scramble(seed + static_cast<uint64_t>(i)) % static_cast<uint64_t>(memory.length());
    const uint64_t wrapped = Wrapped(memory.element(), word);
    memory.Set(i, {&wrapped, 1});
  }
}

int64_t LengthFor(const ir::GuardAtom& atom, uint64_t seed) {
  const auto some = static_cast<int64_t>(seed % 9);
  if (atom.kind == ir::GuardKind::LengthIs) return atom.number;
  if (atom.kind == ir::GuardKind::LengthMultiple) return atom.number * (some % 4);
  return atom.number + some;
}

uint64_t WithinBounds(const ir::GuardAtom& atom, uint64_t seed) {
  const uint64_t low = atom.low[0], high = atom.high[0];
  if (ir::IsFloat(atom.type.scalar) || seed % 4 == 0) return seed % 8 < 4 ? low : high;
  const uint64_t span = high - low;
  return Wrapped(atom.type, span == UINT64_MAX ? seed : low + Scramble(seed) % (span + 1));
}

std::string Tell(const std::optional<exec::TrapInfo>& trap) {
  return trap ? trap->ToString() : "no trap";
}

std::string FirstDifference(std::string_view what, const std::vector<Value>& a,
                            const std::vector<Value>& b) {
  if (a.size() != b.size()) return fmt::format("{} {}s against {}", a.size(), what, b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] == b[i]))
      return fmt::format("{} {}: {} against {}", what, i + 1, exec::PrintValue(a[i]),
                         exec::PrintValue(b[i]));
  }
  return {};
}

}  // namespace

Result<NaiveChecker> NaiveChecker::Create(const ir::Program& source, const ir::Program& candidate,
                                          const ir::Guard& guard) {
  NaiveChecker checker(TRY(exec::InterpreterProgram::Create(source)),
                       TRY(exec::InterpreterProgram::Create(candidate)));
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind != ir::GuardKind::Cpu && atom.kind != ir::GuardKind::Alignment)
      checker.guard_.atoms.push_back(atom);
  }
  for (const ir::Program* program : {&source, &candidate}) {
    for (const ir::Function& function : program->functions) {
      for (const ir::Inst& inst : function.insts) {
        const auto words = function.words_of(inst);
        if (inst.op == ir::Op::Const)
          checker.constants_.emplace_back(inst.type, Words(words.begin(), words.end()));
        if (inst.op != ir::Op::Switch) continue;
        for (uint64_t word : words)
          checker.constants_.emplace_back(function.type(function.operand(inst, 0)), Words{word});
      }
    }
  }
  const ir::Function& entry = source.entry_function();
  bool tensors = false;
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    tensors = tensors || entry.param_type(i).is_tensor();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const Type type = entry.param_type(i);
    checker.is_free_.push_back(type.is_scalar() && !(tensors && type.scalar == ir::Scalar::Index));
  }
  const std::string digest =
      Sha256Hex("naive" + ir::ExactDigest(source) + ir::ExactDigest(candidate));
  checker.seed_ = std::strtoull(digest.substr(0, 16).c_str(), nullptr, 16);
  return checker;
}

std::vector<uint64_t> NaiveChecker::Word(Type type, uint64_t seed) const {
  const uint64_t pick = Scramble(seed);
  if (pick % 3 != 0 || constants_.empty()) {
    const Value any = exec::RandomScalar(type, pick);
    return {any.scalar_words().begin(), any.scalar_words().end()};
  }
  const auto& [from, words] = constants_[Scramble(pick) % constants_.size()];
  if (type == from && words.size() > 1) return words;
  if (ir::WordsOf(type) != 1 || words.empty() || type.scalar == ir::Scalar::Bool ||
      ir::IsFloat(type.scalar) != ir::IsFloat(from.scalar))
    return Word(type, pick);
  const uint64_t near = words[0] + pick / 3 % 3 - 1;
  if (ir::IsFloat(type.scalar) && type != from) return Word(type, pick);
  return {Wrapped(type, near)};
}

// What the guard asks for, one atom after the other; whether all of it then holds is asked again.
void NaiveChecker::Fit(std::vector<Value>& arguments, uint64_t seed) const {
  for (const ir::GuardAtom& atom : guard_.atoms) {
    seed = Scramble(seed);
    if (atom.arg >= arguments.size() || atom.other >= arguments.size()) continue;
    Value& value = arguments[atom.arg];
    switch (atom.kind) {
      case ir::GuardKind::Equals: value = Value::Scalar(value.type, atom.low); break;
      case ir::GuardKind::Between:
        if (ir::WordsOf(value.type) == 1) value = Value::Word(value.type, WithinBounds(atom, seed));
        break;
      case ir::GuardKind::LengthIs:
      case ir::GuardKind::LengthMultiple:
      case ir::GuardKind::LengthAtLeast: {
        constexpr int64_t Most = 1 << 16;
        const int64_t length = LengthFor(atom, seed);
        if (value.type.is_buffer() && length <= Most)
          value = Value::Buffer(Filled(value.memory->element(), length, seed));
        break;
      }
      case ir::GuardKind::Same: arguments[atom.other] = value; break;
      case ir::GuardKind::Disjoint:
        if (value.memory == arguments[atom.other].memory)
          value = Value::Buffer(Filled(value.memory->element(), value.memory->length(), seed));
        break;
      case ir::GuardKind::Apart:
        for (const auto& [a, b] : ir::DisjointPairs(atom)) {
          const auto& memory = arguments[b].memory;
          if (memory == arguments[a].memory)
            arguments[b] = Value::Buffer(Filled(memory->element(), memory->length(), seed + b));
        }
        break;
      case ir::GuardKind::Cover: {
        auto most = static_cast<int64_t>(value.word);
        for (const uint64_t buffer : atom.low)
          most = std::min(most, arguments[buffer].memory->length());
        value = Value::Word(value.type, static_cast<uint64_t>(most));
        break;
      }
      default: break;
    }
  }
}

NaivePoint NaiveChecker::Point(uint64_t number) const {
  const uint64_t seed = Scramble(seed_ + number);
  const ir::Program& program = source_->program();
  // Some rows are longer than the chains of a fold; a dimension that the guard fixes is what it says from the start.
  exec::ArgumentOptions options{.most_size = number % 16 == 15 ? 70 : 5,
                                .shared_tensors = 10,
                                .negative_sizes = 15,
                                .known = {}};
  for (const ir::GuardAtom& atom : guard_.atoms)
    if (atom.kind == ir::GuardKind::Equals && atom.type.scalar == ir::Scalar::Index)
      options.known[atom.arg] = static_cast<int64_t>(atom.low[0]);
  NaivePoint point{exec::RandomArguments(program, seed, options),
                   exec::RandomContext(program, seed)};
  for (size_t i = 0; i < point.arguments.size(); ++i) {
    Value& value = point.arguments[i];
    const uint64_t pick = Scramble(seed + 17 * i);
    if (value.type.is_buffer() && pick % 2 == 0 && value.memory->length() > 0)
      MakeSmall(*value.memory, pick);
    if (i >= is_free_.size() || !is_free_[i]) continue;
    // Like an earlier one, a small number, or whatever is telling.
    if (pick % 8 == 0 && i > 0 && point.arguments[i - 1].type == value.type)
      value = point.arguments[i - 1];
    else if (pick % 8 == 1 && ir::IsFixedInt(value.type.scalar))
      value = Value::Word(value.type, Wrapped(value.type, pick / 8 % 9));
    else
      value = Value::Scalar(value.type, Word(value.type, pick));
  }
  Fit(point.arguments, seed);
  point.context.limits.fuel = 20'000;
  point.context.limits.run_ms = 50;
  point.context.limits.memory_bytes = 64u << 20;
  return point;
}

std::string NaiveChecker::DifferenceAt(const NaivePoint& point, bool* told) const {
  bool unused = false;
  bool& is_told = told == nullptr ? unused : *told;
  is_told = false;
  if (!exec::Holds(guard_, point.arguments)) return {};
  const std::vector<Value> a = exec::CopyValues(point.arguments);
  Result<exec::Outcome> x = source_->Run(a, point.context);
  if (!x || IsLimit(*x)) return {};
  const std::vector<Value> b = exec::CopyValues(point.arguments);
  Result<exec::Outcome> y = candidate_->Run(b, point.context);
  if (y && IsLimit(*y)) return {};
  is_told = true;
  last_ = *x;
  if (!y) return "the second cannot be run: " + y.error().message;
  if (x->trap != y->trap) return fmt::format("trap: {} against {}", Tell(x->trap), Tell(y->trap));
  if (std::string text = FirstDifference("output", x->output, y->output); !text.empty())
    return text;
  if (std::string text = FirstDifference("result", x->results, y->results); !text.empty())
    return text;
  if (!x->trap) return FirstDifference("argument", a, b);
  const auto wrong = exec::WrongAfterTrap(*source_, point.arguments, a, b, point.context);
  if (!wrong) return {};
  return fmt::format("argument {}, element {} after {}", wrong->argument, wrong->element,
                     Tell(x->trap));
}

NaiveAnswer AskNaively(const ir::Program& source, const ir::Program& candidate,
                       const ir::Guard& guard, const NaiveOptions& options) {
  NaiveAnswer answer;
  const Result<NaiveChecker> checker = NaiveChecker::Create(source, candidate, guard);
  if (!checker) return answer;
  const Deadline deadline = Deadline::After(options.milliseconds);
  for (uint64_t i = 0; i < options.points && (i == 0 || !deadline.Passed()); ++i) {
    NaivePoint point = checker->Point(i);
    bool told = false;
    answer.difference = checker->DifferenceAt(point, &told);
    answer.told += told ? 1 : 0;
    if (answer.difference.empty()) continue;
    answer.point = std::move(point);
    return answer;
  }
  return answer;
}

}  // namespace frazil::verify
