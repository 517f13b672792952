// Programs of passes over memory: in each `parallel` an iteration touches the elements with its own number and no others,
// beside that there are reductions of whole buffers, and loads and stores of element 0. Where the guard says that buffers
// do not overlap and are as long as the passes, iterations cannot see each other and nothing traps; then one term for
// each buffer, over what the elements with the same number held before, is all that the program does to elements below
// the extent, and it does nothing to the others. Equal terms of all buffers are a proof, modulo the rules of
// ir/rules/rules.def that make a term smaller; different ones say nothing.
//
// What has to be known for that, and from where (any gap is `Unknown`):
//   buffers that may meet      a buffer that either program writes and every other one that either touches: disjoint
//   accesses in passes         each such buffer covers the extent, which is the same in all passes of both programs
//   accesses to element 0      the buffer has one, and the extent is at least 1: element 0 is in every pass
//   rows and scratch           the extent is not negative
#include "verify/internal/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/rules/rules.h"
#include "verify/internal/rule_match.h"
#include "verify/internal/terms.h"

namespace frazil::verify {
namespace {

using namespace ir::names;

constexpr TermId NoTerm = UINT32_MAX;
constexpr size_t MostInsts = 4000;
constexpr size_t MostTerms = 20'000;
constexpr int MostRounds = 16;

// What both programs start from.
struct World {
  explicit World(const ir::Function& entry) {
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      const Type element = entry.param_type(i).element();
      values.push_back(terms.Leaf(element));
      firsts.push_back(entry.param_type(i).is_scalar() ? values.back() : terms.Leaf(element));
    }
    index = terms.Leaf(ir::types::Index);
    const uint64_t none = 0;
    zero = terms.Constant(ir::types::Index, std::span(&none, 1));
    const TermId both[] = {index, zero};
    is_first = terms.Apply(Op::Eq, ir::types::Index, ir::types::Bool, {}, both);
  }

  // The same term for element 0. A node is younger than its children, so that one walk upwards is enough.
  TermId AtZero(TermId root) {
    std::vector<bool> needed(root + 1);
    needed[root] = true;
    for (TermId id = root + 1; id-- > 0;)
      if (needed[id] && IsPointwise(id))
        for (const TermId child : terms.node(id).children) needed[child] = true;
    std::vector<TermId> at_zero(root + 1, NoTerm);
    for (TermId id = 0; id <= root; ++id) {
      if (!needed[id]) continue;
      at_zero[id] = id;
      if (id == index) at_zero[id] = zero;
      if (const auto slot = std::ranges::find(values, id); slot != values.end())
        at_zero[id] = firsts[static_cast<size_t>(slot - values.begin())];
      if (!IsPointwise(id)) continue;
      Terms::Node node = terms.node(id);
      for (TermId& child : node.children) child = at_zero[child];
      at_zero[id] = terms.Apply(node.op, node.type, node.result, node.words, node.children);
    }
    return at_zero[root];
  }
  // A reduction is one value for all elements.
  bool IsPointwise(TermId id) const {
    const Terms::Node& node = terms.node(id);
    return node.kind == Terms::Kind::Apply && node.op != Op::Reduce;
  }

  Terms terms;
  std::vector<TermId> values;  // by parameter: a scalar, or the element with the own number, before
  std::vector<TermId> firsts;  // by parameter: the scalar, or element 0 of a buffer, before
  TermId index = NoTerm, zero = NoTerm, is_first = NoTerm;
};

// What a program does, if nothing traps and buffers are apart.
struct Deeds {
  std::map<uint32_t, TermId> buffers;  // by parameter: what its elements hold at the end
  std::set<uint32_t> written, in_passes, at_zero;
  TermId extent = NoTerm;
  bool has_rows = false, touches_zero = false;
  uint64_t row_bytes = 0, passes = 0;  // limits of a machine: a candidate may take less
  std::string failure;
};

class PassReader {
 public:
  PassReader(const ir::Program& program, World& world)
      : f_(program.entry_function()),
        world_(world),
        terms_(world.terms),
        values_(f_.values.size(), NoTerm) {}

  Deeds Read() {
    for (uint32_t i = 0; i < f_.param_count(); ++i) {
      const Type type = f_.param_type(i);
      if (type.is_tensor()) return Fail("a parameter is a tensor"), std::move(deeds_);
      const uint32_t value = f_.param(i).index;
      if (type.is_scalar()) {
        values_[value] = world_.values[i];
        continue;
      }
      if (!IsPlain(type.element())) return Fail("a buffer of such elements"), std::move(deeds_);
      params_[value] = i;
      memory_[value] = world_.values[i];
    }
    for (const ir::InstId id : f_.region(f_.body).insts)
      if (!Top(f_.inst(id))) return std::move(deeds_);
    for (const auto& [value, param] : params_) deeds_.buffers[param] = memory_.at(value);
    return std::move(deeds_);
  }

 private:
  // What is stored comes back as it was.
  static bool IsPlain(Type element) {
    return ir::IsFixedInt(element.scalar) || ir::IsFloat(element.scalar);
  }
  bool Fail(std::string why) {
    deeds_.failure = std::move(why);
    return false;
  }
  bool Refuse(const ir::Inst& inst) {
    return Fail(fmt::format("'{}' is not of passes", ir::Info(inst.op).mnemonic));
  }
  TermId TermOf(const ir::Inst& inst, uint32_t operand) const {
    return values_[f_.operand(inst, operand).index];
  }
  bool Define(const ir::Inst& inst, TermId term) {
    if (term == NoTerm) return Refuse(inst);
    values_[ir::Function::result_of(inst).index] = term;
    return true;
  }
  bool Is(TermId term, TermId other) const { return term != NoTerm && terms_.Equal(term, other); }

  bool SetExtent(const ir::Inst& inst, TermId extent) {
    if (extent == NoTerm) return Refuse(inst);
    if (deeds_.extent == NoTerm) deeds_.extent = extent;
    return Is(extent, deeds_.extent) || Fail("passes of different lengths");
  }
  // Takes memory for as many elements as there are iterations.
  bool MakeRow(const ir::Inst& inst, TermId extent, Type element) {
    deeds_.has_rows = true;
    deeds_.row_bytes += ir::BytesOf(element);
    return SetExtent(inst, extent);
  }

  // The buffer of an access, or null.
  TermId* Memory(const ir::Inst& inst, std::set<uint32_t>& touched, bool writes) {
    const uint32_t value = f_.operand(inst, 0).index;
    const auto found = memory_.find(value);
    if (found == memory_.end()) return Refuse(inst), nullptr;
    if (const auto param = params_.find(value); param != params_.end()) {
      touched.insert(param->second);
      if (writes) deeds_.written.insert(param->second);
    }
    return &found->second;
  }

  bool Scalar(const ir::Inst& inst) {
    if (inst.op == Op::Const)
      return inst.type.is_scalar() && Define(inst, terms_.Constant(inst.type, f_.words_of(inst)));
    const ir::OpInfo& info = ir::Info(inst.op);
    if (info.effect != ir::Effect::Pure || info.traps != 0 || info.signature == "custom" ||
        inst.regions.count != 0 || inst.results.count != 1)
      return Refuse(inst);
    std::vector<TermId> children;
    for (const ir::ValueId operand : f_.operands_of(inst)) {
      if (!f_.type(operand).is_scalar() || values_[operand.index] == NoTerm) return Refuse(inst);
      children.push_back(values_[operand.index]);
    }
    const Type result = f_.type(ir::Function::result_of(inst));
    return Define(inst, terms_.Apply(inst.op, inst.type, result, f_.words_of(inst), children));
  }

  // --- outside of passes --------------------------------------------------------------------------------------
  bool Top(const ir::Inst& inst) {
    switch (inst.op) {
      case Op::Return: return inst.operands.count == 0 || Fail("the program gives results");
      case Op::Parallel: return Pass(inst);
      case Op::Alloc: {
        if (!IsPlain(inst.type) || !MakeRow(inst, TermOf(inst, 0), inst.type)) return Refuse(inst);
        const uint64_t none = 0;
        memory_[ir::Function::result_of(inst).index] =
            terms_.Constant(inst.type, std::span(&none, 1));
        return true;
      }
      case Op::Load: {
        const TermId* memory = AtZero(inst, false);
        return memory != nullptr && Define(inst, world_.AtZero(*memory));
      }
      case Op::Store: {
        TermId* memory = AtZero(inst, true);
        if (memory == nullptr || TermOf(inst, 2) == NoTerm) return Refuse(inst);
        const TermId parts[] = {world_.is_first, TermOf(inst, 2), *memory};
        *memory = terms_.Apply(Op::Select, inst.type, inst.type, {}, parts);
        return true;
      }
      case Op::TensorLoad: {
        if (!IsRow(inst, inst.type) || !MakeRow(inst, RowExtent(inst.type), inst.type.element()))
          return Refuse(inst);
        const TermId* memory = Memory(inst, deeds_.in_passes, false);
        return memory != nullptr && Define(inst, *memory);
      }
      case Op::TensorStore: {
        const Type tensor = f_.type(f_.operand(inst, 1));
        if (!IsRow(inst, tensor) || !SetExtent(inst, RowExtent(tensor))) return Refuse(inst);
        TermId* memory = Memory(inst, deeds_.in_passes, true);
        if (memory == nullptr || TermOf(inst, 1) == NoTerm) return Refuse(inst);
        *memory = TermOf(inst, 1);
        ++deeds_.passes;
        return true;
      }
      case Op::Map: return Map(inst);
      case Op::Reduce: {
        const Type operand = f_.type(f_.operand(inst, 0));
        const TermId child = TermOf(inst, 0);
        if (child == NoTerm || !IsRow(inst, operand) || !SetExtent(inst, RowExtent(operand)))
          return Refuse(inst);
        ++deeds_.passes;
        const Type element = operand.element();
        return Define(inst, terms_.Apply(Op::Reduce, element, element, f_.words_of(inst),
                                         std::span(&child, 1)));
      }
      case Op::Extract:  // of what has no dimensions
        return inst.operands.count == 1 ? Define(inst, TermOf(inst, 0)) : Refuse(inst);
      case Op::Broadcast: {
        const Type from = f_.type(f_.operand(inst, 0)),
                   row = f_.type(ir::Function::result_of(inst));
        const bool is_one = from.is_scalar() || f_.shape(from).empty();
        if (!is_one || !IsRow(inst, row) || !MakeRow(inst, RowExtent(row), row.element()))
          return Refuse(inst);
        return Define(inst, TermOf(inst, 0));
      }
      case Op::Iota:
        if (inst.type.element() != ir::types::Index || !IsRow(inst, inst.type) ||
            !MakeRow(inst, RowExtent(inst.type), inst.type.element()))
          return Refuse(inst);
        return Define(inst, world_.index);
      default: return Scalar(inst);
    }
  }

  TermId* AtZero(const ir::Inst& inst, bool writes) {
    if (!Is(TermOf(inst, 1), world_.zero)) return Refuse(inst), nullptr;
    deeds_.touches_zero = true;
    return Memory(inst, deeds_.at_zero, writes);
  }

  bool IsRow(const ir::Inst& inst, Type tensor) {
    if (!tensor.is_tensor() || !IsPlain(tensor.element())) return Refuse(inst);
    const ir::Shape& shape = f_.shape(tensor);
    return (shape.size() == 1 && shape[0].is_symbol()) || Refuse(inst);
  }
  TermId RowExtent(Type row) const { return values_[f_.param(f_.shape(row)[0].param()).index]; }

  bool Map(const ir::Inst& inst) {
    const Type row = f_.type(ir::Function::result_of(inst));
    if (inst.results.count != 1 || !IsRow(inst, row) ||
        !MakeRow(inst, RowExtent(row), row.element()))
      return Refuse(inst);
    ++deeds_.passes;
    const ir::Region& body = f_.region(ir::Function::region_of(inst, 0));
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      if (TermOf(inst, i) == NoTerm || !IsRow(inst, f_.type(f_.operand(inst, i))))
        return Refuse(inst);
      values_[ir::Function::param_of(body, i).index] = TermOf(inst, i);
    }
    for (const ir::InstId id : body.insts) {
      const ir::Inst& step = f_.inst(id);
      if (step.op == Op::Yield) return Define(inst, TermOf(step, 0));
      if (!Scalar(step)) return false;
    }
    return Refuse(inst);
  }

  // --- passes -----------------------------------------------------------------------------------------------------
  bool Pass(const ir::Inst& inst) {
    if (!Is(TermOf(inst, 0), world_.zero) || inst.results.count != 0 || inst.regions.count != 1)
      return Refuse(inst);
    if (!SetExtent(inst, TermOf(inst, 1))) return false;
    ++deeds_.passes;
    const ir::Region& body = f_.region(ir::Function::region_of(inst, 0));
    values_[ir::Function::param_of(body, 0).index] = world_.index;
    return Block(body, nullptr);
  }

  bool Block(const ir::Region& region, std::vector<TermId>* yields) {
    for (const ir::InstId id : region.insts) {
      const ir::Inst& inst = f_.inst(id);
      if (inst.op == Op::Yield) {
        for (uint32_t i = 0; i < inst.operands.count; ++i) {
          if (yields == nullptr || TermOf(inst, i) == NoTerm) return Refuse(inst);
          yields->push_back(TermOf(inst, i));
        }
        continue;
      }
      if (!Element(inst)) return false;
    }
    return true;
  }

  bool Element(const ir::Inst& inst) {
    if (inst.op == Op::If) return Branch(inst);
    if (inst.op != Op::Load && inst.op != Op::Store) return Scalar(inst);
    if (!Is(TermOf(inst, 1), world_.index)) return Fail("an element of another iteration");
    TermId* memory = Memory(inst, deeds_.in_passes, inst.op == Op::Store);
    if (memory == nullptr) return false;
    if (inst.op == Op::Load) return Define(inst, *memory);
    if (TermOf(inst, 2) == NoTerm) return Refuse(inst);
    *memory = TermOf(inst, 2);
    return true;
  }

  // No access traps, so that both sides may be followed and one of what they leave be chosen.
  bool Branch(const ir::Inst& inst) {
    const TermId condition = TermOf(inst, 0);
    if (condition == NoTerm || inst.regions.count == 0 || inst.regions.count > 2)
      return Refuse(inst);
    const std::map<uint32_t, TermId> before = memory_;
    std::map<uint32_t, TermId> after[2] = {before, before};
    std::vector<TermId> yields[2];
    for (uint32_t side = 0; side < inst.regions.count; ++side) {
      memory_ = before;
      if (!Block(f_.region(ir::Function::region_of(inst, side)), &yields[side])) return false;
      after[side] = memory_;
    }
    const auto choose = [&](TermId a, TermId b) {
      if (a == b) return a;
      const Type type = terms_.TypeOf(a);
      const TermId parts[] = {condition, a, b};
      return terms_.Apply(Op::Select, type, type, {}, parts);
    };
    for (auto& [buffer, term] : memory_) term = choose(after[0].at(buffer), after[1].at(buffer));
    if (yields[0].size() < inst.results.count || yields[1].size() < inst.results.count)
      return Refuse(inst);
    for (uint32_t k = 0; k < inst.results.count; ++k)
      values_[ir::Function::result_of(inst, k).index] = choose(yields[0][k], yields[1][k]);
    return true;
  }

  const ir::Function& f_;
  World& world_;
  Terms& terms_;
  std::vector<TermId> values_;           // of scalars and rows
  std::map<uint32_t, TermId> memory_;    // by value of a buffer: what its elements hold
  std::map<uint32_t, uint32_t> params_;  // by value of a buffer that is a parameter
  Deeds deeds_;
};

// What a guard says about the extent and the buffers.
class Facts {
 public:
  Facts(const ir::Guard& guard, const World& world, TermId extent) {
    for (const ir::GuardAtom& atom : guard.atoms) {
      const bool is_extent = extent != NoTerm && atom.arg < world.values.size() &&
                             world.terms.Equal(world.values[atom.arg], extent);
      switch (atom.kind) {
        case ir::GuardKind::Equals:
        case ir::GuardKind::Between:
          if (is_extent && atom.type == ir::types::Index)
            least_ = std::max(least_, static_cast<int64_t>(atom.low[0]));
          break;
        case ir::GuardKind::Cover:
          if (is_extent) covered_.insert(atom.low.begin(), atom.low.end());
          break;
        case ir::GuardKind::LengthIs:
        case ir::GuardKind::LengthAtLeast:
          if (atom.number >= 1) has_elements_.insert(atom.arg);
          break;
        default:
          for (const auto& pair : ir::DisjointPairs(atom)) disjoint_.insert(pair);
      }
    }
  }
  bool Covers(uint32_t buffer) const { return covered_.contains(buffer); }
  int64_t least_extent() const { return least_; }
  bool HasElements(uint32_t buffer) const {
    return has_elements_.contains(buffer) || (least_ >= 1 && Covers(buffer));
  }
  bool Disjoint(uint32_t a, uint32_t b) const {
    return disjoint_.contains({std::min(a, b), std::max(a, b)});
  }

 private:
  int64_t least_ = INT64_MIN;
  std::set<uint64_t> covered_;
  std::set<uint32_t> has_elements_;
  std::set<std::pair<uint32_t, uint32_t>> disjoint_;
};

// What is not known and would have to be; empty: nothing.
std::string Missing(const Facts& facts, const Deeds& a, const Deeds& b) {
  std::set<uint32_t> written = a.written, touched;
  written.insert(b.written.begin(), b.written.end());
  for (const Deeds* deeds : {&a, &b}) {
    touched.insert(deeds->in_passes.begin(), deeds->in_passes.end());
    touched.insert(deeds->at_zero.begin(), deeds->at_zero.end());
    for (const uint32_t buffer : deeds->in_passes)
      if (!facts.Covers(buffer)) return fmt::format("arg{} may be shorter than a pass", buffer);
    for (const uint32_t buffer : deeds->at_zero)
      if (!facts.HasElements(buffer)) return fmt::format("arg{} may be empty", buffer);
    if (deeds->touches_zero && facts.least_extent() < 1)
      return "there may be no elements, and element 0 is touched";
    if (deeds->has_rows && facts.least_extent() < 0) return "the extent may be negative";
  }
  for (const uint32_t buffer : written)
    for (const uint32_t other : touched)
      if (buffer != other && !facts.Disjoint(buffer, other))
        return fmt::format("arg{} and arg{} may overlap", buffer, other);
  return {};
}

// Rules that leave fewer ops than they found: repeated use of them ends.
std::span<const ir::Rule* const> ShrinkingRules() {
  static const std::vector<const ir::Rule*> rules = [] {
    const auto ops = [](const ir::Pattern& pattern) {
      return std::ranges::count(pattern.nodes, ir::PatternNode::Kind::Apply,
                                &ir::PatternNode::kind);
    };
    std::vector<const ir::Rule*> chosen;
    for (const ir::Rule& rule : ir::ParsedRules())
      if (rule.left.root().kind == ir::PatternNode::Kind::Apply && ops(rule.right) < ops(rule.left))
        chosen.push_back(&rule);
    return chosen;
  }();
  return rules;
}

// One round over all terms; says whether anything new is known.
bool Shrink(Terms& terms) {
  const uint64_t merges = terms.merges();
  const size_t size = terms.size();
  for (TermId id = 0; id < size && terms.size() <= MostTerms; ++id) {
    if (terms.node(id).kind != Terms::Kind::Apply) continue;
    for (const ir::Rule* rule : ShrinkingRules()) {
      if (rule->left.root().op != terms.node(id).op) continue;
      if (const auto right = RightSideOf(terms, *rule, id); right && !terms.Equal(id, *right))
        terms.Merge(id, *right);
    }
  }
  return terms.merges() != merges;
}

bool SameBuffers(const Terms& terms, const Deeds& a, const Deeds& b) {
  return std::ranges::equal(a.buffers, b.buffers, [&](const auto& x, const auto& y) {
    return x.first == y.first && terms.Equal(x.second, y.second);
  });
}

}  // namespace

Verdict PassesJudge(const ir::Program& source, const ir::Program& candidate,
                    const ir::Guard& guard) {
  const ir::Function& entry = source.entry_function();
  if (entry.insts.size() > MostInsts || candidate.entry_function().insts.size() > MostInsts)
    return Unknown{"the programs are too long to be read as passes"};
  World world(entry);
  const Deeds a = PassReader(source, world).Read();
  if (!a.failure.empty()) return Unknown{a.failure};
  const Deeds b = PassReader(candidate, world).Read();
  if (!b.failure.empty()) return Unknown{b.failure};
  const TermId extent = a.extent != NoTerm ? a.extent : b.extent;
  if (b.extent != NoTerm && !world.terms.Equal(b.extent, extent))
    return Unknown{"the programs' passes have different lengths"};
  if (b.passes > a.passes || b.row_bytes > a.row_bytes)
    return Unknown{"the second program makes more passes or rows than the first"};
  if (std::string missing = Missing(Facts(guard, world, extent), a, b); !missing.empty())
    return Unknown{missing};
  int rounds = 0;
  bool same = SameBuffers(world.terms, a, b);
  while (!same && rounds++ < MostRounds && Shrink(world.terms))
    same = SameBuffers(world.terms, a, b);
  if (!same || world.terms.conflict()) return Unknown{"the passes leave different terms"};
  return Proved{{Grade::Proved, "passes",
                 fmt::format("{} passes and {}, equal terms of {} buffers", a.passes, b.passes,
                             a.buffers.size()),
                 0}};
}

}  // namespace frazil::verify
