// Lowering: one walk over the program that hands out registers and writes instructions. Nothing is optimised here: each
// op that has an effect, a trap or a use becomes one instruction, so that lifting can give the program back. Values that
// pass through a structure share one register with its results; a value that is yielded is computed there directly where
// that register is free, else it is moved.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/digest.h"
#include "ir/kernel.h"
#include "targets/isa/isa.h"
#include "targets/isa/lift.h"
#include "targets/isa/lower_places.h"

namespace frazil::targets::isa {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::ValueId;
using machines::simt::Address;
using machines::simt::Condition;
using machines::simt::ImmediateB;
using machines::simt::Instruction;
using machines::simt::Module;
using machines::simt::ModuleParts;
using machines::simt::Opcode;
using machines::simt::Shape;
using machines::simt::Type;

constexpr uint32_t PredicatesHandedOut =
    13;  // the others hold spilled truth values while they are used
constexpr uint32_t PredicatesForAll =
    5;  // beyond these only what structures carry, which cannot be spilled

class Lowering {
 public:
  explicit Lowering(const ir::Program& program)
      : program_(program),
        function_(program.entry_function()),
        ranges_(function_),
        registers_(machines::simt::FirstReadOnly, ranges_.positions()),
        predicates_(PredicatesHandedOut, ranges_.positions()),
        place_(function_.values.size()),
        hint_(function_.values.size()),
        owned_elsewhere_(function_.values.size(), false),
        table_(program.data.size(), -1) {}

  Result<Module> Run() {
    DeclareParams();
    parts_.name = function_.name;
    for (ir::Type type : function_.results) parts_.results.push_back(type.scalar);
    LoadParams();
    LowerRegion(function_.body);
    if (!failed_.empty()) return Fail(Diag::Unsupported, failed_, failed_at_);
    return Seal(parts_);
  }

 private:
  // Where a value is: a register, a predicate, or, for a spilled truth value, a register that holds it.
  struct Home {
    enum Kind : uint8_t { None, Register, Predicate, Spilled } kind = None;
    uint8_t number = 0;
    friend bool operator==(const Home&, const Home&) = default;
  };
  // A value that is yielded: the home it would best be computed in, and the parameter that must be dead by then.
  struct Hint {
    Home home;
    ValueId until;
  };

  void DeclareParams() {
    ir::KernelSignature signature = ir::SignatureOf(program_);
    uint8_t buffers = 0;
    for (uint32_t i = 0; i < signature.params.size(); ++i) {
      ir::KernelParam& param = signature.params[i];
      ModuleParts::Param row{std::move(param.name), param.type.scalar, param.type.is_buffer(),
                             param.type.access,     param.role,        std::move(param.buffers)};
      if (row.is_buffer) place_[function_.param(i).index].number = buffers++;
      parts_.params.push_back(std::move(row));
    }
    buffers_ = buffers;
  }

  void LoadParams() {
    for (uint32_t i = 0; i < function_.param_count(); ++i) {
      ValueId param = function_.param(i);
      if (function_.type(param).is_buffer() || ranges_.uses(param) == 0) continue;
      Instruction inst{.op = Opcode::Ldp, .type = function_.type(param).scalar, .imm = i};
      DefineNow(param, 0, inst);
    }
  }

  void Refuse(std::string why) {
    if (!failed_.empty()) return;
    failed_ = std::move(why);
    failed_at_ = location_;
  }

  void Emit(const Instruction& inst) {
    if (location_.line != line_.line || location_.column != line_.column) {
      parts_.lines.push_back(
          {static_cast<uint32_t>(parts_.code.size()), location_.line, location_.column});
      line_ = location_;
    }
    parts_.code.push_back(inst);
  }

  // --- places ------------------------------------------------------------------------------------------------

  // A home for a value from now until `until`. `carried`: a truth value must be in a predicate.
  Home TakeHome(ir::Scalar type, uint32_t until, bool carried) {
    if (type == ir::Scalar::Bool) {
      bool spill = !carried && predicates_.in_use() >= PredicatesForAll;
      int predicate = spill ? -1 : predicates_.Take(until);
      if (predicate >= 0) return {Home::Predicate, static_cast<uint8_t>(predicate)};
      if (carried) {
        Refuse(fmt::format(
            "more than {} truth values are alive at once around a structure that carries one",
            PredicatesHandedOut));
        return {Home::Predicate, 0};
      }
    }
    int number = registers_.Take(until);
    if (number < 0) {
      Refuse(
          "more than 252 values are alive at once, which is more than the machine has registers");
      number = 0;
    }
    return {type == ir::Scalar::Bool ? Home::Spilled : Home::Register,
            static_cast<uint8_t>(number)};
  }

  bool IsUsable(const Hint& hint, uint32_t position) const {
    return hint.home.kind != Home::None &&
           (!hint.until.valid() || ranges_.last_use(hint.until) <= position);
  }
  Home HomeOf(const Inst& inst, uint32_t operand) const {
    return place_[function_.operand(inst, operand).index];
  }

  Home ChooseHome(ValueId value, uint32_t position, bool carried) {
    const Hint& hint = hint_[value.index];
    return IsUsable(hint, position)
               ? hint.home
               : TakeHome(function_.type(value).scalar, ranges_.last_use(value), carried);
  }

  // The instruction's result is `value`: chooses its home, and writes the instruction.
  void Define(ValueId value, uint32_t position, const Instruction& inst) {
    Release(position);
    DefineNow(value, position, inst);
  }
  void DefineNow(ValueId value, uint32_t position, Instruction inst) {
    Home home = ChooseHome(value, position, false);
    place_[value.index] = home;
    if (home.kind != Home::Spilled) {
      inst.dst = home.number;
      Emit(inst);
      return;
    }
    inst.dst = PredicatesHandedOut;
    Emit(inst);
    Emit({.op = Opcode::PredToReg,
          .type = Type::Bool,
          .dst = home.number,
          .a = PredicatesHandedOut});
  }

  // The number to read a value by. A spilled truth value is loaded into one of the last predicates.
  uint8_t Read(ValueId value, uint8_t operand = 0) {
    const Home& home = place_[value.index];
    if (home.kind != Home::Spilled) return home.number;
    uint8_t predicate = static_cast<uint8_t>(PredicatesHandedOut + operand);
    Emit({.op = Opcode::RegToPred, .type = Type::Bool, .dst = predicate, .a = home.number});
    return predicate;
  }

  uint8_t Buffer(ValueId value) const { return place_[value.index].number; }

  void Release(uint32_t position) {
    registers_.Release(position);
    predicates_.Release(position);
  }

  // --- moves: all at once, in an order that overwrites nothing that is still needed ------------------------------

  struct Move {
    Home to, from;
    ir::Scalar type;
  };

  void EmitMove(const Move& move) {
    if (move.from.kind == Home::Spilled) {
      Emit({.op = Opcode::RegToPred,
            .type = Type::Bool,
            .dst = move.to.number,
            .a = move.from.number});
    } else {
      Emit({.op = Opcode::Mov, .type = move.type, .dst = move.to.number, .a = move.from.number});
    }
  }

  void EmitMoves(std::vector<Move> moves, uint32_t position) {
    std::erase_if(moves, [](const Move& m) { return m.to == m.from; });
    while (!moves.empty()) {
      auto ready = std::ranges::find_if(moves, [&](const Move& m) {
        return std::ranges::none_of(
            moves, [&](const Move& other) { return &other != &m && other.from == m.to; });
      });
      if (ready != moves.end()) {
        EmitMove(*ready);
        moves.erase(ready);
        continue;
      }
      // A circle: the first one's old value goes aside.
      Home aside = TakeHome(moves[0].type, position, true);
      EmitMove({aside, moves[0].to, moves[0].type});
      for (Move& move : moves)
        if (move.from == moves[0].to) move.from = aside;
    }
  }

  // --- regions and structures --------------------------------------------------------------------------------------

  void LowerRegion(ir::RegionId id) {
    size_t allocated = allocated_.size();
    LowerInsts(id);
    FreeBuffers(allocated);
  }

  void LowerInsts(ir::RegionId id) {
    for (ir::InstId inst_id : function_.region(id).insts) {
      if (!ranges_.is_kept(inst_id) || !failed_.empty()) continue;
      const Inst& inst = function_.inst(inst_id);
      if (inst.location.line != 0) location_ = inst.location;
      LowerInst(inst, inst_id);
      Release(ranges_.end_of(inst_id));
    }
  }

  void FreeBuffers(size_t down_to) {
    for (; allocated_.size() > down_to; allocated_.pop_back())
      free_buffers_[static_cast<size_t>(allocated_.back().second)].push_back(
          allocated_.back().first);
  }

  // Homes for what a structure carries or gives: one for each result, kept until the result's last use.
  std::vector<Home> TakeCarried(const Inst& inst, uint32_t position,
                                std::span<const ValueId> inits) {
    std::vector<Home> homes;
    for (uint32_t i = 0; i < inst.results.count; ++i) {
      ValueId result = Function::result_of(inst, i);
      uint32_t until = ranges_.last_use(result);
      Home home;
      const Hint& hint = hint_[result.index];
      bool hinted = IsUsable(hint, position);
      // The bounds of a loop are read after the initial values have been moved.
      if (hinted && inst.op == Op::For &&
          (hint.home == HomeOf(inst, 0) || hint.home == HomeOf(inst, 1))) {
        hint_[result.index] = {};
        hinted = false;
      }
      if (!hinted && i < inits.size() && CanTakeOver(inits[i], position, homes)) {
        home = place_[inits[i].index];
        (home.kind == Home::Predicate ? predicates_ : registers_).Keep(home.number, until);
      } else {
        home = ChooseHome(result, position, true);
      }
      homes.push_back(home);
      place_[result.index] = home;
    }
    return homes;
  }

  // An initial value that dies here leaves its own register to what is carried.
  bool CanTakeOver(ValueId init, uint32_t position, std::span<const Home> taken) const {
    const Home& home = place_[init.index];
    if (home.kind != Home::Register && home.kind != Home::Predicate) return false;
    if (ranges_.last_use(init) != position || owned_elsewhere_[init.index]) return false;
    return std::ranges::find(taken, home) == taken.end();
  }

  void EmitCarries(const Inst& inst, std::span<const Home> homes) {
    for (uint32_t i = 0; i < homes.size(); ++i)
      Emit({.op = Opcode::Carry,
            .type = function_.type(Function::result_of(inst, i)).scalar,
            .dst = homes[i].number});
  }

  void MoveInits(std::span<const ValueId> inits, std::span<const Home> homes, uint32_t position) {
    std::vector<Move> moves;
    for (uint32_t i = 0; i < homes.size(); ++i)
      moves.push_back({homes[i], place_[inits[i].index], function_.type(inits[i]).scalar});
    EmitMoves(std::move(moves), position);
  }

  // What a region yields had best be computed in the homes that it is yielded to.
  void HintYields(ir::RegionId id, std::span<const Home> homes, const ir::Region* params,
                  uint32_t first) {
    const ir::Region& region = function_.region(id);
    const Inst& yield = function_.inst(region.insts.back());
    for (uint32_t i = 0; i < homes.size(); ++i) {
      ValueId value = function_.operand(yield, i);
      ir::InstId def = function_.values[value.index].def;
      bool made_here = def.valid() && ranges_.home(def) == id;
      if (!made_here || hint_[value.index].home.kind != Home::None) continue;
      hint_[value.index] = {homes[i],
                            params != nullptr ? Function::param_of(*params, first + i) : ValueId{}};
      owned_elsewhere_[value.index] = true;
    }
  }

  void MoveYields(ir::RegionId id, std::span<const Home> homes) {
    if (homes.empty()) return;
    ir::InstId yield_id = function_.region(id).insts.back();
    const Inst& yield = function_.inst(yield_id);
    std::vector<Move> moves;
    for (uint32_t i = 0; i < homes.size(); ++i) {
      ValueId value = function_.operand(yield, i);
      moves.push_back({homes[i], place_[value.index], function_.type(value).scalar});
    }
    EmitMoves(std::move(moves), ranges_.begin_of(yield_id));
  }

  void BindParams(const ir::Region& region, uint32_t first, std::span<const Home> homes) {
    for (uint32_t i = 0; i < homes.size(); ++i) {
      ValueId param = Function::param_of(region, first + i);
      place_[param.index] = homes[i];
      owned_elsewhere_[param.index] = true;
    }
  }

  void LowerIf(const Inst& inst, uint32_t position) {
    uint8_t condition = Read(function_.operand(inst, 0));
    std::vector<Home> homes = TakeCarried(inst, position, {});
    Emit({.op = Opcode::If, .a = condition});
    Release(position);
    EmitCarries(inst, homes);
    LowerBranch(inst, 0, homes);
    bool empty = function_.region(Function::region_of(inst, 1)).insts.size() == 1;
    if (!empty || !homes.empty()) {
      Emit({.op = Opcode::Else});
      LowerBranch(inst, 1, homes);
    }
    Emit({.op = Opcode::End});
  }

  void LowerBranch(const Inst& inst, uint32_t index, std::span<const Home> homes) {
    ir::RegionId region = Function::region_of(inst, index);
    HintYields(region, homes, nullptr, 0);
    LowerRegion(region);
    MoveYields(region, homes);
  }

  void LowerSwitch(const Inst& inst, uint32_t position) {
    ValueId selector = function_.operand(inst, 0);
    std::vector<Home> homes = TakeCarried(inst, position, {});
    Emit({.op = Opcode::Switch, .type = function_.type(selector).scalar, .a = Read(selector)});
    Release(position);
    EmitCarries(inst, homes);
    for (uint32_t i = 0; i < inst.regions.count; ++i) {
      bool is_default = i + 1 == inst.regions.count;
      if (is_default) {
        Emit({.op = Opcode::Default});
      } else {
        Emit({.op = Opcode::Case, .imm = static_cast<uint64_t>(function_.word(inst, i))});
      }
      LowerBranch(inst, i, homes);
    }
    Emit({.op = Opcode::End});
  }

  void LowerFor(const Inst& inst, uint32_t position, uint32_t end) {
    ir::RegionId body = Function::region_of(inst, 0);
    const ir::Region& region = function_.region(body);
    ValueId lo = function_.operand(inst, 0), hi = function_.operand(inst, 1);
    std::span<const ValueId> inits = function_.operands_of(inst).subspan(2);
    std::vector<Home> homes = TakeCarried(inst, position, inits);
    MoveInits(inits, homes, position);
    Home counter = TakeHome(function_.type(lo).scalar, end, false);
    place_[Function::param_of(region, 0).index] = counter;
    owned_elsewhere_[Function::param_of(region, 0).index] = true;
    Emit({.op = inst.op == Op::Parallel ? Opcode::Par : Opcode::For,
          .type = function_.type(lo).scalar,
          .dst = counter.number,
          .a = Read(lo),
          .b = Read(hi),
          .imm = inst.op == Op::Parallel ? 1 : static_cast<uint64_t>(function_.word(inst, 0))});
    Release(position);
    EmitCarries(inst, homes);
    BindParams(region, 1, homes);
    HintYields(body, homes, &region, 1);
    LowerRegion(body);
    MoveYields(body, homes);
    Emit({.op = Opcode::End});
  }

  void LowerWhile(const Inst& inst, uint32_t position) {
    ir::RegionId test = Function::region_of(inst, 0), body = Function::region_of(inst, 1);
    std::span<const ValueId> inits = function_.operands_of(inst);
    std::vector<Home> homes = TakeCarried(inst, position, inits);
    MoveInits(inits, homes, position);
    Emit({.op = Opcode::While});
    Release(position);
    EmitCarries(inst, homes);
    BindParams(function_.region(test), 0, homes);
    HintYields(body, homes, &function_.region(test), 0);
    size_t allocated = allocated_.size();
    LowerInsts(test);  // the body sees what it allocates
    LowerInsts(body);
    FreeBuffers(allocated);
    MoveYields(body, homes);
    Emit({.op = Opcode::End});
  }

  // --- instructions --------------------------------------------------------------------------------------------------

  // Which operand stands in the instruction itself: a constant that nothing else uses, of the same region; -1: none.
  int ImmediateOperand(const Inst& user, ir::InstId id) const {
    std::optional<Opcode> opcode = machines::simt::OpcodeOf(user.op, user.type.scalar);
    bool binary = ConditionOf(user.op) || (opcode && Info(*opcode).shape == Shape::DAB);
    if (!binary) return -1;
    auto fits = [&](uint32_t operand) {
      ValueId value = function_.operand(user, operand);
      ir::InstId def = function_.values[value.index].def;
      if (!def.valid() || ranges_.uses(value) != 1 || ranges_.home(def) != ranges_.home(id))
        return false;
      const Inst& inst = function_.inst(def);
      return inst.op == Op::Const && inst.type.scalar != ir::Scalar::Bool;
    };
    if (fits(1)) return 1;
    // Operands change places here; canonical form puts them in order again, unless both are the same constant.
    ir::InstId other = function_.values[function_.operand(user, 1).index].def;
    bool two_constants = other.valid() && function_.inst(other).op == Op::Const;
    return ir::Info(user.op).law == ir::Law::Commutes && !two_constants && fits(0) ? 0 : -1;
  }

  bool IsImmediate(const Inst& constant) const {
    ValueId value = Function::result_of(constant);
    if (ranges_.uses(value) != 1) return false;
    ir::InstId user = ranges_.user(value);
    int operand = ImmediateOperand(function_.inst(user), user);
    return operand >= 0 &&
           function_.operand(function_.inst(user), static_cast<uint32_t>(operand)) == value;
  }

  static std::optional<Condition> ConditionOf(Op op) {
    if (op < Op::Eq || op > Op::Ge) return std::nullopt;
    return static_cast<Condition>(static_cast<int>(op) - static_cast<int>(Op::Eq));
  }
  static_assert(static_cast<int>(Op::Ge) - static_cast<int>(Op::Eq) == 5);

  void LowerBinary(const Inst& inst, ir::InstId id, Instruction out) {
    int immediate = ImmediateOperand(inst, id);
    out.a = Read(function_.operand(inst, immediate == 0 ? 1 : 0), 0);
    if (immediate >= 0) {
      ValueId constant = function_.operand(inst, static_cast<uint32_t>(immediate));
      out.aux |= ImmediateB;
      out.imm = function_.words_of(function_.inst(function_.values[constant.index].def))[0];
    } else {
      out.b = Read(function_.operand(inst, 1), 1);
    }
    Define(Function::result_of(inst), ranges_.begin_of(id), out);
  }

  void LowerReturn(const Inst& inst) {
    for (uint32_t i = 0; i < inst.operands.count; ++i) {
      ValueId value = function_.operand(inst, i);
      Emit(
          {.op = Opcode::Result, .type = function_.type(value).scalar, .a = Read(value), .imm = i});
    }
    Emit({.op = Opcode::Exit});
  }

  // A scratch buffer ends with its region; then its number is free for another of the same type.
  void LowerAlloc(const Inst& inst) {
    std::vector<uint8_t>& free = free_buffers_[static_cast<size_t>(inst.type.scalar)];
    uint8_t number = 0;
    if (!free.empty()) {
      number = free.back();
      free.pop_back();
    } else {
      if (buffers_ == machines::simt::MaxBuffers)
        return Refuse("more than 256 buffers are alive at once");
      number = static_cast<uint8_t>(buffers_++);
      parts_.scratch.push_back(inst.type.scalar);
    }
    allocated_.push_back({number, inst.type.scalar});
    place_[Function::result_of(inst).index].number = number;
    Emit({.op = Opcode::Alloc,
          .type = inst.type.scalar,
          .dst = number,
          .a = Read(function_.operand(inst, 0)),
          .imm = Source(inst)});
  }

  // The number of the op that the instruction stands for.
  uint64_t Source(const Inst& inst) {
    if (!inst.source_op) return 0;
    const std::optional<uint64_t> number = machines::simt::NumberOfSource(*inst.source_op);
    if (!number)
      Refuse(fmt::format("'{} as {}' has no form on the machine", ir::Info(inst.op).mnemonic,
                         ir::Info(*inst.source_op).mnemonic));
    return number.value_or(0);
  }

  void LowerMemory(const Inst& inst, ir::InstId id) {
    Instruction out{.op = *machines::simt::OpcodeOf(inst.op, inst.type.scalar),
                    .type = inst.type.scalar,
                    .aux = static_cast<uint8_t>(Address::Elements),
                    .a = Buffer(function_.operand(inst, 0)),
                    .b = Read(function_.operand(inst, 1))};
    if (inst.op != Op::Load) out.c = Read(function_.operand(inst, 2));
    if (inst.op == Op::Load) out.imm = Source(inst);
    if (inst.op == Op::AtomicCas) out.imm = Read(function_.operand(inst, 3));
    if (inst.op == Op::AtomicRmw)
      out.aux |= static_cast<uint8_t>(function_.word(inst, 0) << 4 |
                                      (function_.word(inst, 1) != 0 ? 0x80 : 0));
    if (inst.op == Op::Store) return Emit(out);
    Define(Function::result_of(inst), ranges_.begin_of(id), out);
  }

  uint64_t Table(uint32_t data) {
    if (table_[data] < 0) {
      const ir::Data& from = program_.data[data];
      table_[data] = static_cast<int64_t>(parts_.tables.size());
      parts_.tables.push_back({from.name, from.element.scalar, from.words});
    }
    return static_cast<uint64_t>(table_[data]);
  }

  // Ops of a row without structure: their operands in order.
  void LowerPlain(const Inst& inst, ir::InstId id, Opcode opcode) {
    Instruction out{.op = opcode, .type = inst.type.scalar};
    uint8_t* slots[] = {&out.a, &out.b, &out.c};
    CHECK(inst.operands.count <= 3);
    for (uint32_t i = 0; i < inst.operands.count; ++i)
      *slots[i] = Read(function_.operand(inst, i), static_cast<uint8_t>(i));
    if (Info(opcode).shape == Shape::Convert)
      out.aux = static_cast<uint8_t>(function_.type(function_.operand(inst, 0)).scalar);
    Define(Function::result_of(inst), ranges_.begin_of(id), out);
  }

  void LowerInst(const Inst& inst, ir::InstId id) {
    uint32_t position = ranges_.begin_of(id);
    ir::Scalar type = inst.type.scalar;
    switch (inst.op) {
      case Op::Const:
        if (IsImmediate(inst)) return;
        return Define(Function::result_of(inst), position,
                      {.op = Opcode::MovImm, .type = type, .imm = function_.words_of(inst)[0]});
      case Op::Lookup:
        return Define(Function::result_of(inst), position,
                      {.op = Opcode::Lut,
                       .type = type,
                       .a = Read(function_.operand(inst, 0)),
                       .imm = Table(static_cast<uint32_t>(function_.word(inst, 0)))});
      case Op::Load:
      case Op::Store:
      case Op::AtomicRmw:
      case Op::AtomicCas: return LowerMemory(inst, id);
      case Op::Length:
        return Define(Function::result_of(inst), position,
                      {.op = Opcode::Len, .type = type, .a = Buffer(function_.operand(inst, 0))});
      case Op::Alloc: return LowerAlloc(inst);
      case Op::Assert:
        return Emit(
            {.op = Opcode::Assert, .a = Read(function_.operand(inst, 0)), .imm = Source(inst)});
      case Op::Unreachable: return Emit({.op = Opcode::Trap});
      case Op::Barrier: return Emit({.op = Opcode::BarSync});
      case Op::If: return LowerIf(inst, position);
      case Op::Switch: return LowerSwitch(inst, position);
      case Op::For:
      case Op::Parallel: return LowerFor(inst, position, ranges_.end_of(id));
      case Op::While: return LowerWhile(inst, position);
      case Op::Condition:
        return Emit({.op = Opcode::BreakUnless, .a = Read(function_.operand(inst, 0))});
      case Op::Yield: return;
      case Op::Return: return LowerReturn(inst);
      default: break;
    }
    if (std::optional<Condition> condition = ConditionOf(inst.op))
      return LowerBinary(
          inst, id, {.op = Opcode::Set, .type = type, .aux = static_cast<uint8_t>(*condition)});
    std::optional<Opcode> opcode = machines::simt::OpcodeOf(inst.op, type);
    if (!opcode) return Refuse(fmt::format("{} has no instruction", ir::Info(inst.op).mnemonic));
    if (Info(*opcode).shape == Shape::DAB)
      return LowerBinary(inst, id, {.op = *opcode, .type = type});
    LowerPlain(inst, id, *opcode);
  }

  const ir::Program& program_;
  const Function& function_;
  LiveRanges ranges_;
  Pool registers_, predicates_;
  std::vector<Home> place_;
  std::vector<Hint> hint_;
  std::vector<bool> owned_elsewhere_;  // values in a register that is kept for something else
  std::vector<int64_t> table_;         // by data of the program
  uint32_t buffers_ = 0;
  std::vector<std::pair<uint8_t, ir::Scalar>> allocated_;  // scratch of open regions
  std::array<std::vector<uint8_t>, machines::simt::TypeCount> free_buffers_;
  ModuleParts parts_;
  Location location_, line_;
  std::string failed_;
  Location failed_at_;
};

}  // namespace

Result<Module> LowerPrepared(const ir::Program& prepared) { return Lowering(prepared).Run(); }

Result<Module> Lower(const ir::Program& program) {
  return LowerPrepared(TRY(PrepareProgram(program)));
}

}  // namespace frazil::targets::isa
