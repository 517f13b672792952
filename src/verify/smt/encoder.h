// Scalar ops as Z3 terms, to the bit. A value is a bit-vector of its width (bool: a Z3 Bool): floats too, because
// NaN payloads and signs of zero count; float ops convert to Z3's floats and back. Field elements: no.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "ir/op.h"
#include "ir/type.h"
#include "verify/smt/z3_api.h"

namespace frazil::verify::smt {

// A context of its own; nothing in it is freed before the whole.
class Context {
 public:
  explicit Context(const Z3Api& api);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  const Z3Api& api() const { return api_; }
  Z3_context get() const { return context_; }

 private:
  const Z3Api& api_;
  Z3_context context_;
};

class Encoder {
 public:
  explicit Encoder(Context& context) : z_(context.api()), c_(context.get()) {}

  // Whether values of the type can be encoded at all.
  static bool Knows(ir::Type type);
  Z3_sort Sort(ir::Type type);
  Z3_ast Variable(ir::Type type, const std::string& name);
  Z3_ast Constant(ir::Type type, std::span<const uint64_t> words);

  // The op's value; `trap` becomes the condition under which it traps (null: never), and `kind` tells which trap is
  // first where there are two. Null if the op or type is not encoded.
  struct Trapping {
    Z3_ast division = nullptr;  // division by zero
    Z3_ast overflow = nullptr;  // and not the former
  };
  Z3_ast Apply(ir::Op op, ir::Type type, ir::Type source, std::span<const Z3_ast> operands,
               Trapping& trap);

  Z3_ast True() { return z_.mk_true(c_); }
  Z3_ast False() { return z_.mk_false(c_); }
  Z3_ast And(Z3_ast a, Z3_ast b);
  Z3_ast Or(Z3_ast a, Z3_ast b);
  Z3_ast Not(Z3_ast a) { return z_.mk_not(c_, a); }
  Z3_ast Equal(Z3_ast a, Z3_ast b) { return z_.mk_eq(c_, a, b); }
  Z3_ast Ite(Z3_ast condition, Z3_ast a, Z3_ast b) { return z_.mk_ite(c_, condition, a, b); }
  // The float is no NaN but the quiet one.
  Z3_ast NotPayload(ir::Type type, Z3_ast bits);

 private:
  Z3_ast Integer(ir::Op op, ir::Type type, std::span<const Z3_ast> v, Trapping& trap);
  Z3_ast Division(ir::Op op, ir::Type type, Z3_ast a, Z3_ast b, Trapping& trap);
  Z3_ast Checked(ir::Op op, ir::Type type, std::span<const Z3_ast> v, Trapping& trap);
  Z3_ast Bits(ir::Op op, ir::Type type, std::span<const Z3_ast> v);
  Z3_ast Float(ir::Op op, ir::Type type, std::span<const Z3_ast> v);
  Z3_ast FloatOrder(ir::Op op, ir::Type type, Z3_ast a, Z3_ast b);
  Z3_ast Logic(ir::Op op, std::span<const Z3_ast> v);
  Z3_ast Cast(ir::Type to, ir::Type from, Z3_ast a);
  Z3_ast CastChecked(ir::Type to, ir::Type from, Z3_ast a, Trapping& trap);
  Z3_ast FloatToInteger(ir::Type to, ir::Type from, Z3_ast a);

  static unsigned WidthOf(ir::Type type);
  Z3_ast Number(unsigned width, uint64_t value);
  Z3_ast Less(ir::Type type, Z3_ast a, Z3_ast b);
  Z3_ast LessEqual(ir::Type type, Z3_ast a, Z3_ast b);
  Z3_ast Resize(Z3_ast a, unsigned from, unsigned to, bool is_signed);

  Z3_sort FloatSort(ir::Type type);
  Z3_ast ToFloat(ir::Type type, Z3_ast bits);     // of the type's own format
  Z3_ast Widened(ir::Type type, Z3_ast bits);     // f16 and bf16 as f32
  Z3_ast FromFloat(ir::Type type, Z3_ast value);  // bits, a NaN as the quiet one
  Z3_ast Narrowed(ir::Type type, Z3_ast value);   // rounds f32 to f16 and bf16
  Z3_ast IsNan(ir::Type type, Z3_ast bits);
  Z3_ast QuietNan(ir::Type type);
  Z3_ast SignBit(ir::Type type, Z3_ast bits);  // as Bool

  const Z3Api& z_;
  Z3_context c_;
  // Bits that were made from a float, and that float: reading them back is then no conversion.
  std::unordered_map<Z3_ast, Z3_ast> float_of_;
};

}  // namespace frazil::verify::smt
