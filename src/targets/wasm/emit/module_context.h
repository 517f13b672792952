// What all functions of one module share: helpers and globals, each made when first asked for. A
// program that needs none of them gets none.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "targets/wasm/module/module_writer.h"

namespace frazil::targets::wasm {

// Functions of the emitted module that the program does not name, listed in helpers.def.
enum class Helper : uint8_t {
#define FRAZIL_WASM_HELPER(name, text, params, results) name,
#include "targets/wasm/helpers/helpers.def"
#undef FRAZIL_WASM_HELPER
};
constexpr int HelperCount = 0
#define FRAZIL_WASM_HELPER(...) +1
#include "targets/wasm/helpers/helpers.def"
#undef FRAZIL_WASM_HELPER
    ;

// Not -1: a parallel may count below 0, and a nested one must see that it is inside.
constexpr int64_t NoParallel = INT64_MIN;

// Globals that the host reads or sets, exported under their names, and what a run counts in: the entry begins with what the
// host has set, so that a call that ends in a trap takes nothing from the next.
enum class GlobalVar : uint8_t {
  Trap,       // 0, or what trapped: 1 + kind, plus op << 8
  TrapIndex,  // the iteration of the outermost parallel, -1 outside
  Parallel,   // the same while running, where calls happen inside a parallel; outside: NoParallel
  Fuel,       // what is left, unsigned
  Depth,      // how many calls may nest, unsigned
  Scratch,    // bytes that alloc may take, unsigned
  DepthLeft,
  ScratchLeft,
  Heap,   // the first free byte: frames and scratch grow upwards from here
  Input,  // the input stream: next byte and end
  InputEnd,
  Hint,  // the hint stream likewise
  HintEnd,
  // The output stream: first byte and end. It lies above the heap and moves up as that grows.
  Output,
  OutputEnd,
  HeapEnd,
};
constexpr int GlobalCount = 16;
std::string_view GlobalName(GlobalVar global);  // empty: it is not exported
ValType GlobalType(GlobalVar global);

class ModuleContext {
 public:
  ModuleContext() {
    helper_index_.fill(None);
    global_index_.fill(None);
  }
  ModuleWriter& writer() { return writer_; }
  uint32_t Use(Helper helper);
  uint32_t Use(GlobalVar global);
  bool uses(GlobalVar global) const { return global_index_[static_cast<size_t>(global)] != None; }
  // Writes the bodies of all helpers that were asked for since the last time, and of those that they ask for.
  void BuildHelpers();

 private:
  static constexpr uint32_t None = UINT32_MAX;
  ModuleWriter writer_;
  std::array<uint32_t, HelperCount> helper_index_;
  std::array<uint32_t, GlobalCount> global_index_;
  std::vector<Helper> asked_;
  size_t built_ = 0;  // of them
};

}  // namespace frazil::targets::wasm
