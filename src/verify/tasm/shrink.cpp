// Smaller counterexamples: whatever can go without the difference going is only noise to the reader.
#include <algorithm>

#include "base/deadline.h"
#include "verify/tasm/sample.h"

namespace frazil::verify::tasm {

namespace {

// What is told without its numbers, so that a shorter stream does not turn a wrong output into a stream that ended.
std::string KindOf(const std::string& difference) {
  std::string kind;
  for (char c : difference) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind;
}

class Shrinker {
 public:
  Shrinker(Refuted& refuted, const Tell& tell)
      : inputs_(std::get<MachineStart>(refuted.at)),
        difference_(refuted.difference),
        tell_(tell),
        kind_(KindOf(refuted.difference)) {}

  void DropCells() {
    std::vector<uint64_t> cells;
    for (const auto& [address, value] : inputs_.inputs.ram) cells.push_back(address);
    std::sort(cells.begin(), cells.end());
    for (size_t chunk = cells.size(); chunk > 0; chunk /= 2) {
      std::vector<uint64_t> kept;
      for (size_t at = 0; at < cells.size(); at += chunk) {
        const size_t end = std::min(cells.size(), at + chunk);
        MachineStart less = inputs_;
        for (size_t i = at; i < end; ++i) less.inputs.ram.erase(cells[i]);
        if (Keep(std::move(less))) continue;
        kept.insert(kept.end(), cells.begin() + static_cast<long>(at),
                    cells.begin() + static_cast<long>(end));
      }
      cells = std::move(kept);
    }
  }

  template <class Stream>
  void Shorten(Stream mt::Inputs::* stream) {
    for (size_t drop = (inputs_.inputs.*stream).size(); drop > 0;) {
      MachineStart less = inputs_;
      Stream& words = less.inputs.*stream;
      words.resize(words.size() - drop);
      if (!Keep(std::move(less))) drop /= 2;
      drop = std::min(drop, (inputs_.inputs.*stream).size());
    }
  }

  void SmallWords(const std::vector<uint64_t>& words, std::vector<uint64_t>& (*of)(MachineStart&)) {
    const size_t size = words.size();
    for (size_t i = 0; i < size; ++i) {
      for (uint64_t small : {0, 1, 2}) {
        if (of(inputs_)[i] <= small) break;
        MachineStart less = inputs_;
        of(less)[i] = small;
        if (Keep(std::move(less))) break;
      }
    }
  }

 private:
  bool Keep(MachineStart less) {
    if (deadline_.Passed()) return false;
    auto difference = tell_(less);
    if (!difference || KindOf(*difference) != kind_) return false;
    inputs_ = std::move(less);
    difference_ = std::move(*difference);
    return true;
  }

  MachineStart& inputs_;
  std::string& difference_;
  const Tell& tell_;
  std::string kind_;
  Deadline deadline_ = Deadline::After(300);
};

}  // namespace

void Shrink(Refuted& refuted, const Tell& tell) {
  const MachineStart& inputs = refuted.start();
  Shrinker shrinker(refuted, tell);
  shrinker.DropCells();
  shrinker.Shorten(&mt::Inputs::input);
  shrinker.Shorten(&mt::Inputs::secret);
  shrinker.Shorten(&mt::Inputs::digests);
  using Words = std::vector<uint64_t>;
  shrinker.SmallWords(inputs.inputs.input,
                      [](MachineStart& c) -> Words& { return c.inputs.input; });
  shrinker.SmallWords(inputs.inputs.secret,
                      [](MachineStart& c) -> Words& { return c.inputs.secret; });
  shrinker.SmallWords(inputs.stack, [](MachineStart& c) -> Words& { return c.stack; });
}

}  // namespace frazil::verify::tasm
