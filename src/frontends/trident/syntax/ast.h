// Trident source as a tree. The reader makes it from text, the printer gives it back, the elaborator types it and
// makes IR from it. Nodes are owned by their parents; names are as written, resolved later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontends/trident/syntax/list.h"

namespace frazil::frontends::trident {

struct Expr;
struct Block;
using ExprPtr = std::unique_ptr<Expr>;
using BlockPtr = std::unique_ptr<Block>;

// `a.b.c`
struct Path {
  List<std::string> parts;
  Location location;
  std::string ToString() const;
};

// A type as written.
struct TypeExpr {
  enum class Kind { Named, Array, Tuple } kind = Kind::Named;
  Path name;                    // Named: Field, XField, Bool, U32, Digest, a struct
  std::vector<TypeExpr> parts;  // Array: its element; Tuple: its members
  ExprPtr size;                 // Array: a constant expression
  Location location;
};

enum class BinaryOp : uint8_t { Add, Mul, Eq, Lt, And, Xor, DivMod, Scale };  // + * == < & ^ /% *.

struct FieldInit {
  std::string name;
  ExprPtr value;  // null: `S { a }` stands for `S { a: a }`
  Location location;
};

struct Expr {
  enum class Kind : uint8_t {
    Integer,  // number; may be as large as the field allows
    Bool,     // number 0 or 1
    Name,  // path (a variable, a constant, `module.CONST`, or a place `p.x.y`; the elaborator tells them apart)
    Member,  // operands[0] . path (of one part), where operands[0] is not a plain name (a call, an index, ...)
    Index,   // operands[0] [ operands[1] ]
    Binary,  // operands[0] op operands[1]
    Call,    // path <sizes> ( operands )
    Struct,  // path { fields }
    Array,  // [ operands ]; with a size: [ operands[0]; sizes[0] ], the one operand that many times (ours)
    Tuple,  // ( operands )
    Block,  // block
  } kind = Kind::Integer;
  BinaryOp op = BinaryOp::Add;
  bool infix =
      false;  // Call: written as an operator, `a > b` for gt(a, b), in requires and ensures
  uint32_t height =
      1;  // of this tree, blocks included; the reader limits it, so that walks may recurse
  Location location;
  Location end;  // just after it
  uint64_t number = 0;
  Path path;
  List<ExprPtr> operands;
  List<ExprPtr> sizes;
  List<FieldInit> fields;
  BlockPtr block;
};

struct FieldPattern;

struct Pattern {
  enum class Kind { Integer, Bool, Wildcard, Struct, Bind } kind = Kind::Wildcard;
  uint64_t number = 0;
  std::string name;  // Struct: which; Bind: the new variable
  std::vector<FieldPattern> fields;
  Location location;
};

struct FieldPattern {
  std::string name;
  Pattern pattern;
};

struct MatchArm {
  Pattern pattern;
  BlockPtr body;
};

struct LetName {
  std::string name;  // "_": dropped
  bool is_mut = false;
  Location location;
};

struct Assembly {
  std::string target;  // as written, empty = triton
  int32_t effect = 0;
  std::string text;              // its lines, trimmed, without empty ones, joined by '\n'
  std::vector<Location> places;  // where each of them begins
};

// A block that has no tail and ends in an If or a Match has, where a value is asked for, the value of the arm taken.
// A place may be the name `_` in a tuple assignment: that part is dropped.
struct Stmt {
  enum class Kind : uint8_t {
    Let,
    Assign,
    TupleAssign,
    If,
    For,
    Match,
    Reveal,
    Seal,
    Asm,
    ProofBlock,
    Return,
    Expr
  } kind = Kind::Expr;
  bool is_tuple = false;  // Let: parentheses were written
  Location location;
  Location end;                    // just after it
  List<LetName> names;             // Let: one, or several in parentheses; For: the variable
  std::unique_ptr<TypeExpr> type;  // Let; may be null
  List<ExprPtr> places;            // Assign: one; TupleAssign: several
  ExprPtr
      value;  // Let, Assign, TupleAssign, Return (may be null), Expr; If, Match: what is tested; ProofBlock
  ExprPtr first, last;            // For: the range
  std::optional<uint64_t> bound;  // For: `bounded K`
  BlockPtr then_block;            // If, For, ProofBlock: the body
  BlockPtr else_block;            // If; may be null
  List<MatchArm> arms;
  Path event;                          // Reveal, Seal
  List<FieldInit> fields;              // Reveal, Seal
  std::unique_ptr<Assembly> assembly;  // Asm
};

struct Block {
  std::vector<Stmt> stmts;
  ExprPtr tail;            // may be null
  Location location, end;  // of its braces
  uint32_t height = 1;     // see Expr
};

struct Attribute {
  std::string name;  // test, pure, intrinsic, requires, ensures, cfg
  std::string word;  // intrinsic(word), cfg(word)
  ExprPtr
      condition;  // requires, ensures; `>`, `>=`, `<=`, `!=`, `&&`, `||`, `!`, `-` stand there as infix calls of
                  // `gt`, `ge`, `le`, `ne`, `and`, `or`, `not`, `sub`
  Location location;
};

struct Param {
  std::string name;
  TypeExpr type;
  Location location;
};

// What every named item has.
struct Decl {
  std::string name;
  bool is_pub = false;
  std::vector<Attribute> attributes;  // cfg only, except on functions
  Location location, end;
};

struct FunctionDecl : Decl {
  std::vector<std::string> sizes;  // fn f<N, M>
  std::vector<Param> params;
  std::optional<TypeExpr> result;
  BlockPtr body;  // null for an intrinsic
};

struct ConstDecl : Decl {
  TypeExpr type;
  ExprPtr value;
};

struct MemberDecl {
  std::string name;
  bool is_pub = false;
  TypeExpr type;
  Location location;
};

struct StructDecl : Decl {
  std::vector<MemberDecl> members;
};

struct EventDecl : Decl {
  std::vector<MemberDecl> members;
};

// `pub input: T`, `pub output: T`, `sec input: T`, `sec ram: { 17: T, ... }`
struct IoDecl {
  enum class Kind { PublicInput, PublicOutput, SecretInput, SecretRam } kind = Kind::PublicInput;
  std::vector<std::pair<uint64_t, TypeExpr>> slots;  // SecretRam; the others: one, address 0
  Location location, end;
};

// Comments, for the formatter: where they stood and whether something stood before them on their line.
struct Comment {
  std::string text;
  Location location;
  bool trailing = false;
};

struct Module {
  std::string file;
  bool is_program = false;
  Path name;
  std::vector<Path> uses;
  std::vector<IoDecl> io;
  std::vector<ConstDecl> constants;
  std::vector<StructDecl> structs;
  std::vector<EventDecl> events;
  std::vector<FunctionDecl> functions;
  std::vector<Comment> comments;
  std::vector<Location> use_places;  // where each `use` begins
  // Items in the order of the text: (kind, index into its vector), for the formatter.
  enum class ItemKind { Io, Const, Struct, Event, Function };
  std::vector<std::pair<ItemKind, uint32_t>> order;
};

}  // namespace frazil::frontends::trident
