#include "verify/wasm/data.h"

#include <fmt/format.h>

#include <set>

namespace frazil::verify::wasm {
namespace {

constexpr uint64_t FirstAddress = 16;
uint64_t Aligned(uint64_t address) { return (address + 15) / 16 * 16; }

void AppendBytes(std::string& out, uint64_t word, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(word >> (8 * i)));
}

std::string BytesOf(const ir::Data& data) {
  std::string out;
  const size_t bytes = ir::BytesOf(data.element) / ir::WordsOf(data.element);
  for (const uint64_t word : data.words) AppendBytes(out, word, bytes);
  return out;
}

// What the functions that the entry reaches have in memory.
class Wanted {
 public:
  explicit Wanted(const ir::Program& program) : program_(program), is_used_(program.data.size()) {
    std::vector<bool> seen(program.functions.size());
    std::vector<size_t> open = {program.entry.index};
    seen[program.entry.index] = true;
    while (!open.empty()) {
      const ir::Function& function = program_.functions[open.back()];
      open.pop_back();
      for (const ir::Region& region : function.regions) {
        for (const ir::InstId id : region.insts) {
          const ir::Inst& inst = function.inst(id);
          if (inst.op == ir::Op::Lookup) is_used_[function.words_of(inst)[0]] = true;
          if (inst.op == ir::Op::Const) AddConstant(function.words_of(inst));
          if (inst.op != ir::Op::Call) continue;
          const uint64_t callee = function.words_of(inst)[0];
          if (!seen[callee]) open.push_back(callee);
          seen[callee] = true;
        }
      }
    }
  }

  bool is_used(size_t table) const { return is_used_[table]; }
  // Is it a row of constants?
  bool IsMadeOf(std::string_view bytes) const {
    std::vector<bool> is_end(bytes.size() + 1);
    is_end[0] = true;
    for (size_t at = 0; at < bytes.size(); ++at) {
      if (!is_end[at]) continue;
      for (const size_t length : lengths_)
        if (length <= bytes.size() - at && constants_.contains(bytes.substr(at, length)))
          is_end[at + length] = true;
    }
    return is_end.back();
  }

 private:
  void AddConstant(std::span<const uint64_t> words) {
    if (words.size() < 2) return;
    std::string bytes;
    for (const uint64_t word : words) AppendBytes(bytes, word, 8);
    lengths_.insert(bytes.size());
    constants_.insert(std::move(bytes));
  }

  const ir::Program& program_;
  std::set<std::string, std::less<>> constants_;
  std::set<size_t> lengths_;
  std::vector<bool> is_used_;  // tables
};

std::unexpected<Error> Bad(const Segment& segment, std::string_view what) {
  return Fail(Diag::Unsupported, fmt::format("+{:#x}: {}", segment.place, what));
}

}  // namespace

Result<void> CheckData(const Module& module, const ir::Program& lowered) {
  const Wanted wanted(lowered);
  auto segment = module.data.begin();
  uint64_t address = FirstAddress;
  for (size_t i = 0; i < lowered.data.size(); ++i) {
    if (!wanted.is_used(i)) continue;
    const ir::Data& table = lowered.data[i];
    if (segment == module.data.end())
      return Fail(Diag::Unsupported, fmt::format("its data has no table @{}", table.name));
    const std::string bytes = BytesOf(table);
    if (segment->address != address || segment->bytes != bytes)
      return Bad(*segment, fmt::format("data that is not the table @{}", table.name));
    address = Aligned(address + bytes.size());
    ++segment;
  }
  if (segment == module.data.end()) return {};
  if (segment->address != address || !wanted.IsMadeOf(segment->bytes))
    return Bad(*segment, "data that are not the program's constants");
  if (segment + 1 != module.data.end()) return Bad(segment[1], "data that is not the program's");
  return {};
}

}  // namespace frazil::verify::wasm
