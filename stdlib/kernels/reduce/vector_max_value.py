def vector_max_value(a: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Raises result[0] to the greatest element of a. NaNs are passed over."""
    i = get_global_id()
    if i < n:
        atomic_max(result, 0, a[i])
