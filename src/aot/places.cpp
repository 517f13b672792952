#include "aot/places.h"

#include <fmt/format.h>

#include "aot/targets.h"

namespace frazil::aot {

Result<engine::LoweredForm> NativePlace::Lower(const engine::Gate& gate, int way) {
  struct Way {
    std::string_view name;
    exec::CodeStyle style;
  };
  constexpr Way Ways[] = {{"tuned", exec::CodeStyle::Tuned},
                          {"simple", exec::CodeStyle::Quick},
                          {"scalar", exec::CodeStyle::Scalar}};
  exec::EmitOptions options;
  options.level = level_;
  options.style = Ways[way].style;
  const ir::Program& program = judge_ == nullptr ? gate.program() : judge_->ranged().program;
  const exec::Artifact artifact = TRY(native_.Emit(program, options));
  const exec::NativeImage image = TRY(exec::ParseImage(artifact.bytes));
  // It would run on its caller's stack, of which nothing is known: the depth must not depend on that.
  if (image.stack.recursive) return Fail(Diag::Unsupported, "it is recursive");
  if (!image.stack.is_small())
    return Fail(Diag::Unsupported,
                fmt::format("it takes {} bytes of stack", image.stack.frame_bytes));
  engine::LoweredForm lowered{gate.Form("native"), std::string(Ways[way].name), image.code.size()};
  exec::PutImage(lowered.form, image);
  lowered.form.calling = judge_ == nullptr ? Calling::Plain : Calling::InPieces;
  return lowered;
}

verify::CallableMaker NativePlace::callable() const {
  return judge_ == nullptr ? verify::CallableMaker() : judge_->CallableFor(Calling::InPieces);
}

Result<engine::LoweredForm> ArtifactPlace::Lower(const engine::Gate& gate, int) {
  if (made_ && made_->form.candidate_exact == gate.candidate_exact() &&
      made_->form.guard == gate.guard())
    return *made_;
  if (std::string why = target_.Refuses(gate.program()); !why.empty())
    return Fail(Diag::Unsupported, std::move(why));
  exec::EmitOptions options;
  options.symbol = symbol_;
  exec::Artifact artifact = TRY(target_.Emit(gate.program(), options));
  engine::LoweredForm lowered{gate.Form(std::string(target_.name())), std::string(target_.name()),
                              artifact.bytes.size()};
  lowered.form.symbol = std::move(artifact.entry_symbol);
  lowered.form.payload = std::move(artifact.bytes);
  made_ = lowered;
  return lowered;
}

}  // namespace frazil::aot
