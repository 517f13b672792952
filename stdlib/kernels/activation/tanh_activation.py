def tanh_activation(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """Y = tanh X."""
    i = get_global_id()
    if i < n:
        Y[i] = tanh(X[i])
