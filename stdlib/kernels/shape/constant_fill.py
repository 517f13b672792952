def constant_fill(Y: DeviceArray[f32], value: f32, n: u32):
    """Y = value everywhere."""
    i = get_global_id()
    if i < n:
        Y[i] = value
