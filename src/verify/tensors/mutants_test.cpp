// Wrong candidates, made from the sound ones of test_pairs.h by changing one thing: whatever the interpreter tells apart from the
// source must not be proved.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "ir/check/check.h"
#include "ir/text/literal.h"
#include "verify/runs/naive.h"
#include "verify/tensors/test_pairs.h"

namespace frazil::verify::tensors {
namespace {

using namespace ir::names;

struct Mutant {
  std::string what;
  ir::Program program;
};

class Mutants {
 public:
  explicit Mutants(const ir::Program& program) : program_(program) {}

  std::vector<Mutant> All() {
    for (uint32_t i = 0; i < program_.entry_function().insts.size(); ++i) {
      Operands(i);
      Words(i);
      Ops(i);
      LeaveOut(i);
      Types(i);
    }
    return std::move(mutants_);
  }

 private:
  const Function& f() const { return program_.entry_function(); }
  Function& Of(ir::Program& program) const { return program.functions[program.entry.index]; }

  void Add(std::string what, const std::function<void(Function&)>& change) {
    ir::Program copy = program_;
    change(Of(copy));
    if (!ir::Check(copy)) return;
    mutants_.push_back({std::move(what), std::move(copy)});
  }
  std::string At(const Inst& inst) const {
    return fmt::format("{} in line {}", ir::Info(inst.op).mnemonic, inst.location.line);
  }

  // Another value of the same type for each operand: swapped indices, swapped operands, other tensors, other results.
  void Operands(uint32_t i) {
    const Inst& inst = f().insts[i];
    for (uint32_t k = 0; k < inst.operands.count; ++k) {
      const ValueId old = f().operand(inst, k);
      for (uint32_t v = 0; v < f().values.size(); ++v) {
        if (v == old.index || f().type(ValueId(v)) != f().type(old)) continue;
        Add(fmt::format("operand {} of {} is value {}", k + 1, At(inst), v),
            [&](Function& g) { g.operands[g.insts[i].operands.begin + k] = ValueId(v); });
      }
      for (uint32_t l = 0; l < k; ++l) {
        if (f().operand(inst, l) == old) continue;
        Add(fmt::format("operands {} and {} of {} swapped", l + 1, k + 1, At(inst)),
            [&](Function& g) {
              const uint32_t at = g.insts[i].operands.begin;
              std::swap(g.operands[at + k], g.operands[at + l]);
            });
      }
    }
  }

  // Constants, and attributes: kind, axis, chains, block, start, step, perm.
  void Words(uint32_t i) {
    const Inst& inst = f().insts[i];
    for (uint32_t k = 0; k < inst.attributes.count; ++k) {
      const uint64_t old = f().words_of(inst)[k];
      for (const uint64_t other : {old + 1, old - 1, old * 2, old / 2, uint64_t{0}, uint64_t{1}}) {
        if (other == old) continue;
        Add(fmt::format("word {} of {} is {}", k + 1, At(inst), static_cast<int64_t>(other)),
            [&](Function& g) { g.words[g.insts[i].attributes.begin + k] = other; });
      }
      for (uint32_t l = 0; l < k; ++l) {
        if (f().words_of(inst)[l] == old) continue;
        Add(fmt::format("words {} and {} of {} swapped", l + 1, k + 1, At(inst)), [&](Function& g) {
          const uint32_t at = g.insts[i].attributes.begin;
          std::swap(g.words[at + k], g.words[at + l]);
        });
      }
    }
  }

  // Another op that takes and gives the same.
  void Ops(uint32_t i) {
    const Inst& inst = f().insts[i];
    static const std::vector<std::vector<Op>> families = {
        {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Div, Op::AddChecked, Op::Maximum, Op::Max},
        {Op::DivTrunc, Op::DivFloor, Op::RemTrunc, Op::RemFloor, Op::DivChecked, Op::Add},
        {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne},
        {Op::Exp, Op::Exp2, Op::Neg, Op::Sqrt, Op::Rsqrt, Op::ExpFast},
        {Op::RandomUniform, Op::RandomNormal},
        {Op::Matmul, Op::MatmulFast}};
    for (const std::vector<Op>& family : families) {
      if (std::ranges::find(family, inst.op) == family.end()) continue;
      for (const Op op : family)
        if (op != inst.op)
          Add(fmt::format("{} is {}", At(inst), ir::Info(op).mnemonic),
              [&](Function& g) { g.insts[i].op = op; });
    }
  }

  // What used the result takes an operand instead.
  void LeaveOut(uint32_t i) {
    const Inst& inst = f().insts[i];
    if (inst.results.count != 1 || inst.regions.count != 0) return;
    for (uint32_t k = 0; k < inst.operands.count; ++k) {
      const ValueId instead = f().operand(inst, k);
      if (f().type(instead) != f().type(Function::result_of(inst))) continue;
      Add(fmt::format("no {}, but its operand {}", At(inst), k + 1), [&](Function& g) {
        for (uint32_t j = 0; j < g.insts.size(); ++j)
          for (uint32_t l = 0; l < g.insts[j].operands.count; ++l)
            if (ValueId& use = g.operands[g.insts[j].operands.begin + l];
                j != i && use == Function::result_of(g.insts[i]))
              use = instead;
        // The op itself too, with its traps.
        for (ir::Region& region : g.regions) std::erase(region.insts, InstId(i));
      });
    }
  }

  // The yield of a region in another order, or of something else, is an operand; a map of another shape is a type.
  void Types(uint32_t i) {
    const Inst& inst = f().insts[i];
    if (inst.op != Op::Broadcast && inst.op != Op::Generate) return;
    for (uint32_t s = 0; s < f().shapes.size(); ++s) {
      if (s == inst.type.shape) continue;
      Add(fmt::format("{} of shape {}", At(inst), s), [&](Function& g) {
        g.insts[i].type.shape = s;
        g.values[g.insts[i].results.begin].type.shape = s;
      });
    }
  }

  const ir::Program& program_;
  std::vector<Mutant> mutants_;
};

struct Counts {
  int all = 0, proved = 0, refuted = 0, unknown = 0;
};

// One of the two has a wrong one planted; the other stands for what was asked.
void Count(const std::string& name, const ir::Program& source, const std::vector<Mutant>& mutants,
           Counts& counts) {
  for (const Mutant& mutant : mutants) {
    ++counts.all;
    const std::string said = Judged(source, mutant.program);
    const NaiveAnswer answer =
        AskNaively(source, mutant.program, {}, {.points = 60, .milliseconds = 20});
    if (said == "proved") {
      ++counts.proved;
      EXPECT_EQ(answer.difference, "") << name << ": " << mutant.what;
      EXPECT_GT(answer.told, 0u) << name << ": " << mutant.what;
    } else {
      ++(answer.difference.empty() ? counts.unknown : counts.refuted);
    }
  }
}

TEST(TensorForms, WrongCandidatesAreNotProved) {
  Counts counts;
  for (const TestPair& pair : TestPairs()) {
    const ir::Program source = TestProgram(pair.head, pair.source);
    const ir::Program candidate = TestProgram(pair.head, pair.candidate);
    Count(pair.name, source, Mutants(candidate).All(), counts);
    // And of the source, which a fused program must not be equal to.
    Count(pair.name + ", its source", candidate, Mutants(source).All(), counts);
  }
  std::printf("%d mutants: %d proved, %d refuted by samples, %d neither\n", counts.all,
              counts.proved, counts.refuted, counts.unknown);
  EXPECT_GE(counts.refuted, 200);
  EXPECT_LT(counts.proved, counts.all / 10);
}

// A changed source and a changed candidate: where the two are called equal, they made the same mistake.
TEST(TensorForms, TwoMutantsAreProvedOnlyIfEqual) {
  constexpr size_t Most = 1500;  // for each pair of programs
  int asked = 0, proved = 0;
  uint64_t random = 1;
  for (const TestPair& pair : TestPairs()) {
    const ir::Program source = TestProgram(pair.head, pair.source);
    const ir::Program candidate = TestProgram(pair.head, pair.candidate);
    const std::vector<Mutant> left = Mutants(source).All(), right = Mutants(candidate).All();
    for (size_t i = 0; i < Most; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const Mutant& a = left[(random >> 33) % left.size()];
      const Mutant& b = right[(random >> 13) % right.size()];
      ++asked;
      if (Judged(a.program, b.program) != "proved") continue;
      ++proved;
      const NaiveAnswer answer =
          AskNaively(a.program, b.program, {}, {.points = 60, .milliseconds = 20});
      EXPECT_EQ(answer.difference, "") << pair.name << ": " << a.what << "; " << b.what;
    }
  }
  std::printf("%d pairs of mutants: %d proved\n", asked, proved);
}

}  // namespace
}  // namespace frazil::verify::tensors
