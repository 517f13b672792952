#include "verify/tasm/runs/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::verify::tasm {

using mt::Opcode;
using mt::Ran;

namespace {

std::string_view LabelAbove(const mt::Program& program, uint32_t instruction) {
  std::string_view name;
  for (const mt::Label& label : program.labels)
    if (label.instruction <= instruction) name = label.name;
  return name;
}

bool IsCalled(const mt::Program& program, uint64_t at) {
  return std::ranges::any_of(program.code, [&](const mt::Instruction& instruction) {
    return instruction.op == Opcode::Call && instruction.argument == at;
  });
}

// A constant is asserted that is not 1; nothing comes to the assertion without the constant.
bool FailsAlways(const mt::Program& program, uint64_t at) {
  return program.code[at].op == Opcode::Assert && at > 0 &&
         program.code[at - 1].op == Opcode::Push && program.code[at - 1].argument != 1 &&
         (at == 1 || program.code[at - 2].op != Opcode::Skiz) && !IsCalled(program, at);
}

}  // namespace

Coverage::Coverage(const mt::Program& program)
    : program_(program),
      reachable_(program.code.size()),
      may_end_(program.code.size()),
      notes_(program.code.size()) {
  FindEnds();
  std::vector<uint64_t> todo = {0};
  while (!todo.empty()) {
    const uint64_t at = todo.back();
    todo.pop_back();
    if (at >= program.code.size() || reachable_[at]) continue;
    reachable_[at] = true;
    const mt::Instruction& instruction = program.code[at];
    // A program of which a constant is asserted that is not 1 ends there; not where the constant may have been skipped.
    const bool fails = FailsAlways(program, at);
    switch (instruction.op) {
      case Opcode::Halt:
      case Opcode::Return:
      case Opcode::Recurse:
      case Opcode::RecurseOrReturn: break;
      case Opcode::Call:
        todo.push_back(instruction.argument);
        todo.push_back(at + 1);
        break;
      case Opcode::Skiz:
        todo.push_back(at + 1);
        todo.push_back(at + 2);
        break;
      default:
        if (!fails) todo.push_back(at + 1);
    }
  }
  for (size_t i = 0; i < reachable_.size(); ++i) {
    if (!reachable_[i]) continue;
    ++instructions_;
    branches_ += IsBranch(program.code[i].op) ? 1 : 0;
  }
  Count();
}

void Coverage::Count() {
  ran_ = ways_ = 0;
  for (size_t i = 0; i < notes_.size(); ++i) {
    if (!reachable_[i]) continue;
    ran_ += (notes_[i] & Ran::Was) != 0 ? 1 : 0;
    for (const uint8_t way : {Ran::On, Ran::Else}) ways_ += (notes_[i] & way) != 0 ? 1 : 0;
  }
}

void Coverage::FindEnds() {
  const auto may_end = [&](size_t at) { return at < may_end_.size() && may_end_[at]; };
  const auto ends = [&](size_t at) {
    switch (program_.code[at].op) {
      case Opcode::Halt:
      case Opcode::Return:
      case Opcode::Recurse:
      case Opcode::RecurseOrReturn: return true;
      case Opcode::Skiz: return may_end(at + 1) || may_end(at + 2);
      default: return !FailsAlways(program_, at) && may_end(at + 1);
    }
  };
  for (size_t at = program_.code.size(); at-- > 0;) may_end_[at] = ends(at);
}

bool Coverage::Add(const std::vector<uint8_t>& ran, bool trapped) {
  bool is_new = false;
  for (size_t i = 0; i < notes_.size(); ++i) {
    if (trapped && may_end_[i]) continue;
    is_new |= (ran[i] & ~notes_[i]) != 0;
    notes_[i] |= ran[i];
  }
  if (is_new) Count();
  return is_new;
}

std::string Coverage::Describe() const {
  return fmt::format(
      "{} of {} instructions{}", ran_, instructions_,
      branches_ == 0 ? "" : fmt::format(", {} of {} ways of branches", ways_, 2 * branches_));
}

std::string Coverage::DescribeMissing() const {
  for (uint32_t i = 0; i < notes_.size(); ++i) {
    if (!reachable_[i] || (notes_[i] & Ran::Was) != 0) continue;
    const std::string_view label = LabelAbove(program_, i);
    return fmt::format("instruction {} ({}){} never ran ({} of {} did)", i,
                       mt::PrintInstruction(program_, i),
                       label.empty() ? "" : fmt::format(" in `{}`", label), ran_, instructions_);
  }
  return {};
}

}  // namespace frazil::verify::tasm
