def matmul(A: DeviceArray[f32], B: DeviceArray[f32], Y: DeviceArray[f32], M: u32, N: u32, K: u32):
    """Y [M, N] = A [M, K] B [K, N]: one chain of fused multiply-adds per element, k ascending from 0."""
    column = get_global_id(0)
    row = get_global_id(1)
    if row < M and column < N:
        total = 0.0
        for k in range(usize(K)):
            total = fma(A[row * K + k], B[k * N + column], total)
        Y[row * N + column] = total
