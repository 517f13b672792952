// The syntax tree of one kernel, names resolved and functions already put in place of their calls: every variable is a
// Local, every array an Array. The passes, in order (kernel.cpp): read, check assignments, flatten jumps, infer types,
// plan the launch, emit.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"

namespace frazil::frontends::python {

// What an expression is known to be. Literals are weak: they take the type of what they meet.
struct ValueType {
  enum Kind : uint8_t { Unknown, WeakInt, WeakFloat, Typed, Nothing };
  Kind kind = Unknown;
  ir::Scalar scalar = ir::Scalar::Bool;  // Typed

  static constexpr ValueType Of(ir::Scalar s) { return {Typed, s}; }
  constexpr bool is(ir::Scalar s) const { return kind == Typed && scalar == s; }
  constexpr bool is_weak() const { return kind == WeakInt || kind == WeakFloat; }
  constexpr bool is_int() const {
    return kind == WeakInt || (kind == Typed && ir::IsFixedInt(scalar));
  }
  constexpr bool is_float() const {
    return kind == WeakFloat || (kind == Typed && ir::IsFloat(scalar));
  }
  constexpr bool is_bool() const { return is(ir::Scalar::Bool); }
  friend constexpr bool operator==(const ValueType&, const ValueType&) = default;
};

// Constants as Python has them: integers stay exact (exact.h) until a type asks whether they fit.
struct Literal {
  enum Kind : uint8_t { Bool, Int, Float };
  Kind kind = Int;
  __int128 integer = 0;  // Bool: 0 or 1
  double real = 0;
};

enum class BinaryOp : uint8_t {
#define FRAZIL_BINARY(name, text) name,
#include "frontends/python/binary_ops.def"
#undef FRAZIL_BINARY
};
constexpr bool IsCompare(BinaryOp op) { return op >= BinaryOp::Lt && op <= BinaryOp::Ne; }
enum class UnaryOp : uint8_t { Pos, Neg, Not, Inv };

struct FunctionRow;  // functions.h
struct Stmt;
using Block = std::vector<Stmt*>;

enum class ExprKind : uint8_t {
  Literal,
  Var,
  Param,
  Binary,
  Unary,
  Chain,
  Load,
  Call,
  Cast,
  Truth,
  IfExpr,
  Inline,
  Length,
  Fold,
};

struct Expr {
  ExprKind kind = ExprKind::Literal;
  BinaryOp binary = BinaryOp::Add;
  UnaryOp unary = UnaryOp::Pos;
  ir::ReduceKind fold = ir::ReduceKind::Sum;
  bool unordered = false;  // Call: atomics
  bool is_constant_checked = false;
  bool is_final = false;  // its type was reported on
  Location location;
  ValueType type;
  Literal literal;
  uint32_t id = 0;  // Var, Fold: local; Param: ordinal; Load, Length, atomics: array
  ir::Scalar to = ir::Scalar::Bool;       // Cast, bitcast
  const FunctionRow* function = nullptr;  // Call
  std::vector<Expr*>
      args;  // operands; Load: one index for each dimension; IfExpr: condition, then, else;
             // Fold: start, stop, element
  std::vector<BinaryOp> ops;  // Chain: args[0] ops[0] args[1] ops[1] ..
  Block body;                 // Inline: what to do before the value
  uint32_t result = 0;        // Inline: the local that holds the value
  bool has_result = false;
};

enum class StmtKind : uint8_t {
  Assign,
  Store,
  Update,
  If,
  For,
  While,
  Break,
  Continue,
  Return,
  Expr,
  Assert,
  Barrier,
};

struct Stmt {
  StmtKind kind = StmtKind::Expr;
  Location location;
  uint32_t local = 0;           // Assign: target; For: variable
  uint32_t array = 0;           // Store, Update
  BinaryOp op = BinaryOp::Add;  // Update
  // Assign, Expr, Return (or null): the value. Store, Update: the value. If, While, Assert: the condition.
  // For: null, or what must hold to go on (jumps that were flattened).
  Expr* value = nullptr;
  std::vector<Expr*> args;  // Store, Update: indices; For: start, stop, step
  Block body;               // If: then
  Block other;              // If: else
  // Filled by the liveness pass.
  std::vector<uint64_t> gen, kill, assigned, live_out;
  bool has_barrier = false;
};

struct Local {
  std::string name;
  ValueType type;
  ValueType declared;         // Unknown: inferred
  std::vector<Expr*> values;  // everything assigned to it; a loop's variable: null
  Location location;
  bool is_constant = false;  // assigned once, a literal
};

struct Array {
  std::string name;
  ir::Scalar element = ir::Scalar::F32;
  std::vector<Expr*> shape;  // empty: one dimension, length unknown
  bool is_shared = false;
  uint32_t param = 0;  // ordinal of the parameter
  bool is_written = false;
  uint32_t uses = 0;  // loads, stores and atomics
  Location location;
};

struct Param {
  std::string name;
  ir::Type type;
  uint32_t array = 0;  // buffers
  Location location;
};

struct KernelTree {
  std::string name;
  std::string doc;
  Location location;
  std::vector<Param> params;
  std::vector<Local> locals;
  std::vector<Array> arrays;
  std::vector<Block> passes;  // one after the other over all lanes; a Python function is one pass
  // Nodes live as long as the tree.
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;

  Expr* NewExpr(ExprKind kind, Location location) {
    Expr& e = exprs.emplace_back();
    e.kind = kind;
    e.location = location;
    return &e;
  }
  Stmt* NewStmt(StmtKind kind, Location location) {
    Stmt& s = stmts.emplace_back();
    s.kind = kind;
    s.location = location;
    return &s;
  }
  uint32_t NewLocal(std::string name, Location location) {
    locals.push_back({std::move(name), {}, {}, {}, location, false});
    return static_cast<uint32_t>(locals.size() - 1);
  }
};

// Mistakes, in the order they were found.
class Errors {
 public:
  explicit Errors(std::string_view file) : file_(file) {}
  void Add(Location location, std::string message, std::string hint = "",
           Diag diag = Diag::BadKernel) {
    if (list_.size() < MaxErrors)
      list_.push_back({diag, std::move(message), location, {}, std::move(hint)});
  }
  bool any() const { return !list_.empty(); }
  // The first with its place; the others follow in its message, one on each line.
  Error Take();

 private:
  static constexpr size_t MaxErrors = 20;
  std::string file_;
  std::vector<Error> list_;
};

}  // namespace frazil::frontends::python
