// What the parts of ir::Check share. The promises are listed in check.h.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "ir/program.h"

namespace frazil::ir {

class FunctionChecker {
 public:
  FunctionChecker(const Program& program, const Function& function, const Limits& limits)
      : program_(program),
        function_(function),
        limits_(limits),
        visible_(function.values.size(), false) {}

  Result<void> Run();

 private:
  // check.cpp: the walk and the ops whose rows say everything
  Result<void> CheckRanges() const;
  Result<void> CheckSignature();
  Result<void> CheckTypeOf(Type type, Location location) const;
  Result<void> CheckRegion(RegionId region, Op parent, std::span<const Type> yields,
                           Location location);
  Result<void> CheckInst(const Inst& inst);
  Result<void> CheckUses(const Inst& inst) const;
  Result<void> CheckRow(const Inst& inst);
  Result<void> CheckAttributeCount(const Inst& inst) const;
  Result<void> CheckConversion(const Inst& inst) const;
  void Define(Range values);
  void Forget(const Region& region);

  // check_structure.cpp: memory, control, calls
  Result<void> CheckCustom(const Inst& inst);
  Result<void> CheckArms(const Inst& inst);
  Result<void> CheckIf(const Inst& inst);
  Result<void> CheckFor(const Inst& inst);
  Result<void> CheckWhile(const Inst& inst);
  Result<void> CheckSwitch(const Inst& inst);
  Result<void> CheckParallel(const Inst& inst);
  Result<void> CheckCall(const Inst& inst);
  Result<void> CheckAtomic(const Inst& inst) const;
  Result<void> CheckProver(const Inst& inst) const;
  Result<void> CheckBarrier(const Inst& inst) const;
  Result<void> CheckCarried(const Inst& inst, std::span<const ValueId> inits, const Region& region,
                            uint32_t first_param);

  // check_tensor.cpp
  // What the innermost region that says so may hold: no effects but reading, or none.
  enum class Inside : uint8_t { Anything, Reading, Pure };
  Result<void> CheckEffectless(const Inst& inst, Inside what, std::span<const Type> yields);
  Result<void> CheckTensorOp(const Inst& inst);
  Result<void> CheckMap(const Inst& inst);
  Result<void> CheckReduce(const Inst& inst) const;
  Result<void> CheckTree(const Inst& inst, int64_t chains, int64_t block) const;
  Result<void> CheckKind(const Inst& inst, ReduceKind kind) const;
  Result<void> CheckGenerate(const Inst& inst);
  Result<void> CheckFold(const Inst& inst);
  Result<void> CheckMatmul(const Inst& inst) const;
  Result<void> CheckReshape(const Inst& inst) const;
  Result<void> CheckTranspose(const Inst& inst) const;
  Result<void> CheckBroadcast(const Inst& inst) const;
  Result<void> CheckSlice(const Inst& inst) const;
  Result<void> CheckConcat(const Inst& inst) const;
  Result<void> CheckGather(const Inst& inst) const;

  // check_tensor_kernels.cpp
  Result<void> CheckConv(const Inst& inst) const;
  Result<void> CheckScan(const Inst& inst) const;
  Result<void> CheckSort(const Inst& inst) const;
  Result<void> CheckScatter(const Inst& inst) const;
  Result<void> CheckMatmulQ(const Inst& inst) const;
  Result<void> NeedAxis(const Inst& inst, int64_t axis, const Shape& shape) const;

  template <typename... Args>
  std::unexpected<Error> Wrong(const Inst& inst, Diag diag, fmt::format_string<Args...> format,
                               Args&&... args) const {
    return Fail(diag,
                std::string(Info(inst.op).mnemonic) + ": " +
                    fmt::format(format, std::forward<Args>(args)...),
                inst.location);
  }
  Result<void> NeedOperands(const Inst& inst, size_t count) const {
    if (inst.operands.count != count)
      return Wrong(inst, Diag::WrongOperandCount, "takes {} operand{}, {} given", count,
                   count == 1 ? "" : "s", inst.operands.count);
    return {};
  }
  Result<void> NeedType(const Inst& inst, uint32_t operand, Type type) const;
  Type OperandType(const Inst& inst, uint32_t i) const {
    return function_.type(function_.operand(inst, i));
  }
  const Shape& ShapeOf(const Inst& inst, uint32_t i) const {
    return function_.shape(OperandType(inst, i));
  }
  std::string Show(Type type) const;

  const Program& program_;
  const Function& function_;
  const Limits& limits_;
  std::vector<bool> visible_;
  // The structured instructions around the current one, outermost first.
  std::vector<const Inst*> around_;
  // For each value: how many `parallel`s were open where it was defined.
  std::vector<uint32_t> parallel_depth_ = {};
  uint32_t parallels_open_ = 0;
  Inside inside_ = Inside::Anything;
};

}  // namespace frazil::ir
