// Random TIR without structure; see test_random.h.
#pragma once

#include <random>

#include "base/number/goldilocks.h"
#include "machines/tir/tir.h"

namespace frazil::machines::tir {

struct RandomOptions {
  bool horner = false;  // else the dot steps
  bool returns = true;  // `return` inside of `if`
  bool halts = true;    // `halt` inside of `if`
  bool merkle = true;   // ops that read secret digests
  bool memory = true;   // RAM
};

class RandomOps {
 public:
  RandomOps(std::mt19937_64& random, const RandomOptions& options)
      : random_(random), options_(options) {}

 protected:
  using Ops = std::vector<Op>;

  uint64_t Below(uint64_t n) { return random_() % n; }
  bool One(uint64_t in) { return Below(in) == 0; }
  static Op Make(Kind kind, uint64_t number = 0) { return Op{kind, number}; }
  static Op Named(Kind kind, std::string text) {
    Op op{kind};
    op.text = std::move(text);
    return op;
  }
  uint64_t Element() {
    switch (Below(5)) {
      case 0: return Below(3);
      case 1: return goldilocks::P - 1 - Below(3);
      case 2: return Below(1ull << 32);
      case 3: return (1ull << 32) - 1 + Below(3);
      default: return Below(40);
    }
  }

  void To(Ops& ops, uint64_t& height, uint64_t target) {
    if (height > target) ops.push_back(Make(Kind::Pop, height - target));
    for (; height < target; ++height) ops.push_back(Make(Kind::Push, Element()));
    height = target;
  }
  void Need(Ops& ops, uint64_t& height, uint64_t floor, uint64_t words) {
    for (; height - floor < words; ++height) ops.push_back(Make(Kind::Push, Element()));
  }
  // Fresh words, most of them 32 bits.
  void Words(Ops& ops, uint64_t& height, uint64_t words) {
    for (uint64_t i = 0; i < words; ++i, ++height) {
      ops.push_back(Make(Kind::Push, One(40) ? Element() : One(2) ? Below(32) : Below(1ull << 32)));
    }
  }

  void Simple(Ops& ops, uint64_t& height, uint64_t floor) {
    static constexpr Kind Kinds[] = {
        Kind::Push,          Kind::Push,       Kind::Pop,        Kind::Dup,
        Kind::Dup,           Kind::Swap,       Kind::Swap,       Kind::Pick,
        Kind::Place,         Kind::Add,        Kind::Sub,        Kind::Mul,
        Kind::Neg,           Kind::Invert,     Kind::Eq,         Kind::Lt,
        Kind::And,           Kind::Or,         Kind::Xor,        Kind::PopCount,
        Kind::Split,         Kind::DivMod,     Kind::Shl,        Kind::Shr,
        Kind::Log2,          Kind::Pow,        Kind::ReadIo,     Kind::WriteIo,
        Kind::WriteIo,       Kind::ReadMem,    Kind::WriteMem,   Kind::Assert,
        Kind::Hash,          Kind::Reveal,     Kind::Seal,       Kind::RamRead,
        Kind::RamWrite,      Kind::Hint,       Kind::SpongeInit, Kind::SpongeAbsorb,
        Kind::SpongeSqueeze, Kind::SpongeLoad, Kind::MerkleStep, Kind::MerkleLoad,
        Kind::ExtMul,        Kind::ExtInvert,  Kind::FoldExt,    Kind::FoldBase,
        Kind::AddI,          Kind::ExtAdd,     Kind::ExtProduct, Kind::HornerBase,
        Kind::HornerExt,     Kind::Comment};
    Op op{Kinds[Below(std::size(Kinds))]};
    const KindInfo& info = Info(op.kind);
    if (Skipped(op.kind)) return;
    if (info.operand == Operand::Element) op.number = Element();
    if (info.operand == Operand::Count) op.number = 1 + Below(One(4) ? 7 : 3);
    if (info.operand == Operand::Depth) op.number = Below(One(3) ? 16 : 4);
    if (info.operand == Operand::Text) op.text = "a comment";
    if (info.operand == Operand::Event) {
      op.text = "Paid";
      op.tag = Element();
      op.number = Below(op.kind == Kind::Seal ? 10 : 7);
    }
    if (op.kind == Kind::Assert) return Assertion(ops, height, floor);
    switch (info.group) {
      case Group::Words:
      case Group::Shift:
        if (!One(8)) Words(ops, height, 2);
        break;
      case Group::Word:
        if (op.kind != Kind::Split && !One(20)) Words(ops, height, 1);
        break;
      case Group::Merkle:
        if (!One(30)) Words(ops, height, Touches(op));
        break;
      case Group::Hash: {
        const bool needs_sponge = op.kind == Kind::SpongeAbsorb || op.kind == Kind::SpongeSqueeze ||
                                  op.kind == Kind::SpongeLoad;
        if (needs_sponge && !One(20)) ops.push_back(Make(Kind::SpongeInit));
        break;
      }
      default: break;
    }
    // Depths may look below what the body owns; nothing there is taken off.
    if (info.operand != Operand::Depth || !One(6)) Need(ops, height, floor, Touches(op));
    if (info.operand == Operand::Depth && op.kind != Kind::Dup && height - floor <= op.number)
      return;
    height = static_cast<uint64_t>(static_cast<int64_t>(height) + NetEffect(op));
    ops.push_back(std::move(op));
  }

  bool Skipped(Kind kind) const {
    switch (kind) {
      case Kind::FoldExt:
      case Kind::FoldBase: return options_.horner || !options_.memory;
      case Kind::HornerBase:
      case Kind::HornerExt: return !options_.horner || !options_.memory;
      case Kind::MerkleStep: return !options_.merkle;
      case Kind::MerkleLoad: return !options_.merkle || !options_.memory;
      case Kind::SpongeLoad: return !options_.memory;
      default: return Info(kind).group == Group::Memory && !options_.memory;
    }
  }

  // Mostly true.
  void Assertion(Ops& ops, uint64_t& height, uint64_t floor) {
    Op op{Kind::Assert, One(2) ? 1u : 5u};
    if (One(2)) op.error_id = static_cast<int64_t>(Below(100));
    Need(ops, height, floor, op.number);
    if (op.number == 1) {
      ops.push_back(Make(Kind::Dup, 0));
      ops.push_back(Make(Kind::Dup, One(30) ? 1 : 0));
      ops.push_back(Make(Kind::Eq));
    } else {
      for (int i = 0; i < 5; ++i) ops.push_back(Make(Kind::Dup, One(100) ? 3 : 4));
    }
    ops.push_back(std::move(op));
  }

  std::mt19937_64& random_;
  RandomOptions options_;
};

}  // namespace frazil::machines::tir
