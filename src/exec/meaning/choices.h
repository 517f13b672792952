// Which ways the choices of a program have gone: code without branches computes both and has no blocks that tell.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace frazil::exec {

class Choices {
 public:
  // A bit for each way of an instruction: of `select` and `if` the first where the condition holds, of `switch` its
  // regions, the 64th and all behind it together.
  void Note(const ir::Program& program, const ir::Function& function, const ir::Inst& inst,
            uint32_t way) {
    Note(static_cast<size_t>(&function - program.functions.data()),
         static_cast<size_t>(&inst - function.insts.data()), way);
  }
  void Note(size_t function, size_t inst, uint32_t way) {
    if (ways_.size() <= function) ways_.resize(function + 1);
    if (ways_[function].size() <= inst) ways_[function].resize(inst + 1);
    ways_[function][inst] |= uint64_t{1} << (way < 63 ? way : 63);
  }
  uint64_t Of(size_t function, size_t inst) const {
    return function < ways_.size() && inst < ways_[function].size() ? ways_[function][inst] : 0;
  }
  void Add(const Choices& other) {
    if (ways_.size() < other.ways_.size()) ways_.resize(other.ways_.size());
    for (size_t f = 0; f < other.ways_.size(); ++f) {
      if (ways_[f].size() < other.ways_[f].size()) ways_[f].resize(other.ways_[f].size());
      for (size_t i = 0; i < other.ways_[f].size(); ++i) ways_[f][i] |= other.ways_[f][i];
    }
  }

 private:
  std::vector<std::vector<uint64_t>> ways_;  // by function and instruction
};

}  // namespace frazil::exec
