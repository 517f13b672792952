"""Random constant expressions, for a comparison with CPython: random_constants.py SEED COUNT > kernels.py

Whatever Python can compute within the bits that constants have; what raises is left out.
"""
import random
import sys

BITS = 126
PER_KERNEL = 40


class NoValue(Exception):
    """Python raises here, or kernels refuse."""


def number(r):
    kind = r.random()
    if kind < 0.5:
        value = r.choice([r.randint(0, 9), r.randint(0, 1000), r.getrandbits(53), 2 ** 53 + r.randint(-3, 3),
                          2 ** 63 + r.randint(-3, 3), 2 ** 64 + r.randint(-3, 3), r.getrandbits(100), 10 ** r.randint(0, 37)])
        return str(value), value
    if kind < 0.9:
        value = r.choice([r.uniform(0, 4), r.uniform(0, 1e18), float(2 ** r.randint(0, 100)), 0.5, 0.1, 1e-30, 1e30, 3.0])
        return repr(value), value
    return r.choice([("True", True), ("False", False)])


def checked(value):
    if isinstance(value, complex) or (isinstance(value, int) and abs(value) >= 2 ** BITS):
        raise NoValue
    return value


def expression(r, depth):
    if depth == 0 or r.random() < 0.2:
        return number(r)
    kind = r.random()
    left, a = expression(r, depth - 1)
    if kind < 0.12:
        op = r.choice(["-", "+", "not "])
        return f"({op}{left})", checked(eval(f"{op}a"))
    if kind < 0.16:
        if not isinstance(a, int) or isinstance(a, bool):
            raise NoValue
        return f"(~{left})", checked(~a)
    right, b = expression(r, depth - 1)
    ints = isinstance(a, int) and isinstance(b, int)
    if kind < 0.45:
        op = r.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({left} {op} {right})", eval(f"a {op} b")
    op = r.choice(["+", "-", "*", "/", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"])
    if not ints and op not in ("+", "-", "*", "/"):
        raise NoValue
    if op in ("**", "<<") and not -40 <= b <= 130:
        raise NoValue
    if op == "**" and abs(a) ** abs(b) >= 2 ** BITS:
        raise NoValue
    try:
        return f"({left} {op} {right})", checked(eval(f"a {op} b"))
    except (ArithmeticError, ValueError):
        raise NoValue from None


def kernel(r, name):
    counts = {"i": 0, "f": 0, "b": 0}
    lines = []
    while len(lines) < PER_KERNEL:
        try:
            text, value = expression(r, 4)
        except NoValue:
            continue
        if isinstance(value, bool):
            kind = "b"
        elif isinstance(value, int):
            kind = "i" if -2 ** 63 <= value < 2 ** 63 else "f"
        else:
            kind = "f"
        if text.lstrip("(")[:4] in ("True", "Fals") and kind == "i":
            continue
        lines.append(f"    {kind}[{counts[kind]}] = {text}")
        counts[kind] += 1
    print(f"def {name}(i: DeviceArray[i64], f: DeviceArray[f64], b: DeviceArray[bool]):")
    print("\n".join(lines))
    print(f"#: {name} " + " ".join(f"{kind}=zeros({count + 1})" for kind, count in counts.items()) + " @ once=1\n")


def main(seed, count):
    r = random.Random(seed)
    for number_of in range(count):
        kernel(r, f"k{number_of}")


main(int(sys.argv[1]), int(sys.argv[2]))
