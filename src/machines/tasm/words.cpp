// Hints come from the table (the nearest mnemonic) and from a short list of things that other machines have.
#include "machines/tasm/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "machines/tasm/instruction.h"

namespace frazil::machines::tasm {
namespace {

struct Missing {
  std::string_view name, hint;
};
constexpr std::array MissingInstructions = {
    Missing{"or", "a or b is a + b - (a and b)"},
    Missing{"sub", "a - b is: push -1 mul add"},
    Missing{"neg", "-a is: push -1 mul"},
    Missing{"not", "1 - a is: push -1 mul addi 1"},
    Missing{"jump", "jumps are call, return and recurse"},
    Missing{"xinvert", "it is written x_invert"},
    Missing{"divmod", "it is written div_mod"},
    Missing{"ret", "it is written return"},
};

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool IsLabel(std::string_view name) {
  if (name.empty() || !IsLetter(name[0])) return false;
  if (!std::ranges::all_of(
          name, [](char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '-'; }))
    return false;
  if (name == "hint" || name == "error_id" || name == "error_message") return false;
  return !FindMnemonic(name);
}

std::string MnemonicHint(std::string_view written) {
  if (written.size() > 24) return {};
  std::string mnemonic(written);
  for (char& c : mnemonic)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const Missing& missing : MissingInstructions)
    if (missing.name == mnemonic) return std::string(missing.hint);
  std::string_view best;
  size_t best_distance = 3;
  for (int i = 0; i < OpcodeCount; ++i) {
    const std::string_view candidate = Info(static_cast<Opcode>(i)).mnemonic;
    const size_t distance = Distance(mnemonic, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? std::string() : fmt::format("did you mean `{}`?", best);
}

}  // namespace frazil::machines::tasm
