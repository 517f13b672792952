#include "shape_runner.h"

#include <algorithm>

#include "ir/clone.h"
#include "ir/digest.h"

namespace frazil::bench {
namespace {

bool HasTensors(const ir::Program& program) {
  for (const ir::Function& function : program.functions)
    if (!function.shapes.empty()) return true;
  return false;
}

// Copies the entry function; constants that were made parameters are bound already and fall away.
class HoleCloner : public ir::Cloner {
 public:
  using Cloner::Cloner;

  void TakeConstants(bool keep_index, std::vector<Generalized::Constant>& constants) {
    TakeFrom(source_.body, keep_index, constants);
  }

 protected:
  Result<void> Visit(const ir::Inst& inst) override {
    if (inst.op == ir::Op::Const && IsBound(ir::Function::result_of(inst))) return {};
    return CopyInst(inst);
  }

 private:
  void TakeFrom(ir::RegionId region, bool keep_index,
                std::vector<Generalized::Constant>& constants) {
    for (ir::InstId id : source_.region(region).insts) {
      const ir::Inst& inst = source_.inst(id);
      if (inst.op == ir::Op::Const && !(keep_index && inst.type == ir::types::Index)) {
        std::span<const uint64_t> words = source_.words_of(inst);
        constants.push_back({inst.type, {words.begin(), words.end()}});
        Bind(ir::Function::result_of(inst), builder_.AddParam(inst.type));
      }
      for (uint32_t r = 0; r < inst.regions.count; ++r)
        TakeFrom(ir::Function::region_of(inst, r), keep_index, constants);
    }
  }
};

}  // namespace

Result<Generalized> Generalize(const ir::Program& program) {
  ir::Program canonical = ir::Canonicalize(program);
  Generalized result;
  bool keep_index = HasTensors(canonical);
  const ir::Function* entry = &canonical.functions[canonical.entry.index];
  result.program = TRY(ir::CopyProgram(
      canonical, [&](const ir::Function& function, ir::FunctionBuilder& builder) -> Result<void> {
        HoleCloner cloner(function, builder);
        cloner.DeclareParams();
        if (&function == entry) cloner.TakeConstants(keep_index, result.constants);
        return cloner.CopyBody();
      }));
  return result;
}

ShapeRunner::ShapeRunner(const exec::Target& target, size_t most_shapes)
    : target_(target), most_shapes_(std::max<size_t>(1, most_shapes)) {}

Result<exec::Outcome> ShapeRunner::Run(const ir::Program& program,
                                       std::span<const exec::Value> arguments,
                                       const exec::RunContext& context) {
  Generalized shape = TRY(Generalize(program));
  exec::Callable* callable = TRY(Find(shape.program));
  std::vector<exec::Value> all(arguments.begin(), arguments.end());
  for (const Generalized::Constant& constant : shape.constants)
    all.push_back(exec::Value::Scalar(constant.type, constant.words));
  return callable->Run(all, context);
}

Result<exec::Callable*> ShapeRunner::Find(const ir::Program& generalized) {
  std::string key = ir::CanonicalBytes(generalized);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    std::unique_ptr<exec::Callable> callable = TRY(target_.Load(TRY(target_.Emit(generalized))));
    if (entries_.size() >= most_shapes_)
      entries_.erase(std::min_element(
          entries_.begin(), entries_.end(),
          [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
    found = entries_.emplace(std::move(key), Entry{std::move(callable)}).first;
  }
  found->second.last_use = ++clock_;
  return found->second.callable.get();
}

}  // namespace frazil::bench
