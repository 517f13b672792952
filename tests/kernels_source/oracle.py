"""What kernels mean, by CPython: every kernel of a file is executed lane by lane, as the Python function that it is.

Shares no code with the compiler. Typed numbers are a small class with Python's operators; arrays are lists with a type.
Lanes are started as a GPU would start them, in whole groups of 32, so that guards have something to hold back.

A case is a comment in the file:   #: kernel a=rand(40) n=37 [@ lanes=40] [@ grid=3 block=16]
Output, one case after the other (numbers are 64-bit words in hexadecimal):
    case FILE LINE KERNEL / scalar TYPE WORD / buffer TYPE WORDS.. / launch X Y Z / blocks G G G B B B /
    expect WORDS.. (one for each buffer) / end
"""
import __future__

import ast
import math
import random
import struct
import sys
import threading
import types
from fractions import Fraction

INTS = {"i8": (True, 8), "i16": (True, 16), "i32": (True, 32), "i64": (True, 64), "u8": (False, 8), "u16": (False, 16),
        "u32": (False, 32), "u64": (False, 64), "index": (True, 64)}
FLOATS = {"f32": 32, "f64": 64}


def to_float(kind, value):
    return struct.unpack("<f", struct.pack("<f", value))[0] if kind == "f32" else float(value)


def round_f32(value):
    try:
        return to_float("f32", value)
    except OverflowError:
        return math.copysign(math.inf, value)


def to_odd(value):
    """A double from which an integer rounds to f32 as if in one step."""
    extra = abs(value).bit_length() - 53 if isinstance(value, int) else 0
    if extra <= 0:
        return float(value)
    kept = abs(value) >> extra
    return math.copysign((kept | (kept << extra != abs(value))) * 2.0 ** extra, value)


def wrap(kind, value):
    if kind == "bool":
        return bool(value)
    if kind in FLOATS:
        return round_f32(to_odd(value)) if kind == "f32" else float(value)
    signed, bits = INTS[kind]
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def cast(kind, value):
    """An explicit cast: floats become integers towards zero, and stay within the type."""
    if isinstance(value, Number):
        value = value.value
    if isinstance(value, float) and kind in INTS:
        signed, bits = INTS[kind]
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if math.isnan(value):
            return Number(kind, 0)
        return Number(kind, low if value <= low else high if value >= high else int(value))
    return Number(kind, wrap(kind, value))


def join(a, b):
    """The type of a sum. None is a literal."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if a in FLOATS or b in FLOATS:
        if a in FLOATS and b in FLOATS:
            return "f64"
        return a if a in FLOATS else b
    if "index" in (a, b):
        return "index"
    (a_signed, a_bits), (b_signed, b_bits) = INTS[a], INTS[b]
    if a_signed == b_signed:
        return a if a_bits >= b_bits else b
    if a_signed:
        a, b, a_bits, b_bits = b, a, b_bits, a_bits  # a is unsigned now
    return b if b_bits > a_bits else {8: "i16", 16: "i32", 32: "i64"}[a_bits]


def kind_of(value):
    return value.kind if isinstance(value, Number) and value.kind != "bool" else None


def raw(value):
    value = value.value if isinstance(value, Number) else value
    return int(value) if isinstance(value, bool) else value


def convert(kind, value):
    return raw(value) if kind is None else wrap(kind, raw(value))


def arithmetic(a, b, function):
    kind = join(kind_of(a), kind_of(b))
    if isinstance(raw(a), float) or isinstance(raw(b), float):
        if kind not in FLOATS:
            kind = "f32" if kind is not None else None  # an integer meets a float literal
    result = function(convert(kind, a), convert(kind, b))
    return result if kind is None else Number(kind, wrap(kind, result))


def divide(a, b):
    kinds = [k for k in (kind_of(a), kind_of(b)) if k is not None]
    floats = isinstance(raw(a), float) or isinstance(raw(b), float)
    if kinds and not floats:
        kind = "f64" if any(INTS[k][1] == 64 for k in kinds) else "f32"
        return Number(kind, wrap(kind, wrap(kind, raw(a)) / wrap(kind, raw(b))))
    return arithmetic(a, b, lambda x, y: x / y)


def shift(a, b, function):
    kind = kind_of(a) or kind_of(b)
    result = function(convert(kind, a), raw(b))
    return result if kind is None else Number(kind, wrap(kind, result))


class Number:
    """A number of a type of kernels."""
    __slots__ = ("kind", "value")

    def __init__(self, kind, value):
        self.kind, self.value = kind, value

    def __add__(self, other): return arithmetic(self, other, lambda x, y: x + y)
    def __radd__(self, other): return arithmetic(other, self, lambda x, y: x + y)
    def __sub__(self, other): return arithmetic(self, other, lambda x, y: x - y)
    def __rsub__(self, other): return arithmetic(other, self, lambda x, y: x - y)
    def __mul__(self, other): return arithmetic(self, other, lambda x, y: x * y)
    def __rmul__(self, other): return arithmetic(other, self, lambda x, y: x * y)
    def __floordiv__(self, other): return arithmetic(self, other, lambda x, y: x // y)
    def __rfloordiv__(self, other): return arithmetic(other, self, lambda x, y: x // y)
    def __mod__(self, other): return arithmetic(self, other, lambda x, y: x % y)
    def __rmod__(self, other): return arithmetic(other, self, lambda x, y: x % y)
    def __truediv__(self, other): return divide(self, other)
    def __rtruediv__(self, other): return divide(other, self)
    def __pow__(self, other): return arithmetic(self, other, lambda x, y: x ** y)
    def __lshift__(self, other): return shift(self, other, lambda x, y: x << y)
    def __rlshift__(self, other): return shift(other, self, lambda x, y: x << y)
    def __rshift__(self, other): return shift(self, other, lambda x, y: x >> y)
    def __rrshift__(self, other): return shift(other, self, lambda x, y: x >> y)
    def __and__(self, other): return arithmetic(self, other, lambda x, y: x & y)
    def __rand__(self, other): return arithmetic(other, self, lambda x, y: x & y)
    def __or__(self, other): return arithmetic(self, other, lambda x, y: x | y)
    def __ror__(self, other): return arithmetic(other, self, lambda x, y: x | y)
    def __xor__(self, other): return arithmetic(self, other, lambda x, y: x ^ y)
    def __rxor__(self, other): return arithmetic(other, self, lambda x, y: x ^ y)
    def __neg__(self): return Number(self.kind, wrap(self.kind, -self.value))
    def __pos__(self): return self
    def __invert__(self): return Number(self.kind, wrap(self.kind, ~self.value))
    def __abs__(self): return Number(self.kind, wrap(self.kind, abs(self.value)))
    def __bool__(self): return self.value != 0
    def __index__(self): return self.value
    def __float__(self): return float(self.value)
    def __eq__(self, other): return compare(self, other, lambda x, y: x == y)
    def __ne__(self, other): return compare(self, other, lambda x, y: x != y)
    def __lt__(self, other): return compare(self, other, lambda x, y: x < y)
    def __le__(self, other): return compare(self, other, lambda x, y: x <= y)
    def __gt__(self, other): return compare(self, other, lambda x, y: x > y)
    def __ge__(self, other): return compare(self, other, lambda x, y: x >= y)


def compare(a, b, function):
    kind = join(kind_of(a), kind_of(b))
    return function(convert(kind, a), convert(kind, b))


class Array:
    """A typed buffer, perhaps with a shape; every access is checked."""

    def __init__(self, kind, values, shape=()):
        self.kind, self.shape = kind, shape
        self.values = [wrap(kind, value) for value in values]
        self.lock = threading.Lock()

    def at(self, index):
        if not isinstance(index, tuple):
            index = (index,)
        flat = raw(index[0])
        for part, size in zip(index[1:], self.shape[1:]):
            flat = flat * raw(size) + raw(part)
        if not 0 <= flat < len(self.values):
            raise IndexError(f"index {flat} of {len(self.values)}")
        return flat

    def __getitem__(self, index):
        if len(self.shape) > 1 and not isinstance(index, tuple):
            return Row(self, (index,))
        value = self.values[self.at(index)]
        return value if self.kind == "bool" else Number(self.kind, value)

    def __setitem__(self, index, value):
        self.values[self.at(index)] = wrap(self.kind, raw(value))

    def update(self, index, function):
        with self.lock:
            old = self[index]
            self[index] = function(old)
            return old


class Row:
    """a[i] of an array with a shape: a[i][j] is a[i, j]."""

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __getitem__(self, index):
        index = self.index + (index,)
        return self.array[index] if len(index) == len(self.array.shape) else Row(self.array, index)

    def __setitem__(self, index, value):
        self.array[self.index + (index,)] = value


def float_function(function):
    def apply(*args):
        kinds = [kind_of(a) for a in args]
        kind = None
        for k in kinds:
            kind = join(kind, k)
        if kind is not None and kind not in FLOATS:
            kind = "f64" if INTS[kind][1] == 64 else "f32"
        values = [convert(kind, a) if kind else float(raw(a)) for a in args]
        result = function(*values)
        return result if kind is None else Number(kind, wrap(kind, result))
    return apply


def int_function(function):
    def apply(*args):
        kind = None
        for a in args:
            kind = join(kind, kind_of(a))
        return Number(kind, wrap(kind, function(INTS[kind][1], *[convert(kind, a) for a in args])))
    return apply


def extreme(pick):
    def apply(*args):
        result = args[0]
        for other in args[1:]:
            result = arithmetic(result, other, pick)
        return result
    return apply


def fold(combine, empty):
    """sum, min or max of a range: blocks of 4096; element e of a block joins chain e mod 64; chains join by halves,
    blocks by adjacent pairs."""
    def fold_block(values):
        chains = values[:64]
        for at in range(64, len(values)):
            chains[at % 64] = combine(chains[at % 64], values[at])
        for half in (32, 16, 8, 4, 2, 1):
            for at in range(half, min(len(chains), 2 * half)):
                chains[at - half] = combine(chains[at - half], chains[at])
            chains = chains[:half]
        return chains[0]
    def apply(elements):
        values = [e if isinstance(e, Number) else raw(e) for e in elements]
        blocks = [fold_block(values[at:at + 4096]) for at in range(0, len(values), 4096)]
        while len(blocks) > 1:
            pairs = [combine(*blocks[at:at + 2]) for at in range(0, len(blocks) - 1, 2)]
            blocks = pairs + blocks[len(pairs) * 2:]
        return blocks[0] if blocks else empty
    return apply


def extreme_or_fold(pick, empty):
    def apply(*args):
        if isinstance(args[0], types.GeneratorType):
            return fold(extreme(pick), empty)(*args)
        return extreme(pick)(*args)
    return apply


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def bitcast(to, value):
    codes = {"f32": "<f", "u32": "<I", "i32": "<i", "f64": "<d", "u64": "<Q", "i64": "<q"}
    return Number(to, struct.unpack(codes[to], struct.pack(codes[value.kind], value.value))[0])


def unsigned(bits, value):
    return value & ((1 << bits) - 1)


def rotate(bits, value, amount):
    value, amount = unsigned(bits, value), amount % bits
    return value << amount | value >> (bits - amount)


def fma(a, b, c):
    assert "f32" not in (kind_of(a), kind_of(b), kind_of(c)), "the oracle has no f32 fma"
    return Number("f64", float(Fraction(raw(a)) * Fraction(raw(b)) + Fraction(raw(c))))


class Lane(threading.local):
    """Where the running lane is."""
    ids = {}


LANE = Lane()


def make_namespace():
    space = {"__builtins__": {"__import__": lambda name, *rest: FAKE[name]}}
    def id_function(name):
        return lambda dim=0: Number("index", LANE.ids[name][dim])
    for name, key in [("get_global_id", "global"), ("get_global_size", "size"), ("get_local_id", "local"),
                      ("get_lane_id", "local"), ("get_block_id", "block"), ("get_block_dim", "dim"),
                      ("get_grid_dim", "grid")]:
        space[name] = id_function(key)
    def typed_range(*args):
        return (Number("index", value) for value in range(*[raw(a) for a in args]))
    space["range"] = typed_range
    space["len"] = lambda array: Number("index", len(array.values))
    for kind in list(INTS) + list(FLOATS):
        space[kind] = Caster(kind)
    space.update({"int": Caster("i32"), "float": Caster("f32"), "usize": Caster("index")})
    space["bool"] = lambda value: raw(value) != 0
    space.update({
        "sqrt": float_function(math.sqrt), "floor": float_function(math.floor), "ceil": float_function(math.ceil),
        "trunc": float_function(math.trunc), "round": float_function(round), "fabs": float_function(abs),
        "copysign": float_function(math.copysign), "sqrtf": float_function(math.sqrt), "fma": fma,
        "min": extreme_or_fold(min, math.inf), "max": extreme_or_fold(max, -math.inf), "sum": fold(lambda a, b: a + b, 0),
        "abs": abs, "select": lambda c, a, b: pick_value(c, a, b),
        "div_trunc": int_function(lambda bits, a, b: truncated(a, b)),
        "rem_trunc": int_function(lambda bits, a, b: a - truncated(a, b) * b),
        "rotl": int_function(rotate), "rotr": int_function(lambda bits, a, b: rotate(bits, a, bits - b % bits)),
        "clz": int_function(lambda bits, a: bits - unsigned(bits, a).bit_length()),
        "ctz": int_function(lambda bits, a: bits if a == 0 else (a & -a).bit_length() - 1),
        "popcnt": int_function(lambda bits, a: bin(unsigned(bits, a)).count("1")),
        "mul_hi": int_function(lambda bits, a, b: a * b >> bits), "bitcast": lambda to, value: bitcast(to.kind, value),
        "atomic_add": lambda a, i, v: a.update(i, lambda old: old + v),
        "atomic_min": lambda a, i, v: a.update(i, lambda old: extreme(min)(old, v)),
        "atomic_max": lambda a, i, v: a.update(i, lambda old: extreme(max)(old, v)),
        "atomic_and": lambda a, i, v: a.update(i, lambda old: old & v),
        "atomic_or": lambda a, i, v: a.update(i, lambda old: old | v),
        "atomic_xor": lambda a, i, v: a.update(i, lambda old: old ^ v),
        "atomic_exchange": lambda a, i, v: a.update(i, lambda old: v),
        "atomic_cas": lambda a, i, e, v: a.update(i, lambda old: v if old == e else old),
        "shared": lambda kind, *dims: LANE.ids["shared"](kind, dims),
        "barrier": lambda: LANE.ids["barrier"].wait(),
        "inline": lambda function: function, "kernel": lambda function: function,
        "True": True, "False": False,
    })
    return space


def pick_value(condition, a, b):
    kind = join(kind_of(a), kind_of(b))
    chosen = a if condition else b
    return raw(chosen) if kind is None else Number(kind, convert(kind, chosen))


class Caster:
    def __init__(self, kind):
        self.kind = kind

    def __call__(self, value):
        return float(value) if isinstance(value, str) else cast(self.kind, value)


class Stubs:
    """`from frazil import f32`: the names that the namespace has anyway."""

    def __getattr__(self, name):
        return STUBS.get(name)


STUBS = {}
FAKE = {"math": types.SimpleNamespace(pi=math.pi, inf=math.inf, sqrt=float_function(math.sqrt)),
        "frazil": Stubs()}


class Block:
    """Shared memory and the barrier of one block: the n-th shared() of every lane is one array."""

    def __init__(self, lanes):
        self.barrier = threading.Barrier(lanes)
        self.arrays, self.lock = [], threading.Lock()

    def lane_shared(self):
        count = [0]
        def make(kind, dims):
            dims = dims[0] if isinstance(dims[0], tuple) else dims
            with self.lock:
                if count[0] == len(self.arrays):
                    self.arrays.append(Array(kind.kind, [0] * math.prod(dims), dims))
                count[0] += 1
                return self.arrays[count[0] - 1]
        return make


def run_flat(function, args, lanes):
    started = [-(-max(count, 0) // 32) * 32 if is_guarded else count for count, is_guarded in lanes]
    for z in range(started[2]):
        for y in range(started[1]):
            for x in range(started[0]):
                LANE.ids = {"global": (x, y, z), "size": tuple(started)}
                function(*args)


def run_blocks(function, args, grid, block):
    dims = [(x, y, z) for z in range(block[2]) for y in range(block[1]) for x in range(block[0])]
    for gz in range(grid[2]):
        for gy in range(grid[1]):
            for gx in range(grid[0]):
                run_block(function, args, grid, block, (gx, gy, gz), dims)


def run_block(function, args, grid, block, at, dims):
    state = Block(len(dims))
    failures = []
    def lane(local):
        LANE.ids = {"local": local, "block": at, "dim": block, "grid": grid, "barrier": state.barrier,
                    "global": tuple(b * d + l for b, d, l in zip(at, block, local)),
                    "size": tuple(g * d for g, d in zip(grid, block)), "shared": state.lane_shared()}
        try:
            function(*args)
        except Exception as error:  # a lane that fails must not leave the others waiting
            failures.append(error)
            state.barrier.abort()
    threads = [threading.Thread(target=lane, args=(local,)) for local in dims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


# --- cases ---

def word(kind, value):
    if kind == "f32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    return int(value) & 0xFFFFFFFFFFFFFFFF


def words(kind, values):
    return " ".join(f"{word(kind, value):x}" for value in values)


def data(kind, text, source):
    """rand(n), small(n), ramp(n), zeros(n), ones(n) or [1, 2, 3]."""
    if text.startswith("["):
        return [float(v) if kind in FLOATS else int(v, 0) for v in text[1:-1].split(",")]
    name, count = text[:-1].split("(")
    count = int(count)
    if name == "zeros":
        return [0] * count
    if name == "ones":
        return [1] * count
    if name == "ramp":
        return list(range(count))
    if kind in FLOATS:
        scale = 4.0 if name == "small" else 1000.0
        return [wrap(kind, source.uniform(-scale, scale)) for _ in range(count)]
    if kind == "bool":
        return [source.random() < 0.5 for _ in range(count)]
    signed, bits = INTS[kind]
    if name == "small":
        return [source.randint(-100 if signed else 0, 100) for _ in range(count)]
    return [wrap(kind, source.getrandbits(64)) for _ in range(count)]


def annotation_of(node, args):
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        dims = parts[1:]
        if len(dims) == 1 and isinstance(dims[0], ast.Tuple):
            dims = dims[0].elts
        shape = tuple(args[d.id] if isinstance(d, ast.Name) else d.value for d in dims)
        return annotation_of(parts[0], args)[0], True, shape
    return {"int": "i32", "float": "f32", "usize": "index"}.get(node.id, node.id), False, ()


def run_case(path, line_number, line, tree, space):
    head, *options = [part.strip() for part in line.split("@")]
    name, *settings = head.split()
    given = dict(setting.split("=", 1) for setting in settings)
    launch = dict(pair.split("=") for option in options for pair in option.split())
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    source = random.Random(f"{name}:{line}")
    scalars = {}
    for argument in function.args.args:
        if isinstance(argument.annotation, ast.Name):
            kind = annotation_of(argument.annotation, {})[0]
            text = given[argument.arg]
            scalars[argument.arg] = Number(kind, wrap(kind, float(text) if kind in FLOATS else int(text, 0)))
            if kind == "bool":
                scalars[argument.arg] = text != "0"
    out = [f"case {path} {line_number} {name}"]
    args, arrays = [], []
    for argument in function.args.args:
        kind, is_array, shape = annotation_of(argument.annotation, scalars)
        if not is_array:
            args.append(scalars[argument.arg])
            out.append(f"scalar {kind} {word(kind, raw(args[-1])):x}")
            continue
        array = Array(kind, data(kind, given[argument.arg], source), shape)
        args.append(array)
        arrays.append(array)
        out.append(f"buffer {kind} {words(kind, array.values)}")
    triple = lambda text: tuple(([int(v) for v in text.split(",")] + [1, 1])[:3])
    kernel = space[name]
    if "grid" in launch:
        grid, block = triple(launch["grid"]), triple(launch["block"])
        out.append(f"blocks {' '.join(map(str, grid + block))}")
        run_blocks(kernel, args, grid, block)
    else:
        # Guarded dimensions take what covers the guard; `lanes` names the others.
        lanes = triple(launch["lanes"]) if "lanes" in launch else (1, 1, 1)
        cover = triple(launch["cover"]) if "cover" in launch else (raw(scalars["n"]) if "n" in scalars else 1, 1, 1)
        guarded = "lanes" not in launch
        counts = [(c, c != 1 or d == 0) for d, c in enumerate(cover)] if guarded else [(l, False) for l in lanes]
        if "once" in launch:
            counts = [(1, False)] * 3
        out.append(f"launch {' '.join(str(c) for c in lanes)}")
        run_flat(kernel, args, counts)
    out.extend(f"expect {words(array.kind, array.values)}" for array in arrays)
    out.append("end")
    print("\n".join(out))


def main(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tree = ast.parse(text)
        space = make_namespace()
        STUBS.update(space)
        exec(compile(text, path, "exec", flags=__future__.annotations.compiler_flag), space)
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("#:"):
                run_case(path, number, line[2:], tree, space)


main(sys.argv[1:])
