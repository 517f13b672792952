// The machine's `return` leaves one body, TIR's `return` leaves the function, so an arm that returns must be the last
// thing its function does: what follows the `if` moves into the other arm. Smaller shapes that save words on every
// `if` are made here too, while bodies are still lists.
#include "machines/tir/tail_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace frazil::machines::tir {
namespace {

using Ops = std::vector<Op>;

constexpr int MaxTail = 10;

bool HasReturn(const Ops& ops) {
  for (const Op& op : ops) {
    if (op.kind == Kind::Return || HasReturn(op.body) || HasReturn(op.other)) return true;
  }
  return false;
}

void Append(Ops& to, Ops&& from) {
  for (Op& op : from) to.push_back(std::move(op));
}

class Former {
 public:
  explicit Former(const Program& program) {
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.kind == Kind::Entry) entry_ = op.text;
      if (op.kind != Kind::FnStart) continue;
      TailFunction function{op.text, {}, op.location};
      for (++i; program.ops[i].kind != Kind::FnEnd; ++i) function.ops.push_back(program.ops[i]);
      index_[function.name] = functions_.size();
      functions_.push_back(std::move(function));
    }
  }

  std::vector<TailFunction> Run() {
    std::vector<std::string> work = {entry_};
    std::unordered_set<std::string> seen = {entry_};
    std::vector<TailFunction> result;
    while (!work.empty()) {
      const std::string name = std::move(work.back());
      work.pop_back();
      TailFunction function = std::move(functions_[index_.at(name)]);
      current_ = function.name;
      function.ops = Tail(Flatten(std::move(function.ops)));
      Tidy(function.ops);
      Callees(function.ops, seen, work);
      result.push_back(std::move(function));
    }
    return result;
  }

 private:
  static void Callees(const Ops& ops, std::unordered_set<std::string>& seen,
                      std::vector<std::string>& work) {
    for (const Op& op : ops) {
      if (op.kind == Kind::Call && seen.insert(op.text).second) work.push_back(op.text);
      Callees(op.body, seen, work);
      Callees(op.other, seen, work);
    }
  }

  static Ops Flatten(Ops ops) {
    Ops flat;
    for (Op& op : ops) {
      if (op.kind == Kind::Comment) continue;
      op.body = Flatten(std::move(op.body));
      op.other = Flatten(std::move(op.other));
      if (op.kind == Kind::ProofBlock) {
        Append(flat, std::move(op.body));
      } else {
        flat.push_back(std::move(op));
      }
    }
    return flat;
  }

  // Falls, before returns are gone: a return ends a body too.
  static bool GoesOn(const Ops& ops) {
    if (ops.empty()) return true;
    const Op& last = ops.back();
    if (last.kind == Kind::Return || last.kind == Kind::Halt) return false;
    return last.kind != Kind::IfElse || GoesOn(last.body) || GoesOn(last.other);
  }

  // From the end, so that what follows an `if` is moved once. Arms inside of arms get a function of their own before they
  // are too deep for who recurses over them.
  Ops Tail(Ops ops) {
    Ops after;  // in tail form already; the last op first
    int depth = 0;
    for (size_t i = ops.size(); i > 0; --i) {
      Op& op = ops[i - 1];
      if (op.kind == Kind::Return) {
        after.clear();
        continue;
      }
      if ((op.kind != Kind::IfElse && op.kind != Kind::IfOnly) ||
          (!HasReturn(op.body) && !HasReturn(op.other))) {
        after.push_back(std::move(op));
        continue;
      }
      Ops rest(std::make_move_iterator(after.rbegin()), std::make_move_iterator(after.rend()));
      after.clear();
      const bool then_on = GoesOn(op.body), else_on = GoesOn(op.other);
      if (!rest.empty() && ((then_on && else_on) || ++depth > MaxTail)) {
        depth = 0;
        Op call{Kind::Call};
        call.text = Outline(std::move(rest), op.location);
        call.location = op.location;
        rest.clear();
        rest.push_back(std::move(call));
      }
      op.kind = Kind::IfElse;
      if (then_on && else_on) op.body.insert(op.body.end(), rest.begin(), rest.end());
      if (then_on || else_on) Append(else_on ? op.other : op.body, std::move(rest));
      op.body = Tail(std::move(op.body));
      op.other = Tail(std::move(op.other));
      after.push_back(std::move(op));
    }
    std::reverse(after.begin(), after.end());
    return after;
  }

  std::string Outline(Ops rest, Location location) {
    std::string name;
    do {
      name = fmt::format("{}.rest{}", current_, ++rests_);
    } while (index_.contains(name));
    index_[name] = functions_.size();
    functions_.push_back({name, std::move(rest), location});
    return name;
  }

  static bool IsNot(const Ops& ops, size_t end) {
    return end >= 2 && ops[end - 2].kind == Kind::Push && ops[end - 2].number == 0 &&
           ops[end - 1].kind == Kind::Eq;
  }

  // May two ops that stand at different places become one? Not if a crash there would be told apart by the place.
  static bool Joins(const Op& a, const Op& b) {
    if (!(a == b)) return false;
    if (a.location.line == b.location.line && a.location.column == b.location.column) return true;
    switch (a.kind) {
      case Kind::Push:
      case Kind::Pop:
      case Kind::Dup:
      case Kind::Swap:
      case Kind::Pick:
      case Kind::Place:
      case Kind::Add:
      case Kind::Sub:
      case Kind::Mul:
      case Kind::Neg:
      case Kind::AddI:
      case Kind::Eq:
      case Kind::WriteIo:
      case Kind::Hash:
      case Kind::Call:
      case Kind::Halt: return true;
      default: return false;
    }
  }

  static void Tidy(Ops& ops) {
    Ops done;
    for (Op& op : ops) {
      if (op.kind == Kind::IfOnly) op.kind = Kind::IfElse;
      Tidy(op.body);
      Tidy(op.other);
      if (op.kind != Kind::IfElse) {
        done.push_back(std::move(op));
        continue;
      }
      while (IsNot(done, done.size())) {
        done.resize(done.size() - 2);
        std::swap(op.body, op.other);
      }
      Ops common;
      while (!op.body.empty() && !op.other.empty() && Joins(op.body.back(), op.other.back())) {
        common.push_back(std::move(op.body.back()));
        op.body.pop_back();
        op.other.pop_back();
      }
      done.push_back(std::move(op));
      for (size_t i = common.size(); i > 0; --i) done.push_back(std::move(common[i - 1]));
    }
    ops = std::move(done);
  }

  std::string entry_, current_;
  std::vector<TailFunction> functions_;
  std::unordered_map<std::string, size_t> index_;
  int rests_ = 0;
};

}  // namespace

std::vector<TailFunction> ToTailForm(const Program& program) { return Former(program).Run(); }

bool Falls(const Ops& ops, const std::unordered_map<std::string, bool>& stops) {
  if (ops.empty()) return true;
  const Op& last = ops.back();
  switch (last.kind) {
    case Kind::Halt: return false;
    case Kind::Call: return !stops.contains(last.text) || !stops.at(last.text);
    case Kind::IfElse: return Falls(last.body, stops) || Falls(last.other, stops);
    case Kind::While:
    case Kind::Repeat: return Falls(last.body, stops);
    default: return true;
  }
}

}  // namespace frazil::machines::tir
