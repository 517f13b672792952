#include "verify/internal/ways.h"

#include <fmt/format.h>

#include <algorithm>

namespace frazil::verify {
namespace {

using namespace ir::names;

// Where a region is: in which way of what, and in which region that is.
struct Outer {
  const Inst* inst = nullptr;
  uint32_t way = 0;
  ir::RegionId region;
};

std::vector<Outer> OuterOf(const Function& function) {
  std::vector<Outer> outer(function.regions.size());
  for (uint32_t r = 0; r < function.regions.size(); ++r) {
    for (const ir::InstId id : function.regions[r].insts) {
      const Inst& inst = function.inst(id);
      for (uint32_t way = 0; way < inst.regions.count; ++way)
        outer[Function::region_of(inst, way).index] = {&inst, way, ir::RegionId(r)};
    }
  }
  return outer;
}

bool IsConstant(const Function& function, ir::ValueId value) {
  const ir::InstId made = function.values[value.index].def;
  return made.valid() && function.inst(made).op == Op::Const;
}

bool IsSame(const Function& function, ir::ValueId a, ir::ValueId b) {
  if (a == b) return true;
  return IsConstant(function, a) && IsConstant(function, b) &&
         function.type(a) == function.type(b) &&
         std::ranges::equal(function.words_of(function.inst(function.values[a.index].def)),
                            function.words_of(function.inst(function.values[b.index].def)));
}

// Two integers are compared inside of an `if` that runs only where they differ.
bool AreKnownToDiffer(const Function& function, std::span<const Outer> outer, ir::RegionId region,
                      const Inst& compare) {
  for (; outer[region.index].inst != nullptr; region = outer[region.index].region) {
    const auto& [around, way, parent] = outer[region.index];
    if (around->op != Op::If) continue;
    const ir::InstId made = function.values[function.operand(*around, 0).index].def;
    if (!made.valid()) continue;
    const Inst& test = function.inst(made);
    const bool differ = way == 0 ? test.op == Op::Gt || test.op == Op::Lt || test.op == Op::Ne
                                 : test.op == Op::Eq || test.op == Op::Ge || test.op == Op::Le;
    if (!differ || !ir::IsFixedInt(function.type(function.operand(test, 0)).scalar)) continue;
    for (const uint32_t i : {0u, 1u})
      if (IsSame(function, function.operand(test, 0), function.operand(compare, i)) &&
          IsSame(function, function.operand(test, 1), function.operand(compare, 1 - i)))
        return true;
  }
  return false;
}

bool OnlyTraps(const Function& function, ir::RegionId region) {
  return std::ranges::any_of(function.region(region).insts, [&](ir::InstId id) {
    return function.inst(id).op == Op::Unreachable;
  });
}

}  // namespace

Ways::Ways(const ir::Program& program) : program_(program) {
  std::vector<bool> is_called(program.functions.size());
  std::vector<uint32_t> open = {program.entry.index};
  is_called[program.entry.index] = true;
  while (!open.empty()) {
    const uint32_t number = open.back();
    open.pop_back();
    const Function& function = program.functions[number];
    if (function.is_prelude) continue;
    AddFunction(number);
    for (const Inst& inst : function.insts) {
      if (inst.op != Op::Call) continue;
      const auto callee = static_cast<uint32_t>(function.word(inst, 0));
      if (!is_called[callee]) open.push_back(callee);
      is_called[callee] = true;
    }
  }
}

void Ways::AddFunction(uint32_t number) {
  const Function& function = program_.functions[number];
  const std::vector<Outer> outer = OuterOf(function);
  // Instructions of regions: others have been taken out.
  for (uint32_t r = 0; r < function.regions.size(); ++r) {
    for (const ir::InstId id : function.regions[r].insts) {
      const Inst& inst = function.inst(id);
      const bool is_select = inst.op == Op::Select;
      if (!is_select && inst.op != Op::If && inst.op != Op::Switch) continue;
      const ir::ValueId condition = function.operand(inst, 0);
      if (IsConstant(function, condition)) continue;
      const ir::InstId made = function.values[condition.index].def;
      const bool never_holds =
          inst.op != Op::Switch && made.valid() && function.inst(made).op == Op::Eq &&
          AreKnownToDiffer(function, outer, ir::RegionId(r), function.inst(made));
      const uint32_t count = is_select ? 2 : std::min<uint32_t>(inst.regions.count, 64);
      for (uint32_t way = 0; way < count; ++way)
        if (!(way == 0 && never_holds) &&
            (is_select || !OnlyTraps(function, Function::region_of(inst, way))))
          ways_.push_back({number, id.index, way});
    }
  }
}

bool Ways::IsSeen(const Way& way, const exec::Choices& seen) {
  return (seen.Of(way.function, way.inst) >> way.way & 1) != 0;
}

size_t Ways::CountMissing(const exec::Choices& seen) const {
  return static_cast<size_t>(
      std::ranges::count_if(ways_, [&](const Way& way) { return !IsSeen(way, seen); }));
}

std::string Ways::DescribeMissing(const exec::Choices& seen) const {
  const auto missing =
      std::ranges::find_if(ways_, [&](const Way& way) { return !IsSeen(way, seen); });
  if (missing == ways_.end()) return {};
  const Function& function = program_.functions[missing->function];
  const Inst& inst = function.insts[missing->inst];
  const std::string way = inst.op == Op::Switch
                              ? fmt::format("never asked for way {}", missing->way + 1)
                          : missing->way == 0 ? "never held"
                                              : "always held";
  return fmt::format("the condition %{} of {} in @{} {}", function.operand(inst, 0).index,
                     ir::Info(inst.op).mnemonic, function.name, way);
}

}  // namespace frazil::verify
