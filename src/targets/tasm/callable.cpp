// The driver around a function that assembly calls. It pays no heed to its own cost: it is for judging and running the
// function, whose interface must be the same whoever calls it.
#include <algorithm>

#include "targets/tasm/tasm.h"
#include "targets/tasm/words/select.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

using ir::Scalar;
using mt::Opcode;

namespace {

// Beyond what the compiler uses: words that are too many to be reached on the stack.
constexpr uint64_t WordBase = uint64_t{1} << 63;
constexpr uint32_t Reach = 16;

class Driver {
 public:
  // First word first in the input, on top of the stack afterwards.
  bool Read(ir::Type type) {
    const uint32_t words = WordsOnMachine(type);
    if (words > Reach) return false;
    const bool field = type.scalar == Scalar::Field || type.scalar == Scalar::XField ||
                       type.scalar == Scalar::Digest;
    int bits = 64;
    if (type.scalar == Scalar::Bool) bits = 1;
    if (type.scalar != Scalar::Bool && type.scalar != Scalar::Int && !field)
      bits = ir::BitsOf(type);
    for (uint32_t i = 0; i < words; ++i) {
      Put(Opcode::ReadIo, 1);
      if (!field) Check(bits);
    }
    for (uint32_t i = 1; i < words; ++i) Put(Opcode::Pick, i);
    return true;
  }

  // The arguments, last first. RAM holds them meanwhile, so that any number will do.
  void Turn(const ir::Function& entry) {
    std::vector<uint32_t> widths;
    uint32_t words = 0;
    for (uint32_t i = 0; i < entry.param_count(); ++i) {
      if (IsRawRam(entry, i)) continue;
      widths.push_back(WordsOnMachine(entry.param_type(i)));
      words += widths.back();
    }
    // Words are numbered from the top.
    for (uint32_t i = 0; i < words; ++i) Store(i);
    uint32_t top = 0;
    for (size_t k = widths.size(); k-- > 0;) {
      for (uint32_t i = widths[k]; i-- > 0;) Load(top + i);
      top += widths[k];
    }
  }

  void Write(const std::vector<ir::Type>& types, bool first_on_top) {
    std::vector<uint32_t> stack, order;  // words by number; top last
    std::vector<std::vector<uint32_t>> values;
    uint32_t next = 0;
    for (ir::Type type : types) {
      values.emplace_back();
      for (uint32_t i = 0; i < WordsOnMachine(type); ++i) {
        values.back().push_back(next);
        order.push_back(next++);
      }
    }
    if (first_on_top) std::reverse(values.begin(), values.end());
    for (const std::vector<uint32_t>& value : values)
      stack.insert(stack.end(), value.rbegin(), value.rend());
    const bool far = stack.size() > Reach;
    for (size_t i = 0; far && i < stack.size(); ++i) {
      Store(stack[stack.size() - 1 - i]);
    }
    for (uint32_t word : order) {
      if (far) {
        Load(word);
      } else {
        const auto place = std::find(stack.begin(), stack.end(), word);
        Put(Opcode::Pick, static_cast<uint64_t>(stack.end() - place - 1));
        stack.erase(place);
      }
      Put(Opcode::WriteIo, 1);
    }
  }

  void Put(Opcode op, uint64_t argument = 0) { code.push_back({op, argument, -1, {}}); }

  std::vector<mt::Instruction> code;

 private:
  void Store(uint32_t word) {
    Put(Opcode::Push, WordBase + word);
    Put(Opcode::WriteMem, 1);
    Put(Opcode::Pop, 1);
  }

  void Load(uint32_t word) {
    Put(Opcode::Push, WordBase + word);
    Put(Opcode::ReadMem, 1);
    Put(Opcode::Pop, 1);
  }

  void Check(int bits) {
    if (bits < 32) {
      Put(Opcode::Push, uint64_t{1} << bits);
      Put(Opcode::Dup, 1);
      Put(Opcode::Lt);
    } else {
      Put(Opcode::Dup, 0);
      Put(Opcode::Split);
      Put(Opcode::Pop, 1);
      Put(Opcode::Push, 0);
      Put(Opcode::Eq);
    }
    Put(Opcode::Assert);
  }
};

}  // namespace

Result<mt::Program> WithDriver(const ir::Program& program, const mt::Program& callable,
                               bool first_on_top) {
  const ir::Function& entry = program.entry_function();
  Driver driver;
  // What lies below must still lie there afterwards.
  constexpr uint64_t Below[] = {0x5eed0001, 0x5eed0002, 0x5eed0003};
  for (const uint64_t word : Below) driver.Put(Opcode::Push, word);
  for (uint32_t i = 0; i < entry.param_count(); ++i) {
    if (IsRawRam(entry, i)) continue;
    if (entry.param_type(i).is_buffer() || !driver.Read(entry.param_type(i)))
      return Fail(Diag::Unsupported, "a buffer or a very wide integer is no argument on the stack");
  }
  if (first_on_top) driver.Turn(entry);
  driver.Put(Opcode::Call);
  const size_t call = driver.code.size() - 1;
  driver.Write(entry.results, first_on_top);
  for (size_t i = std::size(Below); i-- > 0;) {
    driver.Put(Opcode::Push, Below[i]);
    driver.Put(Opcode::Eq);
    driver.Put(Opcode::Assert);
  }
  driver.Put(Opcode::Halt);
  const auto offset = static_cast<uint32_t>(driver.code.size());
  driver.code[call].argument = offset;
  mt::Program whole;
  whole.profile = callable.profile;
  whole.code = std::move(driver.code);
  for (mt::Instruction instruction : callable.code) {
    if (instruction.op == Opcode::Call) instruction.argument += offset;
    whole.code.push_back(instruction);
  }
  for (mt::Label label : callable.labels) {
    label.instruction += offset;
    whole.labels.push_back(std::move(label));
  }
  return whole;
}

}  // namespace frazil::targets::tasm
