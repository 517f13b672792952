def vector_rsqrt(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = 1 / sqrt(a)."""
    i = get_global_id()
    if i < n:
        b[i] = rsqrt(a[i])
