def vector_sqrt(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = the square root of a, correctly rounded."""
    i = get_global_id()
    if i < n:
        b[i] = sqrt(a[i])
