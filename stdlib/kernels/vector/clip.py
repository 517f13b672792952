def clip(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32, lo: f32, hi: f32):
    """Y = X, but lo where it is less and hi where it is greater. A NaN stays one."""
    i = get_global_id()
    if i < n:
        at_least = lo if X[i] < lo else X[i]
        Y[i] = hi if at_least > hi else at_least
