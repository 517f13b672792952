def vector_copy(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """Y = X. Reshape, flatten, squeeze, unsqueeze and a cast to the same type are this copy: a buffer has no
    shape."""
    i = get_global_id()
    if i < n:
        Y[i] = X[i]
