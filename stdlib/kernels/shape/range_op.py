def range_op(Y: DeviceArray[f32], start: f32, delta: f32, n: u32):
    """Y[i] = start + i * delta, not a running sum: every element is rounded twice, wherever it stands."""
    i = get_global_id()
    if i < n:
        Y[i] = start + f32(i) * delta
