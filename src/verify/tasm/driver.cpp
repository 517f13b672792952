#include "verify/tasm/driver.h"

#include <algorithm>

#include "verify/tasm/runs/claim.h"

namespace frazil::verify::tasm {
namespace {

using mt::Opcode;
using Numbers = std::vector<uint64_t>;

// So many words can be reached on the stack.
constexpr size_t Reach = 16;
// Where more than these are kept meanwhile: beyond whatever a function may use.
constexpr uint64_t Room = uint64_t{1} << 63;
// What lies below is told from everything a function might leave there.
constexpr uint64_t Below = 0x5eed'0000;

class Driver {
 public:
  void Put(Opcode op, uint64_t argument = 0) { code.push_back({op, argument, -1, {}}); }

  void Read(ir::Type type) {
    const uint64_t end = EndOf(type);
    for (size_t i = 0; i < WordCount(type); ++i) {
      Put(Opcode::ReadIo, 1);
      if (end != 0) Check(end);
    }
  }

  // Words by number, top last, as they lie and as they shall.
  void Arrange(Numbers words, const Numbers& wanted) {
    if (words == wanted) return;
    if (words.size() > Reach) {
      for (size_t i = words.size(); i-- > 0;) {
        Put(Opcode::Push, Room + words[i]);
        Put(Opcode::WriteMem, 1);
        Put(Opcode::Pop, 1);
      }
      for (const uint64_t number : wanted) {
        Put(Opcode::Push, Room + number);
        Put(Opcode::ReadMem, 1);
        Put(Opcode::Pop, 1);
      }
      return;
    }
    for (const uint64_t number : wanted) {
      const auto at = std::ranges::find(words, number);
      Put(Opcode::Pick, static_cast<uint64_t>(words.end() - at) - 1);
      std::rotate(at, at + 1, words.end());
    }
  }

  std::vector<mt::Instruction> code;

 private:
  void Check(uint64_t end) {
    if (end == uint64_t{1} << 32) {
      Put(Opcode::Dup, 0);
      Put(Opcode::Split);
      Put(Opcode::Pop, 1);
      Put(Opcode::Push, 0);
      Put(Opcode::Eq);
    } else {
      Put(Opcode::Push, end);
      Put(Opcode::Dup, 1);
      Put(Opcode::Lt);
    }
    Put(Opcode::Assert);
  }
};

Numbers Range(uint64_t first, uint64_t count) {
  Numbers numbers(count);
  for (uint64_t i = 0; i < count; ++i) numbers[i] = first + i;
  return numbers;
}

Numbers Reversed(Numbers numbers) {
  std::ranges::reverse(numbers);
  return numbers;
}

}  // namespace

Result<mt::Program> WithDriver(const ir::Program& program, const mt::Program& function,
                               bool first_on_top) {
  // It would end the program in place of its caller, who has something left to do.
  if (std::ranges::any_of(function.code, [](const auto& i) { return i.op == Opcode::Halt; }))
    return Fail(Diag::Unsupported, "a function that halts does not return");
  const ir::Function& entry = program.entry_function();
  const std::optional<uint32_t> ram = Claim(program).ram();
  Driver driver;
  for (uint64_t i = 0; i < Reach; ++i) driver.Put(Opcode::Push, Below + i);
  uint64_t read = 0;
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (ram == i) continue;
    const ir::Type type = entry.param_type(i);
    const size_t count = WordCount(type);
    if (!type.is_scalar() || count == 0)
      return Fail(Diag::Unsupported, "an argument is none that lies on the stack");
    driver.Read(type);
    const Numbers words = Range(read, count);
    if (!first_on_top) driver.Arrange(words, Reversed(words));
    read += count;
  }
  if (first_on_top) driver.Arrange(Range(0, read), Reversed(Range(0, read)));
  const size_t call = driver.code.size();
  driver.Put(Opcode::Call);
  Numbers results;
  uint64_t written = 0;
  for (const ir::Type type : entry.results) {
    const Numbers words = Reversed(Range(written, WordCount(type)));
    if (!type.is_scalar() || words.empty())
      return Fail(Diag::Unsupported, "a result is none that lies on the stack");
    results.insert(first_on_top ? results.begin() : results.end(), words.begin(), words.end());
    written += words.size();
  }
  driver.Arrange(results, Reversed(Range(0, written)));
  for (uint64_t i = 0; i < written; ++i) driver.Put(Opcode::WriteIo, 1);
  for (uint64_t i = Reach; i-- > 0;) {
    driver.Put(Opcode::Push, Below + i);
    driver.Put(Opcode::Eq);
    driver.Put(Opcode::Assert);
  }
  driver.Put(Opcode::Halt);
  const auto offset = static_cast<uint32_t>(driver.code.size());
  driver.code[call].argument = offset;
  mt::Program whole;
  whole.profile = function.profile;
  whole.code = std::move(driver.code);
  for (mt::Instruction instruction : function.code) {
    if (instruction.op == Opcode::Call) instruction.argument += offset;
    whole.code.push_back(instruction);
  }
  for (mt::Label label : function.labels) {
    label.instruction += offset;
    whole.labels.push_back(std::move(label));
  }
  return whole;
}

}  // namespace frazil::verify::tasm
