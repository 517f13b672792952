// Makes arguments and streams to compare programs on: edge values first, then random ones, all of them under the guard.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/outcome.h"
#include "exec/value.h"
#include "ir/program.h"
#include "verify/internal/guarded_memory.h"
#include "verify/internal/input_space.h"
#include "verify/internal/random.h"
#include "verify/internal/telling.h"

namespace frazil::verify {

struct Input {
  std::vector<exec::Value> arguments;
  std::vector<exec::Value> input;
  std::vector<exec::Value> hints;
  uint64_t lanes = 1;  // elements of the longest buffer or tensor, at least 1
};

// A copy with memory of its own, at the same alignment; buffers that were one stay one.
Input CopyOf(const Input& input);

// Are two of its buffers one?
bool HasShared(const Input& input);

// The same with this sign; other types as they are.
uint64_t WithSign(ir::Type type, uint64_t word, bool is_negative);
// A NaN that is not the one that programs answer with.
uint64_t OddNan(ir::Type type, bool is_negative);

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

  // For code that those did not reach: long buffers of plain values with few special ones, sizes that fit their buffers.
  // The random numbers should be fresh for each number.
  std::optional<Input> Stretch(uint64_t number);
  // How many pairs of buffers may be one; each of them is, on inputs of several lengths.
  size_t CountPairs() const;
  // An element takes long: fewer of them.
  void SetHeavy(bool is_heavy) { is_heavy_ = is_heavy; }
  // A neighbor of an input that was worth its while.
  std::optional<Input> Change(const Input& from);
  // The same with other sizes, for a branch that compares numbers which are so far from the wanted result.
  std::optional<Input> Nudge(const Input& from, uint64_t distance);
  // The same with other values.
  std::optional<Input> Season(const Input& from);
  // The same with another length of a buffer, which ends where memory does.
  std::optional<Input> Cut(const Input& from, uint32_t param, int64_t length) const;
  // Values that tell about what the program does and that would come by luck: all of them there are, and the same input with one
  // (indices are spoiled by others: `only_floats` leaves integers as they are).
  struct Flavor {
    enum class Kind : uint8_t {
      OneNan,
      Nothing,
      Far,
      FarElement,
      OneSign,
      Equal,
      Specials,
      Values,
      Quotients,
      Borders,
      Decisive
    };
    Kind kind;
    uint32_t param;      // OneNan, Nothing, Far, FarElement
    uint64_t which;      // a place, a number, a sign, a mood, a way to fold
    uint64_t place = 0;  // Decisive
  };
  std::vector<Flavor> Flavors() const;
  // For what is folded: all elements leave it as it is but for one, which is elsewhere each time.
  std::vector<Flavor> DecisiveFlavors() const;
  std::optional<Input> WithFlavor(const Input& from, const Flavor& flavor, bool only_floats);
  // Visits each with two buffers as one, the longer of them: all pairs of which one is written and that are not one already,
  // until `visit` says true. One at a time: of 64 buffers there are thousands, and each has 64 pieces of fenced memory.
  void Unite(const Input& from, const std::function<bool(const Input&)>& visit) const;

 private:
  enum class Mood : uint8_t { Edge, Plain, Small, Wild, Signs, Halves, Near };
  static constexpr uint64_t Offsets = 3;
  static constexpr uint64_t NanPlaces = 8;
  static constexpr uint64_t Chains = 64;  // of a fold
  // So many elements of a long buffer are made, a prime (no stride of a loop meets the same ones again), and repeated.
  static constexpr int64_t Period = 1021;
  static int64_t MadeOf(int64_t length) { return length > 2 * Period ? Period : length; }
  static void Repeat(exec::Memory& memory, int64_t made);
  Mood RandomMood();
  std::vector<uint64_t> ScalarWords(const Domain& domain, Mood mood,
                                    std::span<const std::vector<uint64_t>> edges);
  std::vector<uint64_t> ElementWords(ir::Type element, Mood mood, int64_t length);
  uint64_t ElementWord(ir::Type element, Mood mood, int64_t length);  // of types of one word
  uint64_t IndexWord(uint64_t length);
  uint64_t SignWord(ir::Type type);
  uint64_t FieldWord();
  uint64_t HalfWord(ir::Type type);
  uint64_t NearWord(ir::Type type);
  std::vector<uint64_t> SpecialWords(ir::Type element, uint64_t place, int64_t length);
  std::shared_ptr<exec::Memory> Fill(ir::Type element, int64_t length, uint64_t offset_elements,
                                     int64_t alignment);
  void FlavorMemory(exec::Memory& memory, const Flavor& flavor, bool only_floats);
  static bool IsLengthOf(const Input& input, const exec::Value& value);
  exec::Value Neutral(const exec::Value& value, const Flavor& flavor);
  void PutDecisive(exec::Memory& memory, const Flavor& flavor);
  uint64_t FlavorWord(ir::Type element, const Flavor& flavor, int64_t length);
  void PutLonely(exec::Memory& memory);
  void PutExtremes(exec::Memory& memory);
  void ChooseValues(uint64_t number, bool is_tile);
  int64_t LengthFor(uint32_t param, uint64_t number);
  bool MayAlias(uint32_t a, uint32_t b) const;
  using Aliases = std::vector<std::pair<uint32_t, uint32_t>>;
  struct Round {
    size_t length;
    uint64_t offset;
    size_t alias;
  };
  Round RoundOf(uint64_t number) const;
  void MakeBuffers(uint64_t number, Input& result);
  void PlaceBuffers(uint64_t number, uint64_t offset, const Aliases& aliases, Input& result);
  uint64_t Combinations() const;
  int64_t SizeFor(uint64_t number);
  void MakeScalars(uint64_t number, Input& result);
  void MakeTensors(Input& result);
  std::vector<exec::Value> MakeStream(std::span<const ir::Type> types, uint64_t number);
  int64_t IndexNear(const Input& result);
  void FitCovers(Input& result);
  bool Complete(const Input& result) const;
  std::vector<uint64_t> OtherWords(uint32_t param, const Input& input);
  void ChangeMemory(exec::Memory& memory);
  std::optional<int64_t> SizeOf(uint32_t param, const Input& input) const;
  void SetSize(uint32_t param, int64_t size, Input& input) const;
  void Resize(uint32_t param, Input& input);
  static void SetLength(uint32_t param, Input& input, int64_t wanted, uint64_t offset);
  std::optional<int64_t> LongLengthOf(uint64_t number) const;
  int64_t StretchedLength(uint64_t number);
  std::vector<int64_t> Sizes(uint64_t number);
  int64_t OneSize();
  std::optional<uint32_t> LongSymbol(uint64_t number) const;
  int64_t FewRows(int64_t common);
  static int64_t Volume(const std::vector<int64_t>& sizes, size_t count);
  int64_t SizedLength(const std::vector<int64_t>& sizes);

  const InputSpace& space_;
  Random& random_;
  bool folds_;
  const Telling telling_;
  bool has_wholes_;            // a tensor of constant shape lies in some buffer
  uint64_t lonely_count_ = 0;  // buffers of floats that are read
  bool is_heavy_ = false;
  bool calm_ = false;                   // this input: small numbers throughout
  bool sparse_ = false;                 // this input: few special elements
  uint64_t fence_ = 0;                  // these buffers: AtItsEnd or AtItsBegin
  bool same_place_ = false;             // this input: all at one alignment
  uint64_t odd_bytes_ = 0;              // this input: off their elements' own
  std::optional<Mood> mood_;            // these buffers: one for all
  uint64_t shift_ = 0;                  // this input: so much less than any word
  bool is_tiny_ = false;                // this input: integers from 1 to 3
  bool indices_ = false;                // this input: integers fit its buffers
  bool in_table_ = false;               // this input: integers fit all tables
  bool no_nans_ = false;                // this input: no buffer of them
  bool all_nan_ = false;                // this input: no number among its floats
  std::vector<uint64_t> special_;       // this input: where
  bool is_whole_ = false;               // this input: tensors fit
  std::optional<bool> negative_;        // this input: all of one sign
  std::optional<uint64_t> lonely_;      // so many buffers on there is the one NaN
  uint64_t lonely_place_ = 0;           // at this kind of place
  std::function<int64_t()> stretched_;  // this input: lengths of its own
  std::vector<std::vector<std::vector<uint64_t>>> edges_;  // by parameter
  std::vector<int64_t> lengths_;
  std::vector<Aliases> alias_classes_;
};

}  // namespace frazil::verify
