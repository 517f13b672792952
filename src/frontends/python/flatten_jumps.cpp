// The IR's control is structured, so jumps become data. An `if` that always leaves takes what follows it into its else
// (no flag at all: this is how guards and early returns look); elsewhere leaving sets a flag that what follows asks.
#include <cstdint>
#include <optional>
#include <span>

#include "frontends/python/passes.h"

namespace frazil::frontends::python {
namespace {

enum Leave : uint8_t { Breaks = 1, Continues = 2, Returns = 4 };

uint8_t Leaves(const Block& block);
uint8_t Leaves(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Break: return Breaks;
    case StmtKind::Continue: return Continues;
    case StmtKind::Return: return Returns;
    case StmtKind::If: return Leaves(stmt.body) | Leaves(stmt.other);
    case StmtKind::For:
    case StmtKind::While: return Leaves(stmt.body) & Returns;
    default: return 0;
  }
}
uint8_t Leaves(const Block& block) {
  uint8_t set = 0;
  for (const Stmt* stmt : block) set |= Leaves(*stmt);
  return set;
}

bool AlwaysLeaves(const Block& block) {
  for (const Stmt* stmt : block) {
    bool leaves =
        stmt->kind == StmtKind::Break || stmt->kind == StmtKind::Continue ||
        stmt->kind == StmtKind::Return ||
        (stmt->kind == StmtKind::If && AlwaysLeaves(stmt->body) && AlwaysLeaves(stmt->other));
    if (leaves) return true;
  }
  return false;
}

Block Joined(const Block& a, std::span<Stmt* const> b) {
  Block all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

class Flattener {
 public:
  Flattener(KernelTree& tree, Errors& errors) : tree_(tree), errors_(errors) {}

  void Function(Block& body) {
    return_flag_.reset();
    loop_ = nullptr;
    Block flat = Flatten(body, true);
    if (return_flag_) flat.insert(flat.begin(), SetFlag(*return_flag_, false, {}));
    body = std::move(flat);
  }

 private:
  // Every early exit nests what follows it.
  static constexpr int MaxDepth = 1000;
  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    int& depth_;
  };
  struct Loop {
    std::optional<uint32_t> continue_flag, break_flag;
  };

  uint32_t Flag(std::optional<uint32_t>& flag, const char* name) {
    if (!flag) {
      flag = tree_.NewLocal(name, {});
      tree_.locals[*flag].declared = ValueType::Of(ir::Scalar::Bool);
    }
    return *flag;
  }

  Stmt* SetFlag(uint32_t flag, bool value, Location place) {
    Expr* literal = tree_.NewExpr(ExprKind::Literal, place);
    literal->literal = {Literal::Bool, value, 0};
    Stmt* stmt = tree_.NewStmt(StmtKind::Assign, place);
    stmt->local = flag;
    stmt->value = literal;
    tree_.locals[flag].values.push_back(literal);
    return stmt;
  }

  Expr* NotFlag(uint32_t flag, Location place) {
    Expr* read = tree_.NewExpr(ExprKind::Var, place);
    read->id = flag;
    Expr* result = tree_.NewExpr(ExprKind::Unary, place);
    result->unary = UnaryOp::Not;
    result->args = {read};
    return result;
  }

  Expr* And(Expr* a, Expr* b) {
    if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
    Expr* result = tree_.NewExpr(ExprKind::Binary, b->location);
    result->binary = BinaryOp::And;
    result->args = {a, b};
    return result;
  }

  // What holds while nobody has left in one of these ways.
  Expr* Stays(uint8_t leaves, Location place) {
    Expr* condition = nullptr;
    if (leaves & Continues) condition = NotFlag(Flag(loop_->continue_flag, "continue"), place);
    if (leaves & Breaks)
      condition = And(condition, NotFlag(Flag(loop_->break_flag, "break"), place));
    if (leaves & Returns) condition = And(condition, NotFlag(Flag(return_flag_, "return"), place));
    return condition;
  }

  // `at_end`: nothing follows before the end of the loop's body (or, outside of loops, of the function).
  Block Flatten(std::span<Stmt* const> in, bool at_end) {
    Block out;
    Deeper deeper(depth_);
    if (depth_ > MaxDepth) {
      if (!errors_.any())
        errors_.Add(in.empty() ? Location() : in[0]->location,
                    "too many early exits follow each other", "use a loop", Diag::LimitReached);
      return out;
    }
    for (size_t k = 0; k < in.size(); ++k) {
      Stmt* stmt = in[k];
      std::span<Stmt* const> rest = in.subspan(k + 1);
      switch (stmt->kind) {
        case StmtKind::Break:
          out.push_back(SetFlag(Flag(loop_->break_flag, "break"), true, stmt->location));
          return out;
        case StmtKind::Continue:
          if (!at_end)
            out.push_back(SetFlag(Flag(loop_->continue_flag, "continue"), true, stmt->location));
          return out;
        case StmtKind::Return: Return(stmt, at_end, out); return out;
        case StmtKind::If:
          if (If(stmt, rest, at_end, out)) return out;
          break;
        case StmtKind::For:
        case StmtKind::While:
          LoopOf(stmt, out);
          if ((last_leaves_ & Returns) != 0 && !rest.empty()) {
            Guard(Returns, rest, at_end, stmt->location, out);
            return out;
          }
          break;
        default: out.push_back(stmt);
      }
    }
    return out;
  }

  void Return(Stmt* stmt, bool at_end, Block& out) {
    if (stmt->value != nullptr) {
      Stmt* assign = tree_.NewStmt(StmtKind::Assign, stmt->location);
      assign->local = stmt->local;
      assign->value = stmt->value;
      out.push_back(assign);
    }
    if (!at_end || loop_ != nullptr)
      out.push_back(SetFlag(Flag(return_flag_, "return"), true, stmt->location));
  }

  void Guard(uint8_t leaves, std::span<Stmt* const> rest, bool at_end, Location place, Block& out) {
    Stmt* guard = tree_.NewStmt(StmtKind::If, place);
    guard->value = Stays(leaves, place);
    guard->body = Flatten(rest, at_end);
    out.push_back(guard);
  }

  // True if the rest has been taken in.
  bool If(Stmt* stmt, std::span<Stmt* const> rest, bool at_end, Block& out) {
    uint8_t leaves = Leaves(*stmt);
    Block body = std::move(stmt->body), other = std::move(stmt->other);
    out.push_back(stmt);
    if (leaves == 0 || rest.empty()) {
      bool still_at_end = at_end && rest.empty();
      stmt->body = Flatten(body, still_at_end);
      stmt->other = Flatten(other, still_at_end);
      return false;
    }
    if (AlwaysLeaves(body)) {
      stmt->body = Flatten(body, at_end);
      stmt->other = Flatten(Joined(other, rest), at_end);
      return true;
    }
    if (AlwaysLeaves(other)) {
      stmt->body = Flatten(Joined(body, rest), at_end);
      stmt->other = Flatten(other, at_end);
      return true;
    }
    stmt->body = Flatten(body, false);
    stmt->other = Flatten(other, false);
    Guard(leaves, rest, at_end, stmt->location, out);
    return true;
  }

  // last_leaves_ tells afterwards how its body may leave.
  void LoopOf(Stmt* stmt, Block& out) {
    uint8_t leaves = Leaves(stmt->body);
    Loop loop;
    Loop* outer = loop_;
    loop_ = &loop;
    Block body = Flatten(stmt->body, true);
    Expr* goes_on = Stays(leaves & (Breaks | Returns), stmt->location);
    if (loop.continue_flag)
      body.insert(body.begin(), SetFlag(*loop.continue_flag, false, stmt->location));
    loop_ = outer;
    stmt->body = std::move(body);
    if (loop.break_flag) out.push_back(SetFlag(*loop.break_flag, false, stmt->location));
    bool is_endless = stmt->kind == StmtKind::While && stmt->value->kind == ExprKind::Literal &&
                      stmt->value->literal.integer != 0;
    if (stmt->kind == StmtKind::For || (is_endless && goes_on != nullptr))
      stmt->value = goes_on;
    else
      stmt->value = And(goes_on, stmt->value);
    out.push_back(stmt);
    last_leaves_ = leaves;
  }

  KernelTree& tree_;
  Errors& errors_;
  int depth_ = 0;
  std::optional<uint32_t> return_flag_;
  Loop* loop_ = nullptr;
  uint8_t last_leaves_ = 0;
};

}  // namespace

void FlattenJumps(KernelTree& tree, Errors& errors) {
  Flattener flattener(tree, errors);
  for (Block& pass : tree.passes) flattener.Function(pass);
  size_t count = tree.exprs.size();
  for (size_t i = 0; i < count; ++i)
    if (tree.exprs[i].kind == ExprKind::Inline) flattener.Function(tree.exprs[i].body);
}

}  // namespace frazil::frontends::python
