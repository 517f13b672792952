def cross_entropy(prediction: DeviceArray[f32], target: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Adds -sum(target * ln(prediction)) to result[0], over probabilities. Where the target is 0 nothing is added,
    whatever was predicted; a target that was given probability 0 costs an infinity."""
    i = get_global_id()
    if i < n:
        cost = 0.0 if target[i] == 0.0 else -target[i] * log(prediction[i])
        atomic_add(result, 0, cost)
