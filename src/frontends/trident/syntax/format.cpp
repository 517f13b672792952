// Items and statements as lines. What is written on one line in the source may take several here and the other way
// round; an empty line survives as one between statements and comments.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/trident/syntax/printer.h"
#include "frontends/trident/trident.h"

namespace frazil::frontends::trident {
namespace {

constexpr size_t Width = 100;
constexpr Location Last = {UINT32_MAX, UINT32_MAX};

}  // namespace

bool Printer::CommentBefore(Location place) const {
  return comment_ < module_.comments.size() && Before(module_.comments[comment_].location, place);
}

bool Printer::CommentIn(Location first, Location last) const {
  const auto begin = module_.comments.begin() + static_cast<ptrdiff_t>(comment_);
  const auto next = std::lower_bound(
      begin, module_.comments.end(), first,
      [](const Comment& comment, Location place) { return Before(comment.location, place); });
  return next != module_.comments.end() && Before(next->location, last);
}

void Printer::Begin(Location start) {
  if (gap_ == Gap::Force || (gap_ == Gap::Keep && start.line > last_line_ + 1)) out_ += '\n';
  gap_ = Gap::Keep;
}

void Printer::Flush(Location before) {
  for (; CommentBefore(before); ++comment_) {
    const Comment& comment = module_.comments[comment_];
    Begin(comment.location);
    out_ += Indent(indent_) + comment.text + '\n';
    last_line_ = std::max(last_line_, comment.location.line);
  }
}

// The comment that stood at the end of one of the lines, if it stood before the limit.
std::string Printer::Trailing(Location start, Location end, Location limit) {
  if (!CommentBefore(limit)) return {};
  const Comment& comment = module_.comments[comment_];
  if (!comment.trailing || comment.location.line < start.line || comment.location.line > end.line)
    return {};
  ++comment_;
  return " " + comment.text;
}

void Printer::Line(const std::string& text, Location start, Location end, Location limit) {
  Begin(start);
  out_ += Indent(indent_) + text + Trailing(start, end, limit) + '\n';
  last_line_ = std::max(last_line_, end.line);
}

void Printer::Open(const std::string& head, Location start, const Block& block) {
  Location limit = block.end;
  if (!block.stmts.empty())
    limit = block.stmts[0].location;
  else if (block.tail)
    limit = block.tail->location;
  Line(head + " {", start, block.location, limit);
}

void Printer::Close(const std::string& text, Location place, Location limit) {
  gap_ = Gap::None;
  Line(text, place, place, limit);
}

void Printer::Body(const Block& block) {
  ++indent_;
  gap_ = Gap::None;
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    Location limit = block.end;
    if (i + 1 < block.stmts.size())
      limit = block.stmts[i + 1].location;
    else if (block.tail)
      limit = block.tail->location;
    Flush(block.stmts[i].location);
    Statement(block.stmts[i], limit);
  }
  if (block.tail) {
    Flush(block.tail->location);
    const Location start = block.tail->location;
    Begin(start);
    const std::string text = Guarded(*block.tail, static_cast<size_t>(indent_) * 4);
    gap_ = Gap::None;
    Line(text, start, block.tail->end, block.end);
  }
  Flush(block.end);
  --indent_;
  gap_ = Gap::None;
}

std::string Printer::LetHead(const Stmt& stmt) const {
  std::string text = stmt.names[0].is_mut ? "let mut " : "let ";
  if (stmt.is_tuple) text += '(';
  for (size_t i = 0; i < stmt.names.size(); ++i) text += (i == 0 ? "" : ", ") + stmt.names[i].name;
  if (stmt.is_tuple) text += ')';
  if (stmt.type) text += ": " + TypeText(*stmt.type);
  return text + " = ";
}

void Printer::If(const Stmt& stmt, Location limit) {
  no_struct_ = true;
  const std::string condition = Text(*stmt.value, 0, static_cast<size_t>(indent_) * 4 + 5);
  no_struct_ = false;
  Open("if " + condition, stmt.location, *stmt.then_block);
  Body(*stmt.then_block);
  if (stmt.else_block) {
    gap_ = Gap::None;
    Open("} else", stmt.then_block->end, *stmt.else_block);
    Body(*stmt.else_block);
  }
  Close("}", stmt.end, limit);
}

void Printer::Match(const Stmt& stmt, Location limit) {
  const auto pattern = [](const Pattern& p, const auto& self) -> std::string {
    switch (p.kind) {
      case Pattern::Kind::Integer: return std::to_string(p.number);
      case Pattern::Kind::Bool: return p.number != 0 ? "true" : "false";
      case Pattern::Kind::Wildcard: return "_";
      case Pattern::Kind::Bind: return p.name;
      case Pattern::Kind::Struct: break;
    }
    std::string text = p.name + " { ";
    for (size_t i = 0; i < p.fields.size(); ++i) {
      const FieldPattern& field = p.fields[i];
      text += (i == 0 ? "" : ", ") + field.name;
      if (field.pattern.kind != Pattern::Kind::Bind || field.pattern.name != field.name)
        text += ": " + self(field.pattern, self);
    }
    return text + (p.fields.empty() ? "}" : " }");
  };
  no_struct_ = true;
  const std::string subject = Text(*stmt.value, 0, static_cast<size_t>(indent_) * 4 + 8);
  no_struct_ = false;
  Line("match " + subject + " {", stmt.location, stmt.value->end,
       stmt.arms.empty() ? stmt.end : stmt.arms[0].pattern.location);
  ++indent_;
  gap_ = Gap::None;
  for (size_t i = 0; i < stmt.arms.size(); ++i) {
    const MatchArm& arm = stmt.arms[i];
    Flush(arm.pattern.location);
    Open(pattern(arm.pattern, pattern) + " =>", arm.pattern.location, *arm.body);
    Body(*arm.body);
    Close("}", arm.body->end,
          i + 1 < stmt.arms.size() ? stmt.arms[i + 1].pattern.location : stmt.end);
  }
  Flush(stmt.end);
  --indent_;
  Close("}", stmt.end, limit);
}

void Printer::Asm(const Stmt& stmt, Location limit) {
  std::string head = "asm";
  const std::string effect = fmt::format("{:+}", stmt.assembly->effect);
  if (!stmt.assembly->target.empty())
    head += "(" + stmt.assembly->target + (stmt.assembly->effect != 0 ? ", " + effect : "") + ")";
  else if (stmt.assembly->effect != 0)
    head += "(" + effect + ")";
  if (stmt.assembly->text.find('\n') == std::string::npos &&
      stmt.assembly->text.find("//") == std::string::npos) {
    Line(head + (stmt.assembly->text.empty() ? " { }" : " { " + stmt.assembly->text + " }"),
         stmt.location, stmt.end, limit);
    return;
  }
  std::string text = head + " {\n";
  for (size_t at = 0; at < stmt.assembly->text.size();) {
    const size_t end = std::min(stmt.assembly->text.find('\n', at), stmt.assembly->text.size());
    text += Indent(indent_ + 1) + stmt.assembly->text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  Line(text + Indent(indent_) + "}", stmt.location, stmt.end, limit);
}

void Printer::Statement(const Stmt& stmt, Location limit) {
  const size_t left = static_cast<size_t>(indent_) * 4;
  std::string text;
  Begin(stmt.location);
  gap_ = Gap::None;  // the empty line, if any, is written; the line itself follows
  switch (stmt.kind) {
    case Stmt::Kind::If: return If(stmt, limit);
    case Stmt::Kind::Match: return Match(stmt, limit);
    case Stmt::Kind::Asm: return Asm(stmt, limit);
    case Stmt::Kind::For: {
      no_struct_ = true;
      text = "for " + stmt.names[0].name + " in " + Text(*stmt.first, 0, left + 10);
      text += ".." + Text(*stmt.last, 0, left + text.size() + 4);
      no_struct_ = false;
      if (stmt.bound) text += " bounded " + std::to_string(*stmt.bound);
      Open(text, stmt.location, *stmt.then_block);
      Body(*stmt.then_block);
      return Close("}", stmt.end, limit);
    }
    case Stmt::Kind::ProofBlock:
      Open("proof_block(" + Text(*stmt.value, 0, left + 13) + ")", stmt.location, *stmt.then_block);
      Body(*stmt.then_block);
      return Close("}", stmt.end, limit);
    case Stmt::Kind::Let:
      text = LetHead(stmt);
      text += Text(*stmt.value, 0, left + text.size());
      break;
    case Stmt::Kind::Assign:
      text = Guarded(*stmt.places[0], left) + " = ";
      text += Text(*stmt.value, 0, left + text.size());
      break;
    case Stmt::Kind::TupleAssign:
      for (const ExprPtr& place : stmt.places)
        text += (text.empty() ? "(" : ", ") + Text(*place, 0, left + text.size() + 2);
      text += ") = ";
      text += Text(*stmt.value, 0, left + text.size());
      break;
    case Stmt::Kind::Reveal:
    case Stmt::Kind::Seal: {
      const std::string head =
          (stmt.kind == Stmt::Kind::Reveal ? "reveal " : "seal ") + stmt.event.ToString();
      const bool flat = std::ranges::all_of(
          stmt.fields, [&](const FieldInit& f) { return !f.value || IsFlat(*f.value); });
      if (flat && !CommentBefore(stmt.end)) text = head + " " + FlatFields(stmt.fields);
      if (text.empty() || left + text.size() > Width)
        text = BrokenFields(head, stmt.fields, stmt.end);
      break;
    }
    case Stmt::Kind::Return:
      text = "return";
      if (stmt.value) text += " " + Text(*stmt.value, 0, left + 7);
      break;
    case Stmt::Kind::Expr: text = Guarded(*stmt.value, left); break;
  }
  Line(text, stmt.location, stmt.end, limit);
}

std::string Printer::Io(const IoDecl& io) const {
  switch (io.kind) {
    case IoDecl::Kind::PublicInput: return "pub input: " + TypeText(io.slots[0].second);
    case IoDecl::Kind::PublicOutput: return "pub output: " + TypeText(io.slots[0].second);
    case IoDecl::Kind::SecretInput: return "sec input: " + TypeText(io.slots[0].second);
    case IoDecl::Kind::SecretRam: break;
  }
  std::string flat = "sec ram: { ", broken = "sec ram: {\n";
  for (size_t i = 0; i < io.slots.size(); ++i) {
    const std::string slot =
        std::to_string(io.slots[i].first) + ": " + TypeText(io.slots[i].second);
    flat += (i == 0 ? "" : ", ") + slot;
    broken += Indent(1) + slot + ",\n";
  }
  flat += io.slots.empty() ? "}" : " }";
  return flat.size() <= Width ? flat : broken + "}";
}

void Printer::Attributes(const std::vector<Attribute>& attributes, Location start) {
  for (const Attribute& attribute : attributes) {
    Flush(attribute.location);
    std::string text = "#[" + attribute.name;
    if (attribute.condition)
      text += "(" + Text(*attribute.condition, 0, text.size() + 3) + ")";
    else if (!attribute.word.empty())
      text += "(" + attribute.word + ")";
    Line(text + "]", attribute.location, attribute.location, start);
    gap_ = Gap::None;
  }
}

std::string Printer::Signature(const FunctionDecl& decl) {
  std::string head = (decl.is_pub ? "pub fn " : "fn ") + decl.name;
  for (size_t i = 0; i < decl.sizes.size(); ++i) head += (i == 0 ? "<" : ", ") + decl.sizes[i];
  if (!decl.sizes.empty()) head += '>';
  const std::string tail = decl.result ? ") -> " + TypeText(*decl.result) : ")";
  const Location end = decl.body ? decl.body->location : decl.end;
  std::string flat = head + "(";
  for (size_t i = 0; i < decl.params.size(); ++i)
    flat += (i == 0 ? "" : ", ") + decl.params[i].name + ": " + TypeText(decl.params[i].type);
  flat += tail;
  if (decl.params.empty() || (flat.size() + 2 <= Width && !CommentBefore(end))) return flat;
  std::string text = head + "(";
  ++indent_;
  for (size_t i = 0; i < decl.params.size(); ++i) {
    const Param& param = decl.params[i];
    const bool last = i + 1 == decl.params.size();
    text += CommentLines(param.location) + "\n" + Indent(indent_) + param.name + ": " +
            TypeText(param.type) + (last ? "" : ",");
    text += ListTrailing(param.location, last ? end : decl.params[i + 1].location);
  }
  text += CommentLines(end);
  --indent_;
  return text + "\n" + tail;
}

void Printer::Function(const FunctionDecl& decl, Location limit) {
  Attributes(decl.attributes, decl.location);
  Flush(decl.location);
  Begin(decl.location);
  gap_ = Gap::None;
  const std::string head = Signature(decl);
  if (!decl.body) return Line(head, decl.location, decl.end, limit);
  Open(head, decl.location, *decl.body);
  Body(*decl.body);
  Close("}", decl.end, limit);
}

void Printer::Members(std::string_view word, const Decl& decl,
                      const std::vector<MemberDecl>& members, Location limit) {
  const Location end = decl.end;
  Attributes(decl.attributes, decl.location);
  Line(fmt::format("{}{} {} {{", decl.is_pub ? "pub " : "", word, decl.name), decl.location,
       decl.location, members.empty() ? end : members[0].location);
  ++indent_;
  gap_ = Gap::None;
  for (size_t i = 0; i < members.size(); ++i) {
    const MemberDecl& member = members[i];
    Flush(member.location);
    Line((member.is_pub ? "pub " : "") + member.name + ": " + TypeText(member.type) + ",",
         member.location, member.location, i + 1 < members.size() ? members[i + 1].location : end);
  }
  Flush(end);
  --indent_;
  Close("}", end, limit);
}

Location Printer::ItemStart(size_t index) const {
  if (index >= module_.order.size()) return Last;
  const auto [kind, at] = module_.order[index];
  const auto start = [](const auto& decl) {
    return decl.attributes.empty() || Before(decl.location, decl.attributes[0].location)
               ? decl.location
               : decl.attributes[0].location;
  };
  switch (kind) {
    case Module::ItemKind::Io: return module_.io[at].location;
    case Module::ItemKind::Const: return start(module_.constants[at]);
    case Module::ItemKind::Struct: return start(module_.structs[at]);
    case Module::ItemKind::Event: return start(module_.events[at]);
    case Module::ItemKind::Function: return start(module_.functions[at]);
  }
  return Last;
}

void Printer::Item(size_t index, Location limit) {
  const auto [kind, at] = module_.order[index];
  const bool small = kind == Module::ItemKind::Const || kind == Module::ItemKind::Io;
  gap_ = small && index > 0 && module_.order[index - 1].first == kind ? Gap::Keep : Gap::Force;
  Flush(ItemStart(index));
  switch (kind) {
    case Module::ItemKind::Io:
      return Line(Io(module_.io[at]), module_.io[at].location, module_.io[at].end, limit);
    case Module::ItemKind::Function: return Function(module_.functions[at], limit);
    case Module::ItemKind::Const: {
      const ConstDecl& decl = module_.constants[at];
      Attributes(decl.attributes, decl.location);
      Begin(decl.location);
      gap_ = Gap::None;
      std::string text = fmt::format("{}const {}: {} = ", decl.is_pub ? "pub " : "", decl.name,
                                     TypeText(decl.type));
      text += Text(*decl.value, 0, text.size());
      return Line(text, decl.location, decl.end, limit);
    }
    case Module::ItemKind::Struct: {
      const StructDecl& decl = module_.structs[at];
      return Members("struct", decl, decl.members, limit);
    }
    case Module::ItemKind::Event: {
      const EventDecl& decl = module_.events[at];
      return Members("event", decl, decl.members, limit);
    }
  }
}

void Printer::Uses(Location limit) {
  for (size_t i = 0; i < module_.uses.size(); ++i) {
    const Location place = module_.use_places[i];
    gap_ = i == 0 ? Gap::Force : CommentBefore(place) ? Gap::Keep : Gap::None;
    Flush(place);
    Line("use " + module_.uses[i].ToString(), place, place,
         i + 1 < module_.uses.size() ? module_.use_places[i + 1] : limit);
  }
}

std::string Printer::Run() {
  const Location first = ItemStart(0);
  Flush(module_.name.location);
  Line((module_.is_program ? "program " : "module ") + module_.name.ToString(),
       module_.name.location, module_.name.location,
       module_.uses.empty() ? first : module_.use_places[0]);
  Uses(first);
  for (size_t i = 0; i < module_.order.size(); ++i) Item(i, ItemStart(i + 1));
  gap_ = module_.order.empty() ? Gap::Force : Gap::Keep;
  Flush(Last);
  return std::move(out_);
}

std::string Format(const Module& module) { return Printer(module).Run(); }

}  // namespace frazil::frontends::trident
