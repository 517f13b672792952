// The way of one kernel: an optimized candidate or, where it cannot be verified, the source itself; then each target by
// itself, each with its own verdict. Machine code of a level that this machine does not have cannot be run, so it cannot
// be judged, and is not embedded: such a machine then uses the level below.
#include "aot/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "aot/judge.h"
#include "aot/measure.h"
#include "aot/other_targets.h"
#include "aot/pieces.h"
#include "exec/native_callable.h"
#include "ir/digest.h"
#include "ir/independence.h"
#include "ir/kernel.h"
#include "ir/text.h"
#include "optimize/optimize.h"
#include "targets/native/native.h"

namespace frazil::aot {
namespace {

using SteadyClock = std::chrono::steady_clock;

static_assert(static_cast<int>(embed::ScalarKind::Index) == static_cast<int>(ir::Scalar::Index));
static_assert(static_cast<int>(embed::ParamRole::BlockZ) ==
              static_cast<int>(ir::ParamRole::BlockZ));
static_assert(static_cast<int>(embed::Access::InOut) == static_cast<int>(ir::Access::InOut));

constexpr size_t MostResults = 4;
// A kernel with more code than this has it once: the ranged form with all iterations is its plain form. Its
// launch then clamps two bounds more, which only the shortest kernels would notice.
constexpr size_t SmallCode = 2048;

std::string Grouped(uint64_t number) {
  std::string text = fmt::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

// Why a kernel has no C++ signature; empty if it has one.
std::string WhyNoSignature(const ir::Program& program) {
  const ir::Function& function = program.entry_function();
  std::vector<ir::Type> types = function.results;
  uint32_t words = 0;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    types.push_back(function.param_type(i));
    words += types.back().is_buffer() ? 2 : 1;
  }
  for (const ir::Type type : types) {
    if (type.is_tensor()) return "tensors have no place in a C++ signature; give it buffers";
    if (type.scalar > ir::Scalar::Index)
      return fmt::format("{} has no place in a C++ signature", ir::ScalarOrBufferName(type));
  }
  if (function.results.size() > MostResults)
    return fmt::format("it has more than {} results", MostResults);
  if (words > embed::MostWords)
    return fmt::format("its arguments take more than {} words", embed::MostWords);
  for (const ir::Function& each : program.functions)
    for (const ir::Inst& inst : each.insts)
      if (ir::Info(inst.op).effect == ir::Effect::Io) return "it reads or writes streams";
  return {};
}

bool HasSharedAtomics(const ir::Program& program) {
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts) {
      if (inst.op != ir::Op::AtomicRmw && inst.op != ir::Op::AtomicCas) continue;
      const ir::InstId def = function.values[function.operand(inst, 0).index].def;
      if (!def.valid() || function.inst(def).op != ir::Op::Alloc) return true;
    }
  return false;
}

class Compilation {
 public:
  Compilation(const SourceKernel& source, const BuildOptions& options)
      : source_(source), options_(options) {}

  BuiltKernel Run() {
    const auto start = SteadyClock::now();
    built_.report.name = source_.name;
    built_.doc = source_.doc;
    built_.source = ir::PrintText(source_.program);
    built_.digest = ir::ExactDigest(source_.program);
    ChooseCandidate();
    Measure();
    const std::string why = WhyNoSignature(source_.program);
    if (why.empty()) Describe();
    for (const Target target : options_.targets) {
      if (target != Target::Native) {
        EmitOther(target, source_.name, *program_, options_, built_);
      } else if (!why.empty()) {
        Refuse("native", why);
      } else {
        EmitNative();
      }
    }
    built_.report.evidence = Evidence();
    built_.report.ms =
        std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
    return std::move(built_);
  }

 private:
  void Refuse(std::string target, std::string reason) {
    built_.report.refusals.push_back({std::move(target), std::move(reason)});
  }

  void ChooseCandidate() {
    Result<ir::Candidate> candidate = optimize::Optimize(source_.program, options_.limits);
    if (candidate) {
      meaning_ = JudgeMeaning(source_.program, *candidate, options_.limits);
      if (!meaning_.accepted) Refuse("optimized", meaning_.reason);
    } else {
      Refuse("optimized", candidate.error().message);
    }
    if (!meaning_.accepted) {
      candidate = ir::Candidate{source_.program, {}, {}, "source"};
      meaning_ = JudgeMeaning(source_.program, *candidate, options_.limits);
    }
    program_ = std::make_shared<const ir::Program>(std::move(candidate->program));
  }

  void Measure() {
    KernelReport& report = built_.report;
    report.ops_before = CountOps(source_.program);
    report.ops_after = CountOps(*program_);
    report.traffic_before = TrafficOf(source_.program);
    report.traffic_after = TrafficOf(*program_);
  }

  void Describe() {
    const ir::KernelSignature signature = ir::SignatureOf(source_.program);
    for (size_t i = 0; i < signature.params.size(); ++i) {
      const ir::KernelParam& param = signature.params[i];
      built_.params.push_back({param.name, static_cast<embed::ScalarKind>(param.type.scalar),
                               static_cast<embed::ParamRole>(param.role),
                               static_cast<embed::Access>(param.type.access)});
      for (const uint32_t buffer : param.buffers)
        built_.lengths.push_back({static_cast<uint16_t>(i), static_cast<uint16_t>(buffer)});
    }
    for (const ir::Type type : source_.program.entry_function().results)
      built_.results.push_back(static_cast<embed::ScalarKind>(type.scalar));
    built_.covers = CoveredBuffers(source_.program);
    built_.work = EstimateWork(*program_);
  }

  Result<exec::NativeImage> Emit(const ir::Program& program, exec::CpuLevel level) const {
    targets::native::NativeOptions options;
    options.level = level;
    return targets::native::EmitImage(program, options);
  }

  void EmitNative() {
    const bool in_pieces = PreparePieces();
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      const auto level = static_cast<exec::CpuLevel>(i);
      if (level > exec::HostLevel()) {
        Refuse(fmt::format("native {}", exec::CpuLevelName(level)),
               "this machine cannot run it, so it cannot be judged");
        continue;
      }
      const auto plain = EmitPlain(level);
      if (plain != nullptr && in_pieces) EmitRanged(level, plain);
    }
    DropLargePlain();
    built_.report.in_pieces =
        std::ranges::any_of(built_.ranged, [](const Code& code) { return !code.bytes.empty(); });
    if (built_.has_native()) built_.report.targets.emplace_back("native");
  }

  void DropLargePlain() {
    size_t most = 0;
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      if (built_.plain[i].bytes.empty() != built_.ranged[i].bytes.empty() || !whole_ok_[i]) return;
      most = std::max(most, built_.plain[i].bytes.size());
    }
    if (most <= SmallCode) return;
    for (int i = 0; i < exec::CpuLevelCount; ++i) {
      built_.report.native_bytes[i] -= built_.plain[i].bytes.size();
      built_.plain[i] = {};
    }
    built_.plain_is_ranged = true;
  }

  // The code of one level, judged; null where it was refused.
  std::shared_ptr<const exec::NativeCode> EmitPlain(exec::CpuLevel level) {
    const std::string what = fmt::format("native {}", exec::CpuLevelName(level));
    Result<exec::NativeImage> image = Emit(*program_, level);
    if (!image) return Refuse(what, image.error().message), nullptr;
    // It would run on its caller's stack, of which nothing is known: the depth must not depend on that.
    if (image->stack.recursive) return Refuse(what, "it is recursive"), nullptr;
    auto code = exec::NativeCode::Map(*image);
    if (!code) return Refuse(what, code.error().message), nullptr;
    auto callable = exec::MakeNativeCallable(*code, program_);
    if (!callable) return Refuse(what, callable.error().message), nullptr;
    Judged judged = JudgeCode(*program_, **callable, options_.limits, notes_);
    if (!judged.accepted) return Refuse(what, judged.reason), nullptr;
    Keep(built_.plain[static_cast<size_t>(level)], *image, level, judged);
    return *code;
  }

  void Keep(Code& code, exec::NativeImage& image, exec::CpuLevel level, const Judged& judged) {
    built_.report.native_bytes[static_cast<size_t>(level)] += image.code.size();
    code = {std::move(image.code), image.entry_offset, image.uses_run};
    if (lowering_.cases == 0 || judged.evidence.cases < lowering_.cases)
      lowering_ = judged.evidence;
  }

  // What pieces have in common on every level.
  bool PreparePieces() {
    const auto refuse = [&](std::string reason) {
      return Refuse("in pieces", std::move(reason)), false;
    };
    if (!built_.results.empty()) return refuse("it gives results");
    Result<ir::RangedKernel> ranged = ir::MakeRanged(*program_);
    if (!ranged) return refuse(ranged.error().message);
    if (HasSharedAtomics(*program_)) return refuse("native atomics are not atomic between threads");
    ranged_ = std::move(*ranged);
    built_.trips_word = TripsWord(*program_);
    if (built_.trips_word == embed::NoWord) {
      Result<exec::NativeImage> trips = Emit(ranged_->trips, exec::CpuLevel::Baseline);
      if (!trips) return refuse(trips.error().message);
      auto code = exec::NativeCode::Map(*trips);
      if (!code) return refuse(code.error().message);
      trips_code_ = *code;
      built_.trips = {trips->code, trips->entry_offset, trips->uses_run};
    }
    const auto pairs = [](const auto& from, std::vector<embed::PairData>& to) {
      for (const auto& [first, second] : from)
        to.push_back({static_cast<uint16_t>(first), static_cast<uint16_t>(second)});
    };
    pairs(ranged_->conditions.disjoint, built_.disjoint);
    pairs(ranged_->conditions.at_most, built_.at_most);
    return true;
  }

  void EmitRanged(exec::CpuLevel level, const std::shared_ptr<const exec::NativeCode>& plain) {
    const std::string what = fmt::format("in pieces, {}", exec::CpuLevelName(level));
    Result<exec::NativeImage> image = Emit(ranged_->program, level);
    if (!image) return Refuse(what, image.error().message);
    auto code = exec::NativeCode::Map(*image);
    if (!code) return Refuse(what, code.error().message);
    PiecesCode pieces{plain, *code, trips_code_, built_.trips_word, ranged_->conditions};
    const auto callable = MakePiecesCallable(std::move(pieces), program_);
    const Judged judged = JudgeCode(*program_, *callable, options_.limits, notes_);
    if (!judged.accepted) return Refuse(what, judged.reason);
    Keep(built_.ranged[static_cast<size_t>(level)], *image, level, judged);
    whole_ok_[static_cast<size_t>(level)] =
        JudgeCode(*program_, *MakeWholeCallable(*code, program_), options_.limits, notes_).accepted;
  }

  std::string Evidence() const {
    std::string text =
        fmt::format("{} ({})", verify::GradeName(meaning_.evidence.grade), meaning_.evidence.judge);
    if (built_.has_native())
      text +=
          fmt::format(", code {} {}", verify::GradeName(lowering_.grade), Grouped(lowering_.cases));
    if (!built_.isa.empty()) text += ", isa proved";
    return text;
  }

  const SourceKernel& source_;
  const BuildOptions& options_;
  BuiltKernel built_;
  Judged meaning_;
  verify::Evidence lowering_;
  std::shared_ptr<const ir::Program> program_;  // what is compiled
  verify::SampleNotes notes_;                   // of program_
  std::optional<ir::RangedKernel> ranged_;
  std::shared_ptr<const exec::NativeCode> trips_code_;
  // Levels without code have nothing that could be wrong.
  std::array<bool, exec::CpuLevelCount> whole_ok_ = {true, true, true};
};

}  // namespace

BuiltKernel CompileKernel(const SourceKernel& source, const BuildOptions& options) {
  return Compilation(source, options).Run();
}

}  // namespace frazil::aot
