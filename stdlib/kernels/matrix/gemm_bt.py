def gemm_bt(A: DeviceArray[f32], B: DeviceArray[f32], C: DeviceArray[f32], Y: DeviceArray[f32], M: u32, N: u32, K: u32,
            alpha: f32, beta: f32, transA: u32):
    """Y = alpha A' B' + beta C with B [N, K] turned around: `gemm` without a choice for B.
    The same bits as `gemm`; C must hold M N elements even where beta is 0."""
    column = get_global_id(0)
    row = get_global_id(1)
    if row < M and column < N:
        a_row = usize(K) if transA == 0 else usize(1)
        a_step = usize(1) if transA == 0 else usize(M)
        total = 0.0
        for k in range(usize(K)):
            total = fma(A[row * a_row + k * a_step], B[column * K + k], total)
        scaled = alpha * total
        old = C[row * N + column]
        Y[row * N + column] = fma(beta, old, scaled) if beta != 0.0 else scaled
