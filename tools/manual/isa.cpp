// docs/isa.md: what the machine is, in words, and its instructions from the table.
#include "isa.h"

#include <fmt/format.h>

#include "machines/simt/frzb.h"
#include "machines/simt/text.h"

namespace frazil {
namespace {

constexpr const char* Head = R"(# The SIMT machine

<!-- Made by tools/manual from src/machines/simt/instructions.def; do not edit. -->

A small portable machine for kernels. Programs of the IR lower to it one op to one instruction and lift back, so a lowering
is proved by comparing two digests. The meaning of an op is that of [semantics.md](semantics.md), bit for bit.

**State of a lane.** Registers r0-r255, each holding one value of a type known statically; predicates p0-p15; buffers
b0-b255, parameters first, then scratch. r252-r255 are read-only (lane.x, block.x, blockdim.x as u32, number of the lane in
the whole launch as u64) and exist in launch mode.
**Types.** i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, idx (a 64-bit signed index), pred (a truth value; one byte in memory).
f16 and bf16 compute in f32 and round once.

**Program mode.** One lane runs from the top; `par` opens lanes, in ascending order. **Launch mode** (`.launch`): the code is
what every lane of grid x block runs, blocks and lanes ascending, x fastest; `lds`/`sts` reach the block's shared bytes (`kernel run --shared BYTES`; 0 if nothing is said).

**Structures** are `if/else/end`, `for/end`, `while/breakunless/end`, `switch/case/default/end`, `par/end`. A register that is
written inside of a structure holds nothing after it, unless it is carried: `carry.T r` right behind the opener. A carried
register has a value before a loop, at the end of every part, and after it. In the body of a loop a register that the body
writes and that is not carried holds nothing at the top. Launch mode code may use labels instead: `bra`, `call`, `ret`,
`loop`, not both.

**Addresses.** `[b0 + r1*4]` element r1 of a buffer of this type; `[b0 + r1 + 16]`, `[b0 + 16]` bytes; `[r1 + r2]`, `[r1 + 16]`
bytes behind a handle (a buffer's number, or one of `poolalloc`); `[Φ(class, page, byte)]` a byte of the context's arena of
96 x 48 x 256 bytes. Everything is checked; outside is the trap "out of bounds". Bytes may be unaligned; a pred is only
reached as pred.

**Lanes together** (`bar.sync`, `shfl`, `vote`, `ballot`, `lane.*`): every lane of the `par` or block must come to the same one.
In structures the verifier demands it; behind labels a lane that does not come is the trap "unreachable". An `if` or `for` around
one is a boundary of phases itself, as in the IR.

**Guards.** `@p0 add.f32 ..`, `@!p0 ..`: nothing happens unless the predicate (does not) hold. `bra.p0 @label` is the same for jumps.
**Sources.** `alloc.T b, r, iota`, `assert p, reshape`, `ldg.T r, [b0 + r1*4], extract`: lowering wrote this for a tensor op; a trap
names that op.
**Immediates.** The last operand of two-operand arithmetic and of comparisons may be `#5`. `mov.T r, #v` is `mov_imm.T r, v`.
**Conditions** of `set`: eq ne lt le gt ge; ltu leu gtu geu read integers as unsigned; nlt nle ngt nge are their negations on
floats, true for NaN; ord, uno. `setcc.T p, a, b, lt` is accepted too.

## Text

One instruction a line or between `;`, `//` begins a comment, `name:` or `@name:` is a label. Directives: `.kernel name`, `.launch`,
`.param [[in|out] buffer] type name [role [buffers]]`, `.scratch type`, `.result type`, `.table type name values..`, `.class n`,
`.loc line column` (or `.loc none`). Words are accepted in upper case. What the printer writes is assembled to the same bytes.

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
of everything but itself), then names, params, buffers, results, code (16 bytes an instruction: op, type, aux, guard, dst, a, b,
c, imm u64), tables, their words, extents, lines; each section at a multiple of 8, padding 0. There is one way to write a module.
It is verified once when it is loaded and then used where it lies.
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
