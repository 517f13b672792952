"""Exponentials of f64: 2^(j/64) from a table, a short polynomial, pairs of doubles.

Cores (`pre.*`) give pairs accurate to about 2^-65; the functions combine them and round once, so that
errors stay near half an ulp. No fma. As in f32, arguments are clamped so that NaN and infinity never
reach a bitcast or a table index, and are answered by selects at the end.
"""

from mpmath import mpf
import mpmath

import fit
from f32 import LN2, NAN, ONE_BITS, SHIFTER, around_zero, clamp, horner, nearest_integer
from ir import Function, Table
from pairs import div_pairs, fast_two_sum, two_prod, two_sum


def new(name, comment, params=("x",)):
    return Function(name, [(p, "f64") for p in params], ["f64"], comment)


def finish(f, x, y):
    f.ret(f.select(x.eq(x), y, NAN).named("y"))
    return f


STEPS = 64  # entries of 2^(j/64)


def exp_table():
    numbers = []
    for j in range(STEPS):
        numbers += fit.pair(mpf(2) ** (mpf(j) / STEPS))
    return Table("table.exp2.f64", "f64", numbers, "2^(j/64) as pairs, j = 0 .. 63.")


def exp_tail(degree):
    """s with e^r = 1 + r + r^2 s(r), |r| <= ln2 / 128."""
    limit = LN2 / (2 * STEPS) * mpf("1.0001")
    return fit.doubles(
        fit.interpolate(
            around_zero(lambda r: (mpmath.expm1(r) - r) / r**2, 0.5), -limit, limit, degree - 2
        )
    )


def table_pair(f, table, t, steps):
    i = ((t.bits() & (steps - 1)) << 1).cast("index").named("i")
    return f.lookup(table, i).named("th"), f.lookup(table, i + 1).named("tl")


def exp_core(table):
    f = Function(
        "pre.exp.f64",
        [("x", "f64"), ("xl", "f64")],
        ["f64", "f64", "f64"],
        "e^(x + xl) = 2^k (h + l), -746 <= x <= 711, |xl| <= ulp(x): (h, l, t) with 64 k + j in the low bits of t.",
    )
    x, xl = f.params
    t, k = nearest_integer(x, STEPS / LN2)
    head, rest = fit.split(LN2 / STEPS, 34)
    tail = k * rest
    high = x - k * head
    r, rl = two_sum(high, -tail)
    # rest is rounded to 53 bits: k times its error is below 2^-80.
    rl = (rl + xl).named("rl")
    s = (r * r * horner(exp_tail(6), r) + (rl + rl * r)).named("s")
    th, tl = table_pair(f, table, t, STEPS)
    p, e = two_prod(th, r)
    h, l = fast_two_sum(th, p)
    l = l + (e + (th * s + tl))
    h, l = fast_two_sum(h, l)
    f.ret(h, l, t)
    return f


def power(t, offset=0):
    """2^(k + offset) from the t of the core."""
    return (((t.bits() >> 6) << 52) + (ONE_BITS + (offset << 52)) % 2**64).bits()


def scale_far(f, y, t, x):
    """y 2^k where the result may be subnormal or overflow; x has k's sign."""
    negative = x < 0.0
    base = f.select(negative, f.const("u64", ONE_BITS + (512 << 52)), ONE_BITS - (512 << 52))
    return (
        y
        * (((t.bits() >> 6) << 52) + base).bits()
        * f.select(negative, f.const("f64", 2.0**-512), 2.0**512)
    )


def exp_f64(table):
    f = new("exp.f64", "2^k 2^(j/64) e^r, 64 k + j = round(64 x / ln2).")
    (x,) = f.params
    xc = clamp(f, x, -746.0, 710.0).named("xc")
    t, k = nearest_integer(xc, STEPS / LN2)
    head, rest = fit.split(LN2 / STEPS, 34)
    r = ((xc - k * head) - k * rest).named("r")
    s = r * r * horner(exp_tail(6), r) + r
    th, tl = table_pair(f, table, t, STEPS)
    return finish(f, x, scale_far(f, th + (th * s + tl), t, xc))


def exp2_f64(table):
    f = new("exp2.f64", "2^k 2^(j/64) 2^r, 64 k + j = round(64 x), r exact.")
    (x,) = f.params
    xc = clamp(f, x, -1076.0, 1025.0).named("xc")
    t = (xc + SHIFTER / STEPS).named("t")
    r = (xc - (t - SHIFTER / STEPS)).named("r")
    limit = mpf(1) / (2 * STEPS)
    q = fit.doubles(
        fit.interpolate(around_zero(lambda r: mpmath.expm1(r * LN2) / r, LN2), -limit, limit, 5)
    )
    s = r * horner(q, r)
    th, tl = table_pair(f, table, t, STEPS)
    return finish(f, x, scale_far(f, th + (th * s + tl), t, xc))


def quarter_expm1(f, core, x):
    """Pair of (e^x - 1) / 4, for -746 <= x <= 711: a quarter, so that nothing overflows before the end."""
    h, l, t = f.call(core, x, f.const("f64", 0.0))
    p = power(t, -2).named("p")
    a, b = two_sum(p * h, f.const("f64", -0.25))
    return fast_two_sum(a, b + p * l)


def expm1_f64(core):
    f = new("expm1.f64", "e^x as a pair, minus 1; below 2^-30 it is x + x^2/2.")
    (x,) = f.params
    xc = clamp(f, x, -40.0, 711.0).named("xc")
    h, l = quarter_expm1(f, core, xc)
    y = f.select(x.abs() < 2.0**-30, x + x * (x * 0.5), (h + l) * 4.0)
    return finish(f, x, y.copysign(x))


def sinh_f64(core):
    f = new(
        "sinh.f64",
        "2 (F + F / (4 F + 1)), F = (e^a - 1) / 4 as a pair, a = |x|; below 2^-28 it is x.",
    )
    (x,) = f.params
    a = clamp(f, x.abs(), hi=711.0).named("a")
    h, l = quarter_expm1(f, core, a)
    # The quotient tends to 1/4: beyond 2^60 it is lost against F, and 4 F must not overflow.
    huge = h > 2.0**60
    ch, cl = f.select(huge, 2.0**60, h), f.select(huge, 0.0, l)
    d = two_sum(ch * 4.0, f.const("f64", 1.0))
    q, ql = div_pairs((ch, cl), fast_two_sum(d[0], d[1] + cl * 4.0))
    s, e = fast_two_sum(h, q)
    y = ((s + (e + (l + ql))) * 2.0).copysign(x)
    y = f.select(x.abs() < 2.0**-28, x, y)
    return finish(f, x, y)


def cosh_f64(core):
    f = new("cosh.f64", "2 (E/4 + 1/(4 E)), E = e^|x| as a pair.")
    (x,) = f.params
    a = clamp(f, x.abs(), hi=711.0).named("a")
    h, l, t = f.call(core, a, f.const("f64", 0.0))
    p = power(t, -2).named("p")
    q, ql = div_pairs((f.const("f64", 1.0), f.const("f64", 0.0)), (h, l))
    # 2^(-k-2); beyond k = 500 the term is lost anyway.
    small = (t.bits() >> 6) << 52
    m = ((f.const("u64", ONE_BITS - (2 << 52)) - small)).bits()
    m = f.select(a < 300.0, m, 0.0).named("m")
    s, e = fast_two_sum(p * h, m * q)
    return finish(f, x, (s + (e + (p * l + m * ql))) * 2.0)


def tanh_f64(core):
    f = new(
        "tanh.f64", "F / (F + 1/2), F = (e^(2a) - 1) / 4 as a pair, a = |x|; below 2^-28 it is x."
    )
    (x,) = f.params
    a = clamp(f, x.abs(), hi=20.0).named("a")
    h, l = quarter_expm1(f, core, a + a)
    d = two_sum(h, f.const("f64", 0.5))
    q, ql = div_pairs((h, l), fast_two_sum(d[0], d[1] + l))
    y = f.select(x.abs() < 2.0**-28, x, (q + ql).copysign(x))
    return finish(f, x, y)


def sigmoid_f64(core):
    f = new("sigmoid.f64", "1 / (1 + E) or E / (1 + E) by the sign of x, E = e^-|x| = 2^k (h + l).")
    (x,) = f.params
    a = clamp(f, -x.abs(), lo=-746.0).named("a")
    h, l, t = f.call(core, a, f.const("f64", 0.0))
    p = f.select(a > -600.0, power(t), 0.0).named("p")
    d = fast_two_sum(f.const("f64", 1.0), p * h)
    d = fast_two_sum(d[0], d[1] + p * l)
    negative = (x < 0.0).named("negative")
    q, ql = div_pairs((f.select(negative, h, 1.0), f.select(negative, l, 0.0)), d)
    y = (q + ql).named("q")
    return finish(f, x, f.select(negative, scale_far(f, y, t, a), y))
