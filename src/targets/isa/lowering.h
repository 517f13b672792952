// The walk that lowers a program. Internal to this folder.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"
#include "machines/simt/module.h"
#include "targets/isa/lower_places.h"

namespace frazil::targets::isa {

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

  Result<machines::simt::Module> Run();

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
    ir::ValueId until;
  };
  void DeclareParams();
  void LoadParams();
  void Refuse(std::string why);
  void Emit(const machines::simt::Instruction& inst);

  // --- places ------------------------------------------------------------------------------------------------

  // A home for a value from now until `until`. `carried`: a truth value must be in a predicate.
  Home TakeHome(ir::Scalar type, uint32_t until, bool carried);
  bool IsUsable(const Hint& hint, uint32_t position) const;
  Home HomeOf(const ir::Inst& inst, uint32_t operand) const;
  Home ChooseHome(ir::ValueId value, uint32_t position, bool carried);

  // The instruction's result is `value`: chooses its home, and writes the instruction.
  void Define(ir::ValueId value, uint32_t position, const machines::simt::Instruction& inst);
  void DefineNow(ir::ValueId value, uint32_t position, machines::simt::Instruction inst);

  // The number to read a value by. A spilled truth value is loaded into one of the last predicates.
  uint8_t Read(ir::ValueId value, uint8_t operand = 0);
  uint8_t Buffer(ir::ValueId value) const { return place_[value.index].number; }

  void Release(uint32_t position);

  // --- moves: all at once, in an order that overwrites nothing that is still needed ------------------------------

  struct Move {
    Home to, from;
    ir::Scalar type;
  };
  void EmitMove(const Move& move);
  void EmitMoves(std::vector<Move> moves, uint32_t position);

  // --- regions and structures --------------------------------------------------------------------------------------

  void LowerRegion(ir::RegionId id);
  void LowerInsts(ir::RegionId id);
  void FreeBuffers(size_t down_to);

  // Homes for what a structure carries or gives: one for each result, kept until the result's last use.
  std::vector<Home> TakeCarried(const ir::Inst& inst, uint32_t position,
                                std::span<const ir::ValueId> inits);

  // An initial value that dies here leaves its own register to what is carried.
  bool CanTakeOver(ir::ValueId init, uint32_t position, std::span<const Home> taken) const;
  void EmitCarries(const ir::Inst& inst, std::span<const Home> homes);
  void MoveInits(std::span<const ir::ValueId> inits, std::span<const Home> homes,
                 uint32_t position);

  // What a region yields had best be computed in the homes that it is yielded to.
  void HintYields(ir::RegionId id, std::span<const Home> homes, const ir::Region* params,
                  uint32_t first);
  void MoveYields(ir::RegionId id, std::span<const Home> homes);
  void BindParams(const ir::Region& region, uint32_t first, std::span<const Home> homes);
  void LowerIf(const ir::Inst& inst, uint32_t position);
  void LowerBranch(const ir::Inst& inst, uint32_t index, std::span<const Home> homes);
  void LowerSwitch(const ir::Inst& inst, uint32_t position);
  void LowerFor(const ir::Inst& inst, uint32_t position, uint32_t end);
  void LowerWhile(const ir::Inst& inst, uint32_t position);

  // --- instructions --------------------------------------------------------------------------------------------------

  // Which operand stands in the instruction itself: a constant that nothing else uses, of the same region; -1: none.
  int ImmediateOperand(const ir::Inst& user, ir::InstId id) const;
  bool IsImmediate(const ir::Inst& constant) const;
  static std::optional<machines::simt::Condition> ConditionOf(ir::Op op);
  static_assert(static_cast<int>(ir::Op::Ge) - static_cast<int>(ir::Op::Eq) == 5);
  void LowerBinary(const ir::Inst& inst, ir::InstId id, machines::simt::Instruction out);
  void LowerReturn(const ir::Inst& inst);

  // A scratch buffer ends with its region; then its number is free for another of the same type.
  void LowerAlloc(const ir::Inst& inst);

  // The number of the op that the instruction stands for.
  uint64_t Source(const ir::Inst& inst);
  void LowerMemory(const ir::Inst& inst, ir::InstId id);
  uint64_t Table(uint32_t data);

  // Ops of a row without structure: their operands in order.
  void LowerPlain(const ir::Inst& inst, ir::InstId id, machines::simt::Opcode opcode);
  void LowerInst(const ir::Inst& inst, ir::InstId id);

  const ir::Program& program_;
  const ir::Function& function_;
  LiveRanges ranges_;
  Pool registers_, predicates_;
  std::vector<Home> place_;
  std::vector<Hint> hint_;
  std::vector<bool> owned_elsewhere_;  // values in a register that is kept for something else
  std::vector<int64_t> table_;         // by data of the program
  uint32_t buffers_ = 0;
  std::vector<std::pair<uint8_t, ir::Scalar>> allocated_;  // scratch of open regions
  std::array<std::vector<uint8_t>, machines::simt::TypeCount> free_buffers_;
  machines::simt::ModuleParts parts_;
  Location location_, line_;
  std::string failed_;
  Location failed_at_;
};

}  // namespace frazil::targets::isa
