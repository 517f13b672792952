def gemm(A: DeviceArray[f64, (m, k)], B: DeviceArray[f64, (k, n)], C: DeviceArray[f64, (m, n)], m: u32, n: u32, k: u32,
         alpha: f64, beta: f64):
    row = get_global_id(1)
    col = get_global_id(0)
    if row < m and col < n:
        s = 0.0
        for t in range(k):
            s += A[row, t] * B[t, col]
        C[row, col] = alpha * s + beta * C[row, col]
#: gemm A=rand(12) B=rand(20) C=rand(15) m=3 n=5 k=4 alpha=1.5 beta=0.5 @ cover=5,3


def gemm_flat(A: DeviceArray[f32], B: DeviceArray[f32], C: DeviceArray[f32], m: u32, n: u32, k: u32):
    idx = get_global_id()
    total = m * n
    if idx < total:
        row = idx // n
        col = idx % n
        s = f32(0.0)
        for t in range(k):
            s = s + A[row * k + t] * B[t * n + col]
        C[row * n + col] = s
#: gemm_flat A=rand(12) B=rand(20) C=zeros(15) m=3 n=5 k=4 @ cover=15


def transpose(X: DeviceArray[f32, (m, n)], Y: DeviceArray[f32, (n, m)], m: u32, n: u32):
    i = get_global_id(1)
    j = get_global_id(0)
    if j >= n or i >= m:
        return
    Y[j][i] = X[i][j]
#: transpose X=rand(21) Y=zeros(21) m=3 n=7 @ cover=7,3


def cube(x: DeviceArray[i32, (4, 3, 2)], y: DeviceArray[i32], d: u32):
    i = get_global_id(2)
    j = get_global_id(1)
    k = get_global_id(0)
    if i < d:
        if j < 3:
            if k < 2:
                y[(i * 3 + j) * 2 + k] = x[i, j, k] * 100 + int(i + j + k)
#: cube x=rand(24) y=zeros(24) d=4 @ cover=2,3,4


def unguarded(x: DeviceArray[i32], y: DeviceArray[i32]):
    i = get_global_id()
    j = get_global_id(1)
    y[j * get_global_size() + i] = x[i] + int(j)
#: unguarded x=rand(6) y=zeros(18) @ lanes=6,3


def grid_stride(x: DeviceArray[i32], n: u32):
    i = get_global_id()
    while i < n:
        x[i] += 1
        i += get_global_size()
#: grid_stride x=rand(50) n=45 @ lanes=8


def half_guarded(x: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n and x[i] > 0:
        if i % 2 == 0:
            x[i] = -x[i]
#: half_guarded x=small(40) n=33


def guard_with_more(x: DeviceArray[i32], n: i32, m: i32):
    i = get_global_id()
    last = n - m
    if not (i >= last):
        x[i] = x[i] + 1
#: guard_with_more x=rand(20) n=15 m=4 @ cover=11
#: guard_with_more x=rand(20) n=3 m=4 @ cover=0


def conv2d(x: DeviceArray[f64, (h, w)], k: DeviceArray[f64, (3, 3)], y: DeviceArray[f64, (h, w)], h: i32, w: i32):
    r = get_global_id(1)
    c = get_global_id()
    if r < h and c < w:
        s = 0.0
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                rr = r + dr
                cc = c + dc
                if 0 <= rr < h and 0 <= cc < w:
                    s += x[rr, cc] * k[dr + 1, dc + 1]
        y[r, c] = s
#: conv2d x=rand(35) k=rand(9) y=zeros(35) h=5 w=7 @ cover=7,5
