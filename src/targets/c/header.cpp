// Puts functions, support code and guards together. The order in a header: what it is and how to call it,
// what it forbids the compiler, support, tables, functions callees first, the two entry points.
#include "targets/c/header.h"

#include <fmt/format.h>

#include <cctype>

#include "base/check.h"
#include "base/limits.h"
#include "ir/digest.h"
#include "targets/c/ctype.h"
#include "targets/c/function_emitter.h"
#include "targets/c/names.h"

namespace frazil::targets::c {
namespace {

using ir::Op;

constexpr std::string_view PreludePrefix = "prelude.";

// gcc contracts by default and has no pragma for one function; its options have a stack.
constexpr std::string_view FloatGuards =
    R"c(#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "this header computes exactly: compile it without -ffast-math and its parts"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "this header needs float arithmetic without excess precision (FLT_EVAL_METHOD 0)"
#endif
)c";
constexpr std::string_view GccOptions =
    "#if defined(__GNUC__) && !defined(__clang__) && (!defined(__x86_64__) || defined(__FMA__) || "
    "defined(__FMA4__))\n";

constexpr std::string_view Includes = R"(#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
)";

std::string UpperCase(std::string_view text) {
  std::string upper;
  for (char c : text) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

bool IsDirect(const ir::Program& program, const ProgramFacts& facts) {
  return !facts.fallible[program.entry.index] && program.entry_function().results.size() <= 1;
}

Plan MakePlan(const ir::Program& program, const std::string& symbol, bool metered,
              bool share_prelude) {
  Plan plan{program, FindFacts(program, metered), metered, {}, {}};
  NameScope scope;
  for (std::string_view suffix : {"", "_run", "_entry", "_results", "_body"})
    scope.Add(symbol + std::string(suffix));
  auto name_of = [&](const std::string& name, std::string_view kind) {
    if (!name.starts_with(PreludePrefix))
      return scope.Add(fmt::format("{}_{}_{}", symbol, kind, Identifier(name)));
    if (share_prelude) return fmt::format("shared_{}_{}", kind, Identifier(name));
    return scope.Add(fmt::format("{}_{}", symbol, Identifier(name.substr(PreludePrefix.size()))));
  };
  for (size_t f = 0; f < program.functions.size(); ++f) {
    if (f == program.entry.index)
      plan.function_names.push_back(IsDirect(program, plan.facts) ? symbol : symbol + "_body");
    else
      plan.function_names.push_back(name_of(program.functions[f].name, "fn"));
  }
  for (const ir::Data& data : program.data) plan.data_names.push_back(name_of(data.name, "data"));
  return plan;
}

struct Usage {
  bool allocates = false;
  bool writes_output = false;
  bool polls = false;
  bool traps = false;  // under default limits
  std::vector<bool> tables;
};

Usage FindUsage(const Plan& plan) {
  Usage usage;
  usage.tables.assign(plan.program.data.size(), false);
  for (ir::FuncId id : plan.facts.order) {
    const ir::Function& function = plan.program.functions[id.index];
    const FunctionFacts& facts = plan.facts.functions[id.index];
    for (size_t i = 0; i < function.insts.size(); ++i) {
      const ir::Inst& inst = function.insts[i];
      if (!facts.needed[i]) continue;
      usage.allocates |= inst.op == Op::Alloc;
      usage.writes_output |= inst.op == Op::Output;
      usage.polls |=
          inst.op == Op::While ||
          (plan.metered && (inst.op == Op::For || inst.op == Op::Parallel || inst.op == Op::Call));
      usage.traps |= ChanceOfTrap(plan.program, function, facts, inst) != TrapChance::Never;
      const bool reads_table =
          inst.op == Op::Lookup &&
          ChanceOfTrap(plan.program, function, facts, inst) != TrapChance::Always &&
          facts.live[ir::Function::result_of(inst).index];
      if (reads_table) usage.tables[static_cast<size_t>(function.word(inst, 0))] = true;
    }
  }
  const Limits defaults;
  const bool deep =
      plan.facts.has_recursion || plan.facts.call_depth[plan.program.entry.index] > defaults.depth;
  usage.traps |= plan.metered || deep;
  return usage;
}

std::string Functions(const Plan& plan, Support& support, SharedPrelude* shared,
                      Signature& entry_signature) {
  std::vector<std::string> definitions;
  std::string prototypes;
  for (ir::FuncId id : plan.facts.order) {
    FunctionEmitter emitter(plan, id, support);
    if (id == plan.program.entry) entry_signature = emitter.signature();
    const bool is_shared = shared != nullptr && plan.program.functions[id.index].is_prelude;
    if (is_shared && !shared->emitted.insert(plan.function_names[id.index]).second) continue;
    if (plan.facts.recursive[id.index]) prototypes += emitter.Prototype() + ";\n";
    definitions.push_back(emitter.Definition());
  }
  std::string text = prototypes.empty() ? "" : prototypes + "\n";
  for (const std::string& definition : definitions) text += definition + "\n";
  return text;
}

std::string ArgumentNames(const Signature& signature, bool with_outputs) {
  std::string names;
  auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const CParameter& input : signature.inputs) add(input.name);
  if (with_outputs)
    for (const CParameter& output : signature.outputs) add(output.name);
  return names;
}

std::string OuterDeclaration(const Signature& inner, const std::string& symbol) {
  // In a header that defines no frz_run only its tag is known.
  return WithParameters(fmt::format("static inline int {}_run", symbol), OuterSignature(inner),
                        "struct frz_run*");
}

std::string OuterDefinition(const Plan& plan, const Usage& usage, const Signature& inner,
                            const std::string& symbol, Support& support) {
  std::string text = OuterDeclaration(inner, symbol) + " {\n";
  const std::string& body = plan.function_names[plan.program.entry.index];
  const std::string arguments = ArgumentNames(inner, true);
  if (!inner.fallible) {
    const std::string target = inner.returned.empty() ? "" : "*result = ";
    return text +
           fmt::format("  (void)run;\n  {}{}({});\n  return 0;\n}}\n", target, body, arguments);
  }
  text += "  frz_run local;\n";
  text += fmt::format("  run = {}(run, &local);\n", support.Use("begin"));
  text += fmt::format("  const bool trapped = {}({}{}run);\n", body, arguments,
                      arguments.empty() ? "" : ", ");
  if (usage.allocates) text += "  frz_release(run, NULL);\n";
  if (usage.writes_output)
    text += "  if (run == &local) {\n    free(local.output);\n    free(local.output_types);\n  }\n";
  return text + "  return trapped ? run->trap : FRZ_OK;\n}\n";
}

// A function that returns what f_run writes; several results become a struct.
std::string NaturalDefinition(const Plan& plan, const Signature& inner, const std::string& symbol,
                              std::string& declaration) {
  const std::vector<ir::Type>& results = plan.program.entry_function().results;
  const Signature outer = OuterSignature(inner);
  std::string text;
  std::string type = results.empty() ? "void" : CTypeName(results[0]);
  if (results.size() > 1) {
    type = symbol + "_results";
    text += fmt::format("typedef struct {} {{\n", type);
    for (size_t i = 0; i < results.size(); ++i)
      text += fmt::format("  {} result{};\n", CTypeName(results[i]), i);
    text += fmt::format("}} {};\n\n", type);
  }
  Signature natural = outer;
  natural.outputs.clear();
  natural.fallible = false;
  declaration = WithParameters(fmt::format("static inline {} {}", type, symbol), natural);
  std::string arguments = ArgumentNames(inner, false);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!arguments.empty()) arguments += ", ";
    arguments += results.size() == 1 ? "&result" : fmt::format("&results.result{}", i);
  }
  if (!arguments.empty()) arguments += ", ";
  text += declaration + " {\n";
  const std::string name = results.size() == 1 ? "result" : "results";
  if (!results.empty())
    text += fmt::format("  {0} {1};\n  memset(&{1}, 0, sizeof {1});\n", type, name);
  text += fmt::format("  (void){}_run({}NULL);\n", symbol, arguments);
  if (!results.empty()) text += fmt::format("  return {};\n", name);
  return text + "}\n";
}

// int f_entry(const uint64_t* in, uint64_t* out, frz_run* run): see run_layout.h.
std::string Adapter(const Plan& plan, const std::string& symbol, Support& support) {
  const ir::Function& entry = plan.program.entry_function();
  const FunctionFacts& facts = plan.facts.functions[plan.program.entry.index];
  ExpressionWriter write(plan, entry, facts, support);
  support.Use("run");
  std::string before;
  std::string arguments;
  std::string after;
  auto add = [&](const std::string& text) { arguments += text + ", "; };
  uint32_t in = 0;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    const ir::Type type = entry.param_type(i);
    if (type.is_buffer()) {
      const std::string_view is_const = type.access == ir::Access::In ? "const " : "";
      add(fmt::format("({}{}*)(uintptr_t)in[{}]", is_const, ElementTypeName(type.element()), in));
      add(fmt::format("(int64_t)in[{}]", in + 1));
      in += 2;
    } else if (IsStruct(type)) {
      before += fmt::format("  {0} a{1};\n  memcpy(&a{1}, in + {2}, sizeof a{1});\n",
                            CTypeName(type), i, in);
      add(fmt::format("a{}", i));
      in += ir::WordsOf(type);
    } else {
      add(write.FromWord(type, fmt::format("in[{}]", in++)));
    }
  }
  uint32_t out = 0;
  for (uint32_t i = 0; i < entry.results.size(); ++i) {
    const ir::Type type = entry.results[i];
    before += fmt::format("  {0} r{1};\n  memset(&r{1}, 0, sizeof r{1});\n", CTypeName(type), i);
    add(fmt::format("&r{}", i));
    if (IsStruct(type))
      after += fmt::format("  memcpy(out + {}, &r{}, sizeof r{});\n", out, i, i);
    else
      after += fmt::format("  out[{}] = {};\n", out, write.ToWord(type, fmt::format("r{}", i)));
    out += ir::WordsOf(type);
  }
  return fmt::format(
      "static int {0}_entry(const uint64_t* in, uint64_t* out, frz_run* run) {{\n  (void)in;\n  "
      "(void)out;\n{1}"
      "  const int status = {0}_run({2}run);\n{3}  return status;\n}}\n\n",
      symbol, before, arguments, after);
}

std::string EntryTable(const std::vector<std::string>& symbols) {
  std::string text = R"(#ifdef __cplusplus
extern "C" {
#endif
uint64_t frz_layout(void);
uint64_t frz_layout(void) {
  return sizeof(frz_run);
}

typedef int (*frz_entry_function)(const uint64_t*, uint64_t*, frz_run*);
frz_entry_function frz_entry(uint64_t i);
frz_entry_function frz_entry(uint64_t i) {
  static const frz_entry_function entries[] = {
)";
  for (const std::string& symbol : symbols) text += fmt::format("    {}_entry,\n", symbol);
  text += R"(  };
  return i < sizeof entries / sizeof *entries ? entries[i] : NULL;
}
#ifdef __cplusplus
}
#endif
)";
  return text;
}

std::string Prologue(const Support& support) {
  std::string text(Includes);
  if (!support.uses_floats()) return text + "\n";
  text += "#include <math.h>\n\n";
  text += FloatGuards;
  text += GccOptions;
  return text + "#pragma GCC push_options\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n\n";
}

std::string Epilogue(const Support& support) {
  if (!support.uses_floats()) return "";
  return fmt::format("{}#pragma GCC pop_options\n#endif\n", GccOptions);
}

std::string HeaderComment(const std::string& digest, const std::string& symbol,
                          const ProgramText& text, bool metered) {
  std::string comment = fmt::format(
      "/* {}, generated by Frazil. Program (exact digest):\n * {}\n *\n", symbol, digest);
  for (const std::string& declaration : {text.natural, text.outer}) {
    if (declaration.empty()) continue;
    comment += " *   ";
    for (char c : declaration.substr(std::string_view("static inline ").size())) {
      comment += c;
      if (c == '\n') comment += " *   ";
    }
    comment += ";\n";
  }
  comment += fmt::format(R"( *
 * {0}_run gives 0, or the FRZ_ kind of the trap that ended it; its results count only if it gives 0.
 * run may be NULL: default limits, no streams.{1} A buffer is a pointer and its number of elements; two
 * buffers are disjoint or the same. f16 and bf16 are their bits, field elements are less than
 * 2^64 - 2^32 + 1.
 * C11 and C++, gcc and clang, default rounding, not clang's -ffp-contract=fast; link with -lm if there
 * are floats.
 */
)",
                         symbol, metered ? " It counts fuel." : "");
  return comment;
}

}  // namespace

std::string LegalSymbol(const std::string& symbol) {
  std::string name = Identifier(symbol);
  if (name.empty()) name = "program";
  return NameScope().Add(name);
}

ProgramText WriteProgram(const ir::Program& lowered, const std::string& symbol, bool metered,
                         Support& support, Support& adapter_support, SharedPrelude* shared) {
  const Plan plan = MakePlan(lowered, symbol, metered, shared != nullptr);
  const Usage usage = FindUsage(plan);
  ProgramText text;
  text.polls = usage.polls;
  std::string tables;
  for (size_t i = 0; i < lowered.data.size(); ++i) {
    const bool is_shared = shared != nullptr && lowered.data[i].name.starts_with(PreludePrefix);
    if (!usage.tables[i] || (is_shared && !shared->emitted.insert(plan.data_names[i]).second))
      continue;
    tables += TableDefinition(lowered.data[i], plan.data_names[i], support) + "\n";
  }
  Signature inner;
  const std::string functions = Functions(plan, support, shared, inner);
  text.tables_and_functions =
      tables + functions + OuterDefinition(plan, usage, inner, symbol, support);
  text.outer = OuterDeclaration(inner, symbol);
  if (IsDirect(lowered, plan.facts)) {
    text.natural = Declaration(inner, symbol);
  } else if (!usage.traps && shared == nullptr) {
    text.tables_and_functions += "\n" + NaturalDefinition(plan, inner, symbol, text.natural);
  }
  text.adapter = Adapter(plan, symbol, adapter_support);
  return text;
}

std::string WriteHeader(const ir::Program& source, const ir::Program& lowered,
                        const exec::EmitOptions& options) {
  const std::string symbol = LegalSymbol(options.symbol);
  Support support;
  Support unused;
  const ProgramText text = WriteProgram(lowered, symbol, options.metered, support, unused);
  const std::string guard = fmt::format("FRAZIL_{}_H", UpperCase(symbol));
  std::string header = HeaderComment(ir::ExactDigest(source), symbol, text, options.metered);
  header += fmt::format("#ifndef {0}\n#define {0}\n\n", guard);
  header += Prologue(support);
  header += support.Text();
  header += "struct frz_run;\n\n";
  header += text.tables_and_functions + "\n";
  header += Epilogue(support);
  return header + fmt::format("#endif /* {} */\n", guard);
}

std::string WriteSingleUnit(const std::string& header, const ir::Program& lowered,
                            const std::string& symbol) {
  // The metered form has the same signature.
  Support unused;
  Support support;
  const ProgramText text = WriteProgram(lowered, symbol, false, unused, support);
  return fmt::format("{}\n{}\n{}{}", header, support.Text(), text.adapter, EntryTable({symbol}));
}

UnitText WriteUnit(const std::vector<ir::Program>& lowered, bool metered) {
  Support support;
  SharedPrelude shared;
  std::vector<std::string> symbols;
  std::string body;
  UnitText unit;
  for (size_t i = 0; i < lowered.size(); ++i) {
    symbols.push_back(fmt::format("p{}", i));
    const ProgramText text =
        WriteProgram(lowered[i], symbols.back(), metered, support, support, &shared);
    unit.polls.push_back(text.polls);
    body += fmt::format("/* program {} */\n\n{}\n{}", i, text.tables_and_functions, text.adapter);
  }
  unit.text = Prologue(support) + support.Text() + body + EntryTable(symbols) + Epilogue(support);
  return unit;
}

}  // namespace frazil::targets::c
