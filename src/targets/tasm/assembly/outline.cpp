// A call is two words and two rows with its return. What follows skiz must stay one instruction, and what ends a block must
// stay where it is; all other instructions mean the same wherever they stand.
#include "targets/tasm/assembly/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace frazil::targets::tasm {
namespace {

namespace mt = machines::tasm;
using mt::Opcode;

constexpr uint32_t Shortest = 2, Longest = 40;

bool Stays(Opcode op) {
  return op == Opcode::Skiz || op == Opcode::Return || op == Opcode::Halt ||
         op == Opcode::Recurse || op == Opcode::RecurseOrReturn;
}

// Equal numbers: the same instruction, which traps for the same reason. 0: stays.
std::u32string Numbered(const mt::Program& program) {
  std::map<std::tuple<Opcode, uint64_t, int64_t, uint32_t, uint32_t>, char32_t> numbers;
  std::u32string all;
  for (size_t i = 0; i < program.code.size(); ++i) {
    const mt::Instruction& one = program.code[i];
    // A trap site (lower_parts.h) is told apart by its column, and its line is told to the reader.
    const bool site = (one.location.column >> 31) != 0;
    const auto key = std::tuple(one.op, one.argument, one.error_id, site ? one.location.line : 0,
                                site ? one.location.column : 0);
    const char32_t number =
        numbers.try_emplace(key, static_cast<char32_t>(numbers.size() + 1)).first->second;
    const bool skipped = i > 0 && program.code[i - 1].op == Opcode::Skiz;
    all.push_back(Stays(one.op) || skipped ? U'\0' : number);
  }
  return all;
}

}  // namespace

std::vector<Repeated> FindRepeated(const mt::Program& program, size_t most) {
  const std::u32string all = Numbered(program);
  const std::vector<uint32_t> addresses = program.Addresses();
  std::vector<Repeated> best;
  for (uint32_t length = Shortest; length <= Longest && length <= all.size(); ++length) {
    std::unordered_map<std::u32string_view, std::vector<uint32_t>> places;
    const std::u32string_view view = all;
    for (uint32_t i = 0; i + length <= all.size(); ++i) {
      const std::u32string_view window = view.substr(i, length);
      if (const size_t stays = window.find(U'\0'); stays != std::u32string_view::npos) {
        i += static_cast<uint32_t>(stays);
        continue;
      }
      std::vector<uint32_t>& found = places[window];
      if (found.empty() || found.back() + length <= i) found.push_back(i);
    }
    bool any = false;
    for (auto& [window, found] : places) {
      if (found.size() < 2) continue;
      any = true;
      const uint64_t words = addresses[found[0] + length] - addresses[found[0]];
      const uint64_t before = words * found.size(), after = words + 1 + 2 * found.size();
      if (before > after) best.push_back({found, length, before - after});
    }
    if (!any) break;
  }
  std::sort(best.begin(), best.end(), [](const Repeated& a, const Repeated& b) {
    return std::tuple(b.saved, a.length, a.places) < std::tuple(a.saved, b.length, b.places);
  });
  if (best.size() > most) best.resize(most);
  return best;
}

mt::Program Outline(const mt::Program& program, const Repeated& repeated) {
  mt::Program result;
  result.profile = program.profile;
  std::vector<uint32_t> moved(program.code.size() + 1);
  size_t next = 0;
  std::vector<size_t> calls;
  for (uint32_t i = 0; i < program.code.size(); ++i) {
    moved[i] = static_cast<uint32_t>(result.code.size());
    if (next < repeated.places.size() && repeated.places[next] == i) {
      calls.push_back(result.code.size());
      result.code.push_back({Opcode::Call, 0, -1, {program.code[i].location.line, 0}});
      for (uint32_t j = 1; j < repeated.length; ++j)
        moved[++i] = static_cast<uint32_t>(result.code.size());
      ++next;
      continue;
    }
    result.code.push_back(program.code[i]);
  }
  moved[program.code.size()] = static_cast<uint32_t>(result.code.size());
  const uint32_t block = static_cast<uint32_t>(result.code.size());
  const auto first = program.code.begin() + repeated.places[0];
  result.code.insert(result.code.end(), first, first + repeated.length);
  result.code.push_back({Opcode::Return, 0, -1, {first->location.line, 0}});
  for (mt::Instruction& instruction : result.code)
    if (instruction.op == Opcode::Call) instruction.argument = moved[instruction.argument];
  for (size_t call : calls) result.code[call].argument = block;
  std::unordered_set<std::string> names;
  for (const mt::Label& label : program.labels) {
    names.insert(label.name);
    result.labels.push_back({label.name, moved[label.instruction]});
  }
  std::string name = "shared";
  for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("shared_{}", i);
  result.labels.push_back({name, block});
  return result;
}

}  // namespace frazil::targets::tasm
