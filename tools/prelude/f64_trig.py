"""Sine, cosine, tangent and arc tangent of f64. Reduction by four pieces of pi/2, or for large arguments by
the bits of 2/pi in integers."""

from mpmath import mpf
import mpmath

import fit
from f32 import INF, NAN, around_zero, clamp, horner, nearest_integer
from f64_exp import finish, new
from ir import Function, Table
from pairs import div_pairs, fast_two_sum, mul_constant, split, two_prod, two_square, two_sum

SMALL = 2.0**20


def two_over_pi_table():
    with mpmath.workprec(1400):
        bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 21 * 64)))
    digits = bits << 0
    total = 21 * 64 + 64  # 64 zero bits stand first
    words = [(digits >> (total - 64 * (i + 1))) & (2**64 - 1) for i in range(21)]
    return Table("table.two_over_pi.f64", "u64", words, "64 zero bits, then 2/pi in binary.")


def trig_core(table):
    f = Function(
        "pre.trig.f64",
        [("a", "f64")],
        ["f64", "f64", "u64"],
        "a >= 0: (r, l, q) with a = q pi/2 + r + l, |r| <= pi/4, q modulo 4. inf and NaN give anything finite.",
    )
    (a,) = f.params
    half_pi = mpmath.pi / 2
    parts, rest = [], half_pi
    for _ in range(3):
        head, _ = fit.split(rest, 33)
        parts.append(head)
        rest -= mpf(head)

    def small():
        t, k = nearest_integer(a, 1 / half_pi)
        h, e1 = two_sum(a - k * parts[0], -(k * parts[1]))
        h, e2 = two_sum(h, -(k * parts[2]))
        r, l = fast_two_sum(h, (e1 + e2) - k * float(rest))
        return r, l, t.bits()

    def big():
        # 190 bits of 2/pi from weight 2 down, times the 53-bit integer m, modulo 4.
        bits = a.bits().named("bits")
        m = ((bits & 0xFFFFFFFFFFFFF) | 0x10000000000000).named("m")
        at = ((bits >> 52) - (1076 - 63)).named("at")
        word = (at >> 6).cast("index").named("word")
        shift = (at & 63).named("shift")
        back = 63 - shift
        raw = [f.lookup(table, word + i if i else word) for i in range(4)]
        w = [(raw[i] << shift) | ((raw[i + 1] >> 1) >> back) for i in range(3)]
        low = m * w[1]
        middle = (low + m.mul_hi(w[2])).named("middle")
        carry = (middle < low).cast("u64")
        top = (m * w[0] + m.mul_hi(w[1]) + carry).named("top")
        q = ((top + (1 << 61)) >> 62).named("q")
        signed = (top - (q << 62)).named("signed")
        # The fraction of a quarter turn in four pieces of 32 bits, the first signed.
        p0 = (signed >> 32).cast("u32").bits("i32").cast("f64") * 2.0**-30
        p1 = (signed & 0xFFFFFFFF).cast("u32").cast("f64") * 2.0**-62
        p2 = (middle >> 32).cast("u32").cast("f64") * 2.0**-94
        p3 = (middle & 0xFFFFFFFF).cast("u32").cast("f64") * 2.0**-126
        h, e1 = two_sum(p0, p1)
        h, e2 = two_sum(h, p2)
        h, e = fast_two_sum(h, (e1 + e2) + p3)
        p, pe = mul_constant(f, h, half_pi)
        r, l = fast_two_sum(p, pe + e * float(half_pi))
        return r, l, q

    r, l, q = f.branch(a < SMALL, ["f64", "f64", "u64"], small, big)
    f.ret(r.named("angle"), l.named("low"), q.named("quadrant"))
    return f


def trig_tails(degree_sin, degree_cos):
    """sin r = r + r^3 S(r^2), cos r = 1 - r^2/2 + r^4 C(r^2)."""
    top = (mpmath.pi / 4) ** 2 * mpf("1.00001")
    root = mpmath.sqrt
    s = fit.interpolate(
        around_zero(lambda u: (mpmath.sin(root(u)) / root(u) - 1) / u, -mpf(1) / 6),
        0,
        top,
        degree_sin,
    )
    c = fit.interpolate(
        around_zero(lambda u: (mpmath.cos(root(u)) - 1 + u / 2) / u**2, mpf(1) / 24),
        0,
        top,
        degree_cos,
    )
    return fit.doubles(s), fit.doubles(c)


def sine_cosine(f, core, a):
    r, l, q = f.call(core, a)
    u = (r * r).named("u")
    s_tail, c_tail = trig_tails(5, 5)
    half = (u * 0.5).named("half")
    s = (r + (r * u * horner(s_tail, u) + (l - l * half))).named("s")
    w = (1.0 - half).named("w")
    c = (w + (((1.0 - w) - half) + (u * u * horner(c_tail, u) - r * l))).named("c")
    return s, c, q


def sin_f64(core, name="sin.f64", quarter=0):
    f = new(
        name,
        "sin r or cos r by the quadrant; sign by the quadrant"
        + (" and x." if quarter == 0 else "."),
    )
    (x,) = f.params
    a = x.abs().named("a")
    s, c, q = sine_cosine(f, core, a)
    if quarter:
        q = q + quarter
    y = f.select((q & 1).eq(0), s, c).bits()
    sign = (q & 2) << 62
    if quarter == 0:
        sign = sign ^ (x.bits() & (1 << 63))
    f.ret(f.select(a < INF, (y ^ sign).bits(), NAN).named("y"))
    return f


def tan_f64(core):
    f = new("tan.f64", "sin / cos, or cos / sin in odd quadrants, as pairs.")
    (x,) = f.params
    a = x.abs().named("a")
    r, l, q = f.call(core, a)
    u, ul = two_square(r)
    ul = (ul + (r + r) * l).named("ul")
    s_tail, c_tail = trig_tails(6, 6)
    # sin = r + (l + r b), b = -(u + ul)/6 + u^2 S(u); cos = 1 - u/2 - ul/2 + u^2 C(u)
    b, e = mul_constant(f, u, s_tail[0])
    rest = e + (ul * s_tail[0] + u * (u * horner(s_tail[1:], u)))
    s = fast_two_sum(r, l + (r * b + r * rest))
    c = fast_two_sum(f.const("f64", 1.0), u * -0.5)
    c = fast_two_sum(c[0], c[1] + (u * u * horner(c_tail, u) - ul * 0.5))
    even = (q & 1).eq(0).named("even")
    num = [f.select(even, i, j) for i, j in zip(s, c)]
    den = [f.select(even, j, i) for i, j in zip(s, c)]
    h, e = div_pairs(num, den)
    sign = (q << 63) ^ (x.bits() & (1 << 63))
    y = ((h + e).bits() ^ sign).bits()
    y = f.select(a < 2.0**-28, x, y)
    f.ret(f.select(a < INF, y, NAN).named("y"))
    return f


ATAN_STEPS = 32


def atan_table():
    numbers = []
    for side in (0, 1):
        for j in range(ATAN_STEPS + 1):
            v = mpmath.atan(mpf(j) / ATAN_STEPS)
            numbers += fit.pair(mpmath.pi / 2 - v if side else v)
    return Table(
        "table.atan.f64",
        "f64",
        numbers,
        "atan(j/32) as pairs, j = 0 .. 32, then pi/2 - atan(j/32).",
    )


def atan_f64(table):
    f = new(
        "atan.f64",
        "p/q = a or 1/a, at most 1, c = j/32 near it: atan(c) + atan(t), t = (p - c q) / (q + c p).",
    )
    (x,) = f.params
    a = clamp(f, x.abs(), hi=2.0**60).named("a")
    a = f.select(x.abs() > 2.0**-30, a, 2.0**-30).named("ac")
    over = (a > 1.0).named("over")
    p = f.select(over, 1.0, a).named("p")
    q = f.select(over, a, 1.0).named("q")
    t, j = nearest_integer(p / q, ATAN_STEPS)
    # The first intervals would lose digits to c: up to 3.5/32 the polynomial does it alone.
    direct = (j < 4.0).named("direct")
    c = f.select(direct, 0.0, j * (1.0 / ATAN_STEPS)).named("c")
    index = f.select(direct, f.const("u64", 0), t.bits() & 63) + f.select(
        over, f.const("u64", ATAN_STEPS + 1), 0
    )
    i = (index << 1).cast("index")
    bh, bl = f.lookup(table, i), f.lookup(table, i + 1)
    qh, ql = split(q)
    n, nl = two_sum(p - c * qh, -(c * ql))
    d = (q + c * p).named("d")
    r = (n / d).named("r")
    # What the division left, and nl: relative size 2^-53, kept for the direct case as well.
    pr, pe = two_prod(r, d)
    rl = ((n - pr) - pe + nl) / d
    u = (r * r).named("u")
    top = mpf(3.6 / 32) ** 2
    tail = fit.doubles(
        fit.interpolate(
            around_zero(
                lambda v: (mpmath.atan(mpmath.sqrt(v)) / mpmath.sqrt(v) - 1) / v, -mpf(1) / 3
            ),
            0,
            top,
            7,
        )
    )
    low = rl + r * (u * horner(tail, u))
    sign = f.select(over, f.const("f64", -1.0), 1.0).named("sign")
    h, e = fast_two_sum(bh, r * sign)
    y = (h + (e + (bl + low * sign))).copysign(x)
    y = f.select(x.abs() > 2.0**-30, y, x)
    return finish(f, x, y)
