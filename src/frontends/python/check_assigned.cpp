// Definite assignment, as Python would find it out at run time: a variable is read only where every way to it has
// assigned it. A way that leaves (break, continue, return) takes its state to where it leaves to.
#include <fmt/format.h>

#include <optional>

#include "frontends/python/bits.h"
#include "frontends/python/passes.h"

namespace frazil::frontends::python {
namespace {

class AssignmentChecker {
 public:
  AssignmentChecker(KernelTree& tree, Errors& errors) : tree_(tree), errors_(errors) {}

  void Run() {
    for (Block& pass : tree_.passes) {
      State state{NoBits(tree_.locals.size()), true};
      Function function;
      function_ = &function;
      Visit(pass, state);
    }
  }

 private:
  // Which locals are assigned; unreachable code has every one.
  struct State {
    Bits assigned;
    bool reachable = true;
  };
  struct Loop {
    std::optional<State> left;  // at its breaks
  };
  struct Function {
    std::optional<State> left;  // at its returns
  };

  static void Merge(State& to, const State& from) {
    if (!from.reachable) return;
    if (!to.reachable) {
      to = from;
      return;
    }
    Intersect(to.assigned, from.assigned);
  }
  static void MergeInto(std::optional<State>& to, const State& from) {
    if (!from.reachable) return;
    if (!to)
      to = from;
    else
      Merge(*to, from);
  }

  void Read(const Expr* e, State& state) {
    if (e == nullptr) return;
    if (e->kind == ExprKind::Var && state.reachable && !Has(state.assigned, e->id)) {
      Local& local = tree_.locals[e->id];
      errors_.Add(e->location, fmt::format("'{}' may be read before it is assigned", local.name),
                  local.values.empty() ? "assign it first" : "assign it on every way to here");
      Put(state.assigned, e->id);
    }
    if (e->kind == ExprKind::Inline) return ReadInline(e, state);
    if (e->kind == ExprKind::Fold) {
      Read(e->args[0], state);
      Read(e->args[1], state);
      State element = state;
      Put(element.assigned, e->id);
      return Read(e->args[2], element);
    }
    bool is_conditional =
        e->kind == ExprKind::IfExpr || e->kind == ExprKind::Chain ||
        (e->kind == ExprKind::Binary && (e->binary == BinaryOp::And || e->binary == BinaryOp::Or));
    if (!is_conditional) {
      for (const Expr* arg : e->args) Read(arg, state);
      return;
    }
    // What only some ways evaluate assigns nothing that others may read: functions have variables of their own.
    Read(e->args[0], state);
    for (size_t i = 1; i < e->args.size(); ++i) {
      State branch = state;
      Read(e->args[i], branch);
    }
  }

  void ReadInline(const Expr* e, State& state) {
    Function* outer_function = function_;
    Loop* outer_loop = loop_;
    Function function;
    function_ = &function;
    loop_ = nullptr;
    Visit(e->body, state);
    if (e->has_result && state.reachable)
      errors_.Add(
          e->location,
          fmt::format("'{}' does not return a value on every way", tree_.locals[e->result].name),
          "end it with 'return value'");
    if (function.left) Merge(state, *function.left);
    state.reachable = true;
    function_ = outer_function;
    loop_ = outer_loop;
  }

  void Visit(const Block& block, State& state) {
    for (const Stmt* stmt : block) Visit(*stmt, state);
  }

  void Visit(const Stmt& stmt, State& state) {
    switch (stmt.kind) {
      case StmtKind::Assign:
        Read(stmt.value, state);
        Put(state.assigned, stmt.local);
        return;
      case StmtKind::Store:
      case StmtKind::Update:
      case StmtKind::Expr:
      case StmtKind::Assert:
        Read(stmt.value, state);
        for (const Expr* arg : stmt.args) Read(arg, state);
        return;
      case StmtKind::If: {
        Read(stmt.value, state);
        State other = state;
        Visit(stmt.body, state);
        Visit(stmt.other, other);
        bool reachable = state.reachable || other.reachable;
        Merge(state, other);
        state.reachable = reachable;
        return;
      }
      case StmtKind::For:
      case StmtKind::While: return VisitLoop(stmt, state);
      case StmtKind::Break:
        MergeInto(loop_->left, state);
        state.reachable = false;
        return;
      case StmtKind::Continue: state.reachable = false; return;
      case StmtKind::Return:
        Read(stmt.value, state);
        if (stmt.value != nullptr) Put(state.assigned, stmt.local);
        MergeInto(function_->left, state);
        state.reachable = false;
        return;
      case StmtKind::Barrier: return;
    }
  }

  void VisitLoop(const Stmt& stmt, State& state) {
    for (const Expr* arg : stmt.args) Read(arg, state);
    Read(stmt.value, state);
    bool is_endless = stmt.kind == StmtKind::While && stmt.value->kind == ExprKind::Literal &&
                      (stmt.value->literal.integer != 0 || stmt.value->literal.real != 0);
    Loop loop;
    Loop* outer = loop_;
    loop_ = &loop;
    State body = state;
    if (stmt.kind == StmtKind::For) Put(body.assigned, stmt.local);
    Visit(stmt.body, body);
    loop_ = outer;
    if (is_endless) state.reachable = false;
    if (loop.left) Merge(state, *loop.left);
  }

  KernelTree& tree_;
  Errors& errors_;
  Function* function_ = nullptr;
  Loop* loop_ = nullptr;
};

}  // namespace

void CheckAssigned(KernelTree& tree, Errors& errors) { AssignmentChecker(tree, errors).Run(); }

}  // namespace frazil::frontends::python
