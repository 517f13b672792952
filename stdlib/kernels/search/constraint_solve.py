def constraint_solve(A: DeviceArray[f32], b: DeviceArray[f32], x: DeviceArray[f32], x_next: DeviceArray[f32], n: u32):
    """One classical step of Jacobi's method for n linear constraints A x = b: x_next[i] = (b[i] - sum over j != i
    of A[i, j] x[j]) / A[i, i]. Repeated, with x and x_next taking turns, it converges where A is diagonally
    dominant."""
    i = get_global_id()
    if i < n:
        rest = b[i]
        for j in range(usize(n)):
            if j != i:
                rest = fma(-A[i * n + j], x[j], rest)
        x_next[i] = rest / A[i * n + i]
