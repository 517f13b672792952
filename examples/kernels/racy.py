def racy(x: DeviceArray[f32], n: u32):
    """Each lane reads its neighbor, which another lane writes: a race."""
    i = get_global_id()
    if i < n:
        x[i] = x[(i + 1) % n] + 1.0
