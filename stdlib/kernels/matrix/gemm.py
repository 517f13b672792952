def gemm(A: DeviceArray[f32], B: DeviceArray[f32], C: DeviceArray[f32], Y: DeviceArray[f32], M: u32, N: u32, K: u32,
         alpha: f32, beta: f32, transA: u32, transB: u32):
    """Y = alpha A' B' + beta C, where A' is A [M, K], or A [K, M] turned around if transA is not 0; B' likewise [K,
    N]; C and Y are [M, N]. Where beta is 0, C is not looked at, so a NaN in it does no harm. Every product is one chain
    of fused multiply-adds, k ascending from 0."""
    column = get_global_id(0)
    row = get_global_id(1)
    if row < M and column < N:
        a_row = usize(K) if transA == 0 else usize(1)
        a_step = usize(1) if transA == 0 else usize(M)
        total = 0.0
        # Two loops, because neighbors in memory are what makes the first one fast.
        if transB == 0:
            for k in range(usize(K)):
                total = fma(A[row * a_row + k * a_step], B[k * N + column], total)
        else:
            for k in range(usize(K)):
                total = fma(A[row * a_row + k * a_step], B[column * K + k], total)
        scaled = alpha * total
        if beta != 0.0:
            scaled = fma(beta, C[row * N + column], scaled)
        Y[row * N + column] = scaled
