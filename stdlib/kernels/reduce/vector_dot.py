def vector_dot(a: DeviceArray[f32], b: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Adds the inner product of a and b to result[0]: products rounded once, summed in the fixed tree of
    reductions."""
    i = get_global_id()
    if i < n:
        atomic_add(result, 0, a[i] * b[i])
