def histogram(x: DeviceArray[u32], bins: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        atomic_add(bins, x[i] % 8, 1)
#: histogram x=rand(100) bins=zeros(8) n=100


def extremes(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        atomic_min(out, 0, x[i])
        atomic_max(out, 1, x[i])
        atomic_add(out, 2, x[i])
        atomic_and(out, 3, x[i])
        atomic_or(out, 4, x[i])
        atomic_xor(out, 5, x[i])
#: extremes x=rand(50) out=[5,5,5,-1,0,7] n=50


def old_values(x: DeviceArray[i64], counter: DeviceArray[i64], order: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        if x[i] > 0:
            slot = atomic_add(counter, 0, 1)
            order[slot] = i
            before = atomic_exchange(counter, 1, x[i])
            atomic_cas(counter, 2, before, i)
#: old_values x=small(40) counter=[0,0,0] order=zeros(40) n=40


def sum_of_few(x: DeviceArray[f64], out: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        atomic_add(out, 1, x[i] * 2.0)
#: sum_of_few x=[0.5] out=[1,0.25,3] n=1
#: sum_of_few x=[1,2,3,4,5,6,7] out=[1,100,3] n=7
#: sum_of_few x=ramp(10000) out=[0,0] n=10000
#: sum_of_few x=[1] out=[1,-0.0,3] n=0


def maximum_of(x: DeviceArray[f32], out: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        if v < 500:
            atomic_max(out, 0, v)
#: maximum_of x=rand(300) out=[-2000] n=300
#: maximum_of x=[600,700] out=[-2000] n=2


def sum_in_loop(x: DeviceArray[f64], out: DeviceArray[f64], n: u32, k: u32):
    i = get_global_id()
    if i < n:
        for j in range(k):
            atomic_add(out, 0, x[i * k + j])
        if n > 3:
            atomic_add(out, 0, 1)
#: sum_in_loop x=ramp(60) out=[0] n=12 k=5
#: sum_in_loop x=ramp(6) out=[0.5] n=2 k=3


def two_sums(x: DeviceArray[f64], s: DeviceArray[f64], m: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        atomic_add(s, 0, x[i])
        atomic_min(m, 0, x[i])
#: two_sums x=ramp(77) s=[0] m=[5] n=77


def sum_and_store(x: DeviceArray[f64], y: DeviceArray[f64], s: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        y[i] = x[i] * 2
        atomic_add(s, 0, y[i])
#: sum_and_store x=ramp(5000) y=zeros(5000) s=[0] n=5000


def uniform_address(x: DeviceArray[f64], s: DeviceArray[f64], m: DeviceArray[f64], n: u32, k: i32):
    i = get_global_id()
    at = k - 1
    if i < n:
        atomic_add(s, at, x[i])
        atomic_max(m, at + 1, x[i])
#: uniform_address x=ramp(70) s=[0,1,2] m=[5,6,7] n=70 k=2
