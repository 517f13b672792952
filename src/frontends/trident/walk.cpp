// Walks over trees. Shadowing matters only in AssignedOutside: there a name counts as the block's own from its `let` on.
#include "frontends/trident/walk.h"

#include <algorithm>
#include <unordered_map>

namespace frazil::frontends::trident {

void Walk(const Expr& expr, const Visitor& visitor) {
  if (visitor.expr) visitor.expr(expr);
  for (const ExprPtr& operand : expr.operands)
    if (operand) Walk(*operand, visitor);
  for (const ExprPtr& size : expr.sizes)
    if (size) Walk(*size, visitor);
  for (const FieldInit& init : expr.fields)
    if (init.value) Walk(*init.value, visitor);
  if (expr.block) Walk(*expr.block, visitor);
}

void Walk(const Stmt& stmt, const Visitor& visitor) {
  if (visitor.stmt) visitor.stmt(stmt);
  for (const ExprPtr* part : {&stmt.value, &stmt.first, &stmt.last})
    if (*part) Walk(**part, visitor);
  for (const ExprPtr& place : stmt.places) Walk(*place, visitor);
  for (const FieldInit& init : stmt.fields)
    if (init.value) Walk(*init.value, visitor);
  if (stmt.then_block) Walk(*stmt.then_block, visitor);
  if (stmt.else_block) Walk(*stmt.else_block, visitor);
  for (const MatchArm& arm : stmt.arms)
    if (arm.body) Walk(*arm.body, visitor);
}

void Walk(const Block& block, const Visitor& visitor) {
  for (const Stmt& stmt : block.stmts) Walk(stmt, visitor);
  if (block.tail) Walk(*block.tail, visitor);
}

std::string RootName(const Expr& expr) {
  const Expr* at = &expr;
  while ((at->kind == Expr::Kind::Member || at->kind == Expr::Kind::Index) && !at->operands.empty())
    at = at->operands[0].get();
  return at->kind == Expr::Kind::Name && !at->path.parts.empty() ? at->path.parts[0]
                                                                 : std::string();
}

namespace {

void PatternNames(const Pattern& pattern, std::vector<std::string>* names) {
  if (pattern.kind == Pattern::Kind::Bind) names->push_back(pattern.name);
  for (const auto& [field, inner] : pattern.fields) PatternNames(inner, names);
}

struct Assigned {
  std::vector<std::string> own;                     // a stack of what is bound inside
  std::unordered_map<std::string, uint32_t> bound;  // how often each stands in it
  std::vector<std::string> outside;
  std::unordered_set<std::string> noted;

  void Push(const std::string& name) {
    own.push_back(name);
    ++bound[name];
  }
  void PopTo(size_t mark) {
    for (; own.size() > mark; own.pop_back()) --bound[own.back()];
  }
  void Note(const std::string& name) {
    if (name.empty()) return;
    auto it = bound.find(name);
    if (it != bound.end() && it->second != 0) return;
    if (noted.insert(name).second) outside.push_back(name);
  }
  void In(const Expr& expr) {
    for (const ExprPtr& operand : expr.operands)
      if (operand) In(*operand);
    for (const FieldInit& init : expr.fields)
      if (init.value) In(*init.value);
    if (expr.block) In(*expr.block);
  }
  void In(const Block& block) {
    const size_t mark = own.size();
    for (const Stmt& stmt : block.stmts) {
      In(stmt);
      if (stmt.kind == Stmt::Kind::Let)
        for (const LetName& name : stmt.names) Push(name.name);
    }
    if (block.tail) In(*block.tail);
    PopTo(mark);
  }
  void In(const Stmt& stmt) {
    for (const ExprPtr* part : {&stmt.value, &stmt.first, &stmt.last})
      if (*part) In(**part);
    for (const ExprPtr& place : stmt.places) {
      In(*place);
      Note(RootName(*place));
    }
    for (const FieldInit& init : stmt.fields)
      if (init.value) In(*init.value);
    const size_t mark = own.size();
    if (stmt.kind == Stmt::Kind::For)
      for (const LetName& name : stmt.names) Push(name.name);
    if (stmt.then_block) In(*stmt.then_block);
    PopTo(mark);
    if (stmt.else_block) In(*stmt.else_block);
    for (const MatchArm& arm : stmt.arms) {
      std::vector<std::string> names;
      PatternNames(arm.pattern, &names);
      for (const std::string& name : names) Push(name);
      if (arm.body) In(*arm.body);
      PopTo(mark);
    }
  }
};

}  // namespace

std::vector<std::string> AssignedOutside(const Stmt& stmt) {
  Assigned assigned;
  assigned.In(stmt);
  return assigned.outside;
}

std::vector<std::string> AssignedOutside(const Block& block) {
  Assigned assigned;
  assigned.In(block);
  return assigned.outside;
}

namespace {

// By hand and not by Walk: it is asked for every statement, and nearly all are small.
bool Returns(const ExprPtr& expr) {
  if (!expr) return false;
  const auto field = [](const FieldInit& init) { return Returns(init.value); };
  return std::any_of(expr->operands.begin(), expr->operands.end(), Returns) ||
         std::any_of(expr->fields.begin(), expr->fields.end(), field) ||
         (expr->block && ContainsReturn(*expr->block)) ||
         (expr->block && Returns(expr->block->tail));
}

}  // namespace

bool ContainsReturn(const Stmt& stmt) {
  const auto field = [](const FieldInit& init) { return Returns(init.value); };
  const auto block = [](const BlockPtr& part) {
    return part && (ContainsReturn(*part) || Returns(part->tail));
  };
  const auto arm = [&](const MatchArm& part) { return block(part.body); };
  return stmt.kind == Stmt::Kind::Return || Returns(stmt.value) || Returns(stmt.first) ||
         Returns(stmt.last) || std::any_of(stmt.places.begin(), stmt.places.end(), Returns) ||
         std::any_of(stmt.fields.begin(), stmt.fields.end(), field) || block(stmt.then_block) ||
         block(stmt.else_block) || std::any_of(stmt.arms.begin(), stmt.arms.end(), arm);
}

bool ContainsReturn(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(),
                     [](const Stmt& s) { return ContainsReturn(s); });
}

bool AlwaysReturns(const Stmt& stmt) {
  switch (stmt.kind) {
    case Stmt::Kind::Return: return true;
    case Stmt::Kind::If:
      return stmt.then_block && stmt.else_block && AlwaysReturns(*stmt.then_block) &&
             AlwaysReturns(*stmt.else_block);
    case Stmt::Kind::Match:
      return !stmt.arms.empty() &&
             std::all_of(stmt.arms.begin(), stmt.arms.end(),
                         [](const MatchArm& a) { return a.body && AlwaysReturns(*a.body); });
    default: return false;
  }
}

bool AlwaysReturns(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(),
                     [](const Stmt& s) { return AlwaysReturns(s); });
}

bool ContainsBlock(const Expr& expr) {
  bool found = false;
  Walk(expr, {{}, [&](const Expr& inner) { found = found || inner.kind == Expr::Kind::Block; }});
  return found;
}

std::unordered_set<std::string> LocalNames(const FunctionDecl& function) {
  std::unordered_set<std::string> names;
  for (const Param& param : function.params) names.insert(param.name);
  if (!function.body) return names;
  Walk(*function.body, {[&](const Stmt& stmt) {
                          for (const LetName& name : stmt.names) names.insert(name.name);
                          std::vector<std::string> bound;
                          for (const MatchArm& arm : stmt.arms) PatternNames(arm.pattern, &bound);
                          names.insert(bound.begin(), bound.end());
                        },
                        {}});
  return names;
}

}  // namespace frazil::frontends::trident
