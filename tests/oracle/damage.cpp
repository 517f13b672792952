// Programs with a few things changed: every crash of the machine, at places that no generator thinks of.
#include <algorithm>
#include <random>

#include "generate.h"

namespace frazil::tests {

namespace tasm = machines::tasm;
using tasm::Opcode;

namespace {

constexpr uint64_t P = 0xffffffff00000001;
class Damage {
 public:
  Damage(oracle::Job job, uint64_t seed) : job_(std::move(job)), random_(seed) {}

  oracle::Job Make() {
    job_.cycles = 5000;
    for (uint64_t changes = 1 + Below(3); changes > 0; --changes) Change();
    // Labels belong to the undamaged program.
    job_.program.labels.clear();
    return std::move(job_);
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  uint64_t Argument(tasm::Argument kind) {
    switch (kind) {
      case tasm::Argument::None: return 0;
      case tasm::Argument::Element: return Below(2) == 0 ? Below(10) : random_() % P;
      case tasm::Argument::Count: return 1 + Below(5);
      case tasm::Argument::Place: return Below(16);
      case tasm::Argument::Target: return Below(job_.program.code.size());
    }
    return 0;
  }
  tasm::Instruction Random() {
    tasm::Instruction instruction;
    do {
      instruction.op = static_cast<Opcode>(Below(tasm::OpcodeCount));
    } while (!tasm::Info(instruction.op).In(tasm::Profile::Dot));
    instruction.argument = Argument(tasm::Info(instruction.op).argument);
    return instruction;
  }
  // Jumps keep their aims when the code in front of them grows or shrinks.
  void Move(size_t at, int64_t by) {
    for (tasm::Instruction& instruction : job_.program.code)
      if (instruction.op == Opcode::Call && instruction.argument > at)
        instruction.argument =
            static_cast<uint64_t>(static_cast<int64_t>(instruction.argument) + by);
  }

  void Change() {
    std::vector<tasm::Instruction>& code = job_.program.code;
    const size_t at = Below(code.size());
    switch (Below(8)) {
      case 0:
      case 1: code[at] = Random(); return;
      case 2:
      case 3:
        Move(at, 1);
        code.insert(code.begin() + static_cast<long>(at), Random());
        return;
      case 4:
        if (code.size() < 2) return;
        Move(at, -1);
        code.erase(code.begin() + static_cast<long>(at));
        // An aim at the last instruction may point behind the end now.
        for (tasm::Instruction& instruction : code)
          if (instruction.op == Opcode::Call)
            instruction.argument = std::min(instruction.argument, code.size() - 1);
        return;
      case 5: code[at].argument = Argument(tasm::Info(code[at].op).argument); return;
      case 6: return CutInputs();
      default: std::swap(code[at], code[Below(code.size())]);
    }
  }
  void CutInputs() {
    tasm::Inputs& inputs = job_.inputs;
    switch (Below(3)) {
      case 0:
        if (!inputs.input.empty()) inputs.input.resize(Below(inputs.input.size()));
        return;
      case 1:
        if (!inputs.secret.empty()) inputs.secret.resize(Below(inputs.secret.size()));
        return;
      default:
        if (!inputs.digests.empty()) inputs.digests.resize(Below(inputs.digests.size()));
    }
  }

  oracle::Job job_;
  std::mt19937_64 random_;
};

}  // namespace

oracle::Job DamageJob(const oracle::Job& job, uint64_t seed) { return Damage(job, seed).Make(); }

}  // namespace frazil::tests
