#!/usr/bin/env python3
"""Embedded kernels beside Numba and PyTorch, in one process, in turns, on one thread each.

    python3 -m venv .cache/peers && .cache/peers/bin/pip install -r bench/peers/requirements.txt
    FRAZIL_THREADS=1 .cache/peers/bin/python bench/peers/peers.py [--build build/release]

The kernels are compiled by `frazil build`, linked into a shared library of a few lines, and called through ctypes.
Prints one line for each: the least time of ours and of the peer, and peer / ours (above 1: we are faster). Rows with
PyTorch are left out where there is none. A kernel that `frazil build` has no native code for is named as missing.
"""

import argparse
import ctypes
import math
import pathlib
import subprocess
import tempfile
import time

import numba
import numpy as np

try:
    import torch
except ImportError:
    torch = None

import everyday

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = [
    "examples/kernels/saxpy.py", "examples/kernels/mandelbrot.py", "examples/kernels/black_scholes.py",
    "stdlib/kernels/activation/softmax.py", "stdlib/kernels/norm/layer_norm.py",
    *everyday.KERNELS,
]
WRAPPERS = r"""
#include "peers.hpp"
using In = std::span<const float>;
using Out = std::span<float>;
extern "C" {
int saxpy(float a, const float* x, float* y, size_t n) { return bool(peers::saxpy(a, In(x, n), Out(y, n))); }
int mandelbrot(uint32_t* c, uint32_t w, uint32_t h, float x0, float y0, float step, uint32_t most) {
  return bool(peers::mandelbrot(std::span(c, size_t(w) * h), w, h, x0, y0, step, most));
}
int black_scholes(const float* p, const float* s, const float* t, float* c, float* q, size_t n, float r, float v) {
  return bool(peers::black_scholes(In(p, n), In(s, n), In(t, n), Out(c, n), Out(q, n), uint32_t(n), r, v));
}
int softmax(const float* x, float* y, size_t rows, size_t cols) {
  return bool(peers::softmax(In(x, rows * cols), Out(y, rows * cols), uint32_t(rows), uint32_t(cols)));
}
int layer_norm(const float* x, const float* g, const float* b, float* y, size_t rows, size_t cols, float e) {
  return bool(peers::layer_norm(In(x, rows * cols), In(g, cols), In(b, cols), Out(y, rows * cols), uint32_t(rows),
                                uint32_t(cols), e));
}
}
"""


def build(folder, where, only):
    kernels = [k for k in KERNELS if not only or any(f"def {name}(" in (ROOT / k).read_text() for name in only)]
    subprocess.run([where / "bin/frazil", "build", *[ROOT / k for k in kernels], "--embed", folder, "--name", "peers"],
                   check=True, stdout=subprocess.DEVNULL)
    (folder / "wrap.cpp").write_text((WRAPPERS if not only else '#include "peers.hpp"\n') + everyday.wrappers((folder / "peers.hpp").read_text()))
    subprocess.run(["clang++-22", "-std=c++20", "-O2", "-fPIC", "-shared", f"-I{ROOT}/src", f"-I{folder}",
                    folder / "wrap.cpp", folder / "peers.cpp", where / "libfrazil_embed.a", where / "libfrazil_base.a",
                    "-lfmt", "-lpthread", "-o", folder / "peers.so"], check=True)
    return ctypes.CDLL(str(folder / "peers.so"))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def compare(name, ours, peer, peer_name, rounds=25):
    ours(), peer()
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for i, f in enumerate((ours, peer)):
            start = time.thread_time()
            f()
            best[i] = min(best[i], time.thread_time() - start)
    print(f"{name:<34} ours {best[0] * 1e6:10.1f} us   {peer_name} {best[1] * 1e6:10.1f} us   {best[1] / best[0]:.2f}")


@numba.njit
def numba_saxpy(a, x, y):
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


@numba.njit
def numba_mandelbrot(counts, width, height, x0, y0, step, most):
    for y in range(height):
        for x in range(width):
            c_re = x0 + np.float32(x) * step
            c_im = y0 + np.float32(y) * step
            re = np.float32(0)
            im = np.float32(0)
            count = 0
            while count < most:
                re2 = re * re
                im2 = im * im
                if re2 + im2 > np.float32(4):
                    break
                im = np.float32(2) * re * im + c_im
                re = re2 - im2 + c_re
                count += 1
            counts[y * width + x] = count


@numba.njit(fastmath=True)
def numba_softmax(x, y):
    for r in range(x.shape[0]):
        m = x[r, 0]
        for j in range(x.shape[1]):
            m = max(m, x[r, j])
        s = np.float32(0)
        for j in range(x.shape[1]):
            y[r, j] = np.exp(x[r, j] - m)
            s += y[r, j]
        for j in range(x.shape[1]):
            y[r, j] /= s


@numba.njit(fastmath=True)
def numba_cdf(x):
    size = abs(x)
    t = np.float32(1) / (np.float32(1) + np.float32(0.2316419) * size)
    p = t * (np.float32(0.319381530) + t * (np.float32(-0.356563782) + t * (np.float32(1.781477937) +
             t * (np.float32(-1.821255978) + t * np.float32(1.330274429)))))
    tail = np.float32(0.39894228) * np.exp(np.float32(-0.5) * size * size) * p
    return np.float32(1) - tail if x > 0 else tail


@numba.njit(fastmath=True)
def numba_black_scholes(price, strike, years, call, put, rate, vol):
    for i in range(price.size):
        root = vol * np.sqrt(years[i])
        d1 = (np.log(price[i] / strike[i]) + (rate + np.float32(0.5) * vol * vol) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * np.exp(-rate * years[i])
        call[i] = price[i] * numba_cdf(d1) - discounted * numba_cdf(d2)
        put[i] = discounted * numba_cdf(-d2) - price[i] * numba_cdf(-d1)


def rows(library, draw):
    for cols in (64, 768, 4096):
        count = (1 << 20) // cols
        x = draw.standard_normal((count, cols), dtype=np.float32)
        y = np.empty_like(x)
        g, b = np.ones(cols, np.float32), np.zeros(cols, np.float32)
        ours = lambda: library.softmax(pointer(x), pointer(y), ctypes.c_size_t(count), ctypes.c_size_t(cols))
        compare(f"softmax {count} x {cols}", ours, lambda: numba_softmax(x, y), "numba fastmath")
        if torch is None:
            continue
        tx, tg, tb = torch.from_numpy(x), torch.from_numpy(g), torch.from_numpy(b)
        out = torch.empty_like(tx)
        compare(f"softmax {count} x {cols}", ours, lambda: torch.softmax(tx, 1, out=out), "torch")
        compare(f"layer_norm {count} x {cols}",
                lambda: library.layer_norm(pointer(x), pointer(g), pointer(b), pointer(y), ctypes.c_size_t(count),
                                           ctypes.c_size_t(cols), ctypes.c_float(1e-5)),
                lambda: torch.nn.functional.layer_norm(tx, (cols,), tg, tb), "torch")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="", help="names of kernels of everyday.py, with commas between them")
    options = parser.parse_args()
    where = options.build.resolve()
    only = [name for name in options.only.split(",") if name]
    if torch is not None:
        torch.set_num_threads(1)
    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as temporary:
        library = build(pathlib.Path(temporary), where, only)
        everyday.run(library, draw, compare, only)
        if only:
            return
        for n in (4096, 1 << 20, 1 << 25):
            x, y = (draw.standard_normal(n, dtype=np.float32) for _ in range(2))
            compare(f"saxpy {n}",
                    lambda: library.saxpy(ctypes.c_float(1e-3), pointer(x), pointer(y), ctypes.c_size_t(n)),
                    lambda: numba_saxpy(np.float32(1e-3), x, y), "numba")
        counts = np.empty(512 * 512, np.uint32)
        f = ctypes.c_float
        compare("mandelbrot 512 x 512, 256 steps",
                lambda: library.mandelbrot(pointer(counts), 512, 512, f(-2.1), f(-1.2), f(0.0047), 256),
                lambda: numba_mandelbrot(counts, 512, 512, np.float32(-2.1), np.float32(-1.2), np.float32(0.0047), 256),
                "numba")
        n = 1 << 20
        price, strike, years = ((draw.random(n, dtype=np.float32) + np.float32(0.1)) * s for s in (50, 50, 2))
        price, strike, years = (np.ascontiguousarray(a, np.float32) for a in (price, strike, years))
        call, put = np.empty_like(price), np.empty_like(price)
        compare("black_scholes 2^20",
                lambda: library.black_scholes(pointer(price), pointer(strike), pointer(years), pointer(call), pointer(put),
                                              ctypes.c_size_t(n), f(0.02), f(0.3)),
                lambda: numba_black_scholes(price, strike, years, call, put, np.float32(0.02), np.float32(0.3)),
                "numba fastmath")
        rows(library, draw)


if __name__ == "__main__":
    main()
