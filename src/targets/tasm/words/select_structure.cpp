// Regions, calls and functions.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/lower/prelude.h"
#include "targets/tasm/words/selector.h"
#include "targets/tasm/words/word_absorbs.h"
#include "targets/tasm/words/word_checks.h"
#include "targets/tasm/words/word_loops.h"
#include "targets/tasm/words/word_pointers.h"
#include "targets/tasm/words/word_repeats.h"
#include "targets/tasm/words/words.h"

namespace frazil::targets::tasm {

using ir::Op;
using ir::Scalar;
using ir::Trap;

namespace {

// Functions of at most so many instructions are written where they are called: a call, its return and the moves around
// them cost about as much.
constexpr size_t SmallFunction = 4;
// With a constant among the arguments, or nothing else, much of a function folds.
constexpr size_t SmallWithConstant = 16;
constexpr size_t SmallOfConstants = 60;
// None of that where it would write out more than so many instructions: functions that call small functions more than once
// double at each step.
constexpr uint64_t MostWrittenOut = 1000;
// Functions that are lowered one inside of the other, or written out there.
constexpr uint32_t MostNesting = 1000;
// Operations that are done although the choice may fall on a constant.
constexpr size_t MostChosen = 16;

// What the finished function shows.
void Tidy(WordFunction& function, ProgramState& state) {
  RemoveDead(function);
  MergeChecks(function);
  SimplifyCounters(function);
  AbsorbFromMemory(function);
  RemoveDead(function);
  AimCounters(function);
  RemoveDead(function);
  state.words.open.repeats |= RepeatLoops(function, state.choices.repeats);
}

bool IsCheapOp(const ir::Function& f, const ir::Inst& inst) {
  if (inst.op == Op::Const || inst.op == Op::PartDigest || inst.op == Op::PartXField ||
      inst.op == Op::MakeDigest || inst.op == Op::MakeXField)
    return true;
  const bool one_word = inst.type.scalar == Scalar::Field || inst.type.scalar == Scalar::Bool ||
                        (inst.type.scalar == Scalar::U32 && inst.op == Op::Eq);
  return one_word && ir::IsRemovable(ir::Info(inst.op)) && inst.regions.count == 0 &&
         inst.results.count == 1 && f.type(ir::Function::result_of(inst)).is_scalar() &&
         ir::Info(inst.op).law != ir::Law::Prelude;
}

}  // namespace

std::vector<Word> Selector::Params(ir::Type type) {
  std::vector<Word> words;
  for (uint64_t max : MaxOf(type)) words.push_back(b_.Param(max));
  return words;
}

// Operations of a side, ifs inside of it chosen likewise; nothing where one may trap or writes.
std::optional<size_t> Selector::WorkOf(ir::RegionId region) const {
  size_t work = 0;
  for (ir::InstId id : f().region(region).insts) {
    const ir::Inst& inst = f().inst(id);
    if (inst.op == Op::Yield || inst.op == Op::Const) continue;
    if (++work > MostChosen) return std::nullopt;
    if (IsCheapOp(f(), inst)) continue;
    if (inst.op != Op::If || inst.results.count != 1 ||
        f().type(ir::Function::result_of(inst)).scalar != Scalar::Bool)
      return std::nullopt;
    const std::optional<size_t> yes = WorkOf(ir::Function::region_of(inst, 0)),
                                no = WorkOf(ir::Function::region_of(inst, 1));
    if (!yes || !no || !Worthwhile(*yes, *no)) return std::nullopt;
    work += *yes + *no;
  }
  return work;
}

// Little to do: both sides are done and one is chosen. Where one side is a constant the choice is a single instruction, and
// a branch costs more than a dozen words.
bool Selector::Worthwhile(size_t yes, size_t no) const {
  return (yes <= 2 && no <= 2) || (std::min(yes, no) == 0 && std::max(yes, no) <= MostChosen);
}

bool Selector::AllConst(const std::vector<Word>& words) const {
  return std::all_of(words.begin(), words.end(), [&](Word w) { return b_.IsConst(w); });
}

void Selector::SetResults(const ir::Inst& inst, const std::vector<Word>& words) {
  size_t next = 0;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ir::ValueId result = ir::Function::result_of(inst, i);
    const uint32_t count = WordsOnMachine(f().type(result));
    Set(result, Slice(words, next, count));
    next += count;
  }
}

Result<void> Selector::If(const ir::Inst& inst) {
  const Word condition = Operand(inst, 0)[0];
  std::vector<uint64_t> max;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    for (uint64_t m : MaxOf(f().type(ir::Function::result_of(inst, i)))) max.push_back(m);
  const ir::RegionId sides[] = {ir::Function::region_of(inst, 0), ir::Function::region_of(inst, 1)};
  if (b_.IsConst(condition)) {
    SetResults(inst, TRY(Body(sides[b_.ValueOf(condition) != 0 ? 0 : 1])));
    return {};
  }
  const std::optional<size_t> work[] = {WorkOf(sides[0]), WorkOf(sides[1])};
  if (max.size() <= 2 && work[0] && work[1] && Worthwhile(*work[0], *work[1])) {
    const std::vector<Word> yes = TRY(Body(sides[0])), no = TRY(Body(sides[1]));
    SetResults(inst, ints_.Select(condition, yes, no));
    return {};
  }
  std::vector<uint32_t> regions;
  const auto below = below_;
  for (ir::RegionId side : sides) {
    regions.push_back(b_.OpenRegion());
    below_ = below;
    b_.CloseRegion(TRY(Body(side)));
  }
  below_ = below;
  const std::vector<Word> results = b_.Emit(WordOp::If, std::span(&condition, 1), max);
  b_.last_node().regions = regions;
  SetResults(inst, results);
  return {};
}

// A switch is a chain of comparisons; the last region is the default.
Result<void> Selector::IfChain(const ir::Inst& inst, uint32_t from) {
  std::vector<uint64_t> max;
  for (uint32_t i = 0; i < inst.results.count; ++i)
    for (uint64_t m : MaxOf(f().type(ir::Function::result_of(inst, i)))) max.push_back(m);
  const Limbs selector = Operand(inst, 0);
  const uint32_t cases = inst.regions.count - 1;
  const auto below = below_;
  std::function<Result<std::vector<Word>>(uint32_t)> chain =
      [&](uint32_t at) -> Result<std::vector<Word>> {
    if (at == cases) return Body(ir::Function::region_of(inst, at));
    const uint64_t word = static_cast<uint64_t>(f().word(inst, at));
    const Word equal = ints_.Eq(selector, ConstOp(OperandType(inst, 0), std::span(&word, 1)));
    if (b_.IsConst(equal, 1)) return Body(ir::Function::region_of(inst, at));
    if (b_.IsConst(equal, 0)) return chain(at + 1);
    std::vector<uint32_t> regions;
    regions.push_back(b_.OpenRegion());
    below_ = below;
    b_.CloseRegion(TRY(Body(ir::Function::region_of(inst, at))));
    regions.push_back(b_.OpenRegion());
    below_ = below;
    b_.CloseRegion(TRY(chain(at + 1)));
    std::vector<Word> results = b_.Emit(WordOp::If, std::span(&equal, 1), max);
    b_.last_node().regions = regions;
    return results;
  };
  const std::vector<Word> words = TRY(chain(from));
  below_ = below;
  size_t next = 0;
  for (uint32_t i = 0; i < inst.results.count; ++i) {
    const ir::ValueId id = ir::Function::result_of(inst, i);
    const uint32_t count = WordsOnMachine(f().type(id));
    Set(id, Slice(words, next, count));
    next += count;
  }
  return {};
}

Result<std::vector<Word>> Selector::Inlined(const ir::Program& program, const ir::Function& callee,
                                            const std::vector<Word>& arguments,
                                            const std::vector<bool>& raw, Location location) {
  if (depth_ > 400 || state_.nesting >= MostNesting)
    return Fail(Diag::LimitReached, "calls nest too deep to be written out", location);
  Scope inner{&program, &callee, {}, {}};
  size_t next = 0;
  for (uint32_t i = 0; i < callee.param_count(); ++i) {
    const uint32_t value = callee.param(i).index;
    if (raw[i]) {
      inner.raw.insert(value);
      inner.values[value] = {};
      continue;
    }
    const uint32_t count =
        callee.param_type(i).is_buffer() ? 2 : WordsOnMachine(callee.param_type(i));
    inner.values[value] = Slice(arguments, next, count);
    next += count;
  }
  Scope* outer = std::exchange(scope_, &inner);
  ++depth_;
  ++state_.nesting;
  auto words = Body(callee.body);
  --state_.nesting;
  --depth_;
  scope_ = outer;
  return words;
}

Result<void> Selector::CallPrelude(const ir::Inst& inst) {
  const ir::Program* program = TRY(ir::LoadPrelude(inst.op, inst.type));
  std::vector<Word> arguments;
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    arguments.insert(arguments.end(), Operand(inst, i).rbegin(), Operand(inst, i).rend());
  SetResult(inst,
            Ordered(TRY(Inlined(*program, program->entry_function(), arguments,
                                std::vector<bool>(inst.operands.count, false), inst.location))));
  return {};
}

// Whether a call of the program's own function is replaced by its body.
bool Selector::WrittenOut(const ir::Inst& inst, uint32_t callee,
                          const std::vector<Word>& arguments) const {
  if (state_.inline_all || state_.uses[callee] <= 1) return true;
  if (state_.written_out[callee] > MostWrittenOut) return false;
  if (auto chosen = state_.choices.written_out.find(callee);
      chosen != state_.choices.written_out.end())
    return chosen->second;
  const size_t size = state_.ir.functions[callee].insts.size();
  bool some = false;
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    some |= OperandType(inst, i).is_scalar() && AllConst(Operand(inst, i));
  const bool small =
      size <= SmallFunction ||
      (some && (size <= SmallWithConstant || (size <= SmallOfConstants && AllConst(arguments))));
  SelectChoices& open = state_.words.open;
  if (open.written_out.try_emplace(callee, small).first->second != small) open.mixed.insert(callee);
  return small;
}

Result<void> Selector::Call(const ir::Inst& inst) {
  const ir::FuncId id(static_cast<uint32_t>(f().word(inst, 0)));
  const ir::Function& callee = scope_->program->functions[id.index];
  std::vector<bool> raw(inst.operands.count, false);
  std::vector<Word> arguments;
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    if (scope_->raw.contains(f().operand(inst, i).index)) {
      raw[i] = true;
    } else {
      arguments.insert(arguments.end(), Operand(inst, i).rbegin(), Operand(inst, i).rend());
    }
  }
  if (scope_->program != &state_.ir || WrittenOut(inst, id.index, arguments)) {
    SetResults(inst, TRY(Inlined(*scope_->program, callee, arguments, raw, inst.location)));
    return {};
  }
  // Buffers of known lengths: a function made for them takes their places alone. The first lengths that come have it.
  std::vector<uint64_t> lengths(inst.operands.count, AnyLength);
  for (uint32_t i = 0; i < inst.operands.count; ++i)
    if (OperandType(inst, i).is_buffer() && !raw[i] && b_.IsConst(Operand(inst, i)[1]))
      lengths[i] = b_.ValueOf(Operand(inst, i)[1]);
  if (state_.lengths.try_emplace(std::pair(id.index, raw), lengths).first->second != lengths)
    lengths.assign(inst.operands.count, AnyLength);
  arguments.clear();
  for (uint32_t i = 0; i < inst.operands.count; ++i) {
    const std::vector<Word>& words = Operand(inst, i);
    arguments.insert(arguments.end(), words.rbegin() + (lengths[i] == AnyLength ? 0 : 1),
                     words.rend());
  }
  const auto key = std::tuple(id.index, raw, lengths);
  auto place = state_.functions.find(key);
  if (place == state_.functions.end()) {
    const uint32_t number = static_cast<uint32_t>(state_.words.functions.size());
    place = state_.functions.emplace(key, number).first;
    state_.words.functions.emplace_back();
    WordFunction made;
    made.name = callee.name;
    if (state_.nesting >= MostNesting)
      return Fail(Diag::LimitReached, "calls nest too deep for Triton VM", inst.location);
    ++state_.nesting;
    Selector selector(state_, made);
    TRY_VOID(selector.Function(id, raw, lengths));
    --state_.nesting;
    state_.words.functions[number] = std::move(made);
  }
  std::vector<uint64_t> max;
  for (ir::Type type : callee.results)
    for (uint64_t m : MaxOf(type)) max.push_back(m);
  SetResults(inst, b_.Emit(WordOp::Call, arguments, max, -1, place->second));
  return {};
}

Result<void> Selector::Function(ir::FuncId id, const std::vector<bool>& raw_params,
                                const std::vector<uint64_t>& lengths) {
  const ir::Function& function = state_.ir.functions[id.index];
  Scope scope{&state_.ir, &function, {}, {}};
  scope_ = &scope;
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    const uint32_t value = function.param(i).index;
    if (raw_params[i]) {
      scope.raw.insert(value);
      scope.values[value] = {};
    } else if (function.param_type(i).is_buffer()) {
      const Word length = lengths[i] == AnyLength ? b_.Param(MaxU32) : b_.Const(lengths[i]);
      scope.values[value] = {b_.Param(MaxField), length};
    } else {
      scope.values[value] = Ordered(Params(function.param_type(i)));
    }
  }
  b_.CloseRegion(TRY(Body(function.body)));
  scope_ = nullptr;
  Tidy(b_.function(), state_);
  return {};
}

// The results of a callable function as they lie on the stack.
std::vector<Word> Selector::Returned(const ir::Function& function,
                                     const std::vector<Word>& results) const {
  if (!state_.first_on_top) return results;
  std::vector<Word> turned;
  size_t end = results.size();
  for (size_t i = function.results.size(); i-- > 0;) {
    const size_t count = WordsOnMachine(function.results[i]);
    turned.insert(turned.end(), results.begin() + static_cast<ptrdiff_t>(end - count),
                  results.begin() + static_cast<ptrdiff_t>(end));
    end -= count;
  }
  return turned;
}

Result<void> Selector::Entry() {
  const ir::Function& function = state_.ir.entry_function();
  Scope scope{&state_.ir, &function, {}, {}};
  scope_ = &scope;
  op_ = Op::Input;
  for (uint32_t n = 0; n < function.param_count(); ++n) {
    const uint32_t i = state_.first_on_top ? function.param_count() - 1 - n : n;
    const ir::Type type = function.param_type(i);
    const uint32_t value = function.param(i).index;
    if (IsRawRam(function, i)) {
      scope.raw.insert(value);
      scope.values[value] = {};
    } else if (type.is_buffer() && state_.callable) {
      return Fail(Diag::Unsupported,
                  "a function that takes a buffer cannot be called from assembly: buffers lie "
                  "where the compiler puts them");
    } else if (type.is_buffer()) {
      const Word length = ReadBuffer(i, type);
      scope.values[value] = {b_.Const(ParameterBase * (i + 1)), length};
    } else if (state_.callable) {
      scope.values[value] = Ordered(Params(type));
    } else {
      scope.values[value] = ReadValue(WordOp::ReadIo, type, Site(Trap::OutOfBounds, Op::Input));
    }
  }
  const std::vector<Word> results = TRY(Body(function.body));
  size_t next = 0;
  std::vector<Word> written;
  for (ir::Type type : function.results) {
    const std::vector<Word> words = Slice(results, next, WordsOnMachine(type));
    written.insert(written.end(), words.begin(), words.end());
    next += words.size();
  }
  if (!state_.callable) b_.Write(written);
  for (uint32_t i = 0; i < function.param_count(); ++i) {
    const ir::Type type = function.param_type(i);
    if (!type.is_buffer() || type.access == ir::Access::In || IsRawRam(function, i)) continue;
    const std::vector<Word>& place = scope.values[function.param(i).index];
    WriteBuffer(place[0], place[1], type);
  }
  // Tables are known only now; they are written first.
  const size_t before = b_.function().regions[0].nodes.size();
  WriteTables();
  std::vector<uint32_t>& nodes = b_.function().regions[0].nodes;
  for (size_t i = before; i < nodes.size(); ++i) b_.function().nodes[nodes[i]].before.clear();
  std::rotate(nodes.begin(), nodes.begin() + before, nodes.end());
  b_.CloseRegion(state_.callable ? Returned(function, results) : std::vector<Word>{});
  scope_ = nullptr;
  Tidy(b_.function(), state_);
  return {};
}

bool IsRawRam(const ir::Function& function, uint32_t param) {
  const uint32_t value = function.param(param).index;
  const ir::Type type = function.param_type(param);
  return type.is_buffer() && type.scalar == Scalar::Field && value < function.value_names.size() &&
         function.value_names[value] == "ram";
}

namespace {

// How long a function gets when the calls in it are written out as WrittenOut may do. There is no recursion (WhyNot).
uint64_t LengthOf(const ir::Program& program, const std::vector<uint32_t>& uses, uint32_t id,
                  std::vector<uint64_t>& known) {
  if (known[id] != 0) return known[id];
  const ir::Function& function = program.functions[id];
  uint64_t sum = 0;
  for (const ir::Inst& inst : function.insts) {
    ++sum;
    if (inst.op != Op::Call) continue;
    const uint32_t callee = static_cast<uint32_t>(function.word(inst, 0));
    const uint64_t more = LengthOf(program, uses, callee, known);
    if (uses[callee] <= 1 ||
        (more <= MostWrittenOut && program.functions[callee].insts.size() <= SmallOfConstants))
      sum += more;
  }
  return known[id] = std::max<uint64_t>(sum, 1);
}

}  // namespace

Result<WordProgram> SelectWords(const ir::Program& program, const SelectOptions& options) {
  WordProgram words;
  ProgramState state{.ir = program, .words = words};
  state.check_raw = options.check_raw;
  state.callable = words.callable = options.callable;
  state.first_on_top = options.first_on_top;
  state.profile = options.profile;
  state.choices = options.choices;
  state.most_work = options.limits.program_insts;
  state.uses.assign(program.functions.size(), 0);
  for (const ir::Function& function : program.functions)
    for (const ir::Inst& inst : function.insts) {
      if (inst.op == Op::Call) ++state.uses[static_cast<size_t>(function.word(inst, 0))];
      if (inst.op == Op::Parallel) state.inline_all = true;
    }
  state.written_out.assign(program.functions.size(), 0);
  LengthOf(program, state.uses, program.entry.index, state.written_out);
  words.functions.emplace_back();
  WordFunction entry;
  entry.name = options.callable ? program.entry_function().name : "main";
  Selector selector(state, entry);
  TRY_VOID(selector.Entry());
  words.functions[0] = std::move(entry);
  if (state.beyond)
    return Fail(Diag::Unsupported,
                "a RAM address of 2^32 or more, in a program that needs RAM for values of its own: "
                "use one below",
                *state.beyond);
  words.own_ram = state.heap || state.scratch != ScratchBase;
  const ir::Function& function = program.entry_function();
  for (uint32_t i = 0; i < function.param_count(); ++i)
    words.own_ram |= function.param_type(i).is_buffer() && !IsRawRam(function, i);
  return words;
}

}  // namespace frazil::targets::tasm
