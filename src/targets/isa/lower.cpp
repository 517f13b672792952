// Lowering: one walk over the program that hands out registers and writes instructions. Nothing is optimized here: each
// op that has an effect, a trap or a use becomes one instruction, so that lifting can give the program back. Values that
// pass through a structure share one register with its results; a value that is yielded is computed there directly where
// that register is free, else it is moved.
#include "targets/isa/lowering.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/digest.h"
#include "ir/kernel.h"
#include "targets/isa/isa.h"
#include "targets/isa/lift.h"
#include "targets/isa/simt_names.h"

namespace frazil::targets::isa {

using namespace ir::names;
using namespace simt_names;

Result<Module> Lowering::Run() {
  DeclareParams();
  parts_.name = function_.name;
  for (ir::Type type : function_.results) parts_.results.push_back(type.scalar);
  LoadParams();
  LowerRegion(function_.body);
  if (!failed_.empty()) return Fail(Diag::Unsupported, failed_, failed_at_);
  return Seal(parts_);
}

void Lowering::DeclareParams() {
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

void Lowering::LoadParams() {
  for (uint32_t i = 0; i < function_.param_count(); ++i) {
    ValueId param = function_.param(i);
    if (function_.type(param).is_buffer() || ranges_.uses(param) == 0) continue;
    Instruction inst{.op = Opcode::Ldp, .type = function_.type(param).scalar, .imm = i};
    DefineNow(param, 0, inst);
  }
}

void Lowering::Refuse(std::string why) {
  if (!failed_.empty()) return;
  failed_ = std::move(why);
  failed_at_ = location_;
}

void Lowering::Emit(const Instruction& inst) {
  if (location_.line != line_.line || location_.column != line_.column) {
    parts_.lines.push_back(
        {static_cast<uint32_t>(parts_.code.size()), location_.line, location_.column});
    line_ = location_;
  }
  parts_.code.push_back(inst);
}

Lowering::Home Lowering::TakeHome(ir::Scalar type, uint32_t until, bool carried) {
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
    Refuse("more than 252 values are alive at once, which is more than the machine has registers");
    number = 0;
  }
  return {type == ir::Scalar::Bool ? Home::Spilled : Home::Register, static_cast<uint8_t>(number)};
}

bool Lowering::IsUsable(const Hint& hint, uint32_t position) const {
  return hint.home.kind != Home::None &&
         (!hint.until.valid() || ranges_.last_use(hint.until) <= position);
}

Lowering::Home Lowering::HomeOf(const Inst& inst, uint32_t operand) const {
  return place_[function_.operand(inst, operand).index];
}

Lowering::Home Lowering::ChooseHome(ValueId value, uint32_t position, bool carried) {
  const Hint& hint = hint_[value.index];
  return IsUsable(hint, position)
             ? hint.home
             : TakeHome(function_.type(value).scalar, ranges_.last_use(value), carried);
}

void Lowering::Define(ValueId value, uint32_t position, const Instruction& inst) {
  Release(position);
  DefineNow(value, position, inst);
}

void Lowering::DefineNow(ValueId value, uint32_t position, Instruction inst) {
  Home home = ChooseHome(value, position, false);
  place_[value.index] = home;
  if (home.kind != Home::Spilled) {
    inst.dst = home.number;
    Emit(inst);
    return;
  }
  inst.dst = PredicatesHandedOut;
  Emit(inst);
  Emit({.op = Opcode::PredToReg, .type = Type::Bool, .dst = home.number, .a = PredicatesHandedOut});
}

uint8_t Lowering::Read(ValueId value, uint8_t operand) {
  const Home& home = place_[value.index];
  if (home.kind != Home::Spilled) return home.number;
  uint8_t predicate = static_cast<uint8_t>(PredicatesHandedOut + operand);
  Emit({.op = Opcode::RegToPred, .type = Type::Bool, .dst = predicate, .a = home.number});
  return predicate;
}

void Lowering::Release(uint32_t position) {
  registers_.Release(position);
  predicates_.Release(position);
}

void Lowering::EmitMove(const Move& move) {
  if (move.from.kind == Home::Spilled) {
    Emit({.op = Opcode::RegToPred,
          .type = Type::Bool,
          .dst = move.to.number,
          .a = move.from.number});
  } else {
    Emit({.op = Opcode::Mov, .type = move.type, .dst = move.to.number, .a = move.from.number});
  }
}

void Lowering::EmitMoves(std::vector<Move> moves, uint32_t position) {
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

void Lowering::LowerRegion(ir::RegionId id) {
  size_t allocated = allocated_.size();
  LowerInsts(id);
  FreeBuffers(allocated);
}

void Lowering::LowerInsts(ir::RegionId id) {
  for (ir::InstId inst_id : function_.region(id).insts) {
    if (!ranges_.is_kept(inst_id) || !failed_.empty()) continue;
    const Inst& inst = function_.inst(inst_id);
    if (inst.location.line != 0) location_ = inst.location;
    LowerInst(inst, inst_id);
    Release(ranges_.end_of(inst_id));
  }
}

void Lowering::FreeBuffers(size_t down_to) {
  for (; allocated_.size() > down_to; allocated_.pop_back())
    free_buffers_[static_cast<size_t>(allocated_.back().second)].push_back(allocated_.back().first);
}

std::vector<Lowering::Home> Lowering::TakeCarried(const Inst& inst, uint32_t position,
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

bool Lowering::CanTakeOver(ValueId init, uint32_t position, std::span<const Home> taken) const {
  const Home& home = place_[init.index];
  if (home.kind != Home::Register && home.kind != Home::Predicate) return false;
  if (ranges_.last_use(init) != position || owned_elsewhere_[init.index]) return false;
  return std::ranges::find(taken, home) == taken.end();
}

void Lowering::EmitCarries(const Inst& inst, std::span<const Home> homes) {
  for (uint32_t i = 0; i < homes.size(); ++i)
    Emit({.op = Opcode::Carry,
          .type = function_.type(Function::result_of(inst, i)).scalar,
          .dst = homes[i].number});
}

void Lowering::MoveInits(std::span<const ValueId> inits, std::span<const Home> homes,
                         uint32_t position) {
  std::vector<Move> moves;
  for (uint32_t i = 0; i < homes.size(); ++i)
    moves.push_back({homes[i], place_[inits[i].index], function_.type(inits[i]).scalar});
  EmitMoves(std::move(moves), position);
}

void Lowering::HintYields(ir::RegionId id, std::span<const Home> homes, const ir::Region* params,
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

void Lowering::MoveYields(ir::RegionId id, std::span<const Home> homes) {
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

void Lowering::BindParams(const ir::Region& region, uint32_t first, std::span<const Home> homes) {
  for (uint32_t i = 0; i < homes.size(); ++i) {
    ValueId param = Function::param_of(region, first + i);
    place_[param.index] = homes[i];
    owned_elsewhere_[param.index] = true;
  }
}

void Lowering::LowerIf(const Inst& inst, uint32_t position) {
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

void Lowering::LowerBranch(const Inst& inst, uint32_t index, std::span<const Home> homes) {
  ir::RegionId region = Function::region_of(inst, index);
  HintYields(region, homes, nullptr, 0);
  LowerRegion(region);
  MoveYields(region, homes);
}

void Lowering::LowerSwitch(const Inst& inst, uint32_t position) {
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

void Lowering::LowerFor(const Inst& inst, uint32_t position, uint32_t end) {
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

void Lowering::LowerWhile(const Inst& inst, uint32_t position) {
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

Result<Module> LowerPrepared(const ir::Program& prepared) { return Lowering(prepared).Run(); }

Result<Module> Lower(const ir::Program& program) {
  return LowerPrepared(TRY(PrepareProgram(program)));
}

}  // namespace frazil::targets::isa
