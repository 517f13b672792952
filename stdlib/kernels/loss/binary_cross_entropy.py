def binary_cross_entropy(prediction: DeviceArray[f32], target: DeviceArray[f32], result: DeviceArray[f32], n: u32):
    """Adds -sum(t ln(p) + (1 - t) ln(1 - p)) to result[0]. A term whose factor is 0 adds nothing, so that a certain
    and right prediction costs 0."""
    i = get_global_id()
    if i < n:
        hit = 0.0 if target[i] == 0.0 else target[i] * log(prediction[i])
        other = 1.0 - target[i]
        miss = 0.0 if other == 0.0 else other * log1p(-prediction[i])
        atomic_add(result, 0, -(hit + miss))
