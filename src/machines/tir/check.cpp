// Well-formedness of TIR: one walk per function that knows the stack's height at every op, callees first. What it
// accepts can be lowered, and never takes more off the machine's stack than it put there.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "base/limits.h"
#include "base/number/goldilocks.h"
#include "machines/tir/tir.h"

namespace frazil::machines::tir {
namespace {

constexpr int64_t MaxHeight = 1 << 24;
constexpr uint64_t MaxFrames =
    5000;  // bodies and calls inside of each other: who walks a program recurses
constexpr int32_t MaxEffect = 1024;

int64_t Sum(const std::vector<Op>& ops) {
  int64_t sum = 0;
  for (const Op& op : ops) sum += NetEffect(op);
  return sum;
}

struct Function {
  const Op* start = nullptr;
  size_t begin = 0, end = 0;  // of its body in Program::ops
  struct Call {
    const Op* op;
    uint64_t depth;  // bodies around it
  };
  std::vector<Call> calls;
  uint64_t depth = 1;  // of nested bodies, callees included
};

class Checker {
 public:
  Checker(const Program& program, bool callable) : program_(program), callable_(callable) {}

  Result<std::vector<FunctionShape>> Run() {
    TRY_VOID(Collect());
    std::vector<size_t> order = TRY(CalleesFirst());
    for (size_t f : order) {
      for (const Function::Call& call : functions_[f].calls) {
        const uint64_t depth = call.depth + functions_[index_.at(call.op->text)].depth;
        if (depth > MaxFrames) {
          return Fail(Diag::LimitReached,
                      fmt::format("calls and bodies are nested more than {} deep", MaxFrames),
                      call.op->location);
        }
        functions_[f].depth = std::max(functions_[f].depth, depth);
      }
      TRY_VOID(Walk(functions_[f]));
      shape_.drops = static_cast<uint32_t>(-lowest_);
      shapes_[functions_[f].start->text] = shape_;
      result_.push_back(shape_);
      if (functions_[f].start->text == entry_->text && lowest_ < 0 && !callable_) {
        return Fail(
            Diag::BadTir,
            fmt::format("the entry `{}` takes {} words off the stack that it did not put there",
                        entry_->text, -lowest_),
            functions_[f].start->location);
      }
    }
    return std::move(result_);
  }

 private:
  Result<void> Collect() {
    Function* open = nullptr;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      switch (op.kind) {
        case Kind::Comment: break;
        case Kind::Entry:
          if (open) return Fail(Diag::BadTir, "`entry` stands outside of functions", op.location);
          if (entry_) return Fail(Diag::BadTir, "a program has one entry", op.location);
          entry_ = &op;
          break;
        case Kind::FnStart:
          if (open)
            return Fail(Diag::BadTir,
                        fmt::format("the function `{}` has no `end`", open->start->text),
                        op.location);
          if (!index_.emplace(op.text, functions_.size()).second) {
            return Fail(Diag::Redefined, fmt::format("the function `{}` is defined twice", op.text),
                        op.location);
          }
          functions_.push_back({&op, i + 1, 0, {}, 1});
          open = &functions_.back();
          break;
        case Kind::FnEnd:
          if (!open) return Fail(Diag::BadTir, "`end` without `fn`", op.location);
          open->end = i;
          open = nullptr;
          break;
        default:
          if (!open) {
            return Fail(Diag::BadTir,
                        fmt::format("`{}` stands outside of functions", Info(op.kind).mnemonic),
                        op.location);
          }
          TRY_VOID(Single(op, *open, 1));
      }
    }
    if (open)
      return Fail(Diag::BadTir, fmt::format("the function `{}` has no `end`", open->start->text),
                  open->start->location);
    if (!entry_) return Fail(Diag::BadEntry, "the program has no `entry`");
    if (!index_.contains(entry_->text)) {
      return Fail(Diag::UnknownSymbol,
                  fmt::format("the entry `{}` is not a function here", entry_->text),
                  entry_->location);
    }
    return {};
  }

  // What can be said about one op without the stack; gathers callees.
  Result<void> Single(const Op& op, Function& function, uint64_t depth) {
    if (depth > limits_.nesting) {
      return Fail(Diag::LimitReached,
                  fmt::format("bodies are nested more than {} deep", limits_.nesting), op.location);
    }
    function.depth = std::max(function.depth, depth);
    const KindInfo& info = Info(op.kind);
    auto out_of_range = [&](std::string_view what, uint64_t low, uint64_t high) {
      return Fail(Diag::BadTir,
                  fmt::format("`{} {}`: {} is {} to {}", info.mnemonic, op.number, what, low, high),
                  op.location);
    };
    if ((info.operand == Operand::Element && op.number >= goldilocks::P) ||
        op.tag >= goldilocks::P) {
      return Fail(Diag::BadTir, fmt::format("`{}`: its element is not canonical", info.mnemonic),
                  op.location);
    }
    switch (op.kind) {
      case Kind::Call: function.calls.push_back({&op, depth}); break;
      case Kind::Entry:
      case Kind::FnStart:
      case Kind::FnEnd:
        return Fail(Diag::BadTir, fmt::format("`{}` stands inside of a body", info.mnemonic),
                    op.location);
      case Kind::Assert:
        if (op.number != 1 && op.number != 5) {
          return Fail(Diag::BadTir, fmt::format("`assert {}`: the count is 1 or 5", op.number),
                      op.location);
        }
        break;
      case Kind::RamWrite:
        if (op.number < 1 || op.number > MaxDepth) return out_of_range("the count", 1, MaxDepth);
        break;
      case Kind::Seal:
        if (op.number > 9) return out_of_range("the number of fields", 0, 9);
        break;
      case Kind::Reveal:
        if (op.number > MaxCount) return out_of_range("the number of fields", 0, MaxCount);
        break;
      case Kind::Asm:
        if (std::abs(static_cast<int64_t>(op.effect)) > MaxEffect) {
          return Fail(Diag::BadTir, fmt::format("an effect of {} is out of range", op.effect),
                      op.location);
        }
        break;
      default:
        if (info.operand == Operand::Count && (op.number < 1 || op.number > MaxCount))
          return out_of_range("the count", 1, MaxCount);
        if (info.operand == Operand::Depth && op.number > MaxDepth)
          return out_of_range("the depth", 0, MaxDepth);
    }
    for (const Op& inner : op.body) TRY_VOID(Single(inner, function, depth + 1));
    for (const Op& inner : op.other) TRY_VOID(Single(inner, function, depth + 1));
    return {};
  }

  Result<std::vector<size_t>> CalleesFirst() {
    std::vector<std::vector<size_t>> callers(functions_.size());
    std::vector<size_t> open(functions_.size());
    for (size_t f = 0; f < functions_.size(); ++f) {
      for (const Function::Call& call : functions_[f].calls) {
        const auto callee = index_.find(call.op->text);
        if (callee == index_.end()) {
          return Fail(Diag::UnknownSymbol, fmt::format("there is no function `{}`", call.op->text),
                      call.op->location);
        }
        callers[callee->second].push_back(f);
        ++open[f];
      }
    }
    std::vector<size_t> order = tir::CalleesFirst(callers, open);
    for (size_t f = 0; f < functions_.size(); ++f) {
      if (open[f] == 0) continue;
      return Fail(Diag::BadTir,
                  fmt::format("the function `{}` calls itself, or one that does",
                              functions_[f].start->text),
                  functions_[f].start->location);
    }
    return order;
  }

  Result<void> Walk(const Function& function) {
    shape_ = {function.start->text};
    exit_.reset();
    loops_ = 0;
    lowest_ = 0;
    int64_t height = 0;
    const std::span body =
        std::span(program_.ops).subspan(function.begin, function.end - function.begin);
    if (TRY(Body(body, height))) TRY_VOID(Leave(height, function.start->location));
    shape_.returns = exit_.has_value();
    shape_.net = static_cast<int32_t>(exit_.value_or(0));
    return {};
  }

  Result<void> Leave(int64_t height, Location location) {
    if (exit_ && *exit_ != height) {
      return Fail(Diag::BadTir,
                  fmt::format("the function `{}` leaves {} words on one way and {} on another",
                              shape_.name, *exit_, height),
                  location);
    }
    exit_ = height;
    return {};
  }

  Result<void> Move(int64_t& height, int64_t touches, int64_t net, int64_t peak, const Op& op) {
    if (touches > height)
      shape_.reach = std::max(shape_.reach, static_cast<uint32_t>(touches - height));
    shape_.peak =
        static_cast<uint32_t>(std::max<int64_t>({shape_.peak, height + net, height + peak}));
    height += net;
    lowest_ = std::min(lowest_, height);
    if (std::abs(height) > MaxHeight || shape_.peak > MaxHeight || shape_.reach > MaxHeight) {
      return Fail(Diag::LimitReached,
                  fmt::format("the stack moves by more than {} words", MaxHeight), op.location);
    }
    return {};
  }

  // Whether the end is reached; the height there.
  Result<bool> Body(std::span<const Op> ops, int64_t& height) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (TRY(One(ops[i], height))) continue;
      for (size_t j = i + 1; j < ops.size(); ++j) {
        if (ops[j].kind != Kind::Comment) {
          return Fail(Diag::BadTir,
                      fmt::format("`{}` is never reached", Info(ops[j].kind).mnemonic),
                      ops[j].location);
        }
      }
      return false;
    }
    return true;
  }

  // A body whose effect must be `net`, unless it ends the function.
  Result<bool> Inner(const Op& op, const std::vector<Op>& ops, int64_t height, int64_t net) {
    int64_t end = height;
    const bool reached = TRY(Body(ops, end));
    if (reached && end - height != net) {
      return Fail(Diag::BadTir,
                  fmt::format("the body of `{}` changes the stack by {} words instead of {}",
                              Info(op.kind).mnemonic, end - height, net),
                  op.location);
    }
    return reached;
  }

  Result<bool> One(const Op& op, int64_t& height) {
    switch (op.kind) {
      case Kind::Halt: return false;
      case Kind::Return:
        if (loops_ > 0) return Fail(Diag::BadTir, "`return` inside of a loop", op.location);
        TRY_VOID(Leave(height, op.location));
        return false;
      case Kind::Call: {
        const FunctionShape& callee = shapes_.at(op.text);
        lowest_ = std::min(lowest_, height - callee.drops);
        TRY_VOID(Move(height, callee.reach, callee.net, callee.peak, op));
        return callee.returns;
      }
      case Kind::IfElse: return If(op, height);
      case Kind::IfOnly:
        TRY_VOID(Move(height, 1, -1, 0, op));
        TRY_VOID(Inner(op, op.body, height, 0));
        return true;
      case Kind::Loop: TRY_VOID(Move(height, 1, 0, 0, op)); [[fallthrough]];
      case Kind::Repeat: {
        ++loops_;
        const bool again = TRY(Inner(op, op.body, height, 0));
        --loops_;
        if (op.kind == Kind::Repeat) TRY_VOID(Move(height, 7, 0, 0, op));
        return again || op.kind == Kind::Loop;
      }
      case Kind::While: {
        ++loops_;
        const bool tested = TRY(Inner(op, op.body, height, 1));
        TRY_VOID(Move(height, 0, 0, 1, op));
        TRY_VOID(Inner(op, op.other, height, 0));
        --loops_;
        return tested;
      }
      case Kind::ProofBlock: return Body(op.body, height);
      default: TRY_VOID(Move(height, Touches(op), NetEffect(op), 0, op)); return true;
    }
  }

  Result<bool> If(const Op& op, int64_t& height) {
    TRY_VOID(Move(height, 1, -1, 0, op));
    int64_t then_height = height, else_height = height;
    const bool then_ends = TRY(Body(op.body, then_height));
    const bool else_ends = TRY(Body(op.other, else_height));
    if (then_ends && else_ends && then_height != else_height) {
      return Fail(Diag::BadTir,
                  fmt::format("the bodies of `if` change the stack by {} and by {} words",
                              then_height - height, else_height - height),
                  op.location);
    }
    height = then_ends ? then_height : else_height;
    return then_ends || else_ends;
  }

  const Program& program_;
  const bool callable_;
  Limits limits_;
  const Op* entry_ = nullptr;
  std::vector<Function> functions_;
  std::unordered_map<std::string, size_t> index_;
  std::unordered_map<std::string, FunctionShape> shapes_;
  std::vector<FunctionShape> result_;
  FunctionShape shape_;
  std::optional<int64_t> exit_;
  int64_t lowest_ = 0;
  int loops_ = 0;
};

int TierOf(const std::vector<Op>& ops) {
  int tier = 0;
  for (const Op& op : ops) {
    tier = std::max({tier, int{Info(op.kind).tier}, TierOf(op.body), TierOf(op.other)});
  }
  return tier;
}

}  // namespace

uint32_t Touches(const Op& op) {
  const auto n = static_cast<uint32_t>(op.number);
  switch (op.kind) {
    case Kind::Dup:
    case Kind::Swap:
    case Kind::Pick:
    case Kind::Place: return n + 1;
    case Kind::WriteMem:
    case Kind::RamWrite: return n + 1;
    case Kind::Assert: return n == 5 ? 10 : 1;
    case Kind::Asm: return static_cast<uint32_t>(std::max(0, -op.effect));
    case Kind::Loop: return 1;
    case Kind::Repeat: return 7;
    default: {
      const int pops = Info(op.kind).pops;
      return pops < 0 ? n : static_cast<uint32_t>(pops);
    }
  }
}

int32_t NetEffect(const Op& op) {
  const auto n = static_cast<int32_t>(op.number);
  switch (op.kind) {
    case Kind::ReadMem: return n;  // the pointer stays
    case Kind::RamWrite: return -n - 1;
    case Kind::Asm: return op.effect;
    case Kind::IfElse: return static_cast<int32_t>(Sum(op.body) - 1);
    case Kind::ProofBlock: return static_cast<int32_t>(Sum(op.body));
    default: {
      const KindInfo& info = Info(op.kind);
      return (info.pushes < 0 ? n : info.pushes) - (info.pops < 0 ? n : info.pops);
    }
  }
}

Result<std::vector<FunctionShape>> Check(const Program& program, bool callable) {
  return Checker(program, callable).Run();
}

std::vector<size_t> CalleesFirst(const std::vector<std::vector<size_t>>& callers,
                                 std::vector<size_t>& open) {
  std::vector<size_t> order;
  for (size_t f = 0; f < open.size(); ++f) {
    if (open[f] == 0) order.push_back(f);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t caller : callers[order[i]]) {
      if (--open[caller] == 0) order.push_back(caller);
    }
  }
  return order;
}

int Tier(const Program& program) { return TierOf(program.ops); }

}  // namespace frazil::machines::tir
