def collatz(x: DeviceArray[u32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        steps = 0
        while v != 1:
            if v % 2 == 0:
                v //= 2
            else:
                v = 3 * v + 1
            steps += 1
            if steps > 100:
                break
        out[i] = steps
#: collatz x=[1,2,3,7,9,27,97,12] out=zeros(8) n=8


def find(x: DeviceArray[i32], out: DeviceArray[i32], n: u32, m: u32, key: i32):
    i = get_global_id()
    if i < n:
        found = -1
        for j in range(m):
            if x[i * m + j] < 0:
                continue
            if x[i * m + j] == key:
                found = int(j)
                break
        out[i] = found
#: find x=small(60) out=zeros(6) n=6 m=10 key=7
#: find x=[0,-5,7,7,1,7,-7,0,0,7] out=zeros(2) n=2 m=5 key=7


def continues(x: DeviceArray[i64], out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        total = i64(0)
        for j in range(20):
            if j % 3 == 0:
                if x[i] > 0:
                    continue
                total += 100
            else:
                if j == 17:
                    break
                total += j
            total = total * 2 - 1
        out[i] = total
#: continues x=small(30) out=zeros(30) n=30


def nested_break(x: DeviceArray[i64], out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        count = i64(0)
        a = i64(0)
        while True:
            b = i64(0)
            while True:
                b += 1
                if b * a > 50 or b > 10:
                    break
                if (a + b) % 4 == 1:
                    continue
                count += 1
            a += 1
            if a > x[i] % 9:
                break
        out[i] = count * 1000 + a
#: nested_break x=small(30) out=zeros(30) n=30


def ranges(out: DeviceArray[i64], n: u32, lo: i32, hi: i32, step: i32):
    i = get_global_id()
    if i < n:
        a = i64(0)
        for v in range(lo, hi):
            a = a * 3 + v
        for v in range(hi, lo, -1):
            a = a * 5 + v
        for v in range(lo, hi, 3):
            a = a * 7 + v
        for v in range(hi, lo, -2):
            a = a * 11 + v
        for v in range(lo, hi, step):
            a = a * 13 + v
        for v in range(hi, lo, -step):
            if v == 6:
                break
            a = a * 17 + v
        for v in range(lo, hi, 2):
            if v > 4:
                break
            a = a * 19 + v
        out[i] = a
#: ranges out=zeros(1) n=1 lo=0 hi=9 step=2
#: ranges out=zeros(1) n=1 lo=-3 hi=7 step=4
#: ranges out=zeros(1) n=1 lo=5 hi=5 step=1
#: ranges out=zeros(1) n=1 lo=6 hi=2 step=-1
#: ranges out=zeros(1) n=1 lo=6 hi=-4 step=-3


def loop_variable(out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        j = usize(77)
        for j in range(i):
            j += 1
        out[i] = j
#: loop_variable out=zeros(7) n=7


def early_return(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i >= n:
        return
    if x[i] < 0:
        out[i] = -1
        return
    s = 0
    for j in range(10):
        s += x[i] + int(j)
        if s > 100:
            out[i] = s
            return
    if s % 2 == 0:
        if s % 3 == 0:
            return
        s += 1
    out[i] = s * 2
#: early_return x=small(60) out=zeros(60) n=55


def logic(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        r = 0
        if x[i] > 10 and x[i] < 50 or x[i] == -3:
            r += 1
        if not (x[i] > 0) or not x[i]:
            r += 2
        if 0 < x[i] <= 60 < 100:
            r += 4
        if i > 0 and x[i - 1] > x[i]:
            r += 8
        if i == 0 or x[i - 1] != x[i]:
            r += 16
        if x[i] and i:
            r += 32
        b = x[i] > 0
        c = b and i > 3
        if b and not c:
            r += 64
        if b == c:
            r += 128
        out[i] = r
#: logic x=small(60) out=zeros(60) n=60


def chains(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = int(-50 < x[i] < 20 < 30) + 2 * int(0 <= i < n - 2 != 5) + (4 if x[0] < x[i] > -90 else 0)
#: chains x=small(40) out=zeros(40) n=40


def ternaries(x: DeviceArray[f64], out: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i + 1 < n else 0.0
        out[i] = left * 0.25 + x[i] * 0.5 + right * 0.25 if n > 2 else (1 if i else 2)
#: ternaries x=rand(30) out=zeros(30) n=30
#: ternaries x=rand(2) out=zeros(2) n=2


def assignments(x: DeviceArray[i64], out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        a, b = x[i], i64(i)
        a, b = b, a + b
        c = d = a * 2
        (e, f), g = (c, d + 1), 5
        h: i64 = 3
        k: i64
        k = h + g
        out[i] = a + 10 * b + 100 * c + 1000 * d + e - f * k
        p = q = 7
        out[i] += p * q
#: assignments x=small(20) out=zeros(20) n=20


def swap_elements(x: DeviceArray[f32], n: u32):
    i = get_global_id()
    if i < n:
        x[2 * i], x[2 * i + 1] = x[2 * i + 1], x[2 * i]
#: swap_elements x=rand(10) n=5


def fibonacci(out: DeviceArray[u64], n: u32):
    i = get_global_id()
    if i < n:
        a: u64 = 0
        b: u64 = 1
        k = i
        while k > 0:
            a, b = b, a + b
            k -= 1
        out[i] = a
#: fibonacci out=zeros(100) n=100


def reassigned_parameter(x: DeviceArray[i32], n: u32, k: i32):
    i = get_global_id()
    if i < n:
        for j in range(3):
            k = k * 2 + int(j)
        x[i] = k
#: reassigned_parameter x=zeros(4) n=4 k=5


def runs_once(x: DeviceArray[i32], n: u32):
    best = 0
    for j in range(1, n):
        if x[j] > x[best]:
            best = int(j)
    x[0] = best
#: runs_once x=small(50) n=50 @ once=1


def gcd(a: DeviceArray[u32], b: DeviceArray[u32], out: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        x = a[i]
        y = b[i]
        while y:
            x, y = y, x % y
        out[i] = x
#: gcd a=small(40) b=small(40) out=zeros(40) n=40


def index_in_branches(x: DeviceArray[i32], n: u32, k: u32):
    if n > 3:
        x[k] = 1
    else:
        x[n] = 2
    x[k + 1] = x[n]
#: index_in_branches x=ramp(12) n=5 k=7 @ once=1
#: index_in_branches x=ramp(12) n=2 k=7 @ once=1


def cast_ids(x: DeviceArray[i32], n: int):
    i = int(get_global_id())
    if i < n:
        x[i] = i * i
#: cast_ids x=zeros(40) n=33


def many_exits(x: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        s = 0
        for j in range(6):
            if v == 1:
                break
            if v % 7 == 0:
                s += 1
                if j > 3:
                    s += 10
                    continue
                v -= 2
            elif v % 5 == 0:
                if s > 20:
                    out[i] = s
                    return
                s += 5
                v += 3
                continue
            else:
                v = v // 2
            if v < -3:
                s -= 1
                break
            s += v
        out[i] = s * 100 + v
#: many_exits x=small(80) out=zeros(80) n=80


def guarded_divisor(a: DeviceArray[f32], n: i32, k: i32):
    i = get_global_id()
    if k != 0 and i < n // k:
        a[i] = 1.0
#: guarded_divisor a=zeros(8) n=8 k=0 @ lanes=8
#: guarded_divisor a=zeros(8) n=8 k=2 @ lanes=8


def guarded_by_return(a: DeviceArray[f32], n: i32, k: i32):
    i = get_global_id()
    if k == 0 or i >= n % k + 3:
        return
    a[i] = 1.0
#: guarded_by_return a=zeros(8) n=8 k=0 @ lanes=8
#: guarded_by_return a=zeros(8) n=8 k=3 @ lanes=8


def guarded_second_dimension(a: DeviceArray[f32], m: i32, n: i32, k: i32):
    i = get_global_id(0)
    j = get_global_id(1)
    if i < m:
        rows = n // k
        if j < rows:
            a[j * m + i] = 1.0
#: guarded_second_dimension a=zeros(8) m=0 n=8 k=0 @ lanes=1,4
#: guarded_second_dimension a=zeros(8) m=2 n=8 k=2 @ lanes=2,4


def divided_before(a: DeviceArray[f32], m: i32, n: i32, k: i32):
    rows = n // k
    i = get_global_id(0)
    j = get_global_id(1)
    if i < m and j < rows:
        a[j * m + i] = 1.0
#: divided_before a=zeros(8) m=2 n=8 k=2 @ cover=2,4


def unguarded_divisor(a: DeviceArray[f32], n: i32, k: i32):
    i = get_global_id()
    if i >= 0 and i < n // k:
        a[i] = 1.0
#: unguarded_divisor a=zeros(8) n=8 k=2


def doubled_bound(a: DeviceArray[f32], n: i32):
    i = get_global_id()
    x0 = n + 1
    x1 = x0 + x0
    x2 = x1 + x1
    x3 = x2 + x2
    x4 = x3 + x3
    x5 = x4 + x4
    x6 = x5 + x5
    x7 = x6 + x6
    x8 = x7 + x7
    x9 = x8 + x8
    x10 = x9 + x9
    x11 = x10 + x10
    x12 = x11 + x11
    x13 = x12 + x12
    x14 = x13 + x13
    x15 = x14 + x14
    x16 = x15 + x15
    x17 = x16 + x16
    x18 = x17 + x17
    x19 = x18 + x18
    x20 = x19 + x19
    x21 = x20 + x20
    x22 = x21 + x21
    x23 = x22 + x22
    x24 = x23 + x23
    x25 = x24 + x24
    x26 = x25 + x25
    x27 = x26 + x26
    x28 = x27 + x27
    x29 = x28 + x28
    x30 = x29 + x29
    x31 = x30 + x30
    x32 = x31 + x31
    x33 = x32 + x32
    x34 = x33 + x33
    x35 = x34 + x34
    x36 = x35 + x35
    x37 = x36 + x36
    x38 = x37 + x37
    x39 = x38 + x38
    x40 = x39 + x39
    if i < x40 + 8:
        a[i] = 1.0
#: doubled_bound a=zeros(8) n=-1 @ cover=8
