def global_average_pool(X: DeviceArray[f32], Y: DeviceArray[f32], N: u32, C: u32, H: u32, W: u32):
    """Y [N, C] = the mean of each plane of X [N, C, H, W]."""
    plane = get_global_id()
    if plane < usize(N) * usize(C):
        size = usize(H) * usize(W)
        total = 0.0
        for p in range(size):
            total = total + X[plane * size + p]
        Y[plane] = total / f32(size)
