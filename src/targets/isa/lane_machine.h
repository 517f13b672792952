// The inside of the lane-exact executor: one run of a module. Methods by topic are in lane_*.cpp.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "exec/batch/batch.h"
#include "targets/isa/lane_exact.h"

namespace frazil::targets::isa {

// A structure that a lane is in.
struct LaneScope {
  uint32_t opener;
  uint64_t counter = 0, left = 0;  // FOR: the counter, and turns after this one
  size_t allocated = 0;            // entries of Lane::allocated below this scope's
};

struct Lane {
  std::array<uint64_t, machines::simt::Registers> registers{};
  std::array<uint8_t, machines::simt::Predicates> predicates{};
  std::vector<std::shared_ptr<exec::Memory>> buffers;
  std::vector<uint8_t> allocated;  // scratch buffers, oldest first
  std::vector<LaneScope> scopes;
  std::vector<uint32_t> calls;              // where to return to
  uint32_t next = 0;                        // instruction
  uint64_t number = 0;                      // in its PAR (from 0) or block
  std::array<uint32_t, 3> lane{}, block{};  // launch mode
  uint64_t global = 0;
};

// Why a lane stopped: it is done, it waits for the others, or the run is over (a trap).
enum class Stop : uint8_t { Done, Waits, Trapped };

class LaneMachine {
 public:
  LaneMachine(const machines::simt::Module& module, const exec::RunContext& context,
              const LaunchShape& launch, std::span<std::byte> phi);
  Result<exec::Outcome> Run(std::span<const exec::Value> arguments);

 private:
  using Instruction = machines::simt::Instruction;
  struct Spot {  // checked memory
    std::byte* data;
  };

  // lane_exact.cpp: control
  void PrepareCode();
  void RunLaunch(const Lane& initial);
  Stop RunLane(Lane& lane);
  // One instruction; nothing: go on with lane.next.
  std::optional<Stop> Step(Lane& lane, const Instruction& i, uint32_t at);
  std::optional<Stop> Control(Lane& lane, const Instruction& i, uint32_t at);
  std::optional<Stop> EnterFor(Lane& lane, const Instruction& i, uint32_t at);
  std::optional<Stop> EnterPar(Lane& lane, const Instruction& i, uint32_t at);
  std::optional<Stop> AtEnd(Lane& lane, uint32_t at);
  void Push(Lane& lane, uint32_t opener);
  void ReleaseScratch(Lane& lane, size_t down_to);
  void LeaveScope(Lane& lane);
  std::optional<Stop> TrapNow(ir::Trap kind, const Instruction& i);
  std::optional<Stop> TrapEnded(const Instruction& i);  // Expired said so
  bool TakeFuel(uint64_t units);
  // Adds to what is held; false, and nothing is added, where that is above the limit of memory.
  bool TakeBytes(uint64_t& held, uint64_t count, uint64_t size) const;
  // What lanes that meet hold while they wait for each other.
  uint64_t BytesOfLane() const;
  bool Expired();
  // Runs lanes that may meet, phase by phase. False after a trap.
  bool RunTogether(std::vector<Lane>& lanes);

  // lane_values.cpp: arithmetic
  std::optional<Stop> Compute(Lane& lane, const Instruction& i);
  uint64_t Get(const Lane& lane, machines::simt::Type type, uint8_t number) const;
  void Set(Lane& lane, machines::simt::Type type, uint8_t number, uint64_t word);
  uint64_t OperandB(const Lane& lane, const Instruction& i) const;
  bool Compare(machines::simt::Condition condition, machines::simt::Type type, uint64_t a,
               uint64_t b) const;
  uint64_t Math(ir::Op op, machines::simt::Type type, std::array<uint64_t, 3> operands);
  uint64_t Fold(ir::ReduceKind kind, machines::simt::Type type,
                std::span<const uint64_t> words) const;
  uint64_t SpecialValue(const Lane& lane, uint64_t number) const;

  // lane_memory.cpp
  std::optional<Stop> Access(Lane& lane, const Instruction& i);
  std::optional<Spot> Find(Lane& lane, const Instruction& i, bool writes);
  std::optional<Spot> FindIn(exec::Memory& memory, uint64_t offset, uint64_t size) const;
  std::optional<Spot> FindByHandle(Lane& lane, const Instruction& i, uint64_t offset, bool writes);
  std::optional<Stop> Allocate(Lane& lane, const Instruction& i);
  std::optional<Stop> PoolOp(Lane& lane, const Instruction& i);
  std::optional<Stop> RangeReduce(Lane& lane, const Instruction& i);
  std::shared_ptr<exec::Memory> MakeMemory(machines::simt::Type type, int64_t length);

  // lane_together.cpp
  void Together(std::vector<Lane>& lanes, const Instruction& i);

  const machines::simt::Module& module_;
  const exec::RunContext& context_;
  LaunchShape launch_;
  std::vector<Instruction> code_;  // with the boundaries of phases written down
  std::vector<uint32_t> match_;
  std::vector<bool> meets_;  // of a PAR: its own lanes meet
  std::span<std::byte> phi_;
  std::vector<std::byte> own_phi_;
  std::vector<std::byte> shared_;
  std::map<uint64_t, std::vector<std::byte>> pools_;
  uint64_t next_pool_ = 256;
  std::map<std::pair<ir::Op, machines::simt::Type>, exec::BatchProgram> math_;
  std::vector<uint64_t> parameters_;  // words of scalars, by ordinal
  std::vector<uint64_t> results_;

  uint64_t fuel_;
  std::shared_ptr<uint64_t> live_bytes_ = std::make_shared<uint64_t>(0);
  uint64_t lane_bytes_ = 0;  // lanes that wait: not scratch, which programs count on
  uint32_t par_depth_ = 0;
  int64_t trap_index_ = -1;
  Deadline deadline_;
  uint32_t ticks_ = 0;
  std::optional<exec::TrapInfo> trap_;
  std::optional<Error> error_;
};

}  // namespace frazil::targets::isa
