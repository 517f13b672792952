def vector_min(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], n: u32):
    """c = the lesser of a and b; a NaN gives way to a number, and -0 < +0."""
    i = get_global_id()
    if i < n:
        c[i] = min(a[i], b[i])
