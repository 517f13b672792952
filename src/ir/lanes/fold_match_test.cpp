// Folds are recognized whatever their elements are, and nothing that differs from one anywhere.
#include "ir/lanes/fold_match.h"

#include <gtest/gtest.h>

#include "ir/lower/fold.h"
#include "ir/lower/lower.h"
#include "ir/text/text.h"

namespace frazil::ir {
namespace {

using Element = std::function<ValueId(FunctionBuilder&, ValueId)>;

// fold(%a: buffer, %b: buffer, %n: index) -> element
Program MakeFold(ReduceKind kind, Type type, const Element& element) {
  Program program;
  FunctionBuilder b(program, "fold", {Type::Buffer(type), Type::Buffer(type), types::Index},
                    {type});
  b.Return({EmitFold(b, kind, type, b.Param(2), [&](ValueId i) { return element(b, i); })});
  b.Finish();
  return program;
}

ValueId LoadA(FunctionBuilder& b, ValueId i) { return b.Load(b.Param(0), i); }

std::optional<FoldMatch> Match(const Program& program) {
  const Function& function = program.entry_function();
  std::optional<FoldMatch> found;
  for (InstId id : function.region(function.body).insts)
    if (auto match = MatchFold(program, id)) found = match;
  return found;
}

TEST(FoldMatch, EveryKindAndType) {
  for (Type type : {types::F32, types::F64, types::I32, types::U8, types::Index}) {
    for (uint32_t k = 0; k <= static_cast<uint32_t>(ReduceKind::Xor); ++k) {
      const auto kind = static_cast<ReduceKind>(k);
      const bool is_float = IsFloat(type.scalar);
      if (is_float ? kind >= ReduceKind::And
                   : kind == ReduceKind::Minimum || kind == ReduceKind::Maximum)
        continue;
      const Program program = MakeFold(kind, type, LoadA);
      const std::optional<FoldMatch> match = Match(program);
      ASSERT_TRUE(match) << k;
      EXPECT_EQ(match->kind, kind);
      EXPECT_EQ(match->type, type);
      EXPECT_EQ(match->count, program.entry_function().param(2));
      EXPECT_EQ(match->buffers, std::vector<ValueId>{program.entry_function().param(0)});
      EXPECT_EQ(match->element.size(), 1u);
    }
  }
}

TEST(FoldMatch, ALoweredReduceIsOne) {
  const Result<Program> program = ParseText(R"(frz 1
func @f(%n: index, %x: buffer<f32>) -> (f32) {
  %t = tensor.load %x : tensor<f32, [%n]>
  %r = reduce %t {kind = sum, axis = 0, chains = 64, block = 4096} : tensor<f32, []>
  %s = extract %r : f32
  return %s
}
)");
  ASSERT_TRUE(program) << program.error().ToString();
  EXPECT_TRUE(Match(*LowerTensors(*program)));
  EXPECT_TRUE(Match(*LowerForTarget(*program)));
}

TEST(FoldMatch, ElementsMayBeComputedButNotTrap) {
  const auto product = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::Mul, LoadA(b, i), b.Load(b.Param(1), i));
  };
  const std::optional<FoldMatch> match = Match(MakeFold(ReduceKind::Max, types::F32, product));
  ASSERT_TRUE(match);
  EXPECT_EQ(match->buffers.size(), 2u);
  EXPECT_EQ(match->element.size(), 3u);
  const auto divided = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::DivFloor, LoadA(b, i), b.ConstInt(types::I32, 3));
  };
  EXPECT_TRUE(Match(MakeFold(ReduceKind::Sum, types::I32, divided)));
  const auto traps = [](FunctionBuilder& b, ValueId i) {
    return b.Binary(Op::DivFloor, LoadA(b, i), b.Load(b.Param(1), i));
  };
  EXPECT_FALSE(Match(MakeFold(ReduceKind::Sum, types::I32, traps)));
  const auto elsewhere = [](FunctionBuilder& b, ValueId i) {
    return b.Load(b.Param(0), b.Binary(Op::Add, i, i));
  };
  EXPECT_FALSE(Match(MakeFold(ReduceKind::Sum, types::I32, elsewhere)));
  // Math, also where it has become calls.
  const auto math = [](FunctionBuilder& b, ValueId i) { return b.Unary(Op::Exp, LoadA(b, i)); };
  const Program exp = MakeFold(ReduceKind::Sum, types::F32, math);
  EXPECT_TRUE(Match(exp));
  EXPECT_TRUE(Match(*LowerForTarget(exp)));
}

TEST(FoldMatch, OneDifferentInstructionIsEnough) {
  const Program program = MakeFold(ReduceKind::Sum, types::F32, LoadA);
  ASSERT_TRUE(Match(program));
  int changed = 0;
  for (size_t i = 0; i < program.entry_function().insts.size(); ++i) {
    Program other = program;
    Inst& inst = other.functions[other.entry.index].insts[i];
    if (inst.op == Op::Add)
      inst.op = Op::Sub;
    else if (inst.op == Op::Gt)
      inst.op = Op::Ge;
    else if (inst.op == Op::Const && other.entry_function().words_of(inst).size() == 1)
      other.functions[other.entry.index].words[inst.attributes.begin] ^= 1;
    else
      continue;
    ++changed;
    EXPECT_FALSE(Match(other)) << i;
  }
  EXPECT_GT(changed, 50);
}

// Who reads what the fold left in its scratch would see another program's scratch.
TEST(FoldMatch, ScratchBelongsToTheFold) {
  const Program program = MakeFold(ReduceKind::Sum, types::F32, LoadA);
  const std::string text = PrintText(program);
  const size_t end = text.rfind("  return");
  for (uint32_t k = 0; k < 2; ++k) {
    size_t at = 0;
    for (uint32_t skip = 0; skip <= k; ++skip) at = text.find(" = alloc", at + 1);
    const size_t name = text.rfind('%', at);
    std::string other = text;
    other.insert(end, "  %peek.z = const 0 : index\n  %peek = load " +
                          text.substr(name, at - name) + ", %peek.z : f32\n");
    const Result<Program> parsed = ParseText(other);
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    EXPECT_FALSE(Match(*parsed));
  }
  EXPECT_TRUE(Match(*ParseText(text)));
}

}  // namespace
}  // namespace frazil::ir
