// Two ways of changing: fields of an instruction in place where the types stay, and a copy with instructions put
// in or left out where they do not.
#include "verify/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "ir/check/check.h"
#include "ir/clone.h"
#include "ir/text/literal.h"

namespace frazil::tests {
namespace {

using ir::Inst;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::ValueId;

// Operations that take and give the same; replacing one by another changes the meaning.
struct Family {
  std::string_view kind;
  std::vector<Op> ops;
};

const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"op", {Op::Add, Op::Sub, Op::Mul}},
      {"op", {Op::And, Op::Or, Op::Xor}},
      {"op", {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne}},
      {"op", {Op::Shl, Op::Shr, Op::Rotl, Op::Rotr}},
      {"op", {Op::Clz, Op::Ctz, Op::Popcnt}},
      {"op", {Op::AddChecked, Op::SubChecked, Op::MulChecked}},
      {"op", {Op::Exp, Op::Exp2, Op::Expm1}},
      {"op", {Op::Log, Op::Log2, Op::Log1p}},
      {"trap", {Op::Add, Op::AddChecked}},
      {"trap", {Op::Sub, Op::SubChecked}},
      {"trap", {Op::Mul, Op::MulChecked}},
      {"trap", {Op::Neg, Op::NegChecked}},
      {"trap", {Op::DivTrunc, Op::DivChecked}},
      {"rounding", {Op::DivTrunc, Op::DivFloor}},
      {"rounding", {Op::RemTrunc, Op::RemFloor}},
      {"rounding", {Op::Floor, Op::Ceil, Op::Trunc, Op::Nearest}},
      {"rounding", {Op::Min, Op::Minimum, Op::Max, Op::Maximum}},
      {"rounding", {Op::Exp, Op::ExpFast}},
      {"rounding", {Op::Log, Op::LogFast}},
  };
  return families;
}

class Maker {
 public:
  explicit Maker(const ir::Program& program) : program_(program) {}

  std::vector<Mutant> All() {
    for (uint32_t f = 0; f < program_.functions.size(); ++f) {
      for (uint32_t i = 0; i < program_.functions[f].insts.size(); ++i) {
        const Inst& inst = program_.functions[f].insts[i];
        ChangeOp(f, i, inst);
        ChangeConstant(f, i, inst);
        ChangeOrder(f, i, inst);
        ChangeAttribute(f, i, inst);
        Insert(f, i, inst);
        LeaveOut(f, i, inst);
      }
    }
    return std::move(mutants_);
  }

 private:
  std::string Place(const Inst& inst) const {
    return fmt::format("{}:{}", inst.location.line, inst.location.column);
  }

  void Add(std::string_view kind, std::string what, const Inst& inst, ir::Program program) {
    if (!ir::Check(program)) return;
    mutants_.push_back(
        {std::string(kind), fmt::format("{} at {}", what, Place(inst)), std::move(program)});
  }

  // A change of an instruction in place.
  template <typename Change>
  void Edit(std::string_view kind, std::string what, uint32_t f, uint32_t i, Change change) {
    ir::Program copy = program_;
    change(copy.functions[f], copy.functions[f].insts[i]);
    Add(kind, std::move(what), program_.functions[f].insts[i], std::move(copy));
  }

  void ChangeOp(uint32_t f, uint32_t i, const Inst& inst) {
    for (const Family& family : Families()) {
      if (std::ranges::find(family.ops, inst.op) == family.ops.end()) continue;
      for (Op op : family.ops) {
        if (op == inst.op) continue;
        // Positions in buffers never overflow: a check there changes nothing.
        if (family.kind == "trap" && inst.type.scalar == Scalar::Index) continue;
        Edit(family.kind,
             fmt::format("{} -> {}", ir::Info(inst.op).mnemonic, ir::Info(op).mnemonic), f, i,
             [op](ir::Function&, Inst& changed) { changed.op = op; });
      }
    }
  }

  void ChangeConstant(uint32_t f, uint32_t i, const Inst& inst) {
    if (inst.op != Op::Const || ir::WordsOf(inst.type) != 1) return;
    const uint64_t word = program_.functions[f].words[inst.attributes.begin];
    auto set = [&](std::string what, uint64_t changed_word) {
      if (changed_word == word || !ir::IsCanonicalLiteral(inst.type, std::span(&changed_word, 1)))
        return;
      Edit("constant", std::move(what), f, i,
           [changed_word](ir::Function& function, Inst& changed) {
             function.words[changed.attributes.begin] = changed_word;
           });
    };
    if (inst.type.scalar == Scalar::Bool) return set("constant flipped", word ^ 1);
    set("constant one more", word + 1);
    set("constant one less", word - 1);
    set("constant one", ir::LiteralFromInt(inst.type, 1)[0]);
  }

  void ChangeOrder(uint32_t f, uint32_t i, const Inst& inst) {
    const ir::Function& function = program_.functions[f];
    const ir::OpInfo& info = ir::Info(inst.op);
    const uint32_t at = inst.operands.begin;
    if (inst.op == Op::Select)
      return Edit("order", "arms swapped", f, i, [at](ir::Function& changed, Inst&) {
        std::swap(changed.operands[at + 1], changed.operands[at + 2]);
      });
    if (inst.op == Op::Return || inst.op == Op::Yield) {
      for (uint32_t k = 0; k + 1 < inst.operands.count; ++k) {
        if (function.operands[at + k] == function.operands[at + k + 1]) continue;
        Edit("order", "results swapped", f, i, [at, k](ir::Function& changed, Inst&) {
          std::swap(changed.operands[at + k], changed.operands[at + k + 1]);
        });
      }
      return;
    }
    if (inst.operands.count < 2 || info.law == ir::Law::Commutes || inst.regions.count != 0) return;
    for (uint32_t k = 0; k + 1 < inst.operands.count; ++k) {
      if (inst.op == Op::Fma && k == 0) continue;  // its first two may be swapped
      if (function.operands[at + k] == function.operands[at + k + 1]) continue;
      Edit("order", fmt::format("operands of {} swapped", info.mnemonic), f, i,
           [at, k](ir::Function& changed, Inst&) {
             std::swap(changed.operands[at + k], changed.operands[at + k + 1]);
           });
    }
  }

  void ChangeAttribute(uint32_t f, uint32_t i, const Inst& inst) {
    auto word = [&](std::string_view kind, std::string what, uint32_t k, uint64_t value) {
      Edit(kind, std::move(what), f, i, [k, value](ir::Function& function, Inst& changed) {
        function.words[changed.attributes.begin + k] = value;
      });
    };
    const ir::Function& function = program_.functions[f];
    if (inst.op == Op::For) word("bound", "step 2", 0, 2);
    if (inst.op == Op::PartXField) word("index", "another part", 0, 2);
    if (inst.op == Op::Reduce) {
      word("op", "sum -> max", 0, static_cast<uint64_t>(ir::ReduceKind::Max));
      word("rounding", "one chain", 2, 1);
    }
    if (inst.op == Op::AtomicRmw) {
      for (ir::AtomicKind kind :
           {ir::AtomicKind::Max, ir::AtomicKind::Xor, ir::AtomicKind::Exchange})
        word("op", fmt::format("atomic kind {}", static_cast<int>(kind)), 0,
             static_cast<uint64_t>(kind));
    }
    if (inst.op == Op::Switch) {
      for (uint32_t k = 0; k < inst.attributes.count; ++k)
        word("constant", fmt::format("case {}", k), k,
             static_cast<uint64_t>(function.word(inst, k) + 7));
    }
  }

  enum class Put { NarrowFirst, LessBound, MoreStart, NextIndex, RoundFirst, Negated };

  // A copy in which one operand of an instruction goes through something first.
  class Inserter : public ir::Cloner {
   public:
    Inserter(const ir::Function& source, ir::FunctionBuilder& builder, const Inst* at, Put put)
        : Cloner(source, builder), at_(at), put_(put) {}

   protected:
    Result<void> Visit(const Inst& inst) override {
      if (&inst != at_) return CopyInst(inst);
      const uint32_t k = put_ == Put::LessBound || put_ == Put::NextIndex ? 1 : 0;
      const ValueId old = source_.operand(inst, k);
      const ValueId before = Get(old);
      Bind(old, Changed(before));
      TRY_VOID(CopyInst(inst));
      Bind(old, before);
      return {};
    }

   private:
    ValueId Changed(ValueId value) {
      const Type type = builder_.TypeOf(value);
      switch (put_) {
        case Put::NarrowFirst: {
          const int bits = ir::BitsOf(type);
          const Type narrow = bits == 8    ? ir::types::Bool
                              : bits == 16 ? ir::types::I8
                              : bits == 32 ? ir::types::I16
                                           : ir::types::I32;
          if (bits == 8) return builder_.Binary(Op::And, value, builder_.ConstInt(type, 127));
          return builder_.Cast(Op::Cast, builder_.Cast(Op::Cast, value, narrow), type);
        }
        case Put::RoundFirst: {
          const Type narrow = type.scalar == Scalar::F64   ? ir::types::F32
                              : type.scalar == Scalar::F32 ? ir::types::F16
                                                           : ir::types::BF16;
          return builder_.Cast(Op::Cast, builder_.Cast(Op::Cast, value, narrow), type);
        }
        case Put::LessBound: return builder_.Binary(Op::Sub, value, builder_.ConstInt(type, 1));
        case Put::MoreStart:
        case Put::NextIndex: return builder_.Binary(Op::Add, value, builder_.ConstInt(type, 1));
        case Put::Negated: return builder_.Unary(Op::Not, value);
      }
      return value;
    }
    const Inst* at_;
    Put put_;
  };

  class Leaver : public ir::Cloner {
   public:
    Leaver(const ir::Function& source, ir::FunctionBuilder& builder, const Inst* at)
        : Cloner(source, builder), at_(at) {}

   protected:
    Result<void> Visit(const Inst& inst) override {
      return &inst == at_ ? Result<void>() : CopyInst(inst);
    }

   private:
    const Inst* at_;
  };

  template <typename C, typename... Args>
  void Copy(std::string_view kind, std::string what, uint32_t f, uint32_t i, Args... args) {
    const Inst* at = &program_.functions[f].insts[i];
    Result<ir::Program> copy = ir::CopyProgram(
        program_, [&](const ir::Function& function, ir::FunctionBuilder& builder) -> Result<void> {
          C cloner(function, builder, at, args...);
          cloner.DeclareParams();
          return cloner.CopyBody();
        });
    if (copy) Add(kind, std::move(what), *at, std::move(*copy));
  }

  void Insert(uint32_t f, uint32_t i, const Inst& inst) {
    const ir::Function& function = program_.functions[f];
    if (inst.op == Op::For || inst.op == Op::Parallel) {
      Copy<Inserter>("bound", "one turn less", f, i, Put::LessBound);
      Copy<Inserter>("bound", "starts one later", f, i, Put::MoreStart);
    }
    if (inst.op == Op::Load || inst.op == Op::Store || inst.op == Op::AtomicRmw)
      Copy<Inserter>("index", "the next element", f, i, Put::NextIndex);
    if (inst.op == Op::Assert || inst.op == Op::If || inst.op == Op::Select)
      Copy<Inserter>(inst.op == Op::Assert ? "trap" : "op", "condition negated", f, i,
                     Put::Negated);
    const bool arithmetic = inst.op == Op::Add || inst.op == Op::Mul || inst.op == Op::Xor ||
                            inst.op == Op::Min || inst.op == Op::AddChecked ||
                            inst.op == Op::DivTrunc || inst.op == Op::DivFloor ||
                            inst.op == Op::Lt || inst.op == Op::Fma || inst.op == Op::Floor ||
                            inst.op == Op::Div || inst.op == Op::Shr;
    if (!arithmetic) return;
    const Type type = function.type(function.operand(inst, 0));
    if (ir::IsFixedInt(type.scalar) && type.scalar != Scalar::Index)
      Copy<Inserter>("width", "first operand narrowed", f, i, Put::NarrowFirst);
    if (ir::IsFloat(type.scalar))
      Copy<Inserter>("rounding", "first operand rounded", f, i, Put::RoundFirst);
  }

  void LeaveOut(uint32_t f, uint32_t i, const Inst& inst) {
    if (inst.op == Op::Store || inst.op == Op::Output)
      Copy<Leaver>("effect", fmt::format("no {}", ir::Info(inst.op).mnemonic), f, i);
    if (inst.op == Op::Assert) Copy<Leaver>("trap", "no assert", f, i);
    const bool unused =
        inst.op == Op::AtomicRmw &&
        std::ranges::find(program_.functions[f].operands, ir::Function::result_of(inst)) ==
            program_.functions[f].operands.end();
    if (unused) Copy<Leaver>("effect", "no atomic", f, i);
  }

  const ir::Program& program_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> MutantsOf(const ir::Program& program) { return Maker(program).All(); }

}  // namespace frazil::tests
