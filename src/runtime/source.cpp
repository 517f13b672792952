#include "runtime/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/sha256.h"
#include "ir/digest.h"
#include "machines/simt/module.h"
#include "targets/cuda/driver/target.h"
#include "targets/isa/isa.h"

namespace frazil::runtime {
namespace {

uint64_t NextId() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::string KernelKey(const ir::Program& program, std::string_view exact) {
  std::string key(exact);
  const ir::Function& entry = program.entry_function();
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const size_t value = entry.param(i).index;
    key += ',';
    if (value < entry.value_names.size()) key += entry.value_names[value];
  }
  return key;
}

Source::Source(ir::Program program, std::vector<exec::Artifact> proposals) {
  std::string exact = ir::ExactDigest(program);
  std::string key = KernelKey(program, exact);
  for (const exec::Artifact& proposal : proposals)
    key += "+" + proposal.target + Sha256Hex(proposal.bytes);
  data_ = std::make_shared<const Data>(
      Data{std::move(program), std::move(exact), std::move(key), NextId(), std::move(proposals)});
}

const exec::Artifact* Source::ProposalFor(std::string_view target) const {
  const auto found = std::ranges::find(data_->proposals, target, &exec::Artifact::target);
  return found == data_->proposals.end() ? nullptr : &*found;
}

// The portable form says what the kernel is: it was proved when it was built. PTX says itself what it is of, and that has to
// be the same program.
Result<Source> Source::Embedded(const embed::KernelData& kernel) {
  std::optional<ir::Program> lifted;
  if (!kernel.isa.bytes().empty())
    lifted = TRY(targets::isa::Lift(TRY(machines::simt::LoadModule(kernel.isa.bytes()))));
  if (kernel.ptx.bytes().empty()) {
    if (lifted) return Source(std::move(*lifted));
    return Fail(Diag::Unsupported,
                fmt::format("the kernel {} was built for neither isa nor ptx", kernel.name.get()));
  }
  exec::Artifact ptx = TRY(targets::cuda::ArtifactOfModule(kernel.ptx.bytes()));
  ir::Program program = *ptx.source;
  if (lifted) {
    const ir::Program prepared = TRY(targets::isa::PrepareProgram(program));
    if (ir::ExactDigest(prepared) != ir::ExactDigest(*lifted))
      return Fail(Diag::BadArtifact,
                  fmt::format("the PTX of {} is of another program", kernel.name.get()));
  }
  return Source(std::move(program), {std::move(ptx)});
}

}  // namespace frazil::runtime
