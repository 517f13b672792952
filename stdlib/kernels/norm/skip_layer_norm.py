def skip_layer_norm(X: DeviceArray[f32], Skip: DeviceArray[f32], Gamma: DeviceArray[f32], Beta: DeviceArray[f32],
                    Y: DeviceArray[f32], n: u32, hidden: u32, epsilon: f32):
    """Layer normalization of X + Skip: rows of `hidden` elements, n elements in all. Without an epsilon a row of
    equal elements would divide by zero."""
    row = get_global_id()
    if row < n // hidden:
        first = row * hidden
        total = 0.0
        for j in range(usize(hidden)):
            total = total + (X[first + j] + Skip[first + j])
        mean = total / f32(hidden)
        spread = 0.0
        for j in range(usize(hidden)):
            away = (X[first + j] + Skip[first + j]) - mean
            spread = spread + away * away
        scaling = 1.0 / sqrt(spread / f32(hidden) + epsilon)
        for j in range(usize(hidden)):
            Y[first + j] = ((X[first + j] + Skip[first + j]) - mean) * scaling * Gamma[j] + Beta[j]
