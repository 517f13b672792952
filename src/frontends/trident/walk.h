// Questions about trees that need no types: what a block assigns, whether it returns, what a function calls. Recursion
// is bounded by the height that the reader allows.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

struct Visitor {
  std::function<void(const Stmt&)> stmt;
  std::function<void(const Expr&)> expr;
};
// Every statement and expression inside, in order of the text; null functions are skipped.
void Walk(const Block& block, const Visitor& visitor);
void Walk(const Expr& expr, const Visitor& visitor);
void Walk(const Stmt& stmt, const Visitor& visitor);

// The variable under a place or a value `p.a[i].x`: "p", or nothing where it does not begin with a name.
std::string RootName(const Expr& expr);

// Variables from outside that the statement assigns; its own are left out.
std::vector<std::string> AssignedOutside(const Stmt& stmt);
std::vector<std::string> AssignedOutside(const Block& block);

bool ContainsReturn(const Stmt& stmt);
bool ContainsReturn(const Block& block);
// Every way through it ends in a return.
bool AlwaysReturns(const Stmt& stmt);
bool AlwaysReturns(const Block& block);

bool ContainsBlock(const Expr& expr);
// All names that the function binds anywhere: parameters, lets, loop variables, patterns.
std::unordered_set<std::string> LocalNames(const FunctionDecl& function);

}  // namespace frazil::frontends::trident
