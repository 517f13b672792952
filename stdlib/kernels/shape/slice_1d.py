def slice_1d(X: DeviceArray[f32], Y: DeviceArray[f32], start: u32, end: u32):
    """Y = X[start .. end); nothing where end is not above start."""
    i = get_global_id()
    if i < usize(end) - usize(start):
        Y[i] = X[i + start]
