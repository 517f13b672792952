// Names in assembly text: what may be a label, and what a wrong mnemonic may have meant.
#pragma once

#include <string>
#include <string_view>

namespace frazil::machines::tasm {

// A letter or `_`, then letters, digits, `_`, `-`; no instruction and no keyword.
bool IsLabel(std::string_view name);
// A sentence that helps who wrote an instruction that does not exist; may be empty.
std::string MnemonicHint(std::string_view mnemonic);

}  // namespace frazil::machines::tasm
