def vector_pow(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], n: u32):
    """c = a to the power b, with the special cases of IEEE 754."""
    i = get_global_id()
    if i < n:
        c[i] = pow(a[i], b[i])
