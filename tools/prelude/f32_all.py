"""The f32 functions, gathered: callees before callers."""

from f32 import (
    atan_f32,
    cbrt_f32,
    cosh_f32,
    erf_f32,
    exp2_f32,
    exp_f32,
    expm1_f32,
    gelu_f32,
    log10_f32,
    log1p_f32,
    log2_f32,
    log_f32,
    pow_f32,
    rsqrt_f32,
    sigmoid_f32,
    sinh_f32,
    tanh_f32,
)
from f32_trig import cos_f32, sin_f32, tan_f32, trig_reduce, trig_table


def functions():
    """Tables and functions, callees before callers."""
    table = trig_table()
    reduce = trig_reduce(table)
    return [table], [
        exp_f32(),
        exp2_f32(),
        expm1_f32(),
        log_f32(),
        log2_f32(),
        log10_f32(),
        log1p_f32(),
        tanh_f32(),
        sinh_f32(),
        cosh_f32(),
        sigmoid_f32(),
        erf_f32(),
        gelu_f32(),
        rsqrt_f32(),
        cbrt_f32(),
        atan_f32(),
        reduce,
        sin_f32(reduce),
        cos_f32(reduce),
        tan_f32(reduce),
        pow_f32(),
    ]
