def vector_exp(a: DeviceArray[f32], b: DeviceArray[f32], n: u32):
    """b = e to the power a."""
    i = get_global_id()
    if i < n:
        b[i] = exp(a[i])
