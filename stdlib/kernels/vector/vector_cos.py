def vector_cos(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = cos a, for a of any size."""
    i = get_global_id()
    if i < n:
        b[i] = cos(a[i])
