def bias_gelu(X: DeviceArray[f32], Bias: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """Y = gelu(X + Bias), all of n elements."""
    i = get_global_id()
    if i < n:
        Y[i] = gelu(X[i] + Bias[i])
