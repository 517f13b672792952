// The outer level of a file: header, use, declarations, types, attributes.
#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "frontends/trident/suggest.h"
#include "frontends/trident/syntax/parser.h"

namespace frazil::frontends::trident {
namespace {

// Words of other languages, each with what to write instead.
constexpr Named<std::string_view> ForeignItems[] = {
    {"enum", "there are no enums: use a struct with a tag field, or constants"},
    {"trait", "there are no traits: write a function for each type"},
    {"impl", "there are no methods: write functions that take the struct"},
    {"macro", "there are no macros: write a function, which may have size parameters"},
    {"macro_rules", "there are no macros: write a function, which may have size parameters"},
    {"type", "there are no type aliases: use a struct"},
    {"static", "there is no global state: use const, or RAM"},
    {"mod", "a module is a file of its own: begin it with 'module name'"},
    {"import", "write 'use a.b'"},
    {"async", "there is no concurrency: the machine does one thing at a time"},
    {"unsafe", "there is nothing unsafe to mark"},
    {"extern", "use #[intrinsic(...)] or asm"},
    {"let", "values at the outer level are written 'const NAME: Type = value'"},
};

bool StartsItem(Tok kind) {
  return kind == Tok::Pub || kind == Tok::Sec || kind == Tok::Const || kind == Tok::Struct ||
         kind == Tok::Event || kind == Tok::Fn || kind == Tok::Hash || kind == Tok::Use;
}

constexpr std::string_view KnownAttributes[] = {"cfg",       "test",     "pure",
                                                "intrinsic", "requires", "ensures"};

}  // namespace

void Parser::Header() {
  Module& module = result_.module;
  if (!At(Tok::Program) && !At(Tok::Module)) {
    Complain(tok_.location,
             fmt::format("{} here where 'program name' or 'module name' is expected", Shown()),
             "a file begins with what it is; programs have a function main");
    return;
  }
  module.is_program = At(Tok::Program);
  Advance();
  if (!ReadPath(&module.name, module.is_program ? "the program's name" : "the module's name"))
    SkipToItem();
}

bool Parser::ReadPath(Path* path, std::string_view what) {
  path->location = tok_.location;
  path->parts.emplace_back();
  if (!ExpectName(&path->parts.back(), what)) return false;
  while (At(Tok::Dot)) {
    Advance();
    path->parts.emplace_back();
    if (!ExpectName(&path->parts.back(), "the next part of the name")) return false;
  }
  return true;
}

void Parser::Uses() {
  while (At(Tok::Use) && !Enough()) {
    if (!Use()) SkipToItem();
  }
}

bool Parser::Use() {
  const Location location = Advance().location;
  Path path;
  if (At(Tok::Name)) {
    path.location = tok_.location;
    path.parts.emplace_back(Advance().text);
    while (Accept(Tok::Dot)) {
      if (At(Tok::Star)) {
        return Complain(tok_.location, "a module is imported whole",
                        "write 'use a.b' and call b.f(...)", Diag::NotTrident);
      }
      path.parts.emplace_back();
      if (!ExpectName(&path.parts.back(), "the next part of the module's name")) return false;
    }
  } else {
    return Unexpected("the name of a module");
  }
  if (At(Tok::StarDot) || At(Tok::Star)) {
    return Complain(tok_.location, "a module is imported whole",
                    "write 'use a.b' and call b.f(...)", Diag::NotTrident);
  }
  if (AtWord("as")) {
    return Complain(tok_.location, "an imported module keeps its name",
                    fmt::format("it is called '{}' here", path.parts.back()), Diag::NotTrident);
  }
  result_.module.uses.push_back(std::move(path));
  result_.module.use_places.push_back(location);
  return Separated();
}

// To something that looks like the beginning of an item: one of its words, first in its line, outside of braces if
// they are balanced, or at the very left if they are not.
void Parser::SkipToItem() {
  for (; !At(Tok::End); Advance()) {
    if (!tok_.new_line || !StartsItem(tok_.kind)) continue;
    if (braces_ <= 0 || tok_.location.column == 1) break;
  }
  braces_ = 0;
  brackets_ = 0;
  depth_ = 0;
  in_predicate_ = false;
  no_struct_ = false;
}

bool Parser::ForeignItem() {
  if (At(Tok::Name) || At(Tok::Let)) {
    if (const auto hint = FindNamed(ForeignItems, tok_.text)) return NotTrident(*hint);
  }
  if (At(Tok::Program) || At(Tok::Module)) {
    return Complain(tok_.location, "a file is one program or one module",
                    "put the second into a file of its own");
  }
  return Unexpected("fn, const, struct, event or a declaration");
}

bool Parser::Item() {
  if (Accept(Tok::Semicolon)) return true;
  Module& module = result_.module;
  if (At(Tok::Use)) {
    if (module.order.empty()) return Use();
    Complain(tok_.location, "'use' stands after other items", "imports come first");
    return Use();
  }
  std::vector<Attribute> attributes;
  if (!Attributes(&attributes)) return false;
  const Location location = tok_.location;
  const bool is_sec = At(Tok::Sec);
  const bool is_pub = Accept(Tok::Pub);
  if (is_sec || (is_pub && (AtWord("input") || AtWord("output")))) return Io(location, is_pub);
  if (is_pub && At(Tok::LParen)) {
    return Complain(tok_.location, "there is one kind of 'pub'",
                    "an item is public or private to its module", Diag::NotTrident);
  }
  if (is_pub && At(Tok::Use))
    return Complain(tok_.location, "imports cannot be passed on",
                    "each module imports what it uses", Diag::NotTrident);
  if (!Attributes(&attributes)) return false;
  const auto only_cfg = [&](std::string_view what) {
    for (const Attribute& attribute : attributes) {
      if (attribute.name != "cfg")
        Complain(attribute.location,
                 fmt::format("#[{}] is for functions, not for {}", attribute.name, what));
    }
  };
  const auto place = [&](auto& list, Module::ItemKind kind, auto& decl) {
    decl.is_pub = is_pub;
    decl.location = location;
    decl.end = last_end_;
    decl.attributes = std::move(attributes);
    module.order.emplace_back(kind, static_cast<uint32_t>(list.size()));
    list.push_back(std::move(decl));
    return Separated();
  };
  const auto data = [&]<typename D>(std::vector<D>& list, Module::ItemKind kind,
                                    bool (Parser::*read)(D*), std::string_view what) {
    D decl;
    only_cfg(what);
    return (this->*read)(&decl) && place(list, kind, decl);
  };
  using Kind = Module::ItemKind;
  if (At(Tok::Const)) return data(module.constants, Kind::Const, &Parser::Const, "constants");
  if (At(Tok::Struct)) return data(module.structs, Kind::Struct, &Parser::Struct, "structs");
  if (At(Tok::Event)) return data(module.events, Kind::Event, &Parser::Event, "events");
  if (At(Tok::Fn)) {
    FunctionDecl decl;
    decl.attributes = std::move(attributes);
    const bool ok = Function(&decl);
    attributes = std::move(decl.attributes);
    return ok && place(module.functions, Kind::Function, decl);
  }
  return ForeignItem();
}

bool Parser::Attributes(std::vector<Attribute>* attributes) {
  while (At(Tok::Hash)) {
    Attribute attribute;
    attribute.location = tok_.location;
    Advance();
    if (!OneAttribute(&attribute)) return false;
    attributes->push_back(std::move(attribute));
  }
  return true;
}

bool Parser::OneAttribute(Attribute* attribute) {
  if (!Expect(Tok::LBracket, "of an attribute")) return false;
  const Location location = tok_.location;
  if (!ExpectName(&attribute->name, "the name of an attribute")) return false;
  if (std::ranges::find(KnownAttributes, attribute->name) == std::end(KnownAttributes)) {
    Complain(location, fmt::format("there is no attribute '{}'", attribute->name),
             Suggest(attribute->name, KnownAttributes));
  }
  const bool predicate = attribute->name == "requires" || attribute->name == "ensures";
  const bool word = attribute->name == "cfg" || attribute->name == "intrinsic";
  if (At(Tok::LParen)) {
    Advance();
    if (predicate) {
      if (!(attribute->condition = Predicate())) return false;
    } else if (At(Tok::Name) || (tok_.kind >= Tok::Program && tok_.kind <= Tok::False)) {
      attribute->word = Advance().text;
    } else {
      return Unexpected("a word");
    }
    if (!Expect(Tok::RParen, "after what the attribute says")) return false;
    if (!predicate && !word)
      Complain(location, fmt::format("#[{}] takes nothing in parentheses", attribute->name));
  } else if (predicate || word) {
    Complain(location, fmt::format("#[{}(...)] says something in parentheses", attribute->name));
  }
  return Expect(Tok::RBracket, "at the end of the attribute");
}

bool Parser::Io(Location location, bool is_pub) {
  IoDecl io;
  io.location = location;
  if (!is_pub) Advance();
  if (AtWord("input"))
    io.kind = is_pub ? IoDecl::Kind::PublicInput : IoDecl::Kind::SecretInput;
  else if (AtWord("output") && is_pub)
    io.kind = IoDecl::Kind::PublicOutput;
  else if (AtWord("ram"))
    io.kind = IoDecl::Kind::SecretRam;
  else
    return Unexpected("input or ram");
  Advance();
  if (!Expect(Tok::Colon, "before the type")) return false;
  if (io.kind == IoDecl::Kind::SecretRam) {
    if (!RamSlots(&io)) return false;
  } else {
    io.slots.emplace_back(0, TypeExpr());
    if (!Type(&io.slots.back().second)) return false;
  }
  io.end = last_end_;
  if (!result_.module.is_program)
    Complain(location, "only programs declare input and output",
             "a module's functions take parameters");
  result_.module.order.emplace_back(Module::ItemKind::Io,
                                    static_cast<uint32_t>(result_.module.io.size()));
  result_.module.io.push_back(std::move(io));
  return Separated();
}

bool Parser::RamSlots(IoDecl* io) {
  if (!Expect(Tok::LBrace, "before the slots of RAM")) return false;
  while (!At(Tok::RBrace)) {
    if (!At(Tok::Integer)) return Unexpected("an address");
    io->slots.emplace_back(Advance().number, TypeExpr());
    if (!Expect(Tok::Colon, "before the type") || !Type(&io->slots.back().second)) return false;
    if (!Accept(Tok::Comma)) break;
  }
  return Expect(Tok::RBrace, "after the slots of RAM");
}

bool Parser::Const(ConstDecl* decl) {
  Advance();
  if (!ExpectName(&decl->name, "a constant")) return false;
  if (!At(Tok::Colon))
    return Complain(tok_.location, "a constant says its type",
                    fmt::format("write 'const {}: Field = ...'", decl->name));
  Advance();
  if (!Type(&decl->type) || !Expect(Tok::Assign, "before the constant's value")) return false;
  decl->value = Expression();
  return decl->value != nullptr;
}

bool Parser::Members(std::vector<MemberDecl>* members, bool with_pub) {
  if (!Expect(Tok::LBrace, "before the fields")) return false;
  while (!At(Tok::RBrace)) {
    MemberDecl member;
    member.location = tok_.location;
    if (At(Tok::Pub) && !with_pub) Complain(tok_.location, "the fields of an event are all public");
    member.is_pub = Accept(Tok::Pub) && with_pub;
    if (!ExpectName(&member.name, "a field")) return false;
    if (!Expect(Tok::Colon, "before the field's type") || !Type(&member.type)) return false;
    members->push_back(std::move(member));
    if (Accept(Tok::Comma)) continue;
    if (At(Tok::RBrace)) break;
    if (At(Tok::Semicolon)) return Complain(tok_.location, "fields are separated by commas");
    return Unexpected("',' or '}'");
  }
  return Expect(Tok::RBrace, "after the fields");
}

bool Parser::Struct(StructDecl* decl) {
  Advance();
  return ExpectName(&decl->name, "a struct") && Members(&decl->members, true);
}

bool Parser::Event(EventDecl* decl) {
  Advance();
  return ExpectName(&decl->name, "an event") && Members(&decl->members, false);
}

bool Parser::Function(FunctionDecl* decl) {
  Advance();
  if (!ExpectName(&decl->name, "a function")) return false;
  if (Accept(Tok::Less)) {
    do {
      if (At(Tok::Greater) && !decl->sizes.empty()) break;
      decl->sizes.emplace_back();
      if (!ExpectName(&decl->sizes.back(), "a size")) return false;
      if (At(Tok::Colon))
        return Complain(tok_.location, "size parameters have no type",
                        "write fn f<N>(...): sizes are integers, there are no type parameters");
    } while (Accept(Tok::Comma));
    if (!Expect(Tok::Greater, "after the sizes")) return false;
  }
  if (!Params(decl)) return false;
  if (Accept(Tok::Arrow)) {
    decl->result.emplace();
    if (!Type(&*decl->result)) return false;
  } else if (At(Tok::Colon)) {
    return Complain(tok_.location, "a result's type stands after '->'");
  }
  const bool intrinsic = std::ranges::any_of(
      decl->attributes, [](const Attribute& a) { return a.name == "intrinsic"; });
  if (intrinsic && !At(Tok::LBrace)) return true;
  if (!At(Tok::LBrace) && !intrinsic) {
    return Complain(tok_.location, fmt::format("the function '{}' has no body", decl->name),
                    "only functions with #[intrinsic(...)] have none");
  }
  decl->body = ReadBlock("of the function");
  return decl->body != nullptr;
}

bool Parser::Params(FunctionDecl* decl) {
  if (!Expect(Tok::LParen, "before the parameters")) return false;
  while (!At(Tok::RParen)) {
    Param param;
    param.location = tok_.location;
    if (At(Tok::Mut))
      return Complain(tok_.location, "parameters cannot be changed",
                      "copy it: let mut x: T = parameter", Diag::NotTrident);
    if (AtWord("self"))
      return Complain(tok_.location, "there are no methods", "give the parameter a name and a type",
                      Diag::NotTrident);
    if (!ExpectName(&param.name, "a parameter")) return false;
    if (!At(Tok::Colon))
      return Complain(tok_.location, "a parameter says its type",
                      fmt::format("write '{}: Field'", param.name));
    Advance();
    if (!Type(&param.type)) return false;
    decl->params.push_back(std::move(param));
    if (!Accept(Tok::Comma)) break;
  }
  return Expect(Tok::RParen, "after the parameters");
}

bool Parser::Type(TypeExpr* type) {
  if (!Enter()) return false;
  const bool ok = TypeInside(type);
  Leave();
  return ok;
}

bool Parser::TypeInside(TypeExpr* type) {
  type->location = tok_.location;
  if (Accept(Tok::LBracket)) {
    type->kind = TypeExpr::Kind::Array;
    type->parts.emplace_back();
    if (!Type(&type->parts.back())) return false;
    if (!At(Tok::Semicolon))
      return Complain(tok_.location, "an array's size is missing",
                      "write [Field; 4]: every array has a fixed size");
    Advance();
    type->size = Size(1);
    return type->size && Expect(Tok::RBracket, "after the array's size");
  }
  if (Accept(Tok::LParen)) {
    type->kind = TypeExpr::Kind::Tuple;
    bool comma = false;
    while (!At(Tok::RParen)) {
      type->parts.emplace_back();
      if (!Type(&type->parts.back())) return false;
      if (!Accept(Tok::Comma)) break;
      comma = true;
    }
    if (!Expect(Tok::RParen, "after the tuple's types")) return false;
    if (type->parts.size() == 1 && !comma) {  // only grouping
      TypeExpr inner = std::move(type->parts.front());
      *type = std::move(inner);
    }
    return true;
  }
  if (At(Tok::Amp) || At(Tok::Star))
    return Complain(tok_.location, "there are no references and no pointers",
                    "values are copied; RAM has addresses of type Field", Diag::NotTrident);
  if (!At(Tok::Name)) return Unexpected("a type");
  if (!ReadPath(&type->name, "a type")) return false;
  if (At(Tok::Less))
    return Complain(tok_.location, "types have no parameters",
                    "only functions have, and only sizes", Diag::NotTrident);
  return true;
}

}  // namespace frazil::frontends::trident
