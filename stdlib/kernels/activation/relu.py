def relu(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """Y = X where X is positive, else 0. A NaN stays one."""
    i = get_global_id()
    if i < n:
        Y[i] = 0.0 if X[i] < 0.0 else X[i]
