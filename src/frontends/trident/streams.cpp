// Declared streams against what the program reads and writes. The IR is counted, where loops have constant bounds and all
// arms of a branch do the same; where they do not, it cannot be told, and a warning says so.
#include <fmt/format.h>

#include "frontends/trident/elaborate.h"

namespace frazil::frontends::trident {

namespace {

using Count = std::optional<uint64_t>;  // nothing: it depends on values

struct Counter {
  const ir::Program& program;
  ir::Op op;
  std::vector<std::optional<Count>> known;  // by function

  static Count Plus(Count a, Count b) {
    uint64_t sum = 0;
    return a && b && !__builtin_add_overflow(*a, *b, &sum) ? Count(sum) : Count();
  }
  static Count Times(Count a, Count times) {
    uint64_t product = 0;
    if ((a && *a == 0) || (times && *times == 0)) return 0;
    return a && times && !__builtin_mul_overflow(*a, *times, &product) ? Count(product) : Count();
  }
  static Count ConstantOf(const ir::Function& f, ir::ValueId value) {
    const ir::InstId def = f.values[value.index].def;
    if (!def.valid() || f.inst(def).op != ir::Op::Const) return std::nullopt;
    return static_cast<uint64_t>(f.word(f.inst(def), 0));
  }
  Count OfFunction(uint32_t index) {
    if (!known[index])
      known[index] = OfRegion(program.functions[index], program.functions[index].body);
    return *known[index];
  }
  Count OfRegion(const ir::Function& f, ir::RegionId region) {
    Count sum = 0;
    for (ir::InstId id : f.region(region).insts) sum = Plus(sum, OfInst(f, f.inst(id)));
    return sum;
  }
  Count OfInst(const ir::Function& f, const ir::Inst& inst) {
    if (inst.op == op) return 1;
    if (inst.op == ir::Op::Call) return OfFunction(static_cast<uint32_t>(f.word(inst, 0)));
    if (inst.regions.count == 0) return 0;
    Count inner = OfRegion(f, ir::Function::region_of(inst, 0));
    if (inst.op == ir::Op::For) {
      Count lo = ConstantOf(f, f.operand(inst, 0)), hi = ConstantOf(f, f.operand(inst, 1));
      return Times(inner, lo && hi ? Count(*hi > *lo ? *hi - *lo : 0) : Count());
    }
    for (uint32_t i = 1; i < inst.regions.count; ++i)
      if (OfRegion(f, ir::Function::region_of(inst, i)) != inner) return std::nullopt;
    return inner;
  }
};

}  // namespace

void Elaborator::CheckStreams() {
  const Module* module = package_.modules.back().get();
  if (!options.function.empty() && options.function != "main") return;
  for (const IoDecl& io : module->io) {
    if (io.kind == IoDecl::Kind::SecretRam) continue;
    const bool out = io.kind == IoDecl::Kind::PublicOutput;
    const ir::Op op = io.kind == IoDecl::Kind::SecretInput ? ir::Op::Hint
                      : out                                ? ir::Op::Output
                                                           : ir::Op::Input;
    uint64_t declared = 0;
    for (const auto& [address, type] : io.slots) declared += types[Resolve(module, type, {})].words;
    Counter counter{program, op, std::vector<std::optional<Count>>(program.functions.size())};
    const Count count = counter.OfFunction(program.entry.index);
    const char* does = out ? "writes" : "reads";
    if (!count)
      Warn(
          module, Diag::StreamsDiffer, io.location,
          fmt::format("{} words are declared; how many main {} depends on values", declared, does));
    else if (*count != declared)
      Complain(module, Diag::StreamsDiffer, io.location,
               fmt::format("{} words are declared, but main {} {}", declared, does, *count));
  }
}

}  // namespace frazil::frontends::trident
