// Events and assembly: what leaves the language. reveal writes the event's tag and the words of its fields in the order of
// the declaration; seal writes the hash of the same words. An assembly block sees no variable: either it is the whole
// body of a function, and the arguments lie on the stack, or it begins with nothing of its own.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/trident/body.h"
#include "frontends/trident/suggest.h"
#include "machines/tasm/program.h"

namespace frazil::frontends::trident {

void Body::GenEvent(const Stmt& stmt) {
  Found<EventDecl> found = all_.FindEvent(module_, stmt.event);
  if (!found) {
    for (const FieldInit& init : stmt.fields)
      if (init.value) Gen(*init.value);
    return;
  }
  std::vector<TypeId> types;
  for (const MemberDecl& member : found.decl->members)
    types.push_back(all_.Resolve(found.module, member.type, {}));
  ir::Values words = {ConstWord(ir::types::Field, all_.TagOf(found.decl))};
  for (const Value& value : GenFields(fmt::format("event '{}'", found.decl->name),
                                      found.decl->members, types, stmt.fields, stmt.location))
    for (ir::ValueId word : Words(value))
      words.push_back(builder_.TypeOf(word) == ir::types::Field
                          ? word
                          : builder_.Cast(ir::Op::Cast, word, ir::types::Field));
  At(stmt.location);
  if (stmt.kind == Stmt::Kind::Seal) words = SealWords(std::move(words));
  for (ir::ValueId word : words)
    builder_.Emit(ir::Op::Output, ir::types::Field, std::span(&word, 1), {});
}

// Ten words are hashed; more go through the sponge, ten at a time, and its first five are the commitment.
ir::Values Body::SealWords(ir::Values words) {
  const bool one = words.size() <= 10;
  while (words.size() % 10 != 0) words.push_back(ConstWord(ir::types::Field, 0));
  ir::Values sealed;
  if (one) {
    ir::ValueId digest = Hash(words);
    for (uint32_t i = 0; i < 5; ++i) sealed.push_back(Part(digest, i));
    return sealed;
  }
  Emit(Builtin::SpongeInit, {});
  for (size_t i = 0; i < words.size(); i += 10)
    Emit(Builtin::SpongeAbsorb, ir::Values(words.begin() + static_cast<ptrdiff_t>(i),
                                           words.begin() + static_cast<ptrdiff_t>(i) + 10));
  sealed = Emit(Builtin::SpongeSqueeze, {});
  sealed.resize(5);
  return sealed;
}

bool Body::AssemblyBody() const {
  const Block& body = *instance_.decl->body;
  return body.stmts.size() == 1 && !body.tail && body.stmts[0].kind == Stmt::Kind::Asm;
}

// What can be said of the text without a target: every instruction is one of some profile, and, where none is skipped, the
// effect is what it says.
void Body::CheckAsm(const Stmt& stmt) {
  const Assembly& assembly = *stmt.assembly;
  namespace mt = machines::tasm;
  Result<mt::Program> program = mt::Parse(assembly.text);
  if (!program)
    if (Result<mt::Program> other = mt::Parse(assembly.text, mt::Profile::Horner))
      program = std::move(other);
  const auto place = [&](Location inside) {
    const size_t line = std::min<size_t>(inside.line, assembly.places.size());
    if (line == 0) return stmt.location;
    Location place = assembly.places[line - 1];
    place.column += std::max(inside.column, 1u) - 1;
    return place;
  };
  if (!program) {
    Error& error = program.error();
    return Complain(Diag::BadInlineAsm, place(error.location), "in the assembly: " + error.message,
                    std::move(error.hint));
  }
  int64_t effect = 0;
  for (const mt::Instruction& instruction : program->code) {
    const mt::OpcodeInfo& info = mt::Info(instruction.op);
    const Location inside = instruction.location;
    switch (instruction.op) {
      case mt::Opcode::Call:
      case mt::Opcode::Return:
      case mt::Opcode::Recurse:
      case mt::Opcode::RecurseOrReturn:
        return Complain(
            Diag::BadInlineAsm, place(inside),
            fmt::format("assembly in a function cannot hold `{}`: it runs where it stands",
                        info.mnemonic));
      case mt::Opcode::Skiz:
      case mt::Opcode::Halt: return;
      default: break;
    }
    effect +=
        info.delta *
        (info.argument == mt::Argument::Count ? static_cast<int64_t>(instruction.argument) : 1);
  }
  if (effect != assembly.effect)
    Complain(Diag::BadInlineAsm, place({1, 1}),
             fmt::format(
                 "the assembly says that it changes the stack by {:+} words, but it does by {:+}",
                 assembly.effect, effect));
}

ir::Values Body::EmitAsm(const Stmt& stmt, std::span<const ir::ValueId> operands, size_t results) {
  if (!stmt.assembly->target.empty() && stmt.assembly->target != "triton") {
    Complain(Diag::BadInlineAsm, stmt.location,
             fmt::format("this assembly is for '{}', not for Triton VM", stmt.assembly->target),
             "keep it in a function of its own under #[cfg(...)]");
    return Zero(all_.types.Array(TypeTable::Field, results)).leaves;
  }
  CheckAsm(stmt);
  const uint64_t data = all_.AddText(stmt.assembly->text).index;
  const std::vector<ir::Type> types(results, ir::types::Field);
  return builder_.Emit(ir::Op::Tasm, {}, operands, types, std::span(&data, 1));
}

// The arguments lie on the stack, the first deepest, and nothing else may be touched; the results take their place.
ir::Values Body::AsmFunction(const Stmt& stmt) {
  ir::Values operands;
  for (uint32_t id : std::vector<uint32_t>(bound_)) {
    const ir::Values words = StackWords(Read(variables_[id]));
    operands.insert(operands.end(), words.begin(), words.end());
  }
  At(stmt.location);
  const size_t results = all_.types[instance_.result].words;
  const int64_t effect = static_cast<int64_t>(results) - static_cast<int64_t>(operands.size());
  if (effect != stmt.assembly->effect) {
    Complain(
        Diag::BadInlineAsm, stmt.location,
        fmt::format(
            "'{}' takes {} words and gives {}, so its assembly has the effect {:+}, not {:+}",
            instance_.decl->name, operands.size(), results, effect, stmt.assembly->effect),
        "a body that is one assembly block finds the arguments on the stack, the first deepest");
    return Zero(instance_.result).leaves;
  }
  const ir::Values words = EmitAsm(stmt, operands, results);
  ir::Values leaves = FromStackWords(instance_.result, words).leaves;
  if (!instance_.result_in_memory) return leaves;
  StoreAll(instance_.result, result_buffers_, leaves);
  return {};
}

Value Body::AsmValue(const Stmt& stmt, TypeId type) {
  const uint64_t words = all_.types[type].words;
  if (stmt.assembly->effect < 0 || static_cast<uint64_t>(stmt.assembly->effect) != words) {
    Complain(
        Diag::BadInlineAsm, stmt.location,
        fmt::format("the block's value is a {} of {} words, but the assembly has the effect {:+}",
                    Name(type), words, stmt.assembly->effect));
    return Zero(type);
  }
  return FromStackWords(type, EmitAsm(stmt, {}, words));
}

void Body::GenAsm(const Stmt& stmt) {
  if (stmt.assembly->effect != 0) {
    Complain(
        Diag::BadInlineAsm, stmt.location,
        fmt::format(
            "assembly with the effect {:+} must be the value of a block or the body of a function",
            stmt.assembly->effect),
        stmt.assembly->effect > 0 ? "let x: Field = { asm(+1) { ... } }"
                                  : "fn f(a: Field, b: Field) -> Field { asm(-1) { ... } }");
    return;
  }
  EmitAsm(stmt, {}, 0);
}

}  // namespace frazil::frontends::trident
