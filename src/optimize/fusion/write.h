// A function as its plan says.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "optimize/fusion/plan.h"
#include "optimize/unit.h"

namespace frazil::optimize {

class FusionWriter : public PassCloner {
 public:
  explicit FusionWriter(const PassInput& input);
  Result<void> Run() { return CopyBody(); }

 protected:
  Result<void> Visit(const ir::Inst& inst) override;

 private:
  using Key = std::pair<uint32_t, Point>;

  Result<void> WriteCluster(const Cluster& cluster);
  ir::Values WriteRoots(const Cluster& cluster);
  ir::Values Elements(std::span<const ir::ValueId> roots);

  // Made before the loops in which it is read: rows, and whatever depends on outer indices only.
  void Prepare(ir::ValueId value, const Point& at);
  void PrepareOperands(const ir::Inst& inst, const Point& at);
  void MakeRow(ir::ValueId value);

  // The element of an old tensor at a point.
  ir::ValueId Element(ir::ValueId value, const Point& at);
  ir::ValueId Compute(const ir::Inst& inst, const Point& at);
  ir::ValueId ComputeMap(const ir::Inst& inst, const Point& at);
  ir::ValueId ComputeFold(const ir::Inst& inst, const Point& at);
  ir::ValueId ComputeRandom(const ir::Inst& inst, const Point& at);
  ir::ValueId Extract(ir::ValueId tensor, ir::Type type, const Point& at);
  ir::ValueId Index(TermId term);
  ir::ValueId Size(ir::Dim dim);

  bool IsInMemory(ir::ValueId value) const;
  bool IsOuter(const Point& at) const;
  Point OperandAt(const ir::Inst& inst, uint32_t i, const Point& at);
  const ir::Inst& DefinitionOf(ir::ValueId value) const;

  // What is known in the open regions.
  struct Scope {
    explicit Scope(FusionWriter& w) : writer(w), elements(w.elements_), indices(w.indices_) {
      ++writer.open_scopes_;
    }
    ~Scope() {
      --writer.open_scopes_;
      writer.elements_ = std::move(elements), writer.indices_ = std::move(indices);
    }
    FusionWriter& writer;
    std::map<Key, ir::ValueId> elements;
    std::map<TermId, ir::ValueId> indices;
  };

  FusionPlan plan_;
  const Cluster* cluster_ = nullptr;  // that is being written
  uint32_t number_ = 0;
  std::map<Key, ir::ValueId> elements_;
  std::map<TermId, ir::ValueId> indices_;
  std::set<Key> prepared_;
  std::map<uint32_t, ir::ValueId> rows_;  // by old value
  std::vector<ir::ValueId> variables_;
  std::vector<bool> named_again_;  // reshapes of what has become a tensor
  int open_scopes_ = 0;            // loops inside of the outer one
  Result<void> status_;
};

}  // namespace frazil::optimize
