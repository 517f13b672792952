// Table of TIR's operations, from machines/tir/ops.def.
#include "tir.h"

#include <fmt/format.h>

#include <string_view>

namespace frazil {

std::string TirManual() {
  std::string text =
      "\n## TIR\n\nStructured stack code between the IR and assembly (`frazil emit FILE --to tir`; "
      "a `.tir` file is a program like any "
      "other). Values are written deepest first.\n\n| op | id | tier | operand | meaning "
      "|\n|---|---|---|---|---|\n";
  auto row = [&](std::string_view mnemonic, int id, int tier, std::string_view operand,
                 std::string_view meaning) {
    std::string cell(meaning);
    for (size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
      cell.insert(at, "\\");
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", mnemonic, id, tier,
                        operand == "None" ? "" : operand, cell);
  };
#define FRAZIL_TIR(name, group, mnemonic, id, tier, operand, pops, pushes, meaning) row(mnemonic, id, tier, #operand, meaning);
#include "machines/tir/ops.def"
#undef FRAZIL_TIR
  return text;
}

}  // namespace frazil
