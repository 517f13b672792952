def concat(A: DeviceArray[f32], B: DeviceArray[f32], Y: DeviceArray[f32], M: u32, K: u32, N: u32):
    """Y [M, K + N] = A [M, K] beside B [M, N]: a lane copies one row of both."""
    row = get_global_id()
    if row < M:
        width = usize(K) + usize(N)
        for j in range(usize(K)):
            Y[row * width + j] = A[row * K + j]
        for j in range(usize(N)):
            Y[row * width + K + j] = B[row * N + j]
