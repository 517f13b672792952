def vector_sum(a: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Adds the sum of a to result[0]. A float atomic at one address is a reduction: its tree is fixed, so the bits
    do not depend on who runs it."""
    i = get_global_id()
    if i < n:
        atomic_add(result, 0, a[i])
