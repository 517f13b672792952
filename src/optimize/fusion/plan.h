// What is made where: the values of a function that have index maps fall into clusters, each one `generate`.
//
// A cluster makes its roots, tensors that somebody outside of it needs. What only it reads is computed in it, where it is
// read (inlined), or once for each row and kept (a row). Its first `depth` indices are the outer `generate`; reductions
// and rows are made there, and if roots have more axes than that, an inner `generate` makes the rest of them.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "optimize/fusion/index_terms.h"

namespace frazil::optimize {

enum class Fate : uint8_t { Kept, Unused, Inlined, Row, Root };

struct Cluster {
  uint32_t position = 0;  // where it is made: at this instruction of its region
  std::vector<ir::ValueId> roots;
  ir::Shape shape;     // of all indices
  uint32_t depth = 0;  // of the outer ones; all of them until is_fixed
  bool is_fixed = false;
  bool has_fold = false;
  // Of folds down columns, which are all alike: sizes and blocks. Nothing: of folds along rows, or of none.
  std::optional<std::pair<ir::Dim, int64_t>> columns = {};
  bool has_rows = false;  // folds along rows
  uint32_t parts = 0;     // values computed in it, roots apart
  double work = 0;
  uint32_t next_variable = ir::MaxRank;  // those before are of the roots' axes
  std::vector<uint64_t> groups = {};     // variables of a fold or a row: sets
};

struct RowPlan {
  Point point;                 // what an element of the row is, by variables of its own
  std::vector<uint32_t> axes;  // those that the row has; the others are outer indices
  std::vector<uint32_t> variables;
};

struct FusionPlan {
  IndexTerms terms;
  std::vector<Fate> fates;           // by value
  std::vector<uint32_t> cluster_of;  // by value: of roots, rows and reductions that are made in one
  std::map<uint32_t, RowPlan> rows;  // by value
  std::map<uint32_t, uint32_t> along;    // by value of a reduction: its variable
  std::map<uint32_t, uint32_t> made_at;  // by instruction: the cluster that is made there
  std::vector<Cluster> clusters;
};

FusionPlan PlanFusion(const ir::Function& function);

}  // namespace frazil::optimize
