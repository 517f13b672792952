// The IR of one function. Statements are made in order into an ir::FunctionBuilder; a variable is the list of its
// scalars' current values, so assignment is a change of that list and branches give the changed ones as results.
//
// An error gives a value of the error type, or zeros where a type is known, so that the rest is still checked.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/trident/elaborate.h"
#include "ir/builder.h"

namespace frazil::frontends::trident {

struct Value {
  TypeId type = TypeTable::Error;
  ir::Values leaves;
  bool is_error() const { return type == TypeTable::Error; }
};

struct Variable {
  std::string name;
  TypeId type = TypeTable::Error;
  bool is_mut = false;
  bool in_memory = false;  // leaves are buffers, one for each component of the type
  ir::Values leaves;
  Location location;
  std::string why;  // what it is if it is no `let`: "a parameter", "a loop variable"
};

class Body {
 public:
  Body(Elaborator& all, const Instance& instance);
  // Makes the function and puts it into its place in the program.
  void Run();
  // A function around it with one parameter for each scalar; its number.
  ir::FuncId RunWrapper();
  // Types a constant's value; the IR is thrown away.
  void CheckConstant(const ConstDecl& decl);

 private:
  // Where the ways through a block come together. Function: the function's results. Flagged: whether it returned, the
  // function's results, the carried variables. Plain: the carried variables and the block's value.
  struct Exit {
    enum class Kind { Function, Flagged, Plain } kind = Kind::Plain;
    TypeId value = TypeTable::Unit;
    std::vector<uint32_t> carried;
    std::vector<ir::Type> types;
  };
  using After = std::function<ir::Values()>;

  // A place inside a variable or a value: its type, and where its scalars are.
  struct Place {
    TypeId type = TypeTable::Error;
    int64_t variable = -1;  // -1: a value without a place
    ir::Values leaves;      // of a value: all its scalars; in memory: the buffers
    size_t leaf = 0;        // first scalar
    bool in_memory = false;
    size_t component =
        0;  // in memory: first component, and the element `index + offset` of what is left of it
    ir::ValueId index;  // invalid: `offset` alone
    uint64_t offset = 0;
    bool indexed = false;  // an array was entered: further indices need checks of their own
    bool spilled = false;  // a copy, made to be indexed
    bool fresh = false;    // buffers just made: they hold zeros
    bool is_error() const { return type == TypeTable::Error; }
  };

  // --- body.cpp: the frame
  void BindParams();
  void Requires();
  void Ensures(const ir::Values& results);
  Value Condition(const Expr& expr, std::string_view what);
  bool AssemblyBody() const;
  ir::Values AsmFunction(const Stmt& stmt);
  void Discard(const After& make);
  void Assert(ir::ValueId holds);
  ir::ValueId ConstWord(ir::Type type, uint64_t word);
  void Complain(Diag diag, Location location, std::string message, std::string hint = {});
  Value Zero(TypeId type);
  ir::Values Zeros(const std::vector<ir::Type>& types);
  Value Expect(Value value, TypeId type, Location location, const std::string& what);
  std::string Name(TypeId type) const { return all_.types.Name(type); }
  void At(Location location) { builder_.SetLocation(location); }

  // --- scopes
  Variable* Find(const std::string& name);
  Variable& Bind(const std::string& name, TypeId type, bool is_mut, Location location,
                 ir::Values leaves, std::string why = {});
  size_t OpenScope() const { return bound_.size(); }
  void CloseScope(size_t mark);
  void Set(uint32_t variable, ir::Values leaves);
  void UndoTo(size_t mark);
  Value Read(const Variable& variable);

  // --- body_expr.cpp
  Value Gen(const Expr& expr, TypeId expected = TypeTable::Error);
  Value GenInteger(const Expr& expr, TypeId expected);
  Value GenName(const Expr& expr, TypeId expected);
  Value GenConst(Found<ConstDecl> constant, TypeId expected);
  void Unknown(const Path& path);
  Value GenBinary(const Expr& expr, TypeId expected);
  Value Combine(const Expr& expr, const Value& a, const Value& b);
  Value Equal(const Value& a, const Value& b);
  Value GenStruct(const Expr& expr);
  // The values of a struct's or an event's fields in the order of their declaration; every mistake is told.
  std::vector<Value> GenFields(const std::string& owner, const std::vector<MemberDecl>& members,
                               const std::vector<TypeId>& types, const List<FieldInit>& inits,
                               Location location);
  Value GenArray(const Expr& expr, TypeId expected);
  Value GenRepeat(const Expr& expr, TypeId element);
  Value GenTuple(const Expr& expr, TypeId expected);
  Value Whole(const Expr& expr, std::string_view what, TypeId type, ir::Values leaves);
  Value GenBlockValue(const Expr& expr, TypeId expected);
  Value Predicate(const Expr& expr);
  bool IsLiteral(const Expr& expr);
  std::optional<uint64_t> Constant(const Expr& expr);

  // --- body_call.cpp
  Value GenCall(const Expr& expr, TypeId expected);
  // `into`: where a result in memory goes; empty and it is, fresh buffers, which it then names.
  Value CallFunction(const Expr& expr, Found<FunctionDecl> found, ir::Values* into);
  // The function that a call means, if its result is in memory; null otherwise.
  Found<FunctionDecl> GivesMemory(const Expr& expr);
  Value CallBuiltin(const Expr& expr, const BuiltinInfo& builtin);
  Value CallIntrinsic(const Expr& expr, Found<FunctionDecl> found);
  bool SizesOf(const Expr& expr, Found<FunctionDecl> found, std::vector<Value>* ready,
               std::vector<uint64_t>* sizes);
  void PushArgument(const Expr& expr, const Instance& callee, size_t i, bool may_share, Value ready,
                    ir::Values* arguments);
  // --- builtins.cpp
  ir::Values Emit(Builtin builtin, const ir::Values& a);
  ir::Values EmitMemory(Builtin builtin, const ir::Values& a);
  ir::ValueId Part(ir::ValueId wide, uint32_t part);
  ir::ValueId MakeDigest(std::span<const ir::ValueId> parts);
  // Field, U32 and Bool scalars of a value, element 0 of a digest first; and back.
  ir::Values Words(const Value& value);
  Value FromWords(TypeId type, std::span<const ir::ValueId> words);
  // Field words as they lie on the machine's stack, deepest first: element 0 of a digest is its last; and back, checked.
  ir::Values StackWords(const Value& value);
  Value FromStackWords(TypeId type, std::span<const ir::ValueId> words);
  ir::ValueId Hash(std::span<const ir::ValueId> ten);
  ir::ValueId RamAt(ir::ValueId address, uint64_t offset);  // as index
  ir::ValueId AsU32(ir::ValueId field);
  TypeId TypeOfLetters(std::string_view letters);

  // --- body_place.cpp
  Place Locate(const Expr& expr);
  Place LocateName(const Expr& expr);
  TypeId PlaceType(const Expr& expr);  // without making code; the error type if it is not known
  Place Member(Place place, const std::string& name, Location location);
  Place Index(Place place, const Expr& index);
  Place IndexConstant(Place place, uint64_t index, Location location);
  void Spill(Place* place);
  Value Load(const Place& place);
  void Store(const Place& place, const Value& value);
  void Assign(const Expr& place, const Value& value);
  const ir::Values& LeavesOf(const Place& place) const {
    return place.variable >= 0 && !place.in_memory ? variables_[place.variable].leaves
                                                   : place.leaves;
  }
  std::optional<Place> TableLookup(const Expr& expr);
  ir::Values NewBuffers(TypeId type);
  bool IsZero(ir::ValueId value);
  void Fill(ir::ValueId buffer, uint64_t begin, uint64_t count, ir::ValueId value);
  void CopyBuffers(TypeId type, const ir::Values& from, const ir::Values& to);
  const Variable* MemoryVariable(
      const Expr& expr);  // that the expression names as a whole; or null
  // The value of a call or of a variable in buffers of its own, without passing through scalars; false where it has to.
  bool GenToBuffers(const Expr& expr, TypeId type, const std::string& what, ir::Values* buffers);
  void Deliver(const Expr& expr);        // the function's result, to where the caller wants it
  bool AssignBuffers(const Stmt& stmt);  // the same for a whole variable
  void StoreAll(TypeId type, const ir::Values& buffers, const ir::Values& leaves);
  void LoadInto(const Place& place, TypeId type, size_t component, uint64_t inner, uint64_t k,
                ir::Values* leaves);
  void StoreFrom(const Place& place, TypeId type, size_t component, uint64_t inner, uint64_t k,
                 const ir::Values& leaves, size_t* next);
  ir::ValueId ElementIndex(const Place& place, uint64_t inner, uint64_t k);

  // --- body_stmt.cpp
  ir::Values RunBlock(const Block& block, const Exit& exit, const After& after = {});
  ir::Values RunFrom(const Block& block, size_t i, size_t scope, const Exit& exit,
                     const After& after);
  ir::Values Fall(const Exit& exit, const Value& value);
  ir::Values Return(const Exit& exit, const Value& value);
  ir::Values Branch(const Stmt& stmt, const Exit& exit, const After& after);
  ir::Values Flagged(const Stmt& stmt, const Block& block, size_t i, size_t scope, const Exit& exit,
                     const After& after);
  ir::Values Region(const std::function<ir::Values()>& make);  // undoes what it assigns
  ir::Values EmitIf(ir::ValueId condition, const std::vector<ir::Type>& types,
                    const After& then_body, const After& else_body);
  Exit PlainExit(const std::vector<std::string>& assigned, TypeId value);
  Exit FlaggedExit(const std::vector<std::string>& assigned);
  void TakeCarried(const Exit& exit, std::span<const ir::ValueId> values);
  ir::Values Current(const std::vector<uint32_t>& variables);
  void GenStmt(const Stmt& stmt);
  void GenLet(const Stmt& stmt);
  void GenTupleAssign(const Stmt& stmt);
  void GenExprStmt(const Expr& expr);
  void GenAsm(const Stmt& stmt);
  Value AsmValue(const Stmt& stmt, TypeId type);
  void CheckAsm(const Stmt& stmt);
  ir::Values EmitAsm(const Stmt& stmt, std::span<const ir::ValueId> operands, size_t results);
  void GenEvent(const Stmt& stmt);
  ir::Values SealWords(ir::Values words);
  ir::Values GenFor(const Stmt& stmt, const Exit& exit);
  bool Range(const Stmt& stmt, ir::ValueId* lo, ir::ValueId* hi, std::optional<uint64_t>* limit);
  std::optional<std::vector<Value>> Parts(const Value& value, size_t count, Location location,
                                          std::string_view what);
  ir::ValueId Truth(const Expr& expr);  // of an if

  // --- body_match.cpp
  ir::Values GenMatch(const Stmt& stmt, const Exit& exit, const After& after);
  struct Flat;  // a pattern as tests and bindings of scalars
  bool Flatten(const Pattern& pattern, TypeId type, size_t leaf, Flat* flat);
  ir::Values Arms(const Stmt& stmt, const Value& value, const std::vector<Flat>& flats, size_t i,
                  const Exit& exit, const After& after);
  ir::Values SwitchArms(const Stmt& stmt, const Value& value, const std::vector<Flat>& flats,
                        const Exit& exit, const After& after);
  ir::Values Arm(const Stmt& stmt, const Value& value, const Flat& flat, size_t i, const Exit& exit,
                 const After& after);
  void CheckArms(const Stmt& stmt, TypeId type, const std::vector<Flat>& flats);

  Elaborator& all_;
  const Instance& instance_;
  const Module* module_;
  Sizes sizes_;
  ir::FunctionBuilder builder_;
  ir::ValueId ram_;
  std::deque<Variable> variables_;  // places stay while scopes are open
  std::vector<uint32_t> bound_;     // variables in scope, in order
  std::unordered_map<std::string, std::vector<uint32_t>> by_name_;
  std::vector<std::pair<uint32_t, ir::Values>> undo_;
  uint32_t regions_ = 0;  // open ones; outside of them nothing is ever undone
  std::unordered_map<uint32_t, ir::Values>
      made_of_;  // of digests and xfields that were put together here
  std::unordered_map<uint32_t, uint64_t> below_;  // loop variables: a bound that they stay below
  std::vector<ir::Type> result_types_;
  ir::Values result_buffers_;
  bool in_predicate_ = false;
  bool in_constant_ = false;
  std::vector<const ConstDecl*> open_constants_;
};

}  // namespace frazil::frontends::trident
