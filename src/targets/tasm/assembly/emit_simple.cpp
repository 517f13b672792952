// One TIR op as instructions of the machine. Operand orders follow the meaning in machines/tir/ops.def; the machine's own
// `lt`, `div_mod` and `pow` have their operands the other way round.
#include <fmt/format.h>

#include "base/number/goldilocks.h"
#include "targets/tasm/assembly/emitter.h"

namespace frazil::targets::tasm {
namespace {

using mt::Opcode;
using tir::Kind;

constexpr uint64_t Two31 = uint64_t{1} << 31;
constexpr uint64_t MinusOne = goldilocks::P - 1;

class Writer {
 public:
  Writer(Code& code, const tir::Op& op) : code_(code), op_(op) {}

  Writer& Put(Opcode opcode, uint64_t argument = 0) {
    code_.push_back({opcode, argument, -1, op_.location});
    return *this;
  }
  // The machine moves at most five words at a time.
  void Chunks(Opcode opcode, uint64_t count) {
    for (; count > 5; count -= 5) Put(opcode, 5);
    if (count > 0) Put(opcode, count);
  }

  void Or() {  // (a ^ b) + (a & b), both from the same entry of the u32 table
    Put(Opcode::Dup, 1)
        .Put(Opcode::Dup, 1)
        .Put(Opcode::Xor)
        .Put(Opcode::Place, 2)
        .Put(Opcode::And)
        .Put(Opcode::Add);
  }
  // n -> 2^(31 - n): crashes unless n < 32, which 2^n itself would not.
  void Room() {
    Put(Opcode::Push, MinusOne)
        .Put(Opcode::Mul)
        .Put(Opcode::AddI, 31)
        .Put(Opcode::Push, 2)
        .Put(Opcode::Pow);
  }
  void Shl() {
    Room();
    Put(Opcode::Dup, 0)
        .Put(Opcode::Invert)
        .Put(Opcode::Push, Two31)
        .Put(Opcode::Mul)
        .Put(Opcode::Place, 2);
    Put(Opcode::Push, 2)
        .Put(Opcode::Mul)
        .Put(Opcode::AddI, MinusOne)
        .Put(Opcode::And)
        .Put(Opcode::Mul);
  }
  void Shr() {
    Room();
    Put(Opcode::Invert).Put(Opcode::Push, Two31).Put(Opcode::Mul);
    Put(Opcode::Swap, 1).Put(Opcode::DivMod).Put(Opcode::Pop, 1);
  }

  void Seal() {
    const uint64_t fields = op_.number, zeros = 9 - fields;
    if (zeros <= fields) {
      for (uint64_t i = 0; i < zeros; ++i) Put(Opcode::Push, 0).Put(Opcode::Place, fields);
    } else {
      for (uint64_t i = 0; i < zeros; ++i) Put(Opcode::Push, 0);
      for (uint64_t i = 0; i < fields; ++i) Put(Opcode::Pick, 8);
    }
    Put(Opcode::Push, op_.tag).Put(Opcode::Hash).Put(Opcode::WriteIo, 5);
  }

  Result<void> InProfile(Opcode opcode, mt::Profile profile) {
    if (!mt::Info(opcode).In(profile)) {
      return Fail(Diag::Unsupported,
                  fmt::format("`{}` is not in the instruction profile {}",
                              tir::Info(op_.kind).mnemonic, mt::ProfileName(profile)),
                  op_.location);
    }
    Put(opcode);
    return {};
  }

  Result<void> Asm(mt::Profile profile) {
    Result<mt::Program> lines = mt::Parse(op_.text, profile);
    if (!lines) {
      Error error = std::move(lines.error());
      error.message = fmt::format("in `asm`, line {}: {}", error.location.line, error.message);
      error.location = op_.location;
      return std::unexpected(std::move(error));
    }
    int64_t effect = 0;
    bool skipped = false;
    for (const mt::Instruction& instruction : lines->code) {
      const mt::OpcodeInfo& info = mt::Info(instruction.op);
      const int64_t delta = info.argument == mt::Argument::Count
                                ? info.delta * static_cast<int64_t>(instruction.argument)
                                : info.delta;
      switch (instruction.op) {
        case Opcode::Call:
        case Opcode::Return:
        case Opcode::Recurse:
        case Opcode::RecurseOrReturn:
          return Fail(Diag::Unsupported,
                      fmt::format("`asm` cannot hold `{}`: it runs where it stands", info.mnemonic),
                      op_.location);
        default: break;
      }
      if (skipped && delta != 0) {
        return Fail(
            Diag::Unsupported,
            fmt::format("in `asm`, `{}` after skiz leaves the stack's height open", info.mnemonic),
            op_.location);
      }
      skipped = instruction.op == Opcode::Skiz;
      effect += delta;
      code_.push_back(instruction);
      code_.back().location = op_.location;
    }
    if (skipped) return Fail(Diag::Unsupported, "`asm` cannot end in skiz", op_.location);
    if (effect != op_.effect) {
      return Fail(Diag::BadTir,
                  fmt::format("`asm` says that it changes the stack by {} words, but it does by {}",
                              op_.effect, effect),
                  op_.location);
    }
    return {};
  }

 private:
  Code& code_;
  const tir::Op& op_;
};

}  // namespace

void EmitConstantShift(const tir::Op& shift, uint64_t amount, Code& code) {
  Writer w(code, shift);
  const uint64_t power = uint64_t{1} << amount;
  if (shift.kind == Kind::Shl) {
    w.Put(Opcode::Push, (uint64_t{1} << (32 - amount)) - 1)
        .Put(Opcode::And)
        .Put(Opcode::Push, power)
        .Put(Opcode::Mul);
  } else {
    w.Put(Opcode::Push, power).Put(Opcode::Swap, 1).Put(Opcode::DivMod).Put(Opcode::Pop, 1);
  }
}

Result<void> EmitSimple(const tir::Op& op, mt::Profile profile, Code& code) {
  Writer w(code, op);
  const uint64_t n = op.number;
  switch (op.kind) {
    case Kind::Push: w.Put(Opcode::Push, n); break;
    case Kind::Pop: w.Chunks(Opcode::Pop, n); break;
    case Kind::Dup: w.Put(Opcode::Dup, n); break;
    case Kind::Swap: w.Put(Opcode::Swap, n); break;
    case Kind::Pick: w.Put(Opcode::Pick, n); break;
    case Kind::Place: w.Put(Opcode::Place, n); break;
    case Kind::Add: w.Put(Opcode::Add); break;
    case Kind::Sub: w.Put(Opcode::Push, MinusOne).Put(Opcode::Mul).Put(Opcode::Add); break;
    case Kind::Mul: w.Put(Opcode::Mul); break;
    case Kind::Neg: w.Put(Opcode::Push, MinusOne).Put(Opcode::Mul); break;
    case Kind::AddI: w.Put(Opcode::AddI, n); break;
    case Kind::Invert: w.Put(Opcode::Invert); break;
    case Kind::Eq: w.Put(Opcode::Eq); break;
    case Kind::Lt: w.Put(Opcode::Swap, 1).Put(Opcode::Lt); break;
    case Kind::And: w.Put(Opcode::And); break;
    case Kind::Or: w.Or(); break;
    case Kind::Xor: w.Put(Opcode::Xor); break;
    case Kind::PopCount: w.Put(Opcode::PopCount); break;
    case Kind::Split: w.Put(Opcode::Split); break;
    case Kind::DivMod: w.Put(Opcode::Swap, 1).Put(Opcode::DivMod); break;
    case Kind::Shl: w.Shl(); break;
    case Kind::Shr: w.Shr(); break;
    case Kind::Log2: w.Put(Opcode::Log2Floor); break;
    case Kind::Pow: w.Put(Opcode::Swap, 1).Put(Opcode::Pow); break;
    case Kind::ReadIo: w.Chunks(Opcode::ReadIo, n); break;
    case Kind::WriteIo: w.Chunks(Opcode::WriteIo, n); break;
    case Kind::ReadMem: w.Chunks(Opcode::ReadMem, n); break;
    case Kind::WriteMem: w.Chunks(Opcode::WriteMem, n); break;
    case Kind::Assert:
      w.Put(n == 5 ? Opcode::AssertVector : Opcode::Assert);
      code.back().error_id = op.error_id;
      break;
    case Kind::Hash: w.Put(Opcode::Hash); break;
    case Kind::Reveal:
      w.Put(Opcode::Push, op.tag);
      w.Chunks(Opcode::WriteIo, n + 1);
      break;
    case Kind::Seal: w.Seal(); break;
    case Kind::RamRead:
      if (n > 1) w.Put(Opcode::AddI, n - 1);
      w.Chunks(Opcode::ReadMem, n);
      w.Put(Opcode::Pop, 1);
      break;
    case Kind::RamWrite:
      w.Put(Opcode::Pick, n);
      w.Chunks(Opcode::WriteMem, n);
      w.Put(Opcode::Pop, 1);
      break;
    case Kind::Hint: w.Chunks(Opcode::Divine, n); break;
    case Kind::SpongeInit: w.Put(Opcode::SpongeInit); break;
    case Kind::SpongeAbsorb: w.Put(Opcode::SpongeAbsorb); break;
    case Kind::SpongeSqueeze: w.Put(Opcode::SpongeSqueeze); break;
    case Kind::SpongeLoad: w.Put(Opcode::SpongeAbsorbMem); break;
    case Kind::MerkleStep: w.Put(Opcode::MerkleStep); break;
    case Kind::MerkleLoad: w.Put(Opcode::MerkleStepMem); break;
    case Kind::ExtMul: w.Put(Opcode::XbMul); break;
    case Kind::ExtInvert: w.Put(Opcode::XInvert); break;
    case Kind::ExtAdd: w.Put(Opcode::XxAdd); break;
    case Kind::ExtProduct: w.Put(Opcode::XxMul); break;
    case Kind::FoldExt: return w.InProfile(Opcode::XxDotStep, profile);
    case Kind::FoldBase: return w.InProfile(Opcode::XbDotStep, profile);
    case Kind::HornerBase: return w.InProfile(Opcode::BHornerStep, profile);
    case Kind::HornerExt: return w.InProfile(Opcode::XHornerStep, profile);
    case Kind::Asm: return w.Asm(profile);
    // Structure: Emitter's, or gone since ToTailForm.
    case Kind::Call:
    case Kind::Return:
    case Kind::Halt:
    case Kind::IfElse:
    case Kind::IfOnly:
    case Kind::Loop:
    case Kind::FnStart:
    case Kind::FnEnd:
    case Kind::Entry:
    case Kind::Comment:
    case Kind::ProofBlock:
    case Kind::While:
    case Kind::Repeat: break;
  }
  return {};
}

}  // namespace frazil::targets::tasm
