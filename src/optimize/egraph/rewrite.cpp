// Between programs and the e-graph. Leaves are what the search must not touch: parameters, what memory, streams, calls
// and structure give, and ops that can trap (they keep their places, with their operands rewritten). Everything else
// is a term; it is written back where the source computed it, if that place is still needed, and otherwise where it is
// first needed. A term may name only what is visible there: where the cheapest one does not, another member of its
// class is taken.
#include "optimize/egraph/rewrite.h"

#include <algorithm>
#include <map>

#include "optimize/fold.h"
#include "optimize/traps.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;

bool IsLoop(Op op) {
  return op == Op::For || op == Op::While || op == Op::Parallel || op == Op::Map ||
         op == Op::Generate || op == Op::Fold;
}

class Rewriter : public PassCloner {
 public:
  struct Context {
    const RuleSet* rules;
    const Limits* limits;
    const Origins* origins;
    Proof* proof;
    RewriteResult* result;
    uint32_t* function;  // counts up
  };

  Rewriter(const PassInput& input, const Context& context)
      : PassCloner(input),
        context_(context),
        index_((*context.function)++),
        node_of_(source_.values.size(), NoNode),
        is_term_(source_.insts.size(), false) {}

  Result<void> Run() {
    StateRegion(source_.body, 0);
    stated_ = static_cast<NodeId>(graph_.size());
    std::vector<NodeId> roots;
    for (size_t i = 0; i < source_.insts.size(); ++i)
      if (!is_term_[i])
        for (ValueId operand : source_.operands_of(source_.insts[i]))
          if (node_of_[operand.index] != NoNode) roots.push_back(node_of_[operand.index]);
    const bool fits = 2 * graph_.size() < context_.limits->egraph_nodes;
    const StopReason stop =
        fits ? Saturate(graph_, *context_.rules, *context_.limits, roots) : StopReason::NodeLimit;
    StopReason& furthest = context_.result->stop;
    if (furthest == StopReason::NothingToDo || stop == StopReason::NodeLimit ||
        stop == StopReason::TimeLimit)
      furthest = stop;
    if (!fits || stop == StopReason::NothingToDo) return CopyBody();
    chosen_ = Extract(graph_, roots);
    rewriting_ = true;
    EnterParams(source_.body);
    TRY_VOID(CopyBody());
    Report();
    return {};
  }

 private:
  // --- program to graph ---------------------------------------------------------------------------------------
  void StateRegion(ir::RegionId id, uint32_t depth) {
    const ir::Region& region = source_.region(id);
    for (uint32_t i = 0; i < region.params.count; ++i)
      StateLeaf(Function::param_of(region, i), depth);
    for (InstId inst_id : region.insts) {
      const Inst& inst = source_.inst(inst_id);
      if (StateTerm(inst)) {
        is_term_[inst_id.index] = true;
        continue;
      }
      for (uint32_t r = 0; r < inst.results.count; ++r)
        StateLeaf(Function::result_of(inst, r), depth);
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        StateRegion(Function::region_of(inst, r), depth + (IsLoop(inst.op) ? 1 : 0));
    }
  }

  void StateLeaf(ValueId value, uint32_t depth) {
    if (!source_.type(value).is_scalar()) return;
    node_of_[value.index] = graph_.Leaf(value.index, source_.type(value), depth);
  }

  bool StateTerm(const Inst& inst) {
    if (inst.regions.count != 0 || inst.results.count != 1) return false;
    const ValueId result = Function::result_of(inst);
    if (!source_.type(result).is_scalar() || MayTrap(source_, inst)) return false;
    const bool math = ir::Info(inst.op).law == ir::Law::Prelude;
    if (inst.op != Op::Const && !IsScalarOp(inst.op) && !math) return false;
    std::vector<NodeId> children;
    for (ValueId operand : source_.operands_of(inst)) children.push_back(node_of_[operand.index]);
    node_of_[result.index] = inst.op == Op::Const
                                 ? graph_.Constant(inst.type, source_.words_of(inst))
                                 : graph_.Apply(inst.op, inst.type, source_.type(result),
                                                source_.words_of(inst), children);
    return true;
  }

  // --- graph to program ---------------------------------------------------------------------------------------
  Result<void> Visit(const Inst& inst) override {
    if (!rewriting_) return CopyInst(inst);
    const auto index = static_cast<size_t>(&inst - source_.insts.data());
    if (is_term_[index]) {
      const ValueId result = Function::result_of(inst);
      if (chosen_.best.contains(graph_.Find(node_of_[result.index]))) Write(result);
      return {};
    }
    for (ValueId operand : source_.operands_of(inst))
      if (node_of_[operand.index] != NoNode && IsTerm(operand)) Write(operand);
    if (inst.regions.count == 0) {
      TRY_VOID(CopyInst(inst));
      Enter(inst.results);
      return {};
    }
    const size_t outer = order_.size();
    TRY_VOID(CopyWithRegions(inst, [&](InstId id, uint32_t r) -> Result<void> {
      const size_t before = order_.size();
      TRY_VOID(CopyOneRegion(id, r, Function::region_of(inst, r)));
      if (inst.op != Op::While) Leave(before);
      return {};
    }));
    Leave(outer);
    Enter(inst.results);
    return {};
  }

  Result<void> CopyOneRegion(InstId id, uint32_t r, ir::RegionId region) {
    const ir::Region& old = source_.region(region);
    std::vector<ir::Type> types;
    for (uint32_t i = 0; i < old.params.count; ++i)
      types.push_back(source_.type(Function::param_of(old, i)));
    ir::Values params = builder_.BeginRegion(id, r, types);
    for (uint32_t i = 0; i < old.params.count; ++i)
      BindNamed(Function::param_of(old, i), params[i]);
    EnterParams(region);
    TRY_VOID(CopyRegion(region));
    builder_.EndRegion();
    return {};
  }

  bool IsTerm(ValueId value) const {
    const InstId def = source_.values[value.index].def;
    return def.valid() && is_term_[def.index];
  }

  void EnterParams(ir::RegionId region) { Enter(source_.region(region).params); }
  void Enter(ir::Range values) {
    for (uint32_t i = 0; i < values.count; ++i) {
      const NodeId node = node_of_[values.begin + i];
      if (node != NoNode) Know(graph_.Find(node), {Get(ValueId(values.begin + i)), node});
    }
  }

  struct Written {
    ValueId value;
    NodeId term = NoNode;  // as it was written, for the proof
  };
  void Know(NodeId node_class, Written written) {
    if (known_.emplace(node_class, written).second) order_.push_back(node_class);
  }
  void Leave(size_t down_to) {
    for (; order_.size() > down_to; order_.pop_back()) known_.erase(order_.back());
  }

  void Write(ValueId value) {
    const NodeId node = node_of_[value.index];
    std::optional<Written> written = Materialize(graph_.Find(node));
    // The source's own term is always visible where the source computed it.
    if (!written) written = MaterializeNode(node);
    Bind(value, written->value);
    if (written->term != node) {
      changed_ = true;
      equalities_.emplace_back(node, written->term);
    }
  }

  std::optional<Written> Materialize(NodeId node_class) {
    if (auto found = known_.find(node_class); found != known_.end()) return found->second;
    if (std::ranges::find(open_, node_class) != open_.end()) return std::nullopt;
    open_.push_back(node_class);
    std::optional<Written> written;
    if (auto best = chosen_.best.find(node_class); best != chosen_.best.end())
      written = MaterializeNode(best->second);
    if (!written) {
      for (NodeId member : graph_.Members(node_class)) {
        if (member >= stated_) continue;  // only what the program itself says
        written = MaterializeNode(member);
        if (written) break;
      }
    }
    open_.pop_back();
    return written;
  }

  std::optional<Written> MaterializeNode(NodeId id) {
    const Node node = graph_.node(id);
    const NodeId node_class = graph_.Find(id);
    if (auto found = known_.find(node_class); found != known_.end()) return found->second;
    if (node.is_leaf) return std::nullopt;
    ir::Values operands;
    std::vector<NodeId> terms;
    for (NodeId child : node.children) {
      std::optional<Written> operand = Materialize(graph_.Find(child));
      if (!operand) return std::nullopt;
      operands.push_back(operand->value);
      terms.push_back(operand->term);
    }
    if (auto found = known_.find(node_class); found != known_.end()) return found->second;
    Written written;
    if (node.is_constant()) {
      written = {builder_.Const(node.result, node.words), id};
    } else {
      const ir::Type results[] = {node.result};
      written.value = builder_.Emit(node.op, node.type, operands, results, node.words)[0];
      written.term = graph_.Apply(node.op, node.type, node.result, node.words, terms);
    }
    Know(graph_.Find(node_class), written);
    return written;
  }

  // --- proof --------------------------------------------------------------------------------------------------
  uint32_t TermOf(NodeId id) {
    if (auto found = cert_.find(id); found != cert_.end()) return found->second;
    const Node& node = graph_.node(id);
    uint32_t term = 0;
    if (node.is_leaf) {
      const ValueId origin = (*context_.origins)[index_][node.words[0]];
      // A leaf that is no copy of a source value cannot be named; the line will then not be believed.
      term = context_.proof->SourceValue(index_, origin.valid() ? origin.index : UINT32_MAX,
                                         node.result);
    } else if (node.is_constant()) {
      term = context_.proof->Constant(node.result, node.words);
    } else {
      std::vector<uint32_t> children;
      for (NodeId child : std::vector<NodeId>(node.children)) children.push_back(TermOf(child));
      term = context_.proof->Apply(node.op, node.type, node.result, node.words, children);
    }
    cert_[id] = term;
    return term;
  }

  void Report() {
    // Folding needs no line: the checker does it by itself.
    for (const Reason& reason : graph_.Explain(equalities_))
      if (reason.rule != "fold")
        context_.proof->Equal(reason.rule, TermOf(reason.left), TermOf(reason.right));
    context_.result->changed |= changed_;
  }

  const Context context_;
  const uint32_t index_;
  EGraph graph_;
  std::vector<NodeId> node_of_;  // by source value
  std::vector<bool> is_term_;    // by source instruction
  NodeId stated_ = 0;            // nodes of the program itself come before this one
  Extraction chosen_;
  bool rewriting_ = false;
  std::map<NodeId, Written> known_;  // classes whose value is visible here
  std::vector<NodeId> order_;
  std::vector<NodeId> open_;
  std::vector<std::pair<NodeId, NodeId>> equalities_;
  std::map<NodeId, uint32_t> cert_;
};

}  // namespace

Result<RewriteResult> Rewrite(Unit& unit, Proof& proof, const RuleSet& rules,
                              const Limits& limits) {
  RewriteResult result;
  uint32_t function = 0;
  const Origins origins = unit.origins;
  Rewriter::Context context{&rules, &limits, &origins, &proof, &result, &function};
  result.changed = TRY(RunPass<Rewriter>(unit, context));
  return result;
}

}  // namespace frazil::optimize
