#include "exec/plan/plan.h"

#include "base/bytes.h"
#include "ir/digest.h"
#include "ir/text/text.h"

namespace frazil::exec {
namespace {

constexpr std::string_view Magic = "frzplan1";

void Write(ByteWriter& out, const PlanScalar& scalar) {
  out.Enum(scalar.kind);
  out.Number<uint32_t>(scalar.param);
  out.Number<uint32_t>(scalar.step);
  out.Number<uint32_t>(scalar.result);
  out.Each(scalar.words, [&](uint64_t word) { out.Number<uint64_t>(word); });
}

PlanScalar ReadScalar(ByteReader& in) {
  PlanScalar scalar;
  scalar.kind = in.Enum(PlanScalar::Kind::Result);
  scalar.param = in.Number<uint32_t>();
  scalar.step = in.Number<uint32_t>();
  scalar.result = in.Number<uint32_t>();
  scalar.words = in.Each(8, [&] { return in.Number<uint64_t>(); });
  return scalar;
}

void Write(ByteWriter& out, const PlanPlace& place) {
  out.Enum(place.room);
  out.Number<uint32_t>(place.ordinal);
  out.Number<uint64_t>(place.offset);
  out.Number<uint64_t>(place.bytes);
}

PlanPlace ReadPlace(ByteReader& in) {
  PlanPlace place;
  place.room = in.Enum(PlanPlace::Room::Arena);
  place.ordinal = in.Number<uint32_t>();
  place.offset = in.Number<uint64_t>();
  place.bytes = in.Number<uint64_t>();
  return place;
}

void Write(ByteWriter& out, const PlanArgument& argument) {
  out.Flag(std::holds_alternative<PlanPlace>(argument));
  std::visit([&](const auto& it) { Write(out, it); }, argument);
}

PlanArgument ReadArgument(ByteReader& in) {
  if (in.Flag()) return ReadPlace(in);
  return ReadScalar(in);
}

void Write(ByteWriter& out, const PlanResult& result) {
  out.Number<uint32_t>(result.makes.inst);
  out.Number<uint32_t>(result.makes.result);
  Write(out, result.place);
}

PlanResult ReadResult(ByteReader& in) {
  PlanResult result;
  result.makes.inst = in.Number<uint32_t>();
  result.makes.result = in.Number<uint32_t>();
  result.place = ReadPlace(in);
  return result;
}

PlanStep ReadStep(ByteReader& in) {
  PlanStep step;
  step.form = in.Number<uint32_t>();
  step.arguments = in.Each(18, [&] { return ReadArgument(in); });
  step.results = in.Each(29, [&] { return ReadResult(in); });
  return step;
}

}  // namespace

std::string SerializePlan(const Plan& plan) {
  ByteWriter out;
  out.Raw(Magic);
  out.Each(plan.forms, [&](const PlanForm& form) { out.Text(ir::PrintText(*form.program)); });
  out.Each(plan.steps, [&](const PlanStep& step) {
    out.Number<uint32_t>(step.form);
    out.Each(step.arguments, [&](const PlanArgument& argument) { Write(out, argument); });
    out.Each(step.results, [&](const PlanResult& result) { Write(out, result); });
  });
  out.Each(plan.scalar_results, [&](const PlanScalar& scalar) { Write(out, scalar); });
  out.Number<uint64_t>(plan.arena_bytes);
  return out.Take();
}

Result<Plan> ParsePlan(std::string_view bytes) {
  ByteReader in(bytes);
  Plan plan;
  if (in.Raw(Magic.size()) != Magic) return Fail(Diag::BadArtifact, "these bytes are no plan");
  for (const std::string& text : in.Each(8, [&] { return in.Text(); })) {
    auto program = std::make_shared<const ir::Program>(TRY(ir::ParseText(text)));
    std::string exact = ir::ExactDigest(*program);
    plan.forms.push_back({std::move(exact), std::move(program)});
  }
  plan.steps = in.Each(20, [&] { return ReadStep(in); });
  plan.scalar_results = in.Each(21, [&] { return ReadScalar(in); });
  plan.arena_bytes = in.Number<uint64_t>();
  if (!in.AtEnd()) return Fail(Diag::BadArtifact, "the plan's bytes are not whole");
  for (const PlanStep& step : plan.steps)
    if (step.form >= plan.forms.size())
      return Fail(Diag::BadArtifact, "a step of the plan calls a form that is not there");
  return plan;
}

}  // namespace frazil::exec
