// What a claim about a program of the IR says, as the judge reads it: parameters, then the input stream, in the public input;
// the output stream, results and written buffers in the public output; hints by their type in one of two secret streams.
// Written again from the text in targets/tasm/tasm.h: what is wrong there must not be wrong here in the same way.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/outcome.h"
#include "ir/program.h"
#include "machines/tasm/inputs.h"
#include "verify/internal/inputs.h"

namespace frazil::verify::tasm {

namespace mt = machines::tasm;

// The words of a scalar on the machine; empty: it has none there.
std::vector<uint64_t> WordsOf(const exec::Value& scalar);
// So many, of a type; 0: it has none.
size_t WordCount(ir::Type type);
// The first number that is no word of the type; 0: every element is one.
uint64_t EndOf(ir::Type type);

// A call as the machine finds it. What lies in RAM is asked for when it is read: Claim::RamOf.
struct Start {
  mt::Inputs inputs;
  // For each word, the first number that is none of its type: assembly must stop there. 0: every element is one.
  std::vector<uint64_t> input_ends, secret_ends;
};

// Words in order, of which values are taken. What does not fit a type can be made to.
class WordStream {
 public:
  explicit WordStream(std::span<const uint64_t> words, bool fit) : words_(words), fit_(fit) {}
  size_t left() const { return words_.size() - at_; }
  // Nothing: there are too few words, or they are none of that type.
  std::optional<exec::Value> Take(ir::Type type);

 private:
  std::span<const uint64_t> words_;
  bool fit_;
  size_t at_ = 0;
};

class Claim {
 public:
  explicit Claim(const ir::Program& program);

  // Off the machine RAM has so many words.
  static constexpr int64_t RamWords = 1 << 14;
  bool has_ram() const { return ram_.has_value(); }
  std::optional<uint32_t> ram() const { return ram_; }  // the parameter

  // Nothing: no claim is about this call.
  std::optional<Start> StartOf(const Input& call) const;
  // What the call says of a word of RAM before it; nothing: that is the prover's.
  std::optional<uint64_t> RamOf(const Input& call, uint64_t address) const;
  // What must stand in the public output after a call that came to its end. `after`: its arguments then.
  std::optional<std::vector<uint64_t>> Output(const exec::Outcome& outcome,
                                              std::span<const exec::Value> after) const;
  // The arguments that begin the public input, and how the stream goes on. `fit`: words are made to fit their types.
  std::optional<std::vector<exec::Value>> Arguments(const mt::Inputs& inputs, bool fit,
                                                    size_t& words_taken) const;

 private:
  const ir::Program& program_;
  std::optional<uint32_t> ram_;
};

}  // namespace frazil::verify::tasm
