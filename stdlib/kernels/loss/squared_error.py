def squared_error(prediction: DeviceArray[f32], target: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Adds the sum of (prediction - target)^2 to result[0]: n times the mean squared error."""
    i = get_global_id()
    if i < n:
        away = prediction[i] - target[i]
        atomic_add(result, 0, away * away)
