// The table of instructions.def as Markdown.
#include "machines/tasm/manual.h"

#include <fmt/format.h>

#include <iterator>

namespace frazil::machines::tasm {

std::string ManualText() {
  std::string text =
      "| instruction | opcode | words | effect | op stack | ram | hash | crashes when "
      "|\n|---|---|---|---|---|---|---|---|\n";
  for (int i = 0; i < OpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    const OpcodeInfo& info = Info(opcode);
    const bool count = info.argument == Argument::Count;
    const auto rows = [&](int number) {
      return number == 0 ? std::string() : count ? "n" : fmt::format("{}", number);
    };
    std::string_view argument;
    switch (info.argument) {
      case Argument::None: break;
      case Argument::Element: argument = " a"; break;
      case Argument::Count: argument = " n"; break;
      case Argument::Place: argument = " i"; break;
      case Argument::Target: argument = " label"; break;
    }
    const std::string_view profile = info.in_dot && info.in_horner ? ""
                                     : info.in_dot                 ? " (dot)"
                                                                   : " (horner)";
    const int hash = opcode == Opcode::SpongeInit ? 1 : 6 * info.permutations;
    fmt::format_to(std::back_inserter(text), "| `{}{}`{} | {} | {} | {} | {} | {} | {} | {} |\n",
                   info.mnemonic, argument, profile, info.opcode, info.words(), info.effect,
                   rows(std::abs(info.delta)), rows(info.ram_rows),
                   hash == 0 ? std::string() : fmt::format("{}", hash), info.crashes);
  }
  return text;
}

}  // namespace frazil::machines::tasm
