// A step is what remains of a launch when everything that can be known beforehand is known: an entry and its words.
#include "embed/sequence.h"

#include <algorithm>
#include <cstring>

namespace frazil::embed {
namespace {

constexpr size_t MostResults = 4;

}  // namespace

Bound Bind(const KernelData& kernel, const uint64_t* words, Extents extents) noexcept {
  Bound bound;
  bound.kernel = &kernel;
  bound.status = Check(kernel, words, extents);
  if (bound.status.ok()) bound.kernel = &FormFor(kernel, words);
  if (bound.status.ok() && bound.kernel->plain_entry(UsedLevel()) == nullptr)
    bound.status = Refused(kernel, LaunchError::NoCode);
  std::copy_n(words, kernel.word_count, bound.words);
  return bound;
}

Status Sequence::Add(const Bound& bound) {
  if (!bound.status.ok()) return bound.status;
  const KernelData& kernel = *bound.kernel;
  Step step{};
  step.entry = kernel.plain_entry(UsedLevel());
  step.words = static_cast<uint32_t>(words_.size());
  const bool may_fork = kernel.ranged_entry(UsedLevel()) != nullptr &&
                        WorkOf(kernel, bound.words) >= static_cast<double>(ForkPicoseconds);
  step.is_simple = !may_fork && kernel.results.size == 0;
  step.kernel = bound.kernel;
  std::ranges::copy(bound.results, step.results);
  words_.insert(words_.end(), bound.words, bound.words + kernel.word_count);
  if ((kernel.flags & PlainIsRanged) != 0) words_.insert(words_.end(), {AllBegin, AllEnd});
  steps_.push_back(step);
  return {};
}

Status Sequence::RunStep(const Step& step) const noexcept {
  uint64_t results[MostResults] = {};
  const Status status = embed::Run(*step.kernel, words_.data() + step.words, results);
  if (!status.ok()) return status;
  for (size_t i = 0; i < step.kernel->results.size; ++i) {
    const Kind kind = step.kernel->results.begin()[i];
    if (step.results[i] != nullptr) std::memcpy(step.results[i], &results[i], BytesOf(kind));
  }
  return {};
}

Status Sequence::Run() const noexcept {
  NativeRun* run = ThreadRun();
  if (run == nullptr)
    return steps_.empty() ? Status() : Refused(*steps_[0].kernel, LaunchError::NoCode);
  const uint64_t* words = words_.data();
  for (const Step& step : steps_) {
    if (step.is_simple) [[likely]] {
      const int32_t status = step.entry(words + step.words, nullptr, run);
      if (status == 0) [[likely]]
        continue;
      return Trapped(*step.kernel, status, run);
    }
    const Status status = RunStep(step);
    if (!status.ok()) return status;
  }
  return {};
}

void Sequence::Clear() {
  steps_.clear();
  words_.clear();
}

}  // namespace frazil::embed
