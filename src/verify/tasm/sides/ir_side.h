// An IR program as a side: SSA values as words, regions as frames. Private to this folder.
#pragma once

#include "ir/program.h"
#include "verify/tasm/sides/side.h"

namespace frazil::verify::tasm {

// Words of a value on the machine: 64-bit integers and index two (low first), xfield 3, digest 5, else 1; 0: none.
uint32_t MachineWords(ir::Type type);

// Why a program cannot be followed at all; empty if it can.
std::string Refuses(const ir::Program& program);

std::unique_ptr<Side> MakeIrSide(const ir::Program& program, Heads* heads);

class IrSide final : public Side {
 public:
  IrSide(const ir::Program& program, Heads* heads);
  std::unique_ptr<Side> Clone() const override { return std::make_unique<IrSide>(*this); }
  Step Advance(Exec& exec) override;
  std::vector<uint64_t> Key() const override;
  void NoteBranch() override;
  void CollectWords(std::vector<Term*>& words) override;
  std::vector<uint64_t> Rejoin() const override;
  bool Align(Side& other) override;

 private:
  using Words = std::vector<Term>;
  struct Buffer {
    bool is_ram = false;
    uint32_t words = 1;  // of an element
    std::vector<Term> contents;
  };
  struct Region {
    ir::RegionId id;
    ir::InstId owner;
    uint32_t at = 0;
    int64_t i = 0, end = 0;  // of a `for`
    // A `for` whose index is a word and whose head can be cut: bounds that are no numbers, or many iterations.
    bool symbolic = false;
    bool tested = false;  // and there is a next iteration
    bool entering =
        false;  // which was tested before the head: before the loop, or at the end of the one before
    bool tests_at_end = false;
  };
  struct Activation {
    const ir::Function* function;
    std::vector<Words> values;
    std::vector<Region> regions;
    ir::InstId call;
  };

  Activation& Now() { return activations_.back(); }
  const Words& Operand(const ir::Inst& inst, uint32_t i);
  Term One(const ir::Inst& inst, uint32_t i) { return Operand(inst, i)[0]; }
  void Give(const ir::Inst& inst, Words words, uint32_t result = 0);
  void GiveAll(Activation& to, const ir::Inst& inst, const std::vector<Words>& results);
  void Enter(ir::RegionId region, ir::InstId owner);
  std::vector<Words> Operands(const ir::Inst& inst, uint32_t from = 0);
  Step Stuck(const ir::Inst& inst);
  Step Finish(Exec& exec, const ir::Inst& inst);

  Step Control(Exec& exec, const ir::Inst& inst, ir::InstId id, bool& handled);
  Step Yield(Exec& exec, const ir::Inst& inst);
  bool BeginSymbolicFor(Exec& exec, const ir::Inst& inst, ir::InstId id, bool& known);
  bool BeginCutFor(Exec& exec, const ir::Inst& inst, ir::InstId id, const int64_t (&bounds)[2]);
  Step NextOfCutFor(Exec& exec, const ir::Inst& inst, const ir::Inst& owner);
  Step ForHead(Exec& exec, const ir::Inst& loop);
  // Values of a body are gone when it is left, so that every arrival at a head has the same words.
  void Forget(Activation& now, ir::RegionId region);
  // The parameters, of words that are in the range of their types: others are no call of the program.
  bool Begin(Exec& exec);
  bool InRange(Exec& exec, ir::Type type, Term word) const;
  bool Simple(Exec& exec, const ir::Inst& inst, bool& known);
  bool Field(Exec& exec, const ir::Inst& inst, bool& known);
  bool Word32(Exec& exec, const ir::Inst& inst, bool& known);
  bool Word64(Exec& exec, const ir::Inst& inst, bool& known);
  bool Shift64(Exec& exec, const ir::Inst& inst, bool& known);
  bool Boolean(Exec& exec, const ir::Inst& inst, bool& known);
  bool Cast(Exec& exec, const ir::Inst& inst, bool& known);
  bool Stream(Exec& exec, const ir::Inst& inst, bool& known);
  bool Memory(Exec& exec, const ir::Inst& inst, bool& known);
  bool Hashing(Exec& exec, const ir::Inst& inst, bool& known);
  bool Position(Exec& exec, const Words& index, uint64_t length, uint64_t& at);
  // Whether the index is inside and one of few numbers, but not known to be one of them.
  bool InWindow(Exec& exec, const Words& index, uint64_t length, uint64_t& low, uint64_t& high);
  Term Element(Exec& exec, const Words& index) const;
  bool Canonical(Exec& exec, const Words& index) const;
  // From here on the address is one whose access means something.
  bool Specified(Exec& exec, Term address) const;

  const ir::Program& program_;
  Heads* heads_;
  std::vector<Activation> activations_;
  std::vector<Buffer> buffers_;
  bool begun_ = false;
};

}  // namespace frazil::verify::tasm
