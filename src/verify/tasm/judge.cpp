#include "verify/tasm/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "verify/tasm/driver.h"
#include "verify/tasm/runs/runs.h"
#include "verify/tasm/tasm.h"

namespace frazil::verify::tasm {
namespace {

// A part of the time is kept for runs, of so many one; they also get what the proof has left.
constexpr uint64_t RunsShare = 5;
constexpr uint64_t Inputs = 1024;

std::optional<mt::Profile> ProfileOf(std::string_view name) {
  for (const mt::Profile profile : {mt::Profile::Dot, mt::Profile::Horner})
    if (mt::ProfileName(profile) == name) return profile;
  return std::nullopt;
}

// What a caller finds after a call besides results, and a program around the call does not show.
std::string LeavesUnseen(const ir::Program& program) {
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i)
    if (entry.param_type(i).is_buffer() && entry.param_type(i).access != ir::Access::In)
      return "words in RAM";
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts)
      if (inst.op == ir::Op::SpongeInit || inst.op == ir::Op::SpongeAbsorb ||
          inst.op == ir::Op::SpongeSqueeze)
        return "a sponge";
  return {};
}

class Assembly final : public TargetJudge {
 public:
  bool KnowsCalling(std::string_view calling) const override {
    return calling == Calling::Program || calling == Calling::Function ||
           calling == Calling::FirstOnTop;
  }

  Result<Verdict> Judge(const ir::Program& program, const exec::CompiledForm& form,
                        const ir::Guard& guard, const VerifyOptions& options) const override {
    if (!guard.atoms.empty()) return Unknown{"nothing tests a guard on Triton VM"};
    if (!KnowsCalling(form.calling))
      return Unknown{fmt::format("nobody here knows how to call it '{}'", form.calling)};
    const std::optional<mt::Profile> profile = ProfileOf(form.profile);
    if (!profile) return Unknown{fmt::format("there is no profile '{}'", form.profile)};
    Result<mt::Program> assembly = mt::Parse(form.payload, *profile);
    if (!assembly) return Unknown{"the assembly cannot be read: " + assembly.error().message};
    if (form.calling != Calling::Program) {
      if (std::string what = LeavesUnseen(program); !what.empty())
        return Unknown{fmt::format("a function that leaves {} behind is not judged", what)};
      assembly = WithDriver(program, *assembly, form.calling == Calling::FirstOnTop);
      if (!assembly) return Unknown{"it cannot be called: " + assembly.error().message};
    }
    return JudgeProgram(program, *assembly, options);
  }

 private:
  static Verdict JudgeProgram(const ir::Program& program, const mt::Program& assembly,
                              const VerifyOptions& options) {
    const Deadline deadline = Deadline::After(options.limits.verify_ms);
    const uint64_t for_runs = options.limits.verify_ms / RunsShare;
    Options symbolic;
    symbolic.milliseconds = options.limits.verify_ms - for_runs;
    Verdict verdict = Compare(program, assembly, symbolic);
    const auto* unknown = std::get_if<Unknown>(&verdict);
    if (unknown == nullptr) return verdict;
    RunsOptions runs;
    runs.inputs = Inputs;
    runs.milliseconds = std::max(for_runs, deadline.LeftMs());
    runs.search_ms = options.search_ms;
    runs.typical = options.typical;
    Verdict by_runs = CompareRuns(program, assembly, runs);
    // Both reasons are worth knowing: the first says why runs were needed.
    if (auto* also = std::get_if<Unknown>(&by_runs))
      also->reason = fmt::format("{}; by runs: {}", unknown->reason, also->reason);
    return by_runs;
  }
};

}  // namespace

std::shared_ptr<const TargetJudge> AssemblyJudge() { return std::make_shared<const Assembly>(); }

}  // namespace frazil::verify::tasm
