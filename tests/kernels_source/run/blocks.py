TILE = 4


def reverse_block(a: DeviceArray[i32], b: DeviceArray[i32]):
    t = shared(i32, 32)
    l = get_local_id()
    g = get_global_id()
    t[l] = a[g]
    barrier()
    b[g] = t[get_block_dim() - 1 - l]
#: reverse_block a=rand(24) b=zeros(24) @ grid=3 block=8
#: reverse_block a=rand(5) b=zeros(5) @ grid=5 block=1


def block_sum(a: DeviceArray[i64], out: DeviceArray[i64], n: u32):
    t = shared(i64, 16)
    l = get_lane_id()
    g = get_global_id()
    t[l] = a[g] if g < n else 0
    barrier()
    for k in range(4):
        half = 8 >> k
        if l < half:
            t[l] += t[l + half]
        barrier()
    if l == 0:
        out[get_block_id()] = t[0]
#: block_sum a=rand(40) out=zeros(3) n=40 @ grid=3 block=16


def tiled_matmul(A: DeviceArray[i32, (n, n)], B: DeviceArray[i32, (n, n)], C: DeviceArray[i32, (n, n)], n: u32):
    ta = shared(i32, TILE, TILE)
    tb = shared(i32, (TILE, TILE))
    x = get_local_id(0)
    y = get_local_id(1)
    row = get_block_id(1) * TILE + y
    col = get_block_id(0) * TILE + x
    tiles = (n + TILE - 1) // TILE
    s = 0
    for t in range(tiles):
        ta[y, x] = A[row, t * TILE + x]
        tb[y, x] = B[t * TILE + y, col]
        barrier()
        for k in range(TILE):
            s += ta[y, k] * tb[k, x]
        barrier()
    C[row, col] = s
#: tiled_matmul A=small(64) B=small(64) C=zeros(64) n=8 @ grid=2,2 block=4,4


def where_am_i(out: DeviceArray[i64]):
    x = get_global_id(0)
    y = get_global_id(1)
    at = y * get_global_size(0) + x
    v = get_local_id(0) + 10 * get_local_id(1) + 100 * get_block_id(0) + 1000 * get_block_id(1)
    out[at] = v + 10000 * get_block_dim(0) + 100000 * get_grid_dim(1)
#: where_am_i out=zeros(36) @ grid=3,2 block=2,3


def guarded_block(a: DeviceArray[i32], n: u32):
    i = get_global_id()
    if i < n:
        a[i] += int(get_block_id())
#: guarded_block a=rand(20) n=18 @ grid=3 block=8


def uniform_if(a: DeviceArray[i32], n: u32):
    t = shared(i32, 8)
    l = get_local_id()
    g = get_global_id()
    t[l] = a[g]
    if n > 10:
        barrier()
        a[g] = t[7 - l]
    else:
        a[g] = -1
#: uniform_if a=rand(16) n=16 @ grid=2 block=8
#: uniform_if a=rand(16) n=3 @ grid=2 block=8
