// The program level of the generator, and its choices: which types, which statement next, which operand.
// A statement is one row of ops.def, drawn from a group (so that the many math rows do not crowd out the
// rest) and then evenly, which is how every op and type is reached within a few thousand programs.

#include "generator/generator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "generator/generator_internal.h"

namespace frazil::generator {

using namespace ir::names;
using ir::OpInfo;

namespace {

enum class Group { Scalar, Math, Memory, Streams, Structure, Parallel, Call, Tensor };

Group GroupOf(const OpInfo& info) {
  if (info.law == ir::Law::Prelude) return Group::Math;
  switch (info.op) {
    FRAZIL_CASES(Memory) return Group::Memory;
    FRAZIL_CASES(Stream)
    FRAZIL_CASES(Prover) return Group::Streams;
    case Op::If:
    case Op::For:
    case Op::While:
    case Op::Switch:
    FRAZIL_CASES(Stop) return Group::Structure;
    FRAZIL_CASES(Tensor) return Group::Tensor;
    case Op::Parallel:
    case Op::Barrier: return Group::Parallel;
    case Op::Call: return Group::Call;
    default: return Group::Scalar;
  }
}

// Terminators are emitted with the instruction that needs them; assembly runs on one machine only.
bool IsDrawn(Op op) {
  return op != Op::Return && op != Op::Yield && op != Op::Condition && op != Op::Tasm;
}

const std::vector<OpInfo>& RowsOf(Group group) {
  static const auto rows = [] {
    std::array<std::vector<OpInfo>, 8> groups;
    for (const OpInfo& info : ir::AllOps())
      if (IsDrawn(info.op)) groups[static_cast<size_t>(GroupOf(info))].push_back(info);
    return groups;
  }();
  return rows[static_cast<size_t>(group)];
}

Type RandomScalarType(Random& random, ir::ScalarSet set) {
  std::vector<Scalar> kinds;
  for (int i = 0; i < ir::ScalarCount; ++i)
    if (ir::Contains(set, static_cast<Scalar>(i))) kinds.push_back(static_cast<Scalar>(i));
  if (kinds.empty()) return ir::types::Bool;
  Scalar kind = random.Pick(kinds);
  if (kind != Scalar::Int) return Type::Of(kind);
  constexpr uint32_t Limbs[] = {1, 2, 2, 3, 4, 5, 8, 64};
  return Type::Int(Limbs[random.Below(std::size(Limbs))]);
}

}  // namespace

FunctionGenerator::FunctionGenerator(ProgramState& state, std::string name, bool is_entry)
    : state_(state), b_(state.program, std::move(name), {}, {}), is_entry_(is_entry) {}

void FunctionGenerator::AddParams() {
  Random& random = state_.random;
  const GeneratorOptions& options = state_.options;
  if (options.allow_tensors && random.Chance(50)) {
    for (uint64_t i = 0, n = 1 + random.Below(2); i < n; ++i) {
      symbols_.push_back(static_cast<uint32_t>(scope_.size()));
      // Named by a shape, so that RandomArguments knows it for a size even if only a callee uses it.
      b_.AddShape({ir::Dim::Symbol(symbols_.back())});
      AddToScope(b_.AddParam(ir::types::Index));
    }
  }
  for (uint64_t i = 0, n = 1 + random.Below(4); i < n; ++i)
    AddToScope(b_.AddParam(random.Pick(state_.pool)));
  if (options.allow_buffers) {
    constexpr ir::Access Accesses[] = {ir::Access::In, ir::Access::InOut, ir::Access::InOut,
                                       ir::Access::Out};
    for (uint64_t i = 0, n = random.Below(4); i < n; ++i)
      AddToScope(b_.AddParam(
          Type::Buffer(random.Pick(state_.pool), Accesses[random.Below(std::size(Accesses))])));
  }
  if (options.allow_tensors)
    for (uint64_t i = 0, n = random.Below(3); i < n; ++i)
      AddToScope(b_.AddParam(TensorType(random.Pick(state_.pool), RandomShape(0, 3))));
}

void FunctionGenerator::Statements(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Statement();
}

void FunctionGenerator::Statement() {
  Random& random = state_.random;
  const GeneratorOptions& options = state_.options;
  cost_ += weight_;
  // A row may not fit here (no buffer of the type, nesting too deep): draw again, a few times.
  for (int attempt = 0; attempt < 8; ++attempt) {
    uint64_t dice = random.Below(100);
    Group group = dice < 52   ? Group::Scalar
                  : dice < 62 ? Group::Memory
                  : dice < 72 ? Group::Structure
                  : dice < 76 ? Group::Call
                  : dice < 80 ? Group::Streams
                  : dice < 84 ? Group::Parallel
                  : dice < 88 ? Group::Math
                              : Group::Tensor;
    if (group == Group::Memory && !options.allow_buffers) continue;
    if (group == Group::Streams && !options.allow_streams) continue;
    if (group == Group::Math && !options.allow_math) continue;
    if (group == Group::Tensor && !options.allow_tensors) continue;
    if (group == Group::Call && !options.allow_calls) continue;
    if (group == Group::Parallel && !options.allow_parallel) continue;
    bool in_map = group == Group::Scalar || group == Group::Math || group == Group::Structure;
    if (scalar_only_ && !in_map) continue;
    const OpInfo& info = random.Pick(RowsOf(group));
    if (info.signature == "custom" ? EmitCustom(info) : EmitRow(info)) return;
  }
}

std::optional<ValueId> FunctionGenerator::Existing(Type type) {
  std::vector<ValueId> found;
  for (ValueId value : scope_)
    if (b_.TypeOf(value) == type) found.push_back(value);
  if (found.empty()) return std::nullopt;
  // Later values depend on more: prefer them.
  uint64_t a = state_.random.Below(found.size()), b = state_.random.Below(found.size());
  return found[std::max(a, b)];
}

ValueId FunctionGenerator::Constant(Type type) {
  return b_.Const(type, RandomWords(type, state_.random));
}

ValueId FunctionGenerator::Any(Type type) {
  if (state_.random.Chance(80))
    if (auto value = Existing(type)) return *value;
  return Constant(type);
}

ValueId FunctionGenerator::SmallCount(Type type) {
  return b_.Binary(Op::And, Any(type), Int(type, state_.random.Chance(50) ? 7 : 3));
}

Type FunctionGenerator::PoolType(ir::ScalarSet set, bool* found) {
  std::vector<Type> fitting;
  for (Type type : state_.pool)
    if (ir::Contains(set, type.scalar)) fitting.push_back(type);
  *found = !fitting.empty();
  return fitting.empty() ? Type{} : state_.random.Pick(fitting);
}

std::vector<Type> FunctionGenerator::ChooseResults() {
  std::vector<Type> results;
  if (state_.random.Chance(10)) return results;
  uint64_t count = 1 + state_.random.Below(4);
  for (uint64_t i = 0; i < count; ++i) {
    ValueId value =
        scope_[std::max(state_.random.Below(scope_.size()), state_.random.Below(scope_.size()))];
    Type type = b_.TypeOf(value);
    if (type.is_buffer()) continue;
    results.push_back(type);
  }
  return results;
}

void FunctionGenerator::Finish(const std::vector<Type>& results) {
  ir::Values values;
  for (Type type : results) {
    // The most recent value of the type: it has the most behind it.
    auto last = std::find_if(scope_.rbegin(), scope_.rend(),
                             [&](ValueId value) { return b_.TypeOf(value) == type; });
    values.push_back(last != scope_.rend() && state_.random.Chance(70) ? *last
                     : type.is_tensor()                                ? *Existing(type)
                                                                       : Any(type));
  }
  b_.SetResults(results);
  b_.Return(values);
}

ir::FuncId FunctionGenerator::Run(uint32_t statements) {
  AddParams();
  Statements(statements);
  Finish(ChooseResults());
  state_.costs.push_back(cost_ + 1);
  return b_.Finish();
}

ir::FuncId FunctionGenerator::RunRecursive(uint32_t statements) {
  Random& random = state_.random;
  constexpr int64_t MaxCalls = 7;
  Type counter = random.Chance(50) ? ir::types::I32 : ir::types::U8;
  Type carried = random.Pick(state_.pool);
  ValueId n = b_.AddParam(counter);
  ValueId x = b_.AddParam(carried);
  AddToScope(n);
  AddToScope(x);
  ir::FuncId self(static_cast<uint32_t>(state_.program.functions.size()));
  weight_ = MaxCalls + 1;
  Statements(statements / 2);
  ValueId more = b_.Binary(Op::Gt, n, Int(counter, 0));
  Type results[] = {carried};
  ir::Values values = b_.If(
      more, results,
      [&] {
        size_t mark = scope_.size();
        ++nesting_;
        ValueId arguments[] = {b_.Binary(Op::Sub, n, Int(counter, 1)), Any(carried)};
        uint64_t callee = self.index;
        AddToScope(b_.Emit(Op::Call, Type{}, arguments, results, std::span(&callee, 1))[0]);
        Statements(statements / 2);
        ir::Values yielded = YieldValues({carried});
        --nesting_;
        scope_.resize(mark);
        return yielded;
      },
      [&] { return ir::Values{Any(carried)}; });
  b_.SetResults({carried});
  b_.Return(values);
  state_.costs.push_back(cost_ + 8);
  state_.recursive.push_back(self.index);
  return b_.Finish();
}

ir::Program Generate(const GeneratorOptions& options) {
  ProgramState state(options);
  Random& random = state.random;
  ir::ScalarSet types = options.types;
  state.pool = {ir::types::Bool, ir::types::Index};
  for (uint64_t i = 0, n = 2 + random.Below(3); i < n; ++i)
    state.pool.push_back(RandomScalarType(random, types));
  state.input_type = random.Pick(state.pool);
  state.hint_type = random.Pick(state.pool);
  state.unguarded = options.allow_traps && random.Chance(35);

  // One theme in a program keeps it small for the compilers behind the C target.
  GeneratorOptions theme = options;
  theme.allow_tensors &= random.Chance(35);
  theme.allow_math &= random.Chance(20);
  theme.allow_parallel &= random.Chance(50);
  ProgramState themed(theme);
  themed.random = random;
  themed.pool = state.pool;
  themed.input_type = state.input_type;
  themed.hint_type = state.hint_type;
  themed.unguarded = state.unguarded;

  if (theme.allow_calls) {
    for (uint64_t i = 0, n = themed.random.Below(3); i < n; ++i) {
      FunctionGenerator function(themed, "f" + std::to_string(i), false);
      uint32_t statements = 1 + static_cast<uint32_t>(themed.random.Below(options.size / 2 + 1));
      if (themed.random.Chance(25))
        function.RunRecursive(statements);
      else
        function.Run(statements);
    }
  }
  FunctionGenerator entry(themed, "main", true);
  entry.Run(1 + static_cast<uint32_t>(themed.random.Below(options.size * 2)));
  return std::move(themed.program);
}

}  // namespace frazil::generator
