#include "engine/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace frazil::engine {
namespace {

constexpr char Separator = '\t';
constexpr size_t FieldCount = 11;

// Whatever a reason says, a line is one line.
std::string Flat(std::string_view text) {
  std::string flat(text);
  std::ranges::replace_if(flat, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return flat;
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

// "refuted: result 1: 7 against 8" and its like differ in every case; what they begin with is what is counted.
std::string KindOfReason(const Attempt& attempt) {
  const std::string_view reason = attempt.reason;
  return std::string(reason.substr(0, reason.find(": ", reason.find(": ") + 1)));
}

}  // namespace

std::string_view FateName(Fate fate) {
  constexpr std::array<std::string_view, static_cast<size_t>(LastFate) + 1> Names = {
      "won", "lost", "refused", "refuted"};
  return Names[static_cast<size_t>(fate)];
}

std::string PrintAttempt(const Attempt& attempt) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", Flat(attempt.proposer),
                     Flat(attempt.target), FateName(attempt.fate), attempt.source_exact,
                     attempt.candidate_exact, Flat(attempt.guard), attempt.source_static,
                     attempt.candidate_static, attempt.cost_before, attempt.cost_after,
                     Flat(attempt.reason));
}

std::optional<Attempt> ParseAttempt(std::string_view line) {
  std::array<std::string_view, FieldCount> fields;
  for (size_t i = 0; i < FieldCount; ++i) {
    const size_t end = line.find(Separator);
    if ((end == std::string_view::npos) != (i + 1 == FieldCount)) return {};
    fields[i] = line.substr(0, end);
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
  Attempt attempt;
  attempt.proposer = fields[0];
  attempt.target = fields[1];
  attempt.source_exact = fields[3];
  attempt.candidate_exact = fields[4];
  attempt.guard = fields[5];
  bool known = false;
  for (uint8_t i = 0; i <= static_cast<uint8_t>(LastFate); ++i) {
    if (fields[2] != FateName(static_cast<Fate>(i))) continue;
    attempt.fate = static_cast<Fate>(i);
    known = true;
  }
  double* numbers[] = {&attempt.source_static, &attempt.candidate_static, &attempt.cost_before,
                       &attempt.cost_after};
  for (size_t i = 0; i < std::size(numbers); ++i) {
    const std::optional<double> number = ParseNumber(fields[6 + i]);
    known = known && number;
    *numbers[i] = number.value_or(0);
  }
  attempt.reason = fields[10];
  if (!known || attempt.proposer.empty()) return {};
  return attempt;
}

std::map<std::pair<std::string, std::string>, Account> AddUp(const std::vector<Attempt>& attempts) {
  std::map<std::pair<std::string, std::string>, Account> accounts;
  for (const Attempt& attempt : attempts) {
    Account& account = accounts[{attempt.proposer, attempt.target}];
    ++account.asked;
    switch (attempt.fate) {
      case Fate::Won:
        ++account.won;
        if (attempt.cost_before > 0 && attempt.cost_after > 0)
          account.gained += std::log2(attempt.cost_before / attempt.cost_after);
        break;
      case Fate::Lost: ++account.lost; break;
      case Fate::Refused: ++account.refused; break;
      case Fate::Refuted: ++account.refuted; break;
    }
    if (attempt.fate >= Fate::Refused) ++account.reasons[KindOfReason(attempt)];
  }
  return accounts;
}

}  // namespace frazil::engine
