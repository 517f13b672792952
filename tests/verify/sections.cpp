#include "verify/sections.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "exec/guard_eval.h"
#include "exec/meaning/interpreter.h"
#include "ir/text/text.h"

namespace frazil::tests {

std::vector<Section> ReadSections(const std::string& path) {
  std::ifstream file(path);
  std::vector<Section> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    if (line.starts_with("== ")) {
      sections.push_back({line.substr(3), ""});
    } else if (!sections.empty()) {
      sections.back().text += line + "\n";
    }
  }
  EXPECT_FALSE(sections.empty()) << path;
  return sections;
}

GuardedPair ReadGuardedPair(const Section& section) {
  GuardedPair pair;
  std::string programs;
  std::istringstream lines(section.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("guard: ")) {
      pair.sound_guards.push_back(line.substr(7));
    } else if (line.starts_with("wrong: ")) {
      pair.wrong_guards.push_back(line.substr(7));
    } else {
      programs += line + "\n";
    }
  }
  const size_t cut = programs.find("\n--\n");
  EXPECT_NE(cut, std::string::npos) << section.name << " has no second program";
  if (cut == std::string::npos) return pair;
  pair.source = MustParse(section.name, programs.substr(0, cut + 1));
  pair.candidate = MustParse(section.name, programs.substr(cut + 4));
  return pair;
}

ir::Program MustParse(const std::string& name, const std::string& text) {
  auto program = ir::ParseText("frz 1\n" + text);
  EXPECT_TRUE(program.has_value()) << name << ": " << (program ? "" : program.error().ToString());
  return program ? std::move(*program) : ir::Program{};
}

namespace {

std::vector<exec::Value> Copies(const std::vector<exec::Value>& arguments) {
  std::vector<exec::Value> copies = arguments;
  std::map<exec::Memory*, std::shared_ptr<exec::Memory>> made;
  for (exec::Value& value : copies) {
    if (value.memory == nullptr) continue;
    auto& memory = made[value.memory.get()];
    if (memory == nullptr) {
      memory = std::make_shared<exec::Memory>(value.memory->element(), value.memory->length());
      std::copy_n(value.memory->data(), memory->size_bytes(), memory->data());
    }
    value.memory = memory;
  }
  return copies;
}

}  // namespace

std::string Reproduce(const ir::Program& source, const ir::Program& candidate,
                      const ir::Guard& guard, const verify::ProgramCall& call) {
  ir::Guard without_cpu;
  for (const ir::GuardAtom& atom : guard.atoms) {
    if (atom.kind != ir::GuardKind::Cpu) without_cpu.atoms.push_back(atom);
  }
  if (!exec::Holds(without_cpu, call.arguments)) return "the guard does not hold for it";
  std::vector<exec::Value> a = Copies(call.arguments);
  std::vector<exec::Value> b = Copies(call.arguments);
  auto x = exec::Interpret(source, a, call.context);
  auto y = exec::Interpret(candidate, b, call.context);
  if (!x) return "the source does not run: " + x.error().ToString();
  if (!y) return {};
  if (x->trap != y->trap) return {};
  return x->results != y->results || x->output != y->output || a != b ? "" : "both give the same";
}

}  // namespace frazil::tests
