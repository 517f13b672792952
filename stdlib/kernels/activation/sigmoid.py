import frazil


def sigmoid(X: DeviceArray[f32], Y: DeviceArray[f32], n: u32):
    """Y = 1 / (1 + e^-X), without overflow at either end."""
    i = get_global_id()
    if i < n:
        Y[i] = frazil.sigmoid(X[i])
