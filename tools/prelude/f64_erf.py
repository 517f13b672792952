"""Error function, gelu and roots of f64."""

from mpmath import mpf
import mpmath

import fit
from f32 import INF, ONE_BITS, around_zero, clamp, horner
from f64_exp import finish, new, power, scale_far
from ir import Function, Table
from pairs import fast_two_sum, mul_constant, mul_pairs, split, two_prod, two_square

ERFCX_DEGREE = 11
ERFCX_ROWS = 40


def erfcx_table():
    """Rows by the top 3 mantissa bits of y = s + 1 in [1, 32): center, value pair, then P with erfcx(c+t) = value + t P(t)."""
    numbers = []
    for row in range(ERFCX_ROWS):
        e, part = divmod(row, 8)
        lo, hi = mpf(2) ** e * (1 + mpf(part) / 8) - 1, mpf(2) ** e * (1 + mpf(part + 1) / 8) - 1
        c = (lo + hi) / 2
        g = lambda s: mpmath.exp(s * s) * mpmath.erfc(s)
        h, l = fit.pair(g(c))
        half = (hi - lo) / 2 * mpf("1.0001")
        with mpmath.workprec(400):
            derivative = 2 * c * g(c) - 2 / mpmath.sqrt(mpmath.pi)
            tail = fit.interpolate(
                around_zero(lambda t: (g(c + t) - g(c)) / t, derivative), -half, half, ERFCX_DEGREE
            )
        numbers += [float(c), h, l] + fit.doubles(tail)
    return Table(
        "table.erfcx.f64",
        "f64",
        numbers,
        "e^(s^2) erfc(s) for 40 intervals of s in [0, 31): center c, value at c as a pair, then P in value + t P(t), t = s - c.",
    )


def erfcx_core(table):
    f = Function(
        "pre.erfcx.f64",
        [("s", "f64"), ("sl", "f64")],
        ["f64", "f64"],
        "Pair of e^(v^2) erfc(v), v = s + sl, 0 <= s < 31.",
    )
    s, sl = f.params
    width = 3 + ERFCX_DEGREE + 1
    row = (((s + 1.0).bits() - ONE_BITS) >> 49).named("row")
    i = (row * width).cast("index").named("i")
    at = lambda n: f.lookup(table, i + n if n else i)
    t = (s - at(0)).named("t")
    vh, vl = at(1), at(2)
    coefficients = [at(3 + n) for n in range(ERFCX_DEGREE + 1)]
    acc = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        acc = acc * t + c
    # sl is 2^-53 of s: the slope at c is enough for it.
    h, l = fast_two_sum(vh, t * acc)
    f.ret(h, l + (vl + sl * coefficients[0]))
    return f


def erf_f64(exp, erfcx):
    f = new(
        "erf.f64",
        "Below 1/2 a polynomial in x^2, else 1 - e^(-a^2) erfcx(a) with both factors as pairs.",
    )
    (x,) = f.params
    a = clamp(f, x.abs(), hi=6.0).named("a")
    u = (a * a).named("u")
    top = mpf(0.25)
    g = lambda v: mpmath.erf(mpmath.sqrt(v)) / mpmath.sqrt(v) - 1
    slope = 2 / mpmath.sqrt(mpmath.pi) - 1
    q = fit.doubles(fit.interpolate(around_zero(g, slope), 0, top, 9))
    near = x + x * horner(q, u)
    square, low = two_square(a)
    h, l, t = f.call(exp, -square, -low)
    e = f.call(erfcx, a, f.const("f64", 0.0))
    p = power(t)
    ch, cl = mul_pairs((h, l), e)
    s, rest = fast_two_sum(f.const("f64", 1.0), -(p * ch))
    far = (s + (rest - p * cl)).copysign(x)
    return finish(f, x, f.select(x.abs() < 0.5, near, far))


def gelu_f64(exp, erfcx):
    f = new(
        "gelu.f64",
        "x Phi(x), Phi(-a) = e^(-a^2/2) erfcx(a / sqrt 2) / 2 = 2^(k-1) c, factors as pairs.",
    )
    (x,) = f.params
    xc = clamp(f, x, lo=-38.7).named("xc")
    a = clamp(f, xc.abs(), hi=38.7).named("a")
    square, low = two_square(a)
    h, l, t = f.call(exp, square * -0.5, low * -0.5)
    s, sl = mul_constant(f, a, 1 / mpmath.sqrt(2))
    e = f.call(erfcx, s, sl)
    ch, cl = mul_pairs((h, l), e)
    # x >= 0: x (1 - 2^(k-1) c), finite beyond the clamp as well.
    p = f.select(a < 30.0, power(t, -1), 0.0).named("p")
    d, dl = fast_two_sum(f.const("f64", 1.0), -(p * ch))
    up = fast_two_sum(d, dl - p * cl)
    xp = f.select(x < INF, f.select(x > 0.0, x, 0.0), 1.0).named("xp")
    wide = xp > 2.0**900
    m, me = two_prod(f.select(wide, 1.0, xp), up[0])
    positive = f.select(wide, xp, m + (me + xp * up[1]))
    positive = f.select(x < INF, positive, INF)
    # x < 0: -a c 2^(k-1), scaled last because it may be subnormal.
    m, me = two_prod(a, ch)
    negative = -scale_far(f, (m + (me + a * cl)) * 0.5, t, f.const("f64", -1.0))
    return finish(f, x, f.select((x.bits() >> 63).eq(0), positive, negative))


def rsqrt_f64():
    f = new(
        "rsqrt.f64",
        "y = 1 / sqrt(x), corrected by the exact residual; far exponents are scaled by 2^600.",
    )
    (x,) = f.params
    y0 = (1.0 / x.sqrt()).named("y0")
    low, high = (x < 2.0**-500).named("low"), (x > 2.0**500).named("high")
    one = f.const("f64", 1.0)
    a = x * f.select(low, f.const("f64", 2.0**600), f.select(high, f.const("f64", 2.0**-600), one))
    # y0 is scaled alike, so that no power of it leaves the range.
    y = y0 * f.select(low, f.const("f64", 2.0**-300), f.select(high, f.const("f64", 2.0**300), one))
    p, e = two_square(y)
    q, r = two_prod(a, p)
    h = ((1.0 - q) - r) - a * e
    result = y0 + y0 * (h * 0.5)
    result = f.select(x > 0.0, result, y0)
    f.ret(f.select(x < INF, result, y0).named("y"))
    return f


def cbrt_f64():
    f = new(
        "cbrt.f64",
        "First guess from a third of the exponent bits, two Halley steps, one more from a guess of 26 bits\n"
        "whose square is exact.",
    )
    (x,) = f.params
    a = x.abs().named("a")
    tiny = (a < 2.0**-1000).named("tiny")
    d = f.select(tiny, a * 2.0**300, a)
    d = f.select(a > 0.0, f.select(a < INF, d, 1.0), 1.0).named("d")
    third = (((d.bits() >> 32) * 0x55555556) >> 32) + 0x2A9F76D1
    y = (third << 32).bits().named("y0")
    # In this order nothing overflows: the cube stays near d.
    for i in (1, 2):
        ratio = (y * y * (y / d)).named(f"ratio{i}")
        y = (y * ((ratio + 2.0) / ((ratio + ratio) + 1.0))).named(f"y{i}")
    t, _ = split(y)
    q = d / (t * t)
    y = t + t * ((q - t) / ((t + t) + q))
    y = (y * f.select(tiny, f.const("f64", 2.0**-100), 1.0)).copysign(x)
    f.ret(f.select(a < INF, f.select(a > 0.0, y, x), x + x).named("y"))
    return f
