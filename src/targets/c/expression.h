// Values and instructions as C expressions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "targets/c/facts.h"
#include "targets/c/literal.h"
#include "targets/c/support.h"

namespace frazil::targets::c {

// What all functions of a program share.
struct Plan {
  const ir::Program& program;
  ProgramFacts facts;
  bool metered;
  std::vector<std::string> function_names;
  std::vector<std::string> data_names;
};

class ExpressionWriter {
 public:
  ExpressionWriter(const Plan& plan, const ir::Function& function, const FunctionFacts& facts,
                   Support& support)
      : plan_(plan),
        function_(function),
        facts_(facts),
        support_(support),
        names_(function.values.size()),
        lengths_(function.values.size()) {}

  void SetName(ir::ValueId value, std::string name) { names_[value.index] = std::move(name); }
  void SetLength(ir::ValueId buffer, std::string length) {
    lengths_[buffer.index] = std::move(length);
  }
  const std::string& Name(ir::ValueId value) const { return names_[value.index]; }
  const std::string& LengthOf(ir::ValueId buffer) const { return lengths_[buffer.index]; }

  // A name, a literal or, where the value is written in place, its expression.
  Text Value(ir::ValueId value);
  // The same as text that stands alone, or as an operand of something at least that strong.
  std::string Plain(ir::ValueId value) { return Value(value).text; }
  std::string Operand(ir::ValueId value, Strength least = Strength::Unary);
  // With its C type made sure: expressions of literals may have a narrower one.
  Text Typed(ir::ValueId value);

  // The expression of an instruction that has one and is past its trap.
  Text Compute(const ir::Inst& inst);

  // Element `index` of a buffer or table as a value, and a value as an element.
  static std::string FromElement(ir::Type type, const std::string& element);
  // a op b for an atomic, both given as text.
  Text Combine(ir::AtomicKind kind, ir::Type type, const std::string& a, const std::string& b);

  // A value from its words, and the words of a value, as streams and entry points hold them.
  std::string FromWord(ir::Type type, const std::string& word);
  std::string ToWord(ir::Type type, const std::string& value);

 private:
  Text ComputeAny(const ir::Inst& inst);
  // Integers (expression_integer.cpp).
  Text Raw(ir::ValueId value);
  Text RawCompute(const ir::Inst& inst);
  Text Wrap(ir::Type type, Text raw) const;
  Text Division(const ir::Inst& inst);
  Text Bits(const ir::Inst& inst);
  Text Compare(const ir::Inst& inst);
  Text Logical(const ir::Inst& inst);
  bool ConstantsDecide(const ir::Inst& inst) const;
  std::string ShiftAmount(const ir::Inst& inst);
  // Floats and conversions (expression_float.cpp).
  Text Float(const ir::Inst& inst);
  Text FloatOperation(const ir::Inst& inst, ir::Type compute);
  std::string FloatOperand(ir::ValueId value);
  Text CopySign(const ir::Inst& inst);
  Text Cast(const ir::Inst& inst);
  Text CastToFloat(ir::ValueId value, ir::Type from, ir::Type to);
  Text CastToField(ir::ValueId value, ir::Type from, ir::Type to);
  Text Bitcast(const ir::Inst& inst);
  std::string RoundToHalf(ir::Scalar half, const std::string& text);
  // Fields, extension and digests.
  Text Fields(const ir::Inst& inst);
  Text Make(std::string_view piece, const ir::Inst& inst);

  Text Call(const std::string& function, const ir::Inst& inst);
  Text Infix(std::string_view op, Strength strength, const Text& a, const Text& b) const;

  const Plan& plan_;
  const ir::Function& function_;
  const FunctionFacts& facts_;
  Support& support_;
  std::vector<std::string> names_;
  std::vector<std::string> lengths_;  // of buffers
};

// Parentheses where `text` is weaker than `least`.
std::string Parenthesized(const Text& text, Strength least);
Text CastTo(std::string_view type, const Text& text);

}  // namespace frazil::targets::c
