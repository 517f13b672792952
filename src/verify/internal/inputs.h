// Makes arguments and streams to compare programs on: edge values first, then random ones, all of them under the guard.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"
#include "verify/internal/input_space.h"
#include "verify/internal/random.h"

namespace frazil::verify {

struct Input {
  std::vector<exec::Value> arguments;
  std::vector<exec::Value> input;
  std::vector<exec::Value> hints;
  uint64_t lanes = 1;  // elements of the longest buffer or tensor, at least 1
};

// A copy with memory of its own, at the same alignment; buffers that were one stay one.
Input CopyOf(const Input& input);

// Memory with canaries before and after it, its data at `offset_bytes` past a multiple of 4096.
std::shared_ptr<exec::Memory> MakeGuardedMemory(ir::Type element, int64_t length,
                                                uint64_t offset_bytes);
// Only of memory that MakeGuardedMemory made.
bool CanariesIntact(const exec::Memory& memory);

// Values of a scalar type at which programs tend to differ, the most telling first: limits of the type, powers of
// two, special floats, and the constants of the programs with their neighbors; all of them in the domain.
class EdgeValues {
 public:
  EdgeValues(const ir::Program& source, const ir::Program& candidate);
  std::vector<std::vector<uint64_t>> Of(const Domain& domain) const;

 private:
  std::vector<std::pair<ir::Type, std::vector<uint64_t>>> constants_;
};

class InputMaker {
 public:
  InputMaker(const InputSpace& space, const ir::Program& source, const ir::Program& candidate,
             Random& random);

  // Scalars only. All combinations of edge values if there are few parameters, fewer values of each or picked ones if
  // there are many; at most `most`, none if there are no parameters.
  std::vector<std::vector<std::vector<uint64_t>>> EdgeTuples(size_t most);
  // One random value for each scalar parameter.
  std::vector<std::vector<uint64_t>> RandomTuple();

  // Any parameters: number 0, 1, 2, ... walks lengths, alignments and alias classes; Rounds() of them see each at least
  // once. Nothing if no attempt satisfied the guard.
  std::optional<Input> Make(uint64_t number);
  uint64_t Rounds() const;

 private:
  enum class Mood : uint8_t { Edge, Plain, Small, Wild };
  Mood RandomMood();
  std::vector<uint64_t> ScalarWords(const Domain& domain, Mood mood,
                                    std::span<const std::vector<uint64_t>> edges);
  std::vector<uint64_t> ElementWords(ir::Type element, Mood mood, int64_t length);
  std::shared_ptr<exec::Memory> Fill(ir::Type element, int64_t length, uint64_t offset_elements,
                                     int64_t alignment);
  int64_t LengthFor(uint32_t param, uint64_t number);
  bool MayAlias(uint32_t a, uint32_t b) const;
  void MakeBuffers(uint64_t number, Input& result);
  uint64_t Combinations() const;
  int64_t SizeFor(uint64_t number);
  void MakeScalars(uint64_t number, Input& result);
  void MakeTensors(Input& result);
  std::vector<exec::Value> MakeStream(std::span<const ir::Type> types, uint64_t number);
  int64_t IndexNear(const Input& result);

  const InputSpace& space_;
  Random& random_;
  bool folds_;
  bool calm_ = false;                                      // this input: small numbers throughout
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // by parameter
  std::vector<int64_t> lengths_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> alias_classes_;
};

}  // namespace frazil::verify
