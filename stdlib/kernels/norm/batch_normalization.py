def batch_normalization(X: DeviceArray[f32], scale: DeviceArray[f32], bias: DeviceArray[f32], mean: DeviceArray[f32],
                        var: DeviceArray[f32], Y: DeviceArray[f32], N: u32, C: u32, H: u32, W: u32, epsilon: f32):
    """Y = (X - mean[c]) / sqrt(var[c] + epsilon) * scale[c] + bias[c] for X [N, C, H, W], with given statistics.
    One lane per plane of H W elements, so that what belongs to the channel is computed once."""
    plane = get_global_id()
    if plane < usize(N) * usize(C):
        channel = plane % usize(C)
        size = usize(H) * usize(W)
        first = plane * size
        scaling = scale[channel] / sqrt(var[channel] + epsilon)
        middle = mean[channel]
        offset = bias[channel]
        for p in range(size):
            Y[first + p] = (X[first + p] - middle) * scaling + offset
