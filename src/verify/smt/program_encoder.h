// A scalar program as Z3 terms: what it returns and which trap it ends in. Branches become choices, calls are
// entered, loops are unrolled where their number of turns is a constant. Memory, tensors, streams, math functions and
// fields are not encoded.
#pragma once

#include <string>
#include <vector>

#include "ir/program.h"
#include "verify/smt/encoder.h"

namespace frazil::verify::smt {

struct Encoded {
  std::vector<Z3_ast> results;
  Z3_ast trap =
      nullptr;  // 16 bits: 0, or 1 + ir::Trap above the op; nothing here is inside a `parallel`
};

class ProgramEncoder {
 public:
  ProgramEncoder(Context& context, const ir::Program& program, std::string& why)
      : z_(context.api()), c_(context.get()), encoder_(context), program_(program), why_(why) {}

  // False, and `why`, if something is not encoded.
  bool Encode(std::span<const Z3_ast> arguments, Encoded& out);

 private:
  using Values = std::vector<Z3_ast>;
  bool Function(ir::FuncId id, std::span<const Z3_ast> arguments, Z3_ast path, Values& results);
  bool Region(const ir::Function& f, Values& values, ir::RegionId id, Z3_ast path, Values& yielded);
  bool Inst(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  bool Scalar(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  bool If(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  bool Switch(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  bool For(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  bool While(const ir::Function& f, Values& values, const ir::Inst& inst, Z3_ast path);
  Z3_ast TrapCode(uint64_t code);
  void TrapIf(Z3_ast condition, ir::Trap trap, ir::Op op, Z3_ast path);
  // The number, or a decided condition, after simplification.
  std::optional<std::string> Numeral(Z3_ast value);
  std::optional<bool> Decided(Z3_ast condition);
  bool Fail(std::string why);

  static constexpr int MaxOps = 20'000;
  static constexpr int MaxTurns = 256;
  static constexpr int MaxDepth = 16;

  const Z3Api& z_;
  Z3_context c_;
  Encoder encoder_;
  const ir::Program& program_;
  std::string& why_;
  Z3_ast trap_ = nullptr;
  int ops_ = 0;
  int depth_ = 0;
};

}  // namespace frazil::verify::smt
