// The target tasm: IR programs as Triton VM programs.
//
// IR -> words (every value as field words, ops as the machine's instructions) -> stack schedule -> TIR -> assembly.
//
// What a program's claim says: the entry's parameters are read from the public input, first to last, then its
// input stream; its output stream, then its results are written to the public output. A value's words: field, bool and
// integers of up to 32 bits one (two's complement bits, zero-extended), 64-bit integers and index two (low first), int<k>
// 2k, xfield 3 (coefficient 0 first), digest 5 (element 0 first). The program crashes where it reads a word that is none of
// its type, of a parameter, of the input or of a hint. A buffer parameter is its length, then its elements, copied to
// RAM; buffers that are written come back as output after the results. The parameter named `ram`, a buffer<field>, is the
// machine's own RAM from address 0: nothing is copied, what was not written is the prover's. In a program that needs RAM
// for values of its own too (scratch, other buffers, words that do not fit on the stack), addresses must be below 2^32: a
// larger one traps as out of bounds, a larger constant is refused (select.h). Other programs may use any address.
// Hints: values of type digest are the secret digests that merkle.step reads, all others the secret tokens.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/target.h"
#include "machines/tasm/vm.h"
#include "machines/tir/tir.h"

namespace frazil::targets::tasm {

namespace mt = machines::tasm;
namespace tir = machines::tir;

struct TasmOptions {
  mt::Profile profile = mt::Profile::Dot;
  bool peephole = true;
  // Not a program but a function that other assembly calls: its label first, its `return`, then what it calls. Arguments
  // are on the stack in order, the last one's on top, each with its first word on top, as hash leaves a digest;
  // results likewise; what lies below is not touched. Integers must be in the range of their type: the caller's part.
  bool callable = false;
  bool first_on_top =
      false;  // of a callable function: the first argument and the first result lie on top
  // What the program usually reads: where two ways to write it are possible, its heights on these decide, or what holds for
  // every input where there are none. Never the input of one run: the program and its digest must not depend on it.
  std::vector<mt::Inputs> typical = {};
  Limits limits = {};  // program_insts: instructions that are lowered, with all that is written out
};

// Where a crash of the program is a trap of the IR.
struct TrapSite {
  ir::Trap kind;
  ir::Op op;
  // Inside of a parallel: where the limbs of the outermost one's iteration lie, from the bottom of the program's own
  // stack, lowest limb first; a limb that is 0 has no place.
  std::vector<uint32_t> iteration = {};
  static constexpr uint32_t Nowhere = UINT32_MAX;
};

struct Lowered {
  tir::Program tir;
  mt::Program program;
  std::map<uint32_t, TrapSite> traps;  // by instruction of `program`
};

// IR -> TIR: the stack schedule. Prelude math and tensors are expanded inside.
Result<tir::Program> LowerToTir(const ir::Program& program, const TasmOptions& options = {});
// TIR -> assembly: labels, branches, loops. Also for TIR that a user wrote.
Result<mt::Program> LowerTir(const tir::Program& program, const TasmOptions& options = {});
// Both.
Result<Lowered> Lower(const ir::Program& program, const TasmOptions& options = {});

// The machine's inputs for a call, and the outcome that its output means.
Result<mt::Inputs> ToInputs(const ir::Program& program, std::span<const exec::Value> arguments,
                            const exec::RunContext& context);
Result<exec::Outcome> ToOutcome(const ir::Program& program, const Lowered& lowered,
                                const mt::RunResult& run, std::span<const exec::Value> arguments);

std::unique_ptr<exec::Target> MakeTarget(const TasmOptions& options = {});

}  // namespace frazil::targets::tasm
