"""Random numbers: Philox4x32-10 of (seed, draw, element), and what is made from its words.

Counter based, so a tensor's element has its number wherever and in whatever order it is computed
(docs/semantics.md, tensor.random).
"""

import mpmath

from ir import Function

OPERANDS = [("seed", "u64"), ("draw", "u64"), ("element", "u64")]
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


def philox():
    f = Function(
        "pre.philox",
        OPERANDS,
        ["u32"] * 4,
        "Philox4x32-10: key = seed (low, high), counter = element (low, high), draw (low, high).",
    )
    seed, draw, element = f.params
    low = lambda v: v.cast("u32")
    high = lambda v: (v >> 32).cast("u32")
    c = [low(element), high(element), low(draw), high(draw)]
    k = [low(seed).named("key0"), high(seed).named("key1")]
    for i in range(10):
        h0, l0 = c[0].mul_hi(MULTIPLIERS[0]), c[0] * MULTIPLIERS[0]
        h1, l1 = c[2].mul_hi(MULTIPLIERS[1]), c[2] * MULTIPLIERS[1]
        c = [h1 ^ c[1] ^ k[0], l1, h0 ^ c[3] ^ k[1], l0]
        if i < 9:
            k = [k[0] + KEY_STEPS[0], k[1] + KEY_STEPS[1]]
    f.ret(*c)
    return f


def double_word(low, high):
    return low.cast("u64") | (high.cast("u64") << 32)


def unit(kind, low, high):
    """[0, 1) from the top 24 bits of the low word, or the top 53 bits of both."""
    if kind == "f32":
        return (low >> 8).cast("f32") * 2.0**-24
    return (double_word(low, high) >> 11).cast("f64") * 2.0**-53


def bits(block, kind):
    f = Function(f"random.bits.{kind}", OPERANDS, [kind], "Word 0, or words 0 (low) and 1 (high).")
    w = f.call(block, *f.params)
    f.ret(w[0] if kind == "u32" else double_word(w[0], w[1]))
    return f


def uniform(block, kind):
    f = Function(
        f"random.uniform.{kind}",
        OPERANDS,
        [kind],
        "Top bits of word 0 (f32) or of words 0 and 1 (f64).",
    )
    w = f.call(block, *f.params)
    f.ret(unit(kind, w[0], w[1]))
    return f


def normal(block, kind, log, cos):
    f = Function(
        f"random.normal.{kind}",
        OPERANDS,
        [kind],
        "Box-Muller: sqrt(-2 ln(1 - u1)) cos(2 pi u2), u1 from words 0 and 1, u2 from words 2 and 3.",
    )
    w = f.call(block, *f.params)
    u1, u2 = unit(kind, w[0], w[1]).named("u1"), unit(kind, w[2], w[3]).named("u2")
    radius = (f.call(log, 1.0 - u1) * -2.0).sqrt().named("radius")
    f.ret(radius * f.call(cos, u2 * (2 * mpmath.pi)))
    return f


def functions(by_name):
    """by_name: the math functions that normals need."""
    block = philox()
    out = [
        block,
        bits(block, "u32"),
        bits(block, "u64"),
        uniform(block, "f32"),
        uniform(block, "f64"),
    ]
    for kind in ("f32", "f64"):
        if f"log.{kind}" in by_name and f"cos.{kind}" in by_name:
            out.append(normal(block, kind, by_name[f"log.{kind}"], by_name[f"cos.{kind}"]))
    return [], out
