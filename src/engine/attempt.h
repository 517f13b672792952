// What became of a proposal. Every proposal of every proposer leaves one, and the store keeps them: who is worth asking can
// be counted (`frazil proposers`), and a proposer that learns has something to learn from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace frazil::engine {

enum class Fate : uint8_t {
  Won,      // verified and cheaper: it is what answers
  Lost,     // another one was cheaper, so it was not judged
  Refused,  // not lowered, not verified or not cheaper
  Refuted,  // wrong
};
constexpr Fate LastFate = Fate::Refuted;
std::string_view FateName(Fate fate);

struct Attempt {
  std::string proposer;
  std::string target;
  std::string source_exact, candidate_exact, guard;
  Fate fate = Fate::Lost;
  std::string reason;  // one sentence where it did not win
  // By the static measure, and in the unit of the target's cost; 0: it did not get that far.
  double source_static = 0, candidate_static = 0;
  double cost_before = 0, cost_after = 0;
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// A line of the store's log, and back; nothing where it is none.
std::string PrintAttempt(const Attempt& attempt);
std::optional<Attempt> ParseAttempt(std::string_view line);

// Added up, by proposer and target.
struct Account {
  uint64_t asked = 0, won = 0, lost = 0, refused = 0, refuted = 0;
  double gained = 0;                        // sum of log2(before / after) over those that won
  std::map<std::string, uint64_t> reasons;  // of the refused and refuted
};
std::map<std::pair<std::string, std::string>, Account> AddUp(const std::vector<Attempt>& attempts);

}  // namespace frazil::engine
