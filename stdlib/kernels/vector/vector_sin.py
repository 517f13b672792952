def vector_sin(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = sin a, for a of any size."""
    i = get_global_id()
    if i < n:
        b[i] = sin(a[i])
