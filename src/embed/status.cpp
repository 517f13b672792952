// The sentences. A refusal names the parameters as the kernel's source does.
#include "embed/status.h"

#include <fmt/format.h>

#include "embed/kernel.h"

namespace frazil::embed {
namespace {

constexpr const char* ErrorNames[] = {"none",         "null buffer", "misaligned", "overlap",
                                      "wrong length", "too short",   "too long",   "empty launch",
                                      "no code",      "trapped"};
constexpr const char* TrapNames[] = {
    "division by zero", "overflow", "out of bounds", "assert", "invert of zero",
    "unreachable",      "fuel",     "depth",         "memory"};

const char* NameOf(const KernelData& kernel, size_t argument) {
  return argument < kernel.params.size ? kernel.params.begin()[argument].name.get() : "?";
}

std::string Sentence(const Status& status) {
  const char* one = NameOf(*status.kernel(), status.argument());
  const char* two = NameOf(*status.kernel(), status.other());
  switch (status.error()) {
    case LaunchError::None: return "ok";
    case LaunchError::NullBuffer: return fmt::format("{} has a length but no memory", one);
    case LaunchError::Misaligned: return fmt::format("{} is not aligned to its elements", one);
    case LaunchError::Overlap:
      return fmt::format("{} and {} overlap in part, and one of them is written", one, two);
    case LaunchError::WrongLength:
      return fmt::format("{} and {} must have the same length", one, two);
    case LaunchError::TooShort: return fmt::format("{} is larger than {} is long", one, two);
    case LaunchError::TooLong: return fmt::format("{} is longer than {} can say", two, one);
    case LaunchError::EmptyLaunch:
      return "the launch must have 1 or more in each direction, and at most 2^62 lanes";
    case LaunchError::NoCode: return "there is no code for this machine";
    case LaunchError::Trapped: break;
  }
  const char* trap = TrapKindName(status.trap());
  return status.index() < 0 ? std::string(trap)
                            : fmt::format("{} (iteration {})", trap, status.index());
}

}  // namespace

const char* LaunchErrorName(LaunchError error) { return ErrorNames[static_cast<size_t>(error)]; }
const char* TrapKindName(TrapKind trap) {
  const auto i = static_cast<size_t>(trap);
  return i < std::size(TrapNames) ? TrapNames[i] : "a stream has a value of another type";
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return fmt::format("{}: {}", kernel_->name.get(), Sentence(*this));
}

}  // namespace frazil::embed
