// docs/isa.md: what the machine is, in words, and its instructions from the table.
#include "isa.h"

#include <fmt/format.h>

#include "machines/simt/frzb.h"
#include "machines/simt/text.h"

namespace frazil {
namespace {

constexpr const char* Head = R"(# The SIMT machine

<!-- Made by tools/manual from src/machines/simt/instructions.def; do not edit. -->

This is a small portable machine for kernels. Programs are lowered to it one op to one instruction and can be lifted back, so
that comparing two digests proves a lowering. Ops mean what [semantics.md](semantics.md) says, bit for bit.

**State of a lane.** A lane has registers r0-r255, each holding one value of a statically known type, predicates p0-p15, and buffers
b0-b255, parameters first, then scratch. r252-r255 are read-only (lane.x, block.x and blockdim.x as u32, and the number of the lane in
the whole launch as u64); they exist in launch mode.
**Types.** i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, idx (a 64-bit signed index), pred (a truth value; one byte in memory).
f16 and bf16 compute in f32 and round once.

**Program mode.** One lane runs from the top; `par` opens lanes, in ascending order. **Launch mode** (`.launch`): the code is
what every lane of grid x block runs, in ascending order of blocks and lanes, x fastest; `lds`/`sts` access the block's shared bytes (`kernel run --shared BYTES`, 0 by default).

**Structures** are `if/else/end`, `for/end`, `while/breakunless/end`, `switch/case/default/end`, `par/end`. A register that is
written inside a structure is undefined after it, unless it is carried: `carry.T r` immediately after the opener. A carried
register has a value before a loop, at the end of every part, and after it. A register that the body of a loop writes and that
is not carried is undefined at the top of the body. Launch-mode code may use labels (`bra`, `call`, `ret`, `loop`) instead, but
not both.

**Addresses.** `[b0 + r1*4]` is element r1 of a buffer of this type; `[b0 + r1 + 16]` and `[b0 + 16]` are byte offsets; `[r1 + r2]` and
`[r1 + 16]` are bytes behind a handle (the number of a buffer, or a handle from `poolalloc`); `[Φ(class, page, byte)]` is a byte of the context's
arena of 96 x 48 x 256 bytes. Every access is checked and traps "out of bounds" if it is outside. Byte addresses may be unaligned; a pred can
only be accessed as a pred.

**Lanes together** (`bar.sync`, `shfl`, `vote`, `ballot`, `lane.*`): every lane of the `par` or block must reach the same instruction.
In structures the verifier requires this; with labels, a lane that does not arrive traps "unreachable". An `if` or `for` around
such an instruction is itself a boundary between phases, as in the IR.

**Guards.** `@p0 add.f32 ..` executes only if the predicate holds, `@!p0 ..` only if it does not. `bra.p0 @label` is the same for jumps.
**Sources.** `alloc.T b, r, iota`, `assert p, reshape`, `ldg.T r, [b0 + r1*4], extract`: the lowering wrote this for a tensor op, and a trap
names that op.
**Immediates.** The last operand of two-operand arithmetic and of comparisons may be `#5`. `mov.T r, #v` is `mov_imm.T r, v`.
**Conditions** of `set`: eq ne lt le gt ge; ltu leu gtu geu treat integers as unsigned; nlt nle ngt nge are the negations for
floats, true for NaN; ord, uno. `setcc.T p, a, b, lt` is also accepted.

## Text

Write one instruction per line, or separate instructions with `;`. `//` begins a comment, and `name:` or `@name:` is a label. Directives: `.kernel name`, `.launch`,
`.param [[in|out] buffer] type name [role [buffers]]`, `.scratch type`, `.result type`, `.table type name values..`, `.class n`,
`.loc line column` (or `.loc none`). Upper case is accepted. Assembling what the printer writes gives the same bytes.

```
.kernel saxpy
.param f32 a
.param in buffer f32 x
.param buffer f32 y
.param u32 n extent 1 2
  ldp.f32 r0, a
  ldp.u32 r1, n
  cvt.idx.u32 r2, r1
  mov_imm.idx r3, 0
  par r4, r3, r2
    ldg.f32 r5, [x + r4*4]
    mul.f32 r5, r0, r5
    ldg.f32 r6, [y + r4*4]
    add.f32 r5, r5, r6
    stg.f32 [y + r4*4], r5
  end
  exit
```

)";

constexpr const char* File = R"(
## The file

`.frzb`, little-endian, version {}: a header of {} bytes (magic FRZB, version, feature bits, mode, size, section table, SHA-256
of everything but itself), then names, params, buffers, results, code (16 bytes per instruction: op, type, aux, guard, dst, a, b,
c, imm u64), tables, their words, extents and lines. Each section starts at a multiple of 8; padding is 0. There is exactly one
way to write a module. It is verified once, when it is loaded, and then used in place.
)";

}  // namespace

std::string IsaManual() {
  std::string text = Head;
  text += "## Instructions\n\n" + machines::simt::InstructionTable();
  text += fmt::format(fmt::runtime(File), machines::simt::FormatVersion,
                      sizeof(machines::simt::FileHeader));
  return text;
}

}  // namespace frazil
