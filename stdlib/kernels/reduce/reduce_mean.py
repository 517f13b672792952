def reduce_mean(X: DeviceArray[f32], Y: DeviceArray[f32], batch_size: u32, features: u32):
    """Y[row] = the mean of a row of X [batch_size, features]; NaN where a row is empty."""
    row = get_global_id()
    if row < batch_size:
        total = 0.0
        for j in range(usize(features)):
            total = total + X[row * features + j]
        Y[row] = total / f32(features)
