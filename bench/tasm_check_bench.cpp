// The checker of Triton VM code: a block of 32 instructions against its rewriting, and a program of a thousand.
#include <fmt/format.h>

#include "base/check.h"
#include "harness.h"
#include "verify/tasm/tasm.h"

namespace frazil::bench {
namespace {

using namespace verify::tasm;

mt::Program Read(const std::string& text) {
  auto program = mt::Parse(text);
  CHECK(program.has_value());
  return std::move(*program);
}

// Arithmetic, words, memory and shuffles; the candidate has its operands in another order and its constants joined.
constexpr const char* Block =
    "dup 1 dup 1 add dup 0 mul push 3 push 4 add mul swap 1 split pop_count swap 1 pop 1 swap 2 "
    "push 5 mul push 7 mul "
    "push 100 write_mem 1 pop 1 push 100 read_mem 1 pop 1 add dup 2 swap 1 add swap 1 swap 1 addi "
    "2 addi 3 nop dup 0 pop 1";
constexpr const char* BlockAgain =
    "dup 1 dup 1 add dup 0 mul push 7 mul swap 1 split pop_count swap 1 pop 1 swap 2 push 35 mul "
    "dup 0 push 100 write_mem 1 pop 1 add dup 2 add addi 5";

double Time(const mt::Program& source, const mt::Program& candidate, bool fragments, int rounds) {
  Options options;
  options.fragments = fragments;
  const auto times = Interleave({[&] {
                                  const verify::Verdict verdict =
                                      Compare(source, candidate, options);
                                  CHECK(std::holds_alternative<verify::Proved>(verdict));
                                }},
                                rounds);
  return times[0].min_s;
}

FRAZIL_FIGURE(tasm_check_block) {
  const double seconds = Time(Read(Block), Read(BlockAgain), true, 50);
  Report({"field", "checker: a block of 32 instructions", seconds * 1e3, "ms", "", 0, "<= 1 ms",
          seconds <= 1e-3});
}

// Thirty functions' worth of the block's kind, reading, checking ranges, storing and writing.
FRAZIL_FIGURE(tasm_check_program) {
  std::string source, candidate;
  for (int i = 0; i < 40; ++i) {
    source += fmt::format(
        "read_io 2 dup 1 dup 1 lt assert swap 1 push {0} add dup 0 mul split swap 1 pop 1 push {1} "
        "write_mem 1 pop 1 "
        "push {1} read_mem 1 pop 1 push 3 push 5 mul mul dup 0 write_io 1 add write_io 1 ",
        i + 1, 1000 + i);
    candidate += fmt::format(
        "read_io 2 dup 1 dup 1 lt assert swap 1 addi {0} dup 0 mul split swap 1 pop 1 dup 0 push "
        "{1} write_mem 1 pop 1 "
        "push 15 mul dup 0 write_io 1 add write_io 1 nop swap 0 ",
        i + 1, 1000 + i);
  }
  const mt::Program a = Read(source + "halt"), b = Read(candidate + "halt");
  const double seconds = Time(a, b, false, 5);
  Report({"field", fmt::format("checker: a program of {} instructions", a.code.size()), seconds,
          "s", "", 0, "<= 1 s", seconds <= 1.0});
}

}  // namespace
}  // namespace frazil::bench
