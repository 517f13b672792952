from frazil import DeviceArray, f32, f64, u32, get_global_id


def vector_add(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], n: u32):
    """c = a + b"""
    idx = get_global_id()
    if idx < n:
        c[idx] = a[idx] + b[idx]
#: vector_add a=rand(40) b=rand(40) c=zeros(40) n=37
#: vector_add a=rand(3) b=rand(3) c=zeros(3) n=0
#: vector_add a=rand(257) b=rand(257) c=zeros(258) n=257


def saxpy(a: f32, x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = a * x[i] + y[i]
#: saxpy a=1.7 x=rand(33) y=rand(33) n=33
#: saxpy a=-0.1 x=rand(1) y=rand(1) n=1


def relu(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    idx = get_global_id()
    if idx < n:
        x = a[idx]
        if x > 0.0:
            b[idx] = x
        else:
            b[idx] = 0.0
#: relu a=rand(50) b=ones(50) n=50


def leaky(x: DeviceArray[f64], y: DeviceArray[f64], n: u32, alpha: f64):
    i = get_global_id()
    if i < n:
        v = x[i]
        y[i] = v if v > 0 else alpha * v
#: leaky x=rand(20) y=zeros(20) n=20 alpha=0.01


def clamp(x: DeviceArray[f32], n: u32, lo: f32, hi: f32):
    i = get_global_id()
    if i < n:
        x[i] = min(max(x[i], lo), hi)
#: clamp x=rand(64) n=64 lo=-100 hi=250.5


def scale_f64(x: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        k = 0.1
        x[i] = k * x[i]
#: scale_f64 x=rand(9) n=9


def halves(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = (x[i] * 0.5 + 1) / 3
        y[i] += i * 0.25
        y[i] *= 2
        y[i] -= 1
        y[i] /= 7
#: halves x=rand(30) y=zeros(30) n=30


def roots(x: DeviceArray[f64], y: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        v = abs(x[i])
        y[i] = sqrt(v) + floor(v) - ceil(-v) + trunc(v / 3) + round(v * 0.5) + fabs(-v) + copysign(v, x[i])
#: roots x=rand(25) y=zeros(25) n=25


def roots_f32(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        v = abs(x[i])
        y[i] = sqrtf(v) * (floor(v) - ceil(-v)) + round(v * 0.5) + x[i] ** 2
#: roots_f32 x=rand(25) y=zeros(25) n=25


def use_fma(x: DeviceArray[f64], y: DeviceArray[f64], z: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        z[i] = fma(x[i], y[i], z[i])
#: use_fma x=rand(25) y=rand(25) z=rand(25) n=25


def fill(y: DeviceArray[f32], value: f32, n: u32):
    i = get_global_id()
    if i < n:
        y[i] = value
#: fill y=zeros(40) value=2.5 n=31


def iota(y: DeviceArray[f32], start: f32, delta: f32, n: u32):
    i = get_global_id()
    if i < n:
        y[i] = start + f32(i) * delta
#: iota y=zeros(40) start=1.5 delta=0.1 n=40


def gather(x: DeviceArray[f32], indices: DeviceArray[u32], y: DeviceArray[f32], m: u32):
    i = get_global_id()
    if i < m:
        y[i] = x[indices[i]]
#: gather x=rand(10) indices=[3,1,4,1,5,9,2,6] y=zeros(8) m=8 @ cover=8


def sum_of_squares(x: DeviceArray[f64], y: DeviceArray[f64], n: u32, k: int):
    i = get_global_id()
    if i < n:
        s = 0.0
        for j in range(k):
            s += x[j] ** 2 * (i + 1)
        y[i] = s
#: sum_of_squares x=rand(12) y=zeros(5) n=5 k=12
#: sum_of_squares x=rand(12) y=ones(5) n=5 k=-3
