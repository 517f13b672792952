// For tests: correct Triton VM programs, and what is wrong with one thing changed.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/number/goldilocks.h"
#include "machines/tasm/program.h"

namespace frazil::verify::tasm::mutants {

namespace mt = machines::tasm;
using mt::Opcode;

struct Original {
  const char* name;
  bool fragment;
  const char* text;
};

inline constexpr Original Originals[] = {
    {"sum", false,
     "read_io 1 push 0 call l write_io 1 halt l: dup 1 push 0 eq skiz return dup 1 add swap 1 addi "
     "-1 swap 1 recurse"},
    {"factorial", false,
     "read_io 1 push 1 call l write_io 1 halt l: dup 1 push 0 eq skiz return dup 1 mul swap 1 addi "
     "-1 swap 1 recurse"},
    {"gcd", false,
     "read_io 2 call g pop 1 write_io 1 halt g: dup 0 push 0 eq skiz return dup 0 pick 2 div_mod "
     "swap 1 pop 1 recurse"},
    {"branch", false,
     "read_io 2 dup 1 dup 1 lt push 1 swap 1 skiz call a skiz call b write_io 2 halt "
     "a: pop 1 addi 7 push 0 return b: swap 1 addi 3 return"},
    {"merkle", false,
     "read_io 5 read_io 1 read_io 5 merkle_step merkle_step pick 5 push 1 eq assert assert_vector "
     "halt"},
    {"secrets", false, "divine 1 divine 1 dup 1 dup 1 mul read_io 1 eq assert add write_io 1 halt"},
    {"pointers", false,
     "read_io 3 push 100 write_mem 3 addi -1 read_mem 2 pop 1 write_io 2 push 102 read_mem 1 pop 1 "
     "write_io 1 halt"},
    {"table", false,
     "read_io 1 push 1 push 40 call f pop 1 write_io 1 push 41 read_mem 1 pop 1 write_io 1 halt "
     "f: dup 2 push 0 eq skiz return dup 1 swap 1 write_mem 1 swap 1 push 3 mul swap 1 pick 2 addi "
     "-1 place 2 recurse"},
    {"checked", true, "add dup 0 split pop 1 push 0 eq assert addi 1"},
    {"shuffle", true, "dup 2 swap 4 pick 3 place 1 add swap 2 pop 1"},
    {"words", true, "dup 1 dup 1 and place 2 xor push 2 pow split pop 1"},
    {"bits", true, "split pop_count swap 1 pop_count add log_2_floor"},
    {"extension", true, "xx_mul dup 3 xb_mul x_invert"},
    {"dots", true, "xx_dot_step xb_dot_step pop 2"},
    {"sponge", true, "sponge_init sponge_absorb sponge_squeeze pop 5 hash"},
    {"absorb", true, "sponge_init sponge_absorb_mem pop 1 write_io 4"},
    {"store", true, "dup 0 read_mem 2 pop 1 add swap 1 addi 2 write_mem 1 pop 1"},
    {"field", true, "dup 0 mul swap 1 invert add push 5 mul addi 3"},
    {"compare", true, "dup 1 dup 1 eq skiz addi 1 swap 1 lt"},
    {"quotients", true, "push 10 swap 1 div_mod push 4 swap 1 div_mod add add"},
};

struct Mutant {
  std::string what;
  mt::Program program;
};

inline void Argument(const mt::Program& program, size_t i, uint64_t argument,
                     std::vector<Mutant>& mutants) {
  Mutant mutant{fmt::format("argument {}", argument), program};
  mutant.program.code[i].argument = argument;
  mutants.push_back(std::move(mutant));
}

inline void MutateArgument(const mt::Program& program, size_t i, std::vector<Mutant>& mutants) {
  const mt::Instruction& instruction = program.code[i];
  const uint64_t value = instruction.argument;
  switch (mt::Info(instruction.op).argument) {
    case mt::Argument::None: return;
    case mt::Argument::Element:
      Argument(program, i, goldilocks::Add(value, 1), mutants);
      if (value != 0) Argument(program, i, goldilocks::Neg(value), mutants);
      return;
    case mt::Argument::Count:
      if (value > 1) Argument(program, i, value - 1, mutants);
      if (value < 5) Argument(program, i, value + 1, mutants);
      return;
    case mt::Argument::Place:
      if (value > 0) Argument(program, i, value - 1, mutants);
      if (value < 15) Argument(program, i, value + 1, mutants);
      return;
    case mt::Argument::Target:
      for (const mt::Label& label : program.labels) {
        if (label.instruction != value) Argument(program, i, label.instruction, mutants);
      }
  }
}

inline void MutateOpcode(const mt::Program& program, size_t i, std::vector<Mutant>& mutants) {
  constexpr Opcode Alike[][2] = {{Opcode::Add, Opcode::Mul},
                                 {Opcode::Eq, Opcode::Add},
                                 {Opcode::Lt, Opcode::Eq},
                                 {Opcode::And, Opcode::Xor},
                                 {Opcode::Xor, Opcode::And},
                                 {Opcode::Mul, Opcode::Add},
                                 {Opcode::Pick, Opcode::Place},
                                 {Opcode::Place, Opcode::Pick},
                                 {Opcode::Swap, Opcode::Pick},
                                 {Opcode::Dup, Opcode::Swap},
                                 {Opcode::ReadIo, Opcode::Divine},
                                 {Opcode::Divine, Opcode::ReadIo},
                                 {Opcode::Recurse, Opcode::Return},
                                 {Opcode::Return, Opcode::Nop},
                                 {Opcode::XxMul, Opcode::XxAdd},
                                 {Opcode::PopCount, Opcode::Log2Floor},
                                 {Opcode::Skiz, Opcode::Assert},
                                 {Opcode::Assert, Opcode::Skiz},
                                 {Opcode::XxDotStep, Opcode::XbDotStep},
                                 {Opcode::WriteMem, Opcode::ReadMem},
                                 {Opcode::Invert, Opcode::Nop}};
  for (const auto& [from, to] : Alike) {
    if (program.code[i].op != from) continue;
    Mutant mutant{fmt::format("{} for {}", mt::Info(to).mnemonic, mt::Info(from).mnemonic),
                  program};
    mutant.program.code[i].op = to;
    mutants.push_back(std::move(mutant));
  }
}

// Removes or repeats an instruction; labels and targets behind it move.
inline mt::Program Shifted(const mt::Program& program, size_t at, bool remove) {
  mt::Program result = program;
  const uint32_t limit = static_cast<uint32_t>(at);
  auto move = [&](auto& target) {
    if (target > limit) target = remove ? target - 1 : target + 1;
  };
  for (mt::Label& label : result.labels) move(label.instruction);
  for (mt::Instruction& instruction : result.code) {
    if (instruction.op == Opcode::Call) move(instruction.argument);
  }
  if (remove) {
    result.code.erase(result.code.begin() + static_cast<long>(at));
  } else {
    result.code.insert(result.code.begin() + static_cast<long>(at), result.code[at]);
  }
  return result;
}

inline std::vector<Mutant> Mutate(const mt::Program& program) {
  std::vector<Mutant> all;
  for (size_t i = 0; i < program.code.size(); ++i) {
    std::vector<Mutant> mutants;
    MutateArgument(program, i, mutants);
    MutateOpcode(program, i, mutants);
    mutants.push_back({"dropped", Shifted(program, i, true)});
    mutants.push_back({"twice", Shifted(program, i, false)});
    if (i + 1 < program.code.size() && !(program.code[i] == program.code[i + 1])) {
      Mutant swapped{"swapped with the next", program};
      std::swap(swapped.program.code[i], swapped.program.code[i + 1]);
      mutants.push_back(std::move(swapped));
    }
    for (Mutant& mutant : mutants) {
      mutant.what = fmt::format(
          "{}: {} {}", i, mt::PrintInstruction(program, static_cast<uint32_t>(i)), mutant.what);
      all.push_back(std::move(mutant));
    }
  }
  return all;
}

}  // namespace frazil::verify::tasm::mutants
