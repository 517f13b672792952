// Helpers for linear memory. Frames of int<k> values and scratch of `alloc` share one stack that
// grows upwards (the global heap); releasing is setting it back. The output stream lies above it
// and is moved up when the stack needs its place: nothing points into it but two globals.
#include "targets/wasm/helper_code.h"

namespace frazil::targets::wasm {
namespace {

constexpr int64_t PageMask = 0xffff;
constexpr int64_t OutputSlack = 1 << 20;

// Makes the memory reach `end` (i64). Returns 0 from the helper where it cannot.
void GrowTo(HelperCode& f, const Expr& end) {
  Var missing = f.Let(end - f.MemoryBytes());
  f.If(GtS(missing, 0), [&] {
    Expr pages = Wrap(ShrU(missing + PageMask, 16));
    f.If(GtS(missing, int64_t{1} << 32), [&] { f.Return({Lit32(0)}); });
    f.If(Eq(f.MemoryGrow(pages), -1), [&] { f.Return({Lit32(0)}); });
  });
}

}  // namespace

// Moves the heap's end up by that many bytes, rounded to 16, and returns where it was.
void BuildReserve(HelperCode& f) {
  Var old_heap = f.Let(f.Get(GlobalVar::HeapEnd));
  f.If(GtU(f.Param(0), int64_t{1} << 32), [&] { f.Return({Lit32(0)}); });
  Var new_heap = f.Let(((ExtendU(old_heap) + f.Param(0)) + 15) & -16);
  if (f.has_output()) {
    Var output = f.Let(ExtendU(f.Get(GlobalVar::Output)));
    f.If(GtU(new_heap, output), [&] {
      Var output_end = f.Let(ExtendU(f.Get(GlobalVar::OutputEnd)));
      Var shift = f.Let(new_heap - output + OutputSlack);
      GrowTo(f, output_end + shift);
      f.Copy(Wrap(output + shift), Wrap(output), Wrap(output_end - output));
      f.Put(GlobalVar::Output, Wrap(output + shift));
      f.Put(GlobalVar::OutputEnd, Wrap(output_end + shift));
    });
  } else {
    GrowTo(f, new_heap);
  }
  f.If(GtU(new_heap, Lit64(0xffffffff)), [&] { f.Return({Lit32(0)}); });
  f.Put(GlobalVar::HeapEnd, Wrap(new_heap));
  f.Return({old_heap});
}

// Zeroed scratch of `length` elements of `size` bytes, within what the host allows.
void BuildAllocate(HelperCode& f) {
  Var length = f.Param(0);
  Var size = f.Let(ExtendU(f.Param(1)));
  f.If(LtS(length, 0), [&] { f.Return({Lit32(0)}); });
  f.If(GtU(length, DivU(f.Get(GlobalVar::ScratchLeft), size)), [&] { f.Return({Lit32(0)}); });
  Var bytes = f.Let(length * size);
  Var address = f.Let(f.Call(Helper::Reserve, {bytes}));
  f.If(Ne(address, 0), [&] {
    f.Put(GlobalVar::ScratchLeft, f.Get(GlobalVar::ScratchLeft) - bytes);
    f.Fill(address, Wrap(bytes));
  });
  f.Return({address});
}

// Room for that many bytes at the end of the output.
void BuildOutputRoom(HelperCode& f) {
  Var at = f.Let(f.Get(GlobalVar::OutputEnd));
  Var end = f.Let(ExtendU(at) + ExtendU(f.Param(0)));
  f.If(GtU(end, f.MemoryBytes()), [&] {
    // A larger step first: one growth for many values.
    Var ignored = f.Let(f.MemoryGrow(Lit32(OutputSlack >> 16)));
    GrowTo(f, end);
  });
  f.Put(GlobalVar::OutputEnd, f.Param(0) + at);
  f.Return({at});
}

}  // namespace frazil::targets::wasm
