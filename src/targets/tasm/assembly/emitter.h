// Code of one TIR program while labels are still numbers of blocks.
#pragma once

#include <map>
#include <optional>

#include "machines/tir/tail_form.h"
#include "targets/tasm/tasm.h"

namespace frazil::targets::tasm {

// The argument of a call is the number of its block.
using Code = std::vector<mt::Instruction>;

struct Block {
  std::string name;
  Code code;
};

// One op that is no structure, as instructions.
Result<void> EmitSimple(const tir::Op& op, mt::Profile profile, Code& code);
// `push amount` before a shift: both at once, without a power.
void EmitConstantShift(const tir::Op& shift, uint64_t amount, Code& code);

class Emitter {
 public:
  Emitter(mt::Profile profile, bool callable) : profile_(profile), callable_(callable) {}
  Result<mt::Program> Run(const tir::Program& program);

 private:
  using Ops = std::vector<tir::Op>;
  // What stands after a body; nothing: the code goes on.
  using End = std::optional<mt::Opcode>;

  Result<Code> Body(const Ops& ops, End end);
  bool ShortRest(const Ops& ops, size_t i) const;
  Result<Code> Single(const Ops& ops);
  Result<Code> CalledBody(const Ops& ops);  // of a block that is only called: ends in return
  Result<void> One(const Ops& ops, size_t& i, End end, Code& code);
  Result<void> If(const tir::Op& op, End end, Code& code);
  Result<void> IfOneArm(const tir::Op& op, End end, Code& code);
  Result<void> IfStops(const tir::Op& op, End end, Code& code);
  Result<void> IfBoth(const tir::Op& op, End end, Code& code);
  Result<Code> FlaggedArm(const Ops& ops);
  Result<void> Loop(const tir::Op& op, const tir::Op* before, Code& code);
  Result<void> While(const tir::Op& op, Code& code);
  Result<Code> Test(const tir::Op& op, bool& negated);
  Result<Code> WhileBlock(const tir::Op& op, Code test, bool negated);
  Result<Code> RepeatBlock(const tir::Op& op);

  void Put(Code& code, mt::Opcode op, uint64_t argument = 0) const;
  void Finish(Code& code, const Ops& ops, End end) const;
  bool GoesOn(const Ops& ops) const { return tir::Falls(ops, stops_); }
  // Words from below that a body needs, and its net effect; nothing if unknown.
  struct Extent {
    int64_t height = 0, reach = 0;
  };
  bool Measure(const Ops& ops, Extent& extent) const;
  uint32_t NewBlock(std::string_view what, Code code);
  uint32_t FunctionBlock(const std::string& name);
  mt::Program Layout();

  mt::Profile profile_;
  bool callable_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> order_;  // blocks as they will stand
  std::map<std::vector<uint64_t>, uint32_t> same_;
  std::unordered_map<std::string, uint32_t> function_blocks_;
  std::unordered_map<std::string, tir::FunctionShape> shapes_;
  std::unordered_map<std::string, bool> stops_;
  std::string function_;
  Location location_;
};

}  // namespace frazil::targets::tasm
