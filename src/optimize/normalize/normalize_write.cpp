// Writes the program that terms stand for: uniform values and reductions, one pass, element 0 of slots that a reduction
// went to, and reductions over what the pass has just stored. Terms may be very deep: nothing here recurses over them.
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "ir/builder.h"
#include "optimize/normalize/normalize_state.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using Kind = NormalTerm::Kind;
using Written = std::unordered_map<TermId, ValueId>;

class Writer {
 public:
  Writer(const ir::Program& source, NormalState& state)
      : source_(source.entry_function()),
        state_(state),
        terms_(state.terms),
        builder_(program_, source_.name, {}, {}) {}

  ir::Program Run() {
    Declare();
    for (const auto& [param, term] : state_.buffers) {
      const TermId before = terms_.Leaf(Kind::Slot, terms_[term].result, param);
      if (term == before) continue;
      const std::optional<Headed> headed = HeadOf(terms_, term);
      if (headed) heads_.emplace_back(param, headed->head);
      const TermId element = headed ? headed->rest : term;
      if (element == before) continue;
      elements_.emplace_back(param, element);
      final_.emplace(element, param);
    }
    FindLate();
    ReadForHeads();
    WritePass();
    tensors_.clear();  // from here on slots hold what the pass stored
    ir::Values values;
    for (const auto& [param, head] : heads_) values.push_back(Uniform(head));
    for (size_t k = 0; k < heads_.size(); ++k)
      builder_.Store(builder_.Param(heads_[k].first), Uniform(Zero()), values[k]);
    builder_.Return({});
    builder_.Finish();
    return std::move(program_);
  }

 private:
  void Declare() {
    for (uint32_t i = 0; i < source_.param_count(); ++i) {
      const ValueId param = builder_.AddParam(source_.param_type(i));
      const uint32_t value = source_.param(i).index;
      if (value < source_.value_names.size()) builder_.Name(param, source_.value_names[value]);
    }
  }

  TermId Zero() {
    const uint64_t zero = 0;
    return terms_.Constant(ir::types::Index, std::span(&zero, 1));
  }

  // --- which reductions wait for the pass -------------------------------------------------------------------------
  void FindLate() {
    for (const auto& [param, element] : elements_) MarkEarly(element);
    ForEachInHeads([&](TermId id) {
      if (terms_[id].kind == Kind::Reduce && !IsLateCandidate(id)) MarkEarly(id);
    });
  }
  // What the pass stores and nothing changes afterwards may be read back instead of computed again.
  bool IsLateCandidate(TermId reduce) const { return final_.contains(terms_[reduce].children[0]); }
  bool IsLate(TermId reduce) const { return IsLateCandidate(reduce) && !early_.contains(reduce); }

  // What element 0 of a slot is made of, as far as it was there before the pass.
  void ReadForHeads() {
    ForEachInHeads([&](TermId id) {
      const Kind kind = terms_[id].kind;
      if (kind == Kind::First || (kind == Kind::Reduce && !IsLate(id))) Uniform(id);
    });
  }

  // Heads and what they are computed from, once for each head: through ops, not into reductions.
  template <typename Visit>
  void ForEachInHeads(const Visit& visit) {
    for (const auto& [param, head] : heads_) {
      std::vector<TermId> open = {head};
      std::unordered_set<TermId> seen;
      while (!open.empty()) {
        const TermId id = open.back();
        open.pop_back();
        if (!seen.insert(id).second) continue;
        visit(id);
        if (terms_[id].kind == Kind::Apply)
          open.insert(open.end(), terms_[id].children.begin(), terms_[id].children.end());
      }
    }
  }

  void MarkEarly(TermId root) {
    std::vector<TermId> open = {root};
    while (!open.empty()) {
      const TermId id = open.back();
      open.pop_back();
      if (!early_.insert(id).second) continue;
      open.insert(open.end(), terms_[id].children.begin(), terms_[id].children.end());
    }
  }

  // --- uniform values, at the top of the function -------------------------------------------------------------------
  ValueId Uniform(TermId root) {
    std::vector<std::pair<TermId, bool>> open = {{root, false}};
    while (!open.empty()) {
      const auto [id, ready] = open.back();
      open.pop_back();
      if (uniform_.contains(id)) continue;
      if (!ready) {
        open.emplace_back(id, true);
        std::vector<TermId> needs = terms_[id].children;
        if (terms_[id].kind == Kind::Reduce) {
          const TermId reduced = ReducedTerm(id);
          needs = UniformParts(std::span(&reduced, 1));
        }
        for (auto it = needs.rbegin(); it != needs.rend(); ++it) open.emplace_back(*it, false);
        continue;
      }
      uniform_[id] = WriteUniform(id);
    }
    return uniform_.at(root);
  }

  ValueId WriteUniform(TermId id) {
    const NormalTerm term = terms_[id];
    switch (term.kind) {
      case Kind::Param: return builder_.Param(static_cast<uint32_t>(term.words[0]));
      case Kind::First:
        return builder_.Load(builder_.Param(static_cast<uint32_t>(term.words[0])), Uniform(Zero()));
      case Kind::Constant: return builder_.Const(term.result, term.words);
      case Kind::Reduce: return WriteReduce(id);
      case Kind::Apply: return WriteApply(term, uniform_);
      case Kind::Slot:
      case Kind::Index: break;
    }
    CHECK(!"an element is not uniform");
  }

  ValueId WriteApply(const NormalTerm& term, const Written& written) {
    ir::Values operands;
    for (TermId child : term.children) {
      const auto found = written.find(child);
      operands.push_back(found != written.end() ? found->second : uniform_.at(child));
    }
    const Type results[] = {term.result};
    return builder_.Emit(term.op, term.type, operands, results, term.words)[0];
  }

  // The largest uniform parts of elements' terms, in order of their first use.
  std::vector<TermId> UniformParts(std::span<const TermId> roots) const {
    std::vector<TermId> open(roots.rbegin(), roots.rend()), parts;
    std::unordered_set<TermId> seen;
    while (!open.empty()) {
      const TermId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      if (terms_[id].uniform) {
        parts.push_back(id);
        continue;
      }
      for (auto it = terms_[id].children.rbegin(); it != terms_[id].children.rend(); ++it)
        open.push_back(*it);
    }
    return parts;
  }

  // --- elements, in a pass or in a map
  // -------------------------------------------------------------------------------- `leaf` gives the element of a
  // slot, or the own number. Uniform parts are written already.
  template <typename Leaf>
  ValueId Element(TermId root, Written& written, const Leaf& leaf) {
    std::vector<std::pair<TermId, bool>> open = {{root, false}};
    while (!open.empty()) {
      const auto [id, ready] = open.back();
      open.pop_back();
      if (written.contains(id) || terms_[id].uniform) continue;
      const NormalTerm& term = terms_[id];
      if (term.kind == Kind::Slot || term.kind == Kind::Index) {
        written[id] = leaf(term);
      } else if (ready) {
        written[id] = WriteApply(term, written);
      } else {
        open.emplace_back(id, true);
        for (auto it = term.children.rbegin(); it != term.children.rend(); ++it)
          open.emplace_back(*it, false);
      }
    }
    return terms_[root].uniform ? uniform_.at(root) : written.at(root);
  }

  void WritePass() {
    if (elements_.empty()) return;
    std::vector<TermId> roots;
    for (const auto& [param, element] : elements_) roots.push_back(element);
    for (TermId part : UniformParts(roots)) Uniform(part);
    const ValueId zero = Uniform(Zero()), extent = Uniform(state_.extent);
    builder_.Parallel(zero, extent, [&](ValueId i) {
      Written written;
      const auto leaf = [&](const NormalTerm& term) {
        return term.kind == Kind::Index
                   ? i
                   : builder_.Load(builder_.Param(static_cast<uint32_t>(term.words[0])), i);
      };
      // Everything is read before anything is written: stores may hit slots that later terms name.
      ir::Values values;
      for (const auto& [param, element] : elements_)
        values.push_back(Element(element, written, leaf));
      for (size_t k = 0; k < elements_.size(); ++k)
        builder_.Store(builder_.Param(elements_[k].first), i, values[k]);
    });
  }

  TermId ReducedTerm(TermId reduce) {
    const TermId child = terms_[reduce].children[0];
    if (!IsLate(reduce)) return child;
    return terms_.Leaf(Kind::Slot, terms_[child].result, final_.at(child));
  }

  Type TensorOf(Type element) {
    return Type::Tensor(element, builder_.AddShape({ir::Dim::Symbol(state_.extent_param.value())}));
  }

  // Without a parameter that a tensor's dimension can name.
  ValueId WriteFold(const NormalTerm& reduce, TermId child) {
    const ValueId extent = Uniform(state_.extent);
    return builder_.Fold(
        static_cast<ir::ReduceKind>(reduce.words[0]), reduce.result, extent, reduce.words[2],
        reduce.words[3], [&](ValueId i) {
          Written written;
          return Element(child, written, [&](const NormalTerm& term) {
            return term.kind == Kind::Index
                       ? i
                       : builder_.Load(builder_.Param(static_cast<uint32_t>(term.words[0])), i);
          });
        });
  }

  ValueId WriteReduce(TermId id) {
    const NormalTerm reduce = terms_[id];
    const TermId child = ReducedTerm(id);
    if (!state_.extent_param) return WriteFold(reduce, child);
    const Type element = terms_[child].result,
               scalar = Type::Tensor(element, builder_.AddShape({}));
    const ValueId tensor = TensorOfAll(child);
    const Type results[] = {scalar};
    const ValueId folded =
        builder_.Emit(Op::Reduce, scalar, std::span(&tensor, 1), results, reduce.words)[0];
    return builder_.Emit1(Op::Extract, element, {folded}, element);
  }

  // A term for all elements at once; made once.
  ValueId TensorOfAll(TermId term) {
    if (const auto found = tensors_.find(term); found != tensors_.end()) return found->second;
    const ValueId tensor =
        terms_[term].kind == Kind::Slot ? LoadTensor(terms_[term]) : WriteMap(term);
    tensors_[term] = tensor;
    return tensor;
  }

  ValueId LoadTensor(const NormalTerm& slot) {
    const Type tensor = TensorOf(slot.result);
    return builder_.Emit1(Op::TensorLoad, tensor,
                          {builder_.Param(static_cast<uint32_t>(slot.words[0]))}, tensor);
  }

  ValueId WriteMap(TermId root) {
    const Type result = TensorOf(terms_[root].result);
    if (terms_[root].uniform)
      return builder_.Emit1(Op::Broadcast, result, {uniform_.at(root)}, result);
    // Leaves become the map's operands, in order of their first use.
    std::vector<TermId> leaves, open = {root};
    std::unordered_set<TermId> seen;
    while (!open.empty()) {
      const TermId id = open.back();
      open.pop_back();
      if (terms_[id].uniform || !seen.insert(id).second) continue;
      if (terms_[id].children.empty()) leaves.push_back(id);
      for (auto it = terms_[id].children.rbegin(); it != terms_[id].children.rend(); ++it)
        open.push_back(*it);
    }
    ir::Values tensors;
    for (TermId leaf : leaves) {
      const Type numbers = TensorOf(ir::types::Index);
      tensors.push_back(terms_[leaf].kind == Kind::Slot
                            ? TensorOfAll(leaf)
                            : builder_.Emit1(Op::Iota, numbers, {}, numbers, {0}));
    }
    return builder_.Map(tensors, result, [&](std::span<const ValueId> values) {
      Written written;
      for (size_t i = 0; i < leaves.size(); ++i) written[leaves[i]] = values[i];
      return ir::Values{Element(root, written, [](const NormalTerm&) { return ValueId(); })};
    });
  }

  const ir::Function& source_;
  NormalState& state_;
  NormalTerms& terms_;
  ir::Program program_;
  ir::FunctionBuilder builder_;
  std::vector<std::pair<uint32_t, TermId>> elements_, heads_;  // by parameter, ascending
  std::unordered_map<TermId, uint32_t> final_;                 // what the pass stores, and where
  std::unordered_set<TermId> early_;                           // needed before the pass
  Written uniform_;
  Written tensors_;
};

}  // namespace

ir::Program WriteState(const ir::Program& source, NormalState& state) {
  return Writer(source, state).Run();
}

}  // namespace frazil::optimize
