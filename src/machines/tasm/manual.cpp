// Sentences beside the table: an instruction without one does not build.
#include "machines/tasm/manual.h"

#include <fmt/format.h>

#include <iterator>

namespace frazil::machines::tasm {

std::string_view EffectOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::Pop: return "takes n elements off";
    case Opcode::Push: return "_ -> _ a";
    case Opcode::Divine: return "reads n secret elements; the first lies deepest";
    case Opcode::Pick: return "moves element i to the top";
    case Opcode::Place: return "moves the top to place i";
    case Opcode::Dup: return "copies element i to the top";
    case Opcode::Swap: return "exchanges the top and element i";
    case Opcode::Halt: return "ends the run";
    case Opcode::Nop: return "nothing";
    case Opcode::Skiz: return "_ a -> _; if a is 0, the next instruction is skipped";
    case Opcode::Call: return "remembers the next instruction and the label, goes to the label";
    case Opcode::Return: return "goes to what the last call remembered, which is forgotten";
    case Opcode::Recurse: return "goes to the label of the last call";
    case Opcode::RecurseOrReturn: return "return if element 5 equals element 6, else recurse";
    case Opcode::Assert: return "_ 1 -> _";
    case Opcode::ReadMem: return "_ p -> _ v(p) v(p-1) .. (p-n)";
    case Opcode::WriteMem: return "_ .. b a p -> _ (p+n); a goes to p, b to p+1, ..";
    case Opcode::Hash: return "_ j .. a -> _ e d c b a: Tip5 of ten elements, the top first";
    case Opcode::AssertVector: return "_ e d c b a e d c b a -> _ e d c b a";
    case Opcode::SpongeInit: return "starts the sponge again";
    case Opcode::SpongeAbsorb: return "_ j .. a -> _: ten elements into the sponge, the top first";
    case Opcode::SpongeAbsorbMem:
      return "_ d c b a p -> _ v(p+3) .. v(p) (p+10): ten words into the sponge";
    case Opcode::SpongeSqueeze: return "_ -> _ j .. a: ten elements out of the sponge";
    case Opcode::Add: return "_ b a -> _ (a + b)";
    case Opcode::AddI: return "_ b -> _ (a + b)";
    case Opcode::Mul: return "_ b a -> _ (a b)";
    case Opcode::Invert: return "_ a -> _ 1/a";
    case Opcode::Eq: return "_ b a -> _ [a = b]";
    case Opcode::Split: return "_ a -> _ high low: its 32-bit halves";
    case Opcode::Lt: return "_ b a -> _ [a < b]";
    case Opcode::And: return "_ b a -> _ (a and b)";
    case Opcode::Xor: return "_ b a -> _ (a xor b)";
    case Opcode::Log2Floor: return "_ a -> _ floor(log2 a)";
    case Opcode::Pow: return "_ e b -> _ b^e";
    case Opcode::DivMod: return "_ d n -> _ (n div d) (n mod d)";
    case Opcode::PopCount: return "_ a -> _ number of ones";
    case Opcode::XxAdd: return "adds two extension elements";
    case Opcode::XxMul: return "multiplies two extension elements";
    case Opcode::XInvert: return "inverts an extension element";
    case Opcode::XbMul: return "_ z y x a -> _ (a z) (a y) (a x)";
    case Opcode::ReadIo: return "reads n public elements; the first lies deepest";
    case Opcode::WriteIo: return "writes n elements, the top first";
    case Opcode::MerkleStep:
      return "_ i e d c b a -> _ (i div 2) parent: with the next secret digest as sibling";
    case Opcode::MerkleStepMem:
      return "_ p f i e d c b a -> _ (p+5) f (i div 2) parent: with the sibling at p";
    case Opcode::BHornerStep:
      return "_ e2 e1 e0 * p * * x2 x1 x0: e becomes e x + v(p), p goes down by 1";
    case Opcode::XHornerStep:
      return "_ e2 e1 e0 * p * * x2 x1 x0: e becomes e x + v(p-2..p), p goes down by 3";
    case Opcode::XxDotStep:
      return "_ e2 e1 e0 l r: e becomes e + v(l..) v(r..), l and r go up by 3";
    case Opcode::XbDotStep:
      return "_ e2 e1 e0 l r: e becomes e + v(l..) v(r), l goes up by 3, r by 1";
  }
  return "";
}

std::string_view CrashesWhen(Opcode opcode) {
  switch (opcode) {
    case Opcode::Divine: return "secret input is used up";
    case Opcode::ReadIo: return "public input is used up";
    case Opcode::Skiz: return "it skips and nothing follows";
    case Opcode::Return:
    case Opcode::Recurse:
    case Opcode::RecurseOrReturn: return "no call is open";
    case Opcode::Assert: return "the top is not 1";
    case Opcode::AssertVector: return "the two differ";
    case Opcode::SpongeAbsorb:
    case Opcode::SpongeAbsorbMem:
    case Opcode::SpongeSqueeze: return "the sponge was never started";
    case Opcode::Invert:
    case Opcode::XInvert: return "it is 0";
    case Opcode::Lt:
    case Opcode::And:
    case Opcode::Xor:
    case Opcode::PopCount: return "an operand has more than 32 bits";
    case Opcode::Log2Floor: return "a is 0 or has more than 32 bits";
    case Opcode::Pow: return "e has more than 32 bits";
    case Opcode::DivMod: return "d is 0, or either has more than 32 bits";
    case Opcode::MerkleStep: return "i has more than 32 bits, or no digest is left";
    case Opcode::MerkleStepMem: return "i has more than 32 bits";
    default: return "";
  }
}

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
                   info.mnemonic, argument, profile, info.opcode, info.words(), EffectOf(opcode),
                   rows(std::abs(info.delta)), rows(info.ram_rows),
                   hash == 0 ? std::string() : fmt::format("{}", hash), CrashesWhen(opcode));
  }
  return text;
}

}  // namespace frazil::machines::tasm
