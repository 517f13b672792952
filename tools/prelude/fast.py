"""The `fast` forms: f32 arithmetic alone, for machines with slow f64. Bounds in docs/prelude.md."""

import mpmath
from mpmath import mpf

import fit
from f32 import INF, LN2, NAN, around_zero, clamp, finish, horner, new

SHIFTER = 1.5 * 2.0**23
ONE_BITS = 0x3F800000


def exp_core(x, degree):
    """(t, r, m): x = k ln2 + r, k in t's low bits, m = e^r - 1."""
    t = (x * (1 / LN2) + SHIFTER).named("t")
    k = (t - SHIFTER).named("k")
    head, tail = fit.split(LN2, 9)
    r = ((x - k * head) - k * mpf(LN2 - head)).named("r")
    limit = LN2 / 2 * mpf("1.001")
    q = fit.interpolate(
        around_zero(lambda r: (mpmath.expm1(r) - r) / r**2, 0.5), -limit, limit, degree - 2
    )
    return t, (r * r * horner(q, r) + r).named("m")


def scale(y, t):
    """y 2^k in two halves, so that a subnormal result rounds once."""
    k = (t.bits() - 0x4B400000).bits("i32").named("ki")
    half = k >> 1
    power = lambda e: ((e << 23) + ONE_BITS).bits("f32")
    return y * power(half) * power(k - half)


def exp_fast():
    f = new("exp.fast.f32", "As exp.f32, in f32.")
    (x,) = f.params
    t, m = exp_core(clamp(f, x, -104.0, 89.0).named("xc"), 6)
    return finish(f, x, scale(m + 1.0, t))


def log_fast():
    f = new("log.fast.f32", "k ln2 + f - f^2/2 + f^3 q(f), f = z - 1, z in [sqrt(1/2), sqrt(2)).")
    (x,) = f.params
    # Subnormals are scaled up first; 0, negative and NaN arguments go through as one and are
    # answered at the end.
    subnormal = (x < 2.0**-126).named("subnormal")
    a = f.select(subnormal, x * 2.0**23, x)
    a = f.select(a > 0.0, a, 1.0).named("a")
    root = 0x3F3504F3
    w = (a.bits() + (ONE_BITS - root)).named("w")
    k = (w >> 23).bits("i32").cast("f32") - f.select(subnormal, f.const("f32", 150.0), 127.0)
    z1 = (((w & 0x7FFFFF) + root).bits() - 1.0).named("f")
    lo, hi = mpmath.sqrt(mpf(0.5)) - 1, mpmath.sqrt(2) - 1
    q = fit.interpolate(
        around_zero(lambda v: (mpmath.log1p(v) - v + v * v / 2) / v**3, mpf(1) / 3), lo, hi, 7
    )
    square = (z1 * z1).named("square")
    head, _ = fit.split(LN2, 16)
    tail = z1 * square * horner(q, z1) + k * mpf(LN2 - head)
    y = k * head + ((tail - square * 0.5) + z1)
    y = f.select(x < INF, y, INF)
    y = f.select(x > 0.0, y, -INF)
    f.ret(f.select(x >= 0.0, y, NAN).named("y"))
    return f


def tanh_fast():
    f = new("tanh.fast.f32", "As tanh.f32, in f32.")
    (x,) = f.params
    a = clamp(f, x.abs(), hi=9.5).named("a")
    t, m = exp_core(a + a, 6)
    p = ((t.bits() << 23) + ONE_BITS).bits().named("p")
    m = ((p - 1.0) + p * m).named("em1")
    return finish(f, x, (m / (m + 2.0)).copysign(x))


def sigmoid_fast():
    f = new("sigmoid.fast.f32", "1 / (1 + e) or e / (1 + e) by the sign of x, e = e^-|x|.")
    (x,) = f.params
    a = clamp(f, -x.abs(), lo=-104.0).named("a")
    t, m = exp_core(a, 6)
    e = scale(m + 1.0, t).named("e")
    numerator = f.select(x < 0.0, e, 1.0)
    return finish(f, x, numerator / (e + 1.0))


def functions():
    return [], [exp_fast(), log_fast(), tanh_fast(), sigmoid_fast()]
