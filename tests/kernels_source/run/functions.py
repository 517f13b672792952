import math

TWO_PI = 2 * math.pi
LIMIT = -(3 + 4) ** 2


@inline
def square(x):
    return x * x


def clamp(x: f64, lo: f64, hi: f64) -> f64:
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


def smooth(x, k=3.0):
    y = square(x) / k
    if y > 10:
        y = clamp(y, 1, 20) + 1
        return y
    return square(y) - TWO_PI


def first_factor(v):
    d = u32(2)
    while d * d <= v:
        if v % d == 0:
            return d
        d += 1
    return v


def store_twice(a, i, v):
    a[2 * i] = v
    a[2 * i + 1] = -v


def uses_functions(x: DeviceArray[f64], y: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = smooth(x[i]) + smooth(x[i] * 2, k=5.0) + clamp(x[i], -1, 1)
#: uses_functions x=small(40) y=zeros(40) n=40


def factors(x: DeviceArray[u32], out: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = first_factor(x[i]) if x[i] > 1 else 0
#: factors x=small(40) out=zeros(40) n=40


def writes(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        store_twice(out, i, x[i] + LIMIT)
#: writes x=small(10) out=zeros(20) n=10


def nested(x: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        base = x[i]

        def step(v, by=2):
            w = v * by
            if w > base:
                return w - base
            return w + 1

        total = i64(0)
        for j in range(5):
            total += step(total) + step(j, 3)
            base += 1
        x[i] = total
#: nested x=small(30) n=30


def short_circuit_calls(x: DeviceArray[u32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        r = 0
        if x[i] > 1 and first_factor(x[i]) == x[i]:
            r = 1
        elif x[i] > 50 or first_factor(x[i] + 1) == 2:
            r = 2
        out[i] = r
#: short_circuit_calls x=small(60) out=zeros(60) n=60
