// One of the two programs of a certificate: every value of every function as a term.
//
// Parameters, what loops carry, what streams give and what calls return are leaves: any value of their type. They
// become equal to the other side's only when the walk has paired the two. Memory is a value too: a leaf that
// every write replaces, so that a load is a term of (memory, buffer, index).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/program.h"
#include "verify/internal/terms.h"

namespace frazil::verify {

// Shapes and tables by content, since their numbers differ between programs and functions.
struct Interned {
  std::map<std::vector<int64_t>, uint32_t> shapes;
  std::map<std::pair<std::string, std::vector<uint64_t>>, uint32_t> tables;
};

class Side {
 public:
  struct FunctionTerms {
    std::vector<TermId> values;         // by value
    std::vector<TermId> memory_before;  // by instruction
    std::vector<TermId> memory_after;
    std::vector<TermId> region_memory;      // by region: at its start
    std::vector<TermId> region_end_memory;  // and at its end
    std::vector<bool> dead;                 // by instruction: nobody looks at its results
    TermId entry_memory = 0;
  };

  Side(const ir::Program& program, Terms& terms, Interned& interned);

  const ir::Program& program() const { return program_; }
  const ir::Function& function(ir::FuncId id) const { return program_.functions[id.index]; }
  const FunctionTerms& terms(ir::FuncId id) const { return functions_[id.index]; }
  // The type with its shape as an interned number, the same on both sides.
  ir::Type Canonical(const ir::Function& function, ir::Type type) const;
  // The attributes with tables as interned numbers.
  std::vector<uint64_t> Words(const ir::Function& function, const ir::Inst& inst) const;

  static bool Writes(const ir::Function& function, const ir::Inst& inst);

 private:
  void BuildFunction(ir::FuncId id);
  TermId BuildRegion(const ir::Function& function, FunctionTerms& out, ir::RegionId id,
                     TermId memory);
  TermId BuildInst(const ir::Function& function, FunctionTerms& out, const ir::Inst& inst,
                   TermId memory);
  TermId BuildStructure(const ir::Function& function, FunctionTerms& out, const ir::Inst& inst,
                        TermId memory);
  TermId BuildChoice(const ir::Function& function, FunctionTerms& out, const ir::Inst& inst,
                     TermId memory);
  void BuildPure(const ir::Function& function, FunctionTerms& out, const ir::Inst& inst,
                 TermId memory);
  void LeafParams(const ir::Function& function, FunctionTerms& out, const ir::Region& region);
  TermId NewMemory() { return terms_.Leaf(MemoryType); }

  static constexpr ir::Type MemoryType = {ir::Scalar::Digest, ir::Form::Tensor, ir::Access::In, 1,
                                          UINT32_MAX};

  const ir::Program& program_;
  Terms& terms_;
  Interned& interned_;
  std::vector<FunctionTerms> functions_;
};

// The results whose instruction nobody needs: pure structures included, by following uses from what has an
// effect, may trap or ends the function.
std::vector<bool> DeadInsts(const ir::Function& function);

}  // namespace frazil::verify
