// What the structured ops must carry: a variable that is set inside and read behind. Two walks, bottom-up what each
// statement reads first (gen), surely sets (kill) and may set (assigned), then top-down what is read behind it.
#include "frontends/python/bits.h"
#include "frontends/python/passes.h"

namespace frazil::frontends::python {
namespace {

class Liveness {
 public:
  explicit Liveness(const KernelTree& tree) : count_(tree.locals.size()) {}

  void Run(Block& body, std::span<const uint32_t> last) {
    Sets sets = Empty();
    Summarize(body, sets);
    Bits live = NoBits(count_);
    for (uint32_t local : last) Put(live, local);
    Propagate(body, std::move(live));
  }

 private:
  struct Sets {
    Bits gen, kill, assigned;
    bool has_barrier = false;
  };
  Sets Empty() const { return {NoBits(count_), NoBits(count_), NoBits(count_)}; }

  void Read(Expr* e, Sets& sets) {
    if (e == nullptr) return;
    if (e->kind == ExprKind::Var) {
      if (!Has(sets.kill, e->id)) Put(sets.gen, e->id);
      return;
    }
    if (e->kind == ExprKind::Inline) return Summarize(e->body, sets);
    if (e->kind == ExprKind::Fold) {
      Read(e->args[0], sets);
      Read(e->args[1], sets);
      Sets element = Empty();
      Put(element.kill, e->id);
      Read(e->args[2], element);
      return Nest(sets, element);
    }
    bool is_conditional =
        e->kind == ExprKind::IfExpr || e->kind == ExprKind::Chain || e->kind == ExprKind::Binary;
    for (size_t i = 0; i < e->args.size(); ++i) {
      if (i == 0 || !is_conditional) {
        Read(e->args[i], sets);
        continue;
      }
      Bits kill = sets.kill;
      Read(e->args[i], sets);
      sets.kill = std::move(kill);
    }
  }

  void Summarize(Block& block, Sets& sets) {
    for (Stmt* stmt : block) {
      Sets own = Empty();
      Summarize(*stmt, own);
      Bits gen = own.gen;
      Remove(gen, sets.kill);
      Union(sets.gen, gen);
      Union(sets.kill, own.kill);
      Union(sets.assigned, own.assigned);
      sets.has_barrier |= own.has_barrier;
      stmt->gen = std::move(own.gen);
      stmt->kill = std::move(own.kill);
      stmt->assigned = std::move(own.assigned);
      stmt->has_barrier = own.has_barrier;
    }
  }

  void Summarize(Stmt& stmt, Sets& sets) {
    for (Expr* arg : stmt.args) Read(arg, sets);
    if (stmt.kind == StmtKind::For) {
      Sets body = Empty();
      Read(stmt.value, body);
      Bits none = NoBits(count_);
      body.kill = none;
      Put(body.kill, stmt.local);
      Summarize(stmt.body, body);
      Put(body.assigned, stmt.local);
      return Nest(sets, body);
    }
    Read(stmt.value, sets);
    switch (stmt.kind) {
      case StmtKind::Assign:
        Put(sets.kill, stmt.local);
        Put(sets.assigned, stmt.local);
        return;
      case StmtKind::If: {
        Sets yes = Empty(), no = Empty();
        Summarize(stmt.body, yes);
        Summarize(stmt.other, no);
        Bits both = yes.kill;
        Intersect(both, no.kill);
        Nest(sets, yes);
        Nest(sets, no);
        Union(sets.kill, both);
        return;
      }
      case StmtKind::While: {
        Sets body = Empty();
        Summarize(stmt.body, body);
        return Nest(sets, body);
      }
      case StmtKind::Barrier: sets.has_barrier = true; return;
      default: return;
    }
  }

  // What runs only on some ways.
  static void Nest(Sets& sets, Sets& inner) {
    Remove(inner.gen, sets.kill);
    Union(sets.gen, inner.gen);
    Union(sets.assigned, inner.assigned);
    sets.has_barrier |= inner.has_barrier;
  }

  void Propagate(Expr* e) {
    if (e == nullptr) return;
    for (Expr* arg : e->args) Propagate(arg);
    if (e->kind != ExprKind::Inline) return;
    Bits live = NoBits(count_);
    if (e->has_result) Put(live, e->result);
    Propagate(e->body, std::move(live));
  }

  void Propagate(Block& block, Bits live) {
    for (size_t i = block.size(); i-- > 0;) {
      Stmt& stmt = *block[i];
      stmt.live_out = live;
      for (Expr* arg : stmt.args) Propagate(arg);
      Propagate(stmt.value);
      if (stmt.kind == StmtKind::If) {
        Propagate(stmt.body, live);
        Propagate(stmt.other, live);
      } else if (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While) {
        Bits around = live;
        Union(around, stmt.gen);
        Propagate(stmt.body, std::move(around));
      }
      Remove(live, stmt.kill);
      Union(live, stmt.gen);
    }
  }

  size_t count_;
};

}  // namespace

void FindLiveness(KernelTree& tree, Block& body, std::span<const uint32_t> last) {
  Liveness(tree).Run(body, last);
}

}  // namespace frazil::frontends::python
