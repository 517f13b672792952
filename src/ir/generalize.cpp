// The holes of the shape digest, made parameters. Covered by exec/shape_runner_test.cpp.
#include "ir/generalize.h"

#include "ir/clone.h"
#include "ir/digest.h"

namespace frazil::ir {
namespace {

bool HasTensors(const Program& program) {
  for (const Function& function : program.functions)
    if (!function.shapes.empty()) return true;
  return false;
}

// Copies the entry function; constants that were made parameters are bound already and fall away.
class HoleCloner : public Cloner {
 public:
  using Cloner::Cloner;

  void TakeConstants(bool keep_index, std::vector<Generalized::Constant>& constants) {
    TakeFrom(source_.body, keep_index, constants);
  }

 protected:
  Result<void> Visit(const Inst& inst) override {
    if (inst.op == Op::Const && IsBound(Function::result_of(inst))) return {};
    return CopyInst(inst);
  }

 private:
  void TakeFrom(RegionId region, bool keep_index, std::vector<Generalized::Constant>& constants) {
    for (InstId id : source_.region(region).insts) {
      const Inst& inst = source_.inst(id);
      if (inst.op == Op::Const && !(keep_index && inst.type == types::Index)) {
        std::span<const uint64_t> words = source_.words_of(inst);
        constants.push_back({inst.type, {words.begin(), words.end()}});
        Bind(Function::result_of(inst), builder_.AddParam(inst.type));
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        TakeFrom(Function::region_of(inst, r), keep_index, constants);
    }
  }
};

}  // namespace

Result<Generalized> Generalize(const Program& program) {
  Program canonical = Canonicalize(program);
  Generalized result;
  bool keep_index = HasTensors(canonical);
  const Function* entry = &canonical.functions[canonical.entry.index];
  result.program = TRY(CopyProgram(
      canonical, [&](const Function& function, FunctionBuilder& builder) -> Result<void> {
        HoleCloner cloner(function, builder);
        cloner.DeclareParams();
        if (&function == entry) cloner.TakeConstants(keep_index, result.constants);
        return cloner.CopyBody();
      }));
  return result;
}

}  // namespace frazil::ir
