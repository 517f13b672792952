// Helpers for linear memory. Frames of int<k> values and scratch of `alloc` share one stack that
// grows upwards (the global heap); releasing is setting it back. The output stream lies above it
// and is moved up when the stack needs its place: nothing points into it but two globals.
#include "targets/wasm/helpers/helper_code.h"

namespace frazil::targets::wasm {
namespace {

constexpr int64_t PageMask = 0xffff;
constexpr int64_t OutputSlack = 1 << 20;

// More than there can be.
constexpr uint64_t TooMuch = uint64_t{1} << 33;
constexpr int64_t AllPages = 65536;

// Makes the memory reach `end` (i64); `fits` becomes 0 where it cannot. Whoever runs short says so by a value: a way of its
// own would be code that no sample runs.
void GrowTo(HelperCode& f, const Expr& end, const Var& fits) {
  Var missing = f.Let(end - f.MemoryBytes());
  f.If(GtS(missing, 0), [&] {
    Expr is_too_much = GtS(missing, int64_t{1} << 32);
    Expr pages = Choose(is_too_much, Lit64(AllPages), ShrU(missing + PageMask, 16));
    f.Set(fits, Ne(f.MemoryGrow(Wrap(pages)), -1));
  });
}

}  // namespace

// Moves the heap's end up by that many bytes, rounded to 16, and returns where it was.
void BuildReserve(HelperCode& f) {
  Var old_heap = f.Let(f.Get(GlobalVar::HeapEnd));
  Var fits = f.Let(Lit32(1));
  Expr bytes = Choose(GtU(f.Param(0), int64_t{1} << 32), Lit64(TooMuch), f.Param(0));
  Var new_heap = f.Let(((ExtendU(old_heap) + bytes) + 15) & -16);
  if (f.has_output()) {
    Var output = f.Let(ExtendU(f.Get(GlobalVar::Output)));
    f.If(GtU(new_heap, output), [&] {
      Var output_end = f.Let(ExtendU(f.Get(GlobalVar::OutputEnd)));
      Var shift = f.Let(new_heap - output + OutputSlack);
      GrowTo(f, output_end + shift, fits);
      f.If(fits, [&] {
        f.Copy(Wrap(output + shift), Wrap(output), Wrap(output_end - output));
        f.Put(GlobalVar::Output, Wrap(output + shift));
        f.Put(GlobalVar::OutputEnd, Wrap(output_end + shift));
      });
    });
  } else {
    GrowTo(f, new_heap, fits);
  }
  f.Set(fits, fits & LtU(new_heap, int64_t{1} << 32));
  f.Put(GlobalVar::HeapEnd, Choose(fits, Wrap(new_heap), old_heap));
  f.Return({Choose(fits, old_heap, Lit32(0))});
}

// Zeroed scratch of `length` elements of `size` bytes, within what the host allows.
void BuildAllocate(HelperCode& f) {
  Var length = f.Param(0);
  Var size = f.Let(ExtendU(f.Param(1)));
  Expr is_too_long = LtS(length, 0) | GtU(length, DivU(f.Get(GlobalVar::ScratchLeft), size));
  Var bytes = f.Let(Choose(is_too_long, Lit64(TooMuch), length * size));
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
  Var fits = f.Let(Lit32(1));
  f.If(GtU(end, f.MemoryBytes()), [&] {
    // A larger step first: one growth for many values.
    Var ignored = f.Let(f.MemoryGrow(Lit32(OutputSlack >> 16)));
    Var missing = f.Let(Choose(GtU(end, f.MemoryBytes()), end - f.MemoryBytes(), Lit64(0)));
    f.Set(fits, Ne(f.MemoryGrow(Wrap(ShrU(missing + PageMask, 16))), -1));
  });
  f.Put(GlobalVar::OutputEnd, Choose(fits, f.Param(0) + at, at));
  f.Return({Choose(fits, at, Lit32(0))});
}

}  // namespace frazil::targets::wasm
