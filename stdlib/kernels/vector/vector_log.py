def vector_log(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = the natural logarithm of a."""
    i = get_global_id()
    if i < n:
        b[i] = log(a[i])
