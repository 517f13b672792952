from math import inf


def softmax(X: DeviceArray[f32], Y: DeviceArray[f32], rows: u32, cols: u32):
    """Y = softmax of each row of X [rows, cols]: e^(x - greatest of the row) over the sum of those. One lane per
    row; Y may be X itself. The exponentials are `exp_fast`: within 1.5 units in the last place, which the sum of a row
    exceeds by itself."""
    row = get_global_id()
    if row < rows:
        first = row * cols
        greatest = -inf
        for j in range(usize(cols)):
            greatest = max(greatest, X[first + j])
        for j in range(usize(cols)):
            Y[first + j] = exp_fast(X[first + j] - greatest)
        total = 0.0
        for j in range(usize(cols)):
            total = total + Y[first + j]
        for j in range(usize(cols)):
            Y[first + j] = Y[first + j] / total
