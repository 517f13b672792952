// Regions become braces, carried values become variables, everything else a constant local or part of an
// expression. A trap returns true at once: scratch memory is on the run's stack, which the entry point
// clears, so no cleanup code is needed on the way out.
#include "targets/c/function_emitter.h"

#include <fmt/format.h>

#include <cctype>

#include "base/check.h"
#include "targets/c/ctype.h"

namespace frazil::targets::c {

using namespace ir::names;

namespace {

std::unordered_set<std::string> WordsOfText(std::string_view text) {
  std::unordered_set<std::string> words;
  auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > i) words.emplace(text.substr(i, end - i));
    i = end > i ? end : i + 1;
  }
  return words;
}

// Something that a compiler could contract.
bool HasFloatProduct(const Function& function) {
  for (const Inst& inst : function.insts) {
    if (inst.op == Op::Mul && ir::IsFloat(inst.type.scalar)) return true;
  }
  return false;
}

}  // namespace

FunctionEmitter::FunctionEmitter(const Plan& plan, ir::FuncId id, Support& support)
    : plan_(plan),
      id_(id),
      function_(plan.program.functions[id.index]),
      facts_(plan.facts.functions[id.index]),
      support_(support),
      signature_(MakeSignature(function_, plan.facts.fallible[id.index], scope_, support)),
      write_(plan, function_, facts_, support) {
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    write_.SetName(function_.param(i), signature_.param_names[i]);
    write_.SetLength(function_.param(i), signature_.length_names[i]);
  }
}

std::string FunctionEmitter::Prototype() const {
  return Declaration(signature_, plan_.function_names[id_.index]);
}

std::string FunctionEmitter::Definition() {
  if (signature_.fallible) support_.Use("run");
  std::string head = Prototype() + " {\n";
  if (HasFloatProduct(function_)) {
    support_.Use("exact");
    head += "  FRZ_EXACT\n";
  }
  if (plan_.facts.recursive[id_.index])
    head += fmt::format("  if ({}(run)) return true;\n", support_.Use("stack"));
  const std::string mark = OpenScratch(function_.body);
  Body(function_.body);
  if (IsComplete(function_.body)) {
    const Inst& terminator = function_.inst(function_.region(function_.body).insts.back());
    Return(terminator);
    CloseScratch(mark);
    if (signature_.fallible) Line("return false;");
  }
  const auto words = WordsOfText(out_);
  auto ignore = [&](const std::string& name) {
    if (!words.contains(name)) head += fmt::format("  (void){};\n", name);
  };
  for (const CParameter& input : signature_.inputs) ignore(input.name);
  for (const CParameter& output : signature_.outputs) ignore(output.name);
  if (signature_.fallible && !plan_.facts.recursive[id_.index]) ignore("run");
  return head + out_ + "}\n";
}

// --- text -----------------------------------------------------------------------------------------------

void FunctionEmitter::Line(std::string_view text) {
  out_.append(static_cast<size_t>(2 * indent_), ' ');
  out_ += text;
  out_ += '\n';
}

void FunctionEmitter::Open(std::string_view text) {
  Line(text);
  ++indent_;
}

void FunctionEmitter::Close(std::string_view text) {
  --indent_;
  Line(text);
}

std::string FunctionEmitter::NewName(ValueId value) { return NewName(value, value); }

std::string FunctionEmitter::NewName(ValueId value, ValueId otherwise) {
  auto from_text = [&](ValueId v) {
    return v.index < function_.value_names.size() ? Identifier(function_.value_names[v.index])
                                                  : std::string();
  };
  std::string name = from_text(value);
  if (name.empty()) name = from_text(otherwise);
  if (name.empty()) name = fmt::format("v{}", value.index);
  return scope_.Add(name);
}

void FunctionEmitter::Define(const Inst& inst, const std::string& expression) {
  const ValueId result = Function::result_of(inst);
  if (!IsLive(result)) return;
  support_.UseType(TypeOf(result));
  const std::string name = NewName(result);
  write_.SetName(result, name);
  Line(fmt::format("const {} {} = {};", CTypeName(TypeOf(result)), name, expression));
}

bool FunctionEmitter::IsComplete(RegionId region) const {
  return facts_.reached[region.index] == function_.region(region).insts.size();
}

std::string FunctionEmitter::OpenScratch(RegionId region) {
  if (!facts_.allocates[region.index]) return "";
  const std::string mark = scope_.Add("scratch");
  Line(fmt::format("void* const {} = run->scratch;", mark));
  return mark;
}

void FunctionEmitter::CloseScratch(const std::string& mark) {
  if (!mark.empty()) Line(fmt::format("frz_release(run, {});", mark));
}

// --- regions --------------------------------------------------------------------------------------------

void FunctionEmitter::Body(RegionId region_id) {
  const ir::Region& region = function_.region(region_id);
  for (uint32_t i = 0; i < facts_.reached[region_id.index]; ++i) {
    const ir::InstId id = region.insts[i];
    const Inst& inst = function_.inst(id);
    if (!facts_.needed[id.index]) continue;
    if (inst.results.count == 1 && facts_.inlined[inst.results.begin]) continue;
    Instruction(inst);
  }
}

void FunctionEmitter::Instruction(const Inst& inst) {
  switch (inst.op) {
    case Op::Return:
    case Op::Yield:
    case Op::Condition: return;
    case Op::If: return If(inst);
    case Op::Switch: return Switch(inst);
    case Op::For: return For(inst);
    case Op::While: return While(inst);
    case Op::Parallel: return Parallel(inst);
    case Op::Call: return Call(inst);
    case Op::Length: return;
    case Op::Const:
      if (IsStruct(inst.type)) Define(inst, StructInitializer(function_.words_of(inst)));
      return;
    default: break;
  }
  if (Statement(inst)) return;
  if (IsLive(Function::result_of(inst))) Define(inst, write_.Compute(inst).text);
}

void FunctionEmitter::DeclareResults(const Inst& inst) {
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    const ValueId result = Function::result_of(inst, k);
    if (!IsLive(result)) continue;
    support_.UseType(TypeOf(result));
    write_.SetName(result, NewName(result));
    Line(fmt::format("{} {};", CTypeName(TypeOf(result)), write_.Name(result)));
  }
}

void FunctionEmitter::YieldInto(const Inst& owner, RegionId region) {
  if (!IsComplete(region)) return;
  const Inst& yield = function_.inst(function_.region(region).insts.back());
  for (uint32_t k = 0; k < owner.results.count; ++k) {
    const ValueId result = Function::result_of(owner, k);
    if (IsLive(result))
      Line(fmt::format("{} = {};", write_.Name(result), write_.Plain(Operand(yield, k))));
  }
}

void FunctionEmitter::IfBranch(const Inst& inst, uint32_t i) {
  const RegionId region = Function::region_of(inst, i);
  const std::string mark = OpenScratch(region);
  Body(region);
  YieldInto(inst, region);
  if (IsComplete(region)) CloseScratch(mark);
}

bool FunctionEmitter::IsEmptyBranch(const Inst& inst, uint32_t i) const {
  const RegionId region = Function::region_of(inst, i);
  if (!IsComplete(region)) return false;
  for (ir::InstId id : function_.region(region).insts) {
    if (facts_.needed[id.index]) return false;
  }
  for (uint32_t k = 0; k < inst.results.count; ++k) {
    if (IsLive(Function::result_of(inst, k))) return false;
  }
  return true;
}

void FunctionEmitter::If(const Inst& inst) {
  DeclareResults(inst);
  const ValueId condition = Operand(inst, 0);
  if (IsEmptyBranch(inst, 0)) {
    Open(fmt::format("if (!{}) {{", write_.Operand(condition)));
    IfBranch(inst, 1);
    return Close();
  }
  Open(fmt::format("if ({}) {{", write_.Plain(condition)));
  IfBranch(inst, 0);
  if (!IsEmptyBranch(inst, 1)) {
    Close("} else {");
    ++indent_;
    IfBranch(inst, 1);
  }
  Close();
}

void FunctionEmitter::Switch(const Inst& inst) {
  DeclareResults(inst);
  const ValueId selector = Operand(inst, 0);
  Open(fmt::format("switch ({}) {{", write_.Typed(selector).text));
  for (uint32_t i = 0; i < inst.regions.count; ++i) {
    std::string label = "default";
    if (i < inst.attributes.count) {
      const uint64_t word = static_cast<uint64_t>(function_.word(inst, i));
      label = "case " + Literal(TypeOf(selector), word, support_).text;
    }
    Open(label + ": {");
    IfBranch(inst, i);
    if (IsComplete(Function::region_of(inst, i))) Line("break;");
    Close();
  }
  Close();
}

// --- loops ------------------------------------------------------------------------------------------------

// A carried value, its region parameter and its result are one variable.
void FunctionEmitter::DeclareCarried(const Inst& loop) {
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId result = Function::result_of(loop, k);
    if (!IsLive(result)) continue;
    const ValueId param = CarriedParam(function_, loop, k);
    const ir::Type type = TypeOf(result);
    support_.UseType(type);
    const std::string init = write_.Plain(Operand(loop, FirstInit(loop) + k));
    const std::string name = NewName(result, param);
    write_.SetName(result, name);
    write_.SetName(param, name);
    Line(fmt::format("{} {} = {};", CTypeName(type), name, init));
  }
}

// Does the text of `value` mention the variable of `variable`?
bool FunctionEmitter::Reads(ValueId value, ValueId variable) const {
  if (value == variable) return true;
  if (!facts_.inlined[value.index]) return false;
  for (ValueId operand : function_.operands_of(function_.inst(facts_.definition[value.index]))) {
    if (Reads(operand, variable)) return true;
  }
  return false;
}

// The assignments happen at once in the IR; here in an order in which none overwrites what another reads,
// with a temporary where there is no such order.
void FunctionEmitter::AssignCarried(const Inst& loop, RegionId body) {
  if (!IsComplete(body)) return;
  const Inst& yield = function_.inst(function_.region(body).insts.back());
  struct Assignment {
    ValueId variable;
    ValueId value;
    std::string temporary;
  };
  std::vector<Assignment> open;
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId param = CarriedParam(function_, loop, k);
    const ValueId value = Operand(yield, k);
    if (IsLive(param) && value != param) open.push_back({param, value, ""});
  }
  while (!open.empty()) {
    size_t pick = 0;
    auto is_read = [&](size_t i) {
      for (size_t j = 0; j < open.size(); ++j) {
        if (j != i && open[j].temporary.empty() && Reads(open[j].value, open[i].variable))
          return true;
      }
      return false;
    };
    while (pick < open.size() && is_read(pick)) ++pick;
    if (pick == open.size()) {
      size_t first = 0;
      while (!open[first].temporary.empty()) ++first;
      Assignment& cyclic = open[first];
      cyclic.temporary = scope_.Add("next_" + write_.Name(cyclic.variable));
      Line(fmt::format("const {} {} = {};", CTypeName(TypeOf(cyclic.value)), cyclic.temporary,
                       write_.Plain(cyclic.value)));
      continue;
    }
    const Assignment& ready = open[pick];
    Line(fmt::format("{} = {};", write_.Name(ready.variable),
                     ready.temporary.empty() ? write_.Plain(ready.value) : ready.temporary));
    open.erase(open.begin() + static_cast<ptrdiff_t>(pick));
  }
}

void FunctionEmitter::FinishCarried(const Inst& loop) {
  for (uint32_t k = 0; k < loop.results.count; ++k) {
    const ValueId result = Function::result_of(loop, k);
    if (!IsLive(result) || !facts_.canonical[result.index]) continue;
    Line(fmt::format("{0} = {1}({0});", write_.Name(result),
                     support_.Use("nan_by_bits", TypeOf(result))));
  }
}

// i < hi holds, so i + 1 cannot wrap; a larger step is compared with what is left.
std::string FunctionEmitter::ForStep(const Inst& inst, const std::string& i,
                                     const std::string& hi) {
  const uint64_t step = static_cast<uint64_t>(function_.word(inst, 0));
  const ir::Type type = TypeOf(Operand(inst, 0));
  const int bits = ir::BitsOf(type);
  if (step == 1) return "++" + i;
  if (bits < 64 && step >> bits != 0) return fmt::format("{} = {}", i, hi);
  const uint64_t greatest = UINT64_MAX >> (64 - bits + (ir::IsSigned(type.scalar) ? 1 : 0));
  if (const auto constant = ConstantOf(function_, facts_, Operand(inst, 1))) {
    const bool negative = ir::IsSigned(type.scalar) && static_cast<int64_t>((*constant)[0]) < 0;
    if (step <= greatest && (negative || (*constant)[0] <= greatest - step + 1))
      return fmt::format("{} += {}", i, step);
  }
  const std::string left = bits < 32
                               ? fmt::format("{} - {}", hi, i)
                               : fmt::format("({0}){1} - ({0}){2}", ArithmeticType(type), hi, i);
  return fmt::format("{0} = {1} > {2} ? ({3})({0} + {4}) : {5}", i, left,
                     bits < 32 ? std::to_string(step) : UnsignedLiteral(type, step),
                     CTypeName(type), step, hi);
}

// The fuel of all turns. `never`: the test would say nothing, and compilers would warn about it.
void FunctionEmitter::TakeTrips(const Inst& loop, bool never, const std::string& step) {
  const std::string lo = write_.Plain(Operand(loop, 0));
  const std::string hi = write_.Plain(Operand(loop, 1));
  const std::string runs =
      never ? fmt::format("((void){}, false)", lo) : fmt::format("{} < {}", lo, hi);
  Line(fmt::format("if ({}(run, {}({}, (uint64_t){}, (uint64_t){}, {}), \"{}\", {})) {}",
                   support_.Use("take_fuel"), support_.Use("trips"), runs,
                   write_.Operand(Operand(loop, 0)), write_.Operand(Operand(loop, 1)), step,
                   ir::Info(loop.op).mnemonic, parallel_index_, Propagate()));
}

void FunctionEmitter::For(const Inst& inst) {
  const ir::Type type = TypeOf(Operand(inst, 0));
  const std::string lo = write_.Plain(Operand(inst, 0));
  const std::string hi = write_.Plain(Operand(inst, 1));
  const RegionId body = Function::region_of(inst, 0);
  const auto constant = ConstantOf(function_, facts_, Operand(inst, 1));
  const uint64_t least = ir::IsSigned(type.scalar) ? ~uint64_t{0} << (ir::BitsOf(type) - 1) : 0;
  // Compilers warn about i < 0 on unsigned types.
  const bool never = constant && (*constant)[0] == least;
  DeclareCarried(inst);
  if (meters()) TakeTrips(inst, never, fmt::format("{}u", function_.word(inst, 0)));
  const ValueId counter = Function::param_of(function_.region(body), 0);
  const std::string i = NewName(counter);
  write_.SetName(counter, i);
  const std::string test =
      never ? fmt::format("(void){}, false", i) : fmt::format("{} < {}", i, hi);
  Open(fmt::format("for ({} {} = {}; {}; {}) {{", CTypeName(type), i, lo, test,
                   ForStep(inst, i, hi)));
  if (meters())
    Line(fmt::format("if ({}(run, \"for\", {})) {}", support_.Use("stopped"), parallel_index_,
                     Propagate()));
  const std::string mark = OpenScratch(body);
  Body(body);
  AssignCarried(inst, body);
  if (IsComplete(body)) CloseScratch(mark);
  Close();
  FinishCarried(inst);
}

void FunctionEmitter::Parallel(const Inst& inst) {
  const std::string lo = write_.Plain(Operand(inst, 0));
  const std::string hi = write_.Plain(Operand(inst, 1));
  const RegionId body = Function::region_of(inst, 0);
  const ValueId counter = Function::param_of(function_.region(body), 0);
  const std::string outer_index = parallel_index_;
  const auto constant = ConstantOf(function_, facts_, Operand(inst, 1));
  const bool never = constant && (*constant)[0] == uint64_t{1} << 63;
  if (meters()) TakeTrips(inst, never, "1");
  const std::string i = NewName(counter);
  write_.SetName(counter, i);
  const std::string test =
      never ? fmt::format("(void){}, false", i) : fmt::format("{} < {}", i, hi);
  Line("/* parallel */");
  Open(fmt::format("for (int64_t {0} = {1}; {2}; ++{0}) {{", i, lo, test));
  if (outer_index == "-1") parallel_index_ = i;
  if (meters())
    Line(fmt::format("if ({}(run, \"parallel\", {})) {}", support_.Use("stopped"), parallel_index_,
                     Propagate()));
  const std::string mark = OpenScratch(body);
  Body(body);
  if (IsComplete(body)) CloseScratch(mark);
  parallel_index_ = outer_index;
  Close();
}

// What the test defines is visible in the body, its scratch too: both live in one pair of braces.
void FunctionEmitter::While(const Inst& inst) {
  const RegionId test = Function::region_of(inst, 0);
  const RegionId body = Function::region_of(inst, 1);
  DeclareCarried(inst);
  const ir::Region& test_region = function_.region(test);
  bool has_statements = facts_.allocates[test.index] || !IsComplete(test);
  for (uint32_t i = 0; i + 1 < facts_.reached[test.index]; ++i) {
    const Inst& step = function_.inst(test_region.insts[i]);
    const bool in_place =
        step.results.count == 1 && (facts_.inlined[step.results.begin] || step.op == Op::Length ||
                                    (step.op == Op::Const && !IsStruct(step.type)));
    has_statements |= facts_.needed[test_region.insts[i].index] && !in_place;
  }
  std::string test_mark;
  if (has_statements) {
    Open("for (;;) {");
    test_mark = OpenScratch(test);
    Body(test);
    if (!IsComplete(test)) return Close();
  }
  const ValueId condition = Operand(function_.inst(test_region.insts.back()), 0);
  if (!has_statements) {
    Open(fmt::format("while ({}) {{", write_.Plain(condition)));
  } else if (test_mark.empty()) {
    Line(fmt::format("if (!{}) break;", write_.Operand(condition)));
  } else {
    Open(fmt::format("if (!{}) {{", write_.Operand(condition)));
    CloseScratch(test_mark);
    Line("break;");
    Close();
  }
  const std::string mark = OpenScratch(body);
  Body(body);
  if (IsComplete(body)) {
    AssignCarried(inst, body);
    CloseScratch(mark);
    CloseScratch(test_mark);
    if (meters())
      Line(fmt::format("if ({}(run, 1, \"while\", {})) {}", support_.Use("take_fuel"),
                       parallel_index_, Propagate()));
    if (polls())
      Line(fmt::format("if ({}(run, \"while\", {})) {}", support_.Use("stopped"), parallel_index_,
                       Propagate()));
  }
  Close();
  FinishCarried(inst);
}

// --- calls and returns ------------------------------------------------------------------------------------

void FunctionEmitter::Return(const Inst& inst) {
  if (!signature_.returned.empty())
    return Line(fmt::format("return {};", write_.Plain(Operand(inst, 0))));
  for (uint32_t k = 0; k < inst.operands.count; ++k)
    Line(fmt::format("*{} = {};", signature_.outputs[k].name, write_.Plain(Operand(inst, k))));
}

std::string FunctionEmitter::Propagate() { return "return true;"; }

void FunctionEmitter::Call(const Inst& inst) {
  const uint32_t callee = static_cast<uint32_t>(function_.word(inst, 0));
  const Function& target = plan_.program.functions[callee];
  const bool fallible = plan_.facts.fallible[callee];
  const bool counted = !target.is_prelude && !function_.is_prelude;
  const bool returns = !fallible && inst.results.count == 1;
  std::string arguments;
  auto add = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
  for (ValueId operand : function_.operands_of(inst)) {
    add(write_.Plain(operand));
    if (TypeOf(operand).is_buffer()) add(write_.LengthOf(operand));
  }
  for (uint32_t k = 0; k < inst.results.count && !returns; ++k) {
    const ValueId result = Function::result_of(inst, k);
    support_.UseType(TypeOf(result));
    write_.SetName(result, NewName(result));
    Line(fmt::format("{} {};", CTypeName(TypeOf(result)), write_.Name(result)));
    add("&" + write_.Name(result));
  }
  if (fallible) add("run");
  const std::string call = fmt::format("{}({})", plan_.function_names[callee], arguments);
  std::string checks;
  if (counted && plan_.metered) {
    checks = fmt::format("{}(run, 1, \"call\", -1) || {}(run, \"call\", -1) || ",
                         support_.Use("take_fuel"), support_.Use("stopped"));
  }
  if (counted) checks += support_.Use("enter") + "(run, -1)";
  if (fallible) checks += (checks.empty() ? "" : " || ") + call;
  if (!checks.empty()) {
    const bool in_parallel = parallel_index_ != "-1";
    Line(fmt::format("if ({}) return {};", checks,
                     in_parallel
                         ? fmt::format("{}(run, {})", support_.Use("trap_at"), parallel_index_)
                         : "true"));
  }
  if (returns && IsLive(Function::result_of(inst)))
    Define(inst, call);
  else if (!fallible)
    Line(call + ";");
  if (counted) Line(support_.Use("leave") + "(run);");
}

}  // namespace frazil::targets::c
