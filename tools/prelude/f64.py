"""The f64 functions: small tables, short polynomials, and pairs of doubles where one is not enough.

Cores (`pre.*`) give pairs accurate to about 2^-65; the functions combine them and round once, so errors stay
near half an ulp. No fma. As in f32, arguments are clamped so that NaN and infinity never reach a bitcast
or a table index, and are answered by selects at the end.
"""
import mpmath
from mpmath import mpf

import fit
from f32 import (INF, LN2, NAN, ONE_BITS, SHIFTER, around_zero, clamp, horner, log_reduced, nearest_integer, split_poly)
from ir import Function, Table
from pairs import (div_pairs, fast_two_sum, mul_constant, mul_pairs, split, two_prod, two_square, two_sum)


def new(name, comment, params=("x",)):
    return Function(name, [(p, "f64") for p in params], ["f64"], comment)


def finish(f, x, y):
    f.ret(f.select(x.eq(x), y, NAN).named("y"))
    return f


# --- exponentials -----------------------------------------------------------------------------------------

STEPS = 64  # entries of 2^(j/64)


def exp_table():
    numbers = []
    for j in range(STEPS):
        numbers += fit.pair(mpf(2) ** (mpf(j) / STEPS))
    return Table("table.exp2.f64", "f64", numbers, "2^(j/64) as pairs, j = 0 .. 63.")


def exp_tail(degree):
    """s with e^r = 1 + r + r^2 s(r), |r| <= ln2 / 128."""
    limit = LN2 / (2 * STEPS) * mpf("1.0001")
    return fit.doubles(fit.interpolate(
        around_zero(lambda r: (mpmath.expm1(r) - r) / r**2, 0.5), -limit, limit, degree - 2))


def table_pair(f, table, t, steps):
    i = ((t.bits() & (steps - 1)) << 1).cast("index").named("i")
    return f.lookup(table, i).named("th"), f.lookup(table, i + 1).named("tl")


def exp_core(table):
    f = Function("pre.exp.f64", [("x", "f64"), ("xl", "f64")], ["f64", "f64", "f64"],
                 "e^(x + xl) = 2^k (h + l), -746 <= x <= 711, |xl| <= ulp(x): (h, l, t) with 64 k + j in the low bits of t.")
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
    return y * (((t.bits() >> 6) << 52) + base).bits() * f.select(negative, f.const("f64", 2.0**-512), 2.0**512)


def exp_f64(table):
    f = new("exp.f64", "2^k 2^(j/64) e^r, 64 k + j = round(64 x / ln2).")
    x, = f.params
    xc = clamp(f, x, -746.0, 710.0).named("xc")
    t, k = nearest_integer(xc, STEPS / LN2)
    head, rest = fit.split(LN2 / STEPS, 34)
    r = ((xc - k * head) - k * rest).named("r")
    s = r * r * horner(exp_tail(6), r) + r
    th, tl = table_pair(f, table, t, STEPS)
    return finish(f, x, scale_far(f, th + (th * s + tl), t, xc))


def exp2_f64(table):
    f = new("exp2.f64", "2^k 2^(j/64) 2^r, 64 k + j = round(64 x), r exact.")
    x, = f.params
    xc = clamp(f, x, -1076.0, 1025.0).named("xc")
    t = (xc + SHIFTER / STEPS).named("t")
    r = (xc - (t - SHIFTER / STEPS)).named("r")
    limit = mpf(1) / (2 * STEPS)
    q = fit.doubles(fit.interpolate(around_zero(lambda r: mpmath.expm1(r * LN2) / r, LN2), -limit, limit, 5))
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
    x, = f.params
    xc = clamp(f, x, -40.0, 711.0).named("xc")
    h, l = quarter_expm1(f, core, xc)
    y = f.select(x.abs() < 2.0**-30, x + x * (x * 0.5), (h + l) * 4.0)
    return finish(f, x, y.copysign(x))


def sinh_f64(core):
    f = new("sinh.f64", "2 (F + F / (4 F + 1)), F = (e^a - 1) / 4 as a pair, a = |x|; below 2^-28 it is x.")
    x, = f.params
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
    x, = f.params
    a = clamp(f, x.abs(), hi=711.0).named("a")
    h, l, t = f.call(core, a, f.const("f64", 0.0))
    p = power(t, -2).named("p")
    q, ql = div_pairs((f.const("f64", 1.0), f.const("f64", 0.0)), (h, l))
    # 2^(-k-2); beyond k = 500 the term is lost anyway.
    small = ((t.bits() >> 6) << 52)
    m = ((f.const("u64", ONE_BITS - (2 << 52)) - small)).bits()
    m = f.select(a < 300.0, m, 0.0).named("m")
    s, e = fast_two_sum(p * h, m * q)
    return finish(f, x, (s + (e + (p * l + m * ql))) * 2.0)


def tanh_f64(core):
    f = new("tanh.f64", "F / (F + 1/2), F = (e^(2a) - 1) / 4 as a pair, a = |x|; below 2^-28 it is x.")
    x, = f.params
    a = clamp(f, x.abs(), hi=20.0).named("a")
    h, l = quarter_expm1(f, core, a + a)
    d = two_sum(h, f.const("f64", 0.5))
    q, ql = div_pairs((h, l), fast_two_sum(d[0], d[1] + l))
    y = f.select(x.abs() < 2.0**-28, x, (q + ql).copysign(x))
    return finish(f, x, y)


def sigmoid_f64(core):
    f = new("sigmoid.f64", "1 / (1 + E) or E / (1 + E) by the sign of x, E = e^-|x| = 2^k (h + l).")
    x, = f.params
    a = clamp(f, -x.abs(), lo=-746.0).named("a")
    h, l, t = f.call(core, a, f.const("f64", 0.0))
    p = f.select(a > -600.0, power(t), 0.0).named("p")
    d = fast_two_sum(f.const("f64", 1.0), p * h)
    d = fast_two_sum(d[0], d[1] + p * l)
    negative = (x < 0.0).named("negative")
    q, ql = div_pairs((f.select(negative, h, 1.0), f.select(negative, l, 0.0)), d)
    y = (q + ql).named("q")
    return finish(f, x, f.select(negative, scale_far(f, y, t, a), y))


# --- logarithms -------------------------------------------------------------------------------------------

LOG_BITS = 7
LOG_FIRST = 0x3FE6A00000000000  # 0.70703125: 1 is a border of two intervals


def log_table():
    """Per interval: c near 1/z with few bits, and -ln c as a pair. Beside 1, c is 1."""
    import struct
    numbers = []
    for j in range(1 << LOG_BITS):
        lo, hi = (struct.unpack("<d", struct.pack("<Q", LOG_FIRST + (i << (52 - LOG_BITS))))[0] for i in (j, j + 1))
        c = float(mpmath.nint(512 / ((mpf(lo) + hi) / 2)) / 512)
        if hi == 1.0 or lo == 1.0:
            c = 1.0
        numbers += [c, *fit.pair(-mpmath.log(mpf(c)))]
    return Table("table.log.f64", "f64", numbers, "c ~ 1/z, then -ln c as a pair, for 128 intervals of z from 0.70703125 up.")


def log_q(degree):
    limit = mpf(2) ** -7 * mpf("1.05")
    return fit.doubles(fit.interpolate(
        around_zero(lambda v: (mpmath.log1p(v) - v + v * v / 2) / v**3, mpf(1) / 3), -limit, limit, degree))


def log_core(table):
    f = Function("pre.log.f64", [("x", "f64")], ["f64", "f64", "f64"],
                 "x positive and normal: (k, h, l) with ln x = k ln2 + h + l.")
    x, = f.params
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
    x, = f.params
    a, shift = log_argument(f, x)
    k, h, l = f.call(core, a)
    s, e = log_join(k + shift, h, l)
    return log_special(f, x, s + e)


def log_base(core, name, comment, k_scale, scale):
    f = new(name, comment)
    x, = f.params
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
    x, = f.params
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
    f = new("pow.f64", "e^(y ln |x|) by the cores as pairs, then the special cases of IEEE 754 pow.", ("x", "y"))
    x, y = f.params
    a = x.abs().named("a")
    plain, shift = log_argument(f, a)
    k, h, l = f.call(log, plain)
    lh, ll = log_join(k + shift, h, l)
    # 0 and inf: logarithms that saturate any y but 0. y is kept where its products neither overflow nor vanish.
    lh = f.select(a > 0.0, f.select(a < INF, lh, 2.0**200), -(2.0**200)).named("lh")
    ll = f.select(lh.abs() < 800.0, ll, 0.0).named("ll")
    yc = f.select(y.abs() > 2.0**-140, clamp(f, y, -(2.0**70), 2.0**70), f.const("f64", 2.0**-140).copysign(y)).named("yc")
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


# --- trigonometry -----------------------------------------------------------------------------------------

SMALL = 2.0**20


def two_over_pi_table():
    with mpmath.workprec(1400):
        bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 21 * 64)))
    digits = bits << 0
    total = 21 * 64 + 64  # 64 zero bits stand first
    words = [(digits >> (total - 64 * (i + 1))) & (2**64 - 1) for i in range(21)]
    return Table("table.two_over_pi.f64", "u64", words, "64 zero bits, then 2/pi in binary.")


def trig_core(table):
    f = Function("pre.trig.f64", [("a", "f64")], ["f64", "f64", "u64"],
                 "a >= 0: (r, l, q) with a = q pi/2 + r + l, |r| <= pi/4, q modulo 4. inf and NaN give anything finite.")
    a, = f.params
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
    s = fit.interpolate(around_zero(lambda u: (mpmath.sin(root(u)) / root(u) - 1) / u, -mpf(1) / 6), 0, top, degree_sin)
    c = fit.interpolate(around_zero(lambda u: (mpmath.cos(root(u)) - 1 + u / 2) / u**2, mpf(1) / 24), 0, top, degree_cos)
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
    f = new(name, "sin r or cos r by the quadrant; sign by the quadrant" + (" and x." if quarter == 0 else "."))
    x, = f.params
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
    x, = f.params
    a = x.abs().named("a")
    r, l, q = f.call(core, a)
    u, ul = two_square(r)
    ul = (ul + (r + r) * l).named("ul")
    s_tail, c_tail = trig_tails(6, 6)
    # sin = r + (l + r b), cos = 1 - u/2 - ul/2 + u^2 C(u)
    b = u * horner(s_tail, u)
    s = fast_two_sum(r, l + r * (b + ul * s_tail[0]))
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
    return Table("table.atan.f64", "f64", numbers, "atan(j/32) as pairs, j = 0 .. 32, then pi/2 - atan(j/32).")


def atan_f64(table):
    f = new("atan.f64", "p/q = a or 1/a, at most 1, c = j/32 near it: atan(c) + atan(t), t = (p - c q) / (q + c p).")
    x, = f.params
    a = clamp(f, x.abs(), hi=2.0**60).named("a")
    a = f.select(x.abs() > 2.0**-30, a, 2.0**-30).named("ac")
    over = (a > 1.0).named("over")
    p = f.select(over, 1.0, a).named("p")
    q = f.select(over, a, 1.0).named("q")
    t, j = nearest_integer(p / q, ATAN_STEPS)
    # The first intervals would lose digits to c: up to 3.5/32 the polynomial does it alone.
    direct = (j < 4.0).named("direct")
    c = f.select(direct, 0.0, j * (1.0 / ATAN_STEPS)).named("c")
    index = f.select(direct, f.const("u64", 0), t.bits() & 63) + f.select(over, f.const("u64", ATAN_STEPS + 1), 0)
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
    tail = fit.doubles(fit.interpolate(
        around_zero(lambda v: (mpmath.atan(mpmath.sqrt(v)) / mpmath.sqrt(v) - 1) / v, -mpf(1) / 3), 0, top, 7))
    low = rl + r * (u * horner(tail, u))
    sign = f.select(over, f.const("f64", -1.0), 1.0).named("sign")
    h, e = fast_two_sum(bh, r * sign)
    y = (h + (e + (bl + low * sign))).copysign(x)
    y = f.select(x.abs() > 2.0**-30, y, x)
    return finish(f, x, y)


# --- erf, gelu ----------------------------------------------------------------------------------------------

ERFCX_DEGREE = 11
ERFCX_ROWS = 40


def erfcx_table():
    """Rows by the top 3 mantissa bits of y = s + 1 in [1, 32): centre, value pair, then P with erfcx(c+t) = value + t P(t)."""
    numbers = []
    for row in range(ERFCX_ROWS):
        e, part = divmod(row, 8)
        lo, hi = mpf(2)**e * (1 + mpf(part) / 8) - 1, mpf(2)**e * (1 + mpf(part + 1) / 8) - 1
        c = (lo + hi) / 2
        g = lambda s: mpmath.exp(s * s) * mpmath.erfc(s)
        h, l = fit.pair(g(c))
        half = (hi - lo) / 2 * mpf("1.0001")
        with mpmath.workprec(400):
            derivative = 2 * c * g(c) - 2 / mpmath.sqrt(mpmath.pi)
            tail = fit.interpolate(around_zero(lambda t: (g(c + t) - g(c)) / t, derivative), -half, half, ERFCX_DEGREE)
        numbers += [float(c), h, l] + fit.doubles(tail)
    return Table("table.erfcx.f64", "f64", numbers,
                 "e^(s^2) erfc(s) for 40 intervals of s in [0, 31): centre c, value at c as a pair, then P in value + t P(t), t = s - c.")


def erfcx_core(table):
    f = Function("pre.erfcx.f64", [("s", "f64"), ("sl", "f64")], ["f64", "f64"],
                 "Pair of e^(v^2) erfc(v), v = s + sl, 0 <= s < 31.")
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
    f = new("erf.f64", "Below 1/2 a polynomial in x^2, else 1 - e^(-a^2) erfcx(a) with both factors as pairs.")
    x, = f.params
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
    f = new("gelu.f64", "x Phi(x), Phi(-a) = e^(-a^2/2) erfcx(a / sqrt 2) / 2 = 2^(k-1) c, factors as pairs.")
    x, = f.params
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


# --- roots --------------------------------------------------------------------------------------------------


def rsqrt_f64():
    f = new("rsqrt.f64", "y = 1 / sqrt(x), corrected by the exact residual; far exponents are scaled by 2^600.")
    x, = f.params
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
    f = new("cbrt.f64", "First guess from a third of the exponent bits, two Halley steps, one more from a guess of 26 bits\n"
            "whose square is exact.")
    x, = f.params
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


def functions():
    tables = {t.name: t for t in (exp_table(), log_table(), two_over_pi_table(), atan_table(), erfcx_table())}
    exps, atans = tables["table.exp2.f64"], tables["table.atan.f64"]
    exp, log = exp_core(exps), log_core(tables["table.log.f64"])
    trig, erfcx = trig_core(tables["table.two_over_pi.f64"]), erfcx_core(tables["table.erfcx.f64"])
    log2e, log10e = 1 / LN2, 1 / mpmath.log(10)
    return list(tables.values()), [
        exp, log, trig, erfcx, exp_f64(exps), exp2_f64(exps), expm1_f64(exp), log_f64(log),
        log_base(log, "log2.f64", "k + log2 z by the core.", 1, log2e),
        log_base(log, "log10.f64", "k log10(2) + log10 z by the core.", mpmath.log10(2), log10e),
        log1p_f64(log), sinh_f64(exp), cosh_f64(exp), tanh_f64(exp), sigmoid_f64(exp), erf_f64(exp, erfcx),
        gelu_f64(exp, erfcx), rsqrt_f64(), cbrt_f64(), atan_f64(atans), sin_f64(trig), sin_f64(trig, "cos.f64", 1),
        tan_f64(trig), pow_f64(log, exp)]
