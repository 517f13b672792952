MASK = 0xFF
SHIFT = 2 + 1


def bits(x: DeviceArray[u32], y: DeviceArray[u32], out: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        a = x[i]
        b = y[i]
        out[i] = (a & b | MASK) ^ (a << SHIFT) ^ (b >> 5) ^ ~a
#: bits x=rand(40) y=rand(40) out=zeros(40) n=40


def signed_bits(x: DeviceArray[i32], y: DeviceArray[i32], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = (x[i] >> 3) ^ (x[i] << (i % 32)) ^ (y[i] >> u32(i % 31)) ^ ~y[i] ^ (1 << (y[i] & 15))
#: signed_bits x=rand(40) y=rand(40) out=zeros(40) n=40


def division(x: DeviceArray[i32], y: DeviceArray[i32], q: DeviceArray[i32], r: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        if y[i] != 0:
            q[i] = x[i] // y[i]
            r[i] = x[i] % y[i]
#: division x=rand(60) y=small(60) q=zeros(60) r=zeros(60) n=60
#: division x=[7,-7,7,-7,0,-2147483648,5] y=[2,2,-2,-2,3,-1,0] q=zeros(7) r=zeros(7) n=7


def truncating(x: DeviceArray[i64], y: DeviceArray[i64], q: DeviceArray[i64], r: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n and y[i] != 0:
        q[i] = div_trunc(x[i], y[i])
        r[i] = rem_trunc(x[i], y[i])
#: truncating x=rand(60) y=small(60) q=zeros(60) r=zeros(60) n=60


def true_division(x: DeviceArray[i32], y: DeviceArray[i64], out: DeviceArray[f32], wide: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = x[i] / 7 + x[i] / x[0]
        wide[i] = y[i] / 7 + x[i] / y[0] + i / 3
#: true_division x=rand(30) y=rand(30) out=zeros(30) wide=zeros(30) n=30


def powers(x: DeviceArray[i64], out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = x[i] ** 0 + x[i] ** 1 + x[i] ** 2 - x[i] ** 3 + x[i] ** 7
#: powers x=small(40) out=zeros(40) n=40


def wraps(x: DeviceArray[u8], y: DeviceArray[i16], z: DeviceArray[i8], n: u32):
    i = get_global_id()
    if i < n:
        x[i] = x[i] * 3 + 250
        y[i] = y[i] * y[i] - 32000
        z[i] = -z[i]
        z[i] = abs(z[i]) + z[i]
#: wraps x=rand(40) y=rand(40) z=rand(40) n=40
#: wraps x=[255] y=[-32768] z=[-128] n=1


def counts(x: DeviceArray[u32], out: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        v = x[i]
        out[i] = clz(v) + 100 * ctz(v) + 10000 * popcnt(v)
        out[i] ^= rotl(v, 5) ^ rotr(v, 7) ^ mul_hi(v, u32(2654435761))
#: counts x=rand(40) out=zeros(40) n=40
#: counts x=[0,1,4294967295,2147483648] out=zeros(4) n=4


def xorshift(state: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        s = state[i]
        for _ in range(5):
            s ^= s << 13
            s ^= s >> 17
            s ^= s << 5
        state[i] = s
#: xorshift state=rand(50) n=50


def hash64(x: DeviceArray[u64], n: u32):
    i = get_global_id()
    if i < n:
        h = x[i] ^ u64(i)
        h ^= h >> 33
        h *= 0xFF51AFD7ED558CCD
        h ^= h >> 33
        h *= 0xC4CEB9FE1A85EC53
        x[i] = h ^ h >> 33
#: hash64 x=rand(50) n=50


def mixed_signs(a: DeviceArray[u32], b: DeviceArray[i32], out: DeviceArray[i64], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = a[i] - b[i] + a[i] * b[i]
        out[i] += (a[i] > b[i]) * 5 + (b[i] < a[i])
#: mixed_signs a=rand(40) b=rand(40) out=zeros(40) n=40


def widths(a: DeviceArray[u8], b: DeviceArray[i8], c: DeviceArray[u16], out: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = a[i] * b[i] + c[i] - a[i]
#: widths a=rand(40) b=rand(40) c=rand(40) out=zeros(40) n=40


def casts(x: DeviceArray[f64], a: DeviceArray[i32], b: DeviceArray[u8], c: DeviceArray[i64], d: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        a[i] = int(x[i])
        b[i] = u8(x[i])
        c[i] = i64(x[i] * 1e17)
        d[i] = u32(a[i])
        a[i] += i32(i64(d[i]) * 3) + int(bool(b[i])) + i32(u8(a[i]))
#: casts x=rand(60) a=zeros(60) b=zeros(60) c=zeros(60) d=zeros(60) n=60
#: casts x=[0.5,-0.5,1e300,-1e300,255.9,256,-1] a=zeros(7) b=zeros(7) c=zeros(7) d=zeros(7) n=7


def float_bits(x: DeviceArray[f32], out: DeviceArray[u32], n: u32):
    i = get_global_id()
    if i < n:
        b = bitcast(u32, x[i])
        out[i] = b ^ 0x80000000
        x[i] = bitcast(f32, b & 0x7FFFFFFF)
#: float_bits x=rand(20) out=zeros(20) n=20


def to_float(a: DeviceArray[i64], b: DeviceArray[u32], x: DeviceArray[f32], y: DeviceArray[f64], n: u32):
    i = get_global_id()
    if i < n:
        x[i] = a[i]
        y[i] = b[i]
        x[i] += b[i] * 0.5
        y[i] -= f32(a[i]) + float(b[i])
#: to_float a=small(40) b=rand(40) x=zeros(40) y=zeros(40) n=40


def selects(a: DeviceArray[i32], out: DeviceArray[i64], flags: DeviceArray[bool], n: u32):
    i = get_global_id()
    if i < n:
        out[i] = select(flags[i], a[i], -1) + min(a[i], 3, i) + max(a[i], -5)
        flags[i] = not flags[i] and a[i] > 0
#: selects a=small(40) out=zeros(40) flags=rand(40) n=40


def lengths(x: DeviceArray[i32], y: DeviceArray[i32]):
    i = get_global_id()
    if i < len(x):
        y[i] = x[len(x) - 1 - i] + int(len(y))
#: lengths x=rand(12) y=zeros(20) @ cover=12
