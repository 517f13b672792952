def layer_norm(X: DeviceArray[f32], scale: DeviceArray[f32], bias: DeviceArray[f32], Y: DeviceArray[f32],
               batch_size: u32, features: u32, epsilon: f32):
    """Y = (X - mean) / sqrt(variance + epsilon) * scale + bias for each row of X [batch_size, features]; the
    variance is that of the row, about its own mean. One lane per row; Y may be X itself."""
    row = get_global_id()
    if row < batch_size:
        first = row * features
        total = 0.0
        for j in range(usize(features)):
            total = total + X[first + j]
        mean = total / f32(features)
        spread = 0.0
        for j in range(usize(features)):
            away = X[first + j] - mean
            spread = spread + away * away
        scaling = 1.0 / sqrt(spread / f32(features) + epsilon)
        for j in range(usize(features)):
            Y[first + j] = (X[first + j] - mean) * scaling * scale[j] + bias[j]
