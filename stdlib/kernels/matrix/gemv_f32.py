def gemv_f32(A: DeviceArray[f32], x: DeviceArray[f32], y: DeviceArray[f32], m: u32, n: u32, lda: u32):
    """y = A x: A [m, n], rows lda elements apart. Every element is one chain of fused multiply-adds."""
    row = get_global_id()
    if row < m:
        total = 0.0
        for j in range(usize(n)):
            total = fma(A[row * lda + j], x[j], total)
        y[row] = total
