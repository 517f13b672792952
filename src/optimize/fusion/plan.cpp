// Values are looked at from the last to the first of a region: whoever reads one has then been decided, and with it at
// which indices the value is read.
#include "optimize/fusion/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "optimize/fusion/index_maps.h"
#include "optimize/fusion/value_facts.h"

namespace frazil::optimize {
namespace {

using namespace ir::names;
using ir::Dim;
using ir::Shape;

// A cluster is compiled as one loop: beyond this it only becomes slow to compile.
constexpr double MostWork = 4000;
constexpr uint32_t MostParts = 200;
constexpr size_t MostPoints = 8;

struct Use {
  uint32_t cluster;
  Point at;
  friend bool operator==(const Use&, const Use&) = default;
};

struct Uses {
  std::vector<Use> inside;        // by clusters
  std::vector<uint32_t> outside;  // by others: their positions
};

class Planner {
 public:
  explicit Planner(const Function& f) : f_(f), facts_(CollectFacts(f)), uses_(f.values.size()) {
    plan_.fates.resize(f.values.size(), Fate::Kept);
    plan_.cluster_of.resize(f.values.size(), 0);
  }

  FusionPlan Run() {
    PlanRegion(f_.body);
    return std::move(plan_);
  }

 private:
  // `body`: of the `while` whose test this is; it sees what the test makes.
  void PlanRegion(RegionId region, RegionId body = {}) {
    const std::vector<InstId>& insts = f_.region(region).insts;
    std::set<uint32_t> here;
    for (InstId id : insts)
      for (uint32_t i = 0; i < f_.inst(id).results.count; ++i)
        here.insert(Function::result_of(f_.inst(id), i).index);
    const size_t first = plan_.clusters.size();
    first_cluster_ = first;
    if (body.valid())
      for (InstId id : f_.region(body).insts)
        NoteOutside(f_.inst(id), static_cast<uint32_t>(insts.size()), here);
    for (uint32_t i = static_cast<uint32_t>(insts.size()); i-- > 0;) {
      const Inst& inst = f_.inst(insts[i]);
      if (inst.results.count == 1 && facts_[Function::result_of(inst).index].has_map)
        Decide(inst, i);
      else
        NoteOutside(inst, i, here);
    }
    for (size_t c = first; c < plan_.clusters.size(); ++c)
      plan_.made_at[insts[plan_.clusters[c].position].index] = static_cast<uint32_t>(c);
    for (InstId id : insts) {
      const Inst& inst = f_.inst(id);
      if (inst.op == Op::Map || inst.op == Op::Generate || inst.op == Op::Fold) continue;
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        PlanRegion(Function::region_of(inst, r),
                   inst.op == Op::While && r == 0 ? Function::region_of(inst, 1) : RegionId());
    }
  }

  // Whatever it reads, itself or in its regions, has to be there before it.
  void NoteOutside(const Inst& inst, uint32_t position, const std::set<uint32_t>& here) {
    for (ValueId operand : f_.operands_of(inst))
      if (here.contains(operand.index)) uses_[operand.index].outside.push_back(position);
    for (uint32_t r = 0; r < inst.regions.count; ++r)
      for (InstId id : f_.region(Function::region_of(inst, r)).insts)
        NoteOutside(f_.inst(id), position, here);
  }

  void Decide(const Inst& inst, uint32_t position) {
    const ValueId value = Function::result_of(inst);
    const Uses& uses = uses_[value.index];
    Fate& fate = plan_.fates[value.index];
    if (uses.inside.empty() && uses.outside.empty()) return void(fate = Fate::Unused);
    if (uses.outside.empty() && TryInline(inst, value)) return void(fate = Fate::Inlined);
    if (uses.outside.empty() && TryRow(inst, value)) return void(fate = Fate::Row);
    fate = Fate::Root;
    MakeRoot(inst, value, position);
  }

  // --- indices of a cluster -----------------------------------------------------------------------------------
  static uint64_t Indices(const Cluster& cluster, uint32_t depth) {
    uint64_t set = 0;
    for (uint32_t i = 0; i < depth; ++i)
      if (cluster.shape[i] != Dim::Constant(1)) set |= uint64_t{1} << i;
    return set;
  }
  static uint32_t RankOf(const Cluster& cluster) {
    return static_cast<uint32_t>(cluster.shape.size());
  }

  // The depth whose indices are just these, the whole one first; nothing: there is none, or nothing is left outside.
  static std::optional<uint32_t> DepthOf(const Cluster& cluster, uint64_t set) {
    const uint32_t rank = RankOf(cluster);
    if (set == Indices(cluster, rank)) return rank;
    if (set == 0) return std::nullopt;
    for (uint32_t depth = rank; depth-- > 1;)
      if (set == Indices(cluster, depth)) return depth;
    return std::nullopt;
  }

  // May this be computed where it is read, as often as that is?
  bool IsCovered(const Cluster& cluster, uint64_t set, const ValueFacts& facts,
                 uint32_t& depth) const {
    constexpr uint64_t Outer = (uint64_t{1} << ir::MaxRank) - 1;
    depth = cluster.depth;
    if (const uint64_t inner = set & ~Outer; inner != 0)
      return (set & Outer) == Indices(cluster, cluster.depth) &&
             std::ranges::find(cluster.groups, inner) != cluster.groups.end();
    if (set == Indices(cluster, RankOf(cluster))) return true;
    if (cluster.is_fixed) return set == Indices(cluster, cluster.depth);
    // With a reduction in it, it is what makes rows of the cluster.
    const std::optional<uint32_t> found = DepthOf(cluster, set);
    if (!found || !facts.has_fold) return false;
    depth = *found;
    return true;
  }

  static void Fix(Cluster& cluster, uint32_t depth) {
    cluster.depth = depth;
    cluster.is_fixed = true;
  }

  uint32_t NewVariables(Cluster& cluster, const Shape& sizes, std::vector<uint32_t>& variables) {
    uint64_t group = 0;
    for (Dim size : sizes) {
      variables.push_back(cluster.next_variable++);
      if (size != Dim::Constant(1)) group |= uint64_t{1} << variables.back();
    }
    cluster.groups.push_back(group);
    return variables.empty() ? 0 : variables[0];
  }
  static bool HasRoom(const Cluster& cluster, const ValueFacts& facts) {
    return cluster.next_variable + ir::MaxRank < MostVariables && cluster.parts < MostParts &&
           cluster.work + facts.own < MostWork;
  }

  // --- where it is read ---------------------------------------------------------------------------------------
  bool TryInline(const Inst& inst, ValueId value) {
    const ValueFacts& facts = facts_[value.index];
    const std::vector<Use>& uses = uses_[value.index].inside;
    if (uses.size() > MostPoints || (facts.is_dear && uses.size() > 1)) return false;
    for (const Use& use : uses) {
      const Cluster& cluster = plan_.clusters[use.cluster];
      if (!HasRoom(cluster, facts)) return false;
    }
    if (facts.is_dear) {
      Cluster& cluster = plan_.clusters[uses[0].cluster];
      const uint64_t set = plan_.terms.VariablesOf(uses[0].at);
      uint32_t depth = 0;
      if (facts.is_folded) {
        if (!MayFold(cluster, set, depth) || !FoldsAlike(inst, cluster, depth)) return false;
        Fix(cluster, depth);
      } else {
        if (!IsCovered(cluster, set, facts, depth)) return false;
        if (depth != cluster.depth) Fix(cluster, depth);
      }
    }
    for (const Use& use : uses) {
      Cluster& cluster = plan_.clusters[use.cluster];
      cluster.parts += 1;
      cluster.work += facts.own;
      Propagate(inst, value, use.cluster, use.at);
    }
    return true;
  }

  // A reduction is made once for each of the outer indices: in deeper loops it would be a loop of its own in each turn, for
  // which targets have no vectors.
  static bool MayFold(const Cluster& cluster, uint64_t set, uint32_t& depth) {
    const std::optional<uint32_t> found =
        cluster.is_fixed ? std::optional(cluster.depth) : DepthOf(cluster, set);
    if (!found || set != Indices(cluster, *found)) return false;
    depth = *found;
    return true;
  }

  // Down columns, or along rows? One loop nest has folds of one kind only.
  std::optional<std::pair<Dim, int64_t>> ColumnsOf(const Inst& reduce) const {
    const Shape& shape = f_.shape(f_.type(f_.operand(reduce, 0)));
    const auto axis = static_cast<size_t>(f_.word(reduce, 1));
    const bool is_inner = std::all_of(shape.begin() + static_cast<int64_t>(axis) + 1, shape.end(),
                                      [](Dim dim) { return dim == Dim::Constant(1); });
    if (is_inner) return std::nullopt;
    return std::pair(shape[axis], f_.word(reduce, 3));
  }
  bool FoldsAlike(const Inst& inst, const Cluster& cluster, uint32_t depth) const {
    if (inst.op != Op::Reduce) return true;
    const auto columns = ColumnsOf(inst);
    if (!columns) return !cluster.columns;
    return !cluster.has_rows && depth == RankOf(cluster) &&
           (!cluster.columns || cluster.columns == columns);
  }

  // Read at several indices of one row each, and too dear to be made again: kept for the row.
  bool TryRow(const Inst& inst, ValueId value) {
    const ValueFacts& facts = facts_[value.index];
    const std::vector<Use>& uses = uses_[value.index].inside;
    if (inst.op == Op::Reduce || uses.size() < 2 || uses.size() > MostPoints) return false;
    for (const Use& use : uses)
      if (use.cluster != uses[0].cluster) return false;
    Cluster& cluster = plan_.clusters[uses[0].cluster];
    if (!cluster.is_fixed || !HasRoom(cluster, facts)) return false;
    const Shape& shape = f_.shape(inst.type);
    const uint64_t outer = Indices(cluster, cluster.depth);
    RowPlan row{uses[0].at, {}, {}};
    uint64_t common = 0;
    Shape sizes;
    for (uint32_t i = 0; i < shape.size(); ++i) {
      const uint64_t variables = plan_.terms[uses[0].at[i]].variables;
      const bool is_common =
          (variables & ~outer) == 0 &&
          std::ranges::all_of(uses, [&](const Use& use) { return use.at[i] == uses[0].at[i]; });
      if (is_common) {
        common |= variables;
        continue;
      }
      row.axes.push_back(i);
      sizes.push_back(shape[i]);
    }
    if (outer == 0 || common != outer || row.axes.empty()) return false;
    NewVariables(cluster, sizes, row.variables);
    for (size_t i = 0; i < row.axes.size(); ++i)
      row.point[row.axes[i]] = plan_.terms.Variable(row.variables[i]);
    row.point = OnlyIndices(plan_.terms, shape, row.point);
    cluster.parts += 1;
    cluster.work += facts.own;
    plan_.cluster_of[value.index] = uses[0].cluster;
    Propagate(inst, value, uses[0].cluster, row.point);
    plan_.rows.emplace(value.index, std::move(row));
    return true;
  }

  void Propagate(const Inst& inst, ValueId value, uint32_t cluster, const Point& at) {
    uint32_t along = 0;
    if (inst.op == Op::Reduce) {
      const Shape& shape = f_.shape(f_.type(f_.operand(inst, 0)));
      std::vector<uint32_t> variables;
      along = NewVariables(plan_.clusters[cluster], {shape[static_cast<size_t>(f_.word(inst, 1))]},
                           variables);
      plan_.along[value.index] = along;
      if (const auto columns = ColumnsOf(inst))
        plan_.clusters[cluster].columns = columns;
      else
        plan_.clusters[cluster].has_rows = true;
      plan_.cluster_of[value.index] = cluster;
    }
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      const ValueId operand = f_.operand(inst, i);
      if (!f_.type(operand).is_tensor()) continue;
      Use use{cluster, OperandPoint(plan_.terms, f_, inst, i, at, along)};
      std::vector<Use>& known = uses_[operand.index].inside;
      if (std::ranges::find(known, use) == known.end()) known.push_back(std::move(use));
    }
  }

  // --- what is needed as a whole --------------------------------------------------------------------------------
  void MakeRoot(const Inst& inst, ValueId value, uint32_t position) {
    const ValueFacts& facts = facts_[value.index];
    const Shape& shape = f_.shape(inst.type);
    size_t found = plan_.clusters.size();
    for (size_t c = plan_.clusters.size(); c-- > first_cluster_;)
      if (MayJoin(inst, value, static_cast<uint32_t>(c))) {
        found = c;
        break;
      }
    if (found == plan_.clusters.size())
      plan_.clusters.push_back({.position = position,
                                .roots = {},
                                .shape = shape,
                                .depth = static_cast<uint32_t>(shape.size())});
    Cluster& cluster = plan_.clusters[found];
    if (shape.size() < RankOf(cluster)) Fix(cluster, static_cast<uint32_t>(shape.size()));
    cluster.roots.push_back(value);
    cluster.has_fold |= facts.has_fold;
    cluster.work += facts.own;
    plan_.cluster_of[value.index] = static_cast<uint32_t>(found);
    const Point whole = WholePoint(plan_.terms, shape);
    uint32_t depth = 0;
    if (facts.is_folded && MayFold(cluster, plan_.terms.VariablesOf(whole), depth))
      Fix(cluster, depth);
    Propagate(inst, value, static_cast<uint32_t>(found), whole);
  }

  // A tensor over the outer indices; with a reduction in it, it may be what makes rows of the cluster.
  static bool IsLead(const Cluster& cluster, const Shape& shape, const ValueFacts& facts) {
    const auto depth = static_cast<uint32_t>(shape.size());
    if (depth > RankOf(cluster) || !std::equal(shape.begin(), shape.end(), cluster.shape.begin()))
      return false;
    if (cluster.is_fixed) return depth == cluster.depth;
    return facts.has_fold && DepthOf(cluster, Indices(cluster, depth)) == depth;
  }

  // One more result of a cluster: one that it computes anyway, or that reads the same tensors.
  bool MayJoin(const Inst& inst, ValueId value, uint32_t number) {
    const Cluster& cluster = plan_.clusters[number];
    const ValueFacts& facts = facts_[value.index];
    const Shape& shape = f_.shape(inst.type);
    const Uses& uses = uses_[value.index];
    const bool is_whole = shape == cluster.shape;
    const bool is_lead = IsLead(cluster, shape, facts);
    if ((!is_whole && !is_lead) || !HasRoom(cluster, facts) ||
        !FoldsAlike(inst, cluster, static_cast<uint32_t>(shape.size())))
      return false;
    // All others must come after the cluster.
    for (uint32_t position : uses.outside)
      if (position <= cluster.position) return false;
    const Point whole = WholePoint(plan_.terms, shape);
    bool is_read = false;
    for (const Use& use : uses.inside) {
      if (use.cluster == number) {
        if (use.at != whole) return false;
        is_read = true;
      } else if (plan_.clusters[use.cluster].position <= cluster.position) {
        return false;
      }
    }
    uint32_t depth = 0;
    if (facts.is_folded && !MayFold(cluster, plan_.terms.VariablesOf(whole), depth)) return false;
    if (is_read) return true;
    // Elements with elements, and reductions of rows with what reduces rows: they are then still near.
    const bool are_folded = facts.is_folded && cluster.has_fold && is_lead &&
                            (cluster.is_fixed || shape.size() < RankOf(cluster));
    const bool are_plain = is_whole && !facts.has_fold && !cluster.has_fold && !cluster.is_fixed;
    if (!are_folded && !are_plain) return false;
    for (ValueId root : cluster.roots)
      for (uint32_t leaf : facts_[root.index].leaves)
        if (facts.leaves.contains(leaf)) return true;
    return false;
  }

  const Function& f_;
  const std::vector<ValueFacts> facts_;
  std::vector<Uses> uses_;  // by value
  FusionPlan plan_;
  size_t first_cluster_ = 0;  // of the region that is being planned
};

}  // namespace

FusionPlan PlanFusion(const Function& function) { return Planner(function).Run(); }

}  // namespace frazil::optimize
