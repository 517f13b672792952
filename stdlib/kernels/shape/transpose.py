def transpose(X: DeviceArray[f32], Y: DeviceArray[f32], M: u32, N: u32):
    """Y [N, M] = X [M, N] turned around. Neighboring lanes write neighbors."""
    row = get_global_id(0)
    column = get_global_id(1)
    if column < N and row < M:
        Y[column * M + row] = X[row * N + column]
