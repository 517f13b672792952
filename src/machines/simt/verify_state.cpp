// States of the verifier: what an instruction needs of one and makes of it.
#include "machines/simt/verify_state.h"

#include <fmt/format.h>

#include "machines/simt/verify.h"

namespace frazil::machines::simt {

bool State::Meet(const State& other) {
  bool lost = false;
  for (size_t i = 0; i < PlaceCount; ++i) {
    if (type[i] == Unassigned || type[i] == other.type[i]) continue;
    type[i] = Unassigned;
    lost = true;
  }
  return lost;
}

std::string PlaceName(Place place) {
  if (place < Registers) return fmt::format("r{}", place);
  if (place < Registers + Predicates) return fmt::format("p{}", place - Registers);
  return fmt::format("b{}", place - Registers - Predicates);
}

std::unexpected<Error> WrongAt(const Module& module, uint32_t at, const std::string& what) {
  const Instruction& inst = module.code[at];
  const InstructionInfo& info = Info(inst.op);
  std::string name(info.mnemonic);
  if (info.types != 0 && IsType(static_cast<uint8_t>(inst.type)))
    name += fmt::format(".{}", TypeName(inst.type));
  return Fail(Diag::BadIsaProgram, fmt::format("instruction {} ({}): {}", at, name, what),
              module.location(at));
}

State InitialState(const Module& module) {
  State state;
  state.type.fill(State::Unassigned);
  state.depth.fill(0);
  for (size_t i = 0; i < module.buffers.size(); ++i)
    if (!module.buffers[i].is_scratch)
      state.Set(BufferPlace(static_cast<uint8_t>(i)), module.buffers[i].type, 0);
  if (module.mode == Mode::Launch) {
    state.Set(LaneRegister, Type::U32, 1);
    state.Set(BlockRegister, Type::U32, 1);
    state.Set(BlockDimRegister, Type::U32, 0);
    state.Set(GlobalLaneRegister, Type::U64, 1);
  }
  return state;
}

namespace {

Result<void> CheckRead(const Module& module, const State& state, uint32_t at, const Read& read) {
  uint8_t held = state.type[read.place];
  if (held == State::Unassigned) {
    bool launch =
        read.place >= FirstReadOnly && read.place < Registers && module.mode == Mode::Program;
    return WrongAt(
        module, at,
        launch ? fmt::format(
                     "{} says which lane of a launch this is; a program has its lanes from PAR",
                     PlaceName(read.place))
               : fmt::format("reads {}, which holds no value on some way here",
                             PlaceName(read.place)));
  }
  Type type = static_cast<Type>(held);
  bool fits = read.need == Need::Exact     ? type == read.type
              : read.need == Need::Integer ? ir::IsFixedInt(type)
              : read.need == Need::Shift   ? type == read.type || type == Type::U32
                                           : true;
  if (fits) return {};
  return WrongAt(
      module, at,
      fmt::format("reads {} as {}, but it holds {}", PlaceName(read.place),
                  read.need == Need::Integer ? "an integer" : TypeName(read.type), TypeName(type)));
}

}  // namespace

Result<void> CheckReads(const Module& module, const State& state, uint32_t at) {
  const Instruction& inst = module.code[at];
  if (inst.guarded())
    TRY_VOID(CheckRead(module, state, at,
                       {PredicatePlace(inst.guard_predicate()), Need::Exact, Type::Bool}));
  if (inst.op == Opcode::RegReduce)
    for (uint64_t r = 0; r < inst.imm; ++r)
      TRY_VOID(
          CheckRead(module, state, at, {static_cast<Place>(inst.a + r), Need::Exact, inst.type}));
  Operands operands = OperandsOf(inst);
  for (uint8_t i = 0; i < operands.read_count; ++i)
    TRY_VOID(CheckRead(module, state, at, operands.reads[i]));
  return {};
}

Result<void> Apply(const Module& module, State& state, uint32_t at, uint8_t par_depth) {
  TRY_VOID(CheckReads(module, state, at));
  const Instruction& inst = module.code[at];
  Operands operands = OperandsOf(inst);
  if (!operands.writes) return {};
  uint8_t& type = state.type[operands.written];
  if (inst.guarded()) {
    // Whether it writes is known at run time only: what was there must be of this type already.
    if (type != static_cast<uint8_t>(operands.written_type)) type = State::Unassigned;
    state.depth[operands.written] = par_depth;
    return {};
  }
  bool copies =
      inst.op == Opcode::Mov || inst.op == Opcode::PredToReg || inst.op == Opcode::RegToPred;
  bool same_for_all =
      module.mode == Mode::Launch && (inst.op == Opcode::MovImm || inst.op == Opcode::Ldp);
  uint8_t depth = copies         ? state.depth[operands.reads[0].place]
                  : same_for_all ? uint8_t{0}
                                 : par_depth;
  state.Set(operands.written, operands.written_type, depth);
  return {};
}

uint32_t FeaturesOf(Mode mode, std::span<const Instruction> code) {
  uint32_t features = 0;
  for (const Instruction& inst : code) {
    const InstructionInfo& info = Info(inst.op);
    bool memory = info.shape == Shape::Load || info.shape == Shape::Store;
    if (memory && inst.address() == Address::Phi) features |= UsesPhi;
    if (memory && inst.address() >= Address::Handle) features |= UsesHandles;
    if (inst.op == Opcode::Lds || inst.op == Opcode::Sts) features |= UsesShared;
    if (inst.op == Opcode::PoolAlloc || inst.op == Opcode::PoolFree) features |= UsesPools;
    if (IsLabeled(inst.op)) features |= UsesLabels;
    if (inst.guarded()) features |= UsesGuards;
    if (inst.op == Opcode::BarSync) features |= UsesBarrier;
    if (IsCollective(inst.op) && inst.op != Opcode::BarSync) features |= UsesLaneOps;
    if (inst.op == Opcode::Atom || inst.op == Opcode::AtomCas) features |= UsesAtomics;
    if (info.types != 0 && (inst.type == Type::F16 || inst.type == Type::BF16))
      features |= UsesHalf;
    if (info.op && ir::Info(*info.op).law == ir::Law::Prelude) features |= UsesMath;
    if (inst.op == Opcode::Par) features |= UsesPar;
    if (inst.op == Opcode::Alloc) features |= UsesAlloc;
  }
  if (mode == Mode::Launch) features |= UsesLaunch;
  return features;
}

std::string FeatureNames(uint32_t features) {
  static constexpr std::string_view Names[] = {"phi",      "shared",  "pools",   "labels", "guards",
                                               "lane ops", "barrier", "atomics", "half",   "math",
                                               "handles",  "par",     "alloc",   "launch"};
  std::string text;
  for (size_t i = 0; i < 32; ++i) {
    if ((features >> i & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += i < std::size(Names) ? std::string(Names[i]) : fmt::format("bit {}", i);
  }
  return text;
}

}  // namespace frazil::machines::simt
