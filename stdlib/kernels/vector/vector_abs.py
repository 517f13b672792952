def vector_abs(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = |a|."""
    i = get_global_id()
    if i < n:
        b[i] = abs(a[i])
