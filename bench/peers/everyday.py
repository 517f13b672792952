"""Kernels as people write them (bench/peers/kernels), and the same loops for Numba: one thread, no fastmath.

Before anything is timed, both sides must give the same result."""

import ctypes

import numba
import numpy as np

KERNELS = [f"bench/peers/kernels/{name}.py"
           for name in ("audio", "image", "scan", "counting", "paths", "life", "grids", "sorting", "dot")]

# For ctypes: every buffer is a pointer and its length.
TYPES = {"i16": "int16_t", "u8": "uint8_t", "i32": "int32_t", "u32": "uint32_t", "f32": "float"}
SIGNATURES = {
    "mix": "<i16 <i16 >i16 f32 f32 u32", "gray": "<u8 >u8 u32 u32", "blur": "<u8 >u8 u32 u32",
    "scan_block": "<i32 >i32 >i32 u32", "byte_histogram": "<u8 >u32 u32", "floyd": ">i32 u32 u32",
    "life": "<u8 >u8 u32 u32", "life_select": "<u8 >u8 u32 u32", "transpose": "<f32 >f32 u32",
    "jacobi": "<f32 >f32 u32 u32", "rowsort": ">i32 u32 u32", "bitonic": ">i32 u32 u32 u32",
    "dot": "<f32 <f32 >f32 u32",
}


def wrappers(header):
    """C functions for those kernels that the header has."""
    lines = []
    for name, signature in SIGNATURES.items():
        if f" {name}(" not in header:
            continue
        # Blocks of 256 lanes where the kernel has some of its own.
        is_blocked = f"Status {name}(const frazil::LaunchConfig&" in header
        params, args = [], ["frazil::LaunchConfig::Linear(p3)"] if is_blocked else []
        for i, part in enumerate(signature.split()):
            kind = TYPES[part.lstrip("<>")]
            if part[0] in "<>":
                const = "const " if part[0] == "<" else ""
                params += [f"{const}{kind}* p{i}", f"size_t n{i}"]
                args.append(f"std::span<{const}{kind}>(p{i}, n{i})")
            else:
                params.append(f"{kind} p{i}")
                args.append(f"p{i}")
        lines.append(f'extern "C" int every_{name}({", ".join(params)}) '
                     f'{{ return bool(peers::{name}({", ".join(args)})); }}')
    return "\n".join(lines) + "\n"


def call(library, name, *arguments):
    """A function that calls the kernel; None where there is no native code."""
    try:
        function = getattr(library, "every_" + name)
    except AttributeError:
        return None
    words = []
    for part, argument in zip(SIGNATURES[name].split(), arguments):
        if part[0] in "<>":
            words += [ctypes.c_void_p(argument.ctypes.data), ctypes.c_size_t(argument.size)]
        else:
            words.append(ctypes.c_float(argument) if part == "f32" else ctypes.c_uint32(argument))
    return lambda: function(*words)


@numba.njit
def numba_mix(left, right, out, lgain, rgain):
    for i in range(left.size):
        v = np.rint(np.float32(left[i]) * lgain + np.float32(right[i]) * rgain)
        out[i] = np.int16(min(max(v, np.float32(-32768)), np.float32(32767)))


@numba.njit
def numba_gray(rgb, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            r = np.uint32(rgb[y, x, 0])
            g = np.uint32(rgb[y, x, 1])
            b = np.uint32(rgb[y, x, 2])
            out[y, x] = np.uint8((np.uint32(77) * r + np.uint32(150) * g + np.uint32(29) * b + np.uint32(128)) >> np.uint32(8))


@numba.njit
def numba_blur(a, out):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            s = np.uint32(0)
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    yy = min(max(y + dy, 0), h - 1)
                    xx = min(max(x + dx, 0), w - 1)
                    s += np.uint32(a[yy, xx])
            out[y, x] = np.uint8((s + np.uint32(4)) // np.uint32(9))


@numba.njit
def numba_scan(x, out, sums):
    tile = np.empty(256, np.int32)
    held = np.empty(256, np.int32)
    for b in range(sums.size):
        for t in range(256):
            i = b * 256 + t
            tile[t] = x[i] if i < x.size else 0
        for s in range(8):
            back = 1 << s
            for t in range(256):
                held[t] = tile[t] + tile[t - back] if t >= back else tile[t]
            for t in range(256):
                tile[t] = held[t]
        for t in range(256):
            i = b * 256 + t
            if i < x.size:
                out[i] = tile[t]
        sums[b] = tile[255]


@numba.njit
def numba_histogram(data, bins):
    for i in range(data.size):
        bins[data[i]] += np.uint32(1)


@numba.njit
def numba_floyd(dist, k):
    n = dist.shape[0]
    for i in range(n):
        for j in range(n):
            dist[i, j] = min(dist[i, j], dist[i, k] + dist[k, j])


@numba.njit
def numba_life(a, b):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            l = (x + w - 1) % w
            r = (x + 1) % w
            u = (y + h - 1) % h
            d = (y + 1) % h
            n = a[u, l] + a[u, x] + a[u, r] + a[y, l] + a[y, r] + a[d, l] + a[d, x] + a[d, r]
            b[y, x] = 1 if n == 3 or (n == 2 and a[y, x] == 1) else 0


@numba.njit
def numba_life_select(a, b):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            l = x - 1 if x > 0 else w - 1
            r = x + 1 if x < w - 1 else 0
            u = y - 1 if y > 0 else h - 1
            d = y + 1 if y < h - 1 else 0
            n = a[u, l] + a[u, x] + a[u, r] + a[y, l] + a[y, r] + a[d, l] + a[d, x] + a[d, r]
            b[y, x] = 1 if n == 3 or (n == 2 and a[y, x] == 1) else 0


@numba.njit
def numba_transpose(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


@numba.njit
def numba_jacobi(a, b):
    h, w = a.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            b[y, x] = np.float32(0.25) * (a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x])


@numba.njit
def numba_rowsort(a):
    for r in range(a.shape[0]):
        for i in range(1, a.shape[1]):
            v = a[r, i]
            j = i
            while j > 0 and a[r, j - 1] > v:
                a[r, j] = a[r, j - 1]
                j -= 1
            a[r, j] = v


@numba.njit
def numba_bitonic(keys, j, k):
    for i in range(keys.size):
        p = i ^ j
        if p > i:
            a = keys[i]
            b = keys[p]
            if (a > b) == ((i & k) == 0):
                keys[i] = b
                keys[p] = a


@numba.njit
def numba_dot(x, y, out):
    s = out[0]
    for i in range(x.size):
        s += x[i] * y[i]
    out[0] = s


def run(library, draw, compare, only):
    def row(text, name, ours, peer, outputs, close=False, reset=lambda: None):
        if only and name not in only:
            return
        if ours is None:
            print(f"{text:<34} no native code")
            return
        results = []
        for f in (ours, peer):
            reset()
            f()
            results.append([np.copy(o) for o in outputs])
        for a, b in zip(*results):
            same = np.allclose(a, b, rtol=1e-3) if close else np.array_equal(a, b)
            if not same:
                raise SystemExit(f"{name}: the results differ")

        def with_reset(f):
            def timed():
                reset()
                f()
            return timed

        compare(text, with_reset(ours), with_reset(peer), "numba")

    n = 1 << 20
    tracks = [draw.integers(-32768, 32768, n).astype(np.int16) for _ in range(2)]
    mixed = np.empty(n, np.int16)
    gains = np.float32(0.8), np.float32(0.7)
    row("mix 2^20", "mix", call(library, "mix", *tracks, mixed, *gains, n),
        lambda: numba_mix(*tracks, mixed, *gains), [mixed])

    h, w = 1024, 1024
    rgb = draw.integers(0, 256, (h, w, 3)).astype(np.uint8)
    plane = np.ascontiguousarray(rgb[:, :, 0])
    flat = np.empty((h, w), np.uint8)
    row("gray 1024 x 1024", "gray", call(library, "gray", rgb, flat, w, h), lambda: numba_gray(rgb, flat), [flat])
    row("blur 1024 x 1024", "blur", call(library, "blur", plane, flat, w, h), lambda: numba_blur(plane, flat), [flat])

    values = draw.integers(-1000, 1000, n).astype(np.int32)
    scanned, sums = np.empty(n, np.int32), np.empty(n // 256, np.int32)
    row("scan_block 2^20", "scan_block", call(library, "scan_block", values, scanned, sums, n),
        lambda: numba_scan(values, scanned, sums), [scanned, sums])

    data = draw.integers(0, 256, n).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    row("byte_histogram 2^20", "byte_histogram", call(library, "byte_histogram", data, bins, n),
        lambda: numba_histogram(data, bins), [bins], reset=lambda: bins.fill(0))

    nodes = 512
    dist = draw.integers(1, 1000, (nodes, nodes)).astype(np.int32)
    row("floyd 512 x 512, a round", "floyd", call(library, "floyd", dist, 7, nodes),
        lambda: numba_floyd(dist, 7), [dist])

    cells = draw.integers(0, 2, (h, w)).astype(np.uint8)
    for name, peer in (("life", numba_life), ("life_select", numba_life_select)):
        row(f"{name} 1024 x 1024", name, call(library, name, cells, flat, w, h), lambda: peer(cells, flat), [flat])

    for side in (512, 2048):
        a = draw.standard_normal((side, side), dtype=np.float32)
        b = np.zeros_like(a)
        row(f"transpose {side} x {side}", "transpose", call(library, "transpose", a, b, side),
            lambda: numba_transpose(a, b), [b])
        row(f"jacobi {side} x {side}", "jacobi", call(library, "jacobi", a, b, side, side), lambda: numba_jacobi(a, b), [b])

    rows = draw.integers(-10000, 10000, (1024, 64)).astype(np.int32)
    sorted_rows = np.empty_like(rows)
    row("rowsort 1024 x 64", "rowsort", call(library, "rowsort", sorted_rows, 1024, 64),
        lambda: numba_rowsort(sorted_rows), [sorted_rows], reset=lambda: np.copyto(sorted_rows, rows))

    keys = draw.integers(-10000, 10000, n).astype(np.int32)
    moved = np.empty_like(keys)
    for j, k in ((1, 2), (64, 256)):
        row(f"bitonic 2^20, step {j} of {k}", "bitonic", call(library, "bitonic", moved, j, k, n),
            lambda: numba_bitonic(moved, j, k), [moved], reset=lambda: np.copyto(moved, keys))

    x, y = (draw.random(n, dtype=np.float32) for _ in range(2))
    out = np.zeros(1, np.float32)
    row("dot 2^20", "dot", call(library, "dot", x, y, out, n), lambda: numba_dot(x, y, out), [out], close=True,
        reset=lambda: out.fill(0))
