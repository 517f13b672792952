// Writes docs/ir.md from ops.def and, asked for `isa`, docs/isa.md from instructions.def, so that the manuals cannot lag
// behind the tables. The tests docs.manual and docs.isa compare the files in the tree with what this prints.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "ir/check/attributes.h"
#include "ir/op.h"
#include "ir/program.h"
#include "isa.h"
#include "machines/tasm/manual.h"
#include "tir.h"

namespace frazil {
namespace {

using namespace ir;

std::string TypesOf(const OpInfo& info) {
  struct Family {
    ScalarSet set;
    const char* name;
  };
  constexpr Family Families[] = {
      {sets::Any, "any"},       {sets::Fixed, "integers"}, {sets::SInt, "signed"},
      {sets::UInt, "unsigned"}, {sets::BigInt, "int<k>"},  {sets::Float, "floats"},
      {sets::Wide, "f32 f64"},  {sets::Half, "f16 bf16"},  {sets::Fields, "field xfield"},
      {sets::Bool, "bool"}};
  ScalarSet rest = info.types;
  std::string text;
  for (const Family& family : Families) {
    if (rest == 0 || (rest & family.set) != family.set) continue;
    text += (text.empty() ? "" : ", ") + std::string(family.name);
    rest &= ~family.set;
  }
  for (int i = 0; i < ScalarCount; ++i)
    if (Contains(rest, static_cast<Scalar>(i)))
      text += (text.empty() ? "" : ", ") + std::string(ScalarName(static_cast<Scalar>(i)));
  return text.empty() ? "-" : text;
}

std::string TrapsOf(const OpInfo& info) {
  std::string text;
  for (int i = 0; i < TrapCount; ++i)
    if (info.traps & Only(static_cast<Trap>(i)))
      text += (text.empty() ? "" : ", ") + std::string(TrapName(static_cast<Trap>(i)));
  return text.empty() ? "-" : text;
}

const char* EffectName(Effect effect) {
  constexpr const char* Names[] = {"pure", "reads", "writes", "streams", "control"};
  return Names[static_cast<int>(effect)];
}

std::string AttributesText(const OpInfo& info) {
  std::string text;
  for (const AttributeSpec& spec : AttributesOf(info.op)) {
    if (spec.kind == AttributeKind::Value) continue;
    text += (text.empty() ? "" : ", ") + std::string(spec.name);
    if (!spec.choices.empty()) text += fmt::format(" ({})", fmt::join(spec.choices, ", "));
  }
  return text.empty() ? "-" : text;
}

// A bar would end the table's cell.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

void PrintOps() {
  fmt::print(
      "## Operations\n\n{} rows. T is the type written after `:`; B is bool, X index, F field, S "
      "any "
      "scalar, M and N a buffer of T that is read and written.\n\n",
      OpCount);
  fmt::print(
      "| op | signature | T | effect | traps | attributes | law | meaning |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (const OpInfo& info : AllOps()) {
    constexpr const char* Laws[] = {"-", "commutes", "prelude"};
    std::string signature =
        info.signature == "custom" ? "see frz.md" : fmt::format("`{}`", info.signature);
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", info.mnemonic, signature,
               TypesOf(info), EffectName(info.effect), TrapsOf(info), AttributesText(info),
               Laws[static_cast<int>(info.law)], Cell(info.meaning));
  }
}

void PrintLimits() {
  fmt::print("\n## Limits\n\n| flag | default | what |\n|---|---|---|\n");
#define FRAZIL_LIMIT(name, default_value, flag, what) \
  fmt::print("| `{}` | {} | {} |\n", flag, static_cast<uint64_t>(default_value), what);
#include "base/limits.def"
#undef FRAZIL_LIMIT
}

void PrintDiagnostics() {
  fmt::print(
      "\n## Diagnostics\n\nIds are stable. The class decides the exit code of `frazil`.\n\n"
      "| id | class | exit | what |\n|---|---|---|---|\n");
#define FRAZIL_DIAG(name, id, error_class, title)                                                       \
  fmt::print("| {} | {} | {} | {} |\n", id, ErrorClassName(ErrorClass::error_class), \
             ExitCodeOf(ErrorClass::error_class), title);
#include "base/diagnostics.def"
#undef FRAZIL_DIAG
}

}  // namespace
}  // namespace frazil

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "isa") {
    fmt::print("{}", frazil::IsaManual());
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "tasm") {
    fmt::print(
        "# Triton VM assembly and TIR\n\n<!-- Made by tools/manual from "
        "src/machines/tasm/instructions.def and "
        "src/machines/tir/ops.def; do not edit. -->\n\nThe stack grows to the right; `_` is what "
        "lies below. Every executed "
        "instruction is one row of the processor and one of the jump stack table. What a proof "
        "costs is the highest of nine "
        "tables, padded to a power of two (`frazil tri build FILE --explain-cliff`); code counts "
        "too: ten words of program are "
        "six rows of the hash table and some sixty of the cascade table.\n\nA program has "
        "one lowering, a function of its source, options and compiler: `frazil tri run`, "
        "`profile`, `prove` and "
        "`verify-proof` take that one, whatever a store holds ([decision "
        "17](decisions/0017-one-gate.md)).\n\n{}{}",
        frazil::machines::tasm::ManualText(), frazil::TirManual());
    return 0;
  }
  fmt::print(
      "# The IR, version {}\n\n<!-- Made by tools/manual from src/ir/ops.def; do not edit. -->\n\n"
      "The text form is in [frz.md](frz.md), the meaning in [semantics.md](semantics.md), the math "
      "functions and their measured accuracy in [prelude.md](prelude.md).\n\n",
      frazil::ir::IrVersion);
  frazil::PrintOps();
  frazil::PrintLimits();
  frazil::PrintDiagnostics();
  return 0;
}
