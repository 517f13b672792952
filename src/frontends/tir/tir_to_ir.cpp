// TIR -> IR. A function's parameters are the words below its entry that it needs, its results what it leaves of them and
// above; a body's carried values likewise. Loops whose first test is in the middle carry a flag, so that nothing is written
// twice however deep they nest.
#include "frontends/tir/tir_to_ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "frontends/tir/tir.h"
#include "ir/check/check.h"

namespace frazil::frontends::tir {
namespace {

namespace tir = machines::tir;
namespace types = ir::types;
using ir::Op;
using ir::ValueId;
using ir::Values;
using tir::Kind;
using Ops = std::vector<tir::Op>;

// Words below the start that a body needs, and its net effect.
struct Extent {
  int64_t height = 0, reach = 0;
};

struct Shape {
  uint32_t reach = 0;
  int32_t net = 0;
  bool memory = false;
};

bool UsesMemory(Kind kind) {
  switch (kind) {
    case Kind::ReadMem:
    case Kind::WriteMem:
    case Kind::RamRead:
    case Kind::RamWrite:
    case Kind::SpongeLoad:
    case Kind::MerkleLoad:
    case Kind::FoldExt:
    case Kind::FoldBase:
    case Kind::HornerBase:
    case Kind::HornerExt: return true;
    default: return false;
  }
}

// In the entry itself `halt` is a return; anywhere else the IR has nothing for it.
Result<void> HaltsToReturns(Ops& ops, bool entry, bool loop) {
  for (tir::Op& op : ops) {
    if (op.kind == Kind::Asm) {
      return Fail(Diag::Unsupported, "`asm` has no meaning outside of Triton VM", op.location);
    }
    if (op.kind == Kind::Halt) {
      if (!entry || loop) {
        return Fail(
            Diag::Unsupported,
            "`halt` inside of a loop or of a function that the entry calls has no form in the IR",
            op.location);
      }
      op.kind = Kind::Return;
    }
    const bool inner =
        loop || op.kind == Kind::Loop || op.kind == Kind::While || op.kind == Kind::Repeat;
    TRY_VOID(HaltsToReturns(op.body, entry, inner));
    TRY_VOID(HaltsToReturns(op.other, entry, inner));
  }
  return {};
}

class Translator {
 public:
  Result<ir::Program> Run(tir::Program program) {
    TRY(tir::Check(program));
    TRY_VOID(Prepare(program));
    const std::vector<tir::TailFunction> functions = tir::ToTailForm(program);
    for (const tir::TailFunction* function : CalleesFirst(functions)) {
      TRY_VOID(Function(*function, function == &functions.front()));
    }
    program_.entry = ids_.at(functions.front().name);
    TRY_VOID(ir::Check(program_));
    return std::move(program_);
  }

 private:
  Result<void> Prepare(tir::Program& program) {
    std::string entry;
    for (const tir::Op& op : program.ops) {
      if (op.kind == Kind::Entry) entry = op.text;
    }
    // Only what the entry reaches is looked at.
    std::vector<tir::TailFunction> reached = tir::ToTailForm(program);
    std::unordered_map<std::string, bool> live;
    for (const tir::TailFunction& function : reached) live[function.name] = true;
    std::vector<tir::Op> kept;
    bool keep = true;
    for (tir::Op& op : program.ops) {
      if (op.kind == Kind::FnStart) {
        keep = live.contains(op.text);
        in_entry_ = op.text == entry;
      }
      if (!keep) continue;
      std::vector<tir::Op> one(1);
      one[0] = std::move(op);
      TRY_VOID(HaltsToReturns(one, in_entry_, false));
      kept.push_back(std::move(one[0]));
    }
    program.ops = std::move(kept);
    return {};
  }

  static void Callees(const Ops& ops, std::vector<std::string>& names) {
    for (const tir::Op& op : ops) {
      if (op.kind == Kind::Call) names.push_back(op.text);
      Callees(op.body, names);
      Callees(op.other, names);
    }
  }

  static std::vector<const tir::TailFunction*> CalleesFirst(
      const std::vector<tir::TailFunction>& functions) {
    std::unordered_map<std::string, size_t> index;
    for (size_t f = 0; f < functions.size(); ++f) index[functions[f].name] = f;
    std::vector<std::vector<size_t>> callers(functions.size());
    std::vector<size_t> open(functions.size());
    for (size_t f = 0; f < functions.size(); ++f) {
      std::vector<std::string> names;
      Callees(functions[f].ops, names);
      open[f] = names.size();
      for (const std::string& name : names) callers[index.at(name)].push_back(f);
    }
    std::vector<const tir::TailFunction*> result;
    for (size_t f : tir::CalleesFirst(callers, open)) result.push_back(&functions[f]);
    return result;
  }

  // How deep into the stack a body goes.
  int64_t ReachOf(const Ops& ops) const {
    Extent extent;
    bool memory = false;
    Measure(ops, extent, memory);
    return extent.reach;
  }

  void Measure(const Ops& ops, Extent& extent, bool& memory) const {
    for (const tir::Op& op : ops) {
      if (op.kind == Kind::Call) {
        const Shape& callee = shapes_.at(op.text);
        extent.reach = std::max(extent.reach, callee.reach - extent.height);
        extent.height += callee.net;
        memory |= callee.memory;
        continue;
      }
      memory |= UsesMemory(op.kind);
      extent.reach = std::max(extent.reach, tir::Touches(op) - extent.height);
      if (op.kind == Kind::IfElse) --extent.height;
      Extent body = extent, other = extent;
      Measure(op.body, body, memory);
      Measure(op.other, other, memory);
      extent.reach = std::max({extent.reach, body.reach, other.reach});
      if (op.kind == Kind::IfElse) {
        // Arms differ only where nothing follows in the entry.
        extent.height = std::min(body.height, other.height);
      } else if (op.kind != Kind::Loop && op.kind != Kind::While && op.kind != Kind::Repeat) {
        extent.height += tir::NetEffect(op);
      }
    }
  }

  // TIR's names may hold anything that is printed; the IR's letters, digits, `_` and `.`.
  std::string NameOf(std::string name) {
    for (char& c : name) {
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '.')
        c = '_';
    }
    std::string unique = name;
    for (int i = 2; !names_.insert(unique).second; ++i) unique = fmt::format("{}.{}", name, i);
    return unique;
  }

  Result<void> Function(const tir::TailFunction& function, bool entry) {
    Extent extent;
    Shape shape;
    Measure(function.ops, extent, shape.memory);
    shape.reach = static_cast<uint32_t>(extent.reach);
    shape.net = static_cast<int32_t>(extent.height);
    shapes_[function.name] = shape;
    if (entry && shape.reach > 11) {
      return Fail(Diag::Unsupported,
                  "the entry reads the program's own digest from the bottom of the stack, which "
                  "only the machine has",
                  function.location);
    }
    std::vector<ir::Type> params(entry ? 0 : shape.reach, types::Field);
    const size_t words = params.size();
    if (shape.memory) params.push_back(ir::Type::Buffer(types::Field, ir::Access::InOut));
    const size_t result_count = entry ? 0 : static_cast<size_t>(shape.reach + shape.net);
    ir::FunctionBuilder builder(program_, NameOf(function.name), params,
                                std::vector<ir::Type>(result_count, types::Field));
    b_ = &builder;
    ram_ = ValueId();
    if (shape.memory) {
      ram_ = builder.Param(static_cast<uint32_t>(words));
      builder.Name(ram_, "ram");
    }
    TirOps ops(builder, ram_);
    ops_ = &ops;
    entry_ = entry;
    Stack stack;
    for (uint32_t i = 0; i < shape.reach; ++i)
      stack.push_back(entry ? ops.Constant(0) : builder.Param(i));
    TRY_VOID(Body(function.ops, stack, true));
    if (entry) stack.clear();
    builder.Return(stack);
    ids_[function.name] = builder.Finish();
    return {};
  }

  // `tail`: nothing of the function follows.
  Result<void> Body(const Ops& ops, Stack& stack, bool tail) {
    for (size_t i = 0; i < ops.size(); ++i)
      TRY_VOID(One(ops[i], stack, tail && i + 1 == ops.size()));
    return {};
  }

  Result<void> One(const tir::Op& op, Stack& stack, bool tail) {
    b_->SetLocation(op.location);
    if (++insts_ > limits_.program_insts)
      return Fail(Diag::LimitReached, "the program is too long", op.location);
    switch (op.kind) {
      case Kind::Call: return Call(op, stack), Result<void>{};
      case Kind::IfElse: return If(op, stack, tail);
      case Kind::Loop: return Loop(op, stack);
      case Kind::Repeat: return Repeat(op, stack);
      case Kind::While: return While(op, stack);
      default: ops_->Simple(op, stack); return {};
    }
  }

  void Call(const tir::Op& op, Stack& stack) {
    const Shape& callee = shapes_.at(op.text);
    Values arguments(stack.end() - callee.reach, stack.end());
    stack.resize(stack.size() - callee.reach);
    if (callee.memory) arguments.push_back(ram_);
    for (ValueId value : b_->Call(ids_.at(op.text), arguments)) stack.push_back(value);
  }

  // The values of the stack that the op may change, taken off; what it makes of them goes back.
  Values Take(Stack& stack, int64_t count) const {
    Values values(stack.end() - count, stack.end());
    stack.resize(stack.size() - static_cast<size_t>(count));
    return values;
  }

  Result<void> If(const tir::Op& op, Stack& stack, bool tail) {
    const ValueId condition = ops_->IsNotZero(stack.back());
    stack.pop_back();
    Extent then_extent, else_extent;
    bool memory = false;
    Measure(op.body, then_extent, memory);
    Measure(op.other, else_extent, memory);
    const int64_t reach = std::max(then_extent.reach, else_extent.reach);
    // At the end of the entry the stack is nobody's, and the arms may leave it at different heights.
    const bool dropped = entry_ && tail;
    const auto count = dropped ? 0 : static_cast<size_t>(reach + then_extent.height);
    const std::vector<ir::Type> results(count, types::Field);
    const Values inputs = Take(stack, reach);
    const ir::InstId inst = b_->Begin(Op::If, {}, std::span(&condition, 1), results, {}, 2);
    for (uint32_t arm = 0; arm < 2; ++arm) {
      b_->BeginRegion(inst, arm, {});
      Stack inner = stack;
      inner.insert(inner.end(), inputs.begin(), inputs.end());
      TRY_VOID(Body(arm == 0 ? op.body : op.other, inner, tail));
      b_->Terminate(
          Op::Yield,
          dropped ? Values{} : Values(inner.end() - static_cast<ptrdiff_t>(count), inner.end()));
      b_->EndRegion();
    }
    for (uint32_t i = 0; i < count; ++i)
      stack.push_back(ir::Function::result_of(b_->function().inst(inst), i));
    return {};
  }

  using Region = std::function<Result<ValueId>(Values& words)>;
  // A while over words, and a flag where `flag` says so: `test` gives the condition, `body` the next flag.
  Result<void> Carry(Stack& stack, int64_t reach, bool flag, const Region& test,
                     const Region& body) {
    Values inits = Take(stack, reach);
    if (flag) {
      const uint64_t yes = 1;
      inits.push_back(b_->Const(types::Bool, std::span(&yes, 1)));
    }
    std::vector<ir::Type> carried;
    for (ValueId init : inits) carried.push_back(b_->TypeOf(init));
    const ir::InstId inst = b_->Begin(Op::While, {}, inits, carried, {}, 2);
    Values words = b_->BeginRegion(inst, 0, carried);
    const Values start = words;
    const ValueId condition = TRY(test(words));
    b_->Terminate(Op::Condition, std::span(&condition, 1));
    b_->EndRegion();
    b_->BeginRegion(inst, 1, {});
    words = start;
    if (flag) words.pop_back();
    const ValueId next = TRY(body(words));
    if (flag) words.push_back(next);
    b_->Terminate(Op::Yield, words);
    b_->EndRegion();
    for (uint32_t i = 0; i < static_cast<uint32_t>(reach); ++i) {
      stack.push_back(ir::Function::result_of(b_->function().inst(inst), i));
    }
    return {};
  }

  // The words around a body's own are outside of it: it never touches them.
  Result<void> Inner(const Ops& ops, Values& words) { return Body(ops, words, false); }

  Result<void> Loop(const tir::Op& op, Stack& stack) {
    return Carry(
        stack, std::max<int64_t>(ReachOf(op.body), 1), false,
        [&](Values& words) -> Result<ValueId> { return ops_->IsNotZero(words.back()); },
        [&](Values& words) -> Result<ValueId> {
          words.back() = b_->Binary(Op::Sub, words.back(), ops_->Constant(1));
          TRY_VOID(Inner(op.body, words));
          return ValueId();
        });
  }

  Result<void> Repeat(const tir::Op& op, Stack& stack) {
    return Carry(
        stack, std::max<int64_t>(ReachOf(op.body), 7), true,
        [&](Values& words) -> Result<ValueId> { return words.back(); },
        [&](Values& words) -> Result<ValueId> {
          TRY_VOID(Inner(op.body, words));
          return b_->Binary(Op::Ne, words[words.size() - 6], words[words.size() - 7]);
        });
  }

  Result<void> While(const tir::Op& op, Stack& stack) {
    return Carry(
        stack, std::max(ReachOf(op.body), ReachOf(op.other)), true,
        [&](Values& words) -> Result<ValueId> { return words.back(); },
        [&](Values& words) -> Result<ValueId> {
          TRY_VOID(Inner(op.body, words));
          const ValueId condition = ops_->IsNotZero(words.back());
          words.pop_back();
          const std::vector<ir::Type> results(words.size(), types::Field);
          const ir::InstId inst = b_->Begin(Op::If, {}, std::span(&condition, 1), results, {}, 2);
          for (uint32_t arm = 0; arm < 2; ++arm) {
            b_->BeginRegion(inst, arm, {});
            Values inner = words;
            if (arm == 0) TRY_VOID(Inner(op.other, inner));
            b_->Terminate(Op::Yield, inner);
            b_->EndRegion();
          }
          for (uint32_t i = 0; i < words.size(); ++i)
            words[i] = ir::Function::result_of(b_->function().inst(inst), i);
          return condition;
        });
  }

  ir::Program program_;
  ir::FunctionBuilder* b_ = nullptr;
  TirOps* ops_ = nullptr;
  ValueId ram_;
  bool entry_ = false, in_entry_ = false;
  uint64_t insts_ = 0;
  Limits limits_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, Shape> shapes_;
  std::unordered_map<std::string, ir::FuncId> ids_;
};

}  // namespace

Result<ir::Program> FromTir(const machines::tir::Program& program) {
  return Translator().Run(program);
}

}  // namespace frazil::frontends::tir
