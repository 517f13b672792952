"""Field powers and the hash Tip5 (https://eprint.iacr.org/2023/107), in the domain of the Triton VM.

State: 16 field elements. A round: the S-box (byte-wise lookup of x * 2^64 mod p for the first four elements,
x^7 for the rest), a circulant matrix, constants. The matrix acts on the low and the high 32 bits apart, in plain
64-bit integers: its entries have 16 bits, so sums stay below 2^52, and one reduction per element follows. The product
with a circulant matrix is a cyclic convolution; it is taken apart into convolutions modulo x^8 + 1, x^4 + 1, x^2 + 1,
x + 1 and x - 1.
"""

from ir import Function, Table

P = 2**64 - 2**32 + 1
STATE, RATE, ROUNDS, LOOKED_UP = 16, 10, 5, 4

# The first column of the matrix: SHA-256 of "Tip5" in pieces of 16 bits.
MATRIX = (61402, 1108, 28750, 33823, 7454, 43244, 53865, 12034)
MATRIX += (56951, 27521, 41351, 40901, 12021, 59689, 26798, 17845)


def lookup_table():
    """(b + 1)^3 - 1 in the field of 257 elements."""
    return [(pow(b + 1, 3, 257) - 1) % 257 for b in range(256)]


# From the paper's seed ("Tip5" and a counter, by Blake3): facts of the function, as published.
CONSTANTS = (
    13630775303355457758, 16896927574093233874, 10379449653650130495, 1965408364413093495,
    15232538947090185111, 15892634398091747074, 3989134140024871768, 2851411912127730865,
    8709136439293758776, 3694858669662939734, 12692440244315327141, 10722316166358076749,
    12745429320441639448, 17932424223723990421, 7558102534867937463, 15551047435855531404,
    17532528648579384106, 5216785850422679555, 15418071332095031847, 11921929762955146258,
    9738718993677019874, 3464580399432997147, 13408434769117164050, 264428218649616431,
    4436247869008081381, 4063129435850804221, 2865073155741120117, 5749834437609765994,
    6804196764189408435, 17060469201292988508, 9475383556737206708, 12876344085611465020,
    13835756199368269249, 1648753455944344172, 9836124473569258483, 12867641597107932229,
    11254152636692960595, 16550832737139861108, 11861573970480733262, 1256660473588673495,
    13879506000676455136, 10564103842682358721, 16142842524796397521, 3287098591948630584,
    685911471061284805, 5285298776918878023, 18310953571768047354, 3142266350630002035,
    549990724933663297, 4901984846118077401, 11458643033696775769, 8706785264119212710,
    12521758138015724072, 11877914062416978196, 11333318251134523752, 3933899631278608623,
    16635128972021157924, 10291337173108950450, 4142107155024199350, 16973934533787743537,
    11068111539125175221, 17546769694830203606, 5315217744825068993, 4609594252909613081,
    3350107164315270407, 17715942834299349177, 9600609149219873996, 12894357635820003949,
    4597649658040514631, 7735563950920491847, 1663379455870887181, 13889298103638829706,
    7375530351220884434, 3502022433285269151, 9231805330431056952, 9252272755288523725,
    10014268662326746219, 15565031632950843234, 1209725273521819323, 6024642864597845108,
)


def conv(f, a, b):
    """a (values) by b (numbers), modulo x^n - 1, times n."""
    n = len(a)
    if n == 1:
        return [a[0] * b[0]]
    h = n // 2
    plus = conv(f, [a[i] + a[i + h] for i in range(h)], [b[i] + b[i + h] for i in range(h)])
    minus = nega(f, [a[i] - a[i + h] for i in range(h)], [h * (b[i] - b[i + h]) for i in range(h)])
    return [plus[i] + minus[i] for i in range(h)] + [plus[i] - minus[i] for i in range(h)]


def nega(f, a, b):
    """a by b modulo x^n + 1: Karatsuba's way on even and odd powers down to two terms."""
    n = len(a)
    if n == 1:
        return [times(a[0], b[0])]
    if n == 2:
        return [times(a[0], b[0]) - times(a[1], b[1]), times(a[0], b[1]) + times(a[1], b[0])]
    a0, a1, b0, b1 = a[0::2], a[1::2], b[0::2], b[1::2]
    low, high = nega(f, a0, b0), nega(f, a1, b1)
    both = nega(f, [x + y for x, y in zip(a0, a1)], [x + y for x, y in zip(b0, b1)])
    even = [low[0] - high[-1]] + [low[i] + high[i - 1] for i in range(1, n // 2)]
    odd = [both[i] - low[i] - high[i] for i in range(n // 2)]
    return [x for pair in zip(even, odd) for x in pair]


def times(value, number):
    """Modulo 2^64, as everything before the last shift."""
    return value * (number % 2**64)


def shifted32(f, x):
    """x * 2^32 in the field, for any u64: 2^64 is 2^32 - 1. Both parts are below p."""
    low = (x << 32).cast("field")
    return low + ((x >> 32) * 0xFFFFFFFF).cast("field")


def looked_up(f, table, x):
    # x * 2^64 = x * 2^32 - x.
    raw = (shifted32(f, x.cast("u64")) - x).cast("u64")
    out = None
    for byte in range(8):
        index = raw if byte == 0 else raw >> (8 * byte)
        part = f.lookup(table, index & 255).cast("u64")
        part = part if byte == 0 else part << (8 * byte)
        out = part if out is None else out | part
    # Bytes 0 and 255 map to themselves, so this is below p as well. 1 / 2^64 = 2^128 = -2^32.
    return -shifted32(f, out)


def round_function(table):
    f = Function(
        "pre.tip5.round",
        [(f"s{i}", "field") for i in range(STATE)],
        ["field"] * STATE,
        "S-box and matrix of Tip5; the constants of the round come after it.",
    )
    state = []
    for i, x in enumerate(f.params):
        if i < LOOKED_UP:
            state.append(looked_up(f, table, x))
        else:
            square = x * x
            state.append(x * square * (square * square))
    words = [x.cast("u64") for x in state]
    low = conv(f, [w & 0xFFFFFFFF for w in words], MATRIX)
    high = conv(f, [w >> 32 for w in words], MATRIX)
    out = []
    for l, h in zip(low, high):
        l, h = l >> 4, h >> 4
        # l + 2^32 h with h = a + 2^32 b is (l + b (2^32 - 1)) + 2^32 a: both parts below p.
        out.append((l + (h >> 32) * 0xFFFFFFFF).cast("field") + (h << 32).cast("field"))
    f.ret(*out)
    return f


def permutation(round_):
    f = Function(
        "pre.tip5",
        [(f"s{i}", "field") for i in range(STATE)],
        ["field"] * STATE,
        "The permutation of Tip5: five rounds.",
    )
    state = f.params
    for r in range(ROUNDS):
        state = f.call(round_, *state)
        state = [x + CONSTANTS[r * STATE + i] for i, x in enumerate(state)]
    f.ret(*state)
    return f


def hash_ten(permute):
    f = Function(
        "hash.digest",
        [(f"x{i}", "field") for i in range(RATE)],
        ["digest"],
        "Ten elements in the domain of fixed length, whose capacity is all ones; the first five elements after it.",
    )
    one = f.const("field", 1)
    state = f.call(permute, *f.params, *[one] * (STATE - RATE))
    f.ret(f.op("digest.make", "digest", state[:5]))
    return f


def power():
    f = Function(
        "field.pow.field",
        [("base", "field"), ("exponent", "u32")],
        ["field"],
        "Square and multiply, from the top bit; 0^0 is 1.",
    )
    base, exponent = f.params
    one = f.const("field", 1)
    result = None
    for bit in reversed(range(32)):
        is_set = ((exponent >> bit) & 1).ne(0) if bit else (exponent & 1).ne(0)
        factor = f.select(is_set, base, one)
        result = factor if result is None else result * result * factor
    f.ret(result)
    return f


def functions():
    table = Table("table.tip5", "u8", lookup_table(), "The S-box of Tip5 on one byte.")
    round_ = round_function(table)
    permute = permutation(round_)
    return [table], [power(), round_, permute, hash_ten(permute)]
