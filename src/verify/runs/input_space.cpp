// Reads a guard as a description of arguments, so that inputs are made to fit instead of thrown away.
#include "verify/internal/input_space.h"

#include <algorithm>
#include <numeric>

#include "exec/guard_eval.h"

namespace frazil::verify {
namespace {

using ir::GuardAtom;
using ir::GuardKind;

constexpr std::string_view NeverHolds = "the guard never holds";

void AddStreamTypes(const ir::Program& program, InputSpace& space) {
  auto add = [](std::vector<ir::Type>& types, ir::Type type) {
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  };
  for (const ir::Function& function : program.functions) {
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == ir::Op::Input) add(space.input_types, inst.type);
      if (inst.op == ir::Op::Hint) add(space.hint_types, inst.type);
      if (inst.op == ir::Op::MerkleStep) add(space.hint_types, ir::types::Digest);
    }
  }
}

void Regroup(InputSpace& space, uint32_t a, uint32_t b) {
  const uint32_t from = space.buffers[a].group;
  const uint32_t to = space.buffers[b].group;
  for (BufferRule& rule : space.buffers) {
    if (rule.group == from) rule.group = to;
  }
}

bool TakeLength(BufferRule& rule, const GuardAtom& atom) {
  switch (atom.kind) {
    case GuardKind::LengthIs:
      if (rule.length && *rule.length != atom.number) return false;
      rule.length = atom.number;
      return true;
    case GuardKind::LengthMultiple:
      rule.multiple = std::lcm(rule.multiple, atom.number);
      return rule.multiple > 0;
    case GuardKind::LengthAtLeast:
      rule.at_least = std::max(rule.at_least, atom.number);
      return true;
    case GuardKind::Alignment: rule.alignment = std::max(rule.alignment, atom.number); return true;
    default: return atom.number == 1;  // memory of ours is packed: its stride is 1
  }
}

// What is said of one parameter of a group holds for all of them.
bool MergeGroups(InputSpace& space) {
  for (size_t i = 0; i < space.buffers.size(); ++i) {
    for (size_t j = 0; j < space.buffers.size(); ++j) {
      BufferRule& a = space.buffers[i];
      const BufferRule& b = space.buffers[j];
      if (i == j || a.group != b.group) continue;
      if (a.length && b.length && *a.length != *b.length) return false;
      if (b.length) a.length = b.length;
      a.multiple = std::lcm(a.multiple, b.multiple);
      a.at_least = std::max(a.at_least, b.at_least);
      a.alignment = std::max(a.alignment, b.alignment);
    }
  }
  return std::ranges::all_of(space.buffers, [](const BufferRule& rule) {
    return !rule.length || (*rule.length % rule.multiple == 0 && *rule.length >= rule.at_least);
  });
}

bool TakeGuard(InputSpace& space) {
  for (const GuardAtom& atom : space.guard.atoms) {
    switch (atom.kind) {
      case GuardKind::Equals:
      case GuardKind::Between:
        if (!space.domains[atom.arg].Narrow(atom)) return false;
        break;
      case GuardKind::Same: Regroup(space, atom.arg, atom.other); break;
      case GuardKind::Disjoint:
      case GuardKind::Apart:
        for (const auto& pair : ir::DisjointPairs(atom)) space.disjoint.push_back(pair);
        break;
      case GuardKind::Cover:
        for (const uint64_t buffer : atom.low)
          space.covers.emplace_back(atom.arg, static_cast<uint32_t>(buffer));
        break;
      case GuardKind::Cpu: break;
      default:
        if (!TakeLength(space.buffers[atom.arg], atom)) return false;
    }
  }
  // An extent that is never below some number says so of the buffers, too.
  for (const auto& [extent, buffer] : space.covers) {
    const Domain& domain = space.domains[extent];
    if (domain.is_full()) continue;
    const auto least = static_cast<int64_t>(domain.one() ? domain.one()->at(0) : domain.At(0));
    BufferRule& rule = space.buffers[buffer];
    rule.at_least = std::max(rule.at_least, least);
  }
  if (!MergeGroups(space)) return false;
  return std::ranges::none_of(space.disjoint, [&](const auto& pair) {
    const BufferRule& a = space.buffers[pair.first];
    // Two empty buffers have no byte in common, even if they are one.
    return a.group == space.buffers[pair.second].group && a.length != 0;
  });
}

}  // namespace

std::optional<uint64_t> InputSpace::Count() const {
  if (!scalars_only) return std::nullopt;
  uint64_t total = 1;
  for (const Domain& domain : domains) {
    const std::optional<uint64_t> count = domain.Count();
    if (!count || (!domain.one() && ir::WordsOf(domain.type()) != 1)) return std::nullopt;
    if (__builtin_mul_overflow(total, *count, &total)) return std::nullopt;
  }
  return total;
}

InputSpace MakeInputSpace(const ir::Program& source, const ir::Program& candidate,
                          const ir::Guard& guard) {
  InputSpace space;
  const ir::Function& entry = source.entry_function();
  space.entry = &entry;
  for (const GuardAtom& atom : guard.atoms) {
    if (atom.kind != GuardKind::Cpu) space.guard.atoms.push_back(atom);
  }
  space.is_symbol.assign(entry.param_count(), false);
  for (const ir::Shape& shape : entry.shapes) {
    for (ir::Dim dim : shape) {
      if (dim.is_symbol()) space.is_symbol[dim.param()] = true;
    }
  }
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    space.domains.emplace_back(entry.param_type(i).element());
    space.buffers.emplace_back().group = i;
    space.scalars_only = space.scalars_only && entry.param_type(i).is_scalar();
  }
  AddStreamTypes(source, space);
  AddStreamTypes(candidate, space);
  space.scalars_only = space.scalars_only && space.input_types.empty() && space.hint_types.empty();
  if (!TakeGuard(space)) space.empty = NeverHolds;
  return space;
}

bool Allows(const InputSpace& space, std::span<const exec::Value> arguments) {
  return exec::Holds(space.guard, arguments);
}

}  // namespace frazil::verify
