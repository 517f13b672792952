// A tree as one line of text without places: what tests compare trees by.
#pragma once

#include <string>

#include "frontends/trident/syntax/ast.h"

namespace frazil::frontends::trident {

inline std::string Dump(const Block* block);

inline std::string Dump(const Expr* expr) {
  if (expr == nullptr) return "null";
  std::string text = "(" + std::to_string(static_cast<int>(expr->kind)) + " " +
                     std::to_string(expr->number) + " " + expr->path.ToString();
  text +=
      (expr->kind == Expr::Kind::Binary ? " op" + std::to_string(static_cast<int>(expr->op)) : "") +
      (expr->infix ? " infix" : "");
  for (const ExprPtr& part : expr->operands) text += " " + Dump(part.get());
  for (const ExprPtr& part : expr->sizes) text += " <" + Dump(part.get()) + ">";
  for (const FieldInit& field : expr->fields)
    text += " " + field.name + ":" + Dump(field.value.get());
  if (expr->block) text += Dump(expr->block.get());
  return text + ")";
}

inline std::string Dump(const TypeExpr& type) {
  std::string text =
      "(T" + std::to_string(static_cast<int>(type.kind)) + " " + type.name.ToString();
  for (const TypeExpr& part : type.parts) text += " " + Dump(part);
  return text + (type.size ? Dump(type.size.get()) : "") + ")";
}

inline std::string Dump(const Pattern& pattern) {
  std::string text = "(P" + std::to_string(static_cast<int>(pattern.kind)) + " " +
                     std::to_string(pattern.number) + pattern.name;
  for (const FieldPattern& field : pattern.fields) text += " " + field.name + Dump(field.pattern);
  return text + ")";
}

inline std::string Dump(const Stmt& stmt) {
  std::string text = "(S" + std::to_string(static_cast<int>(stmt.kind));
  for (const LetName& name : stmt.names) text += " " + name.name + (name.is_mut ? "!" : "");
  if (stmt.is_tuple) text += " tuple";
  if (stmt.type) text += Dump(*stmt.type);
  for (const ExprPtr& place : stmt.places) text += " @" + Dump(place.get());
  text += " " + Dump(stmt.value.get()) + Dump(stmt.first.get()) + Dump(stmt.last.get());
  if (stmt.bound) text += " bounded" + std::to_string(*stmt.bound);
  text += Dump(stmt.then_block.get()) + Dump(stmt.else_block.get());
  for (const MatchArm& arm : stmt.arms) text += Dump(arm.pattern) + Dump(arm.body.get());
  text += stmt.event.ToString();
  for (const FieldInit& field : stmt.fields)
    text += " " + field.name + ":" + Dump(field.value.get());
  if (const Assembly* assembly = stmt.assembly.get())
    text += assembly->target + std::to_string(assembly->effect) + assembly->text;
  return text + ")";
}

inline std::string Dump(const Block* block) {
  if (block == nullptr) return "null";
  std::string text = "{";
  for (const Stmt& stmt : block->stmts) text += Dump(stmt);
  return text + Dump(block->tail.get()) + "}";
}

inline std::string Dump(const std::vector<Attribute>& attributes) {
  std::string text;
  for (const Attribute& a : attributes)
    text += "#" + a.name + "(" + a.word + Dump(a.condition.get()) + ")";
  return text;
}

inline std::string Dump(const std::vector<MemberDecl>& members) {
  std::string text;
  for (const MemberDecl& m : members) text += " " + m.name + (m.is_pub ? "+" : "") + Dump(m.type);
  return text;
}

inline std::string Dump(const Module& module) {
  std::string text = (module.is_program ? "program " : "module ") + module.name.ToString();
  for (const Path& use : module.uses) text += " use " + use.ToString();
  for (const auto& [kind, at] : module.order)
    text += " " + std::to_string(static_cast<int>(kind)) + ":" + std::to_string(at);
  for (const IoDecl& io : module.io) {
    text += " io" + std::to_string(static_cast<int>(io.kind));
    for (const auto& [address, type] : io.slots) text += " " + std::to_string(address) + Dump(type);
  }
  for (const ConstDecl& c : module.constants)
    text += "\nconst " + c.name + (c.is_pub ? "+" : "") + Dump(c.attributes) + Dump(c.type) +
            Dump(c.value.get());
  for (const StructDecl& s : module.structs)
    text += "\nstruct " + s.name + (s.is_pub ? "+" : "") + Dump(s.attributes) + Dump(s.members);
  for (const EventDecl& e : module.events)
    text += "\nevent " + e.name + (e.is_pub ? "+" : "") + Dump(e.attributes) + Dump(e.members);
  for (const FunctionDecl& f : module.functions) {
    text += "\nfn " + f.name + (f.is_pub ? "+" : "") + Dump(f.attributes);
    for (const std::string& size : f.sizes) text += " " + size;
    for (const Param& param : f.params) text += " " + param.name + Dump(param.type);
    text += (f.result ? Dump(*f.result) : "") + Dump(f.body.get());
  }
  return text;
}

}  // namespace frazil::frontends::trident
