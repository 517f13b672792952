// Prints a program as text that reads back to the same program: labels at the margin, one instruction per line.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/number/goldilocks.h"
#include "machines/tasm/program.h"

namespace frazil::machines::tasm {
namespace {

// Names of call targets that have no label, made so that none is taken twice.
std::vector<Label> AllLabels(const Program& program) {
  std::vector<bool> labeled(program.code.size() + 1);
  std::unordered_set<std::string_view> taken;
  for (const Label& label : program.labels) {
    labeled[std::min<size_t>(label.instruction, program.code.size())] = true;
    taken.insert(label.name);
  }
  std::vector<Label> made;
  for (const Instruction& instruction : program.code) {
    if (Info(instruction.op).argument != Argument::Target) continue;
    const size_t target = std::min<size_t>(instruction.argument, program.code.size());
    if (labeled[target]) continue;
    labeled[target] = true;
    std::string name = fmt::format("at_{}", target);
    while (taken.contains(name)) name += '_';
    made.push_back({std::move(name), static_cast<uint32_t>(target)});
  }
  std::ranges::sort(made, {}, &Label::instruction);
  std::vector<Label> labels;
  std::ranges::merge(program.labels, made, std::back_inserter(labels), {}, &Label::instruction,
                     &Label::instruction);
  return labels;
}

// Elements in the upper half of the field are shorter as what they are below zero.
void AppendElement(std::string& text, uint64_t element) {
  if (element > goldilocks::P / 2)
    fmt::format_to(std::back_inserter(text), " -{}", goldilocks::P - element);
  else
    fmt::format_to(std::back_inserter(text), " {}", element);
}

void AppendInstruction(std::string& text, const Program& program, uint32_t index,
                       const std::vector<Label>& labels) {
  const Instruction& instruction = program.code[index];
  const OpcodeInfo& info = Info(instruction.op);
  text += info.mnemonic;
  switch (info.argument) {
    case Argument::None: break;
    case Argument::Element: AppendElement(text, instruction.argument); break;
    case Argument::Count:
    case Argument::Place:
      fmt::format_to(std::back_inserter(text), " {}", instruction.argument);
      break;
    case Argument::Target: {
      const auto target =
          static_cast<uint32_t>(std::min<size_t>(instruction.argument, program.code.size()));
      const auto found = std::ranges::lower_bound(labels, target, {}, &Label::instruction);
      text += ' ';
      text += found == labels.end() || found->instruction != target ? fmt::format("at_{}", target)
                                                                    : found->name;
    }
  }
  if (instruction.error_id >= 0)
    fmt::format_to(std::back_inserter(text), " error_id {}", instruction.error_id);
}

}  // namespace

std::string Print(const Program& program) {
  const std::vector<Label> labels = AllLabels(program);
  std::string text;
  auto label = labels.begin();
  for (uint32_t i = 0; i <= program.code.size(); ++i) {
    for (; label != labels.end() && (label->instruction <= i || i == program.code.size());
         ++label) {
      text += label->name;
      text += ":\n";
    }
    if (i == program.code.size()) break;
    text += labels.empty() ? "" : "  ";
    AppendInstruction(text, program, i, labels);
    text += '\n';
  }
  return text;
}

std::string PrintInstruction(const Program& program, uint32_t instruction) {
  std::string text;
  if (instruction < program.code.size())
    AppendInstruction(text, program, instruction, program.labels);
  return text;
}

}  // namespace frazil::machines::tasm
