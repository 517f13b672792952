"""Arithmetic on pairs (head, tail) of f64 whose sum carries about 106 bits, by mul and add alone.

Splitting is done by clearing the low 27 bits: two instructions, no overflow, and products of the halves
are exact (the last one to 2^-106).
"""


def split(x):
    head = (x.bits() & 0xFFFFFFFFF8000000).bits()
    return head, x - head


def fast_two_sum(a, b):
    """Exact a + b for |a| >= |b| (or a = 0)."""
    s = a + b
    return s, b - (s - a)


def two_sum(a, b):
    s = a + b
    bb = s - a
    return s, (a - (s - bb)) + (b - bb)


def two_prod(a, b, a_halves=None, b_halves=None):
    """(p, e) with a b = p + e."""
    p = a * b
    ah, al = a_halves or split(a)
    bh, bl = b_halves or split(b)
    return p, ((ah * bh - p) + (ah * bl + al * bh)) + al * bl


def two_square(a):
    p = a * a
    h, l = split(a)
    cross = h * l
    return p, ((h * h - p) + (cross + cross)) + l * l


def mul_pairs(a, b):
    """(a0 + a1)(b0 + b1) to about 2^-100."""
    p, e = two_prod(a[0], b[0])
    return fast_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def div_pairs(a, b):
    """(a0 + a1) / (b0 + b1) as a pair, to about 2^-100."""
    q = a[0] / b[0]
    p, e = two_prod(q, b[0])
    rest = ((a[0] - p) - e + a[1]) - q * b[1]
    return fast_two_sum(q, rest / b[0])


def mul_constant(f, x, number):
    """Pair of x times a constant known to 106 bits; the constant's halves are constants too."""
    import fit
    import struct

    head, tail = fit.pair(number)
    bits = struct.unpack("<Q", struct.pack("<d", head))[0] & 0xFFFFFFFFF8000000
    high = struct.unpack("<d", struct.pack("<Q", bits))[0]
    c = lambda v: f.const("f64", v)
    p, e = two_prod(x, c(head), None, (c(high), c(head - high)))
    return p, e + x * tail
