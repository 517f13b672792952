// The rungs that are programs.
#include "rungs.h"

#include <fmt/format.h>

#include "cli.h"
#include "frontends/circuits/circuits.h"
#include "frontends/circuits/gates.h"
#include "frontends/python/python.h"
#include "ir/digest.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"
#include "optimize/calls/cut.h"
#include "optimize/fusion/fusion.h"
#include "optimize/normalize/normalize.h"
#include "optimize/optimize.h"

namespace frazil::cli {
namespace {

using Text = Result<std::string>;

Text EmitJson(const ir::Program&, const RungOptions& options) {
  return frontends::python::PythonToJson(options.input);
}

// The normal form as a circuit; what is no circuit says why.
Text EmitCircuit(const ir::Program& program, const RungOptions& options) {
  const optimize::NormalForm normal = TRY(optimize::Normalize(program, options.limits));
  return TRY(frontends::circuits::FromProgram(normal.program)).text + "\n";
}

// The algebraic reading: the word that the text's calls spell, what it is equal to, and that as calls.
Text EmitGates(const ir::Program&, const RungOptions& options) {
  if (!options.input.ends_with(".cir"))
    return Fail(Diag::Unsupported, "gates are a reading of a circuit's text: give a .cir file");
  return frontends::circuits::DescribeGates(TRY(ReadFile(options.input, options.limits)));
}

Text EmitIr(const ir::Program& program, const RungOptions&) { return ir::PrintText(program); }

Text EmitCanonical(const ir::Program& program, const RungOptions&) {
  return ir::PrintText(ir::Canonicalize(program));
}

// The proposal, or the lines that say why it means the same.
Text EmitOptimized(const ir::Program& program, const RungOptions& options) {
  optimize::OptimizeOptions optimize;
  optimize.keep_fuel = options.metered;
  const ir::Candidate candidate = TRY(optimize::Optimize(program, options.limits, optimize));
  return options.certificate ? ir::PrintCertificate(candidate.certificate)
                             : ir::PrintText(candidate.program);
}

// Tensor ops as loops over elements; a program that has none to fuse as it is.
Text EmitFused(const ir::Program& program, const RungOptions& options) {
  const auto candidate = TRY(optimize::FusedCandidate(program, options.limits));
  return ir::PrintText(candidate ? candidate->program : program);
}

// Tensor ops as calls of forms with symbols for sizes, and where every tensor lies.
Text EmitCalls(const ir::Program& program, const RungOptions&) {
  return exec::PrintPlan(TRY(optimize::CutIntoCalls(program)).plan);
}

Text EmitLowered(const ir::Program& program, const RungOptions& options) {
  return ir::PrintText(TRY(ir::LowerForTarget(program, options.limits)));
}

constexpr Rung ProgramRungs[] = {
    {"json", false, EmitJson},           {"circuit", false, EmitCircuit},
    {"gates", false, EmitGates},         {"ir", false, EmitIr},
    {"canonical", false, EmitCanonical}, {"optimized", false, EmitOptimized},
    {"fused", false, EmitFused},         {"calls", false, EmitCalls},
    {"lowered", false, EmitLowered},
};

}  // namespace

std::vector<std::string> RungNames() {
  std::vector<std::string> names;
  for (const Rung& rung : ProgramRungs) names.emplace_back(rung.name);
  for (const Rung& rung : CodeRungs()) names.emplace_back(rung.name);
  return names;
}

Result<const Rung*> FindRung(std::string_view name) {
  for (const Rung& rung : ProgramRungs)
    if (rung.name == name) return &rung;
  for (const Rung& rung : CodeRungs())
    if (rung.name == name) return &rung;
  return Fail(Diag::BadUsage, fmt::format("there is no rung '{}'; there are {}", name,
                                          fmt::join(RungNames(), ", ")));
}

}  // namespace frazil::cli
