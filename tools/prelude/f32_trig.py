"""Sine, cosine and tangent of f32. Two pieces of pi/2 reduce up to 2^22; beyond, a table of 2^e 2/pi mod 4."""

from mpmath import mpf
import mpmath

import fit
from f32 import INF, NAN, SHIFTER, around_zero, horner, nearest_integer, new, settle_hard_cases
from ir import Function, Table

SMALL = 2.0**22


def trig_table():
    """2^e 2/pi mod 4 by exponent, as 27 + 27 + 53 bits; the last row stands for inf and NaN."""
    numbers = []
    with mpmath.workprec(400):
        for exponent in range(149, 255):
            v = mpmath.ldexp(2 / mpmath.pi, exponent - 150)
            v -= 4 * mpmath.floor(v / 4)
            # Cut at fixed places, so that the sums of products in the reduction stay exact.
            head = mpmath.floor(mpmath.ldexp(v, 25)) / 2**25
            middle = mpmath.floor(mpmath.ldexp(v - head, 52)) / mpf(2) ** 52
            numbers += [float(head), float(middle), float(v - head - middle)]
    return Table(
        "table.two_over_pi.f32",
        "f64",
        numbers + [0.0, 0.0, 0.0],
        "2^(e-150) 2/pi mod 4 for f32 exponents e = 149 .. 254 as three parts, then a row for inf and NaN.",
    )


def trig_reduce(table):
    f = Function(
        "pre.trig.f32",
        [("a", "f32")],
        ["f64", "u32"],
        "a >= 0: (r, q) with a = q pi/2 + r, |r| <= pi/4, q modulo 4. inf and NaN give anything finite.",
    )
    (a,) = f.params
    half_pi = mpmath.pi / 2

    def small():
        d = a.cast("f64").named("d")
        t, k = nearest_integer(d, 1 / half_pi)
        p1, p2 = fit.split(half_pi, 30)
        return ((d - k * p1) - k * p2).named("r"), t.bits().cast("u32").named("q")

    def big():
        bits = a.bits().named("bits")
        m = ((bits & 0x7FFFFF) | 0x4B000000).bits().cast("f64").named("m")
        row = (((bits >> 23) - 149) * 3).cast("index").named("row")
        head, middle, tail = (f.lookup(table, row + i if i else row) for i in range(3))
        v = m * head
        t1 = (v + SHIFTER).named("t1")
        v = (v - (t1 - SHIFTER)) + m * middle
        t2 = (v + SHIFTER).named("t2")
        part = ((v - (t2 - SHIFTER)) + m * tail).named("part")
        return (part * float(half_pi)), (t1.bits() + t2.bits()).cast("u32")

    r, q = f.branch(a < SMALL, ["f64", "u32"], small, big)
    f.ret(r.named("angle"), q.named("quadrant"))
    return f


def sin_poly(degree):
    """r P(r^2)"""
    top = (mpmath.pi / 4) ** 2 * mpf("1.0001")
    return fit.doubles(
        fit.interpolate(
            around_zero(lambda u: mpmath.sin(mpmath.sqrt(u)) / mpmath.sqrt(u), 1), 0, top, degree
        )
    )


def cos_poly(degree):
    top = (mpmath.pi / 4) ** 2 * mpf("1.0001")
    tail = fit.interpolate(
        around_zero(lambda u: (mpmath.cos(mpmath.sqrt(u)) - 1) / u, -0.5), 0, top, degree - 1
    )
    return fit.doubles([mpf(1)] + tail)


TRIG_DEGREE = 6
TAN_DEGREE = 6


def sine_cosine(f, reduce, a, degree):
    r, q = f.call(reduce, a)
    u = (r * r).named("u")
    s = (r * horner(sin_poly(degree), u)).named("s")
    c = horner(cos_poly(degree), u).named("c")
    return s, c, q


def sin_f32(reduce, name="sin.f32", quarter=0):
    f = new(
        name,
        "sin r or cos r by the quadrant; sign by the quadrant"
        + (" and x." if quarter == 0 else "."),
    )
    (x,) = f.params
    a = x.abs().named("a")
    s, c, q = sine_cosine(f, reduce, a, TRIG_DEGREE)
    if quarter:
        q = q + quarter
    y = f.select((q & 1).eq(0), s, c).cast("f32").bits()
    y = settle_hard_cases(f, a, y ^ ((q & 2) << 30))
    if quarter == 0:
        y = y ^ (x.bits() & 0x80000000)
    f.ret(f.select(a < INF, y.bits(), NAN).named("y"))
    return f


def cos_f32(reduce):
    return sin_f32(reduce, "cos.f32", 1)


def tan_f32(reduce):
    f = new("tan.f32", "sin r / cos r, or -cos r / sin r in odd quadrants.")
    (x,) = f.params
    a = x.abs().named("a")
    s, c, q = sine_cosine(f, reduce, a, TAN_DEGREE)
    even = (q & 1).eq(0).named("even")
    y = (f.select(even, s, c) / f.select(even, c, s)).cast("f32").bits()
    sign = (q << 31) ^ (x.bits() & 0x80000000)
    f.ret(f.select(a < INF, (y ^ sign).bits(), NAN).named("y"))
    return f
