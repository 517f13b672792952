def leakyrelu(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32, alpha: f32):
    """Y = X where X is not negative, else alpha X."""
    i = get_global_id()
    if i < n:
        Y[i] = alpha * X[i] if X[i] < 0.0 else X[i]
