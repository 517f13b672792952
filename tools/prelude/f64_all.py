"""The f64 functions, gathered: tables first, then cores, then what calls them."""

import mpmath

from f32 import LN2
from f64_erf import cbrt_f64, erf_f64, erfcx_core, erfcx_table, gelu_f64, rsqrt_f64
from f64_exp import (
    cosh_f64,
    exp2_f64,
    exp_core,
    exp_f64,
    exp_table,
    expm1_f64,
    sigmoid_f64,
    sinh_f64,
    tanh_f64,
)
from f64_log import log1p_f64, log_base, log_core, log_f64, log_table, pow_f64
from f64_trig import atan_f64, atan_table, sin_f64, tan_f64, trig_core, two_over_pi_table


def functions():
    tables = {
        t.name: t
        for t in (exp_table(), log_table(), two_over_pi_table(), atan_table(), erfcx_table())
    }
    exps, atans = tables["table.exp2.f64"], tables["table.atan.f64"]
    exp, log = exp_core(exps), log_core(tables["table.log.f64"])
    trig, erfcx = trig_core(tables["table.two_over_pi.f64"]), erfcx_core(tables["table.erfcx.f64"])
    log2e, log10e = 1 / LN2, 1 / mpmath.log(10)
    return list(tables.values()), [
        exp,
        log,
        trig,
        erfcx,
        exp_f64(exps),
        exp2_f64(exps),
        expm1_f64(exp),
        log_f64(log),
        log_base(log, "log2.f64", "k + log2 z by the core.", 1, log2e),
        log_base(log, "log10.f64", "k log10(2) + log10 z by the core.", mpmath.log10(2), log10e),
        log1p_f64(log),
        sinh_f64(exp),
        cosh_f64(exp),
        tanh_f64(exp),
        sigmoid_f64(exp),
        erf_f64(exp, erfcx),
        gelu_f64(exp, erfcx),
        rsqrt_f64(),
        cbrt_f64(),
        atan_f64(atans),
        sin_f64(trig),
        sin_f64(trig, "cos.f64", 1),
        tan_f64(trig),
        pow_f64(log, exp),
    ]
