// Z3, opened at run time: a table of the functions we use, so that no binary needs the library to start and a machine
// without it still runs. The types come from z3.h.
#pragma once

#include <string>

#include <z3.h>

#include "base/result.h"

namespace frazil::verify::smt {

#define FRAZIL_Z3_FUNCTIONS(X)                                                                                        \
  X(mk_config) X(del_config) X(set_param_value) X(mk_context) X(del_context) X(set_error_handler) X(get_error_code)  \
  X(get_version) X(mk_string_symbol) X(mk_bv_sort) X(mk_bool_sort) X(mk_const) X(mk_numeral) X(mk_true) X(mk_false) \
  X(mk_eq) X(mk_not) X(mk_ite) X(mk_xor) X(mk_and) X(mk_or) X(mk_bvnot) X(mk_bvand) X(mk_bvor) X(mk_bvxor)          \
  X(mk_bvneg) X(mk_bvadd) X(mk_bvsub) X(mk_bvmul) X(mk_bvudiv) X(mk_bvsdiv) X(mk_bvurem) X(mk_bvsrem) X(mk_bvult)    \
  X(mk_bvule) X(mk_bvslt) X(mk_bvsle) X(mk_concat) X(mk_extract) X(mk_sign_ext) X(mk_zero_ext) X(mk_bvshl)           \
  X(mk_bvlshr) X(mk_bvashr) X(mk_fpa_rne) X(mk_fpa_rtp) X(mk_fpa_rtn) X(mk_fpa_rtz) X(mk_fpa_sort) X(mk_fpa_abs)     \
  X(mk_fpa_neg) X(mk_fpa_add) X(mk_fpa_sub) X(mk_fpa_mul) X(mk_fpa_div) X(mk_fpa_fma) X(mk_fpa_sqrt)                 \
  X(mk_fpa_round_to_integral) X(mk_fpa_leq) X(mk_fpa_lt) X(mk_fpa_eq) X(mk_fpa_is_nan) X(mk_fpa_to_fp_bv)            \
  X(mk_fpa_to_fp_float) X(mk_fpa_to_fp_signed) X(mk_fpa_to_fp_unsigned) X(mk_fpa_to_ubv) X(mk_fpa_to_sbv)            \
  X(mk_fpa_to_ieee_bv) X(mk_solver) X(solver_inc_ref) X(solver_dec_ref) X(solver_assert) X(solver_check)             \
  X(solver_get_model) X(solver_set_params) X(solver_get_reason_unknown) X(model_inc_ref) X(model_dec_ref)            \
  X(model_eval) X(get_numeral_string) X(get_bool_value) X(simplify) X(mk_params) X(params_inc_ref)                   \
  X(params_dec_ref) X(params_set_uint) X(get_ast_kind) X(get_sort)

struct Z3Api {
#define FRAZIL_Z3_MEMBER(name) decltype(&::Z3_##name) name = nullptr;
  FRAZIL_Z3_FUNCTIONS(FRAZIL_Z3_MEMBER)
#undef FRAZIL_Z3_MEMBER
};

// Opens the library once. Fails with Diag::MissingLibrary. FRAZIL_Z3 names another file.
Result<const Z3Api*> LoadZ3();
// The same with a name; does not remember anything. For tests.
Result<Z3Api> OpenZ3(const std::string& library);
std::string Z3Version(const Z3Api& api);  // "4.8.12"

}  // namespace frazil::verify::smt
