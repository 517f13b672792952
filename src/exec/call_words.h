// Where the words of a call lie: a scalar is its words; a buffer, or a tensor, its address and its length. Tensors of the
// results come behind the parameters (ir/lower/lower.h).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace frazil::exec {

struct CallParam {
  ir::Type type;
  uint32_t word, words;  // the first, and how many
  bool is_result;

  bool is_buffer() const { return !type.is_scalar(); }
  bool is_read() const {
    return !is_result && (type.is_scalar() || type.is_tensor() || type.access != ir::Access::Out);
  }
  bool is_written() const {
    return is_result || (type.is_buffer() && type.access != ir::Access::In);
  }
};

struct CallWords {
  explicit CallWords(const ir::Function& entry) {
    for (uint32_t i = 0; i < entry.param_count(); ++i) Add(entry.param_type(i), false);
    for (const ir::Type type : entry.results)
      if (type.is_tensor()) Add(type, true);
  }

  std::vector<CallParam> params;  // as many as the function has, and then results
  uint32_t size = 0;              // of all words

 private:
  void Add(ir::Type type, bool is_result) {
    const uint32_t words = type.is_scalar() ? ir::WordsOf(type) : 2;
    params.push_back({type, size, words, is_result});
    size += words;
  }
};

}  // namespace frazil::exec
