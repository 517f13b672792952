// A call on which a mutant answers wrongly, as one line of text:
//
//   add_f32 avx512 tuned : 17 mixed(17,3)@end plain(17,4) same(1)
//   add_f32 wasm : 17 plain(17,4) plain(17,4) same(1)
//
// the program, the level, the form (tuned or first) or `wasm` in place of both, perhaps fuel=N (metered code) or memory=N, and behind the colon the
// arguments. A scalar is a number or its words in hexadecimal (0x7fc00000, joined by `:` where it has several). A buffer
// is recipe(length,seed), a tensor recipe(2x3,seed):
//   plain   numbers of all sizes      mixed   zeros, subnormals, infinities, NaNs with payloads, least and greatest too
//   zeros   nothing but zeros         mod7    integers from 0 to 6
//   ones    nothing but ones          small   whole numbers from -4 to 4
//   nans    nothing but NaNs          signs   zeros of both signs (integers: the top bit, or nothing)
//   wide    integers of all lengths
// @8: 8 bytes behind a line of the cache; @end: its last byte is the last one of a page, and nothing is mapped behind.
// !5=0x7fc00001 sets element 5. same(1) is the memory of argument 1.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/native/native_code.h"
#include "exec/outcome.h"
#include "ir/program.h"

namespace frazil::mutants {

struct Recipe {
  std::vector<uint64_t> words;  // a scalar, if not empty
  int same = -1;                // the memory of that argument
  std::string fill;
  std::vector<int64_t> dims;  // of a buffer: its length
  uint64_t seed = 0;
  int offset = 0;  // bytes behind a line; AtEnd: of a page
  std::vector<std::pair<int64_t, uint64_t>> set;

  static constexpr int AtEnd = -1;
  int64_t length() const;
};

// What the emitter is asked for.
struct Form {
  std::string program;
  exec::CpuLevel level = exec::CpuLevel::Avx512;
  bool tuned = true;
  bool is_wasm = false;          // a module in place of machine code: without a level
  std::optional<uint64_t> fuel;  // present: metered
  std::string Print() const;     // without the fuel: forms that are equal have equal code
  bool metered() const { return fuel.has_value(); }
  bool CanRunHere() const { return is_wasm || level <= exec::HostLevel(); }
};

struct Witness {
  Form form;
  std::optional<uint64_t> memory;
  std::vector<Recipe> arguments;
};

Result<Witness> ParseWitness(const std::string& text);
std::string PrintWitness(const Witness& witness);

// Memory between pages that are not mapped, with canaries where it does not touch them.
class Room {
 public:
  Room(ir::Type element, int64_t length, int offset);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  const std::shared_ptr<exec::Memory>& memory() const { return memory_; }
  bool intact() const;

 private:
  unsigned char* pages_ = nullptr;
  size_t page_bytes_ = 0;  // mapped, without the two that are not
  unsigned char* start_ = nullptr;
  std::shared_ptr<exec::Memory> memory_;
};

struct Arguments {
  std::vector<exec::Value> values;
  std::vector<std::unique_ptr<Room>> rooms;
  bool intact() const;
};

Result<Arguments> MakeArguments(const ir::Program& program, const Witness& witness);
exec::RunContext ContextOf(const Witness& witness);

}  // namespace frazil::mutants
