def relu(x: DeviceArray[f32], y: DeviceArray[f32], n: u32):
    """y = max(x, 0)."""
    i = get_global_id()
    if i < n:
        y[i] = max(x[i], 0.0)
