def gemm_f32(A: DeviceArray[f32], B: DeviceArray[f32], C: DeviceArray[f32], m: u32, n: u32, k: u32, lda: u32, ldb: u32,
             ldc: u32):
    """C = A B with leading dimensions: A [m, k], B [k, n], C [m, n], rows lda, ldb, ldc elements apart. Every
    element is one chain of fused multiply-adds, k ascending from 0. `gemm` has alpha, beta and transposes."""
    column = get_global_id(0)
    row = get_global_id(1)
    if row < m and column < n:
        total = 0.0
        for p in range(usize(k)):
            total = fma(A[row * lda + p], B[p * ldb + column], total)
        C[row * ldc + column] = total
