// Formatting: the same tree again, the same text again, every comment kept; by example and on random trees.
#include <gtest/gtest.h>

#include <random>

#include "frontends/trident/syntax/test_tree.h"
#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {
namespace {

std::string Formatted(std::string_view text) {
  ReadResult read = Read(text, "t.tri");
  EXPECT_TRUE(read.errors.empty()) << read.errors[0].ToString();
  const std::string once = Format(read.module);
  ReadResult again = Read(once, "t.tri");
  EXPECT_TRUE(again.errors.empty()) << again.errors[0].ToString() << "\n" << once;
  EXPECT_EQ(Dump(again.module), Dump(read.module)) << once;
  EXPECT_EQ(again.module.comments.size(), read.module.comments.size()) << once;
  EXPECT_EQ(Format(again.module), once);
  return once;
}

TEST(Format, OneLayout) {
  EXPECT_EQ(Formatted("program p\nuse a\n\n\nuse b.c\nconst N:U32=3\nstruct S{a:Field,pub "
                      "b:U32}\nfn f(a:Field)->Field{a+1}\n"
                      "fn main(){let x=(a*(b+c))\n\n\n   if x{return}else{g()}}"),
            "program p\n\nuse a\nuse b.c\n\nconst N: U32 = 3\n\nstruct S {\n    a: Field,\n    pub "
            "b: U32,\n}\n\nfn f(a: "
            "Field) -> Field {\n    a + 1\n}\n\n"
            "fn main() {\n    let x = a * (b + c)\n\n    if x {\n        return\n    } else {\n    "
            "    g()\n    }\n}\n");
}

TEST(Format, ParenthesesThatHelp) {
  EXPECT_EQ(Formatted("program p\nfn main() { x = ((a & b) * c) + (d == e) }\n"),
            "program p\n\nfn main() {\n    x = (a & b) * c + (d == e)\n}\n");
  EXPECT_EQ(Formatted("program p\nfn main() { assert((a < b) == false) }\n"),
            "program p\n\nfn main() {\n    assert((a < b) == false)\n}\n");
}

TEST(Format, CommentsStay) {
  const char* text =
      "// top\nprogram p // name\n\n// about\nuse a // why\n\n// group\n\n// own\nfn main() { // "
      "open\n    // first\n  "
      "  x = f(\n        a, // left\n"
      "        // own line\n        b\n    ) // after\n\n    // last\n} // end\n// bottom\n";
  EXPECT_EQ(Formatted(text), text);
}

TEST(Format, CommentsInOddPlaces) {
  Formatted(
      "program p\nfn f( // a\n  x: Field, // b\n  // c\n  y: Field // d\n) // e\n-> Field // f\n{ "
      "// g\n x // h\n + y "
      "// i\n}\n");
  Formatted(
      "program p\nfn main() {\n if a // 1\n { // 2\n b // 3\n } // 4\n else // 5\n { // 6\n } // "
      "7\n match x // 8\n { "
      "// 9\n 0 // 10\n => // 11\n { } // 12\n // 13\n } // 14\n}\n");
  Formatted(
      "program p\nstruct S // 1\n{ // 2\n a: // 3\n Field, // 4\n // 5\n}\nsec ram: { // 6\n 1: "
      "Field, // "
      "7\n}\n#[pure] // 8\n#[test]\n// 9\nfn f() { } // 10\n");
  Formatted(
      "program p\nfn main() {\n let x = a + // 1\n b * [1, // 2\n 2] + S { // 3\n a: 1 // 4\n }.a "
      "+ f( // 5\n )\n x = "
      "{ // 6\n let y = 1 // 7\n y // 8\n } // 9\n}\n");
}

TEST(Format, LongThingsBreak) {
  const std::string name(40, 'x');
  const std::string text =
      Formatted("program p\nfn main() {\nlet y = " + name + "(" + name + ", " + name +
                ", 3)\nlet z = " + name + " + " + name + " + " + name + " * " + name +
                "\nlet a = [1000000000000000000, 1000000000000000000, 1000000000000000000, "
                "1000000000000000000, 1000000000000000000, 7]\n"
                "reveal E { a: " +
                name + ", b: " + name + ", c: 3 }\n}\n");
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 100u);
}

// Random trees of what the reader makes.
class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Module Program() {
    Module module;
    module.is_program = Coin();
    module.name.parts = {"p"};
    for (uint32_t i = 0; i < 3; ++i) {
      FunctionDecl function;
      function.name = Name();
      function.is_pub = Coin();
      for (int k = Upto(3); k > 0; --k) function.params.push_back({Name(), Type(2), {}});
      if (Coin()) function.result = Type(2);
      if (Coin()) {
        Attribute attribute;
        attribute.name = Coin() ? "requires" : "ensures";
        predicate_ = true;
        attribute.condition = Make(4);
        predicate_ = false;
        function.attributes.push_back(std::move(attribute));
      }
      function.body = MakeBlock(3);
      module.order.emplace_back(Module::ItemKind::Function, i);
      module.functions.push_back(std::move(function));
    }
    return module;
  }

 private:
  int Upto(int most) { return static_cast<int>(random_() % static_cast<uint64_t>(most + 1)); }
  bool Coin() { return (random_() & 1) != 0; }
  std::string Name() {
    constexpr const char* names[] = {
        "a",     "b",       "count", "x1",          "_y",
        "while", "bounded", "input", "proof_block", "a_rather_long_name_for_a_variable"};
    return names[Upto(9)];
  }
  Path MakePath(int most) {
    Path path;
    for (int i = Upto(most); i >= 0; --i) path.parts.push_back(Name());
    return path;
  }
  TypeExpr Type(int depth) {
    TypeExpr type;
    const int kind = depth == 0 ? 0 : Upto(2);
    if (kind == 0) {
      type.name = MakePath(1);
    } else if (kind == 1) {
      type.kind = TypeExpr::Kind::Array;
      type.parts.push_back(Type(depth - 1));
      type.size = Size(2);
    } else {
      type.kind = TypeExpr::Kind::Tuple;
      for (int i = Upto(2) + 2; i > 0; --i) type.parts.push_back(Type(depth - 1));
    }
    return type;
  }
  ExprPtr Make(int depth) {
    auto expr = std::make_unique<Expr>();
    const int kind = depth == 0 ? Upto(2) : Upto(predicate_ ? 10 : 12);
    const auto operands = [&](int least, int most) {
      for (int i = Upto(most - least) + least; i > 0; --i)
        expr->operands.push_back(Make(depth - 1));
    };
    const auto of = [&](Expr::Kind made, int least, int most) {
      expr->kind = made;
      operands(least, most);
    };
    switch (kind) {
      case 0:
        expr->kind = Expr::Kind::Integer;
        expr->number = random_() % 18446744069414584321u;
        break;
      case 1:
        expr->kind = Expr::Kind::Bool;
        expr->number = Coin() ? 1 : 0;
        break;
      case 2:
        expr->kind = Expr::Kind::Name;
        expr->path = MakePath(2);
        break;
      case 3: of(Expr::Kind::Index, 2, 2); break;
      case 4:
      case 5:
        expr->op = static_cast<BinaryOp>(Upto(7));
        of(Expr::Kind::Binary, 2, 2);
        break;
      case 6:
        expr->kind = Expr::Kind::Call;
        expr->path = MakePath(1);
        for (int i = Upto(2); i > 0; --i) expr->sizes.push_back(Size(1));
        operands(0, 3);
        break;
      case 7: of(Expr::Kind::Array, 0, 4); break;
      case 8: of(Expr::Kind::Tuple, 2, 3); break;
      case 9:
        expr->kind = Expr::Kind::Struct;
        expr->path = MakePath(1);
        for (int i = Upto(2); i > 0; --i)
          expr->fields.push_back({Name(), Coin() ? Make(depth - 1) : nullptr, {}});
        break;
      case 10:
        if (predicate_) {
          constexpr const char* calls[] = {"gt", "ge", "le", "ne", "and", "or", "sub", "not"};
          expr->kind = Expr::Kind::Call;
          expr->infix = true;
          expr->path.parts = {calls[Upto(7)]};
          operands(2, 2);
          if (expr->path.parts[0] == "not") expr->operands.pop_back();
        } else {
          expr->kind = Expr::Kind::Array;
          operands(1, 1);
          expr->sizes.push_back(Size(1));
        }
        break;
      case 11:
        expr->kind = Expr::Kind::Block;
        expr->block = MakeBlock(depth - 1);
        break;
      default:
        expr->kind = Expr::Kind::Member;
        expr->path.parts.push_back(Name());
        operands(1, 1);
        if (expr->operands[0]->kind == Expr::Kind::Name) expr->operands[0]->kind = Expr::Kind::Call;
        break;
    }
    return expr;
  }
  ExprPtr Size(int depth) {
    auto expr = std::make_unique<Expr>();
    expr->kind = depth == 0 ? Expr::Kind::Integer
                            : static_cast<Expr::Kind>(2 * Upto(1));  // an integer or a name
    if (expr->kind == Expr::Kind::Name) expr->path = MakePath(1);
    if (depth == 0 || Coin()) return expr;
    expr = std::make_unique<Expr>();
    expr->kind = Expr::Kind::Binary;
    expr->op = Coin() ? BinaryOp::Add : BinaryOp::Mul;
    for (int i = 0; i < 2; ++i) expr->operands.push_back(Size(depth - 1));
    return expr;
  }
  ExprPtr Place(int depth) {
    auto expr = std::make_unique<Expr>();
    expr->kind = Expr::Kind::Name;
    expr->path = MakePath(1);
    if (depth == 0 || Coin()) return expr;
    auto index = std::make_unique<Expr>();
    index->kind = Expr::Kind::Index;
    index->operands.push_back(std::move(expr));
    index->operands.push_back(Make(depth - 1));
    return index;
  }
  BlockPtr MakeBlock(int depth) {
    auto block = std::make_unique<Block>();
    for (int i = Upto(3); i > 0; --i) block->stmts.push_back(MakeStmt(std::max(depth, 0)));
    if (Coin()) block->tail = Make(std::max(depth, 0));
    return block;
  }
  Stmt MakeStmt(int depth) {
    Stmt stmt;
    stmt.kind = static_cast<Stmt::Kind>(depth == 0 ? (Coin() ? 0 : 10) : Upto(11));
    const auto fields = [&] {
      for (int i = Upto(3); i > 0; --i)
        stmt.fields.push_back({Name(), Coin() ? Make(depth - 1) : nullptr, {}});
    };
    switch (stmt.kind) {
      case Stmt::Kind::Let: {
        stmt.is_tuple = Coin();
        const bool is_mut = Coin();
        for (int i = stmt.is_tuple ? Upto(2) + 1 : 1; i > 0; --i)
          stmt.names.push_back({Name(), is_mut, {}});
        if (Coin()) stmt.type = std::make_unique<TypeExpr>(Type(2));
        stmt.value = Make(depth);
        break;
      }
      case Stmt::Kind::Assign:
        stmt.places.push_back(Place(depth));
        stmt.value = Make(depth);
        break;
      case Stmt::Kind::TupleAssign:
        for (int i = 0; i < 2; ++i) stmt.places.push_back(Place(depth));
        stmt.value = Make(depth);
        break;
      case Stmt::Kind::If:
        stmt.value = Make(depth);
        stmt.then_block = MakeBlock(depth - 1);
        if (Coin()) stmt.else_block = MakeBlock(depth - 1);
        break;
      case Stmt::Kind::For:
        stmt.names.push_back({Name(), false, {}});
        stmt.first = Make(depth);
        stmt.last = Make(depth);
        if (Coin()) stmt.bound = static_cast<uint64_t>(Upto(1000));
        stmt.then_block = MakeBlock(depth - 1);
        break;
      case Stmt::Kind::Match:
        stmt.value = Make(depth);
        for (int i = Upto(3); i > 0; --i) {
          MatchArm arm;
          arm.pattern.kind = static_cast<Pattern::Kind>(Upto(3));
          if (arm.pattern.kind == Pattern::Kind::Integer) arm.pattern.number = random_() % 1000;
          if (arm.pattern.kind == Pattern::Kind::Bool) arm.pattern.number = random_() % 2;
          if (arm.pattern.kind == Pattern::Kind::Struct) {
            arm.pattern.name = "S";
            Pattern bind;
            bind.kind = Pattern::Kind::Bind;
            bind.name = Name();
            arm.pattern.fields.push_back({Name(), bind});
          }
          arm.body = MakeBlock(depth - 1);
          stmt.arms.push_back(std::move(arm));
        }
        break;
      case Stmt::Kind::Reveal:
      case Stmt::Kind::Seal:
        stmt.event = MakePath(1);
        fields();
        break;
      case Stmt::Kind::Asm:
        stmt.assembly = std::make_unique<Assembly>();
        stmt.assembly->effect = Upto(4) - 2;
        stmt.assembly->text = Coin() ? "push 1\ndup 0" : "add // x";
        if (Coin()) stmt.assembly->target = "triton";
        break;
      case Stmt::Kind::ProofBlock:
        stmt.value = Make(depth);
        stmt.then_block = MakeBlock(depth - 1);
        break;
      case Stmt::Kind::Return:
        if (Coin()) stmt.value = Make(depth);
        break;
      case Stmt::Kind::Expr: stmt.value = Make(depth); break;
    }
    return stmt;
  }

  std::mt19937_64 random_;
  bool predicate_ = false;
};

// An expression statement in the last place reads back as the block's value; so does the tree to compare with.
void Normalize(Block* block);
void Normalize(Expr* expr) {
  if (expr == nullptr) return;
  for (ExprPtr& part : expr->operands) Normalize(part.get());
  for (FieldInit& field : expr->fields) Normalize(field.value.get());
  if (expr->block) Normalize(expr->block.get());
}
void Normalize(Block* block) {
  if (block == nullptr) return;
  for (Stmt& stmt : block->stmts) {
    Normalize(stmt.value.get());
    Normalize(stmt.first.get());
    Normalize(stmt.last.get());
    for (ExprPtr& place : stmt.places) Normalize(place.get());
    for (FieldInit& field : stmt.fields) Normalize(field.value.get());
    Normalize(stmt.then_block.get());
    Normalize(stmt.else_block.get());
    for (MatchArm& arm : stmt.arms) Normalize(arm.body.get());
  }
  Normalize(block->tail.get());
  if (!block->tail && !block->stmts.empty() && block->stmts.back().kind == Stmt::Kind::Expr) {
    block->tail = std::move(block->stmts.back().value);
    block->stmts.pop_back();
  }
}

TEST(Format, RandomTreesComeBack) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Module module = Maker(seed).Program();
    for (FunctionDecl& function : module.functions) Normalize(function.body.get());
    const std::string text = Format(module);
    ReadResult read = Read(text, "");
    ASSERT_TRUE(read.errors.empty()) << "seed " << seed << ": " << read.errors[0].ToString() << "\n"
                                     << text;
    ASSERT_TRUE(Dump(read.module) == Dump(module)) << "seed " << seed << "\n" << text;
    ASSERT_TRUE(Format(read.module) == text) << "seed " << seed << "\n"
                                             << text << "\n"
                                             << Format(read.module);
  }
}

}  // namespace
}  // namespace frazil::frontends::trident
