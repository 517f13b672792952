// Trident by walking the tree: slow, untyped, with nothing of the elaborator. Literals have no type until they meet a value
// or a place that has one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/trident/syntax/ast.h"

namespace frazil::tests::trident {

namespace tri = frontends::trident;

constexpr uint64_t P = 0xffff'ffff'0000'0001u;

struct Val {
  enum Kind { Literal, Field, U32, Bool, XField, Digest, Group } kind = Group;
  uint64_t n = 0;
  std::vector<Val> parts;  // Group: array, tuple, struct, in order; XField, Digest: Fields
  std::string name;        // of a struct
};

struct Crash {};  // the program traps

struct EvalResult {
  bool crashed = false;
  std::vector<uint64_t> output;
};

class Evaluator {
 public:
  Evaluator(const tri::Module& module, std::vector<uint64_t> input, std::vector<uint64_t> secret,
            size_t ram);
  EvalResult Run();

 private:
  struct Scope {
    std::vector<std::pair<std::string, Val>> variables;
    std::map<std::string, uint64_t> sizes;
    bool returned = false;
    Val result;
    const tri::FunctionDecl* function = nullptr;
  };
  Val Eval(const tri::Expr& e);
  Val Binary(const tri::Expr& e);
  Val Call(const tri::Expr& e);
  Val Builtin(const std::string& name, std::vector<Val>& a);
  Val CallFunction(const tri::FunctionDecl& f, std::vector<Val> args, const tri::Expr& call);
  Val Block(const tri::Block& block);
  Val Stmt(const tri::Stmt& stmt);
  void Let(const tri::Stmt& stmt);
  Val For(const tri::Stmt& stmt);
  Val Match(const tri::Stmt& stmt);
  bool Matches(const tri::Pattern& pattern, const Val& value,
               std::vector<std::pair<std::string, Val>>* bound);
  void Assign(const tri::Expr& place, const Val& value);
  Val* Locate(const tri::Expr& place);
  Val* Member(Val* value, const std::string& name);
  Val* Variable(const std::string& name);
  Val As(Val value, const tri::TypeExpr& type);  // types literals
  static Val Like(Val value, const Val& other);  // a literal becomes what the other is
  uint64_t Size(const tri::Expr& e);
  uint64_t Number(const Val& v);  // of a loop bound
  const tri::StructDecl* Struct(const std::string& name) const;
  const tri::ConstDecl* Const(const std::string& name) const;
  void Emit(const Val& v);

  const tri::Module& module_;
  std::vector<uint64_t> input_, secret_, ram_;
  size_t next_input_ = 0, next_secret_ = 0;
  std::vector<Scope> calls_;
  std::vector<uint64_t> output_;
};

uint64_t MulP(uint64_t a, uint64_t b);
uint64_t AddP(uint64_t a, uint64_t b);
uint64_t PowP(uint64_t a, uint64_t e);
bool SameValue(const Val& a, const Val& b);
Val MakeField(uint64_t n);
Val MakeU32(uint64_t n);  // crashes from 2^32 on
Val MakeBool(bool b);

}  // namespace frazil::tests::trident
