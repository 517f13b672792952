def instance_normalization(X: DeviceArray[f32], scale: DeviceArray[f32], bias: DeviceArray[f32], Y: DeviceArray[f32],
                           N: u32, C: u32, H: u32, W: u32, epsilon: f32):
    """Each plane of X [N, C, H, W] normalized by its own mean and variance, then scale[c] and bias[c]. One lane per
    plane."""
    channel = get_global_id(0)
    image = get_global_id(1)
    if image < N and channel < C:
        size = usize(H) * usize(W)
        first = (image * C + channel) * size
        total = 0.0
        for p in range(size):
            total = total + X[first + p]
        mean = total / f32(size)
        spread = 0.0
        for p in range(size):
            away = X[first + p] - mean
            spread = spread + away * away
        scaling = scale[channel] / sqrt(spread / f32(size) + epsilon)
        offset = bias[channel]
        for p in range(size):
            Y[first + p] = (X[first + p] - mean) * scaling + offset
