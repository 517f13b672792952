def vector_min_value(a: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Lowers result[0] to the least element of a. NaNs are passed over."""
    i = get_global_id()
    if i < n:
        atomic_min(result, 0, a[i])
