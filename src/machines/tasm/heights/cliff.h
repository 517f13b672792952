// Cliffs: proving costs what the next power of two costs. How far a program is from the one below and the one above,
// which tables hold it there, and who pays.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machines/tasm/vm.h"

namespace frazil::machines::tasm {

// One label's share of a table. Rows that hashing the program causes are shared out by words.
struct CliffPayer {
  std::string label;  // empty: code before the first label
  double rows = 0;
  uint64_t words = 0;
};

struct TableCliff {
  Table table;
  uint64_t height = 0;
  uint64_t above = 0;              // rows above the cliff below; 0: fits under it
  uint64_t left = 0;               // rows to the cliff above
  std::vector<CliffPayer> payers;  // most rows first; only of tables that are above the cliff below
};

struct CliffReport {
  uint64_t padded = 0;
  uint64_t below = 0;              // the height below; 0: there is none
  std::vector<TableCliff> tables;  // highest first, all nine
  // How many words less (at the end of the program) bring program, hash and cascade under `below`: found by hashing the
  // shorter programs. 0: they are under it. None: no program is short enough, or there is no height below.
  std::optional<uint64_t> words_to_save;
  Table words_table = Table::Cascade;  // the highest of those three
  // How many words more, of the same kind, leave the padded height as it is.
  uint64_t words_to_add = 0;

  // "rows above 2^12: 41 (processor); words to save: 30 (cascade)"
  std::string Line() const;
};

// `trace` was made with attribution.
CliffReport ExplainCliff(const Program& program, const TraceResult& trace);

}  // namespace frazil::machines::tasm
