// The launch rules of exec/launch.h for a call in words: made ready once for a program, tested without values. What it does
// not let through is not wrong for that: exec/launch.h decides, and says what is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "exec/apart.h"
#include "exec/call_words.h"
#include "ir/program.h"

namespace frazil::exec {

class WordLaunch {
 public:
  // Tensors are buffers in the words of a call, those of the results behind the parameters (ir/lower/lower.h).
  explicit WordLaunch(const ir::Program& program);

  // True only where CheckLaunch, or CheckLoweredLaunch for a program with tensors, finds nothing wrong.
  bool Holds(const uint64_t* words) const;

 private:
  // A word that is a value of its type: at most `width` above `low`, in arithmetic that wraps.
  struct Range {
    uint32_t word;
    uint64_t low, width;
  };
  struct Buffer {
    uint32_t word;
    ir::Type element;
    uint64_t element_bytes;
    uint64_t most;              // elements
    bool has_checked_contents;  // it is read, and some bytes are no values of its type
  };
  // A tensor has as many elements as its sizes say: a number, times words of the call.
  struct Shape {
    uint32_t length_word = 0, count = 0;
    int64_t numbers = 1;
    std::array<uint32_t, ir::MaxRank> dims = {};
    bool Holds(const uint64_t* words) const;
  };

  void AddScalar(const CallParam& param);
  void AddBuffer(const CallParam& param);
  void AddShape(const ir::Function& entry, const CallWords& call, const CallParam& param);

  std::vector<Range> ranges_;
  std::vector<Buffer> buffers_;
  std::vector<Shape> shapes_;
  BuffersOfCall apart_;  // empty: no two of them need be
  bool never_ = false;   // a size that no tensor has
};

}  // namespace frazil::exec
