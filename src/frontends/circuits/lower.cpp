// Steps to IR, one pass for each: what a circuit means, with nothing clever about it.
#include <map>
#include <set>

#include <fmt/format.h>

#include "frontends/circuits/circuits.h"
#include "ir/builder.h"
#include "ir/check/check.h"

namespace frazil::frontends::circuits {
namespace {

using namespace ir::names;
namespace types = ir::types;

Op MergeOp(MergeVariant variant) {
  switch (variant) {
    case MergeVariant::Add: return Op::Add;
    case MergeVariant::Mul: return Op::Mul;
    case MergeVariant::Min: return Op::Min;
    case MergeVariant::Max: return Op::Max;
    case MergeVariant::Abs: return Op::Abs;
    case MergeVariant::Exp: return Op::Exp;
    case MergeVariant::Log: return Op::Log;
    case MergeVariant::Sqrt: return Op::Sqrt;
    case MergeVariant::Sigmoid: return Op::Sigmoid;
    case MergeVariant::Tanh: return Op::Tanh;
    case MergeVariant::Gelu: return Op::Gelu;
  }
  return Op::Add;
}

Op StepOp(const Step& step) {
  if (step.kind == StepKind::Merge) return MergeOp(static_cast<MergeVariant>(step.variant));
  return static_cast<SplitVariant>(step.variant) == SplitVariant::Sub ? Op::Sub : Op::Div;
}

ir::ReduceKind ReduceKindOf(const Step& step) {
  switch (static_cast<ReduceVariant>(step.variant)) {
    case ReduceVariant::Sum: return ir::ReduceKind::Sum;
    case ReduceVariant::Min: return ir::ReduceKind::Min;
    case ReduceVariant::Max: return ir::ReduceKind::Max;
  }
  return ir::ReduceKind::Sum;
}

Type BitsTypeOf(Type element) {
  switch (ir::BitsOf(element)) {
    case 8: return types::U8;
    case 16: return types::U16;
    case 32: return types::U32;
    default: return types::U64;
  }
}

class Lowering {
 public:
  Lowering(const CircuitOptions& options, const Phrase& phrase, std::span<const Step> steps)
      : options_(options),
        phrase_(phrase),
        steps_(steps),
        element_(options.element),
        builder_(program_, options.name, {}, {}) {}

  Result<ir::Program> Run() {
    TRY_VOID(CheckTypes());
    Declare();
    for (const Step& step : steps_) {
      builder_.SetLocation(step.location);
      Emit(step);
    }
    builder_.Return({});
    builder_.Finish();
    TRY_VOID(ir::Check(program_, options_.limits));
    return std::move(program_);
  }

 private:
  std::unexpected<Error> Wrong(const Step& step, std::string message) const {
    return Fail(Diag::BadCircuit, std::move(message), step.location);
  }

  Result<void> CheckTypes() const {
    if (!element_.is_scalar() || !ir::Contains(ir::sets::Fixed | ir::sets::Float, element_.scalar))
      return Fail(
          Diag::BadCircuit,
          fmt::format("slots of a circuit hold integers of a machine width or floats, not {}",
                      ir::ScalarOrBufferName(element_)));
    for (const Step& step : steps_) {
      const bool has_op = step.kind == StepKind::Merge || step.kind == StepKind::Split;
      if (has_op && !ir::Contains(ir::Info(StepOp(step)).types, element_.scalar))
        return Wrong(step,
                     fmt::format("{}.{} is not defined for {}",
                                 step.kind == StepKind::Merge ? "merge" : "split",
                                 ir::Info(StepOp(step)).mnemonic, ir::ScalarName(element_.scalar)));
      if (step.kind == StepKind::Softmax && !ir::IsFloat(element_.scalar))
        return Wrong(step,
                     fmt::format("softmax is not defined for {}", ir::ScalarName(element_.scalar)));
      if (step.number) TRY_VOID(CheckNumber(step));
    }
    return {};
  }

  Result<void> CheckNumber(const Step& step) const {
    if (ir::IsFloat(element_.scalar)) return {};
    const int bits = ir::BitsOf(element_);
    bool fits = step.number->is_integer;
    if (ir::IsSigned(element_.scalar)) {
      const int64_t least = INT64_MIN >> (64 - bits);
      fits &= step.number->integer >= least && step.number->integer <= ~least;
    } else {
      fits &=
          step.number->integer >= 0 && (bits >= 63 || step.number->integer < int64_t{1} << bits);
    }
    if (fits) return {};
    return Wrong(step, fmt::format("{} is no {}", PrintNumber(*step.number),
                                   ir::ScalarName(element_.scalar)));
  }

  void Declare() {
    std::map<SlotId, bool> used;  // written?
    for (const Step& step : steps_) {
      used[step.source] |= step.kind == StepKind::Swap;
      used[step.context];
      used[step.destination] = true;
    }
    for (const Sigil& sigil : phrase_.scratch) {
      const SlotId slot = SlotOf(sigil.class_index, sigil.page);
      if (used.erase(slot) != 0) scratch_.insert(slot);
    }
    for (const auto& [slot, written] : used) {
      const ir::Access access = written ? ir::Access::InOut : ir::Access::In;
      buffers_[slot] = builder_.AddParam(Type::Buffer(element_, access));
      builder_.Name(buffers_[slot], SlotName(slot));
    }
    extent_ = builder_.AddParam(types::Index);
    builder_.Name(extent_, "n");
    tensor_ = Type::Tensor(
        element_, builder_.AddShape({ir::Dim::Symbol(static_cast<uint32_t>(used.size()))}));
    scalar_tensor_ = Type::Tensor(element_, builder_.AddShape({}));
    zero_ = builder_.ConstInt(types::Index, 0);
    for (SlotId slot : scratch_) {
      buffers_[slot] = builder_.Alloc(element_, extent_);
      builder_.Name(buffers_[slot], SlotName(slot));
    }
  }

  void Emit(const Step& step) {
    switch (step.kind) {
      case StepKind::Reduce: {
        const ValueId total = Reduce(LoadAll(step.source), ReduceKindOf(step));
        builder_.Store(buffers_.at(step.destination), zero_, total);
        return;
      }
      case StepKind::Softmax: return Softmax(step);
      default: break;
    }
    const ValueId constant = Constant(step);
    builder_.Parallel(zero_, extent_, [&](ValueId i) { Element(step, i, constant); });
  }

  // What a pass needs besides slots: the literal, or the sign bit of a mark.
  ValueId Constant(const Step& step) {
    if (step.kind == StepKind::Mark) {
      const Type bits = ir::IsFloat(element_.scalar) ? BitsTypeOf(element_) : element_;
      return builder_.ConstInt(bits,
                               static_cast<int64_t>(uint64_t{1} << (ir::BitsOf(element_) - 1)));
    }
    if (!step.number) return {};
    if (ir::IsFloat(element_.scalar)) return builder_.ConstFloat(element_, step.number->value);
    return builder_.ConstInt(element_, step.number->integer);
  }

  void Element(const Step& step, ValueId i, ValueId constant) {
    const auto load = [&](SlotId slot) { return builder_.Load(buffers_.at(slot), i); };
    const auto store = [&](SlotId slot, ValueId value) {
      builder_.Store(buffers_.at(slot), i, value);
    };
    const ValueId source = load(step.source);
    switch (step.kind) {
      case StepKind::Mark: return store(step.destination, Mark(source, constant));
      case StepKind::Copy: return store(step.destination, source);
      case StepKind::Swap: {
        const ValueId other = load(step.destination);
        store(step.source, other);
        return store(step.destination, source);
      }
      default: break;
    }
    if (step.kind == StepKind::Merge && IsUnary(static_cast<MergeVariant>(step.variant)))
      return store(step.destination, builder_.Unary(StepOp(step), source));
    const ValueId context = step.number ? constant : load(step.context);
    store(step.destination, builder_.Binary(StepOp(step), source, context));
  }

  ValueId Mark(ValueId value, ValueId sign) {
    if (!ir::IsFloat(element_.scalar)) return builder_.Binary(Op::Xor, value, sign);
    const ValueId bits = builder_.Cast(Op::Bitcast, value, BitsTypeOf(element_));
    return builder_.Cast(Op::Bitcast, builder_.Binary(Op::Xor, bits, sign), element_);
  }

  ValueId LoadAll(SlotId slot) {
    return builder_.Emit1(Op::TensorLoad, tensor_, {buffers_.at(slot)}, tensor_);
  }

  ValueId Reduce(ValueId tensor, ir::ReduceKind kind) {
    const ValueId folded = builder_.Emit1(Op::Reduce, scalar_tensor_, {tensor}, scalar_tensor_,
                                          {static_cast<uint64_t>(kind), 0, 64, 4096});
    return builder_.Emit1(Op::Extract, element_, {folded}, element_);
  }

  // e^(x - greatest) over the sum of these: the greatest element is 1 before the division, so nothing overflows.
  void Softmax(const Step& step) {
    const auto shifted = [&](ValueId x, ValueId greatest) {
      return builder_.Unary(Op::Exp, builder_.Binary(Op::Sub, x, greatest));
    };
    const ValueId all = LoadAll(step.source);
    const ValueId greatest = Reduce(all, ir::ReduceKind::Max);
    const ValueId powers = builder_.Map(
        std::span(&all, 1), tensor_,
        [&](std::span<const ValueId> x) { return ir::Values{shifted(x[0], greatest)}; });
    const ValueId total = Reduce(powers, ir::ReduceKind::Sum);
    builder_.Parallel(zero_, extent_, [&](ValueId i) {
      const ValueId power = shifted(builder_.Load(buffers_.at(step.source), i), greatest);
      builder_.Store(buffers_.at(step.destination), i, builder_.Binary(Op::Div, power, total));
    });
  }

  const CircuitOptions& options_;
  const Phrase& phrase_;
  std::span<const Step> steps_;
  Type element_, tensor_, scalar_tensor_;
  ir::Program program_;
  ir::FunctionBuilder builder_;
  std::map<SlotId, ValueId> buffers_;
  std::set<SlotId> scratch_;
  ValueId extent_, zero_;
};

}  // namespace

Result<ir::Program> ToProgram(const Phrase& phrase, const CircuitOptions& options) {
  const std::vector<Step> steps = TRY(StepsOf(phrase));
  return Lowering(options, phrase, steps).Run();
}

Result<ir::Program> ParseCircuit(std::string_view text, const CircuitOptions& options) {
  const SyntaxOptions syntax{options.merge, options.split, options.limits};
  return ToProgram(TRY(ParsePhrase(text, syntax)), options);
}

}  // namespace frazil::frontends::circuits
