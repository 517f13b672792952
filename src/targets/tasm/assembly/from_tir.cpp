// TIR -> assembly. The machine has one conditional (skiz skips the next instruction) and one way to share code (call and
// return), so every structure is a choice of where bodies stand. Costs, with T and E the two bodies:
//
//   one arm empty, something ends here    skiz END E END              2 words over the bodies
//   one arm empty, code goes on           skiz call T / call I; I: skiz return E return
//   an arm of one instruction             skiz X
//   two arms, something ends here         dup 0 skiz call T' skiz END E END; T': pop 1 T push 1 return
//   two arms, code goes on                the same as a block of its own, or push 1 swap 1 skiz call T'' skiz X
//   counted loop                          dup 0 skiz call L; L: addi -1 BODY dup 0 skiz recurse return
//   while                                 call W; W: TEST skiz return BODY recurse, or TEST twice if it is short
//
// END is return, halt, recurse or recurse_or_return. The condition is 0 where it skips, so that a copy of it is the flag that
// says which arm ran; an arm that reads nothing from below leaves the flag where it is.
#include "targets/tasm/assembly/emitter.h"

#include "base/check.h"
#include "base/number/goldilocks.h"
#include "machines/tasm/words.h"
#include "targets/tasm/assembly/peephole.h"
#include "targets/tasm/lower_parts.h"
#include "targets/tasm/stack/tiny_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace frazil::targets::tasm {

using mt::Opcode;
using tir::Kind;

namespace {

constexpr uint64_t MinusOne = goldilocks::P - 1;
// A test of at most this many words is written twice, which saves two rows each time around.
constexpr uint64_t ShortTest = 4;

uint64_t WordsOf(const Code& code) {
  uint64_t words = 0;
  for (const mt::Instruction& instruction : code)
    words += static_cast<uint64_t>(mt::Info(instruction.op).words());
  return words;
}

void Append(Code& to, const Code& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

void Emitter::Put(Code& code, Opcode op, uint64_t argument) const {
  code.push_back({op, argument, -1, location_});
}

void Emitter::Finish(Code& code, const Ops& ops, End end) const {
  if (end && GoesOn(ops)) Put(code, *end);
}

bool Emitter::Measure(const Ops& ops, Extent& extent) const {
  for (const tir::Op& op : ops) {
    if (op.kind == Kind::Asm) return false;
    if (op.kind == Kind::Call) {
      const auto shape = shapes_.find(op.text);
      if (shape == shapes_.end()) return false;
      extent.reach = std::max(extent.reach, shape->second.reach - extent.height);
      extent.height += shape->second.net;
      continue;
    }
    extent.reach = std::max(extent.reach, tir::Touches(op) - extent.height);
    if (op.kind == Kind::IfElse) --extent.height;
    Extent body = extent, other = extent;
    if (!Measure(op.body, body)) return false;
    if (op.kind == Kind::While) other.height = extent.height;
    if (!Measure(op.other, other)) return false;
    extent.reach = std::max({extent.reach, body.reach, other.reach});
    if (op.kind == Kind::IfElse) {
      extent.height = GoesOn(op.body) ? body.height : other.height;
    } else if (op.body.empty() && op.other.empty()) {
      extent.height += op.kind == Kind::Loop || op.kind == Kind::Repeat || op.kind == Kind::While
                           ? 0
                           : tir::NetEffect(op);
    }
  }
  return true;
}

uint32_t Emitter::NewBlock(std::string_view what, Code code) {
  std::vector<uint64_t> key;
  for (const mt::Instruction& instruction : code) {
    key.push_back(static_cast<uint64_t>(instruction.op));
    key.push_back(instruction.argument);
    // A trap site (lower_parts.h) is told apart by its column whatever the instruction is.
    const bool site = (instruction.location.column >> 31) != 0;
    if (instruction.op != Opcode::Assert && instruction.op != Opcode::AssertVector && !site)
      continue;
    key.push_back(static_cast<uint64_t>(instruction.error_id));
    key.push_back(instruction.location.line);
    key.push_back(instruction.location.column);
  }
  const auto [found, fresh] = same_.emplace(std::move(key), static_cast<uint32_t>(blocks_.size()));
  if (!fresh) return found->second;
  order_.push_back(found->second);
  blocks_.push_back({fmt::format("{}_{}", function_, what), std::move(code)});
  return found->second;
}

uint32_t Emitter::FunctionBlock(const std::string& name) {
  const auto [found, fresh] = function_blocks_.emplace(name, static_cast<uint32_t>(blocks_.size()));
  if (fresh) blocks_.push_back({name, {}});
  return found->second;
}

Result<Code> Emitter::Body(const Ops& ops, End end) {
  Code code;
  for (size_t i = 0; i < ops.size(); ++i) {
    location_ = ops[i].location;
    // Only the last op may use what ends the body; it then ends all its ways itself.
    const bool last = i + 1 == ops.size();
    if (last && end && ops[i].kind == Kind::IfElse) {
      TRY_VOID(If(ops[i], end, code));
      return code;
    }
    if (!last && end && ops[i].kind == Kind::IfElse && ShortRest(ops, i)) {
      tir::Op both = ops[i];
      both.body.insert(both.body.end(), ops.begin() + static_cast<ptrdiff_t>(i) + 1, ops.end());
      both.other.insert(both.other.end(), ops.begin() + static_cast<ptrdiff_t>(i) + 1, ops.end());
      TRY_VOID(If(both, end, code));
      return code;
    }
    TRY_VOID(One(ops, i, std::nullopt, code));
  }
  Finish(code, ops, end);
  return code;
}

// What follows an `if` of two arms is so short that it is better in both than after a call of the whole.
bool Emitter::ShortRest(const Ops& ops, size_t i) const {
  const tir::Op& op = ops[i];
  if (op.body.empty() || op.other.empty() || !GoesOn(op.body) || !GoesOn(op.other)) return false;
  if (ops.size() - i > 3) return false;
  Code rest;
  for (size_t j = i + 1; j < ops.size(); ++j) {
    const Kind kind = ops[j].kind;
    if (kind == Kind::IfElse || kind == Kind::Loop || kind == Kind::While || kind == Kind::Repeat ||
        kind == Kind::Asm)
      return false;
    if (kind == Kind::Call || kind == Kind::Halt) {
      Put(rest, kind == Kind::Call ? Opcode::Call : Opcode::Halt);
    } else if (!EmitSimple(ops[j], profile_, rest)) {
      return false;
    }
  }
  return WordsOf(rest) <= 3;
}

// The code of a body that may be one instruction; others are not tried, so that nothing is emitted twice.
Result<Code> Emitter::Single(const Ops& ops) {
  if (ops.size() != 1) return Code{};
  const Kind kind = ops[0].kind;
  if (kind == Kind::IfElse || kind == Kind::Loop || kind == Kind::While) return Code{};
  return Body(ops, std::nullopt);
}

Result<Code> Emitter::CalledBody(const Ops& ops) {
  if (ops.size() == 1 && ops[0].kind == Kind::Repeat) return RepeatBlock(ops[0]);
  if (ops.size() == 1 && ops[0].kind == Kind::While && GoesOn(ops[0].body)) {
    bool negated = false;
    Code test = TRY(Test(ops[0], negated));
    return WhileBlock(ops[0], std::move(test), negated);
  }
  return Body(ops, Opcode::Return);
}

Result<void> Emitter::One(const Ops& ops, size_t& i, End end, Code& code) {
  const tir::Op& op = ops[i];
  switch (op.kind) {
    case Kind::Call: Put(code, Opcode::Call, FunctionBlock(op.text)); return {};
    case Kind::Halt: Put(code, Opcode::Halt); return {};
    case Kind::IfElse: return If(op, end, code);
    case Kind::Loop: return Loop(op, i > 0 ? &ops[i - 1] : nullptr, code);
    case Kind::While: return While(op, code);
    case Kind::Repeat: {
      Code body = TRY(RepeatBlock(op));
      Put(code, Opcode::Call, NewBlock("repeat", std::move(body)));
      return {};
    }
    default: break;
  }
  if (op.kind == Kind::Push && op.number < 32 && i + 1 < ops.size() &&
      (ops[i + 1].kind == Kind::Shl || ops[i + 1].kind == Kind::Shr)) {
    EmitConstantShift(ops[++i], op.number, code);
    return {};
  }
  return EmitSimple(op, profile_, code);
}

Result<void> Emitter::If(const tir::Op& op, End end, Code& code) {
  if (op.body.empty() && op.other.empty()) {
    Put(code, Opcode::Pop, 1);
    if (end) Put(code, *end);
    return {};
  }
  if (op.body.empty() || op.other.empty()) return IfOneArm(op, end, code);
  if (!GoesOn(op.body) || !GoesOn(op.other)) return IfStops(op, end, code);
  return IfBoth(op, end, code);
}

Result<void> Emitter::IfOneArm(const tir::Op& op, End end, Code& code) {
  const bool then = op.other.empty();
  const Ops& arm = then ? op.body : op.other;
  const Location location = location_;
  const Code single = TRY(Single(arm));
  location_ = location;
  if (single.size() == 1 && (then || !end)) {
    if (!then) {
      Put(code, Opcode::Push, 0);
      Put(code, Opcode::Eq);
    }
    Put(code, Opcode::Skiz);
    Append(code, single);
    if (end) Put(code, *end);
    return {};
  }
  if (then) {
    Code block = TRY(CalledBody(arm));
    location_ = location;
    Put(code, Opcode::Skiz);
    Put(code, Opcode::Call, NewBlock("then", std::move(block)));
    if (end) Put(code, *end);
    return {};
  }
  const End inner = end ? end : End(Opcode::Return);
  Code body;
  Put(body, Opcode::Skiz);
  Put(body, *inner);
  Append(body, TRY(Body(arm, inner)));
  location_ = location;
  if (end) {
    Append(code, body);
  } else {
    Put(code, Opcode::Call, NewBlock("unless", std::move(body)));
  }
  return {};
}

// One arm stops the program: the other goes on in place.
Result<void> Emitter::IfStops(const tir::Op& op, End end, Code& code) {
  const bool then = !GoesOn(op.body);
  const Location location = location_;
  Code stop = TRY(Body(then ? op.body : op.other, std::nullopt));
  location_ = location;
  if (!then) {
    Put(code, Opcode::Push, 0);
    Put(code, Opcode::Eq);
  }
  Put(code, Opcode::Skiz);
  if (stop.size() == 1) {
    Append(code, stop);
  } else {
    Put(code, Opcode::Call, NewBlock("stop", std::move(stop)));
  }
  Append(code, TRY(Body(then ? op.other : op.body, end)));
  return {};
}

// The condition's copy is on top; whatever it was, something that is not 0 is there afterwards.
Result<Code> Emitter::FlaggedArm(const Ops& ops) {
  Extent extent;
  const bool measured = Measure(ops, extent);
  if (measured && extent.reach <= 0 && extent.height <= 15) {
    Code code = TRY(Body(ops, std::nullopt));
    if (extent.height > 0) Put(code, Opcode::Pick, static_cast<uint64_t>(extent.height));
    Put(code, Opcode::Return);
    return code;
  }
  Code code;
  Put(code, Opcode::Pop, 1);
  Append(code, TRY(Body(ops, std::nullopt)));
  Put(code, Opcode::Push, 1);
  Put(code, Opcode::Return);
  return code;
}

Result<void> Emitter::IfBoth(const tir::Op& op, End end, Code& code) {
  const Location location = location_;
  if (!end) {
    const Code other = TRY(Single(op.other));
    location_ = location;
    if (other.size() == 1) {
      Code arm;
      Put(arm, Opcode::Pop, 1);
      Append(arm, TRY(Body(op.body, std::nullopt)));
      location_ = location;
      Put(arm, Opcode::Push, 0);
      Put(arm, Opcode::Return);
      Put(code, Opcode::Push, 1);
      Put(code, Opcode::Swap, 1);
      Put(code, Opcode::Skiz);
      Put(code, Opcode::Call, NewBlock("then", std::move(arm)));
      Put(code, Opcode::Skiz);
      Append(code, other);
      return {};
    }
  }
  const End inner = end ? end : End(Opcode::Return);
  Code arm = TRY(FlaggedArm(op.body));
  location_ = location;
  Code body;
  Put(body, Opcode::Dup, 0);
  Put(body, Opcode::Skiz);
  Put(body, Opcode::Call, NewBlock("then", std::move(arm)));
  Put(body, Opcode::Skiz);
  Put(body, *inner);
  Append(body, TRY(Body(op.other, inner)));
  location_ = location;
  if (end) {
    Append(code, body);
  } else {
    Put(code, Opcode::Call, NewBlock("if", std::move(body)));
  }
  return {};
}

Result<void> Emitter::Loop(const tir::Op& op, const tir::Op* before, Code& code) {
  const bool known = before && before->kind == Kind::Push;
  if (known && before->number == 0) return {};
  const Location location = location_;
  Code body;
  Put(body, Opcode::AddI, MinusOne);
  Append(body, TRY(Body(op.body, std::nullopt)));
  location_ = location;
  if (GoesOn(op.body)) {
    Put(body, Opcode::Dup, 0);
    Put(body, Opcode::Skiz);
    Put(body, Opcode::Recurse);
    Put(body, Opcode::Return);
  }
  if (!known) {
    Put(code, Opcode::Dup, 0);
    Put(code, Opcode::Skiz);
  }
  Put(code, Opcode::Call, NewBlock("loop", std::move(body)));
  return {};
}

// Test, leave, body, again. `negated`: the test says when to leave.
Result<Code> Emitter::WhileBlock(const tir::Op& op, Code test, bool negated) {
  const Location location = location_;
  if (!negated) {
    Put(test, Opcode::Push, 0);
    Put(test, Opcode::Eq);
  }
  Put(test, Opcode::Skiz);
  Put(test, Opcode::Return);
  Append(test, TRY(Body(op.other, Opcode::Recurse)));
  location_ = location;
  return test;
}

Result<Code> Emitter::Test(const tir::Op& op, bool& negated) {
  const Location location = location_;
  Ops test = op.body;
  const size_t n = test.size();
  negated = n >= 2 && test[n - 2].kind == Kind::Push && test[n - 2].number == 0 &&
            test[n - 1].kind == Kind::Eq;
  if (negated) test.resize(n - 2);
  Code code = TRY(Body(test, std::nullopt));
  location_ = location;
  return code;
}

Result<void> Emitter::While(const tir::Op& op, Code& code) {
  const Location location = location_;
  bool negated = false;
  const Code test = TRY(Test(op, negated));
  if (!GoesOn(op.body)) {
    Append(code, test);
    return {};
  }
  const bool runs_once =
      op.number == 1 && !negated;  // the schedule knows that the first test holds
  if (!runs_once && (negated || WordsOf(test) > ShortTest)) {
    Code block = TRY(WhileBlock(op, test, negated));
    Put(code, Opcode::Call, NewBlock("while", std::move(block)));
    return {};
  }
  Code block = TRY(Body(op.other, std::nullopt));
  location_ = location;
  if (GoesOn(op.other)) {
    Append(block, test);
    Put(block, Opcode::Skiz);
    Put(block, Opcode::Recurse);
    Put(block, Opcode::Return);
  }
  if (!runs_once) {
    Append(code, test);
    Put(code, Opcode::Skiz);
  }
  Put(code, Opcode::Call, NewBlock("while", std::move(block)));
  return {};
}

Result<Code> Emitter::RepeatBlock(const tir::Op& op) {
  return Body(op.body, Opcode::RecurseOrReturn);
}

Result<mt::Program> Emitter::Run(const tir::Program& program) {
  for (tir::FunctionShape& shape : TRY(tir::Check(program, callable_))) {
    stops_[shape.name] = !shape.returns;
    std::string name = shape.name;
    shapes_.emplace(std::move(name), std::move(shape));
  }
  const std::vector<tir::TailFunction> functions = tir::ToTailForm(program);
  for (const tir::TailFunction& function : functions) {
    const bool entry = &function == &functions.front() && !callable_;
    function_ = function.name;
    location_ = function.location;
    const uint32_t block = FunctionBlock(function.name);
    const size_t place = order_.size();
    order_.push_back(block);
    blocks_[block].code = {};
    Code code = TRY(entry ? Body(function.ops, Opcode::Halt) : CalledBody(function.ops));
    CHECK(order_[place] == block);
    blocks_[block].code = std::move(code);
  }
  return Layout();
}

mt::Program Emitter::Layout() {
  mt::Program program;
  program.profile = profile_;
  std::vector<uint32_t> starts(blocks_.size());
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, int> next;  // number of a name that is wanted again
  for (uint32_t block : order_) {
    starts[block] = static_cast<uint32_t>(program.code.size());
    std::string base = blocks_[block].name;
    for (char& c : base) {
      if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) c = '_';
    }
    if (!mt::IsLabel(base)) base.insert(0, "f_");
    std::string name = base;
    for (int& i = next.try_emplace(base, 2).first->second; !names.insert(name).second; ++i)
      name = fmt::format("{}_{}", base, i);
    program.labels.push_back({std::move(name), starts[block]});
    Append(program.code, blocks_[block].code);
  }
  for (mt::Instruction& instruction : program.code) {
    if (instruction.op == Opcode::Call) instruction.argument = starts[instruction.argument];
  }
  return program;
}

Result<mt::Program> LowerTir(const tir::Program& program, const TasmOptions& options) {
  mt::Program result = TRY(Emitter(options.profile, options.callable).Run(program));
  if (!options.peephole) return result;
  do {
    Peephole(result);
  } while (InlineTinyBlocks(result));
  return result;
}

}  // namespace frazil::targets::tasm
