"""The f32 functions: evaluated in f64 by mul, add and div alone, rounded once to f32.

No fma, so that a target without one gives the same bits. f32 subnormals are normal in f64 and over- and
underflow happen in the final cast. Every function is NaN-free inside: arguments are clamped by
`x > lo ? x : lo`, which drops NaN (one maxss on x86), and the NaN case is one select at the end, so a
target need not canonicalize before a bitcast. Degrees are those at which the full sweep finds every
result correctly rounded (docs/prelude.md).
"""

import struct

import mpmath
from mpmath import mpf

import fit
from ir import Function

INF = float("inf")
NAN = float("nan")
SHIFTER = 1.5 * 2.0**52  # adding it rounds to an integer, which stands in the low bits
ONE_BITS = 0x3FF0000000000000
LN2 = mpmath.log(2)


def horner(coefficients, x):
    """c0 + c1 x + ...; coefficients ascending."""
    acc = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        acc = x * acc + c
    return acc


def split_poly(coefficients, x):
    """Two Horner chains in x^2: half the latency of a long polynomial."""
    square = x * x
    return horner(coefficients[1::2], square) * x + horner(coefficients[0::2], square)


def around_zero(f, at_zero):
    """f with its limit where cancellation would eat the digits."""
    return lambda x: mpf(at_zero) if abs(x) < mpf(10) ** -30 else f(x)


def clamp(f, x, lo=None, hi=None):
    if lo is not None:
        x = f.select(x > lo, x, lo)
    if hi is not None:
        x = f.select(x < hi, x, hi)
    return x


def nearest_integer(x, scale):
    """(t, k): t has round(x * scale) in its low bits, k is it as a double."""
    t = (x * float(scale) + SHIFTER).named("t")
    return t, (t - SHIFTER).named("k")


# An f64 that is right to half its ulp still misrounds a few of 2^32 results: those whose exact
# value lies within that half ulp of a tie of f32. They are listed (|x| where the function is odd or
# even): argument and result bits.
HARD_CASES = {
    "exp2.f32": [(0xBCF3A937, 0x3F7AC6B1), (0x3B429D37, 0x3F804385)],
    "log.f32": [(0x4C5D65A5, 0x418F034B), (0x6F31A8EC, 0x42845A89), (0x65D890D3, 0x4254D1F9)],
    "log10.f32": [(0x0EFEEE7A, 0xC1E99D23), (0x120B93DC, 0xC1DAD957), (0x13AE78D3, 0xC1D2D957)],
    "log1p.f32": [
        (0x6F31A8EC, 0x42845A89),
        (0x36DEDACE, 0x36DEDA9D),
        (0x65D890D3, 0x4254D1F9),
        (0xB53FFFFD, 0xB5400001),
        (0xB70FFFE5, 0xB710000D),
        (0xB76FFFB5, 0xB7700025),
    ],
    "sigmoid.f32": [(0xBA928601, 0x3EFFDB5F)],
    "sinh.f32": [(0x3A1285FF, 0x3A1285FF)],
    "erf.f32": [(0x3940EAD6, 0x3959AF14)],
    "gelu.f32": [(0x37B0A46F, 0x3730A531)],
    "sin.f32": [(0x46199998, 0xBEB1FA5D)],
    "cos.f32": [(0x6115CB11, 0x3F78142F), (0x5F18B878, 0x3F7F14BB)],
}


def from_bits(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def settle_hard_cases(f, x, y):
    """y, or the listed result of a hard case. y may be the bits of the result."""
    for argument, result in HARD_CASES.get(f.name, []):
        y = f.select(
            x.eq(from_bits(argument)),
            f.const(y.kind, result if y.kind == "u32" else from_bits(result)),
            y,
        )
    return y


def exp_tail(degree):
    """s with e^r = 1 + r + r^2 s(r) for |r| <= ln2 / 2; `degree` counts the whole polynomial."""
    limit = LN2 / 2 * mpf("1.0001")
    return fit.doubles(
        fit.interpolate(
            around_zero(lambda r: (mpmath.expm1(r) - r) / r**2, 0.5), -limit, limit, degree - 2
        )
    )


def expm1_reduced(d, degree):
    """(t, m): d = k ln2 + r with k in t's low bits, m = e^r - 1."""
    t, k = nearest_integer(d, 1 / LN2)
    head, tail = fit.split(LN2, 40)
    r = ((d - k * head) - k * tail).named("r")
    m = (r * r * horner(exp_tail(degree), r) + r).named("m")
    return t, m


def scale_by_t(y, t):
    """y 2^k, by adding k to the exponent bits; y and the result are normal."""
    return (y.bits() + (t.bits() << 52)).bits()


def power_of_t(t):
    return ((t.bits() << 52) + ONE_BITS).bits().named("p")


def new(name, comment, params=("x",)):
    return Function(name, [(p, "f32") for p in params], ["f32"], comment)


def finish(f, x, y):
    """Rounds to f32 and answers a NaN with the one quiet NaN."""
    y = y if y.kind == "f32" else settle_hard_cases(f, x, y.cast("f32"))
    f.ret(f.select(x.eq(x), y, NAN).named("y"))
    return f


def finish_odd(f, x, a, y):
    """The same for an odd function whose value at a = |x| is y."""
    y = settle_hard_cases(f, a, y.cast("f32")).copysign(x)
    f.ret(f.select(x.eq(x), y, NAN).named("y"))
    return f


EXP_DEGREE = 10


def exp_f32():
    f = new("exp.f32", "e^x = 2^k e^r, k = round(x / ln2).")
    (x,) = f.params
    d = clamp(f, x, -104.0, 89.0).cast("f64").named("d")
    t, m = expm1_reduced(d, EXP_DEGREE)
    return finish(f, x, scale_by_t(m + 1.0, t))


def exp2_f32():
    f = new("exp2.f32", "2^x = 2^k 2^r, k = round(x), r exact.")
    (x,) = f.params
    d = clamp(f, x, -151.0, 129.0).cast("f64").named("d")
    t = (d + SHIFTER).named("t")
    r = (d - (t - SHIFTER)).named("r")
    q = fit.doubles(
        fit.interpolate(
            around_zero(lambda r: mpmath.expm1(r * LN2) / r, LN2), -0.5, 0.5, EXP_DEGREE - 1
        )
    )
    return finish(f, x, scale_by_t(r * horner(q, r) + 1.0, t))


def expm1_f32():
    f = new("expm1.f32", "(2^k - 1) + 2^k (e^r - 1); the sign of zero is kept.")
    (x,) = f.params
    d = clamp(f, x, -18.0, 89.0).cast("f64").named("d")
    t, m = expm1_reduced(d, EXP_DEGREE)
    p = power_of_t(t)
    y = ((p - 1.0) + p * m).cast("f32").copysign(x)
    return finish(f, x, y)


def log_reduced(d):
    """(k, z): d = 2^k z, z in [sqrt(1/2), sqrt(2)), d positive and normal."""
    root = struct.unpack("<Q", struct.pack("<d", float(mpmath.sqrt(mpf(0.5)))))[0]
    w = (d.bits() + (ONE_BITS - root) % 2**64).named("w")
    k = (((w >> 52) | 0x4330000000000000).bits() - (2.0**52 + 1023)).named("k")
    z = ((w & 0xFFFFFFFFFFFFF) + root).bits().named("z")
    return k, z


def log_poly(degree, scale):
    """p with ln(1+f) * scale = s p(s^2), s = f / (2+f), |s| <= 0.1716."""
    top = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2
    g = lambda u: 2 * scale * mpmath.atanh(mpmath.sqrt(u)) / mpmath.sqrt(u)
    return fit.doubles(fit.interpolate(around_zero(g, 2 * scale), 0, top * mpf("1.0001"), degree))


def log_special(f, x, y):
    """inf, 0, negative and NaN arguments of a logarithm whose value elsewhere is y."""
    y = f.select(x < INF, settle_hard_cases(f, x, y.cast("f32")), INF)
    y = f.select(x > 0.0, y, -INF)
    f.ret(f.select(x >= 0.0, y, NAN).named("y"))
    return f


LOG_DEGREE = 6


def log_of(f, z_minus_1, k, degree, k_scale, scale):
    """k * k_scale + s p(s^2)."""
    s = (z_minus_1 / (z_minus_1 + 2.0)).named("s")
    tail = s * horner(log_poly(degree, scale), s * s)
    return k * float(k_scale) + tail if k_scale != 1 else k + tail


def log_f32(name="log.f32", k_scale=LN2, scale=1, what="ln x = k ln2 + ln z"):
    f = new(
        name, what + ", x = 2^k z with z in [sqrt(1/2), sqrt(2)), ln z = s p(s^2), s = (z-1)/(z+1)."
    )
    (x,) = f.params
    # 0, negative, infinite and NaN arguments go through as 1 and are answered at the end.
    d = f.select(x > 0.0, x, 1.0).cast("f64").named("d")
    k, z = log_reduced(d)
    y = log_of(f, (z - 1.0).named("f"), k, LOG_DEGREE, k_scale, scale)
    return log_special(f, x, y)


def log2_f32():
    return log_f32("log2.f32", 1, 1 / LN2, "log2 x = k + log2 z")


def log10_f32():
    return log_f32(
        "log10.f32", mpmath.log10(2), 1 / mpmath.log(10), "log10 x = k log10(2) + log10 z"
    )


def log1p_f32():
    f = new("log1p.f32", "As log of u = 1 + x; where u is in the middle binade, z - 1 is x itself.")
    (x,) = f.params
    inside = (x > -1.0).named("inside")
    d = f.select(inside, x, 1.0).cast("f64").named("d")
    k, z = log_reduced((d + 1.0).named("u"))
    z1 = f.select(k.eq(0.0), d, z - 1.0).named("f")
    y = log_of(f, z1, k, LOG_DEGREE, LN2, 1).cast("f32").copysign(x)
    y = f.select(x < INF, settle_hard_cases(f, x, y), INF)
    y = f.select(inside, y, -INF)
    f.ret(f.select(x >= -1.0, y, NAN).named("y"))
    return f


def tanh_f32():
    f = new("tanh.f32", "m / (m + 2), m = e^(2|x|) - 1; the sign of x is put back.")
    (x,) = f.params
    magnitude = x.abs().named("magnitude")
    a = clamp(f, magnitude, hi=10.0).cast("f64").named("a")
    t, m = expm1_reduced(a + a, EXP_DEGREE)
    p = power_of_t(t)
    m = ((p - 1.0) + p * m).named("em1")
    return finish_odd(f, x, magnitude, m / (m + 2.0))


def sinh_f32():
    f = new("sinh.f32", "(m + m / (m + 1)) / 2, m = e^|x| - 1; the sign of x is put back.")
    (x,) = f.params
    magnitude = x.abs().named("magnitude")
    a = clamp(f, magnitude, hi=90.0).cast("f64").named("a")
    t, m = expm1_reduced(a, EXP_DEGREE)
    p = power_of_t(t)
    m = ((p - 1.0) + p * m).named("em1")
    return finish_odd(f, x, magnitude, (m + m / (m + 1.0)) * 0.5)


def cosh_f32():
    f = new("cosh.f32", "(e + 1/e) / 2, e = e^|x|.")
    (x,) = f.params
    a = clamp(f, x.abs(), hi=90.0).cast("f64").named("a")
    t, m = expm1_reduced(a, EXP_DEGREE)
    e = scale_by_t(m + 1.0, t).named("e")
    return finish(f, x, (e + 1.0 / e) * 0.5)


def sigmoid_f32():
    f = new(
        "sigmoid.f32",
        "1 / (1 + e^-x). Below 2^-15 the true 1/2 + x/4 - x^3/48 lies on the inner side of\n"
        "a tie by less than f64 shows: there a slope a little under 1/4 decides the tie.",
    )
    (x,) = f.params
    d = clamp(f, x, -105.0, 40.0).cast("f64").named("d")
    t, m = expm1_reduced(-d, EXP_DEGREE)
    e = scale_by_t(m + 1.0, t).named("e")
    y = 1.0 / (e + 1.0)
    near = d.abs() < 2.0**-15
    y = f.select(near, d * (0.25 - 2.0**-30) + 0.5, y)
    return finish(f, x, y)


ERF_DEGREE = 25


def erf_f32():
    f = new("erf.f32", "x P(u), u = 2 x^2 / C^2 - 1, C = 3.9375: beyond C the result rounds to 1.")
    (x,) = f.params
    c = 3.9375
    magnitude = x.abs().named("magnitude")
    a = clamp(f, magnitude, hi=c).cast("f64").named("a")
    u = (a * a * (2 / c**2) - 1.0).named("u")
    coefficients = fit.doubles(
        fit.interpolate(
            lambda u: (
                lambda v: mpmath.erf(v) / v if v > mpf(10) ** -30 else 2 / mpmath.sqrt(mpmath.pi)
            )(mpmath.sqrt((u + 1) / mpf(2 / c**2))),
            -1,
            1,
            ERF_DEGREE,
        )
    )
    return finish_odd(f, x, magnitude, a * split_poly(coefficients, u))


GELU_DEGREE = 18


def gelu_q(degree):
    """Q with Phi(-a) = e^(-a^2/2) Q((a-4)/(a+4)), 0 <= a <= 14.6."""
    phi = lambda a: mpmath.erfc(a / mpmath.sqrt(2)) / 2 * mpmath.exp(a * a / 2)
    hi = (mpf("14.6") - 4) / (mpf("14.6") + 4)
    return fit.interpolate(lambda v: phi(4 * (1 + v) / (1 - v)), -1, hi, degree)


def gelu_f32():
    f = new(
        "gelu.f32",
        "x Phi(x) with Phi(-a) = e^(-a^2/2) Q((a-4)/(a+4)). Halves of odd subnormals are ties\n"
        "that x^2 / sqrt(2 pi) breaks upwards: the last addend does.",
    )
    (x,) = f.params
    xc = clamp(f, x, lo=-14.6)
    a = clamp(f, xc.abs(), hi=14.6).cast("f64").named("a")
    t, m = expm1_reduced((a * a * -0.5).named("h"), EXP_DEGREE)
    e = scale_by_t(m + 1.0, t).named("e")
    v = ((a - 4.0) / (a + 4.0)).named("v")
    lower = (e * split_poly(fit.doubles(gelu_q(GELU_DEGREE)), v)).named("lower")
    phi = f.select(xc < 0.0, lower, 1.0 - lower)
    y = settle_hard_cases(f, x, (xc.cast("f64") * phi + 2.0**-176).cast("f32")).copysign(x)
    return finish(f, x, y)


def rsqrt_f32():
    f = new(
        "rsqrt.f32",
        "y = 1 / sqrt(x) in f32, corrected once in f64 (twice as fast as sqrt and div in f64).",
    )
    (x,) = f.params
    y0 = (1.0 / x.sqrt()).named("y0")
    d = x.cast("f64")
    y = y0.cast("f64")
    h = (1.0 - d * (y * y)).named("h")
    y = (y + y * (h * (h * 0.375 + 0.5))).cast("f32")
    # 0, inf, negative and NaN arguments: y0 is right already.
    y = f.select(x > 0.0, y, y0)
    f.ret(f.select(x < INF, y, y0).named("y"))
    return f


def cbrt_f32():
    f = new("cbrt.f32", "First guess from a third of the exponent bits, two Halley steps.")
    (x,) = f.params
    a = x.abs()
    d = a.cast("f64").named("d")
    third = (((d.bits() >> 32) * 0x55555556) >> 32) + 0x2A9F76D1
    y = (third << 32).bits().named("y0")
    for i in (1, 2):
        c = y * y * y
        y = (y * ((c + (d + d)) / ((c + c) + d))).named(f"y{i}")
    y = y.cast("f32").copysign(x)
    # x + x is x for 0 and inf and the quiet NaN for a NaN.
    f.ret(f.select(a < INF, f.select(a > 0.0, y, x), x + x).named("y"))
    return f


ATAN_DEGREE = 10


def atan_poly(degree):
    top = mpmath.tan(mpmath.pi / 8) ** 2 * mpf("1.00001")
    g = lambda u: mpmath.atan(mpmath.sqrt(u)) / mpmath.sqrt(u)
    return fit.doubles(fit.interpolate(around_zero(g, 1), 0, top, degree))


def atan_f32():
    f = new(
        "atan.f32", "a, (a-1)/(a+1) or -1/a by tan(pi/8) and tan(3 pi/8), plus 0, pi/4 or pi/2."
    )
    (x,) = f.params
    a = x.abs().cast("f64").named("a")
    high = (a > float(mpmath.tan(3 * mpmath.pi / 8))).named("high")
    middle = (a > float(mpmath.tan(mpmath.pi / 8))).named("middle")
    numerator = f.select(high, -1.0, f.select(middle, a - 1.0, a))
    denominator = f.select(high, a, f.select(middle, a + 1.0, 1.0))
    base = f.select(
        high, float(mpmath.pi / 2), f.select(middle, f.const("f64", mpmath.pi / 4), 0.0)
    ).named("base")
    r = (numerator / denominator).named("r")
    y = base + r * split_poly(atan_poly(ATAN_DEGREE), r * r)
    f.ret(y.cast("f32").copysign(x).named("y"))
    return f


def pow_f32():
    f = new("pow.f32", "2^(y log2 |x|) in f64, then the special cases of IEEE 754 pow.", ("x", "y"))
    x, y = f.params
    a = x.abs().named("a")
    plain = f.select(a > 0.0, f.select(a < INF, a, 1.0), 1.0).named("plain")
    k, z = log_reduced(plain.cast("f64").named("d"))
    lg = log_of(f, (z - 1.0).named("f"), k, LOG_DEGREE, 1, 1 / LN2).named("lg")
    # 0 and inf have the logarithms -inf and inf, here large enough to saturate any y but 0.
    lg = f.select(a > 0.0, f.select(a < INF, lg, 2.0**200), -(2.0**200))
    w = lg * f.select(y.eq(y), y, 0.0).cast("f64")
    w = clamp(f, w, -152.0, 130.0).named("w")
    t = (w + SHIFTER).named("t")
    r = (w - (t - SHIFTER)).named("r")
    q = fit.doubles(
        fit.interpolate(
            around_zero(lambda r: mpmath.expm1(r * LN2) / r, LN2), -0.5, 0.5, EXP_DEGREE - 1
        )
    )
    magnitude = scale_by_t(r * horner(q, r) + 1.0, t).cast("f32").named("magnitude")
    # y is an integer if it equals its floor (from 2^23 on all are), odd if its half is not one.
    whole = y.eq(y.floor()).named("whole")
    half = y * 0.5
    odd = (whole & half.ne(half.floor())).named("odd")
    negative = ((x.bits() >> 31).eq(1)).named("negative")
    result = f.select(odd & negative, -magnitude, magnitude)
    # x < 0 finite with a y that is no integer: NaN; y = inf counts as an even integer.
    bad = (x < 0.0) & (a < INF) & whole.function.op("not", "bool", [whole])
    result = f.select(bad, NAN, result)
    result = f.select((a.eq(1.0)) & (y.abs().eq(INF)), 1.0, result)
    unordered = x.ne(x) | y.ne(y)
    result = f.select(unordered, NAN, result)
    one = x.eq(1.0) | y.eq(0.0)
    f.ret(f.select(one, 1.0, result).named("z"))
    return f
