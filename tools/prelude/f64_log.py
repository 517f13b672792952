"""Logarithms and power of f64: c near 1/z from a table, ln(z c) by a polynomial, pairs of doubles."""

import struct

from mpmath import mpf
import mpmath

import fit
from f32 import INF, LN2, NAN, ONE_BITS, around_zero, clamp, horner
from f64_exp import new, scale_far
from ir import Function, Table
from pairs import fast_two_sum, mul_constant, split, two_prod, two_square, two_sum

LOG_BITS = 7
LOG_FIRST = 0x3FE6A00000000000  # 0.70703125: 1 is a border of two intervals


def log_table():
    """Per interval: c near 1/z with few bits, and -ln c as a pair. Beside 1, c is 1."""
    numbers = []
    for j in range(1 << LOG_BITS):
        lo, hi = (
            struct.unpack("<d", struct.pack("<Q", LOG_FIRST + (i << (52 - LOG_BITS))))[0]
            for i in (j, j + 1)
        )
        c = float(mpmath.nint(512 / ((mpf(lo) + hi) / 2)) / 512)
        if hi == 1.0 or lo == 1.0:
            c = 1.0
        numbers += [c, *fit.pair(-mpmath.log(mpf(c)))]
    return Table(
        "table.log.f64",
        "f64",
        numbers,
        "c ~ 1/z, then -ln c as a pair, for 128 intervals of z from 0.70703125 up.",
    )


def log_q(degree):
    limit = mpf(2) ** -7 * mpf("1.05")
    return fit.doubles(
        fit.interpolate(
            around_zero(lambda v: (mpmath.log1p(v) - v + v * v / 2) / v**3, mpf(1) / 3),
            -limit,
            limit,
            degree,
        )
    )


def log_core(table):
    f = Function(
        "pre.log.f64",
        [("x", "f64")],
        ["f64", "f64", "f64"],
        "x positive and normal: (k, h, l) with ln x = k ln2 + h + l.",
    )
    (x,) = f.params
    w = (x.bits() - LOG_FIRST + ONE_BITS).named("w")
    k = (((w >> 52) | 0x4330000000000000).bits() - (2.0**52 + 1023)).named("k")
    z = ((w & 0xFFFFFFFFFFFFF) + LOG_FIRST).bits().named("z")
    i = (((w >> (52 - LOG_BITS)) & ((1 << LOG_BITS) - 1)) * 3).cast("index").named("i")
    c, bh, bl = (f.lookup(table, i + n if n else i) for n in range(3))
    # r = z c - 1: c has 10 bits, so both halves of z give exact products.
    zh, zl = split(z)
    r, rl = two_sum(zh * c - 1.0, zl * c)
    square, low = two_square(r)
    # ln(1 + r + rl) = r - r^2/2 + r^3 q(r) + rl (1 - r)
    h1, l1 = fast_two_sum(r, square * -0.5)
    l1 = l1 + (rl - rl * r) + (low * -0.5 + r * square * horner(log_q(7), r))
    h, l = fast_two_sum(bh, h1)
    h, l = fast_two_sum(h, l + (l1 + bl))
    f.ret(k, h, l)
    return f


def log_argument(f, x, inside=None):
    """(a, correction): x scaled to a normal number, 1 where the logarithm has no value here."""
    inside = x > 0.0 if inside is None else inside
    a = f.select(inside, x, 1.0)
    a = f.select(a < INF, a, 1.0)
    tiny = (a < 2.0**-1022).named("tiny")
    return f.select(tiny, a * 2.0**54, a).named("a"), f.select(tiny, f.const("f64", -54.0), 0.0)


def log_special(f, x, y):
    y = f.select(x < INF, y, INF)
    y = f.select(x > 0.0, y, -INF)
    f.ret(f.select(x >= 0.0, y, NAN).named("y"))
    return f


def log_join(k, h, l):
    """k ln2 + h + l as a pair."""
    head, tail = fit.split(LN2, 42)
    s, e = fast_two_sum(k * head, h)
    return fast_two_sum(s, e + (l + k * tail))


def log_f64(core):
    f = new("log.f64", "k ln2 + ln z by the core.")
    (x,) = f.params
    a, shift = log_argument(f, x)
    k, h, l = f.call(core, a)
    s, e = log_join(k + shift, h, l)
    return log_special(f, x, s + e)


def log_base(core, name, comment, k_scale, scale):
    f = new(name, comment)
    (x,) = f.params
    a, shift = log_argument(f, x)
    k, h, l = f.call(core, a)
    k = (k + shift).named("exponent")
    p, e = mul_constant(f, h, scale)
    e = e + l * float(scale)
    if k_scale == 1:
        s, rest = fast_two_sum(k, p)
        return log_special(f, x, s + (rest + e))
    head, tail = fit.split(k_scale, 42)
    s, rest = fast_two_sum(k * head, p)
    return log_special(f, x, s + (rest + (e + k * tail)))


def log1p_f64(core):
    f = new("log1p.f64", "ln u + e / u, u + e = 1 + x exactly; below 2^-54 it is x.")
    (x,) = f.params
    inside = (x > -1.0).named("inside")
    xc = f.select(inside, x, 1.0)
    xc = f.select(xc < INF, xc, 1.0).named("xc")
    u, e = two_sum(xc, f.const("f64", 1.0))
    k, h, l = f.call(core, u)
    s, rest = log_join(k, h, l)
    s, more = two_sum(s, e / u)
    y = f.select(x.abs() < 2.0**-54, x, s + (rest + more))
    y = f.select(x < INF, y, INF)
    y = f.select(inside, y, -INF)
    f.ret(f.select(x >= -1.0, y, NAN).named("y"))
    return f


def pow_f64(log, exp):
    f = new(
        "pow.f64",
        "e^(y ln |x|) by the cores as pairs, then the special cases of IEEE 754 pow.",
        ("x", "y"),
    )
    x, y = f.params
    a = x.abs().named("a")
    plain, shift = log_argument(f, a)
    k, h, l = f.call(log, plain)
    lh, ll = log_join(k + shift, h, l)
    # 0 and inf: logarithms that saturate any y but 0. y is kept where its products neither overflow
    # nor vanish.
    lh = f.select(a > 0.0, f.select(a < INF, lh, 2.0**200), -(2.0**200)).named("lh")
    ll = f.select(lh.abs() < 800.0, ll, 0.0).named("ll")
    yc = f.select(
        y.abs() > 2.0**-140, clamp(f, y, -(2.0**70), 2.0**70), f.const("f64", 2.0**-140).copysign(y)
    ).named("yc")
    p, e = two_prod(lh, yc)
    low = e + ll * yc
    inside = p.abs() < 746.0
    w = clamp(f, p, -746.0, 711.0).named("w")
    eh, el, t = f.call(exp, w, f.select(inside, low, 0.0))
    magnitude = scale_far(f, eh + el, t, w).named("magnitude")
    whole = y.eq(y.floor()).named("whole")
    half = y * 0.5
    odd = (whole & half.ne(half.floor())).named("odd")
    negative = (x.bits() >> 63).eq(1).named("negative")
    result = f.select(odd & negative, -magnitude, magnitude)
    bad = (x < 0.0) & (a < INF) & f.op("not", "bool", [whole])
    result = f.select(bad, NAN, result)
    result = f.select(a.eq(1.0) & y.abs().eq(INF), 1.0, result)
    result = f.select(x.ne(x) | y.ne(y), NAN, result)
    f.ret(f.select(x.eq(1.0) | y.eq(0.0), 1.0, result).named("z"))
    return f
