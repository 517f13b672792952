// Descriptors and code as assembly, because only an assembler can write down the distance between two symbols, and
// distances are what needs no relocation. One section for each kernel and kind, so that a linker which collects garbage
// drops the kernels that a program does not call. Symbols are global but hidden: link-time optimization may take a file
// apart.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "aot/generate.h"
#include "aot/record.h"

namespace frazil::aot {
namespace {

constexpr size_t QuadsInLine = 8;
constexpr size_t LiteralBytes = 4000;

void AppendBytes(std::string& text, std::string_view bytes) {
  size_t i = 0;
  while (bytes.size() - i >= 8) {
    text += ".quad ";
    for (size_t k = 0; k < QuadsInLine && bytes.size() - i >= 8; ++k, i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      text += fmt::format("{}0x{:x}", k == 0 ? "" : ",", word);
    }
    text += "\n";
  }
  if (i == bytes.size()) return;
  text += ".byte ";
  for (const size_t first = i; i < bytes.size(); ++i)
    text += fmt::format("{}{}", i == first ? "" : ",",
                        static_cast<unsigned>(static_cast<uint8_t>(bytes[i])));
  text += "\n";
}

std::string Asciz(std::string_view text) {
  std::string quoted = ".asciz \"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
    quoted += plain ? std::string(1, c)
                    : fmt::format("\\{:03o}", static_cast<unsigned>(static_cast<uint8_t>(c)));
  }
  return quoted + "\"\n";
}

class KernelAssembly {
 public:
  // `number`: of the kernel, for names that occur once. The form under a guard shares the sections of the other.
  KernelAssembly(std::string_view module, size_t number, const BuiltKernel& kernel, bool programs,
                 bool is_guarded = false)
      : module_(module),
        kernel_(kernel),
        number_(number),
        programs_(programs),
        symbol_(is_guarded ? GuardedSymbol(module, kernel)
                           : DataSymbol(module, kernel.report.name)),
        section_(fmt::format("frazil.{}.{}", module, kernel.report.name)) {}

  std::string Run() {
    EmitCode();
    EmitDescriptor();
    EmitBlobs();
    std::string text = code_ + data_ + tail_ + blobs_ + Record();
    for (const BuiltKernel& each : kernel_.guarded)
      text += KernelAssembly(module_, number_ + 1, each, programs_, true).Run();
    return text;
  }

 private:
  static std::string GuardedSymbol(std::string_view module, const BuiltKernel& kernel) {
    return DataSymbol(module, kernel.report.name) + ".guarded";
  }
  std::string Label(std::string_view what) const { return fmt::format(".L{}.{}", symbol_, what); }

  void EmitCode() {
    code_ = fmt::format(".pushsection .text.{},\"ax\",@progbits\n", section_);
    for (int i = 0; i < embed::CpuLevelCount; ++i) {
      EmitForm(kernel_.plain[i], fmt::format("plain{}", i));
      EmitForm(kernel_.ranged[i], fmt::format("ranged{}", i));
    }
    EmitForm(kernel_.trips, "trips");
    code_ += ".popsection\n";
  }

  void EmitForm(const Code& code, std::string_view what) {
    if (code.empty()) return;
    code_ += fmt::format(".balign 64,0xcc\n{}:\n", Label(what));
    AppendBytes(code_, code.image().code);
  }

  void Long(uint64_t value) { data_ += fmt::format(".long {}\n", value); }
  void Rel(std::string_view label, uint64_t offset = 0) {
    data_ += offset == 0 ? fmt::format(".long {}-.\n", label)
                         : fmt::format(".long {}+{}-.\n", label, offset);
  }

  void Text(std::string_view what, std::string_view text) {
    if (text.empty()) return Long(0);
    Rel(Label(what));
    tail_ += fmt::format("{}: {}", Label(what), Asciz(text));
  }

  template <typename T, typename Row>
  void List(std::string_view what, const std::vector<T>& rows, const Row& row) {
    if (rows.empty()) {
      Long(0);
    } else {
      Rel(Label(what));
      lists_ += fmt::format("{}:\n", Label(what));
      for (const T& each : rows) row(each);
    }
    Long(rows.size());
  }

  void Pairs(std::string_view what, const std::vector<embed::PairData>& pairs) {
    List(what, pairs, [&](const embed::PairData& pair) {
      lists_ += fmt::format(".short {},{}\n", pair.first, pair.second);
    });
  }

  // Its own code, or that of the nearest level below.
  void Forms(const Code (&forms)[embed::CpuLevelCount], std::string_view what) {
    int best = -1;
    for (int i = 0; i < embed::CpuLevelCount; ++i) {
      if (!forms[i].empty()) best = i;
      if (best < 0) {
        Long(0);
      } else {
        Rel(Label(fmt::format("{}{}", what, best)), forms[best].image().entry_offset);
      }
    }
  }

  void Blob(std::string_view what, const std::string& bytes) {
    if (bytes.empty()) {
      Long(0);
    } else {
      Rel(Label(what));
    }
    Long(bytes.size());
  }

  void Params() {
    uint32_t word = 0;
    size_t i = 0;
    List("params", kernel_.params, [&](const Param& param) {
      const std::string label = Label(fmt::format("param{}", i++));
      tail_ += fmt::format("{}: {}", label, Asciz(param.name));
      lists_ += fmt::format(".long {}-.\n.byte {},{},{},{}\n.short {},0\n", label,
                            static_cast<int>(param.scalar), static_cast<int>(param.role),
                            static_cast<int>(param.access), BytesOf(param.scalar), word);
      word += WordsOf(param);
    });
  }

  void EmitDescriptor() {
    const auto uses = [](const Code(&forms)[embed::CpuLevelCount]) {
      return std::ranges::any_of(
          forms, [](const Code& code) { return !code.empty() && code.image().uses_run; });
    };
    data_ = fmt::format(
        ".pushsection .rodata.{0},\"a\",@progbits\n.balign 8\n.globl {1}\n.hidden {1}\n.type "
        "{1},@object\n{1}:\n",
        section_, symbol_);
    Long(embed::KernelDataVersion);
    Long((uses(kernel_.plain_forms()) ? embed::PlainUsesRun : 0) |
         (uses(kernel_.ranged) ? embed::RangedUsesRun : 0) |
         (kernel_.plain_is_ranged ? embed::PlainIsRanged : 0));
    Text("name", kernel_.report.name);
    Text("doc", kernel_.doc);
    Params();
    List("results", kernel_.results,
         [&](Kind kind) { lists_ += fmt::format(".byte {}\n", static_cast<int>(kind)); });
    if (!kernel_.results.empty()) lists_ += ".balign 4\n";
    Long(WordOfParam(kernel_, kernel_.params.size()));
    data_ += fmt::format(".short {},0\n", kernel_.trips_word);
    Forms(kernel_.plain_forms(), kernel_.plain_is_ranged ? "ranged" : "plain");
    Forms(kernel_.ranged, "ranged");
    if (kernel_.trips.empty()) {
      Long(0);
    } else {
      Rel(Label("trips"), kernel_.trips.image().entry_offset);
    }
    Pairs("disjoint", kernel_.disjoint);
    Pairs("at_most", kernel_.at_most);
    Pairs("covers", kernel_.covers);
    Pairs("lengths", kernel_.lengths);
    List("work", kernel_.work, [&](const embed::WorkTerm& term) {
      lists_ += fmt::format(".long {}\n.byte {}\n", term.picoseconds, fmt::join(term.factors, ","));
    });
    Blob("isa", kernel_.isa.bytes());
    Blob("ptx", kernel_.ptx_bytes());
    Blob("wasm", kernel_.wasm.bytes());
    for (size_t i = 0; i < kernel_.digest.size(); i += 2)
      data_ += fmt::format("{}0x{}", i == 0 ? ".byte " : ",", kernel_.digest.substr(i, 2));
    data_ += "\n";
    Rel(Label("record"));
    if (kernel_.guarded.empty()) {
      Long(0);
    } else {
      Rel(GuardedSymbol(module_, kernel_.guarded[0]));
    }
    Pairs("guard_apart", kernel_.guard_apart);
    Pairs("guard_cover", kernel_.guard_cover);
    Pairs("guard_least", kernel_.guard_least);
    data_ += fmt::format(".size {0},.-{0}\n", symbol_);
    data_ += lists_;
    tail_ += ".popsection\n";
  }

  void EmitBlobs() {
    for (const auto& [what, bytes] :
         {std::pair<std::string_view, const std::string*>{"isa", &kernel_.isa.bytes()},
          {"ptx", &kernel_.ptx_bytes()},
          {"wasm", &kernel_.wasm.bytes()}}) {
      if (bytes->empty()) continue;
      blobs_ += fmt::format(".pushsection .rodata.{}.{},\"a\",@progbits\n.balign 64\n{}:\n",
                            section_, what, Label(what));
      AppendBytes(blobs_, *bytes);
      // PTX is handed on as a C string.
      blobs_ += ".byte 0\n.popsection\n";
    }
  }

  // aot/record.h. One section for each kernel, all of one name: the descriptor refers to it, so that it stays exactly
  // where the kernel does.
  std::string Record() const {
    const std::vector<FormOfKernel> forms = FormsOf(kernel_);
    const std::string begin = Label("record");
    const std::string end = Label("record_end");
    std::string text = fmt::format(".pushsection {},\"a\",@progbits,unique,{}\n.balign 8\n{}:\n",
                                   RecordSection, number_, begin);
    AppendBytes(text, RecordMagic);
    text += fmt::format(".long {}\n.long {}-{}\n.long {}-.\n.long {}\n", RecordVersion, end, begin,
                        symbol_, forms.size());
    for (const FormOfKernel& form : forms) text += fmt::format(".long {}-.\n", Label(form.label));
    AppendBytes(text, PackRecord(kernel_, programs_));
    return text + fmt::format("{}:\n.balign 8\n.popsection\n", end);
  }

  std::string_view module_;
  const BuiltKernel& kernel_;
  size_t number_;
  bool programs_;
  std::string symbol_;
  std::string section_;
  std::string code_, data_, lists_, tail_, blobs_;
};

// Literals of some lines each: no compiler has a limit that they reach.
std::string AsmStatement(std::string_view assembly) {
  std::string text = "asm(\n";
  while (!assembly.empty()) {
    const size_t end =
        std::min(assembly.find('\n', std::min(LiteralBytes, assembly.size())), assembly.size());
    text += fmt::format("R\"asm({}\n)asm\"\n", assembly.substr(0, end));
    assembly.remove_prefix(std::min(end + 1, assembly.size()));
  }
  return text + ");\n";
}

}  // namespace

std::string DataSymbol(std::string_view module, std::string_view kernel) {
  return fmt::format("frazil_kernel_{}_{}", module, kernel);
}

std::string ModuleSymbol(std::string_view module) {
  return fmt::format("frazil_module_{}", module);
}

std::string DataAssembly(std::string_view module, std::span<const BuiltKernel> kernels,
                         bool programs) {
  std::string text;
  for (size_t i = 0; i < kernels.size(); ++i)
    text += AsmStatement(KernelAssembly(module, 2 * i, kernels[i], programs).Run());
  const std::string symbol = ModuleSymbol(module);
  std::string table = fmt::format(
      ".pushsection .rodata.frazil.{0},\"a\",@progbits\n.balign 8\n.globl {1}\n.hidden {1}\n.type "
      "{1},@object\n{1}:\n"
      ".long {2}\n.long {3}\n.long .L{1}.name-.\n.long .L{1}.kernels-.\n.size "
      "{1},.-{1}\n.L{1}.kernels:\n",
      module, symbol, embed::KernelDataVersion, kernels.size());
  for (const BuiltKernel& kernel : kernels)
    table += fmt::format(".long {}-.\n", DataSymbol(module, kernel.report.name));
  table += fmt::format(".L{}.name: {}.popsection\n", symbol, Asciz(module));
  return text + AsmStatement(table);
}

}  // namespace frazil::aot
