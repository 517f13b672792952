// Random Trident programs that type: functions with arrays, structs, tuples, generics, early returns, loops and matches, whose
// main writes all it computed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace frazil::tests::trident {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  std::string Program();

 private:
  struct Type {
    enum Kind { Field, U32, Bool, XField, Digest, Array, Tuple, Struct } kind = Field;
    std::vector<Type> parts;  // Array: its element; Tuple, Struct: members
    size_t size = 0;          // Array, Struct: which
    bool operator==(const Type&) const = default;
  };
  struct Var {
    std::string name;
    Type type;
    bool is_mut;
  };
  struct Function {
    std::string name;
    std::vector<Type> params;
    Type result;
    bool has_result;
    bool generic;  // its first parameter is [Field; N]
  };

  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  Type RandomType(int depth);
  std::string TypeText(const Type& type);
  std::string Fresh(const char* stem) { return stem + std::to_string(next_++); }

  std::string Literal(const Type& type);
  std::string Expr(const Type& type, int depth);
  std::string Solid(const Type& type, int depth);  // no bare literal: it has a type of its own
  std::string FieldExpr(int depth);
  std::string U32Expr(int depth);
  std::string BoolExpr(int depth);
  std::string Make(const Type& type, int depth);  // by its parts
  // A place of this type inside a variable, or nothing.
  std::string PlaceOf(const Type& type, bool must_mut);
  void Places(const std::string& text, const Type& at, const Type& wanted, int depth,
              std::vector<std::string>* found);
  std::string Index(size_t size);
  std::string CallOf(const Type& type, int depth);
  std::string Call(const Function& f, int depth);

  void Line(const std::string& text) { text_ += std::string(4 * indent_, ' ') + text + "\n"; }
  void Stmts(int count, int depth);
  void Stmt(int depth);
  void IfStmt(int depth);
  void ForStmt(int depth);
  void MatchStmt(int depth);
  void Scoped(int count, int depth, bool may_return);
  void Write(const std::string& value, const Type& type);
  void FunctionText(size_t number);

  std::mt19937_64 random_;
  std::string text_;
  size_t indent_ = 0;
  size_t next_ = 0;
  std::vector<Var> vars_;
  std::vector<Function> functions_;
  std::vector<Type> structs_;
  const Function* current_ = nullptr;
  int loops_ = 0;
};

}  // namespace frazil::tests::trident
