// Pseudo-instructions: each is a text in the machine's own language. In a template {0} {1} .. are the operands, {T} the
// type, {size} its bytes, {op} the operation in the word, %name a register that the program does not use, %p.name such a
// predicate, `each` a PAR at the top of a program and a FOR elsewhere. Decisions that the originals leave open are said
// beside each; docs/isa.md shows them.
#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "machines/simt/assembler.h"
#include "machines/simt/assembler_operands.h"
#include "machines/simt/text.h"
#include "machines/simt/text_words.h"

namespace frazil::machines::simt {
namespace {

struct Template {
  std::string_view name;
  size_t operands;
  std::string_view types;  // allowed: "float", "number", "u32", "u64", "f32" or "" for none
  std::string_view form, meaning, text;
};

constexpr std::string_view UnaryNames[] = {"abs", "neg",     "sqrt", "exp",   "log",   "sin",
                                           "cos", "tan",     "ceil", "floor", "round", "reciprocal",
                                           "erf", "sigmoid", "tanh", "relu"};
constexpr std::string_view BinaryNames[] = {"add", "sub", "mul", "div",
                                            "pow", "min", "max", "atan2"};

// Row-wise mean and variance, then scale and shift: shared by the norms. Sums are in element order.
constexpr std::string_view MeanAndVariance = R"(
mov_imm.{T} %sum, 0
for.idx %k, %zero, %count, 1
carry.{T} %sum
add.idx %e, %base, %k
ldg.{T} %x, [%in + %e*{size}]
add.{T} %sum, %sum, %x
end
cvt.{T}.idx %n, %count
div.{T} %mean, %sum, %n
mov_imm.{T} %var, 0
for.idx %k, %zero, %count, 1
carry.{T} %var
add.idx %e, %base, %k
ldg.{T} %x, [%in + %e*{size}]
sub.{T} %x, %x, %mean
mul.{T} %x, %x, %x
add.{T} %var, %var, %x
end
div.{T} %var, %var, %n
mov_imm.{T} %eps, {eps}
add.{T} %var, %var, %eps
sqrt.{T} %var, %var
)";

constexpr Template Templates[] = {
    {"clsget", 1, "u32", "clsget.u32 r", "r = the class of the program (.class, 0 without it)",
     "mov_imm.u32 {0}, {class}"},
    {"mirror", 2, "u32", "mirror.u32 r, a",
     "r = a % 6 < 3 ? a + 3 : a - 3; a class outside of 0..95 traps",
     "lut.u32 {0}, class.mirror, {1}"},
    {"unitytest", 2, "", "unitytest p, eps",
     "p = the class of the program is a unity class (1 or 4); eps is not needed",
     "mov_imm.pred {0}, {unity}"},
    {"nbrcount", 2, "u32", "nbrcount.u32 r, a", "r = number of neighbors of class a",
     "lut.u32 {0}, class.neighbor_count, {1}"},
    {"nbrget", 3, "u32", "nbrget.u32 r, a, k",
     "r = neighbor number k (0 to 4) of class a: R+1, R-1, T+1, T-1 and, where it differs, the "
     "mirror; a itself beyond "
     "its count",
     "mul.u32 %i, {1}, #5\nadd.u32 %i, %i, #{2}\nlut.u32 {0}, class.neighbors, %i"},
    {"resaccum", 2, "f32", "resaccum.f32 class, a",
     "adds a to the f32 at Φ(class, 0, 0); the class is a number",
     "ldg.f32 %x, [Φ({0}, 0, 0)]\nadd.f32 %x, %x, {1}\nstg.f32 [Φ({0}, 0, 0)], %x"},
    {"phaseget", 1, "u32", "phaseget.u32 r", "r = the lane's phase, which is r251 and begins at 0",
     "mov.u32 {0}, r251"},
    {"phaseadv", 1, "", "phaseadv delta", "the phase advances by the number delta, modulo 768",
     "add.u32 r251, r251, #{0}\nrem.u32 r251, r251, #768"},
    {"boundmap", 4, "u64", "boundmap.u64 r, class, page, byte",
     "r = offset of Φ(class, page, byte), registers u64; asserts that each is in range",
     "setlt.u64 %p.in, {1}, #96\nassert %p.in\nsetlt.u64 %p.in, {2}, #48\nassert %p.in\nsetlt.u64 "
     "%p.in, {3}, "
     "#256\nassert %p.in\n"
     "mul.u64 %x, {1}, #12288\nmul.u64 %y, {2}, #256\nadd.u64 %x, %x, %y\nadd.u64 {0}, %x, {3}"},
    {"poolload", 2, "any", "poolload.T r, [handle + offset]", "ldg at a handle of poolalloc",
     "ldg.{T} {0}, {1}"},
    {"poolstore", 2, "any", "poolstore.T [handle + offset], a", "stg at a handle of poolalloc",
     "stg.{T} {0}, {1}"},
    {"parmap", 3, "float", "parmap.op.T out, in, n",
     "out[i] = op(in[i]) for i < n (idx register); op: abs neg sqrt exp log sin cos tan ceil floor "
     "round reciprocal "
     "erf sigmoid tanh relu",
     "mov_imm.idx %zero, 0\neach %i, %zero, {2}\nldg.{T} %x, [{1} + %i*{size}]\n{unary}\nstg.{T} "
     "[{0} + %i*{size}], "
     "%x\nend"},
    {"parmap2", 4, "float", "parmap2.op.T out, a, b, n",
     "out[i] = op(a[i], b[i]); op: add sub mul div pow min max atan2 (by atan of the quotient and "
     "the quadrant)",
     "mov_imm.idx %zero, 0\neach %i, %zero, {3}\nldg.{T} %x, [{1} + %i*{size}]\nldg.{T} %y, [{2} + "
     "%i*{size}]\n{binary}\n"
     "stg.{T} [{0} + %i*{size}], %x\nend"},
    {"parreduce", 3, "number", "parreduce.op.T r, in, n",
     "r = fold of in[0..n) in the tree of `reduce`; op: add mul min max",
     "mov_imm.idx %zero, 0\nrange.reduce.{op}.{T} {0}, {1}, %zero, {2}"},
    {"gemm", 6, "wide", "gemm.T c, a, b, m, k, n",
     "c[m,n] = a[m,k] b[k,n], row-major; one fma chain for each output, k ascending from +0",
     "mov_imm.idx %zero, 0\neach %i, %zero, {3}\nfor.idx %j, %zero, {5}, 1\nmov_imm.{T} %sum, "
     "0\nfor.idx %k, %zero, "
     "{4}, 1\ncarry.{T} %sum\n"
     "mad.idx %e, %i, {4}, %k\nldg.{T} %x, [{1} + %e*{size}]\nmad.idx %e, %k, {5}, %j\nldg.{T} %y, "
     "[{2} + %e*{size}]\n"
     "fma.{T} %sum, %x, %y, %sum\nend\nmad.idx %e, %i, {5}, %j\nstg.{T} [{0} + %e*{size}], "
     "%sum\nend\nend"},
    {"layernorm", 7, "float", "layernorm.T y, x, gamma, beta, rows, features, eps",
     "y = (x - mean) / sqrt(variance + eps) * gamma + beta for each row; sums in order",
     "mov_imm.idx %zero, 0\neach %row, %zero, {4}\nmov.idx %count, {5}\nmul.idx %base, %row, "
     "%count\n{statistics 1 6}\n"
     "for.idx %k, %zero, %count, 1\nadd.idx %e, %base, %k\nldg.{T} %x, [{1} + %e*{size}]\nsub.{T} "
     "%x, %x, "
     "%mean\ndiv.{T} %x, %x, %var\n"
     "ldg.{T} %g, [{2} + %k*{size}]\nmul.{T} %x, %x, %g\nldg.{T} %g, [{3} + %k*{size}]\nadd.{T} "
     "%x, %x, %g\nstg.{T} "
     "[{0} + %e*{size}], %x\nend\nend"},
    {"groupnorm", 9, "float", "groupnorm.T y, x, gamma, beta, n, channels, hw, groups, eps",
     "layernorm over each group of channels / groups channels of hw elements; gamma and beta by "
     "channel",
     "mov_imm.idx %zero, 0\nmul.idx %rows, {4}, {7}\ndiv.idx %per, {5}, {7}\neach %row, %zero, "
     "%rows\nmul.idx %count, "
     "%per, {6}\n"
     "mul.idx %base, %row, %count\n{statistics 1 8}\nfor.idx %k, %zero, %count, 1\nadd.idx %e, "
     "%base, %k\nldg.{T} %x, "
     "[{1} + %e*{size}]\n"
     "sub.{T} %x, %x, %mean\ndiv.{T} %x, %x, %var\ndiv.idx %c, %e, {6}\nrem.idx %c, %c, "
     "{5}\nldg.{T} %g, [{2} + "
     "%c*{size}]\n"
     "mul.{T} %x, %x, %g\nldg.{T} %g, [{3} + %c*{size}]\nadd.{T} %x, %x, %g\nstg.{T} [{0} + "
     "%e*{size}], %x\nend\nend"},
    {"batchnorm", 10, "float", "batchnorm.T y, x, scale, bias, mean, var, n, channels, hw, eps",
     "y = (x - mean[c]) / sqrt(var[c] + eps) * scale[c] + bias[c]",
     "mov_imm.idx %zero, 0\nmul.idx %count, {6}, {7}\nmul.idx %count, %count, {8}\nmov_imm.{T} "
     "%eps, {9}\neach %e, "
     "%zero, %count\n"
     "div.idx %c, %e, {8}\nrem.idx %c, %c, {7}\nldg.{T} %x, [{1} + %e*{size}]\nldg.{T} %g, [{4} + "
     "%c*{size}]\nsub.{T} "
     "%x, %x, %g\n"
     "ldg.{T} %g, [{5} + %c*{size}]\nadd.{T} %g, %g, %eps\nsqrt.{T} %g, %g\ndiv.{T} %x, %x, "
     "%g\nldg.{T} %g, [{2} + "
     "%c*{size}]\n"
     "mul.{T} %x, %x, %g\nldg.{T} %g, [{3} + %c*{size}]\nadd.{T} %x, %x, %g\nstg.{T} [{0} + "
     "%e*{size}], %x\nend"},
    {"upsample2d", 6, "number", "upsample2d.T y, x, planes, h, w, scale",
     "nearest neighbor: y[p, i, j] = x[p, i / scale, j / scale]; scale is a number",
     "mov_imm.idx %zero, 0\nmul.idx %oh, {3}, #{5}\nmul.idx %ow, {4}, #{5}\nmul.idx %rows, {2}, "
     "%oh\neach %row, %zero, "
     "%rows\n"
     "div.idx %p, %row, %oh\nrem.idx %i, %row, %oh\ndiv.idx %i, %i, #{5}\nmad.idx %p, %p, {3}, "
     "%i\nmul.idx %p, %p, "
     "{4}\n"
     "for.idx %j, %zero, %ow, 1\ndiv.idx %e, %j, #{5}\nadd.idx %e, %p, %e\nldg.{T} %x, [{1} + "
     "%e*{size}]\nmad.idx %e, "
     "%row, %ow, %j\n"
     "stg.{T} [{0} + %e*{size}], %x\nend\nend"},
    {"conv2d", 14, "wide", "conv2d.T y, x, w, n, c, h, w, o, kh, kw, stride, pad, dilation, groups",
     "NCHW convolution; the last four are numbers; one fma chain for each output over channels, "
     "rows, columns from +0",
     "mov_imm.idx %zero, 0\n"
     "sub.idx %t, {8}, #1\nmul.idx %t, %t, #{12}\nadd.idx %oh, {5}, #{2pad}\nsub.idx %oh, %oh, "
     "%t\nsub.idx %oh, %oh, "
     "#1\ndiv.floor.idx %oh, %oh, #{10}\nadd.idx %oh, %oh, #1\n"
     "sub.idx %t, {9}, #1\nmul.idx %t, %t, #{12}\nadd.idx %ow, {6}, #{2pad}\nsub.idx %ow, %ow, "
     "%t\nsub.idx %ow, %ow, "
     "#1\ndiv.floor.idx %ow, %ow, #{10}\nadd.idx %ow, %ow, #1\n"
     "mul.idx %planes, {3}, {7}\ndiv.idx %cpg, {4}, #{13}\ndiv.idx %opg, {7}, #{13}\n"
     "each %plane, %zero, %planes\ndiv.idx %img, %plane, {7}\nrem.idx %oc, %plane, {7}\ndiv.idx "
     "%grp, %oc, "
     "%opg\nmul.idx %grp, %grp, %cpg\n"
     "for.idx %i, %zero, %oh, 1\nfor.idx %j, %zero, %ow, 1\nmov_imm.{T} %sum, 0\n"
     "for.idx %c, %zero, %cpg, 1\ncarry.{T} %sum\nfor.idx %a, %zero, {8}, 1\ncarry.{T} "
     "%sum\nfor.idx %b, %zero, {9}, "
     "1\ncarry.{T} %sum\n"
     "mul.idx %r, %i, #{10}\nmul.idx %t, %a, #{12}\nadd.idx %r, %r, %t\nsub.idx %r, %r, #{11}\n"
     "mul.idx %s, %j, #{10}\nmul.idx %t, %b, #{12}\nadd.idx %s, %s, %t\nsub.idx %s, %s, #{11}\n"
     "setltu.idx %p.in, %r, {5}\nsetltu.idx %p.also, %s, {6}\nand.pred %p.in, %p.in, %p.also\n"
     "if %p.in\ncarry.{T} %sum\n"
     "mul.idx %e, %img, {4}\nadd.idx %e, %e, %grp\nadd.idx %e, %e, %c\nmad.idx %e, %e, {5}, "
     "%r\nmad.idx %e, %e, {6}, "
     "%s\nldg.{T} %x, [{1} + %e*{size}]\n"
     "mad.idx %e, %oc, %cpg, %c\nmad.idx %e, %e, {8}, %a\nmad.idx %e, %e, {9}, %b\nldg.{T} %y, "
     "[{2} + %e*{size}]\n"
     "fma.{T} %sum, %x, %y, %sum\nelse\nend\n"
     "end\nend\nend\nmad.idx %e, %plane, %oh, %i\nmad.idx %e, %e, %ow, %j\nstg.{T} [{0} + "
     "%e*{size}], "
     "%sum\nend\nend\nend"},
};

// atan2(y, x) with y in %x and x in %y: the quotient's arc tangent, moved to the right quadrant; signed zeros as IEEE.
constexpr std::string_view Atan2 = R"(
mov_imm.{T} %nil, 0
mov_imm.{T} %pi, 3.141592653589793
mov_imm.{T} %half, 1.5707963267948966
mov_imm.{T} %one, 1
div.{T} %q, %x, %y
atan.{T} %q, %q
copysign.{T} %spi, %pi, %x
copysign.{T} %shalf, %half, %x
copysign.{T} %snil, %nil, %x
copysign.{T} %sy, %one, %y
add.{T} %moved, %q, %spi
setlt.{T} %p.a, %y, %nil
sel.{T} %q, %p.a, %moved, %q
seteq.{T} %p.a, %y, %nil
sel.{T} %q, %p.a, %shalf, %q
seteq.{T} %p.b, %x, %nil
and.pred %p.a, %p.a, %p.b
sel.{T} %q, %p.a, %snil, %q
setlt.{T} %p.b, %sy, %nil
and.pred %p.b, %p.b, %p.a
sel.{T} %x, %p.b, %spi, %q
)";

const Template* Find(std::string_view word) {
  std::string_view name = word.substr(0, word.find('.'));
  for (const Template& t : Templates)
    if (t.name == name) return &t;
  return nullptr;
}

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// --- tables of classes -------------------------------------------------------------------------------------------

uint64_t ClassAt(uint64_t h, uint64_t d, uint64_t l) { return 24 * (h % 4) + 8 * d + l % 8; }

std::vector<uint64_t> Neighbors(uint64_t c) {
  uint64_t h = c / 24, d = c / 8 % 3, l = c % 8;
  std::vector<uint64_t> all = {ClassAt(h + 1, d, l), ClassAt(h + 3, d, l), ClassAt(h, d, l + 1),
                               ClassAt(h, d, l + 7)};
  if (d != 0) all.push_back(ClassAt(h, 3 - d, l));
  return all;
}

std::vector<ModuleParts::Table> ClassTables(std::string_view text) {
  std::vector<ModuleParts::Table> tables;
  auto add = [&](const char* name, auto value_of, uint64_t count) {
    if (text.find(std::string(name) + ",") == text.npos) return;
    ModuleParts::Table table{name, Type::U32, {}};
    for (uint64_t i = 0; i < count; ++i) table.words.push_back(value_of(i));
    tables.push_back(std::move(table));
  };
  add("class.mirror", [](uint64_t c) { return c % 6 < 3 ? c + 3 : c - 3; }, 96);
  add("class.neighbor_count", [](uint64_t c) { return uint64_t{Neighbors(c).size()}; }, 96);
  add(
      "class.neighbors",
      [](uint64_t i) {
        std::vector<uint64_t> all = Neighbors(i / 5);
        return i % 5 < all.size() ? all[i % 5] : i / 5;
      },
      96 * 5);
  return tables;
}

// --- expansion ---------------------------------------------------------------------------------------------------------

bool Allows(std::string_view types, Type type) {
  if (types == "any") return true;
  if (types == "number") return type != Type::Bool;
  if (types == "float") return ir::IsFloat(type);
  if (types == "wide") return type == Type::F32 || type == Type::F64;
  return TypeName(type) == types;
}

Result<std::string> Operation(const Statement& statement, const Template& t,
                              const std::string& op) {
  auto known = [&](const auto& names) { return std::ranges::find(names, op) != std::end(names); };
  if (t.name == "parmap") {
    if (!known(UnaryNames))
      return Wrong(statement.word, fmt::format("'{}' is no operation of parmap", op));
    if (op == "reciprocal") return std::string("mov_imm.{T} %one, 1\ndiv.{T} %x, %one, %x");
    if (op == "relu") return std::string("max.{T} %x, %x, #0");
    return fmt::format("{}.{{T}} %x, %x", op);
  }
  if (t.name == "parmap2") {
    if (!known(BinaryNames))
      return Wrong(statement.word, fmt::format("'{}' is no operation of parmap2", op));
    return op == "atan2" ? std::string(Atan2) : fmt::format("{}.{{T}} %x, %x, %y", op);
  }
  constexpr std::string_view Folds[] = {"add", "mul", "min", "max"};
  if (t.name == "parreduce" ? !known(Folds) : !op.empty())
    return Wrong(statement.word,
                 fmt::format("'{}' is no form of '{}'", statement.word.text, t.name));
  return std::string{};
}

// Gives every %name of the text a register or predicate of its own.
Result<void> NameTemporaries(const Statement& statement, const ExpansionContext& context,
                             std::string& text) {
  std::map<std::string, std::string> names;
  size_t registers = 0, predicates = 0;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      out += text[i++];
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.'))
      ++end;
    std::string name = text.substr(i, end - i);
    auto [entry, is_new] = names.try_emplace(name);
    if (is_new) {
      bool predicate = name.starts_with("%p.");
      const std::vector<uint8_t>& pool =
          predicate ? context.free_predicates : context.free_registers;
      size_t& next = predicate ? predicates : registers;
      if (next == pool.size())
        return Wrong(statement.word,
                     fmt::format("'{}' needs {} that the program does not use", statement.word.text,
                                 predicate ? "predicates" : "registers"));
      entry->second = fmt::format("{}{}", predicate ? 'p' : 'r', pool[next++]);
    }
    out += entry->second;
    i = end;
  }
  text = std::move(out);
  return {};
}

}  // namespace

bool IsPseudo(const Statement& statement) { return Find(Lower(statement.word.text)) != nullptr; }

Result<Expansion> ExpandPseudo(const Statement& statement, const ExpansionContext& context) {
  std::string word = Lower(statement.word.text);
  const Template& t = *Find(word);
  if (statement.operands.size() != t.operands)
    return Wrong(statement.word, fmt::format("the form is {}", t.form));
  std::string rest = word.substr(t.name.size()), op;
  Type type = Type::U32;
  if (!t.types.empty()) {
    size_t dot = rest.rfind('.');
    std::optional<Type> named = dot == rest.npos ? std::nullopt : TypeNamed(rest.substr(dot + 1));
    if (!named || !Allows(t.types, *named))
      return Wrong(statement.word, fmt::format("the form is {}", t.form));
    type = *named;
    op = dot == 0 ? "" : rest.substr(1, dot - 1);
  } else if (!rest.empty()) {
    return Wrong(statement.word, fmt::format("the form is {}", t.form));
  }
  std::string operation = TRY(Operation(statement, t, op));
  std::string text(t.text);
  Replace(text, "{unary}", operation);
  Replace(text, "{binary}", operation);
  if (size_t at = text.find("{statistics "); at != text.npos) {
    std::string inner(MeanAndVariance);
    Replace(inner, "%in", std::string("{") + text[at + 12] + "}");
    Replace(inner, "{eps}", std::string("{") + text[at + 14] + "}");
    text.replace(at, 16, inner);
  }
  if (t.name == "conv2d") {
    std::string pad = statement.operands[11].text;
    bool digits = !pad.empty() && pad.size() < 6 &&
                  std::ranges::all_of(pad, [](unsigned char c) { return std::isdigit(c); });
    if (!digits) return Wrong(statement.operands[11], "the padding is a small number");
    Replace(text, "{2pad}", std::to_string(2 * std::stoi(pad)));
  }
  Replace(text, "each ", context.depth == 0 && context.mode == Mode::Program ? "par " : "for.idx ");
  Replace(text, "{T}", TypeName(type));
  Replace(text, "{size}", std::to_string(ir::BytesOf(ir::Type::Of(type))));
  Replace(text, "{op}", op);
  Replace(text, "{class}", std::to_string(context.current_class));
  Replace(text, "{unity}", context.current_class == 1 || context.current_class == 4 ? "1" : "0");
  TRY_VOID(NameTemporaries(statement, context, text));
  for (size_t i = 0; i < statement.operands.size(); ++i) {
    const std::string& operand = statement.operands[i].text;
    if (operand.find_first_of("{}%;\n") != operand.npos)
      return Wrong(statement.operands[i], fmt::format("'{}' is no operand", operand));
    Replace(text, fmt::format("{{{}}}", i), operand);
  }
  Replace(text, "##", "#");  // an operand may be written #3 where the template has its own #
  Expansion expansion{text, ClassTables(text), t.name == "phaseget" || t.name == "phaseadv"};
  return expansion;
}

std::span<const PseudoInfo> PseudoInstructions() {
  static const std::vector<PseudoInfo> infos = [] {
    std::vector<PseudoInfo> all;
    for (const Template& t : Templates) all.push_back({t.name, t.form, t.meaning});
    return all;
  }();
  return infos;
}

}  // namespace frazil::machines::simt
