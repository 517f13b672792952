def vector_max(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], n: u32):
    """c = the greater of a and b; a NaN gives way to a number, and -0 < +0."""
    i = get_global_id()
    if i < n:
        c[i] = max(a[i], b[i])
