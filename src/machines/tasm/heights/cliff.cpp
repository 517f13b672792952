// The cascade table grows with the distinct limbs that hashing looks up, which no formula gives. So the chunks of the
// program are hashed once, each limb remembers the chunk that brought it, and the height of any shorter program is a
// count over that. Longer programs are this one's words over again.
#include "machines/tasm/heights/cliff.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "machines/tasm/tip5/tip5.h"

namespace frazil::machines::tasm {
namespace {

constexpr uint64_t LowestHeight = 256;
constexpr uint64_t AllLimbs = 65'536;

std::array<uint16_t, 80> LimbsOf(const Tip5Lookups& lookups) {
  std::array<uint16_t, 80> limbs;
  for (size_t i = 0; i < 80; ++i)
    limbs[i] = static_cast<uint16_t>(lookups[i / 4] >> (16 * (i % 4)));
  return limbs;
}

// Heights of the tables that depend on the number of words.
class Lengths {
 public:
  Lengths(const std::vector<uint64_t>& words, const TraceResult& trace)
      : words_(words), first_chunk_(AllLimbs, UINT32_MAX) {
    const uint64_t own_chunks = words.size() / Tip5Rate + 1;
    execution_hash_ = trace.profile[Table::Hash] - 6 * own_chunks;
    for (size_t limb = 0; limb < AllLimbs && !trace.execution_limbs.empty(); ++limb) {
      if ((trace.execution_limbs[limb / 64] >> (limb % 64) & 1) == 0) continue;
      first_chunk_[limb] = 0;
      ++limbs_before_.front();
    }
  }

  // Whether a program of that many words has these three tables at or under `height`.
  bool Fit(uint64_t length, uint64_t height) {
    const uint64_t chunks = length / Tip5Rate + 1;
    if (chunks * Tip5Rate > height || execution_hash_ + 6 * chunks > height) return false;
    return height >= AllLimbs || CascadeOf(length) <= height;
  }

 private:
  uint64_t WordAt(uint64_t index) const {
    return words_.empty() ? 0 : words_[index % words_.size()];
  }

  uint64_t CascadeOf(uint64_t length) {
    const auto full = static_cast<uint32_t>(length / Tip5Rate);
    while (states_.size() <= full) HashNextChunk();
    Tip5State state = states_[full];
    std::fill_n(state.elements.begin(), Tip5Rate, 0);
    for (uint64_t i = 0; i < length % Tip5Rate; ++i)
      state.elements[i] = WordAt(full * Tip5Rate + i);
    state.elements[length % Tip5Rate] = 1;
    Tip5Lookups lookups;
    PermuteRecording(state, lookups);
    std::array<uint16_t, 80> limbs = LimbsOf(lookups);
    std::ranges::sort(limbs);
    const auto end = std::ranges::unique(limbs).begin();
    // Chunk c (from 0) marks its limbs with c + 1; 0 is execution.
    const auto fresh =
        std::count_if(limbs.begin(), end, [&](uint16_t limb) { return first_chunk_[limb] > full; });
    return limbs_before_[full] + static_cast<uint64_t>(fresh);
  }

  void HashNextChunk() {
    const auto chunk = static_cast<uint32_t>(states_.size() - 1);
    Tip5State state = states_.back();
    for (uint64_t i = 0; i < Tip5Rate; ++i) state.elements[i] = WordAt(chunk * Tip5Rate + i);
    Tip5Lookups lookups;
    PermuteRecording(state, lookups);
    uint64_t count = limbs_before_.back();
    for (const uint16_t limb : LimbsOf(lookups)) {
      if (first_chunk_[limb] != UINT32_MAX) continue;
      first_chunk_[limb] = chunk + 1;
      ++count;
    }
    states_.push_back(state);
    limbs_before_.push_back(count);
  }

  const std::vector<uint64_t>& words_;
  uint64_t execution_hash_ = 0;
  std::vector<uint32_t> first_chunk_;
  std::vector<Tip5State> states_ = std::vector<Tip5State>(1);  // before each chunk
  std::vector<uint64_t> limbs_before_ = std::vector<uint64_t>(1);
};

std::vector<CliffPayer> PayersOf(Table table, const TraceResult& trace, uint64_t words) {
  uint64_t attributed = 0;
  for (const FunctionRows& function : trace.functions) attributed += function.rows[table];
  const uint64_t height = trace.profile[table];
  const double per_word =
      words == 0 || height < attributed
          ? 0
          : static_cast<double>(height - attributed) / static_cast<double>(words);
  std::vector<CliffPayer> payers;
  for (const FunctionRows& function : trace.functions)
    payers.push_back(
        {function.label,
         static_cast<double>(function.rows[table]) + per_word * static_cast<double>(function.words),
         function.words});
  std::ranges::sort(payers, [](const CliffPayer& a, const CliffPayer& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.label < b.label;
  });
  return payers;
}

}  // namespace

CliffReport ExplainCliff(const Program& program, const TraceResult& trace) {
  CliffReport report;
  const TableProfile& profile = trace.profile;
  report.padded = profile.PaddedHeight();
  report.below = report.padded > LowestHeight ? report.padded / 2 : 0;
  const std::vector<uint64_t> words = Encode(program);
  for (int i = 0; i < TableCount; ++i) {
    const auto table = static_cast<Table>(i);
    TableCliff cliff{table, profile[table], 0, report.padded - profile[table], {}};
    if (report.below != 0 && profile[table] > report.below) {
      cliff.above = profile[table] - report.below;
      cliff.payers = PayersOf(table, trace, words.size());
    }
    report.tables.push_back(std::move(cliff));
  }
  std::ranges::sort(report.tables, [](const TableCliff& a, const TableCliff& b) {
    return a.height != b.height ? a.height > b.height : a.table < b.table;
  });
  for (const Table table : {Table::Program, Table::Hash})
    if (profile[table] > profile[report.words_table]) report.words_table = table;

  Lengths lengths(words, trace);
  if (report.below != 0) {
    uint64_t length = words.size();
    while (length > 1 && !lengths.Fit(length, report.below)) --length;
    if (lengths.Fit(length, report.below)) report.words_to_save = words.size() - length;
  }
  uint64_t longer = words.size();
  while (lengths.Fit(longer + 1, report.padded)) ++longer;
  report.words_to_add = longer - words.size();
  return report;
}

std::string CliffReport::Line() const {
  if (below == 0)
    return fmt::format("at the lowest height, 2^8; words that can be added: {}", words_to_add);
  std::string above;
  for (const TableCliff& cliff : tables) {
    // The jump stack is as high as the processor.
    if (cliff.above == 0 || cliff.table == Table::JumpStack) continue;
    above +=
        fmt::format("{}{} ({})", above.empty() ? "" : ", ", cliff.above, TableName(cliff.table));
  }
  std::string line = fmt::format("rows above 2^{}: {}", std::countr_zero(below), above);
  if (!words_to_save)
    line += "; no program is short enough";
  else if (*words_to_save != 0)
    line += fmt::format("; words to save: {} ({})", *words_to_save, TableName(words_table));
  return line;
}

}  // namespace frazil::machines::tasm
