"""Polynomial coefficients by Chebyshev interpolation at 240 bits, rounded once to double.

Interpolation is within a factor two of the minimax polynomial, which a higher degree buys back; it has
no convergence to fail. Degrees are parameters of the callers, so that a re-measured bound changes one
number.
"""

import mpmath
from mpmath import mp, mpf

mp.prec = 240


def interpolate(f, lo, hi, degree):
    """Monomial coefficients (mpf, ascending) of the interpolant of f on [lo, hi]."""
    lo, hi = mpf(lo), mpf(hi)
    n = degree + 1
    mid, half = (lo + hi) / 2, (hi - lo) / 2
    angles = [mpmath.pi * (2 * i + 1) / (2 * n) for i in range(n)]
    values = [f(mid + half * mpmath.cos(a)) for a in angles]
    cheb = [2 * sum(v * mpmath.cos(j * a) for v, a in zip(values, angles)) / n for j in range(n)]
    cheb[0] /= 2
    # Clenshaw in the polynomial ring: T_j in u = (x - mid) / half.
    shift = lambda p: [mpf(0)] + p
    add = lambda p, q: [
        (p[i] if i < len(p) else 0) + (q[i] if i < len(q) else 0)
        for i in range(max(len(p), len(q)))
    ]
    scale = lambda p, c: [c * x for x in p]
    b1, b2 = [mpf(0)], [mpf(0)]
    for c in reversed(cheb[1:]):
        b1, b2 = add(add(scale(shift(b1), 2), scale(b2, -1)), [c]), b1
    in_u = add(add(shift(b1), scale(b2, -1)), [cheb[0]])
    # u = (x - mid) / half
    out, linear = [mpf(0)], [-mid / half, 1 / half]
    for c in reversed(in_u):
        product = [mpf(0)] * (len(out) + 1)
        for i, x in enumerate(out):
            product[i] += x * linear[0]
            product[i + 1] += x * linear[1]
        out = add(product, [c])
    return out[:n]


def doubles(coefficients):
    return [float(c) for c in coefficients]


def split(number, bits):
    """(head, tail): a head of `bits` bits and the rest as a double, for exact products."""
    number = mpf(number)
    with mpmath.workprec(bits):
        head = +number
    return float(head), float(number - head)


def pair(number):
    """The double-double nearest to number."""
    return split(number, 53)
